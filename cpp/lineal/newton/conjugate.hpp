// Conjugate gradients on the system of a Newton step, without leaving the compiled code between products.
#pragma once

#include "passes/rows.hpp"

namespace lineal {

// (T' X' S W X T / S + D) d = g with T = (I - e_0 shift') diag(1 / scale): centred and scaled columns.
struct System {
    const double* shift = nullptr;    // p
    const double* scale = nullptr;    // p
    const double* charges = nullptr;  // p: the diagonal of D
    const double* inverse = nullptr;  // of the preconditioner M, [blocks][p][p], or of its diagonal, [p]
    Index blocks = 1;                 // one for all outputs, or one for each; 0: a diagonal
    double goal = 0;                  // of r' M^-1 r
    Index most = 0;                   // products
};

// Products that make a step the last one: until sum cost r^2 is within the goal, r the residual of `smooth`, that mean of the
// last two iterates that makes the sum least, and r' M^-1 r within `near`. Given up where g' d / 2 is more than `far`.
struct Closing {
    const double* cost = nullptr;      // p; null: not asked for
    const double* gradient = nullptr;  // [p][k]
    double goal = 0;
    double* smooth = nullptr;  // [p][k], the solution at first
    double* rest = nullptr;    // [p][k], the residual at first
    double far = 0, near = 0;
};

struct Progress {
    Index count = 0;                   // products taken
    double rho = 0;                    // r' M^-1 r
    double first = 0;                  // d' H d of the first product
    bool closed = false, far = false;  // the goal of a closing step was reached; it is given up
    bool stuck = false;                // d' H d was not above zero, or not finite: that product was not used
};

// Goes on from `solution`, `residual`, `direction`, all [p][k], and rho = r' M^-1 r; curvatures of the rows are known.
Progress conjugate(const Rows& rows, const Team& team, const Request& request, double* kept, const System& system, double rho,
                   double* solution, double* residual, double* direction, const Closing& closing = {});

// Every one of `count` symmetric matrices [n][n] in its place becomes its inverse; false where a pivot is not above zero.
bool invert(const Team& team, double* matrices, Index count, Index n);

}  // namespace lineal
