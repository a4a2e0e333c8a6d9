#include "passes/ramp.hpp"

#include <algorithm>
#include <cmath>

namespace lineal {

namespace {

constexpr Index leaf = 32;

void add_row(const Ramp& ramp, Index i, RampSums& sums) {
    const double w = ramp.weight[i], low = ramp.low[i], high = ramp.high[i], theta = ramp.theta[i], r = ramp.score[i] - ramp.at[i];
    const double up = std::max(r, 0.0), down = std::max(-r, 0.0), below = theta - low, above = high - theta;
    const auto mismatch = [&](double t) { return up * (high - t) + down * (t - low); };
    const double own = mismatch(theta);
    sums.mismatch += w * own;
    sums.value += w * std::max(low * r, high * r);
    sums.size += w * std::fabs(theta);
    sums.apart += w * std::fabs((r > 0 ? high : r < 0 ? low : 0.0) - theta);
    const double v = high > low ? below * (above / (high - low)) : 0.0;
    sums.metric += w * v;
    if (ramp.room) ramp.room[i] = v;
    sums.steepest = std::max(sums.steepest, v);
    if (!(v > 0)) return;
    const double more = std::max(mismatch(std::clamp(theta - v, low, high)), mismatch(std::clamp(theta + v, low, high))) - own;
    if (more > 0) sums.strain += w * (more * more / v);
}

}  // namespace

RampSums ramp_sums(const Ramp& ramp, Index first, Index last) {
    RampSums sums;
    if (last - first <= leaf) {
        for (Index i = first; i < last; ++i)
            if (ramp.weight[i] > 0) add_row(ramp, i, sums);
        return sums;
    }
    const Index middle = first + (last - first) / 2;
    const RampSums one = ramp_sums(ramp, first, middle), other = ramp_sums(ramp, middle, last);
    sums.mismatch = one.mismatch + other.mismatch;
    sums.value = one.value + other.value;
    sums.size = one.size + other.size;
    sums.apart = one.apart + other.apart;
    sums.strain = one.strain + other.strain;
    sums.metric = one.metric + other.metric;
    sums.steepest = std::max(one.steepest, other.steepest);
    return sums;
}

}  // namespace lineal
