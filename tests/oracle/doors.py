"""The public doors: one drawn call of lineal each, as a line of Python, and what it ends with."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

import lineal

from . import designs
from .designs import Draw, pick, power
from .losses import NUMBERS, Loss
from .problem import Penalty, Problem, pose

FUNCTIONS = ("fit", "separability", "path", "zero_one")
"""Doors that are functions; all others are estimators."""
SEVERAL = ("LinearRegression", "Ridge", "RidgeCV")
"""Estimators that take several targets at once."""


@dataclass
class Case:
    """One call: a door, its parameters and the rows; ``tags`` say what is nasty about them."""

    door: str
    params: dict[str, Any]
    X: Any
    y: Any
    weight: Any = None
    offset: Any = None
    tags: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={spell(value)}" for name, value in self.params.items())
        rows = f"{spell(self.X)}, {spell(self.y)}"
        if self.door in FUNCTIONS:
            more = [given] if given else []
            name = "weight" if self.door == "fit" else "sample_weight"
            more += [f"{name}={spell(self.weight)}"] if self.weight is not None else []
            more += [f"offset={spell(self.offset)}"] if self.offset is not None else []
            return f"lineal.{self.door}({', '.join([rows, *more])})"
        more = [f"sample_weight={spell(self.weight)}"] if self.weight is not None else []
        more += [f"offset={spell(self.offset)}"] if self.offset is not None else []
        return f"lineal.{self.door}({given}).fit({', '.join([rows, *more])})"

    @property
    def code(self) -> str:
        """The call as one line that prints its verdict."""
        tail = {
            "separability": "print(m.to_dict())",
            "path": "print(*(v.to_dict() for v in m.verdicts), sep='\\n')",
        }.get(self.door, "v = getattr(m, 'verdict_', None) or m.verdict; print(v.to_dict())")
        names = (
            "import numpy as np, scipy.sparse, lineal; from numpy import inf; from lineal.losses import Huber, Quantile"
        )
        return f"{names}; m = {self}; {tail}"


def spell(value: Any) -> str:
    """Return Python for a value, every digit of it."""
    if scipy.sparse.issparse(value):
        return f"scipy.sparse.csr_array({spell(value.toarray())})"
    if isinstance(value, np.ndarray):
        kind = "" if value.dtype in (np.float64, np.int64) else f", dtype=np.{value.dtype}"
        order = ", order='F'" if value.ndim == 2 and not value.flags.c_contiguous else ""
        return f"np.array({value.tolist()!r}{kind}{order})"
    return repr(value)


@dataclass(frozen=True)
class Claim:
    """One verdict, the coefficients it is about, and the problem it is a verdict on."""

    verdict: Any
    coef: np.ndarray
    problem: Problem
    columns: tuple[str, ...]
    objective: float | None
    tol: float
    labels: tuple[Any, ...] | None


# ---------------------------------------------------------------- drawing


def _strength(draw: Draw) -> float:
    return power(draw, -6, 2)


def _C(draw: Draw) -> float:
    return float("inf") if draw.random() < 0.3 else power(draw, -3, 5)


def _intercept(draw: Draw) -> bool:
    return bool(draw.random() < 0.85)


PARAMS: dict[str, Callable[[Draw], dict[str, Any]]] = {
    "LinearRegression": lambda d: {"positive": bool(d.random() < 0.2)},
    "Ridge": lambda d: {"alpha": _strength(d), "positive": bool(d.random() < 0.15)},
    "Lasso": lambda d: {"alpha": _strength(d)},
    "ElasticNet": lambda d: {"alpha": _strength(d), "l1_ratio": pick(d, 0.1, 0.5, 0.9)},
    "QuantileRegressor": lambda d: {"alpha": pick(d, 0.0, _strength(d)), "quantile": pick(d, 0.5, 0.5, 0.1, 0.9)},
    "HuberRegressor": lambda d: {"alpha": pick(d, 0.0, _strength(d)), "scale": pick(d, None, None, 1.0, 0.1)},
    "LinearSVR": lambda d: {
        "C": _C(d), "epsilon": pick(d, 0.0, 0.1, 1.0), "loss": pick(d, "epsilon_insensitive", "squared_epsilon_insensitive"),
    },
    "PoissonRegressor": lambda d: {"alpha": pick(d, 0.0, _strength(d))},
    "LogisticRegression": lambda d: {"C": _C(d), "l1_ratio": pick(d, 0.0, 0.0, 0.5, 1.0)},
    "LinearSVC": lambda d: {"C": _C(d), **pick(
        d, {"loss": "hinge"}, {}, {"penalty": "l1"}, {"multi_class": "crammer_singer", "loss": "hinge"})},
    "SparsemaxClassifier": lambda d: {"C": _C(d), "l1_ratio": pick(d, 0.0, 0.0, 1.0)},
    "SGDClassifier": lambda d: {
        "loss": pick(d, "hinge", "log_loss", "squared_hinge"), "alpha": power(d, -4, 0), "max_iter": 20,
    },
    "SGDRegressor": lambda d: {
        "loss": pick(d, "squared_error", "huber", "epsilon_insensitive"), "alpha": power(d, -4, 0), "max_iter": 20,
    },
}  # fmt: skip
"""What is drawn for every estimator whose verdict has a gap."""

MODELS = ("linear", "logistic", "softmax", "huber:1.0", "quantile:0.5", "quantile:0.2", "poisson", "svm", "svm3",
          "squared-hinge", "sparsemax")  # fmt: skip
"""What is drawn for ``lineal.fit``; softmax and svm3 are logistic and svm of three classes."""


def _fit_params(draw: Draw, model: str, p: int) -> dict[str, Any]:
    strength = f"{_strength(draw):.3g}"
    penalty = pick(
        draw, "none", "none", f"ridge:{strength}", f"l1:{strength}", f"elastic:{strength},0.4", f"group:{strength}"
    )
    params: dict[str, Any] = {"model": {"softmax": "logistic", "svm3": "svm"}.get(model, model), "penalty": penalty}
    if draw.random() < 0.15 and not penalty.startswith("group"):
        low, high = sorted((draw.normal(size=2) * power(draw, -2, 1)).tolist())
        params["bounds"] = {f"x{int(draw.integers(p))}": pick(draw, (0.0, None), (low, high), (None, 0.0))}
    return params


def drawn(seed: int, index: int, only: str | None = None, *, plain: bool = False) -> Case:
    """Return case number ``index`` of a seed; ``only`` names a door, a model of ``lineal.fit`` or a twist of the columns."""
    draw = np.random.default_rng([seed, index])
    doors = list(PARAMS)
    door = only if only in PARAMS else "fit" if only in MODELS or draw.random() < 0.4 else str(draw.choice(doors))
    x, tags = designs.matrix(draw, only, plain=plain)
    model = only if only in MODELS else str(draw.choice(MODELS))
    params = _fit_params(draw, model, x.shape[1]) if door == "fit" else PARAMS[door](draw)
    several = model in ("softmax", "svm3") if door == "fit" else draw.random() < 0.35
    several = several or (params.get("model") == "sparsemax" and draw.random() < 0.7)
    kind = params["model"] if door == "fit" else door
    if kind in ("poisson", "PoissonRegressor"):
        y, tag = designs.counts(draw, x, plain=plain)
    elif kind in ("logistic", "svm", "squared-hinge", "sparsemax") or door.endswith(
        ("Classifier", "SVC", "LogisticRegression")
    ):
        x = np.repeat(x, 3, axis=0) if len(x) < 3 else x
        y, tag = designs.classes(draw, x, 3 if several else 2, plain=plain)
    else:
        y, tag = designs.numbers(draw, x, plain=plain)
        if several and door in SEVERAL:
            y, tag = np.column_stack([y, designs.numbers(draw, x, plain=plain)[0]]), f"{tag}, two targets"
    if not _intercept(draw):
        params["intercept" if door == "fit" else "fit_intercept"] = False
        tags.append("no intercept")
    weight, heavy = designs.weights(draw, len(x), plain=plain)
    wide = 1
    if several and door in ("LogisticRegression", "LinearSVC", "SparsemaxClassifier"):
        wide = 3
    elif y.ndim == 2:
        wide = 2
    shifts = not door.startswith("SGD") and (not (several and door == "fit") or draw.random() < 0.05)
    offset, shifted = designs.offsets(draw, len(x), wide, 1.0 if plain else 1000.0) if shifts else (None, "none")
    X, store = designs.stored(draw, x)
    said = [
        tag,
        *(f"weights {heavy}" for _ in range(heavy != "none")),
        *(f"offset {shifted}" for _ in range(shifted != "none")),
    ]
    return Case(door, params, X, y, weight, offset, [*tags, *said, *(store for _ in range(store != "dense"))])


# ---------------------------------------------------------------- asking


def ask(case: Case) -> tuple[list[Claim], float]:
    """Make the call, and return its claims with the seconds it took; errors go up."""
    begin = time.perf_counter()
    if case.door == "fit":
        model = lineal.fit(case.X, case.y, weight=case.weight, offset=case.offset, **case.params)
        return [claim_of(model, case, model.verdict, None)], time.perf_counter() - begin
    estimator = getattr(lineal, case.door)(**case.params)
    more = {} if case.weight is None else {"sample_weight": case.weight}
    more |= {} if case.offset is None else {"offset": case.offset}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its sentence is the verdict's, which is judged
        estimator.fit(case.X, case.y, **more)
    seconds = time.perf_counter() - begin
    if case.door == "HuberRegressor" and case.params.get("scale") is None:
        return [_with_scale(estimator, case)], seconds
    members = getattr(estimator, "models_", None) or [estimator.model_]
    if len(members) == 1:
        return [claim_of(members[0], case, estimator.verdict_, float(estimator.objective_))], seconds
    return [
        claim_of(member, case, verdict, None, against=k)
        for k, (member, verdict) in enumerate(zip(members, estimator.verdicts_, strict=True))
    ], seconds


def plain_penalty(penalty: Any, columns: int) -> Penalty:
    """Return a penalty as the model spells it, in our own numbers."""
    spelled = penalty.to_dict()
    inner = spelled.get("inner", spelled)
    return Penalty.of(inner["name"], columns, inner, inner.get("charges"), spelled.get("lower"), spelled.get("upper"))


def claim_of(model: Any, case: Case, verdict: Any, objective: float | None, against: int | None = None) -> Claim:
    """Return what a model claims; ``against`` is the class that is told from the rest."""
    known = {name: value for name, value in model.loss.parameters().items() if name in ("q", "threshold", "epsilon")}
    loss = Loss(model.loss.name, model.coef.shape[1], **known)
    y, offset = np.asarray(case.y), case.offset
    if loss.name not in NUMBERS:
        if against is None:
            y = np.searchsorted(
                np.asarray(model.target.classes), y
            )  # rows of weight 0 may have other classes; they are left out
        else:
            y = (y == np.unique(y if case.weight is None else y[np.asarray(case.weight) > 0])[against]).astype(int)
    if offset is not None and against is not None and np.ndim(offset) == 2:
        offset = offset[:, against]
    if offset is not None and case.door == "SparsemaxClassifier" and np.ndim(offset) == 1:
        offset = np.column_stack([-0.5 * np.asarray(offset), 0.5 * np.asarray(offset)])
    problem = pose(
        case.X, y, loss, plain_penalty(model.penalty, len(model.columns)),
        intercept=model.has_intercept, weight=case.weight, offset=offset,
        center=None if verdict.kind == "at_infinity" else model.arrays.get("center"),
    )  # fmt: skip
    return Claim(verdict, np.asarray(model.coef), problem, model.columns, objective, model.tol, model.target.classes)


def _with_scale(estimator: Any, case: Case) -> Claim:
    """Return the claim of Huber's regression with its own scale: a second output whose only column is one of ones."""
    model = estimator.model_
    p, total = len(model.columns), _total(case)
    loss = Loss("huber-scale", 2, threshold=float(estimator.epsilon))
    strength = {"strength": float(estimator.alpha) / total}
    penalty_factors = [float(name != "(intercept)") for name in model.columns]
    X = case.X.toarray() if scipy.sparse.issparse(case.X) else np.asarray(case.X, float)
    wide = np.column_stack([X, np.ones(len(X))])
    low = np.full(p + 1, -np.inf)
    low[p] = 0.0
    offset = None if case.offset is None else np.column_stack([case.offset, np.zeros(len(X))])
    center = model.arrays.get("center")
    problem = pose(
        wide, case.y, loss, Penalty.of("ridge", p + 1, strength, [*penalty_factors, 0.0], low, None),
        intercept=model.has_intercept, weight=case.weight, offset=offset, center=None if center is None else [*center, 0.0],
    )  # fmt: skip
    problem = Problem(**{**problem.__dict__, "free": (*((j, 0) for j in range(p)), (p, 1))})
    coef = np.zeros((p + 1, 2))
    plain = np.r_[[estimator.intercept_] * model.has_intercept, estimator.coef_]
    coef[:p, 0] = plain if center is None else model.coef[:, 0]
    coef[p, 1] = estimator.scale_
    return Claim(
        estimator.verdict_, coef, problem, (*model.columns, "(scale)"), estimator.objective_, estimator.tol, None
    )


def _total(case: Case) -> float:
    return float(case.X.shape[0]) if case.weight is None else float(np.sum(case.weight))
