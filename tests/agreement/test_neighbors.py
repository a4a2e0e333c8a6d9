"""Neighbors beside scikit-learn's, and beside exact fractions where distances are almost equal."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
import sklearn.metrics
import sklearn.neighbors
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import lineal
from lineal.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
Q = RNG.normal(size=(80, 5))
Y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
T = X @ [1.0, 2.0, 0.0, -1.0, 0.5] + RNG.normal(size=300)
PLACES = sparse.csr_array(X * (RNG.random(X.shape) < 0.4))
METRICS = [
    {"metric": "euclidean"},
    {"metric": "manhattan"},
    {"metric": "cityblock"},
    {"metric": "chebyshev"},
    {"metric": "cosine"},
    {"metric": "sqeuclidean"},
    {"metric": "minkowski", "p": 3},
    {"metric": "minkowski", "p": 1},
    {"metric": "minkowski", "metric_params": {"w": np.array([1.0, 2.0, 0.0, 1.0, 3.0])}},
    {"metric": "canberra"},
    {"metric": "seuclidean", "metric_params": {"V": np.arange(1.0, 6.0)}},
    {"metric": lambda a, b: float(np.abs(a - b).max())},
]


def named(options):
    return "-".join(str(value) if isinstance(value, str | int) else "given" for value in options.values())


@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree", "ball_tree"])
@pytest.mark.parametrize("options", METRICS, ids=named)
def test_neighbors_are_scikit_learns(options, algorithm):
    theirs = sklearn.neighbors.NearestNeighbors(n_neighbors=7, algorithm="brute", **options).fit(X)
    ours = lineal.NearestNeighbors(n_neighbors=7, algorithm=algorithm, **options).fit(X)
    for queries in (Q, None):
        distances, rows = theirs.kneighbors(queries)
        found, numbers = ours.kneighbors(queries)
        np.testing.assert_array_equal(numbers, rows)
        np.testing.assert_allclose(found, distances, rtol=1e-9, atol=1e-12)
    for mode in ("connectivity", "distance"):
        graphs = [each.kneighbors_graph(Q, 3, mode).toarray() for each in (ours, theirs)]
        np.testing.assert_allclose(*graphs, rtol=1e-9, atol=1e-12)
    radius = 1.0001 * float(np.median(found))  # no distance lies on the border
    for queries in (Q, None):
        wanted = theirs.radius_neighbors(queries, radius, sort_results=True)
        inside = ours.radius_neighbors(queries, radius, sort_results=True)
        for one, other in zip(inside[1], wanted[1], strict=True):
            np.testing.assert_array_equal(one, other)
        for one, other in zip(inside[0], wanted[0], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    graphs = [each.radius_neighbors_graph(Q, radius, "distance").toarray() for each in (ours, theirs)]
    np.testing.assert_allclose(*graphs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "minkowski"])
def test_sparse_rows_are_scikit_learns(metric):
    queries = sparse.csr_array(Q * (np.arange(400).reshape(80, 5) % 3 > 0))
    theirs = sklearn.neighbors.NearestNeighbors(n_neighbors=6, metric=metric, algorithm="brute").fit(PLACES.toarray())
    ours = lineal.NearestNeighbors(n_neighbors=6, metric=metric).fit(PLACES)
    assert "sparse" in ours.solver_
    np.testing.assert_allclose(
        ours.kneighbors(queries)[0], theirs.kneighbors(queries.toarray())[0], rtol=1e-7, atol=1e-9
    )
    dense = lineal.NearestNeighbors(n_neighbors=6, metric=metric).fit(PLACES.toarray())
    for one, other in zip(ours.kneighbors(queries), dense.kneighbors(queries.toarray()), strict=True):
        np.testing.assert_array_equal(one, other)


def test_given_distances():
    between = np.abs(X[:, None, 0] - X[None, :, 0])
    theirs = sklearn.neighbors.KNeighborsClassifier(metric="precomputed").fit(between, Y)
    ours = lineal.KNeighborsClassifier(metric="precomputed").fit(between, Y)
    np.testing.assert_array_equal(ours.predict_proba(between[:50]), theirs.predict_proba(between[:50]))
    np.testing.assert_array_equal(ours.kneighbors()[1], theirs.kneighbors()[1])
    with pytest.raises(InputError, match="square"):
        lineal.KNeighborsClassifier(metric="precomputed").fit(between[:, :20], Y)
    with pytest.raises(InputError, match="Negative"):
        lineal.KNeighborsClassifier(metric="precomputed").fit(-between, Y)


@pytest.mark.parametrize("weights", ["uniform", "distance", None, lambda d: np.exp(-d)])
@pytest.mark.parametrize("k", [1, 4, 300])
def test_votes_are_scikit_learns(weights, k):
    # By its tree, which subtracts as we do: its brute force puts a row 1e-7 away from itself on some processors.
    tree = {"weights": weights, "algorithm": "kd_tree"}
    ours = lineal.KNeighborsClassifier(k, weights=weights).fit(X, Y)
    theirs = sklearn.neighbors.KNeighborsClassifier(k, **tree).fit(X, Y)
    for queries in (Q, X):
        np.testing.assert_allclose(ours.predict_proba(queries), theirs.predict_proba(queries), rtol=1e-9, atol=1e-15)
        np.testing.assert_array_equal(ours.predict(queries), theirs.predict(queries))
    for target in (T, np.column_stack([T, -T])):
        ours = lineal.KNeighborsRegressor(k, weights=weights).fit(X, target)
        theirs = sklearn.neighbors.KNeighborsRegressor(k, **tree).fit(X, target)
        np.testing.assert_allclose(ours.predict(Q), theirs.predict(Q), rtol=1e-9)
        np.testing.assert_allclose(ours.predict(X[:9]), theirs.predict(X[:9]), rtol=1e-9)
        assert ours.score(Q, target[:80]) == pytest.approx(theirs.score(Q, target[:80]))


def test_several_targets_are_scikit_learns():
    y = np.column_stack([Y, (X[:, 2] > 0).astype(str)])
    ours = lineal.KNeighborsClassifier(6).fit(X, y)
    theirs = sklearn.neighbors.KNeighborsClassifier(6).fit(X, y)
    np.testing.assert_array_equal(ours.predict(Q), theirs.predict(Q))
    for one, other in zip(ours.predict_proba(Q), theirs.predict_proba(Q), strict=True):
        np.testing.assert_array_equal(one, other)


def test_categories_by_hamming():
    codes = RNG.integers(0, 4, (200, 6)).astype(float)
    theirs = sklearn.neighbors.KNeighborsClassifier(5, metric="hamming", algorithm="brute").fit(codes, Y[:200])
    ours = lineal.KNeighborsClassifier(5, metric="hamming").fit(codes, Y[:200])
    np.testing.assert_allclose(ours.kneighbors(codes[:40])[0], theirs.kneighbors(codes[:40])[0], rtol=1e-12)
    unequal = (codes[:40, None] != codes[None]).mean(axis=2)
    np.testing.assert_array_equal(ours.kneighbors(codes[:40])[1], np.argsort(unequal, axis=1, kind="stable")[:, :5])


def exactly(queries, rows, k):
    """The k nearest rows in exact arithmetic, of equal ones the smaller number."""
    found = []
    for q in queries:
        far = [sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(q, x, strict=True)) for x in rows.tolist()]
        found.append(sorted(range(len(rows)), key=lambda i, far=far: (far[i], i))[:k])
    return found


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "auto"])
def test_distances_an_ulp_apart_are_told_apart(algorithm):
    # every difference and its square is a double, so that direct differences make no error at all
    rng = np.random.default_rng(2)
    rows = 1e8 + rng.integers(0, 2**12, (120, 2)) * 2.0**-20
    queries = 1e8 + rng.integers(0, 2**12, (20, 2)) * 2.0**-20
    ours = lineal.NearestNeighbors(n_neighbors=9, algorithm=algorithm).fit(rows)
    assert ours.kneighbors(queries)[1].tolist() == exactly(queries.tolist(), rows, 9)
    near = 1.0 + np.arange(40)[::-1, None] * 2.0**-52
    ours = lineal.NearestNeighbors(n_neighbors=40, algorithm=algorithm).fit(near)
    assert ours.kneighbors([[1.0]])[1].tolist() == [list(range(40))[::-1]]


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_no_size_of_numbers_matters(size):
    ours = lineal.NearestNeighbors(n_neighbors=7).fit(X * size)
    plain = lineal.NearestNeighbors(n_neighbors=7).fit(X)
    np.testing.assert_array_equal(ours.kneighbors(Q * size)[1], plain.kneighbors(Q)[1])
    np.testing.assert_allclose(ours.kneighbors(Q * size)[0] / size, plain.kneighbors(Q)[0], rtol=1e-9)
    far, rows = plain.kneighbors(np.full((1, 5), 1e200))
    assert np.isfinite(far).all()
    assert rows.tolist() == [[0, 1, 2, 3, 4, 5, 6]]  # all are equally far, as doubles go


def test_rows_of_zeros_have_no_direction():
    rows = np.vstack([np.zeros(3), np.eye(3)])
    for data in (rows, sparse.csr_array(rows)):
        ours = lineal.NearestNeighbors(n_neighbors=4, metric="cosine").fit(data)
        far, numbers = ours.kneighbors(data)
        assert far[0].tolist() == [1.0] * 4
        assert numbers[0].tolist() == [0, 1, 2, 3]
        assert far[1].tolist() == [0.0, 1.0, 1.0, 1.0]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 4), st.sampled_from(["brute", "kd_tree"]))
def test_laws(seed, k, columns, algorithm):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, (40, columns)).astype(float)
    y = rng.integers(0, 3, 40)
    queries = rng.integers(-2, 3, (15, columns)).astype(float)
    ours = lineal.KNeighborsClassifier(k, algorithm=algorithm).fit(rows, y)
    far = ours.kneighbors(queries)[0]
    # permuted rows: the same distances, and rows mapped where no distance is shared at the border
    order = rng.permutation(40)
    moved = lineal.KNeighborsClassifier(k, algorithm=algorithm).fit(rows[order], y[order])
    np.testing.assert_array_equal(moved.kneighbors(queries)[0], far)
    # every row twice, twice as many neighbors: the same shares
    twice = lineal.KNeighborsClassifier(2 * k, algorithm=algorithm).fit(np.repeat(rows, 2, 0), np.repeat(y, 2))
    np.testing.assert_allclose(twice.predict_proba(queries), ours.predict_proba(queries), rtol=1e-15)
    # permuted queries: permuted answers
    turn = rng.permutation(15)
    np.testing.assert_array_equal(ours.predict_proba(queries[turn]), ours.predict_proba(queries)[turn])
    # powers of two as a unit change nothing
    scaled = lineal.KNeighborsClassifier(k, algorithm=algorithm).fit(rows * 0.25, y)
    np.testing.assert_array_equal(scaled.predict_proba(queries * 0.25), ours.predict_proba(queries))


def left_out(k, y, numeric, weights):
    """Mistakes, or the squared error, of fits that leave one row out, one after the other."""
    lost = 0.0
    for i in range(60):
        others = np.arange(60) != i
        kind = sklearn.neighbors.KNeighborsRegressor if numeric else sklearn.neighbors.KNeighborsClassifier
        said = kind(k, weights=weights).fit(X[:60][others], y[:60][others]).predict(X[i : i + 1])[0]
        lost += (said - y[i]) ** 2 if numeric else said != y[i]
    return lost


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: 1.0 / (1.0 + d)])
@pytest.mark.parametrize("numeric", [False, True])
def test_auto_is_exact_leave_one_out(numeric, weights):
    y = T if numeric else Y
    kind = lineal.KNeighborsRegressor if numeric else lineal.KNeighborsClassifier
    ours = kind("auto", weights=weights).fit(X[:60], y[:60])
    losses = ours.leave_one_out_.losses
    assert len(losses) == 32
    for k in (1, 2, 3, 7, 20, 32):
        assert losses[k - 1] == pytest.approx(left_out(k, y, numeric, weights), rel=1e-9)
    assert ours.n_neighbors_ == int(np.argmin(losses)) + 1
    assert f"k = {ours.n_neighbors_} of 1 to 32" in ours.verdict_.sentence


def test_ties_go_to_the_smaller_row_number_in_every_way():
    rows = np.repeat([[0.0], [1.0]], 300, axis=0)
    for algorithm in ("auto", "brute", "kd_tree"):
        ours = lineal.NearestNeighbors(n_neighbors=5, algorithm=algorithm).fit(rows)
        assert ours.kneighbors([[0.5], [1.0]])[1].tolist() == [[0, 1, 2, 3, 4], [300, 301, 302, 303, 304]]


@pytest.mark.parametrize("shape", ["one", "constant", "fortran", "read-only", "float32", "reversed"])
def test_odd_rows(shape):
    rows = X.copy()
    if shape == "one":
        rows = X[:1]
    elif shape == "constant":
        rows[:] = 3.0
    elif shape == "fortran":
        rows = np.asfortranarray(X)
    elif shape == "read-only":
        rows.flags.writeable = False
    elif shape == "float32":
        rows = X.astype(np.float32)
    elif shape == "reversed":
        rows = X[::-1, ::-1]
    k = min(4, len(rows))
    theirs = sklearn.neighbors.NearestNeighbors(n_neighbors=k, algorithm="brute").fit(np.array(rows, dtype=float))
    ours = lineal.NearestNeighbors(n_neighbors=k).fit(rows)
    np.testing.assert_allclose(ours.kneighbors(Q)[0], theirs.kneighbors(Q)[0], rtol=1e-9)


def test_rows_are_kept_as_they_were():
    rows = X.copy()
    ours = lineal.NearestNeighbors(n_neighbors=3).fit(rows)
    before = ours.kneighbors(Q)
    rows[:] = 0.0
    for one, other in zip(ours.kneighbors(Q), before, strict=True):
        np.testing.assert_array_equal(one, other)
    again = pickle.loads(pickle.dumps(ours))  # noqa: S301  (our own bytes)
    np.testing.assert_array_equal(again.kneighbors(Q)[1], before[1])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lineal.KNeighborsClassifier(301).fit(X, Y).predict(Q), "there are 300 rows to be found; ask for 300"),
        (
            lambda: lineal.KNeighborsClassifier(300).fit(X, Y).predict(None),
            "299 rows to be found beside the row itself",
        ),
        (lambda: lineal.KNeighborsClassifier(0).fit(X, Y), "n_neighbors > 0"),
        (lambda: lineal.KNeighborsClassifier(2.5).fit(X, Y), "n_neighbors does not take float"),
        (lambda: lineal.KNeighborsClassifier(weights="near").fit(X, Y), "accepted are 'uniform', 'distance'"),
        (lambda: lineal.KNeighborsClassifier(algorithm="ball").fit(X, Y), "algorithm is 'ball'"),
        (lambda: lineal.KNeighborsClassifier(metric="euclidian").fit(X, Y), "Did you mean 'euclidean'"),
        (lambda: lineal.KNeighborsClassifier(metric="nan_euclidean").fit(X, Y), "metric is 'nan_euclidean'"),
        (lambda: lineal.KNeighborsClassifier(p=0).fit(X, Y), "p is 0"),
        (lambda: lineal.KNeighborsClassifier(leaf_size=0).fit(X, Y), "leaf_size > 0"),
        (lambda: lineal.KNeighborsClassifier(n_jobs=2.5).fit(X, Y), "n_jobs is 2.5; it must be None or a whole number"),
        (lambda: lineal.KNeighborsRegressor("auto").fit(X[:1], T[:1]), "n_samples = 1"),
        (lambda: lineal.NearestNeighbors().fit(np.where(X > 2, np.nan, X)), "NaN"),
        (lambda: lineal.NearestNeighbors().fit(X).kneighbors(np.where(Q > 2, np.inf, Q)), "infinity"),
        (lambda: lineal.NearestNeighbors().fit(X).kneighbors_graph(Q, mode="both"), "mode is 'both'"),
        (lambda: lineal.NearestNeighbors().fit(X).radius_neighbors(Q, -1.0), "radius is -1"),
        (lambda: lineal.NearestNeighbors().fit(X[:, :0]), "0 feature"),
        (lambda: lineal.NearestNeighbors().fit(X[:0]), "0 sample"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_way_is_chosen_by_measured_cost():
    rng = np.random.default_rng(4)
    low = lineal.NearestNeighbors().fit(rng.normal(size=(20_000, 2)))
    assert low.solver_.startswith("tree: for 64 training rows a tree looks at")
    full = lineal.NearestNeighbors().fit(rng.normal(size=(3_000, 30)))
    assert full.solver_.startswith("tiles: for 64 training rows a tree looks at")
    assert "with 64 columns" in lineal.NearestNeighbors().fit(rng.normal(size=(500, 64))).solver_
    assert "too few" in lineal.NearestNeighbors().fit(rng.normal(size=(100, 2))).solver_


@pytest.mark.filterwarnings("ignore:Precomputed sparse input was not sorted")  # theirs
@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil"])
def test_a_sparse_matrix_of_distances_is_one_of_those_that_are_known(layout):
    graphs = [sklearn.neighbors.NearestNeighbors(n_neighbors=9).fit(X).kneighbors_graph(Q, mode="distance")]
    graphs.insert(0, sklearn.neighbors.NearestNeighbors(n_neighbors=9).fit(X).kneighbors_graph(X, mode="distance"))
    rows, queries = (graph.asformat(layout) for graph in graphs)
    theirs, ours = (
        home.KNeighborsClassifier(7, metric="precomputed").fit(rows, Y) for home in (sklearn.neighbors, lineal)
    )
    np.testing.assert_allclose(ours.predict_proba(queries), theirs.predict_proba(queries), rtol=1e-12)
    for asked in (queries, None):
        np.testing.assert_array_equal(ours.kneighbors(asked)[1], theirs.kneighbors(asked)[1])
    with pytest.raises(InputError, match="samples have only 9 neighbors"):
        ours.kneighbors(queries, 10)
    with pytest.raises(TypeError, match="explicit zeros"):
        ours.predict(queries.asformat("dok"))


def test_rows_may_be_those_of_another_search():
    holders = (
        sklearn.neighbors.NearestNeighbors().fit(X),
        sklearn.neighbors.BallTree(X),
        lineal.NearestNeighbors().fit(X),
    )
    for held in holders:
        np.testing.assert_array_equal(
            lineal.KNeighborsClassifier().fit(held, Y).kneighbors(Q)[1], holders[0].kneighbors(Q)[1]
        )
    graph = sklearn.neighbors.kneighbors_graph(holders[2], 3)  # their functions take our search
    within = sklearn.neighbors.radius_neighbors_graph(holders[2], 0.5)
    assert (within != sklearn.neighbors.radius_neighbors_graph(X, 0.5)).nnz == 0
    assert np.ravel(graph.sum(axis=1)).tolist() == [3.0] * len(X)


def test_a_metric_object_measures():
    metric = sklearn.metrics.DistanceMetric.get_metric("canberra")
    expected = sklearn.neighbors.NearestNeighbors(metric="canberra").fit(X).kneighbors(Q)[1]
    np.testing.assert_array_equal(lineal.NearestNeighbors(metric=metric).fit(X).kneighbors(Q)[1], expected)


def test_a_metric_of_dense_rows_alone_refuses_sparse_ones():
    with pytest.raises(InputError, match="'haversine' not valid for sparse input"):
        lineal.NearestNeighbors(metric="haversine").fit(PLACES)
