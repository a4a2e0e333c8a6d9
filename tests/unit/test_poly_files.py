"""Polynomials of model files from before their units were powers of two: Chebyshev's own, for the model and the checker."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.polynomial import chebyshev

from lineal.errors import ModelFileError
from lineal.features.terms import read
from lineal.verify.claims.ground import _check_term
from lineal.verify.terms import poly

OLD = {
    "kind": "poly", "column": "x", "functions": [], "fill": 1.0, "indicator": False, "degree": 4, "centre": 1.75, "half": 1.25,
}  # fmt: skip
X = np.array([0.5, 1.0, 2.25, 3.0])


@pytest.mark.parametrize("origin", [False, True])
def test_columns_of_an_old_file_are_chebyshevs(origin):
    data = {**OLD, "origin": origin}
    out = np.empty((4, 4))
    read(data).write(out, pa.array(X))
    t = (X - 1.75) / 1.25
    for k in range(4):
        expected = chebyshev.chebval(t, np.eye(5)[k]) * X / 3.0 if origin else chebyshev.chebval(t, np.eye(5)[k + 1])
        np.testing.assert_allclose(out[:, k], expected, rtol=1e-14, atol=1e-14)
    _check_term(data)
    assert poly.units(data) == (1.25, 3.0)
    assert read(read(data).to_dict()) == read(data)  # written again it names its units


@pytest.mark.parametrize(
    "more", [{"unit": 1.0}, {"reach": 2.0}, {"unit": 0.0, "reach": 2.0}, {"unit": "1", "reach": 2.0}]
)
def test_half_named_units_are_refused(more):
    data = {**OLD, "origin": False, **more}
    with pytest.raises(ModelFileError):
        read(data)
    with pytest.raises(ModelFileError):
        _check_term(data)
