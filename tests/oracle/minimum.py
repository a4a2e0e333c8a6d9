"""The least F, by Newton's method in 640 bits: corners are rounded off less and less, steps end where the slope turns.

No dual point, no certificate: whatever point is found, F there is an upper bound of F*. That is all that a refutation needs.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import flint
from flint import arb, arb_mat

from .losses import ZERO, Row, corner
from .problem import BITS, Coef, Problem, mid

TINY = arb(2) ** -300
"""A Newton step that promises less than this share of F is the last one."""
DAMPING = arb(2) ** -280
"""What is added to the Hessian, as a share of it: columns may depend on each other exactly."""


@dataclass(frozen=True)
class Minimum:
    """A point with a low F; ``settled`` if Newton's method ended by itself, so that F is F* to many digits."""

    coef: Coef
    value: arb
    settled: bool
    steps: int


@dataclass
class _Place:
    """Where a minimiser is, and all it needs of it."""

    problem: Problem
    b: Coef
    mu: arb

    def __post_init__(self) -> None:
        self.places = frozenset(self.problem.free)

    def bends(self, eta: list[Row]) -> list[tuple[Row, list[Row]]]:
        loss = self.problem.loss
        return [loss.bend(y, e, self.mu) for y, e in zip(self.problem.y, eta, strict=True)]

    def penalty_factor(self, b: Coef) -> tuple[Coef, dict[tuple[int, int, int], arb]]:
        """Return slope and curvature of the penalty, l1, groups and bounds rounded off; curvature by (column, output, output)."""
        slope: Coef = []
        bend: dict[tuple[int, int, int], arb] = {}
        penalty, k = self.problem.penalty, self.problem.loss.outputs
        for j, row in enumerate(b):
            a, r, g = penalty.lasso[j], penalty.ridge[j], penalty.group[j]
            slopes = [r * v for v in row]
            for c, v in enumerate(row):
                bend[j, c, c] = r
                if a > 0 and (j, c) in self.places:
                    up, more = corner(a * v, self.mu)
                    slopes[c] += a * (2 * up - 1)
                    bend[j, c, c] += 2 * a * a * more
                for end, side in ((penalty.lower[j], 1), (penalty.upper[j], -1)):
                    if math.isfinite(end) and (j, c) in self.places:
                        room = side * (v - arb(end))
                        slopes[c] -= side * self.mu / room
                        bend[j, c, c] += self.mu / (room * room)
            if g > 0 and (j, 0) in self.places:
                size = (sum((v * v for v in row), ZERO) + (self.mu / g) ** 2).sqrt()
                slopes = [s + g * v / size for s, v in zip(slopes, row, strict=True)]
                for c in range(k):
                    for e in range(k):
                        more = (g / size if c == e else ZERO) - g * row[c] * row[e] / size**3
                        bend[j, c, e] = bend.get((j, c, e), ZERO) + more
            slope.append(slopes)
        return slope, bend

    def system(self) -> tuple[Row, arb_mat]:
        """Return gradient and Hessian over the free places."""
        problem, free = self.problem, self.problem.free
        eta = mid(problem.scores(self.b))
        bends = self.bends(eta)
        k, x = problem.loss.outputs, problem.x
        n, p = x.nrows(), problem.columns
        turned = x.transpose()
        slopes = turned * arb_mat(n, k, [q * v for q, (s, _) in zip(problem.share, bends, strict=True) for v in s])
        own, extra = self.penalty_factor(self.b)
        gradient = [slopes[j, c].mid() + own[j][c].mid() for j, c in free]
        blocks = {}
        for c in range(k):
            for e in range(c, k):
                w = [q * h[c][e] for q, (_, h) in zip(problem.share, bends, strict=True)]
                scaled = arb_mat(n, p, [w[i] * x[i, j] for i in range(n) for j in range(p)])
                blocks[c, e] = turned * scaled
        size = len(free)
        hessian = arb_mat(size, size)
        for u, (j, c) in enumerate(free):
            for v, (i, e) in enumerate(free):
                found = blocks[c, e][j, i] if c <= e else blocks[e, c][i, j]
                hessian[u, v] = (found + (extra.get((j, c, e), ZERO) if i == j else ZERO)).mid()
        return gradient, hessian

    def toward(self, step: Row) -> tuple[Coef, list[Row]]:
        """Return a step as coefficients and as scores."""
        k = self.problem.loss.outputs
        d = [[ZERO] * k for _ in range(self.problem.columns)]
        for (j, c), v in zip(self.problem.free, step, strict=True):
            d[j][c] = v
        eta = self.problem.x * arb_mat(self.problem.columns, k, [v for row in d for v in row])
        return d, [[eta[i, c].mid() for c in range(k)] for i in range(len(self.problem.y))]

    def turn(self, t: arb, eta: list[Row], d: Coef, moved: list[Row]) -> arb:
        """Return the slope of F along a step, t steps away."""
        here = [[(e + t * m).mid() for e, m in zip(row, way, strict=True)] for row, way in zip(eta, moved, strict=True)]
        total = ZERO
        for q, (slope, _), way in zip(self.problem.share, self.bends(here), moved, strict=True):
            total += q * sum((s * m for s, m in zip(slope, way, strict=True)), ZERO)
        slopes, _ = self.penalty_factor(self.shifted(d, t))
        return (
            total + sum((s * v for a, b in zip(slopes, d, strict=True) for s, v in zip(a, b, strict=True)), ZERO)
        ).mid()

    def shifted(self, d: Coef, t: arb) -> Coef:
        return [[(v + t * w).mid() for v, w in zip(row, way, strict=True)] for row, way in zip(self.b, d, strict=True)]

    def room(self, d: Coef) -> arb | None:
        """Return how many steps may be made before a bound is met; None for any number."""
        nearest: arb | None = None
        penalty = self.problem.penalty
        for j, (row, way) in enumerate(zip(self.b, d, strict=True)):
            for v, w in zip(row, way, strict=True):
                end = penalty.upper[j] if w > 0 else penalty.lower[j]
                if w != 0 and math.isfinite(end):
                    t = ((arb(end) - v) / w).mid()
                    nearest = t if nearest is None or t < nearest else nearest
        return nearest


