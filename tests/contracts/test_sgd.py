"""SGDClassifier and SGDRegressor keep scikit-learn's contract; fits end with a verdict, streams with a progressive one."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
import sklearn.linear_model
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import lineal
from lineal.errors import InputError
from lineal.estimators import SGDClassifier, SGDRegressor

# scikit-learn lists the same two for its own classes: rows that come one after another are not weights.
EXPECTED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "sample_weight is not equivalent to removing/repeating samples."
    for kind in ("dense", "sparse")
}
ESTIMATORS = [
    SGDClassifier(),
    SGDClassifier(loss="log_loss", average=True),
    SGDClassifier(penalty="elasticnet", learning_rate="adaptive", eta0=0.1),
    SGDRegressor(),
    SGDRegressor(loss="huber", penalty="l1", average=10),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*Increase max_iter:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [SGDClassifier(), SGDRegressor()])
def test_nothing_but_what_scikit_learn_expects_fails(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None, expected_failed_checks=EXPECTED)
    assert len(results) > 40
    assert {result["check_name"] for result in results if result["status"] in ("failed", "xfail")} <= set(EXPECTED)


@pytest.mark.parametrize("kind", [SGDClassifier, SGDRegressor])
def test_names_order_and_defaults_are_those_of_scikit_learn(kind):
    ours = inspect.signature(kind).parameters
    theirs = inspect.signature(getattr(sklearn.linear_model, kind.__name__)).parameters
    assert [(p.name, p.kind, p.default) for p in ours.values()][:-1] == [
        (p.name, p.kind, p.default) for p in theirs.values()
    ]
    assert set(ours) - set(theirs) == {"time_limit"}


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return scale(X), scale(y)


def objective(model, X, y, weight=None):
    """F of one member in scikit-learn's words, from its formulas alone."""
    eta = X @ np.ravel(model.coef_) + np.ravel(model.intercept_)[0]
    z = np.where(y == np.max(y), 1.0, -1.0) * eta
    size = np.abs(eta - y)
    losses = {
        "hinge": np.maximum(1.0 - z, 0.0),
        "squared_hinge": np.maximum(1.0 - z, 0.0) ** 2,
        "log_loss": np.logaddexp(0.0, -z),
        "squared_error": 0.5 * (eta - y) ** 2,
        "huber": np.where(size <= model.epsilon, 0.5 * size**2, model.epsilon * (size - 0.5 * model.epsilon)),
        "epsilon_insensitive": np.maximum(size - model.epsilon, 0.0),
        "squared_epsilon_insensitive": np.maximum(size - model.epsilon, 0.0) ** 2,
    }
    b = np.ravel(model.coef_)
    ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": model.l1_ratio}.get(model.penalty, 0.0)
    penalty_factor = model.alpha * (ratio * np.abs(b).sum() + 0.5 * (1 - ratio) * b @ b) if model.penalty else 0.0
    return np.average(losses[model.loss], weights=weight) + penalty_factor


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("loss", ["hinge", "log_loss", "squared_hinge"])
def test_classifiers_reach_what_scikit_learn_reaches(loss, penalty):
    X, y = cancer()
    options = {"loss": loss, "penalty": penalty, "alpha": 0.01, "average": True, "random_state": 0}
    ours = SGDClassifier(**options, max_iter=300, tol=None).fit(X, y)
    theirs = sklearn.linear_model.SGDClassifier(**options, max_iter=300, tol=None).fit(X, y)
    # both wander around the same optimum of the same objective
    assert objective(ours, X, y) <= 1.02 * objective(theirs, X, y)
    factor = 2.0 if loss == "squared_hinge" else 1.0  # our squared hinge has a half in front
    assert factor * ours.objective_ == pytest.approx(objective(ours, X, y), rel=1e-9)
    if ours.verdict_.gap is not None:
        best = factor * (ours.objective_ - ours.verdict_.gap)
        assert best <= objective(theirs, X, y) + 1e-12  # the bound that our verdict proves holds for their fit, too


