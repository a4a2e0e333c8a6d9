// The only code that sees Python, with arrays.hpp and parts.hpp: checks what is handed in, releases the interpreter lock,
// hands sums back.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "ascent.hpp"
#include "cells.hpp"
#include "class_sums.hpp"
#include "columns.hpp"
#include "descent.hpp"
#include "epochs.hpp"
#include "grams.hpp"
#include "kernels.hpp"
#include "machines.hpp"
#include "neighbors.hpp"
#include "perceptron.hpp"
#include "parts.hpp"
#include "picking.hpp"
#include "rows.hpp"
#include "scorer.hpp"
#include "sweeps.hpp"
#include "team.hpp"
#include "text.hpp"

namespace {

nb::object times(const PyRows& self, nb::handle coef_array) {
    const Rows& rows = self.rows();
    const Input coef(coef_array, "coef", {rows.columns(), -1});
    const Output out({rows.rows(), coef.matrix().columns});
    without_lock([&] { rows.times(team(), coef.matrix(), out.data); });
    return out.array;
}

nb::object transpose_times(const PyRows& self, nb::handle array) {
    const Rows& rows = self.rows();
    const Input values(array, "values", {rows.rows(), -1});
    const Output out({rows.columns(), values.matrix().columns});
    without_lock([&] { rows.transpose_times(team(), values.matrix(), out.data); });
    return out.array;
}

nb::tuple evaluate(const PyRows& self, int loss, nb::handle y, nb::handle weight, nb::handle offset, nb::handle coef, Index hessian,
                   Index sample, double parameter, std::optional<Kept> kept) {
    const Rows& rows = self.rows();
    Asked asked(rows, loss, y, weight, offset, coef, parameter);
    if (y.is_none()) throw nb::type_error("y must be a float64 array, got None");
    if (hessian < 0 || hessian > rows.columns())
        throw nb::value_error(
            ("hessian must be between 0 and " + std::to_string(rows.columns()) + ", got " + std::to_string(hessian)).c_str());
    if (sample < 1) throw nb::value_error(("sample must be at least 1, got " + std::to_string(sample)).c_str());
    asked.request.sample = sample;
    const Index k = asked.request.outputs;
    const Output slope_sum({k}), gradient({rows.columns(), k});
    std::optional<Output> second;
    if (hessian > 0) {
        if (asked.request.loss == Loss::squared)
            second.emplace(std::vector<Index>{1, hessian, hessian});
        else if (asked.request.loss != Loss::softmax)
            second.emplace(std::vector<Index>{k, hessian, hessian});
        else
            second.emplace(std::vector<Index>{1, k * hessian, k * hessian});
    }
    if (kept && sample > 1) throw nb::value_error("curvatures are kept of all rows: sample must be 1");
    double* const room = data_of(kept, static_cast<std::size_t>(rows.rows() * k), "kept");
    Evaluation value;
    without_lock([&] {
        value = rows.evaluate(team(), asked.request, asked.coef.matrix(), hessian, slope_sum.data, gradient.data,
                              second ? second->data : nullptr, room);
    });
    return nb::make_tuple(value.high, value.low, value.weight_sum, slope_sum.array, gradient.array, second ? second->array : nb::none());
}

nb::tuple dual(const PyRows& self, int loss, nb::handle y, nb::handle weight, nb::handle offset, nb::handle coef, nb::handle shift_array,
               double parameter, double scale, bool gradient_too) {
    const Rows& rows = self.rows();
    Asked asked(rows, loss, y, weight, offset, coef, parameter);
    if (scale != 1 && asked.request.loss > Loss::logistic)
        throw nb::value_error("only dual points of squared and logistic losses are scaled");
    asked.request.scale = scale;
    if (y.is_none()) throw nb::type_error("y must be a float64 array, got None");
    const Index k = asked.request.outputs;
    const Input shift(shift_array, "shift", {rows.columns(), k});
    const Output slope_sum({k}), gradient({gradient_too ? rows.columns() : 0, k});
    DualEvaluation value;
    without_lock([&] {
        value =
            rows.dual(team(), asked.request, asked.coef.matrix(), shift.matrix(), slope_sum.data, gradient_too ? gradient.data : nullptr);
    });
    return nb::make_tuple(value.high, value.low, gradient.array, value.reach, slope_sum.array);
}

nb::tuple curve(const PyRows& self, int loss, nb::handle y, nb::handle weight, nb::handle offset, nb::handle coef,
                nb::handle direction_array, double parameter, Index sample, Index turn, std::optional<Kept> kept, bool known) {
    const Rows& rows = self.rows();
    Asked asked(rows, loss, y, weight, offset, coef, parameter);
    if (y.is_none()) throw nb::type_error("y must be a float64 array, got None");
    if (sample < 1) throw nb::value_error(("sample must be at least 1, got " + std::to_string(sample)).c_str());
    asked.request.sample = sample;
    asked.request.turn = turn;
    const Input direction(direction_array, "direction", {rows.columns(), asked.request.outputs});
    const auto size = static_cast<std::size_t>(rows.rows() * asked.request.outputs);
    const Curvature curvature{data_of(kept, size, "kept"), known};
    if (known && !kept) throw nb::value_error("known curvatures must be given as `kept`");
    const Output out({rows.columns(), asked.request.outputs});
    double weight_sum = 0;
    without_lock([&] { weight_sum = rows.curve(team(), asked.request, asked.coef.matrix(), direction.matrix(), curvature, out.data); });
    return nb::make_tuple(out.array, weight_sum);
}

nb::object means(const PyRows& self, int loss, nb::handle coef, nb::handle offset) {
    const Rows& rows = self.rows();
    const Asked asked(rows, loss, nb::none(), nb::none(), offset, coef);
    const Output out({rows.rows(), asked.request.outputs});
    without_lock([&] { rows.means(team(), asked.request, asked.coef.matrix(), out.data); });
    return out.array;
}

nb::tuple chances(const PyRows& self, nb::handle coef, nb::handle offset) {
    const Rows& rows = self.rows();
    const Asked asked(rows, static_cast<int>(Loss::logistic), nb::none(), nb::none(), offset, coef);
    if (asked.request.outputs != 1)
        throw nb::value_error(("coef must have 1 column, got " + std::to_string(asked.request.outputs)).c_str());
    const Output out({rows.rows(), 2});
    bool inside = true;
    without_lock([&] { inside = rows.means(team(), asked.request, asked.coef.matrix(), out.data, true); });
    return nb::make_tuple(out.array, inside);
}

nb::tuple moments(const PyRows& self, nb::handle weight_array) {
    const Rows& rows = self.rows();
    const std::optional<Input> weight = Input::maybe(weight_array, "weight", {rows.rows()});
    const Output mean({rows.columns()}), scatter({rows.columns()}), largest({rows.columns()});
    double sum = 0;
    without_lock([&] { sum = rows.moments(team(), matrix_of(weight), mean.data, scatter.data, largest.data); });
    return nb::make_tuple(sum, mean.array, scatter.array, largest.array);
}

double dependence(const PyRows& self, nb::handle high_array, nb::handle low_array) {
    const Rows& rows = self.rows();
    const Input high(high_array, "high", {rows.columns()}), low(low_array, "low", {rows.columns()});
    double out = 0;
    without_lock([&] { out = rows.dependence(team(), high.matrix(), low.matrix()); });
    return out;
}

void copy(const Matrix& from, double* to) {
    for (Index i = 0; i < from.rows; ++i)
        for (Index j = 0; j < from.columns; ++j) to[i * from.columns + j] = from.at(i, j);
}

nb::tuple factor_dd(nb::handle high_array, nb::handle low_array, double threshold, Index fixed) {
    const Input high(high_array, "high", {-1, -1});
    const Index n = high.matrix().rows;
    const Input low(low_array, "low", {n, n});
    if (high.matrix().columns != n) throw nb::value_error("high must be square");
    if (fixed < 0 || fixed > n)
        throw nb::value_error(("fixed must be between 0 and " + std::to_string(n) + ", got " + std::to_string(fixed)).c_str());
    const Output top({n, n}), rest({n, n});
    copy(high.matrix(), top.data);
    copy(low.matrix(), rest.data);
    std::vector<Index> order(static_cast<std::size_t>(n));
    Index rank = 0;
    without_lock([&] { rank = kernels().factor_dd(top.data, rest.data, n, n - fixed, threshold, order.data()); });
    return nb::make_tuple(top.array, rest.array, nb::module_::import_("numpy").attr("array")(order, "int64"), rank);
}

nb::tuple solve_dd(nb::handle high_array, nb::handle low_array, Index rank, bool transpose, nb::handle right_high, nb::handle right_low) {
    const Input high(high_array, "high", {-1, -1});
    const Index n = high.matrix().rows;
    const Input low(low_array, "low", {n, n});
    if (high.matrix().columns != n) throw nb::value_error("high must be square");
    if (rank < 0 || rank > n)
        throw nb::value_error(("rank must be between 0 and " + std::to_string(n) + ", got " + std::to_string(rank)).c_str());
    const Input first(right_high, "right_high", {rank, -1});
    const Index m = first.matrix().columns;
    const Input second(right_low, "right_low", {rank, m});
    const Output top({rank, m}), rest({rank, m}), factor_high({n, n}), factor_low({n, n});
    copy(high.matrix(), factor_high.data);
    copy(low.matrix(), factor_low.data);
    copy(first.matrix(), top.data);
    copy(second.matrix(), rest.data);
    without_lock([&] { kernels().solve_dd(factor_high.data, factor_low.data, n, rank, transpose, top.data, rest.data, m); });
    return nb::make_tuple(top.array, rest.array);
}

nb::tuple times_dd(nb::handle high_array, nb::handle low_array, nb::handle right_high, nb::handle right_low) {
    const Input high(high_array, "high", {-1, -1});
    const Index n = high.matrix().rows, p = high.matrix().columns;
    const Input low(low_array, "low", {n, p}), first(right_high, "right_high", {p, -1});
    const Index m = first.matrix().columns;
    const Input second(right_low, "right_low", {p, m});
    const std::vector<double> left = values_of(high.matrix()), left_low = values_of(low.matrix());
    const std::vector<double> right = values_of(first.matrix()), rest = values_of(second.matrix());
    const Output top({n, m}), bottom({n, m});
    without_lock([&] { kernels().times_dd(left.data(), left_low.data(), n, p, right.data(), rest.data(), m, top.data, bottom.data); });
    return nb::make_tuple(top.array, bottom.array);
}

// One row at a time through the block kernels: slow, for the laws.
nb::tuple loss_rows(int loss_number, nb::handle y_array, nb::handle eta_array, nb::handle theta_array, double parameter) {
    const Loss loss = loss_of(loss_number);
    const Input eta(eta_array, "eta", {-1, -1});
    const Index n = eta.matrix().rows, k = eta.matrix().columns, targets = loss == Loss::softmax ? 1 : k;
    const Input y(y_array, "y", {n, targets});
    const std::optional<Input> theta = Input::maybe(theta_array, "theta", {n, k});
    const Output value({n}), slope({n, k}), mismatch({n});
    const Output curvature(loss == Loss::softmax ? std::vector<Index>{n, k, k} : std::vector<Index>{n, k});
    const Buffer work(8 * (1 + targets + 4 * k));
    double* weight = work.get();
    double *yb = weight + 8, *eb = yb + 8 * targets, *sb = eb + 8 * k, *cb = sb + 8 * k, *ub = cb + 8 * k;
    std::vector<double> slope_sum(static_cast<std::size_t>(k));
    weight[0] = 1.0;
    for (Index i = 0; i < n; ++i) {
        for (Index c = 0; c < targets; ++c) yb[8 * c] = y.matrix().at(i, c);
        for (Index c = 0; c < k; ++c) eb[8 * c] = eta.matrix().at(i, c);
        LossBlock block;
        block.loss = loss;
        block.parameter = parameter;
        block.outputs = k;
        block.count = 1;
        block.room = 8;
        block.y = yb;
        block.weight = weight;
        block.eta = eb;
        block.step = ub;
        block.slope = sb;
        block.curvature = cb;
        block.slope_sum = slope_sum.data();
        kernels().loss(block);
        value.data[i] = block.high + block.low;
        double sum = 0;
        for (Index c = 0; c < k; ++c) {
            slope.data[i * k + c] = sb[8 * c];
            if (loss != Loss::softmax)
                curvature.data[i * k + c] = cb[8 * c];
            else
                for (Index d = 0; d < k; ++d) curvature.data[(i * k + c) * k + d] = cb[8 * c] * (c == d ? 1.0 - cb[8 * d] : -cb[8 * d]);
            if (!theta) continue;
            // the step that leads to theta = slope - W step
            const double away = sb[8 * c] - theta->matrix().at(i, c);
            ub[8 * c] = away == 0.0 ? 0.0 : away / cb[8 * c];
            sum += theta->matrix().at(i, c);
        }
        if (!theta) continue;
        block.high = block.low = 0;
        kernels().dual(block);
        mismatch.data[i] = block.high + (block.high - block.high == 0.0 ? block.low : 0.0);
        // softmax: theta must sum to zero, up to its own rounding
        if (loss == Loss::softmax && !(sum < 1e-12 && sum > -1e-12)) mismatch.data[i] = __builtin_inf();
    }
    return nb::make_tuple(value.array, slope.array, curvature.array, theta ? mismatch.array : nb::none());
}

nb::object elementary(int function, nb::handle array) {
    const Input input(array, "x", {-1});
    const Index n = input.matrix().rows;
    const Buffer work((n + 7) / 8 * 8);
    copy(input.matrix(), work.get());
    kernels().elementary(function, work.get(), work.size());
    const Output out({n});
    std::copy(work.get(), work.get() + n, out.data);
    return out.array;
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled loops of lineal; see docs/core.md.";
#if defined(NDEBUG)
    // Threads that outlive the interpreter (those of pytest's workers) keep frames, and the objects in them, until the process
    // ends: no leak, and nothing that a user could act on.
    nb::set_leak_warnings(false);
#endif
    kernels();  // an unusable LINEAL_CPU is refused at import
    bind_sweeps(m);
    bind_kernels(m);
    bind_epochs(m);
    bind_neighbors(m);
    bind_perceptron(m);
    bind_ascent(m);
    bind_text(m);
    bind_cells(m);
    bind_columns(m);
    bind_factor(m);
    bind_small_fit(m);
    bind_scorer(m);
    bind_machines(m);
    bind_class_sums(m);

    nb::class_<Held>(m, "Part", "Some columns as they are stored.").def_prop_ro("shape", [](const Held& self) {
        return nb::make_tuple(self.part.rows, self.part.columns);
    });
    nb::class_<OnesPart, Held>(m, "Ones", "One column of ones.").def(nb::init<Index>(), nb::arg("n"));
    nb::class_<DensePart, Held>(m, "Dense", "A float32 or float64 matrix, read in place.").def(nb::init<nb::object>(), nb::arg("array"));
    nb::class_<SparsePart, Held>(m, "Sparse", "Compressed sparse rows with increasing columns.")
        .def(nb::init<nb::object, nb::object, nb::object, Index>(), nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
             nb::arg("n_columns"))
        .def(nb::init<nb::object, Index, Index>(), nb::arg("whole"), nb::arg("first"), nb::arg("last"))
        .def("pick", pick_columns, nb::arg("columns"))
        .def("column_moments", moments_of_columns, nb::arg("weight").none() = nb::none())
        .def("times_columns", columns_times, nb::arg("values"))
        .def("spread_columns", columns_spread, nb::arg("coef"));
    nb::class_<CodesPart, Held>(m, "Codes", "One column of ones per level, stored as int32 codes; -1 is a row of zeros.")
        .def(nb::init<nb::object, Index>(), nb::arg("codes"), nb::arg("n_levels"));

    nb::class_<PyRows>(m, "Rows", "Parts side by side, and the passes over them.")
        .def(nb::init<nb::list>(), nb::arg("parts"))
        .def_prop_ro("n_rows", [](const PyRows& self) { return self.rows().rows(); })
        .def_prop_ro("n_columns", [](const PyRows& self) { return self.rows().columns(); })
        .def_prop_ro("lone", lone)
        .def("times", times, nb::arg("coef"))
        .def("transpose_times", transpose_times, nb::arg("values"))
        .def("gram", gram, nb::arg("weight").none() = nb::none())
        .def("evaluate", evaluate, nb::arg("loss"), nb::arg("y").none(), nb::arg("weight").none(), nb::arg("offset").none(),
             nb::arg("coef"), nb::arg("hessian") = 0, nb::arg("sample") = 1, nb::arg("parameter") = 0.0,
             nb::arg("kept").none() = nb::none())
        .def("dual", dual, nb::arg("loss"), nb::arg("y").none(), nb::arg("weight").none(), nb::arg("offset").none(), nb::arg("coef"),
             nb::arg("shift"), nb::arg("parameter") = 0.0, nb::arg("scale") = 1.0, nb::arg("gradient") = true)
        .def("curve", curve, nb::arg("loss"), nb::arg("y").none(), nb::arg("weight").none(), nb::arg("offset").none(), nb::arg("coef"),
             nb::arg("direction"), nb::arg("parameter") = 0.0, nb::arg("sample") = 1, nb::arg("turn") = 0,
             nb::arg("kept").none() = nb::none(), nb::arg("known") = false)
        .def("blocks", blocks_rows, nb::arg("loss"), nb::arg("weight").none(), nb::arg("kept").none(), nb::arg("sample") = 1,
             nb::arg("turn") = 0, nb::arg("shift").none() = nb::none(), nb::arg("scale").none() = nb::none())
        .def("means", means, nb::arg("loss"), nb::arg("coef"), nb::arg("offset").none() = nb::none())
        .def("chances", chances, nb::arg("coef"), nb::arg("offset").none() = nb::none())
        .def("moments", moments, nb::arg("weight").none() = nb::none())
        .def("products", products, nb::arg("weight").none(), nb::arg("y"))
        .def("float32_gram", float32_gram, nb::arg("weight").none(), nb::arg("unit"), nb::arg("y"), nb::arg("centre"), nb::arg("factor"))
        .def("gram_dd", gram_dd, nb::arg("weight").none(), nb::arg("y"))
        .def("dependence", dependence, nb::arg("high"), nb::arg("low"))
        .def("small_fit", small_fit_rows, nb::arg("loss"), nb::arg("y"), nb::arg("weight").none(), nb::arg("square"), nb::arg("farthest"),
             nb::arg("share"), nb::arg("most"), nb::arg("unbounded"));

    m.def("factor_dd", factor_dd, nb::arg("high"), nb::arg("low"), nb::arg("threshold"), nb::arg("fixed") = 0);
    m.def("solve_dd", solve_dd, nb::arg("high"), nb::arg("low"), nb::arg("rank"), nb::arg("transpose"), nb::arg("right_high"),
          nb::arg("right_low"));
    m.def("times_dd", times_dd, nb::arg("high"), nb::arg("low"), nb::arg("right_high"), nb::arg("right_low"));
    m.def("loss_rows", loss_rows, nb::arg("loss"), nb::arg("y"), nb::arg("eta"), nb::arg("theta").none() = nb::none(),
          nb::arg("parameter") = 0.0);
    m.def("exp", [](nb::handle x) { return elementary(0, x); }, nb::arg("x"));
    m.def("log1p", [](nb::handle x) { return elementary(1, x); }, nb::arg("x"));
    m.def("excess", [](nb::handle x) { return elementary(2, x); }, nb::arg("x"));
    m.def("threads", threads);
    m.def("set_threads", set_threads, nb::arg("n"));
    m.def("watch", watch, nb::arg("look").none());
    m.def("heed", heed);
    m.def("cpu_level", level_in_use);
    m.def("cpu_levels", levels);
}
