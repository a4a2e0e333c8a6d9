"""Which losses are convex, and strictly: the catalogue and the table of docs/convexity.md, tried on chords."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from lineal import losses
from lineal.losses import Softmax
from tests.laws.catalogue import ids, targets

PAGE = Path(__file__).parents[2] / "docs" / "convexity.md"
LOSSES = [loss for kind in losses.ALL for loss in kind.examples() if loss.parameters().get("epsilon") != 0.0]
"""Without an epsilon, the losses that are named after it are others."""
ROUNDING = 1e-14
"""A few units in the last place of the sizes that cancel."""


def chords(loss, seed=0):
    """The rise of chords over the loss in their middle, relative to the sizes that cancel; short, long and along all scores."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(4000, loss.outputs)) * rng.choice([0.5, 3.0], size=(4000, 1))
    y = targets(loss, a, rng)
    step = (
        rng.choice([-1.0, 1.0], size=a.shape)
        * rng.uniform(0.3, 1.0, size=a.shape)
        * rng.choice([1.0, 8.0], size=(4000, 1))
    )
    step[::4] = step[::4, :1]  # the same for all scores
    ends = loss.value(y, a), loss.value(y, a + step)
    middle = loss.value(y, a + 0.5 * step)
    size = np.abs(ends[0]) + np.abs(ends[1]) + np.sum(np.abs(a) + np.abs(step), axis=1) * (1.0 + np.abs(y[:, 0]))
    return (0.5 * (ends[0] + ends[1]) - middle) / np.maximum(size, 1e-3)


@pytest.mark.parametrize("loss", LOSSES, ids=ids)
def test_chords_run_above_convex_losses_and_clearly_above_strictly_convex_ones(loss):
    above = chords(loss)
    assert bool(np.all(above >= -ROUNDING)) == loss.convex
    straight = np.abs(above) <= ROUNDING
    if loss.strictly_convex:
        assert not straight.any(), "no chord lies on the loss"
    else:
        assert straight.any(), "some chord lies on the loss, or below it"
    assert loss.convex or not loss.strictly_convex


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.smooth and loss.convex], ids=ids)
def test_the_second_derivative_agrees(loss):
    """Strictly convex: it is positive wherever we look; else it has a direction of zero somewhere."""
    rng = np.random.default_rng(1)
    eta = rng.normal(size=(500, loss.outputs)) * 3.0
    bend = loss.curvature(targets(loss, eta, rng), eta)
    least = np.linalg.eigvalsh(bend)[:, 0] if bend.ndim == 3 else bend.min(axis=1)
    assert np.all(least >= -1e-14)
    assert (np.min(least) > 1e-9) == loss.strictly_convex


def test_the_page_shows_the_catalogue():
    lines = re.findall(r"^\| ([a-z-]+) \| (yes|no) \| (yes|no) \| .+ \|$", PAGE.read_text(), re.MULTILINE)
    assert lines == [
        (loss.name, "yes" if loss.convex else "no", "yes" if loss.strictly_convex else "no") for loss in losses.ALL
    ]


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_softmax_bends_as_the_variance_of_a_direction(classes):
    """v'Hv = Var_p(v): semi-definite, null for equal numbers only, at most half of |v|^2."""
    rng = np.random.default_rng(classes)
    z, v = rng.normal(size=(50, classes)) * 4.0, rng.normal(size=(50, classes))
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p = p / p.sum(axis=1, keepdims=True)
    variance = np.sum(p * (v - np.sum(p * v, axis=1, keepdims=True)) ** 2, axis=1)
    bend = Softmax(classes).curvature(np.zeros((50, 1)), z)
    np.testing.assert_allclose(np.einsum("na,nab,nb->n", v, bend, v), variance, atol=1e-13)
    np.testing.assert_allclose(bend @ np.ones(classes), 0.0, atol=1e-15)
    values = np.linalg.eigvalsh(bend)
    assert np.all(values[:, -1] <= 0.5)
    assert np.all(values[:, 1] > 0.0)
