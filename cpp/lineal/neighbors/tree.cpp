// A tree over rows: every node has up to eight children, made by three cuts of the widest column each, with boxes around their rows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "neighbors/index.hpp"

namespace lineal {

namespace {

struct Keyed {
    double key;
    std::int64_t row;
    bool operator<(const Keyed& other) const { return key < other.key || (key == other.key && row < other.row); }
};

using Range = Neighbors::Range;

// Halves, quarters, eighths of some leaves, as far as there are leaves.
std::vector<Range> parts(Range all) {
    std::vector<Range> out{all};
    for (int round = 0; round < 3; ++round) {
        std::vector<Range> finer;
        for (const Range& each : out) {
            const Index middle = each.first + each.count() / 2;
            if (each.count() > 1) finer.push_back({each.first, middle});
            finer.push_back({each.count() > 1 ? middle : each.first, each.last});
        }
        out = std::move(finer);
    }
    return out;
}

class Planter {
public:
    Planter(const double* data, Index count, Index columns, Index leaves)
        : data_(data), count_(count), columns_(columns), leaves_(leaves), order(static_cast<std::size_t>(count)) {
        std::iota(order.begin(), order.end(), std::int64_t{0});
    }

    Index begin(Index leaf) const { return cut(count_, leaf, leaves_); }

    // Puts the rows of the leaves in order: those of the first half before those of the second, along the widest column, and so on
    // down to leaves (`deep` cuts at most).
    void arrange(Range all, int deep, std::vector<Keyed>& room) {
        if (all.count() < 2 || deep == 0) return;
        const Index first = begin(all.first), last = begin(all.last), leaf = all.first + all.count() / 2;
        const Index column = widest(first, last), middle = begin(leaf);
        room.resize(static_cast<std::size_t>(last - first));
        for (Index i = first; i < last; ++i)
            room[static_cast<std::size_t>(i - first)] = {data_[order_at(i) * columns_ + column], order_at(i)};
        std::nth_element(room.begin(), room.begin() + (middle - first), room.end());
        for (Index i = first; i < last; ++i) order[static_cast<std::size_t>(i)] = room[static_cast<std::size_t>(i - first)].row;
        arrange({all.first, leaf}, deep - 1, room);
        arrange({leaf, all.last}, deep - 1, room);
    }

    std::int64_t order_at(Index place) const { return order[static_cast<std::size_t>(place)]; }

private:
    Index widest(Index first, Index last) const {
        constexpr Index many = 1024;  // a sample tells which column is wide
        const Index step = std::max<Index>(1, (last - first) / many);
        Index best = 0;
        double width = -1;
        for (Index j = 0; j < columns_; ++j) {
            double low = std::numeric_limits<double>::infinity(), high = -low;
            for (Index i = first; i < last; i += step) {
                const double value = data_[order_at(i) * columns_ + j];
                low = std::min(low, value);
                high = std::max(high, value);
            }
            if (high - low > width) {
                width = high - low;
                best = j;
            }
        }
        return best;
    }

