// The losses, one struct each: value, slope and curvature of W rows at a time, and the Fenchel-Young mismatch.
#pragma once

#include "passes/elementary.hpp"
#include "passes/kernels.hpp"
#include "passes/vector.hpp"

namespace {

using lineal::Loss;
using lineal::LossBlock;

// Sums over the rows of a block, lanes kept apart until the end.
struct Total {
    V high{}, low{};
    void add(V value) { accumulate(high, low, value); }
    void into(double& high_out, double& low_out) const {
        for (int i = 0; i < W; ++i) {
            accumulate(high_out, low_out, high[i]);
            low_out += low[i];
        }
    }
};

// p excess(t), infinite for t < -1 even where p has underflowed to zero
inline V charge(V p, V t) { return choose(t < splat(-1.0), splat(__builtin_inf()), p * excess(t)); }

inline double total(V x) {
    double out = 0;
    for (int i = 0; i < W; ++i) out += x[i];
    return out;
}

// loss = (y - eta)^2 / 2, each output by itself
struct Squared {
    static void rows(LossBlock& b) {
        Total value;
        for (Index c = 0; c < b.outputs; ++c) {
            V slopes{};
            for (Index i = 0; i < b.count; i += W) {
                const Index at = c * b.room + i;
                const V s = load(b.weight + i);
                const V r = load(b.eta + at) - load(b.y + at);
                const V sr = s * r;
                value.add(0.5 * sr * r);
                slopes += absolute(sr);
                store(b.slope + at, sr);
                if (b.curvature) store(b.curvature + at, s);
            }
            b.slope_sum[c] += total(slopes);
        }
        value.into(b.high, b.low);
    }

    // loss*(theta) = theta^2 / 2 + theta y, so the mismatch at theta = slope - u is u^2 / 2; a theta is that of the step a u + (1 - a)
    // slope
    static void dual(LossBlock& b) {
        Total value;
        for (Index c = 0; c < b.outputs; ++c) {
            V slopes{}, reach{};
            for (Index i = 0; i < b.count; i += W) {
                const Index at = c * b.room + i;
                const V s = load(b.weight + i), u = load(b.step + at), r = load(b.eta + at) - load(b.y + at);
                const V theta = b.scale * s * (r - u), apart = b.scale * u + (1.0 - b.scale) * r;
                value.add(0.5 * s * apart * apart);
                slopes += absolute(theta);
                reach = absolute(u) <= reach ? reach : absolute(u);
                store(b.slope + at, theta);
            }
            b.slope_sum[c] += total(slopes);
            b.reach = largest(reach) > b.reach ? largest(reach) : b.reach;
        }
        value.into(b.high, b.low);
    }

    static void mean(Index, Index, Index, double*) {}
};

// loss = log(1 + exp(eta)) - y eta, y in [0, 1]
struct Logistic {
    struct Parts {
        V small;    // exp(-|eta|)
        V p, rest;  // mean and 1 - mean, both to full relative accuracy
    };
    static Parts parts(V eta) {
        const V small = exponential(-absolute(eta));
        const V scale = 1.0 / (1.0 + small);
        const V low = small * scale;
        const I positive = eta > V{};
        return {small, choose(positive, scale, low), choose(positive, low, scale)};
    }

    static void rows(LossBlock& b) {
        Total value;
        for (Index c = 0; c < b.outputs; ++c) {
            V slopes{};
            for (Index i = 0; i < b.count; i += W) {
                const Index at = c * b.room + i;
                const V s = load(b.weight + i), y = load(b.y + at), eta = load(b.eta + at);
                const Parts q = parts(eta);
                const V hinge = choose(eta > V{}, (1.0 - y) * eta, -y * eta);
                value.add(s * (log_1p(q.small) + hinge));
                const V slope = s * ((1.0 - y) * q.p - y * q.rest);
                slopes += absolute(slope);
                store(b.slope + at, slope);
                if (b.curvature) store(b.curvature + at, s * q.p * q.rest);
            }
            b.slope_sum[c] += total(slopes);
        }
        value.into(b.high, b.low);
    }

