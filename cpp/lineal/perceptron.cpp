// Compiled once per CPU level, with LINEAL_LEVEL naming it. Only the table has external linkage.
#include "presentation.hpp"

namespace {

// Scores for the rows from e.at on: those of several rows together where that is possible, else of one.
struct Ahead {
    Index from = 0, until = 0;
    Index rows[ROWS], soon[ROWS];
    const Segment* segment = nullptr;

    const double* scores(const Presentation& e, const Segment& now, Index i) {
        if (e.at >= from && e.at < until) return e.eta + (e.at - from) * e.outputs;
        from = until = e.at;
        if (!e.across) score_down(e, now, i, e.eta);
        else if (e.outputs > 1 && fill(e, now)) score_block(e, now, rows, soon);
        else score_across(e, now, i, e.coef, e.outputs, e.eta);
        return e.eta;
    }
    bool fill(const Presentation& e, const Segment& now) {
        if (e.at + ROWS > e.length || !straight(now)) return false;
        for (Index r = 0; r < ROWS; ++r) {
            rows[r] = row(e, now, e.at + r);
            if (rows[r] < 0 || rows[r] >= now.rows) return false;
            soon[r] = e.at + ROWS + r < e.length ? row(e, now, e.at + ROWS + r) : rows[r];
            if (soon[r] < 0 || soon[r] >= now.rows) soon[r] = rows[r];
        }
        segment = &now;
        until = e.at + ROWS;
        return true;
    }
    static Index row(const Presentation& e, const Segment& now, Index at) { return (e.order ? e.order[at] : at) - now.first; }
    // The weights of one output have changed: its scores of the rows to come, again.
    void again(const Presentation& e, Index output) {
        for (Index at = e.at + 1; at < until; ++at)
            score_across(e, *segment, rows[at - from], e.coef + output * e.stride, 1, e.eta + (at - from) * e.outputs + output);
    }
};

void update(Presentation& e, const Segment& segment, Index i, Index own, Index rival, Ahead& ahead) {
    if (e.outputs == 1) return add(e, segment, i, 0, own == 1 ? e.rate : -e.rate);
    add(e, segment, i, own, e.rate);
    add(e, segment, i, rival, -e.rate);
    ahead.again(e, own);
    ahead.again(e, rival);
}

// Two classes and dense rows of one segment: passes over rows that are right, several at a time, and returns true in front of a
// mistake; false where fewer rows than that are left.
template <class T>
bool sweep(Presentation& e, const Part& part, const double* ones, const double* w) {
    const Segment& segment = e.segments[0];
    const bool mine[] = {e.tie < 0, e.tie > 0};
    const auto at = [&](Index n) { return static_cast<const T*>(part.values) + (e.order ? e.order[n] : n) * part.row_stride; };
    for (; e.at + ROWS <= e.length; e.at += ROWS, e.presented += ROWS, e.survived += ROWS) {
        const T *x[ROWS], *next[ROWS];
        double eta[ROWS];
        for (Index r = 0; r < ROWS; ++r) {
            x[r] = at(e.at + r);
            next[r] = e.at + ROWS + r < e.length ? at(e.at + ROWS + r) : x[r];
            eta[r] = ones ? *ones : 0.0;
            if (e.measure) e.largest = std::max(e.largest, square(segment, e.order ? e.order[e.at + r] : e.at + r));
        }
        dots<ROWS, 1>(x, part.columns, w, 0, eta, 1, next, ROWS);
        unsigned bad = 0;
        for (Index r = 0; r < ROWS; ++r) {
            const bool up = segment.y[e.order ? e.order[e.at + r] : e.at + r] != 0;
            const double along = up ? eta[r] : -eta[r];
            bad |= static_cast<unsigned>(!(along > 0 || (along == 0 && mine[up]))) << r;
        }
        if (bad) {
            const Index right = __builtin_ctz(bad);
            e.at += right;
            e.presented += right;
            e.survived += right;
            return true;
        }
    }
    return false;
}

// The dense part of rows that `sweep` can pass over, or null.
const Part* swept(const Presentation& e) {
    if (e.outputs > 1 || e.segment_count != 1 || !straight(e.segments[0])) return nullptr;
    const Segment& segment = e.segments[0];
    const Part* last = segment.parts + segment.part_count - 1;
    return segment.part_count <= 2 && last->kind == Kind::dense && (segment.part_count == 1 || segment.parts[0].kind == Kind::ones) ? last : nullptr;
}

void run(Presentation& e) {
    Ahead ahead;
    const Part* part = swept(e);
    const bool ones = part && part != e.segments[0].parts;
    for (; e.at < e.length; ++e.at) {
        const bool known = part && (part->single ? sweep<float>(e, *part, ones ? e.coef : nullptr, e.coef + ones) : sweep<double>(e, *part, ones ? e.coef : nullptr, e.coef + ones));
        if (e.at == e.length) return;
        if (!part && e.order && e.at >= ahead.until && e.at + AHEAD < e.length) {
            const Index soon = e.order[e.at + AHEAD];
            const Segment& other = holding(e, soon);
            fetch(other, soon - other.first);
        }
        const Index row = e.order ? e.order[e.at] : e.at;
        const Segment& segment = holding(e, row);
        const Index i = row - segment.first, own = static_cast<Index>(segment.y[i]);
        if (e.measure) e.largest = std::max(e.largest, square(segment, i));
        Index rival = known ? 1 - own : own;
        if (!known && !mistaken(e, ahead.scores(e, segment, i), own, rival)) {
            ++e.presented;
            ++e.survived;
            continue;
        }
        if (e.survived > e.longest || (e.log && e.logged == e.room)) return;
        ++e.presented;
        if (e.log) {
            std::int64_t* entry = e.log + 3 * e.logged++;
            entry[0] = row;
            entry[1] = rival;
            entry[2] = e.presented;
        }
        update(e, segment, i, own, rival, ahead);
        ++e.mistakes;
        e.survived = 0;
    }
}

void project(const Presentation& e, const double* vector, double* out) {
    for (Index s = 0; s < e.segment_count; ++s)
        for (Index i = 0; i < e.segments[s].rows; ++i) score_across(e, e.segments[s], i, vector, 1, out + e.segments[s].first + i);
}

}  // namespace

#define LINEAL_STRING_(x) #x
#define LINEAL_STRING(x) LINEAL_STRING_(x)
#define LINEAL_JOIN_(a, b) a##b
#define LINEAL_JOIN(a, b) LINEAL_JOIN_(a, b)

namespace lineal {

extern const Perceptrons LINEAL_JOIN(perceptrons_, LINEAL_LEVEL);
const Perceptrons LINEAL_JOIN(perceptrons_, LINEAL_LEVEL) = {LINEAL_STRING(LINEAL_LEVEL), run, project};

}  // namespace lineal
