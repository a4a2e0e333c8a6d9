// Searches for nearest rows. Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include <cmath>
#include <memory>

#include "neighbors/nearest.hpp"
#include "neighbors/neighbors.hpp"
#include "passes/vector.hpp"

namespace {

using lineal::Groups;
using lineal::Metric;
using lineal::Node;
using lineal::Queries;
using lineal::Searches;
using lineal::Singles;
using lineal::Tree;
using lineal::Watch;

constexpr int VG = 8 / W;  // vectors of eight numbers

struct Eight {
    V part[VG];
};

inline Eight load_eight(const double* from) {
    Eight out;
    for (int v = 0; v < VG; ++v) out.part[v] = load(from + v * W);
    return out;
}

// Which of the numbers are at most `bound`, as bits.
inline unsigned at_most(V x, double bound) {
#if defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)x, _mm512_set1_pd(bound), _CMP_LE_OQ);
#elif defined(__AVX2__)
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd((__m256d)x, _mm256_set1_pd(bound), _CMP_LE_OQ)));
#else
    unsigned bits = 0;
    for (int i = 0; i < W; ++i) bits |= static_cast<unsigned>(x[i] <= bound) << i;
    return bits;
#endif
}
inline unsigned at_most(const Eight& x, double bound) {
    unsigned bits = 0;
    for (int v = 0; v < VG; ++v) bits |= at_most(x.part[v], bound) << (v * W);
    return bits;
}
inline unsigned at_least(S x, float bound) {
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(bound), _CMP_GE_OQ);
#elif defined(__AVX2__)
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps((__m256)x, _mm256_set1_ps(bound), _CMP_GE_OQ)));
#else
    unsigned bits = 0;
    for (int i = 0; i < SINGLES; ++i) bits |= static_cast<unsigned>(x[i] >= bound) << i;
    return bits;
#endif
}

// One column's share of a distance, added to it. Every operation is monotone in |difference| and in the sum, and so is its rounding.
struct Squared {
    V operator()(V sum, V difference) const { return sum + difference * difference; }
};
struct Manhattan {
    V operator()(V sum, V difference) const { return sum + absolute(difference); }
};
struct Chebyshev {
    V operator()(V sum, V difference) const { return larger(sum, absolute(difference)); }
};
struct Hamming {
    V operator()(V sum, V difference) const { return sum + choose(difference != V{}, splat(1), V{}); }
};
struct Power {
    double power;
    V operator()(V sum, V difference) const {
        for (int i = 0; i < W; ++i) sum[i] += std::pow(std::fabs(difference[i]), power);
        return sum;
    }
};

// The distances of one query to the eight rows of a group; `fixed` is the number of columns, 0 where only `columns` knows it.
template <int fixed = 0, class Share>
inline Eight apart(Share share, const double* group, Index columns, const double* query) {
    Eight sum{};
    const Index count = fixed > 0 ? fixed : columns;
    for (Index j = 0; j < count; ++j) {
        const V q = splat(query[j]);
        for (int v = 0; v < VG; ++v) sum.part[v] = share(sum.part[v], q - load(group + 8 * j + v * W));
    }
    return sum;
}

// Offers those of the eight rows first .. that exist and are near enough.
inline void offer(Nearest& nearest, const Eight& distance, Index left, const std::int64_t* number, Index first, Index own) {
    unsigned bits = at_most(distance, nearest.worst());
    if (left < 8) bits &= (1u << left) - 1;
    for (; bits != 0; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        const Index row = number ? number[first + i] : first + i;
        if (row != own) nearest.offer(distance.part[i / W][i % W], row);
    }
}

// Calls work with the arithmetic of a metric.
template <class Work>
void with_share(Metric metric, double power, Work work) {
    switch (metric) {
        case Metric::squared:
            return work(Squared{});
        case Metric::manhattan:
            return work(Manhattan{});
        case Metric::chebyshev:
            return work(Chebyshev{});
        case Metric::hamming:
            return work(Hamming{});
        case Metric::power:
            return work(Power{power});
    }
}

constexpr Index BLOCK_BYTES = 128 << 10;  // rows that stay in the second-level cache while many queries pass