def _newton(gradient: Row, hessian: arb_mat) -> Row:
    """Return the Newton step, the Hessian raised a little where it could be singular."""
    size = len(gradient)
    trace = sum((hessian[i, i] for i in range(size)), ZERO) / size
    damp = DAMPING
    for _ in range(6):
        raised = arb_mat(hessian)
        for i in range(size):
            raised[i, i] = (hessian[i, i] * (1 + damp) + trace * damp * DAMPING).mid()
            if raised[i, i] == 0:
                raised[i, i] = arb(1)
        try:
            found = raised.solve(arb_mat(size, 1, [-g for g in gradient]), algorithm="approx")
        except ZeroDivisionError:
            damp *= arb(2) ** 40
            continue
        step = [found[i, 0].mid() for i in range(size)]
        if all(v.is_finite() for v in step) and sum((g * v for g, v in zip(gradient, step, strict=True)), ZERO) < 0:
            return step
        damp *= arb(2) ** 40
    return [-g / (hessian[i, i] if hessian[i, i] > 0 else arb(1)) for i, g in enumerate(gradient)]


def _length(place: _Place, step: Row, slope: arb) -> tuple[arb, Coef]:
    """Return how far to go: to where the slope along the step is less than half of what it was, and its sign about to turn."""
    d, moved = place.toward(step)
    eta = mid(place.problem.scores(place.b))
    room = place.room(d)
    t = arb(1) if room is None or room > 1 else (room * 99 / 100).mid()
    far = 1000 * (1 + max(abs(e) for row in eta for e in row))  # where a loss is flat, a Newton step leads to nowhere
    reach = max(abs(m) for row in moved for m in row)
    t = (far / reach).mid() if t * reach > far else t
    low, high = ZERO, None
    for _ in range(200):
        turn = place.turn(t, eta, d, moved)
        if abs(turn) <= -slope / 2 and turn.is_finite():
            break
        if turn < 0:
            low = t
            further = 2 * t if room is None or 2 * t < room else ((t + room) / 2).mid()
            t = further if high is None else ((low + high) / 2).mid()
        else:
            high = t
            t = ((low + high) / 2).mid() if low > 0 else (t / 4).mid()
    return t, d


