// Some columns of sparse rows for Python.
#pragma once

#include <nanobind/ndarray.h>

#include <limits>
#include <memory>
#include <vector>

#include "../lineal/picking.hpp"
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
    if (part.wide)
        return part.single ? picked<float, std::int64_t>(part, place.data()) : picked<double, std::int64_t>(part, place.data());
    return part.single ? picked<float, std::int32_t>(part, place.data()) : picked<double, std::int32_t>(part, place.data());
}

}  // namespace
