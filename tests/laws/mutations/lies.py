"""Consistent lies: false coefficients, and every number of the file made to fit them, signed again.

What is a lie is decided by F in 40 digits at the false coefficients and at the honest ones, which are at least as high as the
optimum: `F(false) - F(honest)` more than the stated gap is untrue, whoever says it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass

import mpmath
import numpy as np

from . import engine
from .honest import Case

SLACK = 1e-12
"""What the checker may leave unnoticed, as a share of the objective or of what there is to gain (docs/verdicts.md)."""
NUDGES = (1e-3, 1e-5, 1e-7)


@dataclass(frozen=True)
class Lie:
    """A forged file, and by how much its gap is too small, in units of what may go unnoticed."""

    name: str
    case: Case
    size: float


def lies(honest: Case, seed: int) -> Iterator[Lie]:
    """Yield forgeries of an optimum: false coefficients, each with several gaps and tolerances; some may be no lies."""
    draw = np.random.default_rng(seed)
    least = engine.precisely(honest, honest.arrays["coef"])
    stated = honest.meta["verdict"]
    for name, coef in false(honest, draw):
        value = engine.precisely(honest, coef)
        if not mpmath.isfinite(value):  # outside its bounds: every reader sees it
            continue
        for gap in (0.0, stated["gap"], float(value - least) * float(draw.choice([0.1, 0.9, 0.999]))):
            for tol in (honest.meta["tol"], 0.01, 1e6):
                case = copy.deepcopy(honest)
                case.arrays["coef"] = coef
                told(case, float(value), max(gap, 0.0), tol)
                null = case.meta["verdict"]["evidence"]["null_objective"]
                unit = SLACK * max(abs(float(value)), null - float(least))
                untrue = float(value - least - gap) / unit
                over = case.meta["verdict"]["relative_gap"] > tol or tol > 1.0
                yield Lie(f"{name}, gap {gap:.2g}, tol {tol:g}", case, math.inf if over else untrue)


def false(honest: Case, draw: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    """Yield zeros, and coefficients of which one is a little off; those of several classes keep their zero sum."""
    coef = honest.arrays["coef"]
    low, high = (
        honest.arrays.get(name, np.full(len(coef), end)) for name, end in (("lower", -np.inf), ("upper", np.inf))
    )
    yield "zeros", np.clip(np.zeros_like(coef), low[:, None], high[:, None])
    for size in NUDGES:
        place = tuple(draw.integers(0, coef.shape))
        moved = coef.copy()
        moved[place] = coef[place] * (1.0 + size) if coef[place] else size
        if honest.meta["loss"]["name"] in ("softmax", "sparsemax", "crammer-singer"):
            moved[place[0]] -= np.mean(moved[place[0]])
        yield f"{honest.meta['columns'][place[0]]} off by {size:g}", np.clip(moved, low[:, None], high[:, None])


def told(case: Case, value: float, gap: float, tol: float) -> None:
    """State an optimum with this objective and gap, and everything that follows, in the words of an honest file."""
    evidence = case.meta["verdict"]["evidence"]
    lower = value - gap
    gain = evidence["null_objective"] - lower
    relative = gap / gain if gain > 0.0 else 0.0
    evidence.update(objective=value, lower_bound=lower, tol=tol)
    if "radius" in evidence:
        evidence["radius"] = math.sqrt(2.0 * gap / case.meta["penalty"]["strength"])
    case.meta["tol"] = tol
    case.meta["verdict"].update(
        kind="optimal",
        gap=gap,
        relative_gap=relative,
        reason=None,
        sentence=f"Optimal: the loss cannot be improved by more than {100 * relative:.2g} % (gap {gap:.2g}, proven).",
    )
