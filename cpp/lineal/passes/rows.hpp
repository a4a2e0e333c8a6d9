// A design as the passes see it, and the passes: every one reads each row once and returns sums.
#pragma once

#include <vector>

#include "passes/block.hpp"
#include "threads/threads.hpp"

namespace lineal {

struct Evaluation {
    double high = 0, low = 0, weight_sum = 0;
};

struct DualEvaluation {
    double high = 0, low = 0, reach = 0;
};

// Curvatures of all rows, [n][k], that one product writes down and the next ones read (data == nullptr: neither).
struct Curvature {
    double* data = nullptr;
    bool known = false;
};

// Columns seen as (x_j - shift_j) / scale_j, of which the first is ones; null: as they are.
struct Affine {
    const double* shift = nullptr;
    const double* scale = nullptr;
};

// nanoseconds a row of a layout costs in a pass of `times` products with k outputs
double cost(const Layout& layout, Index outputs, double times);

class Rows {
public:
    explicit Rows(const std::vector<Part>& parts);

    Index rows() const { return layout_.rows; }
    Index columns() const { return layout_.columns; }
    const Layout& layout() const { return layout_; }

    // out[n][k] = X coef
    void times(const Team& team, const Matrix& coef, double* out) const;
    // out[p][k] = X' values
    void transpose_times(const Team& team, const Matrix& values, double* out) const;
    // out[p][p] = X' diag(weight) X
    void gram(const Team& team, const Matrix& weight, double* out) const;
    // gradient[p][k], slope_sum[k], hessian of the first `h` columns (may be null); curvatures of all rows go to kept[k][n], if given
    Evaluation evaluate(const Team& team, const Request& request, const Matrix& coef, Index h, double* slope_sum, double* gradient,
                        double* hessian, double* kept = nullptr) const;
    // gradient may be null
    DualEvaluation dual(const Team& team, const Request& request, const Matrix& coef, const Matrix& shift, double* slope_sum,
                        double* gradient) const;
    // out[p][k] = X' S W X direction; returns the sum of the weights
    double curve(const Team& team, const Request& request, const Matrix& coef, const Matrix& direction, const Curvature& kept,
                 double* out) const;
    // out[k][p][p]: the blocks on the diagonal of X' S W X, one for each output, from the curvatures kept[k][n] of all rows, or
    // X' S X where there are none; in the columns of `view`. Returns the sum of the weights
    double blocks(const Team& team, const Request& request, const double* kept, const Affine& view, double* out) const;
    // out[n][k]; `both`: of one output that is a probability, out[n][2] = {1 - mean, mean}. Returns whether both lie between 0 and
    // 1, neither reached, true where that was not asked
    bool means(const Team& team, const Request& request, const Matrix& coef, double* out, bool both = false) const;
    // returns the sum of the weights
    double moments(const Team& team, const Matrix& weight, double* mean, double* scatter, double* largest) const;
    // the same of [X y], p + m columns, and gram[p + m][p + m] = [X y]' diag(weight) [X y]
    double products(const Team& team, const Matrix& weight, const Matrix& y, double* mean, double* scatter, double* largest,
                    double* gram) const;
    // The one dense part beside columns of ones and nothing else, or null.
    const Placed* lone() const;
    // out[q + m][q + m] = sum_i weight_i / unit z_i z_i' in single precision, z_i the rows of the q columns of the lone part and of the m
    // targets, centred, multiplied by `factor` and rounded: for steps, never for proofs
    void float32_gram(const Team& team, const Matrix& weight, double unit, const Matrix& y, const double* centre, const double* factor,
                      double* out) const;
    // high, low [p + m][p + m]
    void gram_dd(const Team& team, const Matrix& weight, const Matrix& y, double* high, double* low) const;
    double dependence(const Team& team, const Matrix& high, const Matrix& low) const;

private:
    // The parts, and targets as one more.
    std::vector<Part> beside(const Matrix& y) const;
    // Moments of a layout's columns and the gram of its first h.
    double survey(const Team& team, const Layout& layout, const Matrix& weight, Index h, double* mean, double* scatter, double* largest,
                  double* gram) const;
    bool by_column() const;
    // The lone part, if its rows have no gaps; or null.
    const Placed* single_dense() const;
    double column_moments(const Team& team, double* mean, double* scatter, double* largest) const;
    // How many chunks rows of that cost are split into, each with a partial result of that many doubles.
    Index chunks(double nanoseconds, Index partial) const;
    // The same where the partial result is a gradient: of thousands of loose columns it leaves the first cache.
    Index pieces(double nanoseconds, Index gradient) const;
    // The team, or one thread where more would not pay.
    Team fitting(const Team& team, double nanoseconds) const;

    std::vector<Part> parts_;
    Layout layout_;
};

}  // namespace lineal
