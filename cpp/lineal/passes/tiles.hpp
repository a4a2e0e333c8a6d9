// Register tiles: sums of products of some columns with others, of which everything about dense panels is made.
// Included only by what is compiled once per CPU level.
#pragma once

#include "passes/kernels.hpp"
#include "passes/vector.hpp"

namespace {

using lineal::Ahead;
using lineal::Extent;
using lineal::Index;
using lineal::Kind;
using lineal::Panel;
using lineal::Part;
using lineal::Selection;
using lineal::SinglePanel;

constexpr int VG = 8 / W;  // vectors per group of eight columns

// sum[a][b] += right[a] left[b], one row.
template <int A, int B>
inline __attribute__((always_inline)) void add_row(const double* left, const double* right, Index right_stride, V (&sum)[A * VG][B]) {
    V x[A * VG];
#pragma GCC unroll 8
    for (int a = 0; a < A; ++a)
#pragma GCC unroll 4
        for (int v = 0; v < VG; ++v) x[a * VG + v] = load(right + a * right_stride + v * W);
#pragma GCC unroll 8
    for (int b = 0; b < B; ++b) {
        const V y = splat(left[b]);
#pragma GCC unroll 32
        for (int a = 0; a < A * VG; ++a) sum[a][b] = fma(x[a], y, sum[a][b]);
    }
}

// out[b][a] += sum_i left[i][b] right[i][a] for A groups of columns a and B columns b: the one register tile.
// With `ahead`, every other row asks memory for a line of the next block, or memory would idle meanwhile.
template <int A, int B, bool fetching>
inline void tile(const double* left, Index left_step, const double* right, Index right_stride, Index count, double* out, Index out_stride,
                 Ahead* ahead) {
    const char* soon = fetching ? ahead->at : nullptr;
    V sum[A * VG][B];
#pragma GCC unroll 32
    for (int a = 0; a < A * VG; ++a)
#pragma GCC unroll 8
        for (int b = 0; b < B; ++b) sum[a][b] = V{};
    Index i = 0;
    for (; i + 4 <= count; i += 4) {
        if constexpr (fetching) {
            __builtin_prefetch(soon, 0, 2);
            __builtin_prefetch(soon + 64, 0, 2);
            soon += soon < ahead->end ? 128 : 0;
        }
#pragma GCC unroll 4
        for (int r = 0; r < 4; ++r) {
            add_row<A, B>(left, right, right_stride, sum);
            left += left_step;
            right += 8;
            __asm__("" : "+r"(left), "+r"(right));  // or all addresses are kept, and the sums leave the registers
        }
    }
    if constexpr (fetching) ahead->at = soon;
    for (; i < count; ++i, left += left_step, right += 8) add_row<A, B>(left, right, right_stride, sum);
#pragma GCC unroll 8
    for (int b = 0; b < B; ++b)
#pragma GCC unroll 32
        for (int a = 0; a < A * VG; ++a) {
            double* at = out + b * out_stride + a * W;
            store(at, load(at) + sum[a][b]);
        }
}

// B columns against the groups first .. last - 1 of `right`, at most A groups at a time.
template <int A, int B>
inline void strip(const double* left, Index left_step, const Panel& right, Index first, Index last, Index count, double* out,
                  Index out_stride) {
    Index g = first;
    for (; g + A <= last; g += A)
        tile<A, B, false>(left, left_step, right.data + g * right.stride, right.stride, count, out + 8 * g, out_stride, nullptr);
    if constexpr (A > 1)
        if (g < last) strip<(A > 3 ? A / 2 : A - 1), B>(left, left_step, right, g, last, count, out, out_stride);
}

// Columns of a tile: as many as registers hold, and how many groups go with B columns.
constexpr int wide = W == 8 ? 8 : W == 4 ? 4 : 2;
constexpr int groups_for(int b) { return W == 8 ? (b == 1 ? 8 : 24 / b < 6 ? 24 / b : 6) : W == 4 ? 4 / b : 2 / b; }

}  // namespace

// The innermost loop of X'X for vectors of eight, instruction by instruction. A core that another one shares issues hardly
// more than two instructions a cycle, and both of them should multiply: the compiler's loop has three additions of addresses
// in every row.
#if defined(__AVX512F__)

// t is the type of the numbers, "d" of size "8" or "s" of size "4".
// zmm0 ... 23 += three vectors of a row (zmm24 ... 26) times each of eight numbers (zmm27)
#define LINEAL_COLUMN(t, size, row, b, one, two, three)                                                                \
    "vbroadcasts" t " " row "+" size "*" b                                                                             \
    "(%[left],%[at]), %%zmm27\n\t"                                                                                     \
    "vfmadd231p" t " %%zmm27, %%zmm24, %%zmm" one "\n\tvfmadd231p" t " %%zmm27, %%zmm25, %%zmm" two "\n\tvfmadd231p" t \
    " %%zmm27, %%zmm26, %%zmm" three "\n\t"
#define LINEAL_ROW(t, size, row)                                                                                      \
    "vmovup" t " " row "(%[one],%[at]), %%zmm24\n\tvmovup" t " " row                                                  \
    "(%[two],%[at]), %%zmm25\n\t"                                                                                     \
    "vmovup" t " " row "(%[three],%[at]), %%zmm26\n\t" LINEAL_COLUMN(t, size, row, "0", "0", "1", "2")                \
        LINEAL_COLUMN(t, size, row, "1", "3", "4", "5") LINEAL_COLUMN(t, size, row, "2", "6", "7", "8")               \
            LINEAL_COLUMN(t, size, row, "3", "9", "10", "11") LINEAL_COLUMN(t, size, row, "4", "12", "13", "14")      \
                LINEAL_COLUMN(t, size, row, "5", "15", "16", "17") LINEAL_COLUMN(t, size, row, "6", "18", "19", "20") \
                    LINEAL_COLUMN(t, size, row, "7", "21", "22", "23")
