// Presentations of rows to a perceptron: a score for every row, an update after every mistake.
#pragma once

#include "epochs.hpp"

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
    double* drift;              // or null: sum of (presentations before an update) times the update
    Index presented, survived, mistakes;
    Index longest;              // stops in front of a mistake after more than so many rows without one
    std::int64_t* log;          // or null: (row, rival, presented) of each mistake
    Index logged, room;         // stops when the log is full
    bool measure;               // whether to look for the largest |x|^2
    double largest;
    double within;              // no row is longer, a column of ones included; 0 where that is not known
    bool rough;                 // scores need not be kept in eta, only their signs matter
    Index* seen;                // or null: told now and then how far `at` is; another thread reads it
    bool spares;                // `spared` said so
    std::uint64_t* notes;       // or null: Notes of every row of the only segment, zeros where nothing is known
    Index known;                // grows with every row that is looked at
    // scratch
    double* eta;   // [ROWS][outputs]
    double* sums;  // [8][outputs]
    double* row;   // [columns]
};

// What two threads that present the same rows tell each other: each holds half of the columns. A side writes its part of the scores
// of step s to said[side][s % 2] and then sets its mark to s; the first side may end the work by setting the other's mark to OFF,
// which that one finds when it wants to go on to the next step.
struct Twin {
    static constexpr Index ROWS = 8, GRAM = 36, OFF = -1;
    struct alignas(64) Mark {
        Index step = 0;
    };
    Mark marks[2];
    double* said[2][2];  // [ROWS][outputs] parts of scores, then [GRAM] parts of products of these rows
    double* scratch[2];  // [ROWS][outputs] + [GRAM] + 2 [outputs], and half of ROWS + outputs rows in single precision
    Index patience;      // of the first side: so many looks at the other's mark
};

struct Perceptrons {
    const char* name;
    // Presents rows until the end, or until it has to stop; e.at says where.
    void (*run)(Presentation& e);
    // One of the two sides of a presentation that `paired` allows, to the end or until it is called off; only the first side's e counts.
    void (*half)(Presentation& e, Twin& twin, Index side);
    // out[i] = x_i.vector for every row.
    void (*project)(const Presentation& e, const double* vector, double* out);
};

// The table for the level that kernels() picked.
const Perceptrons& perceptrons();

}  // namespace lineal
