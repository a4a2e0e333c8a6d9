// Several classes and dense rows on one thread: weights are kept in single precision, few enough for the first cache, and eight numbers
// of a row that are all zero are neither multiplied nor, once that was noted, read again. Scores in single precision decide where they
// differ by more than rounding can do; elsewhere the score that counts is computed. Included by perceptron.cpp only, once per CPU level.
#pragma once

#include <vector>

#include "halves.hpp"
#include "notes.hpp"

namespace {

using lineal::Notes;

inline bool some(V value) {
#if defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)value, _mm512_setzero_pd(), _CMP_NEQ_UQ) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)value, _mm256_setzero_pd(), _CMP_NEQ_UQ)) != 0;
#else
    return value[0] != 0 || value[1] != 0;
#endif
}

// Vectors that hold eight singles, and what is multiplied by one vector of weights: all eight twice, all eight, or a half of them.
constexpr Index EIGHT = Notes::GROUP, PIECES = EIGHT > SINGLES ? EIGHT / SINGLES : 1;

inline S group(const float* from, Index piece) {
#if defined(__AVX512DQ__)
    (void)piece;
    return (S)_mm512_broadcast_f32x8(_mm256_loadu_ps(from));
#else
    return load_singles(from + piece * SINGLES);
#endif
}

// The sums of `count` groups x times weights, which are `wide` numbers apart from group to group: A vectors of them.
template <Index A>
void gathered(const float* x, const std::int32_t* places, Index count, const float* w, Index wide, float* out) {
    S sum[A] = {}, other[A] = {};
    const auto take = [&](Index n, S* to) {
        const float* own = w + places[n] * wide;
        S v[PIECES];
        for (Index q = 0; q < PIECES; ++q) {
            v[q] = group(x + n * EIGHT, q);
            hold(v[q]);
        }
        for (Index a = 0; a < A; ++a) to[a] = fma(v[a % PIECES], load_singles(own + a * SINGLES), to[a]);
    };
    Index n = 0;
    for (; n + 2 <= count; n += 2) {
        take(n, sum);
        take(n + 1, other);
    }
    if (n < count) take(n, sum);
    for (Index a = 0; a < A; ++a) {
        const S all = sum[a] + other[a];
        std::memcpy(out + a * SINGLES, &all, sizeof all);
    }
}

template <class T>
class Sparing {
public:
    explicit Sparing(Presentation& e)
        : e(e), segment(e.segments[0]), part(segment.parts[segment.part_count - 1]), ones(segment.part_count - 1), notes(part), classes((e.outputs + 1) / 2 * 2), wide(classes * EIGHT),
          inner((notes.lead + EIGHT - 1) / EIGHT), outer((notes.lead + part.columns) / EIGHT) {
        const auto size = [](Index count) { return static_cast<std::size_t>(count); };
        singles.resize(size(notes.groups * (wide + EIGHT) + wide + 16));
        weights = singles.data() + (64 - reinterpret_cast<std::uintptr_t>(singles.data()) % 64) % 64 / 4;
        x = weights + notes.groups * wide;
        parts = x + notes.groups * EIGHT;
        places.resize(size(notes.groups));
        own_notes.resize(size(notes.words));
        scores.resize(size(2 * e.outputs + 2 * W));
        squares.resize(size(e.outputs));
        for (Index c = 0; c < e.outputs; ++c) {
            const double* w = e.coef + c * e.stride;
            for (Index j = 0; j < part.columns; ++j) single(c, j) = static_cast<float>(w[ones + j]);
            for (Index j = 0; j < e.columns; ++j) squares[size(c)] += w[j] * w[j];
            squares[size(c)] *= 1.001;
        }
        measure();
    }

    void run() {
        for (; e.at < e.length; ++e.at) {
            if (e.at % 4 == 0) tell(e);
            if (e.at + SOON < e.length) fetch(number(e.at + SOON));
            pass(number(e.at));
        }
    }

private:
    Index number(Index n) const { return e.order ? e.order[n] : n; }
    const T* row(Index i) const { return static_cast<const T*>(part.values) + i * part.row_stride; }
    std::uint64_t* noted(Index i) { return e.notes ? e.notes + i * notes.words : own_notes.data(); }
    bool known(Index i) const { return e.notes && e.notes[(i + 1) * notes.words - 1]; }
    float& single(Index c, Index j) { return weights[(notes.lead + j) / EIGHT * wide + c * EIGHT + (notes.lead + j) % EIGHT]; }

