"""Numbers of the pictures row, layer, angle, plane and posterior against what is computed here from the raw data."""

from __future__ import annotations

import numpy as np
import pytest

import lineal
from lineal.errors import InputError

NOTES = {"x1": [1.0, 3.0, 2.0, 3.0, 2.0], "x2": [1.0, 2.0, 4.0, 4.0, 3.0], "class": ["-", "+", "+", "+", "-"]}
X = np.column_stack([np.ones(5), NOTES["x1"], NOTES["x2"]])


@pytest.fixture(scope="module")
def notes():
    return lineal.fit(NOTES, "class", penalty="ridge:0.01")


def marks(figure, kind, panel=0):
    return [mark for mark in figure.panels[panel].marks if mark.kind == kind]


def test_a_row_is_shown_with_the_columns_it_makes():
    table = {"age": [30.0, None, 50.0], "job": ["cook", "smith", "cook"], "y": [1.0, 2.0, 4.0]}
    fitted = lineal.fit(table, "y", model="ridge")
    figure = lineal.plots.row(fitted, table, row=2)
    assert figure.data["design column"] == ["age", "age is missing", "job=smith"]
    assert figure.data["value"] == [40.0, 1.0, 1.0]
    assert figure.data["written"] == ["(missing)", "(missing)", "smith"]
    with pytest.raises(InputError, match="there is no row 4"):
        lineal.plots.row(fitted, table, row=4)


def test_the_layer_of_a_row_adds_up_to_its_score(notes):
    figure = lineal.plots.layer(notes, NOTES, row=3)
    assert figure.data["value"] == [1.0, 2.0, 4.0]
    np.testing.assert_allclose(figure.data["product with +"], X[2] * notes.coef[:, 0], rtol=1e-12)
    np.testing.assert_allclose(sum(figure.data["product with +"]), notes.scores(NOTES)[2, 0], rtol=1e-12)
    sizes = lineal.plots.layer(notes, NOTES).data["effect on +"]
    np.testing.assert_allclose(sizes, X.std(axis=0) * notes.coef[:, 0], rtol=1e-12)


def test_angles_are_those_of_the_vectors(notes):
    figure = lineal.plots.angle(notes, NOTES, row=5)
    w = notes.coef[:, 0]
    for row, degrees, score in zip(figure.data["row"], figure.data["angle"], figure.data["score"], strict=True):
        x = X[row - 1]
        cosine = x @ w / np.linalg.norm(x) / np.linalg.norm(w)
        np.testing.assert_allclose(np.cos(np.radians(degrees)), cosine, rtol=1e-9)
        np.testing.assert_allclose(score, x @ w, rtol=1e-12)
    assert 5 in figure.data["row"]
    for k, row in enumerate(figure.data["row"]):
        tip = marks(figure, "arrow", k)[1]
        np.testing.assert_allclose(np.hypot(tip.x2, tip.y2), np.linalg.norm(X[row - 1]), rtol=1e-12)


def test_the_plane_meets_height_zero_in_the_boundary(notes):
    figure = lineal.plots.plane(notes, NOTES)
    constant, first, second = notes.coef[:, 0]
    line = next(mark for mark in figure.panels[0].marks if mark.label == "boundary")
    np.testing.assert_allclose(constant + first * line.x + second * line.y, 0.0, atol=1e-10)
    np.testing.assert_allclose(
        figure.data["score"],
        constant + first * np.array(figure.data["x1"]) + second * np.array(figure.data["x2"]),
        atol=1e-10,
    )
    without = np.array(figure.data["score"]) - np.array(figure.data["score without the intercept"])
    np.testing.assert_allclose(without, constant, rtol=1e-9)


def test_ellipses_are_those_of_the_posterior():
    random = np.random.default_rng(2)
    cells = random.normal(size=(30, 2))
    table = {"a": cells[:, 0], "b": cells[:, 1], "y": cells @ [1.0, -2.0] + 0.5 * random.normal(size=30)}
    fitted = lineal.fit(table, "y", model="bayes:noise=0.25,prior=4", penalize="raw")
    figure = lineal.plots.posterior(fitted, table, x="a", y="b")
    design = np.column_stack([np.ones(30), cells])
    precision = design.T @ design / 0.25 + np.diag([0.0, 0.25, 0.25])  # the prior does not see the intercept
    covariance = np.linalg.inv(precision)[1:, 1:]
    mean = np.linalg.solve(precision, design.T @ table["y"] / 0.25)[1:]
    np.testing.assert_allclose(figure.data["mean"], mean, rtol=1e-8)
    np.testing.assert_allclose(figure.data["prior sd"], [2.0, 2.0], rtol=1e-12)
    for ring, level in zip(marks(figure, "polygon"), (0.5, 0.95), strict=True):
        off = np.column_stack([ring.x, ring.y]) - mean
        depth = np.einsum("ni,ij,nj->n", off, np.linalg.inv(covariance), off)
        np.testing.assert_allclose(depth, -2.0 * np.log(1.0 - level), rtol=1e-7)
    draws = random.multivariate_normal(mean, covariance, 20_000) - mean
    inside = np.einsum("ni,ij,nj->n", draws, np.linalg.inv(covariance), draws) <= -2.0 * np.log(0.5)
    assert abs(inside.mean() - 0.5) < 0.02


def test_a_model_without_a_covariance_has_no_posterior(notes):
    with pytest.raises(InputError, match="the picture posterior is not for this model"):
        lineal.plots.posterior(notes, NOTES)
