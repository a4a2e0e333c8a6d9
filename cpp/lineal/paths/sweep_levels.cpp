// The sweeps of the CPU level that the kernels run at.
#include <cstring>

#include "passes/kernels.hpp"
#include "paths/sweeps.hpp"

namespace lineal {

#if defined(LINEAL_X86_LEVELS)
extern const Sweeps sweeps_v2, sweeps_v3, sweeps_v4;
#else
extern const Sweeps sweeps_baseline;
#endif

const Sweeps& sweeps() {
#if defined(LINEAL_X86_LEVELS)
    static const Sweeps& table = std::strcmp(kernels().name, "v4") == 0   ? sweeps_v4
                                 : std::strcmp(kernels().name, "v3") == 0 ? sweeps_v3
                                                                          : sweeps_v2;
#else
    static const Sweeps& table = sweeps_baseline;
#endif
    return table;
}

}  // namespace lineal
