"""Support vectors: steps along pairs of coefficients within large working sets, on rows of K that are kept.

    min over a:  (1/2) a'K a - y'a + epsilon |a|_1,   low <= a <= high,   sum a = 0

is the dual of both machines, in the coefficients of the function itself: classes have targets +-1 and a coefficient of the
target's sign up to C s_i, numbers have one of either sign up to C s_i. A round picks the coefficients whose slopes break the
optimality conditions most, solves for those alone (natively), and moves the slopes of all by their rows of K.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.ground.records import dataclass
from lineal.problem.span import Gram

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

WORKING_SET = 512
"""Coefficients that a round moves: their 2 MiB of K stay in cache."""

ROWS_AT_ONCE = 32
"""Rows of K that are brought together to move the slopes of all: the memory for them is made once."""

PAIRS_PER_COEFFICIENT = 20
"""Steps of a round for each coefficient of its working set, at most: then slopes elsewhere are out of date."""

POLISHED_MAX_FREE = 1500
"""Coefficients between their ends for which the equations of the optimum are solved at once: 18 MB, a tenth of a second."""

FINISHED_MAX_ROWS = 2000
"""With no more rows the equations of the optimum are solved at the end, too: then no two ways to it differ visibly."""

FINISHES = 6
"""Tries at that: a coefficient that reaches its end cuts one short."""

POLISHED_AFTER = 6
"""Rounds of pairs before that is tried, and each time it did not lead to the end twice as many."""

INNER_SHARE = 0.1
"""A round ends where its own violation is this share of that of all."""


@dataclass(frozen=True)
class Dual:
    """The problem of the page above; ``high - low`` is the box of each coefficient."""

    gram: Gram
    y: Array
    low: Array
    high: Array
    epsilon: float = 0.0


class Rows:
    """Rows of K, as many as the memory allows; the one that was not used for longest gives way."""

    def __init__(self, gram: Gram, megabytes: float) -> None:
        self._gram = gram
        slots = int(megabytes * 2**20 / 8 / max(gram.size, 1))
        self._slots = max(min(slots, gram.size), min(gram.size, WORKING_SET))
        self._store = np.empty((self._slots, gram.size))  # takes memory where rows are written
        self._where = np.full(gram.size, -1, dtype=np.intp)
        self._owner = np.full(self._slots, -1, dtype=np.intp)
        self._used = np.full(self._slots, -1, dtype=np.intp)
        self._round = 0

    def of(self, index: Index) -> Index:
        """Return the places of some rows in ``store``, those that were missing made."""
        self._round += 1
        places = self._where[index]
        self._used[places[places >= 0]] = self._round
        missing = index[places < 0]
        if len(missing):
            free = np.argsort(self._used, kind="stable")[: len(missing)]
            gone = self._owner[free]
            self._where[gone[gone >= 0]] = -1
            self._store[free] = self._gram.rows(missing)
            self._owner[free], self._where[missing], self._used[free] = missing, free, self._round
        return self._where[index]

    @property
    def store(self) -> Array:
        """The rows that are kept."""
        return self._store


STALLED_ROUNDS = 2000
"""Rounds without a hundredth of progress after which none is expected: boxes of 1e8 beside slopes of 1 leave no digits."""


class Support:
    """The state of a fit: coefficients, ``slope = K a - y``, the rows of K that are kept.

    >>> from lineal.kernels import Linear
    >>> from lineal.machines.gram import KernelGram
    >>> gram = KernelGram(Linear(), Linear().points([[-1.0], [1.0], [3.0]]))
    >>> y = np.array([-1.0, 1.0, 1.0])
    >>> fit = Support(Dual(gram, y, np.minimum(9.0 * y, 0.0), np.maximum(9.0 * y, 0.0)), 1.0)
    >>> fit.run(1e-9, 100), fit.coef.tolist()
    (True, [-0.5, 0.5, 0.0])
    """

    def __init__(self, dual: Dual, megabytes: float) -> None:
        self.dual = dual
        self.coef = np.zeros(len(dual.y))
        self.slope = -dual.y.astype(np.float64)
        self.pairs = 0
        self.rounds = 0
        self.violation = np.inf
        self._rows = Rows(dual.gram, megabytes)
        self._some = np.empty((ROWS_AT_ONCE, dual.gram.size))
        self._last: Index = np.zeros(0, dtype=np.intp)

    def run(self, tol: float, most: int | None) -> bool:
        """Go on until no pair of slopes is further than ``tol`` from what optimality asks for.

        False after ``most`` pairs, or where many rounds have brought the worst pair no nearer: rounding hides the rest.
        """
        least, since = np.inf, self.rounds
        stuck, patience, due = 0, POLISHED_AFTER, self.rounds + POLISHED_AFTER
        while True:
            _core.heed()
            chosen = self._chosen()
            if self.violation <= tol:
                return True
            if self.violation < 0.99 * least:
                least, since = self.violation, self.rounds
            if self.rounds - since >= STALLED_ROUNDS:
                return False
            if self.rounds >= due:
                patience = POLISHED_AFTER if self.polish() else 2 * patience
                due = self.rounds + patience
                chosen = self._chosen()
            if most is not None and self.pairs >= most:
                return False
            before = self.violation
            if not self._round(chosen, tol, None if most is None else most - self.pairs):
                stuck += 1
                if stuck > 1:
                    return False
                self._last = np.zeros(0, dtype=np.intp)
                self.slope = self.dual.gram.product(self.coef[:, None])[0][:, 0] - self.dual.y
            elif before != self.violation:
                stuck = 0

    def finish(self, most: int | None) -> None:
        """Go to the optimum but for rounding, where that is cheap: with few rows, by all equations at once."""
        for _ in range(FINISHES if len(self.coef) <= FINISHED_MAX_ROWS and self.dual.gram.mercer else 0):
            if self.polish() or not self.run(0.1 * self.violation, most):
                break
        self._chosen()

    def polish(self) -> bool:
        """Solve for all coefficients between their ends at once, as far as none of them passes an end; True if none would.

        Steps along pairs are slow where columns of K are nearly the same; here ``K_FF d + m 1 = -slope_F``, ``sum d = 0``.
        """
        d = self.dual
        free = np.flatnonzero((self.coef > d.low) & (self.coef < d.high) & ((d.epsilon == 0.0) | (self.coef != 0.0)))
        size = len(free)
        if not 1 < size <= POLISHED_MAX_FREE:
            return False
        system = np.zeros((size + 1, size + 1))
        block = d.gram.block(free, free)
        scale = float(np.max(np.diagonal(block), initial=0.0)) or 1.0
        system[:size, :size] = block
        system[:size, :size][np.diag_indices(size)] += 1e-13 * scale
        system[size, :size] = system[:size, size] = scale
        right = np.zeros(size + 1)
        right[:size] = -(self.slope[free] + d.epsilon * np.sign(self.coef[free]))
        try:
            step = np.linalg.solve(system, right)[:size]
        except np.linalg.LinAlgError:
            return False
        step -= step.mean()
        here, low, high = self.coef[free], d.low[free], d.high[free]
        if d.epsilon > 0.0:
            low, high = np.where(here > 0.0, 0.0, low), np.where(here < 0.0, 0.0, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            ways = np.where(step > 0.0, (high - here) / step, np.where(step < 0.0, (low - here) / step, np.inf))
        share = min(1.0, float(ways.min()))
        if not (np.isfinite(step).all() and share > 0.0):
            return False
        moved = np.clip(here + share * step, low, high)
        moved[ways <= share] = np.where(step > 0.0, high, low)[ways <= share]
        change = np.zeros_like(self.coef)
        change[free] = moved - here
        self.coef[free] = moved
        self.slope += d.gram.product(change[:, None])[0][:, 0]
        return share == 1.0

    def _edges(self) -> tuple[Array, Array]:
        """Return the slopes upwards, infinite where a coefficient is at its top, and downwards likewise."""
        d = self.dual
        up = np.where(self.coef < d.high, self.slope, np.inf)
        down = np.where(self.coef > d.low, self.slope, -np.inf)
        if d.epsilon > 0.0:
            up = up + np.where(self.coef >= 0.0, d.epsilon, -d.epsilon)
            down = down + np.where(self.coef > 0.0, d.epsilon, -d.epsilon)
        return up, down

    def _chosen(self) -> Index:
        """Note how far the slopes are from optimality, and return the next working set."""
        up, down = self._edges()
        self.violation = float(np.max(down, initial=-np.inf) - np.min(up, initial=np.inf))
        size = min(WORKING_SET, len(up))
        if not self.violation > 0.0 or size == len(up):
            return np.arange(size)
        half = size // 4 if len(self._last) else size // 2
        taken = np.zeros(len(up), dtype=bool)
        lowest, highest = np.argpartition(up, half)[:half], np.argpartition(-down, half)[:half]
        taken[lowest[np.isfinite(up[lowest])]] = True
        taken[highest[np.isfinite(down[highest])]] = True
        fresh = np.flatnonzero(taken)
        old = self._last[~taken[self._last]][: size - len(fresh)]
        return np.concatenate([fresh, old])

    def _round(self, chosen: Index, tol: float, most: int | None) -> int:
        """Solve for the chosen coefficients, and return how many pairs were moved."""
        places = self._rows.of(chosen)
        d, store = self.dual, self._rows.store
        block = store[np.ix_(places, chosen)]
        coef, slope = self.coef[chosen], self.slope[chosen]
        limit = PAIRS_PER_COEFFICIENT * len(chosen) if most is None else min(most, PAIRS_PER_COEFFICIENT * len(chosen))
        inner = max(0.5 * tol, INNER_SHARE * self.violation) if len(chosen) < d.gram.size else 0.5 * tol
        steps, _ = _core.pairs(block, d.low[chosen], d.high[chosen], d.epsilon, inner, limit, coef, slope)
        change = coef - self.coef[chosen]
        moved = np.flatnonzero(change)
        self.coef[chosen] = coef
        for first in range(0, len(moved), len(self._some)):
            some = moved[first : first + len(self._some)]
            rows = np.take(store, places[some], axis=0, out=self._some[: len(some)], mode="clip")
            self.slope += change[some] @ rows
        self.pairs += steps
        self.rounds += 1
        self._last = chosen
        return int(steps)
