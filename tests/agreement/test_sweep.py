"""Sweeps: scikit-learn's validation curves and numpy's least-norm fits on the same folds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import validation_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import lineal
from lineal.cli import run
from tests.agreement.test_cross_validation import folds_of, written


def wave(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-1.0, 1.0, n))
    return x, np.sin(3.0 * x) + 0.2 * rng.normal(size=n)


def one_se(losses: np.ndarray) -> int:
    """Return the first point (the simplest) within one standard error of the best, by hand."""
    mean = losses.mean(axis=1)
    best = int(np.argmin(mean))
    bar = mean[best] + losses[best].std(ddof=1) / np.sqrt(losses.shape[1])
    return int(np.flatnonzero(mean <= bar)[0])


def test_degrees_are_a_validation_curve(tmp_path, capsys):
    x, y = wave()
    written(tmp_path / "t.csv", x[:, None], y)
    words = ["sweep", str(tmp_path / "t.csv"), "--target", "y", "--over", "degree=0:6", "--test-size", "0", "--json"]
    assert run(words) == 0
    ours = json.loads(capsys.readouterr().out)
    rival = make_pipeline(PolynomialFeatures(include_bias=False), linear_model.LinearRegression())
    name = "polynomialfeatures__degree"
    scores = validation_curve(
        rival, x[:, None], y, param_name=name, param_range=range(1, 7), cv=folds_of(len(y), 5, 0),
        scoring="neg_mean_squared_error",
    )  # fmt: skip
    for side, theirs in zip(("training", "validation"), scores, strict=True):
        mine = np.array([point[f"{side}_folds"] for point in ours["points"]])
        np.testing.assert_allclose(mine[1:], -theirs, rtol=1e-6)
        np.testing.assert_allclose([point[side] for point in ours["points"]], mine.mean(axis=1), rtol=1e-12)
    constant = [
        np.mean((y[held] - y[seen].mean()) ** 2) for seen, held in folds_of(len(y), 5, 0).split()
    ]  # degree 0, which PolynomialFeatures without a bias does not have
    np.testing.assert_allclose(ours["points"][0]["validation_folds"], constant, rtol=1e-9)
    losses = np.vstack([constant, -scores[1]])
    assert ours["best"] == int(np.argmin(losses.mean(axis=1)))
    assert ours["one_se"] == one_se(losses)
    assert ours["threshold"] is None


@pytest.mark.parametrize("penalize", ["standardized", "raw"])
def test_strengths_are_a_validation_curve(penalize):
    bunch = load_diabetes(scaled=False)
    X, y = bunch.data, bunch.target
    grid = [10.0, 1.0, 0.1, 0.01, 0.001]
    found = lineal.sweep(X, y, over="strength=" + ",".join(map(str, grid)), model="ridge", penalize=penalize, seed=3)
    assert [point.value for point in found.points] == grid
    for k, (seen, held) in enumerate(folds_of(len(y), 5, 3).split()):
        for point in found.points:
            ridge = linear_model.Ridge(alpha=point.value * len(seen), solver="svd")
            rival = make_pipeline(StandardScaler(), ridge) if penalize == "standardized" else ridge
            rival.fit(X[seen], y[seen])
            assert point.training[k] == pytest.approx(np.mean((rival.predict(X[seen]) - y[seen]) ** 2), rel=1e-8)
            assert point.validation[k] == pytest.approx(np.mean((rival.predict(X[held]) - y[held]) ** 2), rel=1e-8)
    losses = np.array([point.validation for point in found.points])
    assert found.best == int(np.argmin(losses.mean(axis=1)))
    assert found.one_se == one_se(losses)


def test_the_lasso_of_classes():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X[:, :6])
    found = lineal.sweep(X, y, over="strength=0.01:0.1", model="logistic", penalty="l1", penalize="raw", folds=3)
    assert found.loss == "log loss"
    assert len(found.points) == 5
    for k, (seen, held) in enumerate(folds_of(len(y), 3, 0).split()):
        for point in found.points[::2]:
            rival = linear_model.LogisticRegression(
                C=1 / (point.value * len(seen)), l1_ratio=1.0, solver="saga", tol=1e-9, max_iter=100_000
            ).fit(X[seen], y[seen])
            chance = rival.predict_proba(X[held])[np.arange(len(held)), y[held]]
            assert point.validation[k] == pytest.approx(-np.mean(np.log(chance)), rel=1e-3)


def test_past_the_threshold_the_smallest_coefficients_are_taken():
    """Random features: numpy's least-norm solution of centered columns, the peak at the threshold, the second descent."""
    rng = np.random.default_rng(1)
    n, p = 40, 120
    X = rng.normal(size=(n, p))
    y = X @ rng.normal(size=p) / np.sqrt(p) + 0.3 * rng.normal(size=n)
    found = lineal.sweep(X, y, over="columns=4:120:4", model="linear")
    folds = list(folds_of(n, 5, 0).split())
    for point in found.points:
        k = int(point.value)
        for fold, (seen, held) in enumerate(folds):
            center, level = X[seen, :k].mean(0), y[seen].mean()
            b = np.linalg.lstsq(X[seen, :k] - center, y[seen] - level, rcond=None)[0]
            theirs = np.mean((level + (X[held, :k] - center) @ b - y[held]) ** 2)
            assert point.validation[fold] == pytest.approx(theirs, rel=1e-6)
    threshold = found.points[found.threshold]
    assert threshold.columns >= threshold.rows > found.points[found.threshold - 1].columns
    validation = [float(np.mean(point.validation)) for point in found.points]
    peak = int(np.argmax(validation))
    assert abs(peak - found.threshold) <= 2
    assert validation[-1] < 0.5 * validation[peak]
    assert np.mean(found.points[-1].training) < 1e-20
    assert found.points[-1].verdict.kind == "not_unique"


