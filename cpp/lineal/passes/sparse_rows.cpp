// Sparse and categorical parts, row by row: never expanded.
// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include "passes/tiles.hpp"

namespace {

// Brings entries that come soon, if rows follow each other, towards the second-level cache; inlined, or the compiler finds that it does
// nothing.
template <class T, class N>
[[gnu::always_inline]] inline void expect(const T* values, const N* indices, Index from, Index to) {
    constexpr Index REACH = 2048, LINE = 64;
    for (Index t = from; t < to; t += LINE / static_cast<Index>(sizeof(T))) __builtin_prefetch(values + t + REACH, 0, 2);
    for (Index t = from; t < to; t += LINE / static_cast<Index>(sizeof(N))) __builtin_prefetch(indices + t + REACH, 0, 2);
}

template <class T, class N>
void sparse_forward(const T* values, const N* starts, const N* indices, const Selection& rows, const double* coef, Index outputs,
                    double* sums) {
    for (Index i = 0; i < rows.count; ++i) {
        const Index row = rows[i], end = starts[row + 1];
        Index t = starts[row];
        expect(values, indices, t, end);
        if (outputs == 1) {
            // four running sums hide the latency of the additions
            double a = 0, b = 0, c = 0, d = 0;
            for (; t + 4 <= end; t += 4) {
                a += static_cast<double>(values[t]) * coef[indices[t]];
                b += static_cast<double>(values[t + 1]) * coef[indices[t + 1]];
                c += static_cast<double>(values[t + 2]) * coef[indices[t + 2]];
                d += static_cast<double>(values[t + 3]) * coef[indices[t + 3]];
            }
            for (; t < end; ++t) a += static_cast<double>(values[t]) * coef[indices[t]];
            sums[i] += (a + b) + (c + d);
            continue;
        }
        double* sum = sums + i * outputs;
        for (; t < end; ++t) {
            const double x = static_cast<double>(values[t]);
            const double* w = coef + indices[t] * outputs;
            for (Index c = 0; c < outputs; ++c) sum[c] += x * w[c];
        }
    }
}

template <class T, class N>
void sparse_backward(const T* values, const N* starts, const N* indices, const Selection& rows, const double* r, Index outputs,
                     double* gradient) {
    for (Index i = 0; i < rows.count; ++i) {
        const Index row = rows[i], end = starts[row + 1];
        if (outputs == 1) {
            const double slope = r[i];
            if (slope == 0) continue;  // a row that a loss with a flat side is done with
            for (Index t = starts[row]; t < end; ++t) gradient[indices[t]] += static_cast<double>(values[t]) * slope;
            continue;
        }
        for (Index t = starts[row]; t < end; ++t) {
            const double x = static_cast<double>(values[t]);
            double* to = gradient + indices[t] * outputs;
            for (Index c = 0; c < outputs; ++c) to[c] += x * r[i * outputs + c];
        }
    }
}

void codes_forward(const Part& part, const Selection& rows, const double* coef, Index outputs, double* sums) {
    const std::int32_t* codes = static_cast<const std::int32_t*>(part.values);
    for (Index i = 0; i < rows.count; ++i) {
        const Index code = codes[rows[i] * part.row_stride];
        if (code < 0) continue;
        for (Index c = 0; c < outputs; ++c) sums[i * outputs + c] += coef[code * outputs + c];
    }
}

void codes_backward(const Part& part, const Selection& rows, const double* values, Index outputs, double* gradient) {
    const std::int32_t* codes = static_cast<const std::int32_t*>(part.values);
    for (Index i = 0; i < rows.count; ++i) {
        const Index code = codes[rows[i] * part.row_stride];
        if (code < 0) continue;
        for (Index c = 0; c < outputs; ++c) gradient[code * outputs + c] += values[i * outputs + c];
    }
}

void loose_forward(const Part& part, const Selection& rows, const double* coef, Index outputs, double* sums) {
    if (part.kind == Kind::codes) {
        codes_forward(part, rows, coef, outputs, sums);
    } else {
        lineal::with_stored(part, [&](const auto* values, const auto* starts, const auto* indices) {
            sparse_forward(values, starts, indices, rows, coef, outputs, sums);
        });
    }
}

void loose_backward(const Part& part, const Selection& rows, const double* values, Index outputs, double* gradient) {
    if (part.kind == Kind::codes) {
        codes_backward(part, rows, values, outputs, gradient);
    } else {
        lineal::with_stored(part, [&](const auto* entries, const auto* starts, const auto* indices) {
            sparse_backward(entries, starts, indices, rows, values, outputs, gradient);
        });
    }
}

// The four numbers of a column, which lie in one piece.
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
typedef std::int64_t Lanes __attribute__((vector_size(32)));

// stats[column] = {sum s x, sum s x^2, sum s, max |x|} over the entries of a sparse part
template <class T, class N>
void sparse_moments(const T* values, const N* starts, const N* indices, const Selection& rows, const double* weight, double* stats) {
    const Lanes last = {0, 0, 0, -1};
    for (Index i = 0; i < rows.count; ++i) {
        const Index end = starts[rows[i] + 1];
        expect(values, indices, starts[rows[i]], end);
        for (Index t = starts[rows[i]]; t < end; ++t) {
            const double x = static_cast<double>(values[t]), sx = weight[i] * x, size = __builtin_fabs(x);
            Four& to = *reinterpret_cast<Four*>(stats + 4 * indices[t]);
            const Four here = to, more = {sx, sx * x, weight[i], size};
            const Four sum = here + more, top = more <= here ? here : more;  // a NaN gets in
            to = last ? top : sum;
        }
    }
}

// scatter[column] += sum s (x - mean)^2 over the entries of a sparse part
template <class T, class N>
void sparse_scatter(const T* values, const N* starts, const N* indices, const Selection& rows, const double* weight, const double* mean,
                    double* scatter) {
    for (Index i = 0; i < rows.count; ++i)
        for (Index t = starts[rows[i]]; t < starts[rows[i] + 1]; ++t) {
            const double d = static_cast<double>(values[t]) - mean[indices[t]];
            scatter[indices[t]] += weight[i] * d * d;
        }
}

void loose_moments(const Part& part, const Selection& rows, const double* weight, double* stats) {
    if (part.kind == Kind::codes) {
        const std::int32_t* codes = static_cast<const std::int32_t*>(part.values);
        for (Index i = 0; i < rows.count; ++i) {
            const Index code = codes[rows[i] * part.row_stride];
            if (code < 0) continue;
            for (int which = 0; which < 3; ++which) stats[4 * code + which] += weight[i];
            stats[4 * code + 3] = 1.0;
        }
    } else {
        lineal::with_stored(part, [&](const auto* values, const auto* starts, const auto* indices) {
            sparse_moments(values, starts, indices, rows, weight, stats);
        });
    }
}

void loose_scatter(const Part& part, const Selection& rows, const double* weight, const double* mean, double* scatter) {
    if (part.kind == Kind::codes) {
        const std::int32_t* codes = static_cast<const std::int32_t*>(part.values);
        for (Index i = 0; i < rows.count; ++i) {
            const Index code = codes[rows[i] * part.row_stride];
            if (code >= 0) scatter[code] += weight[i] * (1.0 - mean[code]) * (1.0 - mean[code]);
        }
    } else {
        lineal::with_stored(part, [&](const auto* values, const auto* starts, const auto* indices) {
            sparse_scatter(values, starts, indices, rows, weight, mean, scatter);
        });
    }
}

// Cross-tabulation: the entries of a row (columns increase) against its panel row, themselves and each other.
void loose_gram(const Index* starts, const Index* columns, const double* entries, Index count, const double* weight, const Panel& panel,
                double* gram, const Index* rows, const Index* pairs) {
    const Index width = 8 * panel.groups;
    for (Index i = 0; i < count; ++i) {
        // the table may be larger than the caches, and where a row will go is known; long rows stay ahead by themselves
        if (i + 2 < count && starts[i + 3] - starts[i + 2] <= 16)
            for (Index t = starts[i + 2]; t < starts[i + 3]; ++t)
                for (Index u = t + 1; u < starts[i + 3]; ++u) __builtin_prefetch(gram + pairs[columns[t]] + columns[u], 1);
        for (Index t = starts[i]; t < starts[i + 1]; ++t) {
            const double s = weight[i] * entries[t];
            double* row = gram + rows[columns[t]];
            const double* x = panel.data + 8 * i;
            for (Index g = 0; g < panel.groups; ++g, x += panel.stride)
                for (int v = 0; v < VG; ++v) store(row + 8 * g + v * W, fma(load(x + v * W), splat(s), load(row + 8 * g + v * W)));
            row[width] += s * entries[t];
            double* others = gram + pairs[columns[t]];
            for (Index u = t + 1; u < starts[i + 1]; ++u) others[columns[u]] += s * entries[u];
        }
    }
}

using lineal::Coded;

template <int N>
void codes_forward_of(const Coded* parts, const Selection& rows, double* sums) {
    const double* table[N];
    const std::int32_t* codes[N];
    Index stride[N];
    for (int p = 0; p < N; ++p) {
        table[p] = parts[p].table;
        codes[p] = parts[p].codes;
        stride[p] = parts[p].stride;
    }
    for (Index i = 0; i < rows.count; ++i) {
        const Index row = rows[i];
        double sum = sums[i];
#pragma GCC unroll 8
        for (int p = 0; p < N; ++p) sum += table[p][codes[p][row * stride[p]]];
        sums[i] = sum;
    }
}

// sums[i] += the coefficients of row i's codes, part by part; every table has an entry for code -1. Loads one by one: gathers
// take twice as long on many processors.
void codes_forward(const Coded* parts, Index count, const Selection& rows, double* sums) {
    for (; count > 0; count -= 4, parts += 4) with_count<4>(count, [&]<int N>() { codes_forward_of<N>(parts, rows, sums); });
}

// Every second of 2 N - 1 parts. What has code -1 goes to the entry before the table, which belongs to another part and gets its
// value back: no branch, because reference levels come at random.
template <int N>
void codes_backward_of(const Coded* parts, const Selection& rows, const double* values) {
    double before[N];
    double* table[N];
    const std::int32_t* codes[N];
    Index stride[N];
    for (int p = 0; p < N; ++p) {
        table[p] = parts[2 * p].table;
        codes[p] = parts[2 * p].codes;
        stride[p] = parts[2 * p].stride;
        before[p] = table[p][-1];
    }
    for (Index i = 0; i < rows.count; ++i) {
        const Index row = rows[i];
        const double value = values[i];
#pragma GCC unroll 8
        for (int p = 0; p < N; ++p) table[p][codes[p][row * stride[p]]] += value;
    }
    for (int p = 0; p < N; ++p) table[p][-1] = before[p];
}

// the table of every part, at row i's code, += values[i]; tables in order, each may begin where the one before ends, and there is
// an entry before the first
void codes_backward(const Coded* parts, Index count, const Selection& rows, const double* values) {
    for (Index odd = 0; odd < 2; ++odd) {
        Index left = (count + 1 - odd) / 2;
        for (const Coded* at = parts + odd; left > 0; at += 8, left -= 4)
            with_count<4>(left, [&]<int N>() { codes_backward_of<N>(at, rows, values); });
    }
}

}  // namespace

namespace lineal::LINEAL_LEVEL {

void add_sparse_rows(Kernels& table) {
    table.loose_forward = ::loose_forward;
    table.loose_backward = ::loose_backward;
    table.codes_forward = ::codes_forward;
    table.codes_backward = ::codes_backward;
    table.loose_gram = ::loose_gram;
    table.loose_moments = ::loose_moments;
    table.loose_scatter = ::loose_scatter;
}

}  // namespace lineal::LINEAL_LEVEL
