#include "newton/small_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lineal {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The constant score of least loss, given the mean of the targets.
double constant_of(Loss loss, double mean) {
    if (loss == Loss::logistic) return std::log(mean) - std::log1p(-mean);
    return loss == Loss::poisson ? std::log(mean) : mean;
}

// The mean of each target and the null fit; false where a weight is none, a target outside the loss's domain, or the null fit too far out.
bool constants(const Request& request, double farthest, Closed& out) {
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

// Rounding errors of gradients and scores: Problem.grain, Problem.blur in Python.
struct Errors {
    double chain = 0;
    std::vector<double> blur;  // [k] of a score

    Errors(const Closed& found, const double* coef, Index k) : blur(at(k)) {
        const double rows = static_cast<double>(found.rows);
        const Index p = static_cast<Index>(found.largest.size());
        chain = 16 + std::min(rows, 1000 + rows / 16384);
        for (Index c = 0; c < k; ++c) {
            for (Index j = 0; j < p; ++j) blur[at(c)] += found.largest[at(j)] * std::fabs(coef[j * k + c]);
            blur[at(c)] *= static_cast<double>(p + 4) * eps;
        }
    }
    double gradient(double largest, double slope, double more = 0) const { return largest * (chain * eps * slope + more); }
};

// F(b) - F* = g' H^-1 g / 2 of a quadratic, with all that rounding may have hidden of the gradient g: certify._decrement in Python.
bool decrement(const double* square, const double* coef, const Errors& errors, const Limits& limits, Closed& out) {
    const Index p = static_cast<Index>(out.mean.size()), k = static_cast<Index>(out.constant.size());
    std::vector<double> spread(at(p));
    const double condition = out.walked.factors[0].spread(spread.data());
    if (!(condition > limits.least)) return false;
    double fall = 0, doubt = 0;
    for (Index i = 0; i < p * k; ++i) fall += out.walked.shift[at(i)] * out.walked.here.gradient[at(i)];
    for (Index c = 0; c < k; ++c)
        for (Index j = 0; j < p; ++j)
            doubt += (errors.gradient(out.largest[at(j)], out.walked.here.slope[at(c)], errors.blur[at(c)]) +
                      4 * eps * std::fabs(square[j] * coef[j * k + c])) * spread[at(j)];
    const double size = std::sqrt(std::max(fall, 0.0)) + doubt;
    out.gap = 0.5 * size * size * (1.0 + 8 * static_cast<double>(p) * eps / condition);
    return true;
}

// What the dual point of a step proves, of one output: feasible.settled and feasible.add_up in Python. `off` is what the step leaves of the gradient.
bool dual(const Passes& passes, const double* square, const double* coef, const std::vector<double>& shift, const Errors& errors,
          const Limits& limits, bool unbounded, Closed& out, std::vector<double>& off) {
    const Index p = static_cast<Index>(out.mean.size());
    double slope = 0;
    const DualEvaluation sums = passes.dual(Matrix{coef, p, 1, 1, 1}, Matrix{shift.data(), p, 1, 1, 1}, &slope, off.data());
    const double total = out.weight_sum, rows = std::max((sums.high + sums.low) / total, 0.0), reach = sums.reach;
    if (!(reach <= limits.reach && std::isfinite(rows))) return false;
    slope /= total;
    for (Index j = 0; j < p; ++j) off[at(j)] = off[at(j)] / total + square[j] * coef[j];
    const bool finite = std::isfinite(limits.steepest);
    const double steepest = finite ? limits.steepest : 2.0 * (out.target[0] + slope);
    // a further step of the intercept that would bring its gradient to zero, in the norm of the curvature
    const double spread = 1.0 / std::sqrt(out.walked.here.hessian[0]);
    const double norm = (std::fabs(off[0]) + errors.gradient(out.largest[0], slope)) * spread;
    if (!(out.largest[0] * spread * norm <= limits.room)) return false;
    double gap = rows + 2.0 * (std::sqrt(3.0 * rows) * norm + norm * norm);
    double lost = steepest * errors.blur[0] * (reach + 0.5 * errors.blur[0]) + 16 * eps * (rows + (unbounded ? reach : 0.0));
    for (Index j = 1; j < p; ++j) {
        const double far = out.largest[at(j)], mean = out.mean[at(j)];
        const double steep = 1.001 * steepest * (finite ? mean * mean + out.scatter[at(j)] / total : far * far);
        const double error = errors.gradient(far, slope) + norm * std::sqrt(steep);
        gap += 0.5 * off[at(j)] * off[at(j)] / square[j];
        lost += (std::fabs(off[at(j)]) + 0.5 * error) * error / square[j];
    }
    out.gap = gap * (1.0 + 64 * eps) + lost;
    return std::isfinite(out.gap);
}

// The same of the last step. The factor of an earlier point leaves more of the gradient than weak charges bear: then it is asked for the rest too.
bool prove(const Passes& passes, const double* square, const double* coef, const Errors& errors, const Limits& limits, const Descent& asked,
           Closed& out) {
    const Walked& walked = out.walked;
    std::vector<double> shift = walked.shift, off(shift.size());
    if (!dual(passes, square, coef, shift, errors, limits, asked.unbounded, out, off)) return false;
    const double left = std::fabs(walked.estimates.back()), gain = out.null_value - walked.values.back();
    const bool old = walked.here.hessian.size() < shift.size() * shift.size();
    for (int tried = 0; old && tried < 3 && out.gap > std::max(1.2 * left, 0.01 * asked.share * gain); ++tried) {
        const double before = out.gap;
        walked.factors[0].solve(off.data(), 1);
        for (std::size_t j = 0; j < shift.size(); ++j) shift[j] += off[j];
        const bool good = dual(passes, square, coef, shift, errors, limits, asked.unbounded, out, off) && out.gap < before;
        if (!good) out.gap = before;
        if (!good || out.gap > 0.5 * before) break;
    }
    return true;
}

}  // namespace

