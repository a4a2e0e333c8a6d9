// Checks of the loops that descend: sweeps and walks on a gram, dual ascent, stochastic epochs. What they end with is held
// against the conditions of optimality, what they keep up to date against sums made anew from the dense self.
#include "checks.hpp"

#include <algorithm>
#include <memory>

#include "rowwise/ascent.hpp"
#include "rowwise/epochs.hpp"
#include "paths/sweeps.hpp"
#include "csc_ops.hpp"

namespace {

// A gram of more rows than columns, and a right side.
struct Quadratic {
    explicit Quadratic(Index m) : m(m), gram(Design::at(m * m)), right(numbers(m, 21)) {
        const std::vector<double> x = numbers(m * (m + 3), 22);
        for (Index a = 0; a < m; ++a)
            for (Index b = 0; b < m; ++b)
                for (Index i = 0; i < m + 3; ++i) gram[Design::at(a * m + b)] += x[Design::at(i * m + a)] * x[Design::at(i * m + b)];
    }
    double slope(const std::vector<double>& z, Index j) const {
        double sum = -right[Design::at(j)];
        for (Index i = 0; i < m; ++i) sum += gram[Design::at(j * m + i)] * z[Design::at(i)];
        return sum;
    }
    Index m;
    std::vector<double> gram, right;
};

// The distance of -slope to the subdifferential of linear |z| + square z^2 / 2 on [lower, upper].
double slack(double z, double slope, double linear, double square, double lower, double upper) {
    const double pull = -slope - square * z;
    const double low = z <= lower ? -INFINITY : z > 0 ? linear : -linear, high = z >= upper ? INFINITY : z < 0 ? -linear : linear;
    return std::max({low - pull, pull - high, 0.0});
}

void check_sweeps(Index m) {
    const Quadratic q(m);
    const std::vector<double> linear(Design::at(m), 0.2), square(Design::at(m), 0.1), lower(Design::at(m), -0.3),
        upper(Design::at(m), INFINITY);
    const Charges charges{linear.data(), square.data(), lower.data(), upper.data()};
    std::vector<double> z(Design::at(m)), gradient(q.right);
    for (double& g : gradient) g = -g;
    const std::vector<double> origin = gradient;
    const Progress progress = sweeps().gram(q.gram.data(), m, z.data(), gradient.data(), charges, 1e-28, 200000);
    bool good = progress.fall <= 1e-28;
    for (Index j = 0; j < m; ++j)
        good = good && std::fabs(gradient[Design::at(j)] - q.slope(z, j)) < 1e-9 &&
               slack(z[Design::at(j)], q.slope(z, j), 0.2, 0.1, -0.3, INFINITY) < 1e-9;
    CHECK(good);
    const std::vector<double> strengths{4.0, 1.0, 0.25};
    std::vector<double> coef(Design::at(m)), found(Design::at(3 * m));
    gradient = origin;
    Path path{
        q.gram.data(),   origin.data(), m, charges, strengths.data(), 3, 100.0, 1e-13, 0.0, 30.0 * static_cast<double>(m), coef.data(),
        gradient.data(), found.data(),  0};
    for (int calls = 0; path.done < 3 && calls < 100000; ++calls) sweeps().follow(path);
    CHECK(path.done == 3);
    for (Index k = 0; k < 3; ++k) {
        const std::vector<double> point(found.begin() + k * m, found.begin() + (k + 1) * m);
        const double s = strengths[Design::at(k)];
        for (Index j = 0; j < m; ++j)
            good = good && slack(point[Design::at(j)], q.slope(point, j), 0.2 * s, 0.1 * s, -0.3, INFINITY) < 1e-5;
    }
    CHECK(good);
}

void check_groups(Index m, Index k) {
    const Quadratic q(m);
    const std::vector<double> rate(Design::at(m), 0.4);
    std::vector<double> z(Design::at(m * k)), gradient = numbers(m * k, 23);
    const std::vector<double> first = gradient;
    const Progress progress = sweeps().group(q.gram.data(), 1, m, k, false, z.data(), gradient.data(), rate.data(), 1e-26, 200000);
    bool good = progress.fall <= 1e-26;
    for (Index j = 0; j < m; ++j) {
        double size = 0, pull = 0, apart = 0;
        for (Index c = 0; c < k; ++c) {
            double sum = first[Design::at(c * m + j)];
            for (Index i = 0; i < m; ++i) sum += q.gram[Design::at(j * m + i)] * z[Design::at(c * m + i)];
            good = good && std::fabs(sum - gradient[Design::at(c * m + j)]) < 1e-9;
            size += std::pow(z[Design::at(c * m + j)], 2);
            pull += sum * sum;
        }
        for (Index c = 0; c < k; ++c)
            apart = std::max(
                apart, std::fabs(gradient[Design::at(c * m + j)] + (size > 0 ? 0.4 * z[Design::at(c * m + j)] / std::sqrt(size) : 0.0)));
        good = good && (size > 0 ? apart < 1e-6 : std::sqrt(pull) <= 0.4 + 1e-9);
    }
    CHECK(good);
}

// Hinge loss, or its square, or several outputs, with a ridge of 1 on every column, or of two sizes.
void check_ascent(const Design& d, Index k, double bend, bool even) {
    const Index n = d.n, p = d.columns_;
    std::vector<double> at(Design::at(n)), low(Design::at(k == 1 ? n : 0)), high(low), weight(Design::at(n)), square(Design::at(n)),
        inverse(Design::at(p), 1.0);
    if (!even)
        for (Index j = 0; j < p; j += 2) inverse[Design::at(j)] = 0.5;
    for (Index i = 0; i < n; ++i) {
        at[Design::at(i)] = k == 1 ? (i % 3 == 0 ? 1.0 : -1.0) : static_cast<double>(i % k);
        weight[Design::at(i)] = i % 5 == 4 ? 0.0 : 1.0 / static_cast<double>(n);
        if (k > 1) continue;
        const double far = bend > 0 ? INFINITY : 1.0;
        low[Design::at(i)] = i % 3 == 0 ? -far : 0.0;
        high[Design::at(i)] = i % 3 == 0 ? 0.0 : far;
    }
    row_squares(Team{}, d.parts.data(), static_cast<Index>(d.parts.size()), inverse.data(), square.data());
    bool good = true;
    for (Index i = 0; i < n; ++i) {
        double sum = 0;
        for (Index j = 0; j < p; ++j) sum += d.x(i, j) * d.x(i, j) * inverse[Design::at(j)];
        good = good && near(sum, square[Design::at(i)]);
    }
    CHECK(good);
    std::vector<std::int64_t> order(Design::at(n));
    for (Index i = 0; i < n; ++i) order[Design::at(i)] = n - 1 - i;
    std::vector<double> coef(Design::at(p * k)), theta(Design::at(n * k));
    std::vector<std::uint8_t> keep(Design::at(n));
    Ascent a{};
    a.parts = d.parts.data();
    a.part_count = static_cast<Index>(d.parts.size());
    a.outputs = k;
    a.order = order.data();
    a.length = n;
    a.at = at.data();
    a.low = low.data();
    a.high = high.data();
    a.weight = weight.data();
    a.square = square.data();
    a.inverse = inverse.data();
    a.bend = bend;
    a.cost = bend > 0 ? 0 : 1;
    a.shrink = INFINITY;
    a.coef = coef.data();
    a.theta = theta.data();
    a.keep = keep.data();
    for (int round = 0; round < 40; ++round) ascend(Team{}, a);
    for (Index c = 0; c < k; ++c)
        for (Index j = 0; j < p; ++j) {
            double sum = 0;
            for (Index i = 0; i < n; ++i) sum -= weight[Design::at(i)] * theta[Design::at(i * k + c)] * d.x(i, j) * inverse[Design::at(j)];
            good = good && near(sum, coef[Design::at(j * k + c)]);
        }
    CHECK(good);
    if (k > 1) return;
    // two lanes: the coefficients follow from theta, and two threads give the bits of one
    std::vector<double> total(Design::at(p)), twin[2], dual[2];
    for (int threads = 1; threads < 3; ++threads) {
        std::vector<double>&b = twin[threads - 1], &t = dual[threads - 1];
        b.assign(Design::at(p), 0);
        t.assign(Design::at(n), 0);
        Ascent two = a;
        two.batch = 3;
        two.total = total.data();
        two.coef = b.data();
        two.theta = t.data();
        for (int round = 0; round < 10; ++round) ascend(Team{threads, {}}, two);
        for (Index j = 0; j < p; ++j) {
            double sum = 0;
            for (Index i = 0; i < n; ++i) sum -= weight[Design::at(i)] * t[Design::at(i)] * d.x(i, j) * inverse[Design::at(j)];
            good = good && near(sum, b[Design::at(j)]);
        }
    }
    CHECK(good && twin[0] == twin[1] && dual[0] == dual[1]);
    // primal minus dual by hand: sum w loss + b.b / (2 inverse) + sum w loss* + the same square
    std::vector<double> score(Design::at(n));
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < p; ++j) score[Design::at(i)] += d.x(i, j) * coef[Design::at(j)];
    Look seen{n, score.data(), at.data(), low.data(), high.data(), weight.data(), theta.data(), 0.0, bend, 0, 0, 0};
    look(seen, false);
    double gap = 0, loss = 0;
    for (Index j = 0; j < p; ++j) gap += coef[Design::at(j)] * coef[Design::at(j)] / inverse[Design::at(j)];
    for (Index i = 0; i < n; ++i) {
        double eta = 0;
        for (Index j = 0; j < p; ++j) eta += d.x(i, j) * coef[Design::at(j)];
        const double miss = std::max(1 - at[Design::at(i)] * eta, 0.0), own = bend > 0 ? 0.5 * miss * miss : miss, t = theta[Design::at(i)];
        loss += weight[Design::at(i)] * own;
        gap += weight[Design::at(i)] * (own + at[Design::at(i)] * t + 0.5 * bend * t * t);
    }
    CHECK(near(loss, seen.loss) && std::fabs(gap - seen.mismatch) < 1e-10 && seen.shift == 0);
    // no other shift does better by more than a hundredth of the mismatch, which is the loss where theta is zero
    const std::vector<double> none(Design::at(n));
    seen.theta = none.data();
    look(seen, true);
    const double best = seen.loss, shift = seen.shift;
    CHECK(best <= loss + 1e-15);
    for (const double by : {-0.3, -0.01, 0.0, 0.01, 0.3}) {
        for (double& s : score) s += shift + by;
        look(seen, false);
        CHECK(seen.loss >= best - 0.01 * loss - 1e-12);
        for (double& s : score) s -= shift + by;
    }
}