    // theta + y = p (1 + A), 1 - theta - y = (1 - p) (1 + B) with A = -(1 - p) u, B = p u, and p A + (1 - p) B = 0:
    // the mismatch is the Kullback-Leibler divergence p excess(A) + (1 - p) excess(B), two terms >= 0.
    // a theta is that of the step a u + (1 - a) slope / (p (1 - p)), slope / (p (1 - p)) = (1 - y) / (1 - p) - y / p
    static void dual(LossBlock& b) {
        Total value;
        for (Index c = 0; c < b.outputs; ++c) {
            V slopes{}, reach{};
            for (Index i = 0; i < b.count; i += W) {
                const Index at = c * b.room + i;
                const V s = load(b.weight + i), y = load(b.y + at), u = load(b.step + at);
                const Parts q = parts(load(b.eta + at));
                V up = -q.rest * u, down = q.p * u;
                if (b.scale != 1) {
                    const double rest = 1.0 - b.scale;
                    up = b.scale * up - rest * choose(y == V{}, splat(1.0), (1.0 - y) - y * (q.rest / q.p));
                    down = b.scale * down + rest * choose(y == splat(1.0), splat(-1.0), (1.0 - y) * (q.p / q.rest) - y);
                }
                const V mismatch = charge(q.p, up) + charge(q.rest, down);
                value.add(choose(s == V{}, V{}, s * mismatch));
                const V theta = b.scale * s * (((1.0 - y) * q.p - y * q.rest) - q.p * q.rest * u);
                slopes += absolute(theta);
                reach = absolute(u) <= reach ? reach : absolute(u);
                store(b.slope + at, theta);
            }
            b.slope_sum[c] += total(slopes);
            b.reach = largest(reach) > b.reach ? largest(reach) : b.reach;
        }
        value.into(b.high, b.low);
    }

    static void mean(Index outputs, Index count, Index room, double* eta) {
        for (Index c = 0; c < outputs; ++c)
            for (Index i = 0; i < count; i += W) store(eta + c * room + i, parts(load(eta + c * room + i)).p);
    }
};

// loss = log sum_c exp(eta_c) - eta_y, y the number of the class
struct Softmax {
    // probabilities into p; returns log sum exp(eta) - max eta, to full relative accuracy, and that maximum
    static V probabilities(Index outputs, Index room, const double* eta, double* p, V& top) {
        top = load(eta);
        V where{};
        for (Index c = 1; c < outputs; ++c) {
            const V e = load(eta + c * room);
            where = choose(e > top, splat(static_cast<double>(c)), where);
            top = e <= top ? top : e;  // a NaN stays
        }
        V rest{};  // sum over all classes but the largest one
        for (Index c = 0; c < outputs; ++c) {
            const V e = exponential(load(eta + c * room) - top);
            rest += choose(where == splat(static_cast<double>(c)), V{}, e);
            store(p + c * room, e);
        }
        const V scale = 1.0 / (1.0 + rest);
        for (Index c = 0; c < outputs; ++c) store(p + c * room, load(p + c * room) * scale);
        return log_1p(rest);
    }

    static void rows(LossBlock& b) {
        Total value;
        for (Index i = 0; i < b.count; i += W) {
            const V s = load(b.weight + i), y = load(b.y + i);
            double* p = (b.curvature ? b.curvature : b.slope) + i;
            V top, own{};
            const V log_sum = probabilities(b.outputs, b.room, b.eta + i, p, top);
            V others{};
            for (Index c = 0; c < b.outputs; ++c) {
                const I mine = y == splat(static_cast<double>(c));
                own = choose(mine, load(b.eta + c * b.room + i), own);
                others += choose(mine, V{}, load(p + c * b.room));
            }
            value.add(s * (log_sum + (top - own)));
            for (Index c = 0; c < b.outputs; ++c) {
                const V slope = s * choose(y == splat(static_cast<double>(c)), -others, load(p + c * b.room));
                b.slope_sum[c] += total(absolute(slope));
                store(b.slope + c * b.room + i, slope);
            }
        }
        value.into(b.high, b.low);
    }

