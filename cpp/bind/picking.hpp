// Some columns of sparse rows, and what columns stored one after the other are like, for Python.
#pragma once

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "paths/csc_ops.hpp"
#include "paths/picking.hpp"
#include "parts.hpp"
#include "team.hpp"

namespace {

// A numpy array that owns what `values` points to.
template <class T>
nb::object owning(std::unique_ptr<T[]> values, std::size_t size) {
    T* data = values.release();
    const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

template <class T, class N>
nb::tuple picked(const Part& part, const std::int32_t* place) {
    Picked<T, N> out;
    without_lock([&] { out = pick<T, N>(team(), part, place); });
    const std::size_t rows = static_cast<std::size_t>(part.rows), size = static_cast<std::size_t>(out.starts[rows]);
    return nb::make_tuple(owning(std::move(out.starts), rows + 1), owning(std::move(out.indices), size),
                          owning(std::move(out.values), size));
}

nb::tuple pick_columns(const SparsePart& self, const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& columns) {
    const Part& part = self.part;
    if (columns.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) throw nb::value_error("too many columns");
    std::vector<std::int32_t> place(static_cast<std::size_t>(part.columns), -1);
    for (std::size_t j = 0; j < columns.size(); ++j) {
        const std::int64_t column = columns.data()[j];
        if (column < 0 || column >= part.columns || (j > 0 && column <= columns.data()[j - 1]))
            throw nb::value_error(("columns must increase and lie in 0 .. " + std::to_string(part.columns - 1)).c_str());
        place[static_cast<std::size_t>(column)] = static_cast<std::int32_t>(j);
    }
    if (part.wide) return part.single ? picked<float, std::int64_t>(part, place.data()) : picked<double, std::int64_t>(part, place.data());
    return part.single ? picked<float, std::int32_t>(part, place.data()) : picked<double, std::int32_t>(part, place.data());
}

// Every row of the part is a column: the sum of the weights, mean, scatter and largest |x| of each.
nb::tuple moments_of_columns(const SparsePart& self,
                             const std::optional<nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>>& weight) {
    const Part& part = self.part;
    if (weight && static_cast<Index>(weight->size()) != part.columns) throw nb::value_error("there must be one weight for every row");
    const std::size_t count = static_cast<std::size_t>(part.rows);
    std::unique_ptr<double[]> mean(new double[count]), scatter(new double[count]), largest(new double[count]);
    double sum = 0;
    without_lock(
        [&] { sum = column_moments(team(), part, weight ? weight->data() : nullptr, {mean.get(), scatter.get(), largest.get()}); });
    return nb::make_tuple(sum, owning(std::move(mean), count), owning(std::move(scatter), count), owning(std::move(largest), count));
}

using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Work>
nb::object plain(std::size_t rows, std::size_t columns, Work work) {
    std::unique_ptr<double[]> values(new double[rows * columns]);
    without_lock([&] { work(values.get()); });
    double* data = values.release();
    const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<2>>(data, {rows, columns}, owner));
}

nb::object columns_times(const SparsePart& self, const Table& values) {
    const Part& part = self.part;
    if (static_cast<Index>(values.shape(0)) != part.columns) throw nb::value_error("there must be numbers for every row");
    return plain(static_cast<std::size_t>(part.rows), values.shape(1),
                 [&](double* out) { times_columns(team(), part, values.data(), static_cast<Index>(values.shape(1)), out); });
}

nb::object columns_spread(const SparsePart& self, const Table& coef) {
    const Part& part = self.part;
    if (static_cast<Index>(coef.shape(0)) != part.rows) throw nb::value_error("there must be coefficients for every column");
    return plain(static_cast<std::size_t>(part.columns), coef.shape(1),
                 [&](double* out) { spread_columns(team(), part, coef.data(), static_cast<Index>(coef.shape(1)), out); });
}

}  // namespace
