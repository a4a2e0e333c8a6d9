// Part of the small fit, which alone holds the goals of `small-logistic` and `small-ridge`.
// A short table whose blocks stay packed: what Rows does in a pass, without packing the rows again, on one thread.
#pragma once

#include <memory>
#include <vector>

#include "passes/rows.hpp"

namespace lineal {

class Table {
public:
    // Whether the rows are few enough to stay in the second-level cache, and not worth a second thread.
    static bool suits(const Layout& layout) { return layout.rows * layout.width() <= 1 << 16 && layout.nonzeros <= 1 << 13; }

    Table(const Layout& layout, const Request& request);

    // As Rows::moments, of a layout without loose columns.
    double moments(double* mean, double* scatter, double* largest) const;
    // As Rows::evaluate.
    Evaluation evaluate(const Matrix& coef, Index h, double* slope_sum, double* gradient, double* hessian);

private:
    const Layout& layout_;
    const Request& request_;
    Buffer extra_;
    std::vector<std::unique_ptr<Block>> blocks_;
};

// Many passes of one request, over a packed table where it is short.
class Passes {
public:
    Passes(const Rows& rows, const Team& team, const Request& request, bool many)
        : rows(rows),
          team(team),
          request(request),
          table(many && Table::suits(rows.layout()) ? new Table(rows.layout(), request) : nullptr) {}

    Evaluation evaluate(const Matrix& coef, Index h, double* slope_sum, double* gradient, double* hessian) const {
        return table ? table->evaluate(coef, h, slope_sum, gradient, hessian)
                     : rows.evaluate(team, request, coef, h, slope_sum, gradient, hessian);
    }
    double moments(double* mean, double* scatter, double* largest) const {
        return table && rows.layout().loose.empty() ? table->moments(mean, scatter, largest)
                                                    : rows.moments(team, request.weight, mean, scatter, largest);
    }

    const Rows& rows;
    const Team team;
    const Request& request;
    const std::unique_ptr<Table> table;
};

}  // namespace lineal
