"""`lineal.verify` on files that `lineal.fit` wrote, in every format, and what it may import."""

from __future__ import annotations

import ast
import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import lineal
from lineal.errors import InputError
from lineal.ground.deadline import Deadline
from lineal.verify import Refused, verify

ROOT = Path(__file__).parents[2]
PENGUINS = ROOT / "examples" / "penguins.csv"
SHARED = ROOT.parent / "shared" / "data"
HERE = ROOT / "tests" / "references" / "data"


def shared(name: str) -> Path:
    """Return a file of this repository, or of the folder beside it (tests/references/data/README.md)."""
    found = next((folder / name for folder in (HERE, SHARED) if (folder / name).exists()), None)
    if found is None:
        pytest.skip(f"{name} is not in the shared data folder beside this repository")
    return found


def fit_and_verify(tmp_path: Path, data: Path, target: str | list[str] | None, **options):
    found = lineal.fit(str(data), target, **options)
    found.save(tmp_path / "m.lineal")
    return found, verify(tmp_path / "m.lineal", data)


@pytest.mark.parametrize(
    ("target", "options", "kind"),
    [
        ("species", {"test_size": 0.2}, "optimal"),
        ("species", {"penalty": 0.01}, "optimal"),
        ("body_mass_g", {"model": "linear", "test_size": 0.2, "seed": 5}, "optimal"),
        ("body_mass_g", {"penalty": "ridge:0.1"}, "optimal"),
        ("sex", {"penalty": "none", "drop": ("species",)}, "optimal"),
        (["body_mass_g", "bill_length_mm"], {"model": "linear"}, "optimal"),
    ],
)
def test_penguins(target, options, kind, tmp_path):
    found, report = fit_and_verify(tmp_path, PENGUINS, target, **options)
    assert found.verdict.kind == kind
    assert report.passed
    assert any("fingerprint" in line["check"] for line in report)


@pytest.mark.parametrize(
    ("name", "target", "options", "kind"),
    [
        ("saheart.csv", "chd", {"penalty": "none"}, "optimal"),
        ("prostate.csv", "lpsa", {"penalty": "ridge:0.3", "test_size": 0.3}, "optimal"),
        ("credit_approval.csv", "approved", {"penalty": 0.01}, "optimal"),
        ("credit_approval.csv", "approved", {"penalty": "none"}, "at_infinity"),
        ("endometrial.csv", "HG", {"penalty": "none"}, "at_infinity"),
        ("silvapulle1981.csv", "y", {"penalty": "none"}, "at_infinity"),
        ("heart_cleveland.csv", "num", {"penalty": 0.001}, "optimal"),
        ("heart_scale.svm", None, {"penalty": "none", "test_size": 0.2}, "optimal"),
        ("wmt12_qe.csv", "effort", {"model": "linear"}, "optimal"),
    ],
)
def test_shared_data(name, target, options, kind, tmp_path):
    found, report = fit_and_verify(tmp_path, shared(name), target, **options)
    assert found.verdict.kind == kind
    assert report.passed


MODELS = [
    ("body_mass_g", "huber", "ridge:0.1", {}, "optimal"),
    ("body_mass_g", "huber:500", "l1:10", {"test_size": 0.2}, "optimal"),
    ("body_mass_g", "quantile:0.5", "none", {}, "optimal"),
    ("body_mass_g", "quantile:0.9", "ridge:0.1", {}, "optimal"),
    ("body_mass_g", "linear", "l1:10", {}, "optimal"),
    ("body_mass_g", "linear", "elastic:10,0.5", {"test_size": 0.2}, "optimal"),
    ("body_mass_g", "poisson", "none", {}, "optimal"),
    ("body_mass_g", "poisson", "l1:10", {}, "optimal"),
    ("body_mass_g", "bayes", "auto", {}, "stationary"),
    (
        "body_mass_g",
        "linear",
        "none",
        {"bounds": {"bill_length_mm": (0, None), "flipper_length_mm": (0, 20)}},
        "optimal",
    ),
    ("body_mass_g", "linear", "l1:10", {"bounds": {"bill_length_mm": (0, 1)}}, "optimal"),
    ("body_mass_g", "linear", "none", {"bounds": {"bill_length_mm": (3, 1)}}, "infeasible"),
    ("sex", "logistic", "l1:0.01", {"drop": ("species",)}, "optimal"),
    ("sex", "logistic", "firth", {"drop": ("species",)}, "stationary"),
    ("sex", "svm", "ridge:0.1", {"drop": ("species",), "test_size": 0.2}, "optimal"),
    ("sex", "squared-hinge", "l1:0.01", {"drop": ("species",)}, "optimal"),
    ("species", "logistic", "l1:0.01", {}, "optimal"),
    ("species", "logistic", "group:0.01", {"test_size": 0.2}, "optimal"),
    ("species", "sparsemax", "ridge:0.1", {}, "optimal"),
]


