// Delimited text for Python: a piece of a file in, numbers and codes out.
#pragma once

#include <nanobind/stl/vector.h>

#include <utility>
#include <string>
#include <vector>

#include "csv/cells.hpp"
#include "csv/quotes.hpp"
#include "arrays.hpp"

namespace {

using lineal::Cell;
using lineal::CellColumn;
using lineal::Cells;

// None, or the number of rows and for each wanted column (numbers, bits of those present) or (codes, ends, words).
nb::object cells(nb::handle text, const std::string& delimiter, const std::vector<int>& kinds, const std::vector<std::string>& missing,
                 const std::string& quote, bool ascii) {
    if (delimiter.size() != 1 || quote.size() > 1) throw nb::value_error("the delimiter must be one byte, a quote at most one");
    std::vector<Cell> asked;
    for (const int kind : kinds) {
        if (kind < 0 || kind > 2) throw nb::value_error("a kind is 0 (skipped), 1 (number) or 2 (text)");
        asked.push_back(static_cast<Cell>(kind));
    }
    const BytesView piece(text, "text");
    Cells found;
    const char enclosing = quote.empty() ? '\0' : quote[0];
    if (!unlocked([&] { return lineal::read_cells(piece.text, delimiter[0], enclosing, ascii, asked, missing, found); })) return nb::none();
    const auto rows = static_cast<std::size_t>(found.rows);
    nb::list out;
    for (CellColumn& column : found.columns) {
        if (column.numbers)
            out.append(nb::make_tuple(owning(std::move(column.numbers), {rows}), handed(std::move(column.present))));
        else
            out.append(nb::make_tuple(owning(std::move(column.codes), {rows}), handed(std::move(column.ends)),
                                      nb::bytes(column.words.data(), column.words.size())));
    }
    return nb::make_tuple(found.rows, out);
}

// Numbers of texts: offsets (int32, one more than texts) and their bytes, as Arrow has them.
nb::object merged(lineal::Dictionary& known, const Line<std::int32_t>& ends, nb::handle text) {
    const BytesView whole(text, "text");
    if (ends.size() < 1 || ends.data()[0] < 0 || ends.data()[ends.size() - 1] > static_cast<Index>(whole.text.size()))
        throw nb::value_error("ends do not fit the text");
    for (std::size_t k = 1; k < ends.size(); ++k)
        if (ends.data()[k] < ends.data()[k - 1]) throw nb::value_error("ends must not decrease");
    return handed(known.merge(ends.data(), static_cast<Index>(ends.size()) - 1, whole.text));
}

void bind_quotes(nb::module_& m) {
    using lineal::Quotes;
    nb::class_<Quotes>(m, "Quotes")
        .def(
            "__init__",
            [](Quotes* self, const std::string& quote, const std::string& delimiter) {
                if (quote.size() != 1 || delimiter.size() != 1) throw nb::value_error("the quote and the delimiter must be one byte each");
                new (self) Quotes(quote[0], delimiter[0]);
            },
            nb::arg("quote"), nb::arg("delimiter"))
        .def(
            "feed", [](Quotes& self, nb::handle text) { self.feed(BytesView(text, "text").text); }, nb::arg("text"))
        .def("finish", &Quotes::finish)
        .def_ro("lines", &Quotes::lines)
        .def_ro("sound", &Quotes::sound)
        .def_ro("odd", &Quotes::odd)
        .def_ro("alike", &Quotes::alike)
        .def_ro("alike_line", &Quotes::alike_line)
        .def_ro("middle", &Quotes::middle)
        .def_ro("spanning", &Quotes::spanning)
        .def_ro("inner", &Quotes::inner)
        .def_ro("doubtful", &Quotes::doubtful)
        .def_ro("doubtful_line", &Quotes::doubtful_line)
        .def_ro("longest", &Quotes::longest)
        .def_ro("longest_line", &Quotes::longest_line)
        .def_prop_ro("reason", [](const Quotes& self) { return static_cast<int>(self.reason); })
        .def_ro("odd_line", &Quotes::odd_line)
        .def_ro("ragged_line", &Quotes::ragged_line)
        .def_ro("ragged_cells", &Quotes::ragged_cells)
        .def_ro("wide", &Quotes::wide);
}

void bind_cells(nb::module_& m) {
    bind_quotes(m);
    nb::class_<lineal::Dictionary>(m, "Dictionary")
        .def(nb::init<>())
        .def("merge", merged, nb::arg("ends"), nb::arg("text"))
        .def("__len__", [](const lineal::Dictionary& known) { return known.column().ends.size() - 1; })
        .def("texts", [](const lineal::Dictionary& known) {
            const CellColumn& column = known.column();
            return nb::make_tuple(handed(std::vector<std::int32_t>(column.ends)), nb::bytes(column.words.data(), column.words.size()));
        });
    m.def("cells", cells, nb::arg("text"), nb::arg("delimiter"), nb::arg("kinds"), nb::arg("missing"), nb::arg("quote") = "",
          nb::arg("ascii") = false);
}

}  // namespace