// Plain steps on the squared loss against the same loop on the dense self; everything else has to stay finite.
void check_epoch(const Design& d, RowLoss loss, Index batch, bool saga) {
    const Index n = d.n, p = d.columns_, k = loss == RowLoss::softmax || loss == RowLoss::crammer_singer ? 3 : 1;
    std::vector<double> y(Design::at(n)), rate(Design::at(p), 1.0), linear(Design::at(p), 0.01), square(Design::at(p), 0.1),
        coef(Design::at(p * k));
    for (Index i = 0; i < n; ++i) y[Design::at(i)] = static_cast<double>(i * 5 % 7 % (k == 1 ? 2 : k));
    std::vector<std::int64_t> order(Design::at(n)), last(Design::at(p)), touched(Design::at(p));
    for (Index i = 0; i < n; ++i) order[Design::at(i)] = i * 7 % n;
    const Segment segment{d.parts.data(), static_cast<Index>(d.parts.size()), n, 0, y.data(), nullptr, nullptr};
    std::vector<double> sum(Design::at(p * k)), table(Design::at(n * k)), mean(Design::at(p * k)), gathered(Design::at(p * k)),
        eta(Design::at(k)), slope(Design::at(batch * k)), powers(Design::at(2 * (n / batch + 2)));
    Epoch e{};
    e.segments = &segment;
    e.segment_count = 1;
    e.order = order.data();
    e.length = n;
    e.batch = batch;
    e.loss = loss;
    e.parameter = 0.5;
    e.columns = p;
    e.outputs = k;
    e.targets = 1;
    e.step = 0.01;
    e.weight = 1;
    e.rate = rate.data();
    e.linear = linear.data();
    e.square = square.data();
    e.coef = coef.data();
    e.sum = sum.data();
    if (saga) {
        e.table = table.data();
        e.mean_gradient = mean.data();
        e.total = static_cast<double>(n);
    }
    e.last = last.data();
    e.gathered = gathered.data();
    e.touched = touched.data();
    e.eta = eta.data();
    e.slope = slope.data();
    e.powers = powers.data();
    e.common = 0.01 * 0.1;
    CHECK(std::isfinite(epochs().run(e)) && epochs().largest(e) >= 0);
    bool good = true;
    for (const double b : coef) good = good && std::isfinite(b);
    CHECK(good);
    if (loss != RowLoss::squared || batch > 1 || saga) return;
    std::vector<double> w(Design::at(p));
    for (const std::int64_t i : order) {
        double score = 0;
        for (Index j = 0; j < p; ++j) score += d.x(i, j) * w[Design::at(j)];
        for (Index j = 0; j < p; ++j) {
            const double moved = w[Design::at(j)] - 0.01 * (score - y[Design::at(i)]) * d.x(i, j);
            w[Design::at(j)] = std::copysign(std::max(std::fabs(moved) - 0.01 * 0.01, 0.0), moved) / (1 + 0.01 * 0.1);
        }
    }
    for (Index j = 0; j < p; ++j) good = good && near(w[Design::at(j)], coef[Design::at(j)]);
    CHECK(good);
}

}  // namespace

