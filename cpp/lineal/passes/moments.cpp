// Weighted means and scatters of all columns, in one pass, merged by Chan's formula; the gram with them if it is asked for.
#include <algorithm>
#include <cmath>
#include <memory>

#include "grams/hessian.hpp"
#include "passes/rows.hpp"

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
    Worker(const Layout& layout, const Request& request, const Hessian& hessian)
        : block(layout, request, hessian.groups(), hessian.rows()),
          gram(hessian.size()),
          columns(layout.width() + layout.loose_columns()),
          whole(columns),
          part(columns),
          stats(4 * layout.loose_columns()),
          around(layout.loose_columns()),
          first(layout.width()) {}
    Block block;
    Buffer gram;
    Index columns;
    Summary whole, part;
    Buffer stats, around, first;

    // The summary of a block around its first row. That row adds (x - mean)^2 itself, so that around it the sum of squares is
    // at most the scatter times twice the rows of a block: so many EPS, times the rows added in a chain, may cancel, no more.
    void spread(const Placed& dense, const double* origin) {
        const auto rows = static_cast<double>(block.rows.count);
        double *mean = part.mean.get(), *scatter = part.scatter.get();
        for (const Placed& placed : block.layout.panel)
            if (placed.part.kind == Kind::ones) part.largest.get()[placed.at] = 1;  // at its origin, without scatter
        block.k.spread(dense.part, block.rows, first.get() + dense.at, mean + dense.at, scatter + dense.at, part.largest.get() + dense.at);
        for (Index j = dense.at; j < dense.at + dense.part.columns; ++j) {
            const double apart = mean[j] / rows;
            scatter[j] = std::max(scatter[j] - mean[j] * apart, 0.0);
            mean[j] = (first.get()[j] - origin[j]) + apart;
        }
    }
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
        if (touched > 0.9 * all) scatter[j] = worker.around.get()[j] + std::max(0.0, all - touched) * mean[j] * mean[j];
    }
    return true;
}

// With a gram, panel columns have their mean and largest |x| only; the gram tells their scatter.
// `dense`: the one part that is read where it lies, all its rows of weight one.
bool summarise(Worker& worker, const Hessian& hessian, const Placed* dense, Index begin, Index end, const double* origin, Watch& watch) {
    Block& block = worker.block;
    const Layout& layout = block.layout;
    worker.whole.clear();
    worker.stats.clear();
    worker.gram.clear();
    block.seek(begin, end);
    while (block.next()) {
        if (dense) {
            worker.spread(*dense, origin);
            worker.whole.merge(worker.part, 0, layout.width(), block.weight_sum);
            worker.whole.weight += block.weight_sum;
            if (watch.stop()) return false;
            continue;
        }
        block.pack();
        if (hessian.size() == 0) {
            block.k.moments(block.panel, block.rows.count, block.weight, block.weight_sum, origin, worker.part.mean.get(),
                            worker.part.scatter.get(), worker.part.largest.get());
            worker.whole.merge(worker.part, 0, layout.width(), block.weight_sum);
        }
        worker.whole.weight += block.weight_sum;
        for (const Placed& placed : layout.loose)
            block.k.loose_moments(placed.part, block.rows, block.weight, worker.stats.get() + 4 * placed.at);
        const Extent extents{block.weight, worker.whole.mean.get(), worker.whole.largest.get()};
        hessian.add(block, worker.gram.get(), &extents);
        if (watch.stop()) return false;
    }
    if (hessian.size() > 0 && worker.whole.weight > 0)
        for (Index j = 0; j < layout.width(); ++j) worker.whole.mean.get()[j] /= worker.whole.weight;
    if (layout.loose.empty() || worker.whole.weight == 0) return true;
    return summarise_loose(worker, begin, end, watch);
}

constexpr Index tile = 4096;  // rows that are added before they join the sum

// sum over i < count of f(i), in eight chains
template <class F>
double added(Index count, F f) {
    double sum[8] = {}, total = 0;
    Index i = 0;
    for (; i + 8 <= count; i += 8)
        for (Index l = 0; l < 8; ++l) sum[l] += f(i + l);
    for (; i < count; ++i) total += f(i);
    return total + (((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7])));
}

// Columns of one piece each, all rows of weight one: moments around the first entry, then around the mean.
template <class T>
void measure(const T* x, Index rows, double& mean, double& scatter, double& largest) {
    const double first = rows > 0 ? static_cast<double>(x[0]) : 0.0;
    double sum = 0, top[8] = {};
    for (Index at = 0; at < rows; at += tile)
        sum += added(std::min(tile, rows - at), [&](Index i) { return static_cast<double>(x[at + i]) - first; });
    const double apart = rows > 0 ? sum / static_cast<double>(rows) : 0.0;
    mean = first + apart;
    scatter = 0;
    for (Index at = 0; at < rows; at += tile)
        scatter += added(std::min(tile, rows - at), [&](Index i) {
            const double d = static_cast<double>(x[at + i]) - first - apart;
            return d * d;
        });
    for (Index i = 0; i < rows; ++i) {
        const double size = std::fabs(static_cast<double>(x[i]));
        top[i % 8] = size > top[i % 8] ? size : top[i % 8];
    }
    largest = *std::max_element(top, top + 8);
}

}  // namespace

