"""What `lineal dialect` prints is typed into `lineal fit`, and gives the coefficients of who speaks the dialect."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import StandardScaler

import lineal
from lineal.cli import run
from lineal.verify import Refused, verify

PROSTATE = Path(__file__).resolve().parents[3] / "shared" / "data" / "prostate.csv"


def prostate() -> tuple[list[str], np.ndarray, np.ndarray]:
    if not PROSTATE.exists():
        pytest.skip("../shared/data/prostate.csv (GPL, from the R package ElemStatLearn) is absent")
    lines = [line.split(",") for line in PROSTATE.read_text().splitlines()]
    cells = np.array([line[:9] for line in lines[1:]], dtype=float)
    return lines[0][:8], cells[:, :8], cells[:, 8]


def diabetes() -> tuple[list[str], np.ndarray, np.ndarray]:
    bunch = load_diabetes(scaled=False)
    return list(bunch.feature_names), bunch.data, bunch.target


def cancer() -> tuple[list[str], np.ndarray, np.ndarray]:
    bunch = load_breast_cancer()
    names = [name.replace(" ", "_") for name in bunch.feature_names[:6]]
    return names, bunch.data[:, :6], bunch.target


class Typed:
    """Fits a table on the command line with the words that `lineal dialect` gives."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def say(self, *words: object) -> dict:
        assert run([*map(str, words), "--json"]) == 0
        return json.loads(self.capsys.readouterr().out)

    def options(self, value: float, name: str, rows: int, spread: float | None = None, which: str = "meant") -> list:
        more = [] if spread is None else ["--spread", repr(spread)]
        answer = self.say("dialect", repr(value), "--from", name, "--n", rows, *more)
        return shlex.split(answer["options"][which])

    def fit(self, names: list[str], X: np.ndarray, y: np.ndarray, words: list[str], *more: str) -> np.ndarray:
        """Return intercept and coefficients, after an independent program has confirmed the file."""
        data, model = self.folder / "t.csv", self.folder / "t.lineal"
        rows = [[*map(repr, row), repr(target)] for row, target in zip(X.tolist(), y.tolist(), strict=True)]
        data.write_text("\n".join(",".join(row) for row in [[*names, "target"], *rows]) + "\n")
        self.say("fit", data, "--target", "target", "--test-size", "0", "-o", model, *words, *more)
        assert verify(model, data).passed
        fitted = lineal.load(model)
        assert fitted.verdict.kind == "optimal"
        assert fitted.columns[1:] == tuple(names)
        return fitted.coef[:, 0]


@pytest.fixture
def typed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Typed:
    return Typed(tmp_path, capsys)


def l1(words: list[str]) -> list[str]:
    return [word.replace("ridge:", "l1:") for word in words]


@pytest.mark.parametrize("table", [prostate, diabetes])
@pytest.mark.parametrize("alpha", [0.3, 24.0])
def test_ridge(typed, table, alpha):
    names, X, y = table()
    theirs = linear_model.Ridge(alpha=alpha, solver="svd").fit(X, y)
    ours = typed.fit(names, X, y, typed.options(alpha, "sklearn-alpha-ridge", len(y)), "--model", "ridge")
    np.testing.assert_allclose(ours, [theirs.intercept_, *theirs.coef_], rtol=1e-9)
    scaler = StandardScaler().fit(X)
    theirs = linear_model.Ridge(alpha=alpha, solver="svd").fit(scaler.transform(X), y)
    words = typed.options(alpha, "sklearn-alpha-ridge", len(y), which="standardized")
    ours = typed.fit(names, X, y, words, "--model", "ridge")
    np.testing.assert_allclose(ours[1:], theirs.coef_ / scaler.scale_, rtol=1e-9)


def test_alpha_24_on_prostate_shrinks_as_scikit_learn_does(typed):
    """Figures of the issue: lweight 0.258 in scikit-learn at alpha 24; standardized it is 0.553."""
    names, X, y = prostate()
    words = typed.options(24.0, "sklearn-alpha-ridge", len(y))
    place = 1 + names.index("lweight")
    assert typed.fit(names, X, y, words, "--model", "ridge")[place] == pytest.approx(0.258, abs=5e-4)
    words = typed.options(24.0, "sklearn-alpha-ridge", len(y), which="standardized")
    assert typed.fit(names, X, y, words, "--model", "ridge")[place] == pytest.approx(0.553, abs=5e-4)


