"""The summary: what a run's records say, as a table for a terminal and as the README's block."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.peers import OURS, YARDSTICK
from benchmarks.problems import PROBLEMS

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
BUSY = 0.10
"""A run during which others took more than this share of the cores is marked."""
WIDTH = 110
"""Where lines of a page are wrapped."""


@dataclass(frozen=True)
class Entry:
    """One competitor on one row: the best of its runs."""

    row: str
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
        return self.suboptimality is None or self.suboptimality <= PROBLEMS[self.row].target


def entries(records: Iterable[Mapping[str, Any]]) -> list[Entry]:
    """Return one entry per row and peer that was run, or that says why not.

    If some run found a lower objective than the reference, that one is the optimum for all.
    """
    runs: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    cut: set[tuple[str, str]] = set()
    notes: dict[tuple[str, str], str] = {}
    declined: set[tuple[str, str]] = set()
    for record in records:
        key = (str(record.get("row")), str(record.get("peer")))
        if record["kind"] == "run":
            runs.setdefault(key, []).append(record)
        elif record["kind"] == "setting" and ("declines" in record or "failed" in record):
            notes[key] = str(record.get("declines") or record.get("failed"))
            declined.update([key] if "declines" in record else [])
        elif record["kind"] == "setting" and record.get("cut"):
            cut.add(key)
    found = [replace(_entry(row, peer, group), cut=(row, peer) in cut) for (row, peer), group in runs.items()]
    found += [Entry(*key, None, note=note, declines=key in declined) for key, note in notes.items()]
    lowest: dict[str, float] = {}
    for entry in found:
        if entry.suboptimality is not None:
            lowest[entry.row] = min(lowest.get(entry.row, 0.0), entry.suboptimality)
    order = list(PROBLEMS)
    raised = [_raised(entry, lowest.get(entry.row, 0.0)) for entry in found]
    return sorted(raised, key=lambda e: (order.index(e.row), e.seconds is None, e.seconds or 0.0))


def _entry(row: str, peer: str, group: list[Mapping[str, Any]]) -> Entry:
    good = [record for record in group if "seconds" in record]
    if not good:
        return Entry(row, peer, None, note=str(group[0].get("error", "failed")))
    best = min(good, key=lambda record: record["seconds"])
    subs = [record["suboptimality"] for record in good if record.get("suboptimality") is not None]
    peaks = [record["peak_mb"] for record in good if record.get("peak_mb") is not None]
    note = f"verdict {best['verdict']}" if "verdict" in best else ""
    return Entry(
        row,
        peer,
        best["seconds"],
        max(subs, default=None),
        max(peaks, default=None),
        best.get("others"),
        note,
        cpu=min((record["cpu"] for record in good if record.get("cpu") is not None), default=None),
    )


def _raised(entry: Entry, lowest: float) -> Entry:
    if entry.suboptimality is None or lowest == 0.0 or PROBLEMS[entry.row].task == "predict":
        return entry
    return replace(entry, suboptimality=entry.suboptimality - lowest)


def by_row(found: list[Entry]) -> dict[str, list[Entry]]:
    """Return the entries of each row, in the order of the registry."""
    rows: dict[str, list[Entry]] = {}
    for entry in found:
        rows.setdefault(entry.row, []).append(entry)
    return rows


def best_peer(group: list[Entry]) -> Entry | None:
    """Return the fastest competitor other than us that reached the target."""
    return next((entry for entry in group if entry.peer != OURS and entry.reached), None)


def yardstick(group: list[Entry]) -> Entry | None:
    """Return scikit-learn's entry, if it reached the target."""
    return next((entry for entry in group if entry.peer == YARDSTICK and entry.reached), None)


def standing(group: list[Entry]) -> tuple[str, str]:
    """Return how a row stands against scikit-learn, ``ahead``, ``lost``, ``undecided`` or ``apart``, and why in words."""
    ours = next((entry for entry in group if entry.peer == OURS), None)
    other = next((entry for entry in group if entry.peer == YARDSTICK), None)
    if ours is None or ours.seconds is None:
        return "lost", f"no result: {ours.note if ours else 'not run'}"
    if not ours.reached:
        return "lost", f"target missed: {ours.suboptimality:.1e}"
    if other is not None and other.declines:
        best = best_peer(group)
        words = "no peer reaches the target"
        if best is not None and best.seconds:
            words = f"{ours.seconds / best.seconds:.2f} x {best.peer}"
        return "apart", f"scikit-learn {other.note}; {words}"
    if other is None or other.seconds is None:
        return "undecided", f"scikit-learn has no result: {other.note if other else 'not run'}"
    if not other.reached:
        # too little patience is not a miss, and must not count in our favour
        return (
            ("undecided", "scikit-learn's search was cut short")
            if other.cut
            else ("ahead", "scikit-learn misses the target")
        )
    ratio = ours.seconds / other.seconds
    return ("lost" if ratio > 1.0 else "ahead"), f"{ratio:.2f} x scikit-learn"