def _descend(place: _Place, enough: arb, most: int, deadline: float) -> tuple[bool, int]:
    """Take Newton steps until one promises less than ``enough``; return whether it came to that, and how many."""
    for count in range(most):
        gradient, hessian = place.system()
        step = _newton(gradient, hessian)
        slope = sum((g * v for g, v in zip(gradient, step, strict=True)), ZERO).mid()
        if not slope < 0 or -slope <= enough:
            return True, count
        if time.monotonic() > deadline:
            return False, count
        t, d = _length(place, step, slope)
        place.b = place.shifted(d, t)
    return False, most


def _within(problem: Problem, b: Coef) -> Coef:
    """Return coefficients that may move strictly inside their bounds; others stay where they are."""
    found, moving = [], set(problem.free)
    for j, row in enumerate(b):
        low, high = problem.penalty.lower[j], problem.penalty.upper[j]
        if low == -math.inf and high == math.inf:
            found.append(list(row))
            continue
        if not any((j, c) in moving for c in range(len(row))):
            found.append([arb(min(max(float(v), low), high)) for v in row])
            continue
        gap = arb(high) - arb(low) if math.isfinite(high - low) else arb(1)
        least = arb(low) + gap / 1000 if low > -math.inf else None
        most = arb(high) - gap / 1000 if high < math.inf else None
        raised = [least if least is not None and v < least else v for v in row]
        inside = [most if most is not None and v > most else v for v in raised]
        found.append([new if (j, c) in moving else v for c, (new, v) in enumerate(zip(inside, row, strict=True))])
    return found


def minimise(problem: Problem, start: Coef, *, fine: float = 1e-40, seconds: float = 20.0) -> Minimum:
    """Return a point with a low F, from a start; ``fine`` is the last rounding of corners, as a share of the lowest F."""
    with flint.ctx.workprec(BITS):
        fixed = problem.penalty.lower, problem.penalty.upper
        problem = problem if not problem.free else _without_fixed(problem, *fixed)
        b = _within(problem, mid(start))
        begin = problem.value(b)
        if not problem.free:
            return Minimum(b, begin, True, 0)
        deadline = time.monotonic() + seconds
        sharp = _smooth(problem)
        size = abs(begin) + arb(2) ** -200
        place, steps, best = _Place(problem, b, ZERO if sharp else size), 0, (begin, b)
        while True:
            enough = TINY * size if sharp else place.mu / 1000
            settled, count = _descend(place, enough, 400 if sharp else 60, deadline)
            steps += count
            value = problem.value(place.b)
            if problem.penalty.inside(place.b) and value < best[0]:
                best = value, place.b
            if sharp and settled and size > 2**20 * (abs(value) + arb(2) ** -200) and time.monotonic() < deadline:
                size = abs(value) + arb(2) ** -200  # exponentials of large offsets: tiny beside the first F is not tiny
                continue
            fine_enough = sharp or bool(place.mu <= arb(fine) * (abs(best[0]) + arb(2) ** -200))
            if fine_enough or time.monotonic() > deadline:
                return Minimum(best[1], best[0], settled and fine_enough, steps)
            factor = arb(100) if count <= 4 else arb(10)
            place.mu = (place.mu / factor).mid()


def _smooth(problem: Problem) -> bool:
    penalty, moving = problem.penalty, {j for j, _ in problem.free}
    bent = any(penalty.lasso[j] > 0 or penalty.group[j] > 0 for j in moving)
    bound = any(math.isfinite(penalty.lower[j]) or math.isfinite(penalty.upper[j]) for j in moving)
    return problem.loss.smooth and not bent and not bound


def _without_fixed(problem: Problem, lower: list[float], upper: list[float]) -> Problem:
    """Return the problem without the places whose bounds leave one value."""
    return problem.only([j for j in range(problem.columns) if lower[j] < upper[j]])
