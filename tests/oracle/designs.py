"""Nasty rows, drawn from a seed: columns far from zero, nearly or exactly dependent, of all scales; targets, weights, offsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

Draw = np.random.Generator
Array = npt.NDArray[Any]


def power(draw: Draw, low: float, high: float) -> float:
    """Return a number whose logarithm is even between two powers of ten."""
    return float(10.0 ** draw.uniform(low, high))


def pick(draw: Draw, *choices: Any) -> Any:
    """Return one of some things."""
    return choices[int(draw.integers(len(choices)))]


# ---------------------------------------------------------------- twists of a matrix


def far(draw: Draw, x: Array) -> Array:
    """Column means of 1e3 to 4e15 beside a spread of 1."""
    for j in range(x.shape[1]):
        if draw.random() < 0.6:
            x[:, j] += pick(draw, -1.0, 1.0) * power(draw, 3, 15.6)
    return x


def counted(draw: Draw, x: Array) -> Array:
    """A column of consecutive whole numbers that begin far away."""
    steps = np.arange(float(len(x)))
    x[:, int(draw.integers(x.shape[1]))] = pick(draw, 1e6, 1e9, 1e12, 1.5e15, 4e15) + draw.permutation(steps)
    return x


def stamps(draw: Draw, x: Array) -> Array:
    """Time stamps in nanoseconds, minutes apart, as doubles hold them."""
    gaps = draw.integers(1, 50, size=len(x)) * pick(draw, 60e9, 1e9, 1e6)
    x[:, int(draw.integers(x.shape[1]))] = 1.7e18 + np.cumsum(gaps)
    return x


def near(draw: Draw, x: Array) -> Array:
    """Two columns 1e-3 to 1e-15 apart."""
    if x.shape[1] > 1:
        a, b = draw.choice(x.shape[1], 2, replace=False)
        x[:, b] = x[:, a] + power(draw, -15, -3) * draw.normal(size=len(x))
    return x


def dependent(draw: Draw, x: Array) -> Array:
    """An exact dependency: whole numbers, so that sums and multiples are exact."""
    x = np.round(x * 8.0) / 8.0
    j = int(draw.integers(x.shape[1]))
    kind = pick(draw, "sum", "multiple", "constant", "zero", "copy")
    rest = [i for i in range(x.shape[1]) if i != j]
    if kind == "constant" or not rest:
        x[:, j] = pick(draw, 1.0, 3.0, -0.5)
    elif kind == "zero":
        x[:, j] = 0.0
    elif kind == "sum":
        x[:, j] = x[:, rest].sum(axis=1)
    else:
        x[:, j] = x[:, rest[0]] * (1.0 if kind == "copy" else pick(draw, 3.0, -0.25, 7.0))
    return x


def scaled(draw: Draw, x: Array) -> Array:
    """Columns in units of 1e-8 to 1e8."""
    return np.asarray(x * np.array([power(draw, -8, 8) for _ in range(x.shape[1])]))


def levels(draw: Draw, x: Array) -> Array:
    """Categories as zeros and ones."""
    places = draw.integers(0, x.shape[1] + int(draw.random() < 0.5), size=len(x))
    return np.asarray([[float(place == j) for j in range(x.shape[1])] for place in places])


def repeated(draw: Draw, x: Array) -> Array:
    """Rows that occur several times."""
    return np.asarray(x[draw.integers(0, max(len(x) // 3, 1), size=len(x))])


def whole(draw: Draw, x: Array) -> Array:
    """Small whole numbers."""
    return np.asarray(np.round(3.0 * x))


TWISTS: dict[str, Callable[[Draw, Array], Array]] = {
    twist.__name__: twist for twist in (far, counted, stamps, near, dependent, scaled, levels, repeated, whole)
}


def matrix(draw: Draw, only: str | None = None, *, plain: bool = False) -> tuple[Array, list[str]]:
    """Return rows of numbers with up to two twists, and their names; ``only`` asks for one of them, ``plain`` for none."""
    n, p = int(draw.integers(6, 41)), int(draw.integers(1, 6))
    if plain:
        return draw.normal(size=(n, p)), []
    shape = draw.random()
    if shape < 0.08:
        n, p = int(draw.integers(2, 6)), int(draw.integers(3, 6))  # more columns than rows
    elif shape < 0.1:
        n = 1
    x = draw.normal(size=(n, p))
    names = [only] if only in TWISTS else []
    if not names:
        names = [str(name) for name in draw.choice(list(TWISTS), int(draw.choice([0, 1, 1, 2])), replace=False)]
    for name in names:
        x = TWISTS[name](draw, x)
    return x, names


def stored(draw: Draw, x: Array) -> tuple[Any, str]:
    """Return a matrix as a user may hold it: dense, sparse, single precision, whole numbers."""
    kind = draw.random()
    if kind < 0.12:
        return scipy.sparse.csr_array(np.where(np.abs(x) < 0.3, 0.0, x)), "csr"
    if kind < 0.2:
        return x.astype(np.float32), "float32"
    if kind < 0.26 and np.all(x == np.floor(x)) and np.abs(x).max() < 2**53:
        return x.astype(np.int64), "int64"
    return np.asfortranarray(x) if kind < 0.35 else x, "dense"


# ---------------------------------------------------------------- targets


def _signal(draw: Draw, x: Array) -> Array:
    """Return a score of unit size from the columns, about their middles."""
    middle = x - np.median(x, axis=0)
    spread = np.abs(middle).max(axis=0)
    return np.asarray((middle / np.where(spread > 0, spread, 1.0)) @ draw.normal(size=x.shape[1]))


def numbers(draw: Draw, x: Array, *, plain: bool = False) -> tuple[Array, str]:
    """Return targets that are numbers, and what kind."""
    signal, n = 2.0 * _signal(draw, x), len(x)
    kinds = ("noise", "noise", "tails", "million", "exact", "constant", "tiny", "huge", "whole", "zero-ish")
    kind = pick(draw, *(("noise", "tails", "whole") if plain else kinds))
    noise = draw.normal(size=n)
    y = {
        "noise": signal + noise,
        "tails": signal + draw.standard_t(1.5, size=n),
        "million": 1e6 + signal + noise,
        "exact": np.round(signal * 64) / 64 if draw.random() < 0.5 else _signal_exact(draw, x),
        "constant": np.full(n, pick(draw, 0.0, 0.1, 3.0, 1e6)),
        "tiny": 1e-8 * (signal + noise),
        "huge": 1e8 * (signal + noise),
        "whole": np.round(signal + 2.0 * noise),
        "zero-ish": np.where(draw.random(n) < 0.8, 0.0, noise),
    }[kind]
    return np.asarray(y), kind


def _signal_exact(draw: Draw, x: Array) -> Array:
    """Return a target that one column explains but for rounding."""
    return np.asarray(x[:, 0] - x[0, 0])


def counts(draw: Draw, x: Array, *, plain: bool = False) -> tuple[Array, str]:
    """Return counts, many of them zero."""
    kind = pick(draw, "counts", "counts", "few", "many", "rates", *(() if plain else ("only there",)))
    rate = np.exp(_signal(draw, x) + {"few": -2.0, "many": 5.0}.get(kind, 0.3))
    y = draw.poisson(np.minimum(rate, 1e6)).astype(float)
    if kind == "rates":
        y = y / 7.0
    if kind == "only there":  # no count on one side: a coefficient may be infinite
        y = np.where(x[:, 0] > np.median(x[:, 0]), y, 0.0)
    return (y if y.any() else y + 1.0), kind


def classes(draw: Draw, x: Array, k: int, *, plain: bool = False) -> tuple[Array, str]:
    """Return the numbers of k classes, all of which occur where there are enough rows."""
    n = len(x)
    signal = 3.0 * np.column_stack([_signal(draw, x) for _ in range(k)])
    signal[:, 0] = 0.0
    kind = pick(draw, "noise", "noise", *(() if plain else ("separable", "quasi", "touching", "rare", "split")))
    score = signal + (draw.gumbel(size=(n, k)) if kind in ("noise", "rare", "touching") else 0.0)
    y = np.argmax(score, axis=1)
    if kind == "split":
        y = (np.argsort(np.argsort(x[:, 0], kind="stable"), kind="stable") * k) // max(n, 1)
    elif kind == "quasi" and n > 3:
        y[x[:, 0] == np.median(x[:, 0])] = draw.integers(0, k)
        y[int(draw.integers(n))] = draw.integers(0, k)
    elif kind == "touching" and n > 3:  # two classes that overlap by 1e-9 of a column
        order = np.argsort(x[:, 0], kind="stable")
        y = np.zeros(n, int)
        y[order[n // 2 :]] = 1
        width = 1e-9 * (np.abs(x[:, 0]).max() + 1e-300)
        x[order[n // 2], 0] = x[order[n // 2 - 1], 0] - width
    elif kind == "rare":
        y = np.zeros(n, int)
    for c in range(min(k, n)):
        if not np.any(y == c):
            y[c] = c
    return y, kind


# ---------------------------------------------------------------- weights and offsets


def weights(draw: Draw, n: int, *, plain: bool = False) -> tuple[Array | None, str]:
    """Return weights of rows, or none."""
    kind = pick(draw, "none", "none", "none", "plain", "zeros", *(() if plain else ("wild",)), "whole")
    if kind == "none":
        return None, kind
    if kind == "wild":
        return 10.0 ** draw.uniform(-12, 12, size=n), kind
    if kind == "whole":
        return draw.integers(1, 5, size=n).astype(float), kind
    found = draw.uniform(0.1, 3.0, size=n)
    if kind == "zeros":
        found[draw.random(n) < 0.3] = 0.0
        found[0] = 1.0
    return found, kind


def offsets(draw: Draw, n: int, outputs: int, most: float = 1000.0) -> tuple[Array | None, str]:
    """Return offsets: none, constant, varying."""
    kind = pick(draw, "none", "none", "none", "none", "constant", "varying")
    if kind == "none":
        return None, kind
    size = pick(draw, 1.0, min(30.0, most), min(100.0, most), most)
    rows = np.full(n, size * pick(draw, -1.0, 1.0)) if kind == "constant" else size * draw.uniform(-1.0, 1.0, size=n)
    if outputs == 1:
        return rows, f"{kind} {size:g}"
    return np.column_stack([rows * (0.5 + c) for c in range(outputs)]), f"{kind} {size:g}"
