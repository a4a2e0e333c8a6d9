"""Endometrial cancer: a coefficient that maximum likelihood sends to infinity and Firth's penalty keeps.

Figures from R: glm, and brglm2 0.9. Profiles against a general-purpose optimiser. The data is under the GPL and so not in
this repository: it is in the R package brglm2 (Debian: r-cran-brglm2), from which data/r/outside.R writes it where these
tests look, and makes the figures again. test_r has the like of it on data that is free.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

import lineal
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.inference import firth, profile, summarise
from lineal.losses import Logistic
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block

FILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "endometrial.csv"

ABSENT = "../shared/data/endometrial.csv (GPL, from the R package brglm2 by references/data/r/outside.R) is absent"
needs_data = pytest.mark.skipif(not FILE.exists(), reason=ABSENT)

NAMES = ("(intercept)", "NV", "PI", "EH")


@pytest.fixture(scope="module")
def rows():
    table = np.genfromtxt(FILE, delimiter=",", names=True)
    return np.column_stack([table[name] for name in NAMES[1:]]), table["HG"]


def penalised(X, y, weight=None, offset=0.0):
    """Return the penalised log-likelihood as a plain function: log L + 1/2 log det X'SWX."""
    Z = np.column_stack([np.ones(len(X)), X])
    s = np.ones(len(y)) if weight is None else weight

    def value(b):
        eta = Z @ b + offset
        p = 1 / (1 + np.exp(-eta))
        _, determinant = np.linalg.slogdet(Z.T @ (Z * (s * p * (1 - p))[:, None]))
        return float(s @ (y * eta - np.logaddexp(0, eta)) + 0.5 * determinant)

    return value


@needs_data
def test_maximum_likelihood_has_no_finite_optimum(rows):
    model = lineal.fit(FILE, target="HG", model="logistic", penalty="none")
    assert model.verdict.kind == "at_infinity"
    assert model.verdict.evidence["plus"] == ["NV"]
    assert set(model.verdict.evidence["finite"]) == {"(intercept)", "PI", "EH"}
    with pytest.raises(InputError, match="Firth"):
        model.summary()
    # The finite ones are those of the rows that the infinite one leaves open.
    X, y = rows
    left = X[:, 0] == 0
    rest = lineal.fit(X[left][:, 1:], y[left].astype(int), model="logistic", penalty="none", tol=1e-12)
    np.testing.assert_allclose(rest.coef[:, 0], [4.3045178, -0.0421834, -2.9026056], rtol=1e-6)


@needs_data
def test_firth(rows):
    X, y = rows
    found = firth(Memory(as_design(X), y, columns=NAMES))
    assert found.verdict.kind == "stationary"
    assert "local" in found.verdict.sentence
    assert found.verdict.evidence["slope_norm"] <= 1e-8
    np.testing.assert_allclose(found.coef[:, 0], [3.77455940, 2.92927326, -0.03475175, -2.60416382], rtol=1e-6)
    errors = np.sqrt(np.diag(found.arrays["covariance"]))
    np.testing.assert_allclose(errors, [1.48869160, 1.55076369, 0.03957815, 0.77601762], rtol=1e-6)


@needs_data
def test_profiles(rows):
    """The ends of every interval lie where the profile has fallen by half the quantile, by another optimiser."""
    X, y = rows
    found = firth(Memory(as_design(X), y, columns=NAMES))
    summary = profile(found, level=0.9)
    value = penalised(X, y)
    best = value(found.coef[:, 0])

    def given(j, v):
        free = [k for k in range(4) if k != j]

        def lost(b):
            return -value(np.insert(b, j, v))

        start = found.coef[free, 0]
        return optimize.minimize(
            lost, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 9999}
        )

    for j, row in enumerate(summary.rows):
        for end in (row.lower, row.upper):
            reached = given(j, end)
            assert reached.success
            assert 2 * (best + reached.fun) == pytest.approx(stats.chi2.ppf(0.9, 1), rel=1e-6)
        assert row.lower < row.estimate < row.upper
        drop = 2 * (best + given(j, 0.0).fun)
        assert row.statistic == pytest.approx(drop, rel=1e-6)
        assert row.p == pytest.approx(stats.chi2.sf(drop, 1), rel=1e-5)


@needs_data
def test_a_model_with_firths_penalty_is_summarised_by_its_profile(rows):
    X, y = rows
    found = firth(Memory(as_design(X), y, columns=NAMES))
    target = Target("HG", "classes", classes=(0, 1))
    training = {"rows": 79, "weight_sum": 79.0}
    penalty = found.problem.penalty
    model = Model(found.coef, NAMES, Logistic(), penalty, target, found.verdict, solver=found.solver, training=training)
    with pytest.raises(InputError, match="profile"):
        model.summary()
    ours, direct = summarise(model, X, y.astype(int), level=0.9), profile(found, level=0.9)
    for a, b in zip(ours.rows, direct.rows, strict=True):
        assert (a.lower, a.upper, a.p) == pytest.approx((b.lower, b.upper, b.p), rel=1e-6)
    with pytest.raises(InputError, match="not the rows"):
        summarise(model, X[:-5], y[:-5].astype(int))
    with pytest.raises(InputError, match="profile"):
        summarise(model, X, y.astype(int), errors="HC1")


@pytest.mark.parametrize("seed", range(5))
def test_firth_on_random_rows(seed):
    """Separable or not, with weights, an offset and three blocks: the same point as a general-purpose optimiser."""
    rng = np.random.default_rng(seed)
    n = 20
    X = rng.normal(size=(n, 2)) * [1.0, 5.0]
    y = (X[:, 0] + (0.3 * rng.normal(size=n) if seed % 2 else 0.0) > 0).astype(float)
    weight = rng.integers(0, 3, size=n).astype(float)
    offset = rng.normal(size=n)
    cuts = [slice(0, 7), slice(7, 8), slice(8, n)]
    blocks = [Block(as_design(X[at]), y[at, None], weight[at], offset[at, None]) for at in cuts]
    found = firth(Blocks(blocks))
    assert found.verdict.kind == "stationary"
    value = penalised(X, y, weight, offset)
    rival = optimize.minimize(
        lambda b: -value(b), np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 9999}
    )
    assert value(found.coef[:, 0]) >= -rival.fun - 1e-9
    np.testing.assert_allclose(found.coef[:, 0], rival.x, rtol=1e-4, atol=1e-5)
    assert found.objective == pytest.approx(-value(found.coef[:, 0]) / weight.sum(), rel=1e-10)


def test_what_firth_refuses():
    X = np.arange(12.0).reshape(6, 2)
    X[:, 1] = 2 * X[:, 0]
    y = np.array([0.0, 1, 0, 1, 1, 0])
    with pytest.raises(InputError, match="depend"):
        firth(Memory(as_design(X), y))
    with pytest.raises(InputError, match="two classes"):
        firth(Memory(as_design(X[:, :1]), y + np.arange(6) % 2))
    stopped = firth(Memory(as_design(X[:, :1]), y), max_iter=1)
    assert stopped.verdict.kind == "budget"
    assert "limit" in stopped.verdict.sentence
