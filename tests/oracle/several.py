"""Many verdicts of one call: the points of a path, and the members of a committee."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import lineal
from lineal import losses

from . import designs
from .designs import pick, power
from .doors import Case, Claim, claim_of
from .judge import Violation
from .losses import NUMBERS, Loss
from .outcome import Outcome, known, of_claims
from .problem import Penalty, pose

PATHS = (
    "squared",
    "logistic",
    "poisson",
    "huber",
    "quantile",
    "hinge",
    "squared-hinge",
    "softmax",
    "sparsemax",
    "crammer-singer",
)
SCHEMES = ("ovr", "ovo", "ecoc", "ecoc:4")
BINARY = ("logistic", "svm", "squared-hinge", "sparsemax")
DOORS = ("path", "committee")


def drawn(seed: int, index: int, only: str | None = None, *, plain: bool = False) -> Case:
    """Return case number ``index`` of a seed."""
    draw = np.random.default_rng([seed, index, 5])
    x, tags = designs.matrix(draw, only, plain=plain)
    x = np.repeat(x, 3, axis=0) if len(x) < 3 else x[:25, :4]
    path = only == "path" or (only != "committee" and draw.random() < 0.5)
    loss = str(draw.choice(PATHS)) if path else ""
    if not path:
        y, tag = designs.classes(draw, x, 3, plain=plain)
        params: dict[str, Any] = {"model": pick(draw, *BINARY), "multiclass": pick(draw, *SCHEMES)}
        strength = power(draw, -4, 1)
        params["penalty"] = pick(draw, f"ridge:{strength:.3g}", f"l1:{strength:.3g}", "none")
        y, tag = (
            designs.classes(draw, x, 4, plain=plain) if params["multiclass"] == "ecoc:4" and len(x) > 4 else (y, tag)
        )
    else:
        params = {"loss": loss, "penalty": pick(draw, "l1", "ridge", "group", "elastic")}
        params["strengths"] = sorted((power(draw, -4, 1) for _ in range(3)), reverse=True)
        if params["penalty"] != "ridge" and draw.random() < 0.4:
            params |= {"strengths": 4, "ratio": power(draw, -4, -1)}
        if params["penalty"] == "elastic":
            params["l1_ratio"] = pick(draw, 0.2, 0.9)
        if loss in NUMBERS:
            y, tag = (designs.counts if loss == "poisson" else designs.numbers)(draw, x, plain=plain)
        else:
            y, tag = designs.classes(
                draw, x, 3 if loss in ("softmax", "sparsemax", "crammer-singer") else 2, plain=plain
            )
    if draw.random() < 0.15:
        params["fit_intercept" if path else "intercept"] = False
        tags.append("no intercept")
    weight, heavy = designs.weights(draw, len(x), plain=plain)
    shifts = path and loss not in ("softmax", "sparsemax", "crammer-singer")
    offset, shifted = designs.offsets(draw, len(x), 1, 1.0 if plain else 100.0) if shifts else (None, "none")
    X, store = designs.stored(draw, x)
    said = [tag, f"weights {heavy}", f"offset {shifted}", store]
    return Case("path" if path else "fit", params, X, y, weight, offset, [*tags, *said])


def ask(case: Case) -> list[Outcome]:
    """Make the call, and return its outcomes."""
    return _path(case) if case.door == "path" else _committee(case)


# ---------------------------------------------------------------- paths


def _loss(name: str) -> Any:
    """Return a loss by name; with the number it needs, where it needs one."""
    return {"huber": losses.Huber(1.0), "quantile": losses.Quantile(0.3)}.get(name, name)


def _path(case: Case) -> list[Outcome]:
    params = {**case.params, "loss": _loss(case.params["loss"])}
    found = lineal.path(case.X, case.y, sample_weight=case.weight, offset=case.offset, **params)
    intercept = bool(case.params.get("fit_intercept", True))
    name, labels = case.params["loss"], None
    y = np.asarray(case.y)
    if name not in NUMBERS:
        labels, y = np.unique(y, return_inverse=True)
    columns = ("(intercept)",) * intercept + tuple(f"x{j}" for j in range(case.X.shape[1]))
    penalty_factors = [float(c != "(intercept)") for c in columns]
    loss = Loss(name, found.coef.shape[2], q=0.3, threshold=1.0)
    spelled = {"l1_ratio": case.params.get("l1_ratio")}
    claims = []
    for point, verdict in zip(found.points, found.verdicts, strict=True):
        penalty = Penalty.of(
            case.params["penalty"], len(penalty_factors), {**spelled, "strength": point.strength}, penalty_factors
        )
        problem = pose(
            case.X, y, loss, penalty, intercept=intercept, weight=case.weight, offset=case.offset, center=found.center
        )
        claims.append(Claim(verdict, np.asarray(point.coef), problem, columns, point.objective, 1e-6, labels))
    strengths = [point.strength for point in found.points]
    bad = []
    if not isinstance(case.params["strengths"], int) and strengths != case.params["strengths"]:
        bad.append(Violation("path", math.inf, f"strengths {strengths}, asked for {case.params['strengths']}"))
    return [*of_claims(case, claims), known("path", "walked", "", bad)]


# ---------------------------------------------------------------- committees


def _committee(case: Case) -> list[Outcome]:
    model = lineal.fit(case.X, case.y, weight=case.weight, **case.params)
    labels = list(model.target.classes)
    own = np.array([labels.index(v) if v in labels else -1 for v in np.asarray(case.y).tolist()])
    weight = np.ones(len(own)) if case.weight is None else np.asarray(case.weight, float)
    claims = []
    for k, member in enumerate(model.members):
        entry = np.where(own >= 0, model.code[own, k], 0)
        part = Case("fit", case.params, case.X, entry > 0, np.where(entry == 0, 0.0, weight), None, case.tags)
        claims.append(claim_of(member, part, member.verdict, None))
    bad = _worst(model)
    for k, column in enumerate(model.code.T):
        if len({*column.tolist()} - {0}) < 2:
            bad.append(Violation("code", 1.0, f"question {k} has one answer"))
    return [*of_claims(case, claims), known("committee", model.verdict.kind, model.verdict.sentence, bad)]


GRAVITY = ("infeasible", "at_infinity", "unproven", "budget")


def _worst(model: Any) -> list[Violation]:
    """The verdict of all is that of a member, of the worst kind there is."""
    kinds = [verdict.kind for verdict in model.verdicts]
    bad = [kind for kind in kinds if kind in GRAVITY]
    if bad and model.verdict.kind not in GRAVITY:
        return [Violation("committee", math.inf, f"{model.verdict.kind}, but members end in {bad}")]
    gaps = [verdict.relative_gap for verdict in model.verdicts if verdict.kind == model.verdict.kind]
    if model.verdict.relative_gap is not None and model.verdict.relative_gap < max(g for g in gaps if g is not None):
        return [Violation("committee", 1.0, "a member has a wider gap than the worst")]
    return []
