"""`lineal separable -o FILE`, then `lineal verify FILE DATA`: every answer is proved again by the independent checker."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import flint
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris

import lineal
from lineal import container
from lineal.cli import run
from lineal.errors import ModelFileError
from lineal.verify import verify
from lineal.verify.arithmetic import signs, whole
from lineal.verify.evidence.separability import integers
from lineal.verify.proof.halfspaces import orthogonal

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "references" / "data"
SHARED = ROOT.parent / "shared" / "data"
CORNERS = [[0, 0], [0, 1], [1, 0], [1, 1]]


def clouds(gap: float, unit: float) -> tuple[np.ndarray, list[str]]:
    """Two clouds on either side of a plane, whose faces are ``gap`` apart, the second column in other units."""
    draw = np.random.default_rng(0)
    side = np.repeat([-1.0, 1.0], 30)
    depth = np.where(np.arange(60) % 30 < 12, 0.0, np.abs(draw.normal(size=60)) + 0.1)
    x = np.column_stack([0.5 + side * (depth + gap / 2), draw.integers(-8, 9, size=60) / 4 * unit])
    return x, ["yes" if s > 0 else "no" for s in side]


IRIS, BREAST = load_iris(), load_breast_cancer()
SETS = {
    "and": (CORNERS, ["no", "no", "no", "yes"], "complete"),
    "or": (CORNERS, ["no", "yes", "yes", "yes"], "complete"),
    "xor": (CORNERS, ["no", "yes", "yes", "no"], "overlap"),
    "xor with its product": ([[*row, row[0] * row[1]] for row in CORNERS], ["no", "yes", "yes", "no"], "complete"),
    "setosa": (IRIS.data, ["yes" if y == 0 else "no" for y in IRIS.target], "complete"),
    "the other pair": (IRIS.data[50:], [str(y) for y in IRIS.target[50:]], "overlap"),
    "iris": (IRIS.data, [f"k{y}" for y in IRIS.target], "quasi"),
    "breast cancer in raw units": (BREAST.data, [str(y) for y in BREAST.target], "complete"),
    "four columns of it": (BREAST.data[:, :4], [str(y) for y in BREAST.target], "overlap"),
    "apart by 2e-9": (*clouds(2e-9, 1.0), "complete"),
    "overlapping by 2e-9": (*clouds(-2e-9, 1.0), "overlap"),
    "apart by 2e-9, other units": (*clouds(2e-9, 1e6), "complete"),
    "overlapping by 2e-9, other units": (*clouds(-2e-9, 1e6), "overlap"),
    "rows of both classes": ([[1, 5], [1, 5], [2, 7], [2, 7], [3, 1], [3, 1]], list("abbaab"), "overlap"),
    "some rows of both classes": ([[1, 5], [1, 5], [2, 7], [3, 1]], list("abbb"), "quasi"),
    "fewer rows than columns": (np.random.default_rng(1).normal(size=(5, 9)).round(3), list("ababa"), "complete"),
    "four classes on a line": ([[0], [1], [2], [3]], list("abcd"), "complete"),
    "dependent columns": ([[a, b, a - b, 7] for a, b in CORNERS * 2], list("nyynynny"), "overlap"),
}


def written(folder: Path, X, y, target: str = "class") -> str:
    path = folder / "d.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"x{j}" for j in range(len(X[0]))), target])
        writer.writerows([*map(repr, map(float, row)), label] for row, label in zip(X, y, strict=True))
    return str(path)


@pytest.mark.parametrize("name", SETS)
def test_answers_are_proved_again(name, tmp_path, capsys):
    X, y, kind = SETS[name]
    data, proof = written(tmp_path, X, y), str(tmp_path / "d.proof")
    assert run(["separable", data, "--target", "class", "-o", proof]) == 0
    assert "lineal verify" in capsys.readouterr().out
    assert container.read(proof)[0]["kind"] == kind
    assert run(["verify", proof, data, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["passed"]
    assert said["lines"][-2]["detail"] == f"{kind}, stated {kind}"  # the last line is about the sentence


@pytest.mark.parametrize(
    ("name", "target", "options", "kind"),
    [
        ("endometrial.csv", "HG", [], "quasi"),
        ("silvapulle1981.csv", "y", [], "quasi"),
        ("saheart.csv", "chd", [], "overlap"),
        ("credit_approval.csv", "approved", [], "quasi"),
        ("heart_scale.svm", None, [], "overlap"),
        ("endometrial.csv", "HG", ["--no-intercept"], "quasi"),  # NV alone is a direction through the origin
    ],
)
def test_shared_data(name, target, options, kind, tmp_path):
    path = next((folder / name for folder in (HERE, SHARED) if (folder / name).exists()), None)
    if path is None:
        pytest.skip(f"{name} is not in the shared data folder beside this repository")
    proof = str(tmp_path / "d.proof")
    where = [] if target is None else ["--target", target]
    assert run(["separable", str(path), *where, *options, "-o", proof]) == 0
    meta, arrays = container.read(proof)
    assert (meta["kind"], arrays) == (kind, {})
    assert meta["encoder"]["intercept"] == ("--no-intercept" not in options)
    assert verify(proof, path).passed


def test_lizards_overlap_as_counts(tmp_path):
    """Each row of the table holds two counts: a row of each class, weighted."""
    if not (SHARED / "lizards.csv").exists():
        pytest.skip("lizards.csv is not in the shared data folder beside this repository")
    rows = list(csv.DictReader((SHARED / "lizards.csv").read_text().splitlines()))
    path = tmp_path / "lizards.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["height", "diameter", "light", "time", "count", "species"])
        for row in rows:
            for species in ("grahami", "opalinus"):
                writer.writerow([row["height"], row["diameter"], row["light"], row["time"], row[species], species])
    words = ["separable", str(path), "--target", "species", "--weight", "count", "-o", str(tmp_path / "p")]
    assert run(words) == 0
    assert container.read(tmp_path / "p")[0]["kind"] == "overlap"
    assert verify(tmp_path / "p", path).passed


@given(data=st.data(), n=st.integers(2, 9), p=st.integers(1, 3), classes=st.integers(2, 3), intercept=st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_checker_confirms_every_answer_and_no_other(data, n, p, classes, intercept, tmp_path_factory):
    """Small integers make ties, dependent columns, duplicated rows and boundary cases common."""
    cells = data.draw(st.lists(st.lists(st.integers(-2, 2), min_size=p, max_size=p), min_size=n, max_size=n))
    y = data.draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n).filter(lambda y: len(set(y)) > 1))
    if any(len({row[j] for row in cells}) == 1 for j in range(p)):
        cells = [*cells, [3] * p]  # a constant column would be left out
        y = [*y, y[0]]
    folder = tmp_path_factory.mktemp("law")
    path = written(folder, cells, [f"k{label}" for label in y])
    proof = folder / "p"
    assert (
        run(["separable", path, "--target", "class", *([] if intercept else ["--no-intercept"]), "-o", str(proof)]) == 0
    )
    assert verify(proof, path).passed
    meta, _ = container.read(proof)
    used = [f"x{j}" for j in range(p)]
    if meta["columns"][int(intercept) :] == used:
        assert meta["kind"] == lineal.separability(np.array(cells, float), y, intercept=intercept).kind


@given(st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_orthogonal_vectors_are_a_basis_of_the_complement(rows):
    found = orthogonal(np.array(rows, dtype=object))
    rank = flint.fmpz_mat(rows).rank()
    assert len(found) == 4 - rank
    assert not any(sum(a * b for a, b in zip(row, vector, strict=True)) for row in rows for vector in found)
    assert not found or flint.fmpz_mat([vector.tolist() for vector in found]).rank() == len(found)


EXTREME = st.sampled_from(
    [0.0, 5e-324, -5e-324, 1e-310, 3e-200, -1e-160, 0.1, -0.3, 1.0, 1e160, -1e200, 1.7e308, -1.7e308]
)


@given(st.lists(EXTREME, min_size=4, max_size=4), st.lists(EXTREME, min_size=4, max_size=4))
@settings(max_examples=300, deadline=None)
def test_signs_are_exact_where_products_leave_the_doubles(row, d):
    exact = sum(Fraction(a) * Fraction(b) for a, b in zip(row, d, strict=True))
    expected = (exact > 0) - (exact < 0)
    assert signs(np.array([row]), np.array(d)).tolist() == [expected]
    assert signs(np.array([row]), whole(np.array([d]))[0]).tolist() == [expected]


@given(st.integers(-(10**9000), 10**9000) | st.integers(-5, 5))
@settings(max_examples=20, deadline=None)
def test_integers_of_any_length_are_read(value):
    text = flint.fmpz(value).str()
    assert integers([text], "weights") == [value]
    with pytest.raises(ModelFileError, match="weights"):
        integers([text + ".0"], "weights")


def test_a_product_separates_what_no_plane_does(tmp_path, capsys):
    """XOR overlaps; with squares and products of its columns it is separable; both answers are proved again."""
    data, proof = written(tmp_path, CORNERS, list("nyyn")), str(tmp_path / "d.proof")
    for options, kind in (([], "overlap"), (["--poly", "2"], "complete")):
        assert run(["separable", data, "--target", "class", *options, "-o", proof]) == 0
        assert container.read(proof)[0]["kind"] == kind
        assert run(["verify", proof, data]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("name", ["and", "or", "setosa", "four classes on a line", "apart by 2e-9"])
def test_the_widest_margin_is_proved_again(name, tmp_path):
    X, y, _ = SETS[name]
    data, proof = written(tmp_path, X, y), tmp_path / "d.proof"
    assert run(["separable", data, "--target", "class", "--bound", "-o", str(proof)]) == 0
    lines = [line["check"] for line in verify(proof, data)]
    assert "weights of length 1 reach the maximum margin" in lines
    assert "no weights have a larger margin than the sum of these rows allows" in lines


@pytest.mark.parametrize("tie", ["mistake", "positive", "negative"])
@pytest.mark.parametrize("variant", ["plain", "averaged", "pocket"])
@given(
    cells=st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(0, 2)), min_size=3, max_size=9),
    several=st.booleans(),
    bound=st.booleans(),
)
@settings(max_examples=12, deadline=None)
def test_the_checker_confirms_perceptrons(variant, tie, cells, several, bound, tmp_path_factory):
    X = np.array([cell[:2] for cell in cells], dtype=float)
    y = np.array([cell[2] if several else min(cell[2], 1) for cell in cells])
    assume(len(set(y.tolist())) > 1)
    found = lineal.Perceptron(variant=variant, tie=tie, bound=bound, max_iter=20).fit(X, y)
    folder = tmp_path_factory.mktemp("perceptron")
    found.model_.save(folder / "m.lineal")
    report = verify(folder / "m.lineal", written(folder, X, y.tolist(), target="y"))
    kind = lineal.separability(X, y).kind
    assert found.verdict_.kind == "separated" or kind != "complete"
    assert found.verdict_.kind == "not_separable" or kind == "complete" or not found.verdict_.evidence["strict"]
    assert report.passed


def test_a_record_is_no_model(tmp_path, capsys):
    data, proof = written(tmp_path, CORNERS, list("nnny")), str(tmp_path / "d.proof")
    assert run(["separable", data, "--target", "class", "-o", proof, "--json"]) == 0
    assert f'"file": "{proof}"' in capsys.readouterr().out
    for words in (["show", proof], ["predict", proof, data]):
        assert run(words) == 2
        assert "lineal separable" in capsys.readouterr().err
    assert run(["separable", data, "--target", "class", "-o", data]) == 2
    assert "not overwritten" in capsys.readouterr().err


def test_no_answer_writes_no_file(tmp_path):
    data = written(tmp_path, np.random.default_rng(0).normal(size=(60, 5)), ["n", "y"] * 30)
    assert run(["separable", data, "--target", "class", "-o", str(tmp_path / "p"), "--time-limit", "1e-9"]) == 3
    assert not (tmp_path / "p").exists()


def test_the_part_that_proves_can_be_read_in_one_sitting():
    path = ROOT / "src" / "lineal" / "verify" / "proof" / "halfspaces.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) < 200
