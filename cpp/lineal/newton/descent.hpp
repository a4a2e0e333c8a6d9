// Newton's method where passes are short: many steps in one call, each a fused pass, a small Cholesky factor and a search.
#pragma once

#include <vector>

#include "passes/table.hpp"

namespace lineal {

// R'R = D A D with D making the diagonal one, [n][stride], row by row; small matrices only.
class SmallFactor {
public:
    // The smallest pivot of the even matrix; 0 or less, or NaN: there is no factor.
    double make(const double* matrix, Index n);
    // right[n], `stride` apart, becomes A^-1 right
    void solve(double* right, Index stride) const;
    // out[i] = sqrt of the i-th diagonal entry of A^-1; returns the reciprocal of the even matrix's condition in the 1-norm
    double spread(double* out) const;
    double log_determinant() const;

private:
    Index n_ = 0, stride_ = 0;
    std::vector<double> upper_, scale_, even_;
    mutable std::vector<double> work_;
};

// What turns sums over rows into F(b) = (1/S) sum s loss + sum square_j |b_j|^2 / 2.
struct RidgeTerms {
    const double* square = nullptr;   // [p] second derivative of the penalty
    const double* largest = nullptr;  // [p] max |x_j|
    double offset = 0;                // max |offset|
};

struct Value {
    double value = 0, error = 0;  // of F, and a bound on its rounding error
};

// F with its gradient[p][k], the mean |slope| [k] and its second derivative in the first `h` columns, laid out as
// Rows::evaluate does, in one pass.
Value objective(const Passes& passes, const RidgeTerms& terms, const Matrix& coef, Index h, double* slope, double* gradient,
                double* hessian);

// The same kept in one place.
struct Here {
    double value = 0, error = 0;
    std::vector<double> gradient, slope, hessian;  // [p][k], [k], [parts][p][p]
};

struct Descent {
    RidgeTerms terms;
    bool unbounded = false;          // scores may run away: cut steps that are far too long
    double baseline = 0, share = 0;  // enough: estimate <= share (baseline - value)
    Index most = 0;                  // steps
};

struct Steps {
    std::vector<double> coefs;              // [points][p][k]: the start and every point after it
    std::vector<double> values, estimates;  // of the points at which a step was computed
    std::vector<Index> passes;              // before each of them
    Index count = 0;                        // passes in all
    Here here;                              // at the last point
};

// Steps from `coef`, whose evaluation is `steps.here`, until near enough, no factor, no descent, or `most` steps.
void descend(const Passes& passes, const Descent& asked, const double* coef, Steps& steps);

}  // namespace lineal
