"""Dual points solved in integers: allowed exactly, never more than the truth, and confirmed by the checker."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize

import lineal
from lineal.certify import exact
from lineal.certify.rows import bound
from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.losses import CrammerSinger, EpsilonInsensitive, Hinge, Sparsemax
from lineal.penalties import L1, ElasticNet, NoPenalty
from lineal.problem.problem import Problem
from lineal.sources.memory import Memory
from lineal.verify import Refused, verify
from tests.laws.catalogue import minimised

LOSSES = [loss for loss in minimised() if loss.lean(*np.zeros((2, 1, loss.outputs))) is not None or not loss.smooth]


def table(seed, loss, kind="plain"):
    """Return cells, targets and weights of a few rows."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(10, 31)), int(rng.integers(1, 5))
    x = rng.normal(size=(n, p))
    x = {"plain": x, "whole": np.round(x), "hot": (x > 0.5).astype(float)}[kind]
    if loss.coupled:
        y = rng.integers(0, 3, size=n)
        y[:3] = range(3)
    elif loss.of_classes():
        y = rng.integers(0, 2, size=n)
    else:
        y = np.round(2.0 * rng.normal(size=n)) if kind != "plain" else rng.normal(size=n)
    return x, y.astype(float), rng.choice([0.5, 1.0, 3.0], size=n) if seed % 2 else None


def posed(x, y, weight, loss):
    source = Memory(as_design(x), y, weight)
    return Problem.of(source, loss, NoPenalty(x.shape[1] + 1))


def crammer_singer(x, y, weight):
    """Return the optimum without a penalty, from a linear program: min sum w (xi_i - eta_iy), xi_i >= eta_ik + [k != y]."""
    n, z = len(y), np.column_stack([np.ones(len(y)), x])
    w = np.ones(n) / n if weight is None else weight / weight.sum()
    p = z.shape[1]
    cost, rows, right = np.zeros(3 * p + n), [], []
    cost[3 * p :] = w
    for i in range(n):
        own = int(y[i])
        cost[own * p : (own + 1) * p] -= w[i] * z[i]
        for k in range(3):
            row = np.zeros(3 * p + n)
            row[k * p : (k + 1) * p], row[3 * p + i] = z[i], -1.0
            rows.append(row)
            right.append(-float(k != own))
    free = [(None, None)] * (3 * p + n)
    return optimize.linprog(cost, np.array(rows), np.array(right), bounds=free, method="highs").fun


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("kind", ["plain", "whole", "hot"])
def test_what_is_solved_is_zero_but_for_one_rounding_and_in_the_domain(loss, kind):
    found = 0
    for seed in range(20):
        x, y, weight = table(seed, loss, kind)
        problem = posed(x, y, weight, loss)
        done = fit(problem.source, loss, problem.penalty)
        theta = done.arrays.get("theta", loss.slope(y[:, None], as_design(x).times(done.coef)))
        point = exact.settled(problem, problem.tied, theta)
        if point is None:
            continue
        found += 1
        s = np.ones(len(y)) if weight is None else weight
        for column in np.column_stack([np.ones(len(y)), x]).T:
            for output in point.T:
                terms = [Fraction(a) * Fraction(b) * Fraction(c) for a, b, c in zip(s, column, output, strict=True)]
                assert abs(sum(terms)) <= Fraction(2) ** -52 * sum(map(abs, terms))
        assert np.all(np.isfinite(loss.conjugate(y[:, None], point)))
    assert found >= 15


def test_nothing_is_found_where_nothing_is_allowed():
    """All rows are of one class and beyond their margin: theta is -1 everywhere, and no sum of it is zero."""
    x, y = np.arange(4.0)[:, None], np.ones(4)
    problem = posed(x, y, None, Hinge())
    assert exact.settled(problem, problem.tied, -np.ones((4, 1))) is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "whole", "hot"])
def test_no_gap_is_below_the_truth(kind):
    """Coefficients and dual points of all sorts, good and bad, beside the optimum of a linear program."""
    loss = CrammerSinger(3)
    for seed in range(12):
        x, y, weight = table(seed, loss, kind)
        problem, best = posed(x, y, weight, loss), crammer_singer(x, y, weight)
        rng = np.random.default_rng(seed)
        done = fit(problem.source, loss, problem.penalty)
        assert done.objective == pytest.approx(best, abs=1e-8)
        hints = [None, done.arrays["theta"], done.arrays["theta"] + 1e-5 * rng.normal(size=(len(y), 3))]
        for coef in (done.coef, done.coef + 0.1 * rng.normal(size=done.coef.shape), rng.normal(size=done.coef.shape)):
            for theta in (*hints, rng.normal(size=(len(y), 3))):
                shown = bound(problem, coef, theta)
                assert shown.gap is not None
                assert shown.gap >= problem.evaluate(coef).value - best - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("kind", ["plain", "whole", "hot"])
def test_every_optimum_of_a_few_rows_without_a_penalty_is_proven(loss, kind):
    kinds = [fit(posed(*table(seed, loss, kind), loss).source, loss, NoPenalty(table(seed, loss, kind)[0].shape[1] + 1))
             for seed in range(100, 140)]  # fmt: skip
    assert [seed for seed, done in enumerate(kinds) if done.verdict.kind != "optimal"] == []


def test_sparsemax_takes_few_steps_where_no_row_bends_in_some_direction():
    """A class that is apart from the others leaves directions without curvature; they were walked in thousands of steps."""
    steps = []
    for seed in range(40):
        x, y, _ = table(2 * seed, Sparsemax(3))
        done = fit(Memory(as_design(x), y), Sparsemax(3), NoPenalty(x.shape[1] + 1))
        assert done.verdict.kind == "optimal"
        steps.append(len(done.trace))
    assert max(steps) <= 60


@pytest.mark.parametrize("penalty", [L1(0.1, np.ones(2)), ElasticNet(0.1, 0.5, np.ones(2))], ids=lambda p: p.name)
def test_where_the_null_fit_loses_nothing_it_is_the_optimum(penalty):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(27, 2)), rng.uniform(-1.0, 1.0, size=27)
    done = fit(Memory(as_design(x, intercept=False), y), EpsilonInsensitive(3.0), penalty)
    assert (done.verdict.kind, done.verdict.gap, done.objective) == ("optimal", 0.0, 0.0)
    assert not done.coef.any()


@pytest.mark.parametrize(("model", "loss"), [("svm", CrammerSinger(3)), ("sparsemax", Sparsemax(3))])
@pytest.mark.parametrize("kind", ["plain", "hot"])
def test_the_checker_confirms_them_and_nothing_else(model, loss, kind, tmp_path):
    for seed in range(8):
        x, y, _ = table(seed, loss, kind)
        names = [f"x{j}" for j in range(x.shape[1])]
        lines = [",".join([*map(repr, row), "abc"[int(label)]]) for row, label in zip(x.tolist(), y, strict=True)]
        (tmp_path / "rows.csv").write_text("\n".join([",".join([*names, "label"]), *lines]) + "\n")
        given = {"model": model, "penalty": "none", "types": dict.fromkeys(names, "number"), "multiclass": "direct"}
        fitted = lineal.fit(tmp_path / "rows.csv", "label", **given)
        assert fitted.verdict.kind == "optimal"
        fitted.save(tmp_path / "model.lineal")
        verify(tmp_path / "model.lineal", tmp_path / "rows.csv")
        fitted.coef[:, 0] += 0.01
        fitted.coef[:, 1] -= 0.01
        fitted.save(tmp_path / "model.lineal")
        with pytest.raises(Refused):
            verify(tmp_path / "model.lineal", tmp_path / "rows.csv")
