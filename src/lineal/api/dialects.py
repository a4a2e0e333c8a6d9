"""Other people's words for the one objective: their C and alpha are our strength, their solvers' names are hints.

    F(b) = (1/S) sum_i s_i loss(y_i, eta_i) + (strength/2) |b|^2,        S = sum_i s_i

is what lineal minimises. A dialect writes the same minimiser with another normalisation; multiplying its objective by
a constant until the loss is a weighted mean shows the strength. The same numbers hold for l1: strength |b|_1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Literal

from lineal.api.options import read_solver
from lineal.errors import InputError, near
from lineal.ground.records import dataclass
from lineal.solvers import BY_NAME
from lineal.solvers.solver import Solver

SOLVERS: Final = (
    "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga",
    "svd", "cholesky", "lsqr", "sparse_cg",
    "highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex",
)  # fmt: skip
"""scikit-learn's names of solvers. To an estimator each means: give me this optimum."""


@dataclass(frozen=True)
class Scale:
    """What a conversion depends on: number of rows n, sum of weights S (n unless given), a spread where one is needed.

    >>> Scale(10).total, Scale(10, 25.0).total
    (10.0, 25.0)
    """

    n: float
    weight_sum: float | None = None
    spread: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("n", self.n), ("the sum of weights", self.weight_sum), ("the spread", self.spread)):
            if value is not None and not (math.isfinite(value) and value > 0.0):
                raise InputError(f"{name} is {value}; it must be a finite number above 0.")

    @property
    def total(self) -> float:
        """The sum of weights, S."""
        return float(self.n if self.weight_sum is None else self.weight_sum)


@dataclass(frozen=True)
class Dialect:
    """One way to write a strength: ``strength = factor value n^rows S^total spread^spread``, value^-1 if inverse.

    ``columns`` says in which unit it penalizes coefficients (docs/statistics.md), ``charges_intercept`` whether it counts the
    intercept among them.

    >>> BY_DIALECT["sklearn-C"].strength(0.5, Scale(10)), BY_DIALECT["sklearn-C"].value(0.2, Scale(10))
    (0.2, 0.5)
    """

    name: str
    formula: str
    spoken_by: str
    factor: float = 1.0
    rows: int = 0
    total: int = 0
    spread: int = 0
    inverse: bool = False
    spread_is: str = ""
    columns: Literal["raw", "standardized"] = "raw"
    charges_intercept: bool = False

    def _rate(self, scale: Scale) -> float:
        if self.spread and scale.spread is None:
            raise InputError(f"{self.name} depends on {self.spread_is}; give it as the spread.")
        spread = 1.0 if scale.spread is None else scale.spread
        return self.factor * scale.n**self.rows * scale.total**self.total * spread**self.spread

    def strength(self, value: float, scale: Scale) -> float:
        """Return the strength that a value in this dialect means."""
        if math.isnan(value) or value < 0.0 or (math.isinf(value) and not self.inverse):
            raise InputError(f"{value} is no {self.name}; it must be a number, at least 0.")
        if self.inverse:
            return self._rate(scale) / value if value > 0.0 else math.inf
        return self._rate(scale) * value

    def value(self, strength: float, scale: Scale) -> float:
        """Return what this dialect says for a strength."""
        if self.inverse:
            return self._rate(scale) / strength if strength > 0.0 else math.inf
        return strength / self._rate(scale)


