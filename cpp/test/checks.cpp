// Plain checks of the loops against triple loops, built with sanitizers by scripts/sanitize. No framework: a failed
// check prints its line and makes main return 1. Shapes are chosen for their edges, arrays end exactly where they should.
#include "checks.hpp"

#include <functional>

#include "newton/small_fit.hpp"
#include "paths/picking.hpp"
#include "linalg/triangle.hpp"
#include "apart.hpp"
#include "cells.hpp"
#include "columns.hpp"
#include "neighbors.hpp"
#include "presenting.hpp"
#include "float32_gram.hpp"
#include "teams.hpp"
#include "text.hpp"

namespace {

void check_products(const Design& d, const Rows& rows, const Team& team, Index k) {
    const Index n = d.n, p = rows.columns();
    const std::vector<double> coef = numbers(p * k, 5), values = numbers(n * k, 6);
    std::vector<double> times(static_cast<std::size_t>(n * k)), back(static_cast<std::size_t>(p * k));
    rows.times(team, matrix(coef, p, k), times.data());
    rows.transpose_times(team, matrix(values, n, k), back.data());
    bool good = true;
    for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < k; ++c) {
            double sum = 0;
            for (Index j = 0; j < p; ++j) sum += d.x(i, j) * coef[Design::at(j * k + c)];
            good = good && near(sum, times[Design::at(i * k + c)]);
        }
    CHECK(good);
    for (Index j = 0; j < p; ++j)
        for (Index c = 0; c < k; ++c) {
            double sum = 0;
            for (Index i = 0; i < n; ++i) sum += d.x(i, j) * values[Design::at(i * k + c)];
            good = good && near(sum, back[Design::at(j * k + c)]);
        }
    CHECK(good);
}

// Columns 1 and 3 of the sparse part, the last part of a design.
template <class N>
void check_picking(const Design& d, const Team& team) {
    const Part& part = d.parts.back();
    const std::int32_t place[] = {-1, 0, -1, 1};
    const Picked<double, N> found = pick<double, N>(team, part, place);
    bool good = found.starts[0] == 0;
    for (Index i = 0; i < d.n; ++i) {
        double row[2] = {0, 0};
        for (Index t = found.starts[Design::at(i)]; t < found.starts[Design::at(i + 1)]; ++t)
            row[found.indices[Design::at(t)]] = found.values[Design::at(t)];
        for (Index j = 0; j < 2; ++j) good = good && row[j] == d.x(i, d.columns_ - 4 + 1 + 2 * j);
    }
    CHECK(good);
}

// R'R is the matrix, R^-1 by substitution has the squares, on any number of threads.
void check_triangle(Index n) {
    const std::vector<double> x = numbers(2 * n * n, 31);
    std::vector<double> gram(Design::at(n * n)), turned(gram), again(gram), squares(Design::at(n)), same(squares), inverse(gram);
    for (Index a = 0; a < n; ++a)
        for (Index b = 0; b < n; ++b)
            for (Index i = 0; i < 2 * n; ++i) gram[Design::at(a * n + b)] += x[Design::at(i * n + a)] * x[Design::at(i * n + b)];
    bool good = cholesky(Team{1, {}}, gram.data(), n, turned.data()) && cholesky(Team{3, {}}, gram.data(), n, again.data());
    good = good && turned == again;
    inverse_squares(Team{1, {}}, turned.data(), n, squares.data());
    inverse_squares(Team{3, {}}, turned.data(), n, same.data());
    good = good && squares == same;
    for (Index a = 0; a < n; ++a)
        for (Index b = 0; b < n; ++b) {
            double sum = 0, rest = a == b ? 1.0 : 0.0;
            for (Index i = 0; i < n; ++i) sum += turned[Design::at(a * n + i)] * turned[Design::at(b * n + i)];
            good = good && near(sum, gram[Design::at(a * n + b)]);
            for (Index i = 0; i < a; ++i) rest -= turned[Design::at(a * n + i)] * inverse[Design::at(i * n + b)];
            inverse[Design::at(a * n + b)] = rest / turned[Design::at(a * n + a)];  // of the lower triangle
        }
    for (Index b = 0; b < n; ++b) {
        double sum = 0;
        for (Index a = 0; a < n; ++a) sum += inverse[Design::at(a * n + b)] * inverse[Design::at(a * n + b)];
        good = good && near(sum, squares[Design::at(b)]);
    }
    CHECK(good);
    if (n > 0) gram[Design::at(n * n - 1)] = -1;
    CHECK(n == 0 || !cholesky(Team{3, {}}, gram.data(), n, again.data()));
}

