// Cholesky factors of matrices of many columns, and the inverse of a triangle, in strips of columns on several threads.
#pragma once

#include "block.hpp"
#include "threads.hpp"

namespace lineal {

// out[j][i] = R[i][j], the upper factor of R'R = matrix[n][n], zero where i > j; false where a pivot is not positive.
bool cholesky(const Team& team, const double* matrix, Index n, double* out);
// out[j] = sum_i (R^-1)[j][i]^2, upper[j][i] = R[i][j].
void inverse_squares(const Team& team, const double* upper, Index n, double* out);

}  // namespace lineal
