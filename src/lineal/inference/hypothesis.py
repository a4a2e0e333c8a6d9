"""A test of a hypothesis, as plain data and as a sentence."""

from __future__ import annotations

import math

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.summary import tail
from lineal.model.tabled import short


@dataclass(frozen=True)
class HypothesisTest:
    """What was tested: ``statistic`` has the named distribution, with ``freedom`` (and ``left``) degrees, if ``null`` holds.

    >>> print(HypothesisTest("Wald", "b = 0", 4.0, "chi-squared", 0.0455, 1.0))
    Wald: b = 0; chi-squared 4 on 1 degree of freedom, p = 0.0455
    """

    name: str
    null: str
    statistic: float
    distribution: str
    p: float
    freedom: float | None = None
    left: float | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.null}; {self.words}"

    @property
    def words(self) -> str:
        """The statistic with its degrees of freedom and p."""
        degrees = f" on {self.freedom:g}" if self.freedom is not None else ""
        degrees += f" and {self.left:g}" if self.left is not None else ""
        unit = "degree" if self.freedom == 1.0 and self.left is None else "degrees"
        degrees += f" {unit} of freedom" if degrees else ""
        return f"{self.distribution} {short(self.statistic)}{degrees}, p = {self.p:.4g}"

    @staticmethod
    def chi_squared(name: str, null: str, statistic: float, freedom: float) -> HypothesisTest:
        """Return a test whose statistic is chi-squared."""
        from scipy import special

        p = float(special.chdtrc(freedom, max(statistic, 0.0))) if freedom > 0.0 else math.nan
        return HypothesisTest(name, null, statistic, "chi-squared", p, freedom)

    @staticmethod
    def f(name: str, null: str, statistic: float, freedom: float, left: float) -> HypothesisTest:
        """Return a test whose statistic is F."""
        from scipy import special

        p = float(special.fdtrc(freedom, left, max(statistic, 0.0))) if min(freedom, left) > 0.0 else math.nan
        return HypothesisTest(name, null, statistic, "F", p, freedom, left)


def spread(name: str, of: str, statistic: float, freedom: int) -> HypothesisTest:
    """Return a test of heteroscedasticity: ``S R^2`` of squared residuals on something is chi-squared."""
    return HypothesisTest.chi_squared(name, f"spread does not depend on {of}", statistic, freedom)


def pearson_fit(statistic: float, freedom: float) -> HypothesisTest:
    """Return Pearson's test that targets vary as the model says, ``sum (y - mean)^2 / V``."""
    return HypothesisTest.chi_squared("Pearson", "targets vary no more than the model says", statistic, freedom)


def cameron_trivedi(observations: float, sums: Array) -> tuple[HypothesisTest, ...]:
    """Return the regression tests of overdispersion of counts by Cameron and Trivedi (1990), one-sided.

    With ``z = ((y - mean)^2 - y) / mean``, whose mean is 0: against a variance of ``(1 + a) mean``, t of the mean of z; against
    ``mean + a mean^2``, t of the slope of z on the mean. ``sums`` are those of ``z``, ``z^2``, ``z mean``, ``mean^2``.
    """
    first, square, product, means = map(float, sums)
    left = observations - 1.0
    if not left > 0.0 or not means > 0.0:
        return ()
    tests = []
    for words, slope, size in (
        ("(1 + a) mean", first / observations, observations),
        ("mean + a mean^2", product / means, means),
    ):
        noise = max(square - slope**2 * size, 0.0) / left
        t = slope * math.sqrt(size / noise) if noise > 0.0 else math.nan
        null = f"a = 0 in a variance of {words} (here a = {short(slope)})"
        tests.append(HypothesisTest("Cameron-Trivedi", null, t, "t", tail(t, left), left))
    return tuple(tests)


def outlier(farthest: float, observations: float, freedom: float | None) -> HypothesisTest:
    """Return the test that the largest studentized residual is none too many, p by Bonferroni."""
    p = min(1.0, 2.0 * observations * tail(farthest, freedom))
    name = "z" if freedom is None else "t"
    return HypothesisTest("Outlier", "no row is an outlier", farthest, name, p, freedom)
