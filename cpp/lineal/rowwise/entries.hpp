// The entries of a row, whatever its parts are stored as. In an anonymous namespace, or the linker might keep one CPU level's copy for all.
#pragma once

#include "rowwise/epochs.hpp"

namespace {

using lineal::Index;
using lineal::Kind;
using lineal::Part;
using lineal::Segment;

// The segment that holds a row, of those of an epoch or a presentation.
template <class Run>
const Segment& holding(const Run& e, Index row) {
    Index low = 0, high = e.segment_count - 1;
    while (low < high) {
        const Index middle = (low + high + 1) / 2;
        if (e.segments[middle].first <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return e.segments[low];
}

// f(column of the part, value) for every entry of row i.
template <class F>
inline void each(const Part& part, Index i, F f) {
    switch (part.kind) {
        case Kind::ones:
            f(0, 1.0);
            break;
        case Kind::dense:
            lineal::with_numbers(part, [&](const auto* values) {
                const auto* row = values + i * part.row_stride;
                if (part.column_stride == 1)
                    for (Index j = 0; j < part.columns; ++j) f(j, static_cast<double>(row[j]));
                else
                    for (Index j = 0; j < part.columns; ++j) f(j, static_cast<double>(row[j * part.column_stride]));
            });
            break;
        case Kind::sparse:
            lineal::with_stored(part, [&](const auto* values, const auto* starts, const auto* indices) {
                for (Index t = starts[i]; t < starts[i + 1]; ++t) f(static_cast<Index>(indices[t]), static_cast<double>(values[t]));
            });
            break;
        case Kind::codes: {
            const Index code = static_cast<const std::int32_t*>(part.values)[i * part.row_stride];
            if (code >= 0) f(code, 1.0);
            break;
        }
    }
}

// The entry of a row of codes: the coefficient of its level.
inline double level(const Part& part, Index i, const double* w) {
    const Index code = static_cast<const std::int32_t*>(part.values)[i * part.row_stride];
    return code < 0 ? 0.0 : w[code];
}

// Bring a row that comes soon towards the cache: no hardware guesses a shuffled order. Inlined, and without a lambda around it, or the
// compiler finds that it does nothing.
[[gnu::always_inline]] inline void fetch_dense(const Part& part, Index i) {
    const Index size = part.single ? 4 : 8, bytes = part.columns * size < 2048 ? part.columns * size : 2048;
    const char* row = static_cast<const char*>(part.values) + i * part.row_stride * size;
    for (Index b = 0; b < bytes; b += 64) __builtin_prefetch(row + b);
    __builtin_prefetch(row + bytes - 1);
}
[[gnu::always_inline]] inline void fetch_stored(const Part& part, Index i) {
    const auto start = [&](Index row) {
        return lineal::with_places(part, [&](const auto* starts, const auto*) -> Index { return starts[row]; });
    };
    const Index first = start(i), last = start(i + 1), value = part.single ? 4 : 8, place = part.wide ? 8 : 4;
    const char *values = static_cast<const char*>(part.values), *indices = static_cast<const char*>(part.indices);
    for (Index at = first * value; at < last * value; at += 64) __builtin_prefetch(values + at, 0, 2);
    for (Index at = first * place; at < last * place; at += 64) __builtin_prefetch(indices + at, 0, 2);
}

}  // namespace
