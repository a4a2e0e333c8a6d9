// Cholesky factors of matrices of many columns, and the inverse of a triangle, in strips of columns on several threads.
#pragma once

#include "passes/block.hpp"
#include "threads/threads.hpp"

namespace lineal {

// out[j][i] = R[i][j], the upper factor of R'R = matrix[n][n], zero where i > j; false where a pivot is not positive.
bool cholesky(const Team& team, const double* matrix, Index n, double* out);
// out[j] = sum_i (R^-1)[j][i]^2, upper[j][i] = R[i][j].
void inverse_squares(const Team& team, const double* upper, Index n, double* out);
// The longest stretch [first, last) of columns that touch each other nowhere, by the upper triangle of matrix[n][n]; the last of
// several. Strides of rows and columns are in doubles.
struct Stretch {
    Index first = 0, last = 0;
};
Stretch apart(const double* matrix, Index n, Index row_stride, Index column_stride);

}  // namespace lineal
