"""Gaussian processes on tables: beside scikit-learn's and by hand, confirmed by the checker, which refuses files that lie."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import lineal
from lineal import container
from lineal.cli import run
from lineal.errors import InputError, LinealError, ModelFileError
from lineal.kernels import Gaussian, Laplacian, Linear
from lineal.machines.likelihood import Likelihood
from lineal.verify import verify

RNG = np.random.default_rng(3)
N = 40
X = RNG.normal(size=(N, 2)) * [10.0, 0.1]
SCALED = (X - X.mean(axis=0)) / X.std(axis=0)
Y = 5.0 + np.sin(SCALED[:, 0]) + 0.5 * SCALED[:, 1] + 0.1 * RNG.normal(size=N)
TABLE = {"a": X[:, 0].tolist(), "b": X[:, 1].tolist(), "y": Y.tolist()}
NEW = {"a": [0.0, 300.0, X[0, 0]], "b": [0.01, -5.0, X[0, 1]]}
NEW_SCALED = (np.column_stack([NEW["a"], NEW["b"]]) - X.mean(axis=0)) / X.std(axis=0)


def test_given_variances_without_an_intercept_are_those_of_scikit_learn():
    model = lineal.fit(TABLE, "y", model="gp:rbf:1.5;noise=0.02;prior=3", intercept=False)
    other = GaussianProcessRegressor(ConstantKernel(3.0) * RBF(1.5), alpha=0.02, optimizer=None).fit(SCALED, Y)
    assert model.verdict.kind == "optimal"
    mean, sd = other.predict(NEW_SCALED, return_std=True)
    expected = model.interval(NEW, 0.9)
    np.testing.assert_allclose(expected.mean, mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(expected.sd, np.sqrt(sd**2 + 0.02), rtol=1e-9)
    np.testing.assert_allclose(expected.upper - expected.lower, 2 * 1.6448536269514722 * expected.sd, rtol=1e-9)
    np.testing.assert_array_equal(expected.mean, model.predict(NEW))


def test_an_intercept_is_the_limit_of_a_wide_prior_on_a_constant():
    model = lineal.fit(TABLE, "y", model="gp:rbf:1.5;noise=0.02;prior=3")
    wide = ConstantKernel(3.0) * RBF(1.5) + ConstantKernel(1e7)
    other = GaussianProcessRegressor(wide, alpha=0.02, optimizer=None).fit(SCALED, Y)
    mean, sd = other.predict(NEW_SCALED, return_std=True)
    expected = model.interval(NEW)
    np.testing.assert_allclose(expected.mean, mean, rtol=1e-5)
    np.testing.assert_allclose(expected.sd, np.sqrt(sd**2 + 0.02), rtol=1e-5)


def test_the_linear_kernel_is_bayesian_regression():
    process = lineal.fit(TABLE, "y", model="gp:linear;noise=0.1;prior=2")
    bayes = lineal.fit(TABLE, "y", model="bayes:noise=0.1,prior=2")
    one, other = process.interval(NEW), bayes.interval(NEW)
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9)
    np.testing.assert_allclose(one.sd, other.sd, rtol=1e-9)


def test_the_likeliest_are_those_of_scikit_learn():
    model = lineal.fit(TABLE, "y", model="gp", intercept=False)
    free = ConstantKernel(1.0, (1e-3, 1e5)) * RBF(1.0, (1e-2, 1e2)) + WhiteKernel(0.1, (1e-6, 1e2))
    other = GaussianProcessRegressor(free, alpha=1e-12, n_restarts_optimizer=3, random_state=0).fit(SCALED, Y)
    assert model.verdict.kind == "stationary"
    assert "Given them: Optimal" in model.verdict.sentence
    value = model.verdict.evidence["log_likelihood"]
    assert value >= other.log_marginal_likelihood_value_ - 1e-5 * abs(value)
    assert model.feature_map.noise == pytest.approx(other.kernel_.k2.noise_level, rel=0.01)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", [Gaussian(0.4), Laplacian(0.3), Linear()])
def test_slopes_are_those_of_differences(kernel, intercept):
    free = ("noise", "prior") if isinstance(kernel, Linear) else ("gamma", "noise", "prior")
    share = RNG.uniform(0.5, 2.0, N)
    problem = Likelihood(kernel, kernel.points(SCALED), Y, share, intercept, free, {})
    at, step = np.log([0.3, 0.1, 2.0][-len(free) :]), 1e-5
    slopes = problem.at(at)[1]
    for k in range(len(free)):
        up, down = (problem.at(at + side * step * np.eye(len(free))[k])[0] for side in (1.0, -1.0))
        assert slopes[k] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-6)


def test_the_likelihood_with_an_intercept_is_that_of_contrasts():
    problem = Likelihood(Gaussian(0.4), Gaussian(0.4).points(SCALED), Y, np.ones(N), True, ("noise", "prior"), {})
    value, _ = problem.at(np.log([0.1, 2.0]))
    contrasts = np.linalg.qr(np.column_stack([np.ones(N), np.eye(N)[:, 1:]]))[0][:, 1:].T  # their rows sum to zero
    c = contrasts @ (2.0 * Gaussian(0.4).gram(SCALED) + 0.1 * np.eye(N)) @ contrasts.T
    z = contrasts @ Y
    normal = -0.5 * (z @ np.linalg.solve(c, z) + np.linalg.slogdet(c)[1] + (N - 1) * np.log(2 * np.pi))
    assert value == pytest.approx(normal - 0.5 * np.log(N), rel=1e-10)


def test_a_weight_is_a_row_said_so_often():
    times = RNG.integers(0, 3, N)
    weighted = lineal.fit({**TABLE, "w": times.tolist()}, "y", weight="w", model="gp:rbf:1.5;noise=0.02;prior=3")
    rows = np.repeat(np.arange(N), times)
    kept = times > 0
    # (columns are scaled by the rows that are there, each once)
    center, spread = X[kept].mean(axis=0), X[kept].std(axis=0)
    wide = ConstantKernel(3.0) * RBF(1.5) + ConstantKernel(1e7)
    other = GaussianProcessRegressor(wide, alpha=0.02, optimizer=None).fit((X[rows] - center) / spread, Y[rows])
    mean, sd = other.predict((np.column_stack([NEW["a"], NEW["b"]]) - center) / spread, return_std=True)
    np.testing.assert_allclose(weighted.interval(NEW).mean, mean, rtol=1e-5)
    np.testing.assert_allclose(weighted.interval(NEW).sd, np.sqrt(sd**2 + 0.02), rtol=1e-5)


WORDS = ["banana", "ananas", "bandana", "cherry", "berry", "sherry", "", "ba"] * 3
CASES = {
    "plain": ({"a": TABLE["a"], "b": TABLE["b"]}, Y, "gp", {}),
    "given": ({"a": TABLE["a"]}, Y, "gp:rbf:1;noise=0.1;prior=1", {}),
    "half": ({"a": TABLE["a"]}, Y, "gp:laplacian:auto;noise=0.1", {}),
    "degree": ({"a": TABLE["a"]}, Y, "gp:poly:auto", {}),
    "weights": ({"a": TABLE["a"], "w": RNG.integers(0, 3, N).tolist()}, Y, "gp", {"weight": "w"}),
    "no intercept": ({"a": TABLE["a"]}, Y, "gp", {"intercept": False}),
    "no noise": ({"a": TABLE["a"]}, np.sin(SCALED[:, 0]), "gp", {}),
    "two rows": ({"a": [1.0, 2.0]}, np.array([1.0, 5.0]), "gp", {}),
    "twice": ({"a": [1.0, 1.0, 2.0, 2.0] * 5}, Y[:20], "gp", {}),
    "far": ({"a": TABLE["a"]}, 1e12 + 1e9 * Y, "gp", {}),
    "texts": ({"t": WORDS}, Y[:24], "gp:spectrum:2", {}),
    "sequences": ({"t": WORDS}, np.array([float(len(word)) for word in WORDS]), "gp:string:ssk,2,0.5", {}),
}


@pytest.mark.parametrize("case", CASES)
def test_fits_are_confirmed(tmp_path, case):
    columns, y, model, options = CASES[case]
    with (tmp_path / "d.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[*columns, "y"], *zip(*columns.values(), y.tolist(), strict=True)])
    fitted = lineal.fit(tmp_path / "d.csv", "y", model=model, **options)
    assert fitted.verdict.kind == ("optimal" if case == "given" else "stationary")
    fitted.save(tmp_path / "m.lineal")
    assert verify(tmp_path / "m.lineal", tmp_path / "d.csv").passed
    again, rows = lineal.load(tmp_path / "m.lineal"), dict(list(columns.items())[:2])
    np.testing.assert_array_equal(again.interval(rows).sd, fitted.interval(rows).sd)
    assert (fitted.interval(rows).sd > 0.0).all()


def changed(path, change):
    meta, arrays = container.read(path)
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(meta, arrays)
    container.write(path, {**meta, "encoding": container.encoding(meta)}, arrays)


def noisier(meta, arrays):
    """Say that the noise is larger, and the strength with it."""
    meta["feature_map"]["noise"] *= 1.5
    meta["feature_map"]["strength"] *= 1.5


def both(meta, arrays):
    """Scale both variances, which leaves the mean as it is."""
    meta["feature_map"]["noise"] *= 1.5
    meta["feature_map"]["prior"] *= 1.5


def likelier(meta, arrays):
    """Say that the rows are likelier."""
    meta["verdict"]["evidence"]["log_likelihood"] += 0.01


def flatter(meta, arrays):
    """Say that a slope leads beyond what was tried."""
    meta["verdict"]["evidence"]["ends"] = ["noise"]


def heavier(meta, arrays):
    """Give a row another weight."""
    arrays["map.weight"][3] = 2.0


def certain(meta, arrays):
    """Call the hyperparameters given."""
    both(meta, arrays)
    evidence = meta["verdict"]["evidence"]
    for name in ("slope_norm", "free", "ends"):
        del evidence[name]


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        (noisier, "the objective at the coefficients is as stated"),
        (both, "the log likelihood is as stated"),
        (likelier, "the log likelihood is as stated"),
        (flatter, "the sentence is the one that its figures make"),
        (heavier, "the weights in the file are those of the data"),
        (certain, "the verdict is one of a minimum"),
    ],
)
def test_files_that_lie_are_refused(tmp_path, lie, words):
    with (tmp_path / "d.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["a", "b", "y"], *zip(*TABLE.values(), strict=True)])
    lineal.fit(tmp_path / "d.csv", "y", model="gp").save(tmp_path / "m.lineal")
    assert verify(tmp_path / "m.lineal", tmp_path / "d.csv").passed
    changed(tmp_path / "m.lineal", lie)
    with pytest.raises(LinealError, match=words):
        verify(tmp_path / "m.lineal", tmp_path / "d.csv")


@pytest.mark.parametrize(
    ("name", "value"), [("noise", 0.0), ("noise", "much"), ("prior", -1.0), ("prior", True), ("intercept", 1)]
)
def test_files_with_impossible_numbers_are_refused(tmp_path, name, value):
    lineal.fit(TABLE, "y", model="gp:rbf:1;noise=0.1;prior=1").save(tmp_path / "m.lineal")
    changed(tmp_path / "m.lineal", lambda meta, _: meta["feature_map"].update({name: value}))
    with pytest.raises(ModelFileError, match=name):
        lineal.load(tmp_path / "m.lineal")


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        ("gp:rbf:1;noise=0", {}, "noise must be a number above 0, or auto"),
        ("gp:rbf:1;strength=1", {}, "spelled gp or gp:KERNEL;noise=V;prior=V"),
        ("gp:sigmoid:1,0", {}, "not positive semi-definite"),
        ("gp", {"offset": "b"}, "has no offset"),
        ("gp", {"target": "y,b"}, "gp is for one number"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(model, options, words):
    with pytest.raises(InputError, match=words):
        lineal.fit(TABLE, **{"target": "y", "model": model, **options})


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "d.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["a", "b", "y"], *zip(*TABLE.values(), strict=True)])
    fit = ["fit", "d.csv", "--target", "y", "-o", "m.lineal", "--test-size", "0", "--model", "gp"]
    assert run([*fit, "--kernel", "rbf:2;noise=0.1", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"]["evidence"]["free"] == ["prior"]
    assert run(["show", "m.lineal"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Noise variance 0.1, standard deviation 0.3162" in shown
    assert "The file holds 40 training rows as they are" in shown
    assert run(["predict", "m.lineal", "d.csv", "--interval", "0.95"]) == 0
    assert capsys.readouterr().out.startswith("prediction,standard_deviation,lower,upper\n")
    assert run(["verify", "m.lineal", "d.csv"]) == 0
    assert run(["summary", "m.lineal"]) == 2
    capsys.readouterr()
    assert run([*fit, "--kernel", "rbf:auto", "--seed", "4"]) == 0  # rows to begin with are drawn


def test_of_many_rows_a_sample_says_what_is_likeliest(monkeypatch):
    from lineal.api.methods import gaussian_process

    monkeypatch.setattr(gaussian_process, "EVIDENCE_MAX_ROWS", 25)
    model = lineal.fit(TABLE, "y", model="gp")
    assert model.verdict.kind == "optimal"
    assert "the likeliest of 25 of the rows" in model.reason
    assert len(model.feature_map.weight) == N
