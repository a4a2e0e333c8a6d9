"""The penguins as arrays, and the answers of the command line about them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Lineal = Callable[..., tuple[int, str, str]]


PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"


ALL = ("--test-size", "0", "--json")


def penguins(folder: Path) -> dict[str, np.ndarray]:
    """Write the penguins without missing cells, numbers only beside the targets, and return the columns."""
    with PENGUINS.open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if "NA" not in row.values() and "" not in row.values()]
    names = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    columns = {name: np.array([float(row[name]) for row in rows]) for name in names}
    columns |= {name: np.array([row[name] for row in rows]) for name in ("species", "sex")}
    with (folder / "p.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return columns


def told(answer: tuple[int, str, str], code: int = 0) -> dict[str, Any]:
    assert (answer[0], answer[2]) == (code, "")
    data = json.loads(answer[1])
    assert isinstance(data, dict)
    return data


def design(columns: dict[str, np.ndarray], *names: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the standardised columns, and their standard deviations."""
    x = np.column_stack([columns[name] for name in names])
    return (x - x.mean(axis=0)) / x.std(axis=0), x.std(axis=0)


MEASURES = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm")


WITHOUT = {
    "body_mass_g": ("--drop", "species", "--drop", "sex"),
    "sex": ("--drop", "species", "--drop", "body_mass_g"),
    "species": ("--drop", "sex", "--drop", "body_mass_g"),
}
