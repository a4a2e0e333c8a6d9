"""How the time grows: names of problems of other sizes, curves out of records, exponents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import pages, scaling
from benchmarks.peers import PEERS
from benchmarks.rows import PROBLEMS, find

HEADER = {
    "date": "2026-01-01",
    "repeats": 2,
    "versions": {"numpy": "2"},
    "machine": {"processor": "cpu", "cores": 2, "memory_gb": 4},
}


def run(
    size: int, seconds: float, peer: str = "lineal", cores: int = 1, suboptimality: float = 0.0
) -> dict[str, object]:
    name = scaling.AXES[0].problem(size)
    return {
        "kind": "run",
        "problem": name,
        "peer": peer,
        "cores": cores,
        "seconds": seconds,
        "suboptimality": suboptimality,
    }


def test_axes_name_problems_their_peers_solve() -> None:
    for axis in scaling.AXES:
        for size in axis.sizes:
            problem = find(axis.problem(size))
            assert problem.name.partition("@")[0] == axis.problem_name
            assert problem.points == (size if axis.key == "points" else PROBLEMS[axis.problem_name].points)
            assert all(isinstance(PEERS[peer].offers(problem), list) for peer in ("lineal", *axis.peers))
        assert list(axis.sizes) == sorted(axis.sizes)


def test_curves_keep_the_shortest_time_that_reached_the_target() -> None:
    records = [run(10_000, 2.0), run(10_000, 1.0), run(30_000, 3.0), run(100_000, 0.1, suboptimality=1.0)]
    assert scaling.curves([*records, {"kind": "setting"}]) == {("rows", "lineal", 1): {10_000: 1.0, 30_000: 3.0}}
    block = pages.scaling_block(HEADER, [*records, run(10_000, 0.5, cores=2)])
    assert "| rows, 10,000 to 300,000 | 1 | 1.00 s to - (1.00) | - | - |" in block
    assert "| rows, 10,000 to 300,000 | 2 | 500 ms to - | - | - |" in block
    peers = [run(10_000, 3.0, "snapml"), run(300_000, 90.0, "snapml"), run(300_000, 20.0)]
    block = pages.scaling_block(HEADER, [*records, *peers])
    assert "| 1 | 1.00 s to 20.00 s (0.87) | 3.00 s to 90.00 s (1.00) | - |" in block
    assert "- rows (logit/mixed, 50 columns): 0.88 against 1.00 on 1 core" in block
    assert max(map(len, block.splitlines())) <= 120


def test_the_best_peer_is_the_best_at_every_size_and_never_us() -> None:
    times = {"scikit-learn": (2.0, 8.0), "snapml": (5.0, 6.0), "lineal": (1.0, 1.0)}
    records = [
        run(size, seconds, peer)
        for peer, pair in times.items()
        for size, seconds in zip((10_000, 30_000), pair, strict=True)
    ]
    found = scaling.curves(records)
    assert scaling.envelopes(found) == {("rows", scaling.BEST, 1): {10_000: 2.0, 30_000: 6.0}}
    assert scaling.envelopes({key: line for key, line in found.items() if key[1] != "snapml"}) == {}


def test_the_limit_of_the_machine_stands_beside_an_axis_along_which_it_grows() -> None:
    roof = {"1": {"bytes": 1e10, "flops": 1e11}, "2": {"bytes": 2e10, "flops": 2e11}}
    columns, strengths = scaling.AXES[1], scaling.AXES[4]
    records = [
        {"kind": "data", "problem": columns.problem(size), "facts": {"rows": 40_000, "columns": size}}
        for size in (25, 800)
    ] + [
        {"kind": "data", "problem": strengths.problem(size), "facts": {"rows": 500, "columns": 5_000}}
        for size in (10, 30)
    ]
    found = scaling.bounds(records, HEADER | {"roof": roof})
    assert set(found) == {("columns", scaling.LIMIT, 1), ("columns", scaling.LIMIT, 2)}
    few, many = found["columns", scaling.LIMIT, 1].values()
    assert few == pytest.approx(8 * 40_000 * 25 / 1e10)  # reading takes longer than multiplying
    assert many == pytest.approx(40_000 * 801 * 802 / 2 / 1e11)  # and here the reverse, two products at a time
    assert found["columns", scaling.LIMIT, 2][800] == pytest.approx(many / 2)
    assert scaling.bounds(records, HEADER) == {}


def test_exponents_are_those_of_powers() -> None:
    assert scaling.exponent([1, 2, 4, 8], [3.0, 12.0, 48.0, 192.0]) == pytest.approx(2.0)


def test_the_plot_is_a_picture_of_all_curves(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib draws the curves")
    records = [run(10_000, 1.0), run(30_000, 3.0), run(10_000, 0.5, "snapml", 2)]
    scaling.plot(records, HEADER, tmp_path / "curves.svg")
    assert (tmp_path / "curves.svg").read_text().count("<path") > 10


def test_several_files_of_records_are_one_table(tmp_path: Path) -> None:
    from benchmarks.__main__ import _read

    for name, repeats, version in (("a", 2, "1"), ("b", 3, "2")):
        header = HEADER | {"repeats": repeats, "versions": {name: version}}
        (tmp_path / name).write_text(json.dumps(header) + "\n" + json.dumps(run(10_000, 1.0)) + "\n")
    header, records = _read([tmp_path / "a", tmp_path / "b"])
    assert header["repeats"] == 3
    assert header["versions"] == {"a": "1", "b": "2"}
    assert len(records) == 2


def test_an_unknown_axis_is_refused_in_words() -> None:
    with pytest.raises(SystemExit, match="no axis called 'colums'; the axes are rows, columns"):
        scaling.chosen("rows,colums")
    ((axis, problems),) = scaling.chosen("columns")
    assert (axis.name, [problem.row for problem in problems]) == ("columns", ["ridge"] * 6)


def test_growth_is_held_against_the_best_peer_and_the_machine() -> None:
    found = {
        ("columns", "lineal", 1): {25: 2.0, 800: 512.0},
        ("columns", "scikit-learn-intelex", 1): {25: 4.0, 800: 128.0 * 4},
        ("columns", scaling.LIMIT, 1): {25: 0.5, 800: 2.0 * 32**1.5},
    }
    told = scaling.standing("columns", 1, found)
    assert told == "1.60 against 1.40 on 1 core (no less than 1.50 is possible from our first point)"
    found["columns", "lineal", 1] = {25: 5.0, 800: 160.0}
    told = scaling.standing("columns", 1, found)
    assert told == "1.00 against 1.40 on 1 core, behind at 25"
    assert scaling.standing("columns", 2, found) is None
    several = {
        ("rows", "lineal", 2): {10_000: 1.0, 300_000: 30**0.5},
        ("rows", "snapml", 2): {10_000: 50.0, 300_000: 60.0},
        ("rows", "scikit-learn", 2): {10_000: 2.0, 300_000: 200.0},
    }
    told = scaling.standing("rows", 2, {**several, **scaling.envelopes(several)})
    assert told == "0.50 against 1.00 on 2 cores"
