"""The benchmark harness: a sound registry, adapters that declare themselves, honest summaries."""

from __future__ import annotations

import inspect
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "benchmarks" / "problems.py").exists():
    pytest.skip("the benchmarks are not part of this copy", allow_module_level=True)
sys.path.insert(0, str(ROOT))

from benchmarks import data, limits, schedule, table, tiny, worker  # noqa: E402
from benchmarks.objective import Objective, largest, optimum, path  # noqa: E402
from benchmarks.peers import OURS, PEERS, YARDSTICK  # noqa: E402
from benchmarks.problems import GROUPS, PROBLEMS, Problem, chosen  # noqa: E402

from lineal.losses import BY_NAME  # noqa: E402

ROWS = ["ols", "ridge", "ols-bad", "logit", "logit-sparse", "softmax", "softmax-small"]
ROWS += ["small", "csv", "predict", "import"]
ROWS += ["lasso", "lasso-sparse", "l1-logit", "hinge", "sq-hinge", "huber", "median", "separable", "text", "text-fit"]
ROWS += ["perceptron", "ridge-wide", "tiny"]
LOSSES = {"squared", "logistic", "softmax", "hinge", "squared-hinge", "huber", "huber-scale", "absolute"}


def test_every_row_of_the_plan_is_registered() -> None:
    assert {name for row in ROWS for name in GROUPS.get(row, (row,))} == set(PROBLEMS)
    assert [p.name for p in chosen("small,ols")] == ["small-logistic", "small-ridge", "ols"]
    with pytest.raises(SystemExit, match="no row called 'olss'"):
        chosen("olss")


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=lambda p: p.name)
def test_problems_are_complete(problem: Problem) -> None:
    if problem.task in ("import", "tiny"):
        assert problem.make is None
        return
    assert problem.make is not None
    assert problem.target > 0
    assert problem.loss in LOSSES or (problem.task in ("separable", "words", "epochs") and not problem.loss)
    wanted = set(inspect.signature(problem.make).parameters)
    assert set(problem.sizes("full")) == set(problem.sizes("quick")) == wanted
    assert all(problem.sizes("quick")[key] <= problem.sizes("full")[key] for key in wanted)


def test_tiny_tables_are_tiny_and_of_every_kind() -> None:
    fits = list(tiny.mixture(1))
    assert {one.loss.name for one in fits} == set(BY_NAME) - {"perceptron", "zero-one"}
    assert len({(one.loss.name, one.penalty.name) for one in fits}) == 13 * len(tiny.PENALTIES) - 1
    assert all(np.prod(one.source.whole.design.shape) < 1000 for one in fits)
    again = list(tiny.mixture(1))
    assert all(np.array_equal(a.source.whole.y, b.source.whole.y) for a, b in zip(fits, again, strict=True))


@pytest.mark.parametrize("peer", PEERS.values(), ids=lambda p: p.name)
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=lambda p: p.name)
def test_adapters_solve_or_say_why_not(peer: Any, problem: Problem) -> None:
    lines = peer.offers(problem)
    if isinstance(lines, str):
        assert len(lines) > 10
        assert peer.name != OURS
        assert (
            peer.name != YARDSTICK
            or problem.task in ("separable", "tiny")
            or problem.name in ("huber", "perceptron-classes")
        )
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
    charges = np.array([1.0, 0.5, 2.0]) if loss == "logistic" else None
    objective = Objective(loss, X, y, 0.1, charges)
    k = objective.outputs
    found = minimize(
        lambda b: objective.value(b[:-k].reshape(3, k), b[-k:]), np.zeros(4 * k), method="BFGS", options={"gtol": 1e-9}
    ).fun
    assert optimum(objective, 1e-8, "null") == pytest.approx(found, rel=1e-9)
    grid = [objective.value(np.zeros((3, k)), np.full(k, c) * np.arange(1, k + 1)) for c in np.linspace(-1, 1, 41)]
    assert objective.null() <= min(grid) + 1e-12


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
    assert optimum(Objective(loss, X, y, 0.0), 1e-7, "null") == pytest.approx(exact, rel=1e-8)


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
    assert optimum(objective, 1e-6, "null") == pytest.approx(found, rel=1e-6)
    if loss.endswith("hinge"):
        thin = Objective(loss, sparse.csr_matrix(X), y, 0.1)
        assert optimum(thin, 1e-6, "null") == pytest.approx(found, rel=1e-6)
        grid = [objective.value(np.zeros(3), np.array([c])) for c in np.linspace(-2.0, 2.0, 401)]
        assert objective.null() <= min(grid) + 1e-12


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


