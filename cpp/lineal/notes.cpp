#include "notes.hpp"

#include <cmath>

namespace lineal {

const Part* joint(const Presentation& e) {
    if (e.outputs < 2 || !e.across || e.segment_count != 1 || e.drift || e.log) return nullptr;
    if (e.length - e.at < 32 || e.longest < e.survived + e.length - e.at) return nullptr;
    const Segment& segment = e.segments[0];
    if (segment.part_count < 1 || segment.part_count > 2 || (segment.part_count == 2 && segment.parts[0].kind != Kind::ones)) return nullptr;
    const Part& part = segment.parts[segment.part_count - 1];
    return part.kind == Kind::dense && part.column_stride == 1 ? &part : nullptr;
}

namespace {

template <class T>
double share(const Part& part, const Notes& notes) {
    constexpr Index SOME = 16;
    const Index step = (part.rows + SOME - 1) / SOME;
    Index held = 0, rows = 0;
    for (Index i = 0; i < part.rows; i += step, ++rows) {
        const T* row = static_cast<const T*>(part.values) + i * part.row_stride;
        for (Index j = 0, g = -1; j < part.columns; ++j) {
            const Index own = (notes.lead + j) / Notes::GROUP;
            if (own == g || row[j] == 0) continue;
            g = own;
            ++held;
        }
    }
    return static_cast<double>(held) / static_cast<double>(rows * notes.groups);
}

}  // namespace

bool spared(const Presentation& e, double most) {
    const Part* part = joint(e);
    if (!part || part->columns < 8 || part->columns * e.outputs > 1 << 14 || !std::isfinite(e.rate)) return false;
    const Notes notes(*part);
    return (part->single ? share<float>(*part, notes) : share<double>(*part, notes)) <= most;
}

}  // namespace lineal
