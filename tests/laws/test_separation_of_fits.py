"""Separability at the doors: what is refused, units that do not matter, time, and fits whose optimum is at infinity."""

from __future__ import annotations

import re
from fractions import Fraction

import flint
import numpy as np
import pytest
import scipy.sparse
from scipy import sparse

import lineal
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.losses import Logistic, Poisson, Softmax
from lineal.penalties import NoPenalty
from lineal.separation import check, gathering, seek
from lineal.sources.memory import Memory
from lineal.verify import verify
from tests.laws.separation_data import CORNERS, DATA, confirm, differences, needs_data


def test_a_timeout_is_no_answer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 30))
    answer = lineal.separability(X, rng.integers(0, 2, size=300), time_limit=1e-9)
    assert (answer.kind, answer.witness, answer.separable) == ("budget", None, None)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[np.nan]], [0], "NaN"),
        ([1.0], [0], "two dimensions"),
        ([[1.0]], [0, 1], "one class for every row"),
        ([["a"]], [0], "numbers"),
        ([[1.0], [2.0]], [0.0, np.nan], "y contains NaN"),
        ([[1.0], [2.0]], ["a", None], "missing value"),
        ([[2**53], [2**53 + 1]], [0, 1], "9007199254740993, which no double is"),
        (np.array([[2**64 - 1], [1]], dtype=np.uint64), [0, 1], "which no double is"),
        ([[1j], [2.0]], [0, 1], "complex"),
        (np.zeros((0, 1)), [], "some rows"),
    ],
)
def test_what_is_refused(X, y, words):
    with pytest.raises(InputError, match=words):
        lineal.separability(np.array(X), np.array(y))


@pytest.mark.parametrize("options", [{"time_limit": 0}, {"time_limit": np.nan}, {"sample_weight": ["a", 1, 1, 1]}])
def test_options_that_are_refused(options):
    with pytest.raises(InputError, match="number"):
        lineal.separability(CORNERS, [0, 1, 1, 0], **options)


UNITS = [[1.0, 1.7e308], [1e-300, 1e300], [5e-324, 5e-324], [1.7e308, 1.7e308], [1e300, 1e300]]


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize(("y", "kind"), [([0, 0, 0, 1], "complete"), ([0, 1, 1, 0], "overlap"), ([0, 1, 2, 2], None)])
def test_units_do_not_matter(units, y, kind):
    """Also where squares, or products with other numbers, are no doubles."""
    X = CORNERS * units
    kind = kind or lineal.separability(CORNERS, y).kind
    for rows in (X, sparse.csr_array(X)):
        answer = lineal.separability(rows, y)
        assert answer.kind == kind
        confirm(answer, X, y)
    held = X.astype(np.float64)
    held.flags.writeable = False
    assert lineal.separability(held, y).kind == kind


def test_entries_of_one_column_may_be_as_far_apart_as_doubles_are():
    X = np.array([[1e-320], [2e-320], [1e308], [1.5e308]])
    for y in ([0, 0, 1, 1], [0, 1, 1, 1], [0, 1, 0, 1]):
        answer = lineal.separability(X, y)
        assert answer.kind == ("overlap" if y == [0, 1, 0, 1] else "complete")
        confirm(answer, X, y)


@pytest.mark.parametrize("outputs", [1, 3])
def test_fits_without_penalty_say_the_same(outputs):
    """`at_infinity` exactly where separability is complete or quasi; the direction's signs name the columns."""
    rng = np.random.default_rng(outputs)
    seen = set()
    for _ in range(30):
        X = rng.integers(-1, 2, size=(int(rng.integers(4, 25)), 2)).astype(float)
        y = rng.integers(0, max(outputs, 2), size=len(X))
        y = np.where(rng.random(len(X)) < 0.7, (X[:, 0] > 0) + (outputs > 1) * (X[:, 1] > 0), y).astype(int)
        if len(set(y)) != max(outputs, 2):
            continue
        kind = lineal.separability(X, y).kind
        loss = Logistic() if outputs == 1 else Softmax(outputs)
        found = fit(Memory(as_design(X), y.astype(float)), loss, NoPenalty(3))
        assert (found.verdict.kind == "at_infinity") == (kind != "overlap"), (X, y)
        seen.add(kind)
    assert seen == {"complete", "quasi", "overlap"}


def test_seek_on_counts():
    """A Poisson loss falls for ever only where counts are 0; a count above 0 holds its score."""
    x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    held = fit(Memory(as_design(x), np.array([0.0, 0.0, 3.0, 40.0])), Poisson(), NoPenalty(2))
    assert held.verdict.kind == "optimal"
    assert check(held.problem, np.array([[0.0], [1.0]])) is None
    dummy = np.array([[1.0], [1.0], [0.0], [0.0]])
    free = fit(Memory(as_design(dummy), np.array([0.0, 0.0, 3.0, 4.0])), Poisson(), NoPenalty(2))
    assert seek(free.problem, np.zeros((2, 1))).direction is not None
    assert free.verdict.kind == "at_infinity"
    assert free.verdict.evidence["minus"] == ["x0"]


