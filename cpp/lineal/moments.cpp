// Weighted means and scatters of all columns, in one pass, merged by Chan's formula.
#include <algorithm>
#include <memory>

#include "rows.hpp"

namespace lineal {

namespace {

// Mean, scatter and largest |x| of some columns over some rows. Dense columns are measured from `origin`, the first row,
// so that a constant column has scatter exactly zero.
struct Summary {
    explicit Summary(Index columns) : mean(columns), scatter(columns), largest(columns) {}
    Buffer mean, scatter, largest;
    double weight = 0;

    void clear() {
        mean.clear();
        scatter.clear();
        largest.clear();
        weight = 0;
    }

    void merge(const Summary& other, Index first, Index last, double other_weight) {
        const double all = weight + other_weight;
        if (other_weight == 0) return;
        const double share = other_weight / all, cross = weight * share;
        for (Index j = first; j < last; ++j) {
            const double apart = other.mean.get()[j] - mean.get()[j];
            mean.get()[j] += apart * share;
            scatter.get()[j] += other.scatter.get()[j] + apart * apart * cross;
            const double top = other.largest.get()[j];
            if (!(top <= largest.get()[j])) largest.get()[j] = top;
        }
    }
};

struct Worker {
    Worker(const Layout& layout, const Request& request)
        : block(layout, request), columns(layout.width() + layout.loose_columns()), whole(columns), part(columns),
          stats(4 * layout.loose_columns()), around(layout.loose_columns()) {}
    Block block;
    Index columns;
    Summary whole, part;
    Buffer stats, around;
};

// The summary of the loose columns, from sums over their entries. sum s x^2 - S mean^2 cancels only in columns that are
// nearly full; these are measured again around their mean.
bool summarise_loose(Worker& worker, Index begin, Index end, Watch& watch) {
    Block& block = worker.block;
    const Layout& layout = block.layout;
    const Index first = layout.width();
    const double all = worker.whole.weight;
    double* mean = worker.whole.mean.get() + first;
    double* scatter = worker.whole.scatter.get() + first;
    bool again = false;
    for (Index j = 0; j < layout.loose_columns(); ++j) {
        const double* stats = worker.stats.get() + 4 * j;
        mean[j] = stats[0] / all;
        scatter[j] = stats[1] - stats[0] * mean[j];
        worker.whole.largest.get()[first + j] = stats[3];
        again = again || stats[2] > 0.9 * all;
    }
    if (!again) return true;
    worker.around.clear();
    block.seek(begin, end);
    while (block.next()) {
        for (const Placed& placed : layout.loose)
            block.k.loose_scatter(placed.part, block.rows, block.weight, mean + placed.at, worker.around.get() + placed.at);
        if (watch.stop()) return false;
    }
    for (Index j = 0; j < layout.loose_columns(); ++j) {
        const double touched = worker.stats.get()[4 * j + 2];
        if (touched > 0.9 * all)
            scatter[j] = worker.around.get()[j] + std::max(0.0, all - touched) * mean[j] * mean[j];
    }
    return true;
}

bool summarise(Worker& worker, Index begin, Index end, const double* origin, Watch& watch) {
    Block& block = worker.block;
    const Layout& layout = block.layout;
    worker.whole.clear();
    worker.stats.clear();
    block.seek(begin, end);
    while (block.next()) {
        block.pack();
        block.k.moments(block.panel, block.rows.count, block.weight, block.weight_sum, origin, worker.part.mean.get(),
                        worker.part.scatter.get(), worker.part.largest.get());
        worker.whole.merge(worker.part, 0, layout.width(), block.weight_sum);
        worker.whole.weight += block.weight_sum;
        for (const Placed& placed : layout.loose)
            block.k.loose_moments(placed.part, block.rows, block.weight, worker.stats.get() + 4 * placed.at);
        if (watch.stop()) return false;
    }
    if (layout.loose.empty() || worker.whole.weight == 0) return true;
    return summarise_loose(worker, begin, end, watch);
}

}  // namespace

double Rows::moments(const Team& team, const Matrix& weight, double* mean, double* scatter, double* largest) const {
    Request request;
    request.outputs = 0;
    request.weight = weight;
    const Index width = layout_.width(), all = width + layout_.loose_columns();
    const double time = static_cast<double>(rows()) * 5 +
                        static_cast<double>(rows()) * static_cast<double>(width) / 5 + 3 * static_cast<double>(layout_.nonzeros);
    const Team mine = fitting(team, time);
    const Index count = chunks(time, 8 * all);
    std::vector<std::unique_ptr<Worker>> workers(static_cast<std::size_t>(mine.threads));
    Buffer origin(width);
    Summary total(all);
    {
        Block first(layout_, request);
        first.seek(0, rows());
        if (first.next()) {
            first.rows.count = 1;
            first.pack();
            for (Index j = 0; j < width; ++j) origin.get()[j] = first.panel.data[(j / 8) * first.panel.stride + j % 8];
        }
    }
    run(
        mine, count,
        [&](int id, Index chunk, Watch& watch) {
            std::unique_ptr<Worker>& worker = workers[static_cast<std::size_t>(id)];
            if (!worker) worker = std::make_unique<Worker>(layout_, request);
            summarise(*worker, rows() / count * chunk + std::min(chunk, rows() % count),
                      rows() / count * (chunk + 1) + std::min(chunk + 1, rows() % count), origin.get(), watch);
        },
        [&](int id) {
            const Summary& whole = workers[static_cast<std::size_t>(id)]->whole;
            total.merge(whole, 0, all, whole.weight);
            total.weight += whole.weight;
        });
    for (Index j = 0; j < all; ++j) {
        if (j >= layout_.panel_columns() && j < width) continue;
        const Index to = j < width ? layout_.panel_to_column[static_cast<std::size_t>(j)]
                                   : layout_.loose_to_column[static_cast<std::size_t>(j - width)];
        mean[to] = total.mean.get()[j] + (j < width ? origin.get()[j] : 0.0);
        scatter[to] = total.scatter.get()[j];
        largest[to] = total.largest.get()[j];
    }
    return total.weight;
}

}  // namespace lineal
