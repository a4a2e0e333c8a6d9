// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include "paths/sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using lineal::Charges;
using lineal::Index;
using lineal::Path;
using lineal::Progress;

using List = std::vector<Index>;

// The minimiser of slope (z - at) + bend (z - at)^2 / 2 + penalty(z) of coefficient j.
double best(const Charges& charges, Index j, double bend, double at, double slope) {
    const double total = bend + charges.square[j], pull = bend * at - slope, linear = charges.linear[j];
    double z = at;
    if (total > 0)
        z = (pull > linear ? pull - linear : pull < -linear ? pull + linear : 0.0) / total;
    else if (linear > 0)
        z = 0;  // a column of zeros
    return z < charges.lower[j] ? charges.lower[j] : z > charges.upper[j] ? charges.upper[j] : z;
}

// Sweeps over all coefficients, and in between over those that do not rest. `update(j)` returns what moving j gained,
// `rests(j)` whether j is at a kink or a bound.
template <class Update, class Rests>
Progress descend(Index count, double tol, Index most, Update update, Rests rests) {
    List active;
    active.reserve(static_cast<std::size_t>(count));
    Progress progress{0, 0};
    while (progress.sweeps < most) {
        progress.fall = 0;
        active.clear();
        for (Index j = 0; j < count; ++j) {
            progress.fall += update(j);
            if (!rests(j)) active.push_back(j);
        }
        ++progress.sweeps;
        if (progress.fall <= tol) break;
        while (progress.sweeps < most) {
            double fall = 0;
            for (const Index j : active) fall += update(j);
            ++progress.sweeps;
            if (fall <= 0.3 * tol || fall <= 0.01 * progress.fall) break;
        }
    }
    return progress;
}

bool resting(const Charges& charges, Index j, double z) {
    return (z == 0 && charges.linear[j] > 0) || z <= charges.lower[j] || z >= charges.upper[j];
}

// Moves coefficient j to where it is best, given all others; returns what that gained, and adds what it cost.
double step(const double* gram, Index size, Index j, double* coef, double* gradient, const Charges& charges, double& spent) {
    const double* row = gram + j * size;
    const double z = best(charges, j, row[j], coef[j], gradient[j]), move = z - coef[j];
    if (move == 0) return 0;
    coef[j] = z;
    for (Index i = 0; i < size; ++i) gradient[i] += row[i] * move;
    spent += static_cast<double>(size);
    return 0.5 * (row[j] + charges.square[j]) * move * move;
}

Progress gram(const double* gram, Index size, double* coef, double* gradient, const Charges& charges, double tol, Index most) {
    double spent = 0;
    const auto update = [&](Index j) { return step(gram, size, j, coef, gradient, charges, spent); };
    return descend(size, tol, most, update, [&](Index j) { return resting(charges, j, coef[j]); });
}

