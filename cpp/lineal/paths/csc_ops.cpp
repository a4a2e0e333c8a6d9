#include "paths/csc_ops.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "paths/sweeps.hpp"

namespace lineal {

namespace {

constexpr Index run_length = 512;  // entries added up before they join the others: long columns lose no more digits than short ones

// One column, read twice: around its mean the squares do not cancel.
template <class T, class N>
void column(const T* values, const N* rows, Index count, const double* weight, double all, double& mean, double& scatter, double& largest) {
    double sum = 0, touched = 0, top = 0;
    for (Index t = 0; t < count;) {
        double some = 0, share = 0;
        for (const Index stop = std::min(count, t + run_length); t < stop; ++t) {
            const double s = weight ? weight[rows[t]] : 1.0, x = static_cast<double>(values[t]);
            if (s == 0) continue;
            some += s * x;
            share += s;
            const double size = std::fabs(x);
            if (!(size <= top) && top == top) top = size;  // no number stays
        }
        sum += some;
        touched += share;
    }
    mean = all > 0 ? sum / all : 0.0;
    double around = std::max(0.0, all - touched) * mean * mean;
    for (Index t = 0; t < count;) {
        double some = 0;
        for (const Index stop = std::min(count, t + run_length); t < stop; ++t) {
            const double s = weight ? weight[rows[t]] : 1.0, apart = static_cast<double>(values[t]) - mean;
            if (s != 0) some += s * (apart * apart);
        }
        around += some;
    }
    scatter = around;
    largest = top;
}

Index stored(const Part& part) {
    return with_places(part, [&](const auto* starts, const auto*) -> Index { return starts[part.rows] - starts[0]; });
}

// Pieces large enough that each is worth a thread.
Index pieces(Index work, Index things) { return std::clamp<Index>(work / 100'000, 1, std::max<Index>(1, std::min<Index>(things, 64))); }

// Columns first .. last of all pieces that hold about as many entries: a piece is all columns that begin in its share of them.
Index edge(const Part& part, Index piece, Index all) {
    return with_places(part, [&](const auto* starts, const auto*) {
        const double share = static_cast<double>(piece) / static_cast<double>(all);
        const auto at =
            starts[0] + static_cast<std::decay_t<decltype(*starts)>>(share * static_cast<double>(starts[part.rows] - starts[0]));
        return piece == all ? part.rows : piece == 0 ? 0 : static_cast<Index>(std::lower_bound(starts, starts + part.rows, at) - starts);
    });
}

template <class T, class N>
void all_columns(const Team& team, const Part& part, const T* values, const N* starts, const N* rows, const double* weight, double all,
                 const ColumnMoments& out) {
    const Index chunks = pieces(stored(part), part.rows);
    run(
        team, chunks,
        [&](int, Index chunk, Watch& watch) {
            for (Index j = edge(part, chunk, chunks), stop = edge(part, chunk + 1, chunks); j < stop; ++j) {
                column(values + starts[j], rows + starts[j], static_cast<Index>(starts[j + 1] - starts[j]), weight, all, out.mean[j],
                       out.scatter[j], out.largest[j]);
                if (j % 1024 == 1023 && watch.stop()) return;
            }
        },
        [](int) {});
}

}  // namespace

double column_moments(const Team& team, const Part& part, const double* weight, const ColumnMoments& out) {
    double all = static_cast<double>(part.columns);
    if (weight) {
        all = 0;
        for (Index i = 0; i < part.columns; ++i) all += weight[i];
    }
    with_stored(part, [&](const auto* values, const auto* starts, const auto* rows) {
        all_columns(team, part, values, starts, rows, weight, all, out);
    });
    return all;
}

void times_columns(const Team& team, const Part& part, const double* values, Index points, double* out) {
    const Index chunks = pieces(stored(part) * std::max<Index>(points / 4, 1) + part.rows, part.rows);
    run(
        team, chunks,
        [&](int, Index chunk, Watch& watch) {
            const Index stop = edge(part, chunk + 1, chunks);
            for (Index j = edge(part, chunk, chunks); j < stop && !watch.stop(); j += 4096)
                sweeps().times(part, values, points, j, std::min(j + 4096, stop), out);
        },
        [](int) {});
}

void spread_columns(const Team& team, const Part& part, const double* coef, Index points, double* out) {
    const Index rows = part.columns, chunks = pieces((stored(part) + rows) * std::max<Index>(points / 4, 1), rows);
    run(
        team, chunks,
        [&](int, Index chunk, Watch& watch) {
            const Index stop = rows * (chunk + 1) / chunks;
            for (Index i = rows * chunk / chunks; i < stop && !watch.stop(); i += 4096) {
                const Index last = std::min(i + 4096, stop);
                std::fill(out + i * points, out + last * points, 0.0);
                sweeps().spread(part, coef, points, i, last, out);
            }
        },
        [](int) {});
}

}  // namespace lineal
