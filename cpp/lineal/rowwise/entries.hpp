// The entries of a row, whatever its parts are stored as. Included only by what is compiled once per CPU level.
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
template <class Value, class Place, class F>
void each_stored(const Part& part, Index i, F f) {
    const Place* starts = static_cast<const Place*>(part.starts);
    const Place* indices = static_cast<const Place*>(part.indices);
    const Value* values = static_cast<const Value*>(part.values);
    for (Index t = starts[i]; t < starts[i + 1]; ++t) f(static_cast<Index>(indices[t]), static_cast<double>(values[t]));
}

template <class Value, class F>
void each_dense(const Part& part, Index i, F f) {
    const Value* row = static_cast<const Value*>(part.values) + i * part.row_stride;
    for (Index j = 0; j < part.columns; ++j) f(j, static_cast<double>(row[j * part.column_stride]));
}

template <class F>
inline void each(const Part& part, Index i, F f) {
    switch (part.kind) {
        case Kind::ones:
            f(0, 1.0);
            break;
        case Kind::dense:
            if (part.single)
                each_dense<float>(part, i, f);
            else
                each_dense<double>(part, i, f);
            break;
        case Kind::sparse:
            if (part.single && part.wide)
                each_stored<float, std::int64_t>(part, i, f);
            else if (part.single)
                each_stored<float, std::int32_t>(part, i, f);
            else if (part.wide)
                each_stored<double, std::int64_t>(part, i, f);
            else
                each_stored<double, std::int32_t>(part, i, f);
            break;
        case Kind::codes: {
            const Index code = static_cast<const std::int32_t*>(part.values)[i * part.row_stride];
            if (code >= 0) f(code, 1.0);
            break;
        }
    }
}

}  // namespace
