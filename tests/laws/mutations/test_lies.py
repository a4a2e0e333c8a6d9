"""No consistent lie about an optimum is confirmed, for every convex loss with every penalty."""

from __future__ import annotations

from itertools import islice

import pytest

from lineal.errors import VerificationError
from lineal.verify import verify

from . import engine
from .lies import lies

PLACES = [
    (number, loss, penalty)
    for number, (loss, penalty) in enumerate((a, b) for a in engine.LOSSES for b in engine.PENALTIES)
    if not (penalty == "group" and (engine.LOSSES[loss].outputs == 1 or loss == "crammer-singer"))
    and (loss, penalty) != ("hinge", "bounds")  # which ends without a proof on these rows: no optimum to lie about
]
EVERY = 36
"""Forgeries of a file; the suite tries three of each (scripts may try all)."""


@pytest.mark.slow
@pytest.mark.parametrize(("number", "loss", "penalty"), PLACES, ids=str)
def test_false_coefficients_are_refused_whatever_else_is_made_to_fit_them(number, loss, penalty, tmp_path):
    honest = engine.fitted(loss, penalty, seed=number, n=40, weighted=number % 2 == 1)
    assert honest.meta["verdict"]["kind"] == "optimal"
    assert verify(*honest.write(tmp_path)).passed
    tried = [lie for lie in islice(lies(honest, number), number % 12, EVERY, 12) if lie.size > 1.1]
    for lie in tried:
        with pytest.raises(VerificationError):
            verify(*lie.case.write(tmp_path))
