// The k nearest rows so far. In an anonymous namespace, or the linker might keep the copy of one CPU level for all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "passes/part.hpp"

namespace {

using lineal::Index;

// A short list is kept in order, a long one as a heap whose first entry is the worst.
class Nearest {
public:
    struct Entry {
        double distance;
        Index row;
        bool operator<(const Entry& other) const { return distance < other.distance || (distance == other.distance && row < other.row); }
    };

    void start(Index k) {
        k_ = k;
        entries_.clear();
        entries_.reserve(static_cast<std::size_t>(k));
        worst_ = std::numeric_limits<double>::infinity();
    }
    // No row that is further away can come in; one that is as far can, if its number is smaller.
    double worst() const { return worst_; }
    // Whether rows of these numbers and more, at least that far away, could come in.
    bool admits(double distance, Index lowest) const { return distance < worst_ || (distance == worst_ && (!full() || lowest < last())); }
    bool full() const { return static_cast<Index>(entries_.size()) == k_; }

    void offer(double distance, Index row) {
        const Entry entry{distance, row};
        if (k_ > longest_list) return heap(entry);
        if (full()) {
            if (!(entry < entries_.back())) return;
            entries_.pop_back();
        }
        std::size_t place = entries_.size();
        entries_.push_back(entry);
        for (; place > 0 && entry < entries_[place - 1]; --place) entries_[place] = entries_[place - 1];
        entries_[place] = entry;
        if (full()) worst_ = entries_.back().distance;
    }

    void write(double* distances, std::int64_t* rows) {
        if (k_ > longest_list) std::sort(entries_.begin(), entries_.end());
        for (const Entry& entry : entries_) {
            *distances++ = entry.distance;
            *rows++ = entry.row;
        }
    }

private:
    static constexpr Index longest_list = 48;

    Index last() const { return k_ > longest_list ? entries_.front().row : entries_.back().row; }

    void heap(const Entry& entry) {
        if (full()) {
            if (!(entry < entries_.front())) return;
            std::pop_heap(entries_.begin(), entries_.end());
            entries_.pop_back();
        }
        entries_.push_back(entry);
        std::push_heap(entries_.begin(), entries_.end());
        if (full()) worst_ = entries_.front().distance;
    }

    Index k_ = 0;
    std::vector<Entry> entries_;
    double worst_ = 0;
};

}  // namespace
