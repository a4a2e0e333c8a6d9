"""A source that hands out no block, only sums, is all that a fit needs; every task it is sent can be sent anywhere."""

from __future__ import annotations

import io
import pickle
import re
from dataclasses import FrozenInstanceError, fields, is_dataclass
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest

from lineal import penalties
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.losses import Logistic
from lineal.penalties import NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.solvers import BY_NAME
from lineal.sources.memory import Memory
from lineal.sources.source import Access, Block, Parts, Source
from tests.laws.catalogue import convex, ids, minimised

ROWS, COLUMNS = 120, 4
FACTORS = np.append(0.0, np.ones(COLUMNS))


class _Pickler(pickle.Pickler):
    """Refuses what no other process can have."""

    def reducer_override(self, obj):
        assert not isinstance(obj, Problem | Source), f"a task holds a {type(obj).__name__}"
        return NotImplemented


def sent(value):
    """Return what arrives in another process."""
    buffer = io.BytesIO()
    _Pickler(buffer).dump(value)
    return pickle.loads(buffer.getvalue())  # noqa: S301  (written above)


def close(one, other):
    """Compare results of any shape up to rounding."""
    if is_dataclass(one):
        for each in fields(one):
            if each.name != "low":  # what rounding left of ``high``
                close(getattr(one, each.name), getattr(other, each.name))
    elif isinstance(one, tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            close(a, b)
    elif one is not None and not isinstance(one, bool | str):
        size = max(float(np.max(np.abs(one), initial=0.0)), 1.0)
        if np.isfinite(size):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12 * size)


class SumsAlone(Source):
    """Blocks as a cluster has them: tasks are sent to each, results are sent back and added."""

    def __init__(self, blocks, columns):
        self._blocks, self._columns = blocks, columns

    @property
    def columns(self):
        return self._columns

    @property
    def offers(self):
        return Access.SUMS

    def blocks(self):
        raise AssertionError("blocks() was called")

    def sum(self, task):
        with pytest.raises((FrozenInstanceError, AttributeError)):
            task.other = None
        results = [sent(sent(task)(block)) for block in self._blocks]
        total = reduce(lambda a, b: a + b, results)
        if not isinstance(total, Parts):
            close(total, results[0] + reduce(lambda a, b: b + a, reversed(results[1:])))
        return total


def data(loss, rows=ROWS, *, weighted=False, offset=False):
    """Return a design and its other parts, with noise enough that no class is separable."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(rows, COLUMNS)) * [1.0, 3.0, 0.3, 1.0] + [0.0, 1.0, 0.0, -2.0]
    eta = x @ rng.normal(size=(COLUMNS, loss.outputs)) * 0.3
    if loss.targets == "counts":
        y = rng.poisson(np.exp(np.clip(eta, -2.0, 2.0))).astype(float)
    elif loss.targets == "numbers":
        y = eta + rng.normal(size=eta.shape)
    elif loss.outputs == 1:
        y = (eta + 2.0 * rng.logistic(size=eta.shape) > 0.0).astype(float)
    else:
        y = np.argmax(eta + 2.0 * rng.gumbel(size=eta.shape), axis=1)[:, None].astype(float)
    weight = rng.integers(0, 3, rows).astype(float) if weighted else None
    return as_design(x), y, weight, 0.2 * rng.normal(size=(rows, loss.outputs)) if offset else None


def apart(design, y, weight, offset):
    """Return the rows in five blocks, one of them without a row."""
    cuts = [0, 30, 31, 31, 90, len(y)]
    pieces = [slice(a, b) for a, b in pairwise(cuts)]
    blocks = [
        Block(
            design.slice(at.start, at.stop),
            y[at],
            None if weight is None else weight[at],
            None if offset is None else offset[at],
            at.start,
        )
        for at in pieces
    ]
    return SumsAlone(blocks, Memory(design, y).columns)


@pytest.mark.parametrize("given", ["plain", "weighted", "offset"])
@pytest.mark.parametrize("penalty", [NoPenalty(len(FACTORS)), Ridge(0.05, FACTORS)], ids=lambda penalty: penalty.name)
@pytest.mark.parametrize("loss", [loss for loss in convex() if loss.smooth], ids=ids)
def test_every_smooth_loss_is_fitted_and_proven(loss, penalty, given):
    parts = data(loss, weighted=given == "weighted", offset=given == "offset")
    found = fit(apart(*parts), loss, penalty)
    assert found.verdict.kind == "optimal", found.verdict.sentence
    whole = fit(Memory(*parts), loss, penalty)
    assert abs(found.objective - whole.objective) <= found.verdict.gap + whole.verdict.gap + 1e-14 * abs(
        whole.objective
    )


@pytest.mark.parametrize("kind", penalties.ALL, ids=lambda kind: kind.name)
def test_every_penalty_is_proven(kind):
    found = fit(apart(*data(Logistic())), Logistic(), kind.example(FACTORS))
    assert found.verdict.kind == "optimal", found.verdict.sentence


@pytest.mark.parametrize("loss", [loss for loss in minimised() if not loss.smooth], ids=ids)
def test_losses_with_corners_keep_their_rows_here_and_nothing_else(loss):
    found = fit(apart(*data(loss, weighted=True)), loss, Ridge(0.05, FACTORS))
    assert found.verdict.kind == "optimal", found.verdict.sentence


@pytest.mark.parametrize("name", [name for name, make in BY_NAME.items() if make().needs])
def test_a_solver_that_needs_more_than_sums_says_so(name):
    with pytest.raises(InputError, match=re.escape(BY_NAME[name]().missing)):
        fit(apart(*data(Logistic())), Logistic(), Ridge(0.05, FACTORS), solver=name)


@pytest.mark.parametrize("name", [name for name, make in BY_NAME.items() if not make().needs])
def test_every_other_solver_does_with_sums_alone(name):
    solver, penalty, rows = BY_NAME[name](), Ridge(0.05, FACTORS), 20_500 if name == "sampled-newton" else ROWS
    problems = (Problem.of(Memory(*data(loss, rows)), loss, penalty) for loss in minimised())
    loss = next(problem.loss for problem in problems if solver.refuses(problem) is None)
    found = fit(apart(*data(loss, rows)), loss, penalty, solver=name)
    assert found.solver == name
    assert found.verdict.kind == "optimal", found.verdict.sentence


def test_rows_that_separate_are_found_without_a_block():
    design, y, *_ = data(Logistic())
    y = (design.dense()[:, [1]] > 0.0).astype(float)
    found = fit(apart(design, y, None, None), Logistic(), NoPenalty(len(FACTORS)))
    assert found.verdict.kind == "at_infinity"


def test_a_task_that_holds_a_problem_is_refused():
    source = apart(*data(Logistic()))
    problem = Problem.of(Memory(*data(Logistic())), Logistic(), NoPenalty(len(FACTORS)))
    with pytest.raises(AssertionError, match="holds a Problem"):
        source.collect(problem.evaluate)
