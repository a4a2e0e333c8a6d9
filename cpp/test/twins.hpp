// Checks of two threads that present the same rows.
#pragma once

#include "../lineal/twins.hpp"
#include "checks.hpp"

namespace {

// Two threads with half of the columns each against one: the same bits, whether scores are sure or, where numbers are whole, ties.
template <class T>
void check_pair(Index n, Index p, Index k, bool ones, bool whole, Index patience) {
    std::vector<double> drawn = numbers(n * p, 11), y(Design::at(n));
    std::vector<T> x(drawn.size());
    for (std::size_t t = 0; t < x.size(); ++t) x[t] = static_cast<T>(whole ? std::rint(drawn[t]) : drawn[t]);
    for (Index i = 0; i < n; ++i) y[Design::at(i)] = static_cast<double>((i * 7 + i / 3) % k);
    Part parts[2];
    parts[0].rows = parts[1].rows = n;
    parts[0].columns = 1;
    parts[1].kind = Kind::dense;
    parts[1].columns = parts[1].row_stride = p;
    parts[1].column_stride = 1;
    parts[1].values = x.data();
    parts[1].single = sizeof(T) == 4;
    Segment segment{};
    segment.parts = parts + (ones ? 0 : 1);
    segment.part_count = ones ? 2 : 1;
    segment.rows = n;
    segment.y = y.data();
    const Index columns = p + (ones ? 1 : 0);
    std::vector<double> coef[2], eta(Design::at(Presentation::ROWS * k)), largest;
    Index mistakes[2];
    for (int way = 0; way < 2; ++way) {
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
            if (way == 1) {
                CHECK(paired(e, 2, 0));
                together(e, patience);
            }
            if (e.at < e.length) perceptrons().run(e);
        }
        CHECK(e.at == n && e.presented == 3 * n);
        mistakes[way] = e.mistakes;
        largest.push_back(e.largest);
    }
    CHECK(mistakes[0] == mistakes[1] && largest[0] == largest[1] && coef[0] == coef[1]);
}

void check_twins() {
    for (const Index patience : {Index{0}, Index{1} << 40}) {
        check_pair<double>(203, 37, 4, true, false, patience);
        check_pair<float>(120, 52, 7, false, false, patience);
        check_pair<double>(96, 16, 3, false, true, patience);
        check_pair<double>(64, 129, 11, true, true, patience);
    }
}

}  // namespace
