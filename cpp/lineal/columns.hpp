// Columns of a table, many cells at a time: what a survey, an encoder and a fingerprint ask of them.
#pragma once

#include <cstdint>
#include <vector>

#include "part.hpp"

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

// out[i] = table[code + 1]; codes are known to fit, and entries to fit the type of `out`
template <class Code, class Entry, class Value>
void recode(const Code* codes, Index count, const Entry* table, Value* out);

// The records of codes, one after the other: record k is the stretch of `text` from ends[k] to ends[k + 1], k = code + 1.
// `text` must be readable for 16 bytes beyond its end, `out` writable.
template <class Code>
void records(const Code* codes, Index count, const std::int64_t* ends, const char* text, char* out);

// out[i * stride + at[j]] = columns[j][i]
void interleave(const std::vector<const double*>& columns, const std::vector<Index>& at, Index count, double* out, Index stride);

}  // namespace lineal