void check_grams(const Design& d, const Rows& rows, const Team& team) {
    const Index n = d.n, p = rows.columns();
    std::vector<double> weight = numbers(n, 7), y = numbers(n, 8);
    for (Index i = 0; i < n; i += 3) weight[Design::at(i)] = 0;
    std::vector<double> gram(static_cast<std::size_t>(p * p)), high(static_cast<std::size_t>((p + 1) * (p + 1))), low(high);
    rows.gram(team, matrix(weight, n, 1), gram.data());
    rows.gram_dd(team, matrix(weight, n, 1), matrix(y, n, 1), high.data(), low.data());
    bool good = true;
    for (Index a = 0; a < p; ++a)
        for (Index b = 0; b < p; ++b) {
            double sum = 0;
            for (Index i = 0; i < n; ++i) sum += weight[Design::at(i)] * d.x(i, a) * d.x(i, b);
            good = good && near(sum, gram[Design::at(a * p + b)]) && near(sum, high[Design::at(a * (p + 1) + b)]);
        }
    CHECK(good);
    std::vector<double> mean(static_cast<std::size_t>(p)), scatter(mean), largest(mean);
    for (double& w : weight) w = std::fabs(w);
    const double total = rows.moments(team, matrix(weight, n, 1), mean.data(), scatter.data(), largest.data());
    for (Index j = 0; j < p && total > 0; ++j) {
        double sum = 0, square = 0;
        for (Index i = 0; i < n; ++i) sum += weight[Design::at(i)] * d.x(i, j);
        for (Index i = 0; i < n; ++i) square += weight[Design::at(i)] * std::pow(d.x(i, j) - sum / total, 2);
        good = good && near(mean[Design::at(j)], sum / total) && near(scatter[Design::at(j)], square);
    }
    std::vector<double> means(static_cast<std::size_t>(p + 1)), scatters(means), tops(means), both(high);
    rows.gram_dd(team, matrix(weight, n, 1), matrix(y, n, 1), high.data(), low.data());
    rows.products(team, matrix(weight, n, 1), matrix(y, n, 1), means.data(), scatters.data(), tops.data(), both.data());
    for (Index j = 0; j < p; ++j)
        good = good && near(mean[Design::at(j)], means[Design::at(j)]) && near(scatter[Design::at(j)], scatters[Design::at(j)]) &&
               largest[Design::at(j)] == tops[Design::at(j)];
    for (std::size_t t = 0; t < high.size(); ++t) good = good && near(high[t], both[t]);
    CHECK(good);
    const std::vector<double> direction = numbers(p, 9), nothing(static_cast<std::size_t>(p));
    const double ratio = rows.dependence(team, matrix(direction, p, 1), matrix(nothing, p, 1));
    CHECK(ratio >= 0 && ratio <= 1 + 1e-12);
}

