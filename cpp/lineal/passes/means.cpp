// Scores and means of all rows: nothing is summed over rows, so no thread waits for another.
#include <algorithm>
#include <atomic>
#include <memory>

#include "passes/rows.hpp"

namespace lineal {

const Placed* Rows::lone() const {
    const Placed* found = nullptr;
    for (const Placed& placed : layout_.panel) {
        if (placed.part.kind == Kind::ones) continue;
        if (found || placed.part.kind != Kind::dense) return nullptr;
        found = &placed;
    }
    return layout_.loose.empty() ? found : nullptr;
}

const Placed* Rows::single_dense() const {
    const Placed* const found = lone();
    return found && found->part.column_stride == 1 ? found : nullptr;
}

void Rows::times(const Team& team, const Matrix& coef, double* out) const {
    Request request;
    request.outputs = coef.columns;
    means(team, request, coef, out);
}

bool Rows::means(const Team& team, const Request& asked, const Matrix& coef, double* out, bool both) const {
    const Index k = asked.outputs, n = rows();
    const Placed* dense = k == 1 ? single_dense() : nullptr;
    Request request = asked;
    request.in_place = dense != nullptr;
    const Coefficients w(layout_, coef);
    double constant = 0;
    for (const Placed& placed : layout_.panel)
        if (dense && placed.part.kind == Kind::ones) constant += w.panel.get()[placed.at];
    const double time = static_cast<double>(n) * cost(layout_, k, 1);
    const Team mine = fitting(team, time);
    const Index count = chunks(time, 0);
    std::vector<std::unique_ptr<Block>> blocks(static_cast<std::size_t>(std::max(mine.threads, 1)));
    std::atomic<bool> inside{true};
    const auto work = [&](int id, Index chunk, Watch& watch) {
        std::unique_ptr<Block>& own = blocks[static_cast<std::size_t>(id)];
        if (!own) own = std::make_unique<Block>(layout_, request);
        Block& block = *own;
        block.seek(cut(n, chunk, count), cut(n, chunk + 1, count));
        while (block.next()) {
            if (dense)
                block.k.inplace_matvec(dense->part, block.rows, w.panel.get() + dense->at, constant, block.eta);
            else {
                block.pack();
                block.forward(w, block.eta);
            }
            block.k.mean(request.loss, k, block.rows.count, block.room, block.eta);
            if (both) {  // without weights and samples the rows of a block follow each other
                if (!block.k.pair(block.eta, block.rows.count, out + 2 * block.rows.first)) inside = false;
            } else {
                for (Index i = 0; i < block.rows.count; ++i)
                    for (Index c = 0; c < k; ++c) out[block.rows[i] * k + c] = block.eta[c * block.room + i];
            }
            if (watch.stop()) return;
        }
    };
    run(mine, count, work, nullptr);
    return inside;
}

}  // namespace lineal