@pytest.mark.parametrize(("target", "model", "penalty", "options", "kind"), MODELS)
def test_every_model_and_penalty_of_the_command_line(target, model, penalty, options, kind, tmp_path):
    found, report = fit_and_verify(tmp_path, PENGUINS, target, model=model, penalty=penalty, **options)
    assert found.verdict.kind == kind
    assert report.passed
    loaded = lineal.load(tmp_path / "m.lineal")
    assert np.array_equal(loaded.predict(str(PENGUINS)), found.predict(str(PENGUINS)))


@pytest.mark.parametrize(
    ("name", "target", "model", "penalty", "kind"),
    [
        ("endometrial.csv", "HG", "logistic", "firth", "stationary"),
        ("prostate.csv", "lpsa", "quantile:0.25", "l1:0.01", "optimal"),
        ("prostate.csv", "lpsa", "bayes", "auto", "stationary"),
        ("saheart.csv", "chd", "logistic", "l1:0.02", "optimal"),
        ("saheart.csv", "chd", "svm", "ridge:0.01", "optimal"),
        ("credit_approval.csv", "approved", "squared-hinge", "l1:0.01", "optimal"),
        ("heart_cleveland.csv", "num", "sparsemax", "ridge:0.01", "optimal"),
        ("wmt12_qe.csv", "effort", "huber", "elastic:0.01,0.5", "optimal"),
    ],
)
def test_models_and_penalties_on_shared_data(name, target, model, penalty, kind, tmp_path):
    found, report = fit_and_verify(tmp_path, shared(name), target, model=model, penalty=penalty)
    assert found.verdict.kind == kind
    assert report.passed


@pytest.mark.parametrize(("name", "degree"), [("Filip", 10), ("Wampler5", 5), ("Pontius", 2)])
def test_ill_conditioned_powers(name, degree, tmp_path):
    rows = list(csv.DictReader((HERE / "nist" / f"{name}.csv").read_text(encoding="utf-8").splitlines()))
    data = tmp_path / "powers.csv"
    with data.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["y", *(f"power {k}" for k in range(1, degree + 1))])
        writer.writerows([row["y"], *(repr(float(row["x"]) ** k) for k in range(1, degree + 1))] for row in rows)
    found, report = fit_and_verify(tmp_path, data, "y", model="linear")
    assert found.verdict.kind == "optimal"
    assert report.passed
    assert "covariance" in found.arrays


TINTS = ['r"ed', "gré\nen", "b"]


