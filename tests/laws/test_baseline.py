"""The baseline: of corners beside several unpenalized columns against HiGHS, of classes of hardly any weight in 60 digits."""

from __future__ import annotations

import csv

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog

from lineal.certify.baseline import baseline_fit
from lineal.designs import as_design
from lineal.estimators.fitted import model_of
from lineal.fitting.fitting import fit
from lineal.losses import Hinge, Logistic, Softmax, SquaredHinge
from lineal.model.target import Target
from lineal.penalties import L1, Ridge
from lineal.problem.problem import Problem
from lineal.sources.memory import Memory
from lineal.verify import verify
from lineal.verify.losses import BY_NAME
from lineal.verify.problem.formulas import Problem as Checked
from lineal.verify.problem.penalties import Penalty
from lineal.verify.proof.baseline import baseline_objective
from tests.laws.catalogue import minimised

LOSSES = minimised(smooth=False)
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def pieces(loss, y):
    """Return intercepts and slopes by score of the linear pieces whose largest is a row's loss."""
    one = np.ones_like(y)
    if loss.name == "hinge":
        return [(0.0 * y, 0.0 * y), (one, 1.0 - 2.0 * y)]
    up, down = {"quantile": (0.7, 0.3)}.get(loss.name, (1.0, 1.0))
    width = loss.parameters().get("epsilon", 0.0)
    return [(0.0 * y, 0.0 * y), (up * (-y - width), up * one), (down * (y - width), -down * one)]


def program(loss, x, y, share, offset):
    """Return min over b of the sum of largest pieces: scores of these columns, with their offsets."""
    n, p = x.shape
    rows, right = [], []
    if loss.outputs == 1:
        for at, slope in pieces(loss, y[:, 0]):
            rows.append(np.hstack([slope[:, None] * x, -np.eye(n)]))
            right.append(-at - slope * offset[:, 0])
    else:
        own = y[:, 0].astype(int)
        for k in range(loss.outputs):
            apart = np.zeros((n, loss.outputs, p))
            apart[:, k] += x
            apart[np.arange(n), own] -= x
            rows.append(np.hstack([apart.reshape(n, -1), -np.eye(n)]))
            right.append(-1.0 * (own != k) - offset[:, k] + offset[np.arange(n), own])
    free = rows[0].shape[1] - n
    cost = np.concatenate([np.zeros(free), share])
    bounds = [(None, None)] * (free + n)
    found = linprog(cost, np.vstack(rows), np.concatenate(right), bounds=bounds, method="highs", options=TIGHT)
    assert found.status == 0
    return found.fun


