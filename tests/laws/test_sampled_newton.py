"""Laws of Newton's method on samples: the optimum of other solvers, whatever the sample shows, and words where it declines."""

from __future__ import annotations

import numpy as np
import pytest

from lineal.designs import Categorical, Dense, HStack, Ones
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.losses import Huber, Logistic, Poisson, Squared
from lineal.penalties import NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.solvers import SampledNewton, choose
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block

ROWS, LEVELS = 30_000, (3, 40, 300)


def table(seed, *, weights=False, rare=False, counts=False, rows=ROWS):
    """Return rows with numbers of several scales and categories, one of whose levels may be in three rows only."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(rows, 4)) * [1.0, 30.0, 0.01, 1.0] + [0.0, 100.0, 0.0, 5.0]
    codes = [(rng.random(rows) ** 2 * (levels + 1)).astype(np.int32) - 1 for levels in LEVELS]
    if rare:
        codes[0][codes[0] == 2] = 0
        codes[0][[5, 20_000, 29_000]] = 2
    score = numbers @ [0.5, 0.02, 20.0, -0.4] + np.sin(codes[1]) + 0.3 * np.cos(codes[2])
    y = rng.poisson(np.exp(0.3 * score)) if counts else rng.random(rows) < 1 / (1 + np.exp(-score))
    design = HStack([Ones(rows), Dense(numbers), *(Categorical(c, k) for c, k in zip(codes, LEVELS, strict=True))])
    return Memory(design, y.astype(float)[:, None], rng.integers(0, 4, rows).astype(float) if weights else None)


COLUMNS = 1 + 4 + sum(LEVELS)


def ridge(strength, columns=COLUMNS):
    """Return a ridge penalty that leaves the intercept alone."""
    return Ridge(strength, np.r_[0.0, np.ones(columns - 1)])


@pytest.mark.parametrize("loss", [Logistic(), Poisson()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("weights", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("rare", [False, True], ids=["all levels", "a rare level"])
def test_its_optimum_is_that_of_newton(loss, weights, rare):
    source = table(1, weights=weights, rare=rare, counts=loss.name == "poisson")
    ours = fit(source, loss, ridge(1e-3), solver="sampled-newton", tol=1e-9)
    other = fit(source, loss, ridge(1e-3), solver="newton", tol=1e-9)
    assert ours.verdict.kind == other.verdict.kind == "optimal"
    assert ours.solver == "sampled-newton"
    assert ours.objective == pytest.approx(other.objective, rel=1e-9)
    # F grows by at least strength/2 |b - b*|^2, so that two gaps bound how far two answers may be apart
    apart = np.sum((ours.coef - other.coef)[1:] ** 2)
    assert 0.5 * 1e-3 * apart <= 4.0 * 1e-9 * other.objective


def test_a_sample_that_misleads_is_given_up():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(ROWS, 2))
    x[::1000] *= 1e3  # the rows that matter are one in a thousand
    y = (x[:, :1] + 0.5 * x[:, 1:] + rng.normal(size=(ROWS, 1)) > 0).astype(float)
    source = Memory(HStack([Ones(ROWS), Dense(x)]), y)
    ours = fit(source, Logistic(), ridge(1e-4, 3), solver="sampled-newton", tol=1e-9)
    other = fit(source, Logistic(), ridge(1e-4, 3), solver="newton", tol=1e-9)
    assert ours.verdict.kind == "optimal"
    assert ours.objective == pytest.approx(other.objective, rel=1e-9)


def test_levels_that_a_sample_hardly_sees_do_not_lead_it_astray():
    # A power law of levels, the penalty on standardized columns: an unseen level has next to no curvature of its own.
    rng = np.random.default_rng(5)
    levels, rows = 800, 60_000
    share = np.arange(1.0, levels + 2.0) ** -1.2
    codes = rng.choice(levels + 1, rows, p=share / share.sum()).astype(np.int32) - 1
    x = rng.normal(size=(rows, 3))
    score = x.sum(axis=1) + (0.5 * rng.normal(size=levels + 1))[codes]
    y = (rng.random(rows) < 1 / (1 + np.exp(-score))).astype(float)[:, None]
    source = Memory(HStack([Ones(rows), Dense(x), Categorical(codes, levels)]), y)
    seen = np.bincount(codes[codes >= 0], minlength=levels) / rows
    penalty = Ridge(1e-4, np.r_[0.0, np.ones(3), np.maximum(seen, 1.0 / rows)])
    ours = fit(source, Logistic(), penalty, solver="sampled-newton", tol=1e-6)
    assert ours.verdict.kind == "optimal"
    # fifteen gradients, the samples before them, a few whole second derivatives; it took 2383 passes before
    assert ours.trace.records[-1].passes <= 40


def test_any_partition_into_blocks_gives_the_same_optimum():
    source = table(2)
    (whole,) = source.blocks()
    cuts = [(0, 11_000), (11_000, ROWS)]
    halves = Blocks([Block(whole.design.slice(a, b), whole.y[a:b], start=a) for a, b in cuts], source.columns)
    one, two = (fit(s, Logistic(), ridge(1e-3), solver="sampled-newton", tol=1e-9) for s in (source, halves))
    assert two.verdict.kind == "optimal"
    assert two.objective == pytest.approx(one.objective, rel=1e-9)


def test_it_is_chosen_for_long_tables_of_many_columns():
    chosen, reason = choose(Problem.of(table(1), Logistic(), ridge(1e-3)))
    assert isinstance(chosen, SampledNewton)
    assert "sample of the rows" in reason
    short, _ = choose(Problem.of(table(1, rows=10_000), Logistic(), ridge(1e-3)))
    assert not isinstance(short, SampledNewton)


@pytest.mark.parametrize(
    ("loss", "penalty", "rows", "words"),
    [
        (Squared(1), ridge(1.0), ROWS, "curvature is positive everywhere"),
        (Huber(1.0), ridge(1.0), ROWS, "curvature is positive everywhere"),
        (Logistic(), NoPenalty(348), ROWS, "ridge penalty on all columns"),
        (Logistic(), ridge(1.0), 1000, "1000 rows are too few to sample from; 348 columns take 20000"),
    ],
)
def test_it_says_what_it_declines(loss, penalty, rows, words):
    with pytest.raises(InputError, match=words):
        fit(table(1, rows=rows), loss, penalty, solver="sampled-newton")