    // theta + e_y = p (1 + A), A_c = -(u_c - sum_d p_d u_d): the mismatch is sum_c p_c excess(A_c)
    static void dual(LossBlock& b) {
        Total value;
        for (Index i = 0; i < b.count; i += W) {
            const V s = load(b.weight + i), y = load(b.y + i);
            double* p = b.slope + i;
            V top, middle{}, mismatch{}, reach{}, others{};
            probabilities(b.outputs, b.room, b.eta + i, p, top);
            for (Index c = 0; c < b.outputs; ++c) {
                const V u = load(b.step + c * b.room + i), prob = load(p + c * b.room);
                middle = fma(prob, u, middle);
                reach = absolute(u) <= reach ? reach : absolute(u);
                others += choose(y == splat(static_cast<double>(c)), V{}, prob);
            }
            for (Index c = 0; c < b.outputs; ++c) {
                const V a = middle - load(b.step + c * b.room + i), prob = load(p + c * b.room);
                mismatch += charge(prob, a);
                const V slope = choose(y == splat(static_cast<double>(c)), -others, prob);
                const V theta = s * (slope + prob * a);
                b.slope_sum[c] += total(absolute(theta));
                store(b.slope + c * b.room + i, theta);
            }
            value.add(choose(s == V{}, V{}, s * mismatch));
            b.reach = largest(reach) > b.reach ? largest(reach) : b.reach;
        }
        value.into(b.high, b.low);
    }

    static void mean(Index outputs, Index count, Index room, double* eta) {
        V top;
        for (Index i = 0; i < count; i += W) probabilities(outputs, room, eta + i, eta + i, top);
    }
};

struct Point {
    V value, slope, curvature;
};

// Losses of one score that are curved in some places only, or without bound. A Curve says of W rows:
//   at(y, eta, parameter): value, slope and curvature
//   mismatch(y, eta, u, parameter): what theta = slope - curvature u costs, infinite outside the domain
//   mean(eta)
template <class Curve>
struct Scalar {
    static void rows(LossBlock& b) {
        Total value;
        V slopes{};
        const V parameter = splat(b.parameter);
        for (Index i = 0; i < b.count; i += W) {
            const V s = load(b.weight + i);
            const Point q = Curve::at(load(b.y + i), load(b.eta + i), parameter);
            // rows beyond the last have weight zero, and may have any value
            value.add(choose(s == V{}, V{}, s * q.value));
            const V slope = choose(s == V{}, V{}, s * q.slope);
            slopes += absolute(slope);
            store(b.slope + i, slope);
            if (b.curvature) store(b.curvature + i, choose(s == V{}, V{}, s * q.curvature));
        }
        b.slope_sum[0] += total(slopes);
        value.into(b.high, b.low);
    }

    static void dual(LossBlock& b) {
        Total value;
        V slopes{}, reach{};
        const V parameter = splat(b.parameter);
        for (Index i = 0; i < b.count; i += W) {
            const V s = load(b.weight + i), y = load(b.y + i), eta = load(b.eta + i), u = load(b.step + i);
            const Point q = Curve::at(y, eta, parameter);
            value.add(choose(s == V{}, V{}, s * Curve::mismatch(y, eta, u, parameter)));
            const V theta = choose(s == V{}, V{}, s * (q.slope - q.curvature * u));
            slopes += absolute(theta);
            reach = absolute(u) <= reach ? reach : absolute(u);
            store(b.slope + i, theta);
        }
        b.slope_sum[0] += total(slopes);
        b.reach = largest(reach) > b.reach ? largest(reach) : b.reach;
        value.into(b.high, b.low);
    }