void direct(Metric metric, double power, const Groups& groups, const Queries& queries, Index first, Index last, Watch& watch) {
    std::vector<Nearest> nearest(static_cast<std::size_t>(last - first));
    for (Nearest& each : nearest) each.start(queries.k);
    const Index columns = groups.columns, count = (groups.rows + 7) / 8;
    const Index step = std::max<Index>(1, BLOCK_BYTES / (64 * std::max<Index>(columns, 1)));
    with_share(metric, power, [&](auto share) {
        for (Index from = 0; from < count; from += step)
            for (Index i = first; i < last; ++i) {
                if (watch.stop()) return;
                const Index q = queries.at(i);
                const double* query = queries.data + q * columns;
                Nearest& mine = nearest[static_cast<std::size_t>(i - first)];
                for (Index g = from; g < std::min(from + step, count); ++g)
                    offer(mine, apart(share, groups.data + 8 * g * columns, columns, query), groups.rows - 8 * g, nullptr, 8 * g,
                          queries.own ? queries.own[q] : -1);
            }
    });
    if (watch.stop()) return;
    for (Index i = first; i < last; ++i) {
        const Index q = queries.at(i);
        nearest[static_cast<std::size_t>(i - first)].write(queries.distances + q * queries.k, queries.rows + q * queries.k);
    }
}

void distances(Metric metric, double power, const Groups& groups, const double* queries, Index count, double* out, Watch& watch) {
    const Index columns = groups.columns;
    with_share(metric, power, [&](auto share) {
        for (Index i = 0; i < count && !watch.stop(); ++i)
            for (Index g = 0; 8 * g < groups.rows; ++g) {
                const Eight sum = apart(share, groups.data + 8 * g * columns, columns, queries + i * columns);
                for (Index r = 0; r < std::min<Index>(8, groups.rows - 8 * g); ++r)
                    out[i * groups.rows + 8 * g + r] = sum.part[r / W][r % W];
            }
    });
}

// --- tiles ---

constexpr int TILE = 8;                            // queries of a tile
constexpr int VS = 16 / SINGLES;                   // vectors of sixteen rows
constexpr int DEEP = W == 8 ? 3 : 1;               // groups of a tile
constexpr int WIDE = W == 8 ? 8 : W == 4 ? 4 : 2;  // queries at a time, as many as registers hold
constexpr Index WAITING = 24;                      // rows whose distances are computed together

// One query of a search by tiles.
struct Seeker {
    Nearest nearest;
    double norm = 0, allowance = 0;  // |q'|^2, and what rounding may do to the query's part
    Index waiting[WAITING];
    Index count = 0;
};

// The squared distances of the waiting rows, four at a time since each sum waits for itself.
inline void settle(Seeker& seeker, const Singles& singles, const double* query, Index own, float& threshold) {
    const Index columns = singles.columns;
    for (Index from = 0; from < seeker.count; from += 4) {
        const double* row[4];
        double sum[4] = {};
        for (int i = 0; i < 4; ++i) row[i] = singles.rows + columns * seeker.waiting[std::min(from + i, seeker.count - 1)];
        for (Index j = 0; j < columns; ++j)
            for (int i = 0; i < 4; ++i) {
                const double difference = query[j] - row[i][j];
                sum[i] = sum[i] + difference * difference;
            }
        for (int i = 0; i < 4 && from + i < seeker.count; ++i)
            if (const Index at = seeker.waiting[from + i]; at != own) seeker.nearest.offer(sum[i], at);
    }
    seeker.count = 0;
    if (!seeker.nearest.full()) return;
    const double rounding = 1 + 4 * static_cast<double>(columns + 4) * 0x1p-53;
    const double least = 0.5 * (seeker.norm - std::ldexp(seeker.nearest.worst(), 2 * singles.shift) * rounding) - seeker.allowance;
    threshold = std::nextafter(static_cast<float>(least), -std::numeric_limits<float>::infinity());
}

// left: the queries of a tile, column j at 8 j; calls found(b, bits, row) for queries b with rows that are not ruled out.
template <int A, int B, class Found>
inline void tile(const float* left, const float* right, const float* bias, Index columns, const float* thresholds, Found found) {
    S sum[A * VS][B];
#pragma GCC unroll 8
    for (int a = 0; a < A * VS; ++a) {
        const S start = load_singles(bias + a * SINGLES);
#pragma GCC unroll 8
        for (int b = 0; b < B; ++b) sum[a][b] = start;
    }
    const Index apart = 16 * columns;
    for (Index j = 0; j < columns; ++j, left += TILE, right += 16) {
        S x[A * VS];
#pragma GCC unroll 8
        for (int a = 0; a < A; ++a)
#pragma GCC unroll 4
            for (int v = 0; v < VS; ++v) x[a * VS + v] = load_singles(right + a * apart + v * SINGLES);
#pragma GCC unroll 8
        for (int b = 0; b < B; ++b) {
            const S q = splat_single(left[b]);
#pragma GCC unroll 8
            for (int a = 0; a < A * VS; ++a) sum[a][b] = fma(x[a], q, sum[a][b]);
        }
    }
#pragma GCC unroll 8
    for (int b = 0; b < B; ++b)
#pragma GCC unroll 8
        for (int a = 0; a < A * VS; ++a)
            if (const unsigned bits = at_least(sum[a][b], thresholds[b])) found(b, bits, a * SINGLES);
}

