// The losses of a block of rows: value, slope and curvature of W rows at a time, and the Fenchel-Young mismatch.
// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include "passes/kernels.hpp"
#include "passes/losses.hpp"

namespace {

using lineal::Index;
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

// A loss of one score, each output by itself. Rows beyond the last have weight zero, and may have any value.
template <class Curve>
struct Scalar {
    static void rows(LossBlock& b) {
        Total value;
        const V parameter = splat(b.parameter);
        for (Index c = 0; c < b.outputs; ++c) {
            V slopes{};
            for (Index i = 0; i < b.count; i += W) {
                const Index at = c * b.room + i;
                const V s = load(b.weight + i);
                const Point<V> q = Curve::at(load(b.y + at), load(b.eta + at), parameter);
                value.add(choose(s == V{}, V{}, s * q.value));
                const V slope = choose(s == V{}, V{}, s * q.slope);
                slopes += absolute(slope);
                store(b.slope + at, slope);
                if (b.curvature) store(b.curvature + at, choose(s == V{}, V{}, s * q.curvature));
            }
            b.slope_sum[c] += total(slopes);
        }
        value.into(b.high, b.low);
    }

    static void dual(LossBlock& b) {
        Total value;
        const V parameter = splat(b.parameter);
        for (Index c = 0; c < b.outputs; ++c) {
            V slopes{}, reach{};
            for (Index i = 0; i < b.count; i += W) {
                const Index at = c * b.room + i;
                const V s = load(b.weight + i), y = load(b.y + at), eta = load(b.eta + at), u = load(b.step + at);
                const Point<V> q = Curve::at(y, eta, parameter);
                value.add(choose(s == V{}, V{}, s * Curve::mismatch(y, eta, u, parameter, b.scale)));
                const V theta = choose(s == V{}, V{}, b.scale * s * (q.slope - q.curvature * u));
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
            for (Index i = 0; i < count; i += W) store(eta + c * room + i, Curve::mean(load(eta + c * room + i)));
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

// work(struct of the loss)
template <class Work>
void with_loss(Loss loss, Work work) {
    if (loss == Loss::squared) return work(Scalar<Squared>{});
    if (loss == Loss::logistic) return work(Scalar<Logistic>{});
    if (loss == Loss::softmax) return work(Softmax{});
    if (loss == Loss::huber) return work(Scalar<Huber>{});
    if (loss == Loss::poisson) return work(Scalar<Poisson>{});
    work(Scalar<SquaredHinge>{});
}

void loss_rows(LossBlock& block) {
    with_loss(block.loss, [&](auto loss) { loss.rows(block); });
}

void loss_dual(LossBlock& block) {
    with_loss(block.loss, [&](auto loss) { loss.dual(block); });
}

void loss_mean(Loss which, Index outputs, Index count, Index room, double* eta) {
    if (which != Loss::squared && which != Loss::huber)  // their mean is the score
        with_loss(which, [&](auto loss) { loss.mean(outputs, count, room, eta); });
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

namespace lineal::LINEAL_LEVEL {

void add_losses(Kernels& table) {
    table.loss = ::loss_rows;
    table.dual = ::loss_dual;
    table.mean = ::loss_mean;
    table.bend = ::loss_bend;
}

}  // namespace lineal::LINEAL_LEVEL
