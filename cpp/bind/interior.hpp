// The central path of corners for Python: arrays are moved in place, the interpreter lock is released.
#pragma once

#include "newton/interior.hpp"
#include "epochs.hpp"
#include "rows.hpp"
#include "team.hpp"

namespace {

nb::tuple follow_path(const PyRows& self, const Numbers& weight, const Numbers& low, const Numbers& high, const Numbers& smooth,
                      const Numbers& linear, const Kept& coef, const Kept& residual, const Kept& u, const Kept& v, const Kept& theta,
                      double central, double singular, double tol, Index most) {
    const Rows& rows = self.rows();
    const auto p = static_cast<std::size_t>(rows.columns()), n = static_cast<std::size_t>(rows.rows()), size = weight.size();
    if (n == 0 || size == 0 || size % n != 0) throw nb::value_error("weight must have as many entries for every row, and at least one");
    const Corners corners{rows,
                          static_cast<Index>(size / n),
                          weight.data(),
                          data_of(low, size, "low"),
                          data_of(high, size, "high"),
                          data_of(smooth, p, "smooth"),
                          data_of(linear, p, "linear"),
                          central,
                          singular};
    PathPoint point{data_of(coef, p, "coef"), data_of(residual, size, "residual"), data_of(u, size, "u"), data_of(v, size, "v"),
                    data_of(theta, size, "theta")};
    Followed found;
    without_lock([&] { found = follow(corners, team(), point, tol, most); });
    static const char* const endings[] = {"enough", "most", "stuck", "singular"};
    return nb::make_tuple(found.steps, found.gap, endings[static_cast<int>(found.ending)]);
}

}  // namespace