@pytest.mark.parametrize("loss", ["squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_regressors_reach_what_scikit_learn_reaches(loss, penalty):
    X, y = diabetes()
    options = {"loss": loss, "penalty": penalty, "alpha": 0.01, "average": True, "random_state": 0}
    options |= {"epsilon": 0.3} if loss != "squared_error" else {}
    ours = SGDRegressor(**options, max_iter=300, tol=None).fit(X, y)
    theirs = sklearn.linear_model.SGDRegressor(**options, max_iter=300, tol=None).fit(X, y)
    assert objective(ours, X, y) <= 1.02 * objective(theirs, X, y)
    factor = 2.0 if loss.startswith("squared_eps") else 1.0
    assert factor * ours.objective_ == pytest.approx(objective(ours, X, y), rel=1e-9)
    if ours.verdict_.gap is not None:
        assert factor * (ours.objective_ - ours.verdict_.gap) <= objective(theirs, X, y) + 1e-12


def test_one_step_is_scikit_learns_step():
    """One row, one epoch, constant steps: the update can be written down, and theirs is the same without a penalty."""
    X, y = np.array([[1.0, -2.0]]), np.array([3.0])
    options = {"penalty": None, "learning_rate": "constant", "eta0": 0.05}
    for loss, epsilon in (("squared_error", 0.1), ("huber", 0.5), ("squared_epsilon_insensitive", 0.5)):
        given = options | {"loss": loss} | ({} if loss == "squared_error" else {"epsilon": epsilon})
        ours, theirs = (kind(**given) for kind in (SGDRegressor, sklearn.linear_model.SGDRegressor))
        for _ in range(3):
            ours.partial_fit(X, y)
            theirs.partial_fit(X, y)
            np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12)
            np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-12)
        assert ours.t_ == theirs.t_


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "squared_hinge"])
def test_a_stream_is_learned_as_scikit_learn_learns_it(loss):
    """Without a penalty and without shuffling, constant steps are the same row by row."""
    X, y = cancer()
    options = {"loss": loss, "penalty": None, "learning_rate": "constant", "eta0": 0.01, "shuffle": False}
    ours, theirs = SGDClassifier(**options), sklearn.linear_model.SGDClassifier(**options)
    for rows in np.array_split(np.arange(len(y)), 4):
        ours.partial_fit(X[rows], y[rows], classes=[0, 1])
        theirs.partial_fit(X[rows], y[rows], classes=[0, 1])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)
    assert ours.verdict_.kind == "progressive"
    assert ours.verdict_.evidence["rows"] == len(y)
    # what a row costs before it is learned, again from scikit-learn
    other = sklearn.linear_model.SGDClassifier(**options)
    total = 0.0
    for i in range(60):
        z = (2.0 * y[i] - 1.0) * (float(other.decision_function(X[i : i + 1])[0]) if i else 0.0)
        cost = {"hinge": max(1.0 - z, 0.0), "squared_hinge": 0.5 * max(1.0 - z, 0.0) ** 2}
        total += cost.get(loss, np.logaddexp(0.0, -z))
        other.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
    first = SGDClassifier(**options).partial_fit(X[:60], y[:60], classes=[0, 1])
    assert first.verdict_.evidence["loss_sum"] == pytest.approx(total, rel=1e-8)


def test_the_pieces_of_a_stream_do_not_matter():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    X, y = scale(X)[order], np.array(["a", "b", "c"])[y[order]]
    options = {"loss": "log_loss", "average": 20, "class_weight": {"a": 2.0}}
    whole = SGDClassifier(**options).partial_fit(X, y, classes=["a", "b", "c"])
    pieces = SGDClassifier(**options)
    for a, b in ((0, 1), (1, 77), (77, 150)):
        pieces.partial_fit(sparse.csr_matrix(X[a:b]), y[a:b], classes=["a", "b", "c"])
    np.testing.assert_allclose(pieces.coef_, whole.coef_, rtol=1e-8, atol=1e-12)
    assert [v.evidence["rows"] for v in pieces.verdicts_] == [150] * 3
    assert pieces.t_ == whole.t_ == 151.0


