"""R's quantreg: median regression by Frisch-Newton, in an R process beside this one that holds the data already."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting
from benchmarks.problems import Problem

PROGRAM = """
suppressMessages(library(quantreg))
input <- file("stdin", "r")
repeat {
  word <- strsplit(readLines(input, 1), " ")[[1]]
  if (length(word) == 0) quit()
  if (word[1] == "load") {
    n <- as.integer(word[2]); p <- as.integer(word[3])
    store <- file(word[4], "rb")
    X <- matrix(readBin(store, "double", n * p), n)
    y <- readBin(store, "double", n)
    close(store)
    cat("done\\n")
  } else {
    fit <- if (word[1] == "pfn") rq.fit.pfn(X, y, tau = 0.5, eps = as.numeric(word[2]))
           else rq.fit.fnb(X, y, tau = 0.5, eps = as.numeric(word[2]))
    cat(sprintf("%.17g", fit$coefficients), "\\n")
  }
  flush(stdout())
}
"""


@cache
def _version() -> str | None:
    """Ask R."""
    if shutil.which("Rscript") is None:
        return None
    asked = ["Rscript", "-e", "cat(as.character(packageVersion('quantreg')))"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


class Quantreg(Peer):
    """rq.fit.pfn and rq.fit.fnb on [1 X]; starting R and handing it the data are not timed."""

    name = "quantreg"
    distribution = "quantreg"
    tasks: ClassVar[tuple[str, ...]] = ("fit",)
    outside = True

    def __init__(self) -> None:
        self.child: subprocess.Popen[str] | None = None
        self.holds: Data | None = None

    def version(self) -> str | None:
        """Return quantreg's version where R and quantreg are present."""
        return _version()

    def absent(self) -> str | None:
        """Return why this competitor cannot run here, or None."""
        return None if self.version() else "R with its package quantreg is not installed"

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return the method with preprocessing and the one without."""
        if problem.loss != "absolute":
            return "is here for median regression"
        return [[{"method": name, "eps": eps} for eps in (1e-4, 1e-6, 1e-8, 1e-10)] for name in ("pfn", "fnb")]

    def prepare(self, problem: Problem, data: Data) -> None:
        """Start R if need be and give it the data."""
        if self.holds is data:
            return
        if self.child is None:
            with tempfile.NamedTemporaryFile("w", suffix=".R", delete=False) as script:
                script.write(PROGRAM)
            self.child = subprocess.Popen(
                ["Rscript", script.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows"
            A = np.column_stack([np.ones(data.y.size), data.X])
            path.write_bytes(A.tobytes(order="F") + data.y.astype(np.float64).tobytes())
            self._ask(f"load {A.shape[0]} {A.shape[1]} {path}")
        self.holds = data

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Return coefficients, intercept first."""
        self.prepare(problem, data)
        return np.array(self._ask(f"{setting['method']} {setting['eps']}").split(), dtype=np.float64)

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return coefficients and intercept."""
        return fitted[1:, None], fitted[:1]

    def _ask(self, line: str) -> str:
        assert self.child is not None
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        return self.child.stdout.readline()
