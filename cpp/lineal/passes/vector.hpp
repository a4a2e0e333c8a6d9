// The vector type of one CPU level. Included only by what is compiled once per level:
// everything lives in an anonymous namespace, or the linker might keep one level's copy for all.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int W = 8;
#elif defined(__AVX2__)
constexpr int W = 4;
#else
constexpr int W = 2;
#endif

typedef double V __attribute__((vector_size(W * 8), may_alias));
typedef std::int64_t I __attribute__((vector_size(W * 8), may_alias));
typedef std::uint64_t U __attribute__((vector_size(W * 8), may_alias));
typedef float F __attribute__((vector_size(W * 4), may_alias));
typedef float S __attribute__((vector_size(W * 8), may_alias));
constexpr int SINGLES = 2 * W;  // numbers in one vector of single precision

// Between precisions, in one instruction: GCC makes five of __builtin_convertvector for vectors of eight. The intrinsics are those with
// a mask (of all lanes), since the others begin with a register that GCC takes for uninitialised.
inline V widened(F x) {
#if defined(__AVX512F__)
    return (V)_mm512_maskz_cvtps_pd(0xff, (__m256)x);
#else
    return __builtin_convertvector(x, V);
#endif
}
inline F narrowed(V x) {
#if defined(__AVX512F__)
    return (F)_mm512_maskz_cvtpd_ps(0xff, (__m512d)x);
#else
    return __builtin_convertvector(x, F);
#endif
}

inline V load(const double* from) {
    V value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
inline V load(const float* from) {
    F value;
    std::memcpy(&value, from, sizeof value);
    return widened(value);
}
inline S load_singles(const float* from) {
    S value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
// The first `count` < W numbers, then zeros.
inline V load_first(const double* from, std::int64_t count) {
#if defined(__AVX512F__)
    return (V)_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), from);
#elif defined(__AVX2__)
    static constexpr std::int64_t some[8] = {-1, -1, -1, -1};  // one number after another would have to wait for each other in memory
    return (V)_mm256_maskload_pd(from, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(some + 4 - count)));
#else
    V value{};
    for (std::int64_t i = 0; i < count; ++i) value[i] = from[i];
    return value;
#endif
}
inline V load_first(const float* from, std::int64_t count) {
#if defined(__AVX512VL__)
    return widened((F)_mm256_maskz_loadu_ps(static_cast<__mmask8>((1u << count) - 1), from));
#elif defined(__AVX2__)
    static constexpr std::int32_t some[8] = {-1, -1, -1, -1};
    return (V)_mm256_cvtps_pd(_mm_maskload_ps(from, _mm_loadu_si128(reinterpret_cast<const __m128i*>(some + 4 - count))));
#else
    V value{};
    for (std::int64_t i = 0; i < count; ++i) value[i] = from[i];
    return value;
#endif
}

inline void store(double* to, V value) { std::memcpy(to, &value, sizeof value); }
inline void store(float* to, S value) { std::memcpy(to, &value, sizeof value); }
inline V splat(double value) { return value - V{}; }

// a b + c; rounded once where the CPU can, twice on x86-64-v2. Never use it where one rounding is assumed.
inline V fma(V a, V b, V c) {
#if defined(__AVX512F__)
    return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX2__)
    return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__FP_FAST_FMA)
    V out;
    for (int i = 0; i < W; ++i) out[i] = __builtin_fma(a[i], b[i], c[i]);
    return out;
#else
    return a * b + c;
#endif
}

inline S fma(S a, S b, S c) {
#if defined(__AVX512F__)
    return (S)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__)
    return (S)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

// Keeps a vector in its register: folded into several instructions it would be loaded as often.
template <class Vector>
inline void hold([[maybe_unused]] Vector& value) {
#if defined(__AVX512F__)
    asm("" : "+v"(value));
#elif defined(__x86_64__)
    asm("" : "+x"(value));
#endif
}

