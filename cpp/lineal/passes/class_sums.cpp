// Sums of sparse cells by class: one look that adds whole numbers and learns whether they are, another that splits what is not.
#include "passes/class_sums.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace lineal {

namespace {

constexpr double FROM_WHOLE = 4503599627370496.0;  // 2^52: a smaller double plus it, less it, is rounded to a whole number
constexpr int LEVEL_BITS = 26;
constexpr std::int64_t MAGNITUDE = std::numeric_limits<std::int64_t>::max();

// Sizes as whole numbers, whose order is that of magnitudes: loops over them need no branch.
struct Sizes {
    std::int64_t most = 0, least = MAGNITUDE, broken = 0;

    template <class T>
    void look(const T* values, Index count) {
        std::int64_t high = most, low = least, fraction = broken;
        for (Index t = 0; t < count; ++t) {
            const double size = std::fabs(static_cast<double>(values[t])), near = (size + FROM_WHOLE) - FROM_WHOLE;
            const std::int64_t bits = std::bit_cast<std::int64_t>(size), below = (bits - 1) & MAGNITUDE;  // zero becomes the largest
            high = high > bits ? high : bits;
            low = low < below ? low : below;
            fraction |= bits ^ std::bit_cast<std::int64_t>(near);
        }
        most = high, least = low, broken = fraction;
    }
    CellSizes found() const {
        const double largest = std::bit_cast<double>(most), infinity = std::numeric_limits<double>::infinity();
        return {largest, least == MAGNITUDE ? infinity : std::bit_cast<double>(least + 1), broken == 0, largest < infinity};
    }
};

// The rows, one class after another, so that the totals of one class at a time are in cache.
std::vector<Index> by_class(const std::int64_t* codes, Index rows) {
    std::vector<Index> next(1), order(static_cast<std::size_t>(rows));
    for (Index i = 0; i < rows; ++i) {
        const auto code = static_cast<std::size_t>(codes[i]);
        if (code + 2 > next.size()) next.resize(code + 2);
        ++next[code + 1];
    }
    for (std::size_t k = 1; k < next.size(); ++k) next[k] += next[k - 1];
    for (Index i = 0; i < rows; ++i) order[static_cast<std::size_t>(next[static_cast<std::size_t>(codes[i])]++)] = i;
    return order;
}

template <class T, class N>
CellSizes sum(const Part& part, const T* values, const N* starts, const N* indices, const std::int64_t* codes, double* totals) {
    Sizes sizes;
    for (const Index i : by_class(codes, part.rows)) {
        double* const own = totals + codes[i] * part.columns;
        const Index first = starts[i], end = starts[i + 1];
        sizes.look(values + first, end - first);
        for (Index t = first; t < end; ++t) own[indices[t]] += static_cast<double>(values[t]);
    }
    return sizes.found();
}

template <class T, class N>
bool split(const Part& part, const T* values, const N* starts, const N* indices, const std::int64_t* codes, int top, int levels,
           double* totals) {
    std::vector<double> shifts;
    for (int l = 0; l < levels; ++l) shifts.push_back(std::ldexp(1.5, 52 + LEVEL_BITS * (top - l)));
    const double* const shift = shifts.data();
    bool nothing_left = true;
    for (const Index i : by_class(codes, part.rows)) {
        double* const own = totals + codes[i] * part.columns * levels;
        for (Index t = starts[i], end = starts[i + 1]; t < end; ++t) {
            double rest = static_cast<double>(values[t]);
            double* const to = own + indices[t] * levels;
            for (int l = 0; l < levels; ++l) {
                const double piece = (rest + shift[l]) - shift[l];
                to[l] += piece;
                rest -= piece;
            }
            nothing_left &= rest == 0;
        }
    }
    return nothing_left;
}

}  // namespace

CellSizes sum_by_class(const Part& part, const std::int64_t* codes, double* totals) {
    return with_stored(part, [&](const auto* values, const auto* starts, const auto* indices) {
        return sum(part, values, starts, indices, codes, totals);
    });
}

bool split_by_class(const Part& part, const std::int64_t* codes, int top, int levels, double* totals) {
    return with_stored(part, [&](const auto* values, const auto* starts, const auto* indices) {
        return split(part, values, starts, indices, codes, top, levels, totals);
    });
}

}  // namespace lineal
