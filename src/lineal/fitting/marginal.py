"""The log-evidence of a ridge as a function of two precisions, its slope, and how well rounding lets it be known."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lineal import _core
from lineal.algebra.doubled import UNIT, Doubled
from lineal.algebra.spectrum import Spectrum, decomposed, resolved
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline
from lineal.ground.records import dataclass
from lineal.problem.problem import EPS, Problem

Pair = tuple[float, float]
Free = tuple[bool, bool]
Hyper = tuple[float, float, float, float]

WEIGHT_UNIT = 1e7
"""Slopes by the noise count per this weight where there is more: a noise that is a double has no slope below EPS S."""


class Point(NamedTuple):
    """The log-evidence at a pair (log alpha, log lambda), and what is known there."""

    logs: Pair
    value: float
    slope: Pair
    bend: tuple[float, float, float]
    """Its second derivatives: by log alpha twice, by both, by log lambda twice."""
    degrees: float
    """How many penalized coefficients the data determine."""
    again: Pair
    """MacKay's next pair: each precision as its slope would be zero with the other terms as they are."""
    units: float
    """How many times WEIGHT_UNIT the weights are, at least one."""

    def norm(self, free: Free) -> float:
        """Return the size of the slope by what is free, that by the noise per WEIGHT_UNIT."""
        return math.hypot(self.slope[0] / self.units if free[0] else 0.0, self.slope[1] if free[1] else 0.0)


