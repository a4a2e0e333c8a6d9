// Nearest rows of sparse rows: columns in which both are zero add nothing, so that distances have the bits of dense rows.
#include <cmath>

#include "neighbors/index.hpp"
#include "neighbors/nearest.hpp"

namespace lineal {

namespace {

struct Row {
    const std::int64_t* columns;
    const double* values;
    Index size;
};

Row row_of(const SparseTable& table, Index i) {
    const Index first = table.starts[i];
    return {table.indices + first, table.values + first, table.starts[i + 1] - first};
}

// Adds up what every column in which one of both is not zero has to add, in the order of columns.
template <class Add>
void merge(const Row& a, const Row& b, Add add) {
    Index s = 0, t = 0;
    while (s < a.size && t < b.size) {
        if (a.columns[s] == b.columns[t])
            add(a.values[s++] - b.values[t++]);
        else if (a.columns[s] < b.columns[t])
            add(a.values[s++]);
        else
            add(-b.values[t++]);
    }
    for (; s < a.size; ++s) add(a.values[s]);
    for (; t < b.size; ++t) add(-b.values[t]);
}

double apart(Metric metric, double power, const Row& a, const Row& b) {
    double sum = 0;
    switch (metric) {
        case Metric::squared:
            merge(a, b, [&](double difference) { sum += difference * difference; });
            break;
        case Metric::manhattan:
            merge(a, b, [&](double difference) { sum += std::fabs(difference); });
            break;
        case Metric::chebyshev:
            merge(a, b, [&](double difference) { sum = std::max(sum, std::fabs(difference)); });
            break;
        case Metric::hamming:
            merge(a, b, [&](double difference) { sum += difference != 0; });
            break;
        case Metric::power:
            merge(a, b, [&](double difference) { sum += std::pow(std::fabs(difference), power); });
            break;
    }
    return sum;
}

double norm_of(const Row& row) {
    double sum = 0;
    for (Index t = 0; t < row.size; ++t) sum += row.values[t] * row.values[t];
    return sum;
}

// A query's numbers where its columns are, zeros elsewhere, for products with many rows.
class Spread {
public:
    explicit Spread(Index columns) : numbers_(static_cast<std::size_t>(columns), 0.0) {}
    void set(const Row& row, bool present) {
        for (Index t = 0; t < row.size; ++t) numbers_[static_cast<std::size_t>(row.columns[t])] = present ? row.values[t] : 0.0;
    }
    double times(const Row& row) const {
        double even = 0, odd = 0;
        Index t = 0;
        for (; t + 1 < row.size; t += 2) {
            even += row.values[t] * numbers_[static_cast<std::size_t>(row.columns[t])];
            odd += row.values[t + 1] * numbers_[static_cast<std::size_t>(row.columns[t + 1])];
        }
        if (t < row.size) even += row.values[t] * numbers_[static_cast<std::size_t>(row.columns[t])];
        return even + odd;
    }

private:
    std::vector<double> numbers_;
};

// What |q|^2 + |x|^2 - 2 q'x must exceed before a row of that sum of squares is passed over: three sums of at most m terms, each
// within (m + 4) 2^-53 of the sum of its absolute values, none of which exceeds |q|^2 + |x|^2, and the rounding of distances.
double beyond(double worst, double squares, Index terms) {
    const double rounding = 8 * static_cast<double>(terms + 4) * 0x1p-53;
    return worst * (1 + rounding) + rounding * squares + static_cast<double>(terms) * 0x1p-1000;
}

}  // namespace

void search_sparse(const Team& team, Metric metric, double power, const SparseTable& rows, const SparseTable& asked,
                   const Queries& queries) {
    std::vector<double> norms(static_cast<std::size_t>(rows.rows));
    for (Index i = 0; i < rows.rows; ++i) norms[static_cast<std::size_t>(i)] = norm_of(row_of(rows, i));
    const Index size = std::max<Index>(1, std::min<Index>(64, queries.count / 8));
    run(
        team, (queries.count + size - 1) / size,
        [&](int, Index chunk, Watch& watch) {
            Nearest nearest;
            Spread spread(metric == Metric::squared ? rows.columns : 0);
            for (Index q = size * chunk; q < std::min(queries.count, size * (chunk + 1)); ++q) {
                const Row query = row_of(asked, q);
                const double norm = norm_of(query);
                nearest.start(queries.k);
                if (metric == Metric::squared) spread.set(query, true);
                const Index own = queries.own ? queries.own[q] : -1;
                for (Index i = 0; i < rows.rows; ++i) {
                    if (i % 4096 == 0 && watch.stop()) return;
                    const Row row = row_of(rows, i);
                    if (metric == Metric::squared && nearest.full()) {
                        const double squares = norm + norms[static_cast<std::size_t>(i)];
                        if (squares - 2 * spread.times(row) > beyond(nearest.worst(), squares, row.size + query.size)) continue;
                    }
                    if (i != own) nearest.offer(apart(metric, power, query, row), i);
                }
                if (metric == Metric::squared) spread.set(query, false);
                nearest.write(queries.distances + q * queries.k, queries.rows + q * queries.k);
            }
        },
        nullptr);
}

void sparse_distances(const Team& team, Metric metric, double power, const SparseTable& rows, const SparseTable& asked, double* out) {
    run(
        team, asked.rows,
        [&](int, Index q, Watch& watch) {
            for (Index i = 0; i < rows.rows; ++i) {
                if (i % 4096 == 0 && watch.stop()) return;
                out[q * rows.rows + i] = apart(metric, power, row_of(asked, q), row_of(rows, i));
            }
        },
        nullptr);
}

}  // namespace lineal
