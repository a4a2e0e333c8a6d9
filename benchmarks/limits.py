"""How near to the machine a row can be: the time to read its data once, or to do its operations.

The limit of a row is ``max(bytes / bandwidth, operations / peak)``. Bytes are those of the data as it is stored, read
once (ten times for ten epochs); operations are counted only where a row cannot do without them. Bandwidth and peak are
measured before a run by ``roof.cpp``, on all cores (a perceptron presents rows on one of them, but another can fetch
them). A fit that iterates and proves cannot reach its limit: the ratio says how many readings of the data it costs.
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

HERE = Path(__file__).parent
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Work:
    """What a row cannot do without: bytes of its data, how often they are read, operations."""

    bytes: Callable[[Facts], float]
    operations: Callable[[Facts], float] | None = None
    reads: int = 1

    def seconds(self, facts: Facts, roof: Mapping[str, Mapping[str, float]], cores: int | None = None) -> float:
        """Return the limit on a machine, on some of its cores (all)."""
        speed = roof[max(roof, key=int) if cores is None else str(cores)]
        return max(self.reads * self.bytes(facts) / speed["bytes"], self.count(facts) / speed["flops"])

    def count(self, facts: Facts) -> float:
        """Return the operations."""
        return self.operations(facts) if self.operations else 0.0


def _cells(width: int) -> Callable[[Facts], float]:
    """Return the bytes of a matrix whose cells, or nonzeros with their column, take ``width`` of them."""
    return lambda facts: float(width * (facts.get("nonzeros") or facts["rows"] * facts["columns"]))


def text(facts: Facts) -> float:
    """Return the bytes of a file or of texts."""
    return float(facts["bytes"])


DENSE, SINGLE, SPARSE = _cells(8), _cells(4), _cells(12)


def gram(facts: Facts) -> float:
    """Return the operations of one triangle of X'X, the column of ones and the target beside the others."""
    return float(facts["rows"] * (facts["columns"] + 1) * (facts["columns"] + 2))


def half_gram(facts: Facts) -> float:
    """Return half of that: of products in single precision two cost one operation, and the rows correct what they lack."""
    return 0.5 * gram(facts)


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
