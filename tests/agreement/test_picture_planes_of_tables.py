"""Numbers of the pictures capacity, lift, neighbours, gram, densities, code and stack against scikit-learn, numpy and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal
from sklearn.neighbors import KNeighborsClassifier

import lineal
from lineal.errors import InputError


def marks(figure, kind, panel=0):
    return [mark for mark in figure.panels[panel].marks if mark.kind == kind]


def rings(rows=80):
    random = np.random.default_rng(5)
    angle, radius = (
        random.uniform(0.0, 7.0, rows),
        np.where(np.arange(rows) % 2, 2.0, 0.8) + 0.1 * random.normal(size=rows),
    )
    kinds = np.where(np.arange(rows) % 2, "outer", "inner")
    return {"u": radius * np.cos(angle), "v": radius * np.sin(angle), "ring": kinds.tolist()}


def test_losses_of_a_sweep_are_those_of_polyfit():
    random = np.random.default_rng(2)
    x = np.sort(random.uniform(-1.0, 1.0, 40))
    table = {
        "x": x.tolist(),
        "y": (np.sin(3.0 * x) + 0.1 * random.normal(size=40)).tolist(),
        "part": [k % 4 for k in range(40)],
    }
    figure = lineal.plots.capacity(table, target="y", sweep="degree=0:4", folds="part")
    y, part = np.array(table["y"]), np.array(table["part"])
    for degree in range(5):
        fits = [np.polyfit(x[part != k], y[part != k], degree) for k in range(4)]
        held = [np.mean((np.polyval(fit, x[part == k]) - y[part == k]) ** 2) for k, fit in enumerate(fits)]
        own = [np.mean((np.polyval(fit, x[part != k]) - y[part != k]) ** 2) for k, fit in enumerate(fits)]
        assert figure.data["validation"][degree] == pytest.approx(np.mean(held), rel=1e-8)
        assert figure.data["training"][degree] == pytest.approx(np.mean(own), rel=1e-8)
        assert figure.data["standard error"][degree] == pytest.approx(np.std(held, ddof=1) / 2.0, rel=1e-8)
    with pytest.raises(InputError, match="needs a target"):
        lineal.plots.capacity(table)


def test_the_lift_is_the_map_of_the_notes():
    table = rings()
    figure = lineal.plots.lift(table, target="ring", x="u", y="v")
    u, v = np.array(figure.data["u"]), np.array(figure.data["v"])
    phi = np.column_stack([figure.data["u²"], figure.data["v²"], figure.data["√2 u v"]])
    plain = np.column_stack([u, v])
    np.testing.assert_allclose(phi @ phi.T, (plain @ plain.T) ** 2, atol=1e-12)
    assert figure.data["prediction"] == table["ring"]
    (edge,) = marks(figure, "contour")
    inside = edge.z[np.abs(edge.y).argmin(), np.abs(edge.x).argmin()]
    assert inside * edge.z[0, 0] < 0.0  # the boundary runs around the origin
    (plane,), (points,) = marks(figure, "line", 1), marks(figure, "points", 1)
    kept = np.isfinite(plane.x)
    A = np.column_stack([np.ones(kept.sum()), plane.x[kept], plane.y[kept]])
    solution = np.linalg.lstsq(A, plane.z[kept], rcond=None)[0]
    np.testing.assert_allclose(A @ solution, plane.z[kept], atol=1e-10)  # it is a plane,
    above = points.z > np.column_stack([np.ones(len(u)), points.x, points.y]) @ solution
    assert len({(bool(a), label) for a, label in zip(above, table["ring"], strict=True)}) == 2  # which parts the rings
    product = lineal.plots.lift(table, target="ring", map="u:v")
    np.testing.assert_allclose(product.data["u v"], u * v)


def test_columns_far_from_zero_are_centered_and_it_is_said():
    table = rings()
    far = {"u": table["u"] + 40.0, "v": table["v"], "ring": table["ring"]}
    figure = lineal.plots.lift(far, target="ring", x="u", y="v")
    assert figure.data["prediction"] == table["ring"]
    assert f"is u less its mean, {np.mean(far['u']):.4g}" in figure.caption


def test_shares_are_those_of_scikit_learn():
    table = rings()
    figure = lineal.plots.neighbours(table, target="ring", x="u", y="v", neighbors=3, row=6)
    rows = np.column_stack([table["u"], table["v"]])
    scale = rows.std(axis=0)
    other = KNeighborsClassifier(3).fit(rows / scale, table["ring"])
    (heat,) = marks(figure, "heat")
    grid = np.column_stack([np.tile(heat.x, len(heat.y)), np.repeat(heat.y, len(heat.x))])
    expected = other.predict_proba(grid / scale)[:, 1]
    assert np.mean(np.abs(heat.z.reshape(-1) - expected) < 1e-12) > 0.999  # ties aside
    (lines,) = marks(figure, "segments")
    nearest = np.argsort(np.linalg.norm((rows - rows[5]) / scale, axis=1))[:3]
    assert {tuple(one) for one in np.column_stack([lines.x2, lines.y2])} == {tuple(rows[k]) for k in nearest}


def test_a_gram_matrix_is_its_formula_in_order_of_classes():
    table = rings(30)
    figure = lineal.plots.gram(table, target="ring")
    rows = np.column_stack([table["u"], table["v"]])
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    order = np.argsort(np.array(table["ring"]), kind="stable")
    expected = np.exp(-cdist(z[order], z[order], "sqeuclidean") / 4.0)
    (heat,) = marks(figure, "heat")
    np.testing.assert_allclose(heat.z, expected, atol=1e-12)
    other = lineal.plots.gram(table, target="ring", kernel="sigmoid:1,0")
    K = np.tanh(z @ z.T)
    (bars,) = marks(other, "bars", 1)
    v = np.empty(30)
    v[order] = bars.y2
    assert v @ K @ v < 0.0
    assert other.verdict.kind == "not positive semi-definite"


def test_a_large_table_is_compared_in_part():
    rows = np.arange(2000)
    figure = lineal.plots.gram({"x": np.sin(rows * 1.3), "k": np.where(rows % 10, "a", "b").tolist()}, target="k")
    assert figure.panels[0].marks[0].z.shape == (400, 400)  # 200 of each class
    assert "400 of 2,000 rows" in figure.caption


@pytest.mark.parametrize("model", ["lda", "qda", "naive-bayes"])
def test_densities_make_the_classes_by_bayes_theorem(model):
    random = np.random.default_rng(7)
    count = (50, 30, 40)
    rows = np.concatenate(
        [random.normal(size=(n, 2)) @ [[1.0, 0.4 * k], [0.0, 1.0]] + [2.5 * k, k % 2] for k, n in enumerate(count)]
    )
    labels = np.repeat(["a", "b", "c"], count)
    figure = lineal.plots.densities(
        {"u": rows[:, 0], "v": rows[:, 1], "k": labels.tolist()}, target="k", x="u", y="v", model=model
    )
    means = [rows[labels == k].mean(axis=0) for k in "abc"]
    own = [np.cov(rows[labels == k].T, ddof=0) for k in "abc"]
    covs = {"qda": own, "naive-bayes": [np.diag(np.diag(one)) for one in own],
            "lda": [sum(n * one for n, one in zip(count, own, strict=True)) / 120.0] * 3}[model]  # fmt: skip
    (heat,) = marks(figure, "heat")
    grid = np.column_stack([np.tile(heat.x, len(heat.y)), np.repeat(heat.y, len(heat.x))])
    parts = np.array(
        [n / 120.0 * multivariate_normal(m, c).pdf(grid) for n, m, c in zip(count, means, covs, strict=True)]
    )
    assert np.mean(heat.z.reshape(-1) == parts.argmax(axis=0)) > 0.995  # (divisors of covariances differ by program)
    for k, line in enumerate(marks(figure, "contour")):
        peak = multivariate_normal(means[k], covs[k]).pdf(means[k])
        shares = multivariate_normal(means[k], covs[k]).pdf(grid) / peak
        np.testing.assert_allclose(line.z.reshape(-1), shares, atol=1e-10)
        np.testing.assert_allclose(line.levels, np.exp([-2.0, -0.5]))
    np.testing.assert_allclose(figure.data["prior"], np.array(count) / 120.0)


def test_a_code_is_drawn_with_its_distances():
    table = rings()
    table["ring"] = [f"{label} {k % 3}" for k, label in enumerate(table["ring"])]
    fitted = lineal.fit(table, "ring", penalty=0.1, multiclass="ovo", model="logistic")
    figure = lineal.plots.code(fitted)
    words = np.column_stack([figure.data[f"question {k + 1}"] for k in range(15)])
    assert all(sorted(column) == [-1, 0, 0, 0, 0, 1] for column in words.T.tolist())
    np.testing.assert_array_equal(
        marks(figure, "heat", 1)[0].z[::-1], 1 - np.eye(6)
    )  # each pair has one question of its own


def test_a_stack_is_drawn_by_who_reads_whom(tmp_path):
    table = {"x": np.arange(60.0), "w": np.arange(60.0) % 7, "y": 2.0 * np.arange(60.0) + np.arange(60) % 3}
    stacked = lineal.stack(
        table, "y", {"line": {"model": "ridge"}, "other": {"model": "ridge", "target": "w"}}, final={"model": "ridge"}
    )
    figure = lineal.plots.stack(stacked)
    assert figure.data["predicts"] == ["y", "w", "y"]
    (arrows,) = marks(figure, "arrow")
    assert len(arrows.x) == 5  # table to two, two to the final one, that one to y
    stacked.save(tmp_path / "s")
    assert lineal.plots.stack(tmp_path / "s").data == figure.data
    with pytest.raises(InputError, match=r"what lineal\.stack returns"):
        lineal.plots.stack(stacked.final)
