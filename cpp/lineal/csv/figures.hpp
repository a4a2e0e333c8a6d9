// How well scores tell two classes: sums over rows of weight one.
#pragma once

#include "threads/threads.hpp"

namespace lineal {

struct Figures {
    double surprise = 0, rest = 0;         // the sum of -log p of what happened, as a double and the rest
    double squares = 0;                    // the sum of (p - y)^2
    Index weights[2] = {}, right[2] = {};  // rows of each class, and those whose score is on its side of zero
};

// False if a target is neither 0 nor 1 or a score is not finite.
bool two_classes(const Team& team, const double* y, const double* eta, Index count, Figures& out);

// Of scores in increasing order, of class 1 and of class 0: the pairs in which class 1 is higher, a tie counting one half, and
// the sum over class 1 of the share of class 1 among scores at least as high.
struct Ranks {
    double pairs = 0, shares = 0;
};
Ranks ranks(const double* ones, Index first, const double* zeros, Index second);

}  // namespace lineal
