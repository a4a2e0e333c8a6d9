#include "threads/threads.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

#include "threads/pool.hpp"

namespace lineal {

namespace {
constexpr auto patience = std::chrono::milliseconds(50);
// When this thread asked last: kept from run to run, or a solver of many short passes would never ask.
thread_local std::chrono::steady_clock::time_point asked;
}  // namespace

void just_asked() { asked = std::chrono::steady_clock::now(); }

bool Watch::stop() {
    if (interrupted_ && *interrupted_) {
        const auto now = std::chrono::steady_clock::now();
        if (now - asked > patience) {
            asked = now;
            if ((*interrupted_)()) stop_ = true;
        }
    }
    return stop_.load(std::memory_order_relaxed);
}

namespace {

// The state the workers of one run share.
class Shared {
public:
    Shared(Index chunks, const std::function<void(int, Index, Watch&)>& work, const std::function<void(int)>& merge)
        : chunks_(chunks), work_(work), merge_(merge) {}

    std::atomic<bool> stop{false};
    std::exception_ptr error;

    void serve(int worker, const std::function<bool()>* interrupted) {
        Watch watch(stop, interrupted);
        watch.stop();
        try {
            for (Index chunk = next_++; chunk < chunks_ && !stop; chunk = next_++) {
                work_(worker, chunk, watch);
                if (!merge_) continue;
                if (!wait_turn(chunk, watch)) return;
                merge_(worker);
                {
                    const std::lock_guard lock(mutex_);
                    ++merged_;
                }
                changed_.notify_all();
            }
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!error) error = std::current_exception();
            stop = true;
        }
        changed_.notify_all();
    }

private:
    bool wait_turn(Index chunk, Watch& watch) {
        if (linger([&] { return merged_ == chunk || stop; })) return !stop;
        std::unique_lock lock(mutex_);
        while (merged_ != chunk) {
            if (stop) return false;
            changed_.wait_for(lock, patience);
            lock.unlock();
            watch.stop();
            lock.lock();
        }
        return !stop;
    }

    Index chunks_;
    const std::function<void(int, Index, Watch&)>& work_;
    const std::function<void(int)>& merge_;
    std::atomic<Index> next_{0};
    std::atomic<Index> merged_{0};
    std::mutex mutex_;
    std::condition_variable changed_;
};

}  // namespace

void run(const Team& team, Index chunks, const std::function<void(int, Index, Watch&)>& work, const std::function<void(int)>& merge) {
    Shared shared(chunks, work, merge);
    const int others = static_cast<int>(std::min<Index>(team.threads, chunks)) - 1;
    {
        Hands hands(others);
        std::vector<std::function<void()>> shares;
        shares.reserve(hands.all().size());
        for (Hand* hand : hands.all()) {
            shares.emplace_back([&shared, id = static_cast<int>(shares.size()) + 1] { shared.serve(id, nullptr); });
            hand->offer(shares.back());
        }
        shared.serve(0, &team.interrupted);
        // the calling thread answers interrupts while the others finish
        Watch watch(shared.stop, &team.interrupted);
        for (Hand* hand : hands.all())
            while (!hand->withdraw() && !hand->done()) watch.stop();
    }
    if (shared.error) std::rethrow_exception(shared.error);
    if (shared.stop) throw Interrupted{};
}

}  // namespace lineal
