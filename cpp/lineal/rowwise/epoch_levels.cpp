// The epochs of the CPU level that the kernels run at.
#include <cstring>

#include "passes/kernels.hpp"
#include "rowwise/epochs.hpp"

namespace lineal {

#if defined(LINEAL_X86_LEVELS)
extern const Epochs epochs_v2, epochs_v3, epochs_v4;
#else
extern const Epochs epochs_baseline;
#endif

const Epochs& epochs() {
#if defined(LINEAL_X86_LEVELS)
    static const Epochs& table = std::strcmp(kernels().name, "v4") == 0   ? epochs_v4
                                 : std::strcmp(kernels().name, "v3") == 0 ? epochs_v3
                                                                          : epochs_v2;
#else
    static const Epochs& table = epochs_baseline;
#endif
    return table;
}

}  // namespace lineal
