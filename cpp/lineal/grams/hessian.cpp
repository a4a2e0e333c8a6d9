#include "grams/hessian.hpp"

#include <algorithm>

namespace lineal {

Hessian::Hessian(const Layout& layout, Loss loss, Index outputs, Index h) : layout_(layout), loss_(loss), outputs_(outputs), h_(h) {
    if (h == 0) return;
    // columns of the design below h are the first ones of the panel and of the loose columns, or all of them are wanted
    const auto below = [&](const std::vector<Index>& columns) {
        if (h == layout.columns) return static_cast<Index>(columns.size());
        return static_cast<Index>(std::lower_bound(columns.begin(), columns.end(), h) - columns.begin());
    };
    panel_columns_ = below(layout.panel_to_column);
    loose_columns_ = below(layout.loose_to_column);
    width_ = (panel_columns_ + 7) / 8 * 8;
    count_ = loss == Loss::squared ? 1 : loss != Loss::softmax ? outputs : outputs * (outputs + 1) / 2;
    each_ = block_size(width_ / 8);
    for (const Placed& placed : layout.loose)
        for (Index a = placed.at; a < std::min(placed.at + placed.part.columns, loose_columns_); ++a) {
            // a row has one level of a category, so that levels meet those of other parts only
            const Index first = placed.part.kind == Kind::codes ? std::min(placed.at + placed.part.columns, loose_columns_) : a + 1;
            table_.rows.push_back(each_);
            table_.pairs.push_back(each_ + width_ + 1 - first);
            first_.push_back(first);
            each_ += (width_ + 1 + loose_columns_ - first + 7) / 8 * 8;
        }
}

double Hessian::cost() const {
    const double width = static_cast<double>(width_);
    double loose = 0;  // entries of a row
    if (loose_columns_ > 0 && layout_.rows > 0) loose = static_cast<double>(layout_.nonzeros) / static_cast<double>(layout_.rows);
    return static_cast<double>(count_) * (width * width / 50 + 3 * loose * (loose + width / 8));
}

void Hessian::add_one(Block& block, Index count, const double* weight, bool plain, double* partial, const Extent* extents) const {
    Panel panel = block.panel;
    panel.groups = width_ / 8;
    if (panel_columns_ == 1 && loose_columns_ == 0 && !extents) {  // the intercept alone: a tile of eight columns would be seven too many
        double sums[4] = {};
        const auto sum = [&](auto term) {
            Index i = 0;
            for (; i + 4 <= count; i += 4)
                for (Index r = 0; r < 4; ++r) sums[r] += term(i + r);
            for (; i < count; ++i) sums[0] += term(i);
        };
        if (block.request.in_place || layout_.bare())
            sum([&](Index i) { return weight[i]; });
        else if (plain)
            sum([&](Index i) { return panel.data[8 * i] * panel.data[8 * i]; });
        else
            sum([&](Index i) { return panel.data[8 * i] * panel.data[8 * i] * weight[i]; });
        partial[0] += (sums[0] + sums[2]) + (sums[1] + sums[3]);
        return;
    }
    block.k.gram(panel, count, plain ? nullptr : weight, block.extra.data, extents, partial, block.ahead);
    if (loose_columns_ > 0)
        block.k.loose_gram(block.entry_starts.data(), block.entry_columns.data(), block.entry_values.data(), count, weight, panel, partial,
                           table_.rows.data(), table_.pairs.data());
}

void Hessian::add(Block& block, double* partial, const Extent* extents) const {
    if (h_ == 0) return;
    if (loose_columns_ > 0) block.entries(h_);
    if (loss_ == Loss::squared) {
        add_one(block, block.rows.count, block.weight, !block.request.weight, partial, extents);
        return;
    }
    if ((loss_ == Loss::huber || loss_ == Loss::squared_hinge) && loose_columns_ == 0 && panel_columns_ > 1 && !block.lasting) {
        // curvature is one or nothing: rows without any are left out, and the others need no weights of their own
        Panel panel = block.panel;
        panel.groups = width_ / 8;
        const Index kept = block.k.gather(panel, block.rows.count, block.curvature);
        add_one(block, kept, block.curvature, !block.request.weight, partial);
        return;
    }
    if (loss_ != Loss::softmax) {
        for (Index c = 0; c < outputs_; ++c)
            add_one(block, block.rows.count, block.curvature + c * block.room, false, partial + c * each());
        return;
    }
    for (Index a = 0; a < outputs_; ++a)
        for (Index b = a; b < outputs_; ++b, partial += each()) {
            // s p_a ([a = b] - p_b), 1 - p_a as the sum of the others, or digits of small ones would be lost; `step` is free by now
            const double* pa = block.curvature + a * block.room;
            const Index count = block.rows.count;
            std::fill(block.step, block.step + count, 0.0);
            for (Index c = 0; c < outputs_; ++c)
                if (a == b ? c != a : c == b)
                    for (Index i = 0; i < count; ++i) block.step[i] += block.curvature[c * block.room + i];
            const double sign = a == b ? 1.0 : -1.0;
            for (Index i = 0; i < count; ++i) block.step[i] *= sign * block.weight[i] * pa[i];
            add_one(block, block.rows.count, block.step, false, partial);
        }
}

void Hessian::place(const Team& team, const double* partial, double* out, Index stride) const {
    const std::vector<Index>& to = layout_.panel_to_column;
    const std::vector<Index>& loose = layout_.loose_to_column;
    unfold<double>(team, partial, width_ / 8, panel_columns_, [&](Index b) { return to[static_cast<std::size_t>(b)]; }, out, stride);
    constexpr Index tile = block_columns;
    run(
        loose_columns_ > 512 ? team : Team{1, team.interrupted}, (loose_columns_ + tile - 1) / tile,
        [&](int, Index band, Watch&) {
            const Index top = tile * band, bottom = std::min(top + tile, loose_columns_);
            for (Index a = top; a < bottom; ++a) {
                const Index i = loose[static_cast<std::size_t>(a)];
                const double* row = partial + table_.rows[static_cast<std::size_t>(a)];
                for (Index b = 0; b < panel_columns_; ++b) {
                    const Index j = to[static_cast<std::size_t>(b)];
                    out[i * stride + j] = out[j * stride + i] = row[b];
                }
                out[i * stride + i] = row[width_];
            }
            for (Index left = top; left < loose_columns_; left += tile)
                for (Index a = top; a < bottom; ++a) {
                    const Index i = loose[static_cast<std::size_t>(a)], first = first_[static_cast<std::size_t>(a)];
                    const double* pairs = partial + table_.pairs[static_cast<std::size_t>(a)];
                    for (Index b = std::max(a + 1, left); b < std::min(left + tile, loose_columns_); ++b) {
                        const Index j = loose[static_cast<std::size_t>(b)];
                        out[i * stride + j] = out[j * stride + i] = b < first ? 0.0 : pairs[b];
                    }
                }
        },
        nullptr);
}

void Hessian::assemble(const Team& team, const double* partial, double* out) const {
    if (h_ == 0) return;
    if (loss_ != Loss::softmax) {
        for (Index c = 0; c < count_; ++c) place(team, partial + c * each(), out + c * h_ * h_, h_);
        return;
    }
    const Index stride = outputs_ * h_;
    for (Index a = 0; a < outputs_; ++a)
        for (Index b = a; b < outputs_; ++b, partial += each()) {
            place(team, partial, out + a * h_ * stride + b * h_, stride);
            if (a != b) place(team, partial, out + b * h_ * stride + a * h_, stride);
        }
}

}  // namespace lineal
