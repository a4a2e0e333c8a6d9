"""The order of work: problem by problem its data, then rounds of fresh processes, the peers of a data set interleaved."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import data, table
from benchmarks.peers import OURS, PEERS, YARDSTICK
from benchmarks.problems import Problem

ROOT = Path(__file__).parent.parent
HOPELESS = 3.0
"""A peer whose first time is above the best peer's by this factor is not timed again."""


LAST_SECONDS = 5.0
"""Nothing is begun when less is left."""


class Seconds(NamedTuple):
    """How long a search goes on behind its best setting, and what a process may take that times or makes data."""

    patience: float
    timing: float
    making: float


SECONDS = {
    "full": Seconds(60.0, 600.0, 7200.0),
    "table": Seconds(5.0, 40.0, 90.0),
    "quick": Seconds(1.5, 30.0, 60.0),
    "tiny": Seconds(1.5, 30.0, 60.0),
}


class Process:
    """A worker process; jobs go in, answers come out."""

    def __init__(self, peer: str | None = None) -> None:
        extra = PEERS[peer].environment() if peer else {"OPENBLAS_NUM_THREADS": "1"}
        python = PEERS[peer].python() if peer else sys.executable
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (closed with the process)
        self.child = subprocess.Popen(
            [python, "-W", "ignore", "-m", "benchmarks.worker"],
            cwd=ROOT,
            env={**os.environ, **extra},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )

    def ask(self, job: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer to a job, or ``error``: why there is none."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        clock = threading.Timer(seconds, self.child.kill)
        clock.start()
        try:
            self.child.stdin.write(json.dumps(job) + "\n")
            self.child.stdin.flush()
            for line in self.child.stdout:
                if line.startswith("@"):
                    return json.loads(line[1:])
        except OSError:
            pass
        finally:
            late = not clock.is_alive()
            clock.cancel()
        self.errors.seek(0)
        last = (self.errors.read().strip().splitlines() or ["no answer"])[-1][:300]
        return {"error": f"stopped after {seconds:.0f} s" if late else last}

    def end(self) -> None:
        """End the process."""
        assert self.child.stdin is not None
        self.child.kill()
        self.child.wait()
        for stream in (self.child.stdin, self.child.stdout, self.errors):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):  # a job that the process died before reading
                    stream.close()


@dataclass
class Plan:
    """What to run: problems, peers, size, repeats, and when to be done (``deadline`` on the monotonic clock).

    ``named`` says that the user named the peers, so that none is left out; ``cores`` how many each run may use. In quick
    size a peer keeps its process from problem to problem: starting fresh ones would take most of the time.
    """

    problems: list[Problem]
    peers: list[str]
    size: str
    repeats: int
    deadline: float = float("inf")
    named: bool = False
    cores: int | None = None
    kept: dict[str, Process] = field(default_factory=dict)

    def left(self) -> float:
        """Return the seconds until the deadline."""
        return self.deadline - time.monotonic()

    def order(self, problem: Problem) -> list[str]:
        """Return the peers as they run: ours, the one that was the best when the goal was set, the yardstick, the others."""
        first = [OURS, problem.rival, YARDSTICK]
        return sorted(self.peers, key=lambda peer: first.index(peer) if peer in first else len(first))

    def must(self, problem: Problem, peer: str) -> bool:
        """Whether a row means nothing without this peer."""
        return self.named or not PEERS[peer].rival or peer in (OURS, YARDSTICK, problem.rival)

    def ask(self, job: dict[str, Any], peer: str | None, seconds: float) -> dict[str, Any]:
        """Return a worker's answer, at the latest at the deadline."""
        process = self.kept.pop(peer or "", None) or Process(peer)
        answer = process.ask({**job, "cores": self.cores}, min(seconds, max(self.left(), 1.0)))
        if self.size == "quick" and process.child.poll() is None:
            self.kept[peer or ""] = process
        else:
            process.end()
        return answer