@pytest.mark.parametrize("table", [prostate, diabetes])
def test_lasso(typed, table):
    names, X, y = table()
    alpha = 0.1 * float(np.max(np.abs((X - X.mean(0)).T @ (y - y.mean())))) / len(y)
    theirs = linear_model.Lasso(alpha=alpha, tol=1e-14, max_iter=1_000_000).fit(X, y)
    assert 0 < np.count_nonzero(theirs.coef_) < len(names)
    words = l1(typed.options(alpha, "sklearn-alpha-mean", len(y)))
    ours = typed.fit(names, X, y, words, "--model", "linear")
    size = np.abs(theirs.coef_).max()
    np.testing.assert_allclose(ours[1:], theirs.coef_, rtol=1e-5, atol=1e-6 * size)  # both stop at a small gap


@pytest.mark.parametrize("C", [0.02, 1.0])
def test_logistic_regression(typed, C):
    names, X, y = cancer()
    theirs = linear_model.LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12, max_iter=500).fit(X, y)
    ours = typed.fit(names, X, y, typed.options(C, "sklearn-C", len(y)), "--model", "logistic")
    np.testing.assert_allclose(ours, [*theirs.intercept_, *theirs.coef_[0]], rtol=1e-3)  # the relative gap is 1e-6


def test_glmnet_ridge(typed):
    """The objective of its documentation: x and y divided by their standard deviations (1/n), lambda by that of y."""
    names, X, y = diabetes()
    n, lam = len(y), 20.0
    mean, sd, sd_y = X.mean(0), X.std(0), float(y.std())
    Z, u = (X - mean) / sd, (y - y.mean()) / sd_y
    b = np.linalg.solve(Z.T @ Z / n + lam / sd_y * np.eye(X.shape[1]), Z.T @ u / n) * sd_y / sd
    words = typed.options(lam, "glmnet-lambda-gaussian", n, spread=sd_y)
    assert "--penalize" not in words
    np.testing.assert_allclose(typed.fit(names, X, y, words, "--model", "ridge")[1:], b, rtol=1e-9)


@pytest.mark.parametrize(("name", "factor"), [("LM1", 1.0), ("LC", 2.0)])
@pytest.mark.parametrize("table", [prostate, diabetes])
def test_the_notes_ridge(typed, table, name, factor):
    """(X'X + lambda I)^-1 X'y, the first column of X being 1; LC halves the squares, so its lambda counts twice."""
    names, X, y = table()
    phi = np.column_stack([np.ones(len(y)), X])
    w = np.linalg.solve(phi.T @ phi + factor * 7.5 * np.eye(phi.shape[1]), phi.T @ y)
    ours = typed.fit(names, X, y, typed.options(7.5, name, len(y)), "--model", "ridge")
    np.testing.assert_allclose(ours, w, rtol=1e-7)


def test_the_notes_logistic_regression(typed):
    """LM2: (lambda/2) |W|^2 + sum loss; the slope of it at what is typed is zero."""
    names, X, y = cancer()
    ours = typed.fit(names, X, y, typed.options(3.0, "LM2", len(y)), "--model", "logistic")
    phi = np.column_stack([np.ones(len(y)), X])
    slope = phi.T @ (1.0 / (1.0 + np.exp(-phi @ ours)) - y)
    np.testing.assert_allclose(slope, -3.0 * ours, atol=1e-3 * float(np.abs(phi.T @ y).max()) * 1e-2)
    assert abs(ours[0]) < 3.0  # without the penalty on it the intercept is 30


@pytest.mark.parametrize(
    ("asked", "factors"),
    [
        ("raw", [0, 1, 1]),
        ("standardized", [0, 4, 9]),
        ("a=raw", [0, 1, 9]),
        ("raw,a=standardized", [0, 4, 1]),
        ({"b": "raw"}, [0, 4, 1]),
        ("raw,(intercept)=raw", [1, 1, 1]),
    ],
)
def test_penalty_factors(asked, factors):
    model = lineal.fit(two_columns(), "y", model="ridge", penalty=0.1, penalize=asked)
    np.testing.assert_allclose(model.penalty.penalty_factors, factors, rtol=1e-12)