Progress group(const double* gram, Index parts, Index columns, Index outputs, bool coupled, double* coef, double* gradient,
               const double* rate, double tol, Index most) {
    const Index size = coupled ? columns * outputs : columns;
    const auto row = [&](Index a, Index j) {
        return coupled ? gram + (a * columns + j) * size : gram + (parts == 1 ? 0 : a) * size * size + j * size;
    };
    // A bound on the curvature of a column's outputs: the largest row sum of their block.
    std::vector<double> bend(static_cast<std::size_t>(columns)), point(static_cast<std::size_t>(outputs));
    for (Index j = 0; j < columns; ++j) {
        double largest = 0;
        for (Index a = 0; a < outputs; ++a) {
            double sum = 0;
            if (coupled)
                for (Index b = 0; b < outputs; ++b) sum += std::fabs(row(a, j)[b * columns + j]);
            else
                sum = row(a, j)[j];
            largest = sum > largest ? sum : largest;
        }
        bend[static_cast<std::size_t>(j)] = largest;
    }
    const auto update = [&](Index j) {
        const double L = bend[static_cast<std::size_t>(j)];
        double square = 0;
        for (Index a = 0; a < outputs; ++a) {
            const double u = L > 0 ? coef[a * columns + j] - gradient[a * columns + j] / L : coef[a * columns + j];
            point[static_cast<std::size_t>(a)] = u;
            square += u * u;
        }
        const double norm = std::sqrt(square), cut = L > 0 ? rate[j] / L : rate[j] > 0 ? norm : 0.0;
        const double keep = norm > cut ? 1 - cut / norm : cut > 0 ? 0.0 : 1.0;
        double fall = 0;
        for (Index a = 0; a < outputs; ++a) {
            const double z = keep * point[static_cast<std::size_t>(a)], move = z - coef[a * columns + j];
            if (move == 0) continue;
            coef[a * columns + j] = z;
            fall += 0.5 * L * move * move;
            const double* from = row(a, j);
            double* to = coupled ? gradient : gradient + a * columns;
            for (Index i = 0; i < size; ++i) to[i] += from[i] * move;
        }
        return fall;
    };
    const auto rests = [&](Index j) {
        if (rate[j] <= 0) return false;
        for (Index a = 0; a < outputs; ++a)
            if (coef[a * columns + j] != 0) return false;
        return true;
    };
    return descend(columns, tol, most, update, rests);
}

// Points with their gradients after each of the last sweeps, and the point that continues their way.
class Anderson {
public:
    void start(Index size) {
        size_ = static_cast<std::size_t>(size);
        kept_.resize(2 * length * size_);
        point_.resize(2 * size_);
        count_ = 0;
    }

    // Keeps a point; true when there are enough to continue from.
    bool add(const double* coef, const double* gradient) {
        double* to = &kept_[2 * size_ * count_];
        std::copy(coef, coef + size_, to);
        std::copy(gradient, gradient + size_, to + size_);
        return ++count_ == length;
    }

    // The affine combination of the points whose differences cancel most (Anderson): sum_k w_k = 1, |sum_k w_k d_k|
    // least. Gradients are affine too, so that they need no product with the gram. Empty where it cannot be told.
    const double* further() {
        constexpr std::size_t m = length - 1;
        double matrix[m][m], weight[m], trace = 0;
        for (std::size_t a = 0; a < m; ++a)
            for (std::size_t b = 0; b <= a; ++b) {
                const double *u = &kept_[2 * size_ * a], *v = &kept_[2 * size_ * b];
                double sum = 0;
                for (std::size_t i = 0; i < size_; ++i) sum += (u[2 * size_ + i] - u[i]) * (v[2 * size_ + i] - v[i]);
                matrix[a][b] = sum;
                if (a == b) trace += sum;
            }
        if (!(trace > 0)) return nullptr;
        // Cholesky with a trace of ridge, and L L' w = 1
        for (std::size_t a = 0; a < m; ++a) {
            for (std::size_t b = 0; b <= a; ++b) {
                double sum = matrix[a][b] + (a == b ? 1e-12 * trace : 0.0);
                for (std::size_t c = 0; c < b; ++c) sum -= matrix[a][c] * matrix[b][c];
                if (a == b && !(sum > 0)) return nullptr;
                matrix[a][b] = a == b ? std::sqrt(sum) : sum / matrix[b][b];
            }
            weight[a] = 1;
            for (std::size_t c = 0; c < a; ++c) weight[a] -= matrix[a][c] * weight[c];
            weight[a] /= matrix[a][a];
        }
        double total = 0;
        for (std::size_t a = m; a-- > 0;) {
            for (std::size_t c = a + 1; c < m; ++c) weight[a] -= matrix[c][a] * weight[c];
            total += weight[a] /= matrix[a][a];
        }
        if (!(total > 0) || !std::isfinite(total)) return nullptr;
        std::fill(point_.begin(), point_.end(), 0.0);
        for (std::size_t a = 0; a < m; ++a) {
            const double share = weight[a] / total, *from = &kept_[2 * size_ * (a + 1)];
            for (std::size_t i = 0; i < 2 * size_; ++i) point_[i] += share * from[i];
        }
        return point_.data();
    }

private:
    static constexpr std::size_t length = 6;
    std::size_t size_ = 0, count_ = 0;
    std::vector<double> kept_, point_;
};

