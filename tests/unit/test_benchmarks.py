"""The benchmark harness: a sound registry, adapters that declare themselves, honest summaries."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import data, limits, pages, schedule, table, tiny, worker
from benchmarks.objective import Objective, largest, optimum, path
from benchmarks.peers import OURS, PEERS, YARDSTICK
from benchmarks.problems import COMMANDS, SIZES, Problem
from benchmarks.rows import GROUPS, PROBLEMS, ROWS, chosen, find

from lineal import losses

SMALL = "tiny"
WITHOUT_DATA = {"import", "tiny"}


def offered(rows: Iterable[str], peers: Iterable[str]) -> Any:
    """Return the pairs of a problem and a peer that takes it; a peer that is not installed is skipped."""
    pairs = [(problem, peer) for problem in chosen(",".join(rows)) for peer in peers]
    cases = [
        pytest.param(
            problem,
            peer,
            marks=pytest.mark.skipif(bool(absent := PEERS[peer].absent()), reason=absent or ""),
            id=f"{problem.name}-{peer}",
        )
        for problem, peer in pairs
        if not isinstance(PEERS[peer].offers(problem), str)
    ]
    return pytest.mark.parametrize(("problem", "peer"), cases)


def test_rows_are_chosen_by_name_by_group_and_by_data() -> None:
    assert [p.name for p in chosen("small-ridge,ols/mixed")] == [
        "small-ridge/diabetes",
        "small-ridge/alcohol",
        "ols/mixed",
    ]
    assert {p.row for p in chosen("small")} == set(GROUPS["small"])
    assert chosen(None) == list(PROBLEMS.values())
    assert find("ols/mixed@rows=7,columns=2").arguments("full") == {"rows": 7, "columns": 2}
    with pytest.raises(SystemExit, match="no row called 'olss'"):
        chosen("olss")


@pytest.mark.parametrize("row", ROWS)
def test_every_row_has_two_data_sets_made_differently(row: str) -> None:
    samples = [problem.sample for problem in ROWS[row]]
    if row not in WITHOUT_DATA:
        assert len({(sample.make, *sorted(sample.options.items())) for sample in samples}) == len(samples) >= 2
    assert all(problem.goal_of in ("", *PEERS) and problem.rival in (None, *PEERS) for problem in ROWS[row])


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=lambda p: p.name)
def test_sizes_are_those_the_maker_asks_for_and_shrink(problem: Problem) -> None:
    if problem.sample.make is None:
        assert problem.row in WITHOUT_DATA
        return
    assert problem.target > 0
    asked = inspect.signature(problem.sample.make).parameters
    required = {name for name, parameter in asked.items() if parameter.default is parameter.empty}
    for larger, smaller in pairwise(SIZES):
        assert required <= set(problem.arguments(smaller)) <= set(asked)
        assert all(problem.sizes[smaller][key] <= size for key, size in problem.sizes[larger].items())


def made(problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> data.Data:
    """Return a problem's data in the smallest size."""
    pytest.importorskip("sklearn")
    monkeypatch.setattr(data, "CACHE", tmp_path)
    data.make(problem, SMALL)
    return data.load(problem, SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("problem", [p for p in PROBLEMS.values() if p.task != "tiny"], ids=lambda p: p.name)
def test_every_row_reaches_its_target_and_certifies_the_reference_objective(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, ours = made(problem, tmp_path, monkeypatch), PEERS[OURS]
    if problem.task == "predict":
        fitted = ours.fit(problem, given, {})
        assert worker.predicted(ours, problem, given, fitted)["suboptimality"] <= problem.target
        return
    ours.prepare(problem, given)
    fitted = ours.fit(problem, given, ours.offers(problem)[0][0])
    assert abs(worker.reached(ours, problem, SMALL, given, fitted)) <= problem.target
    if "optimum" not in given.facts:
        return
    verdict = fitted.verdicts[-1] if problem.points else getattr(fitted, "verdict_", None) or fitted.verdict
    assert verdict.kind == "optimal"
    best = given.facts["optimum"][-1] if problem.points else given.facts["optimum"]
    # lineal's squared hinge is half of scikit-learn's
    factor = 2.0 if problem.loss == "squared-hinge" else 1.0
    certified = factor * verdict.evidence["objective"], factor * verdict.evidence["null_objective"]
    assert certified[0] == pytest.approx(best, abs=problem.target * given.facts["scale"])
    assert certified[1] == pytest.approx(given.facts["baseline"], rel=1e-7)


def test_tiny_tables_are_tiny_and_of_every_kind() -> None:
    fits = {kind: list(tiny.mixture(kind)) for kind in tiny.DESIGNS}
    assert set(fits) == {problem.sample.name for problem in ROWS["tiny"]}
    for kind, several in fits.items():
        assert {one.loss.name for one in several} <= {loss.name for loss in losses.ALL if loss.convex}
        assert len({(one.loss.name, one.penalty.name) for one in several}) == 13 * len(tiny.PENALTIES) - 1
        assert all(np.prod(one.source.whole.design.shape) < 1000 for one in several)
        again = list(tiny.mixture(kind))
        assert all(np.array_equal(a.source.whole.y, b.source.whole.y) for a, b in zip(several, again, strict=True))


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=lambda p: p.name)
def test_adapters_solve_or_say_why_not(problem: Problem) -> None:
    lacking = problem.task in ("separable", "tiny", "verify") or problem.row in ("huber", "perceptron-classes")
    for peer in PEERS.values():
        lines = peer.offers(problem)
        if isinstance(lines, str):
            assert len(lines) > 10
            assert peer.name != OURS
            assert peer.name != YARDSTICK or lacking
        else:
            assert lines
            assert all(line for line in lines)


def test_our_adapter_sets_only_the_tolerance() -> None:
    for problem in PROBLEMS.values():
        assert PEERS[OURS].lines(problem) in ([[{"tol": problem.target}]], [[{}]])


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
def test_the_reference_optimum_agrees_with_scipy(loss: str) -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = {
        "squared": rng.normal(size=80),
        "logistic": rng.integers(0, 2, 80).astype(float),
        "softmax": rng.integers(0, 3, 80),
    }[loss]
    penalty_factors = np.array([1.0, 0.5, 2.0]) if loss == "logistic" else None
    objective = Objective(loss, X, y, 0.1, penalty_factors)
    k = objective.outputs
    found = minimize(
        lambda b: objective.value(b[:-k].reshape(3, k), b[-k:]), np.zeros(4 * k), method="BFGS", options={"gtol": 1e-9}
    ).fun
    assert optimum(objective, 1e-8, "baseline") == pytest.approx(found, rel=1e-9)
    grid = [objective.value(np.zeros((3, k)), np.full(k, c) * np.arange(1, k + 1)) for c in np.linspace(-1, 1, 41)]
    assert objective.baseline() <= min(grid) + 1e-12


def test_the_reference_for_dependent_columns_is_the_projection() -> None:
    t = np.linspace(0.0, 1.0, 50)
    X = np.stack([t, t**2, t**3], axis=1)
    y = np.sin(5.0 * t)
    A = np.column_stack([np.ones(50), X])
    residual = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    assert optimum(Objective("squared", X, y, 0.0), 1e-2, "optimum") == pytest.approx(
        0.5 * np.mean(residual**2), rel=1e-9
    )


@pytest.mark.parametrize("loss", ["hinge", "absolute"])
def test_the_reference_of_a_loss_with_corners_agrees_with_a_linear_program(loss: str) -> None:
    from scipy.optimize import linprog

    rng = np.random.default_rng(1)
    n = 60
    X = rng.normal(size=(n, 3))
    y = rng.normal(size=n) if loss == "absolute" else (X[:, 0] + rng.normal(size=n) > 0.0).astype(float)
    A = np.column_stack([X, np.ones(n)])
    if loss == "absolute":
        cost, sides = 0.5, [np.hstack([A, -np.eye(n)]), np.hstack([-A, -np.eye(n)])]
        right = np.concatenate([y, -y])
    else:
        sign = (2.0 * y - 1.0)[:, None]
        cost, sides, right = 1.0, [np.hstack([-sign * A, -np.eye(n)])], -np.ones(n)
    bounds = [(None, None)] * 4 + [(0.0, None)] * n
    prices = np.concatenate([np.zeros(4), np.full(n, cost / n)])
    exact = linprog(prices, np.vstack(sides), right, bounds=bounds).fun
    assert optimum(Objective(loss, X, y, 0.0), 1e-7, "baseline") == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize("loss", ["squared-hinge", "huber", "huber-scale", "hinge"])
def test_the_reference_with_a_ridge_agrees_with_scipy(loss: str) -> None:
    from scipy import sparse
    from scipy.optimize import minimize

    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.standard_t(2.0, 80)
    y = (y > 0.0).astype(float) if loss.endswith("hinge") else y
    objective = Objective(loss, X, y, 0.1, threshold=1.35)
    extra = [1.0] if loss == "huber-scale" else []
    start, found = np.array([0.0] * 4 + extra), np.inf
    for _ in range(6):
        done = minimize(
            lambda b: objective.value(b[:3], b[3:]),
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 10_000, "maxfev": 20_000},
        )
        start, found = done.x, done.fun
    assert optimum(objective, 1e-6, "baseline") == pytest.approx(found, rel=1e-6)
    if loss.endswith("hinge"):
        thin = Objective(loss, sparse.csr_matrix(X), y, 0.1)
        assert optimum(thin, 1e-6, "baseline") == pytest.approx(found, rel=1e-6)
        grid = [objective.value(np.zeros(3), np.array([c])) for c in np.linspace(-2.0, 2.0, 401)]
        assert objective.baseline() <= min(grid) + 1e-12


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("thin", [False, True])
def test_the_reference_of_l1_meets_the_conditions_of_optimality(loss: str, thin: bool) -> None:
    from benchmarks import reference
    from scipy import sparse

    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 90)) * (rng.random((60, 90)) < 0.5)
    y = X[:, :4].sum(axis=1) + rng.normal(size=60)
    y = (y > 0.0).astype(float) if loss == "logistic" else y - y.mean()
    ones = loss == "logistic"
    given = sparse.csc_matrix(X) if thin else X
    top = largest(Objective(loss, given, y, 0.0, penalty="l1", ones=ones))
    b = np.zeros(90 + ones)
    for strength in (1.001 * top, 0.4 * top, 0.1 * top):
        b = reference.sparse(loss, given, y, strength, ones=ones, start=b)
        coef, shift = b[:90], b[90] if ones else 0.0
        eta = X @ coef + shift
        slope = (1.0 / (1.0 + np.exp(-eta)) if ones else eta) - y
        gradient = X.T @ slope / 60
        assert np.abs(gradient).max() <= strength * (1.0 + 1e-7)
        assert gradient[coef != 0.0] == pytest.approx(-strength * np.sign(coef[coef != 0.0]), rel=1e-6)
        assert not ones or abs(slope.mean()) < 1e-9
        assert np.any(coef) == (strength < top)
        objective = Objective(loss, given, y, strength, penalty="l1", ones=ones)
        assert path(objective, [strength]) == pytest.approx([objective.value(coef, np.atleast_1d(shift))])


