#include "paths/picking.hpp"

#include <algorithm>

namespace lineal {

namespace {

// Rows [first, last) of a chunk.
struct Span {
    Index first, last;
};

constexpr Index asked = 4096;  // rows between two questions whether to stop

// Runs `work(first, last)` over all rows in pieces, chunk by chunk.
template <class Work>
void over(const Team& team, Index rows, Index chunks, Work work) {
    run(
        team, chunks,
        [&](int, Index chunk, Watch& watch) {
            const Span span{rows * chunk / chunks, rows * (chunk + 1) / chunks};
            for (Index at = span.first; at < span.last; at += asked) {
                work(at, std::min(at + asked, span.last), span.last);
                if (watch.stop()) return;
            }
        },
        [](int) {});
}

template <class T, class N>
void copy_all(const T* __restrict values, const N* __restrict indices, N first, N stop, const std::int32_t* __restrict place, N at,
              N* __restrict columns, T* __restrict entries) {
    for (N t = first; t < stop; ++t) {
        const std::int32_t found = place[indices[t]];
        columns[at] = static_cast<N>(found);
        entries[at] = values[t];
        at += found >= 0;
    }
}

}  // namespace

template <class T, class N>
Picked<T, N> pick(const Team& team, const Part& part, const std::int32_t* place) {
    const T* values = static_cast<const T*>(part.values);
    const N* starts = static_cast<const N*>(part.starts);
    const N* indices = static_cast<const N*>(part.indices);
    const Index stored = starts[part.rows] - starts[0];
    const Index chunks = std::clamp<Index>(stored / 100'000, 1, std::max<Index>(1, std::min<Index>(part.rows, 64)));
    Picked<T, N> out;
    out.starts.reset(new N[static_cast<std::size_t>(part.rows + 1)]);
    N* to = out.starts.get();
    over(team, part.rows, chunks, [&](Index first, Index last, Index) {
        for (Index i = first; i < last; ++i) {
            N count = 0;
            for (N t = starts[i], stop = starts[i + 1]; t < stop; ++t) count += place[indices[t]] >= 0;
            to[i + 1] = count;
        }
    });
    to[0] = 0;
    for (Index i = 0; i < part.rows; ++i) to[i + 1] += to[i];
    const std::size_t size = static_cast<std::size_t>(to[part.rows]);
    out.indices.reset(new N[size]);
    out.values.reset(new T[size]);
    over(team, part.rows, chunks,
         [to, place, values, starts, indices, columns = out.indices.get(), entries = out.values.get()](Index first, Index last,
                                                                                                       Index chunk_end) {
             for (Index i = first; i < last; ++i) {
                 // Whether a column is picked comes at random: each entry is written, and overwritten by the next if it is not.
                 // Only the last entries of a chunk must not touch what another thread writes behind them.
                 const bool free = to[i + 1] < to[chunk_end];
                 N at = to[i];
                 if (at == to[i + 1]) continue;
                 if (free) copy_all(values, indices, starts[i], starts[i + 1], place, at, columns, entries);
                 for (N t = starts[i], stop = starts[i + 1]; !free && t < stop; ++t) {
                     const std::int32_t found = place[indices[t]];
                     if (found < 0) continue;
                     columns[at] = static_cast<N>(found);
                     entries[at++] = values[t];
                 }
             }
         });
    return out;
}

template Picked<float, std::int32_t> pick(const Team&, const Part&, const std::int32_t*);
template Picked<float, std::int64_t> pick(const Team&, const Part&, const std::int32_t*);
template Picked<double, std::int32_t> pick(const Team&, const Part&, const std::int32_t*);
template Picked<double, std::int64_t> pick(const Team&, const Part&, const std::int32_t*);

}  // namespace lineal
