"""Tables of a few hundred cells: every loss with every penalty on designs of all kinds; the slowest fit is what counts.

A user who waits seconds for twenty rows is as badly served as one who waits minutes for a million. No fit here may take a second.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

DESIGNS = {"kind": ("plain", "whole", "hot"), "unkind": ("units", "tails", "far", "apart")}
"""Normal cells; rounded; zeros and ones. Units from 1e-4 to 1e4; heavy tails; means of 1e6; classes that do not overlap."""

PENALTIES = ("none", "ridge", "l1", "elastic", "group", "bounds")
TIMINGS = 2
"""Each fit is timed this often; the shortest counts, since other processes only make it longer."""


class Tiny(NamedTuple):
    """One fit: what it is, and what ``lineal.fitting.fitting.fit`` is given."""

    about: str
    source: Any
    loss: Any
    penalty: Any


def mixture(kind: str) -> Iterator[Tiny]:
    """Yield one fit for every loss, penalty and design of a kind."""
    from lineal import losses

    kinds = (
        losses.Squared(1), losses.Absolute(), losses.Quantile(0.9), losses.Huber(1.0), losses.EpsilonInsensitive(0.5),
        losses.SquaredEpsilonInsensitive(0.5), losses.Poisson(), losses.Logistic(), losses.Hinge(), losses.SquaredHinge(),
        losses.Softmax(3), losses.Sparsemax(3), losses.CrammerSinger(3),
    )  # fmt: skip
    for seed, (design, penalty, loss) in enumerate(itertools.product(DESIGNS[kind], PENALTIES, kinds)):
        if not (penalty == "group" and loss.name == "crammer-singer"):  # which no solver minimises
            yield _tiny(np.random.default_rng([seed, len(kind)]), design, penalty, loss)


def _tiny(rng: np.random.Generator, design: str, penalty: str, loss: Any) -> Tiny:
    from lineal.designs import as_design
    from lineal.sources.memory import Memory

    rows, columns, intercept = int(rng.integers(10, 41)), int(rng.integers(1, 6)), bool(rng.random() < 0.8)
    x = _cells(rng, design, rows, columns)
    spread = np.maximum(np.std(x, axis=0), 1e-9)
    scores = ((x - x.mean(axis=0)) / spread) @ rng.normal(size=(columns, 3))
    y = _targets(rng, loss, 50.0 * scores if design == "apart" else scores)
    source = Memory(as_design(x, intercept=intercept), y)
    about = f"{loss.name}, {penalty}, {rows} x {columns} {design}{'' if intercept else ', no intercept'}"
    return Tiny(about, source, loss, _penalty(rng, penalty, columns + intercept, intercept))


def _cells(rng: np.random.Generator, design: str, rows: int, columns: int) -> np.ndarray:
    x = rng.standard_t(1.5, size=(rows, columns)) if design == "tails" else rng.normal(size=(rows, columns))
    if design == "whole":
        return np.round(x)
    if design == "hot":
        return (x > 0.5).astype(np.float64)
    if design == "units":
        return x * 10.0 ** rng.integers(-4, 5, size=columns)
    return x + 1e6 if design == "far" else x


def _targets(rng: np.random.Generator, loss: Any, scores: np.ndarray) -> np.ndarray:
    if loss.name == "poisson":
        return rng.poisson(np.exp(np.clip(0.5 * scores[:, 0], -5.0, 3.0))).astype(np.float64)
    if loss.outputs == 3:
        y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
        y[:3] = np.arange(3)
        return y.astype(np.float64)
    if loss.name in ("logistic", "hinge", "squared-hinge"):
        y = scores[:, 0] + rng.logistic(size=len(scores)) > 0.0
        y[:2] = (False, True)
        return y.astype(np.float64)
    return scores[:, 0] + rng.normal(size=len(scores)) + (1e6 if rng.random() < 0.2 else 0.0)


def _penalty(rng: np.random.Generator, name: str, columns: int, intercept: bool) -> Any:
    from lineal.penalties import L1, Bounds, ElasticNet, Group, NoPenalty, Ridge

    penalty_factors, strength = np.ones(columns), float(10.0 ** rng.uniform(-4.0, 0.0))
    penalty_factors[: int(intercept)] = 0.0
    low = np.where(penalty_factors > 0.0, 0.0, -np.inf)
    return {
        "none": NoPenalty(columns),
        "ridge": Ridge(strength, penalty_factors),
        "l1": L1(strength, penalty_factors),
        "elastic": ElasticNet(strength, 0.5, penalty_factors),
        "group": Group(strength, penalty_factors),
        "bounds": Bounds(low, np.full(columns, np.inf), NoPenalty(columns)),
    }[name]


def measure(kind: str) -> dict[str, Any]:
    """Return the seconds of the slowest fit, which it was, and how many ended in which verdict."""
    from lineal.fitting.fitting import fit

    worst, cpu, slowest, kinds = 0.0, 0.0, "", dict[str, int]()
    for tiny in mixture(kind):
        times = []
        for _ in range(TIMINGS):
            started, used = time.perf_counter(), time.process_time()
            verdict = fit(tiny.source, tiny.loss, tiny.penalty).verdict.kind
            times.append((time.perf_counter() - started, time.process_time() - used))
        kinds[verdict] = kinds.get(verdict, 0) + 1
        seconds, least = min(times)
        if seconds > worst:
            worst, cpu, slowest = seconds, least, tiny.about
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return {
        "seconds": worst,
        "cpu": cpu,
        "first": worst,
        "runs": sum(kinds.values()),
        "verdict": f"{counts}; {slowest}",
    }