def test_ours_the_rival_and_the_yardstick_run_before_other_peers() -> None:
    peers = ["glum", YARDSTICK, "celer", "snapml", OURS]
    plan = schedule.Plan([], peers, "table", 1)
    assert plan.order(PROBLEMS["logit/mixed"]) == [OURS, "snapml", YARDSTICK, "glum", "celer"]
    assert [peer for peer in peers if plan.must(PROBLEMS["logit/mixed"], peer)] == [YARDSTICK, "snapml", OURS]


def test_a_worker_answers_and_a_late_one_is_stopped() -> None:
    job = {"do": "make", "problem": "import/package", "size": SMALL}
    process = schedule.Process()
    assert process.ask(job, 60.0)["facts"] == {}
    assert "KeyError" in process.ask(job | {"problem": "nothing"}, 60.0)["error"]
    process.end()
    late = schedule.Process()
    assert late.ask(job, 0.001) == {"error": "stopped after 0 s"}
    late.end()


def test_a_process_that_died_before_reading_its_job_is_ended_like_any_other() -> None:
    dead = schedule.Process()
    dead.child.kill()
    dead.child.wait()
    assert dead.ask({"do": "make", "problem": "import/package", "size": SMALL}, 60.0) == {"error": "no answer"}
    dead.end()
    assert dead.errors.closed


