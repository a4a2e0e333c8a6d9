"""What is not honoured is refused, in a sentence that says what is accepted; what is honoured has its effect."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning

from lineal.api.dialects import SOLVERS
from lineal.errors import InputError
from lineal.estimators import (
    BayesianRidge,
    ElasticNetCV,
    Lasso,
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    RidgeCV,
)  # fmt: skip
from lineal.estimators.parameters import HINTS
from lineal.solvers import NewtonCG

ESTIMATORS = (LinearRegression, Ridge, LogisticRegression)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X @ [1.0, -2.0, 0.5] + RNG.normal(size=40)
LABELS = (Y > 0).astype(int)

HINTED = (*ESTIMATORS, Lasso, ElasticNetCV, BayesianRidge, QuantileRegressor, RidgeCV)

REFUSED = [
    *((kind, "time_limit", value, "above 0") for kind in ESTIMATORS for value in (0.0, "1", float("nan"))),
    (LinearRegression, "positive", "yes", "True or False"),
    (LinearRegression, "n_jobs", "all", "None or a whole number"),
    (LinearRegression, "copy_X", "yes", "True or False"),
    (LinearRegression, "fit_intercept", "yes", "True or False"),
    (LinearRegression, "fit_intercept", 1, "True or False"),
    (LinearRegression, "tol", -1e-6, "at least 0"),
    (LinearRegression, "tol", "tight", "number"),
    (LinearRegression, "tol", float("nan"), "number"),
    (Ridge, "alpha", -1.0, "at least 0"),
    (Ridge, "alpha", np.array([1.0, 2.0]), "one for every target"),
    (Ridge, "alpha", [1.0, -2.0], "alpha[1]"),
    (Ridge, "alpha", float("inf"), "finite"),
    (Ridge, "alpha", True, "number"),
    (Ridge, "fit_intercept", None, "True or False"),
    (Ridge, "copy_X", None, "True or False"),
    (Ridge, "max_iter", -1, "at least 0"),
    (Ridge, "max_iter", 2.5, "whole number"),
    (Ridge, "tol", None, "number"),
    (Ridge, "positive", None, "True or False"),
    (Ridge, "random_state", "seven", "whole number"),
    (Ridge, "solver", "newtn", "Did you mean 'newton'"),
    (Ridge, "solver", None, "accepted are auto, direct"),
    (LogisticRegression, "penalty", "l3", "accepted are 'l2', 'l1', 'elasticnet' and None"),
    (LogisticRegression, "penalty", 2, "accepted are 'l2'"),
    (LogisticRegression, "C", 0.0, "above 0"),
    (LogisticRegression, "C", -1.0, "above 0"),
    (LogisticRegression, "C", "1", "number"),
    (LogisticRegression, "l1_ratio", 1.5, "at most 1"),
    (LogisticRegression, "l1_ratio", None, "number"),
    (LogisticRegression, "dual", "primal", "True, False or 'auto'"),
    (LogisticRegression, "tol", -1.0, "at least 0"),
    (LogisticRegression, "fit_intercept", "no", "True or False"),
    (LogisticRegression, "intercept_scaling", 0.0, "above 0"),
    (LogisticRegression, "class_weight", "balance", "'balanced'"),
    (LogisticRegression, "class_weight", {0: 1.0, 7: 2.0}, "not a class"),
    (LogisticRegression, "class_weight", {0: -1.0}, "finite number >= 0"),
    (LogisticRegression, "class_weight", [1.0, 2.0], "a dict"),
    (LogisticRegression, "random_state", 1.5, "whole number"),
    (LogisticRegression, "solver", "liblinea", "Did you mean 'liblinear'"),
    (LogisticRegression, "solver", "direct", "no closed form"),
    (LogisticRegression, "max_iter", "many", "whole number"),
    (LogisticRegression, "verbose", "yes", "whole number"),
    (LogisticRegression, "warm_start", "yes", "True or False"),
    (LogisticRegression, "n_jobs", True, "None or a whole number"),
]


@pytest.mark.parametrize(("kind", "name", "value", "words"), REFUSED)
def test_refused(kind, name, value, words):
    estimator = kind(**{name: value})
    with pytest.raises(InputError) as error:
        estimator.fit(X, LABELS if kind is LogisticRegression else Y)
    assert words in str(error.value)
    assert str(error.value).startswith(name) or name == "class_weight" or words == "no closed form"


def test_no_penalty_leaves_c_no_effect():
    with pytest.raises(InputError, match="without effect"):
        LogisticRegression(penalty=None, C=0.5).fit(X, LABELS)
    bare = LogisticRegression(penalty=None).fit(X, LABELS)
    unbounded = LogisticRegression(C=np.inf).fit(X, LABELS)
    np.testing.assert_array_equal(bare.coef_, unbounded.coef_)
    assert bare.model_.penalty.name == "none"


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_parameter_has_a_refusal_or_an_effect(kind):
    """A parameter that nobody tests could be ignored; random_state and copy_X are honoured by doing nothing."""
    honoured = {"fit_intercept", "tol", "alpha", "max_iter", "solver", "C", "class_weight", "penalty", "warm_start"}
    refused = {name for owner, name, *_ in REFUSED if owner is kind}
    assert set(inspect.signature(kind).parameters) <= honoured | refused | {"random_state", "copy_X"}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_names_order_and_kinds_are_those_of_scikit_learn(kind):
    ours = inspect.signature(kind).parameters
    theirs = inspect.signature(getattr(sklearn.linear_model, kind.__name__)).parameters
    assert [(p.name, p.kind) for p in ours.values()][:-1] == [(p.name, p.kind) for p in theirs.values()]
    assert set(ours) - set(theirs) == {"time_limit"}
    same = {name for name, p in theirs.items() if p.default == ours[name].default}
    assert set(theirs) - same <= {"tol", "solver", "max_iter", "penalty"}


@pytest.mark.parametrize("max_iter", [0, 1, 2])
def test_max_iter_is_a_budget(max_iter):
    with pytest.warns(ConvergenceWarning, match=f"{max_iter} iterations"):
        model = LogisticRegression(max_iter=max_iter, C=1e3).fit(X, LABELS)
    assert model.verdict_.kind == "budget"
    assert model.n_iter_.tolist() == [max_iter]
    assert f"{max_iter} iterations" in model.verdict_.reason


def test_tol_is_the_relative_gap():
    loose, tight = (LogisticRegression(tol=tol, solver="gradient-descent").fit(X, LABELS) for tol in (1e-2, 1e-8))
    assert loose.verdict_.kind == tight.verdict_.kind == "optimal"
    assert loose.verdict_.relative_gap <= 1e-2
    assert tight.verdict_.relative_gap <= 1e-8
    assert loose.n_iter_[0] < tight.n_iter_[0]


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize(("kind", "y"), [(Ridge, Y), (LogisticRegression, LABELS)])
def test_names_of_scikit_learn_ask_for_the_optimum(kind, y, name):
    plain, model = kind().fit(X, y), kind(solver=name).fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.solver_.startswith(f"{plain.solver_}, for solver={name!r}")
    assert ("intercept" in model.solver_) == (name == "liblinear")
    assert model.n_iter_.shape == (1,)
    assert model.n_iter_[0] >= 1


@pytest.mark.parametrize(("name", "solver"), [("newton-cg", NewtonCG()), ("saga", "saga:step=0.01")])
def test_names_of_both_are_insisted_on_with_an_option_or_as_an_object(name, solver):
    model = LogisticRegression(solver=solver, tol=1e-3).fit(X, LABELS)
    assert model.solver_.startswith(f"{name}: asked for")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n_jobs", (None, -1, 1, 7)), ("verbose", (0, 1, True)), ("copy_X", (False, True)), ("random_state", (None, 3)),
        ("dual", (False, True)), ("intercept_scaling", (1, 0.5)), ("precompute", (False, True, "auto", np.eye(3))),
        ("selection", ("cyclic", "random")), ("gcv_mode", (None, "auto", "svd", "eigen")),
        ("solver_options", (None, {"presolve": False})),
    ],
)  # fmt: skip
def test_hints_change_nothing(name, values):
    assert name in HINTS
    takers = [kind for kind in HINTED if name in inspect.signature(kind).parameters]
    assert takers
    for kind in takers:
        y = LABELS if issubclass(kind, LogisticRegression) else Y
        first, *others = (kind(**{name: value}).fit(X, y) for value in values)
        for other in others:
            np.testing.assert_array_equal(other.coef_, first.coef_)
            assert other.verdict_ == first.verdict_


def test_warm_start_continues_where_the_last_fit_ended():
    model = LogisticRegression(warm_start=True).fit(X, LABELS)
    first = model.n_iter_[0]
    assert first > 0
    assert model.fit(X, LABELS).n_iter_[0] == 0
    assert LogisticRegression().fit(X, LABELS).fit(X, LABELS).n_iter_[0] == first
    with pytest.raises(InputError, match="warm_start"):
        model.fit(X[:, :2], LABELS)
    with pytest.raises(InputError, match="warm_start"):
        LogisticRegression(warm_start=True).fit(X, LABELS).fit(X, np.where(LABELS, "a", "b"))


def test_warm_start_without_intercept_and_with_several_classes():
    labels = np.digitize(Y, [-1.0, 1.0])
    for intercept in (True, False):
        model = LogisticRegression(warm_start=True, fit_intercept=intercept).fit(X, labels)
        assert model.fit(X, labels).n_iter_[0] == 0


def test_random_state_changes_nothing():
    fits = [Ridge(random_state=seed).fit(X, Y).coef_ for seed in (None, 0, np.random.RandomState(3))]
    for coef in fits:
        np.testing.assert_array_equal(coef, fits[0])
