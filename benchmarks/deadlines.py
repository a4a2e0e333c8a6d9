"""``python -m benchmarks.deadlines``: how long after its time limit a call returns, on problems that take much longer.

The limit is kept where the overshoot is at most 0.5 s, or a tenth of the limit if that is more. What is spent before a fit
begins (checking the arrays, the first look at the columns) counts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

import lineal
from lineal.estimators import (
    BayesianRidge,
    HuberRegressor,
    LassoCV,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    QuantileRegressor,
    RidgeCV,
    SGDClassifier,
    SparsemaxClassifier,
)
from lineal.paths.path_from_arrays import path

Call = Callable[[float], Any]
"""From a time limit to something with a verdict, or with several."""


def _rows(n: int, p: int, classes: int, seed: int = 0) -> tuple[Any, Any]:
    """Return rows and overlapping classes."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    noisy = x @ rng.normal(size=(p, classes)) + 3.0 * np.sqrt(p) * rng.gumbel(size=(n, classes))
    return x, np.argmax(noisy, axis=1)


def _wide(n: int, p: int) -> tuple[Any, Any]:
    """Return more columns than rows, and a target of thirty of them."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, p))
    return x, x[:, :30] @ rng.normal(size=30) + rng.normal(size=n)


def _documents(n: int, p: int) -> tuple[Any, Any]:
    """Return sparse rows and two classes."""
    rng = np.random.default_rng(2)
    filled = (rng.exponential(size=50 * n), rng.integers(0, p, size=50 * n), np.arange(0, 50 * n + 1, 50))
    x = sparse.csr_array(filled, shape=(n, p))
    x.sum_duplicates()
    score = x @ np.random.default_rng(2).normal(size=p)
    return x, (score + 0.2 * np.random.default_rng(3).normal(size=n) > 0).astype(int)


def cases() -> dict[str, tuple[Callable[[], tuple[Any, Any]], Callable[[Any, Any], Call]]]:
    """Return the data and the call of every case."""

    def estimator(kind: Any, **given: Any) -> Callable[[Any, Any], Call]:
        return lambda x, y: lambda seconds: kind(time_limit=seconds, **given).fit(x, y)

    def table(**given: Any) -> Callable[[Any, Any], Call]:
        return lambda x, y: lambda seconds: lineal.fit(x, y, time_limit=seconds, **given)

    def of_path(**given: Any) -> Callable[[Any, Any], Call]:
        return lambda x, y: lambda seconds: path(x, y, time_limit=seconds, **given)

    long, wide, text = lambda: _rows(60_000, 100, 10), lambda: _wide(2_000, 20_000), lambda: _documents(200_000, 50_000)
    two = lambda: _rows(200_000, 100, 2)  # noqa: E731
    few = lambda: _rows(60, 3, 2)  # noqa: E731
    return {
        "softmax, no penalty": (long, estimator(LogisticRegression, C=np.inf)),
        "softmax, no penalty, lineal.fit": (long, table(model="logistic", penalty="none")),
        "softmax, ridge:auto": (long, table(model="logistic", penalty="ridge:auto")),
        "softmax, l1": (long, estimator(LogisticRegression, C=0.01, l1_ratio=1.0)),
        "sparsemax": (long, estimator(SparsemaxClassifier, C=1e6)),
        "Crammer-Singer": (long, estimator(LinearSVC, multi_class="crammer_singer", loss="hinge")),
        "one-vs-one logistic": (long, table(model="logistic", penalty="ridge:auto", multiclass="ovo")),
        "lasso path": (wide, of_path(strengths=100)),
        "logistic path, l1": (lambda: _documents(20_000, 50_000), of_path(loss="logistic", strengths=50)),
        "group path": (wide, of_path(penalty="group", strengths=100)),
        "LassoCV": (wide, estimator(LassoCV)),
        "RidgeCV, one left out": (lambda: _wide(20_000, 4_000), estimator(RidgeCV)),
        "RidgeCV, few rows": (lambda: _wide(5_000, 10_000), estimator(RidgeCV)),
        "BayesianRidge": (lambda: _wide(8_000, 3_000), estimator(BayesianRidge)),
        "RidgeCV, folds": (wide, estimator(RidgeCV, cv=5)),
        "LogisticRegressionCV": (two, estimator(LogisticRegressionCV)),
        "hinge, sparse": (text, estimator(LinearSVC, loss="hinge", C=100.0)),
        "hinge, dense": (two, estimator(LinearSVC, loss="hinge")),
        "squared hinge, sparse": (text, estimator(LinearSVC, C=100.0)),
        "logistic, sparse, no penalty": (text, estimator(LogisticRegression, C=np.inf)),
        "SGDClassifier": (text, estimator(SGDClassifier, tol=None, max_iter=None)),
        "median": (lambda: _wide(100_000, 100), estimator(QuantileRegressor)),
        "Huber with scale": (lambda: _wide(400_000, 100), estimator(HuberRegressor)),
        "huber, lineal.fit": (lambda: _wide(400_000, 100), table(model="huber")),
        "Firth": (lambda: _rows(100_000, 60, 2), table(model="logistic", penalty="firth")),
        "perceptron, three classes": (lambda: _rows(3_000, 60, 3), estimator(Perceptron)),
        "perceptron, lineal.fit": (lambda: _rows(3_000, 60, 3), table(model="perceptron")),
        "zero-one": (few, lambda x, y: lambda seconds: lineal.zero_one(x, y, time_limit=seconds)),
        "zero-one, 400 rows": (
            lambda: _rows(400, 8, 2),
            lambda x, y: lambda seconds: lineal.zero_one(x, y, time_limit=seconds),
        ),
        "separability": (
            lambda: _rows(3_000, 60, 3),
            lambda x, y: lambda seconds: lineal.separability(x, y, time_limit=seconds),
        ),
        "separability, 20,000 x 200": (
            lambda: _rows(20_000, 200, 2),
            lambda x, y: lambda seconds: lineal.separability(x, y, time_limit=seconds),
        ),
    }


def _said(found: Any) -> str:
    """Return the kind of the verdict, or how many of each."""
    verdicts = getattr(found, "verdicts", None)
    if verdicts is not None:
        kinds = [verdict.kind for verdict in verdicts]
        return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    verdict = getattr(found, "verdict_", None) or getattr(found, "verdict", None)
    if verdict is None:
        return str(found.kind)
    return f"{verdict.kind}" + ("" if verdict.gap is None else f", gap {verdict.gap:.2g}")


def main() -> None:
    """Print a line for every case whose name holds a word that was given, at two limits."""
    words = sys.argv[1:]
    for name, (data, call) in cases().items():
        if words and not any(word in name for word in words):
            continue
        made = call(*data())
        for seconds in (0.5, 3.0):
            began = time.monotonic()
            found = made(seconds)
            over = time.monotonic() - began - seconds
            kept = "late" if over > max(0.5, 0.1 * seconds) else "kept"
            print(f"{name:32} {seconds:4g} s  over by {over:6.2f} s  {kept}  {_said(found)}", flush=True)


if __name__ == "__main__":
    main()