def write_copies(folder: Path) -> dict[str, Path]:
    """Write one small mixed table in every format the reader knows."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    draw = np.random.default_rng(3)
    n = 80
    x = draw.normal(size=n).round(3)
    table = {
        "x": [None if i % 9 == 2 else float(value) for i, value in enumerate(x)],
        "count": draw.integers(0, 5, size=n).tolist(),
        "flag": [None if i % 11 == 4 else bool(value) for i, value in enumerate(draw.random(n) > 0.4)],
        "colour, or tint": [None if i % 13 == 5 else str(cell) for i, cell in enumerate(draw.choice(TINTS, size=n))],
        "w": draw.choice([1.0, 2.0, 0.5], size=n).tolist(),
    }
    table["y"] = [float(v) for v in (2 * x + draw.normal(size=n)).round(4)]
    paths = {kind: folder / f"t.{kind}" for kind in ("csv", "tsv", "jsonl", "parquet", "feather", "csv.gz", "jsonl.gz")}
    words = {None: "", True: "true", False: "false"}
    text = {name: [words[cell] if cell is None or cell is True or cell is False else cell for cell in column]
            for name, column in table.items()}  # fmt: skip
    for kind, delimiter in (("csv", ","), ("tsv", "\t")):
        with paths[kind].open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerow(list(text))
            writer.writerows(zip(*text.values(), strict=True))
    lines = [json.dumps(dict(zip(table, row, strict=True))) for row in zip(*table.values(), strict=True)]
    paths["jsonl"].write_text("\n".join(lines) + "\n", encoding="utf-8")
    for kind in ("csv", "jsonl"):
        paths[f"{kind}.gz"].write_bytes(gzip.compress(paths[kind].read_bytes()))
    parquet.write_table(pyarrow.table(table), paths["parquet"])
    feather.write_feather(pyarrow.table(table), paths["feather"], compression="uncompressed")
    return paths


def test_a_model_fitted_on_one_format_is_confirmed_on_all(tmp_path):
    paths = write_copies(tmp_path)
    for kind, path in paths.items():
        found = lineal.fit(str(path), "y", model="linear", weight="w", test_size=0.2)
        found.save(tmp_path / f"{kind}.lineal")
        assert verify(tmp_path / f"{kind}.lineal", path).passed, kind
    for path in paths.values():
        assert verify(tmp_path / "parquet.lineal", path).passed, path


def test_files_without_a_header_and_with_other_delimiters(tmp_path):
    draw = np.random.default_rng(0)
    rows = np.column_stack([draw.normal(size=(40, 2)).round(3), draw.normal(size=40).round(3)])
    data = tmp_path / "plain.csv"
    data.write_text("\n".join(";".join(map(repr, map(float, row))) for row in rows), encoding="utf-8")
    _, report = fit_and_verify(tmp_path, data, "c3", model="linear")
    assert report.passed
    assert verify(tmp_path / "m.lineal", data, delimiter=";", header=False).passed
    with pytest.raises(Refused, match="every column"):
        verify(tmp_path / "m.lineal", data, header=True)


def test_a_model_of_arrays_is_confirmed_on_a_file_of_its_columns(tmp_path):
    draw = np.random.default_rng(8)
    x = draw.normal(size=(50, 3))
    y = (x @ [1.0, -1.0, 0.5] + draw.normal(size=50) > 0).astype(int)
    found = lineal.fit(x, y, model="logistic", penalty=0.1)
    found.save(tmp_path / "m.lineal")
    with (tmp_path / "d.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["y", "x2", "x0", "x1"])
        writer.writerows(
            [int(label), repr(float(c)), repr(float(a)), repr(float(b))] for label, (a, b, c) in zip(y, x, strict=True)
        )
    assert verify(tmp_path / "m.lineal", tmp_path / "d.csv").passed


@pytest.mark.parametrize("target", ["species", "sex", "body_mass_g"])
@pytest.mark.parametrize("penalty", [1e-4, 1.0])
@pytest.mark.parametrize("solver", ["gradient-descent", "quasi-newton"])
def test_a_fit_cut_short_is_confirmed_as_such(target, penalty, solver, tmp_path):
    found, report = fit_and_verify(tmp_path, PENGUINS, target, penalty=penalty, solver=solver, time_limit=1e-9)
    assert found.verdict.kind == "budget"
    assert report.passed


@pytest.mark.parametrize("target", ["species", "sex", "body_mass_g"])
def test_a_fit_that_never_had_time_is_confirmed_as_such(target, tmp_path):
    """On a slow machine the grace may be over as well before the first step is taken: the objective is stated even so."""
    over = Deadline(0.0, 2.0, lambda: 1.0)  # (the first look at the rows is within the grace)
    found, report = fit_and_verify(tmp_path, PENGUINS, target, penalty=1.0, time_limit=over)
    assert found.verdict.kind == "budget"
    assert report.passed


def test_dependent_columns_are_confirmed_as_not_unique(tmp_path):
    draw = np.random.default_rng(4)
    data = tmp_path / "d.csv"
    with data.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "total", "y"])
        for _ in range(60):
            a, b = (100 * draw.normal(size=2)).round()  # whole numbers: the total is exact
            writer.writerow([float(a), float(b), float(a + b), float(round(a - b + draw.normal(), 3))])
    found, report = fit_and_verify(tmp_path, data, "y", model="linear")
    assert found.verdict.kind == "not_unique"
    assert report.passed


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"a,b\n1\n", b"\x1f\x8bjunk", b"PAR1junk", b"ARROW1junk"])
def test_unreadable_data_is_an_input_error_or_a_refusal(content, tmp_path):
    found = lineal.fit(str(PENGUINS), "body_mass_g", model="linear")
    found.save(tmp_path / "m.lineal")
    (tmp_path / "d.csv").write_bytes(content)
    with pytest.raises((InputError, Refused)):
        verify(tmp_path / "m.lineal", tmp_path / "d.csv")


def test_missing_files_are_input_errors(tmp_path):
    with pytest.raises(InputError, match="no model file"):
        verify(tmp_path / "m.lineal", PENGUINS)
    lineal.fit(str(PENGUINS), "body_mass_g", model="linear").save(tmp_path / "m.lineal")
    with pytest.raises(InputError, match="no such file"):
        verify(tmp_path / "m.lineal", tmp_path / "d.csv")


ALLOWED = {
    *(
        "__future__",
        "abc",
        "codecs",
        "tempfile",
        "unicodedata",
        "weakref",
        "collections",
        "contextlib",
        "csv",
        "datetime",
        "re",
        "dataclasses",
        "decimal",
        "fractions",
        "functools",
        "bz2",
        "gzip",
        "lzma",
        "zlib",
        "hashlib",
        "operator",
    ),
    *("io", "itertools", "json", "math", "numpy", "os", "pathlib", "pyarrow", "scipy", "struct", "types", "typing"),
}


def test_the_checker_imports_nothing_of_ours_but_errors_and_container():
    for path in (ROOT / "src" / "lineal" / "verify").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names = [node.module or ""]
                if node.module == "lineal":
                    names = [f"lineal.{alias.name}" for alias in node.names]
            for name in names:
                ours = name.startswith(("lineal.verify", "lineal.errors", "lineal.container"))
                reader = (path.name, name) == ("sheets.py", "python_calamine")  # of spreadsheets: it knows no models
                assert ours or reader or name.split(".")[0] in ALLOWED, (path.name, name)
                assert not name.startswith("pyarrow") or path.name in ("binary_files.py", "packed.py")


def test_the_part_that_proves_can_be_read_in_one_sitting():
    path = ROOT / "src" / "lineal" / "verify" / "proof" / "bound.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) < 400
