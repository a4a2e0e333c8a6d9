// Where the columns of a pass lie: in panels or loose, and coefficients in that order.
#pragma once

#include <memory>
#include <new>
#include <vector>

#include "passes/kernels.hpp"

namespace lineal {

// Memory on a cache line's border; many megabytes begin at the border of a large page, and are asked for in such pages.
std::align_val_t border_of(std::size_t bytes);
void* allocated(std::size_t bytes);

// Numbers on such a border, zero at first, and a line more.
template <class T>
class BufferOf {
public:
    BufferOf() = default;
    explicit BufferOf(Index size) : data_(static_cast<T*>(allocated(bytes(size))), Free{border_of(bytes(size))}), size_(size) {
        for (Index i = 0; i < size + lanes<T>; ++i) data_.get()[i] = T{};
    }
    T* get() const { return data_.get(); }
    Index size() const { return size_; }
    void clear() const {
        for (Index i = 0; i < size_; ++i) data_.get()[i] = T{};
    }

private:
    struct Free {
        std::align_val_t border{64};
        void operator()(T* data) const { ::operator delete(data, border); }
    };
    static std::size_t bytes(Index size) { return static_cast<std::size_t>(size + lanes<T>) * sizeof(T); }
    std::unique_ptr<T, Free> data_;
    Index size_ = 0;
};
using Buffer = BufferOf<double>;

// A borrowed float64 matrix; strides in elements. data == nullptr: not given.
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
    // doubles of a gradient as panels and loose columns leave it, panel sums [c][width] and loose sums [column][k], and where they go:
    // out[p][k]
    Index gradient_size(Index outputs) const { return (outputs * (width() + loose_columns()) + 7) / 8 * 8; }
    void place_gradient(Index outputs, const double* sums, double* out) const;
    // the intercept alone: no panel is needed for its products
    bool bare() const { return panel.size() == 1 && loose.empty() && panel[0].part.kind == Kind::ones; }
    // rows of a block, a multiple of 8: a panel of them, or `more` panels, fits into the second-level cache; at least so many
    Index room(Index more = 1, Index least = 16) const;

private:
    void place(const Part& part, Index column, bool expanded);
};

// Coefficients in the order of a layout: panel[c][width], loose[column][outputs].
struct Coefficients {
    Coefficients() = default;
    Coefficients(const Layout& layout, const Matrix& coef);
    Buffer panel, loose;
    Buffer coded;      // the loose ones once more, of one output, with a zero before each part: what a code of -1 stands for
    bool idle = true;  // all loose ones are zero
};

}  // namespace lineal
