// Checks of the searches for nearest rows: every way finds what a triple loop finds, to the last bit.
#pragma once

#include <algorithm>

#include "checks.hpp"
#include "neighbors/index.hpp"

namespace {

struct FoundRows {
    FoundRows(Index count, Index k) : distances(static_cast<std::size_t>(count * k), NAN), rows(static_cast<std::size_t>(count * k), -7) {}
    std::vector<double> distances;
    std::vector<std::int64_t> rows;
    bool operator==(const FoundRows& other) const { return distances == other.distances && rows == other.rows; }
};

double plainly_apart(const double* a, const double* b, Index columns, Metric metric) {
    double sum = 0;
    for (Index j = 0; j < columns; ++j) {
        const double difference = a[j] - b[j];
        if (metric == Metric::squared) sum += difference * difference;
        if (metric == Metric::manhattan) sum += std::fabs(difference);
        if (metric == Metric::chebyshev) sum = std::max(sum, std::fabs(difference));
        if (metric == Metric::hamming) sum += difference != 0;
    }
    return sum;
}

// `coarse`: few different numbers, so that many distances are equal.
void check_neighbors(Index n, Index columns, Index k, Metric metric, bool coarse, bool own, int threads) {
    const Index asked = own ? n : 19;
    std::vector<double> rows = numbers(n * columns, 71), queries = own ? rows : numbers(asked * columns, 72);
    if (coarse)
        for (std::vector<double>* each : {&rows, &queries})
            for (double& value : *each) value = std::floor(2 * value);
    std::vector<std::int64_t> self(static_cast<std::size_t>(asked));
    for (Index q = 0; q < asked; ++q) self[Design::at(q)] = q;
    FoundRows wanted(asked, k);
    for (Index q = 0; q < asked; ++q) {
        std::vector<std::pair<double, std::int64_t>> all;
        for (Index i = 0; i < n; ++i)
            if (!own || i != q)
                all.emplace_back(plainly_apart(&queries[Design::at(q * columns)], &rows[Design::at(i * columns)], columns, metric), i);
        std::sort(all.begin(), all.end());
        for (Index i = 0; i < k; ++i) {
            wanted.distances[Design::at(q * k + i)] = all[Design::at(i)].first;
            wanted.rows[Design::at(q * k + i)] = all[Design::at(i)].second;
        }
    }
    Neighbors index(rows.data(), n, columns, metric, 2);
    for (const Way way : {Way::direct, Way::tiles, Way::tree}) {
        if ((way == Way::tiles && metric != Metric::squared) || (way == Way::tree && metric == Metric::hamming)) continue;
        FoundRows found(asked, k);
        Queries wish;
        wish.data = queries.data();
        wish.own = own ? self.data() : nullptr;
        wish.count = asked;
        wish.k = k;
        wish.distances = found.distances.data();
        wish.rows = found.rows.data();
        const Team team{threads, {}};
        index.prepare(team, way, 5);
        index.search(team, way, wish);
        CHECK(found == wanted);
    }
}

void check_all_neighbors() {
    for (const Index n : {2, 7, 8, 17, 100, 333})
        for (const Index columns : {1, 3, 16, 37})
            for (const Metric metric : {Metric::squared, Metric::manhattan, Metric::chebyshev, Metric::hamming})
                for (const bool coarse : {false, true})
                    check_neighbors(n, columns, std::min<Index>(n - 1, n > 200 ? 60 : 5), metric, coarse, n % 3 == 1, n > 50 ? 3 : 1);
}

}  // namespace
