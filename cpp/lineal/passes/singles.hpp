// Products of a direction with rows stored in single precision, made in it: for steps, never for proofs.
#pragma once

#include <vector>

#include "passes/block.hpp"

namespace lineal {

class Singles {
public:
    // False unless the columns are ones and one float array that lies row by row.
    static bool suit(const Layout& layout);
    Singles(const Layout& layout, const Matrix& direction);

    // block.step += X direction / scale
    void forward(Block& block) const;
    // sums[c][width] += X' block.slope
    void backward(const Block& block, double* sums) const;
    // The largest number of the direction, by which sums have to be multiplied: floats have a short range.
    double scale() const { return scale_; }

private:
    std::vector<const float*> rows_of(const Block& block) const;

    const Layout& layout_;
    const Placed* dense_ = nullptr;
    std::vector<const Placed*> ones_;
    Index stride_ = 0;
    double scale_ = 0;
    std::vector<float> coef_;
    std::vector<double> constant_;  // what the columns of ones add to every row, by output
};

}  // namespace lineal
