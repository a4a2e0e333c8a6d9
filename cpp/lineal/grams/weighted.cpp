// Passes that only multiply columns with columns: X'SX, the blocks X'SWX of each output, and X'SX in double-double.
#include <algorithm>
#include <vector>

#include "grams/hessian.hpp"
#include "passes/rows.hpp"
#include "passes/workers.hpp"

namespace lineal {

void Rows::gram(const Team& team, const Matrix& weight, double* out) const {
    Request request;
    request.outputs = 0;
    request.weight = weight;
    const Hessian hessian(layout_, Loss::squared, 1, columns());
    const double time = static_cast<double>(rows()) * (cost(layout_, 1, 1) + hessian.cost());
    const Team mine = fitting(team, time);
    const Index size = hessian.size();
    Workers workers(mine.threads, layout_, request, hessian.groups(), size, hessian.rows());
    const Buffer sums(size);
    sweep(
        mine, chunks(time, hessian.merging()), rows(), workers,
        [&](Worker& worker) {
            worker.block.pack();
            hessian.add(worker.block, worker.sums.get());
        },
        [&](Worker& worker) { worker.block.k.add(worker.sums.get(), sums.get(), size); });
    hessian.assemble(mine, sums.get(), out);
}

// gram[p][p] = T' gram T, T = (I - e_0 shift') diag(1 / scale)
static void centre(const Affine& view, Index p, double* gram) {
    const std::vector<double> first(gram, gram + p);
    for (Index i = 0; i < p; ++i) {
        const double moved = view.shift[i], rest = first[static_cast<std::size_t>(i)] - moved * first[0];
        for (Index j = 0; j < p; ++j) {
            double& entry = gram[i * p + j];
            entry = (entry - moved * first[static_cast<std::size_t>(j)] - view.shift[j] * rest) / (view.scale[i] * view.scale[j]);
        }
    }
}

double Rows::blocks(const Team& team, const Request& asked, const double* kept, const Affine& view, double* out) const {
    // one output after the other: the sums of all of them would leave the cache
    const Index k = asked.outputs, p = columns();
    Request request = asked;
    request.outputs = kept ? 1 : 0;
    const Hessian hessian(layout_, kept ? Loss::logistic : Loss::squared, 1, p);
    const double time = static_cast<double>(rows()) / static_cast<double>(request.sample) * (cost(layout_, 1, 1) + hessian.cost());
    const Team mine = fitting(team, static_cast<double>(k) * time);
    const Index size = hessian.size(),
                pieces = std::min(chunks(time, hessian.merging()), kept ? std::max<Index>(1, 16 / std::max<Index>(k, 1)) : 128);
    Workers workers(mine.threads, layout_, request, hessian.groups(), size, hessian.rows());
    const Buffer sums(pieces > 1 ? size : 0);
    const auto finish = [&](Index c, const double* whole) {
        hessian.assemble(Team{1, team.interrupted}, whole, out + c * p * p);
        if (view.shift && p > 0) centre(view, p, out + c * p * p);
    };
    double weight_sum = 0;
    Index merged = 0;
    run(
        mine, k * pieces,
        [&](int id, Index chunk, Watch& watch) {
            Worker& worker = workers.start(id);
            const Index c = chunk / pieces, piece = chunk % pieces;
            worker.block.seek(cut(rows(), piece, pieces), cut(rows(), piece + 1, pieces));
            while (worker.block.next()) {
                Block& block = worker.block;
                block.pack();
                if (kept) block.recall(kept + c * rows());
                for (Index i = 0; kept && request.loss == Loss::softmax && i < block.rows.count; ++i)
                    block.curvature[i] *= block.weight[i] * (1.0 - block.curvature[i]);
                worker.weight_sum += block.weight_sum;
                hessian.add(block, worker.sums.get());
                if (watch.stop()) return;
            }
            if (pieces == 1) finish(c, worker.sums.get());
        },
        [&](int id) {
            const Index c = merged / pieces, piece = merged % pieces;
            ++merged;
            if (c == 0) weight_sum += workers[id].weight_sum;
            if (pieces == 1) return;
            if (piece == 0) sums.clear();
            workers[id].block.k.add(workers[id].sums.get(), sums.get(), size);
            if (piece == pieces - 1) finish(c, sums.get());
        });
    return weight_sum;
}

void Rows::gram_dd(const Team& team, const Matrix& weight, const Matrix& y, double* high, double* low) const {
    Request request;
    request.outputs = 0;
    request.weight = weight;
    const Layout layout(beside(y), true);
    const Index width = layout.width(), size = width * width, n = layout.columns;
    const double time = static_cast<double>(rows()) * (5 + static_cast<double>(size) / 5);
    const Team mine = fitting(team, time);
    Workers workers(mine.threads, layout, request, weight ? 2 * layout.groups() : 0, 2 * size);
    const Buffer sums(2 * size);
    sweep(
        mine, chunks(time, 4 * size), rows(), workers,
        [&](Worker& worker) {
            Block& block = worker.block;
            block.pack();
            double* out = worker.sums.get();
            if (weight) {
                const Panel scaled{block.extra.data, block.extra.stride, layout.groups()};
                const Panel lost{scaled.data + scaled.groups * scaled.stride, scaled.stride, scaled.groups};
                block.k.scale_dd(block.panel, block.rows.count, block.weight, scaled, lost);
                block.k.gram_dd(scaled, lost, block.panel, block.rows.count, out, out + size, width);
            } else {
                block.k.gram_dd(block.panel, Panel{}, block.panel, block.rows.count, out, out + size, width);
            }
            block.release();
        },
        [&](Worker& worker) { worker.block.k.add_dd(worker.sums.get(), worker.sums.get() + size, sums.get(), sums.get() + size, size); });
    for (Index b = 0; b < n; ++b)
        for (Index a = b; a < n; ++a) {
            high[b * n + a] = high[a * n + b] = sums.get()[b * width + a];
            low[b * n + a] = low[a * n + b] = sums.get()[size + b * width + a];
        }
}

}  // namespace lineal