def test_a_stream_can_be_saved_and_a_fit_continued(tmp_path):
    X, y = cancer()
    model = SGDClassifier(loss="log_loss").partial_fit(X, y, classes=[0, 1])
    model.model_.save(tmp_path / "stream.lineal")
    back = lineal.load(tmp_path / "stream.lineal")
    np.testing.assert_allclose(back.predict_proba(X), model.predict_proba(X), rtol=1e-12, atol=1e-15)
    assert back.verdict == model.verdict_
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)
    for average in (False, True):
        fitted = SGDClassifier(loss="log_loss", average=average).fit(X, y)
        taken, before = fitted.t_, fitted.coef_.copy()
        fitted.partial_fit(X[:5], y[:5])
        assert fitted.t_ == taken + 5
        assert fitted.verdict_.kind == "progressive"
        assert 0.0 < np.abs(fitted.coef_ - before).max() < 0.2 * np.abs(before).max()


def test_several_classes_are_each_against_the_rest():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    model = SGDClassifier(loss="log_loss", alpha=0.01, tol=1e-3, random_state=1).fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert len(model.verdicts_) == len(model.models_) == 3
    assert model.verdict_ in model.verdicts_
    gaps = [verdict.relative_gap for verdict in model.verdicts_]
    assert model.verdict_.relative_gap == max(gaps) or model.verdict_.kind != "optimal"
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), proba)
    one = SGDClassifier(loss="log_loss", alpha=0.01, tol=1e-3, random_state=2).fit(X, y == 1)
    np.testing.assert_allclose(one.coef_[0], model.coef_[1], rtol=1e-9)  # members draw orders of their own
    assert not hasattr(SGDClassifier(), "predict_proba")


def test_fits_on_every_storage_agree():
    X, y = cancer()
    X = np.round(X * 8) / 8
    fits = [
        SGDClassifier(alpha=0.01, random_state=3, max_iter=20, tol=None).fit(data, y).coef_
        for data in (X, np.asfortranarray(X), X.astype(np.float32), sparse.csr_matrix(X), sparse.csc_array(X))
    ]
    for other in fits[1:]:
        np.testing.assert_allclose(other, fits[0], rtol=1e-6, atol=1e-9)


def test_weights_are_counts_of_the_objective():
    X, y = cancer()
    weight = np.random.default_rng(0).integers(0, 4, size=len(y)).astype(float)
    model = SGDClassifier(loss="log_loss", alpha=0.01, average=True, tol=1e-4).fit(X, y, sample_weight=weight)
    assert model.objective_ == pytest.approx(objective(model, X, y, weight), rel=1e-9)
    times = weight.astype(int)
    other = SGDClassifier(loss="log_loss", alpha=0.01, average=True, tol=1e-4)
    other.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(model.objective_, other.objective_, rtol=1e-2)


def test_class_weights_balance():
    X, y = cancer()
    model = SGDClassifier(loss="log_loss", class_weight="balanced", alpha=0.01).fit(X, y)
    weight = np.where(y == 1, 0.5 / np.mean(y == 1), 0.5 / np.mean(y == 0))
    assert model.objective_ == pytest.approx(objective(model, X, y, weight), rel=1e-9)


def test_seeds_and_shuffling():
    X, y = cancer()
    options = {"alpha": 0.01, "max_iter": 3, "tol": None}

    def coef(**more):
        return SGDClassifier(**options, **more).fit(X, y).coef_

    np.testing.assert_array_equal(coef(), coef(random_state=0))
    np.testing.assert_array_equal(coef(random_state=5), coef(random_state=5))
    assert not np.array_equal(coef(random_state=5), coef(random_state=6))
    np.testing.assert_array_equal(coef(shuffle=False), coef(shuffle=False, random_state=9))
    first = coef(random_state=np.random.RandomState(0))
    np.testing.assert_array_equal(first, coef(random_state=np.random.RandomState(0)))


def test_starts():
    X, y = cancer()
    options = {"alpha": 0.01, "loss": "log_loss", "learning_rate": "adaptive", "eta0": 0.05}
    model = SGDClassifier(**options, warm_start=True).fit(X, y)
    assert model.verdict_.kind == "optimal"
    assert model.fit(X, y).n_iter_ == 0
    given = SGDClassifier(**options).fit(X, y, coef_init=model.coef_, intercept_init=model.intercept_)
    assert given.n_iter_ == 0
    with pytest.raises(InputError, match="coef_init"):
        SGDClassifier().fit(X, y, coef_init=np.zeros(3))
    with pytest.raises(InputError, match="classes"):
        model.fit(X, np.where(y, "a", "b"))