def drawn(loss, seed):
    """Return rows, targets, weights and offsets; columns of several units, whole numbers among them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 50))
    x = rng.normal(size=(n, 4)) * 10.0 ** rng.integers(-2, 3, size=4)
    x[:, :2] = np.round(x[:, :2]) if seed % 3 == 2 else x[:, :2]
    eta = x @ rng.normal(size=4) / 10.0 + rng.normal(size=n)
    y = (eta > 0.0) * 1.0 if loss.name == "hinge" else np.digitize(eta, [-0.5, 0.5]) if loss.outputs > 1 else eta
    weight = rng.uniform(0.1, 3.0, size=n) if seed % 2 else np.ones(n)
    offset = rng.normal(size=(n, loss.outputs)) * (seed % 2)
    return x, y.astype(float)[:, None], weight, offset


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("free", [(0, 2), (0, 1, 3), (1, 2)], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_the_null_fit_is_the_best_of_all_unpenalized_columns(loss, free, seed):
    """Also where the intercept itself is penalized."""
    x, y, weight, offset = drawn(loss, seed)
    penalty_factors = np.ones(5)
    penalty_factors[list(free)] = 0.0
    columns = as_design(x).dense()
    best = program(loss, columns[:, list(free)], y, weight / weight.sum(), offset)
    found = baseline_fit(Problem.of(Memory(as_design(x), y, weight, offset), loss, Ridge(1.0, penalty_factors)))
    assert found.value == pytest.approx(best, rel=1e-9, abs=1e-11)
    assert not np.any(found.coef[penalty_factors > 0.0])


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("free", [(0, 2), (0, 1, 3)], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_the_checker_finds_the_same_null_fit(loss, free, seed):
    x, y, weight, offset = drawn(loss, seed)
    penalty_factors = np.ones(5)
    penalty_factors[list(free)] = 0.0
    columns, share = as_design(x).dense(), weight / weight.sum()
    told = np.eye(loss.outputs)[y[:, 0].astype(int)] if loss.outputs > 1 else y
    parameter = next(iter(loss.parameters().values()), 0.0)
    problem = Checked(
        BY_NAME[loss.name], columns, told, share, offset, Penalty.ridge(penalty_factors), True, np.arange(len(x)), parameter
    )  # fmt: skip
    best = program(loss, columns[:, list(free)], y, share, offset)
    assert baseline_objective(problem) == pytest.approx(best, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("penalty", [Ridge, L1])
@pytest.mark.parametrize("met", [False, True])
def test_files_with_several_unpenalized_columns_are_confirmed(loss, penalty, met, tmp_path):
    """``met``: the unpenalized columns meet every row by themselves, so that there is nothing to gain."""
    rng = np.random.default_rng(3)
    x = rng.integers(-5, 6, size=(40, 4)).astype(float)
    eta = x[:, 0] if met else x[:, 0] + x[:, 2] + 3.0 * rng.normal(size=40)
    numbers = loss.name in ("absolute", "quantile", "epsilon-insensitive")
    y = eta if numbers else (eta > 0.5) * 1.0 if loss.outputs == 1 else np.digitize(eta, [-1.5, 1.5]).astype(float)
    columns = ("(intercept)", "x0", "x1", "x2", "x3")
    source = Memory(as_design(x), y[:, None], columns=columns)
    found = fit(source, loss, penalty(0.1, np.array([0.0, 0.0, 0.0, 1.0, 1.0])))
    assert found.verdict.kind == "optimal", found.verdict.sentence
    best = program(loss, as_design(x).dense()[:, :3], y[:, None], np.full(40, 1 / 40), np.zeros((40, loss.outputs)))
    assert found.verdict.evidence["null_objective"] == pytest.approx(best, rel=1e-9, abs=1e-12)
    classes = None if numbers else tuple(range(max(loss.outputs, 2)))
    target = Target("y", "number") if numbers else Target("y", "classes", classes=classes)
    model_of(found, target, 1e-6).save(tmp_path / "m.lineal")
    with (tmp_path / "d.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["y", *columns[1:]])
        writer.writerows([repr(float(t)) if numbers else int(t), *row] for t, row in zip(y, x.tolist(), strict=True))
    assert verify(tmp_path / "m.lineal", tmp_path / "d.csv").passed


@pytest.mark.slow
@pytest.mark.parametrize(
    "loss", [Logistic(), Softmax(2), Softmax(3), Hinge(), SquaredHinge()], ids=lambda loss: loss.name
)
@pytest.mark.parametrize("rows", [6, 60_000])
@pytest.mark.parametrize("heavy", [0, 1])
@pytest.mark.parametrize("share", [0.1, 1e-9, 1e-13, 1e-16, 1e-21])
def test_the_null_fit_of_classes_with_hardly_any_weight(loss, rows, heavy, share):
    """One minus a share within rounding of 1 had no digits left, and shares below e^-40 counted as that."""
    count = max(loss.outputs, 2)
    y = np.arange(rows) % count
    weight = np.where(y == heavy, 1.0, share)
    with mpmath.workdps(60):
        sums = [mpmath.mpf(rows // count) * mpmath.mpf(float(weight[k])) for k in range(count)]
        shares = [s / mpmath.fsum(sums) for s in sums]
        true = -mpmath.fsum(s * mpmath.log(s) for s in shares)
        if loss.name == "hinge":
            true = 2 * min(shares)
        elif loss.name == "squared-hinge":  # (1 - c)^2 and (1 + c)^2 in shares, at c the difference of the shares
            true = 2 * shares[0] * shares[1]
    x = np.random.default_rng(0).normal(size=(rows, 1))
    penalty_factors = np.array([0.0, 1.0])
    found = baseline_fit(Problem.of(Memory(as_design(x), y[:, None] * 1.0, weight), loss, Ridge(1.0, penalty_factors)))
    assert found.value == pytest.approx(float(true), rel=1e-12, abs=0.0)
    told = np.eye(count)[y] if loss.outputs > 1 else y[:, None] * 1.0
    offset, ridge = np.zeros((rows, loss.outputs)), Penalty.ridge(penalty_factors)
    problem = Checked(
        BY_NAME[loss.name], as_design(x).dense(), told, weight / weight.sum(), offset, ridge, True, np.arange(rows), 0.0
    )  # fmt: skip
    assert baseline_objective(problem) == pytest.approx(float(true), rel=1e-12, abs=0.0)
