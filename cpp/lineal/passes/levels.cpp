// Which build of the kernels this CPU runs.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "passes/kernels.hpp"

namespace lineal {

#if defined(LINEAL_X86_LEVELS)
extern const Kernels kernels_v2, kernels_v3, kernels_v4;
#else
extern const Kernels kernels_baseline;
#endif

namespace {

struct Level {
    const Kernels* table;
    bool runs;
};

// best first
int known(Level* out) {
#if defined(LINEAL_X86_LEVELS)
    __builtin_cpu_init();
    const bool three = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool four = three && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
    out[0] = {&kernels_v4, four};
    out[1] = {&kernels_v3, three};
    out[2] = {&kernels_v2, true};
    return 3;
#else
    out[0] = {&kernels_baseline, true};
    return 1;
#endif
}

const Kernels& pick() {
    Level level[3];
    const int count = known(level);
    const char* wanted = std::getenv("LINEAL_CPU");
    std::string names;
    for (int i = 0; i < count; ++i) {
        if (!level[i].runs) continue;
        if (wanted == nullptr || *wanted == '\0' || std::strcmp(wanted, level[i].table->name) == 0) return *level[i].table;
        names += (names.empty() ? "" : ", ") + std::string(level[i].table->name);
    }
    throw std::runtime_error("LINEAL_CPU is '" + std::string(wanted) + "'; this machine runs " + names);
}

}  // namespace

const Kernels& kernels() {
    static const Kernels& table = pick();
    return table;
}

const char* const* levels() {
    static const char* names[4] = {};
    Level level[3];
    const int count = known(level);
    int at = 0;
    for (int i = 0; i < count; ++i)
        if (level[i].runs) names[at++] = level[i].table->name;
    return names;
}

}  // namespace lineal