// Moments, slopes and second derivatives of ones and one dense part, which is read where it lies or packed.
static void check_in_place(const Design& d, const Team& team) {
    const Rows rows({d.parts[0], d.parts[2]});
    const Index n = d.n, p = rows.columns();
    const auto x = [&](Index i, Index j) { return j == 0 ? 1.0 : d.x(i, 3 + j); };
    std::vector<double> mean(Design::at(p)), scatter(mean), largest(mean), gradient(mean), slope(1), second(Design::at(p * p));
    rows.moments(team, {}, mean.data(), scatter.data(), largest.data());
    bool good = true;
    for (Index j = 0; j < p; ++j) {
        double sum = 0, square = 0, top = 0;
        for (Index i = 0; i < n; ++i) sum += x(i, j) / static_cast<double>(n), top = std::max(top, std::fabs(x(i, j)));
        for (Index i = 0; i < n; ++i) square += (x(i, j) - sum) * (x(i, j) - sum);
        good = good && near(mean[Design::at(j)], sum) && near(scatter[Design::at(j)], square) && largest[Design::at(j)] == top;
    }
    CHECK(good);
    const std::vector<double> y = numbers(n, 31), coef = numbers(p, 32);
    Request request;
    request.loss = Loss::huber;
    request.parameter = 0.7;
    request.y = matrix(y, n, 1);
    for (const Index h : {Index{0}, p}) {
        rows.evaluate(team, request, matrix(coef, p, 1), h, slope.data(), gradient.data(), h > 0 ? second.data() : nullptr);
        std::vector<double> sum(Design::at(p)), bent(Design::at(p * p));
        for (Index i = 0; i < n; ++i) {
            double r = -y[Design::at(i)];
            for (Index j = 0; j < p; ++j) r += x(i, j) * coef[Design::at(j)];
            for (Index j = 0; j < p; ++j) {
                sum[Design::at(j)] += x(i, j) * std::clamp(r, -0.7, 0.7);
                for (Index k = 0; k < p; ++k) bent[Design::at(j * p + k)] += std::fabs(r) < 0.7 ? x(i, j) * x(i, k) : 0.0;
            }
        }
        for (Index j = 0; j < p; ++j) good = good && near(sum[Design::at(j)], gradient[Design::at(j)]);
        for (Index j = 0; h > 0 && j < p * p; ++j) good = good && near(bent[Design::at(j)], second[Design::at(j)]);
    }
    CHECK(good);
}

