// The k nearest of some rows, by a stated distance and a stated order: the smaller distance first, of equal ones the smaller row.
//
// The distance of a query q and a row x is a sum over columns in their order, each step rounded once and none fused:
//   squared    sum (q_j - x_j)^2        manhattan  sum |q_j - x_j|        chebyshev  max |q_j - x_j|
//   hamming    the number of columns with q_j != x_j                      power      sum |q_j - x_j|^p
// All ways of searching find the k least of these very numbers, so that they agree to the last bit.
#pragma once

#include <cstdint>

#include "threads/threads.hpp"

namespace lineal {

enum class Metric { squared, manhattan, chebyshev, hamming, power };

// Rows in groups of eight: column j of row r of group g is at data[(g * columns + j) * 8 + r]. What is beyond the last row is zero.
struct Groups {
    const double* data = nullptr;
    Index columns = 0;
    Index rows = 0;
};

// Boxes around the rows of up to eight children, column by column, the lower border and then the upper one: of column j at
// box[16 j] and box[16 j + 8]. Child c >= 0 is another node, c < 0 the leaf -1 - c; `lowest` is the least number of a row below it.
struct Node {
    Index count = 0;
    std::int32_t child[8] = {};
    std::int64_t lowest[8] = {};
};
struct Tree {
    Groups leaves;               // rows in the order of the leaves, each of which begins with a group
    const std::int64_t* number;  // the row at every place of the leaves
    const Index* starts;         // where leaf l begins, as a place, a multiple of eight
    const std::int32_t* sizes;   // how many rows it has
    const Node* nodes;           // the first is the root
    const double* boxes;         // of node m at 16 columns m
};

// Single-precision rows x' = (x - center) 2^shift in groups of sixteen, for a search that passes over rows by their products.
//
// With s = q'x' - |x'|^2 / 2, |q' - x'|^2 = |q'|^2 - 2 s. In single precision (u = 2^-24, at most two roundings for each of d steps,
// and one of every entry) the tile computes a number that differs from s by at most kappa |q'| |x'| + (kappa / 2) |x'|^2 + tiny
// <= (kappa / 2) |q'|^2 + kappa |x'|^2 + tiny with kappa = 1.02 (2 d + 8) u. The part of the row is added beforehand (`bias`
// holds kappa |x'|^2 - |x'|^2 / 2), the part of the query is taken off the threshold: a row whose distance, as computed, is at most the
// k-th best so far, D, has |q' - x'|^2 <= D' = 4^shift D (1 + g), g = 4 (d + 4) 2^-53 for the rounding of distances, and its number is
// therefore at least (|q'|^2 - D') / 2 - (kappa / 2) |q'|^2 - tiny, the threshold. All others are passed over; the distances of
// those that are not are computed as stated above.
struct Singles {
    const float* data = nullptr;   // column j of row r of group g at (g * columns + j) * 16 + r
    const float* bias = nullptr;   // of every row; NaN beyond the last, which no threshold admits
    const double* rows = nullptr;  // the rows as they are, row by row
    const double* center = nullptr;
    Index columns = 0, count = 0;
    int shift = 0;
    static constexpr Index most_columns = 100000;  // kappa stays small
    static constexpr double farthest = 0x1p60;     // |q'| beyond it is searched otherwise, or numbers could overflow
    static double kappa(Index columns) { return 1.02 * static_cast<double>(2 * columns + 8) * 0x1p-24; }
};

// Queries row by row, which row each of them must not find (null: none; -1: none), and where answers go.
struct Queries {
    const double* data = nullptr;
    const std::int64_t* own = nullptr;
    const std::int64_t* order = nullptr;  // or null: the queries as they come
    Index count = 0, k = 0;
    double* distances = nullptr;
    std::int64_t* rows = nullptr;

    Index at(Index i) const { return order ? order[i] : i; }
};

// The loops of one CPU level, over the queries first .. last - 1.
struct Searches {
    // all rows of the groups
    void (*direct)(Metric metric, double power, const Groups& groups, const Queries& queries, Index first, Index last, Watch& watch);
    // the same, distances alone: out[i * stride + row]
    void (*distances)(Metric metric, double power, const Groups& groups, const double* queries, Index count, double* out, Watch& watch);
    // rows that their products do not rule out
    void (*tiles)(const Singles& singles, const Queries& queries, Index first, Index last, Watch& watch);
    // the leaves whose boxes are near enough; returns how many rows it looked at (squared, manhattan, chebyshev)
    Index (*descend)(Metric metric, const Tree& tree, const Queries& queries, Index first, Index last, Watch& watch);
    // the leaf on whose way every box is the nearest of its siblings
    void (*place)(Metric metric, const Tree& tree, const double* queries, Index count, std::int64_t* leaf);
};

// The table for the level that kernels() picked.
const Searches& searches();

}  // namespace lineal
