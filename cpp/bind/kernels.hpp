// Gram matrices, for Python.
#pragma once

#include "kernels/gram.hpp"
#include "arrays.hpp"
#include "team.hpp"

namespace {

// Starts of so many things, one after the other; how many there are.
Index counted(const Line<std::int64_t>& starts, std::size_t length) {
    if (starts.size() < 1 || starts.data()[0] != 0) throw nb::value_error("starts must begin with 0");
    for (std::size_t i = 1; i < starts.size(); ++i)
        if (starts.data()[i] < starts.data()[i - 1]) throw nb::value_error("starts must not decrease");
    if (starts.data()[starts.size() - 1] != static_cast<std::int64_t>(length)) throw nb::value_error("starts must end where the data do");
    return static_cast<Index>(starts.size()) - 1;
}

Pairs paired(Index count, Index split) {
    if (split > count) throw nb::value_error("split must not exceed the number of points");
    return {count, split < 0 ? -1 : split};
}

void expect_decay(double decay) {
    if (!(decay > 0 && decay <= 1)) throw nb::value_error(("decay must lie in (0, 1], got " + std::to_string(decay)).c_str());
}

const double* pointer(const Grid<double>& lines) {
    static const double nothing = 0;
    return lines.size() ? lines.data() : &nothing;
}

nb::object dense_gram_of(const Grid<double>& left, const std::optional<Grid<double>>& right, int between, int finish, double factor,
                         double shift, int degree) {
    if (right && right->shape(1) != left.shape(1)) throw nb::value_error("left and right must have the same number of columns");
    if (between < 0 || between > 2 || finish < 0 || finish > 2) throw nb::value_error("between and finish must be 0, 1 or 2");
    if (degree < 1) throw nb::value_error("degree must be at least 1");
    const Index rows = static_cast<Index>(left.shape(0)), others = right ? static_cast<Index>(right->shape(0)) : rows;
    const Output out({rows, others});
    const Finish how{static_cast<Finish::Kind>(finish), factor, shift, degree};
    without_lock([&] {
        dense_gram(team(), static_cast<Between>(between), how, pointer(left), rows, right ? pointer(*right) : nullptr, others,
                   static_cast<Index>(left.shape(1)), out.data);
    });
    return out.array;
}

nb::object sparse_gram_of(const Line<std::int64_t>& starts, const Line<std::int64_t>& columns, const Line<double>& values, Index width,
                          Index split, int between) {
    if (between != 0 && between != 2) throw nb::value_error("between must be 0 or 2");
    const Pairs pairs = paired(counted(starts, columns.size()), split);
    if (values.size() != columns.size()) throw nb::value_error("there must be as many values as columns");
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns.data()[i] < 0 || columns.data()[i] >= width) throw nb::value_error("columns must lie in 0 .. width - 1");
    const Output out({pairs.rows(), pairs.columns()});
    without_lock(
        [&] { sparse_gram(team(), pairs, static_cast<Between>(between), starts.data(), columns.data(), values.data(), width, out.data); });
    return out.array;
}

void expect_length(int length) {
    if (length < 1 || length > longest_subsequence)
        throw nb::value_error(("length must lie in 1 .. " + std::to_string(longest_subsequence)).c_str());
}

Index texts(const Line<std::int64_t>& starts, const Line<std::int64_t>& symbols, int length, double decay) {
    expect_length(length);
    expect_decay(decay);
    for (std::size_t i = 0; i < symbols.size(); ++i)
        if (symbols.data()[i] < 0) throw nb::value_error("symbols must not be negative");
    return counted(starts, symbols.size());
}

nb::object subsequence_gram_of(const Line<std::int64_t>& starts, const Line<std::int64_t>& symbols, int length, double decay, Index split) {
    const Pairs pairs = paired(texts(starts, symbols, length, decay), split);
    const Output out({pairs.rows(), pairs.columns()});
    without_lock([&] { subsequence_gram(team(), pairs, starts.data(), symbols.data(), length, decay, out.data); });
    return out.array;
}

nb::object subsequence_diagonal_of(const Line<std::int64_t>& starts, const Line<std::int64_t>& symbols, int length, double decay) {
    const Index count = texts(starts, symbols, length, decay);
    const Output out({count});
    without_lock([&] { subsequence_diagonal(team(), count, starts.data(), symbols.data(), length, decay, out.data); });
    return out.array;
}

Forest* forest_of(const Line<std::int64_t>& starts, const Line<std::uint8_t>& text) {
    static const char nothing = 0;
    const Index count = counted(starts, text.size());
    return new Forest(starts.data(), count, text.size() ? reinterpret_cast<const char*>(text.data()) : &nothing);
}

void whole_forest(const Forest& forest) {
    if (forest.fault() != Forest::none) throw nb::value_error("a tree is malformed");
}

nb::object forest_gram(const Forest& forest, double decay, Index split) {
    whole_forest(forest);
    expect_decay(decay);
    const Pairs pairs = paired(forest.trees(), split);
    const Output out({pairs.rows(), pairs.columns()});
    without_lock([&] { forest.gram(team(), pairs.split, decay, out.data); });
    return out.array;
}

nb::object forest_diagonal(const Forest& forest, double decay) {
    whole_forest(forest);
    expect_decay(decay);
    const Output out({forest.trees()});
    without_lock([&] { forest.diagonal(team(), decay, out.data); });
    return out.array;
}

nb::object forest_fault(const Forest& forest) {
    if (forest.fault() == Forest::none) return nb::none();
    return nb::make_tuple(static_cast<int>(forest.fault()), forest.fault_tree(), forest.fault_place());
}

nb::object forest_sizes(const Forest& forest) {
    const Output out({static_cast<Index>(forest.sizes().size())});
    for (std::size_t i = 0; i < forest.sizes().size(); ++i) out.data[i] = static_cast<double>(forest.sizes()[i]);
    return out.array;
}

void bind_kernels(nb::module_& m) {
    m.def("dense_gram", &dense_gram_of, nb::arg("left"), nb::arg("right").none(), nb::arg("between"), nb::arg("finish") = 0,
          nb::arg("factor") = 1.0, nb::arg("shift") = 0.0, nb::arg("degree") = 1);
    m.def("sparse_gram", &sparse_gram_of, nb::arg("starts"), nb::arg("columns"), nb::arg("values"), nb::arg("width"), nb::arg("split") = -1,
          nb::arg("between") = 0);
    m.def("subsequence_gram", &subsequence_gram_of, nb::arg("starts"), nb::arg("symbols"), nb::arg("length"), nb::arg("decay"),
          nb::arg("split") = -1);
    m.def("subsequence_diagonal", &subsequence_diagonal_of, nb::arg("starts"), nb::arg("symbols"), nb::arg("length"), nb::arg("decay"));
    nb::class_<Forest>(m, "Forest", "Trees in brackets, equal subtrees kept once.")
        .def(nb::new_(&forest_of), nb::arg("starts"), nb::arg("text"))
        .def_prop_ro("fault", &forest_fault)
        .def_prop_ro("sizes", &forest_sizes)
        .def("gram", &forest_gram, nb::arg("decay"), nb::arg("split") = -1)
        .def("diagonal", &forest_diagonal, nb::arg("decay"));
}

}  // namespace