// Value against gradient and gradient against curvature along a line, by differences; no formula of a loss appears here.
void check_losses(const Design& d, const Rows& rows, const Team& team, Loss loss, Index k) {
    const Index n = d.n, p = rows.columns();
    std::vector<double> y = numbers(n * (loss == Loss::softmax ? 1 : k), 10), weight = numbers(n, 11), offset = numbers(n * k, 12);
    for (double& value : y)
        if (loss != Loss::squared) value = std::floor((value + 1) / 2 * static_cast<double>(loss == Loss::softmax ? k : 2));
    for (double& value : weight) value = value < -0.5 ? 0 : value + 1;
    Request request;
    request.loss = loss;
    request.parameter = 0.5;
    request.outputs = k;
    request.y = matrix(y, n, loss == Loss::softmax ? 1 : k);
    request.weight = matrix(weight, n, 1);
    request.offset = matrix(offset, n, k);
    const std::vector<double> start = numbers(p * k, 13), direction = numbers(p * k, 14);
    const Index blocks = loss == Loss::logistic ? k : 1, side = loss == Loss::softmax ? k * p : p;
    std::vector<double> slope_sum(static_cast<std::size_t>(k)), gradient(static_cast<std::size_t>(p * k)), other(gradient), bent(gradient);
    std::vector<double> hessian(static_cast<std::size_t>(blocks * side * side));
    const double h = 1e-5;
    const auto value_at = [&](double step, std::vector<double>& out) {
        std::vector<double> coef(start);
        for (std::size_t i = 0; i < coef.size(); ++i) coef[i] += step * direction[i];
        const Evaluation e = rows.evaluate(team, request, matrix(coef, p, k), p, slope_sum.data(), out.data(), hessian.data());
        return e.high + e.low;
    };
    const double ahead = value_at(h, gradient), behind = value_at(-h, other);
    std::vector<double> kept(static_cast<std::size_t>(n * k)), again(bent);
    rows.curve(team, request, matrix(start, p, k), matrix(direction, p, k), {kept.data(), false}, bent.data());
    rows.curve(team, request, matrix(start, p, k), matrix(direction, p, k), {kept.data(), true}, again.data());
    bool good = again == bent;
    // blocks on the diagonal are those of the whole second derivative
    std::vector<double> diagonal(static_cast<std::size_t>(k * p * p));
    rows.evaluate(team, request, matrix(start, p, k), p, slope_sum.data(), gradient.data(), hessian.data());
    rows.blocks(team, request, kept.data(), {}, diagonal.data());
    for (Index c = 0; c < k; ++c)
        for (Index i = 0; i < p * p; ++i) {
            const Index first = loss == Loss::softmax ? c * p * (side + 1) : loss == Loss::logistic ? c * p * p : 0;
            const double own = hessian[static_cast<std::size_t>(first + i / p * side + i % p)];
            good = good && std::fabs(diagonal[static_cast<std::size_t>(c * p * p + i)] - own) < 1e-9 * static_cast<double>(n + 1);
        }
    value_at(h, gradient);
    for (std::size_t i = 0; i < bent.size(); ++i)
        good = good && std::fabs((gradient[i] - other[i]) / (2 * h) - bent[i]) < 1e-5 * static_cast<double>(n + 1);
    CHECK(good);
    value_at(0, gradient);
    double slope = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) slope += gradient[i] * direction[i];
    CHECK(std::fabs((ahead - behind) / (2 * h) - slope) < 1e-5 * static_cast<double>(n + 1));
    for (Index c = 0; c < k; ++c)
        for (Index j = 0; j < p; ++j) {
            double sum = 0;
            if (loss == Loss::softmax)
                for (Index t = 0; t < k * p; ++t)
                    sum += hessian[Design::at((c * p + j) * side + t)] * direction[Design::at(t % p * k + t / p)];
            else
                for (Index t = 0; t < p; ++t)
                    sum += hessian[Design::at((loss == Loss::logistic ? c * p * p : 0) + j * p + t)] * direction[Design::at(t * k + c)];
            good = good && near(sum, bent[Design::at(j * k + c)]);
        }
    CHECK(good);
    const std::vector<double> shift(static_cast<std::size_t>(p * k));
    const DualEvaluation dual = rows.dual(team, request, matrix(start, p, k), matrix(shift, p, k), slope_sum.data(), other.data());
    CHECK(dual.high == 0 && dual.reach == 0);
    for (std::size_t i = 0; i < other.size(); ++i) good = good && near(other[i], gradient[i]);
    CHECK(good);
    request.sample = 3;
    rows.evaluate(team, request, matrix(start, p, k), 0, slope_sum.data(), gradient.data(), nullptr);
    std::vector<double> means(static_cast<std::size_t>(n * k));
    rows.means(team, request, matrix(start, p, k), means.data());
}

// Both probabilities of a row are those of `means`, whether the rows are read in place or packed.
void check_chances(const Design& d) {
    for (const bool codes : {false, true}) {
        const Rows rows(codes ? d.parts : std::vector<Part>{d.parts[0], d.parts[2]});
        const Index n = rows.rows(), p = rows.columns();
        const std::vector<double> coef = numbers(p, 21);
        Request request;
        request.loss = Loss::logistic;
        std::vector<double> means(static_cast<std::size_t>(n)), both(static_cast<std::size_t>(2 * n));
        CHECK(rows.means({2, {}}, request, matrix(coef, p, 1), means.data()));
        CHECK(rows.means({2, {}}, request, matrix(coef, p, 1), both.data(), true));
        bool good = true;
        for (Index i = 0; i < n; ++i)
            good = good && both[Design::at(2 * i + 1)] == means[Design::at(i)] && both[Design::at(2 * i)] == 1 - means[Design::at(i)];
        CHECK(good);
    }
}

