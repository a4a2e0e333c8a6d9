"""Held-out rows looked at closely: intervals for every figure, the confusion matrix, the calibration table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.metrics.labels import LabelScore
from lineal.metrics.scoring import Score
from lineal.sources.source import Block, Source

BOOTSTRAP_SAMPLES: Final = 400
"""Bootstrap samples; fewer where there are many rows, whose figures vary little."""
BOOTSTRAP_MAX_ROWS: Final = 5_000_000
"""Rows that all samples together draw at most."""
BOOTSTRAP_MIN_SAMPLES: Final = 50
BOOTSTRAP_LABELS: Final = 600
"""Labels that all samples together measure, about a second of work: of more labels there are fewer samples."""
BOOTSTRAP_MAX_LABELS: Final = 100
"""Of more labels than this there are no intervals."""
CALIBRATION_BINS: Final = 10


@dataclass(frozen=True)
class Predictions:
    """What was predicted for every row: targets (class numbers, or numbers), scores and weights; they add by following on."""

    y: Array
    eta: Array
    weight: Array

    def __add__(self, other: Predictions) -> Predictions:
        return Predictions(*(np.concatenate(pair) for pair in zip(self.parts, other.parts, strict=True)))

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        """The three arrays."""
        return self.y, self.eta, self.weight


@dataclass(frozen=True)
class Predict:
    """The task that keeps the score of every row."""

    score: Score | LabelScore
    coef: Array

    def __call__(self, block: Block) -> Predictions:
        """Return the rows of one block."""
        eta = self.score.scores(block.design, self.coef)
        eta = eta if block.offset is None else eta + block.offset
        weight = np.ones(block.n_rows) if block.weight is None else block.weight
        return Predictions(block.y, eta, weight)


def evaluate(
    source: Source, score: Score | LabelScore, labels: Sequence[object] | None, seed: int = 0
) -> dict[str, Any]:
    """Return ``intervals`` (95 %, by bootstrap), and for classes ``confusion`` and ``calibration``, as plain data.

    ``labels`` name the classes, or the labels, which have figures of their own (``labels``); None for a number. A bootstrap
    draws as many rows as there are, with replacement; the interval holds the middle 95 % of the figures of such samples.
    """
    if score.coef is None:
        raise ValueError("there are no coefficients to look at")
    with np.errstate(all="ignore"):  # a solver may have left for infinity: that is in the verdict
        rows = source.sum(Predict(score, score.coef))
        answer: dict[str, Any] = {"intervals": _intervals(rows, score, seed)}
        if isinstance(score, LabelScore):
            answer["labels"] = score.rows(rows.y, rows.eta)(rows.weight).of_each([str(label) for label in labels or ()])
        elif labels is not None:
            y, proba, predicted = score.decided(rows.y, rows.eta)
            answer["confusion"] = _confusion(y, predicted, rows.weight, labels)
            if not score.loss.decides:
                answer["calibration"] = _calibration(y, proba, predicted, rows.weight)
    return answer


def _intervals(rows: Predictions, score: Score | LabelScore, seed: int) -> dict[str, list[float | None]]:
    """Return the middle 95 % of every figure over bootstrap samples; None where fewer than half of them have it."""
    n, labels = len(rows.weight), rows.eta.shape[1] if isinstance(score, LabelScore) else 1
    if n < 2 or labels > BOOTSTRAP_MAX_LABELS:
        return {}
    most = BOOTSTRAP_SAMPLES if labels == 1 else BOOTSTRAP_LABELS // labels
    draws = int(np.clip(min(most, BOOTSTRAP_MAX_ROWS // (n * labels)), BOOTSTRAP_MIN_SAMPLES, BOOTSTRAP_SAMPLES))
    random = np.random.default_rng([seed, n])
    order = np.argsort(rows.eta[:, 0], kind="stable")  # once, for figures that rank
    y, eta, weight = (part[order] for part in rows.parts)
    per_row = score.rows(y, eta)
    samples = [
        per_row(weight * np.bincount(random.integers(n, size=n, dtype=np.int64), minlength=n)).figures()
        for _ in range(draws)
    ]
    intervals: dict[str, list[float | None]] = {}
    for name in samples[0]:
        values = np.array([sample.get(name, np.nan) for sample in samples])
        values = values[np.isfinite(values)]
        enough = len(values) > draws / 2
        intervals[name] = [float(end) for end in np.quantile(values, [0.025, 0.975])] if enough else [None, None]
    return intervals


def _confusion(y: Index, predicted: Index, weight: Array, labels: Sequence[object]) -> dict[str, Any]:
    """Return how often each class was taken for each: rows are what happened, columns what was predicted."""
    table = np.zeros((len(labels), len(labels)))
    np.add.at(table, (y, predicted), weight)
    return {"classes": [str(label) for label in labels], "counts": table.tolist()}


def per_class(confusion: dict[str, Any]) -> list[dict[str, Any]]:
    """Return precision, recall and F1 of every class, and of all: macro is their mean, micro counts all rows at once.

    A class that is never predicted has precision 0, one that does not occur recall 0; with one class a row all three micro
    figures are the accuracy.

    >>> per_class({"classes": ["a", "b"], "counts": [[3.0, 1.0], [2.0, 4.0]]})[0]["precision"]
    0.6
    """
    table = np.array(confusion["counts"])
    hits, happened, taken = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    figures = {"precision": (hits, taken), "recall": (hits, happened), "f1": (2.0 * hits, happened + taken)}
    shares = {name: np.divide(a, b, out=np.zeros(len(a)), where=b > 0.0) for name, (a, b) in figures.items()}
    lines = [
        {"class": label, **{name: float(share[k]) for name, share in shares.items()}, "weight": float(happened[k])}
        for k, label in enumerate(confusion["classes"])
    ]
    occurs = (happened > 0.0) | (taken > 0.0)
    whole = float(table.sum())
    if whole > 0.0:
        macro = {name: float(np.mean(share[occurs])) for name, share in shares.items()}
        lines.append({"class": None, "average": "macro", **macro, "weight": whole})
        lines.append(
            {"class": None, "average": "micro", **dict.fromkeys(figures, float(hits.sum()) / whole), "weight": whole}
        )
    return lines


def _calibration(y: Index, proba: Array, predicted: Index, weight: Array) -> list[dict[str, float]]:
    """Return, for tenths of the predicted probability, its mean and how often it came true.

    Two classes: the probability of the second. Several: that of the class predicted.
    """
    two = proba.shape[1] == 2
    p = proba[:, 1] if two else proba[np.arange(len(y)), predicted]
    happened = (y == 1) if two else (y == predicted)
    place = np.clip((p * CALIBRATION_BINS).astype(np.intp), 0, CALIBRATION_BINS - 1)
    bins = []
    for k in range(CALIBRATION_BINS):
        held = weight * (place == k)
        total = float(held.sum())
        if total > 0:
            mean, share = float(held @ p) / total, float(held @ happened) / total
            bins.append(
                {
                    "from": k / CALIBRATION_BINS,
                    "to": (k + 1) / CALIBRATION_BINS,
                    "weight": total,
                    "predicted": mean,
                    "happened": share,
                }
            )
    return bins
