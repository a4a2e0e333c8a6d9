// Checks of the products in single precision.
#pragma once

#include "checks.hpp"

namespace {

// Against sums of doubles, every rounding bounded by 2^-24 of the terms: that of both factors and the weight, one product and a chain of
// sums.
void check_float32_gram(Index n, Index p, Index m, bool single, bool transposed, bool weighted, int threads) {
    Design d(n, p, single, false, transposed);
    d.parts = {d.parts[0], d.parts[2]};
    const Rows rows(d.parts);
    const Index all = p + m;
    const std::vector<double> y = numbers(n * m, 41), centre = numbers(all, 42);
    std::vector<double> factor = numbers(all, 43), weight = numbers(n, 44), gram(Design::at(all * all), NAN);
    for (double& f : factor) f = 1.5 + f;
    for (Index i = 0; i < n; ++i) weight[Design::at(i)] = !weighted ? 1.0 : i % 5 == 0 ? 0.0 : std::fabs(weight[Design::at(i)]);
    const double unit = weighted ? 0.25 : 1.0;
    CHECK(rows.lone() && rows.lone()->part.columns == p);
    rows.float32_gram(Team{threads, {}}, weighted ? matrix(weight, n, 1) : Matrix{}, unit, matrix(y, n, m), centre.data(), factor.data(),
                      gram.data());
    const auto z = [&](Index i, Index j) {
        const double x = j < p ? d.x(i, 4 + j) : y[Design::at(i * m + j - p)];
        return (x - centre[Design::at(j)]) * factor[Design::at(j)];
    };
    const Index step = all > 200 ? 37 : 1;  // some entries of many
    bool good = true;
    for (Index a = 0; a < all; a += step)
        for (Index b = 0; b < all; b += step) {
            double sum = 0, size = 0;
            for (Index i = 0; i < n; ++i) {
                const double term = weight[Design::at(i)] / unit * z(i, a) * z(i, b);
                sum += term;
                size += std::fabs(term);
            }
            const double found = gram[Design::at(a * all + b)];
            good = good && std::fabs(found - sum) <= (5.0 + 256.0) * 0x1p-24 * size && found == gram[Design::at(b * all + a)];
        }
    CHECK(good);
}

void check_all_rough() {
    for (const Index n : {0, 1, 5, 129, 700})
        for (const Index p : {1, 15, 16, 33, 47, 48, 100})
            for (const bool single : {false, true})
                for (const bool weighted : {false, true}) check_float32_gram(n, p, 1 + p % 3, single, p == 33, weighted, n > 500 ? 3 : 1);
    check_float32_gram(260, 1750, 1, false, false, true, 2);  // more groups than the second-level cache holds
    const Design d(5, 3, false, false, false);
    CHECK(!Rows(d.parts).lone());
}

}  // namespace
