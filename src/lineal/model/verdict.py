"""The verdict: what is known about given coefficients, for code, for a person and for a stranger who checks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from lineal.ground.records import dataclass

KINDS: Final = (
    "optimal",
    "at_infinity",
    "not_unique",
    "infeasible",
    "budget",
    "separated",
    "not_separable",
    "stationary",
    "progressive",
)
"""Every kind a verdict can have, see docs/verdicts.md."""

HIDDEN = "rounding hides how small the slope is"
"""Why a search for a point without slope may end: what is stated then is a bound."""

TOLERANCE: Final = 1e-6
"""The default of every ``tol``: ``optimal`` iff relative_gap <= tol."""

WORST: Final = ("infeasible", "at_infinity", "budget", "not_separable")
"""Kinds that say that something is missing, the worst first."""

UNFINISHED: Final = frozenset({"at_infinity", "infeasible", "budget"})
"""Kinds that make the command line exit with 3 unless ``--accept`` is given."""


@dataclass(frozen=True)
class Verdict:
    """How a fit ended, with evidence that can be checked without trusting the solver.

    ``gap`` bounds ``F(b) - F*`` from above, rounding error included; None where nothing could be proven
    (then ``reason`` says why). ``relative_gap = gap / (F(null) - lower bound)``, where null is the best fit
    of the uncharged columns (of the intercept, where nothing is charged).

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
        if self.gap is not None and self.gap < 0:
            raise AssertionError(f"a gap below zero is a bug in the certificate: {self.gap}")

    @property
    def proven(self) -> bool:
        """Whether the fit ended where it should, with proof."""
        return self.kind not in UNFINISHED

    @property
    def exit_code(self) -> int:
        """What the command line returns for this verdict (0 or 3)."""
        return 0 if self.proven else 3

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
        kind = len(WORST) - WORST.index(verdict.kind) if verdict.kind in WORST else 0
        gap = float("inf") if verdict.relative_gap is None and kind else verdict.relative_gap or 0.0
        return kind, gap, -place

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
