// X'WX of packed panels by register tiles, and what else is asked of every entry on the way.
// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include "passes/tiles.hpp"

namespace {

constexpr int L = SINGLES;

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

// out[b][a] += sum_i left[i][b] right[i][a] for A groups of columns a and B columns b of single precision, as `tile` does it in double.
template <int A, int B>
inline void single_tile(const float* left, const float* right, Index stride, Index count, float* out) {
    constexpr int per = static_cast<int>(lineal::lanes<float>), vectors = A * per / L;
    S sum[vectors][B];
#pragma GCC unroll 8
    for (int a = 0; a < vectors; ++a)
#pragma GCC unroll 8
        for (int b = 0; b < B; ++b) sum[a][b] = S{};
    for (Index i = 0; i < count; ++i, left += per, right += per) {
        S x[vectors];
#pragma GCC unroll 8
        for (int a = 0; a < vectors; ++a) x[a] = load_singles(right + a * L / per * stride + a * L % per);
#pragma GCC unroll 8
        for (int b = 0; b < B; ++b) {
            const S y = splat_single(left[b]);
#pragma GCC unroll 8
            for (int a = 0; a < vectors; ++a) sum[a][b] = fma(x[a], y, sum[a][b]);
        }
    }
#pragma GCC unroll 8
    for (int b = 0; b < B; ++b)
#pragma GCC unroll 8
        for (int a = 0; a < vectors; ++a) {
            float* at = out + b * 3 * per + a * L;
            store(at, load_singles(at) + sum[a][b]);
        }
}

// The same of sixteen columns b in single precision.
template <bool fetching>
inline void block_of(const float* left, const float* right, Index right_stride, Index groups, Index count, float* out,
                     [[maybe_unused]] Ahead* ahead) {
    constexpr Index across = 3 * lineal::lanes<float>;
    if constexpr (W == 8) {
#if defined(__AVX512F__)
        for (Index b = 0; b < 16; b += 8) {
            if (groups == 3)
                full_tile<fetching>(left + b, right, right_stride, count, out + b * across, ahead);
            else if (groups == 2)
                single_tile<2, 8>(left + b, right, right_stride, count, out + b * across);
            else
                single_tile<1, 8>(left + b, right, right_stride, count, out + b * across);
        }
#endif
    } else {
        for (Index a = 0; a < groups; ++a)
            for (Index b = 0; b < 16; b += wide)
                single_tile<1, wide>(left + b, right + a * right_stride, right_stride, count, out + b * across + 16 * a);
    }
}

inline void weigh(const double* from, double weight, double* to) {
    for (int v = 0; v < VG; ++v) store(to + v * W, load(from + v * W) * splat(weight));
}
inline void weigh(const float* from, float weight, float* to) {
    for (int v = 0; v < VG; ++v) store(to + v * L, load_singles(from + v * L) * splat_single(weight));
}

// Three groups a, weighted, stay in the first-level cache while the groups b of [first, last) from there on pass by.
template <class T>
void gram_strips(const lineal::PanelOf<T>& panel, Index first, Index last, Index count, const T* weight, T* scratch,
                 [[maybe_unused]] const Extent* extents, T* gram, Ahead& ahead) {
    constexpr Index lanes = lineal::lanes<T>, block = 3 * lanes * lanes;
    for (Index h = 0; h < last; h += 3) {
        const Index most = panel.groups - h < 3 ? panel.groups - h : 3;
        const T* right = panel.data + h * panel.stride;
        if constexpr (sizeof(T) == 8)
            if (extents && h >= first)
                extent(right, panel.stride, most, count, extents->weight, extents->sum + 8 * h, extents->largest + 8 * h);
        if (weight) {
            for (Index a = 0; a < most; ++a)
                for (Index i = 0; i < count; ++i)
                    weigh(right + a * panel.stride + lanes * i, weight[i], scratch + a * panel.stride + lanes * i);
            right = scratch;
        }
        const Index from = h < first ? first : h;
        T* out = gram + lineal::gram_start<T>(panel.groups, h / 3) + block * (from - h);
        for (Index g = from; g < last; ++g, out += block) {
            const T* left = panel.data + g * panel.stride;
            const Index some = g - h + 1 < most ? g - h + 1 : most;
            if (ahead.at < ahead.end)
                block_of<true>(left, right, panel.stride, some, count, out, &ahead);
            else
                block_of<false>(left, right, panel.stride, some, count, out, &ahead);
        }
    }
}

// Where the panel does not fit into the second-level cache, a part of the groups b stays there while all strips a pass by.
template <class T>
void gram_of(const lineal::PanelOf<T>& panel, Index count, const T* weight, T* scratch, const Extent* extents, T* gram, Ahead& ahead) {
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

void gram(const Panel& panel, Index count, const double* weight, double* scratch, const Extent* extents, double* gram, Ahead& ahead) {
    gram_of(panel, count, weight, scratch, extents, gram, ahead);
}

void single_gram(const SinglePanel& panel, Index count, const float* weight, float* scratch, float* gram, Ahead& ahead) {
    gram_of(panel, count, weight, scratch, nullptr, gram, ahead);
}

// Sixteen columns of a row, centred, scaled and rounded.
template <class T>
inline void round_line(const T* x, const double* centre, const double* factor, float* to) {
    for (int v = 0; v < 2 * VG; ++v) {
        const F value = narrowed((load(x + v * W) - load(centre + v * W)) * load(factor + v * W));
        std::memcpy(to + v * W, &value, sizeof value);
    }
}

template <class T>
void round_dense(const T* values, const Part& part, const Selection& rows, const double* centre, const double* factor,
                 const SinglePanel& panel, Index first) {
    const auto one = [&](Index i, Index j) {
        const double x = static_cast<double>(values[rows[i] * part.row_stride + j * part.column_stride]);
        panel.data[(first + j) / 16 * panel.stride + 16 * i + (first + j) % 16] = static_cast<float>((x - centre[j]) * factor[j]);
    };
    const Index whole = part.column_stride == 1 && first % 16 == 0 ? part.columns / 16 * 16 : 0;
    for (Index top = 0; whole > 0 && top < rows.count; top += 8) {  // eight rows side by side, so that the stores stay within a page
        const Index end = rows.count - top < 8 ? rows.count : top + 8;
        for (Index j = 0; j < whole; j += 16)
            for (Index i = top; i < end; ++i)
                round_line(values + rows[i] * part.row_stride + j, centre + j, factor + j,
                           panel.data + (first + j) / 16 * panel.stride + 16 * i);
    }
    for (Index j = whole; j < part.columns; ++j)
        for (Index i = 0; i < rows.count; ++i) one(i, j);
}

void round_rows(const Part& part, const Selection& rows, const double* centre, const double* factor, const SinglePanel& panel,
                Index first) {
    lineal::with_numbers(part, [&](const auto* values) { round_dense(values, part, rows, centre, factor, panel, first); });
}

void add_singles(const float* from, double* to, Index count) {
    for (Index i = 0; i < count; i += W) store(to + i, load(to + i) + load(from + i));
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

namespace lineal::LINEAL_LEVEL {

void add_grams(Kernels& table) {
    table.gram = ::gram;
    table.single_gram = ::single_gram;
    table.round = ::round_rows;
    table.add_singles = ::add_singles;
    table.gather = ::gather;
}

}  // namespace lineal::LINEAL_LEVEL
