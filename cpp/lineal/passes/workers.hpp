// What the passes share: a block of rows and partial sums for each thread, and the loop over chunks of rows.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "passes/block.hpp"
#include "threads/threads.hpp"

namespace lineal {

// One worker's part of a pass: its block of rows and its partial sums.
struct Worker {
    Worker(const Layout& layout, const Request& request, Index groups, Index least, Index sums)
        : block(layout, request, groups, least), sums(sums), slope_sum(static_cast<std::size_t>(request.outputs)) {}
    Block block;
    Buffer sums;
    std::vector<double> slope_sum;
    double high = 0, low = 0, weight_sum = 0, reach = 0;
};

// Gives each worker its memory when it starts, in its own thread.
class Workers {
public:
    Workers(int count, const Layout& layout, const Request& request, Index groups, Index sums, Index least = 16)
        : layout_(layout),
          request_(request),
          groups_(groups),
          sums_(sums),
          least_(least),
          all_(static_cast<std::size_t>(std::max(count, 1))) {}
    Worker& start(int id) {
        std::unique_ptr<Worker>& worker = all_[static_cast<std::size_t>(id)];
        if (!worker)
            worker = std::make_unique<Worker>(layout_, request_, groups_, least_, sums_);
        else {
            worker->sums.clear();
            std::fill(worker->slope_sum.begin(), worker->slope_sum.end(), 0.0);
            worker->high = worker->low = worker->weight_sum = worker->reach = 0;
        }
        return *worker;
    }
    Worker& operator[](int id) { return *all_[static_cast<std::size_t>(id)]; }

private:
    const Layout& layout_;
    const Request& request_;
    Index groups_, sums_, least_;
    std::vector<std::unique_ptr<Worker>> all_;
};

// Runs `block_work(worker)` on every block, `merge(worker)` after every chunk, in order.
template <class BlockWork, class Merge>
void sweep(const Team& team, Index chunks, Index rows, Workers& workers, BlockWork block_work, Merge merge) {
    run(
        team, chunks,
        [&](int id, Index chunk, Watch& watch) {
            Worker& worker = workers.start(id);
            worker.block.seek(cut(rows, chunk, chunks), cut(rows, chunk + 1, chunks));
            while (worker.block.next()) {
                block_work(worker);
                if (watch.stop()) return;
            }
        },
        [&](int id) { merge(workers[id]); });
}

}  // namespace lineal
