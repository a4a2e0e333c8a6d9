// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include "passes/losses.hpp"
#include "rowwise/entries.hpp"

namespace {

using lineal::Epoch;
using lineal::Epochs;
using lineal::RowLoss;

// f(column, x - shift) for every entry of a row.
template <class F>
void each(const Epoch& e, const Segment& segment, Index i, F f) {
    Index first = 0;
    for (Index p = 0; p < segment.part_count; ++p) {
        each(segment.parts[p], i, [&](Index j, double x) { f(first + j, e.shift ? x - e.shift[first + j] : x); });
        first += segment.parts[p].columns;
    }
}

// loss = log sum_c exp(eta_c) - eta_y
double softmax_row(const double* eta, Index outputs, Index own, double* slope) {
    double top = eta[0], sum = 0;
    for (Index c = 1; c < outputs; ++c) top = eta[c] > top ? eta[c] : top;
    for (Index c = 0; c < outputs; ++c) sum += slope[c] = std::exp(eta[c] - top);
    for (Index c = 0; c < outputs; ++c) slope[c] /= sum;
    slope[own] -= 1;
    return std::log(sum) + (top - eta[own]);
}

// loss = max_c (eta_c + [c != y]) - eta_y
double crammer_singer_row(const double* eta, Index outputs, Index own, double* slope) {
    Index worst = own;
    double most = eta[own];
    for (Index c = 0; c < outputs; ++c) {
        slope[c] = 0;
        if (c != own && eta[c] + 1 > most) most = eta[worst = c] + 1;
    }
    slope[worst] += 1;
    slope[own] -= 1;
    return most - eta[own];
}

double squared_row(const double* y, const double* eta, Index outputs, double* slope) {
    double value = 0;
    for (Index c = 0; c < outputs; ++c) {
        slope[c] = eta[c] - y[c];
        value += 0.5 * slope[c] * slope[c];
    }
    return value;
}

// The value of one row's loss, and its slopes.
double row_loss(RowLoss loss, double parameter, const double* y, const double* eta, Index outputs, double* slope) {
    const auto scalar = [&](auto curve) {
        const Point<double> point = curve.at(y[0], eta[0], parameter);
        slope[0] = point.slope;
        return point.value;
    };
    switch (loss) {
        case RowLoss::squared:
            return squared_row(y, eta, outputs, slope);
        case RowLoss::softmax:
            return softmax_row(eta, outputs, static_cast<Index>(y[0]), slope);
        case RowLoss::crammer_singer:
            return crammer_singer_row(eta, outputs, static_cast<Index>(y[0]), slope);
        case RowLoss::logistic:
            return scalar(Logistic{});
        case RowLoss::hinge:
            return scalar(Hinge{});
        case RowLoss::squared_hinge:
            return scalar(SquaredHinge{});
        case RowLoss::quantile:
            return scalar(Quantile{});
        case RowLoss::huber:
            return scalar(Huber{});
        case RowLoss::insensitive:
            return scalar(Insensitive{});
        case RowLoss::squared_insensitive:
            return scalar(SquaredInsensitive{});
        case RowLoss::poisson:
            return scalar(Poisson{});
    }
    return 0;
}

// Steps of one coefficient that no row moves: w <- soft(w - step pull, step linear) / (1 + step square).
// kept[m] = r^m and gone[m] = 1 - r^m, r = 1 / (1 + step square), where they are known.
struct Drift {
    double step, linear, square, pull;
    const double* kept;
    const double* gone;

