// Coordinate descent for Python: checks shapes, releases the interpreter. Calls are kept short by `most` and `budget`, so that
// Ctrl-C is answered between them.
#pragma once

#include "paths/sweeps.hpp"
#include "arrays.hpp"

namespace {

Charges charges_of(const Numbers& linear, const Numbers& square, const Numbers& lower, const Numbers& upper, std::size_t size) {
    return {data_of(linear, size, "linear"), data_of(square, size, "square"), data_of(lower, size, "lower"), data_of(upper, size, "upper")};
}

nb::tuple sweep_gram(const Numbers& gram, const Kept& coef, const Kept& gradient, const Numbers& linear, const Numbers& square,
                     const Numbers& lower, const Numbers& upper, double tol, Index most) {
    const std::size_t size = coef.size();
    const double* const matrix = data_of(gram, size * size, "gram");
    double* const slope = data_of(gradient, size, "gradient");
    const Charges charges = charges_of(linear, square, lower, upper, size);
    const Progress progress =
        unlocked([&] { return sweeps().gram(matrix, static_cast<Index>(size), coef.data(), slope, charges, tol, most); });
    return nb::make_tuple(progress.sweeps, progress.fall);
}

nb::tuple sweep_group(const Numbers& gram, bool coupled, const Kept& coef, const Kept& gradient, const Numbers& rate, double tol,
                      Index most) {
    if (coef.ndim() != 2 || gram.ndim() != 3) throw nb::value_error("coef must be (outputs, columns), gram (parts, size, size)");
    const std::size_t outputs = coef.shape(0), columns = coef.shape(1), parts = gram.shape(0);
    const std::size_t size = coupled ? outputs * columns : columns;
    if (gram.shape(1) != size || gram.shape(2) != size || (parts != 1 && (coupled || parts != outputs)))
        throw nb::value_error("gram does not fit the coefficients");
    double* const slope = data_of(gradient, coef.size(), "gradient");
    const double* const rates = data_of(rate, columns, "rate");
    const Progress progress = unlocked([&] {
        return sweeps().group(gram.data(), static_cast<Index>(parts), static_cast<Index>(columns), static_cast<Index>(outputs), coupled,
                              coef.data(), slope, rates, tol, most);
    });
    return nb::make_tuple(progress.sweeps, progress.fall);
}

Index walk_gram(const Numbers& gram, const Numbers& origin, const Numbers& linear, const Numbers& square, const Numbers& lower,
                const Numbers& upper, const Numbers& strengths, double level, double tol, double floor, double budget, const Kept& coef,
                const Kept& gradient, const Kept& found, Index done) {
    const std::size_t size = coef.size();
    if (done < 0 || static_cast<std::size_t>(done) > strengths.size())
        throw nb::value_error("more points are done than there are strengths");
    Path path{data_of(gram, size * size, "gram"),
              data_of(origin, size, "origin"),
              static_cast<Index>(size),
              charges_of(linear, square, lower, upper, size),
              strengths.data(),
              static_cast<Index>(strengths.size()),
              level,
              tol,
              floor,
              budget,
              coef.data(),
              data_of(gradient, size, "gradient"),
              data_of(found, strengths.size() * size, "found"),
              done};
    return unlocked([&] { return sweeps().follow(path); });
}

template <class T, class Fill>
nb::object filled(std::size_t size, Fill fill) {
    std::unique_ptr<T[]> values(new T[size]);
    unlocked([&] { fill(values.get()); });
    return owning(std::move(values), {size});
}

nb::object columns_beyond(const Numbers& slopes, const Numbers& turns, const Numbers& sizes, const Numbers& margins) {
    for (const Numbers* array : {&slopes, &turns, &sizes, &margins})
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

nb::object columns_due(const Numbers& slopes, const std::optional<Numbers>& before, const Numbers& linear, const Numbers& least,
                       const Numbers& most, double strength, double apart, double turn) {
    const std::size_t columns = slopes.size();
    const Due task{slopes.data(),
                   data_of(before, columns, "before"),
                   data_of(linear, columns, "linear"),
                   data_of(least, columns, "least"),
                   data_of(most, columns, "most"),
                   strength,
                   apart,
                   turn};
    return filled<double>(columns, [&](double* out) { sweeps().due(task, 0, static_cast<Index>(columns), out); });
}

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

}  // namespace
