"""The table of estimates: what is known about every coefficient, and how likely the data are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.model.tabled import Grid, Tabled, short
from lineal.model.verdict import KINDS

if TYPE_CHECKING:
    from lineal.penalties.penalty import Penalty


# scipy.special is imported where it is used: a model that is only asked to predict does not pay for it.

HEADINGS: Final = ("estimate", "std. error", "statistic", "p", "lower", "upper")
POSTERIOR: Final = "posterior"
"""The ``errors`` of a summary whose rows are the mean, standard deviation and interval of a posterior: nothing is tested."""
POSTERIOR_HEADINGS: Final = ("mean", "std. dev.", "lower", "upper")


@dataclass(frozen=True)
class Row:
    """One coefficient: its estimate, standard error, test statistic, two-sided p-value and interval.

    >>> Row("dose", "effect", 2.0, 1.0, 2.0, 0.0455, 0.04, 3.96).estimate
    2.0
    """

    column: str
    output: str
    estimate: float
    error: float
    statistic: float
    p: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Summary(Tabled):
    """The coefficients of a likelihood fit with their uncertainty, as plain data that displays as a table.

    ``figures`` holds the numbers about the whole fit, ``errors`` says which standard errors these are, ``test`` is
    "z", "t" or another word for the statistic; ``freedom`` are the degrees of freedom of t. The summary of a posterior
    has no test, and holds the ``covariance`` of the coefficients. ``ratio`` is what e to the power of a coefficient is
    called, "" where that means nothing; ``exponentiated`` says that the rows are these.
    """

    title: str
    rows: tuple[Row, ...]
    errors: str
    test: str
    level: float
    freedom: float | None = None
    figures: Mapping[str, float | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    covariance: tuple[tuple[float, ...], ...] | None = field(default=None, repr=False)
    ratio: str = ""
    exponentiated: bool = False

    def ratios(self) -> Summary:
        """Return odds ratios or rate ratios: ``exp b`` with ``exp`` of its interval; test and p are those of the coefficient.

        The standard error is that of the ratio, ``exp(b) se``, by the delta method.
        """
        if not self.ratio or self.exponentiated:
            raise InputError(
                "these coefficients are ratios already."
                if self.exponentiated
                else "exp of a coefficient is a ratio where scores are logarithms: of odds (logistic) or of rates (poisson)."
            )
        return replace(
            self,
            rows=tuple(map(_exponentiated, self.rows)),
            exponentiated=True,
            notes=(*self.notes, "Shown is e to the power of that; statistic and p are those of the coefficient."),
        )

    @property
    def headings(self) -> tuple[str, ...]:
        """What the numbers of a row are called."""
        if self.errors == POSTERIOR:
            return POSTERIOR_HEADINGS
        names = {"statistic": self.test, "estimate": self.ratio if self.exponentiated else "estimate"}
        return tuple(names.get(name, name) for name in HEADINGS)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data; a number that is not finite becomes None."""
        plain: dict[str, Any] = {**asdict(self), "figures": dict(self.figures), "notes": list(self.notes)}
        plain["rows"] = [{key: _finite(value) for key, value in asdict(row).items()} for row in self.rows]
        plain["figures"] = {key: _finite(value) for key, value in self.figures.items()}
        if self.covariance is None:
            del plain["covariance"]
        return plain

    @property
    def headline(self) -> str:
        """What the table is about, in one line."""
        if self.errors == POSTERIOR:
            return f"{self.title}; posterior, {100 * self.level:g} % intervals"
        test = f"t with {self.freedom:g} degrees of freedom" if self.test == "t" else self.test
        return f"{self.title}; {self.errors} standard errors, {test}, {100 * self.level:g} % intervals"

    @property
    def figure_line(self) -> str:
        """The figures about the whole fit, in one line."""
        return ", ".join(f"{name.replace('_', ' ')} {short(value)}" for name, value in self.figures.items())

    def grids(self) -> list[Grid]:
        """Return the table of the coefficients."""
        several = len({row.output for row in self.rows}) > 1
        lines = [["", *(["output"] if several else []), *self.headings]]
        for row in self.rows:
            tested = () if self.errors == POSTERIOR else (row.statistic, row.p)
            numbers = (row.estimate, row.error, *tested, row.lower, row.upper)
            lines.append([row.column, *([row.output] if several else []), *map(short, numbers)])
        return [Grid(lines, texts=1 + several)]