def aim(group: list[Entry]) -> tuple[bool, str]:
    """Return whether a row reaches its goal, a ratio to the best peer that reached the target, and by how much."""
    ours = next((entry for entry in group if entry.peer == OURS), None)
    best, goal = best_peer(group), PROBLEMS[group[0].row].goal
    if ours is None or not ours.reached or ours.seconds is None or goal is None:
        return goal is None, "no result"
    if best is None or not best.seconds:
        return True, "no peer reaches the target"
    ratio = ours.seconds / best.seconds
    return ratio <= goal, f"{ratio:.2f} of {best.peer}, goal {goal:g}"


def _list(found: list[Entry], kind: str) -> list[str]:
    standings = {row: standing(group) for row, group in by_row(found).items()}
    return [f"{row} ({words})" for row, (known, words) in standings.items() if known == kind]


def lost(found: list[Entry]) -> list[str]:
    """Return the rows in which we are slower than scikit-learn, or do not reach the target, each with how much."""
    return _list(found, "lost")


def text(found: list[Entry]) -> str:
    """Return the table for a terminal: every competitor of every row, fastest first."""
    head = (
        "row",
        "target",
        "who",
        "time",
        "/ best peer",
        "/ sklearn",
        "CPU / sklearn",
        "subopt.",
        "peak MB",
        "others",
        "",
    )
    lines = [head]
    for row, group in by_row(found).items():
        best, other = best_peer(group), yardstick(group)
        target = PROBLEMS[row].target
        for index, entry in enumerate(group):
            note = entry.note
            if entry.seconds is not None and not entry.reached:
                note = ("SEARCH CUT SHORT " if entry.cut else "MISSES THE TARGET ") + note
            elif entry.peer == OURS and standing(group)[0] == "lost" and entry.reached:
                note = "SLOWER THAN SCIKIT-LEARN " + note
            first = (row, f"{target:.0e}" if target else "-") if index == 0 else ("", "")
            lines.append(
                (
                    *first,
                    entry.peer,
                    time_text(entry.seconds),
                    *_ratios(entry, best, other),
                    _cpu_ratio(entry, other),
                    *_numbers(entry),
                    note.strip(),
                )
            )
    widths = [max(len(line[i]) for line in lines) for i in range(len(head) - 1)]
    out = []
    for line in lines:
        cells = [cell.ljust(widths[i]) if i in (0, 2) else cell.rjust(widths[i]) for i, cell in enumerate(line[:-1])]
        out.append("  ".join([*cells, line[-1]]).rstrip())
    return "\n".join(out)


def conclusion(found: list[Entry], brief: bool = False) -> str:
    """Return the sentences under the table: lost rows first; ``brief`` leaves out why rows are undecided or apart."""
    losses, undecided, apart, rows = lost(found), _list(found, "undecided"), _list(found, "apart"), by_row(found)
    if brief:
        undecided, apart = ([words.partition(" ")[0] for words in kind] for kind in (undecided, apart))
    if not any(entry.peer == OURS for entry in found):
        return "lineal was not run."
    ahead = len(rows) - len(losses) - len(undecided) - len(apart)
    said = [f"Not slower than scikit-learn and at the target: {ahead} of {len(rows)} rows."]
    said.append("LOST: " + ", ".join(losses) + "." if losses else "No row lost.")
    aims = {row: aim(group) for row, group in rows.items() if PROBLEMS[row].goal is not None}
    missed = [f"{row} ({words})" for row, (met, words) in aims.items() if not met]
    said.append(f"Goals against the best peer met: {len(aims) - len(missed)} of {len(aims)}.")
    said.extend(["Missed: " + ", ".join(missed) + "."] if missed else [])
    if undecided:
        said.append("UNDECIDED: " + ", ".join(undecided) + ".")
    if apart:
        said.append("Not in scikit-learn: " + ", ".join(apart) + ".")
    busy = [f"{e.row}/{e.peer} {e.others:.0%}" for e in found if e.others is not None and e.others > BUSY]
    if busy:
        said.append(
            f"Others used over {BUSY:.0%} of the cores during {len(busy)} best runs ({', '.join(busy[:6])}): "
            "such times are not to be quoted."
        )
    return "\n".join(said)


