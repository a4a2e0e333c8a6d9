"""The metrics against scikit-learn, and the law that sums over blocks equal the whole."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as peer

from lineal.designs import Dense, as_design
from lineal.losses import Hinge, Logistic, Quantile, Softmax, Squared
from lineal.metrics.metrics import ClassFigures, NumberFigures
from lineal.metrics.scoring import Score
from lineal.sources.memory import Memory
from lineal.sources.source import Block


def _classes(seed: int, rows: int, kinds: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(kinds), rows).round(1) + 0.01  # rounded: many ties
    proba /= proba.sum(axis=1, keepdims=True)
    y = np.concatenate([np.arange(kinds), rng.integers(0, kinds, rows - kinds)])
    weight = rng.integers(0, 4, rows) * rng.random(rows)
    weight[:kinds] = 1.0
    return y, proba, np.argmax(proba, axis=1), weight


def _of_classes(y: np.ndarray, proba: np.ndarray, weight: np.ndarray | None = None) -> dict[str, float]:
    """Return the figures of rows from their classes and probabilities, as a fit has them."""
    s, kinds = np.ones(len(y)) if weight is None else np.asarray(weight, float), proba.shape[1]
    with np.errstate(divide="ignore"):
        surprise = -np.log(proba[np.arange(len(y)), y])
    score = proba[:, 1] if kinds == 2 else None
    told = ClassFigures.of(y, np.argmax(proba, axis=1), s, kinds, proba=proba, surprise=surprise, score=score)
    return told.figures()


@pytest.mark.parametrize("kinds", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_class_metrics_agree_with_scikit_learn(kinds: int, weighted: bool) -> None:
    y, proba, predicted, weight = _classes(kinds, 200, kinds)
    s = weight if weighted else None
    expected = {
        "accuracy": peer.accuracy_score(y, predicted, sample_weight=s),
        "balanced_accuracy": peer.balanced_accuracy_score(y, predicted, sample_weight=s),
        "log_loss": peer.log_loss(y, proba, sample_weight=s, labels=np.arange(kinds)),
    }
    if kinds == 2:
        ranks = {"auc": peer.roc_auc_score, "average_precision": peer.average_precision_score}
        expected |= {name: metric(y, proba[:, 1], sample_weight=s) for name, metric in ranks.items()}
        expected["brier"] = peer.brier_score_loss(y, proba[:, 1], sample_weight=s)
    else:
        expected["brier"] = peer.brier_score_loss(y, proba, sample_weight=s, labels=np.arange(kinds))
    assert _of_classes(y, proba, s) == pytest.approx(expected)


@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_number_metrics_agree_with_scikit_learn(targets: int, weighted: bool) -> None:
    rng = np.random.default_rng(targets)
    y = rng.normal(size=(150, targets)) + 1e4
    predicted = y + rng.normal(size=y.shape)
    s = rng.integers(0, 3, 150).astype(float) if weighted else np.ones(150)
    metrics = {"rmse": peer.root_mean_squared_error, "mae": peer.mean_absolute_error, "r2": peer.r2_score}
    expected = {name: metric(y, predicted, sample_weight=s) for name, metric in metrics.items()}
    assert NumberFigures.of(y, predicted, s).figures() == pytest.approx(expected)


def _ranks(y: np.ndarray, score: np.ndarray, weight: np.ndarray) -> dict[str, float]:
    return ClassFigures.of(y, y, weight.astype(float), 2, score=score.astype(float)).figures()


def test_auc_equals_counting_every_pair() -> None:
    rng = np.random.default_rng(7)
    y, score, weight = rng.integers(0, 2, 40), rng.integers(0, 6, 40), rng.integers(0, 5, 40)
    won = total = Fraction(0)
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            pair = Fraction(int(weight[i]) * int(weight[j]))
            total += pair
            won += pair if score[i] > score[j] else pair / 2 if score[i] == score[j] else 0
    assert _ranks(y, score, weight)["auc"] == pytest.approx(float(won / total), abs=1e-15)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_average_precision_is_scikit_learns(rows: list[tuple[bool, int, int]]) -> None:
    y, score, weight = (np.array(part, int) for part in zip(*rows, strict=True))
    found = _ranks(y, score, weight).get("average_precision", math.nan)
    if not (weight * y).sum():
        assert math.isnan(found)
        return
    kept = weight > 0
    assert found == pytest.approx(peer.average_precision_score(y[kept], score[kept], sample_weight=weight[kept]))


def test_weight_zero_is_absent_and_weight_three_is_three_rows() -> None:
    y, proba, _, _ = _classes(11, 30, 3)
    weight = np.arange(30) % 4
    again = np.repeat(np.arange(30), weight)
    assert _of_classes(y, proba, weight) == pytest.approx(_of_classes(y[again], proba[again]))
    both, certain_and_wrong = np.array([1, 1]), np.array([[1.0, 0.0], [0.5, 0.5]])
    assert _of_classes(both, certain_and_wrong, np.array([0, 1]))["log_loss"] == pytest.approx(math.log(2))
    assert _of_classes(both, certain_and_wrong)["log_loss"] == math.inf


@settings(max_examples=50, deadline=None)
@given(cut=st.lists(st.integers(0, 60), max_size=4), kinds=st.sampled_from([2, 3]), seed=st.integers(0, 99))
def test_figures_of_any_partition_equal_the_whole(cut: list[int], kinds: int, seed: int) -> None:
    y, proba, predicted, s = _classes(seed, 60, kinds)
    score = proba[:, 1] if kinds == 2 else None
    surprise = -np.log(proba[np.arange(60), y])
    edges = [0, *sorted(cut), 60]
    numbers = np.column_stack([proba[:, 0] + 100.0, proba[:, 1]])
    guess = np.column_stack([proba[:, 1] + 100.0, proba[:, 0]])
    class_parts, number_parts = [], []
    for start, stop in itertools.pairwise(edges):
        at = slice(start, stop)
        part = None if score is None else score[at]
        told = {"proba": proba[at], "surprise": surprise[at], "losses": proba[at, 0], "score": part}
        class_parts.append(ClassFigures.of(y[at], predicted[at], s[at], kinds, **told))
        number_parts.append(NumberFigures.of(numbers[at], guess[at], s[at], proba[at, 0]))
    added, total = class_parts[0], number_parts[0]
    for piece, more in zip(class_parts[1:], number_parts[1:], strict=True):
        added, total = added + piece, total + more
    assert added.rows == total.rows == np.count_nonzero(s)
    loss = {"mean_loss": np.average(proba[:, 0], weights=s)}
    assert added.figures() == pytest.approx(_of_classes(y, proba, s) | loss)
    assert total.figures() == pytest.approx(NumberFigures.of(numbers, guess, s).figures() | loss, rel=1e-9)


def test_what_cannot_be_said_is_nan_not_an_error() -> None:
    assert math.isnan(_ranks(np.array([1, 1]), np.array([0.2, 0.3]), np.ones(2))["auc"])
    assert math.isnan(NumberFigures.of(np.full((2, 1), 2.0), np.array([[1.0], [3.0]]), np.ones(2)).figures()["r2"])
    nothing = NumberFigures.of(np.empty((0, 1)), np.empty((0, 1)), np.empty(0)).figures()
    assert all(math.isnan(value) for value in nothing.values())
    none = np.empty(0)
    index = none.astype(np.intp)
    empty = ClassFigures.of(index, index, none, 2, proba=np.empty((0, 2)), surprise=none)
    assert set(empty.figures()) == {"accuracy", "balanced_accuracy", "log_loss", "brier"}
    assert all(math.isnan(value) for value in empty.figures().values())


def test_only_what_has_a_meaning_is_shown() -> None:
    y, eta = np.array([[0.0], [1.0], [1.0]]), np.array([[-2.0], [0.5], [-0.5]])
    design, coef = as_design(eta, intercept=False), np.ones((1, 1))
    hinge = Memory(design, y).sum(Score(Hinge(), coef, classes=True)).figures()
    assert set(hinge) == {"accuracy", "balanced_accuracy", "mean_loss", "auc", "average_precision"}
    assert hinge["mean_loss"] == pytest.approx((0 + 0.5 + 1.5) / 3)
    logistic = Memory(design, y).sum(Score(Logistic(), coef, classes=True)).figures()
    assert set(logistic) == {"accuracy", "balanced_accuracy", "log_loss", "brier", "auc", "average_precision"}
    number = Memory(design, y).sum(Score(Quantile(0.9), coef, classes=False)).figures()
    assert set(number) == {"mean_loss", "rmse", "mae", "r2"}
    assert number["mean_loss"] == pytest.approx((0.9 * 2 + 0.9 * 0.5 + 0.9 * 1.5) / 3)
    assert set(Memory(design, y).sum(Score(Squared(1), coef, classes=False)).figures()) == {"rmse", "mae", "r2"}


def _quick(y, eta):
    block = Block(Dense(eta[:, None]), y[:, None])
    return Score(Logistic(), np.ones((1, 1)), classes=True)(block)


@pytest.mark.parametrize("rows", [1, 3, 700, 70_000])
@pytest.mark.parametrize("ties", [False, True])
def test_the_native_figures_of_two_classes_are_those_of_scikit_learn(rows, ties):
    rng = np.random.default_rng(rows)
    y = (rng.random(rows) < 0.4).astype(float)
    eta = rng.integers(-4, 5, rows).astype(float) if ties else 3.0 * rng.normal(size=rows)
    found = _quick(y, eta).figures()
    p = 1 / (1 + np.exp(-eta))
    assert found["accuracy"] == np.mean((eta > 0) == (y == 1))
    assert found["log_loss"] == pytest.approx(
        np.mean(np.where(y == 1, np.log1p(np.exp(-eta)), np.log1p(np.exp(eta)))), rel=1e-12
    )
    assert found["brier"] == pytest.approx(np.mean((p - y) ** 2), rel=1e-12)
    if 0 < y.sum() < rows:
        assert found["auc"] == pytest.approx(peer.roc_auc_score(y, eta), rel=1e-12)
        assert found["average_precision"] == pytest.approx(peer.average_precision_score(y, eta), rel=1e-12)
    weighted = Score(Logistic(), None, classes=True).of(y[:, None], eta[:, None], np.ones(rows)).figures()
    assert found == pytest.approx(weighted, rel=1e-12, nan_ok=True)


def test_figures_of_blocks_add_up_with_and_without_weights():
    y, eta = np.array([0.0, 1.0, 1.0, 0.0, 1.0]), np.array([-1.0, 0.5, 0.5, 0.5, 2.0])
    ways = Score(Logistic(), np.ones((1, 1)), classes=True)
    parts = [Block(Dense(eta[a:b, None]), y[a:b, None], weight) for a, b, weight in ((0, 2, None), (2, 5, np.ones(3)))]
    assert (ways(parts[0]) + ways(parts[1])).figures() == pytest.approx(_quick(y, eta).figures(), rel=1e-12)


def test_scores_that_are_not_finite_are_measured_all_the_same():
    with np.errstate(invalid="ignore"):  # as where a fit is measured
        figures = _quick(np.array([0.0, 1.0, 1.0]), np.array([-math.inf, 0.5, math.inf])).figures()
    assert figures["accuracy"] == 1.0
    assert figures["auc"] == 1.0


@pytest.mark.parametrize("n", [1, 5, 16384, 40_000])
@pytest.mark.parametrize("classes", [2, 5])
def test_a_constant_score_is_measured_alike_with_and_without_weights_of_one(n, classes):
    y = np.random.default_rng(n).integers(0, classes, size=(n, 1)).astype(float)
    y[-1] = classes - 1
    loss = Logistic() if classes == 2 else Softmax(classes)
    score = Score(loss, None, classes=True, level=np.full(loss.outputs, 0.3))
    design = Dense(np.zeros((n, 1)))
    plain, ones = score(Block(design, y)), score(Block(design, y, np.ones(n)))
    assert plain.rows == ones.rows == n
    assert np.array_equal(plain.weights, [np.count_nonzero(y == k) for k in range(classes)])
    assert plain.figures() == pytest.approx(ones.figures(), rel=1e-15, nan_ok=True)
