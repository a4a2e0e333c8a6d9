"""The verdict on a perceptron: separated, with exact signs; not separable, with Gordan's weights; or not known.

Floats only propose. A clean epoch counts when the sign of every x.(w_own - w_k) has been computed exactly; weights on rows
prove that there is no separator when their sum is exactly zero.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np

from lineal.algebra.integers import Whole, floats, text, whole
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.deadline import Deadline, LateError
from lineal.ground.records import dataclass
from lineal.model.verdict import Verdict
from lineal.perceptron.lengths import length
from lineal.perceptron.margins import stated, widest
from lineal.perceptron.perceptron import TIES, Plan, Run
from lineal.separation.cloud import Cloud
from lineal.separation.gathering import gather, matrix, stacked
from lineal.separation.search import Decision, decide
from lineal.sources.source import Block, Source

ORACLE_SECONDS: Final = 60.0
"""Seconds the exact oracle may take where no deadline is given."""

SIGN_BATCH_ROWS: Final = 65_536
"""Rows whose signs are computed together."""

EXACT_MARGIN_ROWS: Final = 16
"""Rows nearest to the boundary whose margins are computed as fractions."""


@dataclass(frozen=True)
class Judged:
    """The weights to keep and the verdict on them."""

    coef: Array
    verdict: Verdict


@dataclass(frozen=True)
class Signs:
    """How rows lie under weights: how many are mistaken, whether none is on the boundary, and the least x.(w_own - w_k)."""

    wrong: int
    strict: bool
    least: Fraction


def judge(
    source: Source,
    run: Run,
    plan: Plan,
    *,
    oracle: bool = True,
    bound: bool = False,
    zero: bool = True,
    standardized: bool = False,
    deadline: Deadline | None = None,
) -> Judged:
    """Say what a run showed about its rows; where it showed nothing, ask the oracle.

    ``bound`` asks for the maximum margin, ``zero`` says that the run began with zero weights, ``standardized`` that
    it saw standardized columns (its weights are those of the columns as they are), ``deadline`` is for the
    oracle, which takes ORACLE_SECONDS seconds without one.
    """
    about: dict[str, Any] = {
        "variant": plan.variant,
        "tie": plan.tie,
        "start": "zero" if zero else "given",
        "mistakes": run.mistakes,
        "epochs": run.epochs,
        "radius": run.radius,
        **({"standardized": True} if standardized else {}),
    }
    case = _Case(source, run, plan, about, bound, zero)
    stopped = run.stopped
    if run.clean:
        signs = exact(source, run.coef, plan.tie, run.radius)
        if not signs.wrong:
            how = f"after {_count(run.mistakes, 'mistake')} in {_count(run.epochs, 'epoch')}"
            return case.separated(run.kept, run.coef, signs, how, "perceptron")
        counted = _count(signs.wrong, "row is", "rows are")
        stopped = f"the last epoch was clean in floating point only: exactly, {counted} mistaken"
    elif run.repeated is not None:
        first, again = run.repeated
        where = f"after epoch {first}" if first else "at the start"
        stopped = (
            f"the weights after epoch {again} are those {where} again, so that the same {_count(again - first, 'epoch')} would "
            "follow for ever"
        )
    about["largest_norm"] = run.longest
    about["repeated_state"] = None if run.repeated is None else list(run.repeated)
    if not oracle:
        return case.open(f"{stopped}, and the oracle was not asked")
    return case.asked(stopped, deadline or Deadline.after(ORACLE_SECONDS))


def progressive(mistakes: int, rows: int) -> Verdict:
    """Return the verdict on a stream: every row was predicted before it was learned.

    >>> progressive(1, 4).sentence
    'Progressive: 1 of 4 rows was mistaken when it came, before it was learned.'
    """
    were = (
        "was mistaken when it came, before it was"
        if mistakes == 1
        else "were mistaken when they came, before they were"
    )
    sentence = f"Progressive: {mistakes} of {_count(rows, 'row')} {were} learned."
    return Verdict("progressive", sentence, None, None, {"mistakes": mistakes, "rows": rows}, "rows were seen once")


@dataclass
class _Case:
    """A run with what is to be said about it."""

    source: Source
    run: Run
    plan: Plan
    about: dict[str, Any]
    bound: bool
    zero: bool

    def separated(self, kept: Array, w: Array, signs: Signs, how: str, by: str) -> Judged:
        """State a separator; ``w`` is it, ``kept`` what the model uses (an average may differ)."""
        margin = _ratio(signs.least, w)
        wrong = 0 if kept is w else exact(self.source, kept, self.plan.tie, self.run.radius).wrong
        evidence = {
            **self.about,
            "w": w.tolist(),
            "strict": signs.strict,
            "margin": margin,
            "by": by,
            "model_mistakes": wrong,
        }
        side = {"positive": "the later class", "negative": "the earlier class"}.get(self.plan.tie, "")
        words = f"margin {margin:.4g}" if signs.strict else f"some rows lie on the boundary, which counts as {side}"
        sentence = f"Separated: no training mistake, {how}; {words}, R = {self.run.radius:.4g}."
        if wrong:
            sentence += f" The {self.plan.variant} weights of the model mistake {_count(wrong, 'row')}."
        if self.bound:
            more, said = self._bound(w, signs, by)
            evidence |= more
            sentence += said
        return Judged(kept, Verdict("separated", sentence, None, None, evidence))

    def _bound(self, w: Array, signs: Signs, by: str) -> tuple[dict[str, Any], str]:
        if not signs.strict:
            return {}, " There is no margin, since rows lie on the boundary."
        cloud = self._cloud()
        wide = stated(widest(cloud, w, held=True))
        name = "R^2/gamma^2 = (RB)^2" if cloud.outputs == 1 else "2R^2/gamma^2 = 2(RB)^2"
        evidence: dict[str, Any] = {"maximum_margin": wide.to_dict()}
        said = f" With the maximum margin gamma = {wide.gamma:.4g} (B = 1/gamma), {name} = {wide.bound:.6g}"
        if "standardized" in self.about:
            return evidence, f"{said}; it bounds the mistakes on columns as they are, and these were standardized."
        if not self.zero:
            return evidence, f"{said}; it bounds the mistakes of a start at zero, which this was not."
        if by == "oracle":
            return evidence, f"{said} mistakes are the most a perceptron needs, in as many epochs as that takes."
        evidence["within_bound"] = holds = self.run.mistakes <= wide.bound
        if not holds:
            raise AssertionError(
                f"{self.run.mistakes} mistakes exceed the bound {wide.bound}: a bug, or scores that lost all digits"
            )
        return evidence, f"{said}, and indeed {_count(self.run.mistakes, 'mistake')} <= {wide.bound:.6g}."

    def asked(self, stopped: str, deadline: Deadline) -> Judged:
        """Ask the oracle, and return its separator or its proof."""
        try:
            cloud = self._cloud()
            decision = decide(cloud, deadline, two_way=True)
        except LateError:
            return self.open(f"{stopped}, and the time limit was reached before the oracle had an answer")
        except MemoryError as error:
            return self.open(f"{stopped}, and the oracle was not asked: {error}")
        if decision.direction is None:
            return self._inseparable(cloud, decision, stopped)
        coef = _rounded(cloud, decision.direction)
        if coef is None:
            return self.open(f"{stopped}; the rows are separable, but only by weights finer than doubles")
        kept = coef if self.plan.variant in ("plain", "pocket") else self.run.kept
        signs = exact(self.source, coef, self.plan.tie, self.run.radius)
        how = f"with weights of the exact oracle, since {stopped} ({_count(self.run.mistakes, 'mistake')})"
        del self.about["repeated_state"], self.about["largest_norm"]
        return self.separated(kept, coef, signs, how, "oracle")

    def open(self, reason: str) -> Judged:
        """Return what is known where nothing was decided."""
        evidence = {
            **self.about,
            "model_mistakes": exact(self.source, self.run.kept, self.plan.tie, self.run.radius).wrong,
        }
        return Judged(self.run.kept, Verdict("budget", f"Not decided: {reason}.", None, None, evidence, reason))

    def _inseparable(self, cloud: Cloud, decision: Decision, stopped: str) -> Judged:
        several = cloud.outputs > 1
        rows = decision.ids // cloud.outputs if several else decision.ids
        count = len(decision.ids)
        wrong = exact(self.source, self.run.kept, self.plan.tie, self.run.radius).wrong
        evidence = {
            **self.about,
            "rows": cloud.numbers[rows].tolist(),
            "weights": [text(w) for w in decision.weights],
            "against": (decision.ids % cloud.outputs).tolist() if several else None,
            "model_mistakes": wrong,
        }
        proof = "1 row proves" if count == 1 else f"{count} rows prove"
        sentence = (
            f"Not separable: {stopped}, and {proof} that no weights put every row strictly on its own side (times whole "
            f"weights, they add up to zero). The weights of a perceptron stay bounded and never settle; those kept mistake "
            f"{_count(wrong, 'row')}."
        )
        return Judged(self.run.kept, Verdict("not_separable", sentence, None, None, evidence))

    def _cloud(self) -> Cloud:
        return gather(self.source, outputs=self.run.coef.shape[1])


def exact(source: Source, coef: Array, tie: str, radius: float) -> Signs:
    """Return how the rows of positive weight lie under weights, every sign computed exactly.

    A score whose distance from 0 exceeds what rounding can do, at most ``4 (p + 6) eps |x| |w|``, has a sure sign.
    """
    wrong, strict = 0, True
    near: list[tuple[Any, Index]] = []
    outputs = coef.shape[1]
    size = max(radius, 1.0) * length(coef) * (1 if outputs == 1 else 2)
    unsure = 4.0 * (len(coef) + 6) * np.finfo(np.float64).eps * size + 1e-280
    doubtful = _Doubtful(coef, tie)
    for block in source.blocks():
        for first in range(0, block.n_rows, SIGN_BATCH_ROWS):
            part = _part(block, first, min(first + SIGN_BATCH_ROWS, block.n_rows))
            if part is None:
                continue
            design, own, present = part
            eta = design.times(coef)
            with np.errstate(invalid="ignore"):  # scores may overflow: then they are doubtful
                apart = _apart(eta if present is None else eta[present], own)
            some = ~(np.abs(apart) > unsure)
            bad = apart < 0.0
            if some.any():
                rows = np.flatnonzero(some.any(axis=1))
                doubtful.add(matrix(design, rows if present is None else present[rows]), own[rows])
                bad[rows] = False
            surely = int(np.count_nonzero(bad if outputs == 1 else bad.any(axis=1)))
            wrong, strict = wrong + surely, strict and not surely
            if not wrong:
                closest = apart.min(axis=1)
                nearest = np.argpartition(closest, min(EXACT_MARGIN_ROWS, len(closest) - 1))[:EXACT_MARGIN_ROWS]
                near += [(matrix(design, nearest if present is None else present[nearest]), own[nearest])]
    doubtful.settle()
    wrong, strict = wrong + doubtful.wrong, strict and doubtful.strict
    margins = (
        []
        if wrong
        else [_fraction(x, own, coef) for some, mine in near for x, own in zip(_dense(some), mine, strict=True)]
    )
    return Signs(wrong, strict, min(margins, default=Fraction(0)))


class _Doubtful:
    """Rows whose signs floats leave open: kept until there are many, then decided in integers."""

    def __init__(self, coef: Array, tie: str) -> None:
        self.outputs, self.tie, self.direction = coef.shape[1], TIES[tie], _direction(coef)
        self.held: list[tuple[Any, Index]] = []
        self.count, self.wrong, self.strict = 0, 0, True

    def add(self, x: Any, own: Index) -> None:
        """Note some rows with their classes."""
        self.held.append((x, own))
        self.count += len(own)
        if self.count >= SIGN_BATCH_ROWS:
            self.settle()

    def settle(self) -> None:
        """Decide the rows held: how many are mistaken, whether all lie strictly on their own side."""
        if not self.held:
            return
        x, own = stacked([x for x, _ in self.held]), np.concatenate([mine for _, mine in self.held])
        sign = _signs(Cloud(x, own, self.outputs, np.arange(len(own))), self.direction)
        bad = (sign < 0.0) | ((sign == 0.0) & ~_mine(own, self.outputs, self.tie))
        self.wrong += int(np.count_nonzero(bad.any(axis=1)))
        self.strict &= bool((sign > 0.0).all())
        self.held, self.count = [], 0


def _part(block: Block, first: int, last: int) -> tuple[Any, Index, Index | None] | None:
    """Return some rows of a block: their design, the classes of those of positive weight, where those are (None: all)."""
    weight, own = block.weight, block.y[first:last, 0]
    design = block.design if last - first == block.n_rows else block.design.slice(first, last)
    if weight is None or (weight[first:last] > 0.0).all():
        return design, own.astype(np.intp), None
    present = np.flatnonzero(weight[first:last] > 0.0)
    return (design, own[present].astype(np.intp), present) if len(present) else None


def _apart(eta: Array, own: Index) -> Array:
    """Return by how much the score of each row's class exceeds each other one; its own column is infinite."""
    if eta.shape[1] == 1:
        return np.where(own[:, None] == 1, eta, -eta)
    apart = np.take_along_axis(eta, own[:, None], axis=1) - eta
    apart[np.arange(len(own)), own] = np.inf
    return np.asarray(apart)


