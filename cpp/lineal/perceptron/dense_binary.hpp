// Alone holds the goal of the row `perceptron` (0.97 of a numba loop; 1.98 without it).
// Two classes and dense rows of one segment, each row stored without gaps: what ten epochs over a long table come down to.
// Included by perceptron.cpp only, once per CPU level.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "perceptron/presentation.hpp"

namespace {

// Where the rows are.
template <class T>
struct Rows {
    const Presentation& e;
    const Part& part;
    Index number(Index n) const { return e.order ? e.order[n] : n; }
    const T* operator()(Index n) const { return static_cast<const T*>(part.values) + number(n) * part.row_stride; }
    bool second(Index n) const { return e.segments[0].y[number(n)] != 0; }
};

// Passes over rows that are right, several at a time, and returns true in front of a mistake; false where fewer rows are left.
template <class T>
bool sweep(Presentation& e, const Rows<T>& rows, const double* ones, const double* w) {
    const bool mine[] = {e.tie < 0, e.tie > 0};
    for (; e.at + ROWS <= e.length; e.at += ROWS, e.presented += ROWS, e.survived += ROWS) {
        const T *x[ROWS], *next[ROWS];
        double eta[ROWS];
        for (Index r = 0; r < ROWS; ++r) {
            x[r] = rows(e.at + r);
            next[r] = e.at + ROWS + r < e.length ? rows(e.at + ROWS + r) : x[r];
            eta[r] = ones ? *ones : 0.0;
            if (e.measure) e.largest = std::max(e.largest, square(e.segments[0], rows.number(e.at + r)));
        }
        dots<ROWS, 1>(x, rows.part.columns, w, 0, eta, 1, next, ROWS);
        unsigned bad = 0;
        for (Index r = 0; r < ROWS; ++r) {
            const bool up = rows.second(e.at + r);
            const double along = up ? eta[r] : -eta[r];
            bad |= static_cast<unsigned>(!(along > 0 || (along == 0 && mine[up]))) << r;
        }
        if (bad) {
            const Index right = __builtin_ctz(bad);
            e.at += right;
            e.presented += right;
            e.survived += right;
            return true;
        }
    }
    return false;
}

template <class T>
bool sweep(Presentation& e, const Part& part) {
    const bool ones = &part != e.segments[0].parts;
    return sweep(e, Rows<T>{e, part}, ones ? e.coef : nullptr, e.coef + ones);
}

// Where a vector is not above another, the answer to a NaN too; whether that is so in the first lane; what is added there, the rest
// as it was, to the bit; the sum of all lanes, in each of them.
#if defined(__AVX512F__)
typedef __mmask8 Mask;
inline Mask below(V a, V b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_NGT_UQ); }
inline Index first(Mask mask) { return mask & 1; }
inline V added(Mask mask, V w, V step) { return (V)_mm512_mask_add_pd((__m512d)w, mask, (__m512d)w, (__m512d)step); }
inline V spread(const V* sum) {
    V v = sum[0];
    v += __builtin_shuffle(v, (I){1, 0, 3, 2, 5, 4, 7, 6});
    v += __builtin_shuffle(v, (I){2, 3, 0, 1, 6, 7, 4, 5});
    return v + __builtin_shuffle(v, (I){4, 5, 6, 7, 0, 1, 2, 3});
}
#else
typedef I Mask;
inline Mask below(V a, V b) { return ~(I)(a > b); }
inline Index first(Mask mask) { return mask[0] & 1; }
inline V added(Mask mask, V w, V step) { return choose(mask, w + step, w); }
inline V spread(const V* sum) { return splat(reduced(sum)); }
#endif

// Vector g of a row of n numbers that has G of them, of which the last eight numbers may be fewer.
template <Index G, class T>
inline V piece(const T* x, Index n, Index g) {
    const Index left = n - g * W;
    return (g + 1) * W + LANES <= G * W || left >= W ? load(x + g * W) : left > 0 ? load_first(x + g * W, left) : V{};
}

// What `count` rows have made of the weights in registers; how many mistakes there were, and how many rows came after the last one.
struct Presented {
    const V* w;
    V one;
    Index made, survived;
};

// Writes down what presented rows have come to, and returns its mistakes.
template <Index G>
[[gnu::always_inline]] inline Index left(Presentation& e, const Presented& presented, double* ones, double* given, Index count) {
#pragma GCC unroll 16
    for (Index g = 0; g < G; ++g) store(given + g * W, presented.w[g]);
    if (ones) *ones = presented.one[0];
    e.survived = presented.survived;
    e.at += count;
    e.presented += count;
    e.mistakes += presented.made;
    return presented.made;
}

