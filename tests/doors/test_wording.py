"""What pages say of columns: nothing twice, nothing blank, no list that stops as if it were complete."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

Lineal = Callable[..., tuple[int, str, str]]


@pytest.fixture
def dates(folder: Path) -> Path:
    first = dt.date(2024, 1, 1)
    rows = [f"{first + dt.timedelta(days=3 * k)},{k % 7}.5,{'' if k % 9 == 4 else 'a'},{k % 5}.1" for k in range(80)]
    rows[3] = rows[3].replace(",3.5,", ",,")
    path = folder / "dates.csv"
    path.write_text("day,x,one,y\n" + "\n".join(rows) + "\n")
    return path


def test_use_of_every_column_is_said(dates: Path, lineal: Lineal) -> None:
    code, out, err = lineal("fit", dates, "--target", "y", "--test-size", 0, "--json")
    assert code == 0, err
    use = {column["column"]: column["use"] for column in json.loads(out)["data"]["columns"]}
    assert set(use["day"].split("; ")) >= {"days", "month", "weekday"}
    assert use["one"] == "a, or missing"
    filled, said = use["x"].removeprefix("empty cells count as ").split(", ", 1)
    cells = [line.split(",")[1] for line in dates.read_text().splitlines()[1:]]
    assert float(filled) == pytest.approx(np.mean([float(cell) for cell in cells if cell]), rel=1e-3)
    assert said == "and a column says which"


def test_inspect_describes_no_column_twice(dates: Path, lineal: Lineal) -> None:
    code, out, err = lineal("inspect", dates, "--target", "y")
    assert code == 0, err
    assert "is a number." not in out
    assert "is a date: written like '1999-12-31'" in out


@pytest.mark.parametrize("words", [("fit",), ("fit", "--target", "nope"), ("trace",)])
def test_lists_of_columns_say_that_they_stop(words: tuple[str, ...], folder: Path, lineal: Lineal) -> None:
    (folder / "wide.csv").write_text(",".join(f"x{k}" for k in range(40)) + "\n" + ",".join("1" * 40) + "\n")
    code, _, err = lineal(words[0], "wide.csv", *words[1:])
    assert code == 2
    assert "'x11' and 28 more." in err


@pytest.mark.parametrize("degree", [2, 4])
def test_powers_of_one_column_have_no_effect_of_their_own(degree: int, folder: Path, lineal: Lineal) -> None:
    rng = np.random.default_rng(degree)
    x, z = rng.exponential(size=60), rng.normal(size=60)
    y = x**2 - x + z + rng.normal(size=60)
    (folder / "t.csv").write_text(
        "x,z,y\n" + "".join(f"{a:.17g},{b:.17g},{c:.17g}\n" for a, b, c in zip(x, z, y, strict=True))
    )
    words = ("fit", "t.csv", "--formula", f"y ~ poly(x, {degree}) + z", "--penalty", "none", "--test-size", 0, "--json")
    code, out, err = lineal(*words)
    assert code == 0, err
    entries = {entry["column"]: entry for entry in json.loads(out)["coefficients"]}
    powers = np.vander(x, degree + 1, increasing=True)
    coef = np.linalg.lstsq(np.column_stack([powers, z]), y, rcond=None)[0]
    assert entries["z"]["effect"] == pytest.approx(abs(coef[-1]) * np.std(z), rel=1e-7)
    assert all(entries[name]["effect"] is None for name in ("x", *(f"x^{d}" for d in range(2, degree + 1))))
    assert [entries[f"x^{d}"]["value"] for d in range(2, degree + 1)] == pytest.approx(coef[2 : degree + 1], rel=1e-6)


@pytest.mark.parametrize(("rows", "held"), [(12, False), (29, False), (30, True)])
def test_no_rows_are_held_out_of_few(rows: int, held: bool, folder: Path, lineal: Lineal) -> None:
    (folder / "t.csv").write_text("x,y\n" + "".join(f"{k},{k * k % 7}.5\n" for k in range(rows)))
    words = ("fit", "t.csv", "--target", "y", "--model", "linear")
    code, out, err = lineal(*words)
    assert code == 0, err
    assert (f"{rows} rows fitted\n" in out) != held
    page = lineal("summary", "t.lineal")[1]
    assert ("held out of this fit; to use all of them, fit with --test-size 0." in page) == held
    assert "held out (seed 0)" in lineal(*words, "--test-size", 0.5)[1]
