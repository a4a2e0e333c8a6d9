// One point of a path after the other by exact solves on faces. Included by sweeps.cpp, after `best` and `resting`.
#pragma once

#include "paths/active_set_cholesky.hpp"

namespace {

// The coefficients in use of a walk without curvature in its penalty. A step goes to the minimiser of their face, or to the
// first coefficient on the way that comes to rest, which is let go; then those that do not want to rest are taken up.
class Pursuit {
public:
    explicit Pursuit(Walk& walk) : w(walk), factor_(*walk.support), way_(static_cast<std::size_t>(walk.size)) {}

    // Makes the support what the coefficients say: others may have moved them.
    void settle(const Charges& charges) {
        place_.assign(static_cast<std::size_t>(w.size), -1);
        const std::vector<Index> held = w.support->columns;
        const Index count = static_cast<Index>(held.size());
        Index gone = 0;
        for (const Index column : held) gone += in_use(column, charges) < 0;
        if (4 * gone > count) {
            w.support->columns.clear();
            w.support->factor.clear();
        } else
            for (Index a = count; a-- > 0;)
                if (in_use(held[static_cast<std::size_t>(a)], charges) < 0) factor_.remove(a);
        on_.clear();
        for (const Index column : w.support->columns) {
            on_.push_back(local(column));
            place_[static_cast<std::size_t>(on_.back())] = 0;
        }
        List missing;
        for (Index j = 0; j < w.size; ++j)
            if (!resting(charges, j, w.coef[j]) && place_[static_cast<std::size_t>(j)] < 0) missing.push_back(j);
        take_up(missing);
    }

    // Goes to the optimum of the charges as long as that gains; `good()` ends it. Returns the work.
    template <class Good>
    double descend(const Charges& charges, double budget, Good good) {
        double spent = 0;
        for (int round = 0; round < most_rounds && spent <= budget && !good(); ++round) {
            List wanting;
            // first with those in use alone: most gradients beyond a smaller charge shrink with it
            for (Index j = 0; j < w.size && (round > 0 || on_.empty()); ++j) {
                if (place_[static_cast<std::size_t>(j)] >= 0) continue;
                const double z = best(charges, j, w.gram[j * w.size + j], w.coef[j], w.gradient[j]), move = z - w.coef[j];
                if (move == 0) continue;
                way_[static_cast<std::size_t>(j)] = move;
                wanting.push_back(j);
            }
            const double m = static_cast<double>(factor_.size());
            spent += 0.5 * m * m * static_cast<double>(wanting.size());
            take_up(wanting);
            before_.assign(w.coef, w.coef + w.size);
            touched_ = on_;
            slope_.resize(on_.size());
            for (std::size_t a = 0; a < on_.size(); ++a) slope_[a] = w.gradient[on_[a]];
            while (!on_.empty() && spent <= budget) {
                spent += static_cast<double>(on_.size() * on_.size());
                if (step(charges)) break;
            }
            const double moved = carry();
            if (moved == 0 && round > 0) break;
            spent += moved;
        }
        return spent;
    }

private:
    static constexpr int most_rounds = 40;

    Index local(Index column) const {
        const Index* at = std::lower_bound(w.columns, w.columns + w.size, column);
        return at != w.columns + w.size && *at == column ? at - w.columns : -1;
    }

    // The place of a column among the coefficients, -1 if it has none or rests.
    Index in_use(Index column, const Charges& charges) const {
        const Index j = local(column);
        return j >= 0 && !resting(charges, j, w.coef[j]) ? j : -1;
    }

    void take_up(const List& wanted) {
        if (wanted.empty()) return;
        List all = on_, ids;
        all.insert(all.end(), wanted.begin(), wanted.end());
        for (const Index j : wanted) ids.push_back(w.columns[j]);
        const auto refused = factor_.append(
            ids, [&](Index a, Index b) { return w.gram[wanted[static_cast<std::size_t>(a)] * w.size + all[static_cast<std::size_t>(b)]]; });
        for (std::size_t t = 0; t < wanted.size(); ++t) {
            if (refused[t]) continue;
            on_.push_back(wanted[t]);
            place_[static_cast<std::size_t>(wanted[t])] = 0;
        }
    }

    // One step on the face; true when nothing stopped it.
    bool step(const Charges& charges) {
        const std::size_t m = on_.size();
        pull_.resize(m);
        room_.resize(m);
        for (std::size_t a = 0; a < m; ++a) {
            const Index j = on_[a];
            const double z = w.coef[j], side = z != 0 ? z : way_[static_cast<std::size_t>(j)];
            pull_[a] = -(slope_[a] + std::copysign(charges.linear[j], side));
        }
        move_ = pull_;
        factor_.solve(move_.data());
        if (!std::all_of(move_.begin(), move_.end(), [](double d) { return std::isfinite(d); })) return true;
        double length = 1;
        for (std::size_t a = 0; a < m; ++a) {
            const double d = move_[a];
            room_[a] = d == 0 ? INFINITY : (edge(charges, a) - w.coef[on_[a]]) / d;
            if (room_[a] < length) length = std::max(room_[a], 0.0);
        }
        List gone;
        for (std::size_t a = 0; a < m; ++a) {
            double& z = w.coef[on_[a]];
            if (length < 1 && !(room_[a] > length)) {
                z = edge(charges, a);
                gone.push_back(static_cast<Index>(a));
            } else {
                z += length * move_[a];
            }
            slope_[a] += length * pull_[a];
        }
        for (std::size_t g = gone.size(); g-- > 0;) {
            const Index a = gone[g];
            place_[static_cast<std::size_t>(on_[static_cast<std::size_t>(a)])] = -1;
            factor_.remove(a);
            on_.erase(on_.begin() + a);
            slope_.erase(slope_.begin() + a);
        }
        return gone.empty();
    }

    // Where a coefficient comes to rest on its way.
    double edge(const Charges& charges, std::size_t a) const {
        const Index j = on_[a];
        const double z = w.coef[j], d = move_[a], side = z != 0 ? z : way_[static_cast<std::size_t>(j)];
        const double bound = d < 0 ? charges.lower[j] : charges.upper[j];
        if (!(charges.linear[j] > 0 && side * d < 0)) return bound;
        return d < 0 ? std::max(bound, 0.0) : std::min(bound, 0.0);
    }

    // Carries the moves over to the gradients of all coefficients; returns the work.
    double carry() {
        const Index size = w.size;
        const double* row[4];
        double by[4];
        int held = 0;
        double work = 0;
        const auto add = [&] {
            for (int i = held; i < 4; ++i) row[i] = row[0], by[i] = 0;
            for (Index i = 0; i < size; ++i)
                w.gradient[i] += (row[0][i] * by[0] + row[1][i] * by[1]) + (row[2][i] * by[2] + row[3][i] * by[3]);
            work += static_cast<double>(held) * static_cast<double>(size);
            held = 0;
        };
        for (const Index j : touched_) {
            const double move = w.coef[j] - before_[static_cast<std::size_t>(j)];
            if (move == 0) continue;
            row[held] = w.gram + j * size;
            by[held++] = move;
            if (held == 4) add();
        }
        if (held > 0) add();
        return work;
    }

    Walk& w;
    Factor factor_;
    List on_, touched_;        // coefficients in use, in the order of the factor; those of this round
    List place_;               // -1 for those that are not in use
    std::vector<double> way_;  // where a coefficient that rests wants to go
    std::vector<double> before_, slope_, pull_, move_, room_;
};

}  // namespace
