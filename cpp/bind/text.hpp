// Text for Python: checks what is handed in, releases the interpreter lock, hands counts and sparse rows back.
#pragma once

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "text/text.hpp"
#include "arrays.hpp"
#include "team.hpp"

namespace {

std::string_view utf8(nb::handle text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_Check(text.ptr()) ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
    if (data == nullptr) {
        if (PyErr_Occurred()) throw nb::python_error();
        throw nb::type_error("a text must be a str");
    }
    return {data, static_cast<std::size_t>(size)};
}

// Documents with what keeps their text alive.
struct Library {
    Documents documents;
    Line<std::int64_t> starts;
    Line<std::uint8_t> text;
    nb::object strings;
    std::vector<std::string_view> apart;

    Library(Line<std::int64_t> starts_, Line<std::uint8_t> text_) : starts(std::move(starts_)), text(std::move(text_)) {
        if (starts.size() < 1) throw nb::value_error("starts must have one entry more than there are documents");
        const std::int64_t* at = starts.data();
        if (at[0] < 0 || at[starts.size() - 1] > static_cast<std::int64_t>(text.size()))
            throw nb::value_error("starts do not fit the text");
        for (std::size_t i = 1; i < starts.size(); ++i)
            if (at[i] < at[i - 1]) throw nb::value_error("starts must not decrease");
        static const char nothing = 0;
        documents = {at, text.size() ? reinterpret_cast<const char*>(text.data()) : &nothing, static_cast<Index>(starts.size()) - 1,
                     nullptr};
    }

    // Texts where Python has them; a tuple of its own, so that nobody takes one away.
    explicit Library(const nb::list& texts) : strings(nb::steal(PyList_AsTuple(texts.ptr()))) {
        if (!strings.is_valid()) throw nb::python_error();
        constexpr Py_ssize_t ahead = 16;
        const Py_ssize_t count = PyTuple_Size(strings.ptr());
        apart.reserve(static_cast<std::size_t>(count));
        for (Py_ssize_t i = 0; i < count; ++i) {
            if (i + ahead < count) __builtin_prefetch(PyTuple_GetItem(strings.ptr(), i + ahead));
            apart.push_back(utf8(PyTuple_GetItem(strings.ptr(), i)));
        }
        documents = {nullptr, nullptr, static_cast<Index>(count), apart.data()};
    }

    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
};

Reading reading_of(bool characters, bool lower, bool fold, Index least, Index low, Index high, std::vector<std::string> missing,
                   std::vector<std::string> stop) {
    if (least < 1 || low < 1 || high < low || high > 64)
        throw nb::value_error("least and low must be at least 1, high at least low and at most 64");
    std::sort(stop.begin(), stop.end());
    return {characters, lower, fold, least, low, high, std::move(missing), std::move(stop)};
}

// A copy that can be read beyond its end.
std::vector<char> padded(std::string_view text) {
    std::vector<char> room(text.size() + 32);
    std::copy(text.begin(), text.end(), room.begin());
    return room;
}

bool add_terms(Lexicon& self, const nb::list& terms) {
    for (nb::handle term : terms) {
        const std::string_view text = utf8(term);
        const Index before = self.size();
        const std::vector<char> room = padded(text);
        self.add({room.data(), text.size()}, hash(room.data(), text.size()));
        if (self.size() == before) return false;
    }
    return true;
}

template <class Get>
nb::object each(Index size, Get get) {
    std::vector<std::int64_t> out(static_cast<std::size_t>(size));
    for (Index i = 0; i < size; ++i) out[static_cast<std::size_t>(i)] = get(i);
    return handed(std::move(out));
}

nb::list take_terms(const Lexicon& self, const Line<std::int64_t>& numbers) {
    nb::list out;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::int64_t k = numbers.data()[i];
        if (k < 0 || k >= self.size()) throw nb::value_error("there is no term of this number");
        const std::string_view text = self[k];
        const nb::object term = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "strict"));
        if (!term.is_valid()) throw nb::python_error();
        out.append(term);
    }
    return out;
}

