// Exact minimisers on faces: the Cholesky factor of the gram of the columns in use, which come and go along a path.
// Included by sweeps.cpp, once per CPU level.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "paths/sweeps.hpp"
#include "passes/vector.hpp"

namespace {

using lineal::Index;
using lineal::Support;

// sum over c < count of a[r][c] b[t][c], for R rows and T others together
template <int R, int T>
inline void dots(const double* const* a, const double* const* b, Index count, double (*out)[T]) {
    V sum[R][T] = {};
    Index c = 0;
    for (; c + W <= count; c += W)
        for (int r = 0; r < R; ++r)
            for (int t = 0; t < T; ++t) sum[r][t] = fma(load(a[r] + c), load(b[t] + c), sum[r][t]);
    for (int r = 0; r < R; ++r)
        for (int t = 0; t < T; ++t) {
            double total = 0;
            for (int i = 0; i < W; ++i) total += sum[r][t][i];
            for (Index i = c; i < count; ++i) total += a[r][i] * b[t][i];
            out[r][t] = total;
        }
}

// The factor L of a support, row i with i + 1 entries at i (i + 1) / 2.
class Factor {
public:
    explicit Factor(Support& support) : s(support) {}

    Index size() const { return static_cast<Index>(s.columns.size()); }

    // Takes up columns whose products with those held, and with each other, `gram(a, b)` knows; `a` counts them, `b` counts
    // all. Returns which were left out because they depend on the others.
    template <class Gram>
    std::vector<bool> append(const std::vector<Index>& columns, Gram gram) {
        const Index m = size(), k = static_cast<Index>(columns.size()), width = m + k;
        fresh_.resize(static_cast<std::size_t>(k * width));
        std::vector<bool> refused(columns.size(), false);
        for (Index t = 0; t < k; ++t)
            for (Index r = 0; r < width; ++r) fresh_[static_cast<std::size_t>(t * width + r)] = gram(t, r);
        Index t = 0;
        for (; t + 4 <= k; t += 4) forward<4>(&fresh_[static_cast<std::size_t>(t * width)], width, m);
        for (; t < k; ++t) forward<1>(&fresh_[static_cast<std::size_t>(t * width)], width, m);
        for (t = 0; t < k; ++t) {
            double* row = &fresh_[static_cast<std::size_t>(t * width)];
            const double whole = row[m + t];
            Index at = m;  // entries for the new columns held so far, in the place of all new ones
            for (Index u = 0; u < t; ++u) {
                if (refused[static_cast<std::size_t>(u)]) continue;
                const double *other = row_of(at), *one[1] = {row}, *two[1] = {other};
                double sum[1][1];
                dots<1, 1>(one, two, at, sum);
                row[at] = (row[m + u] - sum[0][0]) / other[at];
                ++at;
            }
            const double* self[1] = {row};
            double square[1][1];
            dots<1, 1>(self, self, at, square);
            const double left = whole - square[0][0];
            if (!(left > 1e-10 * whole)) {
                refused[static_cast<std::size_t>(t)] = true;
                continue;
            }
            s.factor.insert(s.factor.end(), row, row + at);
            s.factor.push_back(std::sqrt(left));
            s.columns.push_back(columns[static_cast<std::size_t>(t)]);
        }
        return refused;
    }

    // Lets go of the column at a position: the rows below lose an entry and are turned back into a triangle.
    void remove(Index at) {
        const Index m = size();
        std::vector<double> cosine, sine, lost;
        for (Index r = at + 1; r < m; ++r) lost.push_back(row_of(r)[at]);
        for (Index r = at + 1; r < m; ++r) {
            const double* from = row_of(r);
            double* to = row_of(r - 1);
            std::copy(from, from + at, to);
            std::copy(from + at + 1, from + r + 1, to + at);
        }
        s.columns.erase(s.columns.begin() + at);
        s.factor.resize(static_cast<std::size_t>(start(m - 1)));
        const Index rest = m - 1 - at;
        cosine.resize(static_cast<std::size_t>(rest));
        sine.resize(static_cast<std::size_t>(rest));
        for (Index first = 0; first < rest; first += 8) {
            const Index some = std::min<Index>(8, rest - first);
            double* row[8];
            for (Index r = 0; r < some; ++r) row[r] = row_of(at + first + r) + at;
            double* more = &lost[static_cast<std::size_t>(first)];
            const auto turn = [&](Index r, Index c) {
                const double x = row[r][c], y = more[r], u = cosine[static_cast<std::size_t>(c)], v = sine[static_cast<std::size_t>(c)];
                row[r][c] = u * x + v * y;
                more[r] = u * y - v * x;
            };
            if (some == 8)
                for (Index c = 0; c < first; ++c)
                    for (Index r = 0; r < 8; ++r) turn(r, c);
            else
                for (Index c = 0; c < first; ++c)
                    for (Index r = 0; r < some; ++r) turn(r, c);
            for (Index r = 0; r < some; ++r) {
                for (Index c = first; c < first + r; ++c) turn(r, c);
                double& corner = row[r][first + r];
                const double length = std::hypot(corner, more[r]);
                cosine[static_cast<std::size_t>(first + r)] = corner / length;
                sine[static_cast<std::size_t>(first + r)] = more[r] / length;
                corner = length;
            }
        }
    }

    // values = (L L')^-1 values
    void solve(double* values) {
        const Index m = size();
        forward<1>(values, m, m);
        Index r = m;
        for (; r % 4 != 0; --r) {
            const double* row = row_of(r - 1);
            const double x = values[r - 1] /= row[r - 1];
            for (Index c = 0; c < r - 1; ++c) values[c] -= row[c] * x;
        }
        for (; r > 0; r -= 4) {
            const double* row[4];
            for (Index i = 0; i < 4; ++i) row[i] = row_of(r - 4 + i);
            double* x = values + (r - 4);
            for (Index i = 3; i >= 0; --i) {
                x[i] /= row[i][r - 4 + i];
                for (Index c = 0; c < i; ++c) x[c] -= row[i][r - 4 + c] * x[i];
            }
            const double a = x[0], b = x[1], d = x[2], e = x[3];
            for (Index c = 0; c < r - 4; ++c) values[c] -= (row[0][c] * a + row[1][c] * b) + (row[2][c] * d + row[3][c] * e);
        }
    }

private:
    static Index start(Index r) { return r * (r + 1) / 2; }
    double* row_of(Index r) { return s.factor.data() + start(r); }

    // T right sides, `stride` apart: x = L^-1 x in the first m entries
    template <int T>
    void forward(double* right, Index stride, Index m) {
        double* x[T];
        for (int t = 0; t < T; ++t) x[t] = right + t * stride;
        Index r = 0;
        for (; r + 4 <= m; r += 4) {
            const double* row[4] = {row_of(r), row_of(r + 1), row_of(r + 2), row_of(r + 3)};
            double sum[4][T];
            dots<4, T>(row, x, r, sum);
            for (int t = 0; t < T; ++t)
                for (Index i = 0; i < 4; ++i) {
                    double value = x[t][r + i] - sum[i][t];
                    for (Index c = 0; c < i; ++c) value -= row[i][r + c] * x[t][r + c];
                    x[t][r + i] = value / row[i][r + i];
                }
        }
        for (; r < m; ++r) {
            const double* row[1] = {row_of(r)};
            double sum[1][T];
            dots<1, T>(row, x, r, sum);
            for (int t = 0; t < T; ++t) x[t][r] = (x[t][r] - sum[0][t]) / row[0][r];
        }
    }

    Support& s;
    std::vector<double> fresh_;
};

}  // namespace
