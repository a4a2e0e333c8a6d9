// Coordinate descent on quadratics: the loops under penalties that look at one coefficient, or one column, at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "passes/part.hpp"

namespace lineal {

// penalty(z) = linear |z| + (square / 2) z^2 with lower <= z <= upper, one entry per coefficient
struct Charges {
    const double* linear;
    const double* square;
    const double* lower;
    const double* upper;
};

// A path of strengths on one gram: at each, the charges are the rates times the strength.
struct Path {
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
};

struct Progress {
    Index sweeps;
    double fall;  // what the last sweep over all coefficients gained
};

// Columns j with |sum_q slopes[j][q] turns[q][k]| + sum_m sizes[j][m] margins[m][k] above zero, or no number, for some point k.
struct Beyond {
    const double* slopes;   // columns x terms
    const double* turns;    // terms x points
    const double* sizes;    // columns x factors
    const double* margins;  // factors x points
    Index terms, points, factors;
};

// The strength at which a column may come into use, where its slope goes on from `slopes`, at `strength`, as it went from
// `before` on over the last `apart`, or turns away from that by up to `turn` a unit of strength and charge.
struct Due {
    const double* slopes;
    const double* before;  // null: as it is
    const double* linear;
    const double* least;
    const double* most;
    double strength, apart, turn;
};

struct Sweeps {
    // min z'Az/2 - c'z + penalty(z); gradient = A z - c is kept up to date. Ends when a sweep over all gains at most tol.
    Progress (*gram)(const double* gram, Index size, double* coef, double* gradient, const Charges& charges, double tol, Index most);
    // The same with rate_j |z_j|, z_j the outputs of column j: coef[a * columns + j]. `parts` matrices, one for all
    // outputs or one each; coupled: one matrix of outputs x columns, output-major.
    Progress (*group)(const double* gram, Index parts, Index columns, Index outputs, bool coupled, double* coef, double* gradient,
                      const double* rate, double tol, Index most);
    // Points of a path by coordinate descent and extrapolation, each started from the one before; goes on where it paused.
    Index (*follow)(Path& path);
    // Of columns first .. last.
    void (*beyond)(const Beyond& task, Index first, Index last, bool* out);
    void (*due)(const Due& task, Index first, Index last, double* out);
    // Of a sparse part that holds a column in every row: products of columns first .. last with `points` numbers of every
    // row, and columns times coefficients added to rows first .. last.
    void (*times)(const Part& part, const double* values, Index points, Index first, Index last, double* out);
    void (*spread)(const Part& part, const double* coef, Index points, Index first, Index last, double* out);
};

#if defined(LINEAL_LEVEL)
namespace LINEAL_LEVEL {
void add_screening(Sweeps& table);
}
#endif

// The table for the level that kernels() picked.
const Sweeps& sweeps();

}  // namespace lineal