    [[gnu::always_inline]] inline void fetch(Index i) const {
        const T* from = row(i) - notes.lead;
        if (known(i)) notes.each(e.notes + i * notes.words, [&](Index g) { __builtin_prefetch(from + g * EIGHT, 0, 2); });
        else if (e.order)  // what follows in memory comes by itself
            for (Index g = 0; g < notes.groups; ++g) __builtin_prefetch(from + g * EIGHT, 0, 2);
        asm volatile("");
    }

    // Columns of group g: from `first` on, of `count`.
    Index first_of(Index g) const { return std::max<Index>(g * EIGHT - notes.lead, 0); }
    Index count_of(Index g) const { return std::min((g + 1) * EIGHT - notes.lead, part.columns) - first_of(g); }

    // Numbers of group g, which reaches out of the row, made whole by zeros.
    void copied(const T* row, Index g, T* to) const {
        const Index first = first_of(g), at = g * EIGHT - notes.lead;
        std::fill(to, to + EIGHT, T{});
        std::copy(row + first, row + first + count_of(g), to + (first - at));
    }

    // Whether eight numbers are not all zero; adds their squares.
    static inline std::uint64_t any(const T* from, V& sum) {
        bool found = false;
        for (Index q = 0; q < EIGHT; q += W) {
            const V v = load(from + q);
            found |= some(v);
            sum = fma(v, v, sum);
        }
        return found;
    }

    // Makes the notes of row i.
    void look(Index i) {
        const T* from = row(i);
        std::uint64_t* own = noted(i);
        T edge[EIGHT];
        V sum = {};
        for (Index k = 0; k + 1 < notes.words; ++k) {
            std::uint64_t bits = 0;
            const Index last = std::min(64 * (k + 1), outer);
            for (Index g = std::max(64 * k, inner); g < last; ++g) bits |= any(from + g * EIGHT - notes.lead, sum) << (g % 64);
            own[k] = bits;
        }
        for (const Index g : {Index{0}, notes.groups - 1}) {
            if (g >= inner && g < outer) continue;
            copied(from, g, edge);
            own[g / 64] |= any(edge, sum) << (g % 64);
        }
        double square = static_cast<double>(ones);
        for (Index q = 0; q < W; ++q) square += sum[q];
        notes.keep(own, std::sqrt(1.001 * square) + TINY);
        ++e.known;
    }

    static inline void rounded(const T* from, float* to) {
        for (Index q = 0; q < EIGHT; q += W) {
            const F f = narrowed(load(from + q));
            std::memcpy(to + q, &f, sizeof f);
        }
    }

    // Puts the groups of row i that hold anything one after the other, rounded, and returns how many there are.
    Index recall(Index i) {
        const T* from = row(i);
        const std::uint64_t* own = noted(i);
        float* __restrict to = x;
        std::int32_t* __restrict place = places.data();
        const Index lead = notes.lead, low = inner, high = outer;
        Index count = 0;
        for (Index k = 0; k + 1 < notes.words; ++k)
            for (std::uint64_t left = own[k]; left; left &= left - 1, ++count) {
                const Index g = 64 * k + __builtin_ctzll(left);
                place[count] = static_cast<std::int32_t>(g);
                if (g >= low && g < high) rounded(from + g * EIGHT - lead, to + count * EIGHT);
                else {
                    T edge[EIGHT];
                    copied(from, g, edge);
                    rounded(edge, to + count * EIGHT);
                }
            }
        return count;
    }

    void multiply(Index count) {
        using Gathered = void (*)(const float*, const std::int32_t*, Index, const float*, Index, float*);
        static constexpr Gathered some[] = {gathered<2>, gathered<4>, gathered<6>, gathered<8>};
        static constexpr Gathered odd[] = {gathered<1>, gathered<3>, gathered<5>, gathered<7>};
        const Index vectors = wide / SINGLES;
        for (Index a = 0; a < vectors; a += 8) {
            const Index now = std::min<Index>(vectors - a, 8);
            (now % 2 ? odd : some)[(now - 1) / 2](x, places.data(), count, weights + a * SINGLES, wide, parts + a * SINGLES);
        }
        for (Index c = 0; c < e.outputs; c += W) {
            V each[W];
            for (Index q = 0; q < W; ++q) {
                each[q] = V{};
                for (Index h = 0; h < EIGHT && c + q < e.outputs; h += W) each[q] += load(parts + (c + q) * EIGHT + h);
            }
            store(scores.data() + c, sums(each));
        }
        for (Index c = 0; ones && c < e.outputs; ++c) scores[static_cast<std::size_t>(c)] += e.coef[c * e.stride];
    }

