// Runs of several threads, interrupts, and small factors.
#pragma once

#include <atomic>
#include <thread>

#include "passes/kernels.hpp"
#include "checks.hpp"

namespace {

void check_interrupt(const Design& d) {
    const Rows rows(d.parts);
    std::vector<double> gram(static_cast<std::size_t>(rows.columns() * rows.columns()));
    int asked = 0;
    const Team team{3, [&asked] { return ++asked > 0; }};
    bool stopped = false;
    try {
        run(
            team, 64,
            [](int, Index, Watch& watch) {
                while (!watch.stop()) {
                }
            },
            [](int) {});
    } catch (const Interrupted&) {
        stopped = true;
    }
    CHECK(stopped);
    stopped = false;
    just_asked();
    try {  // runs that are each far shorter than the time between two questions
        for (Index k = 0; k < 50'000'000; ++k) run(Team{1, team.interrupted}, 1, [](int, Index, Watch&) {}, {});
    } catch (const Interrupted&) {
        stopped = true;
    }
    CHECK(stopped);
    bool thrown = false;
    try {
        run(
            Team{4, {}}, 16,
            [](int, Index chunk, Watch&) {
                if (chunk == 5) throw 7;
            },
            [](int) {});
    } catch (int) {
        thrown = true;
    }
    CHECK(thrown);
    rows.gram(Team{3, {}}, Matrix{}, gram.data());
}

// Runs inside of runs, and from several threads at once, many times: every chunk is done once, merges keep their order.
void check_nested() {
    const auto one = [](int threads) {
        std::vector<Index> sums(4), mine(4);
        Index whole = 0, last = -1;
        bool ordered = true;
        run(
            Team{threads, {}}, 12,
            [&](int id, Index chunk, Watch&) {
                std::atomic<Index> inner{0};
                run(Team{2, {}}, 4, [&](int, Index part, Watch&) { inner += part; }, {});
                sums[Design::at(id)] = inner + chunk;
                mine[Design::at(id)] = chunk;
            },
            [&](int id) {
                whole += sums[Design::at(id)];
                ordered = ordered && mine[Design::at(id)] == last + 1;
                last = mine[Design::at(id)];
            });
        return ordered && whole == 12 * 6 + 66;
    };
    std::atomic<bool> good{true};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 3; ++caller)
        callers.emplace_back([&] {
            for (int turn = 0; turn < 100; ++turn)
                if (!one(1 + turn % 4)) good = false;
        });
    for (std::thread& caller : callers) caller.join();
    CHECK(good);
}

// The factor of a small matrix, its rows filled up with zeros, solves what a product made.
void check_small_factor(Index n) {
    const std::vector<double> half = numbers(n * n, 30), x = numbers(n, 31);
    const Index stride = (n + 7) / 8 * 8;
    std::vector<double> upper(Design::at(n * stride)), solved(Design::at(stride));
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            double sum = i == j;
            for (Index t = 0; t < n; ++t) sum += half[Design::at(i * n + t)] * half[Design::at(j * n + t)];
            upper[Design::at(i * stride + j)] = sum;
            solved[Design::at(i)] += sum * x[Design::at(j)];
        }
    CHECK(kernels().triangle(upper.data(), n, stride) > 0);
    kernels().solve_triangle(upper.data(), n, stride, solved.data());
    bool good = true;
    for (Index i = 0; i < stride; ++i) good = good && std::fabs(solved[Design::at(i)] - (i < n ? x[Design::at(i)] : 0.0)) < 1e-9;
    CHECK(good);
    upper.assign(upper.size(), 0.0);
    CHECK(kernels().triangle(upper.data(), n, stride) == 0);
}

}  // namespace
