"""The certificate from a dual point given row by row: for losses with corners, and wherever slopes are not enough.

For any theta in the domain of loss* with X_U' S theta = 0 on the unpenalized columns U,

    F(b) - F* <= (1/S) sum_i s_i [loss + loss* - theta_i eta_i] + penalty(b) + penalty*(-g) + b.g,   g = X'(S theta) / S.

A theta that comes from a solver is untrusted: it is put into the domain first, then moved by theta <- theta - V X_U t,
t = (X_U' S V X_U)^-1 X_U' S theta, with V vanishing on the border of the domain: V = (theta - low)(high - theta) / (high - low)
for an interval, diag(q) - q q' for q = theta + e_y on the simplex. Such a move stays inside as long as no |X_U t| exceeds 1
(1/2 on the simplex). The last of these moves, which only rounding calls for, is not made but bounded: a mismatch is convex
in theta, so a share |x_i t| of the way to theta +- V costs at most that share of what the whole way costs.
"""

from __future__ import annotations

from dataclasses import field, replace

import numpy as np

from lineal.algebra.basis import Basis
from lineal.algebra.factor import Factor
from lineal.certify import domain, exact
from lineal.certify.borders import alive
from lineal.certify.row_sums import Sums, moved, slopes_apart, sums_of
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass
from lineal.model.verdict import TOLERANCE
from lineal.problem import dependence
from lineal.problem.problem import EPS, Problem

CORNERS = "too few rows are between the corners of the loss"
MIDDLE_SHARES = (0.0, 1e-11, 1e-8)
"""How far every theta is moved to the middle of its domain, where too few are inside for a correction."""

FACTOR_MAX_COLUMNS = 4000
"""Second derivatives of more columns are not factored (128 MB): unpenalized ones then have no certificate."""

MIN_SHRINK = 1e-12
"""Where the penalty forbids no more than this share of a dual point, it is shortened; beyond, it is also steered."""


@dataclass(frozen=True)
class Bound:
    """``F(coef) - F* <= gap`` by the dual point ``theta``, or why nothing could be proven.

    ``scale`` says how much shorter it had to be made for the penalty; ``unbounded_dual`` where else its gradient has to be zero.
    ``value`` is F(coef), where there is a gap; ``bare`` the gap before rounding errors, ``of_scores`` those of scores in it.
    """

    gap: float | None
    theta: Array | None = None
    reason: str | None = None
    scale: float = 1.0
    value: float = np.nan
    bare: float = np.inf
    of_scores: float = 0.0
    unbounded_dual: Mask = field(default_factory=lambda: np.zeros(1, dtype=bool), repr=False)

    @property
    def doubtful(self) -> bool:
        """Whether rounding errors make most of the gap, or may have made theta shorter."""
        value_error = np.inf if self.gap is None else self.gap - self.bare
        return self.scale < 1.0 - MIN_SHRINK or value_error > self.bare + 1e-12 * abs(self.value)


def bound(problem: Problem, coef: Array, theta: Array | None = None, baseline: float = np.inf) -> Bound:
    """Bound ``F(coef) - F*`` by a dual point: the given one, or the slopes at ``coef``, made feasible.

    Where it proves nothing or little, ``WAYS`` are tried in turn. ``baseline`` is the value of the baseline.
    """
    if len(problem.unpenalized) > 1 and problem.shape[0] > FACTOR_MAX_COLUMNS:
        return Bound(None, reason=f"more than {FACTOR_MAX_COLUMNS} columns, of which several are not charged")
    search = _Search(problem, coef, problem.tied, domain.inside(problem, coef, theta), baseline)
    best = _bound_mixed(problem, coef, search.tied, search.start)
    for way in WAYS:
        best = way(search, best)
    return best


@dataclass
class _Search:
    """What the ways to a bound share: the tied coefficients, fewer once columns repeat others, and where theta begins."""

    problem: Problem
    coef: Array
    tied: Mask
    start: Array
    baseline: float

    @property
    def at(self) -> tuple[Problem, Array, Mask]:
        """What every bound is asked for with."""
        return self.problem, self.coef, self.tied


def _with_more_digits(search: _Search, best: Bound) -> Bound:
    """Sum over the rows of an intercept exactly, where rounding errors make most of the gap."""
    if best.gap is None or not best.doubtful or not _alone(search.problem, search.tied):
        return best
    return _narrower(best, _bound(*search.at, search.start, exact=True))


def _on_independent_columns(search: _Search, best: Bound) -> Bound:
    """Ask for ``X_U' S theta = 0`` of independent columns alone, which says it for all."""
    several = best.gap is None and len(search.problem.unpenalized) > 1
    basis = dependence.basis(search.problem) if several else None
    if basis is None or not len(basis.dependent):
        return best
    search.tied = search.tied.copy()
    search.tied[basis.dependent] = False
    return _bound_mixed(*search.at, search.start)


