// How a perceptron scores rows and changes weights. Included by perceptron.cpp only, which is compiled once per CPU level:
// everything lives in an anonymous namespace, or the linker might keep one level's copy for all.
#pragma once

#include <algorithm>
#include <limits>

#include "perceptron/perceptron.hpp"
#include "rowwise/entries.hpp"
#include "passes/vector.hpp"

namespace {

using lineal::Presentation;

constexpr Index LANES = 8, AHEAD = 3, ROWS = lineal::Presentation::ROWS;

inline double fused(double a, double b, double c) {
#if defined(__FMA__) || defined(__FP_FAST_FMA)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

// Beyond this size a score has the side of the one that counts, in whatever order its terms were added: both are within
// (terms + 16) eps / 2 times the sum of their sizes, at most |x| |w| = `size`, of the exact one; the last term is for products that
// underflow. Where the size is not finite no side is sure.
inline double doubtful(Index terms, double size) {
    return 4.0 * static_cast<double>(terms + 16) * std::numeric_limits<double>::epsilon() * size + 1e-280;
}

inline double tree(const double* p, Index s) {
    return ((p[0] + p[s]) + (p[2 * s] + p[3 * s])) + ((p[4 * s] + p[5 * s]) + (p[6 * s] + p[7 * s]));
}

// The same tree over the lanes of one accumulator.
inline double reduced(const V* sum) {
#if defined(__AVX512F__)
    V v = sum[0];
    v += __builtin_shuffle(v, (I){1, 0, 3, 2, 5, 4, 7, 6});
    v += __builtin_shuffle(v, (I){2, 3, 0, 1, 6, 7, 4, 5});
    return v[0] + v[4];
#else
    double parts[LANES];
    for (Index q = 0; q < LANES / W; ++q) store(parts + q * W, sum[q]);
    return tree(parts, 1);
#endif
}

// eta[r][c] += x_r.w_c for R rows and C outputs, w_c = w + c stride; the same bits for any R and C. Meanwhile the rows of `next`,
// `some` of them, come towards the cache.
template <Index R, Index C, class T>
void dots(const T* const* x, Index n, const double* w, Index stride, double* eta, Index k, const T* const* next, Index some) {
    constexpr Index Q = LANES / W;
    V sum[R][C][Q] = {};
    const auto take = [&](Index q, const V* own, Index r, V v) {
        hold(v);
        for (Index c = 0; c < C; ++c) sum[r][c][q] = fma(v, own[c], sum[r][c][q]);
    };
    Index j = 0;
    for (; j + LANES <= n; j += LANES) {
        for (Index q = 0; q < Q; ++q) {
            V own[C];
            for (Index c = 0; c < C; ++c) own[c] = load(w + c * stride + j + q * W);
            for (Index r = 0; r < R; ++r) take(q, own, r, load(x[r] + j + q * W));
        }
        for (Index r = 0; r < some; ++r) __builtin_prefetch(next[r] + j, 0, 2);
    }
    for (Index q = 0; j < n; ++q, j += W) {
        const Index count = std::min<Index>(n - j, W);
        V own[C];
        for (Index c = 0; c < C; ++c) own[c] = count == W ? load(w + c * stride + j) : load_first(w + c * stride + j, count);
        for (Index r = 0; r < R; ++r) {
            const V v = count == W ? load(x[r] + j) : load_first(x[r] + j, count);
            for (Index at = 0; at < Q; ++at)
                if (at == q) take(at, own, r, v);
        }
    }
    for (Index r = 0; r < R; ++r)
        for (Index c = 0; c < C; ++c) eta[r * k + c] += reduced(sum[r][c]);
}

template <Index R, class T>
void score_dense(const T* const* x, Index n, const double* w, Index stride, Index outputs, double* eta, const T* const* next) {
    constexpr Index C = W < 8 ? 8 / R : R == 1 ? 4 : 5;
    const Index blocks = outputs / C + outputs % C;
    Index c = 0, block = 0, row = 0;
    const auto some = [&] { return next ? (R * ++block + blocks - 1) / blocks - row : 0; };  // spread over the blocks
    for (; c + C <= outputs; c += C) {
        const Index now = some();
        dots<R, C>(x, n, w + c * stride, stride, eta + c, outputs, next ? next + row : next, now);
        row += now;
    }
    for (; c < outputs; ++c) {
        const Index now = some();
        dots<R, 1>(x, n, w + c * stride, stride, eta + c, outputs, next ? next + row : next, now);
        row += now;
    }
}

template <class T>
void score_dense(const T* x, Index n, const double* w, Index stride, Index outputs, double* eta) {
    const T* const* none = nullptr;
    score_dense<1>(&x, n, w, stride, outputs, eta, none);
}

// Eight sums, of which one grows at a time.
struct Slots {
    double sums[LANES] = {};
    void add(Index slot, double x, double w) { sums[slot] = fused(x, w, sums[slot]); }
    double sum() const { return tree(sums, 1); }
};

// x_i.w of compressed rows; the sums are local, so that nothing else can point at them.
double stored(const Part& part, Index i, const double* w) {
    return lineal::with_stored(part, [&](const auto* values, const auto* starts, const auto* indices) {
        Slots slots;
        for (Index t = starts[i], end = starts[i + 1]; t < end; ++t)
            slots.add(indices[t] & (LANES - 1), static_cast<double>(values[t]), w[indices[t]]);
        return slots.sum();
    });
}

// Scores of row i, weights [outputs][columns]; rows that are not stored densely have one output then.
void score_across(const Presentation& e, const Segment& segment, Index i, const double* w, Index outputs, double* eta) {
    for (Index c = 0; c < outputs; ++c) eta[c] = 0;
    for (Index p = 0; p < segment.part_count; ++p) {
        const Part& part = segment.parts[p];
        if (part.kind == Kind::ones)
            for (Index c = 0; c < outputs; ++c) eta[c] += w[c * e.stride];
        else if (part.kind == Kind::dense && part.column_stride == 1) {
            lineal::with_numbers(part,
                                 [&](const auto* x) { score_dense(x + i * part.row_stride, part.columns, w, e.stride, outputs, eta); });
        } else if (part.kind == Kind::dense) {
            each(part, i, [&](Index j, double x) { e.row[j] = x; });
            score_dense(e.row, part.columns, w, e.stride, outputs, eta);
        } else {
            eta[0] += part.kind == Kind::codes ? level(part, i, w) : stored(part, i, w);
        }
        w += part.columns;
    }
}

void score_rows(const Part& part, const Index* rows, const Index* soon, const double* w, Index stride, Index outputs, double* eta) {
    lineal::with_numbers(part, [&]<class T>(const T* values) {
        const T *x[ROWS], *next[ROWS];
        for (Index r = 0; r < ROWS; ++r) {
            x[r] = values + rows[r] * part.row_stride;
            next[r] = values + soon[r] * part.row_stride;
        }
        score_dense<ROWS>(x, part.columns, w, stride, outputs, eta, next);
    });
}

// The scores of several rows of one segment at once, so that the weights come from memory once for all of them; every part is ones
// or stored densely, row by row. The rows `soon` are next.
void score_block(const Presentation& e, const Segment& segment, const Index* rows, const Index* soon) {
    const double* w = e.coef;
    for (Index t = 0; t < ROWS * e.outputs; ++t) e.eta[t] = 0;
    for (Index p = 0; p < segment.part_count; ++p) {
        const Part& part = segment.parts[p];
        if (part.kind == Kind::ones)
            for (Index r = 0; r < ROWS; ++r)
                for (Index c = 0; c < e.outputs; ++c) e.eta[r * e.outputs + c] += w[c * e.stride];
        else
            score_rows(part, rows, soon, w, e.stride, e.outputs, e.eta);
        w += part.columns;
    }
}

bool all_dense(const Segment& segment) {
    for (Index p = 0; p < segment.part_count; ++p)
        if (segment.parts[p].kind != Kind::ones && (segment.parts[p].kind != Kind::dense || segment.parts[p].column_stride != 1))
            return false;
    return true;
}

// The same with weights [columns][outputs].
void score_down(const Presentation& e, const Segment& segment, Index i, double* eta) {
    const Index k = e.outputs;
    const double* w = e.coef;
    for (Index c = 0; c < k; ++c) eta[c] = 0;
    for (Index p = 0; p < segment.part_count; ++p) {
        const Part& part = segment.parts[p];
        double* __restrict sums = e.sums;
        for (Index c = 0; c < LANES * k; ++c) sums[c] = 0;
        each(part, i, [&](Index j, double x) {
            double* __restrict sum = sums + (j & (LANES - 1)) * k;
            const double* __restrict own = w + j * k;
            for (Index c = 0; c < k; ++c) sum[c] = fused(x, own[c], sum[c]);
        });
        for (Index c = 0; c < k; ++c) eta[c] += tree(sums + c, k);
        w += part.columns * k;
    }
}

// Whether a row is mistaken, and the class it is taken for. A score that is not a number is a mistake.
bool mistaken(const Presentation& e, const double* scores, Index own, Index& rival) {
    if (e.outputs == 1) {
        const double eta = scores[0];
        rival = 1 - own;
        return own == 1 ? !(e.tie > 0 ? eta >= 0 : eta > 0) : !(e.tie < 0 ? eta <= 0 : eta < 0);
    }
    rival = own == 0 ? 1 : 0;
    for (Index c = rival + 1; c < e.outputs; ++c)
        if (c != own && (e.tie > 0 ? scores[c] >= scores[rival] : scores[c] > scores[rival])) rival = c;
    const bool wins = e.tie != 0 && (e.tie > 0) == (own > rival);
    return !(wins ? scores[own] >= scores[rival] : scores[own] > scores[rival]);
}

template <class T>
void add_dense(const T* __restrict x, Index n, double rate, double* __restrict w) {
    for (Index j = 0; j < n; ++j) w[j] += rate * static_cast<double>(x[j]);
}

void add(const Presentation& e, const Segment& segment, Index i, Index output, double rate) {
    const Index step = e.across ? 1 : e.outputs;
    Index first = e.across ? output * e.stride : output;
    const double before = static_cast<double>(e.presented - 1);
    for (Index p = 0; p < segment.part_count; ++p) {
        const Part& part = segment.parts[p];
        double* __restrict w = e.coef + first;
        double* __restrict drift = e.drift ? e.drift + first : nullptr;
        if (drift)
            each(part, i, [&](Index j, double x) {
                w[j * step] += rate * x;
                drift[j * step] += before * (rate * x);
            });
        else if (step == 1 && part.kind == Kind::dense && part.column_stride == 1) {
            lineal::with_numbers(part, [&](const auto* x) { add_dense(x + i * part.row_stride, part.columns, rate, w); });
        } else
            each(part, i, [&](Index j, double x) { w[j * step] += rate * x; });
        first += part.columns * step;
    }
}

template <class T>
void add_squares(const T* x, Index n, double* parts) {
    Index j = 0;
    for (; j + LANES <= n; j += LANES)
        for (Index q = 0; q < LANES; ++q) parts[q] += static_cast<double>(x[j + q]) * static_cast<double>(x[j + q]);
    for (Index q = 0; j + q < n; ++q) parts[q] += static_cast<double>(x[j + q]) * static_cast<double>(x[j + q]);
}

double square(const Segment& segment, Index i) {
    double parts[LANES] = {};
    for (Index p = 0; p < segment.part_count; ++p) {
        const Part& part = segment.parts[p];
        if (part.kind == Kind::dense && part.column_stride == 1) {
            lineal::with_numbers(part, [&](const auto* x) { add_squares(x + i * part.row_stride, part.columns, parts); });
        } else
            each(part, i, [&](Index j, double x) { parts[j & (LANES - 1)] += x * x; });
    }
    return tree(parts, 1);
}

// Brings a row that comes soon, stored in whatever way, towards the cache.
[[gnu::always_inline]] inline void fetch(const Segment& segment, Index i) {
    for (Index p = 0; p < segment.part_count; ++p) {
        const Part& part = segment.parts[p];
        if (part.kind == Kind::sparse)
            fetch_stored(part, i);
        else if (part.kind == Kind::dense && part.column_stride == 1)
            fetch_dense(part, i);
    }
}

}  // namespace