def _signs(cloud: Cloud, direction: Whole) -> Array:
    """Return the exact signs of rows, shaped like ``_apart``."""
    signs = cloud.signs(direction).astype(np.float64)
    if cloud.outputs == 1:
        return signs[:, None]
    full = np.ones((len(cloud.own), cloud.outputs))
    full.reshape(-1)[cloud.ids] = signs
    return full


def _mine(own: Index, outputs: int, tie: int) -> Mask:
    """Return whether a tie between each row's class and another goes to its own."""
    if outputs == 1:
        return np.asarray((own == (1 if tie > 0 else 0))[:, None] & (tie != 0))
    others = np.arange(outputs)[None, :]
    return np.asarray((own[:, None] > others if tie > 0 else own[:, None] < others) & (tie != 0))


def _ratio(least: Fraction, w: Array) -> float:
    """Return least / |w|, whatever their sizes."""
    power = int(np.frexp(np.max(np.abs(w), initial=0.0))[1])
    norm = length(np.ldexp(w, -power))
    try:
        return float(least / Fraction(2) ** power / Fraction(norm)) if norm > 0.0 else 0.0
    except OverflowError:
        return math.inf


def _dense(some: Any) -> Array:
    return np.asarray(some.toarray() if hasattr(some, "toarray") else some, dtype=np.float64)


