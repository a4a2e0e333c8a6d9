"""The tables of README.md and docs/performance.md, written between their markers by one function."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import scaling
from benchmarks.peers import OURS, YARDSTICK
from benchmarks.table import (
    Entry,
    aim,
    best_peer,
    by_row,
    conclusion,
    entries,
    numbers,
    of,
    ratio,
    standing,
    time_text,
    worst,
    yardstick,
)

ROOT = Path(__file__).parent.parent
WIDTH = 110
"""Where lines of a page are wrapped."""


def write(header: Mapping[str, Any], records: list[Mapping[str, Any]], root: Path = ROOT) -> None:
    """Write the tables that some records make: ``bench`` and ``limits``, or ``scaling`` with its picture."""
    page = root / "docs" / "performance.md"
    if header["size"] == "scaling":
        write_block(page, "scaling", scaling_block(header, records))
        scaling.plot(records, header, root / "docs" / "scaling.svg")
        return
    found = entries(records)
    write_block(root / "README.md", "bench", bench(found, header))
    if header.get("roof"):
        facts = {r["problem"]: r["facts"] for r in records if r["kind"] == "data" and "facts" in r}
        write_block(page, "limits", limits(found, facts, header))


def bench(found: list[Entry], header: Mapping[str, Any]) -> str:
    """Return the table of the README: each row on the data set on which it stands the worst, beside its other ratios."""
    lines = [
        "| row (data) | lineal | best peer | ratio (goal) | other data | to scikit-learn | subopt. | MB, both |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row, (group, *others) in by_row(found).items():
        problem = group[0].problem
        ours = of(group, OURS) or Entry(problem, OURS, None, note="not run")
        best = best_peer(group)
        mine = "**misses the target**" if ours.seconds else "**no result**"
        cells = [
            f"{row} ({problem.sample.name})",
            time_text(ours.seconds) if ours.reached else mine,
            "-" if best is None else f"{best.peer} {time_text(best.seconds)}",
            _to_best(group, ours, best),
            ", ".join(_elsewhere(other) for other in others) or "-",
            _to_yardstick(group, ours),
            numbers(ours)[0],
            f"{numbers(ours)[1]} / {'-' if best is None else numbers(best)[1]}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        wrapped(f"Every row on the data set on which its ratio is the worse. {conclusion(found, brief=True)}"),
    ]
    return "\n".join([*lines, "", wrapped(origin(header, header["size"]))])


def _to_best(group: list[Entry], ours: Entry, best: Entry | None) -> str:
    """Return the ratio to the best peer."""
    to_best = ratio(ours, best)
    return "-" if to_best is None else _with_goal(group, to_best, "")


def _with_goal(group: list[Entry], value: float, of_whom: str) -> str:
    """Return a ratio with the goal that it is held against; a missed one is bold."""
    problem = group[0].problem
    if problem.goal is None or problem.goal_of != of_whom:
        return f"{value:.2f}"
    return f"{value:.2f} ({problem.goal:g})" if aim(group)[0] else f"**{value:.2f}** ({problem.goal:g})"


def _elsewhere(group: list[Entry]) -> str:
    """Return the ratio to the best peer on another data set."""
    ours = of(group, OURS)
    to_best = ratio(ours, best_peer(group)) if ours else None
    return "-" if to_best is None else f"{to_best:.2f}"


def _to_yardstick(group: list[Entry], ours: Entry) -> str:
    """Return the ratio to scikit-learn, or why there is none."""
    to_other, known = ratio(ours, yardstick(group)), standing(group)[0]
    if to_other is not None:
        return f"**{to_other:.2f} (slower)**" if known == "lost" else _with_goal(group, to_other, YARDSTICK)
    return {"ahead": "misses", "undecided": "no result", "apart": "not offered"}.get(known, "-")


def limits(found: list[Entry], facts: Mapping[str, Mapping[str, Any]], header: Mapping[str, Any]) -> str:
    """Return the table of limits: each row's limit and our time as a multiple of it, on the data of the other table."""
    lines = ["| row (data) | bytes | operations | limit | lineal | times the limit |", "|---|---|---|---|---|---|"]
    for row, group in worst(found).items():
        mine, work, known = of(group, OURS), group[0].problem.work, facts.get(group[0].problem.name)
        if work is None or known is None or mine is None or not mine.reached or mine.seconds is None:
            continue
        least, read, count = work.seconds(known, header["roof"]), work.bytes(known), work.count(known)
        often = f" x {work.reads}" if work.reads > 1 else ""
        lines.append(
            f"| {row} ({group[0].problem.sample.name}) | {_amount(read)}B{often} | {_amount(count) if count else ''} "
            f"| {time_text(least)} | {time_text(mine.seconds)} "
            f"| {mine.seconds / least:.{1 if mine.seconds < 10 * least else 0}f} |"
        )
    speeds = "; ".join(
        f"{threads} core{'s' if int(threads) > 1 else ''}: {speed['bytes'] / 1e9:.1f} GB/s read, {speed['flops'] / 1e9:.0f} GF/s"
        for threads, speed in header["roof"].items()
    )
    return "\n".join([*lines, "", f"{header['date']}, {header['machine']['processor']}. {speeds} (doubles)."])


