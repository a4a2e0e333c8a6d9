// The central path of losses made of corners, step by step: Frisch and Newton with Mehrotra's predictor and corrector.
#pragma once

#include "passes/rows.hpp"

namespace lineal {

// min sum_i w_i sum_m max(low (eta_i - at_im), high (eta_i - at_im)) + linear.b + b'Db/2, every row with `corners` corners.
struct Corners {
    const Rows& rows;
    Index corners = 1;
    const double *weight = nullptr, *low = nullptr, *high = nullptr;  // [corners][n]
    const double *smooth = nullptr, *linear = nullptr;                // [p]: D, and what is added
    double central = 0;                                               // no product may fall below this share of their mean
    double singular = 0;                                              // a gram of a smaller reciprocal condition is left to somebody else
};

// A point of the path, moved in place: eta - at = u - v but for what is not yet feasible.
struct PathPoint {
    double* coef = nullptr;                                                    // [p]
    double *residual = nullptr, *u = nullptr, *v = nullptr, *theta = nullptr;  // [corners][n]; residual = eta - at
};

enum class Ending { enough, most, stuck, singular };

struct Followed {
    Index steps = 0;
    double gap = 0;
    Ending ending = Ending::most;
};

// Steps until the gap is at most tol times the loss, `most` were made, or none is possible.
Followed follow(const Corners& corners, const Team& team, PathPoint& point, double tol, Index most);

}  // namespace lineal
