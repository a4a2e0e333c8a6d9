"""The table and the pages of the benchmark, from records written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks import limits, pages, schedule, table
from benchmarks.data import MACHINES
from benchmarks.peers import OURS, PEERS, YARDSTICK
from benchmarks.problems import COMMANDS
from benchmarks.rows import PROBLEMS, ROWS

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
    others = {
        "predict-one",
        "separable",
        "overlapping",
        "ssk",
        "tree-kernel",
        "knn",
        "knn-low",
        "naive-bayes",
        "tiny",
        *MACHINES,
    }
    assert set(ROWS) - set(work) == others | commands


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
