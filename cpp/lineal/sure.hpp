// Scores of stored rows whose sign is sure: added up in the order that is fastest, with a bound on what rounding can do to them and
// to the score that counts. Included by perceptron.cpp only, once per CPU level.
#pragma once

#include <cmath>

#include "presentation.hpp"

namespace {

// A score in any order, the sum of the sizes of its terms, and their number.
struct Rough {
    double score = 0, size = 0;
    Index terms = 0;
    void add(double term) {
        score += term;
        size += std::fabs(term);
        ++terms;
    }
    // Both this score and the one that counts are within (terms + 16) eps / 2 times the size of the exact sum; the last term is for
    // products that underflow. False for what is not finite.
    bool sure() const { return size < 1e300 && std::fabs(score) > 4.0 * static_cast<double>(terms + 16) * 2.220446049250313e-16 * size + 1e-280; }
};

typedef double Four __attribute__((vector_size(32), may_alias));
typedef float FourSingle __attribute__((vector_size(16), may_alias));

inline Four four(const double* from) {
    Four value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
inline Four four(const float* from) {
    FourSingle value;
    std::memcpy(&value, from, sizeof value);
    return __builtin_convertvector(value, Four);
}

template <class Value, class Place>
void rough_stored(const Part& part, Index i, const double* w, Rough& sum) {
    typedef std::int64_t Bits __attribute__((vector_size(32), may_alias));
    const Index begin = static_cast<const Place*>(part.starts)[i], count = static_cast<const Place*>(part.starts)[i + 1] - begin;
    const Place* at = static_cast<const Place*>(part.indices) + begin;
    const Value* x = static_cast<const Value*>(part.values) + begin;
    Four score[2] = {}, size[2] = {};
    Index t = 0;
    for (; t + 8 <= count; t += 8)
        for (Index h = 0; h < 2; ++h) {
            const Place* own = at + t + 4 * h;
            const Four term = four(x + t + 4 * h) * (Four){w[own[0]], w[own[1]], w[own[2]], w[own[3]]};
            score[h] += term;
            size[h] += (Four)((Bits)term & (Bits{} + 0x7fffffffffffffff));
        }
    sum.terms += t;
    const Four all = score[0] + score[1], most = size[0] + size[1];
    sum.score += (all[0] + all[1]) + (all[2] + all[3]);
    sum.size += (most[0] + most[1]) + (most[2] + most[3]);
    for (; t < count; ++t) sum.add(static_cast<double>(x[t]) * w[at[t]]);
}

// The score of row i, one output, of a design that holds compressed rows and codes.
Rough rough(const Segment& segment, Index i, const double* w) {
    Rough sum;
    for (Index p = 0; p < segment.part_count; ++p) {
        const Part& part = segment.parts[p];
        if (part.kind == Kind::ones) sum.add(*w);
        else if (part.kind == Kind::codes) sum.add(level(part, i, w));
        else if (part.single && part.wide) rough_stored<float, std::int64_t>(part, i, w, sum);
        else if (part.single) rough_stored<float, std::int32_t>(part, i, w, sum);
        else if (part.wide) rough_stored<double, std::int64_t>(part, i, w, sum);
        else rough_stored<double, std::int32_t>(part, i, w, sum);
        w += part.columns;
    }
    return sum;
}

// Whether every part can be scored so, and some part is compressed.
bool stored(const Segment& segment) {
    bool some = false;
    for (Index p = 0; p < segment.part_count; ++p) {
        if (segment.parts[p].kind == Kind::dense) return false;
        some |= segment.parts[p].kind == Kind::sparse;
    }
    return some;
}

}  // namespace