// One sweep over all coefficients; returns what it gained, and adds what it cost.
double sweep(const double* gram, Index size, double* coef, double* gradient, const Charges& charges, double& spent) {
    double fall = 0;
    for (Index j = 0; j < size; ++j) fall += step(gram, size, j, coef, gradient, charges, spent);
    return fall;
}

// The coefficients of a path that do not rest, with their own gram: most sweeps look at nothing else.
class Face {
public:
    explicit Face(Path& path) : w(path) {}

    void gather(const Charges& charges) {
        on_.clear();
        for (Index j = 0; j < w.size; ++j)
            if (!resting(charges, j, w.coef[j])) on_.push_back(j);
        const std::size_t m = on_.size();
        for (auto* list : {&coef_, &gradient_, &linear_, &square_, &lower_, &upper_}) list->resize(m);
        gram_.resize(m * m);
        for (std::size_t a = 0; a < m; ++a) {
            const Index j = on_[a];
            coef_[a] = w.coef[j];
            gradient_[a] = w.gradient[j];
            linear_[a] = charges.linear[j];
            square_[a] = charges.square[j];
            lower_[a] = charges.lower[j];
            upper_[a] = charges.upper[j];
            const double* row = w.gram + j * w.size;
            for (std::size_t b = 0; b < m; ++b) gram_[a * m + b] = row[on_[b]];
        }
    }

    // Sweeps, with a step ahead after every five, until they gain less than a hundredth of `first`; returns the work.
    double descend(double first, double budget) {
        const Index m = static_cast<Index>(on_.size());
        const Charges charges{linear_.data(), square_.data(), lower_.data(), upper_.data()};
        double spent = 0;
        anderson_.start(m);
        anderson_.add(coef_.data(), gradient_.data());
        for (int round = 0; round < 10 && spent <= budget;) {
            const double fall = sweep(gram_.data(), m, coef_.data(), gradient_.data(), charges, spent);
            if (fall == 0) break;
            if (!anderson_.add(coef_.data(), gradient_.data())) continue;
            ++round;
            if (const double* ahead = anderson_.further(); ahead && falls(ahead, charges)) {
                std::copy(ahead, ahead + m, coef_.begin());
                std::copy(ahead + m, ahead + 2 * m, gradient_.begin());
            }
            if (fall <= 0.01 * first) break;
            anderson_.start(m);
            anderson_.add(coef_.data(), gradient_.data());
        }
        return spent;
    }

    // Carries the moves over to all coefficients; returns the work.
    double scatter() {
        double spent = 0;
        for (std::size_t a = 0; a < on_.size(); ++a) {
            const Index j = on_[a];
            const double move = coef_[a] - w.coef[j], *row = w.gram + j * w.size;
            if (move == 0) continue;
            w.coef[j] = coef_[a];
            for (Index i = 0; i < w.size; ++i) w.gradient[i] += row[i] * move;
            spent += static_cast<double>(w.size);
        }
        return spent;
    }

private:
    // Whether the objective is lower there: a quadratic falls by the mean of its gradients times the move.
    bool falls(const double* ahead, const Charges& charges) const {
        double change = 0;
        const Index m = static_cast<Index>(on_.size());
        for (Index a = 0; a < m; ++a) {
            const std::size_t i = static_cast<std::size_t>(a);
            const double z = ahead[a], before = coef_[i];
            if (z < charges.lower[a] || z > charges.upper[a]) return false;
            change += 0.5 * (ahead[m + a] + gradient_[i] + charges.square[a] * (z + before)) * (z - before) +
                      charges.linear[a] * (std::fabs(z) - std::fabs(before));
        }
        return change < 0;
    }

