// Products in single precision with rows that are stored so, read in place: twice the numbers in a register.
#pragma once

#include <utility>

#include "passes/kernels.hpp"
#include "passes/vector.hpp"

namespace {

constexpr int L = SINGLES;

typedef std::int32_t J __attribute__((vector_size(L * 4), may_alias));
typedef float H __attribute__((vector_size(L * 2), may_alias));

// The first `count` < L numbers, zeros behind them: what follows a row may be no number, or not be there.
inline S load_some(const float* from, Index count) {
#if defined(__AVX512F__)
    return (S)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from);
#else
    float some[L] = {};
    for (Index j = 0; j < count; ++j) some[j] = from[j];
    return load_singles(some);
#endif
}

inline S splat_single(float value) { return value - S{}; }

// x and y with every run of `run` lanes added to its neighbour: the sums of x in even runs, those of y in odd ones
template <int run, int... lane>
inline S fold(S x, S y, std::integer_sequence<int, lane...>) {
    const J first = {((lane / run % 2 ? L : 0) + lane / (2 * run) * (2 * run) + lane % run)...};
    const J second = {((lane / run % 2 ? L : 0) + lane / (2 * run) * (2 * run) + lane % run + run)...};
    return __builtin_shuffle(x, y, first) + __builtin_shuffle(x, y, second);
}
template <int run>
inline S fold(S x, S y) {
    return fold<run>(x, y, std::make_integer_sequence<int, L>());
}

// The sums of L registers, as one register.
inline S sums_single(S* a) {
#pragma GCC unroll 8
    for (int i = 0; i < L / 2; ++i) a[i] = fold<1>(a[2 * i], a[2 * i + 1]);
#pragma GCC unroll 8
    for (int i = 0; i < L / 4; ++i) a[i] = fold<2>(a[2 * i], a[2 * i + 1]);
    if constexpr (L >= 8) {
#pragma GCC unroll 8
        for (int i = 0; i < L / 8; ++i) a[i] = fold<4>(a[2 * i], a[2 * i + 1]);
    }
    if constexpr (L >= 16) a[0] = fold<8>(a[0], a[1]);
    return a[0];
}

// R rows times K outputs, R K <= L: one register for each pair, added up along the columns. Rows seldom begin at the
// border of a cache line, so each is loaded once for as many outputs as registers hold.
// The first outputs of a row ask for the rows after these.
template <int R, int K, bool first>
inline void single_forward_tile(const float* const* rows, Index columns, const float* coef, Index coef_stride, double* eta, Index room) {
    S sum[L];
#pragma GCC unroll 16
    for (int t = 0; t < L; ++t) sum[t] = S{};
    Index j = 0;
    for (; j + L <= columns; j += L) {
        S x[R];
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
            x[r] = load_singles(rows[r] + j);
            hold(x[r]);
            if constexpr (first) __builtin_prefetch(rows[R + r] + j);
        }
#pragma GCC unroll 4
        for (int c = 0; c < K; ++c) {
            const S w = load_singles(coef + c * coef_stride + j);
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) sum[c * R + r] = fma(x[r], w, sum[c * R + r]);
        }
    }
    if (j < columns) {
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
            const S x = load_some(rows[r] + j, columns - j);
#pragma GCC unroll 4
            for (int c = 0; c < K; ++c) sum[c * R + r] = fma(x, load_singles(coef + c * coef_stride + j), sum[c * R + r]);
        }
    }
    float out[L];
    const S all = sums_single(sum);
    std::memcpy(out, &all, sizeof all);
    for (int c = 0; c < K; ++c)
        for (int r = 0; r < R; ++r) eta[c * room + r] += static_cast<double>(out[c * R + r]);
}

template <int R, bool first>
inline void single_forward_some(Index outputs, const float* const* rows, Index columns, const float* coef, Index coef_stride, double* eta,
                                Index room) {
    constexpr int most = L / R;
    if (outputs == most)
        single_forward_tile<R, most, first>(rows, columns, coef, coef_stride, eta, room);
    else if (outputs == 1)
        single_forward_tile<R, 1, first>(rows, columns, coef, coef_stride, eta, room);
    else if (outputs == 2)
        single_forward_tile<R, 2, first>(rows, columns, coef, coef_stride, eta, room);
    else
        single_forward_tile < R, most<3 ? most : 3, first>(rows, columns, coef, coef_stride, eta, room);
}

