// What is kept of dense rows between epochs: which eighths of a row hold a number other than zero, and how long it is.
#pragma once

#include <cstdint>
#include <cstring>

#include "perceptron.hpp"

namespace lineal {

// A row is cut into groups of eight numbers, in front of the first of which `lead` places are empty, so that groups are cache lines of
// doubles wherever all rows begin alike. The notes of a row are `words`: a bit for every group, and a number above its length, 0 while
// nothing is known.
struct Notes {
    static constexpr Index GROUP = 8;
    Index lead, groups, words;

    explicit Notes(const Part& part) {
        const Index size = part.single ? 4 : 8;
        const Index address = static_cast<Index>(reinterpret_cast<std::uintptr_t>(part.values) % static_cast<std::uintptr_t>(GROUP * size));
        lead = part.row_stride % GROUP == 0 && address % size == 0 ? address / size : 0;
        groups = (lead + part.columns + GROUP - 1) / GROUP;
        words = (groups + 63) / 64 + 1;
    }
    // Whether they are small beside the rows.
    bool worthwhile(const Part& part) const { return 32 * 8 * words <= part.columns * (part.single ? 4 : 8); }

    double length(const std::uint64_t* of_row) const {
        double value;
        std::memcpy(&value, of_row + words - 1, sizeof value);
        return value;
    }
    void keep(std::uint64_t* of_row, double length) const { std::memcpy(of_row + words - 1, &length, sizeof length); }
    // f(group) for those that hold something, in order.
    template <class F>
    [[gnu::always_inline]] inline void each(const std::uint64_t* of_row, F f) const {
        for (Index k = 0; k + 1 < words; ++k)
            for (std::uint64_t left = of_row[k]; left; left &= left - 1) f(64 * k + __builtin_ctzll(left));
    }
};

// The dense part of rows of several classes with which nothing happens but updates, perhaps behind a column of ones; else null.
const Part* joint(const Presentation& e);

// Whether one thread that spares zeros gains: weights in single precision are few enough for the first cache, and of the groups of a
// few rows at most the share `most` hold anything.
bool spared(const Presentation& e, double most = 0.45);

}  // namespace lineal
