"""`lineal.cross_validate`: how well a way of fitting predicts rows it has not seen, with the spread over folds."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np

from lineal.api.dataset import Roles
from lineal.api.folding import deal, tabulated, without
from lineal.api.training import fit
from lineal.errors import InputError, near
from lineal.features.splitting import Split, read
from lineal.ground.deadline import Deadline, Limit, shared
from lineal.ground.records import dataclass
from lineal.model.tabled import Grid, Tabled, short
from lineal.model.trace import Record
from lineal.model.verdict import Verdict, worst

NOT_OF_A_FOLD: Final = frozenset(
    ("data", "target", "test_size", "test", "split", "seed", "time_limit", "progress", "interrupt", "iterates")
)
"""Arguments of ``lineal.fit`` that belong to the whole, or to one fit alone."""


@dataclass(frozen=True)
class Spread:
    """One figure over the folds: its mean, the standard deviation of the folds, and the standard error of the mean.

    >>> one = Spread.of([1.0, 2.0, 3.0])
    >>> one.mean, one.sd, round(one.error, 4)
    (2.0, 1.0, 0.5774)
    """

    mean: float
    sd: float
    error: float
    folds: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread:
        """Return the spread of a figure's values, one a fold; NaN where a fold has none."""
        known = np.array([math.nan if value is None else value for value in values])
        several = len(known) > 1
        sd = float(np.std(known, ddof=1)) if several else math.nan
        return cls(float(np.mean(known)), sd, sd / math.sqrt(len(known)), tuple(known.tolist()))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"mean": self.mean, "sd": self.sd, "error": self.error, "folds": list(self.folds)}


@dataclass(frozen=True)
class CrossValidation(Tabled):
    """What the folds say: every figure on rows that its fit did not see, beside that of the best constant.

    ``words`` say how rows were dealt, ``rows`` how many of each fold were predicted; ``verdicts`` are those of the fits.
    """

    words: str
    rows: tuple[int, ...]
    metrics: Mapping[str, Spread]
    baseline: Mapping[str, Spread]
    verdicts: tuple[Verdict, ...]
    model: str
    target: str
    notes: tuple[str, ...] = field(default=())

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the fits."""
        return self.verdicts[worst(self.verdicts)]

    @property
    def headline(self) -> str:
        """What was fitted, and how rows were dealt."""
        return f"{self.model} of {self.target}: {self.words}"

    def grids(self) -> list[Grid]:
        """Return every figure beside that of the best constant."""
        lines = [
            (
                name,
                short(one.mean),
                short(one.error),
                short(self.baseline[name].mean if name in self.baseline else None),
            )
            for name, one in self.metrics.items()
        ]
        return [Grid((("figure", "mean", "error", "baseline"), *lines))]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "model": self.model,
            "target": self.target,
            "how": self.words,
            "rows": list(self.rows),
            "metrics": {name: spread.to_dict() for name, spread in self.metrics.items()},
            "baseline": {name: spread.to_dict() for name, spread in self.baseline.items()},
            "verdicts": [verdict.kind for verdict in self.verdicts],
            "notes": list(self.notes),
        }


def cross_validate(
    data: object,
    target: Any = None,
    *,
    folds: int | str = 10,
    split: str | None = None,
    seed: int = 0,
    time_limit: Limit = None,
    progress: Callable[[Record], None] | None = None,
    **options: Any,
) -> CrossValidation:
    """Fit all folds but one and measure on the one left out, for each in turn.

    ``folds`` is their number, or a column whose every value is a fold; ``split`` is "stratified" or "group:COL" to deal rows
    by class or by group. ``options`` are those of ``lineal.fit``; what they learn from rows (types, words, a strength) is
    learned anew in every fold, so nothing of a fold leaks into its prediction. Row i is in fold
    ``floor(folds u(seed + 1, i))``. ``time_limit`` is for all fits together.

    >>> table = {"x": [float(k) for k in range(40)], "y": [2.0 * k + (k * 7 % 5) for k in range(40)]}
    >>> validated = cross_validate(table, "y", folds=4, model="linear")
    >>> len(validated.rows), sum(validated.rows), 1.0 < validated.metrics["rmse"].mean < 2.0
    (4, 40, True)
    """
    accepted = sorted(set(inspect.signature(fit).parameters) - NOT_OF_A_FOLD)
    for option in options:
        if option not in accepted:
            raise InputError(
                f"cross_validate is given {option!r}, which fit has not, or not in a fold.{near(option, accepted)}"
            )
    deadline = Deadline.of(time_limit)
    beside = {name: options.pop(name, None) for name in ("weight", "offset")}
    table, roles = tabulated(
        data, Roles(_named(target, options.get("formula")), **beside, drop=options.pop("drop", ()))
    )
    parts = deal(table, _split(split, seed), folds, roles.target)
    roles = without(roles, parts)
    models = []
    for place, (seen, held) in enumerate(parts.pairs):
        models.append(
            fit(
                seen,
                roles.target,
                test=held,
                drop=roles.drop,
                weight=roles.weight,
                offset=roles.offset,
                seed=seed,
                time_limit=shared(deadline, len(parts.pairs) - place),
                progress=progress,
                **options,
            )
        )
        if not models[-1].report["data"]["held_out"]:
            raise InputError(f"fold {place + 1} of {len(parts.pairs)} has no row to measure; use fewer folds.")
    first = models[0]
    reports = [model.report for model in models]
    notes = dict.fromkeys(note for report in reports for note in report["data"].get("notes", ()))
    return CrossValidation(
        parts.words,
        tuple(report["data"]["held_out"] for report in reports),
        spreads([report["metrics"]["test"] for report in reports]),
        spreads([report["metrics"]["baseline"] for report in reports]),
        tuple(model.verdict for model in models),
        first.heading,
        first.target.name,
        tuple(notes),
    )


def spreads(figures: Sequence[Mapping[str, float | None]]) -> dict[str, Spread]:
    """Return the spread of every figure that all folds have."""
    shared_names = [name for name in figures[0] if all(name in one for one in figures)]
    return {name: Spread.of([one[name] for one in figures]) for name in shared_names}


def _named(target: Any, formula: object) -> Any:
    """Return the target, that of the formula where none is given."""
    return Roles.of(target, formula).target if isinstance(formula, str) else target


def _split(split: str | None, seed: int) -> Split:
    """Return how rows are dealt; a share of test rows has no place among folds."""
    by = (split or "").partition(":")[0]
    if split is not None and by not in ("stratified", "group"):
        raise InputError(f"the split is {split!r}; folds are dealt by row, stratified, or by group:COL.")
    checked = read(split, seed, 0.0 if split is None else 0.5, 0.0)
    return Split(seed, 0.0, 0.0, checked.by, checked.column)