def _fraction(row: Array, own: int, coef: Array) -> Fraction:
    """Return the least x.(w_own - w_k) of one row, computed as a fraction."""
    used = np.flatnonzero(row)
    scores = [
        sum((Fraction(float(row[j])) * Fraction(float(coef[j, k])) for j in used), Fraction(0))
        for k in range(coef.shape[1])
    ]
    if len(scores) == 1:
        return scores[0] if own == 1 else -scores[0]
    return min(scores[own] - score for k, score in enumerate(scores) if k != own)


def _direction(w: Array) -> Whole:
    """Return weights (columns, outputs) as a direction of integers, in the gauge of a cloud."""
    exactly = whole(w)
    return exactly[:, 0] if w.shape[1] == 1 else np.asarray(exactly[:, :-1] - exactly[:, -1:]).T.reshape(-1)


def _rounded(cloud: Cloud, direction: Whole) -> Array | None:
    """Return a separating direction as doubles that still separate: rounded, or the one of maximum margin."""
    near = cloud.matrix(floats(direction))
    if np.all(cloud.signs(_direction(near)) > 0):
        return np.asarray(near)
    wide = widest(cloud, near, held=True).coef
    return np.asarray(wide) if np.all(cloud.signs(_direction(wide)) > 0) else None


def _count(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
