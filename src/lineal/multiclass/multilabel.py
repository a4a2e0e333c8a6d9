"""Models of labels, of which a row has any number: a binary model for each, or one that shares a row out among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.metrics.decision import Costs, Decision, Rule, rule
from lineal.metrics.labels import LabelScore, decisions
from lineal.model.model import Model
from lineal.multiclass.committee import Members

ANSWERS = ("no", "yes")
"""What each member decides between."""


@dataclass(frozen=True)
class MultiLabel(Members):
    """A binary model for every label: member k models ``P(label k | x)`` on the rows where label k is known.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0, 4.0], "a": [0, 1, 0, 1, 1], "b": [1, 1, 0, 1, 0]}
    >>> model = lineal.fit(table, ["a", "b"], penalty=0.1)
    >>> model.outputs, model.predict({"x": [0.5, 3.5]}).tolist()
    (['a', 'b'], [[0, 1], [1, 0]])
    """

    __repr__ = Members.__repr__

    @property
    def answers(self) -> tuple[str, str]:
        """What is decided between, of every label."""
        return ANSWERS

    def predict(self, data: object, offset: Array | None = None) -> npt.NDArray[Any]:
        """Return 1 where a row has a label and 0 where not: a row for each row, a column for each label."""
        return decisions(self.loss, self.scores(data, offset))

    def predict_proba(self, data: object, offset: Array | None = None) -> Array:
        """Return the probability that a row has a label, a column for each; they do not add up to one."""
        if self.loss.decides:
            raise InputError(f"{self.loss.name} loss gives no probabilities, only scores and labels; use predict.")
        return self.means(data, offset)

    def measure(self, rule: Rule | None = None, *, closely: bool = True) -> LabelScore:
        """Return the task that measures the labels over a source; ``closely`` or not, each has all figures."""
        return LabelScore(self.loss, self.coef, rule=rule, center=self.center)

    def rule(self, threshold: float | None = None, costs: Costs | None = None) -> Rule:
        """Return how probabilities become decisions, of every label alike: no is the first answer and yes the second."""
        if self.loss.decides:
            raise InputError(
                f"{self.loss.name} loss gives no probabilities, so there is nothing to put a threshold or costs on; fit "
                "logistic regression, or use predict."
            )
        return replace(rule(threshold, costs, ANSWERS), logit=self.loss.logit)

    def decided(self, chosen: Rule, data: object, offset: Array | None = None) -> Decision:
        """Return what a rule decides of every label of every row, and what a row's decisions are expected to cost."""
        eta = self.scores(data, offset)
        decided, chances = decisions(self.loss, eta, chosen), self.loss.mean(eta)
        parts = (
            chosen.expected(np.column_stack([1.0 - p, p]), own) for p, own in zip(chances.T, decided.T, strict=True)
        )
        return Decision(decided, chosen, np.sum(list(parts), axis=0))


@dataclass(frozen=True)
class SharedLabels(Model):
    """One model of all labels: each row is shared out among them, and has those whose share is not zero.

    ``p = argmin |p - eta|^2`` over the simplex (sparsemax), fitted to ``q``: 1 / m for each of the m labels of a row.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "tags": [["a"], ["a"], ["a", "b"], ["a", "b"], ["b"], ["b"]]}
    >>> model = lineal.fit(table, "tags", model="sparsemax", penalty=0.01)
    >>> model.predict({"x": [0.0, 2.5, 5.0]}).tolist()
    [[1, 0], [1, 1], [0, 1]]
    """

    __repr__ = Model.__repr__

    def predict(self, data: object, offset: Array | None = None) -> npt.NDArray[Any]:
        """Return 1 where a row has a label and 0 where not: a row for each row, a column for each label."""
        return decisions(self.loss, self.scores(data, offset))

    def predict_proba(self, data: object, offset: Array | None = None) -> Array:
        """Return the share of every label, a column for each; they add up to one, and many are exactly zero."""
        return self.means(data, offset)

    def measure(self, rule: Rule | None = None, *, closely: bool = True) -> LabelScore:
        """Return the task that measures the labels over a source; ``closely`` or not, each has all figures."""
        return LabelScore(self.loss, self.coef, rule=rule, center=self.center)

    def rule(self, threshold: float | None = None, costs: Costs | None = None) -> Rule:
        """Refuse: shares are no probabilities of labels."""
        raise InputError(
            "sparsemax shares a row out among its labels, so there is no probability of a label to put a threshold or costs on; "
            "the labels of a row are those with a share. Fit logistic regression for probabilities."
        )

    def refuse_summary(self) -> None:
        """Refuse: sparsemax is no likelihood."""
        raise InputError(
            "sparsemax loss is no likelihood, so coefficients have no standard errors; fit logistic regression."
        )
