// Entries of Gram matrices: products, distances and what is made of them; common subsequences of texts.
// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include "kernels/entries.hpp"

#include <algorithm>

#include "passes/elementary.hpp"

namespace {

using lineal::Between;
using lineal::Finish;
using lineal::Index;

constexpr Index L = lineal::group_lanes;
constexpr int VG = 8 / W;             // vectors per group
constexpr int TALL = W == 8 ? 8 : 4;  // points of the left group at a time: as many sums as registers hold

inline V power(V base, int degree) {
    if (degree == 1) return base;
    V result = power(base, degree / 2);
    result = result * result;
    return degree % 2 ? result * base : result;
}

inline V finished(const Finish& how, V d) {
    if (how.kind == Finish::exponential) return exponential(-(d * how.factor));
    if (how.kind == Finish::power) return power(d * how.factor + how.shift, how.degree);
    return d;
}

template <Between between>
inline V added(V sum, V x, V z) {
    if constexpr (between == Between::product) return fma(x, z, sum);
    const V apart = x - z;
    if constexpr (between == Between::square) return fma(apart, apart, sum);
    return sum + absolute(apart);
}

// TALL points against G groups
template <Between between, int G>
inline void tile(const Finish& finish, const double* left, const double* right, Index numbers, double* out, Index stride) {
    V sum[TALL][G * VG];
#pragma GCC unroll 8
    for (int a = 0; a < TALL; ++a)
#pragma GCC unroll 8
        for (int b = 0; b < G * VG; ++b) sum[a][b] = V{};
    for (Index j = 0; j < numbers; ++j) {
        V z[G * VG];
#pragma GCC unroll 2
        for (int g = 0; g < G; ++g)
#pragma GCC unroll 4
            for (int v = 0; v < VG; ++v) z[g * VG + v] = load(right + (g * numbers + j) * L + v * W);
#pragma GCC unroll 8
        for (int a = 0; a < TALL; ++a) {
            const V x = splat(left[j * L + a]);
#pragma GCC unroll 8
            for (int b = 0; b < G * VG; ++b) sum[a][b] = added<between>(sum[a][b], x, z[b]);
        }
    }
    for (int a = 0; a < TALL; ++a)
        for (int b = 0; b < G * VG; ++b) store(out + a * stride + b * W, finished(finish, sum[a][b]));
}

template <Between between>
void blocks(const Finish& finish, const double* left, const double* right, Index groups, Index numbers, double* out, Index stride) {
    constexpr int G = W == 8 ? 2 : 1;
    Index g = 0;
    for (; g + G <= groups; g += G)
        for (Index a = 0; a < L; a += TALL)
            tile<between, G>(finish, left + a, right + g * numbers * L, numbers, out + a * stride + g * L, stride);
    for (; g < groups; ++g)
        for (Index a = 0; a < L; a += TALL)
            tile<between, 1>(finish, left + a, right + g * numbers * L, numbers, out + a * stride + g * L, stride);
}

void block(Between between, const Finish& finish, const double* left, const double* right, Index groups, Index numbers, double* out,
           Index stride) {
    if (between == Between::product)
        blocks<Between::product>(finish, left, right, groups, numbers, out, stride);
    else if (between == Between::square)
        blocks<Between::square>(finish, left, right, groups, numbers, out, stride);
    else
        blocks<Between::absolute>(finish, left, right, groups, numbers, out, stride);
}

// Numbers too small for full precision count as zero while one of these lives: powers of a decay reach them, and slowly.
class Flushed {
public:
#if defined(__x86_64__)
    Flushed() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
    ~Flushed() { _mm_setcsr(before_); }

private:
    unsigned before_;
#else
    Flushed() {}
    ~Flushed() {}
#endif
};

inline I symbols(const std::int64_t* from) {
    I value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// W lanes, R symbols of the text from k on. With K'_i(s, t) = sum over common subsequences of i symbols of decay^(from their first
// symbols to both ends):
//   K''_i(sx, tu) = decay K''_i(sx, t) + [x = u] decay^2 K'_{i-1}(s, t),   K'_i(sx, t) = decay K'_i(s, t) + K''_i(sx, t),
//   K = decay^2 sum over places of equal symbols of K'_{length-1}(s before, t before)
// Level i of place j stands at work[(j levels + i - 1) W]. N: levels held in registers, 0 for any number.
template <int N, int R>
inline V lines(const std::int64_t* text, const std::int64_t* others, Index longest, int levels, double decay, double* work, V total) {
    constexpr int room = N ? N : lineal::longest_subsequence;
    const int deep = N ? N : levels;
    const V fade = splat(decay), both = splat(decay * decay);
    V across[R][room], before[R][room + 1], row[R];
    I symbol[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
        symbol[r] = I{} + text[r];
        row[r] = V{};
        before[r][0] = splat(1.0);
#pragma GCC unroll 8
        for (int i = 0; i < deep; ++i) across[r][i] = before[r][i + 1] = V{};
    }
    double* at = work;
    for (Index j = 0; j < longest; ++j, at += deep * W) {
        const I other = symbols(others + j * L);
        I same[R];
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
            same[r] = other == symbol[r];
            row[r] += (V)(same[r] & (I)before[r][deep]);
        }
#pragma GCC unroll 8
        for (int i = deep; i-- > 0;) {
            V level = load(at + i * W);
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) {
                across[r][i] = fade * across[r][i] + both * (V)(same[r] & (I)before[r][i]);
                before[r][i + 1] = level;
                level = fade * level + across[r][i];
            }
            store(at + i * W, level);
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) total += row[r];
    return total;
}

template <int N>
bool lanes(const std::int64_t* text, Index size, const std::int64_t* others, Index longest, int levels, double decay, double* work,
           double* out, bool (*stop)(void*), void* watch) {
    constexpr int R = N == 0 ? 1 : N <= 2 && W == 8 ? 4 : 2;  // as many as registers hold
    std::fill(work, work + longest * levels * W, 0.0);
    V total = {};
    Index k = 0;
    for (; k + R <= size; k += R) {
        if ((k & 15) == 0 && stop(watch)) return false;
        total = lines<N, R>(text + k, others, longest, levels, decay, work, total);
    }
    for (; k < size; ++k) total = lines<N, 1>(text + k, others, longest, levels, decay, work, total);
    store(out, splat(decay * decay) * total);
    return true;
}

bool subsequences(const std::int64_t* text, Index size, const std::int64_t* others, Index longest, int length, double decay, double* work,
                  double* out, bool (*stop)(void*), void* watch) {
    const Flushed flushed;
    const int deep = length - 1;
    for (int v = 0; v < VG; ++v) {
        bool done = false;
        const auto go = [&]<int N>() { done = lanes<N>(text, size, others + v * W, longest, deep, decay, work, out + v * W, stop, watch); };
        if (deep >= 1 && deep <= 6)
            with_count<6>(deep, go);
        else
            go.template operator()<0>();
        if (!done) return false;
    }
    return true;
}

}  // namespace

namespace lineal::LINEAL_LEVEL {

const Entries& entries() {
    static const Entries table{::block, ::subsequences};
    return table;
}

}  // namespace lineal::LINEAL_LEVEL
