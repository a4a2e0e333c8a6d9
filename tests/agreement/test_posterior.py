"""The posterior of model bayes, and prediction intervals: numpy by hand, scikit-learn's BayesianRidge, statsmodels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import BayesianRidge

import lineal
from lineal import container
from lineal.cli import run
from lineal.verify import Refused, verify

NOISE, PRIOR = 0.5, 0.1


@pytest.fixture
def table(tmp_path: Path) -> tuple[Path, np.ndarray, np.ndarray, np.ndarray]:
    """Return a file of 40 weighted rows, its columns with a first one of ones, target and weights."""
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=40) * 3 + 10, rng.normal(size=40), rng.uniform(size=40)])
    y = X @ [0.3, -0.5, 0.2] + 0.7 * rng.normal(size=40)
    weight = rng.integers(1, 4, size=40).astype(float)
    data = tmp_path / "t.csv"
    rows = [",".join(map(repr, [*a, b, c])) for a, b, c in zip(X.tolist(), y.tolist(), weight.tolist(), strict=True)]
    data.write_text("a,b,c,y,w\n" + "\n".join(rows) + "\n")
    return data, np.column_stack([np.ones(40), X]), y, weight


def by_hand(X, y, weight, factors):
    """Return mean and covariance: (X'SX / sigma^2 + D / tau^2)^-1, by another formula than the code's."""
    precision = (X.T * weight) @ X / NOISE + np.diag(factors) / PRIOR
    covariance = np.linalg.inv(precision)
    return covariance @ (X.T @ (weight * y)) / NOISE, covariance


@pytest.mark.parametrize("penalize", ["raw", "standardized", "raw,(intercept)=raw"])
def test_given_variances(table, penalize, tmp_path, capsys):
    data, X, y, weight = table
    share = weight / weight.sum()
    variance = share @ (X - share @ X) ** 2
    factors = {"raw": [0.0, 1, 1, 1], "standardized": variance, "raw,(intercept)=raw": np.ones(4)}[penalize]
    mean, covariance = by_hand(X, y, weight, factors)
    options = {"model": f"bayes:noise={NOISE},prior={PRIOR}", "penalize": penalize, "weight": "w"}
    model = lineal.fit(str(data), "y", **options)
    assert model.verdict.kind == "optimal"
    np.testing.assert_allclose(model.coef[:, 0], mean, rtol=1e-9)
    np.testing.assert_allclose(model.covariance(), covariance, rtol=1e-8)
    model.save(tmp_path / "m.lineal")
    assert verify(tmp_path / "m.lineal", data).passed

    assert run(["summary", str(tmp_path / "m.lineal"), "--level", "0.9", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(said["covariance"], covariance, rtol=1e-8)
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose([row["error"] for row in said["rows"]], sd, rtol=1e-8)
    np.testing.assert_allclose([row["upper"] for row in said["rows"]], mean + 1.6448536269514722 * sd, rtol=1e-8)
    seen = {"raw": "of b_j.", "standardized": "of sd_j b_j.", "raw,(intercept)=raw": "as penalized."}[penalize]
    assert said["notes"][0].endswith(seen)
    assert (said["figures"]["noise"], said["figures"]["prior"]) == pytest.approx((NOISE, PRIOR), rel=1e-12)

    assert run(["predict", str(tmp_path / "m.lineal"), str(data), "--interval", "0.95", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["predictions"]
    spread = np.sqrt(NOISE + np.einsum("ij,jk,ik->i", X, covariance, X))
    np.testing.assert_allclose([row["prediction"] for row in rows], X @ mean, rtol=1e-9)
    np.testing.assert_allclose([row["standard_deviation"] for row in rows], spread, rtol=1e-9)
    np.testing.assert_allclose([row["lower"] for row in rows], X @ mean - 1.959963984540054 * spread, rtol=1e-8)


def test_estimated_variances():
    """BayesianRidge's standard deviations leave out what is not known of the intercept: sigma^2 / n."""
    X, y = load_diabetes(return_X_y=True)
    X = X - X.mean(0)
    theirs = BayesianRidge(tol=1e-13, max_iter=9999).fit(X, y)
    mean, sd = theirs.predict(X, return_std=True)
    model = lineal.fit(X, y, model="bayes", penalize="raw")
    assert model.verdict.kind == "stationary"
    assert model.variances == pytest.approx((1 / theirs.alpha_, 1 / theirs.lambda_), rel=1e-5)
    found = model.interval(X)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-6)
    np.testing.assert_allclose(found.sd, np.sqrt(sd**2 + 1 / theirs.alpha_ / len(y)), rtol=1e-6)
    errors = np.sqrt(np.diag(theirs.sigma_))
    np.testing.assert_allclose([row.error for row in model.summary().rows[1:]], errors, rtol=1e-5)
    assert "maximise the evidence" in str(model.summary())


