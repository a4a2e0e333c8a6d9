"""The verdict: what is known about given coefficients, for code, for a person and for a stranger who checks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, Literal

from lineal.ground.records import dataclass

Size = Literal["columns", "outputs"] | int | None
"""How long an axis of an array is; None if that is for the array to say."""


@dataclass(frozen=True)
class Kind:
    """What one kind of verdict says about a fit; docs/verdicts.md has the same in sentences.

    ``meaning`` follows "the fit". ``solved`` says that it ended where it should, with proof; the command line exits with 3
    otherwise, unless ``--accept`` is given. ``has_gap`` says that the verdict holds a bound on how far the optimum is.
    Of several members the one of the largest ``severity`` speaks for all. ``no_errors`` says why there are no standard
    errors, "" if there are. ``arrays`` are those that its evidence may have in a model file, with their shapes.
    """

    name: str
    meaning: str
    solved: bool = True
    has_gap: bool = True
    severity: int = 0
    no_errors: str = "the fit did not end at a proven optimum, so standard errors would mean nothing. {sentence}"
    arrays: Mapping[str, tuple[Size, ...]] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """What the command line returns."""
        return 0 if self.solved else 3


OPTIMAL: Final = Kind("optimal", "is within the tolerance of the optimum, proven", no_errors="")
AT_INFINITY: Final = Kind(
    "at_infinity",
    "has no finite optimum: the loss falls for ever in a direction",
    solved=False,
    has_gap=False,
    severity=3,
    no_errors=(
        "a coefficient is infinite, so it has no standard error: drop the column, or use Firth's penalty, which has "
        "finite estimates and intervals (lineal.inference.firth, docs/statistics.md)."
    ),
    arrays={"direction": ("columns", "outputs")},
)
NOT_UNIQUE: Final = Kind(
    "not_unique",
    "is at the optimum, proven, which other coefficients share",
    no_errors="the coefficients are not unique, so they have no standard errors: drop the columns the verdict names.",
    arrays={"null_space": ("columns", None)},
)
INFEASIBLE: Final = Kind(
    "infeasible",
    "has no coefficients to choose from: the bounds exclude each other",
    solved=False,
    has_gap=False,
    severity=4,
)
BUDGET: Final = Kind("budget", "was stopped before a proof", solved=False, severity=2)
SEPARATED: Final = Kind("separated", "found a halfspace without a mistake", has_gap=False)
NOT_SEPARABLE: Final = Kind("not_separable", "proved that no halfspace is without a mistake", has_gap=False, severity=1)
STATIONARY: Final = Kind(
    "stationary",
    "is at a point without slope of something that need not be convex",
    has_gap=False,
    no_errors=(
        "the intervals of a fit with Firth's penalty come from its profile, for which the rows are needed: "
        "lineal.summarise(model, data), or lineal summary MODEL DATA."
    ),
)
PROGRESSIVE: Final = Kind(
    "progressive",
    "learned every row once, measured before it was learned",
    has_gap=False,
    arrays={"iterate": ("columns", "outputs"), "iterate_sum": ("columns", "outputs"), "progress": (5,)},
)
EXACT: Final = Kind(
    "exact",
    "is counted or looked up, with nothing to optimize",
    has_gap=False,
    no_errors=(
        "the model is counted or looked up and minimizes nothing, so it has no standard errors; fit a logistic or least "
        "squares regression for them."
    ),
)

KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        OPTIMAL,
        AT_INFINITY,
        NOT_UNIQUE,
        INFEASIBLE,
        BUDGET,
        SEPARATED,
        NOT_SEPARABLE,
        STATIONARY,
        PROGRESSIVE,
        EXACT,
    )
}
"""Every kind a verdict can have, by name."""

HIDDEN = "rounding hides how small the slope is"
"""Why a search for a point without slope may end: what is stated then is a bound."""

TOLERANCE: Final = 1e-6
"""The default of every ``tol``: ``optimal`` iff relative_gap <= tol."""


@dataclass(frozen=True)
class Verdict:
    """How a fit ended, with evidence that can be checked without trusting the solver.

    ``gap`` bounds ``F(b) - F*`` from above, rounding error included; None where nothing could be proven
    (then ``reason`` says why). ``relative_gap = gap / (F(baseline) - lower bound)``, where null is the best fit
    of the unpenalized columns (of the intercept, where nothing is penalized).

    >>> verdict = Verdict("optimal", "Optimal: proven.", gap=1e-9, relative_gap=1e-8)
    >>> verdict.proven, verdict.exit_code
    (True, 0)
    >>> Verdict("budget", "Stopped.", gap=math.inf, relative_gap=None, reason="time").to_dict()["gap"] is None
    True
    """

    kind: str
    sentence: str
    gap: float | None
    relative_gap: float | None
    evidence: Mapping[str, object] = field(default_factory=dict)
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown verdict kind {self.kind!r}; the kinds are {', '.join(KINDS)}")
        if self.gap is not None and not self.nature.has_gap:
            raise AssertionError(f"a verdict {self.kind!r} has no gap, so {self.gap} is a bug")
        if self.gap is not None and self.gap < 0:
            raise AssertionError(f"a gap below zero is a bug in the certificate: {self.gap}")

    @property
    def nature(self) -> Kind:
        """What its kind means."""
        return KINDS[self.kind]

    @property
    def proven(self) -> bool:
        """Whether the fit ended where it should, with proof."""
        return self.nature.solved

    @property
    def exit_code(self) -> int:
        """What the command line returns for this verdict (0 or 3)."""
        return self.nature.exit_code

    def to_dict(self) -> dict[str, object]:
        """Return plain JSON data; a number that is not finite becomes None, with its reason beside it."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            "gap": _plain(self.gap),
            "relative_gap": _plain(self.relative_gap),
            "reason": self.reason,
            "evidence": _plain(dict(self.evidence)),
        }

    @staticmethod
    def from_dict(data: Mapping[str, object]) -> Verdict:
        """Return the verdict a model file holds."""
        gap, relative, evidence = data["gap"], data["relative_gap"], data["evidence"]
        if not isinstance(evidence, Mapping):
            raise TypeError("the evidence of a verdict must be an object")
        return Verdict(
            kind=str(data["kind"]),
            sentence=str(data["sentence"]),
            gap=None if gap is None else float(gap),  # type: ignore[arg-type]
            relative_gap=None if relative is None else float(relative),  # type: ignore[arg-type]
            reason=None if data["reason"] is None else str(data["reason"]),
            evidence=evidence,
        )

    def __str__(self) -> str:
        return self.sentence


def worst(verdicts: Sequence[Verdict]) -> int:
    """Return the place of the worst of several verdicts, which speaks for all: by kind, then by relative gap.

    >>> good, bad = Verdict("optimal", "Optimal.", 0.0, 0.0), Verdict("budget", "Stopped.", 0.5, 0.5)
    >>> worst([good, bad, good])
    1
    """

    def badness(place: int) -> tuple[int, float, int]:
        verdict = verdicts[place]
        severity = verdict.nature.severity
        gap = float("inf") if verdict.relative_gap is None and severity else verdict.relative_gap or 0.0
        return severity, gap, -place

    return max(range(len(verdicts)), key=badness)


def _plain(value: object) -> object:
    """Turn numpy values into JSON data; a non-finite float becomes None, in an object with a reason beside it."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        plain: dict[str, object] = {}
        for key, item in value.items():
            plain[str(key)] = _plain(item)
            if isinstance(item, float) and not math.isfinite(item):
                plain[f"{key}_reason"] = f"the value is {item}"
        return plain
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
