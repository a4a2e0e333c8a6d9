"""A table with numbers and categories, and the CSV file it is written to."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.makers.numbers import SEED, sigmoid

NUMBERS = tuple(f"n{j}" for j in range(12))
LEVEL_SHARES = np.array([2, 4, 8, 20, 60, 300, 894], dtype=np.float64)


def table(rows: int, levels: int, tail: float = 0.0, digits: int = 4) -> dict[str, Any]:
    """Return 12 number columns, 7 category columns with at most ``levels`` levels in all, and a label.

    Levels are equally frequent but for the first, or follow the power law rank^-tail (rare levels, some of which do not
    occur). Level 0 of each column is the most frequent one and sorts first, so that every library's natural
    reference level is the same and the penalized objectives agree.
    """
    rng = np.random.default_rng([SEED, 6, round(10.0 * tail)])
    counts = np.maximum(2, np.floor(levels * LEVEL_SHARES / LEVEL_SHARES.sum()).astype(int))
    counts[-1] += levels - counts.sum()
    numbers = rng.standard_normal((rows, 12)) * rng.uniform(0.5, 20.0, 12) + rng.normal(0.0, 5.0, 12)
    numbers = np.round(numbers, digits)
    codes = np.empty((rows, counts.size), dtype=np.int32)
    eta = ((numbers - numbers.mean(axis=0)) / numbers.std(axis=0)) @ (0.4 * rng.standard_normal(12)) - 0.3
    for j, count in enumerate(counts):
        share = np.arange(1.0, count + 1.0) ** -tail
        share[0] = share[0] if tail else 2.0 + 0.02 * count
        codes[:, j] = np.unique(rng.choice(count, rows, p=share / share.sum()), return_inverse=True)[1]
        eta += (0.5 * rng.standard_normal(count))[codes[:, j]]
    y = (rng.random(rows) < sigmoid(eta)).astype(np.float64)
    return {"numbers": numbers, "codes": codes, "y": y}


def level(code: int) -> str:
    """Return the text of a level: level 0 sorts first."""
    return f"L{code:04d}"


def design_names(codes: np.ndarray) -> list[str]:
    """Return the names of the common design's columns: numbers, then ``column=level`` without the reference."""
    top = codes.max(axis=0)
    return [*NUMBERS, *(f"c{j}={level(c)}" for j in range(codes.shape[1]) for c in range(1, top[j] + 1))]


def design(numbers: np.ndarray, codes: np.ndarray) -> Any:
    """Return the common design of the table: numbers and dummies without the reference level, CSR."""
    from scipy import sparse

    parts = [sparse.csr_matrix(numbers)]
    for j in range(codes.shape[1]):
        kept = np.flatnonzero(codes[:, j] > 0)
        shape = (len(codes), int(codes[:, j].max()))
        parts.append(sparse.csr_matrix((np.ones(kept.size), (kept, codes[kept, j] - 1)), shape=shape))
    return sparse.hstack(parts, format="csr")


def write_csv(path: Path, arrays: dict[str, Any], rows: int) -> None:
    """Write the first rows of the table as a person would find them: text, header, label yes / no."""
    numbers, codes, y = arrays["numbers"][:rows], arrays["codes"][:rows], arrays["y"][:rows]
    names = np.array([level(c) for c in range(int(arrays["codes"].max()) + 1)])

    def lines() -> Iterator[list[Any]]:
        for start in range(0, len(y), 10_000):
            stop = start + 10_000
            text = names[codes[start:stop]].tolist()
            label = np.where(y[start:stop] > 0, "yes", "no").tolist()
            for a, b, c in zip(numbers[start:stop].tolist(), text, label, strict=True):
                yield [*a, *b, c]

    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*NUMBERS, *(f"c{j}" for j in range(codes.shape[1])), "label"])
        writer.writerows(lines())