def answers(seconds: dict[str, float]) -> Any:
    """Return workers that answer at once, and note who was asked to do what."""
    asked: list[tuple[str, str | None]] = []

    def ask(plan: Any, job: dict[str, Any], peer: str | None, limit: float) -> dict[str, Any]:
        asked.append((job["do"], peer))
        if job["do"] == "make":
            return {"facts": {}}
        found = {"search": {"setting": job["lines"][0][0], "tried": []}} if "lines" in job else {}
        return {"seconds": seconds[peer or ""], "suboptimality": 0.0, **found}

    return asked, ask


def test_peers_are_interleaved_and_a_hopeless_one_is_timed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, ask = answers({OURS: 1.0, YARDSTICK: 9.0, "by hand": 2.0})
    monkeypatch.setattr(data, "CACHE", tmp_path)
    monkeypatch.setattr(schedule.Plan, "ask", ask)
    plan = schedule.Plan([PROBLEMS["logit/mixed"]], [OURS, YARDSTICK, "by hand"], "table", 3)
    records = list(schedule.run(plan))
    order = [peer for do, peer in asked if do == "time"]
    assert order == [OURS, YARDSTICK, "by hand", OURS, "by hand", OURS, "by hand"]
    assert records[-1] == {"kind": "done", "problem": "logit/mixed"}
    settings = {record["peer"]: record["setting"] for record in records if record["kind"] == "setting"}
    assert settings[OURS] == {"tol": 1e-6}
    kept = schedule._store(PROBLEMS["logit/mixed"], "table", YARDSTICK)
    assert settings[YARDSTICK] == {"tol": 0.1, "solver": "newton-cholesky"}
    assert kept.exists()


