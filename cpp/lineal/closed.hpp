// Ridge on a short table in one call: a look at the columns, the null fit, the solution, and what its gradient proves.
#pragma once

#include <vector>

#include "descent.hpp"

namespace lineal {

struct Closed {
    double weight_sum = 0;
    Index rows = 0;                                          // of weight above zero
    std::vector<double> mean, scatter, largest;              // [p]
    std::vector<double> constant;                            // [k] the null fit: the mean of each target
    double null_value = 0;
    std::vector<double> coef;                                // [p][k]
    double value = 0, estimate = 0, gap = 0;                 // F, what one more step would gain, a bound on F - F*
    double blur = 0;                                         // sum of the squared rounding errors of the scores
};

// Minimises (1/S) sum s |x b - y|^2 / 2 + sum square_j |b_j|^2 / 2, the first column being ones and the only one with
// square_j = 0. False where anything is unusual: numbers beyond `farthest` or below its inverse, NaN, a condition (its
// reciprocal) of `least` or less. Then somebody has to look closer.
bool close(const Rows& rows, const Team& team, const Request& request, const double* square, double farthest, double least,
           Closed& out);

}  // namespace lineal
