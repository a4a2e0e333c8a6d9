"""Laws of metrics, over the whole catalogue: direction, weights as repeats, blocks, names on the page."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest

from lineal.metrics import metric
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
    bare = (
        NumberFigures.of(np.zeros((2, 1)), np.zeros((2, 1)), np.ones(2))
        if one.of_numbers
        else ClassFigures.of(np.array([0, 1]), np.array([0, 1]), np.ones(2), 2)
    )
    assert one.available(bare) == (one.needs == "")


def test_rows_without_weight_have_no_figures():
    for one in (metric.Accuracy, metric.Rmse):
        figures = sums(one, np.zeros(40)).figures()
        assert figures
        assert all(math.isnan(value) for value in figures.values())
