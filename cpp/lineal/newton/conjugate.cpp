#include "newton/conjugate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <vector>

namespace lineal {

namespace {

using Vector = std::vector<double>;

// Eight running sums: one alone would wait for its own additions.
double dot(const double* a, const double* b, std::size_t size) {
    double sums[8] = {};
    std::size_t t = 0;
    for (; t + 8 <= size; t += 8)
        for (std::size_t lane = 0; lane < 8; ++lane) sums[lane] += a[t + lane] * b[t + lane];
    for (; t < size; ++t) sums[0] += a[t] * b[t];
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

// The operators of a system, with the room they need.
class Operators {
public:
    Operators(const Rows& rows, const Team& team, const Request& request, double* kept, const System& system)
        : rows_(rows),
          team_(team),
          request_(request),
          kept_{kept, true},
          system_(system),
          p_(rows.columns()),
          k_(request.outputs),
          inner_(size()),
          moved_(at(k_)) {
        if (system.blocks != 1 || k_ < 3) return;
        // one matrix for all outputs: a tile of it serves several of them
        panel_ = {nullptr, 8 * (p_ + 1), (p_ + 7) / 8};
        memory_ = Buffer(panel_.groups * panel_.stride);
        panel_.data = memory_.get();
        for (Index i = 0; i < p_; ++i)
            for (Index j = 0; j < p_; ++j) panel_.data[(j / 8) * panel_.stride + 8 * i + j % 8] = system.inverse[i * p_ + j];
    }

    std::size_t size() const { return at(p_ * k_); }

    // image = H direction
    void curve(const double* direction, Vector& image) {
        if (k_ == 1) return single_curve(direction, image);
        // along the outputs, as they lie in memory
        const auto outputs = at(k_);
        std::fill(moved_.begin(), moved_.end(), 0.0);
        for (Index j = 0; j < p_; ++j) {
            const double* const from = direction + j * k_;
            double* const to = inner_.data() + j * k_;
            const double scale = 1 / system_.scale[j], shift = system_.shift[j];
            for (std::size_t c = 0; c < outputs; ++c) {
                to[c] = from[c] * scale;
                moved_[c] += shift * to[c];
            }
        }
        for (std::size_t c = 0; c < outputs; ++c) inner_[c] -= moved_[c];
        const double mean = product(image);
        std::copy_n(image.begin(), outputs, moved_.begin());
        for (Index j = 0; j < p_; ++j) {
            const double* const from = direction + j * k_;
            double* const to = image.data() + j * k_;
            const double scale = mean / system_.scale[j], shift = system_.shift[j], charge = system_.charges[j];
            for (std::size_t c = 0; c < outputs; ++c) to[c] = (to[c] - shift * moved_[c]) * scale + charge * from[c];
        }
    }

    // out = M^-1 residual
    void ease(const double* residual, Vector& out) {
        if (system_.blocks == 0) {
            for (Index j = 0; j < p_; ++j)
                for (Index c = 0; c < k_; ++c) out[at(j * k_ + c)] = system_.inverse[j] * residual[j * k_ + c];
            return;
        }
        const bool dear = static_cast<double>(k_ * p_ * p_) > 2e5;  // fifty microseconds
        if (panel_.data) {
            constexpr Index some = 6;  // groups of columns
            run(
                dear ? team_ : Team{1, team_.interrupted}, (panel_.groups + some - 1) / some,
                [&](int, Index piece, Watch&) {
                    const Index first = some * piece, groups = std::min(some, panel_.groups - first);
                    Vector solved(at(8 * groups * k_));
                    kernels().backward({panel_.data + first * panel_.stride, panel_.stride, groups}, p_, residual, k_, solved.data(),
                                       8 * groups);
                    for (Index j = 8 * first; j < std::min(8 * (first + groups), p_); ++j)
                        for (Index c = 0; c < k_; ++c) out[at(j * k_ + c)] = solved[at(c * 8 * groups + j - 8 * first)];
                },
                nullptr);
            return;
        }
        run(
            dear ? team_ : Team{1, team_.interrupted}, k_,
            [&](int, Index c, Watch&) {
                Vector column(at(p_)), solved(at(p_));
                for (Index j = 0; j < p_; ++j) column[at(j)] = residual[j * k_ + c];
                kernels().symmetric(system_.inverse + (system_.blocks > 1 ? c * p_ * p_ : 0), p_, column.data(), solved.data());
                for (Index j = 0; j < p_; ++j) out[at(j * k_ + c)] = solved[at(j)];
            },
            nullptr);
    }

private:
    static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

    // image = X' S W X inner; returns one over the sum of the weights
    double product(Vector& image) {
        Matrix given;
        given.data = inner_.data();
        given.rows = p_;
        given.columns = given.row_stride = k_;
        given.column_stride = 1;
        const double weight = rows_.curve(team_, request_, given, given, kept_, image.data());
        return weight > 0 ? 1 / weight : 1;
    }

    // The same as curve of one output, in loops that wide registers can take.
    void single_curve(const double* direction, Vector& image) {
        const auto size = at(p_);
        double* const inner = inner_.data();
        double* const out = image.data();
        for (std::size_t j = 0; j < size; ++j) inner[j] = direction[j] / system_.scale[j];
        if (size > 0) inner[0] -= dot(system_.shift, inner, size);
        const double mean = product(image), first = size > 0 ? out[0] : 0;
        for (std::size_t j = 0; j < size; ++j)
            out[j] = mean * (out[j] - system_.shift[j] * first) / system_.scale[j] + system_.charges[j] * direction[j];
    }

    const Rows& rows_;
    const Team& team_;
    const Request& request_;
    Curvature kept_;
    const System& system_;
    Index p_, k_;
    Vector inner_, moved_;
    Buffer memory_;
    Panel panel_;
};

// One more product of a closing step.
void close(const Closing& closing, Index outputs, std::size_t size, const double* solution, const double* residual, Progress& out) {
    const auto k = static_cast<std::size_t>(outputs);
    if (0.5 * dot(solution, closing.gradient, size) > closing.far) {
        out.far = true;
        return;
    }
    double along = 0, length = 0, left = 0;
    for (std::size_t t = 0, j = 0; t < size; ++j)
        for (const std::size_t end = t + k; t < end; ++t) {
            const double turn = residual[t] - closing.rest[t], cost = closing.cost[j];
            length += cost * turn * turn;
            along += cost * closing.rest[t] * turn;
        }
    const double share = length > 0 ? -along / length : 1;
    for (std::size_t t = 0, j = 0; t < size; ++j)
        for (const std::size_t end = t + k; t < end; ++t) {
            closing.smooth[t] += share * (solution[t] - closing.smooth[t]);
            closing.rest[t] += share * (residual[t] - closing.rest[t]);
            left += closing.cost[j] * closing.rest[t] * closing.rest[t];
        }
    out.closed = left <= closing.goal && out.rho <= closing.near;
}

}  // namespace

Progress conjugate(const Rows& rows, const Team& team, const Request& request, double* kept, const System& system, double rho,
                   double* solution, double* residual, double* direction, const Closing& closing) {
    Operators operators(rows, team, request, kept, system);
    const std::size_t size = operators.size();
    Vector image(size), eased(size);
    Progress out;
    out.rho = rho;
    while (out.count < system.most && out.rho > system.goal) {
        operators.curve(direction, image);
        const double bend = dot(image.data(), direction, size);
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
        out.rho = dot(eased.data(), residual, size);
        for (std::size_t t = 0; t < size; ++t) direction[t] = eased[t] + out.rho / before * direction[t];
        ++out.count;
        if (closing.cost) close(closing, request.outputs, size, solution, residual, out);
        if (out.closed || out.far) break;
    }
    return out;
}

bool invert(const Team& team, double* matrices, Index count, Index n) {
    std::atomic<bool> good{true};
    const Index width = (n + 7) / 8 * 8;
    const bool one = static_cast<double>(count) * static_cast<double>(n * n * n) < 2e6;  // a tenth of a millisecond
    const Team mine = one ? Team{1, team.interrupted} : team;
    std::vector<std::unique_ptr<Buffer>> rooms(static_cast<std::size_t>(std::max(mine.threads, 1)));
    run(mine, count,
        [&](int id, Index which, Watch&) {
            std::unique_ptr<Buffer>& room = rooms[static_cast<std::size_t>(id)];
            if (!room) room = std::make_unique<Buffer>(width * (width + 16));
            if (!kernels().invert(matrices + which * n * n, n, room->get())) good = false;
        },
        {});
    return good;
}

}  // namespace lineal
