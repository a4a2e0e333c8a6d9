// A charged fit of a short table in one call: a look at the columns, the null fit, steps, and what a dual point proves.
#pragma once

#include <vector>

#include "newton/descent.hpp"

namespace lineal {

// What the proof has to know of a loss, named as in src/lineal/loss.py.
struct Limits {
    double steepest = 1, reach = 0, room = 0;
    double farthest = 0;  // numbers beyond it or below its inverse are unusual
    double least = 0;     // so is a condition (its reciprocal) of that or less, of a quadratic loss
};

struct Closed {
    double weight_sum = 0;
    Index rows = 0;                                          // of weight above zero
    std::vector<double> mean, scatter, largest;              // [p]
    std::vector<double> target, constant;                    // [k] the mean of each target, and the null fit
    double null_value = 0;
    Walked walked;                                           // from the null fit to the coefficients
    double gap = 0;                                          // a bound on F - F*
    double blur = 0;                                         // sum of the squared rounding errors of the scores
};

// Minimises (1/S) sum s loss + sum square_j |b_j|^2 / 2, the first column being ones and the only one with square_j = 0, with squared,
// logistic or Poisson loss. False where anything is unusual: numbers too large or too small, NaN, targets outside the loss's domain or
// all at its border, a condition that leaves few digits, a dual point outside its domain. Then somebody has to look closer.
// `asked` says when steps are enough; its baseline and charges are found here.
bool close(const Rows& rows, const Team& team, const Request& request, const double* square, const Limits& limits, Descent asked,
           Closed& out);

}  // namespace lineal
