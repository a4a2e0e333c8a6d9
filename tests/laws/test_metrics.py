"""Laws of metrics, over the whole catalogue: direction, weights as repeats, blocks, names on the page."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics as peers

from lineal.losses import Logistic
from lineal.metrics import metric
from lineal.metrics.labels import LabelScore
from lineal.metrics.metrics import ClassFigures, NumberFigures
from tests.extensions.error_rate import ErrorRate

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "command-line.md").read_text()
EVERY = pytest.mark.parametrize("one", [*metric.ALL, ErrorRate], ids=lambda one: one.name)
COSTS = np.array([[0.0, 1.0], [5.0, 0.0]])


def sums(one, weight, rows=slice(None), *, perfect=False):
    """Return sums that tell everything, of predictions that are perfect or drawn at random."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 40)
    p = np.clip(0.15 + 0.7 * y if perfect else rng.random(40), 0.01, 0.99)
    p = np.where(y == 1, 1 - 1e-9, 1e-9) if perfect else p
    numbers = rng.normal(size=(40, 1))
    guess = numbers if perfect else rng.normal(size=(40, 1))
    s = weight[rows]
    if one.of_labels:
        return of_labels(rng, s, rows, perfect=perfect)
    if one.of_numbers:
        losses = np.abs(numbers - guess)[:, 0]
        return NumberFigures.of(numbers[rows], guess[rows], s, losses[rows], closely=True)
    predicted = (p > 0.5).astype(np.intp)
    surprise = -np.log(np.where(y == 1, p, 1 - p))
    return ClassFigures.of(
        y[rows],
        predicted[rows],
        s,
        2,
        proba=np.column_stack([1 - p, p])[rows],
        surprise=surprise[rows],
        losses=surprise[rows],
        score=p[rows],
        costs=COSTS[y, predicted][rows],
        closely=True,
    )


def of_labels(rng, s, rows, *, perfect):
    """Return sums of three labels, some of which are not known."""
    y = rng.integers(0, 2, (40, 3)).astype(float)
    eta = 4.0 * (2.0 * y - 1.0) if perfect else rng.normal(size=(40, 3))
    y[rng.random((40, 3)) < 0.1] = np.nan
    return LabelScore(Logistic(), None).rows(y[rows], eta[rows])(s)


def test_names_are_different():
    assert len({one.name for one in metric.ALL}) == len(metric.ALL)


@pytest.mark.parametrize("one", metric.ALL, ids=lambda one: one.name)
def test_the_page_names_it(one):
    assert f"`{one.name}`" in PAGE


@EVERY
def test_perfect_predictions_are_better_than_others(one):
    best, other = (one.value(sums(one, np.ones(40), perfect=perfect)) for perfect in (True, False))
    assert best > other if one.larger_is_better else best < other


@EVERY
def test_a_weight_is_a_number_of_repeats(one):
    weight = np.arange(40) % 3
    rows = np.repeat(np.arange(40), weight)
    weighted, repeated = sums(one, weight.astype(float)), sums(one, np.ones(40), rows)
    assert repeated.rows == len(rows)
    assert one.value(weighted) == pytest.approx(one.value(repeated), rel=1e-12)


@EVERY
def test_sums_over_blocks_are_those_of_the_whole(one):
    weight = np.linspace(0.5, 2.0, 40)
    whole = one.value(sums(one, weight))
    parts = sums(one, weight, slice(0, 13)) + sums(one, weight, slice(13, 40))
    assert one.value(parts) == pytest.approx(whole, rel=1e-12)
    again = pickle.loads(pickle.dumps(parts))  # noqa: S301
    assert one.value(again) == one.value(parts)


@EVERY
def test_what_it_needs_is_asked_for(one):
    full = sums(one, np.ones(40))
    assert one.available(full)
    if one.of_labels:
        return
    bare = (
        NumberFigures.of(np.zeros((2, 1)), np.zeros((2, 1)), np.ones(2))
        if one.of_numbers
        else ClassFigures.of(np.array([0, 1]), np.array([0, 1]), np.ones(2), 2)
    )
    assert one.available(bare) == (one.needs == "")


def test_rows_without_weight_have_no_figures():
    for one in (metric.Accuracy, metric.Rmse, metric.HammingLoss):
        figures = sums(one, np.zeros(40)).figures()
        assert figures
        assert all(math.isnan(value) for value in figures.values())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_figures_of_labels_are_those_of_scikit_learn(seed, weighted):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, (60, 4)).astype(float)
    y[:10] = 0.0  # rows without labels
    eta = rng.normal(size=(60, 4)) + 0.8 * (2.0 * y - 1.0)
    eta[:5] = -1.0  # ... that are given none
    eta[:, 3] = -np.abs(eta[:, 3])  # a label that is never predicted
    s = rng.random(60) if weighted else np.ones(60)
    found = LabelScore(Logistic(), None).rows(y, eta)(s).figures()
    guess, told = (eta > 0.0).astype(int), {"sample_weight": s}
    assert found["hamming_loss"] == pytest.approx(peers.hamming_loss(y, guess, **told), abs=1e-12)
    assert found["subset_accuracy"] == pytest.approx(peers.accuracy_score(y, guess, **told), abs=1e-12)
    for average in ("micro", "macro"):
        for name, peer in (
            ("precision", peers.precision_score),
            ("recall", peers.recall_score),
            ("f1", peers.f1_score),
        ):
            expected = peer(y, guess, average=average, zero_division=0.0, **told)
            assert found[f"{average}_{name}"] == pytest.approx(expected, abs=1e-12), name
    expected = peers.f1_score(y, guess, average="samples", zero_division=1.0, **told)
    assert found["samples_f1"] == pytest.approx(expected, abs=1e-12)
    expected = peers.roc_auc_score(y, eta, average="macro", **told)
    assert found["macro_auc"] == pytest.approx(expected, abs=1e-12)


def test_cells_that_are_not_known_do_not_count():
    """By hand: of six cells one is unknown, four are right; no row but the second is wrong in what is known of it."""
    y = np.array([[1.0, np.nan], [0.0, 1.0], [1.0, 1.0]])
    eta = np.array([[2.0, 5.0], [1.0, 1.0], [0.5, 3.0]])
    found = LabelScore(Logistic(), None).rows(y, eta)(np.ones(3)).figures()
    assert found["hamming_loss"] == pytest.approx(1 / 5)
    assert found["subset_accuracy"] == pytest.approx(2 / 3)
    assert found["micro_precision"] == pytest.approx(4 / 5)
    assert found["micro_recall"] == 1.0
    assert found["samples_f1"] == pytest.approx((1.0 + 2 / 3 + 1.0) / 3)
