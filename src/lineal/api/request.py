"""What was asked for and how it is to be run, what is known before a fit, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Literal

from lineal.api.methods.method import MapFit, Wanted
from lineal.api.options import (
    Limits,
    ModelRequest,
    PenaltyRequest,
    read_model,
    read_penalty,
    read_solver,
)
from lineal.api.penalizing import Penalize, Penalized, Units
from lineal.errors import InputError
from lineal.fitting.stopping import Fit
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.model.trace import Record
from lineal.paths.selection import Choice
from lineal.problem.moments import Moments
from lineal.solvers.solver import Solver


@dataclass(frozen=True)
class Request:
    """What was asked for, checked as far as that is possible without data."""

    model: ModelRequest
    penalty: PenaltyRequest
    bounds: Limits | None
    solver: Solver | str
    penalize: Penalize = field(default_factory=Penalize)

    @staticmethod
    def of(
        model: str,
        penalty: str | float,
        bounds: Limits | None,
        solver: Solver | str,
        penalize: Penalized | None = None,
    ) -> Request:
        """Read the words, and refuse those that would have no effect together."""
        name = read_model(model)
        units = Penalize() if not penalize else Penalize.read(penalize)
        request = Request(name, read_penalty(penalty, name), bounds or None, read_solver(solver), units)
        if penalize and name.name != "bayes" and request.penalty.name in ("none", "firth"):
            which = "there is none" if request.penalty.name == "none" else "Firth's penalty sees no single column"
            raise InputError(
                f"penalize says how a penalty sees the columns, and {which}; leave it out, or ask for another penalty, such "
                "as ridge:0.1."
            )
        if name.own_method:
            own = f"model {name.name}"
        elif request.penalty.name == "firth":
            own = "Firth's penalty"
        else:
            return request
        if request.solver != "auto":
            raise InputError(f"the solver has no effect: {own} has a method of its own; leave it out.")
        if request.bounds is not None:
            raise InputError(f"bounds cannot be put on the coefficients of {own}; leave them out.")
        return request

    @property
    def wanted(self) -> Wanted:
        """What the target has to be."""
        return "classes" if self.penalty.name == "firth" else self.model.wanted


@dataclass(frozen=True)
class Run:
    """How a fit is to be run.

    ``first`` is the deadline of the first look at the columns, for a fit that is alone: an InputError says that it passed.
    ``steps`` limits the final fit, which begins at ``start`` (see ``read_start``); ``iterates`` asks its trace for the
    coefficients of every step.
    """

    seed: int
    tol: float
    deadline: Deadline | None = None
    progress: Callable[[Record], None] | None = None
    interrupt: Literal["raise", "budget"] = "raise"
    first: Deadline | None = None
    steps: int | None = None
    start: object = None
    iterates: bool = False


@dataclass(frozen=True)
class Estimate:
    """A fit with what was decided on the way.

    ``penalty`` is the name that was asked for, ``penalty_factors`` what the penalty multiplies, ``level``
    the best constant score of the training rows, ``report`` entries that the model's report gets from it.
    """

    fit: Fit | MapFit
    ready: Ready
    penalty: str
    level: Array
    choice: Choice | None = None
    penalty_factors: str | list[str | float] | None = None
    report: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ready:
    """What is known before anything is minimised; ``report`` are entries for the model's report.

    ``units`` say what a penalty sees of every coefficient.
    """

    loss: Loss
    moments: Moments
    units: Units
    limits: tuple[Array, Array] | None
    labels: list[str] | None
    report: Mapping[str, Any]
