"""Numbers of the pictures fit, boundary and loss against what is computed here from the raw data."""

from __future__ import annotations

import numpy as np
import pytest

import lineal
from lineal.errors import InputError
from lineal.plots.sample import Sample

X = np.array([100.0, 250.0, 400.0, 600.0, 900.0])
Y = np.array([1.0, 2.0, 2.5, 4.0, 6.2])
READING = {"words": X.tolist(), "minutes": Y.tolist()}


def marks(figure, kind, panel=0):
    return [mark for mark in figure.panels[panel].marks if mark.kind == kind]


def test_the_line_of_a_fit_is_that_of_least_squares():
    fitted = lineal.fit(READING, "minutes", model="linear", penalty="none")
    figure = lineal.plots.fit(fitted, READING)
    slope, start = np.polyfit(X, Y, 1)
    (line,) = marks(figure, "line")
    np.testing.assert_allclose(line.y, start + slope * line.x, rtol=1e-9)
    (residuals,) = marks(figure, "segments")
    np.testing.assert_allclose(residuals.y - residuals.y2, Y - start - slope * X, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(figure.data["residual"], Y - start - slope * X, rtol=1e-9, atol=1e-12)
    assert figure.data["row"] == [1, 2, 3, 4, 5]


def test_the_band_of_a_fit_is_the_prediction_interval_of_statsmodels():
    import statsmodels.api as sm

    fitted = lineal.fit(READING, "minutes", model="linear", penalty="none")
    (band,) = marks(lineal.plots.fit(fitted, READING), "area")
    other = sm.OLS(Y, sm.add_constant(X)).fit().get_prediction(sm.add_constant(band.x))
    expected = other.conf_int(obs=True, alpha=0.05)
    np.testing.assert_allclose(np.column_stack([band.y, band.y2]), expected, rtol=1e-8)


def test_other_columns_are_held_at_means_and_the_most_frequent_level():
    table = {
        "x": [0.0, 1.0, 2.0, 3.0, 4.0],
        "z": [1.0, 0.0, 3.0, 2.0, 6.0],
        "k": list("aabab"),
        "y": [1.0, 2.0, 5.0, 4.0, 9.0],
    }
    fitted = lineal.fit(table, "y", model="linear", penalty="ridge:0.1")
    figure = lineal.plots.fit(fitted, table, x="x")
    (line,) = marks(figure, "line")
    rows = {"x": line.x.tolist(), "z": [2.4] * len(line.x), "k": ["a"] * len(line.x)}
    np.testing.assert_allclose(line.y, fitted.predict(rows), rtol=1e-12)
    assert "z 2.4" in figure.caption
    assert "k a" in figure.caption
    (points,) = marks(figure, "points")
    own, here = fitted.predict(table), fitted.predict({**table, "z": [2.4] * 5, "k": ["a"] * 5})
    assert points.hollow.tolist() == (np.abs(own - here) > 1e-9).tolist()
    held = lineal.plots.fit(fitted, table, x="x", at={"z": 5.0})
    np.testing.assert_allclose(marks(held, "line")[0].y, fitted.predict({**rows, "z": [5.0] * len(line.x)}), rtol=1e-12)


def clouds(rows=80):
    random = np.random.default_rng(1)
    cells = random.normal(size=(rows, 3))
    kinds = np.where(cells @ [1.0, -1.0, 0.5] + random.normal(size=rows) > 0.0, "up", "down")
    return {"a": cells[:, 0].tolist(), "b": cells[:, 1].tolist(), "c": cells[:, 2].tolist(), "kind": kinds.tolist()}


def test_the_score_view_shows_the_score_of_the_whole_model():
    table = clouds()
    fitted = lineal.fit(table, "kind", penalty=0.01)
    (points,) = marks(lineal.plots.boundary(fitted, table), "points")
    cells = np.column_stack([table[name] for name in "abc"])
    w = fitted.coef[1:, 0]
    np.testing.assert_allclose(points.x, fitted.coef[0, 0] + cells @ w, rtol=1e-10, atol=1e-12)
    z = (cells - cells.mean(axis=0)) / cells.std(axis=0)
    v, *_ = np.linalg.lstsq(z, points.y, rcond=None)
    np.testing.assert_allclose(z @ v, points.y, atol=1e-10)  # a direction of the columns,
    assert abs(v @ (w * cells.std(axis=0))) < 1e-10  # orthogonal to the score
    assert points.group.tolist() == [int(kind == "up") for kind in table["kind"]]


def test_the_surface_of_a_slice_is_the_probability():
    table = clouds()
    fitted = lineal.fit(table, "kind", penalty=0.01)
    figure = lineal.plots.boundary(fitted, table, view="slice", x="a", y="b", costs=[[0, 1], [4, 0]])
    (heat,) = marks(figure, "heat")
    a, b = np.meshgrid(heat.x, heat.y)
    eta = fitted.coef[0, 0] + fitted.coef[1, 0] * a + fitted.coef[2, 0] * b + fitted.coef[3, 0] * np.mean(table["c"])
    np.testing.assert_allclose(heat.z, 1.0 / (1.0 + np.exp(-eta)), rtol=1e-9)
    edge, decided = marks(figure, "contour")
    np.testing.assert_allclose(edge.z, eta, rtol=1e-9, atol=1e-12)
    assert (edge.levels.tolist(), decided.levels.tolist()) == ([0.0], [0.2])  # 1 / (1 + 4)


def test_a_pair_is_a_fit_of_two_columns_alone():
    table = clouds()
    fitted = lineal.fit(table, "kind", penalty=0.01)
    figure = lineal.plots.boundary(fitted, table, view="pair", x="a", y="c")
    alone = lineal.fit({name: table[name] for name in ("a", "c", "kind")}, "kind", penalty=0.01)
    (heat,) = marks(figure, "heat")
    a, c = np.meshgrid(heat.x, heat.y)
    expected = alone.predict_proba({"a": a.reshape(-1), "c": c.reshape(-1)})[:, 1]
    np.testing.assert_allclose(heat.z.reshape(-1), expected, rtol=1e-6)
    assert "a fit of a and c alone" in figure.caption
    assert figure.caption.startswith("Optimal")


def test_regions_of_three_classes_are_the_largest_score():
    table = clouds()
    kinds = np.digitize(table["a"], [-0.5, 0.5])
    table["kind"] = np.array(["low", "mid", "top"])[kinds].tolist()
    fitted = lineal.fit(table, "kind", penalty=0.01)
    (heat,) = marks(lineal.plots.boundary(fitted, table, x="a", y="b"), "heat")
    a, b = (one.reshape(-1) for one in np.meshgrid(heat.x, heat.y))
    said = fitted.predict({"a": a, "b": b, "c": np.full(len(a), np.mean(table["c"]))})
    assert np.array(["low", "mid", "top"])[heat.z.astype(int).reshape(-1)].tolist() == said.tolist()


def test_losses_are_their_formulas():
    figure = lineal.plots.loss(names=["hinge", "logistic", "exponential"])
    s = np.array(figure.data["s"])
    np.testing.assert_allclose(figure.data["hinge"], np.maximum(0.0, 1.0 + s), atol=1e-12)
    np.testing.assert_allclose(figure.data["logistic"], np.log1p(np.exp(s)), rtol=1e-12)
    np.testing.assert_allclose(figure.data["exponential"], np.exp(s), rtol=1e-12)
    numbers = lineal.plots.loss(names=["squared", "absolute"])
    r = np.array(numbers.data["residual"])
    np.testing.assert_allclose(numbers.data["squared"], r**2 / 2.0, atol=1e-12)
    np.testing.assert_allclose(numbers.data["absolute"], np.abs(r), atol=1e-12)
    with pytest.raises(InputError, match="draw them in two pictures"):
        lineal.plots.loss(names=["squared", "hinge"])


def test_along_a_coefficient_the_squared_sigmoid_bends_both_ways_and_logistic_loss_does_not():
    table = clouds()
    fitted = lineal.fit(table, "kind", penalty=0.01)
    figure = lineal.plots.loss(fitted, table, along="a")
    cells = np.column_stack([table[name] for name in "abc"])
    y = np.array([kind == "up" for kind in table["kind"]], float)
    for k in (0, 60, 240):
        w = fitted.coef[:, 0].copy()
        w[1] = figure.data["coefficient of a"][k]
        eta = w[0] + cells @ w[1:]
        p = 1.0 / (1.0 + np.exp(-eta))
        assert figure.data["squared-sigmoid"][k] == pytest.approx(np.mean((y - p) ** 2), rel=1e-12)
        assert figure.data["logistic"][k] == pytest.approx(np.mean(np.logaddexp(0.0, eta) - y * eta), rel=1e-12)
    bends = [np.diff(figure.data[name], 2) for name in ("squared-sigmoid", "logistic")]
    assert bends[0].min() < -1e-6 < 1e-6 < bends[0].max()
    assert bends[1].min() > -1e-12


def test_a_large_table_is_sampled_by_class_with_its_extremes():
    rows = np.arange(40_000)
    kinds = (rows % 4 == 0).astype(float)
    values = np.sin(rows * 1.7)[:, None]
    whole, pieces = Sample(), Sample()
    whole.add(rows, kinds, values)
    for part in np.array_split(rows, 7):
        pieces.add(part, kinds[part], values[part])
    assert whole.rows().tolist() == pieces.rows().tolist()
    kept = whole.rows()
    assert 10_000 <= len(kept) <= 10_010
    ends = np.argsort(values[:, 0])
    assert {*ends[:5], *ends[-5:]} <= set(kept.tolist())
    assert "10,0" in whole.words(len(kept))


def test_an_estimator_is_drawn_with_its_arrays():
    cells = np.column_stack([clouds()[name] for name in "abc"])
    fitted = lineal.LogisticRegression(C=1.0).fit(cells, clouds()["kind"])
    figure = lineal.plots.boundary(fitted, (cells, clouds()["kind"]))
    (points,) = marks(figure, "points")
    np.testing.assert_allclose(points.x, fitted.decision_function(cells), rtol=1e-10)
    with pytest.raises(InputError, match=r"give the data as \(X, y\)"):
        lineal.plots.boundary(fitted, cells)
