// Columns of a table, many cells at a time: what a survey, an encoder and a fingerprint ask of them.
#pragma once

#include <cstdint>
#include <vector>

#include "passes/part.hpp"

namespace lineal {

// Of the numbers that are no NaN: how many, the least, the largest, their sum as high + low, whether all are whole.
struct Summary {
    Index count = 0;
    double low = 0, high = 0;
    double sum = 0, rest = 0;
    bool whole = true;
};

Summary summarise(const double* values, Index count);

// counts[code + 1] += 1; false if a code is below -1 or not below `levels`
template <class Code>
bool tally(const Code* codes, Index count, Index levels, std::int64_t* counts);

// Whether all codes lie between -1 and `levels` - 1.
template <class Code>
bool fits(const Code* codes, Index count, Index levels);

// out[i] = table[code + 1]; codes are known to fit, and entries to fit the type of `out`
template <class Code, class Entry, class Value>
void recode(const Code* codes, Index count, const Entry* table, Value* out);

// out[i * stride + at[j]] = columns[j][i]; returns the columns that hold a NaN or an infinity
std::vector<Index> interleave(const std::vector<const double*>& columns, const std::vector<Index>& at, Index count, double* out,
                              Index stride);

}  // namespace lineal
