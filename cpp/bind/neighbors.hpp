// Searches for nearest rows, for Python.
#pragma once

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "neighbors/index.hpp"
#include "picking.hpp"
#include "team.hpp"

namespace {

using QueryTable = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using RowNumbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Distances and row numbers of k neighbors for every query, as numpy arrays.
struct Found {
    Found(std::size_t count, Index k, const std::optional<RowNumbers>& own, Index rows)
        : count(count), k(static_cast<std::size_t>(k)), distances(new double[count * this->k]), numbers(new std::int64_t[count * this->k]) {
        if (own && own->size() != count) throw nb::value_error("there must be one row number for every query");
        if (k < 1 || k > rows - (own ? 1 : 0)) throw nb::value_error("k must be at least 1 and at most the number of rows to be found");
    }
    Queries queries(const double* data, const std::optional<RowNumbers>& own) const {
        Queries out;
        out.data = data;
        out.own = own ? own->data() : nullptr;
        out.count = static_cast<Index>(count);
        out.k = static_cast<Index>(k);
        out.distances = distances.get();
        out.rows = numbers.get();
        return out;
    }
    template <class T>
    static nb::object table(std::unique_ptr<T[]> values, std::size_t rows, std::size_t columns) {
        T* data = values.release();
        const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
        return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(data, {rows, columns}, owner));
    }
    nb::tuple arrays() { return nb::make_tuple(table(std::move(distances), count, k), table(std::move(numbers), count, k)); }

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
    PyNeighbors(QueryTable rows, int metric, double power)
        : rows_(std::move(rows)),
          metric_(known_metric(metric)),
          index_(rows_.data(), static_cast<Index>(rows_.shape(0)), static_cast<Index>(rows_.shape(1)), metric_, power) {
        if (index_.rows() > (Index{1} << 30)) throw nb::value_error("there are too many rows");
    }

    nb::tuple search(const QueryTable& queries, Index k, int way, Index leaf, const std::optional<RowNumbers>& own) {
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

    nb::object distances(const QueryTable& queries) {
        check(queries);
        const auto rows = static_cast<std::size_t>(index_.rows());
        std::unique_ptr<double[]> out(new double[queries.shape(0) * rows]);
        without_lock([&] {
            prepare(Way::direct, 1);
            index_.distances(team(), queries.data(), static_cast<Index>(queries.shape(0)), out.get());
        });
        return Found::table(std::move(out), queries.shape(0), rows);
    }

    Index looked() const { return looked_; }

private:
    void prepare(Way way, Index leaf) {
        const std::lock_guard lock(preparing_);  // several Python threads may ask at a time
        index_.prepare(team(), way, leaf);
    }
    void check(const QueryTable& queries) const {
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

    QueryTable rows_;
    Metric metric_;
    Neighbors index_;
    std::mutex preparing_;
    std::atomic<Index> looked_{0};
};

nb::tuple select_least(const QueryTable& given, Index k, const std::optional<RowNumbers>& own) {
    Found found(given.shape(0), k, own, static_cast<Index>(given.shape(1)));
    without_lock([&] { select(team(), given.data(), static_cast<Index>(given.shape(1)), found.queries(nullptr, own)); });
    return found.arrays();
}

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// (indptr, indices, data, columns) of sparse rows, checked.
struct PySparseTable {
    explicit PySparseTable(const nb::tuple& parts)
        : starts(nb::cast<RowNumbers>(parts[0])), indices(nb::cast<RowNumbers>(parts[1])), values(nb::cast<Doubles>(parts[2])) {
        table = {starts.data(), indices.data(), values.data(), static_cast<Index>(starts.size()) - 1, nb::cast<Index>(parts[3])};
        bool good = starts.size() > 0 && table.starts[0] == 0 && indices.size() == values.size() &&
                    table.starts[table.rows] == static_cast<Index>(values.size());
        for (Index i = 0; good && i < table.rows; ++i) good = table.starts[i] <= table.starts[i + 1];
        for (Index i = 0; good && i < table.rows; ++i)
            for (Index t = table.starts[i]; good && t < table.starts[i + 1]; ++t)
                good = table.indices[t] > (t == table.starts[i] ? -1 : table.indices[t - 1]) && table.indices[t] < table.columns;
        if (!good) throw nb::value_error("sparse rows must have increasing columns within range");
    }
    RowNumbers starts, indices;
    Doubles values;
    SparseTable table;
};

void same_columns(const PySparseTable& rows, const PySparseTable& queries) {
    if (queries.table.columns != rows.table.columns) throw nb::value_error("rows and queries must have the same columns");
}

nb::tuple searched_sparse(const nb::tuple& rows, const nb::tuple& asked, int metric, double power, Index k,
                          const std::optional<RowNumbers>& own) {
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
    return Found::table(std::move(out), count, columns);
}

void bind_neighbors(nb::module_& m) {
    nb::class_<PyNeighbors>(m, "Neighbors", "Rows that are searched for the nearest ones.")
        .def(nb::init<QueryTable, int, double>(), nb::arg("rows"), nb::arg("metric"), nb::arg("power") = 2.0)
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
