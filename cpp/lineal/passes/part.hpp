// A few columns of a design as they are stored: raw pointers into arrays that Python keeps alive.
#pragma once

#include <cstdint>

namespace lineal {

using Index = std::int64_t;

enum class Kind { ones, dense, sparse, codes };

struct Part {
    Kind kind = Kind::ones;
    Index rows = 0, columns = 0;
    const void* values = nullptr;             // dense and sparse: float or double; codes: int32
    bool single = false;                      // values are float
    Index row_stride = 0, column_stride = 0;  // dense and codes, in elements
    const void* starts = nullptr;             // sparse: row starts, absolute positions in values
    const void* indices = nullptr;            // sparse: columns, increasing within a row
    bool wide = false;                        // starts and indices are 64-bit
};

// Whether the columns of every row of a sparse part increase and lie within range; starts must not decrease.
bool orderly(const Part& part);

// Which rows a block holds: `index` if given, else the `count` rows from `first`.
struct Selection {
    Index first = 0, count = 0;
    const Index* index = nullptr;
    Index operator[](Index i) const { return index ? index[i] : first + i; }
};

}  // namespace lineal
