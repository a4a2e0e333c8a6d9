// Dual coordinate ascent: one row after another, its dual point moved to where the dual is largest.
#pragma once

#include <cstdint>
#include <vector>

#include "passes/part.hpp"
#include "threads/threads.hpp"

namespace lineal {

// maximise  - sum_i w_i loss*(theta_i) - sum_j |sum_i w_i theta_i x_ij|^2 / (2 D_j),  b_j = -sum_i w_i theta_i x_ij / D_j kept up to date.
// One output:  loss*(theta) = (at_i - offset_i) theta + epsilon |theta| + (bend / 2) theta^2 on [low_i, high_i].
// Several:     loss*(theta) = bend |q|^2 / 2 - cost sum over c != y of q_c, q = theta + e_y on the simplex; `at` holds y.
struct Ascent {
    const Part* parts;
    Index part_count, outputs;
    const std::int64_t* order;
    Index length;
    const double* at;       // [rows]
    const double* low;      // [rows], one output
    const double* high;     // [rows], one output
    const double* offset;   // [rows][outputs] or null
    const double* weight;   // [rows]
    const double* square;   // [rows]: sum_j x_ij^2 / D_j
    const double* inverse;  // [columns]: 1 / D_j
    double epsilon, bend, cost;
    double shrink;          // rows whose theta rests at an end, and would by more than this, are marked
    double* coef;           // [columns][outputs]
    double* theta;          // [rows][outputs]
    std::uint8_t* keep;     // [length]: 0 for the marked ones
    Index batch;            // one output: rows of each of two lanes between the times they are brought together; 0 for one lane
    double* total;          // [columns], with a batch: the coefficients after each of these times are added to it
    double* before;         // [length] or null: theta as it was, set by ascend for lanes
    double even;            // the one 1 / D_j of all columns but those of ones, not above 0 where they differ; set by ascend
    double loss, mismatch;  // one output: sums of w loss and of w (loss + loss* - theta eta), each row before it moved
    double pull;            // one output: sum of the distances by which rows were off their best
    Index pulled;           // and how many they were
    double rise;            // one output: how much w loss* rose
};

// Visits the rows in order. With a batch, two
// lanes of rows move at once, each with coefficients of its own, and then as much of both moves is made as is best: the
// dual rises as it would for one lane, and the bits are the same for any number of threads.
void ascend(const Team& team, Ascent& ascent);

// Scores of all rows, and what they show.
struct Look {
    Index length;
    const double* score;  // offsets included
    const double* at;
    const double* low;
    const double* high;
    const double* weight;
    const double* theta;
    double epsilon, bend;
    double loss, mismatch, shift;  // what comes out
};

// Sums w loss and w mismatch over all rows of one output; where free, after moving all scores by the shift at which the
// loss is least, to a hundredth of the mismatch.
void look(Look& look, bool free);

// square[i] = sum_j x_ij^2 inverse_j
void row_squares(const Team& team, const Part* parts, Index part_count, const double* inverse, double* square);

}  // namespace lineal
