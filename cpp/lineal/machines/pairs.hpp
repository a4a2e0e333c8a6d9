// Steps along pairs of coefficients: min 1/2 b'K b - y'b + epsilon sum |b_i|, low <= b <= high, sum b as it is.
//
// Of the coefficients that may grow, i has the least slope; of those that may shrink, j promises the largest fall by a second-order
// model, (slope_j - slope_i)^2 / (K_ii + K_jj - 2 K_ij). b_i grows and b_j shrinks by the step to the minimum between them, cut at
// their ends and where one of them crosses zero.
#pragma once

#include "passes/part.hpp"

namespace lineal {

struct PairSteps {
    Index size = 0;
    const double* gram = nullptr;  // size x size
    const double* low = nullptr;
    const double* high = nullptr;
    double epsilon = 0;
    double tol = 0;  // of max slope_j - min slope_i
    Index most = 0;  // pairs
    double* coef = nullptr;
    double* slope = nullptr;  // K b - y, kept up to date
    Index steps = 0;
    double violation = 0;  // before the last look
};

}  // namespace lineal
