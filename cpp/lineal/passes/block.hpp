// One block of rows of a pass, with all that is known of it.
#pragma once

#include <vector>

#include "passes/layout.hpp"

namespace lineal {

// What a pass reads beside the design.
struct Request {
    Loss loss = Loss::squared;
    double parameter = 0;
    Index outputs = 1;
    Matrix y, weight, offset;
    double scale = 1;  // of a dual point
    Index sample = 1;
    bool in_place = false;  // rows are read where they lie: a block needs no panel
    Index turn = 0;         // another sample for every turn
};

// The sum of some numbers, in four chains.
inline double added(const double* values, Index count) {
    double a = 0, b = 0, c = 0, d = 0;
    Index i = 0;
    for (; i + 4 <= count; i += 4) {
        a += values[i];
        b += values[i + 1];
        c += values[i + 2];
        d += values[i + 3];
    }
    for (; i < count; ++i) a += values[i];
    return (a + c) + (b + d);
}

// A block of rows: which, their panel, their targets, weights and scores.
class Block {
public:
    // `extra_groups`: column groups of working memory beside the panel; `least`: rows.
    Block(const Layout& layout, const Request& request, Index extra_groups = 0, Index least = 16);

    // Starts at `row` and ends before `stop`.
    void seek(Index row, Index stop);
    // Takes the next rows whose weight is not zero; false when there are none left.
    bool next();
    void restart();  // the scores of these rows are their offsets again, those of a step zero
    void pack();
    void foresee();  // the rows after these are to be asked for
    void release();  // after pack() of an expanded layout
    // sums[c][room] += X coef; entries known to be `finite` are not read where their coefficients are zero
    void forward(const Coefficients& coef, double* sums, bool finite = false);
    // panel gradient [c][width] and loose gradient [column][outputs] += X' values, values[c][room]
    void backward(const double* values, double* panel_gradient, double* loose_gradient);
    // the same of the slopes of rows that are read where they lie: one dense part and columns of ones
    void pull(const Placed& dense, double* panel_gradient);
    // What the losses of these rows are asked for.
    LossBlock losses(bool curvatures) const;
    // The same of one output, as far as `curvature` is not zero: nothing is asked of the loose entries of the other rows
    void forward_bent(const Coefficients& coef, double* sums);
    // curvature to and from kept[outputs][n]
    void remember(double* kept) const;
    void recall(const double* kept);
    // The entries of the loose columns below `limit` (in the design), for loose_gram.
    void entries(Index limit);

    const Layout& layout;
    const Request& request;
    const Kernels& k;
    const Index room;
    Selection rows;
    Panel panel;
    Panel extra;
    Ahead ahead;  // the rows after these, where they lie in one piece
    double *y, *weight, *eta, *slope, *curvature, *step;
    double weight_sum = 0;
    bool lasting = false;  // its panel is used again: no row may change its place
    std::vector<Index> entry_starts, entry_columns;
    std::vector<double> entry_values;

private:
    void select();
    // Lists the codes parts from `from` on that follow each other, with their tables (`spaced`: as in Coefficients::coded);
    // returns how many.
    std::size_t coded(std::size_t from, double* table, bool spaced);
    std::vector<Coded> coded_;
    Index row_ = 0, stop_ = 0;
    std::vector<Index> index_, bent_;
    Buffer memory_, by_row_;
};

}  // namespace lineal
