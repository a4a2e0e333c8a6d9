// What a path asks of every column: may it be beyond its charge, when may it come into use? And products with columns that
// are stored one after the other.
// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include <algorithm>
#include <limits>
#include <vector>

#include "paths/sweeps.hpp"
#include "passes/vector.hpp"

namespace {

using lineal::Index;

constexpr Index lane = W;

// sum_q a[q] b[q * stride + t] for the numbers t of one vector, in the order of q
inline V products(const double* a, const double* b, Index terms, Index stride) {
    V sum = {};
    for (Index q = 0; q < terms; ++q) sum += splat(a[q]) * load(b + q * stride);
    return sum;
}

// `points` columns of a matrix of `terms` rows, filled up with zeros to whole vectors.
std::vector<double> filled(const double* from, Index terms, Index points, Index stride) {
    std::vector<double> out(static_cast<std::size_t>(terms * stride));
    for (Index q = 0; q < terms; ++q)
        for (Index k = 0; k < points; ++k) out[static_cast<std::size_t>(q * stride + k)] = from[q * points + k];
    return out;
}

void beyond(const lineal::Beyond& task, Index first, Index last, bool* out) {
    const Index stride = (task.points + lane - 1) / lane * lane;
    const std::vector<double> turns = filled(task.turns, task.terms, task.points, stride);
    const std::vector<double> margins = filled(task.margins, task.factors, task.points, stride);
    for (Index j = first; j < last; ++j) {
        const double* slopes = task.slopes + j * task.terms;
        const double* sizes = task.sizes + j * task.factors;
        V top = splat(-std::numeric_limits<double>::infinity());
        I odd = {};
        for (Index k = 0; k < stride; k += lane) {
            const V value = absolute(products(slopes, turns.data() + k, task.terms, stride)) +
                            products(sizes, margins.data() + k, task.factors, stride);
            top = larger(top, value);
            odd |= value != value;
        }
        bool any = largest(top) > 0.0;
        for (int t = 0; t < W; ++t) any = any || odd[t] != 0;
        out[j] = any;
    }
}

void due(const lineal::Due& task, Index first, Index last, double* out) {
    constexpr double never = std::numeric_limits<double>::infinity();
    for (Index j = first; j < last; ++j) {
        const double linear = task.linear[j], slope = task.slopes[j];
        const double trend = task.before ? (task.before[j] - slope) / task.apart : 0.0;
        const double fast = (1.0 + task.turn) * linear;
        const double up = fast - trend, down = fast + trend;
        const double over = linear * task.strength - slope, under = linear * task.strength + slope;
        const bool rises = task.least[j] < 0.0 && up > 0.0 && linear > 0.0;
        const bool falls = task.most[j] > 0.0 && down > 0.0 && linear > 0.0;
        const double one = rises ? (over > 0.0 ? over : 0.0) / (rises ? up : 1.0) : never;
        const double two = falls ? (under > 0.0 ? under : 0.0) / (falls ? down : 1.0) : never;
        out[j] = task.strength - (one < two ? one : two);
    }
}

constexpr Index run_length = 448;  // entries added up before they join the others: long columns lose no more digits than short ones

// K numbers from `from`, of which only `room` may be read.
template <int K>
inline void add(V (&sums)[K], const double* from, Index room, double times) {
    if (room >= K * lane) {
        for (int v = 0; v < K; ++v) sums[v] += splat(times) * load(from + v * lane);
        return;
    }
    double few[K * lane] = {};
    std::copy(from, from + room, few);
    for (int v = 0; v < K; ++v) sums[v] += splat(times) * load(few + v * lane);
}

// The products of columns first .. last with numbers at .. at + K vectors of every row.
template <int K, class T, class N>
void times_some(const T* entries, const N* starts, const N* rows, Index size, const double* values, Index points, Index at, Index first,
                Index last, double* out) {
    for (Index j = first; j < last; ++j) {
        V total[K] = {};
        for (N t = starts[j]; t < starts[j + 1];) {
            V sums[K] = {};
            const N stop = static_cast<N>(std::min<Index>(starts[j + 1], t + run_length));
            for (; t < stop; ++t) {
                const Index from = static_cast<Index>(rows[t]) * points + at;
                add<K>(sums, values + from, size - from, static_cast<double>(entries[t]));
            }
            for (int v = 0; v < K; ++v) total[v] += sums[v];
        }
        double few[K * lane];
        for (int v = 0; v < K; ++v) store(few + v * lane, total[v]);
        std::copy(few, few + std::min<Index>(K * lane, points - at), out + j * points + at);
    }
}

void times_columns(const lineal::Part& part, const double* values, Index points, Index first, Index last, double* out) {
    lineal::with_stored(part, [&](const auto* entries, const auto* starts, const auto* rows) {
        for (Index at = 0; at < points; at += 4 * lane)
            with_count<4>((points - at + lane - 1) / lane, [&]<int K>() {
                times_some<K>(entries, starts, rows, part.columns * points, values, points, at, first, last, out);
            });
    });
}

// Adds to rows first .. last, which are zero or hold what was there, the columns times their coefficients.
void spread_columns(const lineal::Part& part, const double* coef, Index points, Index first, Index last, double* out) {
    lineal::with_stored(part, [&]<class T, class N>(const T* entries, const N* starts, const N* rows) {
        for (Index j = 0; j < part.rows; ++j) {
            const double* b = coef + j * points;
            const N* end = rows + starts[j + 1];
            for (const N* at = std::lower_bound(rows + starts[j], end, static_cast<N>(first)); at < end && *at < last; ++at) {
                double* to = out + static_cast<Index>(*at) * points;
                const double x = static_cast<double>(entries[at - rows]);
                for (Index k = 0; k < points; ++k) to[k] += x * b[k];
            }
        }
    });
}

}  // namespace

namespace lineal::LINEAL_LEVEL {

void add_screening(Sweeps& table) {
    table.beyond = ::beyond;
    table.due = ::due;
    table.times = ::times_columns;
    table.spread = ::spread_columns;
}

}  // namespace lineal::LINEAL_LEVEL
