"""What a run's records say: the best of each competitor's runs, how a row stands, and a table for a terminal.

A row stands as it does on the data set on which it is the worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.peers import OURS, PEERS, YARDSTICK
from benchmarks.problems import Problem
from benchmarks.rows import PROBLEMS

BEFORE = "before"
NOT_RUN = "not run"
BUSY = 0.10
"""A run during which others took more than this share of the cores is marked."""


@dataclass(frozen=True)
class Entry:
    """One competitor on one problem: the best of its runs."""

    problem: Problem
    peer: str
    seconds: float | None
    suboptimality: float | None = None
    peak_mb: float | None = None
    others: float | None = None
    note: str = ""
    cut: bool = False
    cpu: float | None = None
    declines: bool = False

    @property
    def reached(self) -> bool:
        """Whether there is a time, and the target was reached where there is one."""
        if self.seconds is None:
            return False
        return self.suboptimality is None or self.suboptimality <= self.problem.target


def entries(records: Iterable[Mapping[str, Any]]) -> list[Entry]:
    """Return one entry per problem and peer that was run, or that says why not.

    If some run found a lower objective than the reference, that one is the optimum for all.
    """
    runs: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    cut: set[tuple[str, str]] = set()
    declined: dict[tuple[str, str], str] = {}
    for record in records:
        key = (str(record.get("problem")), str(record.get("peer")))
        if record["kind"] == "run":
            runs.setdefault(key, []).append(record)
        elif record["kind"] == "setting" and "declines" in record:
            declined[key] = str(record["declines"])
        elif record["kind"] == "setting" and record.get("cut"):
            cut.add(key)
    known = {key: group for key, group in runs.items() if key[0] in PROBLEMS}
    found = [replace(_entry(*key, group), cut=key in cut) for key, group in known.items()]
    found += [Entry(PROBLEMS[key[0]], key[1], None, note=note, declines=True) for key, note in declined.items()]
    lowest: dict[str, float] = {}
    for entry in found:
        if entry.suboptimality is not None:
            lowest[entry.problem.name] = min(lowest.get(entry.problem.name, 0.0), entry.suboptimality)
    order = list(PROBLEMS)
    raised = [_raised(entry, lowest.get(entry.problem.name, 0.0)) for entry in found]
    return sorted(raised, key=lambda e: (order.index(e.problem.name), e.seconds is None, e.seconds or 0.0))


def _entry(name: str, peer: str, group: list[Mapping[str, Any]]) -> Entry:
    good = [record for record in group if "seconds" in record]
    if not good:
        return Entry(PROBLEMS[name], peer, None, note=str(group[0].get("error", "failed")))
    best = min(good, key=lambda record: record["seconds"])

    def known(key: str) -> list[float]:
        return [record[key] for record in good if record.get(key) is not None]

    return Entry(
        PROBLEMS[name],
        peer,
        best["seconds"],
        max(known("suboptimality"), default=None),
        max(known("peak_mb"), default=None),
        best.get("others"),
        f"verdict {best['verdict']}" if "verdict" in best else "",
        cpu=min(known("cpu"), default=None),
    )


def _raised(entry: Entry, lowest: float) -> Entry:
    if entry.suboptimality is None or lowest == 0.0 or entry.problem.task == "predict":
        return entry
    return replace(entry, suboptimality=entry.suboptimality - lowest)


def by_problem(found: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Return the entries of each problem, in the order of the registry."""
    groups: dict[str, list[Entry]] = {}
    for entry in found:
        groups.setdefault(entry.problem.name, []).append(entry)
    return groups


def by_row(found: Iterable[Entry]) -> dict[str, list[list[Entry]]]:
    """Return the groups of each row, that of the data set on which it stands the worst first."""
    rows: dict[str, list[list[Entry]]] = {}
    for group in by_problem(found).values():
        rows.setdefault(group[0].problem.row, []).append(group)
    return {row: sorted(groups, key=_badness, reverse=True) for row, groups in rows.items()}