def scaling_block(header: Mapping[str, Any], records: list[Mapping[str, Any]]) -> str:
    """Return a table of the ends of all curves with their exponents, and how growth stands against the best peer.

    A time that did not reach the target is a dash. The points between the ends are in the picture.
    """
    found = scaling.all_curves(records, header)
    lines = ["| what grows | cores | lineal (exponent) | best peer | limit of the machine |", "|---|---|---|---|---|"]
    stands = []
    for axis in scaling.AXES:
        what = f"{axis.name}, {axis.sizes[0]:,} to {axis.sizes[-1]:,}"
        fixed = ", ".join(f"{value:,} {key}" for key, value in axis.fixed.items())
        for cores in scaling.CORES:
            if (axis.name, OURS, cores) in found:
                curves = [found.get((axis.name, OURS, cores)), scaling.rival(axis.name, cores, found)]
                curves.append(found.get((axis.name, scaling.LIMIT, cores)))
                lines.append(f"| {what} | {cores} | {' | '.join(_ends(axis, curve) for curve in curves)} |")
        said = [line for cores in scaling.CORES if (line := scaling.standing(axis.name, cores, found))]
        stands += [wrapped(f"- {axis.name} ({axis.problem_name}, {fixed}): {'; '.join(said)}", "  ")] if said else []
    if stands:
        head = "Exponents from end to end, lineal against the best peer; lineal is faster at every point not named:"
        stands = [head, "", *stands, ""]
    return "\n".join([*lines, "", *stands, wrapped(origin(header, "scaling"))])


def _ends(axis: scaling.Axis, line: Mapping[int, float] | None) -> str:
    """Return the times at the first and the last size with the exponent of all points, a dash where there is none."""
    if not line:
        return "-"
    slope = f" ({scaling.exponent(line, line.values()):.2f})" if len(line) > 1 else ""
    return f"{time_text(line.get(axis.sizes[0]))} to {time_text(line.get(axis.sizes[-1]))}{slope}"


def _amount(number: float) -> str:
    """Return a number with its unit's prefix.

    >>> _amount(8e8), _amount(36_800)
    ('0.80 G', '36.8 k')
    """
    for prefix, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= 0.1 * size:
            return f"{number / size:.{2 if number < size else 1}f} {prefix}"
    return f"{number:.0f} "


def origin(header: Mapping[str, Any], what: str) -> str:
    """Return when, how often, on what machine and with which versions ``what`` was measured."""
    computer = header["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in header["versions"].items())
    return (
        f"{header['date']}, {what} sizes, minimum of up to {header['repeats']} fresh processes; "
        f"{computer['processor']}, {computer['cores']} cores, {computer['memory_gb']} GB; {versions}."
    )


def wrapped(words: str, indent: str = "") -> str:
    """Return a paragraph in lines of at most WIDTH characters, those after the first indented.

    >>> wrapped("one two " * 20).count("\\n")
    1
    """
    return textwrap.fill(words, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def write_block(path: Path, name: str, block: str) -> None:
    """Replace what stands between the markers ``NAME:begin`` and ``NAME:end`` of a file; one without them is refused."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    content = path.read_text(encoding="utf-8")
    if content.count(begin) != 1 or content.count(end) != 1 or content.index(begin) > content.index(end):
        raise SystemExit(
            f"{path.name} has no single pair of markers {begin} and {end}; put them where the table belongs."
        )
    before, rest = content.split(begin)
    after = rest.split(end)[1]
    path.write_text(f"{before}{begin}\n{block}\n{end}{after}", encoding="utf-8")