    Path& w;
    List on_;
    std::vector<double> gram_, coef_, gradient_, linear_, square_, lower_, upper_;
    Anderson anderson_;
};

// z'Az/2 - c'z + penalty(z), gradient = A z - c, origin = -c; infinite outside the bounds.
double objective(const double* coef, const double* gradient, const double* origin, const Charges& charges, Index size) {
    double value = 0;
    for (Index j = 0; j < size; ++j) {
        const double z = coef[j];
        if (z < charges.lower[j] || z > charges.upper[j]) return INFINITY;
        value += z * (0.5 * (gradient[j] + origin[j] + charges.square[j] * z)) + charges.linear[j] * std::fabs(z);
    }
    return value;
}

// What the residuals, shrunk until the charges allow their gradient, show of the distance to the optimum.
double distance(const double* coef, const double* gradient, const double* origin, const Charges& charges, Index size, double level) {
    double scale = 1, square = 2 * level;
    for (Index j = 0; j < size; ++j) {
        const double g = gradient[j], bound = g > 0 ? charges.lower[j] : charges.upper[j];
        square += coef[j] * (g + origin[j]);
        if (charges.square[j] == 0 && std::isinf(bound) && std::fabs(g) > charges.linear[j])
            scale = std::min(scale, charges.linear[j] / std::fabs(g));
    }
    double gap = 0.5 * (1 - scale) * (1 - scale) * std::max(square, 0.0);
    for (Index j = 0; j < size; ++j) {
        const double g = scale * gradient[j], z = coef[j], linear = charges.linear[j], bend = charges.square[j];
        const double pull = std::max(std::fabs(g) - linear, 0.0);
        if (z == 0 && pull == 0) continue;
        double b = bend > 0 ? std::copysign(pull / bend, -g) : pull > 0 ? std::copysign(INFINITY, -g) : 0.0;
        b = std::clamp(b, charges.lower[j], charges.upper[j]);
        if (std::isinf(b)) b = 0;  // rounding of the scale
        gap += (z - b) * (g + 0.5 * bend * (z + b)) + linear * (std::fabs(z) - std::fabs(b));
    }
    return gap;
}

constexpr double most_work = 2e8;  // multiplications of one call, so that Ctrl-C is answered soon

Index follow(Path& w) {
    const Index size = w.size;
    std::vector<double> linear(static_cast<std::size_t>(size)), square(linear);
    const Charges charges{linear.data(), square.data(), w.rates.lower, w.rates.upper};
    Face face(w);
    const auto good = [&] {
        const double value = objective(w.coef, w.gradient, w.origin, charges, size);
        const double gap = distance(w.coef, w.gradient, w.origin, charges, size, w.level);
        return gap <= w.tol * std::max(-value, 0.0) || gap <= w.floor;
    };
    double total = 0;
    for (; w.done < w.points && total <= most_work; ++w.done) {
        double spent = 0;
        for (Index j = 0; j < size; ++j) {
            linear[static_cast<std::size_t>(j)] = w.strengths[w.done] * w.rates.linear[j];
            square[static_cast<std::size_t>(j)] = w.strengths[w.done] * w.rates.square[j];
        }
        for (double first = 1; first != 0 && !good();) {
            spent += 4 * static_cast<double>(size);
            if (spent > w.budget) return w.done;
            first = sweep(w.gram, size, w.coef, w.gradient, charges, spent);
            face.gather(charges);
            spent += face.descend(first, w.budget - spent);
            spent += face.scatter();
        }
        total += spent;
        std::copy(w.coef, w.coef + size, w.found + w.done * size);
    }
    return w.done;
}

}  // namespace

namespace lineal::LINEAL_LEVEL {

const Sweeps& sweeps() {
    static const Sweeps table = [] {
        Sweeps all{};
        all.gram = ::gram;
        all.group = ::group;
        all.follow = ::follow;
        add_screening(all);
        return all;
    }();
    return table;
}

}  // namespace lineal::LINEAL_LEVEL
