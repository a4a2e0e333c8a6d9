// Support vector machines for Python: checks what is handed in, releases the interpreter lock. Calls are kept short by `most`.
#pragma once

#include "machines/pairs.hpp"
#include "passes/kernels.hpp"
#include "arrays.hpp"

namespace {

nb::tuple step_pairs(const Numbers& gram, const Numbers& low, const Numbers& high, double epsilon, double tol, Index most, const Kept& coef,
                     const Kept& slope) {
    const std::size_t n = coef.size();
    PairSteps p;
    p.size = static_cast<Index>(n);
    p.gram = data_of(gram, n * n, "gram");
    p.low = data_of(low, n, "low");
    p.high = data_of(high, n, "high");
    p.epsilon = epsilon;
    p.tol = tol;
    p.most = most;
    p.coef = coef.data();
    p.slope = data_of(slope, n, "slope");
    unlocked([&] { kernels().pairs(p); });
    return nb::make_tuple(p.steps, p.violation);
}

void bind_machines(nb::module_& m) {
    m.def("pairs", step_pairs, nb::arg("gram"), nb::arg("low"), nb::arg("high"), nb::arg("epsilon"), nb::arg("tol"), nb::arg("most"),
          nb::arg("coef").noconvert(), nb::arg("slope").noconvert());
}

}  // namespace
