// X'WX of packed panels by register tiles, and what else is asked of every entry on the way.
#pragma once

#include "inner.hpp"

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

// Columns of `groups` groups, at most three.
void extent(const double* x, Index stride, Index groups, Index count, const double* weight, double* sums, double* largest) {
    if constexpr (VG == 1)
        if (groups == 3) {
            extent_of<3>(x, stride, count, weight, sums, largest);
            return;
        }
    for (Index g = 0; g < groups; ++g) extent_of<VG>(x + g * stride, W, count, weight, sums + 8 * g, largest + 8 * g);
}

// One block of the result, eight columns b against `groups` groups of columns a: one register tile, or several.
template <bool fetching>
inline void block_of(const double* left, const double* right, Index right_stride, Index groups, Index count, double* out,
                     Ahead* ahead) {
    if constexpr (W == 8) {
#if defined(__AVX512F__)
        if (groups == 3) full_tile<fetching>(left, right, right_stride, count, out, ahead);
        else if (groups == 2) tile<2, 8, fetching>(left, 8, right, right_stride, count, out, lineal::block_columns, ahead);
        else tile<1, 8, fetching>(left, 8, right, right_stride, count, out, lineal::block_columns, ahead);
#endif
    } else {
        for (Index a = 0; a < groups; ++a)
            for (int b = 0; b < 8; b += wide)
                tile<1, wide, fetching>(left + b, 8, right + a * right_stride, right_stride, count,
                                        out + b * lineal::block_columns + 8 * a, lineal::block_columns, ahead);
    }
}

// Three groups a, weighted, stay in the first-level cache while the groups b of [first, last) from there on pass by.
void gram_strips(const Panel& panel, Index first, Index last, Index count, const double* weight, double* scratch,
                 const Extent* extents, double* gram, Ahead& ahead) {
    for (Index h = 0; h < last; h += 3) {
        const Index most = panel.groups - h < 3 ? panel.groups - h : 3;
        const double* right = panel.data + h * panel.stride;
        if (extents && h >= first) extent(right, panel.stride, most, count, extents->weight, extents->sum + 8 * h, extents->largest + 8 * h);
        if (weight) {
            for (Index a = 0; a < most; ++a)
                for (Index i = 0; i < count; ++i)
                    for (int v = 0; v < VG; ++v) {
                        const Index at = a * panel.stride + 8 * i + v * W;
                        store(scratch + at, load(right + at) * splat(weight[i]));
                    }
            right = scratch;
        }
        const Index from = h < first ? first : h;
        double* out = gram + lineal::block_start(panel.groups, h / 3) + 8 * lineal::block_columns * (from - h);
        for (Index g = from; g < last; ++g, out += 8 * lineal::block_columns) {
            const double* left = panel.data + g * panel.stride;
            const Index some = g - h + 1 < most ? g - h + 1 : most;
            if (ahead.at < ahead.end) block_of<true>(left, right, panel.stride, some, count, out, &ahead);
            else block_of<false>(left, right, panel.stride, some, count, out, &ahead);
        }
    }
}

// Where the panel does not fit into the second-level cache, a part of the groups b stays there while all strips a pass by.
void gram(const Panel& panel, Index count, const double* weight, double* scratch, const Extent* extents, double* gram,
          Ahead& ahead) {
    constexpr Index fitting = 108, part = 72;  // groups, multiples of three
    if (panel.groups <= fitting) {
        gram_strips(panel, 0, panel.groups, count, weight, scratch, extents, gram, ahead);
        return;
    }
    for (Index first = 0; first < panel.groups; first += part) {
        const Index last = panel.groups - first < part ? panel.groups : first + part;
        gram_strips(panel, first, last, count, weight, scratch, extents, gram, ahead);
    }
}

// Every row is copied to the place after those that count, where the next one may take its place: no branch.
Index gather(const Panel& panel, Index count, double* weight) {
    Index kept = 0;
    for (Index i = 0; i < count; ++i) {
        const double own = weight[i];
        for (Index g = 0; g < panel.groups; ++g)
            for (int v = 0; v < VG; ++v) {
                double* group = panel.data + g * panel.stride + v * W;
                store(group + 8 * kept, load(group + 8 * i));
            }
        weight[kept] = own;
        kept += own != 0;
    }
    return kept;
}

}  // namespace