// four times three vectors become zero, are asked for, are added to the result
#define LINEAL_ZERO(t, n) "vpxord %%zmm" n ", %%zmm" n ", %%zmm" n "\n\t"
#define LINEAL_ASK(t, n) "prefetchw 64*" n "(%[out])\n\t"
#define LINEAL_ADD(t, n) "vaddp" t " 64*" n "(%[out]), %%zmm" n ", %%zmm" n "\n\tvmovup" t " %%zmm" n ", 64*" n "(%[out])\n\t"
#define LINEAL_ALL(each, t)                                                                                                           \
    each(t, "0") each(t, "1") each(t, "2") each(t, "3") each(t, "4") each(t, "5") each(t, "6") each(t, "7") each(t, "8") each(t, "9") \
        each(t, "10") each(t, "11") each(t, "12") each(t, "13") each(t, "14") each(t, "15") each(t, "16") each(t, "17") each(t, "18") \
            each(t, "19") each(t, "20") each(t, "21") each(t, "22") each(t, "23")
#define LINEAL_ROWS(t, size, fetch) \
    "test %[at], %[at]\n\tjz 2f\n\t1:\n\t" fetch                                                             \
    LINEAL_ROW(t, size, "0") LINEAL_ROW(t, size, "64") LINEAL_ROW(t, size, "128") LINEAL_ROW(t, size, "192") \
    "add $256, %[at]\n\tjnz 1b\n\t"                                                                        \
    "2:\n\tcmp %[at], %[rest]\n\tje 3f\n\t" LINEAL_ROW(t, size, "0") "add $64, %[at]\n\tjmp 2b\n\t3:\n\t"
#define LINEAL_TILE(t, size, fetch, ...)                                                                                        \
    __asm__ volatile(LINEAL_ALL(LINEAL_ZERO, t) LINEAL_ALL(LINEAL_ASK, t) LINEAL_ROWS(t, size, fetch) LINEAL_ALL(LINEAL_ADD, t) \
                     : [at] "+r"(at)__VA_OPT__(, ) __VA_ARGS__                                                                  \
                     : [left] "r"(left), [one] "r"(one), [two] "r"(two), [three] "r"(three), [out] "r"(out), [rest] "r"(rest)   \
                     : "memory", "cc", LINEAL_REGISTERS)
#define LINEAL_REGISTERS                                                                                                                  \
    "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", "zmm10", "zmm11", "zmm12", "zmm13", "zmm14", "zmm15", \
        "zmm16", "zmm17", "zmm18", "zmm19", "zmm20", "zmm21", "zmm22", "zmm23", "zmm24", "zmm25", "zmm26", "zmm27"

namespace {

// out[b][a] += sum_i left[i][b] right[i][a] for three groups of columns a and eight columns b, the result in one piece.
// With `fetching`, every other row asks memory for a line of what comes next.
template <bool fetching, class T>
inline void full_tile(const T* left, const T* right, Index stride, Index count, T* out, Ahead* ahead) {
    constexpr Index lanes = lineal::lanes<T>;
    const Index fours = count / 4 * 4, rest = 64 * (count - fours);
    Index at = -64 * fours;  // bytes from where the rows that are no four begin
    const T *one = right + lanes * fours, *two = one + stride, *three = two + stride;
    left += lanes * fours;
    if constexpr (fetching) {
        const char* soon = ahead->at;
        if constexpr (sizeof(T) == 8)
            LINEAL_TILE("d", "8", "prefetcht1 (%[soon])\n\tprefetcht1 64(%[soon])\n\tadd $128, %[soon]\n\t", [soon] "+r"(soon));
        else
            LINEAL_TILE("s", "4", "prefetcht1 (%[soon])\n\tprefetcht1 64(%[soon])\n\tadd $128, %[soon]\n\t", [soon] "+r"(soon));
        ahead->at = soon;
    } else if constexpr (sizeof(T) == 8) {
        LINEAL_TILE("d", "8", "");
    } else {
        LINEAL_TILE("s", "4", "");
    }
}

}  // namespace

#undef LINEAL_COLUMN
#undef LINEAL_ROW
#undef LINEAL_ZERO
#undef LINEAL_ASK
#undef LINEAL_ADD
#undef LINEAL_ALL
#undef LINEAL_ROWS
#undef LINEAL_TILE
#undef LINEAL_REGISTERS

#endif

namespace {

// One block of the result, eight columns b against `groups` groups of columns a: one register tile, or several.
template <bool fetching>
inline void block_of(const double* left, const double* right, Index right_stride, Index groups, Index count, double* out, Ahead* ahead) {
    if constexpr (W == 8) {
#if defined(__AVX512F__)
        if (groups == 3)
            full_tile<fetching>(left, right, right_stride, count, out, ahead);
        else if (groups == 2)
            tile<2, 8, fetching>(left, 8, right, right_stride, count, out, lineal::block_columns, ahead);
        else
            tile<1, 8, fetching>(left, 8, right, right_stride, count, out, lineal::block_columns, ahead);
#endif
    } else {
        for (Index a = 0; a < groups; ++a)
            for (int b = 0; b < 8; b += wide)
                tile<1, wide, fetching>(left + b, 8, right + a * right_stride, right_stride, count, out + b * lineal::block_columns + 8 * a,
                                        lineal::block_columns, ahead);
    }
}

}  // namespace