@dataclass(frozen=True)
class Curve:
    """The log-evidence as a function of (log alpha, log lambda), after one eigendecomposition."""

    gram: Doubled
    """X'SX of the penalized columns, the unpenalized ones projected out, in units in which all penalty factors are 1."""
    right: Doubled
    """The target's products with the same."""
    square: Doubled
    """Its own square."""
    far: float
    """The target's length before the unpenalized columns were projected out, in units in which entry_error is its error, too."""
    entry_error: float
    """Relative error of the gram's entries, as shares of their diagonal."""
    spectrum: Spectrum
    residual: float
    """Residual sum of squares of least squares."""
    vague: float
    """A bound on its error, where it is not that of the gram."""
    torn: float
    """What eigenvectors explain of the target that were taken for null vectors, though least squares made use of them."""
    total: float
    hyper: Hyper

    @staticmethod
    def of(problem: Problem, penalty_factors: Array, hyper: Hyper, deadline: Deadline | None = None) -> Curve:
        """Project the unpenalized columns out of the gram of [X y], in double-double, and decompose the rest."""
        normal = problem.normal
        if normal is None:
            raise InputError(f"{problem.shape[0]} columns are too many for the evidence, which needs their gram.")
        scale = normal.scale[:, None] * normal.scale
        gram = Doubled(normal.gram.high / scale, normal.gram.low / scale)
        penalized, before = penalty_factors > 0.0, np.diagonal(gram.high)
        for j in np.flatnonzero(~penalized):
            _core.heed()
            gram = _eliminated(gram, int(j))
        keep = np.flatnonzero(penalized)
        unit = 1.0 / np.sqrt(penalty_factors[keep])
        matrix = gram[np.ix_(keep, keep)] * Doubled.of(unit[:, None]) * Doubled.of(unit)
        right = gram[keep, -1] * Doubled.of(unit)
        left = np.diagonal(gram.high)[keep]
        # what is small beside what was taken off it has the error of that
        share = float(np.max(before[keep][left > 0.0] / left[left > 0.0], initial=1.0))
        entry_error = normal.chain * UNIT * share
        residual, vague = max(float(normal.residual_squares()[0]), 0.0), float(normal.residual_doubt()[0])
        square, spectrum = gram[-1, -1], decomposed(matrix, right, entry_error, deadline)
        present = spectrum.values > 0.0
        explained = float(np.sum(spectrum.products[present] ** 2 / spectrum.values[present]))
        torn = abs(float(square.round()) - explained - residual) if spectrum.missed > 0.0 else 0.0
        far = math.sqrt(float(before[-1]) / share)
        return Curve(
            matrix, right, square, far, entry_error, spectrum, residual, vague, torn, problem.moments.weight_sum, hyper
        )

    def resolved(self) -> Curve:
        """Return the same from eigenvalues found with more digits."""
        # The residual may come out below zero: the products are off by as much the other way, and their sum is not.
        spectrum, residual = resolved(self.gram, self.right, self.square, self.entry_error)
        return replace(self, spectrum=spectrum, residual=residual, vague=0.0, torn=0.0)

    @property
    def units(self) -> float:
        """How many times WEIGHT_UNIT the weights are, at least one."""
        return max(1.0, self.total / WEIGHT_UNIT)

    @property
    def baseline(self) -> float:
        """Sum of squares of what the unpenalized columns leave."""
        return float(self.square.round())

    @property
    def eigenvalues(self) -> Array:
        """The eigenvalues of the gram; zero where columns depend."""
        return self.spectrum.values

    @property
    def target(self) -> Array:
        """The target's products with the eigenvectors."""
        return self.spectrum.products

    @cached_property
    def held(self) -> Array:
        """The eigenvalues, and 1 where there is none."""
        return np.where(self.eigenvalues > 0.0, self.eigenvalues, 1.0)

    def at(self, logs: Pair) -> Point:
        """Return the log-evidence (scikit-learn's score, with the hyperpriors' terms) and its derivatives."""
        alpha, lam = math.exp(logs[0]), math.exp(logs[1])
        alpha_1, alpha_2, lambda_1, lambda_2 = self.hyper
        precision = alpha * self.eigenvalues + lam
        coef, kept, rest = alpha * self.target / precision, alpha * self.eigenvalues / precision, lam / precision
        degrees, size = float(np.add.reduce(kept)), float(coef @ coef)
        # RSS = RSS of least squares + sum d (b - q/d)^2, and b - q/d = -lambda q / (d (alpha d + lambda))
        lack = rest * self.target
        squares = max(self.residual + float(lack @ (lack / self.held)), 0.0)
        value = lambda_1 * logs[1] - lambda_2 * lam + alpha_1 * logs[0] - alpha_2 * alpha
        value += 0.5 * (len(coef) * logs[1] + self.total * (logs[0] - math.log(2.0 * math.pi)))
        value -= 0.5 * (alpha * squares + lam * size + float(np.add.reduce(np.log(precision))))
        # by log alpha, kept changes by kept rest, and lam size / 2 by what alpha squares / 2 loses: lam sum b^2 rest
        moved, traded = 0.5 * float(kept @ rest), lam * float((coef * rest) @ coef)
        return Point(
            logs,
            value,
            (
                0.5 * (self.total - degrees - alpha * squares) + alpha_1 - alpha_2 * alpha,
                0.5 * (degrees - lam * size) + lambda_1 - lambda_2 * lam,
            ),
            (
                traded - moved - 0.5 * alpha * squares - alpha_2 * alpha,
                moved - traded,
                traded - moved - 0.5 * lam * size - lambda_2 * lam,
            ),
            degrees,
            (
                _log((self.total - degrees + 2.0 * alpha_1), squares + 2.0 * alpha_2),
                _log(degrees + 2.0 * lambda_1, size + 2.0 * lambda_2),
            ),
            self.units,
        )

    def slope_error(self, logs: Pair, free: Free) -> float:
        """Return a bound on the error of the slope by what is free, to first order in the error E of the gram G.

        With ``|v'Ev| <= e v'Gv`` the degrees, ``sum kept``, are off by at most ``e sum kept rest``, and b by some c with
        ``P c = alpha E (b, y)``, where ``P = alpha G + lambda``: so ``lambda |b|^2`` and ``alpha RSS``, whose slope by b is
        ``-2 lambda b``, by ``2 alpha lambda |P^-1 b|_G e (|b|_G + |y|)``. Where ``|v'Ev| <= w v'v`` says less, it is used.
        """
        alpha, lam, spectrum = math.exp(logs[0]), math.exp(logs[1]), self.spectrum
        precision = alpha * self.eigenvalues + lam
        coef, kept, rest = alpha * self.target / precision, alpha * self.eigenvalues / precision, lam / precision
        turned, length = coef / precision, math.sqrt(max(self.baseline, 0.0))
        lack = math.sqrt(float(np.sum((rest * self.target) ** 2 / self.held)))
        fitted, along = (math.sqrt(float(self.eigenvalues @ v**2)) for v in (coef, turned))
        # the square root of what |E| is along b and y, and along P^-1 b
        spread, loose = math.sqrt(spectrum.vague), math.sqrt(spectrum.loose)
        moved = min(spread * math.sqrt(float(coef @ coef)), loose * fitted) + math.sqrt(self.entry_error) * max(
            self.far, length
        )
        across = min(spread * math.sqrt(float(turned @ turned)), loose * along)
        both = float(np.sum(kept * rest * (spectrum.fine + np.minimum(spectrum.loose, spectrum.vague / self.held))))
        both += 2.0 * alpha * lam * (spectrum.fine * along * (fitted + length) + across * moved)
        both += alpha * spectrum.missed / lam * (1.0 + alpha * length**2)
        squares = spectrum.fine * lack * (4.0 * length + lack) + moved**2 + self.vague + self.torn
        rounded = 8.0 * EPS * (len(coef) + lam * float(coef @ coef) + self.hyper[3] * lam)
        heavy = 8.0 * EPS * (self.total + alpha * (abs(self.residual) + lack**2) + self.hyper[1] * alpha)
        first, second = 0.5 * (both + alpha * squares) + rounded + heavy, 0.5 * both + rounded
        return math.hypot(first / self.units if free[0] else 0.0, second if free[1] else 0.0)


def _log(above: float, below: float) -> float:
    """Return the log of a ratio whose terms may have vanished."""
    return math.log(max(above, 1e-300)) - math.log(max(below, 1e-300))


def _eliminated(gram: Doubled, j: int) -> Doubled:
    """Return the gram of what column j cannot explain of the others; its own row and column become zero."""
    pivot = gram[j, j]
    if not pivot.high > 0.0:
        return gram
    guess = Doubled.of(1.0 / pivot.high)
    reciprocal = guess * (Doubled.of(2.0) + -(pivot * guess))
    row = gram[j]
    left = gram + -row[:, None].times((row * reciprocal)[None, :])
    for part in (left.high, left.low):
        part[j, :] = 0.0
        part[:, j] = 0.0
    return left
