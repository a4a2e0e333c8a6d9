#include "newton/interior.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "newton/descent.hpp"

namespace lineal {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// sum over i < count of f(i), in four chains
template <class F>
double added(Index count, F f) {
    double sum[4] = {};
    for (Index i = 0; i < count; ++i) sum[i % 4] += f(i);
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

class Path {
public:
    Path(const Corners& given, const Team& team, PathPoint& point)
        : given_(given),
          team_(team),
          point_(point),
          rows_(given.rows.rows()),
          p_(given.rows.columns()),
          size_(rows_ * given.corners),
          by_row_(at(rows_)),
          gram_(at(p_ * p_)),
          spread_(at(p_)),
          slope_(at(p_)),
          shift_(at(p_)),
          over_(at(size_)),
          under_(over_),
          room_(over_),
          off_(over_),
          first_(over_),
          second_(over_),
          apart_(over_),
          move_(over_),
          du_(over_),
          dv_(over_),
          angle_(over_),
          total_(added(size_, [&](Index i) { return given.weight[i]; })) {
        for (Index j = 0; j < p_; ++j) bent_ = bent_ || given.smooth[j] != 0;
    }

    double gap() const {
        return added(size_, [&](Index i) {
            const double p = given_.high[i] - point_.theta[i], q = point_.theta[i] - given_.low[i];
            return given_.weight[i] *
                   (point_.u[i] * p + point_.v[i] * q + std::fabs(point_.residual[i] - point_.u[i] + point_.v[i]) * (p + q));
        });
    }

    double loss() const {
        return added(size_, [&](Index i) {
            return given_.weight[i] * std::max(given_.low[i] * point_.residual[i], given_.high[i] * point_.residual[i]);
        });
    }

    // One predictor and corrector; false where rounding allows none, with `lame` where the gram has no factor.
    bool advance(bool& lame) {
        const double *w = given_.weight, *u = point_.u, *v = point_.v;
        for (Index i = 0; i < size_; ++i) {
            over_[at(i)] = given_.high[i] - point_.theta[i];
            under_[at(i)] = point_.theta[i] - given_.low[i];
            room_[at(i)] = 1.0 / (u[i] / over_[at(i)] + v[i] / under_[at(i)]);
            off_[at(i)] = point_.residual[i] - u[i] + v[i];
        }
        gather([&](Index i) { return w[i] * room_[at(i)]; });
        given_.rows.gram(team_, {by_row_.data(), rows_, 1, 1, 1}, gram_.data());
        for (const double entry : gram_)
            if (!std::isfinite(entry)) return false;  // every row is met exactly: the distances have underflowed
        for (Index j = 0; j < p_; ++j) gram_[at(j * p_ + j)] += given_.smooth[j];
        if (!(factor_.make(gram_.data(), p_) > 0 && factor_.spread(spread_.data()) > given_.singular)) {
            lame = true;
            return false;
        }
        pull([&](Index i) { return w[i] * point_.theta[i]; }, slope_);
        for (Index j = 0; j < p_; ++j) slope_[at(j)] += given_.smooth[j] * point_.coef[j] + given_.linear[j];
        const double mu = added(size_, [&](Index i) { return w[i] * (u[i] * over_[at(i)] + v[i] * under_[at(i)]); }) / (2.0 * total_);
        for (Index i = 0; i < size_; ++i) {
            first_[at(i)] = -u[i] * over_[at(i)];
            second_[at(i)] = -v[i] * under_[at(i)];
        }
        solve();
        double primal = primal_length(), dual = dual_length();
        const double after = added(size_, [&](Index i) { return w[i] * (above(i, primal, dual) + below(i, primal, dual)); });
        const double share = std::max(after, 0.0) / (2.0 * total_ * mu);
        double target = share * share * share * mu;
        // Where even the plain step is short, its square is no guide: go back to the middle of the path first.
        const bool lengthy = std::min(primal, dual) >= 0.1;
        if (!lengthy) target = std::max(target, 0.5 * mu);
        for (Index i = 0; i < size_; ++i) {
            const double square = lengthy ? angle_[at(i)] : 0.0;
            first_[at(i)] = target - u[i] * over_[at(i)] + du_[at(i)] * square;
            second_[at(i)] = target - v[i] * under_[at(i)] - dv_[at(i)] * square;
        }
        solve();
        primal = 0.9995 * primal_length();
        dual = 0.9995 * dual_length();
        if (bent_) primal = dual = std::min(primal, dual);  // a quadratic ties both sides
        primal = std::min(primal, 1.0);
        dual = std::min(dual, 1.0);
        for (int tried = 0; tried < 20 && !central(primal, dual); ++tried) {
            primal *= 0.8;
            dual *= 0.8;
        }
        return move(primal, dual);
    }

private:
    // by_row_ = the sum of f over a row's corners
    template <class F>
    void gather(F f) {
        for (Index i = 0; i < rows_; ++i) by_row_[at(i)] = f(i);
        for (Index m = 1; m < given_.corners; ++m)
            for (Index i = 0; i < rows_; ++i) by_row_[at(i)] += f(m * rows_ + i);
    }

    template <class F>
    void pull(F f, std::vector<double>& out) {
        gather(f);
        given_.rows.transpose_times(team_, {by_row_.data(), rows_, 1, 1, 1}, out.data());
    }

    // The Newton step towards u p = first + u p, v q = second + v q and feasibility.
    void solve() {
        for (Index i = 0; i < size_; ++i) apart_[at(i)] = first_[at(i)] / over_[at(i)] - second_[at(i)] / under_[at(i)] - off_[at(i)];
        pull([&](Index i) { return given_.weight[i] * room_[at(i)] * apart_[at(i)]; }, shift_);
        for (Index j = 0; j < p_; ++j) shift_[at(j)] -= slope_[at(j)];
        factor_.solve(shift_.data(), 1);
        given_.rows.times(team_, {shift_.data(), p_, 1, 1, 1}, by_row_.data());
        for (Index i = 0; i < size_; ++i) {
            move_[at(i)] = by_row_[at(i % rows_)];
            angle_[at(i)] = room_[at(i)] * (move_[at(i)] - apart_[at(i)]);
            du_[at(i)] = (first_[at(i)] + point_.u[i] * angle_[at(i)]) / over_[at(i)];
            dv_[at(i)] = (second_[at(i)] - point_.v[i] * angle_[at(i)]) / under_[at(i)];
        }
    }

    static double length(double worst) { return worst > 0 ? std::min(1.0 / worst, 1.0 / 0.9995) : 1.0 / 0.9995; }

    // The longest step for which all distances stay positive, at most 1 / 0.9995.
    double primal_length() const {
        double worst = 0;
        for (Index i = 0; i < size_; ++i) worst = std::max({worst, -du_[at(i)] / point_.u[i], -dv_[at(i)] / point_.v[i]});
        return length(worst);
    }

    double dual_length() const {
        double worst = 0;
        for (Index i = 0; i < size_; ++i) worst = std::max({worst, angle_[at(i)] / over_[at(i)], -angle_[at(i)] / under_[at(i)]});
        return length(worst);
    }

    double above(Index i, double primal, double dual) const {
        return (point_.u[i] + primal * du_[at(i)]) * (over_[at(i)] - dual * angle_[at(i)]);
    }
    double below(Index i, double primal, double dual) const {
        return (point_.v[i] + primal * dv_[at(i)]) * (under_[at(i)] + dual * angle_[at(i)]);
    }

    bool central(double primal, double dual) const {
        const double middle =
            added(size_, [&](Index i) { return given_.weight[i] * (above(i, primal, dual) + below(i, primal, dual)); }) / (2.0 * total_);
        double least = above(0, primal, dual);
        for (Index i = 0; i < size_; ++i) least = std::min({least, above(i, primal, dual), below(i, primal, dual)});
        return least >= given_.central * middle;
    }

    bool move(double primal, double dual) {
        for (const double step : shift_)
            if (!std::isfinite(step)) return false;
        if (std::max(primal, dual) < 1e-12) return false;
        for (Index j = 0; j < p_; ++j) point_.coef[j] += primal * shift_[at(j)];
        bool inside = true;
        for (Index i = 0; i < size_; ++i) {
            point_.residual[i] += primal * move_[at(i)];
            point_.u[i] += primal * du_[at(i)];
            point_.v[i] += primal * dv_[at(i)];
            point_.theta[i] += dual * angle_[at(i)];
            inside = inside && point_.u[i] > 0 && point_.v[i] > 0 && point_.theta[i] > given_.low[i] && point_.theta[i] < given_.high[i];
        }
        return inside;
    }

    const Corners& given_;
    const Team& team_;
    PathPoint& point_;
    const Index rows_, p_, size_;
    std::vector<double> by_row_, gram_, spread_, slope_, shift_;
    // p = high - theta, q = theta - low, c = 1 / (u / p + v / q), eta - at - u + v; of one step what is in `solve`
    std::vector<double> over_, under_, room_, off_, first_, second_, apart_, move_, du_, dv_, angle_;
    const double total_;
    bool bent_ = false;
    SmallFactor factor_;
};

}  // namespace

Followed follow(const Corners& corners, const Team& team, PathPoint& point, double tol, Index most) {
    Path path(corners, team, point);
    Followed out;
    auto asked = std::chrono::steady_clock::now();
    for (out.gap = path.gap();; out.gap = path.gap()) {
        out.ending = out.gap <= tol * std::fabs(path.loss()) ? Ending::enough : Ending::most;
        if (out.ending == Ending::enough || out.steps == most) return out;
        bool lame = false;
        if (!path.advance(lame)) {
            out.ending = lame ? Ending::singular : Ending::stuck;
            if (!lame) out.gap = path.gap();
            return out;
        }
        ++out.steps;
        const auto now = std::chrono::steady_clock::now();
        if (team.interrupted && now - asked > std::chrono::milliseconds(50)) {
            asked = now;
            if (team.interrupted()) throw Interrupted{};
        }
    }
}

}  // namespace lineal
