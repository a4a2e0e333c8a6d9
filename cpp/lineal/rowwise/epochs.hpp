// Epochs of stochastic gradient methods: rows one after another, or a few together, in a given order.
#pragma once

#include <cstdint>

#include "passes/part.hpp"

namespace lineal {

enum class RowLoss {
    squared,
    logistic,
    softmax,
    hinge,
    squared_hinge,
    crammer_singer,
    quantile,
    huber,
    insensitive,
    squared_insensitive,
    poisson
};

// Consecutive rows stored together; `first` is the number of the first of them among all that `order` may name.
struct Segment {
    const Part* parts;
    Index part_count, rows, first;
    const double* y;       // [rows][targets]
    const double* weight;  // [rows] or null
    const double* offset;  // [rows][outputs] or null
};

// Every step takes the next `batch` rows of `order` and does, for each column j with eta = step rate_j,
//     b_j <- soft(b_j - eta (g_j + mean_gradient_j), eta linear_j) / (1 + eta square_j),
// g the mean of weight s_i slope_i (x_ij - shift_j) over those rows; saga subtracts the slope that `table` holds from slope_i first,
// puts the new one there and keeps mean_gradient up to date. Columns that a row does not have are brought up to date when a
// row asks for them, and all of them at the end: the steps between are taken at once, in closed form.
struct Epoch {
    const Segment* segments;
    Index segment_count;
    const std::int64_t* order;
    Index length, batch;
    RowLoss loss;
    double parameter;
    Index columns, outputs, targets;
    double step, weight;
    const double* rate;
    const double* shift;  // or null; 0 for columns of parts that are not stored densely
    const double* linear;
    const double* square;
    double* coef;           // [columns][outputs]
    double* sum;            // or null: the iterates after each step are added here
    double* table;          // or null: the last slope of every row, [rows][outputs]
    double* mean_gradient;  // [columns][outputs] for saga, else null
    double total;           // saga: how many rows there are
    // scratch
    std::int64_t* last;     // [columns] zeros: the step after which a column is up to date
    double* gathered;       // batch > 1 or dense rows: [columns][outputs] zeros
    std::int64_t* touched;  // batch > 1: [columns]
    double* eta;            // [outputs]
    double* slope;          // [batch][outputs]
    double* rows;           // where every part is stored densely: [batch][columns], else null
    double* sizes;          // the same: [3][columns][outputs]
    double* powers;         // else [2][steps + 1]
    double common;          // step rate_j square_j of the columns that `powers` are for
};

struct Epochs {
    // Returns the sum of s_i loss_i, each row before it was learned.
    double (*run)(Epoch& epoch);
    // Returns the largest s_i sum_j rate_j (x_ij - shift_j)^2.
    double (*largest)(const Epoch& epoch);
};

// The table for the level that kernels() picked.
const Epochs& epochs();

}  // namespace lineal
