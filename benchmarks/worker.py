"""What runs in a process of its own: make data, or find a competitor's loosest good setting and time it.

``python -m benchmarks.worker`` reads jobs from standard input, one in JSON a line, and answers each by a line of JSON.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

ENOUGH_SECONDS = 0.3
"""A fit shorter than half of this is repeated in its process, and the shortest counts."""


def main() -> None:
    """Answer jobs until there are no more."""
    for line in sys.stdin:
        job = json.loads(line)
        if job.get("cores"):
            # before any library counts the cores
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: job["cores"]])
        try:
            answer = {"make": make, "time": measure}[job["do"]](job)
        except Exception as error:
            # a competitor that fails is a result, said in the table
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print("@" + json.dumps(answer), flush=True)


def make(job: dict[str, Any]) -> dict[str, Any]:
    """Make the data and the reference optimum of a problem."""
    from benchmarks import data
    from benchmarks.rows import find

    started = time.perf_counter()
    return {"facts": data.make(find(job["problem"]), job["size"]), "seconds": time.perf_counter() - started}


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Time one competitor on one problem, at a setting that is given or searched for."""
    from benchmarks import data
    from benchmarks.peers import PEERS
    from benchmarks.problems import COMMANDS
    from benchmarks.rows import find

    problem, peer = find(job["problem"]), PEERS[job["peer"]]
    if problem.task == "tiny":
        return _tiny(problem.sample.name)
    given = data.load(problem, job["size"])
    searched: dict[str, Any] = {}
    if "lines" in job:
        searched = loosest(peer, problem, given, job)
        setting = searched["setting"]
    else:
        setting = job["setting"]
    warm = peer.fit(problem, data.head(given), setting)
    if problem.task == "predict":
        return predicted(peer, problem, given, warm)
    peer.prepare(problem, given)
    answer, fitted = _timed(lambda: peer.fit(problem, given, setting))
    if peer.outside or problem.task in COMMANDS:
        answer |= {"cpu": None, "peak_mb": None, "others": None}
    answer["suboptimality"] = reached(peer, problem, job["size"], given, fitted)
    verdict = getattr(fitted, "verdict_", None) or getattr(fitted, "verdict", None)
    if verdict is not None:
        answer["verdict"] = str(verdict.kind)
    elif hasattr(fitted, "verdicts"):
        answer["verdict"] = ", ".join(sorted({str(point.kind) for point in fitted.verdicts}))
    return answer | ({"search": searched} if searched else {})


def loosest(peer: Any, problem: Any, given: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Return the fastest of the loosest settings that reach the target.

    Each line is tried from its loose end; it ends when it reaches the target, takes too long or gains no more.
    """
    from benchmarks import data, machine

    peer.fit(problem, data.head(given), job["lines"][0][0])
    peer.prepare(problem, given)
    load, began = machine.Load(), time.perf_counter()
    good: list[dict[str, Any]] = []
    nearest: dict[str, Any] | None = None
    cut = False
    for line in job["lines"]:
        fastest = min((entry["seconds"] for entry in good), default=float("inf"))
        stuck, before = 0, float("inf")
        for setting in line:
            started = time.perf_counter()
            fitted = peer.fit(problem, given, setting)
            seconds = time.perf_counter() - started
            found = reached(peer, problem, job["size"], given, fitted)
            entry = {"setting": setting, "seconds": seconds, "suboptimality": found}
            nearest = entry if nearest is None or found < nearest["suboptimality"] else nearest
            if found <= problem.target:
                good.append(entry)
                break
            stuck, before = (stuck + 1 if found > 0.9 * before else 0), found
            slow = seconds > min(job["patience"], 3.0 * fastest) or time.perf_counter() - began > 4.0 * job["patience"]
            cut = cut or slow
            if stuck == 5 or slow:
                break
    if good:
        best = min(good, key=lambda entry: entry["seconds"])
        return {**load.shares(), "setting": best["setting"], "tried": good}
    assert nearest is not None
    return {**load.shares(), "setting": nearest["setting"], "missed": nearest["suboptimality"], "cut": cut}


def _timed(work: Callable[[], Any]) -> tuple[dict[str, Any], Any]:
    """Run once, or as often as fits into ENOUGH_SECONDS; return the shortest times, peak memory of the first, and load."""
    from benchmarks import machine

    gc.collect()
    before, load = machine.reset_peak(), machine.Load()
    started, used = time.perf_counter(), time.process_time()
    result = work()
    first = shortest = time.perf_counter() - started
    least = time.process_time() - used
    top = machine.peak()
    runs, total = 1, first
    while total < ENOUGH_SECONDS and runs < 20_000:
        started, used = time.perf_counter(), time.process_time()
        result = work()
        seconds = time.perf_counter() - started
        least = min(least, time.process_time() - used)
        shortest, runs, total = min(shortest, seconds), runs + 1, total + seconds
    above = None if before is None or top is None else max(0.0, top - before)
    answer = {"seconds": shortest, "cpu": least, "first": first, "runs": runs, "peak_mb": above}
    return {**answer, **load.shares()}, result


def reached(peer: Any, problem: Any, size: str, given: Any, fitted: Any) -> float:
    """Return the suboptimality of a result, as ``problems`` defines it for each task."""
    from benchmarks import alike, data, kernel_machines
    from benchmarks.problems import COMMANDS

    if problem.task in COMMANDS:
        return float(fitted != 0)
    if problem.task == "separable":
        return float(peer.separable(fitted) is not given.facts["separable"])
    if problem.task == "words":
        facts = given.facts
        right = fitted.shape[0] == facts["rows"] and int(fitted.sum()) == facts["terms"]
        return 1.0 - fitted.nnz / facts["nonzeros"] if right else 1.0
    if problem.task in alike.TASKS:
        return alike.strayed(given.facts, fitted)
    if problem.task in data.MACHINES:
        return kernel_machines.strayed(problem.task, given, fitted)
    if problem.task in ("epochs", "neighbors", "counting"):
        return data.strayed(problem, size, peer.coefficients(problem, fitted)[0])
    return data.suboptimality(problem, size, given, *peer.coefficients(problem, fitted))


def predicted(peer: Any, problem: Any, given: Any, fitted: Any) -> dict[str, Any]:
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


def _tiny(kind: str) -> dict[str, Any]:
    """Time the slowest of many fits of a few rows."""
    from benchmarks import machine, tiny

    before, load = machine.reset_peak(), machine.Load()
    answer = tiny.measure(kind)
    top = machine.peak()
    return {**answer, "peak_mb": None if before is None or top is None else max(0.0, top - before), **load.shares()}


if __name__ == "__main__":
    main()
