// Products of columns with columns in single precision: half the time of doubles, and what a solver corrects from the rows.
#include <algorithm>
#include <memory>
#include <vector>

#include "grams/hessian.hpp"
#include "passes/rows.hpp"

namespace lineal {

namespace {

// At least this many rows are worth the reading and writing of a result that leaves the second-level cache.
constexpr Index least_rows = 120;

struct Worker {
    Worker(const Layout& layout, const Request& request, Index groups)
        : block(layout, request, 0, least_rows),
          stride(16 * (block.room + 1)),
          memory((groups + 3) * stride),
          weight(block.room),
          sums(gram_size<float>(groups)) {
        panel = {memory.get(), stride, groups};
        scratch = memory.get() + groups * stride;
    }
    Block block;
    Index stride;  // one line more, or the groups of a row would share one set of the cache
    BufferOf<float> memory, weight, sums;
    SinglePanel panel;
    float* scratch;
};

}  // namespace

void Rows::float32_gram(const Team& team, const Matrix& weight, double unit, const Matrix& y, const double* centre, const double* factor,
                        double* out) const {
    const Part& x = lone()->part;
    const Index own = x.columns, columns = own + y.columns, groups = (columns + 15) / 16;
    const std::vector<Part> all = beside(y);
    Request request;
    request.outputs = 0;
    request.weight = weight;
    request.in_place = true;
    const Index size = gram_size<float>(groups);
    const double time = static_cast<double>(rows()) * static_cast<double>(size) / 60;
    const Team mine = fitting(team, time);
    const Index count = chunks(time, 8 * size);
    const Buffer total(size);
    std::vector<std::unique_ptr<Worker>> workers(static_cast<std::size_t>(mine.threads));
    run(
        mine, count,
        [&](int id, Index chunk, Watch& watch) {
            std::unique_ptr<Worker>& worker = workers[static_cast<std::size_t>(id)];
            if (!worker)
                worker = std::make_unique<Worker>(layout_, request, groups);
            else
                worker->sums.clear();
            Block& block = worker->block;
            block.seek(cut(rows(), chunk, count), cut(rows(), chunk + 1, count));
            while (block.next()) {
                block.k.round(x, block.rows, centre, factor, worker->panel, 0);
                if (y.columns > 0) block.k.round(all.back(), block.rows, centre + own, factor + own, worker->panel, own);
                for (Index i = 0; weight && i < block.rows.count; ++i) worker->weight.get()[i] = static_cast<float>(block.weight[i] / unit);
                block.foresee();
                block.k.single_gram(worker->panel, block.rows.count, weight ? worker->weight.get() : nullptr, worker->scratch,
                                    worker->sums.get(), block.ahead);
                if (watch.stop()) return;
            }
        },
        [&](int id) { kernels().add_singles(workers[static_cast<std::size_t>(id)]->sums.get(), total.get(), size); });
    unfold<float>(mine, total.get(), groups, columns, [](Index b) { return b; }, out, columns);
}

}  // namespace lineal
