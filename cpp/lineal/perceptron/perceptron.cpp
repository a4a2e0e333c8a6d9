// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include "perceptron/presentation.hpp"
#include "perceptron/dense_binary.hpp"
#include "perceptron/certified_sign.hpp"

namespace {

// Scores for the rows from e.at on: those of several rows together where that is possible, else of one.
struct Ahead {
    Index from = 0, until = 0;
    Index rows[ROWS], soon[ROWS];
    const Segment* segment = nullptr;

    const double* scores(const Presentation& e, const Segment& now, Index i) {
        if (e.at >= from && e.at < until) return e.eta + (e.at - from) * e.outputs;
        from = until = e.at;
        if (!e.across)
            score_down(e, now, i, e.eta);
        else if (e.outputs > 1 && fill(e, now))
            score_block(e, now, rows, soon);
        else
            score_across(e, now, i, e.coef, e.outputs, e.eta);
        return e.eta;
    }
    bool fill(const Presentation& e, const Segment& now) {
        if (e.at + ROWS > e.length || !all_dense(now)) return false;
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

// Whether row i is mistaken, and for what: of several rows only the signs of scores matter.
bool wrong(const Presentation& e, const Segment& segment, Index i, Index own, Index& rival, Ahead& ahead) {
    if (e.signs_only && stored(segment)) {
        const BoundedScore score = bounded_score(segment, i, e.coef);
        if (score.sure()) return mistaken(e, &score.score, own, rival);
    }
    return mistaken(e, ahead.scores(e, segment, i), own, rival);
}

void update(Presentation& e, const Segment& segment, Index i, Index own, Index rival, Ahead& ahead) {
    if (e.outputs == 1) return add(e, segment, i, 0, own == 1 ? e.rate : -e.rate);
    add(e, segment, i, own, e.rate);
    add(e, segment, i, rival, -e.rate);
    ahead.again(e, own);
    ahead.again(e, rival);
}

void run(Presentation& e) {
    Ahead ahead;
    const Part* part = dense_part(e);
    const bool plain = e.signs_only && !e.drift && !e.log && e.longest >= e.survived + e.length - e.at;  // nothing happens but updates
    if (plain && paced(e)) return pace(e);
    if (part && plain) return part->single ? present_dense<float>(e, *part) : present_dense<double>(e, *part);
    for (; e.at < e.length; ++e.at) {
        const bool known = part && (part->single ? sweep<float>(e, *part) : sweep<double>(e, *part));
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
        if (!known && !wrong(e, segment, i, own, rival, ahead)) {
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

namespace lineal::LINEAL_LEVEL {

const Perceptrons& perceptrons() {
    static const Perceptrons table = {::run, ::project};
    return table;
}

}  // namespace lineal::LINEAL_LEVEL
