#include "passes/singles.hpp"

#include <algorithm>
#include <cmath>

namespace lineal {

bool Singles::suit(const Layout& layout) {
    Index found = 0;
    for (const Placed& placed : layout.panel) {
        if (placed.part.kind == Kind::ones) continue;
        if (placed.part.kind != Kind::dense || !placed.part.single || placed.part.column_stride != 1) return false;
        ++found;
    }
    return found == 1 && layout.loose.empty();
}

Singles::Singles(const Layout& layout, const Matrix& direction) : layout_(layout), constant_(static_cast<std::size_t>(direction.columns)) {
    for (const Placed& placed : layout.panel) {
        if (placed.part.kind == Kind::ones)
            ones_.push_back(&placed);
        else
            dense_ = &placed;
    }
    for (Index c = 0; c < direction.columns; ++c)
        for (Index j = 0; j < dense_->part.columns; ++j) scale_ = std::max(scale_, std::fabs(direction.at(dense_->column + j, c)));
    for (const Placed* ones : ones_)
        for (Index c = 0; c < direction.columns; ++c) scale_ = std::max(scale_, std::fabs(direction.at(ones->column, c)));
    if (!(scale_ > 0 && std::isfinite(scale_))) scale_ = 1;
    // whole registers of any CPU level
    stride_ = (dense_->part.columns + 15) / 16 * 16;
    coef_.resize(static_cast<std::size_t>(stride_ * direction.columns));
    for (Index c = 0; c < direction.columns; ++c) {
        for (Index j = 0; j < dense_->part.columns; ++j)
            coef_[static_cast<std::size_t>(c * stride_ + j)] = static_cast<float>(direction.at(dense_->column + j, c) / scale_);
        for (const Placed* ones : ones_) constant_[static_cast<std::size_t>(c)] += direction.at(ones->column, c) / scale_;
    }
}

std::vector<const float*> Singles::rows_of(const Block& block) const {
    const float* data = static_cast<const float*>(dense_->part.values);
    const Index count = block.rows.count, filled = (count + 7) / 8 * 8;
    std::vector<const float*> rows(static_cast<std::size_t>(filled + 8));
    // a tile of rows is always full, and one more is asked for; the last row stands in for those that are not there
    for (Index i = 0; i < filled + 8; ++i)
        rows[static_cast<std::size_t>(i)] = data + block.rows[std::min(i, count - 1)] * dense_->part.row_stride;
    return rows;
}

void Singles::forward(Block& block) const {
    const Index k = block.request.outputs, filled = (block.rows.count + 7) / 8 * 8;
    const std::vector<const float*> rows = rows_of(block);
    block.k.single_forward(rows.data(), block.rows.count, dense_->part.columns, coef_.data(), stride_, k, block.step, block.room);
    for (Index c = 0; c < k; ++c) {
        double* step = block.step + c * block.room;
        for (Index i = 0; i < block.rows.count; ++i) step[i] += constant_[static_cast<std::size_t>(c)];
        std::fill(step + block.rows.count, step + filled, 0.0);
    }
}

void Singles::backward(const Block& block, double* sums) const {
    const Index k = block.request.outputs, count = block.rows.count, width = layout_.width();
    const std::vector<const float*> rows = rows_of(block);
    std::vector<float> by_row(static_cast<std::size_t>(count * k));
    for (Index c = 0; c < k; ++c) {
        const double* slope = block.slope + c * block.room;
        for (Index i = 0; i < count; ++i) by_row[static_cast<std::size_t>(i * k + c)] = static_cast<float>(slope[i]);
        for (const Placed* ones : ones_) sums[c * width + ones->at] += added(slope, count);
    }
    block.k.single_backward(rows.data(), count, dense_->part.columns, by_row.data(), k, sums + dense_->at, width);
}

}  // namespace lineal
