"""Tables beside each other: what a column means does not depend on whether another file stands beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lineal
from lineal.tables.derived import derived
from lineal.tables.joined import beside
from lineal.tables.table import as_table
from lineal.tables.tabular import split

LINES = 60
DATES = [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(LINES)]
PRICES = [f"{i * 37 % 91}.{i * 7 % 1000:03d},{i % 10}" for i in range(LINES)]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Return a file of dates and prices as people write them, and a file of one number by key."""
    rng = np.random.default_rng(0)
    first, other = tmp_path / "first.csv", tmp_path / "other.csv"
    rows = (f'{i},{DATES[i]},"{PRICES[i]}",{rng.normal() + i % 12:.3f}' for i in range(LINES))
    first.write_text("\n".join(["id,day,price,y", *rows, ""]))
    other.write_text("\n".join(["id,z,seen", *(f"{i},{rng.normal():.3f},{DATES[i]}" for i in range(LINES)), ""]))
    return first, other


def test_dates_and_prices_of_a_file_are_read_the_same_beside_another(files: tuple[Path, Path]) -> None:
    first, other = files
    alone = lineal.fit(first, target="y", penalty="ridge:0.1", test_size=0.0)
    both = lineal.fit(beside(as_table(first), as_table(other), "id"), target="y", penalty="ridge:0.1", test_size=0.0)
    names = set(alone.encoder.columns)
    assert any(name.startswith("day (month)") for name in names)
    assert "price" in names
    assert names < set(both.encoder.columns)
    # the file that stands beside is text, too
    assert {"z", "seen (days)"} <= set(both.encoder.columns)


def test_what_is_said_about_either_file_is_said_of_both(files: tuple[Path, Path]) -> None:
    first, other = files
    first.write_bytes(first.read_text().replace("price", "prïce").encode("latin-1"))
    other.write_bytes(other.read_text().replace("seen", "gesehën").encode("latin-1"))
    notes = beside(as_table(first), as_table(other), "id").notes
    assert ["first.csv" in notes[0], "other.csv" in notes[1]] == [True, True]


def test_tables_around_others_keep_what_they_do_not_change(files: tuple[Path, Path]) -> None:
    table = as_table(files[0])
    asked = derived(table, "y > 5")
    training, _ = split(asked, 0, 0.3)
    for one in (asked, training, training.last(), training.select(numbers=["id"], texts=["y > 5"])):
        assert (one.origin, one.plain, one.notes, one.place(3)) == (table.origin, True, table.notes, table.place(3))
    with pytest.raises(lineal.InputError, match=r"no target column 'prize'.*'price'"):
        training.require("prize", "target column")
    with pytest.raises(lineal.InputError, match="no column 'y'"):
        asked.require("y")  # the question has taken its place
