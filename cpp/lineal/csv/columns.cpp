#include "csv/columns.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#if defined(__GNUC__)
#define LINEAL_INLINE inline __attribute__((always_inline))
#define LINEAL_LAMBDA __attribute__((always_inline))
#else
#define LINEAL_INLINE inline
#define LINEAL_LAMBDA
#endif

namespace lineal {

namespace {

constexpr Index LANES = 4;

LINEAL_INLINE bool whole(const double* values, Index count) {
    for (Index i = 0; i < count; ++i)
        if (std::abs(values[i]) < 4503599627370496.0 && values[i] != static_cast<double>(static_cast<std::int64_t>(values[i])))
            return false;
    return true;  // beyond 2^52 all numbers are whole
}

// Compiled once more for wider registers: the lanes, and with them all bits, stay the same.
LINEAL_INLINE Summary summed(const double* values, Index count) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double high[LANES] = {}, low[LANES] = {}, least[LANES], most[LANES], missing[LANES] = {};
    std::fill(least, least + LANES, infinity);
    std::fill(most, most + LANES, -infinity);
    const Index even = count / LANES * LANES;
    const auto add = [&](double value, Index lane) LINEAL_LAMBDA {
        const bool there = value == value;
        const double x = there ? value : 0.0;
        missing[lane] += there ? 0.0 : 1.0;
        least[lane] = value < least[lane] ? value : least[lane];
        most[lane] = value > most[lane] ? value : most[lane];
        gather(high[lane], low[lane], x);
    };
#if defined(__GNUC__)
    typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));
    const Lanes none = {};
    Lanes tops = none, rests = none, lows = none + infinity, highs = none - infinity, gaps = none;
    for (Index i = 0; i < even; i += LANES) {
        Lanes value;
        std::memcpy(&value, values + i, sizeof value);
        const Lanes x = value == value ? value : none;
        gaps += value == value ? none : none + 1.0;
        lows = value < lows ? value : lows;
        highs = value > highs ? value : highs;
        const Lanes sum = tops + x, back = sum - tops;
        rests += (tops - (sum - back)) + (x - back);
        tops = sum;
    }
    for (Index lane = 0; lane < LANES; ++lane) {
        high[lane] = tops[lane], low[lane] = rests[lane], missing[lane] = gaps[lane];
        least[lane] = lows[lane], most[lane] = highs[lane];
    }
#else
    for (Index i = 0; i < even; i += LANES)
        for (Index lane = 0; lane < LANES; ++lane) add(values[i + lane], lane);
#endif
    for (Index i = even; i < count; ++i) add(values[i], i - even);
    Summary out;
    out.low = *std::min_element(least, least + LANES);
    out.high = *std::max_element(most, most + LANES);
    double gone = 0;
    for (Index lane = 0; lane < LANES; ++lane) {
        gone += missing[lane];
        gather(out.sum, out.rest, high[lane]);
    }
    for (Index lane = 0; lane < LANES; ++lane) out.rest += low[lane];
    out.count = count - static_cast<Index>(gone);
    out.whole = whole(values, count);
    return out;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) Summary summed_quickly(const double* values, Index count) { return summed(values, count); }
#endif

}  // namespace

Summary summarise(const double* values, Index count) {
#if defined(__x86_64__) && defined(__GNUC__)
    static const bool quick = __builtin_cpu_supports("avx2");
    if (quick) return summed_quickly(values, count);
#endif
    return summed(values, count);
}

template <class Code>
bool tally(const Code* codes, Index count, Index levels, std::int64_t* counts) {
    // four counters for each code, or cells that repeat a level would wait for each other
    const std::size_t size = static_cast<std::size_t>(levels) + 1;
    std::vector<std::int32_t> some(4 * size);
    std::uint64_t wrong = 0;
    for (Index start = 0; start < count; start += 1 << 30) {
        const Index stop = std::min(count, start + (Index{1} << 30));
        for (Index i = start; i < stop; ++i) {
            const std::uint64_t at = static_cast<std::uint64_t>(static_cast<std::int64_t>(codes[i]) + 1);
            const bool out = at >= size;
            wrong |= out;
            some[static_cast<std::size_t>(i & 3) * size + (out ? 0 : at)] += 1;
        }
        for (std::size_t k = 0; k < 4 * size; ++k) counts[k % size] += some[k];
        std::fill(some.begin(), some.end(), 0);
    }
    return wrong == 0;
}

template <class Code>
bool fits(const Code* codes, Index count, Index levels) {
    const Code top = static_cast<Code>(std::min<Index>(levels - 1, std::numeric_limits<Code>::max()));
    Code wrong = 0;  // of the type of the codes, so that as many as a register holds are looked at together
    for (Index i = 0; i < count; ++i) wrong = static_cast<Code>(wrong | ((codes[i] < -1) | (codes[i] > top)));
    return wrong == 0;
}

template <class Code, class Entry, class Value>
void recode(const Code* codes, Index count, const Entry* table, Value* out) {
    for (Index i = 0; i < count; ++i) out[i] = static_cast<Value>(table[static_cast<Index>(codes[i]) + 1]);
}

std::vector<Index> interleave(const std::vector<const double*>& columns, const std::vector<Index>& at, Index count, double* out,
                              Index stride) {
    constexpr Index ROWS = 128;  // of a matrix of some dozen columns, what the first-level cache holds
    constexpr std::uint64_t EXPONENT = 0x7ff0000000000000u;
    std::vector<std::uint64_t> odd(columns.size());
    for (Index start = 0; start < count; start += ROWS) {
        const Index stop = std::min(count, start + ROWS);
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const double* from = columns[j];
            double* to = out + at[j];
            std::uint64_t found = 0;
            for (Index i = start; i < stop; ++i) {
                found |= (std::bit_cast<std::uint64_t>(from[i]) & EXPONENT) == EXPONENT;
                to[i * stride] = from[i];
            }
            odd[j] |= found;
        }
    }
    std::vector<Index> which;
    for (std::size_t j = 0; j < columns.size(); ++j)
        if (odd[j]) which.push_back(static_cast<Index>(j));
    return which;
}

#define LINEAL_CODES(Code)                                                        \
    template bool tally(const Code*, Index, Index, std::int64_t*);                \
    template void recode(const Code*, Index, const double*, double*);             \
    template void recode(const Code*, Index, const std::int32_t*, std::int8_t*);  \
    template void recode(const Code*, Index, const std::int32_t*, std::int16_t*); \
    template void recode(const Code*, Index, const std::int32_t*, std::int32_t*); \
    template bool fits(const Code*, Index, Index);
LINEAL_CODES(std::int8_t)
LINEAL_CODES(std::int16_t)
LINEAL_CODES(std::int32_t)
#undef LINEAL_CODES

}  // namespace lineal
