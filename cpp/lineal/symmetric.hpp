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

// to[j] = to[j] - factor from[j]
inline void subtract(double* to, double factor, const double* from, lineal::Index n) {
    lineal::Index j = 0;
    const V by = splat(-factor);
    for (; j + W <= n; j += W) store(to + j, fma(by, load(from + j), load(to + j)));
    for (; j < n; ++j) to[j] -= factor * from[j];
}

// The inverse in place of a positive definite matrix (Gauss-Jordan: no pivoting is needed); false where it is not one.
bool invert(double* matrix, lineal::Index n) {
    using lineal::Index;
    for (Index k = 0; k < n; ++k) {
        double* pivot = matrix + k * n;
        const double top = pivot[k];
        if (!(top > 0 && top < 1e300)) return false;
        pivot[k] = 1;
        for (Index j = 0; j < n; ++j) pivot[j] /= top;
        for (Index i = 0; i < n; ++i) {
            if (i == k) continue;
            double* row = matrix + i * n;
            const double factor = row[k];
            row[k] = 0;
            subtract(row, factor, pivot, n);
        }
    }
    return true;
}

}  // namespace
