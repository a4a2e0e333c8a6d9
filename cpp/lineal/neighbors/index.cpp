#include "neighbors/index.hpp"

#include <atomic>
#include <cmath>
#include <numeric>

#include "neighbors/nearest.hpp"

namespace lineal {

namespace {

constexpr Index CHUNK_QUERIES = 256;  // share the rows that one thread reads
constexpr Index QUICK_QUERIES = 64;   // of a tree, whose queries take microseconds

Index pieces(Index count, Index size) { return (count + size - 1) / size; }

// Queries are cut so that every thread has several chunks; answers do not depend on it.
Index chunk_size(Index queries, Index most) { return std::max<Index>(8, std::min(most, pieces(queries, 8))); }

}  // namespace

Neighbors::Neighbors(const double* rows, Index count, Index columns, Metric metric, double power)
    : data_(rows), count_(count), columns_(columns), metric_(metric), power_(power) {}

void Neighbors::prepare(const Team& team, Way way, Index leaf) {
    if (way == Way::tree && nodes_.empty()) plant(team, leaf);
    if (way != Way::tree && groups_.get() == nullptr) lay_groups(team);
    if (way == Way::tiles && singles_.get() == nullptr) lay_singles(team);
}

void Neighbors::lay_groups(const Team& team) {
    const Index count = pieces(count_, 8);
    Buffer groups(8 * count * columns_);  // kept when it is whole: an interrupt leaves none
    run(
        team, pieces(count, 512),
        [&](int, Index chunk, Watch& watch) {
            for (Index g = 512 * chunk; g < std::min(count, 512 * (chunk + 1)) && !watch.stop(); ++g)
                for (Index r = 0; r < std::min<Index>(8, count_ - 8 * g); ++r)
                    for (Index j = 0; j < columns_; ++j) groups.get()[(g * columns_ + j) * 8 + r] = data_[(8 * g + r) * columns_ + j];
        },
        nullptr);
    groups_ = std::move(groups);
}

void Neighbors::lay_singles(const Team& team) {
    center_.assign(static_cast<std::size_t>(columns_), 0.0);
    for (Index i = 0; i < count_; ++i)
        for (Index j = 0; j < columns_; ++j) center_[static_cast<std::size_t>(j)] += data_[i * columns_ + j] / static_cast<double>(count_);
    double largest = 0;
    for (Index i = 0; i < count_; ++i)
        for (Index j = 0; j < columns_; ++j)
            largest = std::max(largest, std::fabs(data_[i * columns_ + j] - center_[static_cast<std::size_t>(j)]));
    shift_ = largest > 0 ? -(std::ilogb(largest) + 1) : 0;
    const Index count = pieces(count_, 16);
    BufferOf<float> singles(16 * count * columns_), bias(16 * count);
    const double unit = std::ldexp(1.0, shift_), kappa = Singles::kappa(columns_);
    run(
        team, pieces(count, 256),
        [&](int, Index chunk, Watch& watch) {
            for (Index i = 16 * 256 * chunk; i < std::min(16 * count, 16 * 256 * (chunk + 1)) && !watch.stop(); ++i) {
                const Index group = i / 16, r = i % 16;
                double norm = i < count_ ? 0 : std::numeric_limits<double>::quiet_NaN();
                for (Index j = 0; i < count_ && j < columns_; ++j) {
                    const double value = (data_[i * columns_ + j] - center_[static_cast<std::size_t>(j)]) * unit;
                    singles.get()[(group * columns_ + j) * 16 + r] = static_cast<float>(value);
                    norm += value * value;
                }
                bias.get()[i] = static_cast<float>(kappa * norm - 0.5 * norm);
            }
        },
        nullptr);
    singles_ = std::move(singles);
    bias_ = std::move(bias);
}

// Which queries a search by products may answer, and which lie so far away that single precision could overflow.
void Neighbors::far(const Queries& queries, std::vector<std::int64_t>& near, std::vector<std::int64_t>& beyond) const {
    const double unit = std::ldexp(1.0, shift_);
    for (Index q = 0; q < queries.count; ++q) {
        double largest = 0;
        for (Index j = 0; j < columns_; ++j)
            largest = std::max(largest, std::fabs(queries.data[q * columns_ + j] - center_[static_cast<std::size_t>(j)]) * unit);
        (largest <= Singles::farthest ? near : beyond).push_back(q);
    }
}

Index Neighbors::search(const Team& team, Way way, Queries queries) const {
    std::vector<std::int64_t> order, beyond;
    const Searches& level = searches();
    const auto each = [&](Index most, const auto& work) {
        const Index size = chunk_size(queries.count, most);
        run(
            team, pieces(queries.count, size),
            [&](int, Index chunk, Watch& watch) { work(size * chunk, std::min(queries.count, size * (chunk + 1)), watch); }, nullptr);
    };
    const auto directly = [&] {
        each(CHUNK_QUERIES,
             [&](Index first, Index last, Watch& watch) { level.direct(metric_, power_, groups(), queries, first, last, watch); });
    };
    if (way == Way::direct) {
        directly();
        return 0;
    }
    if (way == Way::tiles) {
        const Index all = queries.count;
        far(queries, order, beyond);
        queries.order = order.data();
        queries.count = static_cast<Index>(order.size());
        const Singles singles{singles_.get(), bias_.get(), data_, center_.data(), columns_, count_, shift_};
        each(CHUNK_QUERIES, [&](Index first, Index last, Watch& watch) { level.tiles(singles, queries, first, last, watch); });
        queries.order = beyond.data();
        queries.count = all - queries.count;
        if (queries.count > 0) directly();
        return 0;
    }
    // queries that begin in the same leaf follow each other, or every one would wait for memory
    const Tree all = tree();
    std::vector<std::int64_t> leaf(static_cast<std::size_t>(queries.count));
    each(CHUNK_QUERIES, [&](Index first, Index last, Watch&) {
        level.place(metric_, all, queries.data + first * columns_, last - first, leaf.data() + first);
    });
    order.resize(leaf.size());
    std::vector<std::int64_t> before(starts_.size() + 1);
    for (const std::int64_t at : leaf) ++before[static_cast<std::size_t>(at) + 1];
    std::partial_sum(before.begin(), before.end(), before.begin());
    for (std::size_t q = 0; q < leaf.size(); ++q)
        order[static_cast<std::size_t>(before[static_cast<std::size_t>(leaf[q])]++)] = static_cast<std::int64_t>(q);
    queries.order = order.data();
    std::atomic<Index> looked{0};
    each(QUICK_QUERIES, [&](Index first, Index last, Watch& watch) { looked += level.descend(metric_, all, queries, first, last, watch); });
    return looked;
}

void Neighbors::distances(const Team& team, const double* queries, Index count, double* out) const {
    const Index size = chunk_size(count, CHUNK_QUERIES);
    run(
        team, pieces(count, size),
        [&](int, Index chunk, Watch& watch) {
            const Index first = size * chunk, last = std::min(count, first + size);
            searches().distances(metric_, power_, groups(), queries + first * columns_, last - first, out + first * count_, watch);
        },
        nullptr);
}

void select(const Team& team, const double* given, Index rows, const Queries& queries) {
    const Index size = chunk_size(queries.count, CHUNK_QUERIES);
    run(
        team, pieces(queries.count, size),
        [&](int, Index chunk, Watch& watch) {
            Nearest nearest;
            for (Index q = size * chunk; q < std::min(queries.count, size * (chunk + 1)) && !watch.stop(); ++q) {
                nearest.start(queries.k);
                const Index own = queries.own ? queries.own[q] : -1;
                for (Index i = 0; i < rows; ++i)
                    if (given[q * rows + i] <= nearest.worst() && i != own) nearest.offer(given[q * rows + i], i);
                nearest.write(queries.distances + q * queries.k, queries.rows + q * queries.k);
            }
        },
        nullptr);
}

}  // namespace lineal