DIALECTS: Final[tuple[Dialect, ...]] = (
    Dialect(
        "strength",
        "(1/S) sum s loss + (strength/2) |b|^2",
        "lineal: lineal.fit, --penalty, Ridge of the engine",
        columns="standardized",
    ),
    Dialect(
        "sklearn-C",
        "C sum s loss + |b|^2 / 2",
        "scikit-learn LogisticRegression, LinearSVC(loss='hinge'), LinearSVR(loss='epsilon_insensitive')",
        total=-1,
        inverse=True,
    ),
    Dialect(
        "sklearn-C-squared",
        "C sum s (2 loss) + |b|^2 / 2",
        "scikit-learn LinearSVC (squared hinge, its default), LinearSVR(loss='squared_epsilon_insensitive')",
        factor=0.5,
        total=-1,
        inverse=True,
    ),
    Dialect("sklearn-alpha-ridge", "sum s (y - eta)^2 + alpha |b|^2", "scikit-learn Ridge, RidgeClassifier", total=-1),
    Dialect(
        "sklearn-alpha-mean",
        "(1/S) sum s loss + alpha (l1_ratio |b|_1 + (1 - l1_ratio)/2 |b|^2)",
        "scikit-learn Lasso, ElasticNet, PoissonRegressor, QuantileRegressor",
    ),
    Dialect(
        "sklearn-alpha-sgd",
        "(1/n) sum s loss + (alpha/2) |b|^2",
        "scikit-learn SGDClassifier, SGDRegressor (squared hinge: half of it)",
        rows=1,
        total=-1,
    ),
    Dialect(
        "sklearn-alpha-huber",
        "sum s (sigma + H(r / sigma) sigma) + alpha |b|^2",
        "scikit-learn HuberRegressor",
        total=-1,
        spread=1,
        spread_is="the scale sigma it estimated (scale_)",
    ),
    Dialect(
        "glmnet-lambda",
        "(1/S) sum s loss + lambda (a |b|_1 + (1 - a)/2 |b|^2)",
        "R's glmnet: binomial, multinomial, poisson, and the lasso of any family",
        columns="standardized",
    ),
    Dialect(
        "glmnet-lambda-gaussian",
        "(sd_y/S) sum s (y - eta)^2 / 2 + lambda |b|^2 / 2",
        "R's glmnet: ridge with family gaussian, which scales y first",
        spread=-1,
        spread_is="the standard deviation of y (with 1/n)",
        columns="standardized",
    ),
    Dialect("liblinear-C", "C sum loss + |b|^2 / 2", "LIBLINEAR -s 0, 3, 6, 7, 13", total=-1, inverse=True),
    Dialect(
        "liblinear-C-squared",
        "C sum (2 loss) + |b|^2 / 2",
        "LIBLINEAR -s 1, 2, 5, 11, 12",
        factor=0.5,
        total=-1,
        inverse=True,
    ),
    Dialect("sigma2-tau2", "sum s (y - eta)^2 / (2 sigma^2) + |b|^2 / (2 tau^2)", "MAP: sigma^2 / tau^2", total=-1),
    Dialect("LM1", "lambda |w|^2 + sum (y - eta)^2", "the notes, linear models 1", total=-1, charges_intercept=True),
    Dialect("LM2", "(lambda/2) |W|^2 + sum loss", "the notes, linear models 2", total=-1, charges_intercept=True),
    Dialect(
        "LC",
        "(1/2) sum (y - eta)^2 + lambda |w|^2",
        "the notes, linear classifiers",
        factor=2.0,
        total=-1,
        charges_intercept=True,
    ),
)
"""Every dialect lineal translates. Squared losses are (y - eta)^2 / 2 and max(1 - z, 0)^2 / 2 in lineal."""

BY_DIALECT: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in DIALECTS}
"""The dialects by name."""


def dialect(name: str) -> Dialect:
    """Return a dialect by its name.

    >>> dialect("LC").strength(3.0, Scale(6))
    1.0
    """
    if name not in BY_DIALECT:
        names = ", ".join(BY_DIALECT)
        raise InputError(f"the dialect {name!r} is unknown; known are {names}.{near(name, BY_DIALECT)}")
    return BY_DIALECT[name]


def translations(value: float, name: str, scale: Scale) -> dict[str, float | None]:
    """Return one value in every dialect; None where a dialect needs a spread that is not given.

    >>> translations(1.0, "sklearn-C", Scale(100))["sklearn-alpha-ridge"]
    1.0
    """
    strength = dialect(name).strength(value, scale)
    return {
        other.name: None if other.spread and scale.spread is None else other.value(strength, scale)
        for other in DIALECTS
    }


