// The threads of a pass, and passes without the interpreter lock.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <thread>

#include "threads/threads.hpp"

// A Python function that raises once time is over; each thread has its own, null where there is no limit.
inline thread_local PyObject* watching = nullptr;

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

// Asks the watch of this thread, with the interpreter lock; true where it raised, now or before in the same pass.
bool late() {
    if (PyErr_Occurred() != nullptr) return true;
    if (watching == nullptr) return false;
    PyObject* said = PyObject_CallNoArgs(watching);
    Py_XDECREF(said);
    return said == nullptr;
}

// Sets the watch of this thread, None for none, and returns the one before.
nb::object watch(nb::object next) {
    nb::object before = watching == nullptr ? nb::none() : nb::steal(watching);
    watching = next.is_none() ? nullptr : next.release().ptr();
    return before;
}

// For loops in Python: raises where a pass would.
void heed() {
    if (late()) throw nb::python_error();
}

Team team() {
    return {threads(), [] {
                const nb::gil_scoped_acquire hold;
                return PyErr_CheckSignals() != 0 || late();
            }};
}

// Runs `work` without the interpreter lock; an interrupt, or the watch, surfaces as the Python exception that it raised.
template <class Work>
void without_lock(Work work) {
    heed();
    just_asked();
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
