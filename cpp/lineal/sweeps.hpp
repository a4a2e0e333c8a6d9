// Coordinate descent on quadratics: the loops under penalties that look at one coefficient, or one column, at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "part.hpp"

namespace lineal {

// penalty(z) = linear |z| + (square / 2) z^2 with lower <= z <= upper, one entry per coefficient
struct Charges {
    const double* linear;
    const double* square;
    const double* lower;
    const double* upper;
};

// The columns in use along a path, by their numbers in the design, and the Cholesky factor of their gram.
struct Support {
    std::vector<Index> columns;
    std::vector<double> factor;
};

// A path of strengths on one gram: at each, the charges are the rates times the strength.
struct Walk {
    const double* gram;
    const double* origin;  // the gradient at zero, -c
    Index size;
    Charges rates;
    const double* strengths;
    Index points;
    double level;   // the loss at zero
    double tol;     // a point is done when its gap on these columns is at most tol times what it gains over zero,
    double floor;   // or this
    double budget;  // multiplications spent on one point before the walk pauses
    double* coef;
    double* gradient;
    double* found;  // points x size
    Index done;     // points found so far
    const Index* columns = nullptr;  // the number of every coefficient in the design, increasing
    Support* support = nullptr;      // where given, points are found by exact solves first
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
    // Points of a path by coordinate descent and extrapolation, each started from the one before; goes on where it paused.
    Index (*walk)(Walk& walk);
};

// The table for the level that kernels() picked.
const Sweeps& sweeps();

}  // namespace lineal
