// A piece of a delimited text file to columns of numbers and of codes, where nothing about its cells is unusual.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/part.hpp"

namespace lineal {

enum class Cell : std::uint8_t { skipped, number, text };

// One column: numbers with a bit for each that is there (none if all are), or codes of the different texts, which are
// the stretches of `words` between `ends`, in the order in which they came.
struct CellColumn {
    std::unique_ptr<double[]> numbers;
    std::vector<std::uint8_t> present;
    std::unique_ptr<std::int32_t[]> codes;
    std::vector<std::int32_t> ends;
    std::vector<char> words;
};

struct Cells {
    Index rows = 0;
    std::vector<CellColumn> columns;  // those that are not skipped
};

// False where a row has another number of cells, a carriage return stands alone, a quote or a NUL byte stands anywhere, or a
// number is written in any way but -12.5e-3 and is none of the words for a missing one: then Arrow has to look.
// Empty lines are skipped. A `quote` of NUL: no quotes; `ascii`: any other character is unusual, too.
bool read_cells(std::string_view text, char delimiter, char quote, bool ascii, const std::vector<Cell>& kinds,
                const std::vector<std::string>& missing, Cells& out);

// The different texts of a column over many pieces of a file, numbered in the order in which they came.
class Dictionary {
public:
    Dictionary();
    ~Dictionary();
    Dictionary(const Dictionary&) = delete;
    Dictionary& operator=(const Dictionary&) = delete;
    // The number of every text, which are the stretches of `text` between `ends`, behind a -1; new ones are added.
    std::vector<std::int32_t> merge(const std::int32_t* ends, Index count, std::string_view text);
    const CellColumn& column() const { return column_; }

private:
    CellColumn column_;
    struct Table;
    std::unique_ptr<Table> table_;
};

}  // namespace lineal
