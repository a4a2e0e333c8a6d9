// Value and slope of one row: what a stochastic step asks of a loss. The same formulas as in src/lineal/losses.
#pragma once

#include <cmath>

#include "rowwise/epochs.hpp"

namespace {

using lineal::Index;
using lineal::RowLoss;

// loss = log sum_c exp(eta_c) - eta_y
double softmax_row(const double* eta, Index outputs, Index own, double* slope) {
    double top = eta[0], sum = 0;
    for (Index c = 1; c < outputs; ++c) top = eta[c] > top ? eta[c] : top;
    for (Index c = 0; c < outputs; ++c) sum += slope[c] = std::exp(eta[c] - top);
    for (Index c = 0; c < outputs; ++c) slope[c] /= sum;
    slope[own] -= 1;
    return std::log(sum) + (top - eta[own]);
}

// loss = max_c (eta_c + [c != y]) - eta_y
double crammer_singer_row(const double* eta, Index outputs, Index own, double* slope) {
    Index worst = own;
    double most = eta[own];
    for (Index c = 0; c < outputs; ++c) {
        slope[c] = 0;
        if (c != own && eta[c] + 1 > most) most = eta[worst = c] + 1;
    }
    slope[worst] += 1;
    slope[own] -= 1;
    return most - eta[own];
}

double squared_row(const double* y, const double* eta, Index outputs, double* slope) {
    double value = 0;
    for (Index c = 0; c < outputs; ++c) {
        slope[c] = eta[c] - y[c];
        value += 0.5 * slope[c] * slope[c];
    }
    return value;
}

// Losses of one score; side is 1 for class 1 and -1 for class 0, r = eta - y.
double scalar_row(RowLoss loss, double parameter, double y, double eta, double& slope) {
    const double r = eta - y, size = std::fabs(r), side = y > 0.5 ? 1.0 : -1.0, short_of = 1 - side * eta;
    switch (loss) {
        case RowLoss::logistic: {
            const double small = std::exp(-std::fabs(eta)), scale = 1 / (1 + small), low = small * scale;
            slope = eta > 0 ? (1 - y) * scale - y * low : (1 - y) * low - y * scale;
            return std::log1p(small) + (eta > 0 ? (1 - y) * eta : -y * eta);
        }
        case RowLoss::hinge:
            slope = short_of > 0 ? -side : 0;
            return short_of > 0 ? short_of : 0;
        case RowLoss::squared_hinge:
            slope = short_of > 0 ? -side * short_of : 0;
            return short_of > 0 ? 0.5 * short_of * short_of : 0;
        case RowLoss::quantile:  // max(low r, high r): high = 1 - q above the target, low = -q below
            slope = r > 0 ? 1 - parameter : r < 0 ? -parameter : 0;
            return slope * r;
        case RowLoss::huber:
            slope = size <= parameter ? r : std::copysign(parameter, r);
            return size <= parameter ? 0.5 * r * r : parameter * (size - 0.5 * parameter);
        case RowLoss::insensitive:
            slope = size > parameter ? std::copysign(1.0, r) : 0;
            return size > parameter ? size - parameter : 0;
        case RowLoss::squared_insensitive:
            slope = size > parameter ? std::copysign(size - parameter, r) : 0;
            return 0.5 * slope * slope;
        case RowLoss::poisson: {
            const double mean = std::exp(eta);
            slope = mean - y;
            return mean - y * eta;
        }
        default:
            slope = 0;
            return 0;
    }
}

double row_loss(RowLoss loss, double parameter, const double* y, const double* eta, Index outputs, double* slope) {
    switch (loss) {
        case RowLoss::squared:
            return squared_row(y, eta, outputs, slope);
        case RowLoss::softmax:
            return softmax_row(eta, outputs, static_cast<Index>(y[0]), slope);
        case RowLoss::crammer_singer:
            return crammer_singer_row(eta, outputs, static_cast<Index>(y[0]), slope);
        default:
            return scalar_row(loss, parameter, y[0], eta[0], slope[0]);
    }
}

}  // namespace
