// Sums of the stored cells of sparse rows by class, without rounding: of any order of the rows the same bits.
#pragma once

#include <cstdint>

#include "passes/part.hpp"

namespace lineal {

// What one look at all cells learns: the largest magnitude and the smallest above zero (infinity if there is none), whether all below
// 2^52 are whole, and whether all are finite.
struct CellSizes {
    double largest, smallest;
    bool whole, finite;
};

// Adds every cell of sparse rows to totals[code * columns + column]; exact where all are whole, as long as sums stay below 2^53.
CellSizes sum_by_class(const Part& part, const std::int64_t* codes, double* totals);

// Splits every cell into parts, part l a whole multiple of 2^(26 (top - l)) below 2^26 of them, and adds part l to
// totals[(code * columns + column) * levels + l]. False if bits are left below the last level.
bool split_by_class(const Part& part, const std::int64_t* codes, int top, int levels, double* totals);

}  // namespace lineal
