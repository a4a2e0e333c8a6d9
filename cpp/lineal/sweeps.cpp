// Compiled once per CPU level, with LINEAL_LEVEL naming it. Only the table has external linkage.
#include "sweeps.hpp"

#include <cmath>
#include <vector>

namespace {

using lineal::ByColumn;
using lineal::Charges;
using lineal::Index;
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

Progress gram(const double* gram, Index size, double* coef, double* gradient, const Charges& charges, double tol,
              Index most) {
    const auto update = [&](Index j) {
        const double* row = gram + j * size;
        const double z = best(charges, j, row[j], coef[j], gradient[j]), move = z - coef[j];
        if (move == 0) return 0.0;
        coef[j] = z;
        for (Index i = 0; i < size; ++i) gradient[i] += row[i] * move;
        return 0.5 * (row[j] + charges.square[j]) * move * move;
    };
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

Progress columns(const ByColumn& matrix, const double* weight, double* pull, double* coef, const Charges& charges, double tol,
                 Index most) {
    std::vector<double> bend(static_cast<std::size_t>(matrix.count));
    for (Index j = 0; j < matrix.count; ++j) {
        double sum = 0;
        const Index c = matrix.chosen[j];
        for (Index at = matrix.starts[c]; at < matrix.starts[c + 1]; ++at)
            sum += weight[matrix.rows[at]] * matrix.values[at] * matrix.values[at];
        bend[static_cast<std::size_t>(j)] = sum;
    }
    const auto update = [&](Index j) {
        const Index c = matrix.chosen[j], first = matrix.starts[c], last = matrix.starts[c + 1];
        double slope = 0;
        for (Index at = first; at < last; ++at) slope += matrix.values[at] * pull[matrix.rows[at]];
        const double D = bend[static_cast<std::size_t>(j)];
        const double z = best(charges, j, D, coef[j], slope), move = z - coef[j];
        if (move == 0) return 0.0;
        coef[j] = z;
        for (Index at = first; at < last; ++at) {
            const Index i = matrix.rows[at];
            pull[i] += weight[i] * matrix.values[at] * move;
        }
        return 0.5 * (D + charges.square[j]) * move * move;
    };
    return descend(matrix.count, tol, most, update, [&](Index j) { return resting(charges, j, coef[j]); });
}

}  // namespace

#define LINEAL_STRING_(x) #x
#define LINEAL_STRING(x) LINEAL_STRING_(x)
#define LINEAL_JOIN_(a, b) a##b
#define LINEAL_JOIN(a, b) LINEAL_JOIN_(a, b)

namespace lineal {

extern const Sweeps LINEAL_JOIN(sweeps_, LINEAL_LEVEL);
const Sweeps LINEAL_JOIN(sweeps_, LINEAL_LEVEL) = {LINEAL_STRING(LINEAL_LEVEL), gram, group, columns};

}  // namespace lineal
