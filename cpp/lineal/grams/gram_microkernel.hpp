// The innermost loop of X'X for vectors of eight, instruction by instruction. A core that another one shares issues hardly
// more than two instructions a cycle, and both of them should multiply: the compiler's loop has three additions of addresses
// in every row.
#pragma once

#include "passes/panels.hpp"

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