void single_forward(const float* const* rows, Index count, Index columns, const float* coef, Index coef_stride, Index outputs, double* eta,
                    Index room) {
    constexpr int R = W == 2 ? 2 : 4, most = L / R;
    // the coefficients of some outputs stay in the first-level cache while all rows pass by, if they are worth reading the rows again
    const Index fitting = 5120 / coef_stride / most * most, some = fitting < 16 ? outputs : fitting;
    for (Index from = 0; from < outputs; from += some) {
        const Index end = outputs - from < some ? outputs : from + some;
        for (Index i = 0; i < count; i += R)
            for (Index c = from; c < end;) {
                const Index left = end - c, rounds = (left + most - 1) / most, take = (left + rounds - 1) / rounds;
                const float* w = coef + c * coef_stride;
                double* out = eta + c * room + i;
                if (c == 0)
                    single_forward_some<R, true>(take, rows + i, columns, w, coef_stride, out, room);
                else
                    single_forward_some<R, false>(take, rows + i, columns, w, coef_stride, out, room);
                c += take;
            }
    }
}

// A registers of columns times B outputs, added up along the rows; `some` < L columns in the last register, or 0 for all.
template <int A, int B, bool part>
inline void single_backward_tile(const float* const* rows, Index column, Index some, Index count, const float* values, Index outputs,
                                 double* gradient, Index gradient_stride) {
    S sum[A * B];
#pragma GCC unroll 32
    for (int t = 0; t < A * B; ++t) sum[t] = S{};
    for (Index i = 0; i < count; ++i) {
        S x[A];
#pragma GCC unroll 4
        for (int a = 0; a < A; ++a) x[a] = part ? load_some(rows[i] + column, some) : load_singles(rows[i] + column + a * L);
#pragma GCC unroll 8
        for (int b = 0; b < B; ++b) {
            const S v = splat_single(values[i * outputs + b]);
#pragma GCC unroll 4
            for (int a = 0; a < A; ++a) sum[b * A + a] = fma(x[a], v, sum[b * A + a]);
        }
    }
    // out of the registers first: widening them in place would leave too few for the loop above
    float out[A * B * L];
#pragma GCC unroll 32
    for (int t = 0; t < A * B; ++t) {
        const S value = sum[t];
        std::memcpy(out + t * L, &value, sizeof value);
    }
    const Index wide = part ? some : A * L;
    for (int b = 0; b < B; ++b) {
        double* to = gradient + b * gradient_stride + column;
        for (Index j = 0; j < wide; ++j) to[j] += static_cast<double>(out[b * A * L + j]);
    }
}

template <int B>
inline void single_backward_outputs(const float* const* rows, Index first, Index last, Index count, const float* values, Index outputs,
                                    double* gradient, Index gradient_stride) {
    Index j = first;
    for (; j + 4 * L <= last; j += 4 * L) single_backward_tile<4, B, false>(rows, j, 0, count, values, outputs, gradient, gradient_stride);
    for (; j + L <= last; j += L) single_backward_tile<1, B, false>(rows, j, 0, count, values, outputs, gradient, gradient_stride);
    if (j < last) single_backward_tile<1, B, true>(rows, j, last - j, count, values, outputs, gradient, gradient_stride);
}

constexpr int single_outputs = W == 8 ? 5 : 2;

void single_backward(const float* const* rows, Index count, Index columns, const float* values, Index outputs, double* gradient,
                     Index gradient_stride) {
    // a strip of columns stays in the first-level cache for all outputs
    for (Index j = 0; j < columns; j += 4 * L) {
        const Index last = j + 4 * L < columns ? j + 4 * L : columns;
        for (Index c = 0; c < outputs;) {
            const Index left = outputs - c, rounds = (left + single_outputs - 1) / single_outputs;
            const Index take = (left + rounds - 1) / rounds;
            double* out = gradient + c * gradient_stride;
            switch (take) {
                case 1:
                    single_backward_outputs<1>(rows, j, last, count, values + c, outputs, out, gradient_stride);
                    break;
                case 2:
                    single_backward_outputs<2>(rows, j, last, count, values + c, outputs, out, gradient_stride);
                    break;
                case 3:
                    single_backward_outputs<3>(rows, j, last, count, values + c, outputs, out, gradient_stride);
                    break;
                case 4:
                    single_backward_outputs<4>(rows, j, last, count, values + c, outputs, out, gradient_stride);
                    break;
                default:
                    single_backward_outputs<5>(rows, j, last, count, values + c, outputs, out, gradient_stride);
                    break;
            }
            c += take;
        }
    }
}

}  // namespace