// The gradient at the coefficients of a small fit is zero but for rounding, or small.
void check_small_fit(const Design& d, Index k, Loss loss) {
    const Index n = d.n, p = d.columns_;
    const Rows rows(d.parts);
    std::vector<double> y = numbers(n * k, 17);
    if (loss != Loss::squared)
        for (double& value : y) value = value > 0 ? 1 : 0;
    std::vector<double> weight = numbers(n, 18), square(Design::at(p), 0.5);
    for (double& value : weight) value = value < -0.5 ? 0 : value + 1;
    weight[0] = 1;
    square[0] = 0;
    Request request;
    request.loss = loss;
    request.outputs = k;
    request.y = matrix(y, n, k);
    request.weight = matrix(weight, n, 1);
    const Descent asked{{}, loss != Loss::squared, 0, 1e-12, 50};
    SmallFit found;
    if (!small_fit(rows, Team{3, {}}, request, square.data(), 1e100, asked, found))
        return;  // a column may be zero in all rows that count, or one class
    const double* coef = found.steps.coefs.data() + found.steps.coefs.size() - static_cast<std::size_t>(p * k);
    bool good = found.steps.values.back() <= found.baseline_value;
    for (Index j = 0; j < p; ++j)
        for (Index c = 0; c < k; ++c) {
            double sum = square[Design::at(j)] * coef[j * k + c];
            for (Index i = 0; i < n; ++i) {
                double eta = 0;
                for (Index t = 0; t < p; ++t) eta += d.x(i, t) * coef[t * k + c];
                const double mean = loss == Loss::logistic ? 1 / (1 + std::exp(-eta)) : loss == Loss::poisson ? std::exp(eta) : eta;
                sum += weight[Design::at(i)] * d.x(i, j) * (mean - y[Design::at(i * k + c)]) / found.weight_sum;
            }
            good = good && std::fabs(sum) < (loss == Loss::squared ? 1e-11 : 1e-5);
        }
    CHECK(good);
    for (Index j = 0; j < p; ++j) {
        double mean = 0, scatter = 0, largest = 0;
        for (Index i = 0; i < n; ++i) mean += weight[Design::at(i)] * d.x(i, j) / found.weight_sum;
        for (Index i = 0; i < n; ++i) {
            scatter += weight[Design::at(i)] * std::pow(d.x(i, j) - mean, 2);
            if (weight[Design::at(i)] > 0) largest = std::max(largest, std::fabs(d.x(i, j)));
        }
        good = good && near(mean, found.mean[Design::at(j)]) && near(scatter, found.scatter[Design::at(j)]) &&
               largest == found.largest[Design::at(j)];
    }
    CHECK(good);
    weight[0] = -1;
    CHECK(!small_fit(rows, Team{3, {}}, request, square.data(), 1e100, asked, found));
}

void check_factor() {
    const Index n = 13;
    std::vector<double> high(n * n), low(n * n), right = numbers(n * 3, 15), right_low(n * 3);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j)
            high[Design::at(i * n + j)] = i == j ? 2.0 + static_cast<double>(i % 3) : 0.5 / static_cast<double>(1 + i + j);
    const std::vector<double> whole = high, wanted = right;
    std::vector<Index> order(n);
    CHECK(kernels().factor_dd(high.data(), low.data(), n, n - 1, 1e-20, order.data()) == n - 1);
    CHECK(order[n - 1] == n - 1);
    kernels().solve_dd(high.data(), low.data(), n, n - 1, false, right.data(), right_low.data(), 3);
    kernels().solve_dd(high.data(), low.data(), n, n - 1, true, right.data(), right_low.data(), 3);
    bool good = true;
    for (Index i = 0; i < n - 1; ++i)
        for (Index c = 0; c < 3; ++c) {
            double sum = 0;
            for (Index j = 0; j < n - 1; ++j)
                sum += whole[Design::at(order[Design::at(i)] * n + order[Design::at(j)])] * right[Design::at(j * 3 + c)];
            good = good && near(sum, wanted[Design::at(i * 3 + c)]);
        }
    CHECK(good);
    // (1 + 2^-60) 3, of which a double keeps 3
    const double one[2] = {1.0, 0.0}, tail[2] = {0x1p-60, 0.0}, three[2] = {3.0, 5.0}, none[2] = {};
    double product = 0, rest = 0;
    kernels().times_dd(one, tail, 1, 2, three, none, 1, &product, &rest);
    CHECK(product == 3.0 && rest == 3 * 0x1p-60);
}

}  // namespace