def _inside_the_penalty(search: _Search, best: Bound) -> Bound:
    """Steer theta to what the penalty allows, where it had to be made shorter for that."""
    if best.scale >= 1.0 - MIN_SHRINK or search.problem.shape[0] > FACTOR_MAX_COLUMNS:
        return best
    return _narrower(best, _bound_mixed(*search.at, _steered(*search.at, search.start)))


def _at_the_ends(search: _Search, best: Bound) -> Bound:
    """Put rows to the very end of their domain: some have to be there, such as a level that has one class only."""
    problem, start = search.problem, search.start
    if best.gap is not None or problem.shape[1] > 1 or _alone(problem, search.tied) or not np.any(start):
        return best
    return _bound_open(*search.at, domain.snapped(problem, start), ends=True)


def _balanced(search: _Search, best: Bound) -> Bound:
    """Take any dual point that an intercept allows: far from the optimum it is as good as another."""
    if best.gap is not None or not _alone(search.problem, search.tied):
        return best
    other = _bound(*search.at, domain.balanced(search.problem, search.start))
    return best if other.gap is None or other.gap > other.value else other


def _solved_for(search: _Search, best: Bound) -> Bound:
    """Solve for a dual point where the gap is wide beside what is left to gain."""
    if best.gap is None or best.gap <= TOLERANCE * (search.baseline - best.value + best.gap):
        return best
    return _narrower(best, _bound_exact(*search.at, search.start))


def _zero(search: _Search, best: Bound) -> Bound:
    """Take zero, which is always allowed, and enough where the loss can vanish: its gradient is zero everywhere."""
    if best.gap is not None:
        return best
    problem, coef, tied = search.at
    tied = tied | problem.penalty.unbounded_dual(coef, np.zeros(problem.shape))
    return _bound(problem, coef, tied, np.zeros_like(search.start))


def _row_by_row(search: _Search, best: Bound) -> Bound:
    """Count rounding errors of scores where slope and theta differ, if the gap is wide beside what is left to gain.

    Rows beyond a corner, both ends of their error included, lose nothing by it, and weigh most where weights are far apart.
    """
    problem, coef = search.problem, search.coef
    if best.gap is None or best.theta is None or problem.loss.smooth or problem.shape[1] > 1:
        return best
    if best.gap <= TOLERANCE * (search.baseline - best.value + best.gap):
        return best
    score_error = float(problem.score_error(coef)[0])
    of_scores = 1.001 * score_error * slopes_apart(problem, coef, best.theta, score_error)
    gap = best.gap - best.of_scores + of_scores + 8 * EPS * best.gap
    return _narrower(best, replace(best, gap=gap, of_scores=of_scores))


WAYS = (
    _with_more_digits,
    _on_independent_columns,
    _inside_the_penalty,
    _at_the_ends,
    _balanced,
    _solved_for,
    _zero,
    _row_by_row,
)
"""What is tried in turn, each for the reason it states; each returns the bound there is where it is not its case."""


def _narrower(best: Bound, other: Bound) -> Bound:
    """Return the bound with the smaller gap."""
    return best if other.gap is None or (best.gap is not None and best.gap <= other.gap) else other


def _bound_mixed(problem: Problem, coef: Array, tied: Mask, start: Array) -> Bound:
    """Return the bound of a dual point; where it proves nothing, of one that is solved for, or moved a little inside."""
    hopeless = _alone(problem, tied) and domain.hopeless(problem, start, MIDDLE_SHARES[-1])
    result = Bound(None, reason=CORNERS) if hopeless else _bound_open(problem, coef, tied, start)
    if result.gap is None:
        result = _bound_exact(problem, coef, tied, start)
    for share in () if hopeless else MIDDLE_SHARES[1:]:
        if result.gap is None:
            result = _bound_open(problem, coef, tied, domain.mixed(problem, start, share))
    return result


def _bound_open(problem: Problem, coef: Array, tied: Mask, theta: Array, *, ends: bool = False) -> Bound:
    """Return the bound of a dual point, again where it leaves a bound the wrong way; ``ends`` as for ``_bound``."""
    result = _bound(problem, coef, tied, theta, ends=ends)
    for _ in range(10):
        if result.gap is not None or not np.any(result.unbounded_dual & ~tied):
            break
        tied = tied | result.unbounded_dual
        result = _bound(problem, coef, tied, theta, ends=ends)
    return result


