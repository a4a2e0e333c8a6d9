// What a dual point shows of losses with one corner, max(low (eta - at), high (eta - at)): the sums of a proof in one pass.
#pragma once

#include "passes/part.hpp"

namespace lineal {

struct Ramp {
    const double* score;
    const double* at;
    const double* low;
    const double* high;
    const double* weight;
    const double* theta;     // within [low, high]
    double* room = nullptr;  // V of every row goes there, if given
};

// Sums over rows of positive weight w, with r = score - at, V = (theta - low)(high - theta) / (high - low).
struct RampSums {
    double mismatch = 0;  // w (r+ (high - theta) + r- (theta - low))
    double value = 0;     // w loss
    double size = 0;      // w |theta|
    double apart = 0;     // w |slope - theta|, the slope 0 on the corner
    double strain = 0;    // w (what theta +- V costs more)^2 / V
    double metric = 0;    // w V
    double steepest = 0;  // the largest V
};

// Adds halves of halves: terms that are not negative are off by a few roundings and one per doubling of the rows.
RampSums ramp_sums(const Ramp& ramp, Index first, Index last);

}  // namespace lineal
