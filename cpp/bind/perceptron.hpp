// Perceptrons for Python: rows are checked once, then presented in short calls, so that Ctrl-C is answered between them.
#pragma once

#include "perceptron/perceptron.hpp"
#include "epochs.hpp"
#include "team.hpp"

namespace {

// Rows with class numbers: the segments of `epoch`, without weights and offsets.
struct Presenter {
    Presenter(nb::list list, Index columns, Index outputs, bool across)
        : segments(list, columns, 1, 0), owner(list), columns(columns), outputs(outputs), across(across) {
        if (columns < 1 || outputs < 1) throw nb::value_error("there must be columns and outputs");
        const double classes = outputs == 1 ? 2 : static_cast<double>(outputs);
        for (const Segment& segment : segments.all) {
            if (!segment.y) throw nb::value_error("a segment needs y");
            for (Index i = 0; i < segment.rows; ++i)
                if (!(segment.y[i] >= 0 && segment.y[i] < classes)) throw nb::value_error("y must be class numbers");
            for (Index p = 0; p < segment.part_count; ++p)
                if (across && outputs > 1 && segment.parts[p].kind != Kind::ones && segment.parts[p].kind != Kind::dense)
                    throw nb::value_error("weights go across where every part is stored densely");
        }
    }
    Presentation plain() {
        Presentation e{};
        e.segments = segments.all.data();
        e.segment_count = static_cast<Index>(segments.all.size());
        e.columns = columns;
        e.outputs = outputs;
        e.across = across || outputs == 1;
        e.stride = columns;
        row.resize(static_cast<std::size_t>(columns));
        e.row = row.data();
        return e;
    }
    Segments segments;
    nb::tuple owner;  // keeps the parts alive
    Index columns, outputs;
    bool across;
    std::vector<double> row, eta;
};

// Weights [outputs][columns] on a copy whose rows begin, from the first dense column on, with a cache line.
class Aligned {
public:
    Aligned(const Presenter& self, double* given) : given_(given), outputs_(self.outputs), columns_(self.columns) {
        Index first = 0;
        for (Index p = 0; !self.segments.all.empty() && p < self.segments.all[0].part_count; ++p) {
            const Part& part = self.segments.all[0].parts[p];
            if (part.kind == Kind::dense) break;
            first += part.columns;
        }
        const Index lead = (8 - first % 8) % 8;
        stride_ = (columns_ + lead + 7) / 8 * 8;
        room_.resize(static_cast<std::size_t>(outputs_ * stride_ + 16));
        data_ = room_.data() + (64 - reinterpret_cast<std::uintptr_t>(room_.data()) % 64) % 64 / 8 + lead;
        for (Index c = 0; c < outputs_; ++c) std::copy(given_ + c * columns_, given_ + (c + 1) * columns_, data_ + c * stride_);
    }
    void back() const {
        for (Index c = 0; c < outputs_; ++c) std::copy(data_ + c * stride_, data_ + c * stride_ + columns_, given_ + c * columns_);
    }
    double* data() const { return data_; }
    Index stride() const { return stride_; }

private:
    double *given_, *data_;
    Index outputs_, columns_, stride_;
    std::vector<double> room_;
};

using Ledger = nb::ndarray<std::int64_t, nb::c_contig, nb::device::cpu>;

// state: at, presented, survived, mistakes, logged. Returns the largest |x|^2 seen, 0 if not asked.
double presented(Presenter& self, const std::optional<Order>& order, Index length, const Kept& coef, const std::optional<Kept>& drift,
                 const Ledger& state, int tie, double rate, Index longest, const std::optional<Ledger>& log, bool measure, double within) {
    Presentation e = self.plain();
    const std::size_t size = static_cast<std::size_t>(self.columns * self.outputs);
    e.coef = data_of(coef, size, "coef");
    e.drift = data_of(drift, size, "drift");
    if (order && length > static_cast<Index>(order->size())) throw nb::value_error("the order is shorter than length");
    if (!order && length > self.segments.rows) throw nb::value_error("length is larger than the number of rows");
    e.order = order ? order->data() : nullptr;
    if (log && log->size() % 3 != 0) throw nb::value_error("log must have three columns");
    e.log = log ? log->data() : nullptr;
    e.room = log ? static_cast<Index>(log->size() / 3) : 0;
    std::int64_t* numbers = data_of(state, 5, "state");
    e.at = numbers[0];
    e.presented = numbers[1];
    e.survived = numbers[2];
    e.mistakes = numbers[3];
    e.logged = numbers[4];
    if (e.at < 0 || (e.log && (e.logged < 0 || e.logged > e.room))) throw nb::value_error("state is out of range");
    e.length = length;
    for (Index n = e.at; e.order && n < e.length; ++n)
        if (e.order[n] < 0 || e.order[n] >= self.segments.rows) throw nb::value_error("the order names a row that does not exist");
    e.tie = tie;
    e.rate = rate;
    e.longest = longest;
    e.measure = measure;
    e.within = within > 0 && std::isfinite(within) ? within : 0;
    e.signs_only = self.outputs == 1 && e.length - e.at > 1;  // after a single row its scores may be asked for
    self.eta.resize(static_cast<std::size_t>(Presentation::ROWS * self.outputs));
    std::vector<double> sums(static_cast<std::size_t>(e.across ? 0 : 8 * self.outputs));
    e.eta = self.eta.data();
    e.sums = sums.data();
    std::deque<Aligned> aligned;
    if (self.across && self.outputs > 1) {
        e.coef = aligned.emplace_back(self, e.coef).data();
        e.stride = aligned.back().stride();
        if (e.drift) e.drift = aligned.emplace_back(self, e.drift).data();
    }
    unlocked([&] { perceptrons().run(e); });
    for (const Aligned& copy : aligned) copy.back();
    const std::int64_t now[] = {e.at, e.presented, e.survived, e.mistakes, e.logged};
    std::copy(now, now + 5, numbers);
    return e.largest;
}

nb::object projected(Presenter& self, const Numbers& vector) {
    const Presentation e = self.plain();
    const double* along = data_of(vector, static_cast<std::size_t>(self.columns), "vector");
    const Output out({self.segments.rows});
    unlocked([&] { perceptrons().project(e, along, out.data); });
    return out.array;
}

void bind_perceptron(nb::module_& m) {
    nb::class_<Presenter>(m, "Presenter", "Rows with class numbers, to be presented to a perceptron.")
        .def(nb::init<nb::list, Index, Index, bool>(), nb::arg("segments"), nb::arg("columns"), nb::arg("outputs"), nb::arg("across"))
        .def_prop_ro("scores",
                     [](Presenter& self) {
                         const Output out({self.outputs}, true);
                         if (!self.eta.empty()) std::copy(self.eta.begin(), self.eta.begin() + self.outputs, out.data);
                         return out.array;
                     })
        .def("run", presented, nb::arg("order").none(), nb::arg("length"), nb::arg("coef"), nb::arg("drift").none(), nb::arg("state"),
             nb::arg("tie"), nb::arg("rate"), nb::arg("longest"), nb::arg("log").none(), nb::arg("measure"), nb::arg("within") = 0.0)
        .def("project", projected, nb::arg("vector"));
}

}  // namespace