def test_tol_proves_and_patience_ends():
    X, y = cancer()
    proven = SGDClassifier(loss="log_loss", alpha=0.01, learning_rate="adaptive", eta0=0.05, tol=1e-2).fit(X, y)
    assert proven.verdict_.kind == "optimal"
    assert proven.verdict_.relative_gap <= 1e-2
    idle = SGDRegressor(n_iter_no_change=2).fit(*diabetes())
    assert idle.verdict_.kind == "budget" or idle.verdict_.relative_gap <= 1e-3
    unbounded = SGDClassifier(tol=None, max_iter=7).fit(X, y)
    assert unbounded.n_iter_ == 7
    assert "7 iterations" in unbounded.verdict_.sentence


def test_divergence_is_a_verdict_and_not_a_warning():
    X, y = diabetes()
    model = SGDRegressor(learning_rate="constant", eta0=10.0).fit(100.0 * X, y)
    assert model.verdict_.kind == "budget"
    assert "no longer finite" in model.verdict_.sentence


def test_machinery_of_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss"))
    grid = GridSearchCV(pipe, {"sgdclassifier__alpha": [1e-3, 1e-1]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.95
    copy = clone(grid.best_estimator_[-1])
    assert not hasattr(copy, "verdict_")
    assert lineal.SGDClassifier is SGDClassifier
    assert lineal.SGDRegressor is SGDRegressor


REFUSED = [
    ("time_limit", 0.0, "above 0"),
    ("loss", "perceptron", "use Perceptron"),
    ("loss", "modified_huber", "squared_hinge"),
    ("loss", "squared_error", "accepted are"),
    ("loss", "hinges", "Did you mean 'hinge'"),
    ("penalty", "l3", "accepted are"),
    ("alpha", -1.0, "at least 0"),
    ("alpha", 0.0, "another learning_rate"),
    ("l1_ratio", 0.5, "no effect"),
    ("fit_intercept", "yes", "True or False"),
    ("max_iter", -1, "at least 0"),
    ("tol", -1.0, "at least 0"),
    ("shuffle", 1, "True or False"),
    ("verbose", "yes", "whole number"),
    ("epsilon", 0.2, "no effect"),
    ("n_jobs", "all", "whole number"),
    ("random_state", "a", "whole number"),
    ("learning_rate", "pa1", "not here yet"),
    ("learning_rate", "optimum", "Did you mean 'optimal'"),
    ("eta0", 0.5, "no effect"),
    ("eta0", 0.0, "above 0"),
    ("power_t", 0.3, "no effect"),
    ("early_stopping", True, "only False"),
    ("validation_fraction", 0.2, "only 0.1"),
    ("n_iter_no_change", 0, "at least 1"),
    ("class_weight", "balance", "balanced"),
    ("warm_start", None, "True or False"),
    ("average", -1, "at least 0"),
]


@pytest.mark.parametrize(("name", "value", "words"), REFUSED)
def test_refused(name, value, words):
    X, y = cancer()
    with pytest.raises(InputError) as error:
        SGDClassifier(**{name: value}).fit(X, y)
    assert words in str(error.value)


def test_every_parameter_has_a_refusal():
    assert set(inspect.signature(SGDClassifier).parameters) == {name for name, *_ in REFUSED}
    with pytest.raises(InputError, match="no effect"):
        SGDRegressor(epsilon=0.2).fit(*diabetes())
    with pytest.raises(InputError, match="accepted are"):
        SGDRegressor(loss="hinge").fit(*diabetes())
    with pytest.raises(InputError, match="l1_ratio is None"):
        SGDRegressor(penalty="elasticnet", l1_ratio=None).fit(*diabetes())


def test_streams_refuse_what_they_cannot_know():
    X, y = cancer()
    with pytest.raises(InputError, match="first call"):
        SGDClassifier().partial_fit(X, y)
    with pytest.raises(InputError, match="dict of weights"):
        SGDClassifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InputError, match="at least two"):
        SGDClassifier().partial_fit(X, y, classes=[0])
    model = SGDClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InputError, match="do not exist in the initial classes"):
        model.partial_fit(X, y + 1)
    with pytest.raises(InputError, match="is not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((1, X.shape[1]), np.nan), [0])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :3], y)
    with pytest.raises(InputError, match="NaN"):
        SGDRegressor().partial_fit(X, y).partial_fit(X[:1], [np.nan])
