// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include "machines/pairs.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "passes/kernels.hpp"
#include "passes/vector.hpp"

namespace {

using lineal::Index;
using lineal::PairSteps;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double least_curvature = 1e-12;  // of duplicate points, between which a step goes as far as it may

// What is worked on, with padding to whole vectors: padded entries may neither grow nor shrink.
struct Work {
    Index size, padded;
    std::vector<double> slope, grow, shrink, diagonal, promise;
    explicit Work(const PairSteps& p)
        : size(p.size),
          padded((p.size + W - 1) / W * W),
          slope(padded),
          grow(padded, infinite),
          shrink(padded, -infinite),
          diagonal(padded),
          promise(padded) {
        for (Index k = 0; k < size; ++k) {
            slope[k] = p.slope[k];
            diagonal[k] = p.gram[k * size + k];
            mark(p, k);
        }
    }
    // What is added to the slope of one that may grow, or shrink: that of epsilon |b|; infinite where it may not.
    void mark(const PairSteps& p, Index k) {
        const double b = p.coef[k];
        grow[k] = b < p.high[k] ? (b >= 0 ? p.epsilon : -p.epsilon) : infinite;
        shrink[k] = b > p.low[k] ? (b > 0 ? p.epsilon : -p.epsilon) : -infinite;
    }
};

inline V fill(double value) { return V{} + value; }

double least(const double* slope, const double* added, Index padded, Index& place) {
    V best = fill(infinite);
    for (Index k = 0; k < padded; k += W) {
        const V value = load(slope + k) + load(added + k);
        best = value < best ? value : best;
    }
    double found = infinite;
    for (int lane = 0; lane < W; ++lane) found = std::min(found, static_cast<double>(best[lane]));
    place = -1;
    if (!(found < infinite)) return infinite;
    for (Index k = 0; k < padded; ++k)
        if (slope[k] + added[k] == found) {
            place = k;
            break;
        }
    return found;
}

// The largest slope of those that may shrink, and the one that promises most beside i.
double largest(Work& work, const double* row, Index i, double low, Index& place) {
    const V bottom = fill(low), own = fill(work.diagonal[i]), tiny = fill(least_curvature), two = fill(2.0);
    V top = fill(-infinite), best = fill(0.0);
    const Index whole = work.size / W * W;
    for (Index k = 0; k < work.padded; k += W) {
        const V value = load(work.slope.data() + k) + load(work.shrink.data() + k);
        const V beside = k < whole ? load(row + k) : load_first(row + k, work.size - k);
        V curve = own + load(work.diagonal.data() + k) - two * beside;
        curve = curve > tiny ? curve : tiny;
        const V above = value - bottom;
        V promise = above * above / curve;
        promise = above > V{} ? promise : V{};  // also for those that may not shrink, whose slope is -infinity
        store(work.promise.data() + k, promise);
        best = promise > best ? promise : best;
        top = value > top ? value : top;
    }
    double most = 0, high = -infinite;
    for (int lane = 0; lane < W; ++lane) {
        most = std::max(most, static_cast<double>(best[lane]));
        high = std::max(high, static_cast<double>(top[lane]));
    }
    place = -1;
    if (most > 0)
        for (Index k = 0; k < work.size; ++k)
            if (work.promise[k] == most) {
                place = k;
                break;
            }
    return high;
}

// Where a coefficient that moves by sign * step has to stop: its end, or zero where epsilon makes a corner there.
double reach(double b, double end, double epsilon, bool up) {
    const double way = up ? end - b : b - end;
    if (epsilon > 0 && (up ? b < 0 : b > 0)) return std::min(way, up ? -b : b);
    return way;
}

void pairs(PairSteps& p) {
    Work work(p);
    p.steps = 0;
    for (;;) {
        Index i = -1, j = -1;
        const double low = least(work.slope.data(), work.grow.data(), work.padded, i);
        p.violation = 0;
        if (i < 0) break;
        const double* const first = p.gram + i * p.size;
        p.violation = largest(work, first, i, low, j) - low;
        if (j < 0 || !(p.violation > p.tol) || p.steps >= p.most) break;
        const double* const second = p.gram + j * p.size;
        const double curve = std::max(work.diagonal[i] + work.diagonal[j] - 2.0 * first[j], least_curvature);
        const double fall = work.slope[j] + work.shrink[j] - low;
        const double up = reach(p.coef[i], p.high[i], p.epsilon, true), down = reach(p.coef[j], p.low[j], p.epsilon, false);
        const double step = std::min(fall / curve, std::min(up, down));
        // an end is reached exactly, so that it is known as one
        p.coef[i] = step < up ? p.coef[i] + step : (p.epsilon > 0 && p.coef[i] < 0 && up < p.high[i] - p.coef[i] ? 0.0 : p.high[i]);
        p.coef[j] = step < down ? p.coef[j] - step : (p.epsilon > 0 && p.coef[j] > 0 && down < p.coef[j] - p.low[j] ? 0.0 : p.low[j]);
        work.mark(p, i);
        work.mark(p, j);
        const V by = fill(step);
        const Index whole = work.size / W * W;
        for (Index k = 0; k < whole; k += W)
            store(work.slope.data() + k, load(work.slope.data() + k) + by * (load(first + k) - load(second + k)));
        for (Index k = whole; k < work.size; ++k) work.slope[k] += step * (first[k] - second[k]);
        ++p.steps;
    }
    std::copy_n(work.slope.data(), p.size, p.slope);
}

}  // namespace

namespace lineal::LINEAL_LEVEL {

void add_pairs(Kernels& table) { table.pairs = ::pairs; }

}  // namespace lineal::LINEAL_LEVEL
