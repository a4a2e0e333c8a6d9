"""Every way of searching finds the rows that plain numpy finds, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lineal import _core

WAYS = {"direct": 0, "tiles": 1, "tree": 2}
METRICS = {"squared": 0, "manhattan": 1, "chebyshev": 2, "hamming": 3, "power": 4}


def plain(queries, rows, metric, power=3.0):
    """All distances as the page states them: column after column, every step rounded once."""
    sums = np.zeros((len(queries), len(rows)))
    for j in range(rows.shape[1]):
        gap = np.abs(queries[:, j, None] - rows[None, :, j])
        if metric == "chebyshev":
            sums = np.maximum(sums, gap)
        else:
            sums = sums + {"squared": gap * gap, "manhattan": gap, "hamming": gap != 0.0, "power": gap**power}[metric]
    return sums


def least(distances, k, own=None):
    """The k least of every row; of equal ones the first."""
    distances = distances.copy()
    if own is not None:
        distances[np.arange(len(own)), own] = np.inf
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, order, axis=1), order


def draw(kind, n, d, seed=0):
    """Rows and queries of a kind that is hard for somebody."""
    rng = np.random.default_rng(seed)
    rows, queries = rng.normal(size=(n, d)), rng.normal(size=(67, d))
    if kind == "whole":
        rows, queries = np.floor(rows), np.floor(queries)
    elif kind == "far":
        rows, queries = rows + 1e8, queries + 1e8
    elif kind == "same":
        rows[:], queries[::2] = rows[0], rows[0]
    elif kind == "clusters":
        rows[::2] += 1e8
        queries[::3] += 1e8
    elif kind == "huge queries":
        queries[::3] *= 1e30
    elif kind == "outlier":
        rows[0] *= 1e12
    elif kind == "neighboring doubles":
        rows = 1.0 + rng.integers(0, 5, (n, d)) * 2.0**-52
        queries = 1.0 + rng.integers(0, 5, (67, d)) * 2.0**-52
    elif kind == "tiny":
        rows, queries = rows * 1e-40, queries * 1e-40
    return rows, queries


KINDS = ["normal", "whole", "far", "same", "clusters", "huge queries", "outlier", "neighboring doubles", "tiny"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "d", "k"), [(400, 3, 5), (333, 21, 10), (150, 64, 100), (1, 2, 1)])
def test_squared_distances(way, kind, n, d, k):
    rows, queries = draw(kind, n, d)
    found, numbers = _core.Neighbors(rows, 0).search(queries, k, WAYS[way], 8)
    distances, order = least(plain(queries, rows, "squared"), k)
    np.testing.assert_array_equal(found, distances)
    np.testing.assert_array_equal(numbers, order)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("way", ["direct", "tree"])
@pytest.mark.parametrize("kind", ["normal", "whole", "same"])
def test_other_metrics(metric, way, kind):
    rows, queries = draw(kind, 300, 4)
    index = _core.Neighbors(rows, METRICS[metric], 3.0)
    if way == "tree" and metric in ("hamming", "power"):
        with pytest.raises(ValueError, match="no tree"):
            index.search(queries, 7, WAYS[way])
        return
    wanted = plain(queries, rows, metric)
    found, numbers = index.search(queries, 7, WAYS[way], 8)
    distances, order = least(wanted, 7)
    if metric == "power":  # numpy raises to a power by other roundings
        np.testing.assert_allclose(found, distances, rtol=1e-14)
        return
    np.testing.assert_array_equal(found, distances)
    np.testing.assert_array_equal(numbers, order)
    np.testing.assert_array_equal(index.distances(queries), wanted)


@pytest.mark.parametrize("way", WAYS)
def test_a_row_does_not_find_itself(way):
    rows, _ = draw("whole", 200, 2)
    own = np.arange(200)[::-1].copy()
    found, numbers = _core.Neighbors(rows, 0).search(rows[own], 9, WAYS[way], 8, own)
    distances, order = least(plain(rows[own], rows, "squared"), 9, own)
    np.testing.assert_array_equal(numbers, order)
    np.testing.assert_array_equal(found, distances)


@pytest.mark.parametrize("way", WAYS)
def test_threads_give_the_same_bits(way):
    rows, queries = draw("whole", 500, 5)
    found = []
    for threads in (1, 2, 5):
        _core.set_threads(threads)
        try:
            found.append(_core.Neighbors(rows, 0).search(queries, 20, WAYS[way], 8))
        finally:
            _core.set_threads(0)
    for distances, numbers in found[1:]:
        np.testing.assert_array_equal(distances, found[0][0])
        np.testing.assert_array_equal(numbers, found[0][1])


def table_of(matrix):
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data, matrix.shape[1]


@pytest.mark.parametrize("metric", ["squared", "manhattan", "chebyshev", "hamming"])
@pytest.mark.parametrize("kind", ["normal", "whole", "far"])
def test_sparse_rows_have_the_bits_of_dense_ones(metric, kind):
    rng = np.random.default_rng(3)
    rows, queries = draw(kind, 200, 30)
    rows, queries = rows * (rng.random(rows.shape) < 0.2), queries * (rng.random(queries.shape) < 0.2)
    own = np.arange(len(queries)) % 200
    held = [table_of(sparse.csr_array(each)) for each in (rows, queries)]
    found, numbers = _core.search_sparse(*held, METRICS[metric], 2.0, 6, own)
    distances, order = least(plain(queries, rows, metric), 6, own)
    np.testing.assert_array_equal(found, distances)
    np.testing.assert_array_equal(numbers, order)
    np.testing.assert_array_equal(_core.sparse_distances(*held, METRICS[metric], 2.0), plain(queries, rows, metric))


def test_given_distances_are_selected_in_order():
    given = np.floor(np.random.default_rng(5).normal(size=(40, 90)) * 3)
    for k in (1, 30, 90):
        found, numbers = _core.select_least(given, k)
        np.testing.assert_array_equal(found, least(given, k)[0])
        np.testing.assert_array_equal(numbers, least(given, k)[1])


def test_what_is_wrong_is_refused():
    index = _core.Neighbors(np.eye(3), 0)
    with pytest.raises(ValueError, match="k must be"):
        index.search(np.eye(3), 4, 0)
    with pytest.raises(ValueError, match="k must be"):
        index.search(np.eye(3), 3, 0, 8, np.arange(3))
    with pytest.raises(ValueError, match="3 columns"):
        index.search(np.eye(4), 1, 0)
    damaged = (np.array([0, 2]), np.array([1, 0]), np.ones(2), 2)
    with pytest.raises(ValueError, match="increasing"):
        _core.search_sparse(damaged, damaged, 0, 2.0, 1)
