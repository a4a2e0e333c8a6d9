"""The attack: draw cases, ask lineal, judge, and print what was tried and what was refuted."""

from __future__ import annotations

import argparse
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lineal.errors import InputError

from . import boundaries, checked, chosen, doors, forgery, halves, several, stationary, tables
from .doors import Case
from .judge import Violation
from .outcome import Outcome, of_claims
from .tally import Tally, publish, report, table

PATIENCE = 10
"""Seconds of computing after which a fit of at most 40 x 5 numbers is given up; the oracle has four times as many."""


class TooSlowError(Exception):
    """A fit or a judgement took longer than it may."""


@contextmanager
def patience(seconds: int) -> Iterator[None]:
    """Raise TooSlowError in what takes longer."""

    def stop(_signal: int, _frame: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # what this process computes, however busy the machine is
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


class Front(NamedTuple):
    """One kind of question: how cases are drawn and asked, the names it answers to, and its share of the cases."""

    drawn: Callable[..., Case]
    ask: Callable[[Case], list[Outcome]]
    names: tuple[str, ...]
    share: int


FRONTS: dict[str, Front] = {
    "doors": Front(doors.drawn, lambda case: of_claims(case, doors.ask(case)[0]), (*doors.PARAMS, *doors.MODELS), 10),
    "separability": Front(halves.drawn, halves.outcomes, (), 2),
    "choices": Front(chosen.drawn, chosen.ask, tuple(chosen.PARAMS), 1),
    "slopes": Front(stationary.drawn, stationary.ask, stationary.DOORS, 2),
    "halfspaces": Front(boundaries.drawn, boundaries.ask, boundaries.DOORS, 2),
    "several": Front(several.drawn, several.ask, several.DOORS, 1),
    "tables": Front(tables.drawn, tables.ask, tables.DOORS, 2),
    "files": Front(checked.drawn, checked.ask, checked.DOORS, 4),
}
"""Name -> front; every twenty-four cases are shared out among them."""
TURNS = [name for name, front in FRONTS.items() for _ in range(front.share)]


def front_of(index: int, only: str | None) -> str:
    """Return the front of a case; ``only`` names one, or a door of one; a twist of the columns goes to all in turn."""
    if only in FRONTS:
        return only
    return next((name for name, front in FRONTS.items() if only in front.names), TURNS[index % len(TURNS)])


def one(case: Case, index: int, tally: Tally, ask: Callable[[Case], list[Outcome]]) -> None:
    """Try one case."""
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings(), patience(PATIENCE):
            warnings.simplefilter("error")
            outcomes = ask(case)
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
    for outcome in outcomes:
        tally.count(outcome, index, case)
        if not tally.judged:
            continue
        try:
            with patience(4 * PATIENCE):
                violations = outcome.judge()
        except TooSlowError:
            tally.unsure.append(index)
            continue
        except Exception:
            tally.unsure.append(index)
            print(f"the oracle failed on case {index}:\n{traceback.format_exc()}", file=sys.stderr)
            continue
        tally.note(violations, index, case, outcome.row)


def parsed() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="scripts/attack", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--cases", type=int, help="at most so many cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only",
        help=f"one of {', '.join(FRONTS)}; a door of them, a twist of the columns, forgery, or a file of the forger",
    )
    parser.add_argument("--plain", action="store_true", help="ordinary random data: nothing nasty about it")
    parser.add_argument("--endings", action="store_true", help="count how fits end, and judge nothing")
    parser.add_argument("--case", type=int, help="this case alone")
    parser.add_argument("--verbose", action="store_true", help="a line for every case")
    parser.add_argument("--violations", type=Path, default=Path("violations.txt"), help="where violations are written")
    parser.add_argument("--publish", action="store_true", help="write the figures into docs/verdicts.md")
    return parser.parse_args()


def main() -> int:
    """Attack for some minutes; 1 if anything was refuted."""
    given = parsed()
    tally, begin, index = Tally(plain=given.plain, judged=not given.endings), time.monotonic(), given.case or 0
    end = begin + 60 * given.minutes
    if given.only == "forgery" or given.only in forgery.NAMES:
        forgery.attack(tally, given.seed, end, given.only)
        index = -1
    elif given.publish and not given.plain and given.only is None:
        end -= 0.2 * (end - begin)  # the forger has the rest
    while index >= 0:
        name = front_of(index, given.only)
        case = FRONTS[name].drawn(given.seed, index, given.only, plain=given.plain)
        before, known = time.monotonic(), len(tally.found)
        one(case, index, tally, FRONTS[name].ask)
        if given.verbose:
            print(f"{index} {time.monotonic() - before:.2f} s {case.door} {case.params} {case.tags}", flush=True)
        if len(tally.found) > known:
            given.violations.write_text(report(tally))
        index += 1
        if given.case is not None or time.monotonic() > end or index == given.cases:
            break
    if given.publish and not given.plain and given.only is None:
        forgery.attack(tally, given.seed, begin + 60 * given.minutes, None)
    print(table(tally))
    given.violations.write_text(report(tally))
    print(f"{len(tally.found)} violations in {given.violations}")
    if given.publish:
        publish(tally, given.seed)
    return int(bool(tally.found))


if __name__ == "__main__":
    raise SystemExit(main())
