// Newton steps and small factors for Python: checks what is handed in, releases the interpreter lock.
#pragma once

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "newton/small_fit.hpp"
#include "linalg/triangle.hpp"
#include "epochs.hpp"
#include "rows.hpp"
#include "team.hpp"

namespace {

nb::object array_of(const std::vector<double>& values, const std::vector<Index>& shape) {
    const Output out(shape);
    std::copy(values.begin(), values.end(), out.data);
    return out.array;
}

std::vector<double> values_of(const Matrix& from) {
    std::vector<double> out;
    out.reserve(static_cast<std::size_t>(from.rows * from.columns));
    for (Index i = 0; i < from.rows; ++i)
        for (Index j = 0; j < from.columns; ++j) out.push_back(from.at(i, j));
    return out;
}

// What the fit of a short table found (newton/small_fit.hpp). Arrays are made when they are asked for.
class PySmallFit {
public:
    PySmallFit(SmallFit fit, Index p, Index k) : fit_(std::move(fit)), p_(p), k_(k) {}
    double weight_sum() const { return fit_.weight_sum; }
    Index rows() const { return fit_.rows; }
    double baseline_value() const { return fit_.baseline_value; }
    double value() const { return here().value; }
    double error() const { return here().error; }
    double estimate() const { return fit_.steps.estimates.back(); }
    nb::object mean() const { return array_of(fit_.mean, {p_}); }
    nb::object scatter() const { return array_of(fit_.scatter, {p_}); }
    nb::object largest() const { return array_of(fit_.largest, {p_}); }
    nb::object target() const { return array_of(fit_.target, {k_}); }
    nb::object start() const { return point(fit_.steps.coefs.begin()); }
    nb::object coef() const { return point(fit_.steps.coefs.end() - p_ * k_); }
    nb::object gradient() const { return point(here().gradient.begin()); }
    nb::object slope() const { return array_of(here().slope, {k_}); }
    nb::object hessian() const { return array_of(here().hessian, {1, p_, p_}); }
    // of the second derivative: the roots of the diagonal of its inverse, and the reciprocal of its condition; 0 without a factor
    nb::tuple spread() const {
        SmallFactor factor;
        const Output out({p_});
        const double condition = factor.make(here().hessian.data(), p_) > 0 ? factor.spread(out.data) : 0;
        return nb::make_tuple(out.array, condition);
    }
    nb::object values() const { return nb::cast(fit_.steps.values); }
    nb::object estimates() const { return nb::cast(fit_.steps.estimates); }
    nb::object passes() const { return nb::cast(fit_.steps.passes); }

private:
    const Here& here() const { return fit_.steps.here; }
    template <class Place>
    nb::object point(Place first) const {
        const Output out({p_, k_});
        std::copy(first, first + p_ * k_, out.data);
        return out.array;
    }
    SmallFit fit_;
    Index p_, k_;
};

// A penalized fit of a short table; None where anything is unusual (newton/small_fit.hpp)
nb::object small_fit_rows(const PyRows& self, int loss, nb::handle y_array, nb::handle weight_array, nb::handle square_array,
                          double farthest, double share, Index most, bool unbounded) {
    const Rows& rows = self.rows();
    const Input y(y_array, "y", {rows.rows(), -1}), square(square_array, "square", {rows.columns()});
    const std::optional<Input> weight = Input::maybe(weight_array, "weight", {rows.rows()});
    Request request;
    request.loss = loss_of(loss);
    request.outputs = y.matrix().columns;
    request.y = y.matrix();
    request.weight = matrix_of(weight);
    if (request.loss != Loss::squared && request.loss != Loss::logistic && request.loss != Loss::poisson)
        throw nb::value_error("only squared, logistic and Poisson loss have small fits");
    if (request.loss != Loss::squared && request.outputs != 1)
        throw nb::value_error(("a loss of one score needs y with 1 column, got " + std::to_string(request.outputs)).c_str());
    const std::vector<double> squares = values_of(square.matrix());
    Descent descent;
    descent.unbounded = unbounded;
    descent.share = share;
    descent.most = most;
    SmallFit fit;
    bool usual = false;
    without_lock([&] { usual = small_fit(rows, team(), request, squares.data(), farthest, descent, fit); });
    if (!usual) return nb::none();
    return nb::cast(PySmallFit(std::move(fit), rows.columns(), request.outputs));
}

void bind_small_fit(nb::module_& m) {
    nb::class_<PySmallFit>(m, "SmallFit", "What the fit of a short table found.")
        .def_prop_ro("weight_sum", &PySmallFit::weight_sum)
        .def_prop_ro("rows", &PySmallFit::rows)
        .def_prop_ro("mean", &PySmallFit::mean)
        .def_prop_ro("scatter", &PySmallFit::scatter)
        .def_prop_ro("largest", &PySmallFit::largest)
        .def_prop_ro("target", &PySmallFit::target)
        .def_prop_ro("baseline_value", &PySmallFit::baseline_value)
        .def_prop_ro("start", &PySmallFit::start)
        .def_prop_ro("coef", &PySmallFit::coef)
        .def_prop_ro("value", &PySmallFit::value)
        .def_prop_ro("error", &PySmallFit::error)
        .def_prop_ro("gradient", &PySmallFit::gradient)
        .def_prop_ro("slope", &PySmallFit::slope)
        .def_prop_ro("hessian", &PySmallFit::hessian)
        .def_prop_ro("spread", &PySmallFit::spread)
        .def_prop_ro("estimate", &PySmallFit::estimate)
        .def_prop_ro("values", &PySmallFit::values)
        .def_prop_ro("estimates", &PySmallFit::estimates)
        .def_prop_ro("passes", &PySmallFit::passes);
}

// A square matrix whose rows follow each other.
const double* rows_of(const Matrix& matrix) {
    if (matrix.columns != matrix.rows) throw nb::value_error("matrix must be square");
    if (matrix.rows > 0 && (matrix.column_stride != 1 || matrix.row_stride != matrix.columns))
        throw nb::value_error("matrix must be C-contiguous");
    return matrix.data;
}

nb::object cholesky_of(nb::handle array) {
    const Input matrix(array, "matrix", {-1, -1});
    const Index n = matrix.matrix().rows;
    const double* values = rows_of(matrix.matrix());
    const Output out({n, n});
    bool good = true;
    without_lock([&] { good = cholesky(team(), values, n, out.data); });
    return good ? out.array : nb::none();
}

nb::object inverse_squares_of(nb::handle array) {
    const Input matrix(array, "matrix", {-1, -1});
    const Index n = matrix.matrix().rows;
    const double* values = rows_of(matrix.matrix());
    const Output out({n});
    without_lock([&] { inverse_squares(team(), values, n, out.data); });
    return out.array;
}

nb::object apart_of(nb::handle array) {
    const Input input(array, "matrix", {-1, -1});
    const Matrix matrix = input.matrix();
    if (matrix.columns != matrix.rows) throw nb::value_error("matrix must be square");
    Stretch found;
    without_lock([&] { found = apart(matrix.data, matrix.rows, matrix.row_stride, matrix.column_stride); });
    return nb::make_tuple(found.first, found.last);
}

class PyFactor {
public:
    explicit PyFactor(nb::handle array) {
        const Input matrix(array, "matrix", {-1, -1});
        size_ = matrix.matrix().rows;
        if (matrix.matrix().columns != size_) throw nb::value_error("matrix must be square");
        const std::vector<double> values = values_of(matrix.matrix());
        spread_.resize(static_cast<std::size_t>(size_));
        if (factor_.make(values.data(), size_) > 0) condition_ = factor_.spread(spread_.data());
    }
    // The reciprocal of the condition of the matrix with its diagonal made one; 0 where it has no factor.
    double condition() const { return condition_ >= 0 ? condition_ : 0; }
    double log_determinant() const { return factor_.log_determinant(); }
    nb::object spread() const { return array_of(spread_, {size_}); }
    nb::object solve(nb::handle array) const {
        const Input right = nb::cast<int>(array.attr("ndim")) == 1 ? Input(array, "right", {size_}) : Input(array, "right", {size_, -1});
        const Index m = right.matrix().columns;
        const Output out(nb::cast<int>(array.attr("ndim")) == 1 ? std::vector<Index>{size_} : std::vector<Index>{size_, m});
        for (Index i = 0; i < size_; ++i)
            for (Index c = 0; c < m; ++c) out.data[i * m + c] = right.matrix().at(i, c);
        for (Index c = 0; c < m; ++c) factor_.solve(out.data + c, m);
        return out.array;
    }

private:
    Index size_ = 0;
    double condition_ = 0;
    SmallFactor factor_;
    std::vector<double> spread_;
};

void bind_factor(nb::module_& m) {
    m.def("apart", &apart_of, nb::arg("matrix"));
    m.def("cholesky", &cholesky_of, nb::arg("matrix"));
    m.def("inverse_squares", &inverse_squares_of, nb::arg("matrix"));
    nb::class_<PyFactor>(m, "SmallFactor", "The Cholesky factor of a small matrix.")
        .def(nb::init<nb::handle>(), nb::arg("matrix"))
        .def_prop_ro("condition", &PyFactor::condition)
        .def_prop_ro("spread", &PyFactor::spread)
        .def_prop_ro("log_determinant", &PyFactor::log_determinant)
        .def("solve", &PyFactor::solve, nb::arg("right"));
}

}  // namespace
