// Runs of several threads, interrupts, and the systems of Newton steps.
#pragma once

#include <atomic>
#include <thread>

#include "newton/conjugate.hpp"
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

void check_invert(Index n) {
    const std::vector<double> half = numbers(n * n, 30);
    std::vector<double> matrix(2 * half.size());
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            double sum = i == j;
            for (Index t = 0; t < n; ++t) sum += half[Design::at(i * n + t)] * half[Design::at(j * n + t)];
            matrix[Design::at(i * n + j)] = matrix[Design::at((n + i) * n + j)] = sum;
        }
    std::vector<double> inverse(matrix), x = numbers(n, 31), image(Design::at(n)), back(image);
    CHECK(invert(Team{3, {}}, inverse.data(), 2, n));
    bool good = true;
    for (const Index first : {Index{0}, n * n}) {
        kernels().symmetric(matrix.data(), n, x.data(), image.data());
        kernels().symmetric(inverse.data() + first, n, image.data(), back.data());
        for (Index i = 0; i < n; ++i) good = good && std::fabs(back[Design::at(i)] - x[Design::at(i)]) < 1e-9;
    }
    CHECK(good);
    // the factor of the same matrix, its rows filled up with zeros
    const Index stride = (n + 7) / 8 * 8;
    std::vector<double> upper(Design::at(n * stride)), solved(Design::at(stride));
    for (Index i = 0; i < n; ++i) {
        solved[Design::at(i)] = image[Design::at(i)];
        for (Index j = 0; j < n; ++j) upper[Design::at(i * stride + j)] = matrix[Design::at(i * n + j)];
    }
    CHECK(kernels().triangle(upper.data(), n, stride) > 0);
    kernels().solve_triangle(upper.data(), n, stride, solved.data());
    for (Index i = 0; i < stride; ++i) good = good && std::fabs(solved[Design::at(i)] - (i < n ? x[Design::at(i)] : 0.0)) < 1e-9;
    CHECK(good);
    upper.assign(upper.size(), 0.0);
    CHECK(kernels().triangle(upper.data(), n, stride) == 0);
    inverse.assign(inverse.size(), 0.0);
    CHECK(!invert(Team{1, {}}, inverse.data(), 2, n));
}

// The residual of a system is what its solution leaves, by a product of its own.
void check_conjugate(const Design& d, Index k, bool diagonal) {
    const Rows rows(d.parts);
    const Index n = d.n, p = rows.columns();
    std::vector<double> kept = numbers(n * k, 32), shift = numbers(p, 33), scale = numbers(p, 34), charges(Design::at(p), 0.5);
    for (double& value : kept) value += 1.5;  // curvatures
    for (double& value : scale) value += 2;
    shift[0] = 0;
    scale[0] = 1;
    std::vector<double> inverse(Design::at(p * p));
    for (Index j = 0; j < p; ++j) inverse[Design::at(diagonal ? j : j * (p + 1))] = 1;
    Request request;
    request.loss = Loss::logistic;
    request.outputs = k;
    System system;
    system.shift = shift.data();
    system.scale = scale.data();
    system.charges = charges.data();
    system.inverse = inverse.data();
    system.blocks = diagonal ? 0 : 1;
    system.most = 5;
    const std::vector<double> gradient = numbers(p * k, 35);
    std::vector<double> solution(gradient.size()), residual(gradient), direction(gradient), inner(gradient.size()), image(gradient.size());
    double rho = 0;
    for (const double value : gradient) rho += value * value;
    const Progress found =
        conjugate(rows, Team{3, {}}, request, kept.data(), system, rho, solution.data(), residual.data(), direction.data());
    CHECK(!found.stuck && found.count == 5 && found.first > 0);
    for (Index j = 0; j < p; ++j)
        for (Index c = 0; c < k; ++c) inner[Design::at(j * k + c)] = solution[Design::at(j * k + c)] / scale[Design::at(j)];
    for (Index j = 1; j < p; ++j)
        for (Index c = 0; c < k; ++c) inner[Design::at(c)] -= shift[Design::at(j)] * inner[Design::at(j * k + c)];
    rows.curve(Team{1, {}}, request, matrix(inner, p, k), matrix(inner, p, k), {kept.data(), true}, image.data());
    bool good = true;
    for (Index j = 0; j < p; ++j)
        for (Index c = 0; c < k; ++c) {
            const auto t = Design::at(j * k + c);
            const double own = (image[t] - shift[Design::at(j)] * image[Design::at(c)]) / scale[Design::at(j)] / static_cast<double>(n);
            good = good && std::fabs(gradient[t] - own - 0.5 * solution[t] - residual[t]) < 1e-9;
        }
    CHECK(good);
}

}  // namespace
