#include "newton/small_fit.hpp"

#include <algorithm>
#include <cmath>

namespace lineal {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The constant score of least loss, given the mean of the targets.
double constant_of(Loss loss, double mean) {
    if (loss == Loss::logistic) return std::log(mean) - std::log1p(-mean);
    return loss == Loss::poisson ? std::log(mean) : mean;
}

// The mean of each target and the null fit; false where a weight is invalid, a target outside the loss's domain, or the null fit too far
// out.
bool constants(const Request& request, double farthest, SmallFit& out) {
    const Matrix &y = request.y, &weight = request.weight;
    const bool any = request.loss == Loss::squared;
    const double low = any ? -farthest : 0.0, high = request.loss == Loss::logistic ? 1.0 : farthest;
    for (Index c = 0; c < y.columns; ++c) {
        double sum = 0;
        for (Index i = 0; i < y.rows; ++i) {
            const double own = weight ? weight.at(i, 0) : 1.0, value = own == 0 ? 0.0 : y.at(i, c);
            if (!(own >= 0 && own <= farthest && value >= low && value <= high)) return false;
            sum += own * value;
        }
        const double mean = sum / out.weight_sum, constant = constant_of(request.loss, mean);
        if (!(any || std::fabs(constant) < 40)) return false;
        out.target[at(c)] = mean;
        out.constant[at(c)] = constant;
    }
    out.rows = y.rows;
    for (Index i = 0; weight && i < y.rows; ++i) out.rows -= weight.at(i, 0) == 0.0;
    return true;
}

}  // namespace

bool small_fit(const Rows& rows, const Team& team, const Request& request, const double* square, double farthest, Descent asked,
               SmallFit& out) {
    const Index p = rows.columns(), k = request.outputs;
    bool usual = p > 0 && square[0] == 0;
    for (Index j = 1; j < p; ++j) usual = usual && square[j] > 0;
    if (!usual) return false;
    for (std::vector<double>* own : {&out.mean, &out.scatter, &out.largest}) own->resize(at(p));
    for (std::vector<double>* own : {&out.target, &out.constant}) own->resize(at(k));
    const Passes passes(rows, team, request, true);
    out.weight_sum = passes.moments(out.mean.data(), out.scatter.data(), out.largest.data());
    if (!(out.weight_sum >= 1 / farthest && out.weight_sum <= farthest)) return false;
    for (Index j = 0; j < p; ++j) {
        const double top = out.largest[at(j)];
        if (!(top >= 1 / farthest && top <= farthest && std::isfinite(out.mean[at(j)]))) return false;
    }
    if (!constants(request, farthest, out)) return false;
    Here& here = out.steps.here;
    here.gradient.resize(at(p * k));
    here.slope.resize(at(k));
    here.hessian.resize(at(p * p));
    std::vector<double> start(at(p * k));
    std::copy(out.constant.begin(), out.constant.end(), start.begin());
    asked.terms = {square, out.largest.data(), 0};
    const Value value =
        objective(passes, asked.terms, Matrix{start.data(), p, k, k, 1}, p, here.slope.data(), here.gradient.data(), here.hessian.data());
    here.value = out.baseline_value = asked.baseline = value.value;
    here.error = value.error;
    descend(passes, asked, start.data(), out.steps);
    // fewer: a factor is missing at the last point
    return static_cast<Index>(out.steps.values.size()) * p * k == static_cast<Index>(out.steps.coefs.size());
}

}  // namespace lineal
