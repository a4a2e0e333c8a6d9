// The table of one CPU level, filled by the files whose loops it holds.
// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include "passes/elementary.hpp"
#include "passes/kernels.hpp"

namespace {

using lineal::Index;

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

namespace lineal::LINEAL_LEVEL {

const Kernels& kernels() {
    static const Kernels table = [] {
        Kernels all{};
        all.add = ::add;
        all.elementary = ::elementary;
        add_panels(all);
        add_grams(all);
        add_losses(all);
        add_sparse_rows(all);
        add_inplace_matvec(all);
        add_doubled(all);
        add_triangles(all);
        add_pairs(all);
        return all;
    }();
    return table;
}

}  // namespace lineal::LINEAL_LEVEL
