#include "table.hpp"

#include <algorithm>
#include <cmath>

#include "hessian.hpp"

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
        weight_sum_ += block.weight_sum;
    }
    extra_ = Buffer(3 * 8 * (room + 1));
    trial_ = Buffer(room);
    for (const std::unique_ptr<Block>& block : blocks_) block->extra = {extra_.get(), 8 * (room + 1), 3};
}

Evaluation Table::evaluate(const Matrix& coef, Index h, double* slope_sum, double* gradient, double* hessian_out) {
    const Index k = request_.outputs, first = layout_.gradient_size(k);
    const Hessian hessian(layout_, request_.loss, k, h);
    const Buffer sums(first + hessian.size());
    const Coefficients w(layout_, coef);
    Evaluation out;
    std::fill(slope_sum, slope_sum + k, 0.0);
    for (const std::unique_ptr<Block>& own : blocks_) {
        Block& block = *own;
        block.restart();
        block.forward(w, block.eta, true);
        LossBlock loss = block.losses(h > 0);
        loss.slope_sum = slope_sum;
        loss.high = out.high;
        loss.low = out.low;
        block.k.loss(loss);
        out.high = loss.high;
        out.low = loss.low;
        out.weight_sum += block.weight_sum;
        block.backward(block.slope, sums.get(), sums.get() + k * layout_.width());
        hessian.add(block, sums.get() + first);
    }
    if (!std::isfinite(out.high)) out.low = 0;  // an infinite sum has no rest
    layout_.place_gradient(k, sums.get(), gradient);
    if (hessian_out) hessian.assemble(Team{1, {}}, sums.get() + first, hessian_out);
    return out;
}

DualEvaluation Table::dual(const Matrix& coef, const Matrix& shift, double* slope_sum, double* gradient) {
    const Index k = request_.outputs;
    const Buffer sums(layout_.gradient_size(k));
    const Coefficients w(layout_, coef), u(layout_, shift);
    DualEvaluation out;
    std::fill(slope_sum, slope_sum + k, 0.0);
    for (const std::unique_ptr<Block>& own : blocks_) {
        Block& block = *own;
        block.restart();
        block.forward(w, block.eta, true);
        block.forward(u, block.step, true);
        LossBlock loss = block.losses(false);
        loss.slope_sum = slope_sum;
        loss.high = out.high;
        loss.low = out.low;
        loss.reach = out.reach;
        block.k.dual(loss);
        out.high = loss.high;
        out.low = loss.low;
        out.reach = loss.reach;
        block.backward(block.slope, sums.get(), sums.get() + k * layout_.width());
    }
    if (!std::isfinite(out.high)) out.low = 0;
    layout_.place_gradient(k, sums.get(), gradient);
    return out;
}

void Table::aim(const Matrix& coef, const Matrix& shift) {
    const Coefficients w(layout_, coef), u(layout_, shift);
    for (const std::unique_ptr<Block>& block : blocks_) {
        block->restart();
        block->forward(w, block->eta, true);
        block->forward(u, block->step, true);
    }
}

void Table::along(double t, double& slope, double& bend) {
    double firsts[4] = {}, seconds[4] = {};
    double ignored = 0;
    for (const std::unique_ptr<Block>& block : blocks_) {
        const double* step = block->step;
        const Index filled = (block->rows.count + 7) / 8 * 8;  // rows beyond the last have weight zero, and no step
        for (Index i = 0; i < filled; ++i) trial_.get()[i] = block->eta[i] - t * step[i];
        LossBlock loss = block->losses(true);
        loss.eta = trial_.get();
        loss.slope_sum = &ignored;
        block->k.loss(loss);
        for (Index i = 0; i < filled; i += 4)
            for (Index l = 0; l < 4; ++l) {
                firsts[l] -= loss.slope[i + l] * step[i + l];
                seconds[l] += loss.curvature[i + l] * step[i + l] * step[i + l];
            }
    }
    slope = ((firsts[0] + firsts[1]) + (firsts[2] + firsts[3])) / weight_sum_;
    bend = ((seconds[0] + seconds[1]) + (seconds[2] + seconds[3])) / weight_sum_;
}

}  // namespace lineal
