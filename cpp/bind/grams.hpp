// Products of columns with columns, in every precision, for Python.
#pragma once

#include "rows.hpp"
#include "team.hpp"

namespace {

nb::object gram(const PyRows& self, nb::handle weight_array) {
    const Rows& rows = self.rows();
    const std::optional<Input> weight = Input::maybe(weight_array, "weight", {rows.rows()});
    const Output out({rows.columns(), rows.columns()});
    without_lock([&] { rows.gram(team(), matrix_of(weight), out.data); });
    return out.array;
}

nb::tuple products(const PyRows& self, nb::handle weight_array, nb::handle y_array) {
    const Rows& rows = self.rows();
    const std::optional<Input> weight = Input::maybe(weight_array, "weight", {rows.rows()});
    const Input y(y_array, "y", {rows.rows(), -1});
    const Index size = rows.columns() + y.matrix().columns;
    const Output mean({size}), scatter({size}), largest({size}), gram({size, size});
    double sum = 0;
    without_lock([&] { sum = rows.products(team(), matrix_of(weight), y.matrix(), mean.data, scatter.data, largest.data, gram.data); });
    return nb::make_tuple(sum, mean.array, scatter.array, largest.array, gram.array);
}

// Columns of the one dense array beside ones, and the bytes of its numbers; (0, 0) where there is anything else
nb::tuple lone(const PyRows& self) {
    const Placed* const found = self.rows().lone();
    return found ? nb::make_tuple(found->part.columns, found->part.single ? 4 : 8) : nb::make_tuple(0, 0);
}

nb::object float32_gram(const PyRows& self, nb::handle weight_array, double unit, nb::handle y_array, const Numbers& centre,
                        const Numbers& factor) {
    const Rows& rows = self.rows();
    const std::optional<Input> weight = Input::maybe(weight_array, "weight", {rows.rows()});
    const Input y(y_array, "y", {rows.rows(), -1});
    if (!rows.lone()) throw nb::value_error("products in single precision need one dense array, and nothing beside it but ones");
    if (!(unit > 0)) throw nb::value_error(("unit must be above 0, got " + std::to_string(unit)).c_str());
    const Index size = rows.lone()->part.columns + y.matrix().columns;
    const double* const middle = data_of(centre, static_cast<std::size_t>(size), "centre");
    const double* const times = data_of(factor, static_cast<std::size_t>(size), "factor");
    const Output gram({size, size});
    without_lock([&] { rows.float32_gram(team(), matrix_of(weight), unit, y.matrix(), middle, times, gram.data); });
    return gram.array;
}

nb::tuple gram_dd(const PyRows& self, nb::handle weight_array, nb::handle y_array) {
    const Rows& rows = self.rows();
    const std::optional<Input> weight = Input::maybe(weight_array, "weight", {rows.rows()});
    const Input y(y_array, "y", {rows.rows(), -1});
    const Index size = rows.columns() + y.matrix().columns;
    const Output high({size, size}), low({size, size});
    without_lock([&] { rows.gram_dd(team(), matrix_of(weight), y.matrix(), high.data, low.data); });
    return nb::make_tuple(high.array, low.array);
}

// Blocks on the diagonal of X' S W X, or X' S X without `kept`, of columns (x - shift) / scale where these are given
nb::tuple blocks_rows(const PyRows& self, int loss, nb::handle weight_array, const std::optional<Kept>& kept, Index sample, Index turn,
                      const std::optional<Numbers>& shift, const std::optional<Numbers>& scale) {
    const Rows& rows = self.rows();
    const std::optional<Input> weight = Input::maybe(weight_array, "weight", {rows.rows()});
    if (sample < 1) throw nb::value_error(("sample must be at least 1, got " + std::to_string(sample)).c_str());
    if (kept && kept->ndim() != 2) throw nb::value_error("kept must have a row for each output and a column for each row");
    if (shift.has_value() != scale.has_value()) throw nb::value_error("shift and scale are given together");
    Request request;
    request.loss = loss_of(loss);
    request.outputs = kept ? static_cast<Index>(kept->shape(0)) : 1;
    request.weight = matrix_of(weight);
    request.sample = sample;
    request.turn = turn;
    const auto p = static_cast<std::size_t>(rows.columns());
    const double* const curvature = data_of(kept, static_cast<std::size_t>(rows.rows() * request.outputs), "kept");
    Affine view;
    if (shift) view = {data_of(shift, p, "shift"), data_of(scale, p, "scale")};
    const Output out({request.outputs, rows.columns(), rows.columns()});
    double weight_sum = 0;
    without_lock([&] { weight_sum = rows.blocks(team(), request, curvature, view, out.data); });
    return nb::make_tuple(out.array, weight_sum);
}

}  // namespace
