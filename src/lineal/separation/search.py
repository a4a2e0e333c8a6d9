"""Complete, quasi-complete or overlap: searched by small programs in floating point, proved in integers.

Let K be the cone of directions with z'd >= 0 for all rows. We keep a set E of rows with positive weights that sum to
zero (so that every d in K is orthogonal to them), and L, their span. As long as rows remain outside L, either some d
orthogonal to L is positive on all of them, which ends the search, or a positive combination of few of them lies in L,
and they join E. Rows come in as they are violated, so that each program is small however long the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from lineal.algebra.digits import dependency, orthogonal
from lineal.algebra.integers import Whole, floats, reduced, whole
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.deadline import Deadline, LateError, watched
from lineal.ground.records import dataclass
from lineal.separation.cloud import Cloud
from lineal.separation.dictionary import Circuit, Dictionary
from lineal.separation.gathering import check_cells


@dataclass(frozen=True)
class Decision:
    """``direction`` (integers, or None) and the rows ``ids`` with positive integer ``weights`` that sum to zero.

    ``negative``, ``zero`` and so on follow from the signs of z'd: ``strict`` counts those above zero.
    """

    kind: str
    direction: Whole | None
    strict: Index
    ids: Index
    weights: Whole


@dataclass
class Core:
    """The rows E of weights > 0 that sum to zero, and the vectors orthogonal to all of them."""

    cloud: Cloud
    deadline: Deadline
    weights: dict[int, Fraction] = field(default_factory=dict)
    complement: Whole | None = None
    basis: Index = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    @property
    def ids(self) -> Index:
        """The rows of E."""
        return np.array(list(self.weights), dtype=np.intp)

    def solve(self, ids: Index) -> Whole | Circuit:
        """Return a direction orthogonal to E and positive on some rows, or a circuit among them; exact."""
        outcome = self.locked.asking(self.cloud.integers(ids), ids).solve()
        return outcome if isinstance(outcome, Circuit) else self.cloud.plain(outcome)

    def circuit(self, support: Index) -> Circuit | None:
        """Return the circuit among some rows if one combination of them is in the span of E, no other, and it is >= 0."""
        combination = dependency(self.cloud.integers(np.append(self.basis, support)), self.deadline)
        if combination is None:
            return None
        balance, weights = np.split(combination, [len(self.basis)])
        if np.all(weights <= 0):
            balance, weights = -balance, -weights
        used = weights > 0
        if np.any(weights < 0) or not np.any(used):
            return None
        return Circuit(support[used].tolist(), weights[used].tolist(), self.basis.tolist(), balance.tolist())

    def add(self, circuit: Circuit) -> None:
        """Join a circuit to E: enough of the old weights keeps all of them positive."""
        old = {row: Fraction(value) for row, value in zip(circuit.locked, circuit.balance, strict=True)}
        times = max((-value / self.weights[row] for row, value in old.items()), default=Fraction(0))
        many = max(int(times) + 1, 1)
        fresh = {row: many * weight + old.get(row, Fraction(0)) for row, weight in self.weights.items()}
        fresh.update({row: Fraction(weight) for row, weight in zip(circuit.rows, circuit.weights, strict=True)})
        self.weights = fresh
        # A circuit is one dependency among rows that are otherwise independent of E.
        self.basis = np.append(self.basis, np.array(circuit.rows[1:], dtype=np.intp))
        self.__dict__.pop("locked", None)

    def span(self) -> None:
        """Find the vectors orthogonal to all rows of E."""
        self.complement = np.zeros((self.cloud.width, 0), dtype=object)
        if len(self.basis) < self.cloud.width:
            whole = orthogonal(self.cloud.integers(self.basis), self.deadline)
            vectors = self.cloud.plain(self.locked.complement() if whole is None else whole)
            bits = [max(int(value).bit_length() for value in vector) for vector in vectors.T]
            self.complement = vectors << (
                max(bits) - np.array(bits, dtype=object)
            )  # in one unit, for the sake of floats

    @cached_property
    def locked(self) -> Dictionary:
        """Return the dictionary in which no row of E moves."""
        dictionary = Dictionary(self.cloud.width, self.deadline)
        dictionary.lock(self.cloud.integers(self.basis), self.basis)
        return dictionary

    def lift(self, v: Whole) -> Whole:
        """Return the direction with coordinates v among the vectors orthogonal to E."""
        return v if self.complement is None else np.asarray(self.complement @ v)

    def outside(self, ids: Index | None = None) -> Index:
        """Return rows (of ``ids``) outside the span of E: most of them at once, and none only if there is none."""
        ids = self.cloud.ids if ids is None else ids
        if self.complement is None or not len(ids):
            return ids
        size = self.complement.shape[1]
        draw = np.random.default_rng(0).integers(1, 2**31, size=size).astype(object)
        mixed = [self.complement @ draw] if size > 1 else []
        for vector in [*mixed, *self.complement.T]:
            rows: Index = ids[self.cloud.signs(vector, ids) != 0]
            if len(rows):
                return rows
            self.deadline.look()
        return ids[:0]


def decide(cloud: Cloud, deadline: Deadline, guesses: Sequence[Array] = (), *, two_way: bool = False) -> Decision:
    """Decide the three-way question with a proof; LateError after the deadline.

    ``guesses`` are directions (D floats) worth a look. ``two_way`` asks only whether some boundary makes no mistake: the
    kinds are then "complete" and "not complete", the latter with at most rank + 1 rows.
    """
    with (
        watched(deadline),
        np.errstate(all="ignore"),
    ):  # floats only propose; infinity and NaN are found out where they are used
        powers = cloud.far
        if not powers.any():
            return _decided(cloud, deadline, guesses, two_way)
        decision = _decided(cloud.levelled(powers), deadline, [np.ldexp(g, powers) for g in guesses], two_way)
    if decision.direction is None:
        return decision
    shift = (int(powers.max()) - powers).astype(object)
    return replace(decision, direction=reduced(np.asarray(decision.direction << shift)))


def _decided(cloud: Cloud, deadline: Deadline, guesses: Sequence[Array], two_way: bool) -> Decision:
    """Decide for columns that floats can be computed with."""
    core = Core(cloud, deadline)
    zero = cloud.ids[~_any(cloud)]
    for guess in [*guesses, *_squares(cloud)]:
        if np.all(np.isfinite(guess)) and not len(zero) and np.all(cloud.margins(guess) > 0.0):
            for direction in _roundings(cloud, guess):
                if np.all(cloud.signs(direction) > 0):
                    return Decision("complete", reduced(direction), cloud.ids, core.ids, _weights(core))
    work = np.setdiff1d(_first(cloud, guesses), zero)
    while True:
        if two_way and (len(zero) or core.weights):
            core.weights = core.weights or {int(zero[0]): Fraction(1)}
            return Decision("not complete", None, cloud.ids[:0], core.ids, _weights(core))
        rest = np.setdiff1d(core.outside(), zero) if not core.weights else core.outside()
        if not len(rest):
            if not core.weights:  # every row is zero: each of them alone is a sum that vanishes
                core.weights = {int(zero[0]): Fraction(1)}
            return Decision("overlap", None, cloud.ids[:0], core.ids, _weights(core))
        work = np.intersect1d(work, rest)
        if len(work) < 2 * cloud.width:
            work = np.union1d(work, np.random.default_rng(1).permutation(rest)[: 2 * cloud.width])
        outcome = _stage(core, work)
        if isinstance(outcome, Circuit):
            core.add(outcome)
            if not two_way:
                core.span()
            continue
        direction = reduced(outcome)
        signs = cloud.signs(direction)
        if len(zero) and not core.weights:
            core.weights = {int(zero[0]): Fraction(1)}
        kind = "quasi" if core.weights else "complete"
        return Decision(kind, direction, cloud.ids[signs > 0], core.ids, _weights(core))


def strict_rows(cloud: Cloud, decision: Decision) -> Index:
    """Return the rows that some direction moves strictly to their side (for several classes: away from some class)."""
    return decision.strict if cloud.outputs == 1 else np.unique(decision.strict // cloud.outputs)


def _stage(core: Core, work: Index) -> Whole | Circuit:
    """Return a direction that is positive on every row outside the span of E, or a circuit among them."""
    cloud = core.cloud
    while True:
        core.deadline.look()
        width = cloud.width if core.complement is None else core.complement.shape[1]
        check_cells(len(work) * width)
        table = _coordinates(core, work)
        kept = np.any(table != 0.0, axis=1)
        work, table = work[kept], table[kept]
        power, scaled = _scaled(table)
        outcome = _nearest(core, work, scaled, power)
        if outcome is None:
            outcome = _program(core, work, scaled, power)
        if isinstance(outcome, Circuit):
            return outcome
        direction = outcome
        signs = cloud.signs(direction)
        bad = cloud.ids[signs < 0]
        if not len(bad):
            bad = core.outside(cloud.ids[signs == 0])
            if core.complement is None:
                bad = bad[np.any(cloud.z(bad) != 0.0, axis=1)] if len(bad) else bad
        if not len(bad):
            return direction
        work = np.union1d(work, _worst(cloud, direction, bad, max(2 * width, 40)))


def _worst(cloud: Cloud, direction: Whole, bad: Index, most: int) -> Index:
    """Return the rows that are furthest on the wrong side, and a few others of them."""
    if len(bad) <= most:
        return bad
    if len(bad) > 200_000:
        bad = np.random.default_rng(2).permutation(bad)[:200_000]
    margin = cloud.margins(floats(direction), bad)
    worst = bad[np.argpartition(margin, most)[:most]]
    return np.union1d(worst, np.random.default_rng(3).permutation(bad)[: most // 2])


def _coordinates(core: Core, ids: Index) -> Array:
    """Return z in the coordinates of the complement of E: computed exactly, then rounded, each row up to a factor."""
    if core.complement is None:
        return core.cloud.z(ids)
    exact = core.cloud.products(ids, core.complement)
    return np.array([floats(row) for row in exact]).reshape(exact.shape)


def _scaled(table: Array) -> tuple[Array, Array]:
    """Return the powers of two near the largest entries of the columns, and the table divided by them, each row near 1."""
    power = np.ceil(np.log2(np.where(np.any(table, axis=0), np.max(np.abs(table), axis=0, initial=0.0), 1.0)))
    scaled = np.ldexp(table, -power.astype(np.int64))
    size = np.max(np.abs(scaled), axis=1, keepdims=True)
    return power, scaled / np.where(size > 0.0, size, 1.0)


def _nearest(core: Core, work: Index, scaled: Array, power: Array) -> Whole | Circuit | None:
    """Look for the point of the rows' hull nearest to zero: if it is zero, its rows are a circuit, else it is a direction.

    Least squares over weights a >= 0, |sum a z|^2 + (sum a - 1)^2, in floating point; None if integers do not confirm it.
    """
    from scipy import optimize

    # nnls looks at no clock; it takes about a second for 1e9 entries times columns
    if scaled.size > 2**20 or scaled.size * scaled.shape[1] > 1e9 * core.deadline.left:
        return None
    try:
        weights, distance = optimize.nnls(np.vstack([scaled.T, np.ones(len(scaled))]), np.eye(scaled.shape[1] + 1)[-1])
    except RuntimeError:  # it takes too many steps
        return None
    if distance < 1e-9:  # of rows near 1: it may be zero; the least weights may only mend what rounding did
        return core.circuit(work[weights > 1e-12 * np.max(weights)]) or core.circuit(work[weights > 0.0])
    return _held(core, work, weights @ scaled, power)


def _program(core: Core, work: Index, scaled: Array, power: Array) -> Whole | Circuit:
    """Maximise the least margin over a box; return a direction that holds exactly on all these rows, or a circuit."""
    from scipy import optimize

    columns = scaled.shape[1]
    result: Any = optimize.linprog(
        np.append(np.zeros(columns), -1.0),
        A_ub=np.column_stack([-scaled, np.ones(len(scaled))]),
        b_ub=np.zeros(len(scaled)),
        bounds=[(-1.0, 1.0)] * columns + [(0.0, 2.0)],
        method="highs-ds",
        options={
            "time_limit": max(core.deadline.left, 0.01),
            "primal_feasibility_tolerance": 1e-10,
            "dual_feasibility_tolerance": 1e-10,
        },
    )
    if result.status == 1:
        raise LateError
    if result.x is None:
        return _exactly(core, work, work[:0])
    direction = _held(core, work, result.x[:-1], power) if result.x[-1] > 0.0 else None
    return _exactly(core, work, work[np.abs(result.ineqlin.marginals) > 1e-11]) if direction is None else direction


def _held(core: Core, work: Index, unit: Array, power: Array) -> Whole | None:
    """Return a direction in few digits, or more, that is positive on all these rows exactly; None if there is none."""
    unit = unit / np.max(np.abs(unit))
    back = (np.max(power, initial=0.0) - power).astype(np.int64).astype(object)
    for bits in (4, 10, 24, 52):
        v = np.array([int(value) for value in np.rint(unit * 2.0**bits)], dtype=object) << back
        direction = core.lift(v)
        if np.all(core.cloud.signs(direction, work) > 0):
            return direction
    return None


def _exactly(core: Core, work: Index, support: Index) -> Whole | Circuit:
    """Decide a working set in integers, beginning with the rows that the linear program leaned on."""
    cloud = core.cloud
    if len(support):
        quick = core.circuit(support)
        if quick is not None:
            return quick
    held = support if len(support) else work[: 2 * cloud.width]
    while True:
        outcome = core.solve(held)
        if isinstance(outcome, Circuit):
            return outcome
        bad = work[cloud.signs(outcome, work) <= 0]
        if not len(bad):
            return outcome
        held = np.union1d(held, _worst(cloud, outcome, bad, max(cloud.width, 10)))


def _any(cloud: Cloud) -> Mask:
    """Return which z are not zero."""
    filled = np.asarray((cloud.x != 0).sum(axis=1)).reshape(-1) > 0
    return filled if cloud.outputs == 1 else filled[cloud.ids // cloud.outputs]


def _squares(cloud: Cloud) -> list[Array]:
    """Return the least-squares fit to the classes as a first guess: it separates most separable tables."""
    n, p = cloud.x.shape
    if min(n, p) > 3000:
        return []
    goal = np.where(cloud.own == 1, 1.0, -1.0)[:, None]
    if cloud.outputs > 1:
        goal = np.eye(cloud.outputs)[cloud.own] - 1.0 / cloud.outputs
    x: Any = (
        cloud.x * (1.0 / cloud.largest) if isinstance(cloud.x, np.ndarray) else cloud.x.multiply(1.0 / cloud.largest)
    )
    x = x if isinstance(x, np.ndarray) else x.tocsr()
    gram: Any = x.T @ x if p <= n else x @ x.T
    gram = np.asarray(gram.toarray() if hasattr(gram, "toarray") else gram)
    ridge = 1e-12 * float(np.trace(gram)) / max(len(gram), 1) + 1e-300
    try:
        solved = np.linalg.solve(gram + ridge * np.eye(len(gram)), x.T @ goal if p <= n else goal)
    except np.linalg.LinAlgError:
        return []
    coef = (solved if p <= n else x.T @ solved) / cloud.largest[:, None]
    return [coef[:, 0] if cloud.outputs == 1 else (coef[:, :-1] - coef[:, -1:]).T.reshape(-1)]


def _roundings(cloud: Cloud, guess: Array) -> list[Whole]:
    """Return a direction with few digits, with more, and with all of them."""
    power = np.tile(np.ceil(np.log2(cloud.largest)), len(guess) // len(cloud.largest))
    unit = np.ldexp(guess, power.astype(np.int64))
    size = float(np.max(np.abs(unit), initial=0.0))
    if not (0.0 < size < np.inf):
        return [whole(guess)]
    grids = (size * 2.0**-bits for bits in (8, 24))
    return [*(whole(np.ldexp(np.rint(unit / grid), -power.astype(np.int64))) for grid in grids), whole(guess)]


def _first(cloud: Cloud, guesses: Sequence[Array]) -> Index:
    """Return the rows the first program holds: those the guesses are least sure of, and some others."""
    most = min(len(cloud.ids), 4 * cloud.width + 50)
    chosen = [np.random.default_rng(4).permutation(cloud.ids)[:most]]
    for guess in [*guesses, *_squares(cloud)]:
        if np.all(np.isfinite(guess)):
            margin = cloud.margins(guess)
            chosen.append(cloud.ids[np.argpartition(margin, most - 1)[:most]])
    return np.unique(np.concatenate(chosen))


def _weights(core: Core) -> Whole:
    """Return the weights of E as integers without a common divisor."""
    values = list(core.weights.values())
    common = int(np.lcm.reduce(np.array([1] + [value.denominator for value in values], dtype=object)))
    return reduced(np.array([int(value * common) for value in values], dtype=object))
