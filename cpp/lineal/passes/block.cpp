#include "passes/block.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace lineal {

Block::Block(const Layout& layout, const Request& request, Index extra_groups, Index least)
    : layout(layout), request(request), k(kernels()), room(layout.room(extra_groups > 0 ? 3 : 1, least)) {
    const Index stride = 8 * (room + 1);  // one line more, or the groups of a row would share one set of the cache
    const Index size = request.in_place ? 0 : layout.groups() * stride;
    const Index targets = request.y ? request.y.columns : 0;
    memory_ = Buffer(size + extra_groups * stride + room * (targets + 1 + 4 * request.outputs));
    double* at = memory_.get();
    panel = {at, stride, layout.groups()};
    at += size;
    extra = {at, stride, extra_groups};
    weight = at + extra_groups * stride;
    y = weight + room;
    eta = y + room * targets;
    slope = eta + room * request.outputs;
    curvature = slope + room * request.outputs;
    step = curvature + room * request.outputs;
    by_row_ = Buffer(room * request.outputs);
    index_.resize(static_cast<std::size_t>(room));
    // columns of ones are written once for all blocks
    for (const Placed& placed : layout.panel)
        if (placed.part.kind == Kind::ones && !request.in_place) k.pack(placed.part, {0, room, nullptr}, panel, placed.at);
}

void Block::seek(Index row, Index stop) {
    row_ = row;
    stop_ = stop;
}