bool close(const Rows& rows, const Team& team, const Request& request, const double* square, const Limits& limits, Descent asked,
           Closed& out) {
    const Index p = rows.columns(), k = request.outputs;
    bool usual = p > 0 && square[0] == 0;
    for (Index j = 1; j < p; ++j) usual = usual && square[j] > 0;
    if (!usual) return false;
    for (std::vector<double>* own : {&out.mean, &out.scatter, &out.largest}) own->resize(at(p));
    for (std::vector<double>* own : {&out.target, &out.constant}) own->resize(at(k));
    const Passes passes(rows, team, request, true);
    out.weight_sum = passes.moments(out.mean.data(), out.scatter.data(), out.largest.data());
    if (!(out.weight_sum >= 1 / limits.farthest && out.weight_sum <= limits.farthest)) return false;
    for (Index j = 0; j < p; ++j) {
        const double top = out.largest[at(j)];
        if (!(top >= 1 / limits.farthest && top <= limits.farthest && std::isfinite(out.mean[at(j)]))) return false;
    }
    if (!constants(request, limits.farthest, out)) return false;
    const bool quadratic = request.loss == Loss::squared;
    Here& here = out.walked.here;
    here.gradient.resize(at(p * k));
    here.slope.resize(at(k));
    here.hessian.resize(at(p * p));
    std::vector<double> start(at(p * k));
    std::copy(out.constant.begin(), out.constant.end(), start.begin());
    asked.charges = {square, out.largest.data(), 0};
    const Value value = objective(passes, asked.charges, Matrix{start.data(), p, k, k, 1}, p, here.slope.data(), here.gradient.data(), here.hessian.data());
    here.value = out.null_value = asked.baseline = value.value;
    here.error = value.error;
    descend(passes, asked, start.data(), out.walked);
    const std::vector<double>& coefs = out.walked.coefs;
    if (static_cast<Index>(out.walked.values.size()) * p * k != static_cast<Index>(coefs.size())) return false;  // a factor is missing
    const double* coef = coefs.data() + coefs.size() - at(p * k);
    const Errors errors(out, coef, k);
    for (const double own : errors.blur) out.blur += own * own;
    return quadratic ? decrement(square, coef, errors, limits, out) : prove(passes, square, coef, errors, limits, asked, out);
}

}  // namespace lineal
