"""Nystroem's map is a term: through its landmarks inner products are the kernel's, and the checker makes it again."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem as Reference

import lineal
from lineal import container
from lineal.errors import InputError, LinealError
from lineal.features.formula import Formula, FormulaError
from lineal.features.learning import learn
from lineal.features.terms.nystroem import RIDGE, by_hash
from lineal.tables.table import as_table
from lineal.verify import verify

WORD = 2**64


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


def gaussian(t, u, width):
    return np.exp(-np.sum((t[:, None] - u[None]) ** 2, axis=2) / (2.0 * width**2))


@pytest.mark.parametrize("width", [0.5, 1.0])
def test_inner_products_are_those_of_the_page(width):
    x, table = rings()
    encoder, phi = mapped(f"y ~ nystroem(a, b, 40, {width}) - 1", table)
    (term,) = encoder.terms
    half = np.ptp(x, axis=0) / 2.0
    t, b = x / half, np.array(term.landmarks) / half
    assert {tuple(row) for row in term.landmarks} <= {tuple(row) for row in x.tolist()}
    k = gaussian(t, b, width)
    expected = k @ np.linalg.solve(gaussian(b, b, width) + RIDGE * 40 * np.eye(40), k.T)
    np.testing.assert_allclose(phi @ phi.T, expected, rtol=0.0, atol=1e-9)
    others = np.array([tuple(row) not in set(term.landmarks) for row in x.tolist()])
    assert term.lost == pytest.approx(1.0 - np.mean(np.sum(phi[others] ** 2, axis=1)), abs=1e-12)
    left = gaussian(t, t, width) - phi @ phi.T  # a Mercer kernel: no entry is above the root of those on the diagonal
    assert np.mean(np.abs(left)) <= np.mean(np.diag(left)) < 0.1
    assert f"loses {100.0 * term.lost:.2g} %" in term.use
    assert encoder.columns[2] == f"nystroem(a, b, 40, {width:g})[3]"


def test_columns_are_nearly_those_of_scikit_learn_through_the_same_points():
    x, table = rings(60)
    encoder, phi = mapped("y ~ nystroem(a, b, 5, 0.3) - 1", table)
    half = np.ptp(x, axis=0) / 2.0
    b = np.array(encoder.terms[0].landmarks) / half
    theirs = Reference(gamma=0.5 / 0.09, n_components=5, random_state=0).fit(b)
    order = theirs.component_indices_
    np.testing.assert_allclose(phi[:, order], theirs.transform(x / half), atol=5e-4)


def test_rows_are_chosen_by_a_hash_of_their_bits_alone():
    x, _ = rings(50)

    def hashed(row):
        state = 0
        for value in row:
            bits = int(np.float64(value).view(np.uint64))
            state = ((state ^ bits) + 0x9E3779B97F4A7C15) % WORD
            state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % WORD
            state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) % WORD
            state ^= state >> 31
        return state

    expected = sorted(x.tolist(), key=hashed)[:7]
    assert by_hash(x, 7).tolist() == expected
    assert by_hash(np.concatenate([x[::-1], x[:9]]), 7).tolist() == expected
    assert by_hash(np.array([[0.0], [-0.0]]), 7).tolist() == [[0.0]]


def test_a_line_bends_and_the_checker_confirms_it(tmp_path):
    _, table = rings()
    bent = lineal.fit(table, formula="y ~ nystroem(a, b, 30, 0.5)", model="logistic", penalty="ridge:1e-3")
    assert np.mean(bent.predict(table) == np.array(table["y"])) > 0.95
    names = ["a", "b", "y"]
    lines = [",".join(names), *(f"{a!r},{b!r},{y}" for a, b, y in zip(*(table[name] for name in names), strict=True))]
    (tmp_path / "d.csv").write_text("\n".join([*lines, ",,near", "0.5,,far"]) + "\n")
    model = lineal.fit(tmp_path / "d.csv", formula="y ~ nystroem(a, b, 20) + a", model="logistic", penalty="ridge:0.01")
    model.save(path := tmp_path / "m.lineal")
    assert verify(path, tmp_path / "d.csv").passed
    np.testing.assert_array_equal(lineal.load(path).predict(table), model.predict(table))
    term = next(term for term in container.read(path)[0]["encoder"]["terms"] if term["kind"] == "nystroem")
    rows = term["landmarks"]
    for place, lie in (
        ("halves", [1.0, 1.0]),
        ("kernel_width", 0.9),
        ("count", 19),
        ("count", 2.5),
        ("lost", 0.5 * term["lost"]),
        ("lost", -1.0),
        ("landmarks", rows[::-1]),
        ("landmarks", [*rows[:-1], [0.5, 0.5]]),
        ("landmarks", rows[:-1]),
        ("landmarks", [*rows[:-1], ["a", "b"]]),
        ("landmarks", None),
    ):
        meta, arrays = container.read(path)
        next(term for term in meta["encoder"]["terms"] if term["kind"] == "nystroem")[place] = lie
        container.write(tmp_path / "lie.lineal", {**meta, "encoding": container.encoding(meta)}, arrays)
        with pytest.raises(LinealError):
            verify(tmp_path / "lie.lineal", tmp_path / "d.csv")


def test_of_few_rows_all_are_landmarks(tmp_path):
    x = np.linspace(0.0, 6.0, 40)
    lines = ["b,y", *(f"{b!r},{y!r}" for b, y in zip(x.tolist(), np.sin(x).tolist(), strict=True))]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    model = lineal.fit(tmp_path / "d.csv", formula="y ~ nystroem(b, 200, 0.5)", penalty="ridge:1e-6")
    assert len(model.columns) == 41
    assert abs(model.predict({"b": [1.55]})[0] - np.sin(1.55)) < 0.01
    model.save(tmp_path / "m.lineal")
    assert verify(tmp_path / "m.lineal", tmp_path / "d.csv").passed


def test_a_column_of_one_number_and_one_row_are_no_trouble():
    table = {"a": [2.0] * 6, "b": [1.0, 2.0, 3.0, 4.0, None, 6.0], "y": [1.0, 3.0, 2.0, 5.0, 4.0, 6.0]}
    assert len(lineal.fit(table, formula="y ~ nystroem(b, 4)", penalty="ridge:0.1").columns) == 5
    with pytest.raises(InputError, match="'a'"):
        lineal.fit(table, formula="y ~ nystroem(a, b, 4)", penalty="ridge:0.1")


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("y ~ nystroem(a, b)", "a whole number from 2 to 1000"),
        ("y ~ nystroem(a, b, 1)", "a whole number from 2 to 1000"),
        ("y ~ nystroem(a, b, 10, 0)", "a width above 0"),
        ("y ~ nystroem(a, a, 10)", "there already"),
        ("y ~ nystroem(a, b, 10):b", "can only be added"),
    ],
)
def test_formulas_that_cannot_be_are_refused(formula, words):
    with pytest.raises(FormulaError, match=words):
        Formula.read(formula)


def test_what_is_no_column_of_numbers_is_refused():
    table = {"a": ["u", "v", "w"] * 4, "b": list(range(1, 13)), "y": list(range(12))}
    with pytest.raises(InputError, match="'a'"):
        lineal.fit(table, formula="y ~ nystroem(a, b, 10)")
    with pytest.raises(InputError, match="takes columns as they are"):
        lineal.fit(table, formula="y ~ nystroem(log(b), 10)")
