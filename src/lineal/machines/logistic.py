"""Kernel logistic regression: Newton steps in the span of the kernels at the rows, for two classes or several.

With ``H = L L'`` the curvature of the weighted mean loss by the scores and ``a = L c``, a Newton step solves

    (strength 1 + L'K L) c = rho - L'b,   sum_i a_i = 0,   L rho = H eta - slope

whose matrix is at least ``strength`` however certain rows are. Two classes: one factor; several, whose curvatures are coupled
within rows: conjugate gradients. A step is halved until F falls.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.algebra import lapack
from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.losses.logistic import sigmoid
from lineal.problem.problem import EPS
from lineal.problem.span import SpanProblem

Array = npt.NDArray[np.float64]

MAX_STEPS = 100
"""Newton steps, which double the digits from about the fifth on."""

MAX_GRADIENTS = 1000
"""Conjugate gradients of one Newton step, at most."""

MAX_HALVINGS = 40
"""A step of a convex function that is cut this often has reached rounding."""


@dataclass(frozen=True)
class Point:
    """Coefficients (rows, outputs), intercepts, the scores ``K a`` without them, and F."""

    coef: Array
    intercept: Array
    scores: Array
    value: float


@dataclass(frozen=True)
class Root:
    """``L`` with ``L L'`` the curvature: ``diag(d)`` for two classes, ``diag(d) (1 - q q')`` within rows for several."""

    d: Array
    q: Array | None

    def times(self, x: Array) -> Array:
        """Return ``L x``."""
        return self.d * self._project(x)

    def transposed(self, x: Array) -> Array:
        """Return ``L' x``."""
        return self._project(self.d * x)

    def _project(self, x: Array) -> Array:
        return x if self.q is None else x - self.q * np.sum(self.q * x, axis=1, keepdims=True)


class Newton:
    """Steps on one problem, from zero coefficients and the best constant scores.

    >>> from lineal.kernels import Linear
    >>> from lineal.losses import Logistic
    >>> from lineal.machines.gram import KernelGram
    >>> gram, y = KernelGram(Linear(), Linear().points([[-1.0], [1.0]])), np.array([[0.0], [1.0]])
    >>> newton = Newton(SpanProblem(gram, Logistic(), y, np.ones(2), 0.25, True), gram.whole())
    >>> while newton.step(): pass
    >>> newton.at.coef.round(4).tolist(), abs(newton.at.intercept[0]) < 1e-9
    ([[-0.5213], [0.5213]], np.True_)
    """

    def __init__(self, problem: SpanProblem, matrix: Array) -> None:
        self.problem, self.matrix = problem, matrix
        n, k = len(problem.y), problem.loss.outputs
        start = np.zeros(k)
        if problem.intercept:
            start = problem.loss.constant(problem.loss.statistic(problem.y, problem.weight) / problem.weight_sum)
        zero = np.zeros((n, k))
        self.at = Point(zero, start, zero, problem.objective(zero, start, zero))
        self.steps = 0

    def step(self) -> bool:
        """Take a step; False where F does not fall any more.

        Coefficients of points whose kernels depend on each other are not the only ones of their function; those of a Newton
        step are the dual ones, which prove something, and they are kept where F is the same but for rounding.
        """
        _core.heed()
        if self.steps >= MAX_STEPS:
            return False
        coef, intercept = self._newton()
        scores, share = self.matrix @ coef, 1.0
        at = self.at
        whole = Point(coef, intercept, scores, self.problem.objective(coef, intercept, scores))
        for _ in range(MAX_HALVINGS):
            rest = 1.0 - share
            a, b = share * coef + rest * at.coef, share * intercept + rest * at.intercept
            f = share * scores + rest * at.scores
            value = self.problem.objective(a, b, f)
            if value < at.value:
                self.at = Point(a, b, f, value)
                self.steps += 1
                return True
            share *= 0.5
        if whole.value <= at.value * (1.0 + 4.0 * EPS):
            self.at = whole
        return False

    def _newton(self) -> tuple[Array, Array]:
        """Return where a whole Newton step leads."""
        problem, at = self.problem, self.at
        share = (problem.weight / problem.weight_sum)[:, None]
        eta = at.scores + at.intercept
        slope = share * problem.loss.slope(problem.y, eta)
        root = self._root(eta, share)
        safe = np.where(root.d > 0.0, root.d, 1.0)
        rho = root.transposed(eta) - np.where(root.d > 0.0, slope / safe, 0.0)
        solve = self._solver(root)
        plain = solve(rho)
        if not problem.intercept:
            return root.times(plain), np.zeros(eta.shape[1])
        ones = np.eye(eta.shape[1])[:, None, :] * np.ones((1, len(eta), 1))
        beside = [solve(root.transposed(one)) for one in ones]
        system = np.array([root.times(one).sum(axis=0) for one in beside]).T
        intercept = np.linalg.lstsq(system, root.times(plain).sum(axis=0), rcond=None)[0]
        inner = plain - sum(b * one for b, one in zip(intercept, beside, strict=True))
        return root.times(inner), intercept

    def _root(self, eta: Array, share: Array) -> Root:
        if not self.problem.loss.coupled:
            return Root(np.sqrt(share * sigmoid(eta) * sigmoid(-eta)), None)
        q = np.sqrt(self.problem.loss.mean(eta))
        return Root(np.sqrt(share) * q, q)

    def _solver(self, root: Root) -> Callable[[Array], Array]:
        """Return a function that divides by ``strength 1 + L'K L``."""
        strength = self.problem.strength
        if root.q is not None:
            return lambda right: self._conjugate(root, right)
        system = self.matrix * root.d * root.d.T
        system[np.diag_indices(len(system))] += strength
        upper, info = lapack.dpotrf(system, lower=0, clean=0, overwrite_a=1)
        if info != 0:
            raise InputError(
                "the kernel matrix is not positive semi-definite to rounding, and Newton's method needs it to be; use another "
                "kernel, or SVC, which ends at a stationary point."
            )
        return lambda right: np.asarray(lapack.dpotrs(upper, right, lower=0)[0])

    def _conjugate(self, root: Root, right: Array) -> Array:
        """Return the solution by conjugate gradients, to eleven digits."""
        x, rest = np.zeros_like(right), right.copy()
        way, size = rest.copy(), float(np.sum(rest * rest))
        goal = 1e-22 * size
        for _ in range(MAX_GRADIENTS):
            if size <= goal:
                break
            _core.heed()
            image = self.problem.strength * way + root.transposed(self.matrix @ root.times(way))
            curve = float(np.sum(way * image))
            if not curve > 0.0:
                break
            x, rest = x + size / curve * way, rest - size / curve * image
            size, before = float(np.sum(rest * rest)), size
            way = rest + size / before * way
        return x
