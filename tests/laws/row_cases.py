"""Random small problems of losses with corners, with their optima in rational numbers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from lineal.designs import as_design
from lineal.losses import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Quantile,
)
from lineal.penalties import L1, NoPenalty, Ridge
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block

CORNERED = [Absolute(), Quantile(0.25), EpsilonInsensitive(0.5), Hinge()]


def solve(matrix, right):
    """Return the solution of a square system of fractions, or None."""
    size = len(matrix)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(size):
        pivot = next((j for j in range(i, size) if rows[j][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(size):
            if j != i and rows[j][i] != 0:
                factor = rows[j][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


class Case:
    """A small problem with corners, and its optimum in fractions; the number decides its shape and its traps."""

    def __init__(self, number):
        rng = self.rng = np.random.default_rng(number)
        self.loss = CORNERED[number % 4]
        p = int(rng.integers(1, 3))
        n = int(rng.integers(3, 7))
        self.intercept = bool(rng.random() < 0.7)
        x = rng.normal(size=(n, p)) * rng.choice([1.0, 1e-3, 1e3], size=p) + rng.choice([0.0, 0.0, 10.0], size=p)
        if rng.random() < 0.3:
            x = np.round(x)  # ties and degenerate corners
        y = rng.normal(size=(n, 1)) + (1e6 if number % 5 == 0 else 0.0)
        self.y = np.round(y) if rng.random() < 0.3 else y
        if self.loss.name == "hinge":
            self.y = rng.integers(0, 2, size=(n, 1)).astype(float)
        self.weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n) if rng.random() < 0.5 else None
        if self.weight is not None:
            self.weight[0] = 1.0
        self.offset = rng.normal(size=(n, 1)) if rng.random() < 0.3 else None
        self.design = as_design(x, intercept=self.intercept)
        self.x = self.design.dense()
        columns = self.x.shape[1]
        penalty_factors = np.ones(columns)
        penalty_factors[: int(self.intercept)] = 0.0
        kind = ["none", "ridge", "l1"][number // 4 % 3]
        strength = float(rng.choice([1e-6, 1e-2, 1.0]))
        self.penalty = {
            "none": NoPenalty(columns),
            "ridge": Ridge(strength, penalty_factors),
            "l1": L1(strength, penalty_factors),
        }[kind]
        self.exact()

    def exact(self):
        """Write the problem in fractions: weights, rows and corners (x, at, low, high, weight), quadratic penalty factors."""
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        offset = np.zeros((len(self.y), 1)) if self.offset is None else self.offset
        total = sum(map(Fraction, weight))
        self.corners = []
        for i in np.flatnonzero(weight > 0):
            row = [Fraction(v) for v in self.x[i]]
            y = Fraction(self.y[i, 0])
            if self.loss.name == "absolute":
                found = [(y, Fraction(-1), Fraction(1))]
            elif self.loss.name == "quantile":
                found = [(y, -Fraction(self.loss.q), 1 - Fraction(self.loss.q))]
            elif self.loss.name == "hinge":
                found = [
                    (Fraction(1), Fraction(-1), Fraction(0)) if y == 1 else (Fraction(-1), Fraction(0), Fraction(1))
                ]
            else:
                e = Fraction(self.loss.epsilon)
                found = [(y + e, Fraction(0), Fraction(1)), (y - e, Fraction(-1), Fraction(0))]
            for at, low, high in found:
                self.corners.append((row, at - Fraction(offset[i, 0]), low, high, Fraction(weight[i]) / total))
        p = self.x.shape[1]
        self.quadratic = [Fraction(0)] * p
        if self.penalty.name == "ridge":
            self.quadratic = [Fraction(self.penalty.strength) * Fraction(c) for c in self.penalty.penalty_factors]
        if self.penalty.name == "l1":
            for j, penalty_factor in enumerate(self.penalty.penalty_factors):
                size = Fraction(self.penalty.strength) * Fraction(penalty_factor)
                row = [Fraction(int(i == j)) for i in range(p)]
                if size:
                    self.corners.append((row, Fraction(0), -size, size, Fraction(1)))

    def value(self, coef):
        """Return F in fractions."""
        result = sum(c * b * b for c, b in zip(self.quadratic, coef, strict=True)) / 2
        for row, at, low, high, weight in self.corners:
            r = sum(a * b for a, b in zip(row, coef, strict=True)) - at
            result += weight * max(low * r, high * r)
        return result

    def optimum(self, start):
        """Return F* in fractions, or None where neither vertices nor the corners near the start tell it."""
        if not any(self.quadratic):
            return self.best_vertex()
        return self.stationary(start)

    def best_vertex(self):
        """Without a quadratic some vertex is optimal, if the rows span all columns."""
        p = self.x.shape[1]
        best = None
        for chosen in itertools.combinations(self.corners, p):
            coef = solve([list(corner[0]) for corner in chosen], [corner[1] for corner in chosen])
            if coef is not None:
                value = self.value(coef)
                best = value if best is None or value < best else best
        return best

    def stationary(self, start):
        """Solve the conditions of optimality exactly, with the corners that are active near the start; check them."""
        p = self.x.shape[1]
        active, slopes = [], []
        for corner in self.corners:
            r = float(sum(a * Fraction(b) for a, b in zip(corner[0], start, strict=True)) - corner[1])
            if abs(r) < 1e-5:
                active.append(corner)
            else:
                slopes.append((corner, corner[3] if r > 0 else corner[2]))
        size = p + len(active)
        matrix = [[Fraction(0)] * size for _ in range(size)]
        right = [Fraction(0)] * size
        for j in range(p):
            matrix[j][j] = self.quadratic[j]
            right[j] = -sum(corner[4] * slope * corner[0][j] for corner, slope in slopes)
            for m, corner in enumerate(active):
                matrix[j][p + m] = matrix[p + m][j] = corner[0][j]
        for m, corner in enumerate(active):
            right[p + m] = corner[1]
        found = solve(matrix, right)
        if found is None:
            return None
        coef = found[:p]
        for theta, corner in zip(found[p:], active, strict=True):
            if not corner[4] * corner[2] <= theta <= corner[4] * corner[3]:
                return None
        for corner, slope in slopes:
            r = sum(a * b for a, b in zip(corner[0], coef, strict=True)) - corner[1]
            if max(corner[2] * r, corner[3] * r) != slope * r:
                return None
        return self.value(coef)

    def source(self, parts):
        if parts == 1:
            return Memory(self.design, self.y, self.weight, self.offset)
        edges = np.linspace(0, len(self.y), parts + 1).astype(int)
        blocks = [
            Block(
                self.design.slice(int(a), int(b)),
                self.y[a:b],
                None if self.weight is None else self.weight[a:b],
                None if self.offset is None else self.offset[a:b],
            )
            for a, b in itertools.pairwise(edges)
        ]
        return Blocks(blocks)

    def away(self, coef, best):
        """Return F(coef) - F*."""
        return self.value([Fraction(float(v)) for v in coef[:, 0]]) - best