    double once(double w) const {
        const double z = w - step * pull, cut = step * linear;
        return (z > cut ? z - cut : z < -cut ? z + cut : 0.0) / (1 + step * square);
    }
    double left(Index m) const { return gone ? gone[m] : -std::expm1(-static_cast<double>(m) * std::log1p(step * square)); }
    // After m steps of w <- (w - step c) / (1 + step square), which is r^m w - c (1 - r^m) / square.
    double after(double w, double c, Index m) const {
        if (square == 0) return w - static_cast<double>(m) * step * c;
        const double stays = kept ? kept[m] : std::exp(-static_cast<double>(m) * std::log1p(step * square));
        return c == 0 ? w * stays : w * stays - c * left(m) / square;
    }
    // The sum of those m values.
    double sum(double w, double c, Index steps) const {
        const double m = static_cast<double>(steps);
        if (square == 0) return m * w - 0.5 * step * c * m * (m + 1);
        const double share = left(steps) / (step * square);
        if (c == 0) return w * share;
        const double rest = m * step * square > 1e-6 ? (m - share) / square : 0.5 * step * m * (m + 1);
        return w * share - c * rest;
    }
};

// m steps at once: on either side of zero they are linear, and a coefficient goes one way, so it crosses once at most.
double advance(const Drift& drift, double w, Index m, double* sum) {
    while (m > 0) {
        if (w == 0 && std::fabs(drift.pull) <= drift.linear) return w;
        const double side = drift.linear == 0 ? 0 : w > 0 || (w == 0 && drift.pull < 0) ? 1 : -1;
        const double c = drift.pull + side * drift.linear, end = drift.after(w, c, m);
        if (side == 0 || side * end > 0 || end != end) {
            if (sum) *sum += drift.sum(w, c, m);
            return end;
        }
        if (drift.pull == 0 && !sum) return 0;  // at zero it stays
        Index low = 0, high = m;                // still on its side after low steps, no longer after high
        while (high - low > 1) {
            const Index middle = (low + high) / 2;
            if (side * drift.after(w, c, middle) > 0)
                low = middle;
            else
                high = middle;
        }
        if (sum) *sum += drift.sum(w, c, low);
        w = drift.once(drift.after(w, c, low));
        if (sum) *sum += w;
        m -= low + 1;
    }
    return w;
}

// Brings column j up to date after step t.
template <Index K>
void refresh(Epoch& e, Index j, Index t, Index steps) {
    const Index k = K ? K : e.outputs, m = t - e.last[j];
    if (m == 0) return;
    e.last[j] = t;
    const bool still = e.linear[j] == 0 && e.square[j] == 0 && !e.mean_gradient;
    const double step = e.step * e.rate[j], bend = step * e.square[j];
    const bool known = std::fabs(bend - e.common) <= 1e-14 * e.common;  // charges made by scaling differ by rounding
    for (Index c = j * k; c < (j + 1) * k; ++c) {
        if (still) {
            if (e.sum) e.sum[c] += static_cast<double>(m) * e.coef[c];
            continue;
        }
        const Drift drift{step,
                          e.linear[j],
                          e.square[j],
                          e.mean_gradient ? e.mean_gradient[c] : 0.0,
                          known ? e.powers : nullptr,
                          known ? e.powers + steps + 1 : nullptr};
        e.coef[c] = advance(drift, e.coef[c], m, e.sum ? e.sum + c : nullptr);
    }
}

// Takes step t with coefficient c of column j, whose gradient is g over `share` of all rows.
inline void move(Epoch& e, Index j, Index c, double g, double share) {
    const Drift drift{e.step * e.rate[j], e.linear[j], e.square[j], e.mean_gradient ? g + e.mean_gradient[c] : g, nullptr, nullptr};
    e.coef[c] = drift.linear == 0 && drift.square == 0 ? e.coef[c] - drift.step * drift.pull : drift.once(e.coef[c]);
    if (e.mean_gradient) e.mean_gradient[c] += g * share;
    if (e.sum) e.sum[c] += e.coef[c];
}

// Turns the slopes of a row into weight s slope / count (saga: of the change of slope), keeps them; whether any is not zero.
template <Index K>
bool settle(Epoch& e, Index row, double s, Index count, double* slope) {
    const Index k = K ? K : e.outputs;
    bool moves = false;
    for (Index c = 0; c < k; ++c) {
        const double fresh = slope[c];
        if (e.mean_gradient) slope[c] -= e.table[row * k + c];
        if (e.table) e.table[row * k + c] = fresh;
        slope[c] *= e.weight * s / static_cast<double>(count);
        moves |= !(slope[c] == 0);
    }
    return moves;
}

// Scores a row and returns its loss.
template <Index K>
double score(Epoch& e, Index row, Index t, Index steps, Index count, double* slope, bool& moves) {
    const Index k = K ? K : e.outputs;
    const Segment& segment = holding(e, row);
    const Index i = row - segment.first;
    const double s = segment.weight ? segment.weight[i] : 1.0;
    for (Index c = 0; c < k; ++c) e.eta[c] = segment.offset ? segment.offset[i * k + c] : 0.0;
    each(e, segment, i, [&](Index j, double x) {
        refresh<K>(e, j, t - 1, steps);
        for (Index c = 0; c < k; ++c) e.eta[c] += x * e.coef[j * k + c];
    });
    const double value = row_loss(e.loss, e.parameter, segment.y + i * e.targets, e.eta, k, slope);
    moves |= settle<K>(e, row, s, count, slope);
    return s * value;
}

template <Index K>
double run(Epoch& e) {
    const Index k = K ? K : e.outputs, steps = (e.length + e.batch - 1) / e.batch;
    e.common = 0;
    for (Index j = 0; j < e.columns && e.common == 0; ++j) e.common = e.step * e.rate[j] * e.square[j];
    for (Index m = 0; m <= steps && e.common > 0; ++m) {
        const double rate = -static_cast<double>(m) * std::log1p(e.common);
        e.powers[m] = std::exp(rate);
        e.powers[steps + 1 + m] = -std::expm1(rate);
    }
    double value = 0;
    Index t = 0;
    for (Index at = 0; at < e.length; at += e.batch) {
        const Index count = e.batch < e.length - at ? e.batch : e.length - at;
        const double share = static_cast<double>(count) / e.total;
        bool moves = false;
        ++t;
        for (Index b = 0; b < count; ++b) value += score<K>(e, e.order[at + b], t, steps, count, e.slope + b * k, moves);
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
    for (Index j = 0; j < e.columns; ++j) refresh<K>(e, j, t, steps);
    return value;
}

template <class Value>
void copy(const Value* __restrict row, Index n, const double* __restrict shift, double* __restrict x) {
    if (shift)
        for (Index j = 0; j < n; ++j) x[j] = static_cast<double>(row[j]) - shift[j];
    else
        for (Index j = 0; j < n; ++j) x[j] = static_cast<double>(row[j]);
}

// Row i, less the shift, of parts that are ones or stored densely.
void expand(const Epoch& e, const Segment& segment, Index i, double* __restrict x) {
    Index first = 0;
    for (Index p = 0; p < segment.part_count; ++p) {
        const Part& part = segment.parts[p];
        if (part.kind == Kind::ones)
            x[first] = e.shift ? 1.0 - e.shift[first] : 1.0;
        else if (part.kind != Kind::dense || part.column_stride != 1)
            return each(e, segment, i, [x](Index j, double entry) { x[j] = entry; });
        else
            lineal::with_numbers(part, [&](const auto* values) {
                copy(values + i * part.row_stride, part.columns, e.shift ? e.shift + first : nullptr, x + first);
            });
        first += part.columns;
    }
}

// Brings a row that comes soon towards the cache, with what belongs to it.
[[gnu::always_inline]] inline void fetch(const Epoch& e, Index at) {
    if (at >= e.length) return;
    const Segment& segment = holding(e, e.order[at]);
    const Index i = e.order[at] - segment.first;
    __builtin_prefetch(segment.y + i * e.targets);
    if (e.table) __builtin_prefetch(e.table + e.order[at] * e.outputs, 1);
    for (Index p = 0; p < segment.part_count; ++p) {
        const Part& part = segment.parts[p];
        if (part.kind == Kind::dense && part.column_stride == 1) fetch_dense(part, i);
    }
}

double dot(const double* __restrict x, const double* __restrict w, Index n) {
    double parts[8] = {};
    Index j = 0;
    for (; j + 8 <= n; j += 8)
        for (Index p = 0; p < 8; ++p) parts[p] += x[j + p] * w[j + p];
    for (; j < n; ++j) parts[0] += x[j] * w[j];
    return ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

// One step of all coefficients, flat.
template <bool Soft, bool Saga, bool Sum>
void apply(Index size, const double* __restrict g, const double* __restrict step, const double* __restrict cut,
           const double* __restrict keep, double share, double* __restrict w, double* __restrict mean, double* __restrict sum) {
    for (Index i = 0; i < size; ++i) {
        double z = w[i] - step[i] * (Saga ? g[i] + mean[i] : g[i]);
        if (Soft) {
            const double left = std::fabs(z) - cut[i];
            z = left > 0 ? std::copysign(left, z) : left != left ? left : 0.0;
        }
        z *= keep[i];
        w[i] = z;
        if (Saga) mean[i] += g[i] * share;
        if (Sum) sum[i] += z;
    }
}

using Apply = void (*)(Index, const double*, const double*, const double*, const double*, double, double*, double*, double*);

Apply step_of(bool soft, bool saga, bool sum) {
    if (soft)
        return saga ? (sum ? apply<true, true, true> : apply<true, true, false>)
                    : (sum ? apply<true, false, true> : apply<true, false, false>);
    return saga ? (sum ? apply<false, true, true> : apply<false, true, false>)
                : (sum ? apply<false, false, true> : apply<false, false, false>);
}

constexpr Index AHEAD = 8;  // rows from the one that is learned to the one that memory is asked for

// The same where every row has every column: nothing to catch up with.
template <Index K>
double run_dense(Epoch& e) {
    const Index k = K ? K : e.outputs, p = e.columns, size = p * k;
    double *step = e.sizes, *cut = step + size, *keep = cut + size, value = 0;
    bool soft = false, charged = e.mean_gradient || e.sum;
    for (Index i = 0; i < size; ++i) {
        step[i] = e.step * e.rate[i / k];
        cut[i] = step[i] * e.linear[i / k];
        keep[i] = 1 / (1 + step[i] * e.square[i / k]);
        soft |= cut[i] > 0;
        charged |= cut[i] > 0 || keep[i] < 1;
    }
    const Apply take = step_of(soft, e.mean_gradient, e.sum);
    for (Index at = 0; at < e.length; at += e.batch) {
        const Index count = e.batch < e.length - at ? e.batch : e.length - at;
        bool moves = false;
        for (Index b = 0; b < count; ++b) {
            const Segment& segment = holding(e, e.order[at + b]);
            const Index i = e.order[at + b] - segment.first;
            double* __restrict x = e.rows + b * p;
            fetch(e, at + b + AHEAD);
            expand(e, segment, i, x);
            const double s = segment.weight ? segment.weight[i] : 1.0;
            for (Index c = 0; c < k; ++c) e.eta[c] = segment.offset ? segment.offset[i * k + c] : 0.0;
            if (K == 1)
                e.eta[0] += dot(x, e.coef, p);
            else
                for (Index j = 0; j < p; ++j)
                    for (Index c = 0; c < k; ++c) e.eta[c] += x[j] * e.coef[j * k + c];
            double* slope = e.slope + b * k;
            value += s * row_loss(e.loss, e.parameter, segment.y + i * e.targets, e.eta, k, slope);
            moves |= settle<K>(e, e.order[at + b], s, count, slope);
        }
        if (!moves && !charged) continue;
        double* __restrict g = e.gathered;
        for (Index b = 0; b < count; ++b) {
            const double *x = e.rows + b * p, *slope = e.slope + b * k;
            if (K == 1) {
                const double only = slope[0];
                for (Index j = 0; j < p; ++j) g[j] = (b ? g[j] : 0.0) + only * x[j];
            } else
                for (Index j = 0; j < p; ++j)
                    for (Index c = 0; c < k; ++c) g[j * k + c] = (b ? g[j * k + c] : 0.0) + slope[c] * x[j];
        }
        take(size, g, step, cut, keep, static_cast<double>(count) / e.total, e.coef, e.mean_gradient, e.sum);
    }
    return value;
}

double run_any(Epoch& e) {
    if (e.rows) return e.outputs == 1 ? run_dense<1>(e) : run_dense<0>(e);
    return e.outputs == 1 ? run<1>(e) : run<0>(e);
}

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

namespace lineal::LINEAL_LEVEL {

const Epochs& epochs() {
    static const Epochs table = {::run_any, ::largest};
    return table;
}

}  // namespace lineal::LINEAL_LEVEL