def _exponentiated(row: Row) -> Row:
    """Return the row of the ratio that a coefficient is the logarithm of."""
    with np.errstate(over="ignore"):
        estimate, lower, upper = np.exp([row.estimate, row.lower, row.upper]).tolist()
    return replace(row, estimate=estimate, error=estimate * row.error, lower=lower, upper=upper)


def table(
    coef: Array,
    covariance: Array,
    columns: Sequence[str],
    outputs: Sequence[str],
    *,
    freedom: float | None = None,
    level: float = 0.95,
) -> tuple[Row, ...]:
    """Return estimate, standard error, statistic, p and interval of every coefficient.

    ``statistic = b / se``, ``p = 2 P(T > |statistic|)``, ``interval = b -+ q se``; T is Student's with ``freedom``
    degrees, or normal where that is None. ``coef`` is (columns, outputs), ``covariance`` output-major.

    >>> row = table(np.array([[1.96]]), np.array([[1.0]]), ["x"], ["y"])[0]
    >>> round(row.p, 4), round(row.lower, 4)
    (0.05, 0.0)
    """
    reach = quantile(check_level(level), freedom)
    errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0)).reshape(len(outputs), len(columns)).T
    lines = []
    for j, column in enumerate(columns):
        for k, output in enumerate(outputs):
            b, se = float(coef[j, k]), float(errors[j, k])
            statistic = math.copysign(math.inf, b) if b else math.nan
            if se > 0.0:
                statistic = b / se
            p = 2.0 * tail(abs(statistic), freedom)
            lines.append(Row(column, output, b, se, statistic, p, b - reach * se, b + reach * se))
    return tuple(lines)


def quantile(level: float, freedom: float | None = None) -> float:
    """Return q with ``P(|T| <= q) = level`` for a normal T, or Student's with ``freedom`` degrees.

    >>> round(quantile(0.95), 4), round(quantile(0.95, 10), 4)
    (1.96, 2.2281)
    """
    from scipy import special

    share = 0.5 + 0.5 * level
    return float(special.ndtri(share) if freedom is None else special.stdtrit(freedom, share))


def tail(value: float, freedom: float | None = None) -> float:
    """Return P(T > value).

    >>> tail(0.0), round(tail(2.2281, 10), 4)
    (0.5, 0.025)
    """
    from scipy import special

    return float(special.ndtr(-value) if freedom is None else special.stdtr(freedom, -value))


def check_level(level: float) -> float:
    """Return the level of an interval, refusing anything outside (0, 1).

    >>> check_level(0.9)
    0.9
    """
    if not 0.0 < level < 1.0:
        raise InputError(f"the level is {level}; it is the probability an interval covers, such as 0.95.")
    return level


def normal_figures(
    observations: float, columns: int, squares: Sequence[float], baseline_squares: float, *, intercept: bool
) -> dict[str, float | None]:
    """Return the figures of a least-squares fit, from its residual sums of squares (one per output).

    ``log L = -(S/2) sum_k (log(2 pi RSS_k / S) + 1)``; the noise variance counts as a parameter, as in R.
    ``baseline_squares`` is the sum of squares about the best constant, or about zero where there is no intercept.
    """
    from scipy import special

    S, p, outputs = observations, columns, len(squares)
    left, total = S - p, math.fsum(squares)
    share = 1.0 - total / baseline_squares if baseline_squares > 0.0 else math.nan
    figures: dict[str, float | None] = {"observations": S, "parameters": (p + 1) * outputs}
    if outputs == 1:
        figures["sigma"] = math.sqrt(total / left) if left > 0.0 else math.nan
    logs = [math.log(2.0 * math.pi * rss / S) if rss > 0.0 else -math.inf for rss in squares]
    figures |= information(-0.5 * S * sum(log + 1.0 for log in logs), (p + 1) * outputs, S)
    figures["r2"] = share
    figures["adjusted_r2"] = 1.0 - (1.0 - share) * (S - intercept) / left if left > 0.0 else math.nan
    if outputs == 1 and p > intercept and left > 0.0:
        between = p - intercept
        ratio = (baseline_squares - total) / between / (total / left) if total > 0.0 else math.inf
        figures |= {"f_statistic": ratio, "f_p": float(special.fdtrc(between, left, ratio))}
    return figures


