"""How the time grows: rows, columns, nonzeros, classes and strengths, on one core and on two, for us and the best peers.

A problem of another size is named by its row, data and sizes, ``logit/mixed@rows=10000,columns=50``; ``points`` is the
number of strengths of a path. The exponent of an axis is the slope of log time over log size, by least squares. Beside the
competitors stand the best of them at every size, and the limit of the machine (see limits) where it grows at all: no
program that stays near the limit can grow more slowly than the limit does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers import OURS
from benchmarks.problems import Problem
from benchmarks.rows import PROBLEMS, find

BEST, LIMIT = "best peer", "limit of the machine"
CORES = (1, 2)
Curves = dict[tuple[str, str, int], dict[int, float]]
"""Seconds by size, by axis, competitor and number of cores."""


@dataclass(frozen=True)
class Axis:
    """One direction in which a row grows; the other sizes stay."""

    name: str
    problem_name: str
    key: str
    sizes: tuple[int, ...]
    fixed: Mapping[str, int]
    peers: tuple[str, ...]

    def problem(self, size: int) -> str:
        """Return the name of the problem at one size."""
        return (
            self.problem_name
            + "@"
            + ",".join(f"{key}={value}" for key, value in {**self.fixed, self.key: size}.items())
        )


AXES = (
    Axis(
        "rows", "logit/mixed", "rows", (10_000, 30_000, 100_000, 300_000), {"columns": 50}, ("scikit-learn", "snapml")
    ),
    Axis(
        "columns", "ridge/mixed", "columns", (25, 50, 100, 200, 400, 800), {"rows": 40_000}, ("scikit-learn-intelex",)
    ),
    Axis(
        "nonzeros of a row",
        "logit-sparse/weak",
        "per_row",
        (10, 30, 100, 300),
        {"rows": 50_000, "columns": 20_000},
        ("scikit-learn", "snapml"),
    ),
    Axis(
        "classes",
        "softmax/pixels",
        "classes",
        (3, 6, 12, 24, 48),
        {"rows": 6_000, "side": 14},
        ("scikit-learn", "scikit-learn-intelex"),
    ),
    Axis(
        "strengths", "lasso/lines", "points", (10, 30, 100, 300), {"rows": 500, "columns": 5_000}, ("celer", "adelie")
    ),
)


def exponent(sizes: Iterable[float], times: Iterable[float]) -> float:
    """Return the slope of log time over log size.

    >>> round(exponent([1, 10, 100], [2, 20, 200]), 6)
    1.0
    """
    x, y = [math.log(s) for s in sizes], [math.log(t) for t in times]
    middle, level = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - middle) ** 2 for a in x)
    return sum((a - middle) * (b - level) for a, b in zip(x, y, strict=True)) / spread


def curves(records: Iterable[Mapping[str, Any]]) -> Curves:
    """Return the shortest time at every size by axis, competitor and number of cores; misses of the target left out."""
    known = {axis.problem(size): (axis.name, size) for axis in AXES for size in axis.sizes}
    found: Curves = {}
    for record in records:
        if record["kind"] != "run" or "seconds" not in record or record["problem"] not in known:
            continue
        if record["suboptimality"] > find(record["problem"]).target:
            continue
        axis, size = known[record["problem"]]
        line = found.setdefault((axis, record["peer"], record["cores"]), {})
        line[size] = min(line.get(size, math.inf), record["seconds"])
    return found


def bounds(records: Iterable[Mapping[str, Any]], header: Mapping[str, Any]) -> Curves:
    """Return curves of the limit of the machine, for axes along which it grows; none where nobody measured the machine."""
    roof = header.get("roof") or {}
    facts = {r["problem"]: r["facts"] for r in records if r["kind"] == "data" and "facts" in r}
    found = {}
    for axis in AXES:
        work = PROBLEMS[axis.problem_name].work
        known = {size: facts[axis.problem(size)] for size in axis.sizes if axis.problem(size) in facts}
        for cores in (cores for cores in CORES if str(cores) in roof):
            line = {size: work.seconds(fact, roof, cores) for size, fact in known.items()} if work else {}
            if len(set(line.values())) > 1:
                found[axis.name, LIMIT, cores] = line
    return found


def envelopes(
    found: Mapping[tuple[str, str, int], Mapping[int, float]],
) -> Curves:
    """Return the shortest time of any competitor but us at every size, where there are several competitors."""
    best: Curves = {}
    for axis in AXES:
        for cores in CORES:
            rivals = [
                line for (name, peer, n), line in found.items() if (name, n) == (axis.name, cores) and peer != OURS
            ]
            if len(rivals) > 1:
                sizes = [size for size in axis.sizes if any(size in line for line in rivals)]
                best[axis.name, BEST, cores] = {
                    size: min(line[size] for line in rivals if size in line) for size in sizes
                }
    return best


def overall(line: Mapping[int, float]) -> float:
    """Return the exponent from the first size to the last.

    >>> overall({10: 1.0, 30: 7.0, 1000: 100.0})
    1.0
    """
    first, last = min(line), max(line)
    return math.log(line[last] / line[first]) / math.log(last / first)


def rival(
    axis: str, cores: int, found: Mapping[tuple[str, str, int], Mapping[int, float]]
) -> Mapping[int, float] | None:
    """Return the curve of the best peer: the envelope of several, or the only one there is."""
    rivals = [
        line for (name, peer, n), line in found.items() if (name, n) == (axis, cores) and peer not in (OURS, LIMIT)
    ]
    return found.get((axis, BEST, cores), rivals[0] if rivals else None)


def standing(axis: str, cores: int, found: Mapping[tuple[str, str, int], Mapping[int, float]]) -> str | None:
    """Say how our growth stands against the best peer's, from end to end, and where we are behind; None without a peer.

    Where ours is the larger one and the machine has a limit: a program as fast as ours at the first size cannot grow less
    than up to that limit.
    """
    ours, theirs = found.get((axis, OURS, cores)), rival(axis, cores, found)
    if ours is None or theirs is None or min(len(ours), len(theirs)) < 2:
        return None
    behind = [f"{size:,}" for size in ours if ours[size] > theirs.get(size, math.inf)]
    where = f", behind at {', '.join(behind)}" if behind else ""
    text = f"{overall(ours):.2f} against {overall(theirs):.2f} on {cores} core{'s' if cores > 1 else ''}{where}"
    bound = found.get((axis, LIMIT, cores))
    if bound is not None and max(ours) in bound and overall(ours) > overall(theirs):
        least = overall({min(ours): ours[min(ours)], max(ours): bound[max(ours)]})
        text += f" (no less than {least:.2f} is possible from our first point)"
    return text


def all_curves(records: list[Mapping[str, Any]], header: Mapping[str, Any]) -> Curves:
    """Return the curves of all competitors, of the best peer and of the machine."""
    measured = curves(records)
    return {**measured, **envelopes(measured), **bounds(records, header)}


def chosen(only: str | None) -> list[tuple[Axis, list[Problem]]]:
    """Return the axes that ``--only a,b`` names (all of them without it), each with its problems."""
    known = {axis.name: axis for axis in AXES}
    for name in only.split(",") if only else known:
        if name not in known:
            raise SystemExit(f"no axis called {name!r}; the axes are {', '.join(known)}.")
    axes = [known[name] for name in only.split(",")] if only else AXES
    return [(axis, [find(axis.problem(size)) for size in axis.sizes]) for axis in axes]


def plot(records: list[Mapping[str, Any]], header: Mapping[str, Any], path: Path) -> None:
    """Draw all curves on log axes, one panel for each axis; one core is dashed, the limit of the machine grey."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "lineal"
    from matplotlib import pyplot as plt

    found = {**curves(records), **bounds(records, header)}
    shown = [axis for axis in AXES if any(key[0] == axis.name for key in found)]
    figure, panels = plt.subplots(1, len(shown), figsize=(3.4 * len(shown), 3.4), squeeze=False)
    names = [OURS, *dict.fromkeys(peer for axis in AXES for peer in axis.peers)]
    for axis, panel in zip(shown, panels[0], strict=True):
        for (which, peer, cores), line in found.items():
            if which == axis.name:
                style = "-" if cores > 1 else "--"
                label = f"{peer}, {cores} core{'s' if cores > 1 else ''}"
                color, marker = ("grey", "") if peer == LIMIT else (f"C{names.index(peer)}", "o")
                panel.loglog(list(line), list(line.values()), style, marker=marker, color=color, label=label)
        panel.set_title(f"{axis.problem_name}: {axis.name}", fontsize=9)
        panel.set_ylabel("seconds", fontsize=8)
        panel.tick_params(labelsize=7)
        panel.legend(fontsize=5.5)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