    void pass(Index i) {
        const Index own = static_cast<Index>(segment.y[i]);
        if (!known(i)) look(i);
        multiply(recall(i));
        // Of the exact product of row and weights, both as they are: rounding both to single precision and `groups` additions leave at
        // most (groups + 4) units of single precision times |x| |w|, taken twice here; the score that counts is within columns + 16
        // units of double precision; the last term is for what underflows. Twice that is between two scores.
        const double length = notes.length(noted(i)), depth = static_cast<double>(notes.groups + 8), columns = static_cast<double>(e.columns + 32);
        const double slack = 2.0 * (2.0 * depth * 6e-8 + columns * 4.5e-16) * length * longest + columns * 1e-40 * (1.0 + length + longest);
        if (e.measure && !(length * length < e.largest)) e.largest = std::max(e.largest, ::square(segment, i));
        Index rival = 0;
        int wrong = length < 1e15 && longest < 1e15 ? sure(scores.data(), e.outputs, own, slack, rival) : -1;
        if (wrong < 0) {
            double* exact = scores.data() + e.outputs + W;
            score_across(e, segment, i, e.coef, e.outputs, exact);
            wrong = mistaken(e, exact, own, rival);
        }
        ++e.presented;
        ++e.survived;
        if (wrong) learn(i, own, rival, length, slack);
    }

    void learn(Index i, Index own, Index rival, double length, double slack) {
        double *up = e.coef + own * e.stride + ones, *down = e.coef + rival * e.stride + ones;
        const T* from = row(i);
        notes.each(noted(i), [&](Index g) {
            float *near = weights + g * wide + own * EIGHT, *far = weights + g * wide + rival * EIGHT;
            if (g >= inner && g < outer) {
                for (Index q = 0, at = g * EIGHT - notes.lead; q < EIGHT; q += W) {
                    const V v = load(from + at + q), plus = load(up + at + q) + splat(e.rate) * v, minus = load(down + at + q) + splat(-e.rate) * v;
                    const F high = narrowed(plus), low = narrowed(minus);
                    store(up + at + q, plus);
                    store(down + at + q, minus);
                    std::memcpy(near + q, &high, sizeof high);
                    std::memcpy(far + q, &low, sizeof low);
                }
            } else {
                const Index at = first_of(g), skip = at - (g * EIGHT - notes.lead);
                moved(from + at, count_of(g), e.rate, up + at, down + at, near + skip, far + skip);
            }
        });
        if (ones) {
            up[-1] += e.rate;
            down[-1] += -e.rate;
        }
        longer(own, e.rate, length, slack);
        longer(rival, -e.rate, length, slack);
        measure();
        e.survived = 0;
        ++e.mistakes;
    }

    void measure() { longest = std::sqrt(*std::max_element(squares.begin(), squares.end())) + TINY; }

    // |w + r x|^2 = |w|^2 + 2 r x.w + r^2 |x|^2, or less than what is kept.
    void longer(Index output, double rate, double length, double slack) {
        const std::size_t c = static_cast<std::size_t>(output);
        const double size = std::fabs(rate) * length;
        squares[c] = 1.000000001 * std::max(squares[c] + 2.0 * (rate * scores[c] + std::fabs(rate) * slack) + size * size, 0.0);
    }

    static constexpr double TINY = 1e-30;
    static constexpr Index SOON = 4;  // rows from the one presented to the one that comes towards the cache
    Presentation& e;
    const Segment& segment;
    const Part& part;
    const Index ones;
    const Notes notes;
    const Index classes, wide, inner, outer;  // whole groups: from inner on, before outer
    std::vector<float> singles;
    float *weights, *x, *parts;  // [groups][classes][8]; the groups in use of a row; [classes][8] of its scores
    std::vector<std::int32_t> places;
    std::vector<std::uint64_t> own_notes;
    std::vector<double> scores, squares;  // upper bounds of |w|^2
    double longest = 0;
};

void spare(Presentation& e) {
    if (e.segments[0].parts[e.segments[0].part_count - 1].single) Sparing<float>(e).run();
    else Sparing<double>(e).run();
}

}  // namespace
