#include "newton/descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lineal {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
// A pivot below this leaves the decision whether the matrix is singular to the caller, who has more digits.
constexpr double least_pivot = 1e-9;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

double SmallFactor::make(const double* matrix, Index n) {
    n_ = n;
    stride_ = (n + 7) / 8 * 8;
    scale_.resize(at(n));
    for (Index i = 0; i < n; ++i) {
        const double own = matrix[i * n + i];
        scale_[at(i)] = own > 0 ? 1.0 / std::sqrt(own) : 1.0;
    }
    even_.assign(at(n * stride_), 0.0);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) even_[at(i * stride_ + j)] = matrix[i * n + j] * scale_[at(i)] * scale_[at(j)];
    upper_ = even_;
    return kernels().triangle(upper_.data(), n, stride_);
}

void SmallFactor::solve(double* right, Index stride) const {
    work_.assign(at(stride_), 0.0);
    double* x = work_.data();
    for (Index i = 0; i < n_; ++i) x[i] = right[i * stride] * scale_[at(i)];
    kernels().solve_triangle(upper_.data(), n_, stride_, x);
    for (Index i = 0; i < n_; ++i) right[i * stride] = x[i] * scale_[at(i)];
}

double SmallFactor::log_determinant() const {
    double sum = 0;
    for (Index i = 0; i < n_; ++i) sum += std::log(upper_[at(i * stride_ + i)] / scale_[at(i)]);
    return 2 * sum;
}

double SmallFactor::spread(double* out) const {
    // rows of L = R^-T, then the lower half of L'L
    std::vector<double> lower(at(n_ * n_)), inverse(at(n_ * n_)), sums(at(n_));
    for (Index i = 0; i < n_; ++i) {
        double* mine = lower.data() + i * n_;
        for (Index k = 0; k < i; ++k) {
            const double* theirs = lower.data() + k * n_;
            const double factor = upper_[at(k * stride_ + i)];
            for (Index j = 0; j <= k; ++j) mine[j] -= factor * theirs[j];
        }
        const double root = 1.0 / upper_[at(i * stride_ + i)];
        for (Index j = 0; j < i; ++j) mine[j] *= root;
        mine[i] = root;
        for (Index k = 0; k <= i; ++k) {
            double* row = inverse.data() + k * n_;
            const double factor = mine[k];
            for (Index j = 0; j <= k; ++j) row[j] += factor * mine[j];
        }
    }
    for (Index i = 0; i < n_; ++i) {
        const double* row = inverse.data() + i * n_;
        for (Index j = 0; j < i; ++j) {
            sums[at(i)] += std::fabs(row[j]);
            sums[at(j)] += std::fabs(row[j]);
        }
        sums[at(i)] += row[i];
        out[i] = std::sqrt(row[i]) * scale_[at(i)];
    }
    double norm = 0, inner = 0;
    for (Index i = 0; i < n_; ++i) {
        double sum = 0;
        for (Index j = 0; j < n_; ++j) sum += std::fabs(even_[at(i * stride_ + j)]);
        norm = std::max(norm, sum);
        inner = std::max(inner, sums[at(i)]);
    }
    return n_ ? 1.0 / (norm * inner) : 1.0;
}

Value objective(const Passes& passes, const RidgeTerms& terms, const Matrix& coef, Index h, double* slope, double* gradient,
                double* hessian) {
    const Request& request = passes.request;
    const Index p = passes.rows.columns(), k = request.outputs;
    const Evaluation sums = passes.evaluate(coef, h, slope, gradient, hessian);
    const double total = sums.weight_sum;
    // one second derivative for all outputs, one for each, or one of all of them together
    const bool coupled = request.loss == Loss::softmax;
    const Index parts = coupled || request.loss == Loss::squared ? 1 : k, side = coupled ? k * h : h;
    if (hessian) {
        for (Index i = 0; i < parts * side * side; ++i) hessian[i] /= total;
        for (Index c = 0; c < parts; ++c)
            for (Index j = 0; j < side; ++j) hessian[(c * side + j) * side + j] += terms.square[j % h];
    }
    double cost = 0, blur = 0;
    for (Index j = 0; j < p; ++j)
        for (Index c = 0; c < k; ++c) {
            const double own = coef.at(j, c);
            cost += terms.square[j] * own * own;
            gradient[j * k + c] = gradient[j * k + c] / total + terms.square[j] * own;
        }
    for (Index c = 0; c < k; ++c) {
        double size = terms.offset;
        for (Index j = 0; j < p; ++j) size += terms.largest[j] * std::fabs(coef.at(j, c));
        slope[c] /= total;
        blur += size * slope[c];
    }
    Value out;
    out.value = (sums.high + sums.low) / total + 0.5 * cost;
    out.error = 8 * eps * std::fabs(out.value) + static_cast<double>(p + 4) * eps * blur;
    return out;
}

