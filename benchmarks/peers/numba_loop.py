"""A loop by hand, compiled by numba: what a person writes who wants a fast perceptron, or a kernel of texts."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np

from benchmarks.alike import TASKS
from benchmarks.data import Data
from benchmarks.epochs import EPOCHS
from benchmarks.peer import Line, Peer, Setting
from benchmarks.peers.alike_loop import gram
from benchmarks.problems import Problem


class NumbaLoop(Peer):
    """Two nested loops with ``fastmath``; compiled while warming up, which is not timed."""

    name = "numba loop"
    distribution = "numba"
    tasks: ClassVar[tuple[str, ...]] = ("epochs", "sequences", "trees")

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return the one setting."""
        return [[{}]]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Return the weights, (columns, outputs); or the Gram matrix."""
        if problem.task in TASKS:
            return gram(problem.task, data.texts or [])
        two, stored, several = _loops()
        if hasattr(data.X, "indptr"):
            s = np.where(data.y > 0, 1.0, -1.0)
            return stored(data.X.data, data.X.indices, data.X.indptr, data.X.shape[1], s)[:, None]
        if int(data.facts["classes"]) == 2:
            return two(data.X, np.where(data.y > 0, 1.0, -1.0))[:, None]
        return several(data.X, data.y.astype(np.int64), int(data.facts["classes"])).T

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return the weights; there is no intercept."""
        return fitted, np.zeros(fitted.shape[1])


def _two(X: Any, s: Any) -> Any:
    n, p = X.shape
    w = np.zeros(p)
    for _ in range(EPOCHS):
        for i in range(n):
            score = 0.0
            for j in range(p):
                score += X[i, j] * w[j]
            if s[i] * score <= 0.0:
                for j in range(p):
                    w[j] += s[i] * X[i, j]
    return w


def _stored(values: Any, places: Any, starts: Any, p: int, s: Any) -> Any:
    w = np.zeros(p)
    for _ in range(EPOCHS):
        for i in range(len(s)):
            score = 0.0
            for t in range(starts[i], starts[i + 1]):
                score += values[t] * w[places[t]]
            if s[i] * score <= 0.0:
                for t in range(starts[i], starts[i + 1]):
                    w[places[t]] += s[i] * values[t]
    return w


def _several(X: Any, y: Any, classes: int) -> Any:
    n, p = X.shape
    w, scores = np.zeros((classes, p)), np.zeros(classes)
    for _ in range(EPOCHS):
        for i in range(n):
            for k in range(classes):
                score = 0.0
                for j in range(p):
                    score += X[i, j] * w[k, j]
                scores[k] = score
            own = y[i]
            rival = 0 if own else 1
            for k in range(classes):
                if k != own and scores[k] > scores[rival]:
                    rival = k
            if scores[rival] >= scores[own]:
                for j in range(p):
                    w[own, j] += X[i, j]
                    w[rival, j] -= X[i, j]
    return w


@cache
def _loops() -> tuple[Any, Any, Any]:
    import numba

    compiled = numba.njit(fastmath=True)
    return compiled(_two), compiled(_stored), compiled(_several)
