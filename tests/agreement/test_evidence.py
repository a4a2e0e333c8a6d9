"""The evidence of a ridge against scikit-learn's BayesianRidge, against finite differences and on hard inputs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import BayesianRidge

from lineal.algebra.doubled import Doubled
from lineal.algebra.spectrum import Spectrum
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.marginal import Curve
from lineal.inference import evidence
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block


def diabetes(weighted):
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float) if weighted else None
    return X, y, weight


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("hyper", [{}, {"alpha_1": 2.0, "alpha_2": 30.0, "lambda_1": 1.5, "lambda_2": 1e4}])
def test_bayesian_ridge(weighted, intercept, hyper):
    X, y, weight = diabetes(weighted)
    theirs = BayesianRidge(tol=1e-13, max_iter=9999, compute_score=True, fit_intercept=intercept, **hyper)
    theirs.fit(X, y, sample_weight=weight)
    ours = evidence(Memory(as_design(X, intercept=intercept), y, weight), tol=1e-9, **hyper)
    assert ours.verdict.kind == "stationary"
    assert "local" in ours.verdict.sentence
    assert 1 / ours.noise == pytest.approx(theirs.alpha_, rel=1e-8)
    assert 1 / ours.prior == pytest.approx(theirs.lambda_, rel=1e-7)
    assert ours.log_evidence == pytest.approx(theirs.scores_[-1], rel=1e-10)
    first = int(intercept)
    np.testing.assert_allclose(ours.coef[first:, 0], theirs.coef_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.covariance[first:, first:], theirs.sigma_, rtol=1e-6, atol=1e-8)
    deviation = theirs.predict(X[:9], return_std=True)[1]
    # The intercept is uncertain, too; scikit-learn takes it for known.
    extra = ours.noise / (len(y) if weight is None else weight.sum()) if intercept else 0.0
    variance = ours.variance(as_design(X[:9], intercept=intercept))
    np.testing.assert_allclose(variance, deviation**2 + extra, rtol=1e-7)


@pytest.mark.parametrize("given", ["noise", "prior"])
def test_one_variance_given_the_other_is_the_best(given):
    X, y, _ = diabetes(False)
    source = Memory(as_design(X), y)
    ours = evidence(source, **{given: 2000.0})
    assert getattr(ours, given) == pytest.approx(2000.0, rel=1e-12)
    assert ours.verdict.kind == "stationary"
    other = "prior" if given == "noise" else "noise"
    best = getattr(ours, other)
    for factor in (0.9, 1.1):
        rival = evidence(source, **{given: 2000.0, other: best * factor})
        assert rival.verdict.kind == "optimal"
        assert rival.log_evidence < ours.log_evidence


def test_log_evidence_is_the_density_of_y():
    """By definition, without hyperpriors: y ~ N(offset of the best intercept, sigma^2 I + tau^2 X X')."""
    from scipy import stats

    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    none = {"alpha_1": 0.0, "alpha_2": 0.0, "lambda_1": 0.0, "lambda_2": 0.0}
    ours = evidence(Memory(as_design(X, intercept=False), y), noise=0.7, prior=0.4, **none)
    expected = stats.multivariate_normal(np.zeros(12), 0.7 * np.eye(12) + 0.4 * X @ X.T).logpdf(y)
    assert ours.log_evidence == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rows", [3, 8, 40])
def test_more_columns_than_rows_noise_and_a_far_origin(rows):
    rng = np.random.default_rng(rows)
    X, y = rng.normal(size=(rows, 10)) + 1e6, rng.normal(size=rows)
    ours = evidence(Memory(as_design(X), y))
    theirs = evidence(Memory(as_design(X - 1e6), y))
    assert np.isfinite(ours.noise)
    assert ours.verdict.kind == "stationary"
    assert ours.log_evidence == pytest.approx(theirs.log_evidence, rel=1e-6, abs=1e-6)
    assert 0.0 <= ours.degrees <= rows - 1 + 1e-9


def test_blocks_and_weights_mean_the_same_rows():
    X, y, weight = diabetes(True)
    whole = evidence(Memory(as_design(X), y, weight))
    cuts = [slice(0, 100), slice(100, 101), slice(101, len(y))]
    parts = evidence(Blocks([Block(as_design(X[at]), y[at, None], weight[at]) for at in cuts]))
    index = np.repeat(np.arange(len(y)), weight.astype(int))
    again = evidence(Memory(as_design(X[index]), y[index]))
    for other in (parts, again):
        np.testing.assert_allclose(other.coef, whole.coef, rtol=1e-6, atol=1e-6)
        assert other.noise == pytest.approx(whole.noise, rel=1e-8)
        assert other.prior == pytest.approx(whole.prior, rel=1e-6)


@pytest.mark.parametrize(("columns", "target"), [(1e-6, 1.0), (1e6, 1.0), (1.0, 1e8), (1e-6, 1e8)])
def test_units_do_not_matter(columns, target):
    """Without hyperpriors the posterior follows the units; scikit-learn's own start finds nothing in some of them."""
    X, y, _ = diabetes(False)
    none = {"alpha_1": 0.0, "alpha_2": 0.0, "lambda_1": 0.0, "lambda_2": 0.0}
    plain = evidence(Memory(as_design(X), y), **none)
    other = evidence(Memory(as_design(columns * X), target * y), **none)
    assert other.verdict.kind == "stationary"
    assert other.degrees == pytest.approx(plain.degrees, rel=1e-5)
    assert other.noise == pytest.approx(plain.noise * target**2, rel=1e-6)
    np.testing.assert_allclose(other.coef[1:] * columns / target, plain.coef[1:], rtol=1e-4, atol=1e-3)


def test_refusals():
    X, y, _ = diabetes(False)
    source = Memory(as_design(X), y)
    with pytest.raises(InputError, match="noise is -1"):
        evidence(source, noise=-1.0)
    with pytest.raises(InputError, match="one target"):
        evidence(Memory(as_design(X), np.column_stack([y, y])))
    assert evidence(source, max_iter=0).verdict.kind == "budget"


@pytest.mark.parametrize("seed", range(20))
def test_the_derivatives_of_the_log_evidence_are_those_of_its_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.append(rng.uniform(0.1, 50.0, size=4), 0.0)
    target = np.append(rng.normal(size=4) * values[:4], 0.0)
    found, gram = Spectrum(values, target, 0.0, 0.0, 0.0, 0.0), Doubled.of(np.diag(values))
    given = gram, Doubled.of(target), Doubled.of(100.0), 0.0, 0.0, found, rng.uniform(1.0, 9.0), 0.0, 0.0
    curve = Curve(*given, 60.0, tuple(rng.uniform(0.0, 0.1, size=4).tolist()))
    logs, step = rng.normal(size=2), 1e-4
    here = curve.at(tuple(logs.tolist()))
    for j in range(2):
        move = step * np.eye(2)[j]
        above, below = (curve.at(tuple((logs + sign * move).tolist())) for sign in (1.0, -1.0))
        assert here.slope[j] == pytest.approx((above.value - below.value) / (2 * step), rel=1e-5, abs=1e-5)
        bend = (np.array(above.slope) - np.array(below.slope)) / (2 * step)
        np.testing.assert_allclose(here.bend[j : j + 2], bend, rtol=1e-5, atol=1e-5)
