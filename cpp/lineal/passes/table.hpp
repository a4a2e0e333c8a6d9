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
    // As Rows::evaluate and Rows::dual.
    Evaluation evaluate(const Matrix& coef, Index h, double* slope_sum, double* gradient, double* hessian);
    DualEvaluation dual(const Matrix& coef, const Matrix& shift, double* slope_sum, double* gradient);

    // Takes the scores of one output and of a step; then the first and second derivative by t of the mean loss at coef - t shift.
    // An evaluation at that point, if it comes next, finds its scores and slopes here.
    void aim(const Matrix& coef, const Matrix& shift);
    void along(double t, double& slope, double& bend);

private:
    // Scores, slopes and curvatures of all rows at coef, summed in there_
    void slopes(const Matrix& coef, bool curvatures, double* slope_sum);
    void add(LossBlock& loss, double* slope_sum, const Block& block);
    // Whether the slopes are those at coef
    bool stands(const Matrix& coef) const;

    const Layout& layout_;
    const Request& request_;
    Buffer extra_, trial_;
    std::vector<double> from_, shift_, point_;  // of a step; where the slopes are those of, if that is known
    Evaluation there_;
    double there_slope_ = 0;
    double weight_sum_ = 0;
    std::vector<std::unique_ptr<Block>> blocks_;
};

// Many passes of one request, over a packed table where it is short.
class Passes {
public:
    Passes(const Rows& rows, const Team& team, const Request& request, bool many)
        : rows(rows), team(team), request(request), table(many && Table::suits(rows.layout()) ? new Table(rows.layout(), request) : nullptr) {}

    // `sides`: of a pass over rows that are not packed
    Evaluation evaluate(const Matrix& coef, Index h, double* slope_sum, double* gradient, double* hessian, unsigned char* sides = nullptr) const {
        return table ? table->evaluate(coef, h, slope_sum, gradient, hessian)
                     : rows.evaluate(team, request, coef, h, slope_sum, gradient, hessian, nullptr, sides);
    }
    double moments(double* mean, double* scatter, double* largest) const {
        return table && rows.layout().loose.empty() ? table->moments(mean, scatter, largest)
                                                    : rows.moments(team, request.weight, mean, scatter, largest);
    }
    DualEvaluation dual(const Matrix& coef, const Matrix& shift, double* slope_sum, double* gradient) const {
        return table ? table->dual(coef, shift, slope_sum, gradient) : rows.dual(team, request, coef, shift, slope_sum, gradient);
    }

    const Rows& rows;
    const Team team;
    const Request& request;
    const std::unique_ptr<Table> table;
};

}  // namespace lineal
