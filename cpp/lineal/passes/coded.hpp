// Several categorical parts of one output at once: their additions do not wait for each other.
#pragma once

#include "passes/kernels.hpp"
#include "passes/vector.hpp"

namespace {

using lineal::Coded;
using lineal::Index;
using lineal::Selection;

template <int N>
void codes_forward_of(const Coded* parts, const Selection& rows, double* sums) {
    const double* table[N];
    const std::int32_t* codes[N];
    Index stride[N];
    for (int p = 0; p < N; ++p) {
        table[p] = parts[p].table;
        codes[p] = parts[p].codes;
        stride[p] = parts[p].stride;
    }
    for (Index i = 0; i < rows.count; ++i) {
        const Index row = rows[i];
        double sum = sums[i];
#pragma GCC unroll 8
        for (int p = 0; p < N; ++p) sum += table[p][codes[p][row * stride[p]]];
        sums[i] = sum;
    }
}

// sums[i] += the coefficients of row i's codes, part by part; every table has an entry for code -1. Loads one by one: gathers
// take twice as long on many processors.
void codes_forward(const Coded* parts, Index count, const Selection& rows, double* sums) {
    for (; count >= 4; count -= 4, parts += 4) codes_forward_of<4>(parts, rows, sums);
    if (count == 3)
        codes_forward_of<3>(parts, rows, sums);
    else if (count == 2)
        codes_forward_of<2>(parts, rows, sums);
    else if (count == 1)
        codes_forward_of<1>(parts, rows, sums);
}

// Every second of 2 N - 1 parts. What has code -1 goes to the entry before the table, which belongs to another part and gets its
// value back: no branch, because reference levels come at random.
template <int N>
void codes_backward_of(const Coded* parts, const Selection& rows, const double* values) {
    double before[N];
    double* table[N];
    const std::int32_t* codes[N];
    Index stride[N];
    for (int p = 0; p < N; ++p) {
        table[p] = parts[2 * p].table;
        codes[p] = parts[2 * p].codes;
        stride[p] = parts[2 * p].stride;
        before[p] = table[p][-1];
    }
    for (Index i = 0; i < rows.count; ++i) {
        const Index row = rows[i];
        const double value = values[i];
#pragma GCC unroll 8
        for (int p = 0; p < N; ++p) table[p][codes[p][row * stride[p]]] += value;
    }
    for (int p = 0; p < N; ++p) table[p][-1] = before[p];
}

// the table of every part, at row i's code, += values[i]; tables in order, each may begin where the one before ends, and there is
// an entry before the first
void codes_backward(const Coded* parts, Index count, const Selection& rows, const double* values) {
    for (Index odd = 0; odd < 2; ++odd) {
        Index left = (count + 1 - odd) / 2;
        for (const Coded* at = parts + odd; left > 0; at += 8, left -= 4) {
            if (left >= 4)
                codes_backward_of<4>(at, rows, values);
            else if (left == 3)
                codes_backward_of<3>(at, rows, values);
            else if (left == 2)
                codes_backward_of<2>(at, rows, values);
            else
                codes_backward_of<1>(at, rows, values);
        }
    }
}

}  // namespace
