// Threads that wait for work between passes: waking one takes a tenth of the time that starting one takes.
#pragma once

#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

namespace lineal {

// A thread that does one piece of work at a time for whoever took it out of the pool. It is never joined and never ends.
class Hand {
public:
    // Asks for `work`, which must stay alive until `done` or `withdraw` said that it is over. No exception may leave it.
    void offer(const std::function<void()>& work);
    // Takes the work back; false where it has begun.
    bool withdraw();
    // Whether the work is over, after waiting for at most 50 ms.
    bool done();
    // What the thread does; the pool starts it.
    void live();

private:
    enum class State { resting, offered, busy };
    std::atomic<State> state_{State::resting};
    const std::function<void()>* work_ = nullptr;
    std::fenv_t rounding_{};  // of the thread that offers: work gives the same bits in any thread
    std::mutex mutex_;
    std::condition_variable changed_;
};

// Hands for one pass, taken out of the pool as far as they rest there, started where they do not.
class Hands {
public:
    explicit Hands(int count);  // fewer, where the system has no more threads
    ~Hands();
    Hands(const Hands&) = delete;
    Hands& operator=(const Hands&) = delete;
    std::vector<Hand*>& all() { return hands_; }

private:
    std::vector<Hand*> hands_;
};

// Waits a little while `over` says no, without giving the core away; returns what it said last.
template <class Over>
bool linger(Over over) {
    for (int turn = 0; turn < 400; ++turn) {
        if (over()) return true;
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    return over();
}

}  // namespace lineal