def worst(found: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Return for each row the entries of the data set on which it stands the worst."""
    return {row: groups[0] for row, groups in by_row(found).items()}


def _badness(group: list[Entry]) -> float:
    """Return our ratio to the best peer: infinite where we have no result, negative where no peer has one."""
    ours, best = of(group, OURS), best_peer(group)
    if ours is None or not ours.reached:
        return float("inf")
    return ratio(ours, best) or -1.0


def of(group: list[Entry], peer: str) -> Entry | None:
    """Return a competitor's entry."""
    return next((entry for entry in group if entry.peer == peer), None)


def best_peer(group: list[Entry]) -> Entry | None:
    """Return the fastest competitor other than us that reached the target."""
    return next((e for e in group if e.peer != OURS and PEERS[e.peer].rival and e.reached), None)


def yardstick(group: list[Entry]) -> Entry | None:
    """Return scikit-learn's entry, if it reached the target."""
    return next((entry for entry in group if entry.peer == YARDSTICK and entry.reached), None)


def ratio(entry: Entry, to: Entry | None) -> float | None:
    """Return the ratio of two times, where both reached the target."""
    if to is None or not entry.reached or not to.reached or not to.seconds or entry.seconds is None:
        return None
    return entry.seconds / to.seconds


def standing(group: list[Entry]) -> tuple[str, str]:
    """Return how a problem stands against scikit-learn, ``ahead``, ``lost``, ``undecided`` or ``apart``, and why in words."""
    ours, other = of(group, OURS), of(group, YARDSTICK)
    if ours is None or ours.note.startswith(NOT_RUN):
        return "undecided", "lineal was not run"
    if ours.seconds is None:
        return "lost", f"no result: {ours.note}"
    if not ours.reached:
        return "lost", f"target missed: {ours.suboptimality:.1e}"
    if other is not None and other.declines:
        best = best_peer(group)
        to_best = ratio(ours, best)
        words = f"{to_best:.2f} x {best.peer}" if best and to_best else "no peer reaches the target"
        return "apart", f"scikit-learn {other.note}; {words}"
    if other is None or other.seconds is None:
        return "undecided", f"scikit-learn has no result: {other.note if other else 'not run'}"
    if not other.reached and other.cut:
        # too little patience is not a miss, and must not count in our favour
        return "undecided", "scikit-learn's search was cut short"
    if not other.reached:
        return "ahead", "scikit-learn misses the target"
    to_other = ours.seconds / other.seconds
    return ("lost" if to_other > 1.0 else "ahead"), f"{to_other:.2f} x scikit-learn"


def aim(group: list[Entry]) -> tuple[bool, str]:
    """Return whether a problem reaches its row's goal, a ratio to the best peer at the target, and by how much."""
    ours, problem = of(group, OURS), group[0].problem
    best = yardstick(group) if problem.goal_of == YARDSTICK else best_peer(group)
    if ours is None or not ours.reached or problem.goal is None:
        return problem.goal is None, "no result"
    to_best = ratio(ours, best)
    if best is None or to_best is None:
        return True, "no peer reaches the target"
    return to_best <= problem.goal, f"{to_best:.2f} of {best.peer}, goal {problem.goal:g}"


def _named(found: list[Entry], kind: str) -> list[str]:
    standings = {group[0].problem.name: standing(group) for group in worst(found).values()}
    return [f"{name} ({words})" for name, (known, words) in standings.items() if known == kind]


def lost(found: list[Entry]) -> list[str]:
    """Return the rows in which we are slower than scikit-learn, or do not reach the target, each with how much."""
    return _named(found, "lost")


def conclusion(found: list[Entry], brief: bool = False) -> str:
    """Return the sentences under the table: lost rows first; ``brief`` leaves out why rows are undecided or apart."""
    losses, undecided, apart, rows = lost(found), _named(found, "undecided"), _named(found, "apart"), worst(found)
    if brief:
        undecided, apart = ([words.partition(" ")[0] for words in kind] for kind in (undecided, apart))
    if not any(entry.peer == OURS for entry in found):
        return "lineal was not run."
    ahead = len(rows) - len(losses) - len(undecided) - len(apart)
    said = [f"Not slower than scikit-learn and at the target: {ahead} of {len(rows)} rows."]
    said.append("LOST: " + ", ".join(losses) + "." if losses else "No row lost.")
    aims = {group[0].problem.name: aim(group) for group in rows.values() if group[0].problem.goal is not None}
    missed = [f"{name} ({words})" for name, (met, words) in aims.items() if not met]
    said.append(f"Goals against the best peer met: {len(aims) - len(missed)} of {len(aims)}.")
    said.extend(["Missed: " + ", ".join(missed) + "."] if missed else [])
    if undecided:
        said.append("UNDECIDED: " + ", ".join(undecided) + ".")
    if apart:
        said.append("Not in scikit-learn: " + ", ".join(apart) + ".")
    busy = [f"{e.problem.name} {e.peer} {e.others:.0%}" for e in found if e.others is not None and e.others > BUSY]
    if busy:
        said.append(
            f"Others used over {BUSY:.0%} of the cores during {len(busy)} best runs ({', '.join(busy[:6])}): "
            "such times are not to be quoted."
        )
    return "\n".join(said)


def text(found: list[Entry]) -> str:
    """Return the table for a terminal: every competitor that solves a problem, fastest first."""
    head = ("row/data", "target", "who", "time", "/ best peer", "/ sklearn", "/ before", "CPU / sklearn")
    head += ("subopt.", "peak MB", "others", "")
    lines = [head]
    for name, group in by_problem(found).items():
        target = group[0].problem.target
        shown = [entry for entry in group if not entry.declines or entry.peer == YARDSTICK]
        for index, entry in enumerate(shown):
            first = (name, f"{target:.0e}" if target else "-") if index == 0 else ("", "")
            others = "-" if entry.others is None else f"{entry.others:.0%}"
            cells = (*first, entry.peer, time_text(entry.seconds), *ratios(entry, group), *numbers(entry), others)
            lines.append((*cells, _remark(entry, group)))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head) - 1)]
    out = []
    for line in lines:
        cells = [cell.ljust(widths[i]) if i in (0, 2) else cell.rjust(widths[i]) for i, cell in enumerate(line[:-1])]
        out.append("  ".join([*cells, line[-1]]).rstrip())
    return "\n".join(out)


