// Checks of rows of several classes: two threads with half of the columns each, one thread that spares zeros.
#pragma once

#include "../lineal/forerunner.hpp"
#include "../lineal/notes.hpp"
#include "../lineal/twins.hpp"
#include "checks.hpp"

namespace {

// Both against the plain loop: the same bits, whether scores are sure or, where numbers are whole, ties; `skip` numbers lie in front.
template <class T>
void check_pair(Index n, Index p, Index k, bool ones, bool whole, Index patience, Index skip = 0) {
    std::vector<double> drawn = numbers(skip + n * p, 11), y(Design::at(n));
    std::vector<T> x(drawn.size());
    for (std::size_t t = 0; t < x.size(); ++t) x[t] = static_cast<T>(whole ? std::rint(drawn[t]) : drawn[t]);
    for (Index i = 0; i < n; ++i) y[Design::at(i)] = static_cast<double>((i * 7 + i / 3) % k);
    for (Index i = 0; i < n; ++i)  // much of what is left out is a whole cache line
        for (Index j = 0; j < p; ++j)
            if ((i + j / 11) % 3 != 0) x[Design::at(skip + i * p + j)] = 0;
    Part parts[2];
    parts[0].rows = parts[1].rows = n;
    parts[0].columns = 1;
    parts[1].kind = Kind::dense;
    parts[1].columns = parts[1].row_stride = p;
    parts[1].column_stride = 1;
    parts[1].values = x.data() + skip;
    parts[1].single = sizeof(T) == 4;
    Segment segment{};
    segment.parts = parts + (ones ? 0 : 1);
    segment.part_count = ones ? 2 : 1;
    segment.rows = n;
    segment.y = y.data();
    const Index columns = p + (ones ? 1 : 0);
    std::vector<double> coef[4], eta(Design::at(Presentation::ROWS * k)), largest;
    std::vector<std::int64_t> log(Design::at(9 * n));
    const Notes notes(parts[1]);
    std::vector<std::uint64_t> noted(Design::at(n * notes.words));
    Index mistakes[4];
    for (int way = 0; way < 4; ++way) {
        coef[way].assign(Design::at(columns * k), 0.0);
        Presentation e{};
        e.segments = &segment;
        e.segment_count = 1;
        e.columns = e.stride = columns;
        e.outputs = k;
        e.across = true;
        e.rate = 0.5;
        e.coef = coef[way].data();
        e.longest = Index{1} << 62;
        e.eta = eta.data();
        e.measure = true;
        for (int epoch = 0; epoch < 3; ++epoch) {
            e.at = 0;
            e.length = n;
            if (way == 0) {  // with a log every row is presented by itself
                e.log = log.data();
                e.room = 3 * n;
            } else if (way == 1) {
                CHECK(paired(e, 2, 0));
                together(e, patience);
            } else {
                e.spares = spared(e, 1.0);
                CHECK(e.spares && (epoch == 0 || way == 3 || e.known == n));
                e.notes = way == 2 ? noted.data() : nullptr;
            }
            const Forerunner forerunner(e, 2, 0);
            if (e.at < e.length) perceptrons().run(e);
        }
        CHECK(e.at == n && e.presented == 3 * n);
        mistakes[way] = e.mistakes;
        largest.push_back(e.largest);
    }
    CHECK(!spared(Presentation{}));
    for (int way = 1; way < 4; ++way) CHECK(mistakes[0] == mistakes[way] && largest[0] == largest[Design::at(way)] && coef[0] == coef[way]);
}

void check_twins() {
    for (const Index patience : {Index{0}, Index{1} << 40}) {
        check_pair<double>(203, 37, 4, true, false, patience);
        check_pair<float>(120, 52, 7, false, false, patience);
        check_pair<double>(96, 16, 3, false, true, patience);
        check_pair<double>(64, 129, 11, true, true, patience);
        check_pair<double>(90, 560, 3, false, true, patience, 5);
        check_pair<float>(75, 520, 20, true, false, patience, 3);
    }
}

}  // namespace
