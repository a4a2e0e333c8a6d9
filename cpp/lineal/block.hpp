// Where columns and rows of a pass lie: the layout of a panel, and one block of rows with all that is known of it.
#pragma once

#include <memory>
#include <new>
#include <vector>

#include "kernels.hpp"

namespace lineal {

// Doubles on a cache line's border, zero at first.
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(Index size) : data_(allocate(size), Free(alignment(size))), size_(size) {
        for (Index i = 0; i < size + 8; ++i) data_.get()[i] = 0.0;
    }
    double* get() const { return data_.get(); }
    Index size() const { return size_; }
    void clear() const {
        for (Index i = 0; i < size_; ++i) data_.get()[i] = 0.0;
    }

private:
    struct Free {
        Free() noexcept : border(std::align_val_t{64}) {}
        explicit Free(std::align_val_t border) noexcept : border(border) {}
        std::align_val_t border;
        void operator()(double* data) const { ::operator delete(data, border); }
    };
    // Many megabytes begin at the border of a large page, and are asked for in such pages.
    static std::align_val_t alignment(Index size) { return std::align_val_t(size < (1 << 19) ? 64 : 1 << 21); }
    static double* allocate(Index size);
    std::unique_ptr<double, Free> data_;
    Index size_ = 0;
};

// A float64 matrix of somebody else; strides in elements. data == nullptr: not given.
struct Matrix {
    const double* data = nullptr;
    Index rows = 0, columns = 0, row_stride = 0, column_stride = 0;
    double at(Index i, Index j) const { return data[i * row_stride + j * column_stride]; }
    explicit operator bool() const { return data != nullptr; }
};

// A part with its first column in the design and its first column in the panel (or among the loose columns).
struct Placed {
    Part part;
    Index column = 0, at = 0;
};

// Dense columns side by side in panels, the others loose; `expanded` puts all columns into the panel.
struct Layout {
    Layout(const std::vector<Part>& parts, bool expanded);
    // The same with the widest part that panels hold before the others, so that its rows begin on a border of groups.
    static Layout widest_first(const std::vector<Part>& parts);
    std::vector<Placed> panel, loose;
    std::vector<Index> panel_to_column, loose_to_column;
    Index rows = 0, columns = 0, nonzeros = 0;
    Index panel_columns() const { return static_cast<Index>(panel_to_column.size()); }
    Index loose_columns() const { return static_cast<Index>(loose_to_column.size()); }
    Index groups() const { return (panel_columns() + 7) / 8; }
    Index width() const { return 8 * groups(); }
    // doubles of a gradient as panels and loose columns leave it, panel sums [c][width] and loose sums [column][k], and where they go: out[p][k]
    Index gradient_size(Index outputs) const { return (outputs * (width() + loose_columns()) + 7) / 8 * 8; }
    void place_gradient(Index outputs, const double* sums, double* out) const;
    // the intercept alone: no panel is needed for its products
    bool bare() const { return panel.size() == 1 && loose.empty() && panel[0].part.kind == Kind::ones; }
    // rows of a block, a multiple of 8: a panel of them, or `more` panels, fits into the second-level cache; at least so many
    Index room(Index more = 1, Index least = 16) const;

private:
    void place(const Part& part, Index column, bool expanded);
};

// What a pass reads beside the design.
struct Request {
    Loss loss = Loss::squared;
    double parameter = 0;
    Index outputs = 1;
    Matrix y, weight, offset;
    double scale = 1;  // of a dual point
    Index sample = 1;
    bool single = false;  // products may be made in single precision where the rows are stored so
    bool in_place = false;  // rows are read where they lie: a block needs no panel
    Index turn = 0;  // another sample for every turn
};

// Coefficients in the order of a layout: panel[c][width], loose[column][outputs].
struct Coefficients {
    Coefficients() = default;
    Coefficients(const Layout& layout, const Matrix& coef);
    Buffer panel, loose;
    Buffer coded;  // the loose ones once more, of one output, with a zero before each part: what a code of -1 stands for
    bool idle = true;  // all loose ones are zero
};

// A block of rows: which, their panel, their targets, weights and scores.
class Block {
public:
    // `extra_groups`: column groups of working memory beside the panel; `least`: rows.
    Block(const Layout& layout, const Request& request, Index extra_groups = 0, Index least = 16);

    // Starts at `row` and ends before `stop`.
    void seek(Index row, Index stop);
    // Takes the next rows whose weight is not zero; false when there are none left.
    bool next();
    void restart();  // the scores of these rows are their offsets again, those of a step zero
    void pack();
    void release();  // after pack() of an expanded layout
    // sums[c][room] += X coef; entries known to be `finite` are not read where their coefficients are zero
    void forward(const Coefficients& coef, double* sums, bool finite = false);
    // panel gradient [c][width] and loose gradient [column][outputs] += X' values, values[c][room]
    void backward(const double* values, double* panel_gradient, double* loose_gradient);
    // the same of the slopes of rows that are read where they lie: one dense part and columns of ones
    void pull(const Placed& dense, double* panel_gradient);
    // What the losses of these rows are asked for.
    LossBlock losses(bool curvatures) const;
    // The same of one output, as far as `curvature` is not zero: nothing is asked of the loose entries of the other rows
    void forward_bent(const Coefficients& coef, double* sums);
    // curvature to and from kept[n][outputs]
    void remember(double* kept) const;
    void recall(const double* kept);
    // Of the distance d = ||score - y| - T|, T the parameter of the loss: 128 where |score - y| < T, and as the lower seven bits
    // L between 0 and 127 with 2^(E - L) <= d < 2^(E - L + 1), T in [2^E, 2^(E + 1)); 0 for all above, 127 for all below.
    void leave(unsigned char* sides) const;
    // The entries of the loose columns below `limit` (in the design), for loose_gram.
    void entries(Index limit);

    const Layout& layout;
    const Request& request;
    const Kernels& k;
    const Index room;
    Selection rows;
    Panel panel;
    Panel extra;
    Ahead ahead;  // the rows after these, where they lie in one piece
    double *y, *weight, *eta, *slope, *curvature, *step;
    double weight_sum = 0;
    bool lasting = false;  // its panel is used again: no row may change its place
    std::vector<Index> entry_starts, entry_columns;
    std::vector<double> entry_values;

private:
    void select();
    // Lists the codes parts from `from` on that follow each other, with their tables (`spaced`: as in Coefficients::coded);
    // returns how many.
    std::size_t coded(std::size_t from, double* table, bool spaced);
    std::vector<Coded> coded_;
    Index row_ = 0, stop_ = 0;
    std::vector<Index> index_, bent_;
    Buffer memory_, by_row_;
};

}  // namespace lineal
