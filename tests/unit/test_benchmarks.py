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
from benchmarks import data, schedule, table, tiny, worker
from benchmarks.peers import OURS, PEERS, YARDSTICK
from benchmarks.problems import SIZES, Problem
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
    lacking = problem.task in ("separable", "sequences", "trees", "tiny", "verify") or problem.row in (
        "huber",
        "perceptron-classes",
    )
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


@offered(("ssk", "tree-kernel"), (OURS, "numba loop"))
def test_gram_matrices_are_those_of_plain_loops(
    problem: Problem, peer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = made(problem, tmp_path, monkeypatch)
    gram = PEERS[peer].fit(problem, given, {})
    assert worker.reached(PEERS[peer], problem, SMALL, given, gram) < 1e-12
    assert worker.reached(PEERS[peer], problem, SMALL, given, 1.001 * gram) > problem.target
    assert worker.reached(PEERS[peer], problem, SMALL, given, gram[1:]) == 1.0


@pytest.mark.parametrize("problem", chosen("csv"), ids=lambda p: p.name)
def test_the_table_file_means_the_same_to_pandas_and_to_the_reference(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    given, peer = made(problem, tmp_path, monkeypatch), PEERS[YARDSTICK]
    fitted = peer.fit(problem, given, {"solver": "newton-cholesky", "tol": 1e-8})
    assert abs(worker.reached(peer, problem, SMALL, given, fitted)) < 1e-9