// Whether all parts are ones or wide matrices stored by columns, which no panel needs to hold.
bool Rows::by_column() const {
    Index wide = 0;
    for (const Part& part : parts_) {
        if (part.kind == Kind::dense && part.row_stride == 1 && part.column_stride > 1)
            wide += part.columns;
        else if (part.kind != Kind::ones)
            return false;
    }
    return wide >= 1024;
}

double Rows::column_moments(const Team& team, double* mean, double* scatter, double* largest) const {
    Index column = 0;
    for (const Part& part : parts_) {
        const Index pieces = part.kind == Kind::ones ? 1 : (part.columns + 63) / 64;
        run(
            fitting(team, static_cast<double>(rows()) * static_cast<double>(part.columns)), pieces,
            [&](int, Index piece, Watch& watch) {
                for (Index j = 64 * piece; j < std::min(64 * piece + 64, part.columns) && !watch.stop(); ++j) {
                    const Index to = column + j, at = j * part.column_stride;
                    if (part.kind == Kind::ones)
                        mean[to] = largest[to] = 1, scatter[to] = 0;
                    else
                        with_numbers(part, [&](const auto* x) { measure(x + at, rows(), mean[to], scatter[to], largest[to]); });
                }
            },
            [](int) {});
        column += part.columns;
    }
    return static_cast<double>(rows());
}

double Rows::moments(const Team& team, const Matrix& weight, double* mean, double* scatter, double* largest) const {
    if (!weight && by_column()) return column_moments(team, mean, scatter, largest);
    return survey(team, layout_, weight, 0, mean, scatter, largest, nullptr);
}

double Rows::products(const Team& team, const Matrix& weight, const Matrix& y, double* mean, double* scatter, double* largest,
                      double* gram) const {
    const Layout layout = Layout::widest_first(beside(y));
    const Index n = layout.columns;
    const double total = survey(team, layout, weight, n, mean, scatter, largest, gram);
    Index doubtful = n;
    for (const Placed& placed : layout.panel)
        for (Index j = placed.column; j < placed.column + placed.part.columns; ++j) {
            const double square = gram[j * n + j];
            scatter[j] = placed.part.kind == Kind::ones ? 0.0 : square - mean[j] * (mean[j] * total);
            if (placed.part.kind != Kind::ones && square > 0 && !(scatter[j] > 1e-3 * square)) doubtful = std::min(doubtful, j);
        }
    // a column far from zero beside its spread, or constant: too many digits cancelled
    if (doubtful < columns())
        survey(team, layout, weight, 0, mean, scatter, largest, nullptr);
    else if (doubtful < n) {
        const Layout target({beside(y).back()}, false);
        survey(team, target, weight, 0, mean + columns(), scatter + columns(), largest + columns(), nullptr);
    }
    return total;
}

double Rows::survey(const Team& team, const Layout& layout, const Matrix& weight, Index h, double* mean, double* scatter, double* largest,
                    double* gram) const {
    Request request;
    request.outputs = 0;
    request.weight = weight;
    const Hessian hessian(layout, Loss::squared, 1, h);
    const Placed* const dense = h == 0 && !weight && &layout == &layout_ ? single_dense() : nullptr;
    request.in_place = dense != nullptr;
    const Index width = layout.width(), all = width + layout.loose_columns();
    const double each = 5 + static_cast<double>(width) / 5 + hessian.cost();
    const double time = static_cast<double>(rows()) * each + 3 * static_cast<double>(layout.nonzeros);
    const Team mine = fitting(team, time);
    const Index count = chunks(time, 8 * all + hessian.merging());
    std::vector<std::unique_ptr<Worker>> workers(static_cast<std::size_t>(mine.threads));
    Buffer origin(width);
    Summary total(all);
    const Buffer sums(hessian.size());
    {
        Request panel = request;
        panel.in_place = false;
        Block first(layout, panel);
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
            if (!worker) worker = std::make_unique<Worker>(layout, request, hessian);
            summarise(*worker, hessian, dense, cut(rows(), chunk, count), cut(rows(), chunk + 1, count), origin.get(), watch);
        },
        [&](int id) {
            const Worker& worker = *workers[static_cast<std::size_t>(id)];
            total.merge(worker.whole, 0, all, worker.whole.weight);
            total.weight += worker.whole.weight;
            worker.block.k.add(worker.gram.get(), sums.get(), hessian.size());
        });
    for (Index j = 0; j < all; ++j) {
        if (j >= layout.panel_columns() && j < width) continue;
        const Index to =
            j < width ? layout.panel_to_column[static_cast<std::size_t>(j)] : layout.loose_to_column[static_cast<std::size_t>(j - width)];
        mean[to] = total.mean.get()[j] + (j < width && !gram ? origin.get()[j] : 0.0);
        scatter[to] = total.scatter.get()[j];
        largest[to] = total.largest.get()[j];
    }
    if (gram) hessian.assemble(mine, sums.get(), gram);
    return total.weight;
}

}  // namespace lineal
