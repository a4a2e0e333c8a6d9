// Small symmetric matrices, row by row: products with them and their inverses.
#pragma once

#include "vector.hpp"

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
                for (; j + N * W <= width; j += N * W)
                    subtract_eight<R, N>(whole + i * width + j, width, columns + 8 * i, rows + j);
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

}  // namespace
