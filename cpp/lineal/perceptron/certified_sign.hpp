// Alone holds the goal of the row `perceptron-sparse` (0.80 of scikit-learn; 1.14 without it).
// Scores of stored rows whose sign is sure: added up in the order that is fastest, with a bound on what rounding can do to them and
// to the score that counts. Included by perceptron.cpp only, once per CPU level.
#pragma once

#include <cmath>

#include "perceptron/presentation.hpp"

namespace {

// A score in any order, the sum of the sizes of its terms, and their number.
struct BoundedScore {
    double score = 0, size = 0;
    Index terms = 0;
    void add(double term) {
        score += term;
        size += std::fabs(term);
        ++terms;
    }
    // False for what is not finite.
    bool sure() const { return size < 1e300 && std::fabs(score) > doubtful(terms, size); }
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

typedef std::int64_t FourBits __attribute__((vector_size(32), may_alias));

// Compressed rows: row i has the entries start[i] .. start[i + 1], of `total`.
template <class Value, class Place>
struct Compressed {
    const Place *start, *place;
    const Value* value;
    Index total;
    Compressed(const Part& part, const Value* values, const Place* starts, const Place* indices)
        : start(starts), place(indices), value(values), total(starts[part.rows]) {}

    // Adds the terms of row i, eight at a time. The last ones may reach into the next row, as zeros: no branch on how many they are.
    inline void score(Index i, const double* w, BoundedScore& sum) const {
        static constexpr std::int64_t some[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
        const Index end = start[i + 1];
        Four score[2] = {}, size[2] = {};
        Index t = start[i];
        sum.terms += end - t;
        const auto take = [&](Index h, Four x, const Place* at) {
            const Four term = x * (Four){w[at[0]], w[at[1]], w[at[2]], w[at[3]]};
            score[h] += term;
            size[h] += (Four)((FourBits)term & (FourBits{} + 0x7fffffffffffffff));
        };
        const auto bits = [](const std::int64_t* from) {
            FourBits mask;
            std::memcpy(&mask, from, sizeof mask);
            return mask;
        };
        for (; t + 8 <= end; t += 8) {
            take(0, four(value + t), place + t);
            take(1, four(value + t + 4), place + t + 4);
        }
        if (t + 8 <= total) {
            const std::int64_t* mask = some + 8 - (end - t);
            take(0, (Four)((FourBits)four(value + t) & bits(mask)), place + t);
            take(1, (Four)((FourBits)four(value + t + 4) & bits(mask + 4)), place + t + 4);
            t = end;
        }
        const Four all = score[0] + score[1], most = size[0] + size[1];
        sum.score += (all[0] + all[1]) + (all[2] + all[3]);
        sum.size += (most[0] + most[1]) + (most[2] + most[3]);
        for (; t < end; ++t) {
            const double term = static_cast<double>(value[t]) * w[place[t]];
            sum.score += term;
            sum.size += std::fabs(term);
        }
    }
    // Whether |x_i|^2 may exceed a number, by a sum in any order.
    inline bool exceeds(Index i, double known) const {
        Four sum = {};
        double rest = 0;
        Index t = start[i], end = start[i + 1];
        for (; t + 4 <= end; t += 4) sum += four(value + t) * four(value + t);
        for (; t < end; ++t) rest += static_cast<double>(value[t]) * static_cast<double>(value[t]);
        const double found = (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest + 1;  // 1: a column of ones
        return !(found + static_cast<double>(end - start[i] + 16) * 1e-15 * found < known);
    }
    inline void add(Index i, double rate, double* __restrict w) const {
        for (Index t = start[i], end = start[i + 1]; t < end; ++t) w[place[t]] += rate * static_cast<double>(value[t]);
    }
};

// The score of row i, one output, of a design that holds compressed rows and codes.
BoundedScore bounded_score(const Segment& segment, Index i, const double* w) {
    BoundedScore sum;
    for (Index p = 0; p < segment.part_count; ++p) {
        const Part& part = segment.parts[p];
        if (part.kind == Kind::ones)
            sum.add(*w);
        else if (part.kind == Kind::codes)
            sum.add(level(part, i, w));
        else
            lineal::with_stored(part, [&](const auto* values, const auto* starts, const auto* indices) {
                Compressed(part, values, starts, indices).score(i, w, sum);
            });
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

// Presents all rows of compressed ones, perhaps with a column of ones before them, where nothing happens but updates.
template <class Value, class Place>
void pace(Presentation& e, const Part& part, const Compressed<Value, Place>& rows) {
    const Segment& segment = e.segments[0];
    double* ones = &part == segment.parts ? nullptr : e.coef;
    double* w = e.coef + (ones ? 1 : 0);
    Index made = 0, survived = e.survived;
    const Index from = e.at, reach = 16;
    for (; e.at < e.length; ++e.at) {
        const Index i = e.order ? e.order[e.at] : e.at, own = static_cast<Index>(segment.y[i]);
        if (e.at + reach < e.length) fetch_stored(part, e.order ? e.order[e.at + reach] : e.at + reach);
        if (e.measure && rows.exceeds(i, e.largest)) e.largest = std::max(e.largest, square(segment, i));
        BoundedScore score;
        if (ones) score.add(*ones);
        rows.score(i, w, score);
        if (!score.sure()) score_across(e, segment, i, e.coef, 1, &score.score);
        Index rival = 0;
        ++survived;
        if (!mistaken(e, &score.score, own, rival)) continue;
        const double rate = own == 1 ? e.rate : -e.rate;
        if (ones) *ones += rate;
        rows.add(i, rate, w);
        survived = 0;
        ++made;
    }
    e.survived = survived;
    e.presented += e.at - from;
    e.mistakes += made;
}

// Whether `pace` can present the rows.
bool paced(const Presentation& e) {
    if (e.outputs > 1 || e.segment_count != 1 || !stored(e.segments[0])) return false;
    const Segment& segment = e.segments[0];
    return segment.parts[segment.part_count - 1].kind == Kind::sparse &&
           (segment.part_count == 1 || (segment.part_count == 2 && segment.parts[0].kind == Kind::ones));
}

void pace(Presentation& e) {
    const Part& part = e.segments[0].parts[e.segments[0].part_count - 1];
    lineal::with_stored(part, [&](const auto* values, const auto* starts, const auto* indices) {
        pace(e, part, Compressed(part, values, starts, indices));
    });
}

}  // namespace
