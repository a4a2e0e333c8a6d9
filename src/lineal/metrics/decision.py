"""From probabilities to a decision: a threshold or a table of costs, which belong to the decision and not to the fit.

A threshold tau decides the second of two classes iff p > tau, that is iff eta > log(tau / (1 - tau)); costs C decide the
class l of least expected cost sum_k p_k C[k, l].
"""

from __future__ import annotations

import csv
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError, near
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass

Costs = Sequence[Sequence[float]] | npt.NDArray[Any] | Mapping[Any, Mapping[Any, float]]


@dataclass(frozen=True)
class Rule:
    """How probabilities become decisions: ``costs[k, l]`` is what deciding class l costs where the truth is class k.

    ``threshold`` is the probability of the second of two classes above which it is decided, None if there is none: more than
    two classes, or costs that make one class the better choice whatever the probability. ``logit`` says that scores are
    log-odds, so that the boundary is a place w'x.

    >>> rule = of_costs([[0, 1], [5, 0]], ("no", "yes"))
    >>> round(rule.threshold, 4), round(rule.boundary, 4)
    (0.1667, -1.6094)
    """

    classes: tuple[Any, ...]
    costs: Array
    threshold: float | None
    given: str
    logit: bool = True

    @property
    def boundary(self) -> float | None:
        """The score ``w'x = log(tau / (1 - tau))`` at which the decision changes; None where scores are no log-odds."""
        return (
            None if self.threshold is None or not self.logit else math.log(self.threshold) - math.log1p(-self.threshold)
        )

    def decide(self, proba: Array, odds: Array | None = None) -> Index:
        """Return the number of the class decided for each row of probabilities; of equal costs the first class.

        ``odds`` are log-odds of the second class, where they are known: they tell more than a probability near 0 or 1.
        """
        boundary = self.boundary
        if boundary is not None and odds is not None:
            return (odds > boundary).astype(np.intp)
        if self.threshold is not None:
            return (proba[:, 1] > self.threshold).astype(np.intp)
        cheapest: Index = np.argmin(proba @ self.costs, axis=1)
        return cheapest

    def expected(self, proba: Array, decided: Index) -> Array:
        """Return what each decision is expected to cost."""
        cost: Array = (proba @ self.costs)[np.arange(len(decided)), decided]
        return cost

    @property
    def sentence(self) -> str:
        """The rule in words."""
        if self.threshold is None:
            always = "" if len(self.classes) > 2 else "; one class is the better choice whatever its probability"
            return f"Decided: the class of least expected cost ({self.given}){always}."
        first, second = self.classes
        where = "" if self.boundary is None else f"; the boundary is w'x = log(tau/(1-tau)) = {self.boundary:.6g}"
        return f"Decided: {second} where its probability is above {self.threshold:.6g}, else {first} ({self.given}){where}."

    def to_dict(self) -> dict[str, object]:
        """Return plain JSON data."""
        return {
            "sentence": self.sentence,
            "threshold": self.threshold,
            "boundary": self.boundary,
            "classes": list(self.classes),
            "costs": self.costs.tolist(),
        }


@dataclass(frozen=True)
class Decision:
    """What was decided for every row: ``labels``, the rule, and ``expected``, what each decision is expected to cost."""

    labels: npt.NDArray[Any]
    rule: Rule
    expected: Array

    @property
    def boundary(self) -> float | None:
        """The score at which the decision changes."""
        return self.rule.boundary

    @property
    def sentence(self) -> str:
        """The rule in words."""
        return self.rule.sentence


def rule(threshold: float | None, costs: Costs | None, classes: Sequence[Any]) -> Rule:
    """Return the rule of a threshold or of costs, whichever is given.

    >>> print(rule(0.5, None, ("no", "yes")).sentence)
    Decided: yes where its probability is above 0.5, else no (threshold); the boundary is w'x = log(tau/(1-tau)) = 0.
    """
    if threshold is not None and costs is not None:
        raise InputError(
            "a threshold and costs exclude each other: both say when a class is decided; give one of them."
        )
    if threshold is not None:
        return of_threshold(threshold, classes)
    if costs is None:
        raise InputError("give a threshold or costs; without either, predict returns the most probable class.")
    return of_costs(costs, classes)