// Presents `count` rows one by one without a branch on mistakes, which nobody could foresee; returns how many there were. A row has
// EIGHTS times eight numbers at most, and so have the weights, which end with zeros: few enough for registers.
template <Index EIGHTS, class T>
Index present_short(Presentation& e, const Rows<T>& rows, double* ones, double* given, Index count) {
    constexpr Index Q = LANES / W, G = EIGHTS * Q;
    const Index n = rows.part.columns, bytes = n * static_cast<Index>(sizeof(T)), reach = std::max<Index>(4, 8192 / bytes);
    const V least = {}, under = splat(-std::numeric_limits<double>::denorm_min());  // above it: 0 too
    const V limit[] = {e.tie < 0 ? under : least, e.tie > 0 ? under : least}, rate[] = {splat(-e.rate), splat(e.rate)},
            side[] = {splat(-1.0), splat(1.0)};
    Index made = 0, survived = e.survived;
    V one = splat(ones ? *ones : 0.0), w[G];
    for (Index g = 0; g < G; ++g) w[g] = load(given + g * W);
    for (Index at = e.at; at < e.at + count; ++at) {
        const T* row = rows(at);
        const char* soon = reinterpret_cast<const char*>(rows(std::min(at + reach, e.length - 1)));
        const bool up = rows.second(at);
        V sum[Q] = {}, x[G];
        for (Index g = 0; g < G; ++g) {
            x[g] = piece<G>(row, n, g);
            sum[g % Q] = fma(x[g], w[g], sum[g % Q]);
        }
        for (Index b = 0; b < bytes; b += 64) __builtin_prefetch(soon + b, 0, 2);
        const Mask bad = below((one + spread(sum)) * side[up], limit[up]);
        for (Index g = 0; g < G; ++g) w[g] = added(bad, w[g], rate[up] * x[g]);
        if (ones) one = added(bad, one, rate[up]);
        if (e.measure) {  // the bits of `square`
            V squares[Q] = {};
            squares[0][0] = ones ? 1.0 : 0.0;
            for (Index g = 0; g < G; ++g) squares[g % Q] += x[g] * x[g];
            e.largest = std::max(e.largest, reduced(squares));
        }
        made += first(bad);
        survived = first(bad) ? 0 : survived + 1;
    }
    return left<G>(e, {w, one, made, survived}, ones, given, count);
}

#if defined(__AVX512F__)
// The sum of one vector in the even lanes and of another in the odd ones.
inline V two_sums(V a, V b) {
    V v = __builtin_shuffle(a, b, (I){0, 8, 2, 10, 4, 12, 6, 14}) + __builtin_shuffle(a, b, (I){1, 9, 3, 11, 5, 13, 7, 15});
    v += __builtin_shuffle(v, (I){2, 3, 0, 1, 6, 7, 4, 5});
    return v + __builtin_shuffle(v, (I){4, 5, 6, 7, 0, 1, 2, 3});
}

// The largest |x|^2 of `count` rows and the one after them, to the bits of `square`.
template <Index G, class T>
double largest_square(const Presentation& e, const Rows<T>& rows, bool ones, Index count) {
    double found = 0;
    for (Index at = e.at; at <= e.at + count; ++at) {
        const T* row = rows(std::min(at, e.length - 1));
        V squares = {};
        squares[0] = ones ? 1.0 : 0.0;
#pragma GCC unroll 8
        for (Index g = 0; g < G; ++g) {
            const V x = piece<G>(row, rows.part.columns, g);
            squares += x * x;
        }
        found = std::max(found, reduced(&squares));
    }
    return found;
}

// The same where it is known how long rows are: the next row is scored before this one is decided, and corrected by the product of
// both, w'.z = w.z + rate x.z, which waits for one comparison instead of a whole score. Where rounding might change the side, the
// score that counts is computed, so that the bits are those of `present_short`. Rows that are to be measured are, before they are
// presented.
template <Index G, class T>
Index present_ahead(Presentation& e, const Rows<T>& rows, double* ones, double* given, Index count) {
    const Index n = rows.part.columns, bytes = n * static_cast<Index>(sizeof(T)), reach = std::max<Index>(4, 8192 / bytes);
    const V least = {}, under = splat(-std::numeric_limits<double>::denorm_min());  // above it: 0 too
    const V limit[] = {e.tie < 0 ? under : least, e.tie > 0 ? under : least}, rate[] = {splat(-e.rate), splat(e.rate)},
            side[] = {splat(-1.0), splat(1.0)};
    const V alike = splat(ones ? 1.0 : 0.0);  // what two columns of ones add to the product of two rows
    Index made = 0, survived = e.survived;
    V one = splat(ones ? *ones : 0.0), w[G], x[G], squares = {};
#pragma GCC unroll 8
    for (Index g = 0; g < G; ++g) {
        w[g] = load(given + g * W);
        squares += w[g] * w[g];
    }
    double within = e.within;
    if (e.measure) {
        const double square = largest_square<G>(e, rows, ones, count);
        e.largest = std::max(e.largest, square);
        within = std::sqrt(square);
    }
    const double size = std::sqrt(reduced(&squares)) + std::fabs(one[0]) + static_cast<double>(count) * std::fabs(e.rate) * within;
    const V doubt = splat(doubtful(n + 1, size * within));
    const auto counts = [&](const V* row) {
        V sum = {};
#pragma GCC unroll 8
        for (Index g = 0; g < G; ++g) sum = fma(row[g], w[g], sum);
        return one + spread(&sum);
    };
#pragma GCC unroll 8
    for (Index g = 0; g < G; ++g) x[g] = piece<G>(rows(e.at), n, g);
    V now = counts(x);
    for (Index at = e.at; at < e.at + count; ++at) {
        const T* row = rows(std::min(at + 1, e.length - 1));
        const char* soon = reinterpret_cast<const char*>(rows(std::min(at + reach, e.length - 1)));
        const bool up = rows.second(at);
        V next[G], sum[2] = {}, cross[2] = {};
#pragma GCC unroll 8
        for (Index g = 0; g < G; ++g) {
            next[g] = piece<G>(row, n, g);
            sum[g % 2] = fma(next[g], w[g], sum[g % 2]);
            cross[g % 2] = fma(next[g], x[g], cross[g % 2]);
        }
        for (Index b = 0; b < bytes; b += 64) __builtin_prefetch(soon + b, 0, 2);
        const V found = two_sums(sum[0] + sum[1], cross[0] + cross[1]);
        const V before = one + (V)_mm512_movedup_pd((__m512d)found);
        const V more = rate[up] * (alike + (V)_mm512_permute_pd((__m512d)found, 0xff));
        const Mask bad = below(now * side[up], limit[up]);
#pragma GCC unroll 8
        for (Index g = 0; g < G; ++g) {
            w[g] = added(bad, w[g], rate[up] * x[g]);
            x[g] = next[g];
        }
        if (ones) one = added(bad, one, rate[up]);
        now = added(bad, before, more);
        if (first(below(absolute(now), doubt))) now = counts(x);
        made += first(bad);
        survived = first(bad) ? 0 : survived + 1;
    }
    return left<G>(e, {w, one, made, survived}, ones, given, count);
}
#endif

