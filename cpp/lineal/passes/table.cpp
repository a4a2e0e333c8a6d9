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
        weight_sum_ += block.weight_sum;
    }
    extra_ = Buffer(3 * 8 * (room + 1));
    trial_ = Buffer(room);
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
    if (!stands(coef)) slopes(coef, h > 0, slope_sum);
    else *slope_sum = there_slope_;
    point_.clear();
    for (const std::unique_ptr<Block>& own : blocks_) {
        own->backward(own->slope, sums.get(), sums.get() + k * layout_.width());
        hessian.add(*own, sums.get() + first);
    }
    layout_.place_gradient(k, sums.get(), gradient);
    if (hessian_out) hessian.assemble(Team{1, {}}, sums.get() + first, hessian_out);
    return there_;
}

void Table::slopes(const Matrix& coef, bool curvatures, double* slope_sum) {
    const Coefficients w(layout_, coef);
    there_ = {};
    std::fill(slope_sum, slope_sum + request_.outputs, 0.0);
    for (const std::unique_ptr<Block>& block : blocks_) {
        block->restart();
        block->forward(w, block->eta, true);
        LossBlock loss = block->losses(curvatures);
        add(loss, slope_sum, *block);
    }
    if (!std::isfinite(there_.high)) there_.low = 0;  // an infinite sum has no rest
}

void Table::add(LossBlock& loss, double* slope_sum, const Block& block) {
    loss.slope_sum = slope_sum;
    loss.high = there_.high;
    loss.low = there_.low;
    block.k.loss(loss);
    there_.high = loss.high;
    there_.low = loss.low;
    there_.weight_sum += block.weight_sum;
}

bool Table::stands(const Matrix& coef) const {
    if (static_cast<Index>(point_.size()) != coef.rows || coef.columns != 1) return false;
    for (Index j = 0; j < coef.rows; ++j)
        if (point_[static_cast<std::size_t>(j)] != coef.at(j, 0)) return false;
    return true;
}

DualEvaluation Table::dual(const Matrix& coef, const Matrix& shift, double* slope_sum, double* gradient) {
    const Index k = request_.outputs;
    const Buffer sums(layout_.gradient_size(k));
    const Coefficients w(layout_, coef), u(layout_, shift);
    DualEvaluation out;
    point_.clear();
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
    from_.clear();
    shift_.clear();
    for (Index j = 0; j < coef.rows; ++j) {
        from_.push_back(coef.at(j, 0));
        shift_.push_back(shift.at(j, 0));
    }
    for (const std::unique_ptr<Block>& block : blocks_) {
        block->restart();
        block->forward(w, block->eta, true);
        block->forward(u, block->step, true);
    }
}

void Table::along(double t, double& slope, double& bend) {
    double firsts[4] = {}, seconds[4] = {};
    there_ = {};
    there_slope_ = 0;
    for (const std::unique_ptr<Block>& block : blocks_) {
        const double* step = block->step;
        const Index filled = (block->rows.count + 7) / 8 * 8;  // rows beyond the last have weight zero, and no step
        for (Index i = 0; i < filled; ++i) trial_.get()[i] = block->eta[i] - t * step[i];
        LossBlock loss = block->losses(true);
        loss.eta = trial_.get();
        add(loss, &there_slope_, *block);
        for (Index i = 0; i < filled; i += 4)
            for (Index l = 0; l < 4; ++l) {
                firsts[l] -= loss.slope[i + l] * step[i + l];
                seconds[l] += loss.curvature[i + l] * step[i + l] * step[i + l];
            }
    }
    if (!std::isfinite(there_.high)) there_.low = 0;
    point_.resize(from_.size());
    for (std::size_t j = 0; j < from_.size(); ++j) point_[j] = from_[j] - t * shift_[j];
    slope = ((firsts[0] + firsts[1]) + (firsts[2] + firsts[3])) / weight_sum_;
    bend = ((seconds[0] + seconds[1]) + (seconds[2] + seconds[3])) / weight_sum_;
}

}  // namespace lineal
