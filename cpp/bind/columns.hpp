// Columns of a table and the figures of scores for Python: checks what is handed in, releases the interpreter lock.
#pragma once

#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "csv/columns.hpp"
#include "csv/figures.hpp"
#include "csv/sha256.hpp"
#include "arrays.hpp"
#include "team.hpp"

namespace {

// Releases the interpreter lock for work on `cells` cells, unless that ends sooner than another thread would wake up.
class Unlocked {
public:
    explicit Unlocked(Index cells) {
        if (cells > 100'000) free_.emplace();
    }

private:
    std::optional<nb::gil_scoped_release> free_;
};

// Codes of one, two or four bytes, from -1 on.
class CodesView {
public:
    explicit CodesView(nb::handle array) : view_(array, "codes", "an int8, int16 or int32 array") {
        if (view_.dimensions() != 1 || (view_.size(0) > 1 && view_.stride(0) != 1))
            throw nb::value_error("codes must be one row without gaps");
        bytes_ = view_.is("b") ? 1 : view_.is("h") ? 2 : view_.is_int(4) ? 4 : 0;
        if (bytes_ == 0) throw nb::type_error(("codes must be int8, int16 or int32, got format '" + view_.format() + "'").c_str());
    }
    Index size() const { return view_.size(0); }

    // work(pointer to the codes)
    template <class Work>
    auto with(Work work) const {
        if (bytes_ == 1) return work(static_cast<const std::int8_t*>(view_.data()));
        if (bytes_ == 2) return work(static_cast<const std::int16_t*>(view_.data()));
        return work(static_cast<const std::int32_t*>(view_.data()));
    }

    // how often every code occurs, that of -1 first; refuses others
    std::vector<std::int64_t> counted(Index levels) const {
        if (levels < 0) throw nb::value_error("levels must not be below 0");
        std::vector<std::int64_t> counts(static_cast<std::size_t>(levels) + 1);
        bool fits = true;
        {
            const Unlocked free(size());
            fits = with([&](const auto* codes) { return tally(codes, size(), levels, counts.data()); });
        }
        if (!fits) refuse(levels);
        return counts;
    }

    bool fit(Index levels) const {
        return with([&](const auto* codes) { return fits(codes, size(), levels); });
    }
    [[noreturn]] static void refuse(Index levels) {
        throw nb::value_error(("codes must lie between -1 and " + std::to_string(levels - 1)).c_str());
    }

private:
    View view_;
    int bytes_ = 0;
};

nb::tuple summary(const Line<double>& values) {
    Summary found;
    {
        const Unlocked free(static_cast<Index>(values.size()));
        found = summarise(values.data(), static_cast<Index>(values.size()));
    }
    return nb::make_tuple(found.count, found.low, found.high, found.sum, found.rest, found.whole);
}

nb::object tallied(nb::handle codes, Index levels) { return handed(CodesView(codes).counted(levels)); }

// The table's entry of every code, that of -1 first, in `bytes` bytes each, or written to `out` (int32).
nb::object recoded(nb::handle array, const Line<std::int32_t>& table, int bytes, nb::object out) {
    const CodesView codes(array);
    if (table.size() < 1) throw nb::value_error("the table must have an entry for -1");
    const Index levels = static_cast<Index>(table.size()) - 1;
    const auto fill = [&](auto* to) {
        bool right = true;
        {
            const Unlocked free(codes.size());
            right = codes.fit(levels);
            if (right) codes.with([&](const auto* from) { recode(from, codes.size(), table.data(), to); });
        }
        if (!right) CodesView::refuse(levels);
    };
    if (!out.is_none()) {
        const auto room = nb::cast<nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(out, false);
        if (static_cast<Index>(room.size()) != codes.size()) throw nb::value_error("out must have one entry for every code");
        fill(room.data());
        return out;
    }
    const auto made = [&]<class T>(T) {
        std::unique_ptr<T[]> values(new T[static_cast<std::size_t>(codes.size())]);
        fill(values.get());
        return owning(std::move(values), {static_cast<std::size_t>(codes.size())});
    };
    return bytes == 1 ? made(std::int8_t{}) : bytes == 2 ? made(std::int16_t{}) : made(std::int32_t{});
}

// A column on its way into a hash: numbers, or codes with the records they stand for.
struct Hashed {
    Sha256* to;
    Line<double> numbers;
    std::unique_ptr<CodesView> codes;
    Line<std::int64_t> ends;
    const char* text = nullptr;

