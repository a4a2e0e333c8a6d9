// Searches for nearest rows, for Python.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "neighbors/index.hpp"
#include "arrays.hpp"
#include "team.hpp"

namespace {

// Distances and row numbers of k neighbors for every query, as numpy arrays.
struct Found {
    Found(std::size_t count, Index k, const std::optional<Line<std::int64_t>>& own, Index rows)
        : count(count), k(static_cast<std::size_t>(k)), distances(new double[count * this->k]), numbers(new std::int64_t[count * this->k]) {
        if (own && own->size() != count) throw nb::value_error("there must be one row number for every query");
        if (k < 1 || k > rows - (own ? 1 : 0)) throw nb::value_error("k must be at least 1 and at most the number of rows to be found");
    }
    Queries queries(const double* data, const std::optional<Line<std::int64_t>>& own) const {
        Queries out;
        out.data = data;
        out.own = own ? own->data() : nullptr;
        out.count = static_cast<Index>(count);
        out.k = static_cast<Index>(k);
        out.distances = distances.get();
        out.rows = numbers.get();
        return out;
    }
    nb::tuple arrays() { return nb::make_tuple(owning(std::move(distances), {count, k}), owning(std::move(numbers), {count, k})); }

    std::size_t count, k;
    std::unique_ptr<double[]> distances;
    std::unique_ptr<std::int64_t[]> numbers;
};

Metric known_metric(int metric) {
    if (metric < 0 || metric > static_cast<int>(Metric::power)) throw nb::value_error("metric must be between 0 and 4");
    return static_cast<Metric>(metric);
}

class PyNeighbors {
public:
    PyNeighbors(Grid<double> rows, int metric, double power)
        : rows_(std::move(rows)),
          metric_(known_metric(metric)),
          index_(rows_.data(), static_cast<Index>(rows_.shape(0)), static_cast<Index>(rows_.shape(1)), metric_, power) {
        if (index_.rows() > (Index{1} << 30)) throw nb::value_error("there are too many rows");
    }

    nb::tuple search(const Grid<double>& queries, Index k, int way, Index leaf, const std::optional<Line<std::int64_t>>& own) {
        check(queries);
        const Way asked = way_of(way);
        if (leaf < 1) throw nb::value_error("a leaf must hold at least one row");
        Found found(queries.shape(0), k, own, index_.rows());
        without_lock([&] {
            prepare(asked, leaf);
            looked_ = index_.search(team(), asked, found.queries(queries.data(), own));
        });
        return found.arrays();
    }

    nb::object distances(const Grid<double>& queries) {
        check(queries);
        const auto rows = static_cast<std::size_t>(index_.rows());
        std::unique_ptr<double[]> out(new double[queries.shape(0) * rows]);
        without_lock([&] {
            prepare(Way::direct, 1);
            index_.distances(team(), queries.data(), static_cast<Index>(queries.shape(0)), out.get());
        });
        return owning(std::move(out), {queries.shape(0), rows});
    }

    Index looked() const { return looked_; }

private:
    void prepare(Way way, Index leaf) {
        const std::lock_guard lock(preparing_);  // several Python threads may ask at a time
        index_.prepare(team(), way, leaf);
    }
    void check(const Grid<double>& queries) const {
        if (static_cast<Index>(queries.shape(1)) != index_.columns())
            throw nb::value_error(("queries must have " + std::to_string(index_.columns()) + " columns").c_str());
    }
    Way way_of(int way) const {
        if (way < 0 || way > 2) throw nb::value_error("way must be 0 (direct), 1 (tiles) or 2 (tree)");
        if (way == 1 && (metric_ != Metric::squared || index_.columns() > Singles::most_columns))
            throw nb::value_error("tiles search by squared distances, of at most 100000 columns");
        if (way == 2 && metric_ > Metric::chebyshev) throw nb::value_error("no tree is made for this metric");
        return static_cast<Way>(way);
    }

