// exp, log1p and the entropy excess on vectors: branch-free, a few ulp, right at the ends of the range.
#pragma once

#include <cmath>

#include "passes/vector.hpp"

namespace {

// exp(x) = 2^n exp(r), |r| <= ln 2 / 2; the power of two is applied in two steps so that subnormal results are right.
inline V exponential(V x) {
    constexpr double magic = 0x1.8p52;  // adding it rounds to an integer and leaves that integer in the low bits
    V t = x < splat(-746.0) ? splat(-746.0) : x;
    t = t > splat(710.0) ? splat(710.0) : t;
    const V n = (t * 0x1.71547652b82fep0 + magic) - magic;
    V r = fma(n, splat(-6.93147180369123816490e-01), t);
    r = fma(n, splat(-1.90821492927058770002e-10), r);
    V q = splat(1.0 / 6227020800.0);
    q = fma(q, r, splat(1.0 / 479001600.0));
    q = fma(q, r, splat(1.0 / 39916800.0));
    q = fma(q, r, splat(1.0 / 3628800.0));
    q = fma(q, r, splat(1.0 / 362880.0));
    q = fma(q, r, splat(1.0 / 40320.0));
    q = fma(q, r, splat(1.0 / 5040.0));
    q = fma(q, r, splat(1.0 / 720.0));
    q = fma(q, r, splat(1.0 / 120.0));
    q = fma(q, r, splat(1.0 / 24.0));
    q = fma(q, r, splat(1.0 / 6.0));
    q = fma(q, r, splat(0.5));
    const V p = fma(r * r, q, r) + 1.0;
    const V half = (n * 0.5 + magic) - magic;
    const I first = (I)(half + magic), second = (I)((n - half) + magic);
    const V one = (V)((first + 1023) << 52), two = (V)((second + 1023) << 52);
    return p * one * two;
}

// log(1 + x) after fdlibm: u = 1 + x rounded, log u by s = f / (2 + f), plus the rounding error of u divided by u.
inline V log_1p(V x) {
    const V u = x + 1.0;
    const V lost = (x > splat(1.0) ? 1.0 - (u - x) : x - (u - 1.0)) / u;
    const I bits = (I)u + (0x3ff0000000000000 - 0x3fe6a09e00000000);
    const I exponent = (I)((U)bits >> 52) - 1023;
    const V m = (V)((bits & 0x000fffffffffffff) + 0x3fe6a09e00000000);
    const V k = (V)(exponent + 0x4338000000000000) - 0x1.8p52;
    const V f = m - 1.0;
    const V half_square = 0.5 * f * f;
    const V s = f / (2.0 + f);
    const V z = s * s, w = z * z;
    const V odd = w * fma(w, fma(w, splat(1.531383769920937332e-01), splat(2.222219843214978396e-01)), splat(3.999999999940941908e-01));
    const V even =
        z * fma(w, fma(w, fma(w, splat(1.479819860511658591e-01), splat(1.818357216161805012e-01)), splat(2.857142874366239149e-01)),
                splat(6.666666666666735130e-01));
    V out = s * (half_square + (even + odd)) + (k * 1.90821492927058770002e-10 + lost);
    out = (out - half_square) + f + k * 6.93147180369123816490e-01;
    out = x == splat(-1.0) ? splat(-__builtin_inf()) : out;
    out = x < splat(-1.0) ? splat(__builtin_nan("")) : out;
    return x == splat(__builtin_inf()) ? x : out;
}

// (1 + t) log(1 + t) - t >= 0, for t >= -1: what a row pays when its probability is wrong by the factor 1 + t.
// Near zero the series t^2/2 - t^3/6 + ... + t^m (-1)^m / (m (m - 1)), or the difference would cancel. Infinite below -1.
inline V excess(V t) {
    V q = splat(1.0 / (14 * 13));
    for (int m = 13; m >= 2; --m) q = fma(-q, t, splat(1.0 / (m * (m - 1))));
    const V near = t * t * q;
    const V u = t + 1.0;
    const V far = u * log_1p(t) - t;
    V out = absolute(t) < splat(0.0625) ? near : far;
    out = t == splat(-1.0) ? splat(1.0) : out;
    return t < splat(-1.0) ? splat(__builtin_inf()) : out;
}

// The same of one number, where rows come one after another.
inline double exponential(double x) { return std::exp(x); }
inline double log_1p(double x) { return std::log1p(x); }

}  // namespace
