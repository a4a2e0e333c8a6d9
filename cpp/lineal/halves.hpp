// Several classes and dense rows on two threads, each with half of the columns: the parts of scores are exchanged once for eight rows,
// together with the products of these rows, by which scores are corrected after a mistake. Sums in another order decide where they
// differ by more than rounding can do; elsewhere the score that counts is computed. Included by perceptron.cpp only, once per CPU level.
#pragma once

#include <cmath>

#include "presentation.hpp"

namespace {

using lineal::Twin;

inline void rest() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// Says that this side has come to a step, and waits for the other; false when the work is called off.
bool meet(Twin& twin, Index side, Index step) {
    Index before = step - 1;
    if (side == 0) __atomic_store_n(&twin.marks[0].step, step, __ATOMIC_RELEASE);
    else if (!__atomic_compare_exchange_n(&twin.marks[1].step, &before, step, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return false;
    const Index* other = &twin.marks[1 - side].step;
    for (Index looks = 0; __atomic_load_n(other, __ATOMIC_ACQUIRE) < step; ++looks) {
        rest();
        if (side == 0 && looks > twin.patience)  // the other thread does not run: alone is faster
            return !__atomic_compare_exchange_n(&twin.marks[1].step, &before, Twin::OFF, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
    }
    return true;
}

inline V folded(S value) {
    F low, high;
    std::memcpy(&low, &value, sizeof low);
    std::memcpy(&high, reinterpret_cast<const char*>(&value) + sizeof low, sizeof high);
    return widened(low) + widened(high);
}

template <class T>
void rounded(const T* __restrict from, Index count, float* __restrict to) {
    for (Index j = 0; j < count; ++j) to[j] = static_cast<float>(from[j]);
}

// What a mistake does to the weights of two classes, and to what is kept of them in single precision.
template <class T>
void moved(const T* __restrict x, Index count, double rate, double* __restrict own, double* __restrict rival, float* __restrict near, float* __restrict far) {
    for (Index j = 0; j < count; ++j) {
        const double up = rate * static_cast<double>(x[j]), down = -rate * static_cast<double>(x[j]);
        own[j] += up;
        rival[j] += down;
        near[j] = static_cast<float>(own[j]);
        far[j] = static_cast<float>(rival[j]);
    }
}

// The next rows, numbers of `size` bytes, of which every loop brings one towards the cache.
struct Soon {
    const char* rows[Twin::ROWS];
    Index size, at = 2;  // the first two while rows are rounded
    const char* next() { return rows[at < Twin::ROWS ? at++ : at - 1]; }
    [[gnu::always_inline]] inline void fetch(const char* row, Index j) const {
        __builtin_prefetch(row + size * j, 0, 2);
        __builtin_prefetch(row + size * (j + W), 0, 2);
    }
};

// The sums over the lanes of N vectors.
template <Index N>
inline void totals(const S* sum, double* out) {
    V group[W];
    double found[W];
    for (Index at = 0; at < N; at += W) {
        for (Index q = 0; q < W; ++q) group[q] = at + q < N ? folded(sum[at + q]) : V{};
        store(found, sums(group));
        for (Index q = 0; q < W && at + q < N; ++q) out[at + q] = found[q];
    }
}

// out[r][c] = x_r.w_c over n numbers, rows of both n numbers apart.
template <Index R, Index C>
void tile(const float* x, const float* w, Index n, double* out, Index stride, Soon& soon) {
    S sum[R * C] = {};
    const char* next = soon.next();
    for (Index j = 0; j < n; j += SINGLES) {
        S own[C];
        for (Index c = 0; c < C; ++c) own[c] = load_singles(w + c * n + j);
        for (Index r = 0; r < R; ++r) {
            S v = load_singles(x + r * n + j);
            hold(v);
            for (Index c = 0; c < C; ++c) sum[r * C + c] = fma(v, own[c], sum[r * C + c]);
        }
        soon.fetch(next, j);
    }
    double found[R * C];
    totals<R * C>(sum, found);
    for (Index r = 0; r < R; ++r)
        for (Index c = 0; c < C; ++c) out[r * stride + c] = found[r * C + c];
}

// x_r.x_s for r <= s of four rows.
void triangle(const float* x, Index n, double* out, Soon& soon) {
    S sum[10] = {};
    const char* next = soon.next();
    for (Index j = 0; j < n; j += SINGLES) {
        S v[4];
        for (Index r = 0; r < 4; ++r) {
            v[r] = load_singles(x + r * n + j);
            hold(v[r]);
        }
        for (Index r = 0, t = 0; r < 4; ++r)
            for (Index s = r; s < 4; ++s, ++t) sum[t] = fma(v[r], v[s], sum[t]);
        soon.fetch(next, j);
    }
    totals<10>(sum, out);
}

// Where the product of rows r <= s of a block is.
inline Index place(Index r, Index s) {
    const auto within = [](Index a, Index b) { return a * (9 - a) / 2 + b - a; };
    return s < 4 ? within(r, s) : r >= 4 ? 10 + within(r - 4, s - 4) : 20 + 4 * r + s - 4;
}

// One side's part of the scores of eight rows and of their products.
void say(const float* x, const float* w, Index n, Index outputs, double* out, Soon& soon) {
    constexpr Index C = W < 8 ? 2 : 5;
    double* gram = out + Twin::ROWS * outputs;
    for (Index r = 0; r < Twin::ROWS; r += 4) {
        Index c = 0;
        for (; c + C <= outputs; c += C) tile<4, C>(x + r * n, w + c * n, n, out + r * outputs + c, outputs, soon);
        for (; c < outputs; ++c) tile<4, 1>(x + r * n, w + c * n, n, out + r * outputs + c, outputs, soon);
        triangle(x + r * n, n, gram + (r == 0 ? 0 : 10), soon);
    }
    tile<4, 2>(x, x + 4 * n, n, gram + 20, 4, soon);
    tile<4, 2>(x, x + 6 * n, n, gram + 22, 4, soon);
}

// Whether a row is mistaken, by scores that are off by less than half of `slack` from those that count: 1, 0, or -1 where that is not sure.
int sure(const double* scores, Index outputs, Index own, double slack, Index& rival) {
    double best[2] = {-INFINITY, -INFINITY};
    for (Index c = 0; c < outputs; ++c) {
        const double score = c == own ? -INFINITY : scores[c];
        best[c % 2] = score <= best[c % 2] ? best[c % 2] : score;
    }
    const double top = best[0] <= best[1] ? best[1] : best[0];
    if (scores[own] - top > slack) return 0;
    if (!(top - scores[own] > slack)) return -1;
    Index near = 0;
    for (Index c = 0; c < outputs; ++c) {
        if (c == own || top - scores[c] > slack) continue;
        rival = c;
        ++near;
    }
    return near == 1 ? 1 : -1;
}

template <class T>
class Half {
public:
    Half(Presentation& e, Twin& twin, Index side)
        : e(e), twin(twin), side(side), segment(e.segments[0]), part(segment.parts[segment.part_count - 1]), ones(segment.part_count - 1), first(side == 0 ? 0 : middle()), count(side == 0 ? middle() : part.columns - middle()), wide((count + SINGLES - 1) / SINGLES * SINGLES) {
        double* at = twin.scratch[side];
        scores = at;
        exact = at + Twin::ROWS * e.outputs + Twin::GRAM;
        squares = exact + e.outputs;
        at = squares + e.outputs;
        float* singles = reinterpret_cast<float*>(at + (64 - reinterpret_cast<std::uintptr_t>(at) % 64) % 64 / 8);
        rows = singles;
        weights = singles + Twin::ROWS * wide;
        for (Index c = 0; c < e.outputs; ++c) {
            rounded(e.coef + c * e.stride + ones + first, count, weights + c * wide);
            squares[c] = 0;
            for (Index j = 0; j < e.columns; ++j) squares[c] += e.coef[c * e.stride + j] * e.coef[c * e.stride + j];
            squares[c] *= 1.001;
        }
        measure();
    }

    void run() {
        const Index k = e.outputs, size = Twin::ROWS * k + Twin::GRAM;
        while (e.at < e.length) {
            const Index block = std::min(Twin::ROWS, e.length - e.at);
            Soon soon{{}, sizeof(T)};
            for (Index r = 0; r < Twin::ROWS; ++r)
                soon.rows[r] = reinterpret_cast<const char*>(row(std::min(e.at + Twin::ROWS + r, e.length - 1)));
            for (Index r = 0; r < Twin::ROWS; ++r) {
                rounded(row(std::min(e.at + r, e.length - 1)), count, rows + r * wide);
                for (Index j = (r % 4) * (wide / 4); j < (r % 4 + 1) * (wide / 4); j += SINGLES) soon.fetch(soon.rows[r / 4], j);
            }
            double* mine = twin.said[side][(step + 1) % 2];
            say(rows, weights, wide, k, mine, soon);
            if (ones && side == 0) say_ones(mine);
            if (!meet(twin, side, ++step)) return;
            const double *one = twin.said[0][step % 2], *two = twin.said[1][step % 2];
            for (Index t = 0; t < size; ++t) scores[t] = one[t] + two[t];
            for (Index r = 0; r < block; ++r, ++e.at)
                if (!pass(r, block)) return;
        }
    }

private:
    Index middle() const { return (part.columns / 2 + 7) / 8 * 8; }
    Index number(Index n) const { return e.order ? e.order[n] : n; }
    const T* row(Index n) const { return static_cast<const T*>(part.values) + number(n) * part.row_stride + first; }
    double product(Index r, Index s) const { return scores[Twin::ROWS * e.outputs + place(r, s)]; }

    void say_ones(double* out) const {
        for (Index r = 0; r < Twin::ROWS; ++r)
            for (Index c = 0; c < e.outputs; ++c) out[r * e.outputs + c] += e.coef[c * e.stride];
        for (Index t = 0; t < Twin::GRAM; ++t) out[Twin::ROWS * e.outputs + t] += 1.0;
    }

    // Row r of the block: false when the work was called off in front of it.
    bool pass(Index r, Index block) {
        const Index i = number(e.at), own = static_cast<Index>(segment.y[i]), k = e.outputs;
        const double square = product(r, r), length = std::sqrt(1.001 * square) + TINY;
        // Of the exact product of row and weights, both as they are: rounding to single precision, sums of `depth` additions, and up to
        // seven corrections, whose products are as exact, leave at most 8 (depth + 16) units of single precision times |x| |w|, the
        // score that counts columns + 16 units of double precision; the last term is for what underflows. Twice that is between two.
        const double depth = static_cast<double>(wide / SINGLES + 16), columns = static_cast<double>(e.columns + 32);
        const double slack = 2.0 * (8.0 * depth * 6e-8 + columns * 4.5e-16) * length * longest + columns * 1e-40 * (1.0 + length + longest);
        if (side == 0 && e.measure && !(1.001 * square < e.largest)) e.largest = std::max(e.largest, ::square(segment, i));
        Index rival = 0;
        int wrong = square < 1e30 && longest < 1e15 ? sure(scores + r * k, k, own, slack, rival) : -1;
        if (wrong < 0) {  // both sides need all weights as they are now, and nobody may go on before both have seen them
            if (!meet(twin, side, ++step)) return false;
            score_across(e, segment, i, e.coef, k, exact);
            wrong = mistaken(e, exact, own, rival);
            if (!meet(twin, side, ++step)) return false;
        }
        ++e.presented;
        ++e.survived;
        if (wrong) learn(r, block, own, rival, length, slack);
        return true;
    }

    void learn(Index r, Index block, Index own, Index rival, double length, double slack) {
        double *up = e.coef + own * e.stride + ones, *down = e.coef + rival * e.stride + ones;
        moved(row(e.at), count, e.rate, up + first, down + first, weights + own * wide, weights + rival * wide);
        if (ones && side == 0) {
            up[-1] += e.rate;
            down[-1] += -e.rate;
        }
        longer(own, e.rate, scores[r * e.outputs + own], length, slack);
        longer(rival, -e.rate, scores[r * e.outputs + rival], length, slack);
        for (Index s = r + 1; s < block; ++s) {
            const double more = e.rate * product(r, s);
            scores[s * e.outputs + own] += more;
            scores[s * e.outputs + rival] -= more;
        }
        measure();
        e.survived = 0;
        ++e.mistakes;
    }

    void measure() {
        double most = 0;
        for (Index c = 0; c < e.outputs; ++c) most = squares[c] <= most ? most : squares[c];
        longest = std::sqrt(most) + TINY;
    }

    // |w + r x|^2 = |w|^2 + 2 r x.w + r^2 |x|^2, or less than what is kept.
    void longer(Index output, double rate, double score, double length, double slack) {
        const double size = std::fabs(rate) * length;
        squares[output] = 1.000000001 * std::max(squares[output] + 2.0 * (rate * score + std::fabs(rate) * slack) + size * size, 0.0);
    }

    static constexpr double TINY = 1e-30;
    Presentation& e;
    Twin& twin;
    const Index side;
    const Segment& segment;
    const Part& part;
    const Index ones, first, count, wide;
    double *scores, *exact, *squares;  // of the block, of one row; upper bounds of |w|^2
    float *rows, *weights;             // this side's columns of the block and of all weights, rounded, ending with zeros
    double longest = 0;                // of the weights of all classes, or more
    Index step = 0;
};

void half(Presentation& e, Twin& twin, Index side) {
    if (e.segments[0].parts[e.segments[0].part_count - 1].single) Half<float>(e, twin, side).run();
    else Half<double>(e, twin, side).run();
}

}  // namespace