    Grid<double> rows_;
    Metric metric_;
    Neighbors index_;
    std::mutex preparing_;
    std::atomic<Index> looked_{0};
};

nb::tuple select_least(const Grid<double>& given, Index k, const std::optional<Line<std::int64_t>>& own) {
    Found found(given.shape(0), k, own, static_cast<Index>(given.shape(1)));
    without_lock([&] { select(team(), given.data(), static_cast<Index>(given.shape(1)), found.queries(nullptr, own)); });
    return found.arrays();
}

// (indptr, indices, data, columns) of sparse rows, checked.
struct PySparseTable {
    explicit PySparseTable(const nb::tuple& parts)
        : starts(nb::cast<Line<std::int64_t>>(parts[0])),
          indices(nb::cast<Line<std::int64_t>>(parts[1])),
          values(nb::cast<Line<double>>(parts[2])) {
        table = {starts.data(), indices.data(), values.data(), static_cast<Index>(starts.size()) - 1, nb::cast<Index>(parts[3])};
        bool good = starts.size() > 0 && table.starts[0] == 0 && indices.size() == values.size() &&
                    table.starts[table.rows] == static_cast<Index>(values.size());
        for (Index i = 0; good && i < table.rows; ++i) good = table.starts[i] <= table.starts[i + 1];
        for (Index i = 0; good && i < table.rows; ++i)
            for (Index t = table.starts[i]; good && t < table.starts[i + 1]; ++t)
                good = table.indices[t] > (t == table.starts[i] ? -1 : table.indices[t - 1]) && table.indices[t] < table.columns;
        if (!good) throw nb::value_error("sparse rows must have increasing columns within range");
    }
    Line<std::int64_t> starts, indices;
    Line<double> values;
    SparseTable table;
};

void same_columns(const PySparseTable& rows, const PySparseTable& queries) {
    if (queries.table.columns != rows.table.columns) throw nb::value_error("rows and queries must have the same columns");
}

nb::tuple searched_sparse(const nb::tuple& rows, const nb::tuple& asked, int metric, double power, Index k,
                          const std::optional<Line<std::int64_t>>& own) {
    const PySparseTable data(rows), queries(asked);
    same_columns(data, queries);
    const Metric measure = known_metric(metric);
    Found found(static_cast<std::size_t>(queries.table.rows), k, own, data.table.rows);
    without_lock([&] { search_sparse(team(), measure, power, data.table, queries.table, found.queries(nullptr, own)); });
    return found.arrays();
}

nb::object sparse_apart(const nb::tuple& rows, const nb::tuple& asked, int metric, double power) {
    const PySparseTable data(rows), queries(asked);
    same_columns(data, queries);
    const Metric measure = known_metric(metric);
    const auto count = static_cast<std::size_t>(queries.table.rows), columns = static_cast<std::size_t>(data.table.rows);
    std::unique_ptr<double[]> out(new double[count * columns]);
    without_lock([&] { sparse_distances(team(), measure, power, data.table, queries.table, out.get()); });
    return owning(std::move(out), {count, columns});
}

void bind_neighbors(nb::module_& m) {
    nb::class_<PyNeighbors>(m, "Neighbors", "Rows that are searched for the nearest ones.")
        .def(nb::init<Grid<double>, int, double>(), nb::arg("rows"), nb::arg("metric"), nb::arg("power") = 2.0)
        .def("search", &PyNeighbors::search, nb::arg("queries"), nb::arg("k"), nb::arg("way"), nb::arg("leaf") = 32,
             nb::arg("own").none() = nb::none())
        .def("distances", &PyNeighbors::distances, nb::arg("queries"))
        .def_prop_ro("looked", &PyNeighbors::looked);
    m.def("search_sparse", searched_sparse, nb::arg("rows"), nb::arg("asked"), nb::arg("metric"), nb::arg("power"), nb::arg("k"),
          nb::arg("own").none() = nb::none());
    m.def("sparse_distances", sparse_apart, nb::arg("rows"), nb::arg("asked"), nb::arg("metric"), nb::arg("power"));
    m.def("select_least", select_least, nb::arg("given"), nb::arg("k"), nb::arg("own").none() = nb::none());
}

}  // namespace