def test_a_killed_run_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import __main__ as command

    asked, ask = answers({OURS: 1.0, "by hand": 2.0})
    monkeypatch.setattr(data, "CACHE", tmp_path)
    monkeypatch.setattr(schedule.Plan, "ask", ask)
    monkeypatch.setattr(command.limits, "roof", lambda: None)
    words = ["--only", "ols", "--peers", f"{OURS},by hand", "--repeat", "1", "--results", str(tmp_path / "r.jsonl")]
    header, records = command._run(command.parser().parse_args(words))
    assert [peer for _, peer in asked] == 2 * [None, OURS, "by hand"]
    lines = (tmp_path / "r.jsonl").read_text().splitlines(keepends=True)
    second = next(k for k, line in enumerate(lines) if "photographs" in line)
    (tmp_path / "r.jsonl").write_text("".join(lines[: second + 2]) + '{"kind": "ru')
    asked.clear()
    assert command._run(command.parser().parse_args(words))[0] == header
    assert [peer for _, peer in asked] == [None, OURS, "by hand"]
    found = table.entries(records)
    assert {entry.problem.name for entry in found} == {"ols/mixed", "ols/photographs"}


FITS = (
    "ridge",
    "logit",
    "logit-sparse",
    "small-logistic",
    "softmax",
    "lasso",
    "l1-logit",
    "hinge",
    "sq-hinge",
    "huber",
)


