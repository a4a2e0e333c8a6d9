#include "threads.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace lineal {

namespace {
constexpr auto patience = std::chrono::milliseconds(50);
}

bool Watch::stop() {
    if (interrupted_ && *interrupted_) {
        const auto now = std::chrono::steady_clock::now();
        if (now - asked_ > patience) {
            asked_ = now;
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

    // The calling thread answers interrupts while the others finish.
    void finish(const std::function<bool()>* interrupted) {
        Watch watch(stop, interrupted);
        std::unique_lock lock(mutex_);
        while (running_ > 0) {
            changed_.wait_for(lock, patience);
            lock.unlock();
            watch.stop();
            lock.lock();
        }
    }

    void enter() {
        const std::lock_guard lock(mutex_);
        ++running_;
    }

    void leave() {
        {
            const std::lock_guard lock(mutex_);
            --running_;
        }
        changed_.notify_all();
    }

private:
    bool wait_turn(Index chunk, Watch& watch) {
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
    Index merged_ = 0;
    int running_ = 0;  // threads beside the calling one
    std::mutex mutex_;
    std::condition_variable changed_;
};

}  // namespace

void run(const Team& team, Index chunks, const std::function<void(int, Index, Watch&)>& work,
         const std::function<void(int)>& merge) {
    Shared shared(chunks, work, merge);
    const int others = static_cast<int>(std::min<Index>(team.threads, chunks)) - 1;
    std::vector<std::thread> threads;
    if (others > 0) threads.reserve(static_cast<std::size_t>(others));
    for (int i = 0; i < others; ++i) {
        shared.enter();
        try {
            threads.emplace_back([&shared, i] {
                shared.serve(i + 1, nullptr);
                shared.leave();
            });
        } catch (...) {  // no more threads to be had: the ones that started do the work
            shared.leave();
            break;
        }
    }
    shared.serve(0, &team.interrupted);
    if (!threads.empty()) shared.finish(&team.interrupted);
    for (std::thread& thread : threads) thread.join();
    if (shared.error) std::rethrow_exception(shared.error);
    if (shared.stop) throw Interrupted{};
}

}  // namespace lineal
