#include "conjugate.hpp"

#include <atomic>
#include <cmath>
#include <numeric>
#include <vector>

namespace lineal {

namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const double* b) { return std::inner_product(a.begin(), a.end(), b, 0.0); }

// The operators of a system, with the room they need.
class Operators {
public:
    Operators(const Rows& rows, const Team& team, const Request& request, double* kept, const System& system)
        : rows_(rows), team_(team), request_(request), kept_{kept, true}, system_(system), p_(rows.columns()), k_(request.outputs),
          inner_(size()), column_(at(p_)), solved_(at(p_)) {}

    std::size_t size() const { return at(p_ * k_); }

    // image = H direction
    void curve(const double* direction, Vector& image) {
        for (Index j = 0; j < p_; ++j)
            for (Index c = 0; c < k_; ++c) inner_[at(j * k_ + c)] = direction[j * k_ + c] / system_.scale[j];
        for (Index c = 0; c < k_; ++c) {
            double moved = 0;
            for (Index j = 0; j < p_; ++j) moved += system_.shift[j] * inner_[at(j * k_ + c)];
            inner_[at(c)] -= moved;
        }
        Matrix given;
        given.data = inner_.data();
        given.rows = p_;
        given.columns = given.row_stride = k_;
        given.column_stride = 1;
        const double weight = rows_.curve(team_, request_, given, given, kept_, image.data());
        const double mean = weight > 0 ? 1 / weight : 1;
        for (Index j = p_ - 1; j >= 0; --j)
            for (Index c = 0; c < k_; ++c) {
                const Index at_j = j * k_ + c;
                const double gradient = image[at(at_j)] - system_.shift[j] * image[at(c)];
                image[at(at_j)] = mean * gradient / system_.scale[j] + system_.charges[j] * direction[at_j];
            }
    }

    // out = M^-1 residual
    void ease(const double* residual, Vector& out) {
        for (Index c = 0; c < k_; ++c) {
            for (Index j = 0; j < p_; ++j) column_[at(j)] = residual[j * k_ + c];
            kernels().symmetric(system_.inverse + (system_.blocks > 1 ? c * p_ * p_ : 0), p_, column_.data(), solved_.data());
            for (Index j = 0; j < p_; ++j) out[at(j * k_ + c)] = solved_[at(j)];
        }
    }

private:
    static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
    const Rows& rows_;
    const Team& team_;
    const Request& request_;
    Curvature kept_;
    const System& system_;
    Index p_, k_;
    Vector inner_, column_, solved_;
};

}  // namespace

Progress conjugate(const Rows& rows, const Team& team, const Request& request, double* kept, const System& system, double rho,
                   double* solution, double* residual, double* direction) {
    Operators operators(rows, team, request, kept, system);
    const std::size_t size = operators.size();
    Vector image(size), eased(size);
    Progress out;
    out.rho = rho;
    while (out.count < system.most && out.rho > system.goal) {
        operators.curve(direction, image);
        const double bend = dot(image, direction);
        out.stuck = !(bend > 0 && std::isfinite(bend));
        if (out.stuck) break;
        if (out.count == 0) out.first = bend;
        const double step = out.rho / bend;
        for (std::size_t t = 0; t < size; ++t) {
            solution[t] += step * direction[t];
            residual[t] -= step * image[t];
        }
        operators.ease(residual, eased);
        const double before = out.rho;
        out.rho = dot(eased, residual);
        for (std::size_t t = 0; t < size; ++t) direction[t] = eased[t] + out.rho / before * direction[t];
        ++out.count;
    }
    return out;
}

bool invert(const Team& team, double* matrices, Index count, Index n) {
    std::atomic<bool> good{true};
    const bool one = static_cast<double>(count) * static_cast<double>(n * n * n) < 5e5;  // a tenth of a millisecond
    run(one ? Team{1, team.interrupted} : team, count, [&](int, Index which, Watch&) {
        if (!kernels().invert(matrices + which * n * n, n)) good = false;
    }, {});
    return good;
}

}  // namespace lineal
