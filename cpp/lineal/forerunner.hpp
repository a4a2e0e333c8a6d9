// A thread that runs ahead of a presentation and asks memory for the rows to come: one core alone gets half of what memory can give.
#pragma once

#include <atomic>
#include <thread>

#include "perceptron.hpp"

namespace lineal {

class Forerunner {
public:
    // Starts unless there is one thread only or the rows have less than `least` bytes, which caches hold anyway. Nothing it does
    // changes a result.
    Forerunner(Presentation& e, int threads, Index least = 4 << 20);
    ~Forerunner();
    Forerunner(const Forerunner&) = delete;
    Forerunner& operator=(const Forerunner&) = delete;

private:
    void lead(Index near, Index far);
    const Presentation e_;
    Index seen_;
    std::atomic<bool> done_{false};
    std::thread thread_;
};

}  // namespace lineal