int main(int count, char**) {
    if (count > 1) {  // the levels this machine runs, for scripts/sanitize
        for (const std::string& name : levels()) std::printf("%s\n", name.c_str());
        return 0;
    }
    std::printf("kernels %s\n", level_in_use().c_str());
    for (const Index n : {0, 1, 5, 129, 700})
        for (const Index p : {1, 3, 8, 19, 40}) {
            const Design d(n, p, p % 2 == 1, p > 3, p == 8 || p == 19);
            const Rows rows(d.parts);
            check_chances(d);
            for (const int threads : {1, 3}) {
                const Team team{threads, {}};
                for (const Index k : {1, 2, 3, 5, 11}) check_products(d, rows, team, k);
                check_grams(d, rows, team);
                if (d.parts.back().wide)
                    check_picking<std::int64_t>(d, team);
                else
                    check_picking<std::int32_t>(d, team);
                check_losses(d, rows, team, Loss::squared, 2);
                check_losses(d, rows, team, Loss::logistic, 1);
                check_losses(d, rows, team, Loss::softmax, 3);
                check_losses(d, rows, team, Loss::poisson, 1);
            }
        }
    {
        const Design d(60000, 9, false, true, false);  // large enough for several threads
        const Rows rows(d.parts);
        check_products(d, rows, Team{3, {}}, 2);
        check_grams(d, rows, Team{3, {}});
        if (d.parts.back().wide)
            check_picking<std::int64_t>(d, Team{3, {}});
        else
            check_picking<std::int32_t>(d, Team{3, {}});
        check_interrupt(d);
    }
    for (const Index n : {0, 1, 5, 300}) check_columns(n);
    for (const Index n : {0, 1, 8, 24, 30, 49, 130}) check_triangle(n);
    for (const Index n : {0, 1, 2, 33, 70}) check_apart(n);
    check_cells();
    check_figures(Team{3, {}});
    check_nested();
    for (const Index n : {1, 2, 5, 8, 33, 90}) check_small_factor(n);
    for (const Index n : {1, 3, 4, 70})
        for (const Index p : {1, 8, 19, 40}) {
            Design d(n, p, p % 2 == 1, p > 3, p == 8);
            for (const Index k : {1, 2, 5, 11}) {
                check_perceptron(d, k, k == 1, n == 70);
                check_perceptron(d, k, k == 1, n == 70, false);
            }
            d.parts = {d.parts[0], d.parts[2]};  // ones and numbers: blocks of rows
            for (Index i = 0; i < n; ++i) {
                double* row = &d.dense[0] + i * d.columns_;
                for (Index j = 0; j < p; ++j) d.dense[Design::at(i * (p + 1) + 1 + j)] = row[4 + j];
                d.dense[Design::at(i * (p + 1))] = 1.0;
            }
            d.columns_ = p + 1;
            for (const Index k : {1, 3}) check_small_fit(d, k, Loss::squared);
            for (const Loss loss : {Loss::logistic, Loss::poisson}) check_small_fit(d, 1, loss);
            for (const Index k : {1, 2, 5, 11}) {
                check_perceptron(d, k, true, n == 70);
                check_perceptron(d, k, true, n == 70, false);
            }
        }
    CHECK(text_holds({false, true, false, 1, 1, 2, {"NA"}}));
    CHECK(text_holds({true, true, true, 1, 2, 3, {}}));
    CHECK(plain_text_holds());
    check_descents();
    check_factor();
    check_all_rough();
    check_all_neighbors();
    std::printf(failures == 0 ? "all checks hold\n" : "%d checks failed\n", failures);
    return failures == 0 ? 0 : 1;
}
