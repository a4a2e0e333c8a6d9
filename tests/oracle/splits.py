"""Training rows, fingerprints and penalty factors by the words of docs/model-file.md, for the forger."""

from __future__ import annotations

import hashlib
import math
import struct
from typing import Any

import numpy as np

MASK = 2**64 - 1


def _mix(z: int) -> int:
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def draw(seed: int, i: int) -> float:
    """Return u(seed, i)."""
    return (_mix(_mix(seed) ^ i) >> 11) * 2.0**-53


def training(split: dict[str, Any] | None, rows: int, target: list[Any], column: list[Any] | None) -> list[int]:
    """Return the numbers of the rows that are fitted."""
    every = list(range(rows))
    if split is None:
        return every
    seed, share, by = split["seed"], split["test_size"], split.get("by", "row")
    if by == "row":
        return [i for i in every if not draw(seed, i) < share]
    if by == "stratified":
        held: set[int] = set()
        for label in set(target):
            own = sorted((i for i in every if target[i] == label), key=lambda i: draw(seed, i))
            held |= set(own[: math.floor(len(own) * share + 0.5)])
        return [i for i in every if i not in held]
    assert column is not None
    if by == "group":
        hashed = [int.from_bytes(hashlib.sha256(str(v).encode()).digest()[:8], "big") >> 1 for v in column]
        return [i for i in every if not draw(seed, hashed[i]) < share]
    last = sorted(column)[math.floor(rows * (1 - share)) - 1]
    return [i for i in every if column[i] <= last]


def fingerprint(columns: dict[str, list[Any]]) -> str:
    """Return the fingerprint of training rows: numbers as doubles, texts with their lengths."""
    whole = b""
    for name in sorted(columns, key=lambda name: name.encode()):
        text = isinstance(columns[name][0], str)
        cells = [
            struct.pack("<I", len(v.encode())) + v.encode() if text else struct.pack("<d", float(v))
            for v in columns[name]
        ]
        whole += name.encode() + b"\0" + (b"t" if text else b"n") + hashlib.sha256(b"".join(cells)).digest()
    return "sha256:" + hashlib.sha256(whole).hexdigest()


def variances(x: np.ndarray) -> np.ndarray:
    """Return the penalty factor of every column, 0 for the intercept before them."""
    return np.r_[0.0, np.mean((x - x.mean(axis=0)) ** 2, axis=0)]
