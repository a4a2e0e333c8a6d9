// Presentations of rows to a perceptron: a score for every row, an update after every mistake.
#pragma once

#include "rowwise/epochs.hpp"

namespace lineal {

// Scores are sums of eight interleaved parts for every part of a design (column j of it adds to part j mod 8), so that rows stored
// densely and sparsely have the same bits.
struct Presentation {
    static constexpr Index ROWS = 4;  // scored together where there are several outputs
    const Segment* segments;
    Index segment_count;
    const std::int64_t* order;  // or null: row n is the n-th
    Index at, length;           // presents order[at .. length)
    Index columns, outputs;     // outputs 1: two classes, the second has positive scores
    bool across;                // weights are [outputs][stride], else [columns][outputs]
    Index stride;               // at least columns
    int tie;                    // a score of 0, or a shared best one: 1 the later class, -1 the earlier one, 0 always a mistake
    double rate;
    double* coef;
    double* drift;  // or null: sum of (presentations before an update) times the update
    Index presented, survived, mistakes;
    Index longest;       // stops in front of a mistake after more than this many rows without one
    std::int64_t* log;   // or null: (row, rival, presented) of each mistake
    Index logged, room;  // stops when the log is full
    bool measure;        // whether to look for the largest |x|^2
    double largest;
    double within;    // no row is longer, a column of ones included; 0 where that is not known
    bool signs_only;  // scores need not be kept in eta, only their signs matter
    // scratch
    double* eta;   // [ROWS][outputs]
    double* sums;  // [8][outputs]
    double* row;   // [columns]
};

struct Perceptrons {
    // Presents rows until the end, or until it has to stop; e.at says where.
    void (*run)(Presentation& e);
    // out[i] = x_i.vector for every row.
    void (*project)(const Presentation& e, const double* vector, double* out);
};

// The table for the level that kernels() picked.
const Perceptrons& perceptrons();

}  // namespace lineal
