// Sums by class for Python: checks what is handed in, releases the interpreter lock.
#pragma once

#include "passes/class_sums.hpp"
#include "parts.hpp"

namespace {

void check_codes(const Held& held, const Line<std::int64_t>& codes, Index classes) {
    if (held.part.kind != Kind::sparse) throw nb::type_error("sums by class are of a sparse part");
    if (static_cast<Index>(codes.size()) != held.part.rows) throw nb::value_error("there must be a code for every row");
    if (classes < 1) throw nb::value_error("there must be a class");
    for (std::size_t i = 0; i < codes.size(); ++i)
        if (codes.data()[i] < 0 || codes.data()[i] >= classes) throw nb::value_error("codes must be those of the classes");
}

nb::tuple class_totals(const Held& held, const Line<std::int64_t>& codes, Index classes) {
    check_codes(held, codes, classes);
    const Output totals({classes, held.part.columns}, true);
    CellSizes found{};
    without_lock([&] { found = sum_by_class(held.part, codes.data(), totals.data); });
    return nb::make_tuple(totals.array, found.largest, found.smallest, found.whole, found.finite);
}

nb::object class_parts(const Held& held, const Line<std::int64_t>& codes, Index classes, int top, int levels) {
    check_codes(held, codes, classes);
    if (levels < 1 || top > 36 || top - levels < -36) throw nb::value_error("levels must be at least 1, within those of doubles");
    const Output totals({classes, held.part.columns, levels}, true);
    bool complete = false;
    without_lock([&] { complete = split_by_class(held.part, codes.data(), top, levels, totals.data); });
    if (!complete) throw nb::value_error("bits of a cell are below the last level");
    return totals.array;
}

void bind_class_sums(nb::module_& m) {
    m.def("class_totals", class_totals, nb::arg("part"), nb::arg("codes"), nb::arg("classes"));
    m.def("class_parts", class_parts, nb::arg("part"), nb::arg("codes"), nb::arg("classes"), nb::arg("top"), nb::arg("levels"));
}

}  // namespace
