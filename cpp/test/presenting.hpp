// Checks of the perceptron.
#pragma once

#include "perceptron/perceptron.hpp"
#include "checks.hpp"

namespace {

// A perceptron against the same loops on the dense self.
void check_perceptron(const Design& d, Index k, bool across, bool averaged, bool logged = true) {
    const Index n = d.n, p = d.columns_, classes = k == 1 ? 2 : k;
    std::vector<double> y(Design::at(n)), coef(Design::at(p * k)), drift(Design::at(averaged ? p * k : 0)), row(Design::at(p)),
        eta(Design::at(Presentation::ROWS * k)), sums(Design::at(8 * k));
    for (Index i = 0; i < n; ++i) y[Design::at(i)] = static_cast<double>(i * 5 % 7 % classes);
    std::vector<std::int64_t> order;
    for (Index i = 0; i < n; ++i) order.insert(order.end(), Design::at(1 + i % 2), n - 1 - i);
    std::vector<std::int64_t> log(3 * order.size());
    const Segment segment{d.parts.data(), static_cast<Index>(d.parts.size()), n, 0, y.data(), nullptr, nullptr};
    Presentation e{};
    e.segments = &segment;
    e.segment_count = 1;
    e.order = order.data();
    e.length = static_cast<Index>(order.size());
    e.columns = p;
    e.outputs = k;
    e.across = across;
    e.stride = p;
    e.rate = 0.5;
    e.coef = coef.data();
    e.drift = averaged ? drift.data() : nullptr;
    e.longest = Index{1} << 60;
    e.log = logged ? log.data() : nullptr;
    e.signs_only = k == 1 && !logged;
    e.room = e.length;
    e.measure = true;
    e.eta = eta.data();
    e.sums = sums.data();
    e.row = row.data();
    perceptrons().run(e);
    std::vector<double> w(Design::at(p * k)), sum(Design::at(p * k));
    Index mistakes = 0;
    double largest = 0;
    for (const std::int64_t i : order) {
        std::vector<double> score(Design::at(k));
        double square = 0;
        for (Index j = 0; j < p; ++j) {
            square += d.x(i, j) * d.x(i, j);
            for (Index c = 0; c < k; ++c) score[Design::at(c)] += d.x(i, j) * w[Design::at(c * p + j)];
        }
        largest = std::fmax(largest, square);
        const Index own = static_cast<Index>(y[Design::at(i)]);
        Index rival = own == 0 ? 1 : 0;
        for (Index c = 0; c < k; ++c)
            if (c != own && score[Design::at(c)] > score[Design::at(rival)]) rival = c;
        const bool wrong = k == 1 ? !((own == 1 ? score[0] : -score[0]) > 0) : !(score[Design::at(own)] > score[Design::at(rival)]);
        if (wrong) ++mistakes;
        for (Index j = 0; wrong && j < p; ++j) {
            w[Design::at((k == 1 ? 0 : own) * p + j)] += (k == 1 && own == 0 ? -0.5 : 0.5) * d.x(i, j);
            if (k > 1) w[Design::at(rival * p + j)] -= 0.5 * d.x(i, j);
        }
        for (Index t = 0; t < p * k; ++t) sum[Design::at(t)] += w[Design::at(t)];
    }
    CHECK(e.at == e.length && e.presented == e.length && e.mistakes == mistakes && e.logged == (logged ? mistakes : 0));
    CHECK(std::fabs(e.largest - largest) <= 1e-12 * largest);
    double off = 0;
    for (Index c = 0; c < k; ++c)
        for (Index j = 0; j < p; ++j) {
            const std::size_t own = Design::at(across ? c * p + j : j * k + c), other = Design::at(c * p + j);
            off = std::fmax(off, std::fabs(coef[own] - w[other]));
            if (averaged)
                off = std::fmax(
                    off, std::fabs(static_cast<double>(e.presented) * coef[own] - drift[own] - sum[other]) / static_cast<double>(e.length));
        }
    CHECK(off <= 1e-9);
}

}  // namespace