    static void mean(Index outputs, Index count, Index room, double* eta) {
        for (Index c = 0; c < outputs; ++c)
            for (Index i = 0; i < count; i += W) store(eta + c * room + i, Curve::mean(load(eta + c * room + i)));
    }
};

// A dual point closer to the border of its domain than this is refused, so that rounding may still move it.
constexpr double border = 1e-7;

// loss = r^2 / 2 up to the threshold T, T |r| - T^2 / 2 beyond, r = eta - y; |theta| <= T
struct Huber {
    static Point at(V y, V eta, V t) {
        const V r = eta - y, size = absolute(r);
        const I inside = size < t;
        const V near = choose(inside, size, t);
        return {near * (size - 0.5 * near), choose(inside, r, choose(r > V{}, t, -t)), choose(inside, splat(1.0), V{})};
    }
    static V mismatch(V y, V eta, V u, V t) {
        const V r = eta - y;
        const V inside = choose(absolute(r - u) > (1.0 - border) * t, splat(__builtin_inf()), 0.5 * u * u);
        return choose(absolute(r) < t, inside, V{});
    }
    static V mean(V eta) { return eta; }
};

// loss = exp(eta) - y eta; y + theta = m (1 - u), so the mismatch is m excess(-u)
struct Poisson {
    static Point at(V y, V eta, V) {
        const V m = exponential(eta);
        return {m - y * eta, m - y, m};
    }
    static V mismatch(V, V eta, V u, V) { return charge(exponential(eta), -u); }
    static V mean(V eta) { return exponential(eta); }
};

// loss = max(1 - z, 0)^2 / 2, z = eta for class 1, -eta for class 0; theta <= 0 for class 1, >= 0 for class 0
struct SquaredHinge {
    static V side(V y) { return choose(y > splat(0.5), splat(1.0), splat(-1.0)); }
    static Point at(V y, V eta, V) {
        const V z = side(y), d = 1.0 - z * eta, e = choose(d > V{}, d, V{});
        return {0.5 * e * e, -z * e, choose(d > V{}, splat(1.0), V{})};
    }
    static V mismatch(V y, V eta, V u, V) {
        const V z = side(y), d = 1.0 - z * eta;
        const V inside = choose(d + z * u < splat(border), splat(__builtin_inf()), 0.5 * u * u);
        return choose(d > V{}, inside, V{});
    }
    static V mean(V eta) { return choose(eta > V{}, splat(1.0), V{}); }
};

void loss_rows(LossBlock& block) {
    switch (block.loss) {
        case Loss::squared:
            Squared::rows(block);
            break;
        case Loss::logistic:
            Logistic::rows(block);
            break;
        case Loss::softmax:
            Softmax::rows(block);
            break;
        case Loss::huber:
            Scalar<Huber>::rows(block);
            break;
        case Loss::poisson:
            Scalar<Poisson>::rows(block);
            break;
        case Loss::squared_hinge:
            Scalar<SquaredHinge>::rows(block);
            break;
    }
}

void loss_dual(LossBlock& block) {
    switch (block.loss) {
        case Loss::squared:
            Squared::dual(block);
            break;
        case Loss::logistic:
            Logistic::dual(block);
            break;
        case Loss::softmax:
            Softmax::dual(block);
            break;
        case Loss::huber:
            Scalar<Huber>::dual(block);
            break;
        case Loss::poisson:
            Scalar<Poisson>::dual(block);
            break;
        case Loss::squared_hinge:
            Scalar<SquaredHinge>::dual(block);
            break;
    }
}

void loss_mean(Loss loss, Index outputs, Index count, Index room, double* eta) {
    switch (loss) {
        case Loss::squared:
            Squared::mean(outputs, count, room, eta);
            break;
        case Loss::logistic:
            Logistic::mean(outputs, count, room, eta);
            break;
        case Loss::softmax:
            Softmax::mean(outputs, count, room, eta);
            break;
        case Loss::huber:
            Scalar<Huber>::mean(outputs, count, room, eta);
            break;
        case Loss::poisson:
            Scalar<Poisson>::mean(outputs, count, room, eta);
            break;
        case Loss::squared_hinge:
            Scalar<SquaredHinge>::mean(outputs, count, room, eta);
            break;
    }
}

void loss_bend(LossBlock& b) {
    for (Index i = 0; i < b.count; i += W) {
        const V s = load(b.weight + i);
        V middle{};  // sum_d p_d u_d
        if (b.loss == Loss::softmax)
            for (Index c = 0; c < b.outputs; ++c)
                middle = fma(load(b.curvature + c * b.bent_room + i), load(b.step + c * b.room + i), middle);
        for (Index c = 0; c < b.outputs; ++c) {
            const V w = load(b.curvature + c * b.bent_room + i), u = load(b.step + c * b.room + i);
            store(b.slope + c * b.room + i, b.loss == Loss::softmax ? s * w * (u - middle) : w * u);
        }
    }
}

}  // namespace
