// A few columns of a design as they are stored: raw pointers into arrays that Python keeps alive.
#pragma once

#include <cstdint>

namespace lineal {

using Index = std::int64_t;

enum class Kind { ones, dense, sparse, codes };

struct Part {
    Kind kind = Kind::ones;
    Index rows = 0, columns = 0;
    const void* values = nullptr;             // dense and sparse: float or double; codes: int32
    bool single = false;                      // values are float
    Index row_stride = 0, column_stride = 0;  // dense and codes, in elements
    const void* starts = nullptr;             // sparse: row starts, absolute positions in values
    const void* indices = nullptr;            // sparse: columns, increasing within a row
    bool wide = false;                        // starts and indices are 64-bit
};

// f(numbers of a dense or sparse part), as what they are.
template <class F>
inline auto with_numbers(const Part& part, F f) {
    return part.single ? f(static_cast<const float*>(part.values)) : f(static_cast<const double*>(part.values));
}
// f(starts, indices) of a sparse part
template <class F>
inline auto with_places(const Part& part, F f) {
    const auto as = [&]<class N>(N) { return f(static_cast<const N*>(part.starts), static_cast<const N*>(part.indices)); };
    return part.wide ? as(std::int64_t{}) : as(std::int32_t{});
}
// f(numbers, starts, indices) of a sparse part
template <class F>
inline auto with_stored(const Part& part, F f) {
    return with_numbers(part, [&](const auto* values) {
        return with_places(part, [&](const auto* starts, const auto* indices) { return f(values, starts, indices); });
    });
}

// high + low += value, keeping the rounding error; inlined, so that it is compiled for the registers of its caller
[[gnu::always_inline]] inline void gather(double& high, double& low, double value) {
    const double sum = high + value, back = sum - high;
    low += (high - (sum - back)) + (value - back);
    high = sum;
}

// Whether the columns of every row of a sparse part increase and lie within range; starts must not decrease.
bool orderly(const Part& part);

// Which rows a block holds: `index` if given, else the `count` rows from `first`.
struct Selection {
    Index first = 0, count = 0;
    const Index* index = nullptr;
    Index operator[](Index i) const { return index ? index[i] : first + i; }
};

}  // namespace lineal
