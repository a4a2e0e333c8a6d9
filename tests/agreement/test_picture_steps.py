"""Numbers of the pictures descent and trace against what is computed here from the raw data."""

from __future__ import annotations

import numpy as np
import pytest

import lineal
from lineal.cli import run
from lineal.errors import InputError

SIX = {"x1": [1, 2, 3, 4, 5, 7], "x2": [2, 1, 4, 3, 7, 5], "class": ["no", "yes", "no", "no", "yes", "yes"]}
X = np.column_stack([np.ones(6), SIX["x1"], SIX["x2"]])
Y = np.array([0.0, 1.0, 0.0, 0.0, 1.0, 1.0])


def objective(w):
    return float(np.mean(np.logaddexp(0.0, X @ w) - Y * (X @ w)))


@pytest.fixture(scope="module")
def fitted():
    return lineal.fit(SIX, "class", penalty="none")


def test_the_six_panels_of_the_notes(fitted):
    figure = lineal.plots.descent(fitted, SIX, eta="0.1:75,2:10,auto:10")
    assert [panel.title for panel in figure.panels[:3]] == [
        "eta = 0.1, 75 steps",
        "eta = 2, 10 steps",
        "eta by halving, 10 steps",
    ]
    w, path = np.zeros(3), [np.zeros(3)]
    for _ in range(75):
        w = w - 0.1 * X.T @ (1.0 / (1.0 + np.exp(-X @ w)) - Y) / 6.0
        path.append(w)
    values = np.array(figure.data["objective"])
    np.testing.assert_allclose(values[:76], [objective(w) for w in path], rtol=1e-12)
    drawn = next(mark for mark in figure.panels[3].marks if mark.label == "path")
    names = [figure.panels[3].x.name, figure.panels[3].y.name]
    places = [["coefficient of (intercept)", "coefficient of x1", "coefficient of x2"].index(name) for name in names]
    np.testing.assert_allclose(np.column_stack([drawn.x, drawn.y]), np.array(path)[:, places], rtol=1e-10, atol=1e-14)
    assert values[76 + 1] > values[76]  # eta = 2 jumps uphill
    assert np.all(np.diff(values[76 + 11 :]) <= 0.0)


def test_contours_are_those_of_the_objective(fitted):
    figure = lineal.plots.descent(fitted, SIX, eta="0.1:3", x="x1", y="x2")
    contour = figure.panels[1].marks[0]
    low, high = objective(fitted.coef[:, 0]), objective(np.zeros(3))
    np.testing.assert_allclose(contour.levels, low + (high - low) / 4.0 ** np.arange(len(contour.levels)), rtol=1e-12)
    for i, j in ((0, 0), (10, 40), (60, 5)):
        w = np.array([fitted.coef[0, 0], contour.x[j], contour.y[i]])
        assert contour.z[i, j] == pytest.approx(objective(w), rel=1e-12)


def test_points_of_a_trace_bound_the_distance_from_the_optimum():
    first = lineal.fit(SIX, "class", penalty=0.1, solver="gradient-descent")
    best = lineal.fit(SIX, "class", penalty=0.1, solver="newton", tol=1e-14)
    figure = lineal.plots.trace([first, best])
    optimum = best.verdict.evidence["objective"]
    for value, above in zip(figure.data["objective"], figure.data["above the bound"], strict=True):
        if above is not None:
            assert above >= value - optimum - 1e-15


def test_a_trace_file_knows_its_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["x1,x2,class", *(f"{a},{b},{c}" for a, b, c in zip(*SIX.values(), strict=True))]
    (tmp_path / "six.csv").write_text("\n".join(lines))
    words = ["fit", "six.csv", "--target", "class", "--penalty", "none", "--test-size", "0", "--accept"]
    descent = ["--solver", "gradient-descent:step=0.1", "--steps", "5"]
    assert run([*words, *descent, "--trace", "a.parquet", "-o", "a.lineal"]) == 0
    assert run([*words, "--trace", "b.parquet", "-o", "b.lineal"]) == 0
    assert run([*words, *descent, "--trace", "a.csv", "-o", "c.lineal"]) == 0
    figure = lineal.plots.descent("a.lineal", "six.csv", "a.parquet")
    assert figure.panels[0].title == "a, 5 steps"
    assert len(figure.data["step"]) == 6
    with pytest.raises(InputError, match="the trace is of another model"):
        lineal.plots.descent("b.lineal", "six.csv", "a.parquet")
    assert "proven gap" in lineal.plots.trace("b.parquet").caption
    assert "its gap is not known" in lineal.plots.trace("a.csv").caption
    for inputs in (["a.parquet"], ["a.parquet", "b.parquet"]):
        assert run(["plot", "trace", *inputs, "-o", "trace.json"]) == 0
    assert run(["plot", "descent", "a.lineal", "six.csv", "a.parquet", "-o", "descent.json"]) == 0
    assert run(["plot", "descent", "b.lineal", "six.csv", "--eta", "0.1:3,auto:3", "-o", "descent.json"]) == 0


def test_what_cannot_descend_is_refused():
    lasso = lineal.fit({"a": [1.0, 2, 4], "b": [0.0, 1, 0], "y": [1.0, 2, 3]}, "y", penalty="l1:0.1")
    with pytest.raises(InputError, match="has corners"):
        lineal.plots.descent(lasso, {"a": [1.0, 2, 4], "b": [0.0, 1, 0], "y": [1.0, 2, 3]})
