"""Random Fourier features are a term: their inner products come near the Gaussian kernel, and the checker makes them again."""

from __future__ import annotations

import numpy as np
import pytest

import lineal
from lineal import container
from lineal.errors import InputError, LinealError
from lineal.features.formula import Formula, FormulaError
from lineal.features.learning import learn
from lineal.features.terms.fourier import drawn
from lineal.tables.table import as_table
from lineal.verify import verify


def rings(n=300):
    """Two classes that no line parts: near the origin, and farther from it; a column is in other units."""
    random = np.random.default_rng(1)
    x = random.normal(size=(n, 2)) * [1.0, 1000.0]
    y = np.where(x[:, 0] ** 2 + (x[:, 1] / 1000.0) ** 2 > 1.4, "far", "near")
    return x, {"a": x[:, 0].tolist(), "b": x[:, 1].tolist(), "y": y.tolist()}


def mapped(formula, table):
    encoder = learn(as_table(table), target="y", formula=Formula.read(formula)).encoder
    design = encoder.encode(table)
    return encoder, design.times(np.eye(design.shape[1]))


@pytest.mark.parametrize("width", [0.5, 1.0])
def test_inner_products_come_near_the_kernel(width):
    x, table = rings()
    _, phi = mapped(f"y ~ fourier(a, b, 2000, {width}) - 1", table)
    t = x / (np.ptp(x, axis=0) / 2.0)
    square = np.sum((t[:, None] - t[None]) ** 2, axis=2)
    error = np.sqrt(np.mean((phi @ phi.T - np.exp(-square / (2.0 * width**2))) ** 2))
    assert error < 1.0 / np.sqrt(2000.0)


def test_the_numbers_are_those_of_the_page():
    x, table = rings(40)
    encoder, phi = mapped("y ~ fourier(a, b, 3, 0.5) - 1", table)
    random = np.random.RandomState(0)
    w, b = random.normal(size=(2, 3)), random.uniform(0.0, 2.0 * np.pi, size=3)
    expected = np.sqrt(2.0 / 3.0) * np.cos(2.0 * (x / (np.ptp(x, axis=0) / 2.0)) @ w + b)
    np.testing.assert_allclose(phi, expected, rtol=1e-12, atol=1e-14)
    assert encoder.columns[2] == "fourier(a, b, 3, 0.5)[3]"
    np.testing.assert_array_equal(drawn(2, 3)[0], w)


def test_a_line_bends_and_the_checker_confirms_it(tmp_path):
    _, table = rings()
    bent = lineal.fit(table, formula="y ~ fourier(a, b, 60, 0.5)", model="logistic", penalty="ridge:1e-3")
    straight = lineal.fit(table, formula="y ~ a + b", model="logistic", penalty="ridge:1e-3")
    right = [np.mean(model.predict(table) == np.array(table["y"])) for model in (bent, straight)]
    assert right[0] > 0.95
    assert right[1] < 0.75
    names = ["a", "b", "y"]
    lines = [",".join(names), *(f"{a!r},{b!r},{y}" for a, b, y in zip(*(table[name] for name in names), strict=True))]
    (tmp_path / "d.csv").write_text("\n".join([*lines, ",,near", "0.5,,far"]) + "\n")
    model = lineal.fit(tmp_path / "d.csv", formula="y ~ fourier(a, b, 20) + a", model="logistic", penalty="ridge:0.01")
    model.save(path := tmp_path / "m.lineal")
    assert verify(path, tmp_path / "d.csv").passed
    np.testing.assert_array_equal(lineal.load(path).predict(table), model.predict(table))
    for place, lie in (
        ("halves", [1.0, 1.0]),
        ("kernel_width", 0.9),
        ("count", 19),
        ("halves", [-1.0, 1.0]),
        ("count", 2.5),
    ):
        meta, arrays = container.read(path)
        next(term for term in meta["encoder"]["terms"] if term["kind"] == "fourier")[place] = lie
        container.write(tmp_path / "lie.lineal", {**meta, "encoding": container.encoding(meta)}, arrays)
        with pytest.raises(LinealError):
            verify(tmp_path / "lie.lineal", tmp_path / "d.csv")


def test_one_column_is_enough():
    table = {"b": np.linspace(0.0, 6.0, 40).tolist(), "y": np.sin(np.linspace(0.0, 6.0, 40)).tolist()}
    model = lineal.fit(table, formula="y ~ fourier(b, 30, 0.5)", penalty="ridge:1e-6")
    assert len(model.columns) == 31
    assert abs(model.predict({"b": [1.55]})[0] - np.sin(1.55)) < 0.05


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("y ~ fourier(a, b)", "a whole number from 2 to 5000"),
        ("y ~ fourier(a, b, 1)", "a whole number from 2 to 5000"),
        ("y ~ fourier(a, b, 10, 0)", "a width above 0"),
        ("y ~ fourier(a, b, 10, b)", "a width above 0"),
        ("y ~ fourier(a, a, 10)", "there already"),
        ("y ~ fourier(a, b, 10):b", "can only be added"),
    ],
)
def test_formulas_that_cannot_be_are_refused(formula, words):
    with pytest.raises(FormulaError, match=words):
        Formula.read(formula)


def test_what_is_no_column_of_numbers_is_refused():
    table = {"a": ["u", "v", "w"] * 4, "b": list(range(1, 13)), "y": list(range(12))}
    with pytest.raises(InputError, match="needs columns of numbers; 'a' is not one"):
        lineal.fit(table, formula="y ~ fourier(a, b, 10)")
    with pytest.raises(InputError, match="takes columns as they are"):
        lineal.fit(table, formula="y ~ fourier(log(b), 10)")