    // (digest, numbers), or (digest, codes, ends, text): record k of `text` ends at ends[k + 1], that of -1 is the first
    explicit Hashed(const nb::tuple& job) : to(nb::cast<Sha256*>(job[0])) {
        if (job.size() == 2) {
            numbers = nb::cast<Line<double>>(job[1], false);
            return;
        }
        codes = std::make_unique<CodesView>(job[1]);
        ends = nb::cast<Line<std::int64_t>>(job[2], false);
        const auto words = nb::cast<nb::bytes>(job[3], false);
        text = words.c_str();
        const std::size_t count = ends.size();
        if (count < 2) throw nb::value_error("ends must have one entry more than there are records, and there must be one for -1");
        for (std::size_t k = 1; k < count; ++k)
            if (ends.data()[k] < ends.data()[k - 1]) throw nb::value_error("ends must not decrease");
        if (ends.data()[0] != 0 || ends.data()[count - 1] + 16 > static_cast<std::int64_t>(words.size()))
            throw nb::value_error("ends must begin with 0 and leave 16 bytes of the text");
        if (!codes->fit(levels())) CodesView::refuse(levels());
    }
    Index levels() const { return static_cast<Index>(ends.size()) - 2; }
    void add() const {
        if (!codes)
            hash_numbers(numbers.data(), static_cast<Index>(numbers.size()), *to);
        else
            codes->with([&](const auto* from) { hash_records(from, codes->size(), ends.data(), text, *to); });
    }
};

// All or, if one of them is refused, none; no digest may be in use by another thread.
void hash_columns(const nb::list& jobs) {
    std::vector<Hashed> all;
    for (const nb::handle job : jobs) all.emplace_back(nb::cast<nb::tuple>(job));
    unlocked([&] {
        for (const Hashed& one : all) one.add();
    });
}

void hash_bytes(Sha256& to, nb::handle bytes) {
    const BytesView data(bytes, "data");
    unlocked([&] { to.add(data.text.data(), data.text.size()); });
}

std::vector<Index> interleaved(const std::vector<Line<double>>& columns, const std::vector<Index>& at,
                               const nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& out) {
    if (columns.size() != at.size()) throw nb::value_error("every column needs its place");
    std::vector<const double*> from;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        if (columns[j].size() != out.shape(0)) throw nb::value_error("columns must have one number for every row");
        if (at[j] < 0 || at[j] >= static_cast<Index>(out.shape(1))) throw nb::value_error("a place lies outside of the matrix");
        from.push_back(columns[j].data());
    }
    double* to = out.data();
    const Index rows = static_cast<Index>(out.shape(0)), stride = static_cast<Index>(out.shape(1));
    return unlocked([&] { return interleave(from, at, rows, to, stride); });
}

nb::object told_apart(const Line<double>& y, const Line<double>& eta) {
    if (y.size() != eta.size()) throw nb::value_error("y and eta must have one entry for every row");
    Figures found;
    bool usual = true;
    without_lock([&] { usual = two_classes(team(), y.data(), eta.data(), static_cast<Index>(y.size()), found); });
    if (!usual) return nb::none();
    return nb::make_tuple(found.surprise + found.rest, found.squares, nb::make_tuple(found.weights[0], found.weights[1]),
                          nb::make_tuple(found.right[0], found.right[1]));
}

nb::tuple ranked(const Line<double>& ones, const Line<double>& zeros) {
    const Ranks found =
        unlocked([&] { return ranks(ones.data(), static_cast<Index>(ones.size()), zeros.data(), static_cast<Index>(zeros.size())); });
    return nb::make_tuple(found.pairs, found.shares);
}

void bind_columns(nb::module_& m) {
    m.def("summary", summary, nb::arg("values"));
    m.def("tally", tallied, nb::arg("codes"), nb::arg("levels"));
    m.def("recode", recoded, nb::arg("codes"), nb::arg("table"), nb::arg("bytes") = 4, nb::arg("out") = nb::none());
    nb::class_<Sha256>(m, "Sha256").def(nb::init<>()).def("update", hash_bytes, nb::arg("data")).def("digest", [](const Sha256& hash) {
        const auto found = hash.digest();
        return nb::bytes(reinterpret_cast<const char*>(found.data()), found.size());
    });
    m.def("hash_columns", hash_columns, nb::arg("jobs"));
    m.def("interleave", interleaved, nb::arg("columns"), nb::arg("at"), nb::arg("out"));
    m.def("two_classes", told_apart, nb::arg("y"), nb::arg("eta"));
    m.def("ranks", ranked, nb::arg("ones"), nb::arg("zeros"));
}

}  // namespace
