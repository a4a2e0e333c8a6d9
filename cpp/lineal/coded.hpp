// Several categorical parts of one output at once: their additions do not wait for each other.
#pragma once

#include "kernels.hpp"
#include "vector.hpp"

namespace {

using lineal::Coded;
using lineal::Index;
using lineal::Selection;

// sums[i] += the coefficients of row i's codes, part by part; none for a code below zero
void codes_forward(const Coded* parts, Index count, const Selection& rows, double* sums) {
    Index i = 0;
#if defined(__AVX512F__)
    if (!rows.index) {
        bool close = true;
        for (Index p = 0; p < count; ++p) close = close && parts[p].stride == 1;
        for (; close && i + 8 <= rows.count; i += 8) {
            __m512d sum = _mm512_loadu_pd(sums + i);
            for (Index p = 0; p < count; ++p) {
                const __m256i code = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(parts[p].codes + rows.first + i));
                const __mmask8 there = _mm256_cmpge_epi32_mask(code, _mm256_setzero_si256());
                sum = _mm512_add_pd(sum, _mm512_mask_i32gather_pd(_mm512_setzero_pd(), there, code, parts[p].table, 8));
            }
            _mm512_storeu_pd(sums + i, sum);
        }
    }
#endif
    for (; i < rows.count; ++i) {
        const Index row = rows[i];
        double sum = sums[i];
        for (Index p = 0; p < count; ++p) {
            const Index code = parts[p].codes[row * parts[p].stride];
            const double w = parts[p].table[code < 0 ? 0 : code];  // without a branch: reference levels come at random
            sum += code < 0 ? 0.0 : w;
        }
        sums[i] = sum;
    }
}

template <int N>
void codes_backward_of(const Coded* parts, const Selection& rows, const double* values) {
    double nowhere[N] = {};  // what belongs to no column
    double* table[N];
    const std::int32_t* codes[N];
    Index stride[N];
    for (int p = 0; p < N; ++p) {
        table[p] = parts[p].table;
        codes[p] = parts[p].codes;
        stride[p] = parts[p].stride;
    }
    for (Index i = 0; i < rows.count; ++i) {
        const Index row = rows[i];
        const double value = values[i];
#pragma GCC unroll 8
        for (int p = 0; p < N; ++p) {
            const Index code = codes[p][row * stride[p]];
            double* to = code < 0 ? nowhere + p : table[p] + code;
            *to += value;
        }
    }
}

// the table of every part, at row i's code, += values[i]
void codes_backward(const Coded* parts, Index count, const Selection& rows, const double* values) {
    for (; count >= 4; count -= 4, parts += 4) codes_backward_of<4>(parts, rows, values);
    if (count >= 2) codes_backward_of<2>(parts, rows, values), count -= 2, parts += 2;
    if (count == 1) codes_backward_of<1>(parts, rows, values);
}

}  // namespace