    const double* data_;
    Index count_, columns_, leaves_;

public:
    std::vector<std::int64_t> order;
};

}  // namespace

void Neighbors::plant(const Team& team, Index leaf) {
    const Index leaves = std::max<Index>(1, (count_ + leaf - 1) / leaf);
    Planter planter(data_, count_, columns_, leaves);
    // six cuts by one thread, what is below them by all
    std::vector<Keyed> room;
    planter.arrange({0, leaves}, 6, room);
    std::vector<Range> below;
    for (const Range& half : parts({0, leaves}))
        for (const Range& part : parts(half)) below.push_back(part);
    run(
        team, static_cast<Index>(below.size()),
        [&](int, Index chunk, Watch&) {
            std::vector<Keyed> own;
            planter.arrange(below[static_cast<std::size_t>(chunk)], 64, own);
        },
        nullptr);
    grow(team, leaves, planter.order);
}

void Neighbors::grow(const Team& team, Index leaves, const std::vector<std::int64_t>& order) {
    const auto size = [&](Index leaf) { return cut(count_, leaf + 1, leaves) - cut(count_, leaf, leaves); };
    starts_.assign(static_cast<std::size_t>(leaves), 0);
    sizes_.assign(static_cast<std::size_t>(leaves), 0);
    Index places = 0;
    for (Index l = 0; l < leaves; ++l) {
        starts_[static_cast<std::size_t>(l)] = places;
        sizes_[static_cast<std::size_t>(l)] = static_cast<std::int32_t>(size(l));
        places += (size(l) + 7) / 8 * 8;
    }
    leaves_ = Buffer(places * columns_);
    number_.assign(static_cast<std::size_t>(places), -1);
    Boxes borders(leaves, columns_);
    run(
        team, (leaves + 63) / 64,
        [&](int, Index chunk, Watch& watch) {
            for (Index l = 64 * chunk; l < std::min(leaves, 64 * (chunk + 1)) && !watch.stop(); ++l)
                fill(l, cut(count_, l, leaves), order, borders);
        },
        nullptr);
    nodes_.clear();
    std::vector<double> boxes;
    connect({0, leaves}, borders, boxes);
    boxes_ = Buffer(static_cast<Index>(boxes.size()));
    std::copy(boxes.begin(), boxes.end(), boxes_.get());
}

// Copies the rows of a leaf into groups, in the order of their numbers, and notes their borders.
void Neighbors::fill(Index leaf, Index first, const std::vector<std::int64_t>& order, Boxes& borders) {
    const Index start = starts_[static_cast<std::size_t>(leaf)], size = sizes_[static_cast<std::size_t>(leaf)];
    std::int64_t* number = number_.data() + start;
    std::copy(order.begin() + first, order.begin() + first + size, number);
    std::sort(number, number + size);
    borders.lowest[static_cast<std::size_t>(leaf)] = number[0];
    for (Index j = 0; j < columns_; ++j) {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (Index i = 0; i < size; ++i) {
            const double value = data_[number[i] * columns_ + j];
            leaves_.get()[(start + i / 8 * 8) * columns_ + 8 * j + i % 8] = value;
            low = std::min(low, value);
            high = std::max(high, value);
        }
        borders.low[static_cast<std::size_t>(leaf * columns_ + j)] = low;
        borders.high[static_cast<std::size_t>(leaf * columns_ + j)] = high;
    }
}

// Makes the node above some leaves, after which its number is the number of nodes before; the borders of its first leaf become its own.
std::int32_t Neighbors::connect(Range all, Boxes& borders, std::vector<double>& boxes) {
    const auto own = nodes_.size();
    const auto at = static_cast<std::size_t>(16 * columns_) * own;
    nodes_.emplace_back();
    boxes.resize(at + static_cast<std::size_t>(16 * columns_), 0.0);
    for (const Range& part : parts(all)) {
        const std::int32_t child = part.count() == 1 ? static_cast<std::int32_t>(-1 - part.first) : connect(part, borders, boxes);
        const auto place = static_cast<std::size_t>(nodes_[own].count++), leaf = static_cast<std::size_t>(part.first);
        nodes_[own].child[place] = child;
        nodes_[own].lowest[place] = borders.lowest[leaf];
        for (std::size_t j = 0; j < static_cast<std::size_t>(columns_); ++j) {
            boxes[at + 16 * j + place] = borders.low[leaf * static_cast<std::size_t>(columns_) + j];
            boxes[at + 16 * j + 8 + place] = borders.high[leaf * static_cast<std::size_t>(columns_) + j];
        }
    }
    const auto count = static_cast<std::size_t>(nodes_[own].count), leaf = static_cast<std::size_t>(all.first);
    borders.lowest[leaf] = *std::min_element(nodes_[own].lowest, nodes_[own].lowest + count);
    for (std::size_t j = 0; j < static_cast<std::size_t>(columns_); ++j) {
        const double* box = boxes.data() + at + 16 * j;
        borders.low[leaf * static_cast<std::size_t>(columns_) + j] = *std::min_element(box, box + count);
        borders.high[leaf * static_cast<std::size_t>(columns_) + j] = *std::max_element(box + 8, box + 8 + count);
    }
    return static_cast<std::int32_t>(own);
}

Tree Neighbors::tree() const {
    return {{leaves_.get(), columns_, static_cast<Index>(number_.size())},
            number_.data(),
            starts_.data(),
            sizes_.data(),
            nodes_.data(),
            boxes_.get()};
}

}  // namespace lineal
