#include "forerunner.hpp"

#include <algorithm>
#include <system_error>

#include "notes.hpp"

namespace lineal {

namespace {

constexpr Index NEAR = 256 << 10, FAR = 1536 << 10;  // bytes: left to the presenter itself; at most ahead

Index first_of(const Part& part, Index row) {
    return part.wide ? static_cast<const std::int64_t*>(part.starts)[row] : static_cast<const std::int32_t*>(part.starts)[row];
}

// Bytes of all rows that can be asked for by row.
Index bytes_of(const Part& part) {
    const Index size = part.single ? 4 : 8;
    if (part.kind == Kind::dense && part.column_stride == 1) return part.rows * part.columns * size;
    if (part.kind != Kind::sparse || part.rows == 0) return 0;
    return (first_of(part, part.rows) - first_of(part, 0)) * (size + (part.wide ? 8 : 4));
}

void ask(const void* from, Index bytes) {
    const char* at = static_cast<const char*>(from);
    for (Index b = 0; b < bytes; b += 64) __builtin_prefetch(at + b, 0, 1);
    if (bytes > 0) __builtin_prefetch(at + bytes - 1, 0, 1);
    asm volatile("");  // or the compiler finds that nothing is done here, and does not call it
}

void ask(const Segment& segment, Index row) {
    for (Index p = 0; p < segment.part_count; ++p) {
        const Part& part = segment.parts[p];
        const Index size = part.single ? 4 : 8;
        if (part.kind == Kind::dense && part.column_stride == 1) {
            ask(static_cast<const char*>(part.values) + row * part.row_stride * size, part.columns * size);
        } else if (part.kind == Kind::sparse) {
            const Index from = first_of(part, row), count = first_of(part, row + 1) - from, place = part.wide ? 8 : 4;
            ask(static_cast<const char*>(part.values) + from * size, count * size);
            ask(static_cast<const char*>(part.indices) + from * place, count * place);
        }
    }
}

// Of a row whose notes are made, what holds anything.
void ask(const Part& part, const Notes& notes, const std::uint64_t* of_row, Index row) {
    const Index size = part.single ? 4 : 8;
    const char* from = static_cast<const char*>(part.values) + (row * part.row_stride - notes.lead) * size;
    notes.each(of_row, [&](Index g) { __builtin_prefetch(from + g * Notes::GROUP * size, 0, 1); });
    asm volatile("");
}

// Whether a core gains from what another one has asked for. On AMD's it reads as fast as memory gives when it is alone, and what
// another core fetched lies in that one's own cache.
bool helped() {
#if defined(__x86_64__)
    static const bool amd = (__builtin_cpu_init(), __builtin_cpu_is("amd"));
    return !amd;
#else
    return true;
#endif
}

void wait() {
#if defined(__x86_64__)
    for (int i = 0; i < 32; ++i) __builtin_ia32_pause();
#endif
    std::this_thread::yield();
}

}  // namespace

Forerunner::Forerunner(Presentation& e, int threads, Index least) : e_(e), seen_(e.at) {
    Index bytes = 0, rows = 0;
    for (Index s = 0; s < e.segment_count; ++s) {
        rows += e.segments[s].rows;
        for (Index p = 0; p < e.segments[s].part_count; ++p) bytes += bytes_of(e.segments[s].parts[p]);
    }
    const Index each = rows > 0 ? bytes / rows : 0;
    if (threads < 2 || (least > 0 && !helped()) || each == 0 || bytes < least || each * (e.length - e.at) < least) return;
    const Index near = std::max<Index>(NEAR / each, 2), far = std::max<Index>(FAR / each, 2 * near);
    try {
        thread_ = std::thread([this, near, far] { lead(near, far); });
        e.seen = &seen_;
    } catch (const std::system_error&) {  // no thread to be had: the presenter reads alone
    }
}

Forerunner::~Forerunner() {
    done_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
}

void Forerunner::lead(Index near, Index far) {
    Index next = e_.at, s = 0;
    const Part& part = e_.segments[0].parts[e_.segments[0].part_count - 1];
    const Notes notes(part);
    const bool noted = e_.notes && e_.known == part.rows;  // then nobody writes them
    while (!done_.load(std::memory_order_relaxed)) {
        const Index at = __atomic_load_n(&seen_, __ATOMIC_RELAXED), limit = std::min(at + far, e_.length);
        next = std::max(next, at + near);
        if (next >= e_.length) return;
        if (next >= limit) {
            wait();
            continue;
        }
        for (const Index stop = std::min(limit, next + near); next < stop; ++next) {
            const Index row = e_.order ? e_.order[next] : next;
            if (noted) {
                ask(part, notes, e_.notes + row * notes.words, row);
                continue;
            }
            while (row < e_.segments[s].first) --s;
            while (row >= e_.segments[s].first + e_.segments[s].rows) ++s;
            ask(e_.segments[s], row - e_.segments[s].first);
        }
    }
}

}  // namespace lineal
