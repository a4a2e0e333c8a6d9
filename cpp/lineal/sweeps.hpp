// Coordinate descent on quadratics: the loops under penalties that look at one coefficient, or one column, at a time.
#pragma once

#include <cstdint>

#include "part.hpp"

namespace lineal {

// penalty(z) = linear |z| + (square / 2) z^2 with lower <= z <= upper, one entry per coefficient
struct Charges {
    const double* linear;
    const double* square;
    const double* lower;
    const double* upper;
};

// Columns `chosen` of a matrix stored by columns.
struct ByColumn {
    const std::int64_t* starts;
    const std::int32_t* rows;
    const double* values;
    const std::int64_t* chosen;
    Index count;
};

struct Progress {
    Index sweeps;
    double fall;  // what the last sweep over all coefficients gained
};

struct Sweeps {
    const char* name;
    // min z'Az/2 - c'z + penalty(z); gradient = A z - c is kept up to date. Ends when a sweep over all gains at most tol.
    Progress (*gram)(const double* gram, Index size, double* coef, double* gradient, const Charges& charges, double tol,
                     Index most);
    // The same with rate_j |z_j|, z_j the outputs of column j: coef[a * columns + j]. `parts` matrices, one for all
    // outputs or one each; coupled: one matrix of outputs x columns, output-major.
    Progress (*group)(const double* gram, Index parts, Index columns, Index outputs, bool coupled, double* coef,
                      double* gradient, const double* rate, double tol, Index most);
    // min over z of sum_i weight_i (x_i.(z - z_0))^2 / 2 + pull_i x_i.(z - z_0) + penalty(z);
    // pull_i + weight_i x_i.(z - z_0) is kept up to date in pull.
    Progress (*columns)(const ByColumn& matrix, const double* weight, double* pull, double* coef, const Charges& charges,
                        double tol, Index most);
};

// The table for the level that kernels() picked.
const Sweeps& sweeps();

}  // namespace lineal
