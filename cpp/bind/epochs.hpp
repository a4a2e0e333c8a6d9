// Stochastic epochs for Python: checks what is handed in, releases the interpreter lock. Calls are kept short by the
// caller, so that Ctrl-C is answered between them.
#pragma once

#include <deque>
#include <iterator>
#include <string>
#include <vector>

#include "rowwise/epochs.hpp"
#include "parts.hpp"

namespace {

const char* const row_losses[] = {"squared",
                                  "logistic",
                                  "softmax",
                                  "hinge",
                                  "squared-hinge",
                                  "crammer-singer",
                                  "quantile",
                                  "huber",
                                  "epsilon-insensitive",
                                  "squared-epsilon-insensitive",
                                  "poisson"};

RowLoss row_loss_of(const std::string& name) {
    for (std::size_t i = 0; i < std::size(row_losses); ++i)
        if (name == row_losses[i]) return static_cast<RowLoss>(i);
    throw nb::value_error(("no epochs for the loss '" + name + "'").c_str());
}

// Segments of rows with what belongs to them: a list of (parts, y, weight or None, offset or None).
struct Segments {
    Segments(const nb::list& list, Index columns, Index targets, Index outputs) {
        for (nb::handle item : list) {
            const nb::tuple four = nb::cast<nb::tuple>(item);
            if (four.size() != 4) throw nb::value_error("a segment is (parts, y, weight, offset)");
            const std::vector<Part>& own = parts.emplace_back(parts_of(four[0], columns));
            const std::size_t n = static_cast<std::size_t>(own[0].rows);
            Segment segment{own.data(), static_cast<Index>(own.size()), own[0].rows, rows, nullptr, nullptr, nullptr};
            segment.y = array(four[1], n * static_cast<std::size_t>(targets), "y");
            segment.weight = array(four[2], n, "weight");
            segment.offset = array(four[3], n * static_cast<std::size_t>(outputs), "offset");
            rows += own[0].rows;
            if (n > 0) all.push_back(segment);
        }
    }
    const double* array(nb::handle given, std::size_t size, const char* name) {
        if (given.is_none()) return nullptr;
        held.push_back(nb::cast<Numbers>(given));
        return data_of(held.back(), size, name);
    }
    std::deque<std::vector<Part>> parts;
    std::deque<Numbers> held;
    std::vector<Segment> all;
    Index rows = 0;
};

void use(Epoch& e, const Segments& segments, const Order& order) {
    e.segments = segments.all.data();
    e.segment_count = static_cast<Index>(segments.all.size());
    e.order = order.data();
    e.length = static_cast<Index>(order.size());
    for (Index i = 0; i < e.length; ++i)
        if (e.order[i] < 0 || e.order[i] >= segments.rows) throw nb::value_error("the order names a row that does not exist");
}

double epoch(const nb::list& list, const Order& order, const std::string& loss, double parameter, const Kept& coef, const Numbers& rate,
             const std::optional<Numbers>& shift, const Numbers& linear, const Numbers& square, double step, double weight, Index batch,
             const std::optional<Kept>& sum, const std::optional<Kept>& table, const std::optional<Kept>& mean_gradient, double total) {
    if (coef.ndim() != 2 || batch < 1) throw nb::value_error("coef must be (columns, outputs), batch at least 1");
    const std::size_t columns = coef.shape(0), outputs = coef.shape(1);
    Epoch e{};
    e.loss = row_loss_of(loss);
    e.parameter = parameter;
    e.columns = static_cast<Index>(columns);
    e.outputs = static_cast<Index>(outputs);
    const bool classes = e.loss == RowLoss::softmax || e.loss == RowLoss::crammer_singer;
    e.targets = classes ? 1 : e.outputs;
    if (outputs < 1 || (!classes && e.loss != RowLoss::squared && outputs != 1)) throw nb::value_error("this loss has one output");
    const Segments segments(list, e.columns, e.targets, e.outputs);
    use(e, segments, order);
    for (const Segment& segment : segments.all) {
        if (!segment.y) throw nb::value_error("a segment needs y");
        for (Index i = 0; classes && i < segment.rows; ++i)
            if (!(segment.y[i] >= 0 && segment.y[i] < static_cast<double>(outputs))) throw nb::value_error("y must be class numbers");
    }
    e.batch = batch;
    e.step = step;
    e.weight = weight;
    e.total = total;
    e.rate = data_of(rate, columns, "rate");
    e.linear = data_of(linear, columns, "linear");
    e.square = data_of(square, columns, "square");
    e.coef = coef.data();
    e.shift = data_of(shift, columns, "shift");
    e.sum = data_of(sum, columns * outputs, "sum");
    e.table = data_of(table, static_cast<std::size_t>(segments.rows) * outputs, "table");
    e.mean_gradient = data_of(mean_gradient, columns * outputs, "mean_gradient");
    if (e.mean_gradient && !e.table) throw nb::value_error("saga needs a table");
    bool dense = true;
    for (const Segment& segment : segments.all)
        for (Index part = 0; part < segment.part_count; ++part)
            dense &= segment.parts[part].kind == Kind::ones || segment.parts[part].kind == Kind::dense;
    const std::size_t room = batch > 1 || dense ? columns : 0, taken = std::min(static_cast<std::size_t>(batch), order.size());
    std::vector<std::int64_t> last(columns), touched(room);
    std::vector<double> gathered(room * outputs), eta(outputs), slope(taken * outputs);
    std::vector<double> rows(dense ? taken * columns : 0), sizes(dense ? 3 * columns * outputs : 0);
    std::vector<double> powers(dense ? 0
                                     : 2 * ((order.size() + static_cast<std::size_t>(batch) - 1) / static_cast<std::size_t>(batch) + 1));
    e.last = last.data();
    e.touched = touched.data();
    e.gathered = gathered.data();
    e.eta = eta.data();
    e.slope = slope.data();
    e.rows = dense ? rows.data() : nullptr;
    e.sizes = sizes.data();
    e.powers = powers.data();
    return unlocked([&] { return epochs().run(e); });
}

double largest_row(const nb::list& list, const Order& order, const Numbers& rate, const std::optional<Numbers>& shift) {
    Epoch e{};
    const Segments segments(list, static_cast<Index>(rate.size()), 0, 0);
    use(e, segments, order);
    e.rate = rate.data();
    e.shift = data_of(shift, rate.size(), "shift");
    return unlocked([&] { return epochs().largest(e); });
}

void bind_epochs(nb::module_& m) {
    m.def("epoch", epoch, nb::arg("segments"), nb::arg("order"), nb::arg("loss"), nb::arg("parameter"), nb::arg("coef"), nb::arg("rate"),
          nb::arg("shift").none(), nb::arg("linear"), nb::arg("square"), nb::arg("step"), nb::arg("weight") = 1.0, nb::arg("batch") = 1,
          nb::arg("sum").none() = nb::none(), nb::arg("table").none() = nb::none(), nb::arg("mean_gradient").none() = nb::none(),
          nb::arg("total") = 1.0);
    m.def("largest_row", largest_row, nb::arg("segments"), nb::arg("order"), nb::arg("rate"), nb::arg("shift").none());
}

}  // namespace
