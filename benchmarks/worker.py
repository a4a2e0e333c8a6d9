"""What runs in a fresh process: make data, find the loosest setting that is good enough, or time one competitor.

Called as ``python -m benchmarks.worker JOB`` with a job in JSON; answers in JSON lines on standard output.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ENOUGH = 0.3
"""Seconds: a fit shorter than half of this is repeated in its process, and the shortest counts."""


def main(argv: list[str]) -> None:
    """Do the job given on the command line."""
    job = json.loads(argv[1])
    if job.get("cores"):
        # before any library counts the cores
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: job["cores"]])
    {"make": make, "calibrate": calibrate, "time": measure}[job["do"]](job)


def say(answer: dict[str, Any]) -> None:
    """Write one JSON line."""
    print("@" + json.dumps(answer), flush=True)


def make(job: dict[str, Any]) -> None:
    """Make the data and the reference optimum of each row."""
    from benchmarks import data
    from benchmarks.scaling import find

    for row in job["rows"]:
        if find(row).make is not None:
            started = time.perf_counter()
            say({"row": row, "facts": data.make(find(row), job["size"]), "seconds": time.perf_counter() - started})


def calibrate(job: dict[str, Any]) -> None:
    """Find, for one peer and each row, the fastest of the loosest settings that reach the target."""
    from benchmarks.peers import PEERS
    from benchmarks.scaling import find

    peer = PEERS[job["peer"]]
    for row in job["rows"]:
        lines = job.get("lines", {}).get(row) or peer.offers(find(row))
        assert not isinstance(lines, str)
        try:
            say({"row": row, **_loosest(peer, find(row), lines, job)})
        except Exception as error:
            # a peer that fails is a result, said in the table
            say({"row": row, "failed": f"{type(error).__name__}: {error}"[:300]})


def _loosest(peer: Any, problem: Any, lines: list[list[dict[str, Any]]], job: dict[str, Any]) -> dict[str, Any]:
    """Try each line from its loose end; a line ends when it reaches the target, takes too long or gains no more."""
    from benchmarks import data, machine

    given = data.load(problem, job["size"])
    peer.fit(problem, data.head(given), lines[0][0])
    peer.prepare(problem, given)
    load = machine.Load()
    found: list[tuple[float, dict[str, Any], float]] = []
    nearest: tuple[float, dict[str, Any]] | None = None
    cut = False
    for line in lines:
        best = min((entry[0] for entry in found), default=float("inf"))
        stuck, before = 0, float("inf")
        for setting in line:
            started = time.perf_counter()
            fitted = peer.fit(problem, given, setting)
            seconds = time.perf_counter() - started
            reached = _reached(peer, problem, job["size"], given, fitted)
            if nearest is None or reached < nearest[0]:
                nearest = (reached, setting)
            if reached <= problem.target:
                found.append((seconds, setting, reached))
                break
            stuck, before = (stuck + 1 if reached > 0.9 * before else 0), reached
            slow = seconds > min(job["patience"], 3.0 * best)
            cut = cut or slow
            if stuck == 5 or slow:
                break
    if found:
        _, setting, _ = min(found, key=lambda entry: entry[0])
        return {
            **load.shares(),
            "setting": setting,
            "tried": [{"setting": s, "seconds": t, "suboptimality": r} for t, s, r in found],
        }
    assert nearest is not None
    return {**load.shares(), "setting": nearest[1], "missed": nearest[0], "cut": cut}


def measure(job: dict[str, Any]) -> None:
    """Time one competitor on one row."""
    if job["row"] == "import":
        # before anything else: benchmarks.problems would import numpy
        say(_import(job))
        return
    if job["row"] == "tiny":
        say(_tiny(job))
        return
    from benchmarks import data
    from benchmarks.peers import PEERS
    from benchmarks.scaling import find

    problem = find(job["row"])
    peer = PEERS[job["peer"]]
    given = data.load(problem, job["size"])
    warm = peer.fit(problem, data.head(given), job["setting"])
    if problem.task == "predict":
        say(_predict(peer, problem, given, warm))
        return
    peer.prepare(problem, given)
    answer, fitted = _timed(lambda: peer.fit(problem, given, job["setting"]))
    if peer.outside:
        answer |= {"cpu": None, "peak_mb": None, "others": None}
    answer["suboptimality"] = _reached(peer, problem, job["size"], given, fitted)
    verdict = getattr(fitted, "verdict_", None) or getattr(fitted, "verdict", None)
    if verdict is not None:
        answer["verdict"] = str(verdict.kind)
    elif hasattr(fitted, "verdicts"):
        answer["verdict"] = ", ".join(sorted({str(point.kind) for point in fitted.verdicts}))
    say(answer)


def _timed(work: Callable[[], Any]) -> tuple[dict[str, Any], Any]:
    """Run once, or as often as fits into ENOUGH; return the shortest times, peak memory of the first, and load."""
    from benchmarks import machine

    gc.collect()
    before, load = machine.reset_peak(), machine.Load()
    started, used = time.perf_counter(), time.process_time()
    result = work()
    first = shortest = time.perf_counter() - started
    least = time.process_time() - used
    top = machine.peak()
    runs, total = 1, first
    while total < ENOUGH and runs < 20_000:
        started, used = time.perf_counter(), time.process_time()
        result = work()
        seconds = time.perf_counter() - started
        least = min(least, time.process_time() - used)
        shortest, runs, total = min(shortest, seconds), runs + 1, total + seconds
    above = None if before is None or top is None else max(0.0, top - before)
    answer = {"seconds": shortest, "cpu": least, "first": first, "runs": runs, "peak_mb": above}
    return {**answer, **load.shares()}, result


def _reached(peer: Any, problem: Any, size: str, given: Any, fitted: Any) -> float:
    """Return (F(b) - F*) / scale on the common objective; for a question 0 if the answer is right, else 1; for
    epochs how far the weights are from those of a plain loop."""
    from benchmarks import data

    if problem.task == "separable":
        return float(peer.separable(fitted) is not given.facts["separable"])
    if problem.task == "words":
        facts = given.facts
        right = fitted.shape[0] == facts["rows"] and int(fitted.sum()) == facts["terms"]
        return 1.0 - fitted.nnz / facts["nonzeros"] if right else 1.0
    if problem.task == "epochs":
        return data.strayed(problem, size, peer.coefficients(problem, fitted)[0])
    return data.suboptimality(problem, size, given, *peer.coefficients(problem, fitted))


def _predict(peer: Any, problem: Any, given: Any, fitted: Any) -> dict[str, Any]:
    """Time the probabilities; the error is against numpy on the peer's own coefficients."""
    import numpy as np

    if isinstance(fitted, tuple):  # coefficients by hand: in the precision of the rows, or numpy would copy those
        fitted = tuple(np.asarray(part, dtype=given.X.dtype) for part in fitted)
    predict = peer.predictor(problem, fitted)
    rows = given.X[:1] if problem.row == "predict-one" else given.X
    stored = peer.given(rows)
    predict(stored[:400])
    answer, result = _timed(lambda: predict(stored))
    coef, intercept = peer.coefficients(problem, fitted)
    scores = rows.astype(np.float64, copy=False) @ np.ravel(coef).astype(np.float64) + float(np.ravel(intercept)[0])
    exact = 1.0 / (1.0 + np.exp(-scores))
    answer["suboptimality"] = float(np.max(np.abs(np.ravel(result) - exact)))
    return answer


def _tiny(job: dict[str, Any]) -> dict[str, Any]:
    """Time the slowest of many fits of a few rows."""
    from benchmarks import machine, tiny

    before, load = machine.reset_peak(), machine.Load()
    answer = tiny.measure(4 if job["size"] == "full" else 1)
    top = machine.peak()
    return {**answer, "peak_mb": None if before is None or top is None else max(0.0, top - before), **load.shares()}


def _import(job: dict[str, Any]) -> dict[str, Any]:
    """Time the import of a module; nothing else has been imported in this process."""
    import importlib

    def resident() -> float:
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    statm = Path("/proc/self/statm")
    before = resident() if statm.exists() else None
    started = time.perf_counter()
    importlib.import_module(job["module"])
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "peak_mb": None if before is None else resident() - before}


if __name__ == "__main__":
    main(sys.argv)
