#include "threads/pool.hpp"

#include <chrono>
#include <memory>
#include <system_error>
#include <thread>

#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#endif

namespace lineal {

namespace {

constexpr auto patience = std::chrono::milliseconds(50);

// The hands that rest. It is never destroyed: they wait in it until the process ends.
struct Pool {
    std::mutex mutex;
    std::vector<Hand*> resting;
    std::size_t started = 0;  // there is room for all of them, so that none is lost where memory is short
    Pool* before = nullptr;   // that of the process this one was forked from
};

std::atomic<Pool*> current{nullptr};
Pool* lost = nullptr;

Pool& pool() {
    if (Pool* found = current.load()) return *found;
    auto fresh = std::make_unique<Pool>();
    fresh->before = lost;
    Pool* found = nullptr;
    return current.compare_exchange_strong(found, fresh.get()) ? *fresh.release() : *found;
}

#if !defined(_WIN32)
// A forked process has none of the threads, and the mutex may be held by one that it does not have.
void forget() {
    if (Pool* found = current.exchange(nullptr)) lost = found;
}
[[maybe_unused]] const int watched = pthread_atfork(nullptr, nullptr, forget);
#endif

// Starts a thread in which no signal is handled: they are for the threads of the program.
Hand* start() {
    auto hand = std::make_unique<Hand>();
#if !defined(_WIN32)
    sigset_t all, before;
    sigfillset(&all);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, own);
    pthread_sigmask(SIG_BLOCK, &all, &before);
#endif
    try {
        std::thread([hand = hand.get()] { hand->live(); }).detach();
    } catch (const std::system_error&) {
        hand.reset();
    }
#if !defined(_WIN32)
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
    return hand.release();
}

}  // namespace

void Hand::offer(const std::function<void()>& work) {
    work_ = &work;
    std::fegetenv(&rounding_);
    {
        const std::lock_guard lock(mutex_);
        state_ = State::offered;
    }
    changed_.notify_all();
}

bool Hand::withdraw() {
    State offered = State::offered;
    return state_.compare_exchange_strong(offered, State::resting);
}

bool Hand::done() {
    const auto over = [this] { return state_ == State::resting; };
    if (linger(over)) return true;
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, over);
}

void Hand::live() {
    for (;;) {
        const auto asked = [this] { return state_ == State::offered; };
        if (!linger(asked)) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, asked);
        }
        State offered = State::offered;
        if (!state_.compare_exchange_strong(offered, State::busy)) continue;
        std::fesetenv(&rounding_);
        (*work_)();
        {
            const std::lock_guard lock(mutex_);
            state_ = State::resting;
        }
        changed_.notify_all();
    }
}

Hands::Hands(int count) {
    if (count <= 0) return;
    hands_.reserve(static_cast<std::size_t>(count));
    Pool& all = pool();
    {
        const std::lock_guard lock(all.mutex);
        while (count > 0 && !all.resting.empty()) {
            hands_.push_back(all.resting.back());
            all.resting.pop_back();
            --count;
        }
        all.started += static_cast<std::size_t>(count);
        all.resting.reserve(all.started);
    }
    for (; count > 0; --count) {
        Hand* hand = start();
        if (!hand) return;
        hands_.push_back(hand);
    }
}

Hands::~Hands() {
    if (hands_.empty()) return;
    Pool& all = pool();
    const std::lock_guard lock(all.mutex);
    all.resting.insert(all.resting.end(), hands_.begin(), hands_.end());
}

}  // namespace lineal
