"""Which rows must be given up so that a halfspace separates the rest: bounds from both sides by integer programming.

Rows C with a positive combination sum a_i z_i = 0 cannot all be on their side (Gordan): every halfspace mistakes one of
them. So the least weight of mistakes is that of the cheapest set of rows that meets every such C,

    min sum_i s_i e_i  over  e in {0, 1},  sum over C of e_i >= 1  for every C found so far,

which is a lower bound whatever was not found yet, and the answer as soon as what is left is separable (combinatorial Benders
cuts). No large constant stands for "if": data in any units give the same program. Every C is found by a linear program and
proved in integers, and every halfspace is counted in integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from lineal.algebra.integers import Whole, reduced, whole
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.deadline import Deadline, LateError
from lineal.ground.records import dataclass
from lineal.separation.cloud import Cloud
from lineal.separation.dictionary import Circuit
from lineal.separation.search import Core, decide

FIRST_HALFSPACES = 4
"""Halfspaces tried before the first bound: often one of them is the answer."""

COST_REDRAWS = 6
"""Times the cost of missing each row is drawn anew in the search for a good halfspace."""

PACKINGS_PER_ANSWER = 40
"""Sets of disjoint cuts added for every answer of the integer program, which is what takes the time."""

MAX_CUTS = 50_000

BOUND_SLACK_SHARE = 1e-9
"""What rounding in a solver may add to a bound, as a share of the sum of the weights, where these are not whole."""


@dataclass
class Covering:
    """The rows of two classes with weights ``s`` > 0, the cuts found so far, and the best halfspace so far.

    ``whole`` says that the weights are whole numbers, ``intercept`` that the first column is all ones. Rows that are not
    ``strict`` may lie on the boundary; then a combination proves something only if a strict row is in it.
    """

    cloud: Cloud
    s: Array
    deadline: Deadline
    whole: bool
    intercept: bool
    strict: Mask
    cuts: dict[tuple[int, ...], Whole] = field(default_factory=dict)
    upper: float = np.inf
    lower: float = 0.0
    direction: Whole | None = None
    stopped: str = ""

    def __post_init__(self) -> None:
        z = self.cloud.z(self.cloud.ids)
        power = np.exp2(np.ceil(np.log2(self.cloud.largest)))
        z = z / power
        size = np.max(np.abs(z), axis=1, keepdims=True)
        self._z = z / np.where(size > 0.0, size, 1.0)
        self._power = power

    def run(self) -> None:
        """Close the bounds as far as the deadline allows."""
        try:
            guesses = self._guesses()
            for guess in islice(guesses, FIRST_HALFSPACES):
                self.offer(guess)
            self._pack(np.ones(len(self.s), dtype=bool))
            self._relax()
            for guess in () if self.closed else guesses:
                self.offer(guess)
            while not self.closed:
                self._check()
                chosen = self._cheapest()
                if chosen is not None:
                    for number in range(min(PACKINGS_PER_ANSWER, 1 + len(self.s) // 4)):
                        self._pack(~chosen, number)
        except LateError:
            self.stopped = "the time limit was reached"

    @property
    def closed(self) -> bool:
        """Whether the bounds meet."""
        return self.upper <= self.lower + (0.0 if self.whole else 2.0 * BOUND_SLACK_SHARE * float(np.sum(self.s)))

    def offer(self, guess: Array) -> None:
        """Count the mistakes of a halfspace (floats in scaled columns) exactly, and keep it if it is the best."""
        guess = guess / self._power
        if np.all(np.isfinite(guess)) and np.any(guess):
            self.count(whole(guess))

    def count(self, direction: Whole) -> None:
        """Count the mistakes of a halfspace of integers; a strict row on the boundary is one."""
        missed = float(np.sum(self.s[self.wrong(direction)]))
        if missed < self.upper:
            self.upper, self.direction = missed, reduced(direction)

    def wrong(self, direction: Whole) -> Mask:
        """Return which rows a halfspace mistakes."""
        return np.asarray(self.cloud.signs(direction) < self.strict)

    def _check(self) -> None:
        if self.deadline.passed or len(self.cuts) > MAX_CUTS:
            raise LateError

    def _guesses(self) -> Iterator[Array]:
        """Yield halfspaces: those of each class alone, and hinge programs whose costs follow what was missed before."""
        if not self.strict.all():
            self.count(np.zeros(self._z.shape[1], dtype=object))
        if self.intercept:
            yield from (side * np.eye(self._z.shape[1])[0] for side in (1.0, -1.0))
        rng = np.random.default_rng(0)
        for restart in range(COST_REDRAWS):
            cost = self.s * (1.0 if restart == 0 else rng.exponential(size=len(self.s)))
            for _ in range(4):
                self._check()
                coef = self._hinge(cost)
                if coef is None:
                    break
                yield coef
                slack = np.maximum(1.0 - self._z @ coef, 0.0)
                cost = self.s / (slack + 0.1 * max(float(np.max(slack)), 1e-12))

    def _hinge(self, cost: Array) -> Array | None:
        """Return w that minimises sum cost_i max(1 - z_i'w, 0), by its dual: max sum a, Z'a = 0, 0 <= a <= cost."""
        from scipy import optimize

        used = cost > 1e-12 * float(np.max(cost))
        result: Any = optimize.linprog(
            -np.ones(int(used.sum())),
            A_eq=self._z[used].T,
            b_eq=np.zeros(self._z.shape[1]),
            bounds=[(0.0, float(most)) for most in cost[used]],
            method="highs",
            options={"time_limit": max(self.deadline.left, 0.01)},
        )
        return None if result.x is None or result.status != 0 else -np.asarray(result.eqlin.marginals)

    def _pack(self, rows: Mask, seed: int = 0) -> None:
        """Add cuts that share no row until the rest of ``rows`` is separable; the separator is a candidate."""
        left = rows.copy()
        rng = np.random.default_rng([len(self.cuts), seed])
        while True:
            self._check()
            ids = np.flatnonzero(left)
            circuit = self._circuit(ids, rng.uniform(0.0, 1.0, len(ids))) if len(ids) else None
            if circuit is None:
                break
            left[list(circuit)] = False
        if len(ids):
            circuit = self._settle(ids)
            while circuit is not None:
                left[list(circuit)] = False
                ids = np.flatnonzero(left)
                circuit = self._settle(ids) if len(ids) else None

    def _settle(self, ids: Index) -> tuple[int, ...] | None:
        """Ask the exact oracle about rows that floats call separable: count its separator, or return one more cut."""
        part = Cloud(self.cloud.x[ids], self.cloud.own[ids], 1, ids.astype(np.int64))
        decision = decide(part, self.deadline)
        need = self.strict[ids]
        left = np.setdiff1d(np.flatnonzero(need), decision.strict)
        if not len(left):
            none = np.zeros(self.cloud.width, dtype=object)
            self.count(none if decision.direction is None else decision.direction)
            return None
        if np.any(need[decision.ids]):
            return self._add(ids[decision.ids], decision.weights)
        rows, weights = joined(part, decision.ids, decision.weights, int(left[0]))
        return self._add(ids[rows], weights)

    def _circuit(self, ids: Index, cost: Array) -> tuple[int, ...] | None:
        """Return few rows of ``ids`` with sum a z = 0, a > 0, of little cost; None if floats find none. Exact.

        A vertex of { a >= 0, Z'a = 0, sum of a over strict rows = 1 } has as few rows as can be.
        """
        from scipy import optimize

        result: Any = optimize.linprog(
            cost,
            A_eq=np.vstack([self._z[ids].T, self.strict[ids]]),
            b_eq=np.append(np.zeros(self._z.shape[1]), 1.0),
            bounds=(0.0, None),
            method="highs-ds",
            options={"time_limit": max(self.deadline.left, 0.01)},
        )
        if result.status == 1:
            raise LateError
        if result.x is None or result.status != 0:
            return None
        circuit = Core(self.cloud, self.deadline).solve(ids[result.x > 1e-10])
        if not isinstance(circuit, Circuit) or not np.any(self.strict[circuit.rows]):
            return None
        return self._add(np.array(circuit.rows, dtype=np.intp), np.array(circuit.weights, dtype=object))

    def _add(self, ids: Index, weights: Whole) -> tuple[int, ...]:
        order = np.argsort(ids)
        key = tuple(int(i) for i in ids[order])
        self.cuts[key] = reduced(np.array([int(weights[k]) for k in order], dtype=object))
        return key

    def _relax(self) -> None:
        """Add cuts that the relaxed program (0 <= e <= 1) violates, while that raises its value."""
        from scipy import optimize

        rng = np.random.default_rng(1)
        value, stale = -np.inf, 0
        while not self.closed and stale < 5:
            self._check()
            result: Any = optimize.linprog(
                self.s,
                A_ub=-self._table(),
                b_ub=-np.ones(len(self.cuts)),
                bounds=(0.0, 1.0),
                method="highs",
                options={"time_limit": max(self.deadline.left, 0.01)},
            )
            if result.x is None or result.status != 0:
                return
            self._raise(float(result.fun))
            stale = 0 if result.fun > value + 1e-7 * max(1.0, value) else stale + 1
            value = max(value, float(result.fun))
            if not self._violated(np.maximum(result.x, 0.0), rng):
                return

    def _violated(self, e: Array, rng: np.random.Generator) -> int:
        """Add circuits whose e add up to less than 1, each time making the rows of the last one dearer."""
        ids, cost, count = np.arange(len(e)), e + 1e-3 * rng.uniform(size=len(e)), 0
        for _ in range(12):
            self._check()
            before = len(self.cuts)
            circuit = self._circuit(ids, cost)
            if circuit is None or float(e[list(circuit)].sum()) > 1.0 - 1e-6:
                break
            count += len(self.cuts) > before
            cost = cost.copy()
            cost[list(circuit)] += 0.5
        return count

    def _cheapest(self) -> Mask | None:
        """Solve the integer program of the cuts so far: a lower bound, and the rows it gives up.

        None if the cuts leave nothing better than the best halfspace so far.
        """
        from scipy import optimize

        limits = [optimize.LinearConstraint(self._table(), lb=np.ones(len(self.cuts)))]
        if self.whole:
            limits.append(optimize.LinearConstraint(self.s[None], ub=[self.upper - 1.0]))
        result: Any = optimize.milp(
            self.s,
            constraints=limits,
            integrality=np.ones(len(self.s), dtype=np.int64),
            bounds=optimize.Bounds(0.0, 1.0),
            options={"time_limit": max(self.deadline.left, 0.01), "mip_rel_gap": 0.0},
        )
        if result.status == 2:
            self.lower = self.upper
            return None
        if result.mip_dual_bound is not None and np.isfinite(result.mip_dual_bound):
            self._raise(float(result.mip_dual_bound))
        if result.x is None:
            raise LateError
        chosen = np.asarray(result.x > 0.5)
        if result.status == 1:
            self._pack(~chosen)
            raise LateError
        return chosen

    def _raise(self, bound: float) -> None:
        """Keep a lower bound, less what rounding in the solver may have added; whole weights have whole sums."""
        slack = 1e-6 * max(1.0, bound) if self.whole else BOUND_SLACK_SHARE * float(np.sum(self.s))
        bound = np.ceil(bound - slack) if self.whole else bound - slack
        self.lower = min(max(self.lower, bound), self.upper)

    def _table(self) -> Any:
        from scipy import sparse

        keys = list(self.cuts)
        rows = np.repeat(np.arange(len(keys)), [len(key) for key in keys])
        columns = np.array([i for key in keys for i in key], dtype=np.int64)
        return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(keys), len(self.s)))


def joined(cloud: Cloud, ids: Index, weights: Whole, row: int) -> tuple[Index, Whole]:
    """Return a positive combination of z that is zero and holds ``row``, which lies in the span of ``ids``.

    From sum a z = 0 with a > 0 over ``ids`` and z_row = -sum c z: z_row + sum (t a + c) z = 0, positive for t large enough.
    """
    z = cloud.integers(np.append(ids, row))
    table = [[Fraction(int(value)) for value in column] for column in z.T]  # unknowns c: Z'c = -z_row
    pivots: list[int] = []
    for line in range(len(table)):
        column = next((j for j in range(len(ids)) if table[line][j] != 0), None)
        if column is None:
            continue
        scale = table[line][column]
        table[line] = [value / scale for value in table[line]]
        for other in range(len(table)):
            share = table[other][column]
            if other != line and share != 0:
                table[other] = [a - share * b for a, b in zip(table[other], table[line], strict=True)]
        pivots.append(line)
    c = [Fraction(0)] * len(ids)
    for line in pivots:
        column = next(j for j in range(len(ids)) if table[line][j] != 0)
        c[column] = -table[line][-1]
    a = [Fraction(int(weight)) for weight in weights]
    most = max((-value / weight for value, weight in zip(c, a, strict=True)), default=Fraction(0))
    times = max(int(most) + 1, 1)
    mixed = [times * weight + value for weight, value in zip(a, c, strict=True)] + [Fraction(1)]
    common = int(np.lcm.reduce(np.array([value.denominator for value in mixed], dtype=object)))
    return np.append(ids, row), np.array([int(value * common) for value in mixed], dtype=object)
