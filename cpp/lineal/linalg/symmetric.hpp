// Small symmetric matrices, row by row: products with them and their inverses.
#pragma once

#include <cmath>
#include <limits>

#include "passes/vector.hpp"

namespace {

// out[i] = sum_j matrix[i][j] x[j]; four rows at a time, or every sum would wait for itself
void symmetric(const double* matrix, lineal::Index n, const double* x, double* out) {
    using lineal::Index;
    Index i = 0;
    for (; i + 4 <= n; i += 4) {
        const double* row = matrix + i * n;
        V sum[4] = {};
        Index j = 0;
        for (; j + W <= n; j += W) {
            const V value = load(x + j);
#pragma GCC unroll 4
            for (int r = 0; r < 4; ++r) sum[r] = fma(load(row + r * n + j), value, sum[r]);
        }
        for (int r = 0; r < 4; ++r) {
            double whole = 0;
            for (int lane = 0; lane < W; ++lane) whole += sum[r][lane];
            for (Index rest = j; rest < n; ++rest) whole += row[r * n + rest] * x[rest];
            out[i + r] = whole;
        }
    }
    for (; i < n; ++i) {
        double whole = 0;
        for (Index j = 0; j < n; ++j) whole += matrix[i * n + j] * x[j];
        out[i] = whole;
    }
}

// R rows: at[i][j] -= sum_e left[i][e] right[e][j], e < 8, N vectors of columns j
template <int R, int N>
inline void subtract_eight(double* at, lineal::Index stride, const double* left, const double* right) {
    V sum[R][N];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int v = 0; v < N; ++v) sum[r][v] = load(at + r * stride + v * W);
#pragma GCC unroll 8
    for (int e = 0; e < 8; ++e) {
        V row[N];
#pragma GCC unroll 4
        for (int v = 0; v < N; ++v) row[v] = load(right + e * stride + v * W);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
            const V by = splat(-left[8 * r + e]);
#pragma GCC unroll 4
            for (int v = 0; v < N; ++v) sum[r][v] = fma(by, row[v], sum[r][v]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int v = 0; v < N; ++v) store(at + r * stride + v * W, sum[r][v]);
}

// Eight rows [8][8] become their inverse (Gauss-Jordan: no pivoting is needed); false where they are not positive definite.
inline bool invert_eight(double* at) {
    for (int k = 0; k < 8; ++k) {
        const double top = at[8 * k + k];
        if (!(top > 0 && top < 1e300)) return false;
        at[8 * k + k] = 1;
        for (int j = 0; j < 8; ++j) at[8 * k + j] /= top;
        for (int i = 0; i < 8; ++i) {
            if (i == k) continue;
            const double factor = at[8 * i + k];
            at[8 * i + k] = 0;
            for (int j = 0; j < 8; ++j) at[8 * i + j] -= factor * at[8 * k + j];
        }
    }
    return true;
}

// The inverse in place of a positive definite matrix, false where it is not one. Eight rows at a time are swept: A_KK becomes
// -A_KK^-1, A_KJ becomes A_KK^-1 A_KJ, A_IJ becomes A_IJ - A_IK A_KK^-1 A_KJ, until all of it is -A^-1; of this symmetric
// matrix the upper half is kept. scratch: (n8 + 16) n8, n8 the next multiple of eight.
bool invert(double* matrix, lineal::Index n, double* scratch) {
    using lineal::Index;
    constexpr int R = W == 8 ? 8 : 4, N = W == 8 ? 3 : 2;
    const Index width = (n + 7) / 8 * 8;
    double* const whole = scratch;
    double* const rows = whole + width * width;  // [8][width]
    double* const columns = rows + 8 * width;    // [width][8]
    for (Index i = 0; i < width; ++i)
        for (Index j = i / 8 * 8; j < width; ++j) whole[i * width + j] = i < n && j < n ? matrix[i * n + j] : i == j ? 1.0 : 0.0;
    for (Index k = 0; k < width; k += 8) {
        double own[64];
        for (Index c = 0; c < 8; ++c) {
            for (Index i = 0; i < k; ++i) columns[8 * i + c] = whole[i * width + k + c];
            for (Index i = k; i < k + 8; ++i) columns[8 * i + c] = 0;
            for (Index i = k + 8; i < width; ++i) columns[8 * i + c] = whole[(k + c) * width + i];
            for (Index e = 0; e < 8; ++e) own[8 * c + e] = whole[(k + (c < e ? c : e)) * width + k + (c < e ? e : c)];
        }
        if (!invert_eight(own)) return false;
        for (Index j = 0; j < width; ++j)
            for (Index c = 0; c < 8; ++c) {
                double sum = 0;
                for (Index e = 0; e < 8; ++e) sum += own[8 * c + e] * columns[8 * j + e];
                rows[c * width + j] = sum;
            }
        for (Index top = 0; top < width; top += 8) {
            if (top == k) continue;
            for (Index i = top; i < top + 8; i += R) {
                Index j = top;
                for (; j + N * W <= width; j += N * W) subtract_eight<R, N>(whole + i * width + j, width, columns + 8 * i, rows + j);
                for (; j < width; j += W) subtract_eight<R, 1>(whole + i * width + j, width, columns + 8 * i, rows + j);
            }
        }
        for (Index c = 0; c < 8; ++c) {
            for (Index i = 0; i < k; ++i) whole[i * width + k + c] = rows[c * width + i];
            for (Index j = 0; j < 8; ++j) whole[(k + c) * width + k + j] = -own[8 * c + j];
            for (Index j = k + 8; j < width; ++j) whole[(k + c) * width + j] = rows[c * width + j];
        }
    }
    for (Index i = 0; i < n; ++i)
        for (Index j = i; j < n; ++j) matrix[i * n + j] = matrix[j * n + i] = -whole[i * width + j];
    return true;
}

// to[j] *= factor from the vector on that holds `first`
inline void stretch(double* to, double factor, lineal::Index first, lineal::Index n) {
    for (lineal::Index j = first / W * W; j < n; j += W) store(to + j, load(to + j) * splat(factor));
}

// Whole vectors are read and written: those that hold the diagonal leave anything below it.
double triangle(double* upper, lineal::Index n, lineal::Index stride) {
    using lineal::Index;
    double least = std::numeric_limits<double>::infinity();
    // two rows at a time, so that those below are read and written half as often
    for (Index i = 0; i < n; i += 2) {
        double *first = upper + i * stride, *second = first + stride;
        if (!(first[i] > 0)) return first[i];
        least = first[i] < least ? first[i] : least;
        stretch(first, 1.0 / std::sqrt(first[i]), i, n);
        if (i + 1 == n) break;
        const V over = splat(-first[i + 1]);
        for (Index j = (i + 1) / W * W; j < n; j += W) store(second + j, fma(over, load(first + j), load(second + j)));
        if (!(second[i + 1] > 0)) return second[i + 1];
        least = second[i + 1] < least ? second[i + 1] : least;
        stretch(second, 1.0 / std::sqrt(second[i + 1]), i + 1, n);
        for (Index k = i + 2; k < n; ++k) {
            double* below = upper + k * stride;
            const V one = splat(-first[k]), two = splat(-second[k]);
            for (Index j = k / W * W; j < n; j += W)
                store(below + j, fma(two, load(second + j), fma(one, load(first + j), load(below + j))));
        }
    }
    return least;
}

void solve_triangle(const double* upper, lineal::Index n, lineal::Index stride, double* x) {
    using lineal::Index;
    for (Index i = 0; i < n; ++i) {
        const double* row = upper + i * stride;
        const double own = x[i] /= row[i];
        Index j = i + 1;
        for (; j < n && j % W != 0; ++j) x[j] -= own * row[j];
        for (; j < n; j += W) store(x + j, fma(splat(-own), load(row + j), load(x + j)));
    }
    for (Index i = n - 1; i >= 0; --i) {
        const double* row = upper + i * stride;
        double sum = x[i];
        Index j = i + 1;
        for (; j < n && j % W != 0; ++j) sum -= row[j] * x[j];
        V rest{};
        for (; j < n; j += W) rest = fma(load(row + j), load(x + j), rest);
        x[i] = (sum - total(rest)) / row[i];
    }
}

}  // namespace
