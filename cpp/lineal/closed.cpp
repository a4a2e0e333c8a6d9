#include "closed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lineal {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The mean of each target; false where a weight is none or the square of a target no double.
bool constants(const Request& request, double farthest, Closed& out) {
    const Matrix &y = request.y, &weight = request.weight;
    for (Index c = 0; c < y.columns; ++c) {
        double sum = 0;
        for (Index i = 0; i < y.rows; ++i) {
            const double own = weight ? weight.at(i, 0) : 1.0, value = own == 0 ? 0.0 : y.at(i, c);
            if (!(own >= 0 && own <= farthest && std::fabs(value) <= farthest)) return false;
            sum += own * value;
        }
        out.constant[at(c)] = sum / out.weight_sum;
    }
    out.rows = y.rows;
    for (Index i = 0; weight && i < y.rows; ++i) out.rows -= weight.at(i, 0) == 0.0;
    return true;
}

// F(b) - F* = g' H^-1 g / 2, with all that rounding may have hidden of the gradient g: certify._decrement in Python.
double decrement(const SmallFactor& factor, const std::vector<double>& gradient, const std::vector<double>& spread, double condition,
                 const double* slope, const double* square, Closed& out) {
    const Index p = static_cast<Index>(spread.size()), k = static_cast<Index>(gradient.size()) / p;
    std::vector<double> shift(gradient);
    for (Index c = 0; c < k; ++c) factor.solve(shift.data() + c, k);
    double fall = 0, doubt = 0;
    for (Index i = 0; i < p * k; ++i) fall += shift[at(i)] * gradient[at(i)];
    const double rows = static_cast<double>(out.rows), chain = 16 + std::min(rows, 1000 + rows / 16384);
    out.blur = 0;
    for (Index c = 0; c < k; ++c) {
        double size = 0;
        for (Index j = 0; j < p; ++j) size += out.largest[at(j)] * std::fabs(out.coef[at(j * k + c)]);
        const double blur = static_cast<double>(p + 4) * eps * size;
        out.blur += blur * blur;
        for (Index j = 0; j < p; ++j) {
            const double error = out.largest[at(j)] * (chain * eps * slope[c] + blur) + 4 * eps * std::fabs(square[j] * out.coef[at(j * k + c)]);
            doubt += error * spread[at(j)];
        }
    }
    out.estimate = 0.5 * std::fabs(fall);
    const double size = std::sqrt(std::max(fall, 0.0)) + doubt;
    return 0.5 * size * size * (1.0 + 8 * static_cast<double>(p) * eps / condition);
}

}  // namespace

bool close(const Rows& rows, const Team& team, const Request& request, const double* square, double farthest, double least,
           Closed& out) {
    const Index p = rows.columns(), k = request.outputs;
    bool usual = p > 0 && square[0] == 0;
    for (Index j = 1; j < p; ++j) usual = usual && square[j] > 0;
    if (!usual) return false;
    for (std::vector<double>* own : {&out.mean, &out.scatter, &out.largest}) own->resize(at(p));
    out.constant.resize(at(k));
    out.weight_sum = rows.moments(team, request.weight, out.mean.data(), out.scatter.data(), out.largest.data());
    if (!(out.weight_sum > 0 && out.weight_sum <= farthest)) return false;
    for (Index j = 0; j < p; ++j) {
        const double top = out.largest[at(j)];
        if (!(top >= 1 / farthest && top <= farthest && std::isfinite(out.mean[at(j)]))) return false;
    }
    if (!constants(request, farthest, out)) return false;
    std::vector<double> start(at(p * k)), gradient(start), slope(at(k)), hessian(at(p * p)), spread(at(p));
    std::copy(out.constant.begin(), out.constant.end(), start.begin());
    const Charges charges{square, out.largest.data(), 0};
    const Matrix from{start.data(), p, k, k, 1};
    out.null_value = objective(rows, team, request, charges, from, p, slope.data(), gradient.data(), hessian.data()).value;
    SmallFactor factor;
    if (!(factor.make(hessian.data(), p) > 0)) return false;
    const double condition = factor.spread(spread.data());
    if (!(condition > least)) return false;
    for (Index c = 0; c < k; ++c) factor.solve(gradient.data() + c, k);
    out.coef = start;
    for (Index i = 0; i < p * k; ++i) out.coef[at(i)] -= gradient[at(i)];
    const Matrix to{out.coef.data(), p, k, k, 1};
    out.value = objective(rows, team, request, charges, to, 0, slope.data(), gradient.data(), nullptr).value;
    out.gap = decrement(factor, gradient, spread, condition, slope.data(), square, out);
    return true;
}

}  // namespace lineal
