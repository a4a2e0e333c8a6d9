// How the quote characters of a delimited text are used: to enclose cells, or as text like any other.
#pragma once

#include <string_view>

#include "passes/part.hpp"

namespace lineal {

// What speaks against quotes that enclose cells, in a record (a row as quotes would have it).
enum class Against : int {
    nothing,
    text,      // text follows the quote that closes a cell
    unclosed,  // a quote opens a cell and none closes it
    cells      // with cells that hold delimiters, the record has another number of cells than the first one
};

// Fed with a text, whole lines at a time. Lines are numbered from one.
class Quotes {
public:
    Quotes(char quote, char delimiter) : quote_(quote), delimiter_(delimiter) {}
    void feed(std::string_view lines);
    void finish();

    Index lines = 0;                        // all, blank ones, too
    Index sound = 0, odd = 0;               // records with quoted cells: those with nothing against them; those that are not well-formed;
    Index alike = 0, alike_line = 0;        // those of several lines, each of which by itself has as many cells as the first line
    Index middle = 0;                       // quotes inside cells that do not begin with one
    Index spanning = 0;                     // quoted cells with line ends,
    Index inner = 0;                        // all of these,
    Index longest = 0, longest_line = 0;    // the lines of the longest one, and where it begins
    Index doubtful = 0, doubtful_line = 0;  // the same of the longest record of which half the lines have as many cells as the first
    Against reason = Against::nothing;
    Index odd_line = 0;                       // the first record that is odd
    Index ragged_line = 0, ragged_cells = 0;  // the first line with a quote that, by itself, has not as many cells as the first
    Index wide = 0;                           // cells of the first line by itself

private:
    void line(const char* begin, const char* end);
    Index walk(const char* begin, const char* end);
    const char* closed(const char* after, const char* end);
    void ended();
    void against(Against what, Index where);

    char quote_, delimiter_;
    bool dense_ = false;   // the line before has a quote
    bool inside_ = false;  // of a quoted cell
    Index opened_ = 0;     // the line where it began
    Index width_ = 0;      // cells of the first record
    // of the record
    Index first_ = 0, outer_ = 0;          // its first line, delimiters that part its cells
    Index filled_ = 0, even_ = 0;          // its lines that are not blank, those with as many cells as the first line
    bool quoted_ = false, holds_ = false;  // has a quoted cell; one with a delimiter or line end
    Against doubt_ = Against::nothing;
};

}  // namespace lineal
