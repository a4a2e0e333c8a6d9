#include "twins.hpp"

#include <system_error>
#include <thread>
#include <vector>

#include "notes.hpp"

namespace lineal {

bool paired(const Presentation& e, int threads, Index least) {
    const Part* part = joint(e);
    return threads > 1 && part && part->columns >= 16 && part->columns * e.outputs >= least;
}

bool together(Presentation& e, Index patience) {
    const std::size_t outputs = static_cast<std::size_t>(e.outputs), columns = static_cast<std::size_t>(e.columns);
    const std::size_t size = (Twin::ROWS * outputs + Twin::GRAM + 7) / 8 * 8, own = size + 2 * outputs + (Twin::ROWS + outputs) * (columns / 4 + 32);
    std::vector<double> room(4 * size + 2 * own + 8);
    double* at = room.data() + (64 - reinterpret_cast<std::uintptr_t>(room.data()) % 64) % 64 / 8;
    Twin twin;
    for (Index side = 0; side < 2; ++side) {
        for (Index which = 0; which < 2; ++which, at += size) twin.said[side][which] = at;
        twin.scratch[side] = at;
        at += own;
    }
    twin.patience = patience;
    Presentation other = e;
    std::thread thread;
    try {
        thread = std::thread([&] { perceptrons().half(other, twin, 1); });
    } catch (const std::system_error&) {  // no thread to be had
        return false;
    }
    perceptrons().half(e, twin, 0);
    thread.join();
    return e.at == e.length;
}

}  // namespace lineal
