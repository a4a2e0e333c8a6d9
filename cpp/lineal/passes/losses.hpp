// Losses of one score, the only place where their formulas stand: T is a vector of rows (passes) or one number (stochastic steps).
//   at(y, eta, parameter): value, slope and curvature
//   mismatch(y, eta, u, parameter, scale): what theta = scale (slope - curvature u) costs, infinite outside the domain
//   mean(eta)
// The last two only where a loss has fused passes; `scale` only where dual points may be scaled.
#pragma once

#include "passes/elementary.hpp"

namespace {

inline double choose(bool condition, double yes, double no) { return condition ? yes : no; }
inline double absolute(double x) { return std::fabs(x); }

template <class T>
struct Point {
    T value, slope, curvature;
};

// A dual point closer to the border of its domain than this is refused, so that rounding may still move it.
constexpr double border = 1e-7;

// p excess(t), infinite for t < -1 even where p has underflowed to zero
inline V charge(V p, V t) { return choose(t < splat(-1.0), splat(__builtin_inf()), p * excess(t)); }

// loss = r^2 / 2, r = eta - y; loss*(theta) = theta^2 / 2 + theta y, so the mismatch at theta = slope - u is u^2 / 2;
// a theta is that of the step a u + (1 - a) slope
struct Squared {
    template <class T>
    static Point<T> at(T y, T eta, T) {
        const T r = eta - y;
        return {0.5 * r * r, r, T{} + 1.0};
    }
    static V mismatch(V y, V eta, V u, V, double scale) {
        const V apart = scale * u + (1.0 - scale) * (eta - y);
        return 0.5 * apart * apart;
    }
    static V mean(V eta) { return eta; }
};

// loss = log(1 + exp(eta)) - y eta, y in [0, 1]
struct Logistic {
    template <class T>
    struct Parts {
        T small;    // exp(-|eta|)
        T p, rest;  // mean and 1 - mean, both to full relative accuracy
    };
    template <class T>
    static Parts<T> parts(T eta) {
        const T small = exponential(-absolute(eta));
        const T scale = 1.0 / (1.0 + small);
        const T low = small * scale;
        return {small, choose(eta > T{}, scale, low), choose(eta > T{}, low, scale)};
    }
    template <class T>
    static Point<T> at(T y, T eta, T) {
        const Parts<T> q = parts(eta);
        const T hinge = choose(eta > T{}, (1.0 - y) * eta, -y * eta);
        return {log_1p(q.small) + hinge, (1.0 - y) * q.p - y * q.rest, q.p * q.rest};
    }
    // theta + y = p (1 + A), 1 - theta - y = (1 - p) (1 + B) with A = -(1 - p) u, B = p u, and p A + (1 - p) B = 0:
    // the mismatch is the Kullback-Leibler divergence p excess(A) + (1 - p) excess(B), two terms >= 0.
    // a theta is that of the step a u + (1 - a) slope / (p (1 - p)), slope / (p (1 - p)) = (1 - y) / (1 - p) - y / p
    static V mismatch(V y, V eta, V u, V, double scale) {
        const Parts<V> q = parts(eta);
        V up = -q.rest * u, down = q.p * u;
        if (scale != 1) {
            const double rest = 1.0 - scale;
            up = scale * up - rest * choose(y == V{}, splat(1.0), (1.0 - y) - y * (q.rest / q.p));
            down = scale * down + rest * choose(y == splat(1.0), splat(-1.0), (1.0 - y) * (q.p / q.rest) - y);
        }
        return charge(q.p, up) + charge(q.rest, down);
    }
    static V mean(V eta) { return parts(eta).p; }
};

// loss = r^2 / 2 up to the threshold t, t |r| - t^2 / 2 beyond, r = eta - y; |theta| <= t
struct Huber {
    template <class T>
    static Point<T> at(T y, T eta, T t) {
        const T r = eta - y, size = absolute(r);
        const auto inside = size < t;
        const T near = choose(inside, size, t);
        return {near * (size - 0.5 * near), choose(inside, r, choose(r > T{}, t, -t)), choose(inside, T{} + 1.0, T{})};
    }
    static V mismatch(V y, V eta, V u, V t, double) {
        const V r = eta - y;
        const V inside = choose(absolute(r - u) > (1.0 - border) * t, splat(__builtin_inf()), 0.5 * u * u);
        return choose(absolute(r) < t, inside, V{});
    }
    static V mean(V eta) { return eta; }
};

// loss = exp(eta) - y eta; y + theta = m (1 - u), so the mismatch is m excess(-u)
struct Poisson {
    template <class T>
    static Point<T> at(T y, T eta, T) {
        const T m = exponential(eta);
        return {m - y * eta, m - y, m};
    }
    static V mismatch(V, V eta, V u, V, double) { return charge(exponential(eta), -u); }
    static V mean(V eta) { return exponential(eta); }
};

template <class T>
inline T side(T y) {
    return choose(y > T{} + 0.5, T{} + 1.0, T{} - 1.0);
}

// loss = max(1 - z, 0)^2 / 2, z = eta for class 1, -eta for class 0; theta <= 0 for class 1, >= 0 for class 0
struct SquaredHinge {
    template <class T>
    static Point<T> at(T y, T eta, T) {
        const T z = side(y), d = 1.0 - z * eta, e = choose(d > T{}, d, T{});
        return {0.5 * e * e, -z * e, choose(d > T{}, T{} + 1.0, T{})};
    }
    static V mismatch(V y, V eta, V u, V, double) {
        const V z = side(y), d = 1.0 - z * eta;
        const V inside = choose(d + z * u < splat(border), splat(__builtin_inf()), 0.5 * u * u);
        return choose(d > V{}, inside, V{});
    }
    static V mean(V eta) { return choose(eta > V{}, splat(1.0), V{}); }
};

// loss = max(1 - z, 0)
struct Hinge {
    static Point<double> at(double y, double eta, double) {
        const double z = side(y), d = 1.0 - z * eta;
        return {d > 0 ? d : 0.0, d > 0 ? -z : 0.0, 0.0};
    }
};

// loss = max(-q r, (1 - q) r)
struct Quantile {
    static Point<double> at(double y, double eta, double q) {
        const double r = eta - y, slope = r > 0 ? 1 - q : r < 0 ? -q : 0.0;
        return {slope * r, slope, 0.0};
    }
};

// loss = max(|r| - e, 0)
struct Insensitive {
    static Point<double> at(double y, double eta, double e) {
        const double r = eta - y, over = absolute(r) - e;
        return {over > 0 ? over : 0.0, over > 0 ? std::copysign(1.0, r) : 0.0, 0.0};
    }
};

// loss = max(|r| - e, 0)^2 / 2
struct SquaredInsensitive {
    static Point<double> at(double y, double eta, double e) {
        const double r = eta - y, over = absolute(r) - e;
        return {over > 0 ? 0.5 * over * over : 0.0, over > 0 ? std::copysign(over, r) : 0.0, over > 0 ? 1.0 : 0.0};
    }
};

}  // namespace
