// Some columns of sparse rows, as sparse rows of their own.
#pragma once

#include <memory>

#include "threads/threads.hpp"

namespace lineal {

template <class T, class N>
struct Picked {
    std::unique_ptr<N[]> starts, indices;  // rows + 1 and starts[rows] numbers
    std::unique_ptr<T[]> values;
};

// place[column]: its number among the columns picked, increasing, or -1. T and N are what the part holds.
template <class T, class N>
Picked<T, N> pick(const Team& team, const Part& part, const std::int32_t* place);

}  // namespace lineal