def test_a_column_to_be_penalized_is_there():
    with pytest.raises(lineal.InputError, match="no column 'a,b'"):
        lineal.fit(two_columns(), "y", model="ridge", penalty=0.1, penalize=["raw", "a,b=standardized"])


def two_columns():
    a, b = np.tile([-2.0, 2.0], 10), np.repeat([-3.0, 3.0], 10)
    return {"a": a, "b": b, "y": a + b + np.sin(np.arange(20.0))}


def test_a_category_is_named_by_its_column():
    table = {"a": np.arange(30.0), "k": list("uvw") * 10, "y": np.arange(30.0) % 7}
    model = lineal.fit(table, "y", model="ridge", penalty=0.1, penalize="k=raw")
    raw = {
        name: factor for name, factor in zip(model.columns, model.penalty.penalty_factors, strict=True) if factor == 1
    }
    assert set(raw) == {"k=v", "k=w"}


def test_a_strength_is_picked_in_the_unit_of_the_columns():
    """On columns in thousandths and in thousands the same model is picked, the strength a million times as large."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    X = X / X.std(0)
    y = X @ [1.0, 0.5, 0.0, 0.0, 0.0] + rng.normal(size=200)
    scores, strengths = [], []
    for unit in (1.0, 1e3, 1e-3):
        model = lineal.fit(X * unit, y, model="ridge", penalize="raw")
        scores.append(model.scores(X * unit)[:, 0])
        strengths.append(model.penalty.strength / unit**2)
    assert strengths == pytest.approx([strengths[0]] * 3)
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(scores[2], scores[0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("stated", ["raw", "variance", ["none", "raw", "variance"], ["raw", "raw", "raw"]])
def test_the_checker_holds_what_the_file_says_of_penalty_factors(stated, tmp_path):
    from lineal import container

    a, b = np.tile([-2.0, 2.0], 10), np.repeat([-3.0, 3.0], 10)
    data = tmp_path / "t.csv"
    rows = [
        f"{u!r},{v!r},{u + v + w!r}"
        for u, v, w in zip(a.tolist(), b.tolist(), np.sin(np.arange(20.0)).tolist(), strict=True)
    ]
    data.write_text("a,b,y\n" + "\n".join(rows) + "\n")
    truth = {"raw": "raw", "variance": "standardized"}.get(str(stated), "b=raw")
    model = lineal.fit(str(data), "y", model="ridge", penalty=0.1, penalize=truth)
    model.save(tmp_path / "m.lineal")
    assert verify(tmp_path / "m.lineal", data).passed
    meta, arrays = container.read(tmp_path / "m.lineal")
    meta["report"]["charges"] = {"raw": "variance", "variance": "raw"}.get(str(stated), stated)
    container.write(tmp_path / "m.lineal", meta, arrays)
    with pytest.raises(Refused, match="charge"):
        verify(tmp_path / "m.lineal", data)


def test_the_checker_refuses_an_intercept_that_is_penalized_in_silence(tmp_path):
    from lineal import container

    data = tmp_path / "t.csv"
    data.write_text("a,y\n" + "\n".join(f"{k},{k * k % 7}" for k in range(20)) + "\n")
    lineal.fit(str(data), "y", model="ridge", penalty=0.1, penalize="raw,(intercept)=raw").save(tmp_path / "m.lineal")
    assert verify(tmp_path / "m.lineal", data).passed
    meta, arrays = container.read(tmp_path / "m.lineal")
    del meta["report"]["charges"]
    container.write(tmp_path / "m.lineal", meta, arrays)
    with pytest.raises(Refused, match="the intercept is not charged"):
        verify(tmp_path / "m.lineal", data)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"penalty": "none", "penalize": "raw"}, "there is none"),
        ({"penalty": "firth", "penalize": "raw", "model": "logistic"}, "Firth's penalty sees no single column"),
        ({"penalty": 0.1, "penalize": "rwa"}, "Did you mean 'raw'"),
        ({"penalty": 0.1, "penalize": "agge=raw"}, "Did you mean 'age'"),
        ({"penalty": 0.1, "penalize": "raw,standardized"}, "given twice"),
        ({"penalty": 0.1, "penalize": "(intercept)=standardized"}, "no standard deviation"),
    ],
)
def test_refusals(options, words):
    table = {"age": np.arange(20.0), "y": np.arange(20.0) % 2}
    with pytest.raises(lineal.InputError, match=words):
        lineal.fit(table, "y", **options)
