// Compiled once per CPU level, with LINEAL_LEVEL naming it. Only the table has external linkage.
#include "passes/coded.hpp"
#include "grams/doubled.hpp"
#include "passes/elementary.hpp"
#include "grams/grams.hpp"
#include "passes/kernels.hpp"
#include "passes/sparse_rows.hpp"
#include "passes/losses.hpp"
#include "passes/panels.hpp"
#include "passes/single_tiles.hpp"
#include "passes/inplace_matvec.hpp"
#include "linalg/triangles.hpp"
#include "linalg/symmetric.hpp"

namespace {

void add(const double* from, double* to, Index count) {
    for (Index i = 0; i < count; ++i) to[i] += from[i];
}

void elementary(int function, double* values, Index count) {
    for (Index i = 0; i < count; i += W) {
        const V x = load(values + i);
        store(values + i, function == 0 ? exponential(x) : function == 1 ? log_1p(x) : excess(x));
    }
}

}  // namespace

#define LINEAL_STRING_(x) #x
#define LINEAL_STRING(x) LINEAL_STRING_(x)
#define LINEAL_JOIN_(a, b) a##b
#define LINEAL_JOIN(a, b) LINEAL_JOIN_(a, b)

namespace lineal {

extern const Kernels LINEAL_JOIN(kernels_, LINEAL_LEVEL);
const Kernels LINEAL_JOIN(kernels_, LINEAL_LEVEL) = {
    LINEAL_STRING(LINEAL_LEVEL),
    pack,
    unpack,
    forward,
    backward,
    single_forward,
    single_backward,
    gram,
    single_gram,
    round_rows,
    add_singles,
    gather,
    substitute,
    gram_dd,
    scale_dd,
    dependence,
    moments,
    loose_forward,
    loose_backward,
    codes_forward,
    codes_backward,
    loose_gram,
    loose_moments,
    loose_scatter,
    loss_rows,
    loss_dual,
    loss_mean,
    loss_bend,
    straight,
    pull,
    spread,
    pair,
    add,
    add_dd,
    factor_dd,
    solve_dd,
    times_dd,
    symmetric,
    invert,
    triangle,
    solve_triangle,
    elementary,
};

}  // namespace lineal
