// Delimited text for Python: a piece of a file in, numbers and codes out.
#pragma once

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <string>
#include <vector>

#include "../lineal/cells.hpp"
#include "arrays.hpp"
#include "text.hpp"

namespace {

using lineal::Cell;
using lineal::CellColumn;
using lineal::Cells;

// A numpy array of the first `size` values in some memory, which it keeps.
template <class T>
nb::object kept(lineal::Pages&& memory, T* data, Index size) {
    auto* owned = new lineal::Pages(std::move(memory));
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<lineal::Pages*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {static_cast<std::size_t>(size)}, owner));
}

// None, or the number of rows and for each wanted column (numbers, bits of those present) or (codes, ends, words).
nb::object cells(nb::handle text, const std::string& delimiter, const std::vector<int>& kinds, const std::vector<std::string>& missing) {
    if (delimiter.size() != 1) throw nb::value_error("the delimiter must be one byte");
    std::vector<Cell> asked;
    for (const int kind : kinds) {
        if (kind < 0 || kind > 2) throw nb::value_error("a kind is 0 (skipped), 1 (number) or 2 (text)");
        asked.push_back(static_cast<Cell>(kind));
    }
    const View view(text, "text", "bytes");
    if (view.dimensions() != 1 || !view.is("Bbc")) throw nb::type_error("text must be bytes");
    const std::string_view piece(static_cast<const char*>(view.data()), static_cast<std::size_t>(view.size(0)));
    Cells found;
    bool plain = false;
    {
        const nb::gil_scoped_release free;
        plain = lineal::read_cells(piece, delimiter[0], asked, missing, found);
    }
    if (!plain) return nb::none();
    nb::list out;
    for (CellColumn& column : found.columns) {
        if (column.numbers) out.append(nb::make_tuple(kept(std::move(column.memory), column.numbers, found.rows), handed(std::move(column.present))));
        else
            out.append(nb::make_tuple(kept(std::move(column.memory), column.codes, found.rows), handed(std::move(column.ends)),
                                      nb::bytes(column.words.data(), column.words.size())));
    }
    return nb::make_tuple(found.rows, out);
}

void bind_cells(nb::module_& m) {
    m.def("cells", cells, nb::arg("text"), nb::arg("delimiter"), nb::arg("kinds"), nb::arg("missing"));
}

}  // namespace
