// Compiled once per CPU level, with LINEAL_LEVEL naming it. Only the table has external linkage.
#include "epochs.hpp"

#include "row_losses.hpp"

namespace {

using lineal::Epoch;
using lineal::Epochs;
using lineal::Kind;
using lineal::Part;
using lineal::Segment;

template <class Value, class Place, class F>
void each_stored(const Part& part, Index i, Index first, F f) {
    const Place* starts = static_cast<const Place*>(part.starts);
    const Place* indices = static_cast<const Place*>(part.indices);
    const Value* values = static_cast<const Value*>(part.values);
    for (Index at = starts[i]; at < starts[i + 1]; ++at) f(first + indices[at], static_cast<double>(values[at]));
}

template <class Value, class F>
void each_dense(const Part& part, Index i, Index first, F f) {
    const Value* row = static_cast<const Value*>(part.values) + i * part.row_stride;
    for (Index j = 0; j < part.columns; ++j) f(first + j, static_cast<double>(row[j * part.column_stride]));
}

// f(column, x - shift) for every entry of a row.
template <class F>
void each(const Epoch& e, const Segment& segment, Index i, F entry) {
    const auto f = [&](Index j, double x) { entry(j, e.shift ? x - e.shift[j] : x); };
    Index first = 0;
    for (Index p = 0; p < segment.part_count; ++p) {
        const Part& part = segment.parts[p];
        switch (part.kind) {
            case Kind::ones: f(first, 1.0); break;
            case Kind::dense:
                if (part.single) each_dense<float>(part, i, first, f);
                else each_dense<double>(part, i, first, f);
                break;
            case Kind::sparse:
                if (part.single && part.wide) each_stored<float, std::int64_t>(part, i, first, f);
                else if (part.single) each_stored<float, std::int32_t>(part, i, first, f);
                else if (part.wide) each_stored<double, std::int64_t>(part, i, first, f);
                else each_stored<double, std::int32_t>(part, i, first, f);
                break;
            case Kind::codes: {
                const Index code = static_cast<const std::int32_t*>(part.values)[i * part.row_stride];
                if (code >= 0) f(first + code, 1.0);
                break;
            }
        }
        first += part.columns;
    }
}

const Segment& holding(const Epoch& e, Index row) {
    Index low = 0, high = e.segment_count - 1;
    while (low < high) {
        const Index middle = (low + high + 1) / 2;
        if (e.segments[middle].first <= row) low = middle;
        else high = middle - 1;
    }
    return e.segments[low];
}

// Steps of one coefficient that no row moves: w <- soft(w - step pull, step linear) / (1 + step square).
struct Drift {
    double step, linear, square, pull;