// The same for longer rows, whose scores take longer than a branch foreseen wrongly.
template <class T>
Index present_long(Presentation& e, const Rows<T>& rows, double* ones, double* w, Index count) {
    Index made = 0;
    for (Index end = e.at + count; e.at < end; ++e.at) {
        const T *x = rows(e.at), *next = rows(std::min(e.at + 1, e.length - 1));
        const Index own = rows.second(e.at);
        double eta = ones ? *ones : 0.0;
        Index rival = 0;
        dots<1, 1>(&x, rows.part.columns, w, 0, &eta, 1, &next, 1);
        if (e.measure) e.largest = std::max(e.largest, square(e.segments[0], rows.number(e.at)));
        ++e.survived;
        if (!mistaken(e, &eta, own, rival)) continue;
        add_dense(x, rows.part.columns, own ? e.rate : -e.rate, w);
        if (ones) *ones += own ? e.rate : -e.rate;
        e.survived = 0;
        ++made;
    }
    e.presented += count;
    e.mistakes += made;
    return made;
}

// Presents all rows: many at once while they are right, one by one while some are mistaken.
template <class T>
void present_dense(Presentation& e, const Part& part) {
    using Present = Index (*)(Presentation&, const Rows<T>&, double*, double*, Index);
    static constexpr Present short_rows[] = {present_short<1, T>, present_short<2, T>, present_short<3, T>, present_short<4, T>,
                                             present_short<5, T>, present_short<6, T>, present_short<7, T>, present_short<8, T>};
    const Index eights = (part.columns + LANES - 1) / LANES;
    const bool few = eights >= 1 && eights <= 8 && W > 2;  // vectors of two: no registers for the weights of fifty columns
    Present present = few ? short_rows[eights - 1] : present_long<T>;
    Index some = 16;
#if defined(__AVX512F__)
    static constexpr Present ahead[] = {present_ahead<1, T>, present_ahead<2, T>, present_ahead<3, T>, present_ahead<4, T>,
                                        present_ahead<5, T>, present_ahead<6, T>, present_ahead<7, T>, present_ahead<8, T>};
    if ((e.within > 0 || e.measure) && few) present = ahead[eights - 1], some = e.measure ? 16 : 64;
#endif
    const Rows<T> rows{e, part};
    double* ones = &part == e.segments[0].parts ? nullptr : e.coef;
    double* given = e.coef + (ones ? 1 : 0);
    std::vector<double> room(static_cast<std::size_t>(part.columns + 16));
    double* w = room.data() + (64 - reinterpret_cast<std::uintptr_t>(room.data()) % 64) % 64 / 8;
    std::copy(given, given + part.columns, w);
    for (bool calm = false; e.at < e.length;) {
        if (calm && !sweep(e, rows, ones, w) && e.at == e.length) break;
        calm = present(e, rows, ones, w, std::min(some, e.length - e.at)) == 0;
    }
    std::copy(w, w + part.columns, given);
}

// The dense part of rows that can be presented so, or null.
const Part* dense_part(const Presentation& e) {
    if (e.outputs > 1 || e.segment_count != 1 || !all_dense(e.segments[0])) return nullptr;
    const Segment& segment = e.segments[0];
    const Part* last = segment.parts + segment.part_count - 1;
    return segment.part_count <= 2 && last->kind == Kind::dense && (segment.part_count == 1 || segment.parts[0].kind == Kind::ones)
               ? last
               : nullptr;
}

}  // namespace