def options(value: float, name: str, scale: Scale) -> dict[str, str]:
    """Return what to type for a value: ``meant`` is what the dialect means, beside both conventions.

    ``raw`` penalizes columns as they are, ``standardized`` in units of their standard deviation; the notes count the
    intercept, whose feature is 1, among the weights. ridge may be replaced by l1 where the dialect speaks of one.

    >>> options(24.0, "sklearn-alpha-ridge", Scale(96))["meant"]
    '--penalty ridge:0.25 --penalize raw'
    """
    meant, strength = dialect(name), dialect(name).strength(value, scale)
    if math.isinf(strength):
        raise InputError(
            f"{value} in {name} is an infinite strength, at which every coefficient is zero; nothing fits that."
        )
    if strength == 0.0:
        return dict.fromkeys(("meant", "raw", "standardized"), "--penalty none")
    plain = f"--penalty ridge:{strength!r}"
    typed = {"raw": f"{plain} --penalize raw", "standardized": plain}
    if meant.charges_intercept:
        return {"meant": f"{plain} --penalize 'raw,(intercept)=raw'", **typed}
    return {"meant": typed[meant.columns], **typed}


def strength_of_alpha(alpha: float, weight_sum: float) -> float:
    """Return the strength of scikit-learn's Ridge, ``sum_i s_i (y_i - eta_i)^2 + alpha |b|^2``.

    Squared loss is ``(y - eta)^2 / 2``, so the sum is 2 S times the mean loss, and ``strength = alpha / S``.

    >>> strength_of_alpha(1.0, 442.0) == 1 / 442
    True
    """
    return alpha / weight_sum


def strength_of_C(C: float, weight_sum: float) -> float:
    """Return the strength of scikit-learn's LogisticRegression, ``C sum_i s_i loss_i + |b|^2 / 2``.

    Divided by C S the loss is a mean, and ``strength = 1 / (C S)``; an infinite C is no penalty.

    >>> strength_of_C(0.5, 10.0), strength_of_C(float("inf"), 10.0)
    (0.2, 0.0)
    """
    return 1.0 / (C * weight_sum)


def solver_named(name: object) -> Solver | str:
    """Return the solver that an estimator's parameter asks for: ours by its name, with options or as itself, otherwise "auto".

    A name of scikit-learn's is a hint, since every solver ends at the same optimum; one that is ours too (newton-cg, saga,
    interior-point) is insisted on with an option, or as an object of ``lineal.solvers``.

    >>> solver_named("lbfgs"), solver_named("saga"), solver_named("newton")
    ('auto', 'auto', 'newton')
    >>> solver_named("gradient-descent:step=0.1").step
    0.1
    """
    if isinstance(name, Solver):
        return name
    if isinstance(name, str):
        if name in SOLVERS:
            return "auto"
        if name == "auto" or name in BY_NAME:
            return name
        if name.partition(":")[0] in BY_NAME:
            return read_solver(name)
    accepted = ("auto", *(ours for ours in BY_NAME if ours not in SOLVERS))
    hint = near(name, (*accepted, *SOLVERS)) if isinstance(name, str) else ""
    raise InputError(
        f"solver is {name!r}; accepted are {', '.join(accepted)}, and scikit-learn's {', '.join(SOLVERS)}.{hint}"
    )


def served(ran: str, asked: object) -> str:
    """Return what ran, and why, with the hint that it serves.

    >>> served("newton: 3 columns", "lbfgs")
    "newton: 3 columns, for solver='lbfgs'"
    >>> served("direct: closed form", "auto")
    'direct: closed form'
    """
    if not (isinstance(asked, str) and asked in SOLVERS):
        return ran
    free = ", and the intercept is not charged" if asked == "liblinear" else ""
    return f"{ran}, for solver={asked!r}{free}"