def _bound(
    problem: Problem, coef: Array, tied: Mask, theta: Array, *, ends: bool = False, exact: bool = False
) -> Bound:
    """Move a dual point until the tied coefficients allow it to rounding, and add up what it proves.

    ``ends``: rows where it is zero and has to stay so are left out when tied columns are asked for their rank;
    ``exact``: the sum over an intercept's rows is made with more digits than doubles have.
    """
    limit, none = 0.5 if problem.loss.coupled else 1.0, np.zeros(problem.shape)
    if _alone(problem, tied):
        levelled = domain.level(problem, theta)
        if levelled is None:
            return Bound(None, reason=CORNERS)
        theta = levelled
    start = theta
    theta, sums, factor = _settled(problem, coef, alive(problem, tied, start) if ends else tied, start, none, limit)
    if factor is not None and factor.singular and not ends and (kept := independent(problem, tied)) is not None:
        theta, sums, factor = _settled(problem, coef, kept, start, none, limit)
    norm, error = 0.0, _gradient_error(problem, sums, theta)
    if factor is not None:
        if factor.singular:
            return Bound(None, reason=CORNERS)
        spread = factor.spread()
        if exact:
            sums.gradient[0], error[0] = domain.owed(problem, theta)
        norm = factor.norm(sums.gradient) + float(np.sum(error * spread))
        if not 2.0 * float(np.max(problem.moments.largest @ spread)) * norm <= limit:
            return Bound(None, reason="the uncharged columns do not allow the dual point")
        square = problem.moments.mean**2 + problem.moments.sd**2
        error = error + 2.0 * norm * np.sqrt(sums.curvature_bound * square)[:, None]
    return _added(problem, coef, tied, theta, sums, norm, error)


def _added(
    problem: Problem,
    coef: Array,
    tied: Mask,
    theta: Array,
    sums: Sums,
    norm: float,
    error: Array,
    *,
    rounded: bool = False,
) -> Bound:
    """Add up what a dual point proves that tied coefficients allow but for a move of size ``norm``, or once ``rounded``."""
    # the last move, which is not made, would bring these to exactly zero
    gradient, error = np.where(tied, 0.0, sums.gradient), np.where(tied, 0.0, error)
    more = problem.penalty.unbounded_dual(coef, gradient - error) | problem.penalty.unbounded_dual(
        coef, gradient + error
    )
    if np.any(more & ~tied):
        return Bound(None, reason="no dual point was found that all bounds allow", unbounded_dual=more)
    scale = problem.penalty.shrink(gradient + np.copysign(2.0 * error, gradient))
    if scale < 1.0:
        # Every domain holds zero and is convex: a shorter theta is as good, and its errors are shorter too.
        theta, error, norm = scale * theta, scale * error, scale * norm
        sums = sums_of(problem, coef, tied, theta)
        gradient = np.where(tied, 0.0, sums.gradient)
    bare = (sums.mismatch + problem.penalty.mismatch(coef, gradient)) * (1.0 + _chain(problem))
    gap = bare + 2.0 * norm * float(np.sqrt(sums.strain)) + norm * norm
    of_scores = _rounding(problem, coef, sums)
    gap += problem.penalty.mismatch_error(coef, gradient, error) + of_scores
    gap += exact.lost(problem, coef, theta) if rounded else 0.0
    if not np.isfinite(gap):
        return Bound(None, reason="the dual point is outside its domain")
    value = sums.value + problem.penalty.value(coef)
    return Bound(float(gap), theta, scale=scale, value=value, bare=float(bare), of_scores=of_scores)


def _bound_exact(problem: Problem, coef: Array, tied: Mask, theta: Array) -> Bound:
    """Return the bound of a dual point near ``theta`` whose tied gradients are exactly zero."""
    result = Bound(None, reason=CORNERS)
    for _ in range(10):
        point = exact.settled(problem, tied, theta)
        if point is None:
            return result
        sums = sums_of(problem, coef, np.zeros_like(tied), point)
        result = _added(
            problem, coef, tied, point, sums, 0.0, 2.0 * _gradient_error(problem, sums, point), rounded=True
        )
        if result.gap is not None or not np.any(result.unbounded_dual & ~tied):
            break
        tied = tied | result.unbounded_dual
    return result


def _alone(problem: Problem, tied: Mask) -> bool:
    """Whether nothing is tied but the intercept of one score, whose domain is an interval."""
    if not (problem.intercept and tied.shape[1] == 1 and tied[0, 0] and np.count_nonzero(tied) == 1):
        return False
    return problem.loss.box(np.zeros((1, 1))) is not None


