// The perceptrons of the CPU level that the kernels run at.
#include <cstring>

#include "passes/kernels.hpp"
#include "perceptron/perceptron.hpp"

namespace lineal {

#if defined(LINEAL_X86_LEVELS)
extern const Perceptrons perceptrons_v2, perceptrons_v3, perceptrons_v4;
#else
extern const Perceptrons perceptrons_baseline;
#endif

const Perceptrons& perceptrons() {
#if defined(LINEAL_X86_LEVELS)
    static const Perceptrons& table = std::strcmp(kernels().name, "v4") == 0   ? perceptrons_v4
                                      : std::strcmp(kernels().name, "v3") == 0 ? perceptrons_v3
                                                                               : perceptrons_v2;
#else
    static const Perceptrons& table = perceptrons_baseline;
#endif
    return table;
}

}  // namespace lineal
