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

double one_output(Ascent& a) {
    double worst = 0;
    for (Index place = 0; place < a.length; ++place) {
        const Index i = a.order[place];
        const double w = a.weight[i];
        a.keep[place] = w > 0;
        if (!(w > 0)) continue;
        double even = a.offset ? a.offset[i] : 0.0, odd = 0.0;
        // two running sums, taken in turn, hide half the latency of the additions
        entries(a.parts, a.part_count, i, [&](Index j, double x) {
            const double next = odd;
            odd = even + x * a.coef[j];
            even = next;
        });
        const double theta = a.theta[i], low = a.low[i], high = a.high[i];
        const double gap = even + odd - a.at[i] - a.bend * theta;  // slope of the dual over w, without epsilon
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
        entries(a.parts, a.part_count, i, [&](Index j, double x) { a.coef[j] += step * x * a.inverse[j]; });
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

double ascend(Ascent& ascent) { return ascent.outputs == 1 ? one_output(ascent) : several_outputs(ascent); }

void row_squares(const Part* parts, Index part_count, const double* inverse, double* square) {
    const Index rows = part_count > 0 ? parts[0].rows : 0;
    for (Index i = 0; i < rows; ++i) {
        double sum = 0;
        entries(parts, part_count, i, [&](Index j, double x) { sum += x * x * inverse[j]; });
        square[i] = sum;
    }
}

}  // namespace lineal
