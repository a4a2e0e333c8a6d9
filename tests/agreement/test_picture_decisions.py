"""Numbers of the pictures scores, sigmoid, margin and split against what is computed here from the raw data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import lineal
from lineal.errors import InputError


def marks(figure, kind, panel=0):
    return [mark for mark in figure.panels[panel].marks if mark.kind == kind]


def clouds(rows=60, kinds=2, seed=3):
    random = np.random.default_rng(seed)
    x, z = random.normal(size=rows), random.normal(size=rows)
    label = np.array(["a", "b", "c"])[np.digitize(x + z, [0.0, 1.5][: kinds - 1])]
    return {"x": x.tolist(), "z": z.tolist(), "k": label.tolist()}


def test_scores_become_probabilities():
    table = clouds(kinds=3)
    fitted = lineal.fit(table, "k", penalty=0.05)
    figure = lineal.plots.scores(fitted, table, row=11)
    eta = fitted.coef[0] + table["x"][10] * fitted.coef[1] + table["z"][10] * fitted.coef[2]
    np.testing.assert_allclose(figure.data["score"], eta, rtol=1e-12)
    np.testing.assert_allclose(figure.data["softmax"], np.exp(eta) / np.exp(eta).sum(), rtol=1e-12)
    nearest = minimize(
        lambda p: np.sum((p - eta) ** 2), np.full(3, 1 / 3), bounds=[(0, 1)] * 3, tol=1e-14,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
    )  # fmt: skip
    np.testing.assert_allclose(figure.data["sparsemax"], nearest.x, atol=1e-6)
    assert f"Row 11, which is {table['k'][10]}" in figure.caption
    (bars,) = marks(figure, "bars", 1)
    np.testing.assert_allclose(bars.x2, figure.data["softmax"])
    with pytest.raises(InputError, match="row 61 is not among the 60 rows"):
        lineal.plots.scores(fitted, table, row=61)


def test_the_sigmoid_is_its_formula():
    table = clouds()
    fitted = lineal.fit(table, "k", penalty=0.05)
    figure = lineal.plots.sigmoid(fitted, table)
    curve, mirror = marks(figure, "line")
    np.testing.assert_allclose(curve.y, 1.0 / (1.0 + np.exp(-curve.x)), rtol=1e-12)
    np.testing.assert_allclose(mirror.y, 1.0 - curve.y, atol=1e-12)
    eta = fitted.coef[0, 0] + np.array(table["x"]) * fitted.coef[1, 0] + np.array(table["z"]) * fitted.coef[2, 0]
    np.testing.assert_allclose(figure.data["score of b"], eta, rtol=1e-12)
    (points,) = marks(figure, "points")
    inside = np.abs(eta) <= 8.0
    np.testing.assert_allclose(points.x, eta[inside], rtol=1e-12)
    assert points.y.tolist() == [float(k == "b") for k in np.array(table["k"])[inside]]
    with pytest.raises(InputError, match="gives no probabilities"):
        lineal.plots.sigmoid(lineal.fit(table, "k", model="svm", penalty=0.05), table)


def test_the_margin_is_that_of_the_whole_rows():
    table = clouds(rows=40)
    fitted = lineal.fit(table, "k", model="svm", penalty="ridge:0.001", penalize="raw", test_size=0.25)
    figure = lineal.plots.margin(fitted, table)
    rows = np.column_stack([table["x"], table["z"]])
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    w = fitted.coef[1:, 0] * rows.std(axis=0)
    eta = fitted.coef[0, 0] + rows @ fitted.coef[1:, 0]
    sign = np.where(np.array(table["k"]) == "b", 1.0, -1.0)
    np.testing.assert_allclose(figure.data["distance"], eta / np.linalg.norm(w), rtol=1e-10)
    fit = np.array(figure.data["part"]) == "fitted"
    assert fit.sum() == fitted.training["rows"] < 40
    assert figure.source["gamma"] == pytest.approx((sign * eta)[fit].min() / np.linalg.norm(w), rel=1e-10)
    assert figure.source["radius"] == pytest.approx(np.linalg.norm(z, axis=1)[fit].max(), rel=1e-10)
    ringed = np.array(figure.data["support"]) == "yes"
    assert ringed.tolist() == (fit & (sign * eta <= 1.0 + 1e-6)).tolist()
    # what is left out of the fit of the ringed rows alone cannot matter: that is what support means
    alone = {name: np.array(values)[ringed].tolist() for name, values in table.items()}
    strength = float(0.001 * fit.sum() / ringed.sum())
    again = lineal.fit(alone, "k", model="svm", penalty=strength, penalize="raw", test_size=0)
    np.testing.assert_allclose(fitted.coef[1:], again.coef[1:], rtol=1e-3)
    (lines,) = [mark for mark in marks(figure, "rule") if len(mark.x) == 2]
    np.testing.assert_allclose(lines.x, np.array([-1.0, 1.0]) / np.linalg.norm(w))


def test_the_parts_of_a_split_are_counted():
    table = clouds(rows=50)
    fitted = lineal.fit(table, "k", penalty=0.05, split="stratified", test_size=0.2, seed=4)
    data = lineal.plots.split(fitted, table).data
    counts = dict(zip(zip(data["part"], data["k"], strict=True), data["rows"], strict=True))
    for label in "ab":
        whole = table["k"].count(label)
        assert counts["fitted", label] + counts["test", label] == whole
        assert counts["test", label] == pytest.approx(0.2 * whole, abs=1.0)
    numbers = {"x": table["x"], "y": [3.0 * value for value in table["x"]]}
    figure = lineal.plots.split(lineal.fit(numbers, "y", penalty=0.1), numbers)
    assert sum(figure.data["rows"]) == 50
    assert max(figure.data["rows"]) <= 13  # quarters of fifty
