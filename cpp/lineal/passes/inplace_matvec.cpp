// Scores of rows that lie in memory number after number, read where they are: no panel is packed.
// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include <algorithm>

#include "passes/kernels.hpp"
#include "passes/vector.hpp"

namespace {

using lineal::Index;
using lineal::Part;
using lineal::Selection;

// W rows: every accumulator walks along a row, its lanes are added at the end. The bits of a row are its own, whatever stands beside it.
template <class T>
inline V scores(const T* const* x, Index n, const double* w) {
    constexpr Index LINE = 64 / static_cast<Index>(sizeof(T)), REACH = 4096 / static_cast<Index>(sizeof(T));
    V sum[W] = {};
    Index j = 0;
    for (; j + W <= n; j += W) {
        const V own = load(w + j);
        for (int r = 0; r < W; ++r) {
            if (j % LINE == 0) __builtin_prefetch(x[r] + j + REACH, 0, 2);
            sum[r] = fma(load(x[r] + j), own, sum[r]);
        }
    }
    if (j < n) {
        const V own = load_first(w + j, n - j);
        for (int r = 0; r < W; ++r) sum[r] = fma(load_first(x[r] + j, n - j), own, sum[r]);
    }
    return sums(sum);
}

void inplace_matvec(const Part& part, const Selection& rows, const double* coef, double constant, double* eta) {
    lineal::with_numbers(part, [&]<class T>(const T* values) {
        for (Index i = 0; i < rows.count; i += W) {
            const T* x[W];
            // the last row stands in for those that are not there
            for (int r = 0; r < W; ++r) x[r] = values + rows[std::min(i + r, rows.count - 1)] * part.row_stride;
            store(eta + i, load(eta + i) + (scores(x, part.columns, coef) + constant));
        }
    });
}

// Columns `from` ... `from` + count - 1 of a row as N vectors, the last one filled up with zeros.
template <int N, class T>
inline void row_of(const T* x, Index count, V (&out)[N]) {
#pragma GCC unroll 4
    for (int a = 0; a < N - 1; ++a) out[a] = load(x + a * W);
    const Index left = count - (N - 1) * W;
    out[N - 1] = left < W ? load_first(x + (N - 1) * W, left) : load(x + (N - 1) * W);
}

template <int N>
inline void put_row(const V (&values)[N], Index count, double* to) {
    double all[N * W];
    for (int a = 0; a < N; ++a) store(all + a * W, values[a]);
    for (Index j = 0; j < count; ++j) to[j] = all[j];
}

template <int N, class T>
inline void pull_of(const T* x, const Part& part, const Selection& rows, const double* values, Index count, double* gradient) {
    V one[N] = {}, two[N] = {}, row[N];
    Index i = 0;
    for (; i + 2 <= rows.count; i += 2) {
        const V first = splat(values[i]), second = splat(values[i + 1]);
        row_of<N>(x + rows[i] * part.row_stride, count, row);
#pragma GCC unroll 4
        for (int a = 0; a < N; ++a) one[a] = fma(row[a], first, one[a]);
        row_of<N>(x + rows[i + 1] * part.row_stride, count, row);
#pragma GCC unroll 4
        for (int a = 0; a < N; ++a) two[a] = fma(row[a], second, two[a]);
    }
    if (i < rows.count) {
        row_of<N>(x + rows[i] * part.row_stride, count, row);
        for (int a = 0; a < N; ++a) one[a] = fma(row[a], splat(values[i]), one[a]);
    }
    double sums[N * W];
    for (int a = 0; a < N; ++a) store(sums + a * W, one[a] + two[a]);
    for (Index j = 0; j < count; ++j) gradient[j] += sums[j];
}

// The rows first ... last - 1 of a block, added to what those before them have left.
template <int N, class T>
inline void spread_of(const T* x, const Part& part, const Selection& rows, Index first, Index last, Index count, const double* origin,
                      double* sum, double* square, double* largest) {
    V from[N], row[N], sums[N], squares[N], top[N];
    row_of<N>(origin, count, from);
    row_of<N>(sum, count, sums);
    row_of<N>(square, count, squares);
    row_of<N>(largest, count, top);
    for (Index i = first; i < last; ++i) {
        const T* own = x + rows[i] * part.row_stride;
        for (Index line = 0; line < N * W; line += 64 / static_cast<Index>(sizeof(T)))
            __builtin_prefetch(own + 4096 / sizeof(T) + line, 0, 2);
        row_of<N>(own, count, row);
#pragma GCC unroll 4
        for (int a = 0; a < N; ++a) {
            const V apart = row[a] - from[a], size = absolute(row[a]);
            sums[a] += apart;
            squares[a] = fma(apart, apart, squares[a]);
            top[a] = size <= top[a] ? top[a] : size;  // a NaN stays
        }
    }
    put_row<N>(sums, count, sum);
    put_row<N>(squares, count, square);
    put_row<N>(top, count, largest);
}

// Calls work(N, first column, columns) for at most four vectors of columns at a time.
template <class Work>
inline void by_vectors(Index columns, Work work) {
    for (Index j = 0; j < columns; j += 4 * W) {
        const Index count = std::min<Index>(4 * W, columns - j);
        with_count<4>((count + W - 1) / W, [&]<int N>() { work.template operator()<N>(j, count); });
    }
}

void pull(const Part& part, const Selection& rows, const double* values, double* gradient) {
    lineal::with_numbers(part, [&](const auto* x) {
        by_vectors(part.columns, [&]<int N>(Index j, Index count) { pull_of<N>(x + j, part, rows, values, count, gradient + j); });
    });
}

template <class T>
void spread(const T* x, const Part& part, const Selection& rows, double* first, double* sum, double* square, double* largest) {
    for (Index j = 0; j < part.columns; ++j) first[j] = static_cast<double>(x[rows[0] * part.row_stride + j]);
    for (double* all : {sum, square, largest}) std::fill(all, all + part.columns, 0.0);
    const Index some = part.columns > 128 ? 8 : rows.count;  // rows side by side, as memory foresees them, unless each is soon read
    for (Index i = 0; i < rows.count; i += some)
        by_vectors(part.columns, [&]<int N>(Index j, Index count) {
            spread_of<N>(x + j, part, rows, i, std::min(i + some, rows.count), count, first + j, sum + j, square + j, largest + j);
        });
}

void spread(const Part& part, const Selection& rows, double* first, double* sum, double* square, double* largest) {
    lineal::with_numbers(part, [&](const auto* x) { spread(x, part, rows, first, sum, square, largest); });
}

bool pair(const double* mean, Index count, double* out) {
    I inside = ~I{};
    Index i = 0;
    for (; i + W <= count; i += W) {
        const V p = load(mean + i);
        inside &= (I)(p > V{}) & (I)(p < splat(1.0));
        for (int r = 0; r < W; ++r) {
            out[2 * (i + r)] = 1.0 - mean[i + r];
            out[2 * (i + r) + 1] = mean[i + r];
        }
    }
    bool all = true;
    for (int r = 0; r < W; ++r) all = all && inside[r] != 0;
    for (; i < count; ++i) {
        all = all && mean[i] > 0 && mean[i] < 1;
        out[2 * i] = 1.0 - mean[i];
        out[2 * i + 1] = mean[i];
    }
    return all;
}

}  // namespace

namespace lineal::LINEAL_LEVEL {

void add_inplace_matvec(Kernels& table) {
    table.inplace_matvec = ::inplace_matvec;
    table.pull = ::pull;
    table.spread = ::spread;
    table.pair = ::pair;
}

}  // namespace lineal::LINEAL_LEVEL
