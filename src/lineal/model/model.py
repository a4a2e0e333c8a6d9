"""What remains after a fit: coefficients with names, and the verdict on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal import _core, container
from lineal.designs import as_design
from lineal.designs.center import less, scores
from lineal.designs.design import Design
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.metrics.decision import Costs, Decision, Rule, rule
from lineal.metrics.labels import LabelScore
from lineal.metrics.scoring import Score
from lineal.model.display import page
from lineal.model.encoder import Encoder
from lineal.model.explained import Explained, largest
from lineal.model.feature_map import FeatureMap
from lineal.model.powers import Powers
from lineal.model.tabled import pictured
from lineal.model.target import Target
from lineal.model.trace import Trace
from lineal.model.uncertainty import Uncertainty
from lineal.model.verdict import TOLERANCE, Verdict
from lineal.penalties.penalty import Penalty, apart

MAP_PREFIX: Final = "map."
"""How the names of a feature map's arrays begin in a model file."""


@dataclass(frozen=True)
class Model(Uncertainty):
    """A fitted linear model: ``eta = X coef (+ offset)``, ``prediction = loss.mean(eta)``.

    ``coef`` is ``(columns, outputs)``; the intercept, where there is one, is the first column. With a ``feature_map``
    coefficients multiply the columns that it makes of those of the encoder: ``eta = Phi(X) coef``.
    ``training`` and ``report`` are plain data: what the model was fitted on and what was measured.
    ``trace`` are the recorded steps of the fit; no file keeps them.

    >>> import lineal
    >>> lineal.fit({"x": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 5.0]}, "y", model="linear").columns
    ('(intercept)', 'x')
    """

    coef: Array
    columns: tuple[str, ...]
    loss: Loss
    penalty: Penalty
    target: Target
    verdict: Verdict
    encoder: Encoder | None = None
    solver: str = ""
    reason: str = ""
    tol: float = TOLERANCE
    roles: Mapping[str, str | None] = field(default_factory=lambda: {"weight": None, "offset": None})
    training: Mapping[str, Any] = field(default_factory=dict)
    report: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    feature_map: FeatureMap | None = None
    trace: Trace | None = field(default=None, repr=False, compare=False)

    @staticmethod
    def of_rows(rows: int, weight_sum: float, table: Mapping[str, Any] | None = None, **known: Any) -> Model:
        """Return the model of a fit to some rows with some sum of weights: the one way in which fits end as models.

        ``table`` says where the rows are from, nothing of them unless given; ``known`` are the other fields.
        """
        table = {"without_target": 0, "split": None, "fingerprint": None} if table is None else table
        return Model(training={"rows": rows, "weight_sum": weight_sum, **table}, **known)

    @property
    def has_intercept(self) -> bool:
        """Whether the first column is the intercept."""
        return bool(self.columns) and self.columns[0] == "(intercept)"

    @property
    def intercept(self) -> float | Array:
        """The intercept: a number, or one for each output; 0 where the model has none.

        Of a model with a ``center`` it is the score at the center.

        >>> import lineal
        >>> model = lineal.fit({"x": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 5.0]}, "y", model="linear", penalty="none")
        >>> round(model.intercept, 9)
        1.0
        """
        row = self.coef[0].copy() if self.has_intercept else np.zeros(self.coef.shape[1])
        return float(row[0]) if len(row) == 1 else row

    @property
    def heading(self) -> str:
        """What was fitted, in words."""
        return str(self.report.get("model") or f"{self.loss.name} loss, {self.penalty.name} penalty")

    def _repr_html_(self) -> str:
        """Return the display of a notebook: the verdict, what was measured, the coefficients, and a picture of them."""
        sd = np.asarray(self.report["sd"], float) if "sd" in self.report else None
        words, metrics = self.verdict, self.report.get("metrics", {})
        columns, coef = self.readable()
        sd = sd if columns is self.columns else None
        shown = page(words.kind, words.sentence, self.heading, coef, columns, self.outputs, sd, metrics)
        return f"{shown}{pictured(self, 'coefficients')}"

    def readable(self) -> tuple[tuple[str, ...], Array]:
        """Return names and coefficients as people write them: those of a polynomial on the powers ``x, x^2, ...``.

        Everything else is as in ``columns`` and ``coef``.
        """
        spelled = self.powers
        return (self.columns, self.coef) if spelled is None else (spelled.columns, spelled.apply(self.coef))

    @property
    def powers(self) -> Powers | None:
        """How coefficients of polynomials are spelled on powers; None where no coefficient is one of a polynomial."""
        return None if self.encoder is None or self.feature_map is not None else self.encoder.powers

    def design(self, data: object) -> Design:
        """Return the design of new data: by column name for a table, by position for an array; a design is itself."""
        if isinstance(data, Design):
            return data
        if self.encoder is not None:
            return self.encoder.encode(data)
        expected = len(self.columns) - self.has_intercept if self.feature_map is None else self.feature_map.width
        design = as_design(data, intercept=self.has_intercept)
        columns = design.shape[1] - self.has_intercept
        if columns != expected:
            raise InputError(
                f"the data has {columns} columns, the model was fitted on {expected}; give the same columns in the same order."
            )
        return design

    @property
    def center(self) -> Array | None:
        """What is taken off the columns before coefficients are applied, ``eta = (X - center) coef``; mostly None.

        Columns such as ``4e15 + arange(20)`` need one: all digits of their scores would be those of the mean.
        """
        return self.arrays.get("center")

    @property
    def aside(self) -> str | None:
        """What a reader of the coefficients has to know of the center; None where there is none."""
        if (center := self.center) is None:
            return None
        if center.ndim > 1:
            return (
                "The members take a center off columns that are far from zero; an intercept is the score at the center."
            )
        return center_words(self.columns, center)

    def scores(self, data: object, offset: Array | None = None) -> Array:
        """Return ``eta = X coef + offset`` (of columns less their ``center``) for every row, shape ``(n, outputs)``."""
        eta = self._eta(self.design(data))
        offset = self._offset(data, offset)
        return eta if offset is None else eta + offset

    def means(self, data: object, offset: Array | None = None) -> Array:
        """Return the predicted mean of every row: numbers, or the probability of each output's class."""
        design, center = self.design(data), self.center
        offset = self._offset(data, offset)
        if self.feature_map is not None:
            eta = self._eta(design)
            return self.loss.mean(eta if offset is None else eta + offset)
        design = design if center is None else less(design, center)
        if design.rows is not None and self.loss.native is not None:
            return design.rows.means(self.loss.native, self.coef, offset)
        eta = design.times(self.coef)
        return self.loss.mean(eta if offset is None else eta + offset)

    def predict(self, data: object, offset: Array | None = None) -> npt.NDArray[Any]:
        """Return a number or a class label for every row."""
        if self.target.kind == "number":
            means = self.means(data, offset)
            return means[:, 0] if means.shape[1] == 1 and self.target.names is None else means
        eta = self.scores(data, offset)
        index = self.loss.decide(eta)
        labels: npt.NDArray[Any] = np.asarray(self.target.classes)[index]
        return labels

    def predict_proba(self, data: object, offset: Array | None = None) -> Array:
        """Return the probability of every class, columns in the order of ``target.classes``."""
        if self.target.kind != "classes":
            raise InputError("this model predicts a number, so it has no class probabilities; use predict.")
        if self.loss.decides:
            raise InputError(f"{self.loss.name} loss gives no probabilities, only scores and classes; use predict.")
        means = self.means(data, offset)
        return np.column_stack([1.0 - means[:, 0], means[:, 0]]) if means.shape[1] == 1 else means

    def explain(self, data: object, wanted: int = 3) -> Explained:
        """Return for every row the columns that move its score most, against the mean of the training rows.

        A column moves the score by ``sum_j (x_j - mean_j) b_j`` over its design columns; all columns together by the score
        less that of the mean row. Of several classes it is the score of the class that is predicted, less the mean of all.

        >>> import lineal
        >>> model = lineal.fit({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 0.0, 1.0], "y": [1.0, 2.0, 4.0, 7.0]}, "y",
        ...                    model="linear")
        >>> why = model.explain({"a": [3.0], "b": [1.0]}, 2)
        >>> why.names.tolist(), why.moves.round(6).tolist()
        ([['a', 'b']], [[3.0, 0.5]])
        """
        mean = self.report.get("mean")
        if mean is None or self.encoder is None or self.feature_map is not None:
            raise InputError(
                "there are no contributions of columns to explain: that takes one model of weighted columns, fitted to a table."
            )
        if wanted < 1:
            raise InputError(f"{wanted} contributions cannot be shown; ask for one at least.")
        design = self.design(data)
        chosen = np.zeros(design.shape[0], int)
        if self.coef.shape[1] > 1:
            if self.target.kind != "classes":
                raise InputError(
                    "this model predicts several numbers, each with contributions of its own; fit one of them."
                )
            chosen = np.asarray(self.loss.decide(self.scores(data)), int)
        return largest(design, self.coef, np.asarray(mean, float), self.encoder.groups, wanted, chosen)

    def rule(self, threshold: float | None = None, costs: Costs | None = None) -> Rule:
        """Return how this model's probabilities become decisions; refused in words where it has none."""
        if self.target.kind != "classes":
            raise InputError("this model predicts a number, so there is no class to decide; use predict.")
        if self.loss.decides:
            raise InputError(
                f"{self.loss.name} loss gives no probabilities, so there is nothing to put a threshold or costs on; fit "
                "logistic regression, or use predict."
            )
        return replace(rule(threshold, costs, self.target.classes or ()), logit=self.loss.logit)

    def decide(
        self,
        data: object,
        *,
        threshold: float | None = None,
        costs: Costs | None = None,
        offset: Array | None = None,
    ) -> Decision:
        """Decide a class for every row by a threshold or by costs, which belong to the decision and not to the fit.

        ``threshold`` tau decides the second of two classes where its probability is above tau: the boundary is
        ``w'x = log(tau / (1 - tau))``. ``costs[k][l]`` is what deciding class l costs where the truth is k, in the order of
        ``target.classes`` or nested by class; the class of least expected cost is decided, of equal ones the first.

        >>> import lineal
        >>> table = {"dose": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "ill": ["no", "no", "yes", "no", "yes", "yes"]}
        >>> model = lineal.fit(table, target="ill", penalty=0.1)
        >>> decided = model.decide({"dose": [1.5, 2.5]}, costs={"no": {"yes": 1}, "yes": {"no": 4}})
        >>> decided.labels.tolist(), round(decided.rule.threshold, 6), round(decided.boundary, 4)
        (['yes', 'yes'], 0.2, -1.3863)
        """
        return self.decided(self.rule(threshold, costs), data, offset)

    def measure(self, rule: Rule | None = None, *, closely: bool = False) -> Score | LabelScore:
        """Return the task that measures the model over a source: decided by a rule if one is given, as ``Score`` says."""
        classes = self.target.kind == "classes"
        through = None if self.feature_map is None else self.feature_map.scores
        return Score(self.loss, self.coef, classes, rule=rule, center=self.center, closely=closely, through=through)

    def decided(self, chosen: Rule, data: object, offset: Array | None = None) -> Decision:
        """Return what a rule of this model decides for every row."""
        offset, design = self._offset(data, offset), self.design(data)
        proba = self.predict_proba(design, offset)
        odds = self.scores(design, offset)[:, 0] if chosen.logit else None
        decided = chosen.decide(proba, odds)
        return Decision(np.asarray(self.target.classes)[decided], chosen, chosen.expected(proba, decided))

    def scorer(self) -> Callable[[npt.ArrayLike], Array]:
        """Return a fast function of one row (or several) of plain numbers, design columns without the intercept.

        It checks nothing: for a service that scores one row at a time.
        """
        if self.feature_map is not None:
            return lambda row: self.loss.mean(self._eta(as_design(np.atleast_2d(row), self.has_intercept)))
        weights = np.ascontiguousarray(self.coef[1:] if self.has_intercept else self.coef)
        constant = self.coef[0] if self.has_intercept else np.zeros(self.coef.shape[1])
        center = self.center
        if self.loss.native is not None and center is None:
            return _core.Scorer(self.loss.native, weights, constant)
        mean, middle = self.loss.mean, np.zeros(len(weights)) if center is None else center[int(self.has_intercept) :]

        def score(row: npt.ArrayLike) -> Array:
            return mean((np.atleast_2d(row) - middle) @ weights + constant)

        return score

    @property
    def answers(self) -> tuple[Any, ...]:
        """What is decided between: the classes, none for numbers."""
        return self.target.classes or ()

    @property
    def outputs(self) -> list[str]:
        """A name for each output: the class it scores, or the number it predicts."""
        target = self.target
        if target.kind == "classes" and target.classes is not None:
            return [str(label) for label in (target.classes if self.coef.shape[1] > 1 else target.classes[1:])]
        return list(target.names) if target.names is not None else [target.name]

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data (docs/model-file.md), without its arrays."""
        from lineal import __version__

        record = {
            "format": "lineal-model",
            "version": container.VERSION,
            "made_by": f"lineal {__version__}",
            "loss": self.loss.to_dict(),
            "penalty": apart(self.penalty.to_dict())[0],
            "columns": list(self.columns),
            "target": self.target.to_dict(),
            "encoder": None if self.encoder is None else self.encoder.to_dict(),
            "roles": dict(self.roles),
            "training": dict(self.training),
            "tol": self.tol,
            "verdict": self.verdict.to_dict(),
            "solver": {"name": self.solver, "reason": self.reason},
            "report": dict(self.report),
        }
        if self.feature_map is not None:
            record["feature_map"] = self.feature_map.to_dict()
        return {**record, "encoding": container.encoding(record)}

    def save(self, path: str | Path) -> None:
        """Write the model to a file: whole or not at all."""
        container.write(path, self.to_dict(), self.stored())

    def stored(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays of the model file, by name."""
        own = {} if self.feature_map is None else self.feature_map.arrays()
        kept = {f"{MAP_PREFIX}{name}": array for name, array in own.items()}
        return {"coef": self.coef, **self.arrays, **apart(self.penalty.to_dict())[1], **kept}

    def __repr__(self) -> str:
        return f"<lineal Model: {self.loss.name}, {len(self.columns)} columns; {self.verdict.sentence}>"

    def _eta(self, design: Design) -> Array:
        """Return scores without an offset."""
        if self.feature_map is not None:
            return self.feature_map.scores(design, self.coef)
        return scores(design, self.coef, self.center)

    def _offset(self, data: object, offset: Array | None) -> Array | None:
        column = self.roles.get("offset")
        if offset is None and column is not None and self.encoder is not None:
            return self.encoder.offset(data, column)
        return offset


def center_words(columns: Sequence[str], center: Array) -> str:
    """Return what a reader of coefficients about a center has to know.

    >>> center_words(("(intercept)", "time"), np.array([0.0, 4e15]))
    'Coefficients are for columns less a center: time less 4000000000000000.0; the intercept is the score at the center.'
    """
    off = [f"{name} less {value!r}" for name, value in zip(columns, center.tolist(), strict=True) if value]
    return f"Coefficients are for columns less a center: {', '.join(off)}; the intercept is the score at the center."