    double once(double w) const {
        const double z = w - step * pull, cut = step * linear;
        return (z > cut ? z - cut : z < -cut ? z + cut : 0.0) / (1 + step * square);
    }
    // After m steps of w <- (w - step c) / (1 + step square), which is r^m w - c (1 - r^m) / square.
    double after(double w, double c, double m) const {
        if (square == 0) return w - m * step * c;
        const double rate = -m * std::log1p(step * square);
        return w * std::exp(rate) + c * std::expm1(rate) / square;
    }
    // The sum of those m values.
    double sum(double w, double c, double m) const {
        if (square == 0) return m * w - 0.5 * step * c * m * (m + 1);
        const double share = -std::expm1(-m * std::log1p(step * square)) / (step * square);
        const double rest = m * step * square > 1e-6 ? (m - share) / square : 0.5 * step * m * (m + 1);
        return w * share - c * rest;
    }
};

// m steps at once: on either side of zero they are linear, and a coefficient goes one way, so it crosses once at most.
double advance(const Drift& drift, double w, Index m, double* sum) {
    while (m > 0) {
        if (w == 0 && std::fabs(drift.pull) <= drift.linear) return w;
        const double side = drift.linear == 0 ? 0 : w > 0 || (w == 0 && drift.pull < 0) ? 1 : -1;
        const double c = drift.pull + side * drift.linear, end = drift.after(w, c, static_cast<double>(m));
        if (side == 0 || side * end > 0 || end != end) {
            if (sum) *sum += drift.sum(w, c, static_cast<double>(m));
            return end;
        }
        Index low = 0, high = m;  // still on its side after low steps, no longer after high
        while (high - low > 1) {
            const Index middle = (low + high) / 2;
            if (side * drift.after(w, c, static_cast<double>(middle)) > 0) low = middle;
            else high = middle;
        }
        if (sum) *sum += drift.sum(w, c, static_cast<double>(low));
        w = drift.once(drift.after(w, c, static_cast<double>(low)));
        if (sum) *sum += w;
        m -= low + 1;
    }
    return w;
}

// Brings column j up to date after step t.
template <Index K>
void refresh(Epoch& e, Index j, Index t) {
    const Index k = K ? K : e.outputs, m = t - e.last[j];
    if (m == 0) return;
    e.last[j] = t;
    const bool still = e.linear[j] == 0 && e.square[j] == 0 && !e.mean_gradient;
    for (Index c = j * k; c < (j + 1) * k; ++c) {
        if (still) {
            if (e.sum) e.sum[c] += static_cast<double>(m) * e.coef[c];
            continue;
        }
        const Drift drift{e.step * e.rate[j], e.linear[j], e.square[j], e.mean_gradient ? e.mean_gradient[c] : 0.0};
        e.coef[c] = advance(drift, e.coef[c], m, e.sum ? e.sum + c : nullptr);
    }
}

// Takes step t with coefficient c of column j, whose gradient is g over `share` of all rows.
inline void move(Epoch& e, Index j, Index c, double g, double share) {
    const Drift drift{e.step * e.rate[j], e.linear[j], e.square[j], e.mean_gradient ? g + e.mean_gradient[c] : g};
    e.coef[c] = drift.linear == 0 && drift.square == 0 ? e.coef[c] - drift.step * drift.pull : drift.once(e.coef[c]);
    if (e.mean_gradient) e.mean_gradient[c] += g * share;
    if (e.sum) e.sum[c] += e.coef[c];
}

// Scores a row, adds up its loss, and leaves weight s slope / count (saga: of the change of slope) in `slope`.
template <Index K>
double score(Epoch& e, Index row, Index t, Index count, double* slope, bool& moves) {
    const Index k = K ? K : e.outputs;
    const Segment& segment = holding(e, row);
    const Index i = row - segment.first;
    const double s = segment.weight ? segment.weight[i] : 1.0;
    for (Index c = 0; c < k; ++c) e.eta[c] = segment.offset ? segment.offset[i * k + c] : 0.0;
    each(e, segment, i, [&](Index j, double x) {
        refresh<K>(e, j, t - 1);
        for (Index c = 0; c < k; ++c) e.eta[c] += x * e.coef[j * k + c];
    });
    const double value = row_loss(e.loss, e.parameter, segment.y + i * e.targets, e.eta, k, slope);
    for (Index c = 0; c < k; ++c) {
        const double fresh = slope[c];
        if (e.mean_gradient) slope[c] -= e.table[row * k + c];
        if (e.table) e.table[row * k + c] = fresh;
        slope[c] *= e.weight * s / static_cast<double>(count);
        moves |= !(slope[c] == 0);
    }
    return s * value;
}

template <Index K>
double run(Epoch& e) {
    const Index k = K ? K : e.outputs;
    double value = 0;
    Index t = 0;
    for (Index at = 0; at < e.length; at += e.batch) {
        const Index count = e.batch < e.length - at ? e.batch : e.length - at;
        const double share = static_cast<double>(count) / e.total;
        bool moves = false;
        ++t;
        for (Index b = 0; b < count; ++b) value += score<K>(e, e.order[at + b], t, count, e.slope + b * k, moves);
        if (!moves) continue;  // the step is like those between, and taken with them
        Index touched = 0;
        for (Index b = 0; b < count; ++b) {
            const Segment& segment = holding(e, e.order[at + b]);
            const double* slope = e.slope + b * k;
            each(e, segment, e.order[at + b] - segment.first, [&](Index j, double x) {
                if (e.batch == 1) {
                    e.last[j] = t;
                    for (Index c = 0; c < k; ++c) move(e, j, j * k + c, slope[c] * x, share);
                    return;
                }
                if (e.last[j] != t) {
                    e.last[j] = t;
                    e.touched[touched++] = j;
                }
                for (Index c = 0; c < k; ++c) e.gathered[j * k + c] += slope[c] * x;
            });
        }
        for (Index n = 0; n < touched; ++n)
            for (Index c = e.touched[n] * k; c < (e.touched[n] + 1) * k; ++c) {
                move(e, e.touched[n], c, e.gathered[c], share);
                e.gathered[c] = 0;
            }
    }
    for (Index j = 0; j < e.columns; ++j) refresh<K>(e, j, t);
    return value;
}

double run_any(Epoch& e) { return e.outputs == 1 ? run<1>(e) : run<0>(e); }

double largest(const Epoch& e) {
    double most = 0;
    for (Index n = 0; n < e.length; ++n) {
        const Segment& segment = holding(e, e.order[n]);
        const Index i = e.order[n] - segment.first;
        double square = 0;
        each(e, segment, i, [&](Index j, double x) { square += e.rate[j] * x * x; });
        square *= segment.weight ? segment.weight[i] : 1.0;
        most = square > most ? square : most;
    }
    return most;
}

}  // namespace

#define LINEAL_STRING_(x) #x
#define LINEAL_STRING(x) LINEAL_STRING_(x)
#define LINEAL_JOIN_(a, b) a##b
#define LINEAL_JOIN(a, b) LINEAL_JOIN_(a, b)

namespace lineal {

extern const Epochs LINEAL_JOIN(epochs_, LINEAL_LEVEL);
const Epochs LINEAL_JOIN(epochs_, LINEAL_LEVEL) = {LINEAL_STRING(LINEAL_LEVEL), run_any, largest};

}  // namespace lineal