inline V absolute(V x) { return (V)((I)x & (I{} + 0x7fffffffffffffff)); }
inline V choose(I mask, V yes, V no) { return mask ? yes : no; }
inline V larger(V a, V b) { return a > b ? a : b; }
inline double largest(V x) {
    double out = x[0];
    for (int i = 1; i < W; ++i) out = x[i] > out ? x[i] : out;
    return out;
}

// The sums of W vectors, as one vector.
inline V sums(const V* a) {
#if defined(__AVX512F__)
    V t[4], u[2];
    for (int i = 0; i < 4; ++i)
        t[i] = __builtin_shuffle(a[2 * i], a[2 * i + 1], (I){0, 8, 2, 10, 4, 12, 6, 14}) +
               __builtin_shuffle(a[2 * i], a[2 * i + 1], (I){1, 9, 3, 11, 5, 13, 7, 15});
    for (int i = 0; i < 2; ++i)
        u[i] = __builtin_shuffle(t[2 * i], t[2 * i + 1], (I){0, 1, 8, 9, 4, 5, 12, 13}) +
               __builtin_shuffle(t[2 * i], t[2 * i + 1], (I){2, 3, 10, 11, 6, 7, 14, 15});
    return __builtin_shuffle(u[0], u[1], (I){0, 1, 2, 3, 8, 9, 10, 11}) + __builtin_shuffle(u[0], u[1], (I){4, 5, 6, 7, 12, 13, 14, 15});
#elif defined(__AVX2__)
    V t[2];
    for (int i = 0; i < 2; ++i)
        t[i] = __builtin_shuffle(a[2 * i], a[2 * i + 1], (I){0, 4, 2, 6}) + __builtin_shuffle(a[2 * i], a[2 * i + 1], (I){1, 5, 3, 7});
    return __builtin_shuffle(t[0], t[1], (I){0, 1, 4, 5}) + __builtin_shuffle(t[0], t[1], (I){2, 3, 6, 7});
#else
    return (V){a[0][0] + a[0][1], a[1][0] + a[1][1]};
#endif
}

// a + b exactly, as high + low (Knuth).
template <class T>
inline T two_sum(T a, T b, T& low) {
    const T high = a + b;
    const T back = high - a;
    low = (a - (high - back)) + (b - back);
    return high;
}

// The same when |a| >= |b| or a = 0 (Dekker).
template <class T>
inline T quick_two_sum(T a, T b, T& low) {
    const T high = a + b;
    low = b - (high - a);
    return high;
}

#if defined(__AVX2__) || defined(__FP_FAST_FMA)
inline V two_prod(V a, V b, V& low) {
    const V high = a * b;
    low = fma(a, b, -high);
    return high;
}
inline double two_prod(double a, double b, double& low) {
    const double high = a * b;
    low = __builtin_fma(a, b, -high);
    return high;
}
#else
// Without a fused multiply: Dekker's product of halves. Exact unless a factor exceeds 2^996.
template <class T>
inline T two_prod(T a, T b, T& low) {
    const T high = a * b;
    const T ca = a * 134217729.0, cb = b * 134217729.0;
    const T ah = ca - (ca - a), bh = cb - (cb - b);
    const T al = a - ah, bl = b - bh;
    low = ((ah * bh - high) + ah * bl + al * bh) + al * bl;
    return high;
}
#endif

// Adds `value` to the unevaluated sum high + low.
template <class T>
inline void accumulate(T& high, T& low, T value) {
    T error;
    high = two_sum(high, value, error);
    low += error;
}

// work<n>() for n from 1 to MOST: how many registers something takes is known where it is compiled.
template <int MOST, class Work>
inline void with_count(std::int64_t n, Work work) {
    if constexpr (MOST > 1)
        if (n < MOST) return with_count<MOST - 1>(n, work);
    work.template operator()<MOST>();
}

inline S splat_single(float value) { return value - S{}; }
inline double total(V x) {
    double out = 0;
    for (int i = 0; i < W; ++i) out += x[i];
    return out;
}

}  // namespace
