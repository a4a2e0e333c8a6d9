// Checks of the loops that go column by column, and of what a path foresees.
#pragma once

#include "paths/csc_ops.hpp"
#include "checks.hpp"

namespace {

// Columns one after the other, of 0, 1, 2, ... entries, against sums made one by one; points that fill no vector.
void check_csc_ops(Index rows, Index columns, Index points, int threads) {
    std::vector<std::int32_t> starts{0}, at;
    for (Index j = 0; j < columns; ++j) {
        for (Index i = j % 3; i < rows && static_cast<Index>(at.size()) - starts.back() < j * j; i += 1 + j % 2)
            at.push_back(static_cast<std::int32_t>(i));
        starts.push_back(static_cast<std::int32_t>(at.size()));
    }
    const std::vector<double> x = numbers(static_cast<Index>(at.size()), 31), values = numbers(rows * points, 32),
                              coef = numbers(columns * points, 33), weight = numbers(rows, 34);
    Part part;
    part.kind = Kind::sparse;
    part.rows = columns;
    part.columns = rows;
    part.values = x.data();
    part.starts = starts.data();
    part.indices = at.data();
    std::vector<double> product(Design::at(columns * points), NAN), sums(Design::at(columns * points)),
        spread(Design::at(rows * points), NAN), scores(Design::at(rows * points));
    std::vector<double> mean(Design::at(columns)), scatter(Design::at(columns)), largest(Design::at(columns)), own(Design::at(rows));
    for (Index i = 0; i < rows; ++i) own[Design::at(i)] = i % 5 == 0 ? 0.0 : std::fabs(weight[Design::at(i)]);
    const Team team{threads, {}};
    times_columns(team, part, values.data(), points, product.data());
    spread_columns(team, part, coef.data(), points, spread.data());
    const double all = column_moments(team, part, own.data(), {mean.data(), scatter.data(), largest.data()});
    bool good = true;
    for (Index j = 0; j < columns; ++j) {
        double sum = 0, square = 0, top = 0;
        for (Index t = starts[Design::at(j)]; t < starts[Design::at(j + 1)]; ++t) {
            const Index i = at[Design::at(t)];
            const double s = own[Design::at(i)], v = x[Design::at(t)];
            sum += s * v;
            square += s * v * v;
            if (s > 0) top = std::max(top, std::fabs(v));
            for (Index k = 0; k < points; ++k) {
                sums[Design::at(j * points + k)] += v * values[Design::at(i * points + k)];
                scores[Design::at(i * points + k)] += v * coef[Design::at(j * points + k)];
            }
        }
        good = good && std::fabs(mean[Design::at(j)] - sum / all) < 1e-12 &&
               std::fabs(scatter[Design::at(j)] - (square - sum * sum / all)) < 1e-9 && largest[Design::at(j)] == top;
    }
    for (Index t = 0; t < columns * points; ++t) good = good && std::fabs(product[Design::at(t)] - sums[Design::at(t)]) < 1e-9;
    for (Index t = 0; t < rows * points; ++t) good = good && std::fabs(spread[Design::at(t)] - scores[Design::at(t)]) < 1e-9;
    CHECK(good);
}

void check_foresight(Index columns, Index points) {
    const Index terms = 3, factors = 2;
    const std::vector<double> slopes = numbers(columns * terms, 41), turns = numbers(terms * points, 42),
                              margins = numbers(factors * points, 44), before = numbers(columns, 45);
    std::vector<double> sizes = numbers(columns * factors, 43), linear(Design::at(columns), 0.7), least(Design::at(columns), -1.0),
                        most(Design::at(columns), 1.0);
    if (columns > 4) {
        sizes[2 * factors] = NAN;
        linear[3] = 0.0;
        least[4] = 0.0;
    }
    const std::unique_ptr<bool[]> out(new bool[Design::at(columns)]);
    sweeps().beyond({slopes.data(), turns.data(), sizes.data(), margins.data(), terms, points, factors}, 0, columns, out.get());
    bool good = true;
    for (Index j = 0; j < columns; ++j) {
        bool any = false;
        for (Index k = 0; k < points; ++k) {
            double value = 0, margin = 0;
            for (Index q = 0; q < terms; ++q) value += slopes[Design::at(j * terms + q)] * turns[Design::at(q * points + k)];
            for (Index m = 0; m < factors; ++m) margin += sizes[Design::at(j * factors + m)] * margins[Design::at(m * points + k)];
            any = any || !(std::fabs(value) + margin <= 0);
        }
        good = good && out[Design::at(j)] == any;
    }
    CHECK(good);
    std::vector<double> when(Design::at(columns));
    sweeps().due({before.data(), nullptr, linear.data(), least.data(), most.data(), 2.0, 1.0, 1.0}, 0, columns, when.data());
    for (Index j = 0; j < columns; ++j) {
        const double charge = linear[Design::at(j)],
                     g = least[Design::at(j)] < 0 ? std::fabs(before[Design::at(j)]) : -before[Design::at(j)];
        const double truth =
            charge > 0 ? 2.0 - std::max(2.0 * charge - g, 0.0) / (2.0 * charge) : -INFINITY;  // |g| + charge t = charge (2 - t)
        good = good && (when[Design::at(j)] == truth || std::fabs(when[Design::at(j)] - truth) < 1e-12);
    }
    CHECK(good);
}

}  // namespace
