// Means, scatters and products of columns that are stored one after the other.
#pragma once

#include "threads/threads.hpp"

namespace lineal {

struct ColumnMoments {
    double* mean;
    double* scatter;  // sum s (x - mean)^2
    double* largest;  // |x|, NaN where there is one
};

// `part` holds a column in every row, `indices` the rows of its entries. weight: one per row, or null for ones; entries in rows
// of weight 0 are not looked at. Returns the sum of the weights.
double column_moments(const Team& team, const Part& part, const double* weight, const ColumnMoments& out);

// Products of all columns with `points` numbers of every row, (columns, points), and all columns times their coefficients,
// (rows, points): `out` is all written.
void times_columns(const Team& team, const Part& part, const double* values, Index points, double* out);
void spread_columns(const Team& team, const Part& part, const double* coef, Index points, double* out);

}  // namespace lineal
