"""Estimators made of several fits: which of their verdicts speaks for all."""

from __future__ import annotations

from collections.abc import Sequence

from lineal.verdict import Verdict

ORDER = ("infeasible", "at_infinity", "budget")
"""Kinds of verdicts that say that something is missing, the worst first."""


def worst(verdicts: Sequence[Verdict]) -> int:
    """Return the place of the worst verdict: by kind, then by relative gap.

    >>> good, bad = Verdict("optimal", "Optimal.", 0.0, 0.0), Verdict("budget", "Stopped.", 0.5, 0.5)
    >>> worst([good, bad, good])
    1
    """

    def badness(place: int) -> tuple[int, float, int]:
        verdict = verdicts[place]
        kind = len(ORDER) - ORDER.index(verdict.kind) if verdict.kind in ORDER else 0
        gap = float("inf") if verdict.relative_gap is None and kind else verdict.relative_gap or 0.0
        return kind, gap, -place

    return max(range(len(verdicts)), key=badness)