def likelihood_figures(
    observations: float,
    parameters: int,
    log_likelihood: float | None,
    null_log_likelihood: float | None,
    null_parameters: int,
    gain: float,
) -> dict[str, float | None]:
    """Return the figures of a logistic, softmax or Poisson fit; ``gain`` is the difference of the log-likelihoods.

    ``mcfadden = 1 - log L / log L_null``; the ratio test compares with the baseline.
    """
    from scipy import special

    figures: dict[str, float | None] = {"observations": observations, "parameters": parameters}
    figures |= information(log_likelihood, parameters, observations)
    figures["null_log_likelihood"] = null_log_likelihood
    if log_likelihood is not None and null_log_likelihood:
        figures["mcfadden"] = 1.0 - log_likelihood / null_log_likelihood
    if parameters > null_parameters:
        more = parameters - null_parameters
        figures |= {"ratio_statistic": 2.0 * gain, "ratio_p": float(special.chdtrc(more, max(2.0 * gain, 0.0)))}
    return figures


def information(log_likelihood: float | None, parameters: int, observations: float) -> dict[str, float | None]:
    """Return the log-likelihood with ``AIC = 2 k - 2 log L`` and ``BIC = k log S - 2 log L``.

    >>> information(-10.0, 2, 100.0)["aic"]
    24.0
    """
    if log_likelihood is None:
        return {"log_likelihood": None, "aic": None, "bic": None}
    return {
        "log_likelihood": log_likelihood,
        "aic": 2.0 * parameters - 2.0 * log_likelihood,
        "bic": parameters * math.log(observations) - 2.0 * log_likelihood,
    }


@dataclass(frozen=True)
class Likelihood:
    """What a summary needs to know of a fit: figures that remain in a model, or come from another look at its data.

    ``objective`` and ``baseline_objective`` are mean losses; ``base`` is the part of the log-likelihood that depends on the
    targets alone (zero but for counts, ``-sum s log y!``), None where it is not known.
    """

    loss: Loss
    observations: float
    columns: int
    intercept: bool
    objective: float
    baseline_objective: float
    base: float | None = 0.0

    @property
    def freedom(self) -> float | None:
        """Degrees of freedom left, where the noise is estimated: S - columns."""
        return self.observations - self.columns if self.loss.estimates_noise else None

    def figures(self, squares: Sequence[float] | None = None) -> dict[str, float | None]:
        """Return the figures of the fit; ``squares`` are the residual sums of squares where there are several outputs."""
        S = self.observations
        if self.loss.estimates_noise:
            sums = [2.0 * S * self.objective] if squares is None else squares
            return normal_figures(S, self.columns, sums, 2.0 * S * self.baseline_objective, intercept=self.intercept)
        free = self.loss.free_outputs
        return likelihood_figures(
            S,
            self.columns * free,
            None if self.base is None else self.base - S * self.objective,
            None if self.base is None else self.base - S * self.baseline_objective,
            free * int(self.intercept),
            S * (self.baseline_objective - self.objective),
        )


def contrasted(coef: Array, covariance: Array, outputs: Sequence[str], against: str) -> tuple[Array, Array, list[str]]:
    """Return the coefficients of all classes but one, compared with that one, their covariance and their names.

    >>> coef, _, names = contrasted(np.array([[1.0, -1.0]]), np.eye(2), ["a", "b"], "a")
    >>> coef.tolist(), names
    ([[-2.0]], ['b'])
    """
    if against not in outputs:
        raise InputError(f"the class to compare with is {against!r}; the classes are {', '.join(outputs)}.")
    place = list(outputs).index(against)
    change = np.delete(np.eye(len(outputs)), place, axis=0)
    change[:, place] = -1.0
    whole = np.kron(change, np.eye(len(coef)))
    names = [name for name in outputs if name != against]
    return coef @ change.T, whole @ covariance @ whole.T, names


def shares(covariance: Array, columns: int, squares: float) -> list[float]:
    """Return the residual sum of squares of every output, given their total: covariances of outputs are proportional.

    >>> shares(np.diag([1.0, 3.0]), 1, 8.0)
    [2.0, 6.0]
    """
    sizes = np.diagonal(covariance).reshape(-1, columns).sum(axis=1)
    total = float(sizes.sum())
    return [squares * float(size) / total if total > 0.0 else 0.0 for size in sizes]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def no_errors(penalty: Penalty, kind: str, sentence: str) -> str | None:
    """Return why standard errors and p-values would mean nothing, and what to do instead; None where they do.

    ``kind`` and ``sentence`` are those of the verdict.

    >>> from lineal.penalties import NoPenalty
    >>> print(no_errors(NoPenalty(2), "optimal", "Optimal."))
    None
    """
    if (reason := penalty.no_errors()) is not None:
        return reason
    return KINDS[kind].no_errors.replace("{sentence}", sentence) or None
