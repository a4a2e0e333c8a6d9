#include "csv/figures.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "passes/kernels.hpp"

namespace lineal {

namespace {

constexpr Index ROOM = 512, CHUNK = 32768;

struct Worker {
    alignas(64) double y[ROOM], eta[ROOM], weight[ROOM], slope[ROOM];
    Figures sums;
    bool usual = true;
};

void add(Worker& worker, const double* y, const double* eta, Index count) {
    std::copy_n(y, count, worker.y);
    std::copy_n(eta, count, worker.eta);
    std::fill_n(worker.weight, count, 1.0);
    for (Index i = count; i < (count + 7) / 8 * 8; ++i) worker.y[i] = worker.eta[i] = worker.weight[i] = 0;
    double slope_sum = 0;
    LossBlock rows;
    rows.loss = Loss::logistic;
    rows.count = count;
    rows.room = ROOM;
    rows.y = worker.y;
    rows.weight = worker.weight;
    rows.eta = worker.eta;
    rows.slope = worker.slope;
    rows.slope_sum = &slope_sum;
    kernels().loss(rows);
    Figures& sums = worker.sums;
    gather(sums.surprise, sums.rest, rows.high);
    sums.rest += rows.low;
    double squares = 0, wide = 0;
    Index ones = 0, hits = 0, above = 0, others = 0;
    for (Index i = 0; i < count; ++i) {
        const bool one = worker.y[i] == 1, up = worker.eta[i] > 0;
        squares += worker.slope[i] * worker.slope[i];
        wide += worker.eta[i] - worker.eta[i];  // NaN where it is not finite
        ones += one;
        hits += one & up;
        above += up;
        others += !one & (worker.y[i] != 0);
    }
    sums.squares += squares;
    sums.weights[1] += ones;
    sums.weights[0] += count - ones;
    sums.right[1] += hits;
    sums.right[0] += count - ones - (above - hits);
    if (others || wide != 0 || std::isnan(wide)) worker.usual = false;
}

}  // namespace

bool two_classes(const Team& team, const double* y, const double* eta, Index count, Figures& out) {
    const Index chunks = (count + CHUNK - 1) / CHUNK;
    Team mine = team;
    if (chunks < 4) mine.threads = 1;
    std::vector<Worker> workers(static_cast<std::size_t>(std::max(mine.threads, 1)));
    bool usual = true;
    run(
        mine, chunks,
        [&](int id, Index chunk, Watch& watch) {
            Worker& worker = workers[static_cast<std::size_t>(id)];
            worker.sums = Figures();
            worker.usual = true;
            const Index stop = std::min(count, (chunk + 1) * CHUNK);
            for (Index at = chunk * CHUNK; at < stop; at += ROOM) {
                add(worker, y + at, eta + at, std::min(ROOM, stop - at));
                if (watch.stop()) return;
            }
        },
        [&](int id) {
            const Worker& worker = workers[static_cast<std::size_t>(id)];
            gather(out.surprise, out.rest, worker.sums.surprise);
            out.rest += worker.sums.rest;
            out.squares += worker.sums.squares;
            for (int k = 0; k < 2; ++k) {
                out.weights[k] += worker.sums.weights[k];
                out.right[k] += worker.sums.right[k];
            }
            usual = usual && worker.usual;
        });
    return usual;
}

Ranks ranks(const double* ones, Index first, const double* zeros, Index second) {
    Ranks out;
    double rest = 0;
    Index above = 0, at = second;  // ones above the current score; zeros below or at it
    for (Index i = first; i > 0;) {
        const double score = ones[i - 1];
        Index same = 1;
        while (same < i && ones[i - 1 - same] == score) ++same;
        i -= same;
        while (at > 0 && zeros[at - 1] > score) --at;
        Index ties = 0;
        while (ties < at && zeros[at - 1 - ties] == score) ++ties;
        above += same;
        const double weight = static_cast<double>(same), all = static_cast<double>(above + second - at + ties);
        out.pairs += weight * (static_cast<double>(at - ties) + 0.5 * static_cast<double>(ties));
        gather(out.shares, rest, weight * (static_cast<double>(above) / all));
    }
    out.shares += rest;
    return out;
}

}  // namespace lineal
