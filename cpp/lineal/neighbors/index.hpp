// Rows that are searched for neighbors, in the layouts that searches ask for, made when they are first needed.
#pragma once

#include <vector>

#include "neighbors/neighbors.hpp"
#include "passes/layout.hpp"

namespace lineal {

enum class Way { direct, tiles, tree };

// Rows stay where they are; nobody may change them meanwhile.
class Neighbors {
public:
    Neighbors(const double* rows, Index count, Index columns, Metric metric, double power);
    Index rows() const { return count_; }
    Index columns() const { return columns_; }

    // Lays rows out for a way of searching, once; leaves of a tree hold about `leaf` rows.
    void prepare(const Team& team, Way way, Index leaf);
    // The k nearest rows of every query, in order; a query with fewer rows is refused before. Returns how many rows leaves held that a
    // tree looked at, 0 for other ways.
    Index search(const Team& team, Way way, Queries queries) const;
    // All distances: out[query * rows() + row].
    void distances(const Team& team, const double* queries, Index count, double* out) const;

    // Leaves first .. last - 1 under one node or leaf.
    struct Range {
        Index first, last;
        Index count() const { return last - first; }
    };

private:
    // The borders of leaves, and the least number of their rows.
    struct Boxes {
        Boxes(Index leaves, Index columns)
            : low(static_cast<std::size_t>(leaves * columns)), high(low.size()), lowest(static_cast<std::size_t>(leaves)) {}
        std::vector<double> low, high;
        std::vector<std::int64_t> lowest;
    };

    void lay_groups(const Team& team);
    void lay_singles(const Team& team);
    void plant(const Team& team, Index leaf);
    void grow(const Team& team, Index leaves, const std::vector<std::int64_t>& order);
    void fill(Index leaf, Index first, const std::vector<std::int64_t>& order, Boxes& borders);
    std::int32_t connect(Range all, Boxes& borders, std::vector<double>& boxes);
    void far(const Queries& queries, std::vector<std::int64_t>& near, std::vector<std::int64_t>& beyond) const;
    Groups groups() const { return {groups_.get(), columns_, count_}; }
    Tree tree() const;

    const double* data_;
    Index count_, columns_;
    Metric metric_;
    double power_;

    Buffer groups_;
    BufferOf<float> singles_, bias_;
    std::vector<double> center_;
    int shift_ = 0;

    Buffer leaves_, boxes_;
    std::vector<std::int64_t> number_;
    std::vector<Index> starts_;
    std::vector<std::int32_t> sizes_;
    std::vector<Node> nodes_;
};

// The k least of every row of given distances [count, rows], and where they stand, in order.
void select(const Team& team, const double* given, Index rows, const Queries& queries);

// Sparse rows: the entries of row i stand at starts[i] .. starts[i + 1] - 1, their columns increase.
struct SparseTable {
    const std::int64_t* starts = nullptr;
    const std::int64_t* indices = nullptr;
    const double* values = nullptr;
    Index rows = 0, columns = 0;
};

// The same searches over sparse rows; `queries` says where answers go, `asked` holds the queries.
void search_sparse(const Team& team, Metric metric, double power, const SparseTable& rows, const SparseTable& asked,
                   const Queries& queries);
void sparse_distances(const Team& team, Metric metric, double power, const SparseTable& rows, const SparseTable& asked, double* out);

}  // namespace lineal
