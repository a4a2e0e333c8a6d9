#include "rowwise/ascent.hpp"

#include <algorithm>
#include <cmath>

#include "rowwise/entries.hpp"

namespace lineal {

namespace {

// Calls f(column, value) for every entry of a row.
template <class F>
inline void entries(const Part* parts, Index count, Index row, F f) {
    Index first = 0;
    for (Index k = 0; k < count; first += parts[k].columns, ++k) each(parts[k], row, [&](Index j, double x) { f(first + j, x); });
}

double soft(double value, double by) { return value > by ? value - by : value < -by ? value + by : 0.0; }

// The sum of terms 0 .. count - 1: four running sums, taken in turn, hide the latency of the additions.
template <class Term>
inline double four_sums(Index count, Term term) {
    double sum[4] = {0, 0, 0, 0};
    Index t = 0;
    for (; t + 4 <= count; t += 4)
        for (Index lane = 0; lane < 4; ++lane) sum[lane] += term(t + lane);
    for (Index lane = 0; t < count; ++t, ++lane) sum[lane] += term(t);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double dot(const Part* parts, Index count, Index row, const double* coef) {
    double sum = 0;
    for (Index k = 0; k < count; coef += parts[k].columns, ++k) {
        const Part& part = parts[k];
        if (part.kind == Kind::ones)
            sum += *coef;
        else if (part.kind == Kind::codes)
            sum += level(part, row, coef);
        else if (part.kind == Kind::dense)
            sum += with_numbers(part, [&](const auto* values) {
                const auto* x = values + row * part.row_stride;
                return four_sums(part.columns, [&](Index j) { return static_cast<double>(x[j * part.column_stride]) * coef[j]; });
            });
        else
            sum += with_stored(part, [&](const auto* values, const auto* starts, const auto* indices) {
                const Index first = starts[row];
                return four_sums(starts[row + 1] - first,
                                 [&](Index t) { return static_cast<double>(values[first + t]) * coef[indices[first + t]]; });
            });
    }
    return sum;
}

// Rows come in random order: ask for one that is needed soon.
[[gnu::always_inline]] inline void expect(const Part* parts, Index count, Index row) {
    for (Index k = 0; k < count; ++k)
        if (parts[k].kind == Kind::sparse) fetch_stored(parts[k], row);
}

// coef += step x inverse, where all columns but the intercept's have one charge
void add(const Ascent& a, Index row, double step) {
    Index first = 0;
    for (Index k = 0; k < a.part_count; first += a.parts[k].columns, ++k) {
        if (a.parts[k].kind == Kind::ones)
            a.coef[first] += step * a.inverse[first];
        else {
            const double all = step * a.even;
            entries(a.parts + k, 1, row, [coef = a.coef + first, all](Index j, double x) { coef[j] += all * x; });
        }
    }
}

// theta (eta - at) - epsilon |theta| - bend theta^2 / 2: what a dual point makes of a score
template <class A>
double worth(const A& a, double theta, double score) {
    return theta * score - a.epsilon * std::fabs(theta) - 0.5 * a.bend * theta * theta;
}

// The dual point that makes most of it: the slope of the loss.
template <class A>
double slope(const A& a, double score, double low, double high) {
    if (a.bend > 0) return std::clamp(soft(score, a.epsilon) / a.bend, low, high);
    return score > a.epsilon ? high : score < -a.epsilon ? low : std::clamp(0.0, low, high);
}

// What one row adds to the sums, given its score without what it aims at.
template <class A>
void count(A& a, double weight, double theta, double score, double low, double high) {
    const double loss = worth(a, slope(a, score, low, high), score);
    a.loss += weight * loss;
    a.mismatch += weight * std::max(loss - worth(a, theta, score), 0.0);
}

// Rows asked for before their turn.
constexpr Index ahead = 4;

void one_output(Ascent& a) {
    for (Index place = 0; place < a.length; ++place) {
        const Index i = a.order[place];
        if (place + ahead < a.length) expect(a.parts, a.part_count, a.order[place + ahead]);
        const double w = a.weight[i];
        a.keep[place] = w > 0;
        if (!(w > 0)) continue;
        const double score = (a.offset ? a.offset[i] : 0.0) + dot(a.parts, a.part_count, i, a.coef) - a.at[i];
        const double theta = a.theta[i], low = a.low[i], high = a.high[i];
        count(a, w, theta, score, low, high);
        const double gap = score - a.bend * theta;  // slope of the dual over w, without epsilon
        const double steep = a.bend + w * a.square[i];
        double best;
        if (steep > 0)
            best = std::clamp(soft(steep * theta + gap, a.epsilon) / steep, low, high);
        else
            best = gap > a.epsilon ? high : gap < -a.epsilon ? low : std::clamp(0.0, low, high);
        const double pull = theta > 0 ? gap - a.epsilon : theta < 0 ? gap + a.epsilon : soft(gap, a.epsilon);
        const bool rests_low = theta <= low && pull < 0, rests_high = theta >= high && pull > 0;
        const bool rests_zero = theta == 0 && low < 0 && high > 0 && pull == 0;
        if (!rests_low && !rests_high && pull != 0) {
            a.pull += std::fabs(pull);
            ++a.pulled;
        }
        if (((rests_low || rests_high) && std::fabs(pull) > a.shrink) || (rests_zero && a.epsilon - std::fabs(gap) > a.shrink))
            a.keep[place] = 0;
        const double move = best - theta;
        if (move == 0 || !std::isfinite(move)) continue;
        a.theta[i] = best;
        const double at = a.at[i] - (a.offset ? a.offset[i] : 0.0);
        a.rise += w * (at * move + a.epsilon * (std::fabs(best) - std::fabs(theta)) + 0.5 * a.bend * (best * best - theta * theta));
        const double step = -w * move;
        if (a.even > 0)
            add(a, i, step);
        else
            entries(a.parts, a.part_count, i, [&](Index j, double x) { a.coef[j] += step * x * a.inverse[j]; });
    }
}

// Brings the moves of two lanes together: coef + s (first + second - 2 coef), theta likewise, with s in [0, 1] where the
// dual is at least  s g - s^2 q / 2  above what it was.
void join(const Ascent& a, Index columns, double* first, const double* second, const Ascent* lane) {
    double down[4] = {0, 0, 0, 0}, square[4] = {0, 0, 0, 0};
    for (Index j = 0; j < columns; ++j) {
        const double here = a.coef[j], move = (first[j] - here) + (second[j] - here);
        const double charged = a.inverse[j] > 0 ? move / a.inverse[j] : 0.0;
        first[j] = move;
        down[j & 3] += charged * here;
        square[j & 3] += charged * move;
    }
    const double q = (square[0] + square[1]) + (square[2] + square[3]);
    const double g = -((down[0] + down[1]) + (down[2] + down[3])) - lane[0].rise - lane[1].rise;
    const double share = g < q ? std::max(g / q, 0.0) : 1.0;
    for (Index j = 0; j < columns; ++j) {
        a.coef[j] += share * first[j];
        a.total[j] += a.coef[j];
    }
    if (share == 1) return;
    for (const Ascent* l = lane; l < lane + 2; ++l)
        for (Index place = 0; place < l->length; ++place) {
            const Index i = l->order[place];
            const double old = l->before[place];
            a.theta[i] = std::clamp(old + share * (a.theta[i] - old), a.low[i], a.high[i]);
        }
}

void two_lanes(const Team& team, Ascent& a) {
    Index columns = 0;
    for (Index k = 0; k < a.part_count; ++k) columns += a.parts[k].columns;
    std::vector<double> before(static_cast<std::size_t>(std::min(2 * a.batch, a.length)));
    std::vector<double> coef[2] = {std::vector<double>(static_cast<std::size_t>(columns)),
                                   std::vector<double>(static_cast<std::size_t>(columns))};
    for (Index start = 0; start < a.length; start += 2 * a.batch) {
        const Index both = std::min(2 * a.batch, a.length - start), half = (both + 1) / 2;
        Ascent lane[2] = {a, a};
        for (Index l = 0; l < 2; ++l) {
            lane[l].order = a.order + start + l * half;
            lane[l].keep = a.keep + start + l * half;
            lane[l].before = before.data() + l * half;
            lane[l].length = l == 0 ? half : both - half;
            lane[l].coef = coef[l].data();
            lane[l].loss = lane[l].mismatch = lane[l].pull = lane[l].rise = 0;
            lane[l].pulled = 0;
        }
        run(
            team, 2,
            [&](int, Index l, Watch& watch) {
                if (watch.stop()) return;
                std::copy(a.coef, a.coef + columns, lane[l].coef);
                for (Index place = 0; place < lane[l].length; ++place) lane[l].before[place] = a.theta[lane[l].order[place]];
                one_output(lane[l]);
            },
            [](int) {});
        for (Index l = 0; l < 2; ++l) {
            a.loss += lane[l].loss;
            a.mismatch += lane[l].mismatch;
            a.pull += lane[l].pull;
            a.pulled += lane[l].pulled;
        }
        join(a, columns, coef[0].data(), coef[1].data(), lane);
    }
}

// Sum of w slope: the derivative of sum w loss along a shift of all scores. Without jumps, which nobody foresees.
double lean(const Look& look, double shift) {
    const double epsilon = look.epsilon;
    const auto corner = [&](Index i) {
        const double score = look.score[i] + shift - look.at[i], low = look.low[i], high = look.high[i];
        const double side = score > epsilon ? high : 0.0, other = score < -epsilon ? low : 0.0;
        return look.weight[i] * (side + other);
    };
    const auto bent = [&](Index i) { return look.weight[i] * slope(look, look.score[i] + shift - look.at[i], look.low[i], look.high[i]); };
    const auto sum = [&](auto term) {
        double sums[4] = {0, 0, 0, 0};
        Index i = 0;
        for (; i + 4 <= look.length; i += 4)
            for (Index lane = 0; lane < 4; ++lane) sums[lane] += term(i + lane);
        for (; i < look.length; ++i) sums[0] += term(i);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    };
    return look.bend > 0 ? sum(bent) : sum(corner);
}

void sum_up(Look& look) {
    look.loss = look.mismatch = 0;
    for (Index i = 0; i < look.length; ++i)
        if (look.weight[i] > 0)
            count(look, look.weight[i], look.theta[i], look.score[i] + look.shift - look.at[i], look.low[i], look.high[i]);
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

void several_outputs(Ascent& a) {
    const Index k = a.outputs;
    std::vector<double> eta(static_cast<std::size_t>(k)), q(eta), sorted(eta), step(eta);
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
        for (Index c = 0; c < k; ++c) {
            const std::size_t s = static_cast<std::size_t>(c);
            q[s] = theta[c] + (c == own);
            const double pull = eta[s] + (c == own ? 0.0 : a.cost) - a.bend * q[s];
            sorted[s] = pull;
        }
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
}

}  // namespace

void ascend(const Team& team, Ascent& a) {
    Index first = 0;
    a.even = -1;
    for (Index k = 0; k < a.part_count; first += a.parts[k].columns, ++k)
        for (Index j = 0; j < a.parts[k].columns && a.even != 0 && a.parts[k].kind != Kind::ones; ++j)
            a.even = a.even < 0 || a.even == a.inverse[first + j] ? a.inverse[first + j] : 0.0;
    a.loss = a.mismatch = a.pull = a.rise = 0;
    a.pulled = 0;
    if (a.outputs > 1)
        several_outputs(a);
    else if (a.batch > 0)
        two_lanes(team, a);
    else
        one_output(a);
}

void look(Look& look, bool free) {
    look.shift = 0;
    sum_up(look);
    const double here = free ? lean(look, 0) : 0.0;
    if (here == 0 || !std::isfinite(here) || !(look.mismatch > 0) || !std::isfinite(look.mismatch)) return;
    // The root of a sum that never falls: first a bracket, at a distance that would change the loss by the mismatch, then halves.
    double near = 0, far = -look.mismatch / here, at_near = here, at_far = lean(look, far);
    for (int k = 0; k < 60 && at_far * here > 0; ++k) {
        near = far;
        at_near = at_far;
        far *= 4;
        at_far = lean(look, far);
    }
    for (int k = 0; k < 60 && std::fabs(far - near) * std::fabs(at_near) > 1e-2 * look.mismatch; ++k) {
        const double middle = 0.5 * (near + far), there = lean(look, middle);
        if (there * here > 0) {
            near = middle;
            at_near = there;
        } else
            far = middle;
    }
    look.shift = near;
    sum_up(look);
}

void row_squares(const Team& team, const Part* parts, Index part_count, const double* inverse, double* square) {
    const Index rows = part_count > 0 ? parts[0].rows : 0, chunk = 4096;
    run(
        team, (rows + chunk - 1) / chunk,
        [&](int, Index c, Watch& watch) {
            if (watch.stop()) return;
            for (Index i = c * chunk; i < std::min(rows, (c + 1) * chunk); ++i) {
                double sum = 0;
                entries(parts, part_count, i, [&](Index j, double x) { sum += x * x * inverse[j]; });
                square[i] = sum;
            }
        },
        [](int) {});
}

}  // namespace lineal
