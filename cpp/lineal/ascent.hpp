// Dual coordinate ascent: one row after another, its dual point moved to where the dual is largest.
#pragma once

#include <cstdint>
#include <vector>

#include "part.hpp"

namespace lineal {

// maximise  - sum_i w_i loss*(theta_i) - sum_j |sum_i w_i theta_i x_ij|^2 / (2 D_j),  b_j = -sum_i w_i theta_i x_ij / D_j kept up to date.
// One output:  loss*(theta) = (at_i - offset_i) theta + epsilon |theta| + (bend / 2) theta^2 on [low_i, high_i].
// Several:     loss*(theta) = bend |q|^2 / 2 - cost sum over c != y of q_c, q = theta + e_y on the simplex; `at` holds y.
struct Ascent {
    const Part* parts;
    Index part_count, outputs;
    const std::int64_t* order;
    Index length;
    const double* at;      // [rows]
    const double* low;     // [rows], one output
    const double* high;    // [rows], one output
    const double* offset;  // [rows][outputs] or null
    const double* weight;  // [rows]
    const double* square;  // [rows]: sum_j x_ij^2 / D_j
    const double* inverse; // [columns]: 1 / D_j
    double epsilon, bend, cost;
    double shrink;         // rows whose theta rests at an end, and would by more than this, are marked
    double* coef;          // [columns][outputs]
    double* theta;         // [rows][outputs]
    std::uint8_t* keep;    // [length]: 0 for the marked ones
    bool look;             // one output: move nothing
    double even;           // the one 1 / D_j of all columns but those of ones, not above 0 where they differ; set by ascend
    double loss, mismatch; // one output: sums of w loss and of w (loss + loss* - theta eta), each row before it moved
};

// Visits the rows in order; returns the largest distance, in scores, by which one was off its best.
double ascend(Ascent& ascent);

// square[i] = sum_j x_ij^2 inverse_j
void row_squares(const Part* parts, Index part_count, const double* inverse, double* square);

}  // namespace lineal