def independent(problem: Problem, tied: Mask) -> Mask | None:
    """Return coefficients whose gradients have to be zero for all tied ones to be; None where bounds have no part in it.

    A gradient is zero where those of columns are whose combination its own column is.
    """
    if not np.any(tied & problem.penalty.penalized[:, None]):
        return None
    kept = tied.copy()
    bases: dict[bytes, Basis | None] = {}
    for output in range(tied.shape[1]):
        columns = np.flatnonzero(tied[:, output])
        if columns.tobytes() not in bases:
            bases[columns.tobytes()] = dependence.among(problem, columns)
        if (basis := bases[columns.tobytes()]) is None:
            return None
        kept[basis.dependent, output] = False
    return kept


def _settled(
    problem: Problem, coef: Array, tied: Mask, theta: Array, aim: Array, limit: float
) -> tuple[Array, Sums, Factor | None]:
    """Return the dual point moved until its gradient is ``aim`` where tied, but for rounding."""
    last = np.inf
    for _ in range(domain.MAX_MOVES):
        sums = sums_of(problem, coef, tied, theta)
        factor = _factor(problem, tied, sums)
        if factor is None or factor.singular:
            break
        left = np.where(tied, sums.gradient - aim, 0.0)
        norm = factor.norm(left)
        if not norm < 0.5 * last or norm <= float(np.sum(problem.gradient_error(sums.size) * factor.spread())):
            break
        theta, full = moved(problem, theta, factor.solve(left), limit)
        last = norm if full else np.inf
    return theta, sums, factor


def _steered(problem: Problem, coef: Array, tied: Mask, theta: Array) -> Array:
    """Return the dual point moved so that its gradient is a little inside of what a kink allows coefficients off it.

    There the gradient has to be ``-penalty'(b)``; a rounding error beyond would make all of theta shorter.
    """
    penalty = problem.penalty
    moving = penalty.moving(coef) & (penalty.curvature() == 0.0)[:, None] & ~tied
    edge = np.where(moving, penalty.gradient(coef), 0.0)
    if not np.any(edge):
        return theta
    # wider than rounding errors are: a place to aim at that the moves to come do not leave, not a bound
    room = 64.0 * problem.gradient_error(sums_of(problem, coef, tied, theta).size)
    size = np.linalg.norm(edge, axis=1, keepdims=True)
    aim = -edge * (1.0 - np.minimum(np.max(room, axis=1, keepdims=True) / np.where(size > 0.0, size, 1.0), 0.5))
    limit = 0.5 if problem.loss.coupled else 1.0
    moved_theta, _, factor = _settled(problem, coef, tied | (edge != 0.0), theta, aim, limit)
    return theta if factor is None or factor.singular else moved_theta


def _factor(problem: Problem, tied: Mask, sums: Sums) -> Factor | None:
    """Return the factored X_U' S V X_U; None where there is nothing to correct, since nothing is tied or theta is zero."""
    if sums.metric is None or not np.any(sums.size):
        return None
    columns = np.flatnonzero(tied.any(axis=1))
    if np.all(tied[columns]):
        inner = Factor.of(
            sums.metric, np.arange(len(columns)), (len(columns), tied.shape[1]), coupled=problem.loss.coupled
        )
        return replace(inner, columns=columns, shape=problem.shape)
    inner = Factor.masked(sums.metric, tied[columns], coupled=problem.loss.coupled)
    places = tuple(columns[place % len(columns)] + len(tied) * (place // len(columns)) for place in inner.places)
    return replace(inner, columns=columns, shape=problem.shape, places=places)


def _gradient_error(problem: Problem, sums: Sums, theta: Array) -> Array:
    """Return a bound on the rounding error of a dual point's gradient."""
    return problem.gradient_error(sums.size, peak=float(np.max(np.abs(theta), initial=0.0)))


def _rounding(problem: Problem, coef: Array, sums: Sums) -> float:
    """Return what rounding errors of scores may have hidden: a mismatch changes by |slope - theta| per score."""
    if not problem.loss.smooth:
        # slopes and theta of such losses are at most 2 apart in every row, so that mean errors of the scores count
        size = 1.001 * np.sqrt(problem.moments.square) @ np.abs(coef) + problem.moments.offset
        return float(np.sum(2.0 * max(1.0, sums.apart) * (problem.shape[0] + 4) * EPS * size))
    score_error, jump = problem.score_error(coef), sums.apart
    steep = problem.loss.curvature_bound if np.isfinite(problem.loss.curvature_bound) else 0.0
    return float(np.sum(jump * score_error + steep * score_error**2))


def _chain(problem: Problem) -> float:
    """Return the relative rounding error of sums of terms >= 0, each with a few roundings of its own."""
    return float(EPS * (64.0 + problem.shape[0] + 2.0 * np.log2(1.0 + problem.moments.rows)))