// The numbers of terms in the order of their texts; that of UTF-8 is the order of the characters.
nb::object sorted_terms(const Lexicon& self, const Line<std::int64_t>& numbers) {
    std::vector<std::int64_t> out(numbers.data(), numbers.data() + numbers.size());
    for (const std::int64_t k : out)
        if (k < 0 || k >= self.size()) throw nb::value_error("there is no term of this number");
    self.sort(out);
    return handed(std::move(out));
}

template <class Value, class Encode>
nb::tuple encoded(Encode encode) {
    Matrix32<Value> out;
    without_lock([&] { encode(out); });
    const Index terms = out.terms, unknown = out.unknown, largest = out.largest;
    return nb::make_tuple(handed(std::move(out.starts)), handed(std::move(out.columns)), handed(std::move(out.values)), terms, unknown,
                          largest);
}

// encode(weighting, out) with the scales that are given, to floats or doubles
template <class Encode>
nb::tuple weighted(std::size_t width, bool binary, const std::optional<Line<double>>& scale, bool single, Encode encode) {
    if (scale && scale->size() != width) throw nb::value_error("scale must have one entry for each column");
    const Weighting weighting{binary, scale ? scale->data() : nullptr};
    return single ? encoded<float>([&](Matrix32<float>& out) { encode(weighting, out); })
                  : encoded<double>([&](Matrix32<double>& out) { encode(weighting, out); });
}

nb::tuple encode_with(const Reading& reading, const Library& held, const Place& place, std::size_t width, bool binary,
                      const std::optional<Line<double>>& scale, bool single) {
    return weighted(width, binary, scale, single,
                    [&](const Weighting& weighting, auto& out) { encode_terms(team(), held.documents, reading, place, weighting, out); });
}

nb::tuple encode_kept(const Tokens& tokens, const Line<std::int32_t>& columns, bool binary, const std::optional<Line<double>>& scale,
                      bool single) {
    std::int32_t top = -1;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns.data()[i] < -1) throw nb::value_error("a column must not be below -1");
        top = std::max(top, columns.data()[i]);
    }
    if (static_cast<std::size_t>(tokens.different) > columns.size()) throw nb::value_error("columns must have one entry for each term");
    return weighted(static_cast<std::size_t>(top + 1), binary, scale, single,
                    [&](const Weighting& weighting, auto& out) { encode_tokens(team(), tokens, columns.data(), weighting, out); });
}

nb::tuple encode_lexicon(const Reading& reading, const Library& held, const Lexicon& lexicon, bool binary,
                         const std::optional<Line<double>>& scale, bool single) {
    return encode_with(reading, held, {&lexicon, 0, nullptr}, static_cast<std::size_t>(lexicon.size()), binary, scale, single);
}

nb::tuple encode_buckets(const Reading& reading, const Library& held, int bits, const std::optional<Line<std::int32_t>>& columns,
                         bool binary, const std::optional<Line<double>>& scale, bool single) {
    if (bits < 1 || bits > 30) throw nb::value_error("bits must be between 1 and 30");
    Place place{nullptr, bits, nullptr};
    std::size_t width = std::size_t{1} << bits;
    if (columns) {
        if (columns->size() != width) throw nb::value_error("columns must have one entry for each bucket");
        place.columns = columns->data();
        std::int32_t top = -1;
        for (std::size_t i = 0; i < width; ++i) {
            if (place.columns[i] < -1) throw nb::value_error("a column must not be below -1");
            top = std::max(top, place.columns[i]);
        }
        width = static_cast<std::size_t>(top + 1);
    }
    return encode_with(reading, held, place, width, binary, scale, single);
}

