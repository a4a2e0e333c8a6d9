// What the plain checks share: how a check fails, numbers without chance, and a design with every kind of part.
#pragma once

#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "passes/rows.hpp"

using namespace lineal;

inline int failures = 0;

inline void check(bool holds, const char* what, int line) {
    if (holds) return;
    ++failures;
    std::printf("line %d: %s\n", line, what);
}
#define CHECK(condition) check((condition), #condition, __LINE__)

// A small deterministic generator: numbers in (-1, 1).
struct Dice {
    std::uint64_t state;
    double next() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(static_cast<std::int64_t>(state >> 11)) / 4503599627370496.0 - 1.0;
    }
};

// A design with every kind of part, its arrays on the heap with no byte to spare, and its dense self.
struct Design {
    Design(Index n, Index p, bool single, bool wide, bool transposed) : n(n) {
        Dice dice{static_cast<std::uint64_t>(n * 131 + p)};
        Part ones;
        ones.kind = Kind::ones;
        ones.rows = n;
        ones.columns = 1;
        Part full;
        full.kind = Kind::dense;
        full.rows = n;
        full.columns = p;
        full.single = single;
        full.row_stride = transposed ? 1 : p;
        full.column_stride = transposed ? n : 1;
        doubles = std::make_unique<double[]>(static_cast<std::size_t>(n * p));
        floats = std::make_unique<float[]>(static_cast<std::size_t>(n * p));
        for (Index i = 0; i < n * p; ++i) floats[at(i)] = static_cast<float>(doubles[at(i)] = static_cast<float>(dice.next()));
        full.values = single ? static_cast<const void*>(floats.get()) : doubles.get();
        Part codes;
        codes.kind = Kind::codes;
        codes.rows = n;
        codes.columns = 3;
        codes.row_stride = 1;
        levels = std::make_unique<std::int32_t[]>(static_cast<std::size_t>(n));
        for (Index i = 0; i < n; ++i) levels[at(i)] = static_cast<std::int32_t>(i * 7 % 4) - 1;
        codes.values = levels.get();
        Part sparse;
        sparse.kind = Kind::sparse;
        sparse.rows = n;
        sparse.columns = 4;
        sparse.wide = wide;
        std::vector<std::int64_t> starts{0}, columns;
        for (Index i = 0; i < n; ++i) {
            for (Index j = i % 2; j < 4; j += 1 + i % 3) columns.push_back(j);
            starts.push_back(static_cast<std::int64_t>(columns.size()));
        }
        starts64 = std::make_unique<std::int64_t[]>(starts.size());
        starts32 = std::make_unique<std::int32_t[]>(starts.size());
        columns64 = std::make_unique<std::int64_t[]>(columns.size());
        columns32 = std::make_unique<std::int32_t[]>(columns.size());
        entries = std::make_unique<double[]>(columns.size());
        for (std::size_t i = 0; i < starts.size(); ++i) starts32[i] = static_cast<std::int32_t>(starts64[i] = starts[i]);
        for (std::size_t i = 0; i < columns.size(); ++i) {
            columns32[i] = static_cast<std::int32_t>(columns64[i] = columns[i]);
            entries[i] = dice.next();
        }
        sparse.values = entries.get();
        sparse.starts = wide ? static_cast<const void*>(starts64.get()) : starts32.get();
        sparse.indices = wide ? static_cast<const void*>(columns64.get()) : columns32.get();
        parts = {ones, codes, full, sparse};

        columns_ = p + 8;
        dense.assign(static_cast<std::size_t>(n * columns_), 0.0);
        for (Index i = 0; i < n; ++i) {
            double* row = &dense[0] + i * columns_;
            row[0] = 1.0;
            if (levels[at(i)] >= 0) row[1 + levels[at(i)]] = 1.0;
            for (Index j = 0; j < p; ++j) row[4 + j] = doubles[at(i * full.row_stride + j * full.column_stride)];
            for (Index t = starts64[at(i)]; t < starts64[at(i + 1)]; ++t) row[4 + p + columns64[at(t)]] = entries[at(t)];
        }
    }
    static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
    double x(Index i, Index j) const { return dense[at(i * columns_ + j)]; }

    Index n, columns_;
    std::vector<Part> parts;
    std::vector<double> dense;
    std::unique_ptr<double[]> doubles, entries;
    std::unique_ptr<float[]> floats;
    std::unique_ptr<std::int32_t[]> levels, starts32, columns32;
    std::unique_ptr<std::int64_t[]> starts64, columns64;
};

inline Matrix matrix(const std::vector<double>& values, Index rows, Index columns) {
    static const double nothing = 0;
    return {values.empty() ? &nothing : values.data(), rows, columns, columns, 1};
}

inline bool near(double a, double b) { return std::fabs(a - b) <= 1e-10 * (1 + std::fabs(a) + std::fabs(b)); }

inline std::vector<double> numbers(Index count, std::uint64_t seed) {
    Dice dice{seed};
    std::vector<double> out(static_cast<std::size_t>(count));
    for (double& value : out) value = dice.next();
    return out;
}

void check_descents();
