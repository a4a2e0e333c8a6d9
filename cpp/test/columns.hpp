// Checks of the loops over columns of a table and over scores.
#pragma once

#include <limits>

#include "csv/columns.hpp"
#include "csv/figures.hpp"
#include "csv/sha256.hpp"
#include "checks.hpp"

namespace {

void check_columns(Index n) {
    std::vector<double> values = numbers(n, 3);
    std::vector<std::int16_t> codes;
    for (Index i = 0; i < n; ++i) codes.push_back(static_cast<std::int16_t>(i * i % 7 - 1));
    if (n > 2) values[2] = std::numeric_limits<double>::quiet_NaN();
    const Summary found = summarise(values.data(), n);
    long double sum = 0;
    Index there = 0;
    for (const double value : values)
        if (value == value) sum += value, ++there;
    CHECK(found.count == there);
    CHECK(near(static_cast<double>(sum), found.sum + found.rest));
    std::vector<std::int64_t> counts(7), wanted(7);
    CHECK(tally(codes.data(), n, 6, counts.data()));
    for (const std::int16_t code : codes) ++wanted[static_cast<std::size_t>(code + 1)];
    CHECK(counts == wanted);
    std::vector<std::int64_t> few(4);
    CHECK(n < 3 || !tally(codes.data(), n, 3, few.data()));
    const std::vector<std::int32_t> table{5, 4, 3, 2, 1, 0, 7};
    std::vector<std::int8_t> small(static_cast<std::size_t>(n));
    recode(codes.data(), n, table.data(), small.data());
    const std::int64_t ends[] = {0, 1, 1, 4, 25, 26, 27, 28};
    const std::string text(44, 'x');
    Index size = 0;
    bool good = true;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        good = good && small[i] == table[static_cast<std::size_t>(codes[i] + 1)];
        size += ends[codes[i] + 2] - ends[codes[i] + 1];
    }
    CHECK(good);
    CHECK(fits(codes.data(), n, 6) && (n < 3 || !fits(codes.data(), n, 3)));
    Sha256 records, joined;
    hash_records(codes.data(), n, ends, text.data(), records);
    joined.add(std::string(static_cast<std::size_t>(size), 'x').data(), static_cast<std::size_t>(size));
    CHECK(records.digest() == joined.digest());
    Sha256 letters;  // the example of FIPS 180-2
    letters.add("abc", 3);
    CHECK(letters.digest()[0] == 0xba && letters.digest()[1] == 0x78 && letters.digest()[31] == 0xad);
    std::vector<double> matrix(static_cast<std::size_t>(3 * n));
    CHECK(interleave({values.data()}, {2}, n, matrix.data(), 3).size() == (n > 2 ? 1u : 0u));
    for (Index i = 0; i < n; ++i)
        good = good && (i == 2 || matrix[static_cast<std::size_t>(3 * i + 2)] == values[static_cast<std::size_t>(i)]);
    CHECK(good);
}

void check_figures(const Team& team) {
    const Index n = 200000;
    std::vector<double> eta = numbers(n, 4), y;
    for (Index i = 0; i < n; ++i) y.push_back(static_cast<double>(i % 3 == 0));
    Figures found;
    CHECK(two_classes(team, y.data(), eta.data(), n, found));
    double surprise = 0, squares = 0;
    Index right = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        const double p = 1 / (1 + std::exp(-eta[i]));
        surprise -= std::log(y[i] == 1 ? p : 1 - p);
        squares += (p - y[i]) * (p - y[i]);
        right += (eta[i] > 0) == (y[i] == 1);
    }
    CHECK(near(surprise, found.surprise + found.rest));
    CHECK(near(squares, found.squares));
    CHECK(right == found.right[0] + found.right[1]);
    eta[150000] = std::numeric_limits<double>::infinity();
    Figures other;
    CHECK(!two_classes(team, y.data(), eta.data(), n, other));
    const double ones[] = {0, 1, 1, 3}, zeros[] = {-1, 1, 2};
    const Ranks ranked = ranks(ones, 4, zeros, 3);
    CHECK(ranked.pairs == 1 + 1.5 + 1.5 + 3);
    CHECK(near(ranked.shares, 1.0 + 2 * (3.0 / 5) + 4.0 / 6));
}

}  // namespace
