// Substitution with a triangular factor by register tiles: what Cholesky and the inverse of a triangle are made of.
// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include <cmath>
#include <limits>

#include "passes/tiles.hpp"

namespace {

constexpr Index strip_block = 48;   // rows whose sums are made together
constexpr Index strip_depth = 128;  // rows that stay in the first-level cache meanwhile

// The eight rows and columns at `at` (row r at 8 r) become their Cholesky factor, the lower half zero.
bool factor_eight(double* at) {
    for (int i = 0; i < 8; ++i) {
        const double pivot = at[8 * i + i];
        if (!(pivot > 0)) return false;
        const double root = __builtin_sqrt(pivot);
        for (int j = 0; j < i; ++j) at[8 * i + j] = 0;
        at[8 * i + i] = root;
        for (int j = i + 1; j < 8; ++j) at[8 * i + j] /= root;
        for (int k = i + 1; k < 8; ++k)
            for (int j = k; j < 8; ++j) at[8 * k + j] -= at[8 * i + k] * at[8 * i + j];
    }
    return true;
}

// Eight rows of three groups: x_r <- (x_r - sum_{s < r} d[s][r] x_s) / d[r][r]
void solve_eight(const double* d, double* strip, Index stride) {
    double inverse[8];
    for (int r = 0; r < 8; ++r) inverse[r] = 1.0 / d[8 * r + r];
    for (int a = 0; a < 3; ++a)
        for (int v = 0; v < VG; ++v) {
            double* at = strip + a * stride + v * W;
            V x[8];
#pragma GCC unroll 8
            for (int r = 0; r < 8; ++r) {
                x[r] = load(at + 8 * r);
#pragma GCC unroll 8
                for (int s = 0; s < r; ++s) x[r] = fma(splat(-d[8 * s + r]), x[s], x[r]);
                x[r] = x[r] * splat(inverse[r]);
                store(at + 8 * r, x[r]);
            }
        }
}

// Rows first ... last of a strip of three groups: x_i <- (x_i - sum_{from <= k < i} R_ki x_k) / R_ii. `own` >= 0: the strip is
// that part of R itself from column `own` on, whose rows are factored on the way; false where a pivot is not positive.
bool substitute(const Panel& factor, Index from, Index first, Index last, double* strip, Index stride, Index own) {
    double sums[strip_block / 8][8 * lineal::block_columns];
    for (Index top = first; top < last; top += strip_block) {
        const Index groups = (last - top < strip_block ? last - top : strip_block) / 8;
        for (Index q = 0; q < groups; ++q)
            for (double& sum : sums[q]) sum = 0;
        for (Index k = from; k < top; k += strip_depth)
            for (Index q = 0; q < groups; ++q)
                block_of<false>(factor.data + (top / 8 + q) * factor.stride + 8 * k, strip + 8 * k, stride, 3,
                                top - k < strip_depth ? top - k : strip_depth, sums[q], nullptr);
        for (Index q = 0; q < groups; ++q) {
            const Index row = top + 8 * q;
            double* mine = factor.data + (row / 8) * factor.stride;
            if (own >= 0 && row >= own + lineal::block_columns) return true;
            if (q > 0) block_of<false>(mine + 8 * top, strip + 8 * top, stride, 3, 8 * q, sums[q], nullptr);
            for (Index r = 0; r < 8; ++r)
                for (Index a = 0; a < 3; ++a)
                    for (int v = 0; v < VG; ++v) {
                        double* at = strip + a * stride + 8 * (row + r) + v * W;
                        store(at, load(at) - load(sums[q] + r * lineal::block_columns + 8 * a + v * W));
                    }
            if (own >= 0 && row >= own && !factor_eight(mine + 8 * row)) return false;
            double diagonal[64];
            for (int t = 0; t < 64; ++t) diagonal[t] = mine[8 * row + t];
            solve_eight(diagonal, strip + 8 * row, stride);
            if (own < 0 || row < own) continue;
            for (Index a = 0; 8 * a <= row - own; ++a)  // the factor itself again, and zeros beside it
                for (Index t = 0; t < 64; ++t) strip[a * stride + 8 * row + t] = 8 * a == row - own ? diagonal[t] : 0.0;
        }
    }
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

namespace lineal::LINEAL_LEVEL {

void add_triangles(Kernels& table) {
    table.substitute = ::substitute;
    table.triangle = ::triangle;
    table.solve_triangle = ::solve_triangle;
}

}  // namespace lineal::LINEAL_LEVEL
