#include "ascent.hpp"

#include <algorithm>
#include <cmath>

namespace lineal {

namespace {

// Calls f(column, value) for every entry of a row.
template <class T, class N, class F>
inline void sparse_entries(const Part& part, Index row, Index first, F f) {
    const T* values = static_cast<const T*>(part.values);
    const N* starts = static_cast<const N*>(part.starts);
    const N* indices = static_cast<const N*>(part.indices);
    for (Index t = starts[row]; t < static_cast<Index>(starts[row + 1]); ++t)
        f(first + static_cast<Index>(indices[t]), static_cast<double>(values[t]));
}

template <class T, class F>
inline void dense_entries(const Part& part, Index row, Index first, F f) {
    const T* values = static_cast<const T*>(part.values) + row * part.row_stride;
    if (part.column_stride == 1)
        for (Index j = 0; j < part.columns; ++j) f(first + j, static_cast<double>(values[j]));
    else
        for (Index j = 0; j < part.columns; ++j) f(first + j, static_cast<double>(values[j * part.column_stride]));
}

template <class F>
inline void entries(const Part* parts, Index count, Index row, F f) {
    Index first = 0;
    for (Index k = 0; k < count; ++k) {
        const Part& part = parts[k];
        if (part.kind == Kind::ones) f(first, 1.0);
        else if (part.kind == Kind::codes) {
            const Index code = static_cast<const std::int32_t*>(part.values)[row * part.row_stride];
            if (code >= 0) f(first + code, 1.0);
        } else if (part.kind == Kind::dense) {
            if (part.single) dense_entries<float>(part, row, first, f);
            else dense_entries<double>(part, row, first, f);
        } else if (part.wide) {
            if (part.single) sparse_entries<float, std::int64_t>(part, row, first, f);
            else sparse_entries<double, std::int64_t>(part, row, first, f);
        } else {
            if (part.single) sparse_entries<float, std::int32_t>(part, row, first, f);
            else sparse_entries<double, std::int32_t>(part, row, first, f);
        }
        first += part.columns;
    }
}

double soft(double value, double by) { return value > by ? value - by : value < -by ? value + by : 0.0; }

// Four running sums, taken in turn, hide the latency of the additions.
template <class T, class N>
double sparse_dot(const Part& part, Index row, const double* coef) {
    const T* values = static_cast<const T*>(part.values);
    const N* starts = static_cast<const N*>(part.starts);
    const N* indices = static_cast<const N*>(part.indices);
    double sum[4] = {0, 0, 0, 0};
    Index t = starts[row];
    const Index last = starts[row + 1];
    for (; t + 4 <= last; t += 4)
        for (Index lane = 0; lane < 4; ++lane) sum[lane] += static_cast<double>(values[t + lane]) * coef[indices[t + lane]];
    for (Index lane = 0; t < last; ++t, ++lane) sum[lane] += static_cast<double>(values[t]) * coef[indices[t]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

template <class T>
double dense_dot(const Part& part, Index row, const double* coef) {
    const T* values = static_cast<const T*>(part.values) + row * part.row_stride;
    const Index stride = part.column_stride;
    double sum[4] = {0, 0, 0, 0};
    Index j = 0;
    for (; j + 4 <= part.columns; j += 4)
        for (Index lane = 0; lane < 4; ++lane) sum[lane] += static_cast<double>(values[(j + lane) * stride]) * coef[j + lane];
    for (Index lane = 0; j < part.columns; ++j, ++lane) sum[lane] += static_cast<double>(values[j * stride]) * coef[j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double dot(const Part* parts, Index count, Index row, const double* coef) {
    double sum = 0;
    for (Index k = 0; k < count; coef += parts[k].columns, ++k) {
        const Part& part = parts[k];
        if (part.kind == Kind::ones) sum += *coef;
        else if (part.kind == Kind::codes) {
            const Index code = static_cast<const std::int32_t*>(part.values)[row * part.row_stride];
            sum += code >= 0 ? coef[code] : 0.0;
        } else if (part.kind == Kind::dense)
            sum += part.single ? dense_dot<float>(part, row, coef) : dense_dot<double>(part, row, coef);
        else if (part.wide)
            sum += part.single ? sparse_dot<float, std::int64_t>(part, row, coef) : sparse_dot<double, std::int64_t>(part, row, coef);
        else
            sum += part.single ? sparse_dot<float, std::int32_t>(part, row, coef) : sparse_dot<double, std::int32_t>(part, row, coef);
    }
    return sum;
}

// Rows come in random order, which no cache foresees: ask for one that is needed soon.
void expect(const Part* parts, Index count, Index row) {
    for (Index k = 0; k < count; ++k) {
        const Part& part = parts[k];
        if (part.kind != Kind::sparse) continue;
        const Index first = part.wide ? static_cast<const std::int64_t*>(part.starts)[row] : static_cast<const std::int32_t*>(part.starts)[row];
        const Index last = part.wide ? static_cast<const std::int64_t*>(part.starts)[row + 1] : static_cast<const std::int32_t*>(part.starts)[row + 1];
        const char* values = static_cast<const char*>(part.values);
        const char* indices = static_cast<const char*>(part.indices);
        const Index value = part.single ? 4 : 8, index = part.wide ? 8 : 4;
        for (Index at = first * value; at < last * value; at += 64) __builtin_prefetch(values + at);
        for (Index at = first * index; at < last * index; at += 64) __builtin_prefetch(indices + at);
    }
}

// coef += step x inverse, where all columns but the intercept's have one charge
void add(const Ascent& a, Index row, double step) {
    Index first = 0;
    for (Index k = 0; k < a.part_count; first += a.parts[k].columns, ++k) {
        if (a.parts[k].kind == Kind::ones) a.coef[first] += step * a.inverse[first];
        else {
            const double all = step * a.even;
            entries(a.parts + k, 1, row, [coef = a.coef + first, all](Index j, double x) { coef[j] += all * x; });
        }
    }
}

// theta (eta - at) - epsilon |theta| - bend theta^2 / 2: what a dual point makes of a score
double worth(const Ascent& a, double theta, double score) {
    return theta * score - a.epsilon * std::fabs(theta) - 0.5 * a.bend * theta * theta;
}

// The dual point that makes most of it: the slope of the loss.
double slope(const Ascent& a, double score, double low, double high) {
    if (a.bend > 0) return std::clamp(soft(score, a.epsilon) / a.bend, low, high);
    return score > a.epsilon ? high : score < -a.epsilon ? low : std::clamp(0.0, low, high);
}

// What one row adds to the sums, given its score without what it aims at.
void count(Ascent& a, double weight, double theta, double score, double low, double high) {
    const double loss = worth(a, slope(a, score, low, high), score);
    a.loss += weight * loss;
    a.mismatch += weight * std::max(loss - worth(a, theta, score), 0.0);
}

double one_output(Ascent& a) {
    double worst = 0;
    for (Index place = 0; place < a.length; ++place) {
        const Index i = a.order[place];
        if (!a.look && place + 2 < a.length) expect(a.parts, a.part_count, a.order[place + 2]);
        const double w = a.weight[i];
        a.keep[place] = w > 0;
        if (!(w > 0)) continue;
        const double score = (a.offset ? a.offset[i] : 0.0) + dot(a.parts, a.part_count, i, a.coef) - a.at[i];
        const double theta = a.theta[i], low = a.low[i], high = a.high[i];
        count(a, w, theta, score, low, high);
        if (a.look) continue;
        const double gap = score - a.bend * theta;  // slope of the dual over w, without epsilon
        const double steep = a.bend + w * a.square[i];
        double best;
        if (steep > 0) best = std::clamp(soft(steep * theta + gap, a.epsilon) / steep, low, high);
        else best = gap > a.epsilon ? high : gap < -a.epsilon ? low : std::clamp(0.0, low, high);
        const double pull = theta > 0 ? gap - a.epsilon : theta < 0 ? gap + a.epsilon : soft(gap, a.epsilon);
        const bool rests_low = theta <= low && pull < 0, rests_high = theta >= high && pull > 0;
        const bool rests_zero = theta == 0 && low < 0 && high > 0 && pull == 0;
        if (!rests_low && !rests_high) worst = std::max(worst, std::fabs(pull));
        if (((rests_low || rests_high) && std::fabs(pull) > a.shrink) ||
            (rests_zero && a.epsilon - std::fabs(gap) > a.shrink))
            a.keep[place] = 0;
        const double move = best - theta;
        if (move == 0 || !std::isfinite(move)) continue;
        a.theta[i] = best;
        const double step = -w * move;
        if (a.even > 0) add(a, i, step);
        else entries(a.parts, a.part_count, i, [&](Index j, double x) { a.coef[j] += step * x * a.inverse[j]; });
    }
    return worst;
}

// q <- nearest point of the simplex, by its sorted entries
void project(double* q, Index k, std::vector<double>& sorted) {
    sorted.assign(q, q + k);
    std::sort(sorted.begin(), sorted.end(), [](double x, double y) { return x > y; });
    double sum = 0, tau = 0;
    for (Index c = 0; c < k; ++c) {
        sum += sorted[static_cast<std::size_t>(c)];
        const double candidate = (sum - 1) / static_cast<double>(c + 1);
        if (sorted[static_cast<std::size_t>(c)] > candidate) tau = candidate;
    }
    for (Index c = 0; c < k; ++c) q[c] = std::max(q[c] - tau, 0.0);
}

double several_outputs(Ascent& a) {
    const Index k = a.outputs;
    std::vector<double> eta(static_cast<std::size_t>(k)), q(eta), sorted(eta), step(eta);
    double worst = 0;
    for (Index place = 0; place < a.length; ++place) {
        const Index i = a.order[place];
        const double w = a.weight[i];
        a.keep[place] = w > 0;
        if (!(w > 0)) continue;
        for (Index c = 0; c < k; ++c) eta[static_cast<std::size_t>(c)] = a.offset ? a.offset[i * k + c] : 0.0;
        entries(a.parts, a.part_count, i, [&](Index j, double x) {
            const double* b = a.coef + j * k;
            for (Index c = 0; c < k; ++c) eta[static_cast<std::size_t>(c)] += x * b[c];
        });
        const Index own = static_cast<Index>(a.at[i]);
        double* theta = a.theta + i * k;
        const double steep = a.bend + w * a.square[i];
        double most = -INFINITY, least = INFINITY;
        for (Index c = 0; c < k; ++c) {
            const std::size_t s = static_cast<std::size_t>(c);
            q[s] = theta[c] + (c == own);
            const double pull = eta[s] + (c == own ? 0.0 : a.cost) - a.bend * q[s];
            most = std::max(most, pull);
            if (q[s] > 1e-14) least = std::min(least, pull);
            sorted[s] = pull;
        }
        worst = std::max(worst, most - least);
        if (!(steep > 0)) continue;
        for (std::size_t s = 0; s < q.size(); ++s) q[s] += sorted[s] / steep;
        project(q.data(), k, sorted);
        double others = 0;
        for (Index c = 0; c < k; ++c) others += c == own ? 0.0 : q[static_cast<std::size_t>(c)];
        bool moved = false;
        for (Index c = 0; c < k; ++c) {
            const double best = c == own ? -others : q[static_cast<std::size_t>(c)];
            step[static_cast<std::size_t>(c)] = -w * (best - theta[c]);
            moved |= best != theta[c];
            theta[c] = best;
        }
        if (!moved) continue;
        entries(a.parts, a.part_count, i, [&](Index j, double x) {
            double* b = a.coef + j * k;
            const double scaled = x * a.inverse[j];
            for (Index c = 0; c < k; ++c) b[c] += scaled * step[static_cast<std::size_t>(c)];
        });
    }
    return worst;
}

}  // namespace

double ascend(Ascent& a) {
    Index first = 0;
    a.even = -1;
    for (Index k = 0; k < a.part_count; first += a.parts[k].columns, ++k)
        for (Index j = 0; j < a.parts[k].columns && a.even != 0 && a.parts[k].kind != Kind::ones; ++j)
            a.even = a.even < 0 || a.even == a.inverse[first + j] ? a.inverse[first + j] : 0.0;
    a.loss = a.mismatch = 0;
    return a.outputs == 1 ? one_output(a) : several_outputs(a);
}

void row_squares(const Part* parts, Index part_count, const double* inverse, double* square) {
    const Index rows = part_count > 0 ? parts[0].rows : 0;
    for (Index i = 0; i < rows; ++i) {
        double sum = 0;
        entries(parts, part_count, i, [&](Index j, double x) { sum += x * x * inverse[j]; });
        square[i] = sum;
    }
}

}  // namespace lineal
