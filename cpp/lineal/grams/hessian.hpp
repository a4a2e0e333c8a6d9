// Second derivatives of a pass: weighted grams of the first columns, one per output or pair of outputs.
#pragma once

#include <algorithm>
#include <vector>

#include "passes/block.hpp"
#include "threads/threads.hpp"

namespace lineal {

// The whole matrix from its lower triangle in blocks of T's lanes, strip by strip, or every line of a column would be written once for
// each of its entries: column a of the triangle is column to(a) of `out`, whose rows are `stride` apart.
template <class T, class To>
void unfold(const Team& team, const double* triangle, Index groups, Index columns, To to, double* out, Index stride) {
    constexpr Index across = 3 * lanes<T>;
    run(
        columns > 512 ? team : Team{1, team.interrupted}, (columns + across - 1) / across,
        [&](int, Index strip, Watch&) {
            const Index left = across * strip;
            const double* block = triangle + gram_start<T>(groups, strip);
            for (Index b = left; b < columns; ++b)
                for (Index a = left; a < std::min(left + across, b + 1); ++a) {
                    const Index i = to(b), j = to(a);
                    out[i * stride + j] = out[j * stride + i] = block[across * (b - left) + a - left];
                }
        },
        nullptr);
}

class Hessian {
public:
    // Squared: one gram; logistic: one per output; softmax: one per pair of outputs. h = 0: none.
    Hessian(const Layout& layout, Loss loss, Index outputs, Index h);

    Index size() const { return count_ * each(); }   // doubles of a partial result
    Index groups() const { return h_ > 0 ? 3 : 0; }  // working memory it needs of a block
    // Rows of a block that are worth the reading and writing of a result larger than the second-level cache.
    Index rows() const { return width_ >= 512 && 2 * width_ > layout_.width() ? 120 : 16; }
    // What counts of a partial result when chunks are made: one that other caches have to hold is dear to clear and to add; a
    // large table of loose columns is summed by few chunks as it is.
    Index merging() const { return (loose_columns_ > 0 ? 1 : size() <= 32768 ? 4 : 16) * size(); }
    double cost() const;  // nanoseconds a row, roughly

    // Adds a block whose panel is packed; weights[c][room] are s curvature, probabilities for softmax. Squared: extents too.
    void add(Block& block, double* partial, const Extent* extents = nullptr) const;
    // The whole matrix, output-major: squared [h, h], logistic [k, h, h], softmax [k h, k h].
    void assemble(const Team& team, const double* partial, double* out) const;

private:
    Index each() const { return each_; }
    void add_one(Block& block, Index count, const double* weight, bool plain, double* partial, const Extent* extents = nullptr) const;
    void place(const Team& team, const double* partial, double* out, Index stride) const;

    const Layout& layout_;
    Loss loss_;
    Index outputs_, h_, count_ = 0, panel_columns_ = 0, loose_columns_ = 0, width_ = 0, each_ = 0;
    // A partial result: the panel's block, then for every loose column its products with the panel, with itself, and with
    // the loose columns from `first_` on, at rows[a] and pairs[a] + b.
    struct {
        std::vector<Index> rows, pairs;
    } table_;
    std::vector<Index> first_;
};

}  // namespace lineal
