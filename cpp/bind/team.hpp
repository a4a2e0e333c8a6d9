// The threads of a pass, and passes without the interpreter lock.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <thread>

#include "../lineal/threads.hpp"

namespace {

namespace nb = nanobind;
using namespace lineal;

int thread_count = 0;  // 0: not set

int threads() {
    // asked once: it reads files, which takes longer than a small pass
    static const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    return thread_count > 0 ? thread_count : cores;
}

void set_threads(int count) {
    if (count < 0) throw nb::value_error("the number of threads must be positive, or 0 for all of them");
    thread_count = count;
}

Team team() {
    return {threads(), [] {
                const nb::gil_scoped_acquire hold;
                return PyErr_CheckSignals() != 0;
            }};
}

// Runs `work` without the interpreter lock; an interrupt surfaces as the Python exception its handler raised.
template <class Work>
void without_lock(Work work) {
    bool interrupted = false;
    {
        const nb::gil_scoped_release release;
        try {
            work();
        } catch (const Interrupted&) {
            interrupted = true;
        }
    }
    if (interrupted) throw nb::python_error();
}

}  // namespace
