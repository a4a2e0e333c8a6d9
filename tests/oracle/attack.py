"""The attack: draw cases, ask lineal, judge, and print what was tried and what was refuted."""

from __future__ import annotations

import argparse
import signal
import sys
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lineal.errors import InputError

from .doors import Case, ask, drawn
from .judge import Violation, judge


@dataclass
class Tally:
    """What was tried, by door and loss, and how it ended."""

    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    doors: Counter[tuple[str, str]] = field(default_factory=Counter)
    violated: Counter[str] = field(default_factory=Counter)
    by_loss: Counter[str] = field(default_factory=Counter)
    slow: list[tuple[float, int, str]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    found: list[tuple[Violation, int, Case]] = field(default_factory=list)
    skipped: int = 0


PATIENCE = 10
"""Seconds after which a fit of at most 40 x 5 numbers, or the oracle's answer, is given up."""


class TooSlow(Exception):
    """A fit or a judgement took longer than it may."""


@contextmanager
def patience(seconds: int) -> Iterator[None]:
    """Raise TooSlow in what takes longer."""

    def stop(_signal: int, _frame: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def one(case: Case, index: int, tally: Tally) -> None:
    """Try one case."""
    try:
        with warnings.catch_warnings(), patience(PATIENCE):
            warnings.simplefilter("error")
            claims, seconds = ask(case)
    except TooSlow:
        _note(tally, Violation("slow", float("inf"), f"not finished in {PATIENCE} s"), index, case, "?")
        return
    except InputError as error:
        tally.refused[str(error)[:60]] += 1
        return
    except Exception as error:  # noqa: BLE001  (a crash is what we look for)
        family = "warning" if isinstance(error, Warning) else "crash"
        _note(tally, Violation(family, float("inf"), f"{type(error).__name__}: {error}"[:200]), index, case, "?")
        return
    tally.slow.append((seconds, index, case.door + " " + " ".join(case.tags)))
    for claim in claims:
        loss, kind = claim.problem.loss.name, claim.verdict.kind
        tally.kinds[loss, kind] += 1
        tally.doors[case.door, kind] += 1
        try:
            with patience(4 * PATIENCE):
                violations = judge(claim)
        except TooSlow:
            tally.skipped += 1
            continue
        except Exception:  # noqa: BLE001  (an oracle that fails must not end the attack, and is said)
            tally.skipped += 1
            print(f"the oracle failed on case {index}:\n{traceback.format_exc()}", file=sys.stderr)
            continue
        for violation in violations:
            _note(tally, violation, index, case, loss)


def _note(tally: Tally, violation: Violation, index: int, case: Case, loss: str) -> None:
    tally.violated[violation.family] += 1
    tally.by_loss[loss] += 1
    tally.found.append((violation, index, case))


def table(tally: Tally) -> str:
    """Return what was tried and how it ended, as text."""
    lines = []
    total = sum(tally.kinds.values())
    budget = sum(v for (_, kind), v in tally.kinds.items() if kind == "budget" )
    lines.append(f"tried {total} verdicts, refused {sum(tally.refused.values())} inputs, oracle failed {tally.skipped}, budget {budget} ({100 * budget / max(total, 1):.2f} %)")
    lines.append("violated: " + (", ".join(f"{k} {v}" for k, v in tally.violated.most_common()) or "none"))
    kinds = sorted({kind for _, kind in tally.kinds})
    for title, counts in (("loss", tally.kinds), ("door", tally.doors)):
        lines.append(f"{title:30}" + "".join(f"{kind:>13}" for kind in kinds) + f"{'budget %':>10}")
        for name in sorted({name for name, _ in counts}):
            row = [counts[name, kind] for kind in kinds]
            rate = 100 * counts[name, "budget"] / sum(row)
            lines.append(f"{name:30}" + "".join(f"{v:13d}" for v in row) + f"{rate:10.1f}")
    lines.append("slowest fits:")
    lines += [f"  {seconds:8.2f} s  case {index}  {words}" for seconds, index, words in sorted(tally.slow, reverse=True)[:8]]
    return "\n".join(lines)


def report(tally: Tally) -> str:
    """Return every violation as a line that reproduces it, the worst of each family first."""
    families: dict[str, list[tuple[Violation, int, Case]]] = defaultdict(list)
    for entry in tally.found:
        families[entry[0].family].append(entry)
    lines = []
    for family, entries in sorted(families.items(), key=lambda item: -max(e[0].size for e in item[1])):
        lines.append(f"# ---- {family}: {len(entries)}")
        for violation, index, case in sorted(entries, key=lambda e: (-e[0].size, len(e[2].code))):
            lines.append(f"# case {index}, {case.door}, {', '.join(case.tags)}: {violation.words}")
            lines.append(case.code)
    return "\n".join(lines) + "\n"


def main() -> int:
    """Attack for some minutes; 1 if anything was refuted."""
    parser = argparse.ArgumentParser(prog="scripts/attack", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="a door, a model of lineal.fit or a twist of the columns")
    parser.add_argument("--case", type=int, help="this case alone")
    parser.add_argument("--verbose", action="store_true", help="a line for every case")
    parser.add_argument("--violations", type=Path, default=Path("violations.txt"), help="where violations are written")
    given = parser.parse_args()
    tally, begin, index, known = Tally(), time.monotonic(), 0, 0
    while given.case is not None or time.monotonic() - begin < 60 * given.minutes:
        index = given.case if given.case is not None else index
        case = drawn(given.seed, index, given.only)
        before = time.monotonic()
        one(case, index, tally)
        if given.verbose:
            print(f"{index} {time.monotonic() - before:.2f} s, fit {tally.slow[-1][0] if tally.slow else 0:.2f} {case.door} {case.params} {case.tags}", flush=True)
        if len(tally.found) > known:
            known = len(tally.found)
            given.violations.write_text(report(tally))
        index += 1
        if given.case is not None:
            break
    print(table(tally))
    given.violations.write_text(report(tally))
    print(f"{len(tally.found)} violations in {given.violations}")
    return int(bool(tally.found))


if __name__ == "__main__":
    raise SystemExit(main())
