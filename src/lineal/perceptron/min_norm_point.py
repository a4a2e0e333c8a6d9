"""The point of a polytope nearest to the origin, in exact arithmetic (Wolfe 1976).

    min |sum_i a_i v_i|  over  a >= 0, sum a = 1

The vertices v are vectors of integers. A point x is nearest iff v'x >= x'x for every vertex; a vertex that is not joins the
corral, the few vertices x is a combination of, and x moves to the nearest point of their affine hull.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction

import numpy as np

from lineal.algebra.integers import Whole, reduced
from lineal.ground.deadline import Deadline

Key = Hashable


def nearest(
    start: Sequence[Key],
    vector: Callable[[Key], Whole],
    seek: Callable[[Whole], Iterable[Key]],
    deadline: Deadline,
) -> tuple[list[Key], Whole] | None:
    """Return the vertices that the nearest point is made of and their integer weights; None after the deadline.

    ``vector`` returns a vertex by its key, ``seek`` keys of vertices that may have a small product with a direction,
    ``start`` are keys worth a look first.

    >>> points = {"a": np.array([2, 2], dtype=object), "b": np.array([2, -2], dtype=object)}
    >>> keys, weights = nearest(["a"], points.__getitem__, lambda x: points, Deadline.after(5.0))
    >>> sorted(keys), weights.tolist()
    (['a', 'b'], [1, 1])
    """
    known = {key: vector(key) for key in start}
    corral = [min(known, key=lambda key: _dot(known[key], known[key]))]
    weights = [Fraction(1)]
    whole = _affine([known[key] for key in known])
    if whole is not None and min(whole) > 0:
        corral, weights = list(known), whole
    while not deadline.passed:
        shares = _integers(weights)
        x = np.asarray(sum(share * known[key] for share, key in zip(shares, corral, strict=True)))
        size, total = _dot(x, x), int(sum(shares))
        fresh = _violated(known, list(known), x, size, total)
        if fresh is None:
            candidates = [key for key in seek(x) if key not in known]
            known.update((key, vector(key)) for key in candidates)
            fresh = _violated(known, candidates, x, size, total)
        if fresh is None:
            return corral, shares
        corral, weights = _moved(known, [*corral, fresh], [*weights, Fraction(0)])
    return None


def _violated(known: dict[Key, Whole], keys: Sequence[Key], x: Whole, size: int, total: int) -> Key | None:
    """Return the vertex with the least v'x, x being ``total`` times the point, if it is below x'x."""
    best, least = None, size
    for key in keys:
        product = total * _dot(known[key], x)
        if product < least:
            best, least = key, product
    return best


def _moved(known: dict[Key, Whole], corral: list[Key], weights: list[Fraction]) -> tuple[list[Key], list[Fraction]]:
    """Return the corral and its weights after moving to the nearest point of its hull, dropping what is left behind."""
    while True:
        goal = _affine([known[key] for key in corral])
        assert goal is not None, "a vertex beyond the supporting plane is independent of the corral"
        if min(goal) > 0:
            return corral, goal
        theta = min(w / (w - g) for w, g in zip(weights, goal, strict=True) if g <= 0 and w > g)
        weights = [w + theta * (g - w) for w, g in zip(weights, goal, strict=True)]
        corral = [key for key, w in zip(corral, weights, strict=True) if w > 0]
        weights = [w for w in weights if w > 0]


def _affine(vectors: list[Whole]) -> list[Fraction] | None:
    """Return the weights, of sum 1, of the point of an affine hull nearest to the origin; None if they are not unique.

    ``(V V' + 1 1') u = 1``, weights ``u / sum u``; solved without fractions (Bareiss).
    """
    size = len(vectors)
    table = [[_dot(a, b) + 1 for b in vectors] + [1] for a in vectors]
    previous = 1
    for k in range(size):
        pivot = next((i for i in range(k, size) if table[i][k] != 0), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        for i in range(k + 1, size):
            for j in range(k + 1, size + 1):
                table[i][j] = (table[i][j] * table[k][k] - table[i][k] * table[k][j]) // previous
            table[i][k] = 0
        previous = table[k][k]
    u = [Fraction(0)] * size
    for i in reversed(range(size)):
        rest = sum((table[i][j] * u[j] for j in range(i + 1, size)), Fraction(0))
        u[i] = (table[i][size] - rest) / table[i][i]
    total = sum(u)
    return None if total == 0 else [value / total for value in u]


def _integers(weights: list[Fraction]) -> Whole:
    common = int(np.lcm.reduce(np.array([weight.denominator for weight in weights], dtype=object)))
    return reduced(np.array([int(weight * common) for weight in weights], dtype=object))


def _dot(a: Whole, b: Whole) -> int:
    return int(a @ b)
