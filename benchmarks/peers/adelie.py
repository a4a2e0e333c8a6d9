"""adelie: lasso paths and l1 logistic regression in C++ (needs numpy 1, so it has an environment of its own)."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting
from benchmarks.problems import Problem


class Adelie(Peer):
    """grpnet with groups of one column: F is its objective, weights 1/n."""

    name = "adelie"
    distribution = "adelie"
    tasks: ClassVar[tuple[str, ...]] = ("fit",)
    apart = True

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return one line of tolerances for one thread, one for all."""
        if problem.penalty != "l1":
            return "is for l1 penalties"
        # looser ones than these change little from one to the next, which would look like a method that gains no more
        fine = [1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13]
        cores = len(os.sched_getaffinity(0))
        return [[{"tol": tol, "threads": threads} for tol in fine] for threads in (cores, 1)]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit all strengths."""
        import adelie as ad

        threads = min(setting["threads"], len(os.sched_getaffinity(0)))
        store = ad.matrix.sparse if hasattr(data.X, "indptr") else ad.matrix.dense
        X = data.X.tocsc() if hasattr(data.X, "indptr") else np.asfortranarray(data.X)
        kind = ad.glm.gaussian if problem.points else ad.glm.binomial
        return ad.grpnet(
            X=store(X, method="naive", n_threads=threads),
            glm=kind(data.y),
            lmda_path=np.array(data.facts.get("strengths", [data.strength])),
            intercept=problem.ones,
            early_exit=False,
            progress_bar=False,
            n_threads=threads,
            tol=setting["tol"],
        )

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return coefficients, one column for each strength."""
        return fitted.betas.toarray().T, np.ravel(fitted.intercepts) if problem.ones else np.zeros(1)