void bind_text(nb::module_& m) {
    nb::class_<Reading>(m, "Reading", "How a document becomes terms.")
        .def(
            "__init__",
            [](Reading* self, bool characters, bool lower, bool fold, Index least, Index low, Index high, std::vector<std::string> missing,
               std::vector<std::string> stop) {
                new (self) Reading(reading_of(characters, lower, fold, least, low, high, std::move(missing), std::move(stop)));
            },
            nb::arg("characters"), nb::arg("lower"), nb::arg("fold"), nb::arg("least"), nb::arg("low"), nb::arg("high"), nb::arg("missing"),
            nb::arg("stop") = std::vector<std::string>());
    nb::class_<Library>(m, "Documents", "Texts to be read: UTF-8 with the places where each starts, or a list of str, which is not copied.")
        .def(nb::init<Line<std::int64_t>, Line<std::uint8_t>>(), nb::arg("starts"), nb::arg("text"))
        .def(nb::init<const nb::list&>(), nb::arg("texts"))
        .def("__len__", [](const Library& self) { return self.documents.count; });
    nb::class_<Tokens>(m, "Tokens", "Documents as the numbers of their terms.").def(nb::init<>());
    nb::class_<Lexicon>(m, "Lexicon", "Terms, numbered in the order in which they came.")
        .def(nb::init<>())
        .def("__len__", &Lexicon::size)
        .def("add", add_terms, nb::arg("terms"))
        .def(
            "count",
            [](Lexicon& self, const Reading& reading, const Library& held, Index most, Tokens* kept) {
                bool room = true;
                without_lock([&] { room = count_terms(team(), held.documents, reading, most, self, kept); });
                return room;
            },
            nb::arg("reading"), nb::arg("documents"), nb::arg("most"), nb::arg("kept").none() = nb::none())
        .def("sorted", sorted_terms, nb::arg("numbers"))
        .def("documents", [](const Lexicon& self) { return each(self.size(), [&](Index i) { return self.documents(i); }); })
        .def("times", [](const Lexicon& self) { return each(self.size(), [&](Index i) { return self.times(i); }); })
        .def("sizes", [](const Lexicon& self) { return each(self.size(), [&](Index i) { return static_cast<Index>(self[i].size()); }); })
        .def("take", take_terms, nb::arg("numbers"));
    nb::class_<Buckets>(m, "Buckets", "Terms by the first bits of their hash.")
        .def(
            "__init__",
            [](Buckets* self, int bits) {
                if (bits < 1 || bits > 30) throw nb::value_error("bits must be between 1 and 30");
                new (self) Buckets(bits);
            },
            nb::arg("bits"))
        .def(
            "count",
            [](Buckets& self, const Reading& reading, const Library& held) {
                without_lock([&] { count_buckets(team(), held.documents, reading, self); });
            },
            nb::arg("reading"), nb::arg("documents"))
        .def("documents", [](const Buckets& self) { return handed(std::vector<std::int64_t>(self.documents)); })
        .def("shared", [](const Buckets& self) { return handed(std::vector<std::uint8_t>(self.shared)); });
    m.def("encode_lexicon", encode_lexicon, nb::arg("reading"), nb::arg("documents"), nb::arg("lexicon"), nb::arg("binary"),
          nb::arg("scale").none(), nb::arg("single"));
    m.def("encode_buckets", encode_buckets, nb::arg("reading"), nb::arg("documents"), nb::arg("bits"), nb::arg("columns").none(),
          nb::arg("binary"), nb::arg("scale").none(), nb::arg("single"));
    m.def("encode_tokens", encode_kept, nb::arg("tokens"), nb::arg("columns"), nb::arg("binary"), nb::arg("scale").none(),
          nb::arg("single"));
    m.def(
        "text_statistics",
        [](const Reading& reading, const Library& held, const Lexicon* known) {
            const Output out({held.documents.count, statistic_columns + (known ? 1 : 0)});
            without_lock([&] { text_statistics(team(), held.documents, reading, known, out.data); });
            return out.array;
        },
        nb::arg("reading"), nb::arg("documents"), nb::arg("known").none());
    m.def(
        "hash_text",
        [](nb::handle term) {
            const std::string_view text = utf8(term);
            return hash(padded(text).data(), text.size());
        },
        nb::arg("text"));
}

}  // namespace
