// Coordinate descent for Python: checks shapes, releases the interpreter. Calls are kept short by `most` and `budget`, so that
// Ctrl-C is answered between them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <nanobind/stl/optional.h>

#include <functional>
#include <memory>
#include <string>

#include "paths/sweeps.hpp"

namespace nb = nanobind;
using namespace lineal;

namespace {

using In = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using InOut = nb::ndarray<double, nb::c_contig, nb::device::cpu>;

template <class Array>
void expect(const Array& array, std::size_t size, const char* name) {
    if (array.size() != size)
        throw nb::value_error(
            (std::string(name) + " must have " + std::to_string(size) + " entries, got " + std::to_string(array.size())).c_str());
}

Charges charges_of(const In& linear, const In& square, const In& lower, const In& upper, std::size_t size) {
    expect(linear, size, "linear");
    expect(square, size, "square");
    expect(lower, size, "lower");
    expect(upper, size, "upper");
    return {linear.data(), square.data(), lower.data(), upper.data()};
}

nb::tuple sweep_gram(const In& gram, const InOut& coef, const InOut& gradient, const In& linear, const In& square, const In& lower,
                     const In& upper, double tol, Index most) {
    const std::size_t size = coef.size();
    expect(gram, size * size, "gram");
    expect(gradient, size, "gradient");
    const Charges charges = charges_of(linear, square, lower, upper, size);
    Progress progress;
    {
        const nb::gil_scoped_release release;
        progress = sweeps().gram(gram.data(), static_cast<Index>(size), coef.data(), gradient.data(), charges, tol, most);
    }
    return nb::make_tuple(progress.sweeps, progress.fall);
}

nb::tuple sweep_group(const In& gram, bool coupled, const InOut& coef, const InOut& gradient, const In& rate, double tol, Index most) {
    if (coef.ndim() != 2 || gram.ndim() != 3) throw nb::value_error("coef must be (outputs, columns), gram (parts, size, size)");
    const std::size_t outputs = coef.shape(0), columns = coef.shape(1), parts = gram.shape(0);
    const std::size_t size = coupled ? outputs * columns : columns;
    if (gram.shape(1) != size || gram.shape(2) != size || (parts != 1 && (coupled || parts != outputs)))
        throw nb::value_error("gram does not fit the coefficients");
    expect(gradient, coef.size(), "gradient");
    expect(rate, columns, "rate");
    Progress progress;
    {
        const nb::gil_scoped_release release;
        progress = sweeps().group(gram.data(), static_cast<Index>(parts), static_cast<Index>(columns), static_cast<Index>(outputs), coupled,
                                  coef.data(), gradient.data(), rate.data(), tol, most);
    }
    return nb::make_tuple(progress.sweeps, progress.fall);
}

Index walk_gram(const In& gram, const In& origin, const In& linear, const In& square, const In& lower, const In& upper, const In& strengths,
                double level, double tol, double floor, double budget, const InOut& coef, const InOut& gradient, const InOut& found,
                Index done) {
    const std::size_t size = coef.size();
    expect(gram, size * size, "gram");
    expect(origin, size, "origin");
    expect(gradient, size, "gradient");
    expect(found, strengths.size() * size, "found");
    if (done < 0 || static_cast<std::size_t>(done) > strengths.size())
        throw nb::value_error("more points are done than there are strengths");
    Path path{gram.data(),
              origin.data(),
              static_cast<Index>(size),
              charges_of(linear, square, lower, upper, size),
              strengths.data(),
              static_cast<Index>(strengths.size()),
              level,
              tol,
              floor,
              budget,
              coef.data(),
              gradient.data(),
              found.data(),
              done};
    const nb::gil_scoped_release release;
    return sweeps().follow(path);
}

template <class T>
nb::object filled(std::size_t size, const std::function<void(T*)>& fill) {
    std::unique_ptr<T[]> values(new T[size]);
    {
        const nb::gil_scoped_release release;
        fill(values.get());
    }
    T* data = values.release();
    const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

nb::object columns_beyond(const In& slopes, const In& turns, const In& sizes, const In& margins) {
    for (const In* array : {&slopes, &turns, &sizes, &margins})
        if (array->ndim() != 2) throw nb::value_error("slopes, turns, sizes and margins must have two dimensions");
    const std::size_t columns = slopes.shape(0), points = turns.shape(1);
    if (slopes.shape(1) != turns.shape(0) || sizes.shape(1) != margins.shape(0) || sizes.shape(0) != columns || margins.shape(1) != points)
        throw nb::value_error("slopes and turns, sizes and margins do not fit each other");
    const Beyond task{slopes.data(),
                      turns.data(),
                      sizes.data(),
                      margins.data(),
                      static_cast<Index>(turns.shape(0)),
                      static_cast<Index>(points),
                      static_cast<Index>(margins.shape(0))};
    return filled<bool>(columns, [&](bool* out) { sweeps().beyond(task, 0, static_cast<Index>(columns), out); });
}

nb::object columns_due(const In& slopes, const std::optional<In>& before, const In& linear, const In& least, const In& most,
                       double strength, double apart, double turn) {
    const std::size_t columns = slopes.size();
    if (before) expect(*before, columns, "before");
    expect(linear, columns, "linear");
    expect(least, columns, "least");
    expect(most, columns, "most");
    const Due task{slopes.data(), before ? before->data() : nullptr, linear.data(), least.data(), most.data(), strength, apart, turn};
    return filled<double>(columns, [&](double* out) { sweeps().due(task, 0, static_cast<Index>(columns), out); });
}

}  // namespace

void bind_sweeps(nb::module_& m) {
    m.def("sweep_gram", &sweep_gram, nb::arg("gram"), nb::arg("coef"), nb::arg("gradient"), nb::arg("linear"), nb::arg("square"),
          nb::arg("lower"), nb::arg("upper"), nb::arg("tol"), nb::arg("most"));
    m.def("sweep_group", &sweep_group, nb::arg("gram"), nb::arg("coupled"), nb::arg("coef"), nb::arg("gradient"), nb::arg("rate"),
          nb::arg("tol"), nb::arg("most"));
    m.def("walk_gram", &walk_gram, nb::arg("gram"), nb::arg("origin"), nb::arg("linear"), nb::arg("square"), nb::arg("lower"),
          nb::arg("upper"), nb::arg("strengths"), nb::arg("level"), nb::arg("tol"), nb::arg("floor"), nb::arg("budget"), nb::arg("coef"),
          nb::arg("gradient"), nb::arg("found"), nb::arg("done"));
    m.def("beyond", &columns_beyond, nb::arg("slopes"), nb::arg("turns"), nb::arg("sizes"), nb::arg("margins"));
    m.def("due", &columns_due, nb::arg("slopes"), nb::arg("before").none(), nb::arg("linear"), nb::arg("least"), nb::arg("most"),
          nb::arg("strength"), nb::arg("apart"), nb::arg("turn"));
}