def _ratios(entry: Entry, best: Entry | None, other: Entry | None) -> tuple[str, str]:
    def ratio(to: Entry | None) -> str:
        if not entry.reached or to is None or not to.seconds or entry.seconds is None:
            return "-"
        return f"{entry.seconds / to.seconds:.2f}"

    return ratio(best), ratio(other)


def _cpu_ratio(entry: Entry, other: Entry | None) -> str:
    """Return the ratio of processor times, which other processes disturb less than those of a clock on the wall."""
    if not entry.reached or other is None or not entry.cpu or not other.cpu:
        return "-"
    return f"{entry.cpu / other.cpu:.2f}"


def _numbers(entry: Entry) -> tuple[str, str, str]:
    sub = "-" if entry.suboptimality is None else f"{entry.suboptimality:.0e}"
    peak = "-" if entry.peak_mb is None else f"{entry.peak_mb:.0f}"
    others = "-" if entry.others is None else f"{entry.others:.0%}"
    return sub, peak, others


def time_text(seconds: float | None) -> str:
    """Return a time as people read it.

    >>> time_text(0.01234), time_text(2e-6), time_text(None)
    ('12.3 ms', '2.0 us', '-')
    """
    if seconds is None:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return (
                f"{seconds / size:.3g} {unit}"
                if seconds / size >= 100
                else f"{seconds / size:.{2 if unit == 's' else 1}f} {unit}"
            )
    return f"{seconds * 1e9:.0f} ns"


def markdown(found: list[Entry], header: Mapping[str, Any]) -> str:
    """Return the README's block, without its markers."""
    lines = [
        "| row | lineal | best peer | ratio (goal) | to scikit-learn | subopt. (target) | MB, lineal / peer |",
        "|---|---|---|---|---|---|---|",
    ]
    for row, group in by_row(found).items():
        ours = next((entry for entry in group if entry.peer == OURS), Entry(row, OURS, None, note="not run"))
        best, other = best_peer(group), yardstick(group)
        to_best, to_other = _ratios(ours, best, other)
        if PROBLEMS[row].goal is not None and best is not None:
            to_best = (
                (f"{to_best} ({PROBLEMS[row].goal:g})") if aim(group)[0] else f"**{to_best}** ({PROBLEMS[row].goal:g})"
            )
        known, _ = standing(group)
        if ours.reached and known == "lost":
            to_other = f"**{to_other} (slower)**"
        elif ours.reached and other is None:
            to_other = {"ahead": "misses the target", "undecided": "no result", "apart": "not offered"}[known]
        peer = "-" if best is None else f"{best.peer} {time_text(best.seconds)}"
        target = f" ({PROBLEMS[row].target:.0e})" if PROBLEMS[row].target else ""
        peaks = f"{_numbers(ours)[1]} / {'-' if best is None else _numbers(best)[1]}"
        mine = (
            time_text(ours.seconds) if ours.reached else f"**{'misses the target' if ours.seconds else 'no result'}**"
        )
        lines.append(f"| {row} | {mine} | {peer} | {to_best} | {to_other} | {_numbers(ours)[0]}{target} | {peaks} |")
    return "\n".join([*lines, "", wrapped(conclusion(found, brief=True)), "", wrapped(origin(header, header["size"]))])


def origin(header: Mapping[str, Any], what: str) -> str:
    """Return when, how often, on what machine and with which versions ``what`` was measured."""
    computer = header["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in header["versions"].items())
    return (
        f"{header['date']}, {what} sizes, minimum of {header['repeats']} fresh processes; "
        f"{computer['processor']}, {computer['cores']} cores, {computer['memory_gb']} GB; {versions}."
    )


def wrapped(words: str, indent: str = "") -> str:
    """Return a paragraph in lines of at most WIDTH characters, those after the first indented.

    >>> wrapped("one two " * 20).count("\\n")
    1
    """
    return textwrap.fill(words, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def write_block(path: Path, block: str, begin: str = BEGIN, end: str = END) -> None:
    """Replace what stands between the markers of a file; a file without them is refused."""
    content = path.read_text(encoding="utf-8")
    if content.count(begin) != 1 or content.count(end) != 1 or content.index(begin) > content.index(end):
        raise SystemExit(
            f"{path.name} has no single pair of markers {begin} and {end}; put them where the table belongs."
        )
    before, rest = content.split(begin)
    after = rest.split(end)[1]
    path.write_text(f"{before}{begin}\n{block}\n{end}{after}", encoding="utf-8")