// The queries of a chunk, in tiles: rounded columns one after the other, thresholds, and those who seek.
struct Tiles {
    Tiles(const Singles& singles, const Queries& queries, Index first, Index last)
        : singles(singles),
          queries(queries),
          first(first),
          count(last - first),
          room((count + TILE - 1) / TILE * TILE),
          seekers(new Seeker[static_cast<std::size_t>(count)]),
          rounded(static_cast<std::size_t>(room * singles.columns)),
          thresholds(static_cast<std::size_t>(room), std::numeric_limits<float>::infinity()) {
        const double unit = std::ldexp(1.0, singles.shift), kappa = Singles::kappa(singles.columns);
        for (Index i = 0; i < count; ++i) {
            const double* query = queries.data + queries.at(first + i) * singles.columns;
            Seeker& seeker = seekers[static_cast<std::size_t>(i)];
            seeker.nearest.start(queries.k);
            float* to = rounded.data() + i / TILE * TILE * singles.columns + i % TILE;
            for (Index j = 0; j < singles.columns; ++j) {
                const double value = (query[j] - singles.center[j]) * unit;
                to[j * TILE] = static_cast<float>(value);
                seeker.norm += value * value;
            }
            seeker.allowance = 0.5 * kappa * seeker.norm + static_cast<double>(singles.columns) * 0x1p-140;
            thresholds[static_cast<std::size_t>(i)] = -std::numeric_limits<float>::infinity();
        }
    }

    void wait(Index i, unsigned bits, Index row) {
        Seeker& seeker = seekers[static_cast<std::size_t>(i)];
        for (; bits != 0; bits &= bits - 1) {
            seeker.waiting[seeker.count++] = row + __builtin_ctz(bits);
            if (seeker.count == WAITING) end(i);
        }
    }

    void end(Index i) {
        const Index q = queries.at(first + i);
        settle(seekers[static_cast<std::size_t>(i)], singles, queries.data + q * singles.columns, queries.own ? queries.own[q] : -1,
               thresholds[static_cast<std::size_t>(i)]);
    }

    template <int A>
    void across(Index i, Index g) {
        const Index columns = singles.columns;
#pragma GCC unroll 4
        for (int b = 0; b < TILE; b += WIDE)
            tile<A, WIDE>(rounded.data() + i * columns + b, singles.data + 16 * g * columns, singles.bias + 16 * g, columns,
                          thresholds.data() + i + b, [&](int own, unsigned bits, Index row) { wait(i + b + own, bits, 16 * g + row); });
    }

    const Singles& singles;
    const Queries& queries;
    Index first, count, room;
    std::unique_ptr<Seeker[]> seekers;
    std::vector<float> rounded, thresholds;
};

void tiles(const Singles& singles, const Queries& queries, Index first, Index last, Watch& watch) {
    Tiles all(singles, queries, first, last);
    const Index groups = (singles.count + 15) / 16;
    const Index step = DEEP * std::max<Index>(1, BLOCK_BYTES / (64 * DEEP * std::max<Index>(singles.columns, 1)));
    for (Index from = 0; from < groups; from += step)
        for (Index i = 0; i < all.room; i += TILE) {
            if (watch.stop()) return;
            const Index until = std::min(from + step, groups);
            Index g = from;
            for (; g + DEEP <= until; g += DEEP) all.across<DEEP>(i, g);
            for (; g < until; ++g) all.across<1>(i, g);
        }
    for (Index i = 0; i < all.count; ++i) {
        all.end(i);
        const Index q = queries.at(first + i);
        all.seekers[static_cast<std::size_t>(i)].nearest.write(queries.distances + q * queries.k, queries.rows + q * queries.k);
    }
}

// --- the tree ---

// The distances of a query to eight boxes: no row in a box is nearer, as its distance is computed, since every step is monotone.
template <int fixed = 0, class Share>
inline Eight to_boxes(Share share, const double* box, Index columns, const double* query) {
    Eight sum{};
    const Index count = fixed > 0 ? fixed : columns;
    for (Index j = 0; j < count; ++j) {
        const V q = splat(query[j]);
        for (int v = 0; v < VG; ++v) {
            const V below = load(box + 16 * j + v * W) - q, above = q - load(box + 16 * j + 8 + v * W);
            sum.part[v] = share(sum.part[v], larger(larger(below, above), V{}));
        }
    }
    return sum;
}

