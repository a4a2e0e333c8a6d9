// Coordinate descent for Python: checks shapes, releases the interpreter. Calls are kept short by `most` and `budget`, so that
// Ctrl-C is answered between them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <nanobind/stl/optional.h>

#include <string>

#include "../lineal/sweeps.hpp"

namespace nb = nanobind;
using namespace lineal;

namespace {

using In = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const Index, nb::c_contig, nb::device::cpu>;
using InOut = nb::ndarray<double, nb::c_contig, nb::device::cpu>;

template <class Array>
void expect(const Array& array, std::size_t size, const char* name) {
    if (array.size() != size) throw nb::value_error((std::string(name) + " must have " + std::to_string(size) + " entries, got " + std::to_string(array.size())).c_str());
}

Charges charges_of(const In& linear, const In& square, const In& lower, const In& upper, std::size_t size) {
    expect(linear, size, "linear");
    expect(square, size, "square");
    expect(lower, size, "lower");
    expect(upper, size, "upper");
    return {linear.data(), square.data(), lower.data(), upper.data()};
}

nb::tuple sweep_gram(const In& gram, const InOut& coef, const InOut& gradient, const In& linear, const In& square, const In& lower, const In& upper, double tol, Index most) {
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
        progress = sweeps().group(gram.data(), static_cast<Index>(parts), static_cast<Index>(columns), static_cast<Index>(outputs), coupled, coef.data(), gradient.data(), rate.data(), tol, most);
    }
    return nb::make_tuple(progress.sweeps, progress.fall);
}

Index walk_gram(const In& gram, const In& origin, const In& linear, const In& square, const In& lower, const In& upper, const In& strengths, double level, double tol, double floor, double budget, const InOut& coef, const InOut& gradient, const InOut& found, Index done, const std::optional<Numbers>& columns, Support* support) {
    const std::size_t size = coef.size();
    expect(gram, size * size, "gram");
    expect(origin, size, "origin");
    expect(gradient, size, "gradient");
    expect(found, strengths.size() * size, "found");
    if (done < 0 || static_cast<std::size_t>(done) > strengths.size()) throw nb::value_error("more points are done than there are strengths");
    if (columns.has_value() != (support != nullptr)) throw nb::value_error("columns and support go together");
    if (columns) expect(*columns, size, "columns");
    Walk walk{gram.data(), origin.data(), static_cast<Index>(size), charges_of(linear, square, lower, upper, size), strengths.data(), static_cast<Index>(strengths.size()), level, tol, floor, budget, coef.data(), gradient.data(), found.data(), done, columns ? columns->data() : nullptr, support};
    const nb::gil_scoped_release release;
    return sweeps().walk(walk);
}

}  // namespace

void bind_sweeps(nb::module_& m) {
    m.def("sweep_gram", &sweep_gram, nb::arg("gram"), nb::arg("coef"), nb::arg("gradient"), nb::arg("linear"), nb::arg("square"), nb::arg("lower"), nb::arg("upper"), nb::arg("tol"), nb::arg("most"));
    m.def("sweep_group", &sweep_group, nb::arg("gram"), nb::arg("coupled"), nb::arg("coef"), nb::arg("gradient"), nb::arg("rate"), nb::arg("tol"), nb::arg("most"));
    nb::class_<Support>(m, "Support").def(nb::init<>()).def_prop_ro("size", [](const Support& support) { return support.columns.size(); });
    m.def("walk_gram", &walk_gram, nb::arg("gram"), nb::arg("origin"), nb::arg("linear"), nb::arg("square"), nb::arg("lower"), nb::arg("upper"), nb::arg("strengths"), nb::arg("level"), nb::arg("tol"), nb::arg("floor"), nb::arg("budget"), nb::arg("coef"), nb::arg("gradient"), nb::arg("found"), nb::arg("done"), nb::arg("columns") = nb::none(), nb::arg("support") = nb::none());
}