def test_every_row_has_our_time_and_the_yardstick_before_other_peers_when_time_is_short() -> None:
    peers = [OURS, "glum", YARDSTICK, "celer"]
    assert schedule.Plan([], peers, "quick", 1, deadline=5.0).waves() == [[OURS, YARDSTICK], ["glum", "celer"]]
    assert schedule.Plan([], peers, "full", 1).waves() == [peers]


@pytest.mark.parametrize(
    "name", ["ridge", "logit", "small-logistic", "softmax", "lasso", "l1-logit", "hinge", "sq-hinge", "median", "huber"]
)
@pytest.mark.parametrize("peer", [YARDSTICK, "by hand"])
def test_a_tiny_problem_runs_through_two_adapters(
    name: str, peer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    monkeypatch.setattr(data, "CACHE", tmp_path)
    tiny = {
        "ridge": {"rows": 300, "columns": 4},
        "logit": {"rows": 500, "columns": 4},
        "softmax": {"rows": 200, "side": 6, "classes": 3},
        "lasso": {"rows": 40, "columns": 60},
        "median": {"rows": 200, "columns": 3},
        "huber": {"rows": 200, "columns": 3},
        **{row: {"rows": 300, "columns": 50, "per_row": 10} for row in ("l1-logit", "hinge", "sq-hinge")},
    }
    problem = replace(PROBLEMS[name], quick=tiny.get(name))
    data.make(problem, "quick")
    lines = PEERS[peer].lines(problem)
    if isinstance(lines, str):
        pytest.skip(f"{peer} {lines}")
    answer = worker._loosest(PEERS[peer], problem, lines, {"size": "quick", "patience": 5.0})
    assert "missed" not in answer
    given = data.load(problem, "quick")
    fitted = PEERS[peer].fit(problem, given, answer["setting"])
    reached = worker._reached(PEERS[peer], problem, "quick", given, fitted)
    assert -1e-3 * problem.target <= reached <= problem.target


@pytest.mark.parametrize("peer", [OURS, "linprog"])
@pytest.mark.parametrize("name", ["separable", "overlapping"])
def test_a_question_is_answered_as_the_data_was_made(name: str, peer: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(data, "CACHE", tmp_path)
    problem = replace(PROBLEMS[name], quick={"rows": 500, "columns": 4})
    data.make(problem, "quick")
    given = data.load(problem, "quick")
    assert given.facts["separable"] == (name == "separable")
    for (setting,) in PEERS[peer].offers(problem):
        fitted = PEERS[peer].fit(problem, given, setting)
        assert worker._reached(PEERS[peer], problem, "quick", given, fitted) == 0.0
        wrong = replace(given, facts={**given.facts, "separable": name != "separable"})
        assert worker._reached(PEERS[peer], problem, "quick", wrong, fitted) == 1.0
    assert PEERS[YARDSTICK].offers(problem) == "has nothing for the task 'separable'"


@pytest.mark.parametrize("name", GROUPS["perceptron"])
@pytest.mark.parametrize("peer", [OURS, YARDSTICK, "numba loop"])
def test_epochs_end_with_the_weights_of_a_plain_loop(name: str, peer: str, tmp_path: Path, monkeypatch: Any) -> None:
    problem, lines = PROBLEMS[name], PEERS[peer].offers(PROBLEMS[name])
    if isinstance(lines, str) or PEERS[peer].absent():
        pytest.skip(f"{peer}: {lines if isinstance(lines, str) else PEERS[peer].absent()}")
    monkeypatch.setattr(data, "CACHE", tmp_path)
    small = {"rows": 600, "columns": 9, "per_row": 5, "side": 5, "classes": 4}
    problem = replace(problem, quick={key: small[key] for key in problem.sizes("quick")})
    data.make(problem, "quick")
    given = data.load(problem, "quick")
    fitted = PEERS[peer].fit(problem, given, {})
    assert worker._reached(PEERS[peer], problem, "quick", given, fitted) == 0.0
    assert data.strayed(problem, "quick", PEERS[peer].coefficients(problem, fitted)[0] + 1.0) > 0.0


def test_the_table_file_means_the_same_to_pandas_and_to_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("pandas")
    monkeypatch.setattr(data, "CACHE", tmp_path)
    problem = replace(PROBLEMS["csv"], quick={"rows": 3000, "levels": 21})
    data.make(problem, "quick")
    given, peer = data.load(problem, "quick"), PEERS[YARDSTICK]
    fitted = peer.fit(problem, given, {"solver": "newton-cholesky", "tol": 1e-8})
    assert abs(worker._reached(peer, problem, "quick", given, fitted)) < 1e-9


def run(row: str, peer: str, seconds: float, suboptimality: float = 0.0) -> dict[str, Any]:
    return {
        "kind": "run",
        "row": row,
        "peer": peer,
        "seconds": seconds,
        "suboptimality": suboptimality,
        "peak_mb": 3.0,
        "others": 0.0,
    }


RECORDS = [
    run("ols", OURS, 0.2),
    run("ols", OURS, 0.1),
    run("ols", YARDSTICK, 0.4),
    run("ols", "glum", 0.05),
    run("logit", OURS, 0.3, 1e-7),
    run("logit", YARDSTICK, 0.2, 1e-7),
    run("ridge", OURS, 0.1, 1e-3),
    run("ridge", YARDSTICK, 0.2),
    run("ols-bad", OURS, 0.1),
    run("ols-bad", YARDSTICK, 0.01, 4e5),
    {"kind": "setting", "row": "ols", "peer": "snapml", "declines": "cannot"},
]


def test_lost_rows_are_said_plainly() -> None:
    found = table.entries(RECORDS)
    assert table.lost(found) == ["ridge (target missed: 1.0e-03)", "logit (1.50 x scikit-learn)"]
    shown = table.text(found)
    assert "SLOWER THAN SCIKIT-LEARN" in shown
    assert shown.count("MISSES THE TARGET") == 2
    assert "LOST: ridge" in table.conclusion(found)
    ols = {entry.peer: entry for entry in found if entry.row == "ols"}
    assert ols[OURS].seconds == 0.1
    assert ols["snapml"].note == "cannot"


def test_goals_are_ratios_to_the_best_peer_that_reached_the_target() -> None:
    faster = [run("ridge", OURS, 0.1), run("ridge", YARDSTICK, 0.5), run("ridge", "glum", 0.01, 1.0)]
    slower = [run("ols", OURS, 0.1), run("ols", YARDSTICK, 0.5), run("ols", "glum", 0.125)]
    alone = [run("ols-bad", OURS, 0.1), run("ols-bad", YARDSTICK, 0.01, 1.0)]
    assert table.aim(table.entries(faster)) == (True, "0.20 of scikit-learn, goal 0.6")
    assert table.aim(table.entries(slower)) == (False, "0.80 of glum, goal 0.6")
    assert table.aim(table.entries(alone)) == (True, "no peer reaches the target")
    found = table.entries([*faster, *slower, *alone])
    assert "met: 2 of 3." in table.conclusion(found)
    assert "Missed: ols (0.80 of glum, goal 0.6)." in table.conclusion(found)
    header = {
        "date": "",
        "size": "",
        "repeats": 1,
        "versions": {},
        "machine": dict.fromkeys(("processor", "cores", "memory_gb")),
    }
    block = table.markdown(found, header)
    assert "| **0.80** (0.6) |" in block
    assert "| 0.20 (0.6) |" in block


def test_a_choice_of_method_on_busy_cores_is_made_again() -> None:
    two = [{"setting": {"tol": 1e-2}}, {"setting": {"tol": 1e-3}}]
    assert schedule._open({"others": 0.5, "tried": two}, "full")
    assert not schedule._open({"others": 0.5, "tried": two[:1]}, "full")
    assert not schedule._open({"others": 0.05, "tried": two}, "full")
    assert not schedule._open({"others": 0.5, "tried": two}, "quick")


def test_a_row_that_scikit_learn_lacks_is_neither_won_nor_lost() -> None:
    lacks = {"kind": "setting", "row": "huber", "peer": YARDSTICK, "declines": "has it not"}
    found = table.entries([run("huber", OURS, 0.1), run("huber", "by hand", 0.2), lacks])
    assert table.standing(found) == ("apart", "scikit-learn has it not; 0.50 x by hand")
    said = table.conclusion(found)
    assert "0 of 1 rows" in said
    assert "Not in scikit-learn: huber (scikit-learn has it not; 0.50 x by hand)." in said
    assert "Not in scikit-learn: huber." in table.conclusion(found, brief=True)


def test_a_search_cut_short_decides_nothing() -> None:
    records = [run("logit", OURS, 0.1), run("logit", YARDSTICK, 2.0, 1e-3)]
    assert table.standing(table.entries(records)) == ("ahead", "scikit-learn misses the target")
    cut = {"kind": "setting", "row": "logit", "peer": YARDSTICK, "setting": {}, "missed": 1e-3, "cut": True}
    found = table.entries([cut, *records])
    assert table.standing(found)[0] == "undecided"
    assert "UNDECIDED: logit" in table.conclusion(found)
    assert table.standing(table.entries(records[:1]))[0] == "undecided"


def test_a_lower_objective_than_the_reference_becomes_the_optimum() -> None:
    found = table.entries([run("ols", OURS, 0.1, -3e-10), run("ols", YARDSTICK, 0.1, 0.0)])
    assert {entry.peer: entry.suboptimality for entry in found} == pytest.approx({OURS: 0.0, YARDSTICK: 3e-10})
    assert not next(entry for entry in found if entry.peer == YARDSTICK).reached


ROOF = {"1": {"bytes": 1e10, "flops": 1e11}, "2": {"bytes": 2e10, "flops": 2e11}}


def test_a_limit_is_bytes_or_operations_whichever_takes_longer() -> None:
    million = {"rows": 1_000_000, "columns": 100, "nonzeros": None}
    assert limits.WORK["ols"].seconds(million, ROOF) == pytest.approx(1e6 * 101 * 102 / 2e11)
    assert limits.WORK["ols"].seconds(million | {"columns": 2}, ROOF) == pytest.approx(16e6 / 2e10)
    assert limits.WORK["hinge"].seconds(million | {"nonzeros": 10_000_000}, ROOF) == pytest.approx(120e6 / 2e10)
    assert limits.WORK["perceptron"].seconds(million, ROOF) == pytest.approx(10 * 800e6 / 2e10)
    assert set(PROBLEMS) - set(limits.WORK) == {"predict-one", "separable", "overlapping", "import", "tiny"}


def test_our_time_is_shown_as_a_multiple_of_the_limit() -> None:
    found = table.by_row(
        table.entries([run("ols", OURS, 0.12), run("ols", YARDSTICK, 0.01), run("separable", OURS, 1.0)])
    )
    header = {"date": "2026-01-01", "machine": {"processor": "cpu"}, "roof": ROOF}
    facts = {"ols": {"rows": 1_000_000, "columns": 100, "nonzeros": None}}
    block = limits.markdown(found, facts, header, OURS)
    assert "| ols | 0.80 GB | 10.3 G | 51.5 ms | 120 ms | 2.3 |" in block
    assert "separable" not in block
    assert "2 cores: 20.0 GB/s read, 200 GF/s" in block


def test_the_roof_of_this_machine_is_measured() -> None:
    found = limits.roof()
    if found is None:
        pytest.skip("no C++ compiler here")
    assert "1" in found
    assert all(1e8 < speed["bytes"] < 1e13 and 1e8 < speed["flops"] < 1e14 for speed in found.values())


def test_the_readme_block_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    header = {
        "date": "2026-01-01",
        "size": "quick",
        "repeats": 1,
        "versions": {"numpy": "2"},
        "machine": {"processor": "cpu", "cores": 2, "memory_gb": 4},
    }
    block = table.markdown(table.entries(RECORDS), header)
    assert "**1.50 (slower)**" in block
    assert "| misses the target |" in block
    assert max(map(len, block.splitlines())) <= 120
    assert "2026-01-01" in block
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    table.write_block(readme, block)
    table.write_block(readme, block)
    assert readme.read_text() == f"before\n{table.BEGIN}\n{block}\n{table.END}\nafter\n"
    bare = tmp_path / "bare.md"
    bare.write_text("nothing here")
    with pytest.raises(SystemExit, match="markers"):
        table.write_block(bare, block)
    assert bare.read_text() == "nothing here"
