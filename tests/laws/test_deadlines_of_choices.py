"""Who makes many fits in one time limit shares it: paths, folds, cross-validation, members, models that are compared, a stack."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import lineal
from lineal import estimators
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.ground.deadline import Deadline
from lineal.losses import (
    Logistic,
    Softmax,
    Squared,
)
from lineal.paths.folds import trials
from lineal.paths.strengths import path
from lineal.penalties import L1, ElasticNet, Ridge
from lineal.sources.memory import Memory
from tests.laws.clocks import Clock, counted, penalty_factors, rows


@pytest.mark.parametrize(
    ("loss", "family", "p", "end"),
    [
        *((Squared(1), "l1", 6, end) for end in (1, 2, 4)),
        *((Squared(1), "elastic", 400, end) for end in (1, 5, 20)),
        *((Logistic(), "l1", 6, end) for end in (10, 25, 60)),
        *((Logistic(), "l1", 700, end) for end in (10, 25, 60)),
        *((Squared(1), "ridge", 6, end) for end in (1, 10, 15)),
    ],
)
def test_the_points_a_path_has_no_time_for_cost_nothing(loss: Any, family: str, p: int, end: int) -> None:
    clock = Clock()
    source = counted(loss, clock, p=p)
    makes = {
        "l1": L1(1.0, penalty_factors(source)),
        "elastic": ElasticNet(1.0, 0.5, penalty_factors(source)),
        "ridge": Ridge(1.0, penalty_factors(source)),
    }
    grid = np.geomspace(0.3, 1e-4, 40)
    deadline = Deadline(float(end), 3.0, clock)
    found = path(source, loss, makes[family], grid, time_limit=deadline, tol=1e-9)
    assert len(found.points) == 40
    assert found.strengths == pytest.approx(grid)
    assert found.reached < 40
    assert sum(time >= deadline.last.end for time in source.began) <= 3
    # From the end on, every point asks once what time it is.
    assert clock.now <= deadline.last.end + 40 + 8
    x, y = rows(loss, p=p)
    for last, point in zip(found.points, found.points[1:], strict=False):
        if "nothing was fitted" in (point.verdict.reason or ""):
            assert (point.verdict.kind, point.verdict.gap) == ("budget", None)
            assert np.array_equal(point.coef, last.coef)
            eta = point.coef[0, 0] + x @ point.coef[1:, 0]
            mean = np.mean(0.5 * (eta - y.ravel()) ** 2 if loss.name == "squared" else np.logaddexp(0.0, eta) - y * eta)
            size, square = np.sum(np.abs(point.coef[1:])), 0.5 * np.sum(point.coef[1:] ** 2)
            penalty_factor = {"l1": size, "elastic": 0.5 * size + 0.5 * square, "ridge": square}[family]
            assert point.objective == pytest.approx(mean + point.strength * penalty_factor, rel=1e-9)
    assert "nothing was fitted" in found.points[-1].verdict.reason


@pytest.mark.parametrize(("loss", "end"), [(Squared(1), 1), (Squared(1), 8), (Logistic(), 1), (Logistic(), 200)])
def test_folds_share_the_time(loss: Any, end: int) -> None:
    """Only points that every fold had time for may be compared."""
    clock, (x, y) = Clock(), rows(loss, n=90)
    source = Memory(as_design(x), y)
    seen = [np.flatnonzero(np.arange(90) % 3 != k) for k in range(3)]
    family = L1(1.0, np.r_[0.0, np.ones(4)])
    grid = np.geomspace(0.3, 1e-4, 60).tolist()
    (found,) = trials(source, loss, [(family, lambda _: grid)], seen, deadline=Deadline(float(end), 1.0, clock))
    assert found.coef.shape == (3, 60, 5, 1)
    assert found.reached < 60
    for verdicts in found.verdicts:
        assert [verdict.kind for verdict in verdicts[: found.reached]] == ["optimal"] * found.reached
        assert verdicts[-1].kind == "budget"
    assert clock.now <= end + 3 * (60 + 12)


@pytest.mark.parametrize(("kind", "end"), [("lasso", 1), ("lasso", 20), ("logistic", 1), ("logistic", 600)])
def test_cross_validation_takes_what_it_could_compare(kind: str, end: int) -> None:
    x, y = rows(Logistic(), n=90)
    limit: Any = Deadline(float(end), 4.0, Clock())  # (the first look at the rows is within the grace)
    if kind == "lasso":
        model: Any = estimators.LassoCV(alphas=60, time_limit=limit).fit(x, y)
        errors, given, taken = model.mse_path_.mean(axis=1), model.alphas_, model.alpha_
    else:
        model = estimators.LogisticRegressionCV(Cs=60, time_limit=limit).fit(x, y)
        errors, given, taken = -model.scores_.mean(axis=(0, 1)), model.Cs_, model.C_
    assert math.isnan(errors[-1])
    reached = int(np.count_nonzero(~np.isnan(errors)))
    assert taken == given[int(np.nanargmin(errors)) if reached else 0]
    assert np.all(np.isnan(errors[reached:]))


@pytest.mark.parametrize("end", [1, 100])
def test_a_ridge_takes_none_of_the_strengths_it_had_no_time_for(end: int) -> None:
    x, y = rows(Logistic(), n=90)
    strengths, limit = np.geomspace(1e3, 1e-3, 60), Deadline(float(end), 4.0, Clock())
    model: Any = estimators.RidgeCV(strengths, cv=5, time_limit=limit).fit(x, y)
    late = [sum("time limit" in (verdict.reason or "") for verdict in fold) for fold in model.verdicts_]
    assert max(late) > 0
    assert model.alpha_ >= strengths[max(59 - max(late), 0)]


@pytest.mark.parametrize(
    ("end", "said"), [(1, "before any was tried"), (20, "before the first trial"), (200, "before all were")]
)
def test_a_strength_is_picked_in_a_share_of_the_time(end: int, said: str) -> None:
    x, y = rows(Softmax(3), n=300)
    model = lineal.fit(x, y, model="logistic", penalty="ridge:auto", time_limit=Deadline(float(end), 1.0, Clock()))
    assert "time limit" in model.report["selection"]["reason"]
    assert said in model.report["selection"]["reason"]


def test_members_share_the_time() -> None:
    x, y = rows(Softmax(5), n=200)
    clock = Clock()
    deadline = Deadline(100.0, 10.0, clock)
    found = lineal.fit(
        x, y, model="logistic", penalty=1e-6, multiclass="ovo", solver="gradient-descent", time_limit=deadline
    )
    assert {verdict.kind for verdict in found.verdicts} == {"budget"}
    assert clock.now <= deadline.last.end + 10 * 8


@pytest.mark.parametrize("shape", [(90, 4), (20, 60), (530, 540)])
@pytest.mark.parametrize("rule", ["best", "one-se"])
def test_leaving_one_out_keeps_the_time(shape: tuple[int, int], rule: str) -> None:
    """Late, the first alpha is taken, and no score is claimed; in time, nothing changes by a bit."""
    x, y = rows(Squared(1), n=shape[0], p=shape[1])
    alphas = (3.0, 0.1, 10.0)
    late = estimators.RidgeCV(alphas, rule=rule, time_limit=Deadline(3.0, 6.0, Clock())).fit(x, y[:, 0])
    assert math.isnan(late.best_score_)
    assert late.alpha_ == (3.0 if rule == "best" else 10.0)
    plain = estimators.RidgeCV(alphas, rule=rule).fit(x, y[:, 0])
    timely = estimators.RidgeCV(alphas, rule=rule, time_limit=1e9).fit(x, y[:, 0])
    assert plain.best_score_ == timely.best_score_
    assert (plain.alpha_, plain.coef_.tolist()) == (timely.alpha_, timely.coef_.tolist())


def test_models_that_are_compared_share_the_time() -> None:
    x, y = rows(Squared(1), n=300)
    table = {"a": x[:, 0], "b": x[:, 1], "y": y[:, 0]}
    models = ["linear", "huber", "quantile:0.5", "linear l1:auto"]
    for end in (30.0, 100.0):
        clock = Clock()
        found = lineal.compare(table, "y", models=models, time_limit=Deadline(end, 8.0, clock))
        assert len(found.entries) == 4
        assert clock.now <= end + 8.0 + 4 * 30
        kinds = {entry.name: entry.model.verdict.kind for entry in found.entries}
        assert "budget" in kinds.values()
    assert {e.model.verdict.kind for e in lineal.compare(table, "y", models=models, time_limit=1e9).entries} == {
        "optimal"
    }


def test_a_stack_keeps_one_time_limit() -> None:
    x, y = rows(Squared(1), n=300)
    table = {"a": x[:, 0], "b": x[:, 1], "y": y[:, 0]}
    bases = {
        "line": {"model": "linear", "penalty": "l1:auto"},
        "median": {"model": "quantile:0.5", "penalty": "ridge:0.1"},
    }
    clock = Clock()
    found = lineal.stack(table, "y", bases, folds=3, time_limit=Deadline(150.0, 8.0, clock))
    assert "budget" in {found.final.verdict.kind, *(model.verdict.kind for model in found.bases.values())}
    assert clock.now <= 158.0 + 9 * 30
    whole = lineal.stack(table, "y", bases, folds=3, time_limit=1e9)
    plain = lineal.stack(table, "y", bases, folds=3)
    assert whole.final.coef.tolist() == plain.final.coef.tolist()
    with pytest.raises(InputError, match="time limit is 0"):
        lineal.stack(table, "y", bases, time_limit=0)
