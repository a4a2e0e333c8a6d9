// Dense panels: packing rows into them, X w, X'r, X'WX by register tiles.
#pragma once

#include "kernels.hpp"
#include "vector.hpp"

namespace {

using lineal::Index;
using lineal::Kind;
using lineal::Panel;
using lineal::Part;
using lineal::Selection;

constexpr int VG = 8 / W;  // vectors per group of eight columns

#if defined(__AVX512F__)
inline __m512d widen(__m256 x) { return (__m512d)__builtin_convertvector((F)x, V); }
#endif

template <class T>
inline void pack_row(const T* from, double* to, Index stride, Index first, Index columns) {
    // `to` points at the row inside group 0
    Index column = first, done = 0;
#if defined(__AVX512F__)
    if (column % 8 != 0 || columns < 8) {
        const Index lane = column % 8, take = columns < 8 - lane ? columns : 8 - lane;
        const __mmask8 mask = static_cast<__mmask8>(((1u << take) - 1) << lane);
        double* out = to + (column / 8) * stride;
        if constexpr (sizeof(T) == 8) {
            _mm512_mask_storeu_pd(out, mask, _mm512_maskz_loadu_pd(mask, from - lane));
        } else {
            _mm512_mask_storeu_pd(out, mask, widen(_mm256_maskz_loadu_ps(mask, from - lane)));
        }
        done = take;
        column += take;
    }
#else
    for (; done < columns && column % 8 != 0; ++done, ++column)
        to[(column / 8) * stride + column % 8] = static_cast<double>(from[done]);
#endif
    double* out = to + (column / 8) * stride;
    for (; done + 8 <= columns; done += 8, out += stride)
        for (int v = 0; v < VG; ++v) store(out + v * W, load(from + done + v * W));
#if defined(__AVX512F__)
    if (done < columns) {
        const __mmask8 mask = static_cast<__mmask8>((1u << (columns - done)) - 1);
        if constexpr (sizeof(T) == 8) {
            _mm512_mask_storeu_pd(out, mask, _mm512_maskz_loadu_pd(mask, from + done));
        } else {
            _mm512_mask_storeu_pd(out, mask, widen(_mm256_maskz_loadu_ps(mask, from + done)));
        }
    }
#else
    for (Index lane = 0; done < columns; ++done, ++lane) out[lane] = static_cast<double>(from[done]);
#endif
}

template <class T>
void pack_dense(const Part& part, const Selection& rows, const Panel& panel, Index first) {
    const T* values = static_cast<const T*>(part.values);
    if (part.column_stride == 1) {
        for (Index i = 0; i < rows.count; ++i)
            pack_row(values + rows[i] * part.row_stride, panel.data + 8 * i, panel.stride, first, part.columns);
        return;
    }
    for (Index j = 0; j < part.columns; ++j) {
        const T* column = values + j * part.column_stride;
        double* out = panel.data + ((first + j) / 8) * panel.stride + (first + j) % 8;
        for (Index i = 0; i < rows.count; ++i) out[8 * i] = static_cast<double>(column[rows[i] * part.row_stride]);
    }
}

inline double& entry(const Panel& panel, Index i, Index column) {
    return panel.data[(column / 8) * panel.stride + 8 * i + column % 8];
}

template <class T, class N>
void pack_sparse(const Part& part, const Selection& rows, const Panel& panel, Index first, bool clear) {
    const T* values = static_cast<const T*>(part.values);
    const N* starts = static_cast<const N*>(part.starts);
    const N* indices = static_cast<const N*>(part.indices);
    for (Index i = 0; i < rows.count; ++i)
        for (Index t = starts[rows[i]]; t < starts[rows[i] + 1]; ++t) {
            double& at = entry(panel, i, first + indices[t]);
            at = clear ? 0.0 : at + static_cast<double>(values[t]);
        }
}

void pack_codes(const Part& part, const Selection& rows, const Panel& panel, Index first, double value) {
    const std::int32_t* codes = static_cast<const std::int32_t*>(part.values);
    for (Index i = 0; i < rows.count; ++i) {
        const std::int32_t code = codes[rows[i] * part.row_stride];
        if (code >= 0) entry(panel, i, first + code) = value;
    }
}

void pack_any_sparse(const Part& part, const Selection& rows, const Panel& panel, Index first, bool clear) {
    if (part.wide) {
        if (part.single) pack_sparse<float, std::int64_t>(part, rows, panel, first, clear);
        else pack_sparse<double, std::int64_t>(part, rows, panel, first, clear);
    } else {
        if (part.single) pack_sparse<float, std::int32_t>(part, rows, panel, first, clear);
        else pack_sparse<double, std::int32_t>(part, rows, panel, first, clear);
    }
}

void pack(const Part& part, const Selection& rows, const Panel& panel, Index first) {
    switch (part.kind) {
        case Kind::ones:
            for (Index i = 0; i < rows.count; ++i) entry(panel, i, first) = 1.0;
            return;
        case Kind::dense:
            if (part.single) pack_dense<float>(part, rows, panel, first);
            else pack_dense<double>(part, rows, panel, first);
            return;
        case Kind::codes: pack_codes(part, rows, panel, first, 1.0); return;
        case Kind::sparse: pack_any_sparse(part, rows, panel, first, false); return;
    }
}

void unpack(const Part& part, const Selection& rows, const Panel& panel, Index first) {
    if (part.kind == Kind::codes) pack_codes(part, rows, panel, first, 0.0);
    if (part.kind == Kind::sparse) pack_any_sparse(part, rows, panel, first, true);
}

// W rows times K outputs: every accumulator walks along the columns, its lanes are added at the end.
template <int K>
inline void forward_tile(const Panel& panel, Index i, const double* coef, Index coef_stride, double* eta, Index room) {
    V sum[K][W];
    for (int c = 0; c < K; ++c)
        for (int r = 0; r < W; ++r) sum[c][r] = V{};
    const double* x = panel.data + 8 * i;
    for (Index g = 0; g < panel.groups; ++g, x += panel.stride)
        for (int v = 0; v < VG; ++v) {
            V w[K];
            for (int c = 0; c < K; ++c) w[c] = load(coef + c * coef_stride + g * 8 + v * W);
            for (int r = 0; r < W; ++r) {
                const V row = load(x + 8 * r + v * W);
                for (int c = 0; c < K; ++c) sum[c][r] = fma(row, w[c], sum[c][r]);
            }
        }
    for (int c = 0; c < K; ++c) store(eta + c * room + i, load(eta + c * room + i) + sums(sum[c]));
}

void forward(const Panel& panel, Index count, const double* coef, Index coef_stride, Index outputs, double* eta,
             Index room) {
    for (Index i = 0; i < count; i += W) {
        Index c = 0;
        for (; c + 3 <= outputs; c += 3)
            forward_tile<3>(panel, i, coef + c * coef_stride, coef_stride, eta + c * room, room);
        if (c + 2 == outputs) forward_tile<2>(panel, i, coef + c * coef_stride, coef_stride, eta + c * room, room);
        if (c + 1 == outputs) forward_tile<1>(panel, i, coef + c * coef_stride, coef_stride, eta + c * room, room);
    }
}

// out[b][a] += sum_i left[i][b] right[i][a] for A groups of columns a and B columns b: the one register tile.
template <int A, int B>
inline void tile(const double* left, Index left_step, const double* right, Index right_stride, Index count, double* out,
                 Index out_stride) {
    V sum[A * VG][B];
    for (int a = 0; a < A * VG; ++a)
        for (int b = 0; b < B; ++b) sum[a][b] = V{};
    for (Index i = 0; i < count; ++i) {
        V x[A * VG];
        for (int a = 0; a < A; ++a)
            for (int v = 0; v < VG; ++v) x[a * VG + v] = load(right + a * right_stride + 8 * i + v * W);
        for (int b = 0; b < B; ++b) {
            const V y = splat(left[i * left_step + b]);
            for (int a = 0; a < A * VG; ++a) sum[a][b] = fma(x[a], y, sum[a][b]);
        }
    }
    for (int b = 0; b < B; ++b)
        for (int a = 0; a < A * VG; ++a) {
            double* at = out + b * out_stride + a * W;
            store(at, load(at) + sum[a][b]);
        }
}

// One strip of B columns against all groups of `right`, A groups at a time.
template <int A, int B>
inline void strip(const double* left, Index left_step, const Panel& right, Index first, Index last, Index count,
                  double* out, Index out_stride) {
    Index g = first;
    for (; g + A <= last; g += A)
        tile<A, B>(left, left_step, right.data + g * right.stride, right.stride, count, out + 8 * g, out_stride);
    if constexpr (A > 1) strip<A / 2, B>(left, left_step, right, g, last, count, out, out_stride);
}

constexpr int wide_a = W == 8 ? 3 : 1, wide_b = W == 8 ? 8 : W == 4 ? 4 : 2;

void backward(const Panel& panel, Index count, const double* values, Index outputs, double* gradient,
              Index gradient_stride) {
    Index c = 0;
    for (; c + wide_b <= outputs; c += wide_b)
        strip<wide_a, wide_b>(values + c, outputs, panel, 0, panel.groups, count, gradient + c * gradient_stride,
                              gradient_stride);
    if constexpr (wide_b > 4)
        for (; c + 4 <= outputs; c += 4)
            strip<wide_a, 4>(values + c, outputs, panel, 0, panel.groups, count, gradient + c * gradient_stride,
                             gradient_stride);
    if constexpr (wide_b > 2)
        for (; c + 2 <= outputs; c += 2)
            strip<W == 8 ? 4 : 2, 2>(values + c, outputs, panel, 0, panel.groups, count,
                                     gradient + c * gradient_stride, gradient_stride);
    for (; c < outputs; ++c)
        strip<W == 2 ? 2 : 4, 1>(values + c, outputs, panel, 0, panel.groups, count, gradient + c * gradient_stride,
                                 gradient_stride);
}

void scale(const Panel& panel, Index count, const double* weight, const Panel& out) {
    for (Index g = 0; g < panel.groups; ++g)
        for (Index i = 0; i < count; ++i) {
            const V w = splat(weight[i]);
            for (int v = 0; v < VG; ++v)
                store(out.data + g * out.stride + 8 * i + v * W, load(panel.data + g * panel.stride + 8 * i + v * W) * w);
        }
}

template <int A>
inline void gram_columns(const Panel& left, const Panel& right, Index group, Index count, double* gram,
                         Index gram_stride) {
    for (Index b = 0; b < 8 * (group + A); b += wide_b)
        tile<A, wide_b>(left.data + (b / 8) * left.stride + b % 8, 8, right.data + group * right.stride, right.stride,
                        count, gram + b * gram_stride + 8 * group, gram_stride);
}

void gram(const Panel& left, const Panel& right, Index count, double* gram, Index gram_stride) {
    Index g = 0;
    for (; g + wide_a <= right.groups; g += wide_a) gram_columns<wide_a>(left, right, g, count, gram, gram_stride);
    if constexpr (wide_a > 2)
        if (g + 2 <= right.groups) {
            gram_columns<2>(left, right, g, count, gram, gram_stride);
            g += 2;
        }
    for (; g < right.groups; ++g) gram_columns<1>(left, right, g, count, gram, gram_stride);
}

void moments(const Panel& panel, Index count, const double* weight, double weight_sum, const double* origin,
             double* mean, double* scatter, double* largest) {
    for (Index g = 0; g < panel.groups; ++g)
        for (int v = 0; v < VG; ++v) {
            const double* x = panel.data + g * panel.stride + v * W;
            const Index at = 8 * g + v * W;
            const V zero = load(origin + at);
            V sum{}, top{}, square{}, rest{};
            for (Index i = 0; i < count; ++i) {
                const V value = load(x + 8 * i);
                sum = fma(value - zero, splat(weight[i]), sum);
                top = absolute(value) <= top ? top : absolute(value);  // a NaN stays
            }
            const V middle = sum / weight_sum;
            for (Index i = 0; i < count; ++i) {
                const V d = (load(x + 8 * i) - zero) - middle;
                square = fma(d * d, splat(weight[i]), square);
                rest = fma(d, splat(weight[i]), rest);
            }
            store(mean + at, middle);
            store(scatter + at, square - rest * rest / weight_sum);
            store(largest + at, top);
        }
}

}  // namespace