@pytest.mark.slow
@offered((*FITS, "median"), (YARDSTICK, "by hand"))
def test_a_small_problem_runs_through_two_adapters(
    problem: Problem, peer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = PEERS[peer].lines(problem)
    given = made(problem, tmp_path, monkeypatch)
    job = {"size": SMALL, "patience": 5.0, "lines": lines}
    answer = worker.loosest(PEERS[peer], problem, given, job)
    assert "missed" not in answer
    fitted = PEERS[peer].fit(problem, given, answer["setting"])
    reached = worker.reached(PEERS[peer], problem, SMALL, given, fitted)
    assert -1e-3 * problem.target <= reached <= problem.target


@offered(("separable", "overlapping"), (OURS, "linprog"))
def test_a_question_is_answered_as_the_data_was_made(
    problem: Problem, peer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = made(problem, tmp_path, monkeypatch)
    assert given.facts["separable"] == (problem.row == "separable")
    for (setting,) in PEERS[peer].offers(problem):
        fitted = PEERS[peer].fit(problem, given, setting)
        # on whole numbers near the plane, linprog's tolerance is wider than the margin, and it says no
        right = (peer, problem.name) != ("linprog", "separable/whole") or fitted
        assert worker.reached(PEERS[peer], problem, SMALL, given, fitted) == float(not right)
        wrong = replace(given, facts={**given.facts, "separable": problem.row != "separable"})
        assert worker.reached(PEERS[peer], problem, SMALL, wrong, fitted) == float(right)
    assert PEERS[YARDSTICK].offers(problem) == "has nothing for the task 'separable'"


@offered(GROUPS["perceptron"], (OURS, YARDSTICK, "numba loop"))
def test_epochs_end_with_the_weights_of_a_plain_loop(
    problem: Problem, peer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = made(problem, tmp_path, monkeypatch)
    fitted = PEERS[peer].fit(problem, given, {})
    assert worker.reached(PEERS[peer], problem, SMALL, given, fitted) == 0.0
    assert data.strayed(problem, SMALL, PEERS[peer].coefficients(problem, fitted)[0] + 1.0) > 0.0


@pytest.mark.parametrize("problem", chosen("csv"), ids=lambda p: p.name)
def test_the_table_file_means_the_same_to_pandas_and_to_the_reference(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    given, peer = made(problem, tmp_path, monkeypatch), PEERS[YARDSTICK]
    fitted = peer.fit(problem, given, {"solver": "newton-cholesky", "tol": 1e-8})
    assert abs(worker.reached(peer, problem, SMALL, given, fitted)) < 1e-9


HEADER = {
    "date": "2026-01-01",
    "size": "quick",
    "repeats": 1,
    "versions": {"numpy": "2"},
    "machine": {"processor": "cpu", "cores": 2, "memory_gb": 4},
}


def run(problem: str, peer: str, seconds: float, suboptimality: float = 0.0) -> dict[str, Any]:
    return {
        "kind": "run",
        "problem": problem,
        "peer": peer,
        "seconds": seconds,
        "suboptimality": suboptimality,
        "peak_mb": 3.0,
        "others": 0.0,
    }


RECORDS = [
    run("ols/mixed", OURS, 0.2),
    run("ols/mixed", OURS, 0.1),
    run("ols/mixed", YARDSTICK, 0.4),
    run("ols/mixed", "glum", 0.05),
    run("logit/mixed", OURS, 0.3, 1e-7),
    run("logit/mixed", YARDSTICK, 0.2, 1e-7),
    run("ridge/mixed", OURS, 0.1, 1e-3),
    run("ridge/mixed", YARDSTICK, 0.2),
    run("ols-bad/monomials", OURS, 0.1),
    run("ols-bad/monomials", YARDSTICK, 0.01, 4e5),
    {"kind": "setting", "problem": "ols/mixed", "peer": "snapml", "declines": "cannot"},
]


def test_lost_rows_are_said_plainly() -> None:
    found = table.entries(RECORDS)
    assert table.lost(found) == ["ridge/mixed (target missed: 1.0e-03)", "logit/mixed (1.50 x scikit-learn)"]
    shown = table.text(found)
    assert "SLOWER THAN SCIKIT-LEARN" in shown
    assert shown.count("MISSES THE TARGET") == 2
    assert "LOST: ridge/mixed" in table.conclusion(found)
    ols = {entry.peer: entry for entry in found if entry.problem.row == "ols"}
    assert ols[OURS].seconds == 0.1
    assert ols["snapml"].note == "cannot"


def test_goals_are_ratios_to_the_best_peer_that_reached_the_target() -> None:
    faster = [run("ridge/mixed", OURS, 0.1), run("ridge/mixed", YARDSTICK, 0.5), run("ridge/mixed", "glum", 0.01, 1.0)]
    slower = [run("ols/mixed", OURS, 0.1), run("ols/mixed", YARDSTICK, 0.5), run("ols/mixed", "glum", 0.125)]
    alone = [run("ols-bad/monomials", OURS, 0.1), run("ols-bad/monomials", YARDSTICK, 0.01, 1.0)]
    assert table.aim(table.entries(faster)) == (True, "0.20 of scikit-learn, goal 0.6")
    assert table.aim(table.entries(slower)) == (False, "0.80 of glum, goal 0.6")
    assert table.aim(table.entries(alone)) == (True, "no peer reaches the target")
    found = table.entries([*faster, *slower, *alone])
    assert "met: 2 of 3." in table.conclusion(found)
    assert "Missed: ols/mixed (0.80 of glum, goal 0.6)." in table.conclusion(found)
    block = pages.bench(found, HEADER)
    assert "| **0.80** (0.6) |" in block
    assert "| 0.20 (0.6) |" in block


def test_a_row_stands_as_on_the_data_on_which_it_is_the_worse() -> None:
    weak = [run("logit-sparse/weak", OURS, 0.2), run("logit-sparse/weak", YARDSTICK, 1.0)]
    strong = [run("logit-sparse/strong", OURS, 0.6), run("logit-sparse/strong", YARDSTICK, 1.0)]
    found = table.entries([*weak, *strong])
    assert {entry.problem.name for entry in table.worst(found)["logit-sparse"]} == {"logit-sparse/strong"}
    assert "Missed: logit-sparse/strong (0.60 of scikit-learn, goal 0.5)." in table.conclusion(found)
    assert "1 of 1 rows" in table.conclusion(found)
    assert "| logit-sparse (strong) | 600 ms | scikit-learn 1.00 s | **0.60** (0.5) | 0.20 |" in pages.bench(
        found, HEADER
    )
    missing = table.entries([run("logit-sparse/weak", OURS, 0.2, 1.0), *weak[1:], *strong])
    assert table.lost(missing) == ["logit-sparse/weak (target missed: 1.0e+00)"]


def test_no_line_of_a_page_is_too_long() -> None:
    rivals = {
        problem.name: max(
            (p.name for p in PEERS.values() if p.rival and not isinstance(p.offers(problem), str)), key=len
        )
        for problem in PROBLEMS.values()
    }
    records = [run(name, OURS, 0.1234, 9e-9) for name in rivals] + [
        run(name, who, 0.1111) for name, who in rivals.items()
    ]
    found = table.entries(records)
    facts = {
        name: {"rows": 10**6, "columns": 100, "nonzeros": 10**7, "bytes": 10**8, "classes": 10} for name in PROBLEMS
    }
    roofed = {**HEADER, "roof": ROOF}
    for block in (pages.bench(found, HEADER), pages.limits(found, facts, roofed)):
        assert len(block.splitlines()) > 20
        assert max(map(len, block.splitlines())) <= 120


def test_another_revision_of_lineal_is_shown_and_is_no_peer() -> None:
    found = table.entries(
        [run("ols/mixed", OURS, 0.2), run("ols/mixed", "before", 0.1), run("ols/mixed", YARDSTICK, 0.4)]
    )
    assert table.aim(found) == (True, "0.50 of scikit-learn, goal 0.6")
    times = dict(zip(("best peer", "scikit-learn", "before"), table.ratios(found[1], found), strict=False))
    assert (found[1].peer, times) == (OURS, {"best peer": "0.50", "scikit-learn": "0.50", "before": "2.00"})


def test_a_choice_of_method_on_busy_cores_is_made_again() -> None:
    two = [{"setting": {"tol": 1e-2}}, {"setting": {"tol": 1e-3}}]
    assert schedule.undecided({"others": 0.5, "tried": two}, "full")
    assert not schedule.undecided({"others": 0.5, "tried": two[:1]}, "full")
    assert not schedule.undecided({"others": 0.05, "tried": two}, "full")
    assert not schedule.undecided({"others": 0.5, "tried": two}, "quick")


def test_a_row_that_scikit_learn_lacks_is_neither_won_nor_lost() -> None:
    lacks = {"kind": "setting", "problem": "huber/t2", "peer": YARDSTICK, "declines": "has it not"}
    found = table.entries([run("huber/t2", OURS, 0.1), run("huber/t2", "by hand", 0.2), lacks])
    assert table.standing(found) == ("apart", "scikit-learn has it not; 0.50 x by hand")
    said = table.conclusion(found)
    assert "0 of 1 rows" in said
    assert "Not in scikit-learn: huber/t2 (scikit-learn has it not; 0.50 x by hand)." in said
    assert "Not in scikit-learn: huber/t2." in table.conclusion(found, brief=True)


def test_a_search_cut_short_decides_nothing() -> None:
    records = [run("logit/mixed", OURS, 0.1), run("logit/mixed", YARDSTICK, 2.0, 1e-3)]
    assert table.standing(table.entries(records)) == ("ahead", "scikit-learn misses the target")
    cut = {"kind": "setting", "problem": "logit/mixed", "peer": YARDSTICK, "setting": {}, "missed": 1e-3, "cut": True}
    found = table.entries([cut, *records])
    assert table.standing(found)[0] == "undecided"
    assert "UNDECIDED: logit/mixed" in table.conclusion(found)
    assert table.standing(table.entries(records[:1]))[0] == "undecided"


def test_a_row_that_was_not_run_is_neither_won_nor_lost() -> None:
    late = {"kind": "run", "problem": "logit/mixed", "peer": OURS, "error": "not run: the time was up"}
    assert table.standing(table.entries([late])) == ("undecided", "lineal was not run")
    assert table.standing(table.entries([{**late, "error": "it failed"}])) == ("lost", "no result: it failed")
    assert (
        table.standing(table.entries([late, run("logit/mixed", OURS, 0.1), run("logit/mixed", YARDSTICK, 0.2)]))[0]
        == "ahead"
    )


def test_a_lower_objective_than_the_reference_becomes_the_optimum() -> None:
    found = table.entries([run("ols/mixed", OURS, 0.1, -3e-10), run("ols/mixed", YARDSTICK, 0.1, 0.0)])
    assert {entry.peer: entry.suboptimality for entry in found} == pytest.approx({OURS: 0.0, YARDSTICK: 3e-10})
    assert not next(entry for entry in found if entry.peer == YARDSTICK).reached


ROOF = {"1": {"bytes": 1e10, "flops": 1e11}, "2": {"bytes": 2e10, "flops": 2e11}}


def test_a_limit_is_bytes_or_operations_whichever_takes_longer() -> None:
    work = {row: problems[0].work for row, problems in ROWS.items() if problems[0].work}
    million = {"rows": 1_000_000, "columns": 100, "nonzeros": None}
    assert work["ols"].seconds(million, ROOF) == pytest.approx(1e6 * 101 * 102 / 2e11)
    assert work["ols"].seconds(million | {"columns": 2}, ROOF) == pytest.approx(16e6 / 2e10)
    assert work["hinge"].seconds(million | {"nonzeros": 10_000_000}, ROOF) == pytest.approx(120e6 / 2e10)
    assert work["perceptron"].seconds(million, ROOF) == pytest.approx(10 * 800e6 / 2e10)
    commands = {problem.row for problem in PROBLEMS.values() if problem.task in COMMANDS}
    assert set(ROWS) - set(work) == {"predict-one", "separable", "overlapping", "tiny"} | commands


def test_our_time_is_shown_as_a_multiple_of_the_limit() -> None:
    found = table.entries(
        [run("ols/mixed", OURS, 0.12), run("ols/mixed", YARDSTICK, 0.01), run("separable/mixed", OURS, 1.0)]
    )
    header = {"date": "2026-01-01", "machine": {"processor": "cpu"}, "roof": ROOF}
    facts = {"ols/mixed": {"rows": 1_000_000, "columns": 100, "nonzeros": None}}
    block = pages.limits(found, facts, header)
    assert "| ols (mixed) | 0.80 GB | 10.3 G | 51.5 ms | 120 ms | 2.3 |" in block
    assert "separable" not in block
    assert "2 cores: 20.0 GB/s read, 200 GF/s" in block


@pytest.mark.slow
def test_the_roof_of_this_machine_is_measured() -> None:
    found = limits.roof()
    if found is None:
        pytest.skip("no C++ compiler here")
    assert "1" in found
    assert all(1e8 < speed["bytes"] < 1e13 and 1e8 < speed["flops"] < 1e14 for speed in found.values())


def test_the_readme_block_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    block = pages.bench(table.entries(RECORDS), HEADER)
    assert "**1.50 (slower)**" in block
    assert "| misses |" in block
    assert "2026-01-01" in block
    readme = tmp_path / "README.md"
    begin, end = "<!-- bench:begin -->", "<!-- bench:end -->"
    readme.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
    pages.write_block(readme, "bench", block)
    pages.write_block(readme, "bench", block)
    assert readme.read_text() == f"before\n{begin}\n{block}\n{end}\nafter\n"
    bare = tmp_path / "bare.md"
    bare.write_text("nothing here")
    with pytest.raises(SystemExit, match="markers"):
        pages.write_block(bare, "bench", block)
    assert bare.read_text() == "nothing here"
