"""A kernel machine: the rows in the file are those of the data, and what its verdict states is proven again from all of them.

The columns are ``k(x, x_i)`` for the training rows x_i whose coefficient is not zero. Scores are made from the data alone, in
blocks; memory is that of the training rows and of one block. `span` is the proof, `kernels` has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import EPS, Array, Index
from lineal.verify.claims.ground import field, number, texts
from lineal.verify.claims.training import Examples
from lineal.verify.evidence.sentences import check_ending, check_keys, check_reason, check_sentence, of_gap
from lineal.verify.evidence.tolerances import DEFAULT_TOL, GAP_SLACK_SHARE, LARGEST_TOL, PROOF_ROUNDING_SHARE
from lineal.verify.evidence.tolerances import STATED_GAP_FACTOR as FACTOR
from lineal.verify.losses import BY_NAME
from lineal.verify.losses.loss import Loss
from lineal.verify.maps import kernel_perceptron, kernels
from lineal.verify.maps.claims import MapClaims
from lineal.verify.maps.span import Bound, Span, bound
from lineal.verify.maps.stored import MOST_CELLS, dense
from lineal.verify.report import Report

LOSSES: Final = ("squared", "logistic", "softmax", "hinge", "epsilon-insensitive", "perceptron")
"""Losses of kernel machines."""
SHARE: Final = 2.0**-46
"""How far encoded numbers may be off, as a share of themselves."""
FIGURES: Final = ("objective", "lower_bound", "null_objective", "tol")
MEMBERS: Final = ("kind", "sentence", "gap", "relative_gap", "evidence", "reason")


@dataclass(frozen=True)
class Stated:
    """The fields of the map, and what the loss of the file is."""

    kernel: kernels.Kernel
    numbers: Index
    strength: float
    loss: type[Loss]
    parameter: float


def columns(claims: MapClaims) -> list[str]:
    """Return the names of the columns that the map makes."""
    return [f"k(x, row {number})" for number in _numbers(claims)]


def check(report: Report, claims: MapClaims, rows: Examples) -> None:
    """Check the training rows in the file, how they are compared, and what the verdict says of the coefficients."""
    stated, gathered = check_ground(report, claims, rows)
    check_used(report, claims)
    check_claims(report, claims, stated, gathered)


def check_ground(report: Report, claims: MapClaims, rows: Examples) -> tuple[Stated, Rows]:
    """Check the training rows in the file, and how they are compared."""
    stated = taken(claims, {"kernel", "numbers", "inputs", "strength"}, kernels.take)
    check_form(report, claims, stated, texts({"map": dict(claims.parameters)}, "map.inputs"))
    x, y, weight, places = _gathered(rows, claims)
    z = _standardized(report, claims, x)
    at = check_places(report, stated, places)
    _check_rows(report, claims, z, x, at)
    return stated, Rows(z, y, weight, at)


@dataclass(frozen=True)
class Rows:
    """What a kernel compares, with targets and weights, and the places of those that are kept."""

    points: Any
    y: Array
    weight: Array
    kept: Index


def check_places(report: Report, stated: Stated, places: Index) -> Index:
    """Return where the rows that are kept stand among those of positive weight, which they must be."""
    at = np.searchsorted(places, stated.numbers)
    known = bool(np.all(at < len(places))) and bool(np.all(places[np.minimum(at, len(places) - 1)] == stated.numbers))
    report.check("the rows that are kept are training rows of positive weight", known, f"{len(at)} rows")
    return at


def check_claims(report: Report, claims: MapClaims, stated: Stated, rows: Rows) -> None:
    """Check what the verdict says of the coefficients, whatever the kernel compares."""
    codes, y = rows.y[:, 0].astype(np.intp), rows.y
    if stated.loss.name == "softmax":
        y = np.eye(claims.coef.shape[1])[codes]
    first = int(claims.intercept)
    span = Span(
        stated.kernel, rows.points, y, rows.weight, stated.loss, stated.parameter, stated.strength, claims.intercept
    )
    if stated.loss.name == "perceptron":
        kernel_perceptron.check(report, claims, span, rows.kept, codes)
        return
    if not stated.kernel.definite:
        words = "the kernel is positive semi-definite, so that something can be proven of the fit"
        report.check(words, False, "a polynomial with coef0 below 0 is not")
    proven = bound(span, rows.kept, claims.coef[first:], claims.coef[:first].sum(axis=0))
    report.check("every score of a training row is a finite number", math.isfinite(proven.objective))
    _check_verdict(report, claims, stated, span, proven)


def _numbers(claims: MapClaims) -> list[int]:
    """Return which training rows are kept, or refuse the file."""
    numbers = field({"map": dict(claims.parameters)}, "map.numbers", list)
    if not all(type(each) is int and 0 <= each < 2**53 for each in numbers):
        raise ModelFileError("feature_map.numbers of the model file must hold row numbers.")
    if any(one >= other for one, other in pairwise(numbers)):
        raise ModelFileError("feature_map.numbers of the model file must increase.")
    return list(numbers)


def taken(claims: MapClaims, members: Set[str], take: Callable[[Any], kernels.Kernel]) -> Stated:
    """Return the fields of the map and the loss, or refuse the file."""
    given = {"map": dict(claims.parameters), "loss": dict(claims.loss)}
    if set(claims.parameters) != members:
        raise ModelFileError(f"the feature map of the model file must have {', '.join(sorted(members))}, and no other.")
    strength = field(given, "map.strength", float, int)
    name, outputs = field(given, "loss.name", str), field(given, "loss.outputs", int)
    if not (math.isfinite(strength) and strength >= 0.0) or name not in LOSSES:
        raise ModelFileError("the strength or the loss of the model file is not one of a kernel machine.")
    loss = BY_NAME[name]
    if set(claims.loss) != {"name", "outputs", loss.field} - {None}:
        raise ModelFileError(f"the loss {name} has other fields than it must have.")
    parameter = 0.0 if loss.field is None else float(field(given, f"loss.{loss.field}", float, int))
    several = loss.targets == "numbers"
    expected = len(claims.targets) if several else loss.outputs_for(len(claims.classes or ()))
    if several != (claims.classes is None) or outputs != expected or claims.coef.shape[1] != outputs:
        raise ModelFileError("target, loss and coefficients do not fit each other.")
    if not (math.isfinite(parameter) and parameter >= 0.0) or (name == "hinge" and len(claims.classes or ()) != 2):
        raise ModelFileError(f"the {name} loss does not fit the target.")
    if several and outputs != 1 and not loss.many_targets:
        raise ModelFileError(f"{name} loss has one target.")
    kernel, numbers = take(claims.parameters["kernel"]), np.array(_numbers(claims), dtype=np.intp)
    return Stated(kernel, numbers, float(strength), loss, parameter)


def check_form(report: Report, claims: MapClaims, stated: Stated, inputs: list[str]) -> None:
    """Check that the model is its columns and its intercept, and nothing else."""
    intercept = len(claims.made) - len(stated.numbers)
    same = inputs == claims.columns[int(claims.intercept) :] and intercept == int(claims.intercept)
    report.check("the inputs of the kernel are the columns that the terms make", same, f"{len(inputs)} columns")
    report.check("no penalty but that of the kernel is stated", dict(claims.penalty) == {"name": "none"})
    report.check("there are no offsets", claims.offset is None)
    report.check("nothing else is claimed", not claims.kept and set(claims.verdict) <= set(MEMBERS))


def check_used(report: Report, claims: MapClaims) -> None:
    """Check that no row is kept in vain."""
    used = np.any(claims.coef[int(claims.intercept) :] != 0.0, axis=1)
    report.check("every row that is kept has a coefficient", bool(np.all(used)), f"{len(used)} rows")


def _gathered(rows: Examples, claims: MapClaims) -> tuple[Array, Array, Array, Index]:
    """Return the encoded training rows without the intercept, targets, weights, and their places among all."""
    width, first = len(claims.columns) - int(claims.intercept), int(claims.intercept)
    if rows.rows * max(width, 1) > MOST_CELLS:
        raise ModelFileError(f"{rows.rows} training rows of {width} columns are more than this checker holds (2 GB).")
    blocks = [(block["x"][:, first:], block["target"], block["weight"], block["numbers"]) for block in rows.store]
    x, y, weight, places = (np.concatenate([block[k] for block in blocks]) for k in range(4))
    return np.ascontiguousarray(x), y, weight, places.astype(np.intp)


def _standardized(report: Report, claims: MapClaims, x: Array) -> Array:
    """Return what the kernel compares, center and spread checked where the file has them."""
    center, spread = claims.arrays.get("center"), claims.arrays.get("spread")
    if center is None and spread is None:
        report.check("the kernel compares the columns as they are", True, f"{x.shape[1]} columns")
        return x
    for array in (center, spread):
        if array is None or array.dtype != np.float64 or array.shape != (x.shape[1],) or not np.all(np.isfinite(array)):
            raise ModelFileError("map.center and map.spread of the model file must hold a number for every column.")
    assert center is not None
    assert spread is not None
    size = np.max(np.abs(x), axis=0, initial=0.0)
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    lost = 64 * EPS * size
    centered = bool(np.all(np.abs(center - mean) <= 1e-9 * deviation + lost))
    near = np.abs(spread - deviation) <= 1e-9 * deviation + lost
    scaled = bool(np.all((near | ((spread == 1.0) & (deviation <= lost))) & (spread > 0.0)))
    words = "the kernel compares columns less their mean, in units of their standard deviation"
    report.check(words, centered and scaled, f"{x.shape[1]} columns")
    return np.asarray((x - center) / spread)


def _check_rows(report: Report, claims: MapClaims, z: Array, x: Array, at: Index) -> None:
    """Check that the rows in the file are those of the data."""
    arrays = {name: array for name, array in claims.arrays.items() if name not in ("center", "spread")}
    if set(arrays) == {"indptr", "indices", "data"}:
        kept = dense(arrays["indptr"], arrays["indices"], arrays["data"], z.shape[1])
    elif set(arrays) == {"rows"} and arrays["rows"].dtype == np.float64 and arrays["rows"].ndim == 2:
        kept = arrays["rows"]
    else:
        raise ModelFileError("the arrays of the feature map do not have the names or types they must have.")
    spread = claims.arrays.get("spread", np.ones(z.shape[1]))
    room = SHARE * (np.abs(z[at]) + np.abs(x[at]) / spread)
    same = kept.shape == room.shape and bool(np.all(np.abs(kept - z[at]) <= room))
    report.check("the rows in the file are those of the data, encoded and standardized", same, f"{len(at)} rows")


def _check_verdict(report: Report, claims: MapClaims, stated: Stated, span: Span, proven: Bound) -> None:
    """Check everything that a verdict about a gap states."""
    kind, stated_gap, relative = (claims.verdict.get(name) for name in ("kind", "gap", "relative_gap"))
    evidence = field({"verdict": dict(claims.verdict)}, "verdict.evidence", dict)
    sentence, reason = str(claims.verdict.get("sentence")), claims.verdict.get("reason")
    report.check("the verdict is one of a minimum", kind in ("optimal", "budget"), f"{kind!r}")
    if kind == "budget" and stated_gap is None:
        check_keys(report, evidence, "objective")
        report.check("no relative gap is claimed without a gap", relative is None)
        if evidence.get("objective") is not None:
            _check_objective(report, evidence["objective"], proven)
        check_ending(report, reason)
        check_sentence(report, sentence, f"Stopped without a proof: {reason}.")
        return
    check_keys(report, evidence, *FIGURES, *(["radius"] * (stated.strength > 0.0)))
    report.check("the evidence holds every figure of a gap", all(number(evidence.get(name)) for name in FIGURES))
    gap = float(stated_gap) if isinstance(stated_gap, int | float) else math.nan
    report.check("a gap is stated", math.isfinite(gap), f"{gap!r}")
    figures = {name: float(evidence[name]) for name in FIGURES}
    report.check("the tolerance in the evidence is that of the file", figures["tol"] == claims.tol)
    _check_objective(report, figures["objective"], proven)
    baseline = null_objective(span)
    _check_gap(report, gap, figures, proven, baseline, weak=kind == "budget")
    share = _check_relative(report, relative, gap, figures, proven)
    if stated.strength > 0.0:
        radius, stated_radius = math.sqrt(2.0 * gap / stated.strength), evidence.get("radius")
        near = number(stated_radius) and abs(stated_radius - radius) <= 1e-9 * radius
        report.check("the radius that holds the best function follows from the gap", near, f"{radius!r}")
    if kind == "optimal":
        words = "the tolerance is one by which something may be called optimal"
        report.check(words, 0.0 <= claims.tol <= LARGEST_TOL, f"{claims.tol!r}, at most {LARGEST_TOL!r}")
        report.check("the relative gap is within the tolerance", share <= claims.tol, f"{share!r}")
        check_reason(report, reason)
    else:
        report.check("the relative gap is above the tolerance, so the fit is unfinished", share > claims.tol)
        check_ending(report, reason)
    check_sentence(report, sentence, of_gap(str(kind), gap, share, reason))


def _check_objective(report: Report, stated: Any, proven: Bound) -> None:
    good = number(stated) and abs(stated - proven.objective) <= proven.allowance
    detail = f"{proven.objective!r}, stated {stated!r}, rounding {proven.allowance:.1e}"
    report.check("the objective at the coefficients is as stated", good, detail)


def _check_gap(
    report: Report, gap: float, figures: Mapping[str, float], proven: Bound, baseline: float, *, weak: bool
) -> None:
    """Compare a gap with the proven one: what is stated may be weaker, not stronger."""
    detail = f"{proven.gap!r} proven, stated {gap!r}"
    report.check("a gap can be proven", math.isfinite(proven.gap), detail)
    size = max(abs(proven.objective), baseline - proven.objective)
    own = GAP_SLACK_SHARE * size + min(proven.rounding, PROOF_ROUNDING_SHARE * size)
    report.check("the stated gap is not below the proven one", proven.gap <= gap + own, f"{detail}, slack {own:.1e}")
    room = (
        1e-6 * max(baseline - proven.objective, 0.0) + 2.0**-38 * abs(proven.objective) + proven.unit + proven.rounding
    )
    most = FACTOR * max(proven.weakest, proven.objective if weak else 0.0) + room  # no loss is below zero
    report.check("the stated gap is not far above the proven one", gap <= most, detail)
    lower = figures["objective"] - gap
    same = abs(lower - figures["lower_bound"]) <= 4 * EPS * max(abs(figures["objective"]), abs(gap))
    report.check("the lower bound is the objective less the gap", same, f"{lower!r}, stated {figures['lower_bound']!r}")
    near = abs(baseline - figures["null_objective"]) <= 1e-9 * abs(baseline)
    report.check(
        "the objective of the null fit is as stated", near, f"{baseline!r}, stated {figures['null_objective']!r}"
    )


def _check_relative(report: Report, relative: Any, gap: float, figures: Mapping[str, float], proven: Bound) -> float:
    """Check the gap's share of what there is to gain, 0 where doubles cannot see it; return it."""
    baseline = figures["null_objective"]
    gain = baseline - figures["lower_bound"]
    unit = FACTOR * proven.unit + 64 * EPS * abs(baseline)
    unseen = gap <= unit and (gap <= DEFAULT_TOL * gain or gain <= unit)
    share = math.inf if relative is None else float(relative) if number(relative) else math.nan
    expected = gap / gain if gain > 0.0 else math.inf
    good = share == expected or (gain > 0.0 and abs(share * gain - gap) <= 1e-9 * gap) or (unseen and share == 0.0)
    words = "the relative gap is the gap over what there is to gain"
    report.check(words, good, f"{expected!r}{' (or 0)' * unseen}, stated {share!r}")
    return share


def null_objective(span: Span) -> float:
    """Return F of the zero function, with the best constant where there is an intercept."""
    y, weight, loss = span.y, span.weight, span.loss
    if not span.intercept:
        return span.mean(span.losses(np.zeros((len(y), y.shape[1]))).value)
    shares = (weight @ y) / span.mass
    if loss.name == "squared":
        return span.mean(0.5 * np.sum((y - shares) ** 2, axis=1))
    if loss.name in ("logistic", "softmax"):
        odds = np.concatenate([shares, 1.0 - shares]) if loss.name == "logistic" else shares
        return float(-np.sum(odds * np.log(np.where(odds > 0.0, odds, 1.0))))
    if loss.name == "hinge":
        return 2.0 * float(min(shares[0], 1.0 - shares[0]))
    ends = np.concatenate([y[:, 0] - span.parameter, y[:, 0] + span.parameter])
    order = np.argsort(ends, kind="stable")
    rise = np.cumsum(np.concatenate([weight, weight])[order])
    # slopes: -S before all ends, rising by a weight at each
    near = int(np.searchsorted(rise, span.mass))
    tries = ends[order][max(near - 2, 0) : near + 3]
    return min(span.mean(span.losses(np.full_like(y, at)).value) for at in tries)