namespace {

class NewtonSteps {
public:
    NewtonSteps(const Passes& passes, const Descent& asked, Steps& steps)
        : passes_(passes),
          asked_(asked),
          steps_(steps),
          here_(steps.here),
          p_(passes.rows.columns()),
          k_(passes.request.outputs),
          parts_(passes.request.loss == Loss::squared ? 1 : k_),
          constant_(passes.request.loss == Loss::squared),
          factors_(at(parts_)),
          shift_(at(p_ * k_)),
          trial_(at(p_ * k_)) {}

    void run(const double* coef) {
        std::vector<double> now(coef, coef + p_ * k_);
        steps_.coefs = now;
        for (Index step = 0;; ++step) {
            if ((step == 0 || !constant_) && !factor()) return;
            const double fall = solve(), enough = asked_.share * (asked_.baseline - here_.value);
            steps_.values.push_back(here_.value);
            steps_.estimates.push_back(0.5 * fall);
            steps_.passes.push_back(steps_.count);
            if (std::fabs(0.5 * fall) <= enough || step == asked_.most) return;
            if (!search(now, fall)) return;
            steps_.coefs.insert(steps_.coefs.end(), now.begin(), now.end());
        }
    }

private:
    bool factor() {
        for (Index c = 0; c < parts_; ++c)
            if (!(factors_[at(c)].make(here_.hessian.data() + c * p_ * p_, p_) > least_pivot)) return false;
        return true;
    }

    // The step H^-1 g; returns what a quadratic would fall by, twice.
    double solve() {
        shift_ = here_.gradient;
        for (Index c = 0; c < k_; ++c) factors_[at(c % parts_)].solve(shift_.data() + c, k_);
        double fall = 0;
        for (Index i = 0; i < p_ * k_; ++i) fall += shift_[at(i)] * here_.gradient[at(i)];
        return fall;
    }

    // The first of b - shift, b - shift/2, ... that lowers F enough; false where rounding hides any descent.
    bool search(std::vector<double>& now, double fall) {
        double size = 0;
        if (asked_.unbounded)
            for (Index c = 0; c < k_; ++c) size = std::max(size, reach(shift_.data() + c));
        double step = size > 0 ? std::min(1.0, 1e8 / size) : 1.0;
        Here there;
        for (int tried = 0; tried < 60; ++tried) {
            for (Index i = 0; i < p_ * k_; ++i) trial_[at(i)] = now[at(i)] - step * shift_[at(i)];
            evaluate(trial_, constant_ ? 0 : p_, there);
            bool good = there.value <= here_.value - 1e-4 * step * fall;
            if (fall <= 128 * eps * std::fabs(here_.value) + 2 * here_.error) {
                // close to the optimum the fall of F drowns in rounding; then the gradient tells
                double left = 0;
                for (Index i = 0; i < p_ * k_; ++i) left += shift_[at(i)] * there.gradient[at(i)];
                good = std::fabs(left) < 0.5 * fall;
                if (!good) return false;
            }
            if (good) {
                if (constant_) there.hessian = std::move(here_.hessian);
                std::swap(here_, there);
                now = trial_;
                return true;
            }
            step *= 0.5;
            if (tried == 3 && size > 0) step = std::min(step, 50.0 / size);
        }
        return false;
    }

    double reach(const double* direction) const {
        double sum = 0;
        for (Index j = 0; j < p_; ++j) sum += asked_.terms.largest[j] * std::fabs(direction[j * k_]);
        return sum;
    }

    void evaluate(const std::vector<double>& coef, Index h, Here& out) {
        out.gradient.resize(at(p_ * k_));
        out.slope.resize(at(k_));
        out.hessian.resize(at(parts_ * h * h));
        const Matrix b{coef.data(), p_, k_, k_, 1};
        const Value found = objective(passes_, asked_.terms, b, h, out.slope.data(), out.gradient.data(), h ? out.hessian.data() : nullptr);
        out.value = found.value;
        out.error = found.error;
        ++steps_.count;
    }

    const Passes& passes_;
    const Descent& asked_;
    Steps& steps_;
    Here& here_;
    const Index p_, k_, parts_;
    const bool constant_;
    std::vector<SmallFactor> factors_;
    std::vector<double> shift_, trial_;
};

}  // namespace

void descend(const Passes& passes, const Descent& asked, const double* coef, Steps& steps) { NewtonSteps(passes, asked, steps).run(coef); }

}  // namespace lineal
