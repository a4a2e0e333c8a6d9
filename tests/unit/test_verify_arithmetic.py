"""The checker's products are correctly rounded, also where columns are mostly zeros."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lineal.verify.arithmetic import sums, times


@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
def test_products_against_exact_fractions(share: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 7)) * 10.0 ** rng.integers(-9, 9, (60, 7)) * (rng.random((60, 7)) < share)
    b, v = rng.normal(size=(7, 2)), rng.normal(size=(60, 2))
    exact = [
        [float(sum(Fraction(p) * Fraction(q) for p, q in zip(row, column, strict=True))) for column in b.T] for row in x
    ]
    np.testing.assert_allclose(times(x, b), exact, rtol=2.0**-51, atol=0)
    exact = [[float(sum(Fraction(p) * Fraction(q) for p, q in zip(a, c, strict=True))) for c in v.T] for a in x.T]
    assert np.array_equal(sums(x, v), exact)
