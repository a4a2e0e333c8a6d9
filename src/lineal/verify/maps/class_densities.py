"""Generative models: everything is counted again, in whole numbers, and the scores are made from it by formulas of this file.

Naive Bayes: ``log p(k)`` plus, for a category, ``log (N_kl + alpha) / (N_k + alpha L)`` of its level l of L; for a text the same
of each of its words, times how often it occurs; for a number ``log N(x; m_k, v_k + share v)``. Discriminant analysis:
``log p(k) - 1/2 |T_k' (x - m_k)|^2 - 1/2 log |C_k|`` with ``T_k' C_k T_k = I``, or with one C for all classes.
Estimators of counts are in ``shares``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array
from lineal.verify.claims.training import Examples
from lineal.verify.evidence.sentences import check_keys, check_sentence, count
from lineal.verify.maps.claims import MapClaims
from lineal.verify.maps.exact_moments import ClassTotals, Moments, totals
from lineal.verify.maps.shares import Found, bernoulli, categorical, complement, logs, multinomial, option, priors
from lineal.verify.report import Report
from lineal.verify.terms import names as term_names

CLOSE: Final = 1e-10
"""How far logarithms of counted shares may be off, by the rounding of a few operations."""
CLOSE_IN_DEVIATIONS: Final = 1e-6
"""How far what is made of covariances may be off, in standard deviations of a score."""
CATEGORIES: Final = ("category", "merged", "hashed")
AS_READ: Final = ("number", "boolean", *CATEGORIES, "written", "ordinal")
"""Terms whose columns are cells as they are read; others are computed, and may differ in their last digits."""
COMPUTED_ROUNDING: Final = 1e-12
"""How far moments of computed columns may be off, as a share of the root mean square of a column."""


@dataclass(frozen=True)
class Layout:
    """Places among the inputs: numbers with their markers, ranges of levels and of words, columns of yes and no."""

    numbers: list[int]
    markers: list[int]
    levels: list[tuple[int, int, bool]]
    switches: list[tuple[int, int, float]]
    words: list[tuple[int, int]]


def columns(claims: MapClaims) -> list[str]:
    """Return the names of the inputs that stay columns, then of the densities."""
    if claims.plain:
        return claims.columns[int(claims.intercept) :]
    members = ("inputs", "classes", "numbers", "markers")
    given = claims.parameters
    if set(given) != set(members) or not all(isinstance(given[name], list) for name in members):
        raise ModelFileError("the feature map of the model file must hold inputs, classes, numbers and markers.")
    inputs, numbers = given["inputs"], given["numbers"]
    if not all(type(place) is int and 0 <= place < len(inputs) for place in numbers):
        raise ModelFileError("the numbers of the feature map must be places of its inputs.")
    kept = [name for place, name in enumerate(inputs) if place not in set(numbers)]
    return [*kept, *(f"log density in {label}" for label in given["classes"] if numbers)]


def check(report: Report, claims: MapClaims, rows: Examples) -> None:
    """Count the training rows again, and compare everything that follows from the counts."""
    verdict = claims.verdict
    evidence = verdict.get("evidence")
    report.check("the verdict is exact", verdict.get("kind") == "exact" and isinstance(evidence, dict))
    assert isinstance(evidence, dict)
    bare = verdict.get("gap") is None and verdict.get("relative_gap") is None and verdict.get("reason") is None
    report.check("an exact verdict has no gap and no reason", bare)
    classes = [str(label) for label in claims.classes or ()]
    two, several = (
        claims.loss == {"name": "logistic", "outputs": 1},
        claims.loss == {"name": "softmax", "outputs": len(classes)},
    )
    report.check("the loss is that of the classes", two if len(classes) == 2 else several, f"{len(classes)} classes")
    report.check("there is no penalty", claims.penalty.get("name") == "none", str(claims.penalty.get("name")))
    method = evidence.get("method")
    allowed = {"center"} if method == "lda" else set()
    report.check("there are no arrays that are not checked", set(claims.kept) == allowed, ", ".join(claims.kept))
    given = claims.parameters
    named = claims.plain or (given["inputs"] == claims.columns[1:] and given["classes"] == classes)
    report.check("the scores are of the columns and the classes of the model", claims.intercept and named)
    checks = LINEAR if claims.plain else DENSITIES
    report.check("the method is one that this checker knows for such columns", method in checks, str(method))
    every, layout = list(range(len(claims.columns) - 1)), _layout(claims)
    pair = (layout.numbers, layout.markers) if method == "naive-bayes" else (every, [-1] * len(every))
    pair = ([], []) if method in COUNTS else pair
    counts = totals(rows, len(classes), *pair)
    stated = evidence.get("class_weight")
    weights = [float(weight) for weight in counts.weight]
    report.check("the weights of the classes are those of the rows", stated == weights, f"{weights}")
    scores, more, keys = checks[str(method)](report, claims, evidence, rows, counts)
    check_keys(report, evidence, "method", "class_weight", *keys)
    coef = scores[:, 1:] - scores[:, :1] if len(classes) == 2 else scores
    if method != "lda":  # which are compared in standard deviations
        off = np.abs(coef - claims.coef) if coef.shape == claims.coef.shape else np.array(np.inf)
        close = off <= CLOSE * np.maximum(1.0, np.max(np.abs(scores), axis=1)[:, None]) if off.ndim else np.array(False)
        report.check(
            "the coefficients are those of the counts", bool(np.all(close)), f"off by {float(np.max(off)):.1e}"
        )
    counted = f"{count(rows.rows, 'row')} of {count(len(classes), 'class', 'classes')}"
    made = f"Exact: counted from {counted}{more}; nothing was optimized."
    check_sentence(report, str(verdict.get("sentence")), made)


def _layout(claims: MapClaims) -> Layout:
    layout = Layout([], [], [], [], [])
    at = 0
    for term in claims.terms:
        stop = at + len(term_names(term))
        marker = stop - 1 if term.get("indicator") else -1
        if term["kind"] == "text":
            layout.words.append((at, stop))
        elif term["kind"] in CATEGORIES:
            layout.levels.append((at, stop, term.get("reference") is not None))
        elif term["kind"] == "boolean":
            layout.switches.append((at, marker, float(term["fill"])))
        else:
            for place in range(at, stop if marker < 0 else marker):
                layout.numbers.append(place)
                layout.markers.append(marker)
        at = stop
    return layout


def _naive_bayes(
    report: Report, claims: MapClaims, evidence: Mapping[str, Any], _rows: Examples, counted: ClassTotals
) -> Found:
    layout = _layout(claims)
    given = {"numbers": [], "markers": [], **claims.parameters}
    same = given["numbers"] == layout.numbers and given["markers"] == layout.markers
    report.check("densities are of the numbers, where these are not missing", same, f"{len(layout.numbers)} numbers")
    alpha, share = option(report, evidence, "alpha", 0.0), option(report, evidence, "variance", 0.0)
    classes, width = len(counted.weight), len(claims.columns) - 1
    weights, base = np.zeros((width, classes)), np.log(np.array([float(w) for w in counted.weight]))
    base -= math.log(float(sum(counted.weight)))
    for k in range(classes):
        whole = counted.weight[k]
        levels = [*layout.levels, *((m, m + 1, True) for m in sorted({m for m in layout.markers if m >= 0}))]
        for start, stop, referred in levels:
            seen = counted.sums[k][start:stop]
            each = logs([*seen, whole - sum(seen)] if referred else seen, alpha)
            less = each[-1] if referred else 0.0
            weights[start:stop, k] = [log - less for log in each[: stop - start]]
            base[k] += less
        for place, marker, fill in layout.switches:
            gone = counted.sums[k][marker] if marker >= 0 else Fraction(0)
            ones = counted.sums[k][place] - Fraction(fill) * gone
            each = logs([whole - ones - gone, ones, *([gone] if marker >= 0 else [])], alpha)
            weights[place, k] = each[1] - each[0]
            base[k] += each[0]
            if marker >= 0:
                weights[marker, k] = each[2] - each[0] - fill * weights[place, k]
        for start, stop in layout.words:
            weights[start:stop, k] = logs(counted.sums[k][start:stop], alpha)
    moments = counted.moments(layout.numbers, layout.markers)
    variance = moments.variance + share * moments.spread if layout.numbers else moments.variance
    if layout.numbers:
        _check_moments(report, claims, layout.numbers, moments, {"variance": variance})
    kept = [place for place in range(width) if place not in set(layout.numbers)]
    densities = [np.eye(classes)] if layout.numbers else []
    return np.vstack([base[None, :], weights[kept], *densities]), "", ("alpha", "variance")


def _gaussian(
    report: Report, claims: MapClaims, evidence: Mapping[str, Any], _rows: Examples, counted: ClassTotals
) -> Found:
    """Return scores of normal densities of all columns; variances have a share of the largest of a column."""
    classes, places = len(counted.weight), list(range(len(claims.columns) - 1))
    _check_places(report, claims, places)
    share, (prior, more) = option(report, evidence, "variance", 0.0), priors(report, evidence, counted.weight)
    moments = counted.moments(places, [-1] * len(places))
    added = float(share * np.max(moments.spread, initial=0.0))
    _check_moments(report, claims, places, moments, {"variance": moments.variance + added})
    return np.vstack([np.log(prior)[None, :], np.eye(classes)]), "", ("variance", *more)


def _check_places(report: Report, claims: MapClaims, places: list[int]) -> None:
    given = claims.parameters
    same = given["numbers"] == places and given["markers"] == [-1] * len(places)
    report.check("densities are of all columns", same)


def _check_moments(
    report: Report, claims: MapClaims, places: list[int], moments: Moments, others: Mapping[str, Array]
) -> None:
    """Check that the map holds these moments and nothing else: to the last bit, where columns are cells as they are read."""
    wanted = {"mean": moments.mean, "low": moments.low, **others}
    report.check(
        "the map holds the moments of the classes", set(claims.arrays) == set(wanted), ", ".join(claims.arrays)
    )
    computed = _computed(claims)[places]
    size = np.sqrt(moments.variance + moments.mean**2)
    slack = {"mean": size, "low": size, "variance": size**2}
    for name in (one for one in NAMES if one in wanted):
        array, given = wanted[name], claims.arrays[name]
        same = given.shape == array.shape and bool(
            np.all(np.abs(given - array) <= np.where(computed, COMPUTED_ROUNDING * slack[name], 0.0))
        )
        rounded = f", {count(int(computed.sum()), 'column')} up to rounding" if np.any(computed) else ""
        report.check(f"every {NAMES[name]} is the double next to the exact one", same, f"{array.size} numbers{rounded}")


def _computed(claims: MapClaims) -> npt.NDArray[np.bool_]:
    """Return which inputs are computed, such as words by tf-idf, and not cells as they are read."""
    read = [np.full(len(term_names(term)), term["kind"] not in AS_READ) for term in claims.terms]
    return np.concatenate([np.zeros(0, dtype=bool), *read])


NAMES: Final = {
    "mean": "mean",
    "low": "rest of a mean",
    "variance": "variance, with its share,",
}


def _covariances(report: Report, evidence: Mapping[str, Any], rows: Examples, moments: Moments) -> Array:
    """Return the covariances of the classes about their exact means, shrunk as stated."""
    share = option(report, evidence, "shrinkage", -1.0)
    classes, width = moments.mean.shape
    matrix, quartic = np.zeros((classes, width, width)), np.zeros(classes)
    sd = np.where(moments.variance > 0.0, np.sqrt(moments.variance), 1.0)
    for block in rows.store:
        for k in range(classes):
            own = block["target"][:, 0] == k
            z = (block["x"][own][:, 1:] - moments.mean[k]) - moments.low[k]
            matrix[k] += np.einsum("i,ij,il->jl", block["weight"][own], z, z)
            quartic[k] += block["weight"][own] @ np.sum((z / sd[k]) ** 2, axis=1) ** 2
    for k, weight in enumerate(moments.weight):
        matrix[k] = _shrunk(matrix[k] / weight, quartic[k] / weight, weight, share, sd[k])
    return matrix


def _shrunk(matrix: Array, quartic: float, weight: float, share: float, sd: Array) -> Array:
    p = len(matrix)
    if share < 0.0:
        inner = matrix / np.outer(sd, sd)
        level, squares = float(np.trace(inner)) / p, float(np.sum(inner**2))
        far, noise = squares - p * level**2, (quartic - squares) / weight
        share = 0.0 if p == 1 or min(far, noise) <= 0.0 else min(far, noise) / far
        return ((1.0 - share) * inner + share * level * np.eye(p)) * np.outer(sd, sd)
    return (1.0 - share) * matrix + share * float(np.trace(matrix)) / p * np.eye(p)


def _linear(
    report: Report, claims: MapClaims, evidence: Mapping[str, Any], rows: Examples, counted: ClassTotals
) -> Found:
    classes, width = len(counted.weight), len(claims.columns) - 1
    moments = counted.moments(list(range(width)), [-1] * width)
    center = claims.kept["center"]
    fine = center.dtype == np.float64 and center.shape == (width + 1,) and bool(np.all(np.isfinite(center)))
    report.check("the center has a number for every column, zero for the intercept", fine and center[0] == 0.0)
    center = center[1:]
    slack = np.where(_computed(claims), COMPUTED_ROUNDING * np.max(np.abs(moments.mean), axis=0), 0.0)
    inside = np.all((center >= moments.mean.min(axis=0) - slack) & (center <= moments.mean.max(axis=0) + slack))
    report.check("the center is between the means of the classes", bool(inside))
    prior, more_keys = priors(report, evidence, counted.weight)
    pooled = evidence.get("pooled", "prior")
    report.check("covariances are pooled by rows or by priors", pooled in ("rows", "prior"), f"{pooled!r}")
    shares = prior if pooled == "prior" else moments.weight / np.sum(moments.weight)
    matrix = np.tensordot(shares, _covariances(report, evidence, rows, moments), axes=1)
    cut = option(report, evidence, "cut", 0.0) if "cut" in evidence else 0.0
    sd = np.sqrt(np.diag(matrix))
    sd = np.where(sd > 0.0, sd, 1.0)
    values, axes = np.linalg.eigh(matrix / np.outer(sd, sd))
    kept = values > max(64.0 * 2.0**-52 * width * max(float(values[-1]), 0.0), cut)
    rank = int(kept.sum())
    report.check("the rank is that of the covariance", evidence.get("rank") == rank, f"{rank} of {width} columns")
    inverse = (axes[:, kept] / values[kept]) @ axes[:, kept].T / np.outer(sd, sd)
    apart = (moments.mean - center) + moments.low
    coef = inverse @ apart.T
    level = np.log(prior) - 0.5 * np.einsum("kj,jk->k", apart, coef)
    if classes == 2:
        coef, level = coef[:, 1:] - coef[:, :1], level[1:] - level[:1]
    scores = np.vstack([level[None, :], coef])
    off = claims.coef - scores if claims.coef.shape == scores.shape else np.full(scores.shape, np.inf)
    with np.errstate(invalid="ignore"):
        spread = np.sqrt(np.maximum(np.einsum("jk,jl,lk->k", off[1:], matrix, off[1:]), 0.0)) + np.abs(off[0])
    size = 1.0 + np.sqrt(np.einsum("jk,jl,lk->k", coef, matrix, coef)) + np.abs(level)
    fine = bool(np.all(spread <= CLOSE_IN_DEVIATIONS * size))
    # along directions in which nothing varies, scores must not move either
    flat = axes[:, ~kept].T @ (off[1:] * sd[:, None])
    fine = fine and bool(np.all(np.abs(flat) <= CLOSE_IN_DEVIATIONS * np.max(np.abs(coef * sd[:, None]), initial=1.0)))
    report.check("the coefficients are those of means and covariance", fine, "in standard deviations of the scores")
    lost = width - rank
    more = f"; {lost} direction{'s' if lost > 1 else ''} without variance within the classes left out" if lost else ""
    stated = tuple(name for name in ("cut", "pooled") if name in evidence)
    return scores, more, ("shrinkage", "rank", *stated, *more_keys)


def _quadratic(
    report: Report, claims: MapClaims, evidence: Mapping[str, Any], rows: Examples, counted: ClassTotals
) -> Found:
    classes, width = len(counted.weight), len(claims.columns) - 1
    _check_places(report, claims, list(range(width)))
    moments = counted.moments(list(range(width)), [-1] * width)
    stated = {name: claims.arrays.get(name, np.zeros(0)) for name in ("whitening", "log_determinant")}
    shaped = stated["whitening"].shape == (classes, width, width) and stated["log_determinant"].shape == (classes,)
    report.check("the map holds a whitening of every class", shaped)
    _check_moments(report, claims, list(range(width)), moments, stated)
    worst, apart = 0.0, 0.0
    share = option(report, evidence, "reg_param", 0.0) if "reg_param" in evidence else 0.0
    for k, own in enumerate(_covariances(report, evidence, rows, moments)):
        matrix = (1.0 - share) * own + share * np.eye(width)
        sd = np.sqrt(np.diag(matrix))
        transform = stated["whitening"][k] * sd[:, None]
        correlation = matrix / np.outer(sd, sd)
        worst = max(worst, float(np.max(np.abs(transform.T @ correlation @ transform - np.eye(width)))))
        size = float(np.linalg.slogdet(correlation)[1]) + 2.0 * float(np.sum(np.log(sd)))
        apart = max(apart, abs(size - float(stated["log_determinant"][k])))
    report.check("each whitening turns its covariance into one", worst <= CLOSE_IN_DEVIATIONS, f"off by {worst:.1e}")
    report.check(
        "each determinant is that of its covariance", apart <= CLOSE_IN_DEVIATIONS * width, f"off by {apart:.1e}"
    )
    prior, more = priors(report, evidence, counted.weight)
    ridged = ("reg_param",) if "reg_param" in evidence else ()
    return np.vstack([np.log(prior)[None, :], np.eye(classes)]), "", ("shrinkage", *ridged, *more)


Check = Callable[[Report, MapClaims, Mapping[str, Any], Examples, ClassTotals], Found]
COUNTS: Final[Mapping[str, Check]] = {
    "multinomial": multinomial,
    "complement": complement,
    "bernoulli": bernoulli,
    "categorical": categorical,
}
LINEAR: Final[Mapping[str, Check]] = {**COUNTS, "naive-bayes": _naive_bayes, "lda": _linear}
"""Methods whose scores are sums of columns as they are."""
DENSITIES: Final[Mapping[str, Check]] = {"naive-bayes": _naive_bayes, "gaussian": _gaussian, "qda": _quadratic}
"""Methods with log densities among the columns."""