def test_test_rows_are_left_alone(tmp_path, capsys):
    """Wild targets in the rows that fit holds out change nothing."""
    x, y = wave()
    from lineal.tables.tabular import uniform

    wild = np.where(uniform(0, np.arange(len(y))) < 0.2, 1e6, y)
    answers = []
    for name, target in (("a.csv", y), ("b.csv", wild)):
        written(tmp_path / name, x[:, None], target)
        assert run(["sweep", str(tmp_path / name), "--target", "y", "--over", "degree=0:4", "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0]["points"] == answers[1]["points"]
    assert answers[0]["how"] == "5 folds"


def test_validation_rows_are_one_fold():
    x, y = wave()
    part = np.where(np.arange(60) % 3 == 0, "validation", "train")
    found = lineal.sweep({"x": x, "part": part, "y": y}, "y", over="degree=1,3", split="column:part")
    assert found.one_se is None
    for point in found.points:
        b = np.polynomial.Polynomial.fit(x[part == "train"], y[part == "train"], int(point.value))
        held = part == "validation"
        assert point.validation == pytest.approx((np.mean((b(x[held]) - y[held]) ** 2),), rel=1e-8)
        assert point.training == pytest.approx((np.mean((b(x[~held]) - y[~held]) ** 2),), rel=1e-8)


def test_a_formula_says_whose_degree(tmp_path, capsys):
    x, y = wave()
    table = {"x": x, "z": np.cos(np.arange(60.0)), "y": y}
    found = lineal.sweep(table, over="degree=0:3", formula="y ~ poly(x, degree) + z")
    assert [point.columns for point in found.points] == [2, 3, 4, 5]
    assert found.points[2].settings == {"formula": "y ~ poly(x, 2) + z"}
    several = lineal.sweep(table, "y", over="degree=0:2")
    assert [point.columns for point in several.points] == [1, 3, 6]  # 1; x, z; and x^2, xz, z^2


def test_the_table_can_be_typed_on(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    x, y = wave()
    written(tmp_path / "t.csv", x[:, None], y)
    words = ["sweep", str(tmp_path / "t.csv"), "--target", "y", "--over", "degree=0:5", "-o", str(tmp_path / "s.csv")]
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "best" in said
    assert all(len(line) <= 80 for line in said.splitlines() if str(tmp_path) not in line)
    head, *lines = (tmp_path / "s.csv").read_text().splitlines()
    assert head.startswith("degree,columns,rows,training,validation,error,verdict,training fold 1")
    assert len(lines) == 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"over": "degre=0:3"}, "Did you mean 'degree'"),
        ({"over": "degree=3:0"}, "smaller one first"),
        ({"over": "degree=a"}, "whole numbers"),
        ({"over": "strength=-1"}, "above 0"),
        ({"over": "strength", "penalty": "ridge:0.1"}, "what a path goes through"),
        ({"over": "columns=1:9"}, "there are 1 columns"),
        ({"over": "degree=0:3", "formula": "y ~ x"}, "write the word degree"),
        ({"over": "columns", "formula": "y ~ x"}, "leave it out"),
        ({"over": "degree=0:3", "folds": 5, "validation_size": 0.2}, "exclude each other"),
        ({"over": "degree=0:3", "split": "time:x", "test_size": 0.2}, "split in time"),
        ({"over": "degree=0:2", "penalize": "raw"}, "there is none"),
    ],
)
def test_refusals(options, words):
    x, y = wave(30)
    with pytest.raises(lineal.InputError, match=words):
        lineal.sweep({"x": x, "y": y}, "y", **options)


