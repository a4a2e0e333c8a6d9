"""The order of work: data, then each peer's loosest good setting, then rounds of fresh processes, peers interleaved."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import data, table
from benchmarks.peers import OURS, PEERS, YARDSTICK
from benchmarks.problems import Problem

ROOT = Path(__file__).parent.parent
LIMITS = {
    "quick": {"patience": 1.5, "child": 60.0, "search": 30.0, "make": 60.0},
    "full": {"patience": 60.0, "child": 120.0, "search": 600.0, "make": 7200.0},
}
"""Seconds: how long a search goes on behind its best setting, and what a process that times, searches or makes data may take."""


@dataclass
class Plan:
    """What to run: rows, peers, size, repeats, and when to be done (``deadline`` on the monotonic clock).

    ``named`` says that the user named the peers, so that none is left out; ``cores`` how many each run may use.
    """

    rows: list[Problem]
    peers: list[str]
    size: str
    repeats: int
    deadline: float = float("inf")
    named: bool = False
    cores: int | None = None
    ready: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def left(self) -> float:
        """Return the seconds until the deadline."""
        return self.deadline - time.monotonic()

    def waves(self) -> list[list[str]]:
        """Return the peers that run interleaved; against a deadline, we and the yardstick come first for every row."""
        if self.deadline == float("inf"):
            return [self.peers]
        first = [peer for peer in self.peers if peer in (OURS, YARDSTICK)]
        return [wave for wave in (first, [peer for peer in self.peers if peer not in first]) if wave]


def run(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield records: facts of the data, settings, then one record per run."""
    job = {"do": "make", "rows": [p.name for p in plan.rows], "size": plan.size}
    made = _child(job, plan, LIMITS[plan.size]["make"])
    for answer in made:
        yield {"kind": "data", **answer}
    have = {answer["row"] for answer in made if "row" in answer}
    for problem in plan.rows:
        if problem.make is not None and problem.name not in have:
            error = f"its data was not made: {made[-1].get('error') if made else 'no answer'}"
            yield {"kind": "run", "row": problem.name, "peer": plan.peers[0], "error": error}
    plan.rows = [p for p in plan.rows if p.make is None or p.name in have]
    for wave in plan.waves():
        for peer in wave:
            yield from _calibrated(plan, peer)
        for round_number in range(plan.repeats):
            for problem in plan.rows:
                for peer in wave:
                    if (problem.name, peer) in plan.ready:
                        yield from _timed(plan, problem, peer, round_number)


def _calibrated(plan: Plan, peer: str) -> Iterator[dict[str, Any]]:
    """Yield how a peer will run each row, or why it will not."""
    absent = PEERS[peer].absent() or (PEERS[peer].not_quick if plan.size == "quick" and not plan.named else None)
    if absent is not None:
        yield {"kind": "absent", "peer": peer, "reason": absent}
        return
    answers = _settings(plan, peer)
    for problem in plan.rows:
        answer = answers.get(problem.name, {"row": problem.name, "failed": answers["error"]["error"]})
        yield {"kind": "setting", "peer": peer, **answer}
        if "setting" in answer:
            plan.ready[problem.name, peer] = answer


