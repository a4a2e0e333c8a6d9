// The innermost loop of X'X for vectors of eight, instruction by instruction. A core that another one shares issues hardly
// more than two instructions a cycle, and both of them should multiply: the compiler's loop has three additions of addresses
// in every row.
#pragma once

#include "panels.hpp"

#if defined(__AVX512F__)

// zmm0 ... 23 += three vectors of a row (zmm24 ... 26) times each of its eight numbers (zmm27)
#define LINEAL_COLUMN(row, b, one, two, three)                                                             \
    "vbroadcastsd " row "+" b "(%[left],%[at]), %%zmm27\n\tvfmadd231pd %%zmm27, %%zmm24, %%zmm" one        \
    "\n\tvfmadd231pd %%zmm27, %%zmm25, %%zmm" two "\n\tvfmadd231pd %%zmm27, %%zmm26, %%zmm" three "\n\t"
#define LINEAL_ROW(row)                                                                                    \
    "vmovupd " row "(%[one],%[at]), %%zmm24\n\tvmovupd " row "(%[two],%[at]), %%zmm25\n\t"                 \
    "vmovupd " row "(%[three],%[at]), %%zmm26\n\t"                                                         \
    LINEAL_COLUMN(row, "0", "0", "1", "2") LINEAL_COLUMN(row, "8", "3", "4", "5")                          \
    LINEAL_COLUMN(row, "16", "6", "7", "8") LINEAL_COLUMN(row, "24", "9", "10", "11")                      \
    LINEAL_COLUMN(row, "32", "12", "13", "14") LINEAL_COLUMN(row, "40", "15", "16", "17")                  \
    LINEAL_COLUMN(row, "48", "18", "19", "20") LINEAL_COLUMN(row, "56", "21", "22", "23")
// four times three vectors become zero, are asked for, are added to the result
#define LINEAL_ZERO(n) "vpxord %%zmm" n ", %%zmm" n ", %%zmm" n "\n\t"
#define LINEAL_ASK(n) "prefetchw 64*" n "(%[out])\n\t"
#define LINEAL_ADD(n) "vaddpd 64*" n "(%[out]), %%zmm" n ", %%zmm" n "\n\tvmovupd %%zmm" n ", 64*" n "(%[out])\n\t"
#define LINEAL_ALL(each)                                                                                   \
    each("0") each("1") each("2") each("3") each("4") each("5") each("6") each("7") each("8") each("9")    \
    each("10") each("11") each("12") each("13") each("14") each("15") each("16") each("17") each("18")     \
    each("19") each("20") each("21") each("22") each("23")
#define LINEAL_ROWS(fetch)                                                                                 \
    "test %[at], %[at]\n\tjz 2f\n\t1:\n\t" fetch                                                             \
    LINEAL_ROW("0") LINEAL_ROW("64") LINEAL_ROW("128") LINEAL_ROW("192") "add $256, %[at]\n\tjnz 1b\n\t"     \
    "2:\n\tcmp %[at], %[rest]\n\tje 3f\n\t" LINEAL_ROW("0") "add $64, %[at]\n\tjmp 2b\n\t3:\n\t"
#define LINEAL_REGISTERS                                                                                   \
    "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", "zmm10", "zmm11",      \
        "zmm12", "zmm13", "zmm14", "zmm15", "zmm16", "zmm17", "zmm18", "zmm19", "zmm20", "zmm21", "zmm22", \
        "zmm23", "zmm24", "zmm25", "zmm26", "zmm27"

namespace {

// out[b][a] += sum_i left[i][b] right[i][a] for three groups of columns a and one of columns b, result of 8 x 24 in one piece.
// With `fetching`, every other row asks memory for a line of what comes next.
template <bool fetching>
inline void full_tile(const double* left, const double* right, Index stride, Index count, double* out, Ahead* ahead) {
    const Index fours = count / 4 * 4, rest = 64 * (count - fours);
    Index at = -64 * fours;  // bytes from where the rows that are no four begin
    const double *one = right + 8 * fours, *two = one + stride, *three = two + stride;
    left += 8 * fours;
    if constexpr (fetching) {
        const char* soon = ahead->at;
        __asm__ volatile(LINEAL_ALL(LINEAL_ZERO) LINEAL_ALL(LINEAL_ASK)
                         LINEAL_ROWS("prefetcht1 (%[soon])\n\tprefetcht1 64(%[soon])\n\tadd $128, %[soon]\n\t")
                         LINEAL_ALL(LINEAL_ADD)
                         : [at] "+r"(at), [soon] "+r"(soon)
                         : [left] "r"(left), [one] "r"(one), [two] "r"(two), [three] "r"(three), [out] "r"(out), [rest] "r"(rest)
                         : "memory", "cc", LINEAL_REGISTERS);
        ahead->at = soon;
    } else {
        __asm__ volatile(LINEAL_ALL(LINEAL_ZERO) LINEAL_ALL(LINEAL_ASK) LINEAL_ROWS("") LINEAL_ALL(LINEAL_ADD)
                         : [at] "+r"(at)
                         : [left] "r"(left), [one] "r"(one), [two] "r"(two), [three] "r"(three), [out] "r"(out), [rest] "r"(rest)
                         : "memory", "cc", LINEAL_REGISTERS);
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
#undef LINEAL_REGISTERS

#endif