@pytest.mark.parametrize("given", [{"noise": 3000.0}, {"prior": 1e5}])
def test_one_variance_is_given(given, tmp_path):
    """The other one maximises the evidence; its slope by finite differences of the determinant's formula is zero."""
    X, y = load_diabetes(return_X_y=True)
    name, value = next(iter(given.items()))
    model = lineal.fit(X, y, model=f"bayes:{name}={value}", penalize="raw")
    assert model.verdict.kind == "stationary"
    noise, prior = model.variances
    assert {"noise": noise, "prior": prior}[name] == pytest.approx(value)
    Z, u = X - X.mean(0), y - y.mean()

    def log_evidence(noise, prior):  # of contrasts, which a flat prior of the intercept leaves
        matrix = noise * np.eye(len(u)) + prior * Z @ Z.T
        return -0.5 * (np.linalg.slogdet(matrix)[1] - np.log(noise) + u @ np.linalg.solve(matrix, u))

    best = log_evidence(noise, prior)
    for factor in (0.9, 1.1):
        other = (noise, prior * factor) if name == "noise" else (noise * factor, prior)
        assert log_evidence(*other) < best


def test_least_squares_has_intervals_of_students_t(table):
    statsmodels = pytest.importorskip("statsmodels.api")
    data, X, y, _ = table
    theirs = statsmodels.OLS(y, X).fit().get_prediction(X).summary_frame(alpha=0.1)
    found = lineal.fit(str(data), "y", model="linear", drop=["w"]).interval(str(data), 0.9)
    np.testing.assert_allclose(found.lower, theirs["obs_ci_lower"], rtol=1e-8)
    np.testing.assert_allclose(found.upper, theirs["obs_ci_upper"], rtol=1e-8)


@pytest.mark.parametrize("lie", ["covariance", "noise", "both"])
def test_the_checker_refuses_another_posterior(table, lie, tmp_path):
    data, *_ = table
    lineal.fit(str(data), "y", model="bayes:noise=0.5,prior=0.1", drop=["w"]).save(tmp_path / "m.lineal")
    meta, arrays = container.read(tmp_path / "m.lineal")
    arrays = {name: np.array(array) for name, array in arrays.items()}
    if lie == "covariance":
        arrays["covariance"][1, 1] *= 1.0001
    elif lie == "noise":
        meta["report"]["bayes"]["noise"] *= 0.5
    else:  # half of both variances leaves the strength as it is
        for name in ("noise", "prior"):
            meta["report"]["bayes"][name] *= 0.5
    container.write(tmp_path / "m.lineal", meta, arrays)
    with pytest.raises(Refused, match={"noise": "strength", "covariance": "covariance", "both": "covariance"}[lie]):
        verify(tmp_path / "m.lineal", data)


@pytest.mark.parametrize("word", ["bayes:", "bayes:noise", "bayes:noise=0", "bayes:noise=1,noise=2", "bayes:prio=1"])
def test_other_words_are_refused(word):
    with pytest.raises(lineal.InputError, match=r"noise=0\.5,prior=0\.1"):
        lineal.fit({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0]}, "y", model=word)


def test_other_models_have_no_intervals(table):
    data, *_ = table
    ridge = lineal.fit(str(data), "y", model="ridge", penalty=0.1)
    with pytest.raises(lineal.InputError, match="bayes"):
        ridge.interval(str(data))
    with pytest.raises(lineal.InputError, match="model gp, bayes, or linear"):
        lineal.fit(str(data), "y", model="median", penalty="none").interval(str(data))


def test_powers_have_their_own_covariance():
    """The posterior of a polynomial's powers is that of its Chebyshev columns, turned."""
    x = np.linspace(0.0, 4.0, 30)
    table = {"x": x, "y": np.sin(x)}
    model = lineal.fit(table, "y", formula="y ~ poly(x, 2)", model="bayes:noise=0.1,prior=10")
    t = (x - 2.0) / 2.0
    X = np.column_stack([np.ones(30), t, 2 * t**2 - 1])
    variance = X.var(axis=0)
    covariance = np.linalg.inv(X.T @ X / 0.1 + np.diag(variance) / 10)
    turn = np.array([[1, -1, 1], [0, 0.5, -2], [0, 0, 0.5]])  # T1 = x/2 - 1, T2 = x^2/2 - 2x + 1
    errors = np.sqrt(np.diag(turn @ covariance @ turn.T))
    np.testing.assert_allclose([row.error for row in model.summary().rows], errors, rtol=1e-8)
