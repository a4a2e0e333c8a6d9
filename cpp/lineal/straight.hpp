// Scores of rows that lie in memory number after number, read where they are: no panel is packed.
#pragma once

#include <algorithm>

#include "kernels.hpp"
#include "vector.hpp"

namespace {

// W rows: every accumulator walks along a row, its lanes are added at the end. The bits of a row are its own, whatever stands beside it.
template <class T>
inline V scores(const T* const* x, Index n, const double* w) {
    constexpr Index LINE = 64 / static_cast<Index>(sizeof(T)), REACH = 4096 / static_cast<Index>(sizeof(T));
    V sum[W] = {};
    Index j = 0;
    for (; j + W <= n; j += W) {
        const V own = load(w + j);
        for (int r = 0; r < W; ++r) {
            if (j % LINE == 0) __builtin_prefetch(x[r] + j + REACH);
            sum[r] = fma(load(x[r] + j), own, sum[r]);
        }
    }
    if (j < n) {
        const V own = load_first(w + j, n - j);
        for (int r = 0; r < W; ++r) sum[r] = fma(load_first(x[r] + j, n - j), own, sum[r]);
    }
    return sums(sum);
}

template <class T>
void straight(const Part& part, const Selection& rows, const double* coef, double constant, double* eta) {
    for (Index i = 0; i < rows.count; i += W) {
        const T* x[W];
        // the last row stands in for those that are not there
        for (int r = 0; r < W; ++r) x[r] = static_cast<const T*>(part.values) + rows[std::min(i + r, rows.count - 1)] * part.row_stride;
        store(eta + i, load(eta + i) + (scores(x, part.columns, coef) + constant));
    }
}

void straight(const Part& part, const Selection& rows, const double* coef, double constant, double* eta) {
    if (part.single) straight<float>(part, rows, coef, constant, eta);
    else straight<double>(part, rows, coef, constant, eta);
}

bool pair(const double* mean, Index count, double* out) {
    I inside = ~I{};
    Index i = 0;
    for (; i + W <= count; i += W) {
        const V p = load(mean + i);
        inside &= (I)(p > V{}) & (I)(p < splat(1.0));
        for (int r = 0; r < W; ++r) {
            out[2 * (i + r)] = 1.0 - mean[i + r];
            out[2 * (i + r) + 1] = mean[i + r];
        }
    }
    bool all = true;
    for (int r = 0; r < W; ++r) all = all && inside[r] != 0;
    for (; i < count; ++i) {
        all = all && mean[i] > 0 && mean[i] < 1;
        out[2 * i] = 1.0 - mean[i];
        out[2 * i + 1] = mean[i];
    }
    return all;
}

}  // namespace
