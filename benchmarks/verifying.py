"""``python -m benchmarks.verifying [ROWS ...]``: what `lineal verify` takes beside the `lineal fit` that it checks.

Fit and check run in fresh processes, in turn, from the same file; the shorter of two runs counts. Time is that of the
processor, so that other work on the machine matters less; memory is the largest that the process held. The goal: for tables of
numbers and smooth losses at most ten times the fit, and memory that does not grow with the rows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

REPEATS = 2


class Case(NamedTuple):
    """A table, and what is asked of it."""

    about: str
    suffix: str
    target: str
    options: tuple[str, ...] = ()


CASES = [
    Case("logistic, numbers, Parquet", ".parquet", "two"),
    Case("logistic, numbers, CSV", ".csv", "two"),
    Case("logistic without a penalty, Parquet", ".parquet", "two", ("--penalty", "none")),
    Case("least squares without a penalty, Parquet", ".parquet", "size", ("--penalty", "none")),
    Case("Poisson, Parquet", ".parquet", "count", ("--model", "poisson")),
    Case("Huber, Parquet", ".parquet", "size", ("--model", "huber", "--penalty", "ridge:0.001")),
    Case("l1, Parquet", ".parquet", "size", ("--penalty", "l1:0.01")),
    Case("median, Parquet", ".parquet", "size", ("--model", "quantile:0.5", "--penalty", "ridge:0.001")),
    Case("two categories, CSV", ".csv", "two", ("--keep-categories",)),
    Case("text, CSV", ".csv", "two", ("--keep-text",)),
]


class Spent(NamedTuple):
    """Seconds of the processor, and megabytes."""

    seconds: float
    memory: float


def table(rows: int, case: Case) -> pa.Table:
    """Return twenty columns of numbers, or two categories, or short texts, and the target."""
    rng = np.random.default_rng(rows)
    x = rng.normal(size=(rows, 20)) * np.exp(rng.normal(size=20)) + rng.normal(size=20)
    score = (x - x.mean(axis=0)) / x.std(axis=0) @ rng.normal(size=20) / 3.0
    columns: dict[str, object] = {f"x{j}": x[:, j] for j in range(20)}
    if "--keep-categories" in case.options:
        columns = {"a": rng.integers(0, 50, rows).astype(str), "b": rng.integers(0, 9, rows).astype(str), "x": x[:, 0]}
        columns = {name: np.char.add("l", cells) if name != "x" else cells for name, cells in columns.items()}
    if "--keep-text" in case.options:
        words = np.array([f"word{k}" for k in range(2000)])
        chosen = words[(rng.pareto(1.0, size=(rows, 8)) * 20).astype(int) % 2000]
        columns = {"note": [" ".join(row) for row in chosen.tolist()]}
        score = np.isin(chosen, words[:40]).sum(axis=1) - 2.0
    targets = {
        "two": np.where(score + rng.logistic(size=rows) > 0.0, "yes", "no"),
        "size": score + rng.normal(size=rows),
        "count": rng.poisson(np.exp(0.3 * np.clip(score, -5.0, 5.0))).astype(np.float64),
    }
    return pa.table({**columns, case.target: targets[case.target]})


def run(*words: str) -> Spent:
    """Run the command in a process of its own."""
    code = (
        "import resource, sys; from lineal.cli import run; code = run(sys.argv[1:]);"
        "spent = resource.getrusage(resource.RUSAGE_SELF);"
        # ru_maxrss counts what the process was before it became this one
        "peak = next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'));"
        "print(code, spent.ru_utime + spent.ru_stime, int(peak) / 1024, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    ended, seconds, memory = done.stderr.splitlines()[-1].split()
    if ended != "0":
        raise SystemExit(f"lineal {' '.join(words)} ended with {ended}: {done.stdout[-500:]} {done.stderr[-500:]}")
    return Spent(float(seconds), float(memory))


def measured(case: Case, rows: int, folder: Path) -> tuple[Spent, Spent]:
    """Return what the fit takes, and what the check of it takes."""
    data, model = folder / f"t{case.suffix}", folder / "m.lineal"
    write = pyarrow.parquet.write_table if case.suffix == ".parquet" else pyarrow.csv.write_csv
    write(table(rows, case), data)
    options = [option for option in case.options if not option.startswith("--keep")]
    pairs = []
    for _ in range(REPEATS):
        fit = run("fit", str(data), "--target", case.target, "-o", str(model), "--json", *options)
        pairs.append((fit, run("verify", str(model), str(data), "--json")))
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


def main(sizes: list[int]) -> None:
    """Print a table, a row for every case."""
    print("| table | rows | fit, s | verify, s | ratio | fit, MB | verify, MB |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            for rows in sizes:
                many = rows // 10 if "--keep-text" in case.options else rows
                fit, check = measured(case, many, Path(folder))
                ratio, memory = check.seconds / fit.seconds, f"{fit.memory:.0f} | {check.memory:.0f}"
                print(f"| {case.about} | {many:,} | {fit.seconds:.1f} | {check.seconds:.1f} | {ratio:.1f} | {memory} |")
                sys.stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main([int(size) for size in sys.argv[1:]] or [100_000, 1_000_000])
