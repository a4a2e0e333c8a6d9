"""Nystroem's map of a Gaussian kernel: ``(K_bb + 1e-5 m I)^(-1/2) k(b, x)`` through m training rows b chosen by hash."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms import fourier

FIELDS: Final = fourier.FIELDS | {"landmarks", "lost"}
MOST: Final = 1000
MEASURED: Final = 500
"""Different rows, next to the landmarks by hash, over which the loss is a mean."""
ALMOST: Final = 1e-9
"""How far a stated loss may be from ours."""

names = fourier.names


def check(term: Mapping[str, Any]) -> None:
    """Refuse numbers that are none, and factors that are no plain numbers."""
    fourier.check(term, range(1, MOST + 1))
    rows, width = term["landmarks"], len(term["factors"])
    if not isinstance(rows, list) or len(rows) != term["count"]:
        raise ModelFileError("a nystroem term must have a landmark for every column it makes.")
    if not all(isinstance(row, list) and len(row) == width and all(map(_finite, row)) for row in rows):
        raise ModelFileError("the landmarks of a nystroem term must be rows of finite numbers.")
    if not (_finite(term["lost"]) and 0.0 <= term["lost"] <= 1.0):
        raise ModelFileError("what a nystroem term loses must be a share from 0 to 1.")
    if any(factor["kind"] != "number" for factor in term["factors"]):
        raise ModelFileError("the factors of a nystroem term must be plain numbers.")


def _finite(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]


def values(term: Mapping[str, Any], factors: Sequence[Sequence[Array]]) -> list[Array]:
    """Return the columns."""
    return list(_map(term, np.column_stack([factor[0] for factor in factors])).T)


def _map(term: Mapping[str, Any], x: Array) -> Array:
    """Return phi of rows: with ``K_bb = V diag(l) V'``, ``k V diag(1 / sqrt(l + 1e-5 m)) V'``."""
    unit = np.array(term["halves"], dtype=np.float64) * term["kernel_width"]
    b = np.array(term["landmarks"], dtype=np.float64).reshape(term["count"], -1) / unit
    length, v = np.linalg.eigh(_gaussian(b, b))
    turned = _gaussian(x / unit, b) @ v
    return np.asarray((turned / np.sqrt(np.maximum(length, 0.0) + 1e-5 * len(b))) @ v.T)


def _gaussian(t: Array, b: Array) -> Array:
    """Return ``exp(-|t - b|^2 / 2)`` of every pair."""
    return np.asarray(np.exp(-0.5 * sum((t[:, k, None] - b[None, :, k]) ** 2 for k in range(b.shape[1]))))


class Learner:
    """What the training cells teach: half of the range of every column, the first rows by hash, and what is lost of others."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        self._term = term
        self._halves = fourier.Learner(term)
        self._first: dict[int, tuple[float, ...]] = {}

    def see(self, columns: Mapping[str, cells.Column]) -> None:
        """Take some more rows, of which those with the least hashes stay."""
        self._halves.see(columns)
        parts = []
        for factor in self._term["factors"]:
            numbers = cells.numbers(columns[factor["column"]])
            parts.append(np.where(np.isnan(numbers), factor["fill"] or 0.0, numbers) + 0.0)
        x = np.column_stack(parts)
        codes = _hashes(x)
        _, places = np.unique(codes, return_index=True)
        most = self._term["count"] + MEASURED
        self._first |= {int(codes[i]): tuple(x[i].tolist()) for i in places[:most]}
        self._first = {code: self._first[code] for code in sorted(self._first)[:most]}

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is."""
        problem = self._halves.wrong()
        if problem is not None:
            return problem
        rows, count = list(self._first.values()), self._term["count"]
        if [list(row) for row in rows[:count]] != self._term["landmarks"]:
            return "the landmarks are not the first training rows by hash"
        lost = 1.0 - float(np.mean(np.sum(_map(self._term, np.array(rows[count:] or rows)) ** 2, axis=1)))
        if abs(max(lost, 0.0) - self._term["lost"]) > ALMOST:
            return f"the share of the kernel that is lost is stated as {self._term['lost']!r}, it is {lost!r}"
        return None


def _hashes(x: Array) -> Any:
    """Return a hash of every row: splitmix64 of the bits of one number after another, each crossed with the last hash."""
    state = np.zeros(len(x), dtype=np.uint64)
    for k in range(x.shape[1]):
        state = (state ^ x[:, k].copy().view(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
        state = state ^ (state >> np.uint64(31))
    return state
