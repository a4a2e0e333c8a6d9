#include "passes/rows.hpp"

#include <algorithm>
#include <cmath>

#include "grams/hessian.hpp"
#include "passes/workers.hpp"

namespace lineal {

Rows::Rows(const std::vector<Part>& parts) : parts_(parts), layout_(parts, false) {}

std::vector<Part> Rows::beside(const Matrix& y) const {
    std::vector<Part> parts = parts_;
    Part target;
    target.kind = Kind::dense;
    target.rows = y.rows;
    target.columns = y.columns;
    target.values = y.data;
    target.row_stride = y.row_stride;
    target.column_stride = y.column_stride;
    if (y.columns > 0) parts.push_back(target);
    return parts;
}

namespace {

// A block of rows with more columns does not stay in the cache until it is read again.
constexpr Index in_place_columns = 2048;

// The pair as a double and the rest; an infinite sum has no rest.
void settle(double& high, double& low) {
    if (!std::isfinite(high)) {
        low = 0;
        return;
    }
    double error = 0;
    gather(high, error, low);
    low = error;
}

}  // namespace

double cost(const Layout& layout, Index outputs, double times) {
    const double nonzeros = layout.rows > 0 ? static_cast<double>(layout.nonzeros) / static_cast<double>(layout.rows) : 0;
    return static_cast<double>(outputs) * (5 + times * (static_cast<double>(layout.width()) / 10 + nonzeros));
}

namespace {

// Nanoseconds that a row costs more where it is fetched from memory by itself: each part has its own lines there.
double apart(const Layout& layout) {
    double lines = 0;
    for (const Placed& placed : layout.panel) lines += static_cast<double>(placed.part.columns + 7) / 8;
    return 30 * (lines + static_cast<double>(layout.loose.size()));
}

}  // namespace

Index Rows::chunks(double nanoseconds, Index partial) const {
    // a chunk is worth a thread's while and ten times the merging of its result
    const double least = std::max(3e4, 5.0 * static_cast<double>(partial));
    const Index most = std::max<Index>(1, layout_.rows / 256);
    const Index count = std::clamp<Index>(static_cast<Index>(nanoseconds / least), 1, std::min<Index>(most, 128));
    return count < 16 ? count : count / 8 * 8;  // or two threads, or four, would not end together
}

Index Rows::pieces(double nanoseconds, Index gradient) const {
    if (layout_.loose_columns() <= 4096) return chunks(nanoseconds, gradient);
    const Index count = chunks(nanoseconds, 5 * gradient / 2);
    return count > 3 ? count / 2 * 2 : count;
}

Team Rows::fitting(const Team& team, double nanoseconds) const { return nanoseconds < 1e5 ? Team{1, team.interrupted} : team; }

void Rows::transpose_times(const Team& team, const Matrix& values, double* out) const {
    Request request;
    request.outputs = values.columns;
    request.offset = values;  // lands in eta
    const Index size = layout_.gradient_size(request.outputs);
    const double time = static_cast<double>(rows()) * cost(layout_, request.outputs, 1);
    const Team mine = fitting(team, time);
    Workers workers(mine.threads, layout_, request, 0, size);
    const Buffer sums(size);
    sweep(
        mine, pieces(time, size), rows(), workers,
        [&](Worker& worker) {
            worker.block.pack();
            worker.block.backward(worker.block.eta, worker.sums.get(), worker.sums.get() + request.outputs * layout_.width());
        },
        [&](Worker& worker) { worker.block.k.add(worker.sums.get(), sums.get(), size); });
    layout_.place_gradient(request.outputs, sums.get(), out);
}

namespace {

LossBlock describe(Worker& worker, bool curvature) {
    LossBlock rows = worker.block.losses(curvature);
    rows.slope_sum = worker.slope_sum.data();
    rows.high = worker.high;
    rows.low = worker.low;
    rows.reach = worker.reach;
    return rows;
}

void keep(Worker& worker, const LossBlock& rows) {
    worker.high = rows.high;
    worker.low = rows.low;
    worker.reach = rows.reach;
    worker.weight_sum += worker.block.weight_sum;
}

}  // namespace

Evaluation Rows::evaluate(const Team& team, const Request& asked, const Matrix& coef, Index h, double* slope_sum, double* gradient,
                          double* hessian_out, double* kept) const {
    // without a second derivative, but for that of the intercept, rows that follow each other are read where they lie: once from memory,
    // once from the cache
    const bool few = h == 0 || (h == 1 && parts_[0].kind == Kind::ones);
    const Placed* const dense = few && asked.outputs == 1 && asked.sample <= 1 ? single_dense() : nullptr;
    Request request = asked;
    request.in_place = dense && dense->part.columns <= in_place_columns;
    const Index k = request.outputs, gradient_sums = layout_.gradient_size(k);
    const Hessian hessian(layout_, request.loss, k, h);
    const Index size = gradient_sums + hessian.size();
    const double each = cost(layout_, k, 2) + hessian.cost() + (request.sample > 1 && h > 0 ? apart(layout_) : 0);
    const double time = static_cast<double>(rows()) / static_cast<double>(request.sample) * each;
    const Team mine = fitting(team, time);
    Workers workers(mine.threads, layout_, request, request.in_place ? 0 : hessian.groups(), size, hessian.rows());
    const Coefficients w(layout_, coef);
    double constant = 0;
    for (const Placed& placed : layout_.panel)
        if (request.in_place && placed.part.kind == Kind::ones) constant += w.panel.get()[placed.at];
    // a large table of loose columns: clearing and merging it is no small part of a chunk
    const Index most = hessian.size() > (1 << 18) && layout_.loose_columns() > 0 ? 16 : 128;
    const Index pieces = std::min(h > 1 ? chunks(time, gradient_sums + hessian.merging()) : this->pieces(time, gradient_sums), most);
    const Buffer sums(pieces > 1 ? size : 0);
    const double* whole = sums.get();
    Evaluation out;
    std::fill(slope_sum, slope_sum + k, 0.0);
    sweep(
        mine, pieces, rows(), workers,
        [&](Worker& worker) {
            Block& block = worker.block;
            if (request.in_place)
                block.k.inplace_matvec(dense->part, block.rows, w.panel.get() + dense->at, constant, block.eta);
            else {
                block.pack();
                block.forward(w, block.eta, true);
            }
            LossBlock loss = describe(worker, h > 0 || kept);
            block.k.loss(loss);
            if (kept) block.remember(kept);
            keep(worker, loss);
            if (request.in_place)
                block.pull(*dense, worker.sums.get());
            else
                block.backward(block.slope, worker.sums.get(), worker.sums.get() + k * layout_.width());
            hessian.add(block, worker.sums.get() + gradient_sums);
        },
        [&](Worker& worker) {
            if (pieces > 1)
                worker.block.k.add(worker.sums.get(), sums.get(), size);
            else
                whole = worker.sums.get();
            gather(out.high, out.low, worker.high);
            out.low += worker.low;
            out.weight_sum += worker.weight_sum;
            for (Index c = 0; c < k; ++c) slope_sum[c] += worker.slope_sum[static_cast<std::size_t>(c)];
        });
    settle(out.high, out.low);
    layout_.place_gradient(k, whole, gradient);
    if (hessian_out) hessian.assemble(mine, whole + gradient_sums, hessian_out);
    return out;
}

DualEvaluation Rows::dual(const Team& team, const Request& request, const Matrix& coef, const Matrix& shift, double* slope_sum,
                          double* gradient) const {
    const Index k = request.outputs, size = gradient ? layout_.gradient_size(k) : 0;
    const double time = static_cast<double>(rows()) * cost(layout_, k, 3);
    const Team mine = fitting(team, time);
    Workers workers(mine.threads, layout_, request, 0, size);
    const Coefficients w(layout_, coef), u(layout_, shift);
    const Buffer sums(size);
    DualEvaluation out;
    std::fill(slope_sum, slope_sum + k, 0.0);
    sweep(
        mine, pieces(time, size), rows(), workers,
        [&](Worker& worker) {
            Block& block = worker.block;
            block.pack();
            block.forward(w, block.eta, true);
            block.forward(u, block.step, true);
            LossBlock loss = describe(worker, false);
            block.k.dual(loss);
            keep(worker, loss);
            if (gradient) block.backward(block.slope, worker.sums.get(), worker.sums.get() + k * layout_.width());
        },
        [&](Worker& worker) {
            worker.block.k.add(worker.sums.get(), sums.get(), size);
            gather(out.high, out.low, worker.high);
            out.low += worker.low;
            out.reach = worker.reach <= out.reach ? out.reach : worker.reach;
            for (Index c = 0; c < k; ++c) slope_sum[c] += worker.slope_sum[static_cast<std::size_t>(c)];
        });
    settle(out.high, out.low);
    if (gradient) layout_.place_gradient(k, sums.get(), gradient);
    return out;
}

double Rows::curve(const Team& team, const Request& request, const Matrix& coef, const Matrix& direction, const Curvature& kept,
                   double* out) const {
    const Index k = request.outputs, size = layout_.gradient_size(k);
    const double time = static_cast<double>(rows()) / static_cast<double>(request.sample) * cost(layout_, k, 2);
    const Team mine = fitting(team, time);
    Workers workers(mine.threads, layout_, request, 0, size);
    const Coefficients w = kept.known ? Coefficients() : Coefficients(layout_, coef), u(layout_, direction);
    const Buffer sums(size);
    double weight_sum = 0;
    sweep(
        mine, pieces(time, size), rows(), workers,
        [&](Worker& worker) {
            Block& block = worker.block;
            block.pack();
            if (kept.known) {
                block.recall(kept.data);
                block.forward_bent(u, block.step);
            } else {
                block.forward(u, block.step);
            }
            LossBlock loss = describe(worker, true);
            if (!kept.known) {
                block.forward(w, block.eta);
                block.k.loss(loss);
                if (kept.data) block.remember(kept.data);
            }
            block.k.bend(loss);
            worker.weight_sum += block.weight_sum;
            block.backward(block.slope, worker.sums.get(), worker.sums.get() + k * layout_.width());
        },
        [&](Worker& worker) {
            worker.block.k.add(worker.sums.get(), sums.get(), size);
            weight_sum += worker.weight_sum;
        });
    layout_.place_gradient(k, sums.get(), out);
    return weight_sum;
}

double Rows::dependence(const Team& team, const Matrix& high, const Matrix& low) const {
    Request request;
    request.outputs = 0;
    const Layout layout(parts_, true);
    const Coefficients top(layout, high), rest(layout, low);
    const double time = static_cast<double>(rows()) * (5 + static_cast<double>(layout.width()) / 2);
    const Team mine = fitting(team, time);
    Workers workers(mine.threads, layout, request, 0, 0);
    double worst = 0;
    sweep(
        mine, chunks(time, 0), rows(), workers,
        [&](Worker& worker) {
            Block& block = worker.block;
            block.pack();
            const double ratio = block.k.dependence(block.panel, block.rows.count, top.panel.get(), rest.panel.get());
            if (!(ratio <= worker.reach)) worker.reach = ratio;
            block.release();
        },
        [&](Worker& worker) { worst = worker.reach <= worst ? worst : worker.reach; });
    return worst;
}

}  // namespace lineal
