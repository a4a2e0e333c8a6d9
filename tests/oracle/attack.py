"""The attack: draw cases, ask lineal, judge, and print what was tried and what was refuted."""

from __future__ import annotations

import argparse
import itertools
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lineal.errors import InputError

from . import forger, halves
from .doors import Case, ask, drawn
from .judge import Violation, judge

PATIENCE = 10
"""Seconds after which a fit of at most 40 x 5 numbers is given up; the oracle has four times as many."""
QUESTIONS = 8
"""Every so many cases one is a question of separability."""
PAGE = Path(__file__).parents[2] / "docs" / "verdicts.md"
BEGIN, END = "<!-- attack:begin -->", "<!-- attack:end -->"


class TooSlowError(Exception):
    """A fit or a judgement took longer than it may."""


@contextmanager
def patience(seconds: int) -> Iterator[None]:
    """Raise TooSlowError in what takes longer."""

    def stop(_signal: int, _frame: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@dataclass
class Tally:
    """What was tried, by loss and by door, and how it ended."""

    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    doors: Counter[tuple[str, str]] = field(default_factory=Counter)
    refuted: Counter[str] = field(default_factory=Counter)
    slow: list[tuple[float, int, str]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    found: list[tuple[Violation, int, Case]] = field(default_factory=list)
    unsure: list[int] = field(default_factory=list)

    def note(self, violations: list[Violation], index: int, case: Case, loss: str) -> None:
        """Write down what is false about one verdict."""
        self.refuted[loss] += bool(violations)
        self.found += [(violation, index, case) for violation in violations]

    @property
    def families(self) -> Counter[str]:
        """How many violations there are of each family."""
        return Counter(violation.family for violation, _, _ in self.found)


def one(case: Case, index: int, tally: Tally) -> None:
    """Try one case."""
    begin, question = time.perf_counter(), case.door == "separability"
    try:
        with warnings.catch_warnings(), patience(PATIENCE):
            warnings.simplefilter("error")
            if question:
                answer, violations = halves.ask(case)
            else:
                claims, _ = ask(case)
    except InputError as error:
        tally.refused[str(error)[:60]] += 1
        return
    except TooSlowError:
        tally.note([Violation("slow", float("inf"), f"not finished in {PATIENCE} s")], index, case, case.door)
        return
    except Exception as error:
        family = "warning" if isinstance(error, Warning) else "crash"
        tally.note([Violation(family, float("inf"), f"{type(error).__name__}: {error}"[:200])], index, case, case.door)
        return
    tally.slow.append((time.perf_counter() - begin, index, f"{case.door} {case.params} {', '.join(case.tags)}"))
    if question:
        tally.kinds["separability", answer.kind] += 1
        tally.note(violations, index, case, "separability")
        return
    for claim in claims:
        loss, kind = claim.problem.loss.name, claim.verdict.kind
        if not case.door.startswith(
            "SGD"
        ):  # whose epochs end before the optimum: gaps are judged, endings are not counted
            tally.kinds[loss, kind] += 1
        tally.doors[case.door, kind] += 1
        try:
            with patience(4 * PATIENCE):
                violations = judge(claim)
        except TooSlowError:
            tally.unsure.append(index)
            continue
        except Exception:
            tally.unsure.append(index)
            print(f"the oracle failed on case {index}:\n{traceback.format_exc()}", file=sys.stderr)
            continue
        tally.note(violations, index, case, loss)


def forge(seed: int, until: float, name: str | None = None) -> tuple[int, list[str]]:
    """Forge files until it is time; return how many untrue ones were offered, and those that the checker confirmed."""
    told, confirmed = 0, []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for round_ in itertools.count(seed):
            for each in [name] if name in forger.HONEST else forger.HONEST:
                if time.monotonic() > until:
                    return told, confirmed
                file = forger.honest(each, folder, round_)
                if file.meta["verdict"]["gap"] is None or file.meta["verdict"]["relative_gap"] is None:
                    continue
                for words, forged, false in forger.lies(file):
                    told += false is not None
                    if false is not None and forger.accepted(forged, folder) is None:
                        call = f"forger.replay({each!r}, {round_}, {words!r}, Path('.'))"
                        confirmed.append(
                            f"# {each}: {false}\nfrom pathlib import Path; from tests.oracle import forger; print({call})"
                        )
    raise AssertionError("a count has no end")


# ---------------------------------------------------------------- saying it


def _budget(counts: Counter[tuple[str, str]], name: str | None = None) -> tuple[int, float]:
    """Return how many verdicts there are, of one name or all, and the percentage of ``budget``."""
    total = sum(v for (first, _), v in counts.items() if name in (None, first))
    unfinished = sum(v for (first, kind), v in counts.items() if name in (None, first) and kind == "budget")
    return total, 100 * unfinished / max(total, 1)


def table(tally: Tally) -> str:
    """Return what was tried and how it ended, as text."""
    total, rate = _budget(tally.kinds)
    lines = [
        f"tried {total} verdicts ({sum(tally.doors.values())} with those of SGD), budget {rate:.2f} %",
        f"inputs refused {sum(tally.refused.values())}, oracle unsure {len(tally.unsure)}: {tally.unsure[:20]}",
        "violated: " + (", ".join(f"{family} {count}" for family, count in tally.families.most_common()) or "nothing"),
    ]
    kinds = sorted({kind for counts in (tally.kinds, tally.doors) for _, kind in counts})
    for title, counts in (("loss", tally.kinds), ("door", tally.doors)):
        lines.append(f"{title:28}" + "".join(f"{kind:>13}" for kind in kinds) + f"{'violated':>10}{'budget %':>10}")
        for name in sorted({name for name, _ in counts}):
            row = "".join(f"{counts[name, kind]:13d}" for kind in kinds)
            false = (
                tally.refuted[name]
                if counts is tally.kinds
                else len({i for _, i, case in tally.found if case.door == name})
            )
            lines.append(f"{name:28}{row}{false:10d}{_budget(counts, name)[1]:10.1f}")
    lines.append("slowest fits:")
    lines += [
        f"  {seconds:8.2f} s  case {index}  {words}" for seconds, index, words in sorted(tally.slow, reverse=True)[:8]
    ]
    lines += [f"refused {count} times: {words}" for words, count in tally.refused.most_common(5)]
    return "\n".join(lines)


def report(tally: Tally) -> str:
    """Return every violation as a line that reproduces it, the worst family first."""
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


def publish(tally: Tally, seed: int) -> None:
    """Write the figures into docs/verdicts.md, between the two marks."""
    total, rate = _budget(tally.kinds)
    wrong = sum(tally.refuted.values())
    lines = [
        BEGIN,
        f"Seed {seed}: {total} verdicts tried, {wrong} violated, {rate:.2f} % `budget`.",
        "",
        "| loss | tried | violated | `budget` |",
        "|---|---|---|---|",
    ]
    for name in sorted({name for name, _ in tally.kinds} | set(tally.refuted)):
        tried, share = _budget(tally.kinds, name)
        lines.append(f"| {name} | {tried} | {tally.refuted[name]} | {share:.1f} % |")
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"docs/verdicts.md lacks the marks {BEGIN} and {END}.")
    PAGE.write_text(before + "\n".join(lines) + "\n" + END + after)


def main() -> int:
    """Attack for some minutes; 1 if anything was refuted."""
    parser = argparse.ArgumentParser(prog="scripts/attack", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only",
        help="a door, a model of lineal.fit, a twist of the columns, separability, forgery, or a file of the forger",
    )
    parser.add_argument("--case", type=int, help="this case alone")
    parser.add_argument("--verbose", action="store_true", help="a line for every case")
    parser.add_argument("--violations", type=Path, default=Path("violations.txt"), help="where violations are written")
    parser.add_argument("--publish", action="store_true", help="write the figures into docs/verdicts.md")
    given = parser.parse_args()
    if given.only == "forgery" or given.only in forger.HONEST:
        told, confirmed = forge(given.seed, time.monotonic() + 60 * given.minutes, given.only)
        given.violations.write_text("\n".join(confirmed) + "\n")
        print(f"forged {told} untrue files, {len(confirmed)} of them confirmed by the checker: {given.violations}")
        return int(bool(confirmed))
    tally, begin, index = Tally(), time.monotonic(), given.case or 0
    while True:
        question = given.only == "separability" or (given.only is None and index % QUESTIONS == QUESTIONS - 1)
        case = (halves.drawn if question else drawn)(given.seed, index, given.only)
        before, known = time.monotonic(), len(tally.found)
        one(case, index, tally)
        if given.verbose:
            print(f"{index} {time.monotonic() - before:.2f} s {case.door} {case.params} {case.tags}", flush=True)
        if len(tally.found) > known:
            given.violations.write_text(report(tally))
        index += 1
        if given.case is not None or time.monotonic() - begin > 60 * given.minutes:
            break
    print(table(tally))
    given.violations.write_text(report(tally))
    print(f"{len(tally.found)} violations in {given.violations}")
    if given.publish:
        publish(tally, given.seed)
    return int(bool(tally.found))


if __name__ == "__main__":
    raise SystemExit(main())
