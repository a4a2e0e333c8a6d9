// A piece of a delimited text file to columns of numbers and of codes, where nothing about its cells is unusual.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "part.hpp"

namespace lineal {

// Memory that goes back to the system when it is let go of: what a reader leaves behind must not pile up beside a fit.
class Pages {
public:
    Pages() = default;
    explicit Pages(std::size_t bytes);
    Pages(Pages&& other) noexcept : data_(other.data_), bytes_(other.bytes_) { other.data_ = nullptr; }
    Pages& operator=(Pages&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Pages();
    void* data() const { return data_; }

private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

enum class Cell : std::uint8_t { skipped, number, text };

// One column: numbers with a bit for each that is there (none if all are), or codes of the different texts, which are
// the stretches of `words` between `ends`, in the order in which they came.
struct CellColumn {
    Pages memory;
    double* numbers = nullptr;
    std::vector<std::uint8_t> present;
    std::int32_t* codes = nullptr;
    std::vector<std::int32_t> ends;
    std::vector<char> words;
};

struct Cells {
    Index rows = 0;
    std::vector<CellColumn> columns;  // those that are not skipped
};

// False where a row has another number of cells, a carriage return stands alone, or a number is written in any way but
// -12.5e-3 and is none of the words for a missing one: then somebody else has to look. Empty lines are skipped.
bool read_cells(std::string_view text, char delimiter, const std::vector<Cell>& kinds, const std::vector<std::string>& missing,
                Cells& out);

}  // namespace lineal
