// Second derivatives of a pass: weighted grams of the first columns, one per output or pair of outputs.
#pragma once

#include "block.hpp"

namespace lineal {

class Hessian {
public:
    // Squared: one gram; logistic: one per output; softmax: one per pair of outputs. h = 0: none.
    Hessian(const Layout& layout, Loss loss, Index outputs, Index h);

    Index size() const { return count_ * each(); }  // doubles of a partial result
    Index groups() const { return h_ > 0 ? 3 : 0; }  // working memory it needs of a block
    double cost() const;  // nanoseconds a row, roughly

    // Adds a block whose panel is packed; weights[c][room] are s curvature, probabilities for softmax. Squared: extents too.
    void add(Block& block, double* partial, const Extent* extents = nullptr) const;
    // The whole matrix, output-major: squared [h, h], logistic [k, h, h], softmax [k h, k h].
    void assemble(const double* partial, double* out) const;

private:
    Index each() const { return block_size(width_ / 8) + loose_columns_ * (width_ + loose_columns_); }
    void add_one(Block& block, const double* weight, bool plain, double* partial, const Extent* extents = nullptr) const;
    void place(const double* partial, double* out, Index stride) const;

    const Layout& layout_;
    Loss loss_;
    Index outputs_, h_, count_ = 0, panel_columns_ = 0, loose_columns_ = 0, width_ = 0;
};

}  // namespace lineal