struct Step {
    double distance;
    std::int32_t child;
    std::int64_t lowest;
};

// Puts the children that may hold something on the stack, the nearest on top, of equally near ones the first.
inline void push(std::vector<Step>& stack, const Eight& distance, const Node& node, double worst) {
    unsigned bits = at_most(distance, worst) & ((1u << node.count) - 1);
    const std::size_t bottom = stack.size();
    for (; bits != 0; bits &= bits - 1) {
        const int c = __builtin_ctz(bits);
        const Step step{distance.part[c / W][c % W], node.child[c], node.lowest[c]};
        std::size_t place = stack.size();
        stack.push_back(step);
        for (; place > bottom && stack[place - 1].distance <= step.distance; --place) stack[place] = stack[place - 1];
        stack[place] = step;
    }
}

template <int fixed, class Share>
Index descend_as(Share share, const Tree& tree, const double* query, Index own, Nearest& nearest, std::vector<Step>& stack) {
    const Index columns = tree.leaves.columns;
    Index looked = 0;
    stack.assign(1, {0, 0, 0});
    while (!stack.empty()) {
        const Step step = stack.back();
        stack.pop_back();
        if (!nearest.admits(step.distance, step.lowest)) continue;
        if (step.child >= 0) {
            push(stack, to_boxes<fixed>(share, tree.boxes + 16 * columns * step.child, columns, query), tree.nodes[step.child],
                 nearest.worst());
            continue;
        }
        const Index leaf = -1 - step.child, start = tree.starts[leaf], size = tree.sizes[leaf];
        for (Index r = 0; r < size; r += 8)
            offer(nearest, apart<fixed>(share, tree.leaves.data + (start + r) * columns, columns, query), size - r, tree.number, start + r,
                  own);
        looked += size;
    }
    return looked;
}

template <class Work>
void with_monotone(Metric metric, Work work) {
    if (metric == Metric::manhattan) return work(Manhattan{});
    if (metric == Metric::chebyshev) return work(Chebyshev{});
    work(Squared{});
}

template <int fixed, class Share>
Index descend_all(Share share, const Tree& tree, const Queries& queries, Index first, Index last, Watch& watch) {
    Nearest nearest;
    std::vector<Step> stack;
    Index looked = 0;
    for (Index i = first; i < last && !watch.stop(); ++i) {
        const Index q = queries.at(i), own = queries.own ? queries.own[q] : -1;
        nearest.start(queries.k);
        looked += descend_as<fixed>(share, tree, queries.data + q * tree.leaves.columns, own, nearest, stack);
        nearest.write(queries.distances + q * queries.k, queries.rows + q * queries.k);
    }
    return looked;
}

// Loops over two and three columns, of places on a map and in space, are unrolled: they hold the goal of the row knn-low.
Index descend(Metric metric, const Tree& tree, const Queries& queries, Index first, Index last, Watch& watch) {
    Index looked = 0;
    with_monotone(metric, [&](auto share) {
        if (tree.leaves.columns == 2)
            looked = descend_all<2>(share, tree, queries, first, last, watch);
        else if (tree.leaves.columns == 3)
            looked = descend_all<3>(share, tree, queries, first, last, watch);
        else
            looked = descend_all<0>(share, tree, queries, first, last, watch);
    });
    return looked;
}

void place(Metric metric, const Tree& tree, const double* queries, Index count, std::int64_t* leaf) {
    const Index columns = tree.leaves.columns;
    with_monotone(metric, [&](auto share) {
        for (Index i = 0; i < count; ++i) {
            std::int32_t at = 0;
            while (at >= 0) {
                const Eight distance = to_boxes(share, tree.boxes + 16 * columns * at, columns, queries + i * columns);
                const Node& node = tree.nodes[at];
                int best = 0;
                for (int c = 1; c < node.count; ++c)
                    if (distance.part[c / W][c % W] < distance.part[best / W][best % W]) best = c;
                at = node.child[best];
            }
            leaf[i] = -1 - at;
        }
    });
}

}  // namespace

namespace lineal::LINEAL_LEVEL {

const Searches& searches() {
    static const Searches table = {::direct, ::distances, ::tiles, ::descend, ::place};
    return table;
}

}  // namespace lineal::LINEAL_LEVEL