def _remark(entry: Entry, group: list[Entry]) -> str:
    """Return what has to be said beside the figures of an entry."""
    if entry.seconds is not None and not entry.reached:
        return f"{'SEARCH CUT SHORT' if entry.cut else 'MISSES THE TARGET'} {entry.note}".strip()
    if entry.peer == OURS and entry.reached and standing(group)[0] == "lost":
        return f"SLOWER THAN SCIKIT-LEARN {entry.note}".strip()
    return entry.note


def ratios(entry: Entry, group: list[Entry]) -> tuple[str, str, str, str]:
    """Return the ratios to the best peer, to scikit-learn, to the revision before, and of processor times.

    Other processes disturb the time of a processor less than that of a clock on the wall.
    """
    other = yardstick(group)
    times = [ratio(entry, to) for to in (best_peer(group), other, of(group, BEFORE))]
    known = entry.reached and other is not None and entry.cpu and other.cpu
    times.append(entry.cpu / other.cpu if known else None)  # type: ignore[union-attr, operator]
    to_best, to_other, to_before, of_cpu = ("-" if value is None else f"{value:.2f}" for value in times)
    return to_best, to_other, to_before, of_cpu


def numbers(entry: Entry) -> tuple[str, str]:
    """Return suboptimality and peak memory as they are shown."""
    reached = "-" if entry.suboptimality is None else f"{entry.suboptimality:.0e}"
    return reached, "-" if entry.peak_mb is None else f"{entry.peak_mb:.0f}"


def time_text(seconds: float | None) -> str:
    """Return a time as people read it.

    >>> time_text(0.01234), time_text(2e-6), time_text(None)
    ('12.3 ms', '2.0 us', '-')
    """
    if seconds is None:
        return "-"
    for unit, size, places in (("s", 1.0, 2), ("ms", 1e-3, 1), ("us", 1e-6, 1)):
        if seconds >= 100 * size:
            return f"{seconds / size:.3g} {unit}"
        if seconds >= size:
            return f"{seconds / size:.{places}f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
