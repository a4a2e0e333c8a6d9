// What is checked of a part by a loop over all its entries.
#include "passes/part.hpp"

namespace lineal {

namespace {

// One loop over all entries counts where columns do not increase, one over the rows how often that is a new row.
template <class N>
bool ordered(const Part& part, const N* starts, const N* indices) {
    const Index from = starts[0], until = starts[part.rows];
    N falls = 0, allowed = 0;
    for (Index t = from + 1; t < until; ++t) falls += indices[t] <= indices[t - 1];
    for (Index i = 0; i < part.rows; ++i) {
        const Index begin = starts[i], end = starts[i + 1];
        if (begin == end) continue;
        if (indices[begin] < 0 || indices[end - 1] >= part.columns) return false;
        allowed += begin > from && indices[begin] <= indices[begin - 1];
    }
    return falls == allowed;
}

}  // namespace

bool orderly(const Part& part) {
    return with_places(part, [&](const auto* starts, const auto* indices) { return ordered(part, starts, indices); });
}

}  // namespace lineal
