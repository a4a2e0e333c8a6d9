"""A time limit is kept: clocks are injected, and advance by one at every look, as every pass over rows takes."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import pytest

import lineal
from lineal import _core, estimators
from lineal.algebra.spectrum import eigen
from lineal.api.path_of_table import table_path
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.evidence import evidence
from lineal.fitting.firth import firth
from lineal.fitting.fitting import fit
from lineal.fitting.scale import scaled_huber
from lineal.ground.deadline import Deadline, LateError, in_time, shared, watched
from lineal.losses import (
    Logistic,
    Softmax,
    Squared,
    ZeroOne,
)
from lineal.penalties import L1, NoPenalty, Ridge
from lineal.perceptron.halfspace import judge
from lineal.perceptron.mistakes import mistaking
from lineal.perceptron.perceptron import Plan, present
from lineal.problem.moments import survey
from lineal.separation.gathering import gather
from lineal.separation.search import decide
from lineal.sources.memory import Memory
from tests.laws.catalogue import minimised
from tests.laws.clocks import Clock, counted, penalty_factors, rows

LOSSES = minimised()
SETTLED = {"optimal", "not_unique", "at_infinity"}


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name}-{loss.outputs}")
@pytest.mark.parametrize("family", ["none", "ridge", "l1"])
@pytest.mark.parametrize("end", [0, 3, 10, 40])
def test_a_fit_ends_soon_after_its_deadline(loss: Any, family: str, end: int) -> None:
    """Wherever it is cut: no pass begins after the grace, and what is said holds for the coefficients that are given."""
    clock = Clock()
    source = counted(loss, clock)
    penalty = {
        "none": NoPenalty(len(source.columns)),
        "ridge": Ridge(1e-3, penalty_factors(source)),
        "l1": L1(1e-3, penalty_factors(source)),
    }[family]
    deadline = Deadline(float(end), 4.0, clock)
    found = fit(source, loss, penalty, time_limit=deadline)
    assert found.verdict.kind in SETTLED | {"budget"}
    assert np.all(np.isfinite(found.coef))
    # One look may meet the end in each of: the baseline, the steps, the proof, the covariance; the survey comes before. Where
    # there was no step and no baseline, the objective of what is returned takes a pass.
    assert sum(time >= deadline.last.end for time in source.began) <= 4 + (not len(found.trace))
    assert clock.now <= deadline.last.end + 8
    best = fit(source, loss, penalty)
    if found.verdict.gap is not None and best.verdict.gap is not None:
        value, least = found.problem.evaluate(found.coef).value, best.objective - best.verdict.gap
        assert value - best.objective <= found.verdict.gap + 1e-9 * abs(value)
        assert found.objective - found.verdict.gap <= best.objective + 1e-9 * abs(least)
    if found.verdict.kind == "budget":
        assert found.verdict.reason is not None
        assert "time limit" in found.verdict.reason


def test_without_time_for_a_proof_no_gap_is_claimed() -> None:
    clock = Clock()
    source = counted(Softmax(3), clock, n=600, p=8)
    found = fit(source, Softmax(3), NoPenalty(9), time_limit=Deadline(12.0, 0.0, clock))
    assert (found.verdict.kind, found.verdict.gap) == ("budget", None)
    assert found.verdict.sentence == (
        "Stopped without a proof: the time limit was reached; a proof would have taken longer."
    )


def test_a_deadline_far_away_changes_no_bit() -> None:
    x, y = rows(Softmax(3))
    source = Memory(as_design(x), y)
    for loss, penalty in ((Softmax(3), NoPenalty(5)), (Softmax(3), Ridge(0.1, np.r_[0.0, np.ones(4)]))):
        plain, limited = (fit(source, loss, penalty, time_limit=limit) for limit in (None, 1e9))
        assert np.array_equal(plain.coef, limited.coef)
        assert plain.verdict == limited.verdict


def test_halfspaces_keep_the_time() -> None:
    x, y = rows(Softmax(3), n=300, p=6)
    source = Memory(as_design(x), y)
    with pytest.raises(LateError):
        decide(gather(source), Deadline(3.0, 0.0, Clock()))
    clock = Clock()
    plan = Plan(epochs=1000, deadline=Deadline(20.0, 0.0, clock))
    run = present(source, 3, plan)
    assert (run.stopped, run.epochs) == ("the time limit was reached", 19)
    found = judge(source, run, plan, deadline=plan.deadline)
    assert found.verdict.kind == "budget"
    assert "before the oracle had an answer" in found.verdict.sentence
    two = Memory(as_design(x[:, :2]), (y > 0).astype(float))
    halfspace = mistaking(
        two, ZeroOne(), survey(two, ZeroOne()), deadline=Deadline(30.0, 0.0, Clock()), tol=1e-6, interrupt="raise"
    )
    assert halfspace.verdict.kind == "budget"
    assert halfspace.verdict.gap is not None


def test_firth_and_the_scale_of_huber_keep_the_time() -> None:
    x, y = rows(Logistic(), n=200)
    found = firth(Memory(as_design(x), y), time_limit=Deadline(4.0, 0.0, Clock()))
    assert (found.verdict.kind, found.verdict.reason) == ("budget", "the time limit was reached")
    clock, (x, y) = Clock(), rows(Squared(1), n=200)
    both = scaled_huber(Memory(as_design(x), y), 1.35, 0.0, np.zeros(5), time_limit=Deadline(3.0, 0.0, clock))
    assert both.verdict.kind == "budget"
    assert both.scale > 0.0
    assert clock.now <= 30.0


LIMITED = [
    getattr(estimators, name)
    for name in estimators.__all__
    if "time_limit" in getattr(getattr(estimators, name), "__init__").__code__.co_varnames  # noqa: B009
]


ONE_GO = {
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "GaussianProcessRegressor",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KernelPerceptron",
    "KernelRidge",
    "LinearDiscriminantAnalysis",
    "MultinomialNB",
    "QuadraticDiscriminantAnalysis",
}
"""Those that count, look up or factor once: there are no steps to stop between."""


def rows_for(kind: Any, n: int) -> tuple[Any, Any]:
    """Return rows with two classes, as a column where several targets are asked for."""
    x, y = rows(Logistic(), n=n)
    return x, y.reshape(-1, 1) if kind.__name__.startswith("MultiTask") else y


def test_who_has_a_time_limit() -> None:
    without = set(estimators.__all__) - {kind.__name__ for kind in LIMITED}
    assert {name for name in without if hasattr(getattr(estimators, name), "predict")} == ONE_GO


@pytest.mark.parametrize("kind", LIMITED, ids=lambda kind: kind.__name__)
def test_estimators_take_seconds(kind: Any) -> None:
    x, y = rows_for(kind, 40)
    assert kind().time_limit is None
    for wrong in (0, -1.0, math.nan, "1", True):
        with pytest.raises(InputError, match=r"time.limit is"):
            kind(time_limit=wrong).fit(x, y)
    plain, limited = kind().fit(x, y), kind(time_limit=1e9).fit(x, y)
    assert np.array_equal(plain.predict(x), limited.predict(x))
    if not kind.__name__.startswith(("SV", "Kernel", "Table")):  # (theirs are those of support rows, or of model_)
        assert np.array_equal(plain.coef_, limited.coef_)
    assert plain.verdict_ == limited.verdict_


def test_a_watch_is_of_one_thread_and_is_given_back() -> None:
    late, never = Deadline(0.0, 0.0, lambda: 1.0), Deadline(2.0, 0.0, lambda: 1.0)
    design = as_design(np.ones((3, 2)))
    with watched(late):
        with watched(never):
            design.times(np.ones((3, 1)))
        with pytest.raises(LateError):
            design.times(np.ones((3, 1)))
        done: list[bool] = []
        thread = threading.Thread(target=lambda: done.append(design.times(np.ones((3, 1))) is not None))
        thread.start()
        thread.join()
        assert done == [True]
        with pytest.raises(LateError):
            in_time(None, _core.heed, lambda: None)
    _core.heed()
    assert in_time(late, lambda: 1, lambda: 2) == 1
    assert shared(None, 3) is None


def test_a_pass_under_way_ends() -> None:
    """It asks again about every 50 ms, and while it waits for the other threads."""
    asked: list[int] = []

    def look() -> None:
        asked.append(1)
        if len(asked) > 1:
            raise LateError

    design, weight = as_design(np.ones((4000, 2500))), np.ones(4000)

    def passes() -> None:
        for _ in range(100):
            asked.clear()
            design.gram(weight)

    before = _core.watch(look)
    try:
        with pytest.raises(LateError):
            passes()
    finally:
        _core.watch(before)


@pytest.mark.parametrize("end", [2, 4, 8, 12, 20, 1000])
def test_the_evidence_keeps_the_time(end: int) -> None:
    """Wherever it is cut: a posterior, or coefficients that claim nothing; the objective is that of the coefficients."""
    clock = Clock()
    source = counted(Squared(1), clock, n=90)
    deadline = Deadline(float(end), 6.0, clock)
    found = evidence(source, time_limit=deadline)
    assert sum(time >= deadline.last.end for time in source.began) <= 4
    assert clock.now <= deadline.last.end + 12
    x, y = rows(Squared(1), n=90)
    residual = y[:, 0] - found.coef[0, 0] - x @ found.coef[1:, 0]
    penalty_factor = found.noise / found.prior / 90.0
    value = 0.5 * np.mean(residual**2) + 0.5 * penalty_factor * np.sum(found.coef[1:] ** 2)
    assert found.fit.objective == pytest.approx(value, rel=1e-9)
    if found.late:
        assert (found.verdict.kind, found.verdict.gap) == ("budget", None)
        assert "time limit" in (found.verdict.reason or "")
        assert found.noise == pytest.approx(np.var(y))
        assert found.prior == 1.0
    else:
        assert found.verdict.kind == "stationary"
        assert np.all(np.isfinite(found.covariance))
    assert found.late == (end < 20)


def test_a_late_posterior_has_no_spread_and_says_so() -> None:
    x, y = rows(Squared(1), n=90)
    model = estimators.BayesianRidge(time_limit=Deadline(2.0, 6.0, Clock())).fit(x, y[:, 0])
    assert model.verdict_.kind == "budget"
    assert np.all(np.isnan(model.sigma_))
    assert np.all(np.isfinite(model.predict(x)))
    with pytest.raises(InputError, match="no posterior: the time limit ended the fit"):
        model.predict(x, return_std=True)
    late = lineal.fit({"x": x[:, 0], "y": y[:, 0]}, "y", model="bayes", time_limit=Deadline(8.0, 6.0, Clock()))
    assert (late.verdict.kind, late.penalty.name) == ("budget", "ridge")


class Jumping:
    """Says the same time until work is done, then that many seconds more."""

    def __init__(self, seconds: float) -> None:
        self.now, self.seconds, self.asked = 0.0, seconds, 0

    def __call__(self) -> float:
        self.asked += 1
        self.now += self.seconds if self.asked == 2 else 0.0
        return self.now


@pytest.mark.parametrize(("left", "begun"), [(40.0, True), (20.0, False)])
def test_eigenvalues_that_would_take_longer_are_not_begun(left: float, begun: bool, monkeypatch) -> None:
    """The corner of 256 columns takes a second, so 1024 take 4^2.7 = 42.2, of which one is over."""
    sizes = []
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (sizes.append(len(matrix)), (np.ones(2), np.eye(2)))[1])
    deadline = Deadline(left, 4.0, Jumping(1.0))
    if begun:
        eigen(np.eye(1024), deadline)
    else:
        with pytest.raises(LateError):
            eigen(np.eye(1024), deadline)
    assert sizes == ([256, 1024] if begun else [256])


@pytest.mark.parametrize("kind", LIMITED, ids=lambda kind: kind.__name__)
def test_without_time_for_a_first_look_there_is_a_sentence(kind: Any) -> None:
    """Its deadline was over before it began: an answer without a fit, or the sentence; never a claim."""
    x, y = rows_for(kind, 3000)
    model = kind(time_limit=Deadline(-10.0, 0.0, Clock()))
    if kind.__name__ in ("KernelLogisticRegression", "Perceptron", "SVC", "SVR"):
        assert model.fit(x, y).verdict_.kind == "budget"
    elif kind.__name__ in ("LogisticRegression", "PoissonRegressor", "Ridge", "RidgeClassifier"):  # over before a look
        assert model.fit(x, y).verdict_.kind == "optimal"
    else:
        with pytest.raises(
            InputError, match="time limit was reached before the rows had been looked at once; give more"
        ):
            model.fit(x, y)


def test_a_table_that_cannot_be_read_in_time_is_said(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{k % 7},{k % 5 * 0.5}\n" for k in range(500)))
    for call in (
        lambda limit: lineal.fit(path, "y", model="linear", time_limit=limit),
        lambda limit: lineal.compare(path, "y", models=["linear"], time_limit=limit),
        lambda limit: table_path(path, "y", model="linear", points=3, time_limit=limit),
    ):
        with pytest.raises(InputError, match="before the rows had been looked at once"):
            call(Deadline(0.0, 0.5, Clock()))
