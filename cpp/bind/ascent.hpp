// Dual coordinate ascent for Python: checks what is handed in, releases the interpreter lock. Calls are kept short by the
// caller, so that Ctrl-C is answered between them.
#pragma once

#include "rowwise/ascent.hpp"
#include "passes/ramp.hpp"
#include "epochs.hpp"
#include "team.hpp"

namespace {

nb::tuple ascend_rows(const nb::list& list, const Order& order, const Numbers& at, const Numbers& low, const Numbers& high,
                      const std::optional<Numbers>& offset, const Numbers& weight, const Numbers& square, const Numbers& inverse,
                      double epsilon, double bend, double cost, double shrink, const Kept& coef, const Kept& theta, const Marks& keep,
                      const std::optional<Kept>& total, Index batch) {
    if (coef.ndim() != 2 || theta.ndim() != 2 || coef.shape(1) != theta.shape(1))
        throw nb::value_error("coef and theta must be (columns, outputs) and (rows, outputs)");
    const std::vector<Part> parts = parts_of(list, static_cast<Index>(coef.shape(0)));
    const std::size_t n = static_cast<std::size_t>(parts[0].rows), k = coef.shape(1), one = k == 1 ? n : 0;
    if (theta.shape(0) != n) throw nb::value_error("theta must have one row for each row");
    for (std::size_t i = 0; i < order.size(); ++i)
        if (order.data()[i] < 0 || static_cast<std::size_t>(order.data()[i]) >= n)
            throw nb::value_error("order names a row that does not exist");
    Ascent a{};
    a.parts = parts.data();
    a.part_count = static_cast<Index>(parts.size());
    a.outputs = static_cast<Index>(k);
    a.order = order.data();
    a.length = static_cast<Index>(order.size());
    a.at = data_of(at, n, "at");
    if (k > 1)
        for (std::size_t i = 0; i < n; ++i)
            if (!(a.at[i] >= 0 && a.at[i] < static_cast<double>(k))) throw nb::value_error("at must hold class numbers");
    a.low = data_of(low, one, "low");
    a.high = data_of(high, one, "high");
    a.offset = data_of(offset, n * k, "offset");
    a.weight = data_of(weight, n, "weight");
    a.square = data_of(square, n, "square");
    a.inverse = data_of(inverse, coef.shape(0), "inverse");
    a.epsilon = epsilon;
    a.bend = bend;
    a.cost = cost;
    a.shrink = shrink;
    a.coef = coef.data();
    a.theta = theta.data();
    a.keep = data_of(keep, order.size(), "keep");
    a.batch = batch;
    if (batch < 0 || (batch > 0 && (k > 1 || !total))) throw nb::value_error("two lanes are for losses of one output, and need a total");
    if (batch > 0) a.total = data_of(total, coef.shape(0), "total");
    without_lock([&] { ascend(team(), a); });
    return nb::make_tuple(a.loss, a.pulled > 0 ? a.pull / static_cast<double>(a.pulled) : 0.0, a.mismatch);
}

void squares_of_rows(const nb::list& list, const Numbers& inverse, const Kept& square) {
    const std::vector<Part> parts = parts_of(list, static_cast<Index>(inverse.size()));
    double* out = data_of(square, static_cast<std::size_t>(parts[0].rows), "square");
    without_lock([&] { row_squares(team(), parts.data(), static_cast<Index>(parts.size()), inverse.data(), out); });
}

nb::tuple look_at_rows(const Numbers& score, const Numbers& at, const Numbers& low, const Numbers& high, const Numbers& weight,
                       const Numbers& theta, double epsilon, double bend, bool free) {
    const std::size_t n = score.size();
    Look seen{};
    seen.length = static_cast<Index>(n);
    seen.score = score.data();
    seen.at = data_of(at, n, "at");
    seen.low = data_of(low, n, "low");
    seen.high = data_of(high, n, "high");
    seen.weight = data_of(weight, n, "weight");
    seen.theta = data_of(theta, n, "theta");
    seen.epsilon = epsilon;
    seen.bend = bend;
    unlocked([&] { look(seen, free); });
    return nb::make_tuple(seen.loss, seen.mismatch, seen.shift);
}

nb::tuple sums_of_ramps(const Numbers& score, const Numbers& at, const Numbers& low, const Numbers& high, const Numbers& weight,
                        const Numbers& theta, const std::optional<Kept>& room) {
    const std::size_t n = score.size();
    const Ramp ramp{score.data(),
                    data_of(at, n, "at"),
                    data_of(low, n, "low"),
                    data_of(high, n, "high"),
                    data_of(weight, n, "weight"),
                    data_of(theta, n, "theta"),
                    data_of(room, n, "room")};
    const RampSums sums = unlocked([&] { return ramp_sums(ramp, 0, static_cast<Index>(n)); });
    return nb::make_tuple(sums.mismatch, sums.value, sums.size, sums.apart, sums.strain, sums.metric, sums.steepest);
}

void bind_ascent(nb::module_& m) {
    m.def("ascend", ascend_rows, nb::arg("parts"), nb::arg("order"), nb::arg("at"), nb::arg("low"), nb::arg("high"),
          nb::arg("offset").none(), nb::arg("weight"), nb::arg("square"), nb::arg("inverse"), nb::arg("epsilon"), nb::arg("bend"),
          nb::arg("cost"), nb::arg("shrink"), nb::arg("coef").noconvert(), nb::arg("theta").noconvert(), nb::arg("keep").noconvert(),
          nb::arg("total").none() = nb::none(), nb::arg("batch") = 0);
    m.def("look", look_at_rows, nb::arg("score"), nb::arg("at"), nb::arg("low"), nb::arg("high"), nb::arg("weight"), nb::arg("theta"),
          nb::arg("epsilon"), nb::arg("bend"), nb::arg("free"));
    m.def("ramp_sums", sums_of_ramps, nb::arg("score"), nb::arg("at"), nb::arg("low"), nb::arg("high"), nb::arg("weight"), nb::arg("theta"),
          nb::arg("room") = nb::none());
    m.def("row_squares", squares_of_rows, nb::arg("parts"), nb::arg("inverse"), nb::arg("square").noconvert());
}

}  // namespace
