// X'WX of packed panels by register tiles, and what else is asked of every entry on the way.
#pragma once

#include "panels.hpp"

namespace {

// The larger of two sizes; a NaN may be lost.
inline V farther(V top, V value) {
#if defined(__AVX512DQ__)
    return (V)_mm512_range_pd((__m512d)top, (__m512d)value, 0x0B);
#else
    return larger(top, absolute(value));
#endif
}

// N vectors of columns: sum[j] += sum_i weight[i] x[i][j] (NaN if there is one), largest[j] = the largest |x| so far.
template <int N>
inline void extent_of(const double* x, Index apart, Index count, const double* weight, double* sums, double* largest) {
    V sum[N], top[N];
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) {
        sum[v] = V{};
        top[v] = load(largest + v * W);
    }
    for (Index i = 0; i < count; ++i) {
        const V w = splat(weight[i]);
#pragma GCC unroll 4
        for (int v = 0; v < N; ++v) {
            const V value = load(x + v * apart + 8 * i);
            sum[v] = fma(value, w, sum[v]);
            top[v] = farther(top[v], value);
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) {
        store(sums + v * W, load(sums + v * W) + sum[v]);
        store(largest + v * W, top[v]);
    }
}

// N groups, at most as many as a register tile is wide.
void extent(const double* x, Index stride, Index groups, Index count, const double* weight, double* sums, double* largest) {
    Index g = 0;
    if constexpr (VG == 1)
        if (groups == 3) {
            extent_of<3>(x, stride, count, weight, sums, largest);
            return;
        }
    for (; g < groups; ++g) extent_of<VG>(x + g * stride, W, count, weight, sums + 8 * g, largest + 8 * g);
}

// Groups of the right-hand side that a tile takes.
constexpr int across = W == 8 ? 3 : 1;

// Eight columns b against A groups of columns a.
template <int A>
inline void eight(const double* left, const double* right, Index right_stride, Index count, double* out,
                  Index out_stride, Ahead& ahead) {
    for (int b = 0; b < 8; b += wide) {
        if (ahead.at < ahead.end)
            tile<A, wide, true>(left + b, 8, right, right_stride, count, out + b * out_stride, out_stride, &ahead);
        else tile<A, wide, false>(left + b, 8, right, right_stride, count, out + b * out_stride, out_stride, &ahead);
    }
}

// The lower triangle. A few groups a, weighted, stay in the first-level cache while all groups b below pass by.
void gram(const Panel& panel, Index count, const double* weight, double* scratch, const Extent* extents, double* gram,
          Index gram_stride, Ahead& ahead) {
    for (Index h = 0; h < panel.groups; h += across) {
        const Index most = panel.groups - h < across ? panel.groups - h : across;
        const double* right = panel.data + h * panel.stride;
        if (extents) extent(right, panel.stride, most, count, extents->weight, extents->sum + 8 * h, extents->largest + 8 * h);
        if (weight) {
            for (Index a = 0; a < most; ++a)
                for (Index i = 0; i < count; ++i)
                    for (int v = 0; v < VG; ++v) {
                        const Index at = a * panel.stride + 8 * i + v * W;
                        store(scratch + at, load(right + at) * splat(weight[i]));
                    }
            right = scratch;
        }
        for (Index g = h; g < panel.groups; ++g) {
            const double* left = panel.data + g * panel.stride;
            double* out = gram + 8 * g * gram_stride + 8 * h;
            const Index some = g - h + 1 < most ? g - h + 1 : most;
            if (some == 1) eight<1>(left, right, panel.stride, count, out, gram_stride, ahead);
            else if (some == 2) eight<(across > 1 ? 2 : 1)>(left, right, panel.stride, count, out, gram_stride, ahead);
            else eight<across>(left, right, panel.stride, count, out, gram_stride, ahead);
        }
    }
}

}  // namespace
