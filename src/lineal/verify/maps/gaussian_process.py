"""A Gaussian process: its mean is proven as that of a kernel machine, and its hyperparameters by the slopes of their likelihood.

``y = m + f + e``, f of covariance ``prior k(x, z)``, e of variance ``noise / s``, every m as likely as any other. With
``C = prior K + diag(noise / s)`` and ``P = C^-1 - C^-1 1 1'C^-1 / 1'C^-1 1`` the log likelihood is
``-(y'P y + log |C| + log 1'C^-1 1 + (n - 1) log 2 pi) / 2``, and its slope ``(y'P dC P y - tr(P dC)) / 2``; without an intercept
``P = C^-1``, and there is no ``log 1'C^-1 1``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array
from lineal.verify.claims.ground import field, number, texts
from lineal.verify.claims.training import Examples
from lineal.verify.evidence.sentences import check_sentence
from lineal.verify.maps import kernel, text_kernel
from lineal.verify.maps.claims import MapClaims
from lineal.verify.maps.kernel import Rows, Stated, check_claims, columns
from lineal.verify.maps.kernels import Falling
from lineal.verify.report import Report

__all__ = ["check", "columns"]

OWN: Final = ("noise", "prior", "intercept")
"""What the file states of the map beside the kernel and its rows."""
FOUND: Final = ("slope_norm", "log_likelihood", "gap", "relative_gap", "free", "ends")
"""What the evidence states of hyperparameters that were found."""
SLOPE_SHARE: Final = 1e-4
"""The norm of the slopes, as a share of the likelihood, up to which nothing more is to be found."""
LIKELIHOOD_SHARE: Final = 1e-6
"""How far two ways of computing a likelihood may lie apart."""
MOST_ROWS: Final = 6000
"""Rows whose covariance this checker inverts: a few matrices of 288 MB."""
REASON: Final = "the log marginal likelihood need not be concave, so other hyperparameters may be more likely"


def check(report: Report, claims: MapClaims, rows: Examples) -> None:
    """Check the training rows, the mean given the hyperparameters, and that these are as likely as is said."""
    given = {"map": dict(claims.parameters)}
    noise, prior = (field(given, f"map.{name}", float, int) for name in ("noise", "prior"))
    if not all(math.isfinite(value) and value > 0.0 for value in (noise, prior)):
        raise ModelFileError("the variances of a Gaussian process must be finite numbers above 0.")
    inner = _inner(claims)
    ground = text_kernel.check_ground if "input" in inner.parameters else kernel.check_ground
    stated, gathered = ground(report, inner, rows)
    n, kept = len(gathered.weight), len(stated.numbers)
    report.check("all training rows of positive weight are kept", kept == n, f"{kept} of {n} rows")
    weight = claims.arrays.get("weight")
    same = weight is not None and weight.dtype == np.float64 and np.array_equal(weight, gathered.weight)
    report.check("the weights in the file are those of the data", same, f"{n} weights")
    mean = claims.parameters["intercept"] is claims.intercept
    report.check("the mean is unknown where there is an intercept", mean, f"{claims.parameters['intercept']!r}")
    strength = noise / (prior * float(np.sum(gathered.weight)))
    near = abs(stated.strength - strength) <= 1e-12 * strength
    report.check("the strength is that of the variances", near, f"{strength!r}, stated {stated.strength!r}")
    report.check("the loss is the squared one", stated.loss.name == "squared")
    evidence = field({"verdict": dict(claims.verdict)}, "verdict.evidence", dict)
    if "slope_norm" not in evidence:
        check_claims(report, inner, stated, gathered)
        return
    given_them = _mean(report, claims, inner, evidence)
    check_claims(report, given_them, stated, gathered)
    _check_found(report, claims, stated, gathered, evidence, str(given_them.verdict["sentence"]))


def _inner(claims: MapClaims) -> MapClaims:
    """Return the claims of the kernel machine that the mean is."""
    parameters = {name: value for name, value in claims.parameters.items() if name not in OWN}
    if len(parameters) + len(OWN) != len(claims.parameters):
        raise ModelFileError("the feature map of a Gaussian process must state noise, prior and intercept.")
    arrays = {name: array for name, array in claims.arrays.items() if name != "weight"}
    return replace(claims, parameters=parameters, arrays=arrays)


def _mean(report: Report, claims: MapClaims, inner: MapClaims, evidence: Mapping[str, Any]) -> MapClaims:
    """Return the claims with the verdict on the mean given the hyperparameters, which must be that it is optimal."""
    own = {name: value for name, value in evidence.items() if name not in FOUND}
    sentence = str(claims.verdict.get("sentence"))
    sentence = sentence[max(sentence.find("Optimal: "), 0) :]
    found = {"gap": evidence.get("gap"), "relative_gap": evidence.get("relative_gap")}
    report.check("no gap is claimed of the hyperparameters", claims.verdict.get("gap") is None)
    report.check("no relative gap is claimed of them", claims.verdict.get("relative_gap") is None)
    verdict = {"kind": "optimal", "sentence": sentence, **found, "evidence": own, "reason": None}
    return replace(inner, verdict=verdict)


def _check_found(
    report: Report, claims: MapClaims, stated: Stated, rows: Rows, evidence: Mapping[str, Any], mean: str
) -> None:
    """Check the likelihood of the hyperparameters, its slopes, and the sentence."""
    given = {"evidence": dict(evidence)}
    free, ends = texts(given, "evidence.free"), texts(given, "evidence.ends")
    bends = isinstance(stated.kernel, Falling)
    known = {"noise", "prior", "gamma"} if bends else {"noise", "prior"}
    right = bool(free) and set(ends) <= set(free) <= known and len({*free}) == len(free) and len({*ends}) == len(ends)
    report.check("what was searched for are hyperparameters of this kernel", right, ", ".join(free))
    figures = [evidence.get(name) for name in ("slope_norm", "log_likelihood")]
    if not all(number(value) for value in figures):
        raise ModelFileError("the slope and the likelihood in the evidence must be numbers.")
    slope, value = float(figures[0] or 0.0), float(figures[1] or 0.0)
    likelihood, slopes = _likelihood(claims, stated, rows)
    size = max(1.0, abs(likelihood))
    near = abs(likelihood - value) <= LIKELIHOOD_SHARE * size
    report.check("the log likelihood is as stated", near, f"{likelihood!r}, stated {value!r}")
    inside = math.sqrt(sum(slopes[name] ** 2 for name in free if name in slopes and name not in ends)) / size
    detail = f"{inside!r}, stated {slope!r}"
    room = 0.01 * slope + LIKELIHOOD_SHARE
    report.check("the slopes of the log likelihood are as stated", abs(inside - slope) <= room, detail)
    kind = claims.verdict.get("kind")
    if kind == "stationary":
        good = slope <= SLOPE_SHARE and inside <= SLOPE_SHARE + room
        report.check("there is no slope in the hyperparameters", good, detail)
        report.check("the reason is the one of such a likelihood", claims.verdict.get("reason") == REASON)
        bounded = f", but in {' and '.join(ends)}, at the end of what is tried" if ends else ""
        words = (
            f"Stationary: the log marginal likelihood has no slope in the hyperparameters{bounded} (norm {slope:.2g} of its "
            f"size); that makes them a local optimum, which may not be the only one. Given them: {mean}"
        )
    else:
        report.check("the verdict is one of hyperparameters", kind == "budget" and slope > SLOPE_SHARE, f"{kind!r}")
        stopped = str(claims.verdict.get("reason"))
        words = f"Stopped without a maximum: {stopped}. {mean}"
        expected = f"the search for hyperparameters ended where the likelihood still has a slope (norm {slope:.2g} of its size)"
        report.check("the reason is the slope that is left", stopped == expected, repr(stopped))
    check_sentence(report, str(claims.verdict.get("sentence")), words)


def _likelihood(claims: MapClaims, stated: Stated, rows: Rows) -> tuple[float, dict[str, float]]:
    """Return the log likelihood of the targets, and its slopes by the logarithms of the hyperparameters."""
    noise, prior = (float(claims.parameters[name]) for name in ("noise", "prior"))
    n, share = len(rows.weight), 1.0 / rows.weight
    if n > MOST_ROWS:
        raise ModelFileError(
            f"the likelihood of {n} rows needs several matrices of so many rows and columns, and this checker makes those of "
            f"{MOST_ROWS} rows at most."
        )
    matrix = stated.kernel.between(rows.points, rows.points)[0]
    c = prior * 0.5 * (matrix + matrix.T)
    c[np.diag_indices(n)] += noise * share
    sign, size = np.linalg.slogdet(c)
    p = np.linalg.inv(c)
    level = float(rows.y[:, 0] @ rows.weight) / float(np.sum(rows.weight)) if claims.intercept else 0.0
    value = -0.5 * (size + (n - claims.intercept) * math.log(2.0 * math.pi))
    if claims.intercept:
        ones = p.sum(axis=1)
        p -= np.outer(ones, ones) / ones.sum()
        value -= 0.5 * math.log(ones.sum())
    y: Array = rows.y[:, 0] - level
    coef = p @ y
    value = float(value - 0.5 * (y @ coef)) if sign > 0.0 else math.nan
    bent = matrix * np.log(np.where(matrix > 0.0, matrix, 1.0)) if isinstance(stated.kernel, Falling) else 0.0 * matrix
    slopes = {
        "noise": 0.5 * noise * float(share @ (coef**2 - np.diagonal(p))),
        "prior": 0.5 * prior * (float(coef @ matrix @ coef) - float(np.sum(p * matrix))),
        "gamma": 0.5 * prior * (float(coef @ bent @ coef) - float(np.sum(p * bent))),
    }
    return value, slopes
