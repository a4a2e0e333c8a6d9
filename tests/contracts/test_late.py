"""What is said of a short fit is written when it is asked for; only a clock could tell."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

import lineal
from lineal.fitting import small_fit
from lineal.model.model import Model

SAID = ("verdict_", "objective_", "solver_", "trace_", "model_")


def table(rows: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    return X, X @ np.array([1.0, -2.0, 0.0, 0.5]) + rng.normal(size=rows)


def ridge() -> lineal.Ridge:
    return lineal.Ridge(alpha=2.0).fit(*table())


def logistic() -> lineal.LogisticRegression:
    X, y = table()
    return lineal.LogisticRegression().fit(X, y > 0.0)


@pytest.mark.parametrize("make", [ridge, logistic])
def test_what_is_said_late_is_what_the_long_way_says(make, monkeypatch: pytest.MonkeyPatch) -> None:
    short = make()
    monkeypatch.setattr(small_fit, "declines", lambda *_: "the long way is asked for")
    long = make()
    assert short.verdict_.kind == long.verdict_.kind == "optimal"
    assert short.verdict_.evidence.keys() == long.verdict_.evidence.keys()
    assert short.objective_ == pytest.approx(long.objective_, rel=1e-12)
    assert short.solver_ == long.solver_
    assert isinstance(short.model_, Model)
    assert short.model_.verdict is short.verdict_
    assert short.model_.columns == long.model_.columns
    assert short.model_.training == long.model_.training
    assert short.model_.target == long.model_.target
    np.testing.assert_allclose(short.model_.coef, long.model_.coef, rtol=1e-5)
    assert len(short.trace_) - (short.model_.solver != "direct") == np.ravel(short.n_iter_)[0]


@pytest.mark.parametrize("name", SAID)
@pytest.mark.parametrize("make", [ridge, logistic])
def test_any_of_it_may_be_asked_for_first(make, name: str) -> None:
    model = make()
    first = getattr(model, name)
    assert getattr(model, name) is first
    assert all(getattr(model, other) is getattr(model, other) for other in SAID)
    assert model.model_.verdict is model.verdict_


def test_before_a_fit_there_is_nothing() -> None:
    assert not any(hasattr(lineal.Ridge(), name) or hasattr(lineal.Ridge, name) for name in SAID)
    with pytest.raises(AttributeError, match="'Ridge' object has no attribute 'verdict_'"):
        _ = lineal.Ridge().verdict_
    assert not hasattr(clone(ridge()), "verdict_")


@pytest.mark.parametrize("make", [ridge, logistic])
@pytest.mark.parametrize("through", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])  # noqa: S301
def test_copies_say_the_same(make, through) -> None:
    model = make()
    other = through(model)
    assert other.verdict_ == model.verdict_
    assert other.objective_ == model.objective_
    assert other.trace_ == model.trace_


def test_a_second_fit_is_spoken_of_not_the_first() -> None:
    X, y = table()
    model = lineal.Ridge(alpha=2.0).fit(X, y)
    first = model.objective_
    model.fit(*table(seed=1))
    assert model.objective_ != first
    model.set_params(alpha=0.0).fit(X, y)  # the long way
    assert model.verdict_.evidence["objective"] == model.objective_ < first
    assert model.fit(X, y).model_.penalty.name == "none"


def test_an_estimator_keeps_no_rows() -> None:
    X, y = table()
    alive = weakref.ref(X)
    model = lineal.Ridge(alpha=2.0).fit(X, y)
    del X
    gc.collect()
    assert alive() is None
    assert model.verdict_.kind == "optimal"


def test_threads_that_ask_at_once_are_all_answered() -> None:
    for _ in range(50):
        model = ridge()
        with ThreadPoolExecutor(8) as pool:
            kinds = list(pool.map(lambda name, model=model: getattr(model, name), SAID * 2))
        assert kinds[0].kind == "optimal"
