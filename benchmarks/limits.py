"""How near to the machine a row is: the time to read its data once, or to do its operations, beside our time.

The limit of a row is ``max(bytes / bandwidth, operations / peak)``. Bytes are those of the data as it is stored, read
once (ten times for ten epochs); operations are counted only where a row cannot do without them. Bandwidth and peak are
measured before a run by ``roof.cpp``, on all cores (perceptrons
present rows on one of them, but another can fetch them). A fit that iterates and proves cannot
reach its limit: the ratio says how many readings of the data it costs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.table import Entry, time_text

BEGIN, END = "<!-- limits:begin -->", "<!-- limits:end -->"
HERE = Path(__file__).parent
Facts = Mapping[str, Any]


def roof() -> dict[str, dict[str, float]] | None:
    """Return bytes and operations per second on one core and on all, or None where there is no compiler for roof.cpp."""
    compiler = shutil.which("c++")
    if compiler is None:
        return None
    program = HERE.parent / "build" / "roof"
    program.parent.mkdir(exist_ok=True)
    build = [compiler, "-std=c++17", "-O3", "-march=native", "-pthread", str(HERE / "roof.cpp"), "-o", str(program)]
    subprocess.run(build, check=True, capture_output=True)
    threads = sorted({1, os.cpu_count() or 1})
    runs = {str(t): subprocess.run([str(program), str(t)], check=True, capture_output=True, text=True) for t in threads}
    return {t: json.loads(done.stdout) for t, done in runs.items()}


def _cells(width: int) -> Callable[[Facts], float]:
    """Return the bytes of a matrix whose cells, or nonzeros with their column, take so many."""
    return lambda facts: float(width * (facts.get("nonzeros") or facts["rows"] * facts["columns"]))


def _gram(facts: Facts) -> float:
    """Return the operations of one triangle of X'X, the column of ones and the target beside the others."""
    return float(facts["rows"] * (facts["columns"] + 1) * (facts["columns"] + 2))


def _half_gram(facts: Facts) -> float:
    """Return half of that: of products in single precision two cost one operation, and the rows correct what they lack."""
    return 0.5 * _gram(facts)


@dataclass(frozen=True)
class Work:
    """What a row cannot do without: bytes of its data, how often they are read, operations."""

    bytes: Callable[[Facts], float]
    operations: Callable[[Facts], float] | None = None
    reads: int = 1

    def seconds(self, facts: Facts, roof: Mapping[str, Mapping[str, float]], cores: int | None = None) -> float:
        """Return the limit on a machine, on so many of its cores (all)."""
        speed = roof[max(roof, key=int) if cores is None else str(cores)]
        return max(self.reads * self.bytes(facts) / speed["bytes"], self.count(facts) / speed["flops"])

    def count(self, facts: Facts) -> float:
        """Return the operations."""
        return self.operations(facts) if self.operations else 0.0


DENSE, SPARSE = _cells(8), _cells(12)
WORK: Mapping[str, Work] = {
    "ols": Work(DENSE, _gram),
    "ridge": Work(DENSE, _half_gram),
    "ridge-wide": Work(_cells(4), _half_gram),
    "ols-bad": Work(DENSE, _gram),
    "logit": Work(DENSE, _gram),
    "logit-sparse": Work(SPARSE),
    "softmax": Work(_cells(4)),
    "softmax-small": Work(DENSE),
    "small-logistic": Work(DENSE, _gram),
    "small-ridge": Work(DENSE, _gram),
    "lasso": Work(DENSE),
    "lasso-sparse": Work(SPARSE),
    "l1-logit": Work(SPARSE),
    "hinge": Work(SPARSE),
    "sq-hinge": Work(SPARSE),
    "huber": Work(DENSE, _gram),
    "huber-scale": Work(DENSE, _gram),
    "median": Work(DENSE),
    # 181 bytes a text; the counts are written, 8 bytes each
    "text": Work(lambda facts: 181.0 * facts["rows"] + 8.0 * facts["nonzeros"]),
    "text-fit": Work(lambda facts: 181.0 * facts["rows"]),
    # 139 bytes a row of the file
    "csv": Work(lambda facts: 139.0 * facts["rows"]),
    # the probabilities of both classes are written
    "predict": Work(lambda facts: DENSE(facts) + 16.0 * facts["rows"]),
    "predict-single": Work(lambda facts: DENSE(facts) / 2 + 16.0 * facts["rows"]),
    "perceptron": Work(DENSE, reads=10),
    "perceptron-sparse": Work(SPARSE, reads=10),
    "perceptron-classes": Work(
        DENSE, lambda facts: 20.0 * facts["rows"] * facts["columns"] * facts["classes"], reads=10
    ),
}
"""By row; ``predict-one``, ``separable``, ``overlapping`` and ``import`` have no limit that arithmetic knows."""


def markdown(rows: Mapping[str, list[Entry]], facts: Mapping[str, Facts], header: Mapping[str, Any], ours: str) -> str:
    """Return the block of docs/performance.md: each row's limit and our time as a multiple of it."""
    lines = ["| row | bytes | operations | limit | lineal | times the limit |", "|---|---|---|---|---|---|"]
    for row, group in rows.items():
        mine = next((entry for entry in group if entry.peer == ours and entry.reached), None)
        if row not in WORK or row not in facts or mine is None or mine.seconds is None:
            continue
        work, known = WORK[row], facts[row]
        least, read, count = work.seconds(known, header["roof"]), work.bytes(known), work.count(known)
        often = f" x {work.reads}" if work.reads > 1 else ""
        lines.append(
            f"| {row} | {_amount(read)}B{often} | {_amount(count) if count else ''} | {time_text(least)} "
            f"| {time_text(mine.seconds)} | {mine.seconds / least:.{1 if mine.seconds < 10 * least else 0}f} |"
        )
    speeds = "; ".join(
        f"{threads} core{'s' if int(threads) > 1 else ''}: {speed['bytes'] / 1e9:.1f} GB/s read, {speed['flops'] / 1e9:.0f} GF/s"
        for threads, speed in header["roof"].items()
    )
    return "\n".join([*lines, "", f"{header['date']}, {header['machine']['processor']}. {speeds} (doubles)."])


def _amount(number: float) -> str:
    """Return a number with its unit's prefix.

    >>> _amount(8e8), _amount(36_800)
    ('0.80 G', '36.8 k')
    """
    for prefix, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= 0.1 * size:
            return f"{number / size:.{2 if number < size else 1}f} {prefix}"
    return f"{number:.0f} "