def test_sides_of_a_share():
    """A target between the classes counts on both sides."""
    x = np.array([[0.0], [1.0], [2.0]])
    found = fit(Memory(as_design(x), np.array([0.0, 0.5, 1.0])), Logistic(), NoPenalty(2))
    assert found.verdict.kind == "at_infinity"
    assert found.verdict.evidence["strict_rows"] == 2


def quasi_in_many_digits(seed, p=3):
    """Rows of both classes at p places; all other rows lie strictly beside the one plane through these places."""
    rng = np.random.default_rng(seed)
    places, others = rng.normal(size=(p, p)), rng.normal(size=(40, p))
    fractions = [[Fraction(1), *map(Fraction, row)] for row in places.tolist()]
    scaled = flint.fmpz_mat([[int(v * (1 << 1100)) for v in row] for row in fractions])
    basis, _ = scaled.nullspace()
    plane = [int(basis[j, 0]) for j in range(p + 1)]
    sides = [
        sum(a * b for a, b in zip(plane, [Fraction(1), *map(Fraction, row)], strict=True)) for row in others.tolist()
    ]
    X = np.vstack([places, places, others])
    y = np.array([*[0] * p, *[1] * p, *(int(side > 0) for side in sides)])
    return X, y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("options", [{"C": np.inf}, {"penalty": None}])
def test_a_direction_that_doubles_cannot_hold_is_kept_in_integers(seed, options, tmp_path):
    X, y = quasi_in_many_digits(seed)
    verdict = lineal.LogisticRegression(**options).fit(X, y).verdict_
    assert verdict.kind == "at_infinity"
    exact = {name: int(value) for name, value in verdict.evidence["direction"].items()}
    assert max(map(abs, exact.values())) > 2**53
    d = [exact.get(name, 0) for name in ("(intercept)", "x0", "x1", "x2")]
    z = differences(X, y, 1)
    margins = [sum(a * b for a, b in zip(row, d, strict=True)) for row in z.values()]
    assert min(margins) == 0
    assert sum(margin > 0 for margin in margins) == verdict.evidence["strict_rows"] == 40
    assert verdict.evidence["plus"] == [name for name in ("(intercept)", "x0", "x1", "x2") if exact[name] > 0]
    assert verdict.evidence["minus"] == [name for name in ("(intercept)", "x0", "x1", "x2") if exact[name] < 0]
    assert verdict.evidence["remedies"] == ["firth", "ridge"]
    model = lineal.fit(X, y, model="logistic", penalty="none")
    model.save(tmp_path / "m.lineal")
    rows = [",".join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "d.csv").write_text("\n".join(["x0,x1,x2,y", *rows]) + "\n")
    assert verify(tmp_path / "m.lineal", tmp_path / "d.csv").passed


@needs_data
@pytest.mark.parametrize("options", [{"C": np.inf}, {"penalty": None}])
def test_endometrial_without_a_penalty(options):
    """NV goes to +infinity, the others stay; Firth and ridge are named as what helps."""
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(DATA / "endometrial.csv")
    verdict = lineal.LogisticRegression(**options).fit(table[["NV", "PI", "EH"]], table["HG"]).verdict_
    assert verdict.kind == "at_infinity"
    assert verdict.evidence["direction"] == {"NV": 1}
    assert verdict.evidence["plus"] == ["NV"]
    assert verdict.evidence["minus"] == []
    assert set(verdict.evidence["finite"]) == {"(intercept)", "PI", "EH"}
    assert verdict.evidence["strict_rows"] == 13
    assert verdict.evidence["remedies"] == ["firth", "ridge"]
    assert "firth" in verdict.sentence
    assert "ridge" in verdict.sentence


def test_one_class_is_separable_and_no_logistic_regression():
    answer = lineal.separability(np.array([[1.0], [2.0]]), ["a", "a"])
    assert answer.kind == "complete"
    assert answer.sentence == "Every row has y = a, so there is nothing to separate."
    with pytest.raises(ValueError, match="class"):
        lineal.LogisticRegression(C=np.inf).fit([[1.0], [2.0]], ["a", "a"])


@pytest.mark.parametrize("sparse", [True, False])
def test_rows_that_would_not_fit_in_memory_are_not_written_out(sparse, monkeypatch, tmp_path):
    """A sparse table of 40,000 x 20,000 was made dense, 6 GB, to ask whether a boundary exists; now the verdict says so."""
    monkeypatch.setattr(gathering, "MAX_CELLS", 500)
    draw = np.random.default_rng(0)
    x, y = np.where(draw.random((60, 20)) < 0.1, draw.normal(size=(60, 20)), 0.0), draw.integers(0, 2, size=60)
    model = lineal.Perceptron(max_iter=3, shuffle=False).fit(scipy.sparse.csr_array(x) if sparse else x, y)
    assert model.verdict_.kind == "budget"
    assert re.search(r"the oracle was not asked: a table with \d+ cells is too large", model.verdict_.sentence)
    table = tmp_path / "t.csv"
    np.savetxt(
        table, np.column_stack([x, y]), "%.17g", ",", header=",".join([*(f"x{j}" for j in range(20)), "y"]), comments=""
    )
    lineal.fit(table, "y", model="perceptron").save(tmp_path / "m.lineal")
    assert verify(tmp_path / "m.lineal", table).passed