def test_an_svmlight_file_is_swept_by_its_strength(tmp_path, capsys):
    rng = np.random.default_rng(0)
    lines = [f"{int(a + b > 0)} 1:{a:.3f} 2:{b:.3f}" for a, b in rng.normal(size=(60, 2))]
    (tmp_path / "t.svm").write_text("\n".join(lines) + "\n")
    assert run(["sweep", str(tmp_path / "t.svm"), "--over", "strength=0.1,0.01", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["points"]) == 2
    assert run(["sweep", str(tmp_path / "t.svm"), "--over", "degree=0:2"]) == 2
    assert "sweep its strength" in capsys.readouterr().err


PROSTATE = Path(__file__).resolve().parents[3] / "shared" / "data" / "prostate.csv"


@pytest.mark.skipif(not PROSTATE.exists(), reason="../shared/data/prostate.csv (GPL, ElemStatLearn) is absent")
def test_the_ridge_of_the_elements_of_statistical_learning():
    """Table 3.3: df = 5, lambda = 24 on columns standardized over all 97 rows with n - 1; figures of the data's README."""
    lines = [line.split(",") for line in PROSTATE.read_text().splitlines()]
    names, cells = lines[0][:8], np.array([line[:9] for line in lines[1:]], dtype=float)
    train = np.array([line[9] == "T" for line in lines[1:]])
    Z = (cells[:, :8] - cells[:, :8].mean(0)) / cells[:, :8].std(0, ddof=1)
    model = lineal.fit(Z[train], cells[train, 8], model="ridge", penalty=f"ridge:{24 / 67}", penalize="raw")
    published = [2.464, 0.421, 0.239, -0.048, 0.162, 0.227, -0.000, 0.041, 0.132]
    np.testing.assert_allclose(model.coef[:, 0], published, atol=6e-4)
    error = (model.predict(Z[~train]) - cells[~train, 8]) ** 2
    assert error.mean() == pytest.approx(0.490, abs=6e-4)
    table = {**dict(zip(names, Z.T, strict=True)), "lpsa": cells[:, 8], "part": np.where(train, "train", "validation")}
    found = lineal.sweep(table, "lpsa", over=f"strength={24 / 67}", model="ridge", penalize="raw", split="column:part")
    assert found.points[0].validation == pytest.approx((error.mean(),), rel=1e-9)


@pytest.mark.parametrize("penalize", ["standardized", "raw"])
def test_the_path_of_a_ridge(penalize, tmp_path, capsys):
    bunch = load_diabetes(scaled=False)
    X, y = bunch.data[:, :5], bunch.target
    written(tmp_path / "t.csv", X, y)
    words = ["path", str(tmp_path / "t.csv"), "--target", "y", "--penalty", "ridge", "--penalize", penalize]
    assert run([*words, "--points", "5", "--test-size", "0", "-o", str(tmp_path / "p.csv")]) == 0
    assert "a ridge makes nothing zero" in " ".join(capsys.readouterr().out.split())
    head, *lines = [line.split(",") for line in (tmp_path / "p.csv").read_text().splitlines()]
    first = [k for k, name in enumerate(head) if name.startswith("coefficient of x")]
    scale = X.std(0) if penalize == "standardized" else np.ones(5)
    strengths = [float(line[0]) for line in lines]
    assert strengths[-1] == pytest.approx(1e-6 * strengths[0])
    for strength, line in zip(strengths, lines, strict=True):
        rival = linear_model.Ridge(alpha=strength * len(y), solver="svd").fit(X / scale, y)
        np.testing.assert_allclose([float(line[k]) for k in first], rival.coef_ / scale, rtol=1e-7)
    least_squares = linear_model.LinearRegression().fit(X, y).coef_
    share = np.array([float(lines[0][k]) for k in first]) * scale / (least_squares * scale)
    assert 0.002 < np.median(np.abs(share)) < 0.1  # the first strength leaves about a hundredth


def test_a_path_says_what_model_it_is_of(capsys, tmp_path):
    x, y = wave(30)
    written(tmp_path / "t.csv", x[:, None], y)
    assert run(["path", str(tmp_path / "t.csv"), "--target", "y", "--model", "ridge"]) == 2
    assert "--penalty ridge" in capsys.readouterr().err
