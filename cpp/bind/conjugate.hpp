// Systems of Newton steps for Python: checks what is handed in, releases the interpreter lock.
#pragma once

#include "newton/conjugate.hpp"
#include "epochs.hpp"
#include "rows.hpp"
#include "team.hpp"

namespace {

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
    const double* const curvature = kept ? data_of(*kept, static_cast<std::size_t>(rows.rows() * request.outputs), "kept") : nullptr;
    Affine view;
    if (shift) view = {data_of(*shift, p, "shift"), data_of(*scale, p, "scale")};
    const Output out({request.outputs, rows.columns(), rows.columns()});
    double weight_sum = 0;
    without_lock([&] { weight_sum = rows.blocks(team(), request, curvature, view, out.data); });
    return nb::make_tuple(out.array, weight_sum);
}

// Takes products from (solution, residual, direction), which are changed in place; returns (count, rho, d'Hd of the first, stuck,
// closed, far). With `cost` it is a closing step, and `smooth` and `rest` are changed too
nb::tuple conjugate_rows(const PyRows& self, int loss, nb::handle weight_array, const Kept& kept, const Numbers& shift,
                         const Numbers& scale, const Numbers& charges, const Numbers& inverse, const Kept& solution, const Kept& residual,
                         const Kept& direction, double rho, double goal, Index most, Index sample, Index turn, bool single,
                         const std::optional<Numbers>& cost, const std::optional<Numbers>& gradient, const std::optional<Kept>& smooth,
                         const std::optional<Kept>& rest, double within, double far, double near) {
    const Rows& rows = self.rows();
    const std::optional<Input> weight = Input::maybe(weight_array, "weight", {rows.rows()});
    if (sample < 1) throw nb::value_error(("sample must be at least 1, got " + std::to_string(sample)).c_str());
    if (kept.ndim() != 2) throw nb::value_error("kept must have a row for each output and a column for each row");
    Request request;
    request.loss = loss_of(loss);
    request.outputs = static_cast<Index>(kept.shape(0));
    request.weight = matrix_of(weight);
    request.sample = sample;
    request.turn = turn;
    request.single = single;
    const auto n = static_cast<std::size_t>(rows.rows()), p = static_cast<std::size_t>(rows.columns()), k = kept.shape(0);
    System system;
    system.shift = data_of(shift, p, "shift");
    system.scale = data_of(scale, p, "scale");
    system.charges = data_of(charges, p, "charges");
    // of all columns, or of a diagonal, (p, 1)
    system.blocks = inverse.ndim() == 3 ? static_cast<Index>(k) : inverse.ndim() == 2 && inverse.shape(1) == 1 ? 0 : 1;
    system.inverse = data_of(inverse, system.blocks == 0 ? p : static_cast<std::size_t>(system.blocks) * p * p, "inverse");
    system.goal = goal;
    system.most = most;
    double* const curvature = data_of(kept, n * k, "kept");
    double* const at = data_of(solution, p * k, "solution");
    double* const left = data_of(residual, p * k, "residual");
    double* const along = data_of(direction, p * k, "direction");
    Closing closing;
    if (cost) {
        if (!gradient || !smooth || !rest) throw nb::value_error("a closing step needs cost, gradient, smooth and rest");
        closing = {data_of(*cost, p, "cost"),
                   data_of(*gradient, p * k, "gradient"),
                   within,
                   data_of(*smooth, p * k, "smooth"),
                   data_of(*rest, p * k, "rest"),
                   far,
                   near};
    }
    Progress found;
    without_lock([&] { found = conjugate(rows, team(), request, curvature, system, rho, at, left, along, closing); });
    return nb::make_tuple(found.count, found.rho, found.first, found.stuck, found.closed, found.far);
}

// The matrices [n][n] or [count][n][n] become their inverses; false where one is not positive definite
bool invert_small(const Kept& matrices) {
    const std::size_t axes = matrices.ndim();
    if (axes < 2 || axes > 3 || matrices.shape(axes - 1) != matrices.shape(axes - 2))
        throw nb::value_error("matrices must have shape (n, n) or (count, n, n)");
    const Index n = static_cast<Index>(matrices.shape(axes - 1)), count = axes == 3 ? static_cast<Index>(matrices.shape(0)) : 1;
    double* const data = data_of(matrices, static_cast<std::size_t>(count * n * n), "matrices");
    bool good = false;
    without_lock([&] { good = invert(team(), data, count, n); });
    return good;
}

}  // namespace