def run(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield records: facts of the data, settings, one per run, and one when a problem is done.

    A quick run gives every problem to the peers it needs before the other peers have their turn.
    """
    for peer in plan.peers:
        reason = PEERS[peer].absent() or (PEERS[peer].slow if plan.size != "full" and not plan.named else None)
        if reason is not None:
            yield {"kind": "absent", "peer": peer, "reason": reason}
            plan.peers = [other for other in plan.peers if other != peer]
    for needed in (True, False) if plan.size == "quick" else (None,):
        for at, problem in enumerate(plan.problems):
            if plan.left() < LAST_SECONDS:
                yield from _late(problem, OURS) if needed is not False else ()
                continue
            share = plan.left() / (len(plan.problems) - at)
            yield from _problem(plan, problem, needed, time.monotonic() + share)
            if needed is not True and plan.left() >= LAST_SECONDS:
                yield {"kind": "done", "problem": problem.name}
    for process in plan.kept.values():
        process.end()


def _problem(plan: Plan, problem: Problem, needed: bool | None, until: float) -> Iterator[dict[str, Any]]:
    """Yield the records of a problem by the peers it needs, by the others, or by all; repeats end at ``until``."""
    if needed is not False:
        made = plan.ask({"do": "make", "problem": problem.name, "size": plan.size}, None, SECONDS[plan.size].making)
        yield {"kind": "data", "problem": problem.name, **made}
        if "error" in made:
            error = f"its data was not made: {made['error']}"
            yield {"kind": "run", "problem": problem.name, "peer": OURS, "error": error}
            return
    times: dict[str, float] = {}
    settings: dict[str, Any] = {}
    for peer in plan.order(problem):
        offered = PEERS[peer].offers(problem)
        if isinstance(offered, str) and needed is not False:
            yield {"kind": "setting", "problem": problem.name, "peer": peer, "declines": offered}
        elif not isinstance(offered, str) and needed in (None, plan.must(problem, peer)):
            late = plan.left() < LAST_SECONDS or (time.monotonic() > until and not plan.must(problem, peer))
            for record in _late(problem, peer) if late else _first(plan, problem, peer, offered):
                settings[peer] = record.get("setting", settings.get(peer))
                if "seconds" in record:
                    times[peer] = record["seconds"]
                yield record
    best = min((seconds for peer, seconds in times.items() if peer != OURS), default=float("inf"))
    again = [peer for peer in times if peer == OURS or times[peer] <= HOPELESS * best]
    for _ in range(1, plan.repeats):
        for peer in again:
            if time.monotonic() > until or plan.left() < LAST_SECONDS:
                return
            yield _timed(plan, problem, peer, {"setting": settings[peer]})


def _late(problem: Problem, peer: str) -> Iterator[dict[str, Any]]:
    yield {"kind": "run", "problem": problem.name, "peer": peer, "error": f"{table.NOT_RUN}: the time was up"}


def _first(plan: Plan, problem: Problem, peer: str, lines: list[list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Yield the first run of a peer, and the setting that was found in its process unless it was known before."""
    store = _store(problem, plan.size, peer)
    store.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(store.read_text()) if store.exists() else {}
    if len(lines) == 1 and len(lines[0]) == 1:
        known = {"setting": lines[0][0]}
    elif known and undecided(known, plan.size):
        # what was found on busy cores: only which of the methods is the fastest is asked again
        lines, known = [[entry["setting"]] for entry in known["tried"]], {}
    job = {"setting": known["setting"]} if known else {"lines": lines, "patience": SECONDS[plan.size].patience}
    record = _timed(plan, problem, peer, job)
    searched = record.pop("search", {})
    known = searched or known
    if searched and ("missed" not in searched or plan.size == "full"):
        store.write_text(json.dumps(searched))
    yield {"kind": "setting", "problem": problem.name, "peer": peer, **(known or {"failed": record.get("error")})}
    yield record


def undecided(known: dict[str, Any], size: str) -> bool:
    """Whether the choice between several methods has to be made again, as it was made on busy cores.

    Load changes which of two methods is the faster, not which tolerance is good enough.
    """
    return size != "quick" and len(known.get("tried", ())) > 1 and (known.get("others") or 0.0) > table.BUSY


def _timed(plan: Plan, problem: Problem, peer: str, how: dict[str, Any]) -> dict[str, Any]:
    """Return the record of one competitor on one problem."""
    job = {"do": "time", "problem": problem.name, "peer": peer, "size": plan.size, **how}
    answer = plan.ask(job, peer, SECONDS[plan.size].timing)
    return {"kind": "run", "problem": problem.name, "peer": peer, **answer}


def _store(problem: Problem, size: str, peer: str) -> Path:
    """Return where a found setting is kept: by data, peer, its version and its adapter's text."""
    adapter = Path(sys.modules[type(PEERS[peer]).__module__].__file__ or "")
    key = hashlib.sha256(adapter.read_bytes() + repr(PEERS[peer].version()).encode()).hexdigest()[:8]
    made = problem.sample.make is not None
    known = data.answers(problem, size) if made else data.CACHE / f"{problem.row}-{problem.sample.name}.json"
    return known.with_name(f"{known.stem}-{peer.replace(' ', '-')}-{key}.json")