def of_threshold(threshold: float, classes: Sequence[Any]) -> Rule:
    """Return the rule that decides the second class where its probability is above ``threshold``."""
    if len(classes) != 2:
        raise InputError(
            f"a threshold is for two classes, and there are {len(classes)}: {_listed(classes)}. Give costs instead, a "
            "number for every pair of a true and a decided class."
        )
    value: object = threshold
    tau = float(value) if isinstance(value, numbers.Real) else math.nan
    if not 0.0 < tau < 1.0:
        raise InputError(f"the threshold is {threshold!r}; it is a probability and must lie between 0 and 1.")
    return Rule(tuple(classes), np.array([[0.0, tau], [1.0 - tau, 0.0]]), tau, "threshold")


def of_costs(costs: Costs, classes: Sequence[Any]) -> Rule:
    """Return the rule of least expected cost; ``costs`` is a matrix (true class, decided class), or nested by class."""
    table = _named(costs, classes) if isinstance(costs, Mapping) else _matrix(costs, classes)
    if np.all(table == table[:, :1]):
        raise InputError("these costs have no effect: every decision costs the same; let some decision cost more.")
    tau = None
    if len(classes) == 2:
        false, missed = float(table[0, 1] - table[0, 0]), float(table[1, 0] - table[1, 1])
        tau = false / (false + missed) if false > 0.0 and missed > 0.0 else None
        tau = tau if tau is not None and 0.0 < tau < 1.0 else None
    return Rule(tuple(classes), table, tau, "costs")


def read_costs(text: str, classes: Sequence[Any]) -> Array:
    r"""Return costs written as text: rows apart by ; or line ends, numbers by commas; a first line may name the classes.

    Without names both rows (the truth) and columns (the decision) are in the order of ``classes``.

    >>> read_costs("0,1;5,0", ("no", "yes")).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    >>> read_costs("true,yes,no\nno,1,0\nyes,0,5", ("no", "yes")).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    text = text.lstrip("\ufeff").strip()
    lines = text.splitlines() if "\n" in text else text.split(";")
    reader = csv.reader(lines, delimiter="," if "," in text else ";", skipinitialspace=True)
    cells = [[cell.strip() for cell in row] for row in reader if any(cell.strip() for cell in row)]
    if len(cells) != len(classes) + 1 or any(len(row) != len(classes) + 1 for row in cells):
        return _matrix([[_number(cell) for cell in row] for row in cells], classes)
    named = {row[0]: dict(zip(cells[0][1:], row[1:], strict=True)) for row in cells[1:]}
    if len(named) != len(classes) or len(set(cells[0][1:])) != len(classes):
        raise InputError("the costs name a class twice; give one line and one column for every class.")
    texts = [str(label) for label in classes]
    return _named({truth: {name: _number(cell) for name, cell in row.items()} for truth, row in named.items()}, texts)


def _matrix(costs: Any, classes: Sequence[Any]) -> Array:
    try:
        table = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.zeros(0)
    kinds = len(classes)
    if table.shape != (kinds, kinds):
        shape = " x ".join(map(str, table.shape)) if table.size else "not a table of numbers"
        raise InputError(
            f"the costs are {shape}; give {kinds} x {kinds} numbers, a row for every true class and a column for every "
            f"decided one, in the order {_listed(classes)}."
        )
    if not np.all(np.isfinite(table)):
        raise InputError("the costs hold NaN or infinity; give finite numbers.")
    return table


def _named(costs: Mapping[Any, Mapping[Any, float]], classes: Sequence[Any]) -> Array:
    """Return the matrix of costs nested by true and decided class; what is right costs nothing unless said."""
    names = list(classes)
    for name in [*costs, *(inner for row in costs.values() for inner in row)]:
        if name not in names:
            hint = near(str(name), [str(label) for label in names])
            raise InputError(f"the costs name a class {name!r}; the classes are {_listed(classes)}.{hint}")
    table = np.zeros((len(names), len(names)))
    for k, truth in enumerate(names):
        for choice, decided in enumerate(names):
            if decided in costs.get(truth, {}):
                table[k, choice] = costs[truth][decided]
            elif k != choice:
                raise InputError(
                    f"the costs do not say what deciding {decided!r} costs where the truth is {truth!r}; give it."
                )
    return _matrix(table, classes)


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise InputError(
            f"the costs hold {cell!r}, which is no number; write rows as 0,1;5,0, or a CSV file whose first line and "
            "first column name the classes."
        ) from None


def _listed(classes: Sequence[Any]) -> str:
    shown = ", ".join(str(label) for label in classes[:8])
    return f"{shown} and {len(classes) - 8} more" if len(classes) > 8 else shown
