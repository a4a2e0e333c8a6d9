// Gram matrices of texts: common subsequences, eight texts at a time.
#include <algorithm>
#include <numeric>

#include "kernels/gram.hpp"

namespace lineal {

namespace {

constexpr Index L = group_lanes;

bool asked(void* watch) { return static_cast<Watch*>(watch)->stop(); }

// Texts side by side in groups of eight, the longest first, so that few places are empty.
struct Lanes {
    std::vector<Index> order;           // the text of every lane
    std::vector<Index> heads;           // where a group begins
    std::vector<std::int64_t> symbols;  // [place][lane], -1 behind the end of a text

    Lanes(Index first, Index count, const std::int64_t* starts, const std::int64_t* text)
        : order(static_cast<std::size_t>(count)), heads{0} {
        const auto size = [&](Index i) { return starts[i + 1] - starts[i]; };
        std::iota(order.begin(), order.end(), first);
        std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return size(a) > size(b); });
        for (Index g = 0; g < count; g += L) {
            const Index longest = size(order[static_cast<std::size_t>(g)]);
            symbols.resize(static_cast<std::size_t>(heads.back() + longest * L), -1);
            for (Index lane = 0; lane < std::min(L, count - g); ++lane) {
                const Index i = order[static_cast<std::size_t>(g + lane)];
                for (Index at = 0; at < size(i); ++at)
                    symbols[static_cast<std::size_t>(heads.back() + at * L + lane)] = text[starts[i] + at];
            }
            heads.push_back(heads.back() + longest * L);
        }
    }
    Index groups() const { return static_cast<Index>(heads.size()) - 1; }
    Index longest(Index group) const { return (heads[static_cast<std::size_t>(group) + 1] - heads[static_cast<std::size_t>(group)]) / L; }
};

}  // namespace

void subsequence_gram(const Team& team, const Pairs& pairs, const std::int64_t* starts, const std::int64_t* symbols, int length,
                      double decay, double* out) {
    const Lanes lanes(pairs.first(), pairs.columns(), starts, symbols);
    std::vector<Index> rows(static_cast<std::size_t>(pairs.rows()));
    std::iota(rows.begin(), rows.end(), 0);
    if (pairs.symmetric()) rows = lanes.order;
    const Index size = pairs.columns(), deep = std::max(1, length - 1);
    run(
        team, pairs.rows(),
        [&](int, Index at, Watch& watch) {
            const Index i = rows[static_cast<std::size_t>(at)];
            std::vector<double> work;
            double found[L];
            for (Index g = pairs.symmetric() ? at / L : 0; g < lanes.groups(); ++g) {
                work.resize(std::max(work.size(), static_cast<std::size_t>(deep * lanes.longest(g) * L)));
                if (!entries().subsequences(symbols + starts[i], starts[i + 1] - starts[i],
                                            lanes.symbols.data() + lanes.heads[static_cast<std::size_t>(g)], lanes.longest(g), length,
                                            decay, work.data(), found, asked, &watch))
                    return;
                for (Index lane = 0; lane < std::min(L, size - g * L); ++lane) {
                    if (pairs.symmetric() && g * L + lane < at) continue;
                    const Index j = lanes.order[static_cast<std::size_t>(g * L + lane)] - pairs.first();
                    out[i * size + j] = found[lane];
                    if (pairs.symmetric()) out[j * size + i] = found[lane];
                }
            }
        },
        nullptr);
}

void subsequence_diagonal(const Team& team, Index count, const std::int64_t* starts, const std::int64_t* symbols, int length, double decay,
                          double* out) {
    run(
        team, count,
        [&](int, Index i, Watch& watch) {
            const Lanes lanes(i, 1, starts, symbols);
            std::vector<double> work(static_cast<std::size_t>(std::max(1, length - 1) * lanes.longest(0) * L));
            double found[L];
            if (entries().subsequences(symbols + starts[i], starts[i + 1] - starts[i], lanes.symbols.data(), lanes.longest(0), length,
                                       decay, work.data(), found, asked, &watch))
                out[i] = found[0];
        },
        nullptr);
}

}  // namespace lineal
