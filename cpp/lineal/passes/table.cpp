#include "passes/table.hpp"

#include <algorithm>
#include <cmath>

#include "grams/hessian.hpp"

namespace lineal {

Table::Table(const Layout& layout, const Request& request) : layout_(layout), request_(request) {
    Index row = 0, room = 0;
    while (row < layout.rows) {
        blocks_.push_back(std::make_unique<Block>(layout, request));
        Block& block = *blocks_.back();
        room = block.room;
        block.seek(row, std::min(row + room, layout.rows));
        row += room;
        if (!block.next()) {  // rows of weight zero
            blocks_.pop_back();
            continue;
        }
        block.pack();
        block.lasting = true;
    }
    extra_ = Buffer(3 * 8 * (room + 1));
    for (const std::unique_ptr<Block>& block : blocks_) block->extra = {extra_.get(), 8 * (room + 1), 3};
}

double Table::moments(double* mean, double* scatter, double* largest) const {
    const Index width = layout_.width();
    // around the first row, so that a constant column has scatter exactly zero; blocks are merged by Chan's formula
    const Buffer work(7 * width);
    double *origin = work.get(), *part = origin + width, *whole = part + 3 * width;
    if (!blocks_.empty())
        for (Index j = 0; j < width; ++j) origin[j] = blocks_[0]->panel.data[(j / 8) * blocks_[0]->panel.stride + j % 8];
    double all = 0;
    for (const std::unique_ptr<Block>& block : blocks_) {
        block->k.moments(block->panel, block->rows.count, block->weight, block->weight_sum, origin, part, part + width, part + 2 * width);
        const double before = all, share = block->weight_sum / (all += block->weight_sum);
        for (Index j = 0; j < width; ++j) {
            const double apart = part[j] - whole[j], top = part[2 * width + j];
            whole[j] += apart * share;
            whole[width + j] += part[width + j] + apart * apart * before * share;
            if (!(top <= whole[2 * width + j])) whole[2 * width + j] = top;
        }
    }
    for (Index j = 0; j < layout_.panel_columns(); ++j) {
        const Index to = layout_.panel_to_column[static_cast<std::size_t>(j)];
        mean[to] = whole[j] + origin[j];
        scatter[to] = whole[width + j];
        largest[to] = whole[2 * width + j];
    }
    return all;
}

Evaluation Table::evaluate(const Matrix& coef, Index h, double* slope_sum, double* gradient, double* hessian_out) {
    const Index k = request_.outputs, first = layout_.gradient_size(k);
    const Hessian hessian(layout_, request_.loss, k, h);
    const Buffer sums(first + hessian.size());
    const Coefficients w(layout_, coef);
    Evaluation out;
    std::fill(slope_sum, slope_sum + k, 0.0);
    for (const std::unique_ptr<Block>& block : blocks_) {
        block->restart();
        block->forward(w, block->eta, true);
        LossBlock loss = block->losses(h > 0);
        loss.slope_sum = slope_sum;
        loss.high = out.high;
        loss.low = out.low;
        block->k.loss(loss);
        out.high = loss.high;
        out.low = loss.low;
        out.weight_sum += block->weight_sum;
        block->backward(block->slope, sums.get(), sums.get() + k * layout_.width());
        hessian.add(*block, sums.get() + first);
    }
    if (!std::isfinite(out.high)) out.low = 0;  // an infinite sum has no rest
    layout_.place_gradient(k, sums.get(), gradient);
    if (hessian_out) hessian.assemble(Team{1, {}}, sums.get() + first, hessian_out);
    return out;
}

}  // namespace lineal