void check_descents() {
    for (const Index n : {1, 4, 300})
        for (const Index p : {1, 8, 19, 40})
            for (const bool single : {false, true}) check_in_place(Design(n, p, single, p > 8, false), {2, {}});
    for (const Index points : {1, 3, 8, 17, 40}) {
        check_csc_ops(3, 5, points, 1);
        check_csc_ops(2000, 60, points, 2);
        check_foresight(9, points);
    }
    for (const Index m : {1, 2, 7, 33}) {
        check_sweeps(m);
        check_groups(m, 3);
    }
    for (const Index n : {1, 4, 70})
        for (const Index p : {1, 8, 19}) {
            const Design d(n, p, p % 2 == 1, p > 3, p == 8);
            for (const bool even : {false, true}) {
                check_ascent(d, 1, 0.0, even);
                check_ascent(d, 1, 1.0, even);
                check_ascent(d, 3, 0.0, even);
                check_ascent(d, 3, 1.0, even);
            }
            for (const RowLoss loss :
                 {RowLoss::squared, RowLoss::logistic, RowLoss::softmax, RowLoss::hinge, RowLoss::squared_hinge, RowLoss::crammer_singer,
                  RowLoss::quantile, RowLoss::huber, RowLoss::insensitive, RowLoss::squared_insensitive, RowLoss::poisson})
                for (const Index batch : {1, 3}) check_epoch(d, loss, batch, false);
            check_epoch(d, RowLoss::logistic, 1, true);
        }
}