namespace {

std::uint64_t splitmix64(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

}  // namespace

void Block::select() {
    const Index sample = request.sample;
    const std::uint64_t turn = static_cast<std::uint64_t>(request.turn) << 40;  // beyond any group
    Index count = 0;
    if (sample <= 1 && !request.weight) {
        count = std::min(room, stop_ - row_);
        rows = {row_, count, nullptr};
        row_ += count;
        return;
    }
    const Index first = row_;
    while (count < room && row_ < stop_) {
        Index row = row_++;
        if (sample > 1) {
            // of every `sample` rows one; the last group may be smaller
            const Index group = row / sample, begin = group * sample;
            const Index size = std::min(sample, layout.rows - begin);
            row = begin + static_cast<Index>(splitmix64(static_cast<std::uint64_t>(group) + turn) % static_cast<std::uint64_t>(size));
            const bool passed = row < row_ - 1;
            row_ = std::min(begin + size, stop_);
            if (passed || row >= stop_) continue;
        }
        if (request.weight && request.weight.at(row, 0) == 0.0) continue;
        index_[static_cast<std::size_t>(count++)] = row;
    }
    const bool consecutive = count > 0 && index_[0] == first && index_[static_cast<std::size_t>(count - 1)] == first + count - 1;
    rows = {first, count, consecutive ? nullptr : index_.data()};
}

namespace {

// to[i] = the selected rows of one column of `from`, `otherwise` where it is not given; zeros up to `filled`
void take(const Matrix& from, Index column, const Selection& rows, double otherwise, Index filled, double* to) {
    if (!from)
        std::fill(to, to + rows.count, otherwise);
    else if (!rows.index && from.row_stride == 1)
        std::copy_n(from.data + rows.first + column * from.column_stride, rows.count, to);
    else
        for (Index i = 0; i < rows.count; ++i) to[i] = from.at(rows[i], column);
    std::fill(to + rows.count, to + filled, 0.0);
}

}  // namespace

bool Block::next() {
    select();
    const Index count = rows.count, filled = (count + 7) / 8 * 8;
    if (count == 0) return false;
    take(request.weight, 0, rows, 1.0, filled, weight);
    weight_sum = static_cast<double>(count);
    if (request.weight) weight_sum = std::accumulate(weight, weight + count, 0.0);
    const Index targets = request.y ? request.y.columns : 0;
    for (Index c = 0; c < targets; ++c) take(request.y, c, rows, 0.0, filled, y + c * room);
    restart();
    return true;
}

void Block::restart() {
    const Index filled = (rows.count + 7) / 8 * 8;
    for (Index c = 0; c < request.outputs; ++c) {
        take(request.offset, c, rows, 0.0, filled, eta + c * room);
        std::fill(step + c * room, step + c * room + filled, 0.0);
    }
}

LossBlock Block::losses(bool curvatures) const {
    LossBlock out;
    out.loss = request.loss;
    out.parameter = request.parameter;
    out.scale = request.scale;
    out.outputs = request.outputs;
    out.count = rows.count;
    out.room = room;
    out.y = y;
    out.weight = weight;
    out.eta = eta;
    out.step = step;
    out.slope = slope;
    out.curvature = curvatures ? curvature : nullptr;
    out.bent_room = room;
    return out;
}

void Block::pack() {
    for (const Placed& placed : layout.panel)
        if (placed.part.kind != Kind::ones) k.pack(placed.part, rows, panel, placed.at);
    foresee();
}

void Block::foresee() {
    ahead = {};
    if (rows.index) return;
    for (const Placed& placed : layout.panel) {
        const Part& part = placed.part;
        const Index row = part.row_stride * (part.single ? 4 : 8), next = rows.first + rows.count;
        if (part.kind != Kind::dense || part.column_stride != 1 || row <= 0) continue;
        const Index more = std::min(room, stop_ - next) * row;
        if (more <= ahead.end - ahead.at) continue;  // the largest part is the one worth it
        ahead.at = static_cast<const char*>(part.values) + next * row;
        ahead.end = ahead.at + more;
    }
}

void Block::release() {
    for (const Placed& placed : layout.panel) k.unpack(placed.part, rows, panel, placed.at);
}

void Block::forward(const Coefficients& coef, double* sums, bool finite) {
    const Index outputs = request.outputs, filled = (rows.count + 7) / 8 * 8;
    if (layout.bare()) {
        for (Index c = 0; c < outputs; ++c) {
            const double own = coef.panel.get()[c * layout.width()];
            for (Index i = 0; i < rows.count; ++i) sums[c * room + i] += own;
        }
        return;
    }
    k.forward(panel, rows.count, coef.panel.get(), layout.width(), outputs, sums, room);
    if (!layout.loose.empty() && !(finite && coef.idle)) {
        by_row_.clear();
        for (std::size_t at = 0; at < layout.loose.size();) {
            at += coded(at, coef.coded.get(), true);
            if (!coded_.empty()) {
                k.codes_forward(coded_.data(), static_cast<Index>(coded_.size()), rows, by_row_.get());
                continue;
            }
            const Placed& placed = layout.loose[at++];
            k.loose_forward(placed.part, rows, coef.loose.get() + placed.at * outputs, outputs, by_row_.get());
        }
        for (Index c = 0; c < outputs; ++c)
            for (Index i = 0; i < rows.count; ++i) sums[c * room + i] += by_row_.get()[i * outputs + c];
    }
    // rows beyond the last one hold whatever the panel held before
    for (Index c = 0; c < outputs; ++c)
        for (Index i = rows.count; i < filled; ++i) sums[c * room + i] = 0.0;
}

void Block::forward_bent(const Coefficients& coef, double* sums) {
    bent_.clear();
    for (Index i = 0; i < rows.count; ++i)
        if (curvature[i] != 0) bent_.push_back(rows[i]);
    const Selection some{0, static_cast<Index>(bent_.size()), bent_.data()};
    if (request.outputs != 1 || layout.loose.empty() || 16 * some.count > 15 * rows.count) {
        forward(coef, sums);
        return;
    }
    const Index filled = (rows.count + 7) / 8 * 8;
    k.forward(panel, rows.count, coef.panel.get(), layout.width(), 1, sums, room);
    by_row_.clear();
    for (const Placed& placed : layout.loose) k.loose_forward(placed.part, some, coef.loose.get() + placed.at, 1, by_row_.get());
    for (Index i = 0, t = 0; i < rows.count; ++i)
        if (curvature[i] != 0) sums[i] += by_row_.get()[t++];
    std::fill(sums + rows.count, sums + filled, 0.0);
}

void Block::pull(const Placed& dense, double* panel_gradient) {
    k.pull(dense.part, rows, slope, panel_gradient + dense.at);
    for (const Placed& placed : layout.panel)
        if (placed.part.kind == Kind::ones) panel_gradient[placed.at] += added(slope, rows.count);
}

void Block::backward(const double* values, double* panel_gradient, double* loose_gradient) {
    const Index outputs = request.outputs;
    if (layout.bare()) {
        for (Index c = 0; c < outputs; ++c) panel_gradient[c * layout.width()] += added(values + c * room, rows.count);
        return;
    }
    const double* by_row = values;
    if (outputs > 1) {
        for (Index c = 0; c < outputs; ++c)
            for (Index i = 0; i < rows.count; ++i) by_row_.get()[i * outputs + c] = values[c * room + i];
        by_row = by_row_.get();
    }
    k.backward(panel, rows.count, by_row, outputs, panel_gradient, layout.width());
    for (std::size_t at = 0; at < layout.loose.size();) {
        at += coded(at, loose_gradient, false);
        if (!coded_.empty()) {
            k.codes_backward(coded_.data(), static_cast<Index>(coded_.size()), rows, by_row);
            continue;
        }
        const Placed& placed = layout.loose[at++];
        k.loose_backward(placed.part, rows, by_row, outputs, loose_gradient + placed.at * outputs);
    }
}

std::size_t Block::coded(std::size_t from, double* table, bool spaced) {
    coded_.clear();
    if (request.outputs != 1 || (!spaced && layout.width() == 0)) return 0;  // sums of loose columns follow those of the panel
    for (std::size_t at = from; at < layout.loose.size(); ++at) {
        const Placed& placed = layout.loose[at];
        if (placed.part.kind != Kind::codes || placed.part.columns == 0) break;
        const Index start = placed.at + (spaced ? static_cast<Index>(at) + 1 : 0);
        coded_.push_back({static_cast<const std::int32_t*>(placed.part.values), placed.part.row_stride, table + start});
    }
    return coded_.size();
}

void Block::remember(double* kept) const {
    for (Index c = 0; c < request.outputs; ++c) {
        const double* from = curvature + c * room;
        double* to = kept + c * layout.rows;
        if (!rows.index)
            std::copy_n(from, rows.count, to + rows.first);
        else
            for (Index i = 0; i < rows.count; ++i) to[rows[i]] = from[i];
    }
}

void Block::recall(const double* kept) {
    const Index filled = (rows.count + 7) / 8 * 8;
    for (Index c = 0; c < request.outputs; ++c) {
        const double* from = kept + c * layout.rows;
        double* to = curvature + c * room;
        if (!rows.index)
            std::copy_n(from + rows.first, rows.count, to);
        else
            for (Index i = 0; i < rows.count; ++i) to[i] = from[rows[i]];
        std::fill(to + rows.count, to + filled, 0.0);
    }
}

namespace {

Index entries_of(const Placed& placed, Index row, Index limit, Index* columns, double* values) {
    const Part& part = placed.part;
    if (part.kind == Kind::codes) {
        const Index code = static_cast<const std::int32_t*>(part.values)[row * part.row_stride];
        if (code < 0 || placed.column + code >= limit) return 0;
        *columns = placed.at + code;
        *values = 1.0;
        return 1;
    }
    return with_stored(part, [&](const auto* entries, const auto* starts, const auto* indices) {
        Index count = 0;
        for (Index t = starts[row]; t < starts[row + 1] && placed.column + indices[t] < limit; ++t, ++count) {
            columns[count] = placed.at + indices[t];
            values[count] = static_cast<double>(entries[t]);
        }
        return count;
    });
}

Index most_entries(const Part& part, Index row) {
    if (part.kind == Kind::codes) return 1;
    return with_places(part, [&](const auto* starts, const auto*) -> Index { return starts[row + 1] - starts[row]; });
}

}  // namespace

void Block::entries(Index limit) {
    entry_starts.resize(static_cast<std::size_t>(rows.count) + 1);
    Index most = 0;
    for (const Placed& placed : layout.loose)
        for (Index i = 0; i < rows.count; ++i) most += most_entries(placed.part, rows[i]);
    if (static_cast<Index>(entry_columns.size()) < most) {
        entry_columns.resize(static_cast<std::size_t>(most));
        entry_values.resize(static_cast<std::size_t>(most));
    }
    Index count = 0;
    for (Index i = 0; i < rows.count; ++i) {
        entry_starts[static_cast<std::size_t>(i)] = count;
        for (const Placed& placed : layout.loose)
            if (placed.column < limit)
                count += entries_of(placed, rows[i], limit, entry_columns.data() + count, entry_values.data() + count);
    }
    entry_starts[static_cast<std::size_t>(rows.count)] = count;
}

}  // namespace lineal
