"""The law over everything: each loss with each penalty in each situation ends with a proof that holds, and never in `budget`.

Truth comes from other programs (rivals.py); that what was stated can be proven, from the independent checker.
"""

from __future__ import annotations

import numpy as np
import pytest

from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.losses import CrammerSinger
from lineal.penalties import ALL, L1, Bounds, NoPenalty
from lineal.sources.memory import Memory
from tests.laws.checker import checked
from tests.laws.drawn import INF, LOSSES, target
from tests.laws.rivals import rival

EVERY = [*LOSSES, CrammerSinger(3)]
SITUATIONS = ("plain", "float32 weights", "offset", "dependent", "scaled", "wide", "one row", "heavy tails")
PROVEN = {"optimal", "not_unique", "at_infinity"}


def columns(situation, rng):
    rows, width = {"wide": (8, 12), "one row": (1, 3)}.get(situation, (40, 4))
    x = rng.standard_cauchy(size=(rows, width)) if situation == "heavy tails" else rng.normal(size=(rows, width))
    if situation == "scaled":
        x = x * [1e6, 1e-6, 1.0, 1.0]
    if situation == "dependent":
        x = np.round(2.0**20 * x) / 2.0**20  # so that the difference is exact
        x[:, 3] = x[:, 0] - x[:, 1]
    return x.astype(np.float32) if situation == "float32 weights" else x


def penalties(penalty_factors):
    none, inf = NoPenalty(len(penalty_factors)), np.full(len(penalty_factors), INF)
    on = penalty_factors > 0.0
    yield none
    for strength in (1e-20, 0.05, 10.0):
        yield from (kind.example(penalty_factors).at(strength) for kind in ALL if kind.parameters)
    yield Bounds(np.where(on, 0.0, -INF), inf, none)
    yield Bounds(np.where(on, 0.0, -INF), inf, L1(0.05, penalty_factors))
    yield Bounds(np.where(on, -0.2, -INF), np.where(on, 0.3, INF), none)


def posed(loss, penalty, situation, intercept):
    """Whether an optimum exists for sure, and a solver for it."""
    inner = getattr(penalty, "inner", penalty)
    held = inner.name != "none" and inner.strength > 1e-3
    if penalty.name == "group" and loss.name == "crammer-singer":
        return False  # declined in words
    # where columns are as many as rows, classes and counts are fitted exactly: the optimum is at infinity, or nearly so
    if (
        situation in {"wide", "one row"}
        and not held
        and (loss.unbounded or loss.name == "poisson" or "hinge" in loss.name)
    ):
        return penalty.name == "bounds" and bool(np.all(np.isfinite(penalty.upper[int(intercept) :])))
    # rounding of scores of 1e6 columns in boxes and cones is beyond what three classes' dual points are steered to
    return not (situation == "scaled" and loss.name == "crammer-singer" and penalty.name == "bounds")


@pytest.mark.slow
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("loss", EVERY, ids=lambda loss: f"{loss.name}-{loss.outputs}")
def test_every_fit_that_has_an_optimum_ends_with_a_true_proof(loss, situation):
    """A quarter of the penalties each, with intercept or without: every loss meets every penalty and every situation."""
    number = SITUATIONS.index(situation)
    turn = number + EVERY.index(loss)
    intercept, rng = turn % 2 == 0, np.random.default_rng([7, number])
    x = columns(situation, rng)
    y, rows = target(loss, rng, np.asarray(x, dtype=float)), len(x)
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=rows) if situation == "float32 weights" else None
    offset = rng.normal(size=(rows, loss.outputs)) if situation == "offset" else None
    design = as_design(x, intercept=intercept)
    dense, penalty_factors = np.asarray(design.dense(), dtype=float), np.ones(design.shape[1])
    penalty_factors[: int(intercept)] = 0.0
    for count, penalty in enumerate(penalties(penalty_factors)):
        if (count + turn // 2) % 4 or not posed(loss, penalty, situation, intercept):
            continue
        result = fit(Memory(design, y, weight, offset), loss, penalty)
        verdict, case = result.verdict, (penalty, intercept)
        assert verdict.kind in PROVEN, (case, verdict.sentence)
        if verdict.kind == "at_infinity":
            continue
        best = rival(loss, dense, y, weight, offset, penalty)
        if best is not None:
            assert result.objective - best <= verdict.gap + 1e-13 * abs(best), (case, verdict.sentence)
        proven = checked(loss, dense, y, weight, offset, penalty, intercept, result)
        gain = verdict.evidence["null_objective"] - (result.objective - verdict.gap)
        # targets are of size one; the checker's own bounds on rounding are a little wider or narrower
        enough = verdict.gap + 1e-7 * gain + 1e-10 * abs(result.objective) + 1e-13
        assert proven is not None, (case, verdict.sentence)
        assert proven <= enough, (case, verdict.sentence)
