// Some columns of sparse rows, and what columns stored one after the other are like, for Python.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "paths/csc_ops.hpp"
#include "paths/picking.hpp"
#include "parts.hpp"
#include "team.hpp"

namespace {

template <class T, class N>
nb::tuple picked(const Part& part, const T*, const N*, const std::int32_t* place) {
    Picked<T, N> out;
    without_lock([&] { out = pick<T, N>(team(), part, place); });
    const std::size_t rows = static_cast<std::size_t>(part.rows), size = static_cast<std::size_t>(out.starts[rows]);
    return nb::make_tuple(owning(std::move(out.starts), {rows + 1}), owning(std::move(out.indices), {size}),
                          owning(std::move(out.values), {size}));
}

nb::tuple pick_columns(const SparsePart& self, const Line<std::int64_t>& columns) {
    const Part& part = self.part;
    if (columns.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) throw nb::value_error("too many columns");
    std::vector<std::int32_t> place(static_cast<std::size_t>(part.columns), -1);
    for (std::size_t j = 0; j < columns.size(); ++j) {
        const std::int64_t column = columns.data()[j];
        if (column < 0 || column >= part.columns || (j > 0 && column <= columns.data()[j - 1]))
            throw nb::value_error(("columns must increase and lie in 0 .. " + std::to_string(part.columns - 1)).c_str());
        place[static_cast<std::size_t>(column)] = static_cast<std::int32_t>(j);
    }
    return with_stored(part,
                       [&](const auto* values, const auto* starts, const auto*) { return picked(part, values, starts, place.data()); });
}

// Every row of the part is a column: the sum of the weights, mean, scatter and largest |x| of each.
nb::tuple moments_of_columns(const SparsePart& self, const std::optional<Line<double>>& weight) {
    const Part& part = self.part;
    if (weight && static_cast<Index>(weight->size()) != part.columns) throw nb::value_error("there must be one weight for every row");
    const std::size_t count = static_cast<std::size_t>(part.rows);
    std::unique_ptr<double[]> mean(new double[count]), scatter(new double[count]), largest(new double[count]);
    double sum = 0;
    without_lock(
        [&] { sum = column_moments(team(), part, weight ? weight->data() : nullptr, {mean.get(), scatter.get(), largest.get()}); });
    return nb::make_tuple(sum, owning(std::move(mean), {count}), owning(std::move(scatter), {count}), owning(std::move(largest), {count}));
}

template <class Work>
nb::object plain(std::size_t rows, std::size_t columns, Work work) {
    std::unique_ptr<double[]> values(new double[rows * columns]);
    without_lock([&] { work(values.get()); });
    return owning(std::move(values), {rows, columns});
}

nb::object columns_times(const SparsePart& self, const Grid<double>& values) {
    const Part& part = self.part;
    if (static_cast<Index>(values.shape(0)) != part.columns) throw nb::value_error("there must be numbers for every row");
    return plain(static_cast<std::size_t>(part.rows), values.shape(1),
                 [&](double* out) { times_columns(team(), part, values.data(), static_cast<Index>(values.shape(1)), out); });
}

nb::object columns_spread(const SparsePart& self, const Grid<double>& coef) {
    const Part& part = self.part;
    if (static_cast<Index>(coef.shape(0)) != part.rows) throw nb::value_error("there must be coefficients for every column");
    return plain(static_cast<std::size_t>(part.columns), coef.shape(1),
                 [&](double* out) { spread_columns(team(), part, coef.data(), static_cast<Index>(coef.shape(1)), out); });
}

}  // namespace
