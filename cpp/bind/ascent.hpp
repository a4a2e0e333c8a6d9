// Dual coordinate ascent for Python: checks what is handed in, releases the interpreter lock. Calls are kept short by the
// caller, so that Ctrl-C is answered between them.
#pragma once

#include "../lineal/ascent.hpp"
#include "epochs.hpp"

namespace {

using Marks = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<Part> parts_of(const nb::list& list, std::size_t columns) {
    std::vector<Part> parts;
    Index width = 0;
    for (nb::handle item : list) {
        const Held* held = nullptr;
        if (!nb::try_cast<const Held*>(item, held) || held == nullptr) throw nb::type_error("a part must be Ones, Dense, Sparse or Codes");
        parts.push_back(held->part);
        width += held->part.columns;
        if (held->part.rows != parts[0].rows) throw nb::value_error("all parts must have as many rows");
    }
    if (parts.empty() || static_cast<std::size_t>(width) != columns) throw nb::value_error("the parts do not have as many columns as there are coefficients");
    return parts;
}

nb::tuple ascend_rows(const nb::list& list, const Order& order, const Numbers& at, const Numbers& low, const Numbers& high, const nb::object& offset,
                   const Numbers& weight, const Numbers& square, const Numbers& inverse, double epsilon, double bend, double cost, double shrink,
                   const Kept& coef, const Kept& theta, const Marks& keep, bool look) {
    if (coef.ndim() != 2 || theta.ndim() != 2 || coef.shape(1) != theta.shape(1)) throw nb::value_error("coef and theta must be (columns, outputs) and (rows, outputs)");
    const std::vector<Part> parts = parts_of(list, coef.shape(0));
    const std::size_t n = static_cast<std::size_t>(parts[0].rows), k = coef.shape(1), one = k == 1 ? n : 0;
    if (theta.shape(0) != n) throw nb::value_error("theta must have one row for each row");
    for (std::size_t i = 0; i < order.size(); ++i)
        if (order.data()[i] < 0 || static_cast<std::size_t>(order.data()[i]) >= n) throw nb::value_error("order names a row that does not exist");
    Ascent a{};
    a.parts = parts.data();
    a.part_count = static_cast<Index>(parts.size());
    a.outputs = static_cast<Index>(k);
    a.order = order.data();
    a.length = static_cast<Index>(order.size());
    a.at = data_of(at, n, "at");
    if (k > 1)
        for (std::size_t i = 0; i < n; ++i)
            if (!(a.at[i] >= 0 && a.at[i] < static_cast<double>(k))) throw nb::value_error("at must hold class numbers");
    a.low = data_of(low, one, "low");
    a.high = data_of(high, one, "high");
    std::optional<Numbers> shifts;
    if (!offset.is_none()) a.offset = data_of(shifts.emplace(nb::cast<Numbers>(offset)), n * k, "offset");
    a.weight = data_of(weight, n, "weight");
    a.square = data_of(square, n, "square");
    a.inverse = data_of(inverse, coef.shape(0), "inverse");
    a.epsilon = epsilon;
    a.bend = bend;
    a.cost = cost;
    a.shrink = shrink;
    a.coef = coef.data();
    a.theta = theta.data();
    a.keep = data_of(keep, order.size(), "keep");
    a.look = look;
    if (look && k > 1) throw nb::value_error("only losses of one output can be looked at");
    double worst;
    {
        const nb::gil_scoped_release release;
        worst = ascend(a);
    }
    return nb::make_tuple(worst, a.loss, a.mismatch);
}

void squares_of_rows(const nb::list& list, const Numbers& inverse, const Kept& square) {
    const std::vector<Part> parts = parts_of(list, inverse.size());
    double* out = data_of(square, static_cast<std::size_t>(parts[0].rows), "square");
    const nb::gil_scoped_release release;
    row_squares(parts.data(), static_cast<Index>(parts.size()), inverse.data(), out);
}

void bind_ascent(nb::module_& m) {
    m.def("ascend", ascend_rows, nb::arg("parts"), nb::arg("order"), nb::arg("at"), nb::arg("low"), nb::arg("high"), nb::arg("offset").none(), nb::arg("weight"),
          nb::arg("square"), nb::arg("inverse"), nb::arg("epsilon"), nb::arg("bend"), nb::arg("cost"), nb::arg("shrink"), nb::arg("coef").noconvert(),
          nb::arg("theta").noconvert(), nb::arg("keep").noconvert(), nb::arg("look") = false);
    m.def("row_squares", squares_of_rows, nb::arg("parts"), nb::arg("inverse"), nb::arg("square").noconvert());
}

}  // namespace