def _settings(plan: Plan, peer: str) -> dict[str, dict[str, Any]]:
    """Return a setting by row: the only one, the one found before for this version of the peer, or searched now."""
    answers: dict[str, dict[str, Any]] = {"error": {"error": "the search for a setting gave no answer"}}
    missing: dict[str, Path] = {}
    for problem in plan.rows:
        lines, store = PEERS[peer].offers(problem), _store(problem, plan.size, peer)
        if isinstance(lines, str):
            answers[problem.name] = {"row": problem.name, "declines": lines}
        elif len(lines) == 1 and len(lines[0]) == 1:
            answers[problem.name] = {"row": problem.name, "setting": lines[0][0]}
        elif store.exists() and not _open(answers.setdefault(problem.name, json.loads(store.read_text())), plan.size):
            continue
        else:
            missing[problem.name] = store
    while missing and plan.left() >= 5.0:
        # what was found on busy cores: only which of the methods is the fastest is asked again
        lines = {row: [[entry["setting"]] for entry in answers[row]["tried"]] for row in missing if row in answers}
        # in full size one by one, so that what was found is kept whatever happens to the next
        rows = list(missing) if plan.size == "quick" else list(missing)[:1]
        job = {"do": "calibrate", "peer": peer, "rows": rows, "size": plan.size, "lines": lines}
        found = _child({**job, "patience": LIMITS[plan.size]["patience"]}, plan, LIMITS[plan.size]["search"])
        for answer in found:
            answers[answer.get("row", "error")] = answer
            store = missing.pop(answer.get("row", ""), None)
            if store is not None and _lasting(answer, plan.size):
                store.write_text(json.dumps(answer))
        if (not found or "error" in found[-1]) and missing:
            # the row it was busy with is given up, so that the others get their turn
            stuck = next(iter(missing))
            answers[stuck] = {"row": stuck, "failed": found[-1]["error"] if found else "no answer"}
            del missing[stuck]
    return answers


def _lasting(answer: dict[str, Any], size: str) -> bool:
    """Whether a found setting may be kept: not where a quick search found nothing good enough, it may have been hasty."""
    return "row" in answer and "failed" not in answer and ("missed" not in answer or size == "full")


def _open(answer: dict[str, Any], size: str) -> bool:
    """Whether the choice between several methods has to be made again, as it was made on busy cores (full size only).

    Load changes which of two methods is the faster, not which tolerance is good enough.
    """
    return size != "quick" and len(answer.get("tried", ())) > 1 and (answer.get("others") or 0.0) > table.BUSY


def _timed(plan: Plan, problem: Problem, peer: str, round_number: int) -> Iterator[dict[str, Any]]:
    """Run one competitor on one row in a fresh process."""
    if plan.left() < 5.0:
        if round_number == 0:
            yield {"kind": "run", "row": problem.name, "peer": peer, "error": "not run: the time was up"}
        return
    job = {
        "do": "time",
        "row": problem.name,
        "peer": peer,
        "size": plan.size,
        "cores": plan.cores,
        "setting": plan.ready[problem.name, peer]["setting"],
    }
    answers = _child({**job, "module": PEERS[peer].module}, plan)
    answer = answers[-1] if answers else {"error": "no answer"}
    yield {"kind": "run", "row": problem.name, "peer": peer, "round": round_number, **answer}


def _child(job: dict[str, Any], plan: Plan, most: float | None = None) -> list[dict[str, Any]]:
    """Run a job in a fresh process; return its answers, those before a crash or a timeout too."""
    python = PEERS[job["peer"]].python() if "peer" in job else sys.executable
    limit = min(most or LIMITS[plan.size]["child"], max(plan.left(), 1.0))
    command = [python, "-W", "ignore", "-m", "benchmarks.worker", json.dumps(job)]
    # threads of a BLAS that wait for busy cores cost more than they give; data is not timed
    extra = {"OPENBLAS_NUM_THREADS": "1"} if job["do"] == "make" else {}
    problem = None
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **extra},
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
        out = done.stdout
        if done.returncode != 0:
            problem = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:300]
    except subprocess.TimeoutExpired as slow:
        raw = slow.stdout or b""
        out = raw.decode() if isinstance(raw, bytes) else raw
        problem = f"stopped after {limit:.0f} s"
    answers = [json.loads(line[1:]) for line in out.splitlines() if line.startswith("@")]
    return [*answers, {"error": problem}] if problem else answers


def _store(problem: Problem, size: str, peer: str) -> Path:
    """Return where a found setting is kept: by data, peer, its version and its adapter's text."""
    adapter = Path(sys.modules[type(PEERS[peer]).__module__].__file__ or "")
    key = hashlib.sha256(adapter.read_bytes() + repr(PEERS[peer].version()).encode()).hexdigest()[:8]
    known = data.answers(problem, size) if problem.make is not None else data.CACHE / f"{problem.name}.json"
    return known.with_name(f"{known.stem}-{peer.replace(' ', '-')}-{key}.json")
