// Coordinate descent for Python: checks shapes, releases the interpreter. Calls are kept short by `most`, so that
// Ctrl-C is answered between them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>

#include "../lineal/sweeps.hpp"

namespace nb = nanobind;
using namespace lineal;

namespace {

using In = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using InOut = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using Starts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Places = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

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

nb::tuple sweep_columns(const Starts& starts, const Places& rows, const In& values, const Starts& chosen, const In& weight, const InOut& pull, const InOut& coef, const In& linear, const In& square, const In& lower, const In& upper, double tol, Index most) {
    const Charges charges = charges_of(linear, square, lower, upper, coef.size());
    expect(chosen, coef.size(), "chosen");
    expect(weight, pull.size(), "weight");
    expect(values, rows.size(), "values");
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const std::int64_t c = chosen.data()[i];
        if (c < 0 || c + 1 >= static_cast<std::int64_t>(starts.size())) throw nb::value_error("a chosen column does not exist");
        const std::int64_t first = starts.data()[c], last = starts.data()[c + 1];
        if (first < 0 || last < first || last > static_cast<std::int64_t>(rows.size())) throw nb::value_error("starts do not fit the entries");
        for (std::int64_t at = first; at < last; ++at)
            if (rows.data()[at] < 0 || rows.data()[at] >= static_cast<std::int64_t>(pull.size())) throw nb::value_error("a row does not exist");
    }
    const ByColumn matrix{starts.data(), rows.data(), values.data(), chosen.data(), static_cast<Index>(chosen.size())};
    Progress progress;
    {
        const nb::gil_scoped_release release;
        progress = sweeps().columns(matrix, weight.data(), pull.data(), coef.data(), charges, tol, most);
    }
    return nb::make_tuple(progress.sweeps, progress.fall);
}

}  // namespace

void bind_sweeps(nb::module_& m) {
    m.def("sweep_gram", &sweep_gram, nb::arg("gram"), nb::arg("coef"), nb::arg("gradient"), nb::arg("linear"), nb::arg("square"), nb::arg("lower"), nb::arg("upper"), nb::arg("tol"), nb::arg("most"));
    m.def("sweep_group", &sweep_group, nb::arg("gram"), nb::arg("coupled"), nb::arg("coef"), nb::arg("gradient"), nb::arg("rate"), nb::arg("tol"), nb::arg("most"));
    m.def("sweep_columns", &sweep_columns, nb::arg("starts"), nb::arg("rows"), nb::arg("values"), nb::arg("chosen"), nb::arg("weight"), nb::arg("pull"), nb::arg("coef"), nb::arg("linear"), nb::arg("square"), nb::arg("lower"), nb::arg("upper"), nb::arg("tol"), nb::arg("most"));
}
