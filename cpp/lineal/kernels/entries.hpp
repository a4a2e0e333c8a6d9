// Loops over the entries of Gram matrices that exist once per CPU level.
#pragma once

#include <cstdint>

#include "passes/part.hpp"

namespace lineal {

constexpr Index group_lanes = 8;  // points that lie side by side: [group][number][lane]
constexpr int longest_subsequence = 32;

enum class Between { product, square, absolute };

// What becomes of a product or distance d: itself, exp(-factor d), (factor d + shift)^degree.
struct Finish {
    enum Kind { none, exponential, power } kind = none;
    double factor = 1, shift = 0;
    int degree = 1;
};

struct Entries {
    // out[a][b], `stride` apart, of the eight points of one group with those of `groups` others; `numbers` of each point
    void (*block)(Between between, const Finish& finish, const double* left, const double* right, Index groups, Index numbers, double* out,
                  Index stride);
    // Of one text with eight that lie side by side, [place][lane], negative behind their ends: the sums over common subsequences of
    // `length` symbols of decay^(both spans). work: (length - 1) x longest x 8 numbers. False where `stop` said so.
    bool (*subsequences)(const std::int64_t* text, Index size, const std::int64_t* others, Index longest, int length, double decay,
                         double* work, double* out, bool (*stop)(void*), void* watch);
};

// The table for the level that kernels() picked.
const Entries& entries();

}  // namespace lineal
