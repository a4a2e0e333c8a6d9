// Gram matrices of rows of numbers.
#include "kernels/gram.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace lineal {

namespace {

constexpr Index L = group_lanes;

// Rows as groups of eight side by side, zeros behind the last.
std::vector<double> grouped(const Team& team, const double* rows, Index count, Index numbers) {
    const Index groups = (count + L - 1) / L;
    std::vector<double> out(static_cast<std::size_t>(groups * numbers * L));
    const Index chunks = std::min<Index>(groups, 64);
    run(
        team, chunks,
        [&](int, Index chunk, Watch& watch) {
            for (Index g = cut(groups, chunk, chunks); g < cut(groups, chunk + 1, chunks) && !watch.stop(); ++g)
                for (Index a = 0; a < std::min(L, count - g * L); ++a)
                    for (Index j = 0; j < numbers; ++j)
                        out[static_cast<std::size_t>((g * numbers + j) * L + a)] = rows[(g * L + a) * numbers + j];
        },
        nullptr);
    return out;
}

// |a| + |b| - |a - b|, without rounding
double shared(double a, double b) { return (a > 0) == (b > 0) ? 2 * std::min(std::abs(a), std::abs(b)) : 0; }

}  // namespace

void dense_gram(const Team& team, Between between, const Finish& finish, const double* left, Index rows, const double* right, Index others,
                Index numbers, double* out) {
    const bool symmetric = right == nullptr;
    const std::vector<double> one = grouped(team, left, rows, numbers);
    const std::vector<double> two = symmetric ? std::vector<double>() : grouped(team, right, others, numbers);
    const double* const columns = symmetric ? one.data() : two.data();
    const Index width = symmetric ? rows : others;
    const Index tall = (rows + L - 1) / L, groups = (width + L - 1) / L;
    // a strip of columns stays in cache while a stretch of rows goes along it
    const Index strip = std::max<Index>(2, std::min<Index>(32, 4096 / std::max<Index>(1, numbers) / 2 * 2));
    constexpr Index stretch = 16;
    const Index chunks = (tall + stretch - 1) / stretch;
    run(
        team, chunks,
        [&](int, Index chunk, Watch& watch) {
            const Index top = chunk * stretch, bottom = std::min(top + stretch, tall);
            std::vector<double> tile(static_cast<std::size_t>(L * strip * L));
            for (Index g = symmetric ? top : 0; g < groups; g += strip)
                for (Index a = top; a < bottom; ++a) {
                    if (watch.stop()) return;
                    const Index start = symmetric ? std::max(g, a) : g, end = std::min(g + strip, groups);
                    if (start >= end) continue;
                    entries().block(between, finish, one.data() + a * numbers * L, columns + start * numbers * L, end - start, numbers,
                                    tile.data(), strip * L);
                    const Index lines = std::min(L, rows - a * L), many = std::min(end * L, width) - start * L;
                    for (Index i = 0; i < lines; ++i) std::copy_n(tile.data() + i * strip * L, many, out + (a * L + i) * width + start * L);
                    if (!symmetric) continue;
                    for (Index j = 0; j < many; ++j)
                        for (Index i = 0; i < lines; ++i)
                            out[(start * L + j) * width + a * L + i] = tile[static_cast<std::size_t>(i * strip * L + j)];
                }
        },
        nullptr);
}

void sparse_gram(const Team& team, const Pairs& pairs, Between between, const std::int64_t* starts, const std::int64_t* columns,
                 const double* values, Index width, double* out) {
    // the points that have an entry in a column, rising
    std::vector<Index> heads(static_cast<std::size_t>(width) + 1), points(static_cast<std::size_t>(starts[pairs.count]));
    std::vector<double> held(points.size());
    for (Index at = 0; at < starts[pairs.count]; ++at) ++heads[static_cast<std::size_t>(columns[at]) + 1];
    for (std::size_t j = 0; j < static_cast<std::size_t>(width); ++j) heads[j + 1] += heads[j];
    std::vector<Index> next(heads.begin(), heads.end() - 1);
    for (Index i = 0; i < pairs.count; ++i)
        for (Index at = starts[i]; at < starts[i + 1]; ++at) {
            const std::size_t to = static_cast<std::size_t>(next[static_cast<std::size_t>(columns[at])]++);
            points[to] = i;
            held[to] = values[at];
        }
    const Index size = pairs.columns();
    run(
        team, pairs.rows(),
        [&](int, Index i, Watch& watch) {
            const Index first = pairs.symmetric() ? i : pairs.first();
            double* const row = out + i * size - pairs.first();
            std::fill(row + first, row + pairs.count, 0.0);
            for (Index at = starts[i]; at < starts[i + 1]; ++at) {
                if (watch.stop()) return;
                const std::size_t column = static_cast<std::size_t>(columns[at]);
                const auto begin = points.begin() + heads[column], end = points.begin() + heads[column + 1];
                auto point = std::lower_bound(begin, end, first);
                const double* other = held.data() + (point - points.begin());
                const double own = values[at];
                if (between == Between::product)
                    for (; point != end; ++point) row[*point] += own * *other++;
                else
                    for (; point != end; ++point) row[*point] += shared(own, *other++);
            }
            if (!pairs.symmetric()) return;
            for (Index j = first + 1; j < pairs.count; ++j) out[j * size + i] = row[j];
        },
        nullptr);
}

}  // namespace lineal
