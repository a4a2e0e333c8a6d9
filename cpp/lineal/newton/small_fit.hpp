// Alone holds the goals of `small-logistic` (0.17 of scikit-learn; 0.51 without it) and `small-ridge` (0.20; 0.71).
// A penalized fit of a short table in one call: a look at the columns, the null fit and steps from there.
#pragma once

#include <vector>

#include "newton/descent.hpp"

namespace lineal {

struct SmallFit {
    double weight_sum = 0;
    Index rows = 0;                              // of weight above zero
    std::vector<double> mean, scatter, largest;  // [p]
    std::vector<double> target, constant;        // [k] the mean of each target, and the null fit
    double baseline_value = 0;
    Steps steps;  // from the null fit to the coefficients
};

// Minimises (1/S) sum s loss + sum square_j |b_j|^2 / 2, the first column being ones and the only one with square_j = 0, with squared,
// logistic or Poisson loss. False where anything is unusual: numbers beyond `farthest` or below its inverse, NaN, targets outside the
// loss's domain or all at its border, a pivot that leaves few digits. Nothing is proven here.
// `asked` says when steps are enough; its baseline and terms are found here.
bool small_fit(const Rows& rows, const Team& team, const Request& request, const double* square, double farthest, Descent asked,
               SmallFit& out);

}  // namespace lineal
