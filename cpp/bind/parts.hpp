// The parts a design is made of, as Python objects: everything a pass will trust is checked here, once.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "arrays.hpp"

namespace {

// A part with the arrays its pointers lead into.
struct Held {
    Held() = default;
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Part part;
    std::deque<View> views;
    nb::object whole;  // of which this is a slice
};

struct OnesPart : Held {
    explicit OnesPart(Index n) {
        if (n < 0) throw nb::value_error(("a column of ones needs a length >= 0, got " + std::to_string(n)).c_str());
        part.kind = Kind::ones;
        part.rows = n;
        part.columns = 1;
    }
};

struct DensePart : Held {
    explicit DensePart(nb::object array) {
        views.emplace_back(array, "a dense part", "a float32 or float64 matrix");
        const View& view = views.back();
        if (!view.is("fd")) throw nb::type_error(("a dense part must be float32 or float64, got format '" + view.format() + "'").c_str());
        if (view.dimensions() != 2)
            throw nb::value_error(("a dense part must have 2 dimensions, got " + std::to_string(view.dimensions())).c_str());
        part.kind = Kind::dense;
        part.rows = view.size(0);
        part.columns = view.size(1);
        part.values = view.data();
        part.single = view.is("f");
        part.row_stride = view.stride(0);
        // the stride of a single column means nothing, but 1 is fast
        part.column_stride = part.columns == 1 ? 1 : view.stride(1);
    }
};

template <class N>
void check_sparse(const Part& part, const N* starts, const N* indices, Index stored) {
    if (starts[0] < 0) throw nb::value_error("indptr must not be negative");
    for (Index i = 0; i < part.rows; ++i)
        if (starts[i + 1] < starts[i]) throw nb::value_error(("indptr decreases at row " + std::to_string(i)).c_str());
    if (starts[part.rows] > stored)
        throw nb::value_error(
            ("indptr ends at " + std::to_string(starts[part.rows]) + ", but only " + std::to_string(stored) + " entries are stored")
                .c_str());
    if (orderly(part)) return;
    for (Index i = 0; i < part.rows; ++i) {
        const Index begin = starts[i], end = starts[i + 1];
        if (begin == end) continue;
        bool increasing = true;
        for (Index t = begin + 1; t < end; ++t) increasing &= indices[t - 1] < indices[t];
        if (!increasing)
            throw nb::value_error(("the columns of row " + std::to_string(i) + " must increase; sort and sum duplicates first").c_str());
        if (indices[begin] < 0 || indices[end - 1] >= part.columns)
            throw nb::value_error(("row " + std::to_string(i) + " has a column outside 0 .. " + std::to_string(part.columns - 1)).c_str());
    }
}

struct SparsePart : Held {
    SparsePart(nb::object indptr, nb::object indices, nb::object data, Index n_columns) {
        views.emplace_back(indptr, "indptr", "an int32 or int64 array");
        views.emplace_back(indices, "indices", "an int32 or int64 array");
        views.emplace_back(data, "data", "a float32 or float64 array");
        for (const View& view : views)
            if (view.dimensions() != 1 || (view.size(0) > 1 && view.stride(0) != 1))
                throw nb::value_error("indptr, indices and data must be contiguous and have 1 dimension");
        part.wide = views[0].is_int(8);
        if (!(part.wide || views[0].is_int(4)) || !views[1].is_int(part.wide ? 8 : 4))
            throw nb::type_error("indptr and indices must both be int32 or both be int64");
        if (!views[2].is("fd")) throw nb::type_error(("data must be float32 or float64, got format '" + views[2].format() + "'").c_str());
        if (views[0].size(0) < 1) throw nb::value_error("indptr must have one entry more than there are rows");
        if (n_columns < 0) throw nb::value_error("n_columns must not be negative");
        part.kind = Kind::sparse;
        part.rows = views[0].size(0) - 1;
        part.columns = n_columns;
        part.starts = views[0].data();
        part.indices = views[1].data();
        part.values = views[2].data();
        part.single = views[2].is("f");
        const Index stored = std::min(views[1].size(0), views[2].size(0));
        with_places(part, [&](const auto* starts, const auto* indices) { check_sparse(part, starts, indices, stored); });
    }
    // Some rows of another part, which has been checked.
    SparsePart(nb::object other, Index first, Index last) {
        part = nb::cast<const SparsePart&>(other).part;
        if (first < 0 || last < first || last > part.rows) throw nb::value_error("a slice must lie within the rows");
        part.starts = static_cast<const char*>(part.starts) + first * (part.wide ? 8 : 4);
        part.rows = last - first;
        whole = other;
    }
};

// The parts of a design, all with as many rows.
std::vector<Part> parts_of(nb::handle list) {
    std::vector<Part> parts;
    for (nb::handle item : list) {
        const Held* held = nullptr;
        if (!nb::try_cast<const Held*>(item, held) || held == nullptr)
            throw nb::type_error(("a part must be Ones, Dense, Sparse or Codes, got " + View::type_name(item)).c_str());
        if (!parts.empty() && held->part.rows != parts[0].rows)
            throw nb::value_error(
                ("all parts must have as many rows: " + std::to_string(parts[0].rows) + " and " + std::to_string(held->part.rows)).c_str());
        parts.push_back(held->part);
    }
    if (parts.empty()) throw nb::value_error("a design needs at least one part");
    return parts;
}
// The same, with as many columns as there are coefficients.
std::vector<Part> parts_of(nb::handle list, Index columns) {
    std::vector<Part> parts = parts_of(list);
    for (const Part& part : parts) columns -= part.columns;
    if (columns != 0) throw nb::value_error("the parts do not have as many columns as there are coefficients");
    return parts;
}

// How many codes from the first on surely lie in -1 .. levels - 1.
inline Index within(const std::int32_t* codes, Index count, Index levels) {
    constexpr Index SOME = 1024;
    const std::uint32_t last = static_cast<std::uint32_t>(levels) - 1;
    Index done = 0;
    for (; levels <= 0x7fffffff && done + SOME <= count; done += SOME) {
        std::uint32_t signs = 0;  // a difference below zero has the highest bit, one above 2^31 - 1 as well
        for (Index k = 0; k < SOME; ++k) {
            const std::uint32_t code = static_cast<std::uint32_t>(codes[done + k]);
            signs |= (code + 1) | (last - code);
        }
        if (signs >> 31) break;
    }
    return done;
}

struct CodesPart : Held {
    CodesPart(nb::object codes, Index n_levels) {
        views.emplace_back(codes, "codes", "an int32 array");
        const View& view = views.back();
        if (!view.is_int(4)) throw nb::type_error(("codes must be int32, got format '" + view.format() + "'").c_str());
        if (view.dimensions() != 1) throw nb::value_error("codes must have 1 dimension");
        part.kind = Kind::codes;
        part.rows = view.size(0);
        part.columns = n_levels;
        part.values = view.data();
        part.row_stride = view.stride(0);
        const std::int32_t* values = static_cast<const std::int32_t*>(part.values);
        for (Index i = part.row_stride == 1 ? within(values, part.rows, n_levels) : 0; i < part.rows; ++i) {
            const Index code = values[i * part.row_stride];
            if (code < -1 || code >= n_levels)
                throw nb::value_error(
                    ("code " + std::to_string(code) + " in row " + std::to_string(i) + " is outside -1 .. " + std::to_string(n_levels - 1))
                        .c_str());
        }
    }
};

}  // namespace
