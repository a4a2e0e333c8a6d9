// One row at a time: scores and means without the layers of a pass.
#pragma once

#include "rows.hpp"

namespace {

// means of `row coef + constant`, for a row [p] or rows [n, p] of plain numbers
class Scorer {
public:
    Scorer(int loss, nb::handle coef, nb::handle constant) : loss_(loss_of(loss)) {
        const Input weights(coef, "coef", {-1, -1}), first(constant, "constant", {weights.matrix().columns});
        p_ = weights.matrix().rows;
        k_ = weights.matrix().columns;
        for (Index c = 0; c < k_; ++c) {
            for (Index j = 0; j < p_; ++j) coef_.push_back(weights.matrix().at(j, c));
            constant_.push_back(first.matrix().at(c, 0));
        }
        eta_ = Buffer(8 * k_);
    }

    nb::object score(nb::handle row) const {
        Py_buffer view;
        if (PyObject_GetBuffer(row.ptr(), &view, PyBUF_STRIDES | PyBUF_FORMAT) == 0) {
            const bool fast = view.format != nullptr && view.format[0] == 'd' && view.format[1] == 0 && view.ndim >= 1 && view.ndim <= 2 &&
                              view.shape[view.ndim - 1] == p_;
            nb::object out;
            if (fast) out = means(view);
            PyBuffer_Release(&view);
            if (fast) return out;
        } else {
            PyErr_Clear();
        }
        // anything else that numpy makes numbers of
        const nb::object numbers = nb::module_::import_("numpy").attr("ascontiguousarray")(row, "float64");
        const Input rows(numbers, "row", nb::cast<int>(numbers.attr("ndim")) == 1 ? std::vector<Index>{p_} : std::vector<Index>{-1, p_});
        return score(numbers);
    }

private:
    nb::object means(const Py_buffer& view) const {
        const Index n = view.ndim == 1 ? 1 : view.shape[0];
        const Py_ssize_t down = view.ndim == 1 ? 0 : view.strides[0], along = view.strides[view.ndim - 1];
        const Output out({n, k_});
        double* eta = eta_.get();
        for (Index i = 0; i < n; ++i) {
            const char* start = static_cast<const char*>(view.buf) + i * down;
            for (Index c = 0; c < k_; ++c) {
                const double* w = coef_.data() + c * p_;
                double sum = 0;
                for (Index j = 0; j < p_; ++j) {
                    double x;
                    std::memcpy(&x, start + j * along, sizeof x);
                    sum += x * w[j];
                }
                eta[8 * c] = sum + constant_[static_cast<std::size_t>(c)];
            }
            kernels().mean(loss_, k_, 1, 8, eta);
            for (Index c = 0; c < k_; ++c) out.data[i * k_ + c] = eta[8 * c];
        }
        return out.array;
    }

    Loss loss_;
    Index p_ = 0, k_ = 0;
    std::vector<double> coef_, constant_;
    Buffer eta_;
};

void bind_scorer(nb::module_& m) {
    nb::class_<Scorer>(m, "Scorer", "Means of single rows.")
        .def(nb::init<int, nb::handle, nb::handle>(), nb::arg("loss"), nb::arg("coef"), nb::arg("constant"))
        .def("__call__", &Scorer::score, nb::arg("row"));
}

}  // namespace
