"""What fit and predict accept, refuse, and leave untouched."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from lineal.errors import InputError
from lineal.estimators import HuberRegressor, Lasso, LinearRegression, LinearSVC, LogisticRegression, Ridge

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 4))
Y = X @ [1.0, -2.0, 0.5, 0.0] + RNG.normal(size=60)
LABELS = (Y > 0).astype(int)
ESTIMATORS = [LinearRegression, Ridge, LogisticRegression]


def target(kind):
    return LABELS if kind in (LogisticRegression, LinearSVC) else Y


@pytest.mark.parametrize("kind", [*ESTIMATORS, Lasso, LinearSVC])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", ["C", "F", "float32", "csr", "csc", "zero weight", "csr of zero weight"])
def test_nan_and_infinity_are_refused_in_fit_and_predict(kind, bad, form):
    broken = X.copy()
    broken[7, 2] = bad
    weight = np.ones(60)
    weight[7] = 0.0 if form.endswith("zero weight") else 1.0
    if form == "F":
        broken = np.asfortranarray(broken)
    elif form == "float32":
        broken = broken.astype(np.float32)
    elif form.startswith("cs"):
        broken = scipy.sparse.csr_array(broken).asformat(form[:3])
    with pytest.raises(ValueError, match=r"NaN|inf"):
        kind().fit(broken, target(kind), sample_weight=weight)
    model = kind().fit(X, target(kind))
    names = ["predict"]
    if kind is LogisticRegression:
        names += ["predict_proba", "predict_log_proba", "decision_function"]
    for name in names:
        with pytest.raises(ValueError, match=r"NaN|inf"):
            getattr(model, name)(broken)


@pytest.mark.parametrize("kind", [*ESTIMATORS, Lasso, LinearSVC])
def test_fields_of_packed_records_are_rows_like_others(kind):
    weight = RNG.integers(1, 4, size=60).astype(float)
    rows = np.zeros(60, dtype=[("mark", "u1"), ("x", "f8", (4,)), ("y", "f8"), ("weight", "f8")])
    rows["x"], rows["y"], rows["weight"] = X, target(kind), weight
    plain = kind().fit(X, target(kind), sample_weight=weight)
    model = kind().fit(rows["x"], rows["y"], sample_weight=rows["weight"])
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(rows["x"]), plain.predict(X))


@pytest.mark.parametrize("kind", [*ESTIMATORS, Lasso, LinearSVC, HuberRegressor])
@pytest.mark.parametrize(("size", "word"), [(1e-200, "small"), (1e200, "large")])
def test_weights_whose_products_are_no_doubles_are_refused_in_words(kind, size, word):
    with pytest.raises(InputError, match=f"too {word}; divide them by their mean"):
        kind().fit(X, target(kind), sample_weight=np.full(60, size))


def test_targets_whose_squares_are_no_doubles_make_no_noise():
    model = HuberRegressor().fit(np.ones((2, 1)), [1e150, -1e150])  # warnings are errors here
    assert model.verdict_.kind in ("optimal", "not_unique", "budget")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_targets_that_are_not_finite_are_refused(bad):
    y = Y.copy()
    y[3] = bad
    for kind in (LinearRegression, Ridge):
        with pytest.raises(ValueError, match=r"NaN|inf"):
            kind().fit(X, y)
    labels = LABELS.astype(float)
    labels[3] = bad
    with pytest.raises(ValueError, match=r"NaN|inf"):
        LogisticRegression().fit(X, labels)


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.full(60, -1.0), "negative"),
        (np.full(60, np.nan), "NaN"),
        (np.zeros(60), "zero"),
        (np.ones(59), "shape"),
        (np.ones((60, 1)), "shape"),
        (["a"] * 60, "numbers"),
    ],
)
def test_bad_weights(kind, weight, words):
    with pytest.raises(InputError, match=f"sample_weight.*{words}"):
        kind().fit(X, target(kind), sample_weight=weight)


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("offset", [np.ones(59), np.ones((60, 2)), np.full(60, np.nan), ["a"] * 60])
def test_bad_offsets(kind, offset):
    with pytest.raises(InputError, match="offset"):
        kind().fit(X, target(kind), offset=offset)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_offset_is_added_to_every_score(kind):
    offset = RNG.normal(size=60)
    model = kind().fit(X, target(kind), offset=offset)
    plain = kind().fit(X, target(kind))
    assert np.abs(model.coef_ - plain.coef_).max() > 1e-3
    score = "decision_function" if kind is LogisticRegression else "predict"
    bare = getattr(model, score)(X)
    np.testing.assert_allclose(getattr(model, score)(X, offset=offset), bare + offset)
    if kind is not LogisticRegression:
        shifted = kind().fit(X, Y - offset)
        np.testing.assert_allclose(model.coef_, shifted.coef_, rtol=1e-10)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_x_is_neither_copied_nor_changed(kind):
    n, p = 100_000, 40
    big = np.random.default_rng(2).normal(size=(n, p))
    y = (big[:, 0] > 0.3).astype(float) if kind is LogisticRegression else big[:, 0] + big[:, 1]
    for x in (big, big.astype(np.float32)):
        x.flags.writeable = False
        model = kind()
        tracemalloc.start()
        model.fit(x, y)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 0.1 * x.nbytes + 4 * 8 * n
        tracemalloc.start()
        model.predict(x)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 0.1 * x.nbytes + 4 * 8 * n


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_before_a_fit(kind):
    with pytest.raises(NotFittedError):
        kind().predict(X)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_one_row_many_forms(kind):
    model = kind().fit(X, target(kind))
    expected = model.predict(X)[:1]
    for row in (
        X[:1],
        X[:1].tolist(),
        X[:1].astype(np.float32),
        scipy.sparse.csr_array(X[:1]),
        np.asfortranarray(X[:1]),
    ):
        np.testing.assert_allclose(model.predict(row), expected, rtol=1e-5)
    with pytest.raises(ValueError, match="5 features"):
        model.predict(np.ones((1, 5)))
    with pytest.raises(ValueError, match="2D"):
        model.predict(X[0])


def test_a_single_class_is_refused():
    with pytest.raises(InputError, match="one class"):
        LogisticRegression().fit(X, np.ones(60, dtype=int))
    with pytest.raises(InputError, match="one class"):
        LogisticRegression().fit(X, LABELS, sample_weight=LABELS.astype(float))
    with pytest.raises(InputError, match="one class"):
        LogisticRegression(class_weight={0: 0.0, 1: 1.0}).fit(X, LABELS)


def test_a_class_without_weight_is_absent():
    labels = np.digitize(Y, [-1.0, 1.0])
    weight = (labels != 1).astype(float)
    model = LogisticRegression().fit(X, labels, sample_weight=weight)
    without = LogisticRegression().fit(X[labels != 1], labels[labels != 1])
    assert model.classes_.tolist() == [0, 2]
    np.testing.assert_allclose(model.coef_, without.coef_, rtol=1e-9)


@pytest.mark.parametrize(
    "labels",
    [
        LABELS.astype(bool),
        LABELS.astype(np.uint8),
        LABELS.astype(np.int8) * 100 - 50,
        LABELS.astype(float),
        LABELS * 10**12,
        LABELS * 9000,
        np.where(LABELS, "yes", "no"),
        np.where(LABELS, "yes", "no").astype(object),
        LABELS.tolist(),
    ],
    ids=lambda labels: str(getattr(labels, "dtype", "list")),
)
def test_labels_come_back_as_they_were(labels):
    model = LogisticRegression().fit(X, labels)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert model.classes_.dtype == np.asarray(labels).dtype
    plain = LogisticRegression().fit(X, LABELS)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(X), np.unique(labels)[plain.predict(X)])
    assert model.model_.target.classes == tuple(np.unique(labels).tolist())


def test_continuous_labels_are_refused():
    with pytest.raises(ValueError, match="Unknown label type"):
        LogisticRegression().fit(X, Y)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_feature_called_like_the_intercept(kind):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["(intercept)", "a", "b", "c"])
    with pytest.raises(InputError, match="rename"):
        kind().fit(frame, target(kind))


def test_sparse_targets_are_refused():
    with pytest.raises(InputError, match="dense"):
        LinearRegression().fit(X, scipy.sparse.csr_array(Y[:, None]))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_no_warning_even_when_nothing_is_optimal(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if kind is LogisticRegression:
            model = kind(C=np.inf).fit(X, (X[:, 0] > 0).astype(int))
            assert model.verdict_.kind == "at_infinity"
        else:
            model = kind(**({"alpha": 0.0} if kind is Ridge else {})).fit(np.hstack([X, X[:, :1]]), Y)
            assert model.verdict_.kind == "not_unique"
        assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("factor", [1e-200, 1e-120, 1e120, 1e200])
def test_units_in_which_squares_vanish_or_overflow_are_refused(kind, factor):
    """Without this a fit on columns of 1e-200 was called optimal with all coefficients zero."""
    with pytest.raises(InputError, match="unit"):
        kind().fit(X * factor, target(kind))
    for good in (1e-60, 1e60):
        model = LinearRegression().fit(X * good, Y)
        assert model.verdict_.kind == "optimal"
        np.testing.assert_allclose(model.coef_ * good, LinearRegression().fit(X, Y).coef_, rtol=1e-8, atol=1e-9)


def test_targets_and_weights_beyond_what_can_be_squared_are_refused():
    with pytest.raises(InputError, match="unit"):
        LinearRegression().fit(X, Y * 1e150)
    for kind in ESTIMATORS:
        with pytest.raises(InputError, match="mean"):
            kind().fit(X, target(kind), sample_weight=np.full(60, 1e200))


def test_numbers_that_lie_between_others_are_read_like_those_in_order() -> None:
    rng = np.random.default_rng(0)
    rows, y, weight = rng.normal(size=(50, 3)), rng.normal(size=50), rng.uniform(0.5, 2.0, size=50)

    def askew(values: np.ndarray) -> np.ndarray:
        found = np.frombuffer(b"\0" + values.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(values.shape)
        assert not found.flags.aligned
        return found

    expected = Ridge().fit(rows, y, weight)
    for given in ((askew(rows), y, weight), (rows, askew(y), weight), (rows, y, askew(weight))):
        np.testing.assert_array_equal(Ridge().fit(*given).coef_, expected.coef_)


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("words", [np.array([["a", "b"]] * 60), np.array([["a", 1]] * 60, dtype=object), [["a"]] * 60])
def test_texts_are_refused_with_what_to_do(kind, words):
    with pytest.raises(InputError, match=r"take numbers only.*lineal\.fit"):
        kind().fit(words, target(kind))
    with pytest.raises(InputError, match=r"take numbers only.*lineal\.fit"):
        kind().fit(X, target(kind)).predict(words)


def test_refusals_name_classes_and_columns_plainly():
    with pytest.raises(InputError, match=r"only one class, 0\.0,"):
        LogisticRegression().fit(X, np.zeros(60))
    with pytest.raises(InputError, match="columns 'x0', 'x1', 'x2' and 1 more hold NaN"):
        Ridge().fit(np.where(X > 0, np.nan, X), Y)
    with pytest.raises(InputError, match="column 'x1' holds NaN"):
        Ridge().fit(np.where(np.arange(4) == 1, np.nan, X), Y)
