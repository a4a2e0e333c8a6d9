// Which build of the loops this CPU runs: every table exists once per level, in a namespace of the level's name.
#include <cstdlib>
#include <stdexcept>

#include "kernels/entries.hpp"
#include "neighbors/neighbors.hpp"
#include "passes/kernels.hpp"
#include "paths/sweeps.hpp"
#include "perceptron/perceptron.hpp"
#include "rowwise/epochs.hpp"

namespace lineal {

namespace {

struct Level {
    const char* name;
    bool runs;
};

// best first
std::vector<Level> known() {
#if defined(LINEAL_X86_LEVELS)
    __builtin_cpu_init();
    const bool three = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool four = three && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
    return {{"v4", four}, {"v3", three}, {"v2", true}};
#else
    return {{"baseline", true}};
#endif
}

std::size_t pick() {
    const std::vector<Level> all = known();
    const char* given = std::getenv("LINEAL_CPU");
    const std::string wanted = given ? given : "";
    std::string names;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i].runs) continue;
        if (wanted.empty() || wanted == all[i].name) return i;
        names += (names.empty() ? "" : ", ") + std::string(all[i].name);
    }
    throw std::runtime_error("LINEAL_CPU is '" + wanted + "'; this machine runs " + names);
}

std::size_t level() {
    static const std::size_t picked = pick();
    return picked;
}

}  // namespace

std::vector<std::string> levels() {
    std::vector<std::string> names;
    for (const Level& each : known())
        if (each.runs) names.emplace_back(each.name);
    return names;
}

std::string level_in_use() { return known()[level()].name; }

// A table is made by code of its level, so that only the one in use may be asked for.
#if defined(LINEAL_X86_LEVELS)
#define LINEAL_TABLE(Table, name)                                                                       \
    namespace v4 {                                                                                      \
    const Table& name();                                                                                \
    }                                                                                                   \
    namespace v3 {                                                                                      \
    const Table& name();                                                                                \
    }                                                                                                   \
    namespace v2 {                                                                                      \
    const Table& name();                                                                                \
    }                                                                                                   \
    const Table& name() {                                                                               \
        static const Table& table = level() == 0 ? v4::name() : level() == 1 ? v3::name() : v2::name(); \
        return table;                                                                                   \
    }
#else
#define LINEAL_TABLE(Table, name) \
    namespace baseline {          \
    const Table& name();          \
    }                             \
    const Table& name() {         \
        level();                  \
        return baseline::name();  \
    }
#endif

LINEAL_TABLE(Kernels, kernels)
LINEAL_TABLE(Sweeps, sweeps)
LINEAL_TABLE(Entries, entries)
LINEAL_TABLE(Epochs, epochs)
LINEAL_TABLE(Perceptrons, perceptrons)
LINEAL_TABLE(Searches, searches)

}  // namespace lineal
