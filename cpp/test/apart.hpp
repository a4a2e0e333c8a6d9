// Columns that touch each other nowhere, against every stretch that there is.
#pragma once

#include <algorithm>

#include "linalg/triangle.hpp"
#include "checks.hpp"

namespace {

// The longest stretch of columns without a number beside the diagonal, with and without steps between the numbers.
void check_apart(Index n) {
    std::vector<double> matrix(Design::at(4 * n * n));
    Dice dice{static_cast<std::uint64_t>(n)};
    for (int trial = 0; trial < 40; ++trial) {
        std::fill(matrix.begin(), matrix.end(), trial % 2 ? -0.0 : 0.0);
        for (Index k = 0; k < n; ++k) matrix[Design::at(k * 2 * n + k)] = 1;
        for (int k = 0; k < trial; ++k) {
            const Index i = static_cast<Index>((dice.next() + 1) / 2 * static_cast<double>(n)),
                        j = static_cast<Index>((dice.next() + 1) / 2 * static_cast<double>(n));
            if (std::max(i, j) < n) matrix[Design::at(i * 2 * n + j)] = matrix[Design::at(j * 2 * n + i)] = 0.5;
        }
        Index longest = 0;
        const auto good = [&](Index first, Index last) {
            for (Index i = first; i < last; ++i)
                for (Index j = i + 1; j < last; ++j)
                    if (matrix[Design::at(i * 2 * n + j)] != 0) return false;
            return true;
        };
        for (Index first = 0; first < n; ++first)
            for (Index last = n; last > first + longest; --last)
                if (good(first, last)) longest = last - first;
        const Stretch rows = apart(matrix.data(), n, 2 * n, 1), columns = apart(matrix.data(), n, 1, 2 * n);
        CHECK(rows.last - rows.first == longest && good(rows.first, rows.last));
        CHECK(columns.first == rows.first && columns.last == rows.last);
    }
}

}  // namespace
