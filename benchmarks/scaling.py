"""How the time grows: rows, columns, nonzeros, classes and strengths, on one core and on two, for us and the best peers.

A problem of another size is named by its row and its sizes, ``logit@rows=10000,columns=50``; ``points`` is the number
of strengths of a path. The exponent of an axis is the slope of log time over log size, by least squares. Beside the
competitors stand the best of them at every size, and the limit of the machine (see limits) where it grows at all: no
program that stays near the limit can grow more slowly than the limit does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import limits
from benchmarks.problems import PROBLEMS, Problem

OURS, BEST, LIMIT = "lineal", "best peer", "limit of the machine"
BEGIN, END = "<!-- scaling:begin -->", "<!-- scaling:end -->"
CORES = (1, 2)


@dataclass(frozen=True)
class Axis:
    """One direction in which a row grows; the other sizes stay."""

    name: str
    row: str
    key: str
    sizes: tuple[int, ...]
    fixed: Mapping[str, int]
    peers: tuple[str, ...]

    def problem(self, size: int) -> str:
        """Return the name of the problem at one size."""
        return self.row + "@" + ",".join(f"{key}={value}" for key, value in {**self.fixed, self.key: size}.items())


AXES = (
    Axis("rows", "logit", "rows", (10_000, 30_000, 100_000, 300_000), {"columns": 50}, ("scikit-learn", "snapml")),
    Axis("columns", "ridge", "columns", (25, 50, 100, 200, 400, 800), {"rows": 40_000}, ("scikit-learn-intelex",)),
    Axis(
        "nonzeros of a row",
        "logit-sparse",
        "per_row",
        (10, 30, 100, 300),
        {"rows": 50_000, "columns": 20_000},
        ("scikit-learn", "snapml"),
    ),
    Axis(
        "classes",
        "softmax",
        "classes",
        (3, 6, 12, 24, 48),
        {"rows": 6_000, "side": 14},
        ("scikit-learn", "scikit-learn-intelex"),
    ),
    Axis("strengths", "lasso", "points", (10, 30, 100, 300), {"rows": 500, "columns": 5_000}, ("celer", "adelie")),
)


def find(name: str) -> Problem:
    """Return a row of the registry, or one of another size.

    >>> find("logit@rows=100,columns=5").full
    {'rows': 100, 'columns': 5}
    """
    row, _, text = name.partition("@")
    if not text:
        return PROBLEMS[row]
    sizes = {key: int(value) for key, value in (part.split("=") for part in text.split(","))}
    points = sizes.pop("points", PROBLEMS[row].points)
    return replace(PROBLEMS[row], name=name, full=sizes, quick=sizes, points=points)


def exponent(sizes: Iterable[float], times: Iterable[float]) -> float:
    """Return the slope of log time over log size.

    >>> round(exponent([1, 10, 100], [2, 20, 200]), 6)
    1.0
    """
    x, y = [math.log(s) for s in sizes], [math.log(t) for t in times]
    middle, level = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - middle) ** 2 for a in x)
    return sum((a - middle) * (b - level) for a, b in zip(x, y, strict=True)) / spread


def curves(records: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, int], dict[int, float]]:
    """Return the shortest time at every size by axis, competitor and number of cores; misses of the target left out."""
    known = {axis.problem(size): (axis.name, size) for axis in AXES for size in axis.sizes}
    found: dict[tuple[str, str, int], dict[int, float]] = {}
    for record in records:
        if record["kind"] != "run" or "seconds" not in record or record["row"] not in known:
            continue
        if record["suboptimality"] > find(record["row"]).target:
            continue
        axis, size = known[record["row"]]
        line = found.setdefault((axis, record["peer"], record["cores"]), {})
        line[size] = min(line.get(size, math.inf), record["seconds"])
    return found


def bounds(
    records: Iterable[Mapping[str, Any]], header: Mapping[str, Any]
) -> dict[tuple[str, str, int], dict[int, float]]:
    """Return curves of the limit of the machine, for axes along which it grows; none where nobody measured the machine."""
    roof = header.get("roof") or {}
    facts = {record["row"]: record["facts"] for record in records if record["kind"] == "data" and "row" in record}
    found = {}
    for axis in AXES:
        known = {size: facts[axis.problem(size)] for size in axis.sizes if axis.problem(size) in facts}
        for cores in (cores for cores in CORES if str(cores) in roof):
            line = {size: limits.WORK[axis.row].seconds(fact, roof, cores) for size, fact in known.items()}
            if len(set(line.values())) > 1:
                found[axis.name, LIMIT, cores] = line
    return found


def envelopes(
    found: Mapping[tuple[str, str, int], Mapping[int, float]],
) -> dict[tuple[str, str, int], dict[int, float]]:
    """Return the shortest time of any competitor but us at every size, where there are several competitors."""
    best: dict[tuple[str, str, int], dict[int, float]] = {}
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


def markdown(records: list[Mapping[str, Any]], header: Mapping[str, Any]) -> str:
    """Return a table of the ends of all curves with their exponents, and how growth stands against the best peer.

    A time that did not reach the target is a dash. The points between the ends are in the picture.
    """
    from benchmarks.table import origin, wrapped

    measured = curves(records)
    found = {**measured, **envelopes(measured), **bounds(records, header)}
    lines = [
        "| what grows | cores | lineal (exponent) | best peer | limit of the machine |",
        "|---|---|---|---|---|",
    ]
    stands = []
    for axis in AXES:
        what = f"{axis.name}, {axis.sizes[0]:,} to {axis.sizes[-1]:,}"
        fixed = ", ".join(f"{value:,} {key}" for key, value in axis.fixed.items())
        for cores in CORES:
            if (axis.name, OURS, cores) in found:
                theirs = rival(axis.name, cores, found)
                cells = [_ends(axis, found.get((axis.name, OURS, cores))), _ends(axis, theirs)]
                cells.append(_ends(axis, found.get((axis.name, LIMIT, cores))))
                lines.append(f"| {what} | {cores} | {' | '.join(cells)} |")
        said = [text for cores in CORES if (text := standing(axis.name, cores, found))]
        stands += [wrapped(f"- {axis.name} ({axis.row}, {fixed}): {'; '.join(said)}", "  ")] if said else []
    if stands:
        head = "Exponents from end to end, lineal against the best peer; lineal is faster at every point not named:"
        stands = [head, "", *stands, ""]
    return "\n".join([*lines, "", *stands, wrapped(origin(header, "scaling"))])


def _ends(axis: Axis, line: Mapping[int, float] | None) -> str:
    """Return the times at the first and the last size with the exponent of all points, a dash where there is none."""
    from benchmarks.table import time_text

    if not line:
        return "-"
    slope = f" ({exponent(line, line.values()):.2f})" if len(line) > 1 else ""
    return f"{time_text(line.get(axis.sizes[0]))} to {time_text(line.get(axis.sizes[-1]))}{slope}"


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
        panel.set_title(f"{axis.row}: {axis.name}", fontsize=9)
        panel.set_ylabel("seconds", fontsize=8)
        panel.tick_params(labelsize=7)
        panel.legend(fontsize=5.5)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
