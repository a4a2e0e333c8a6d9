"""Sums of sparse cells by class, in the compiled core, beside fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from lineal import _core
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.generative.class_sums import SumClasses
from lineal.sources.source import Block

KINDS = {
    "counts": lambda rng, n: rng.integers(0, 9, n) * 1.0,
    "negative": lambda rng, n: rng.integers(-9, 9, n) * 1.0,
    "fractions": lambda rng, n: rng.random(n) - 0.3,
    "thirds": lambda rng, n: rng.integers(1, 5, n) / 3.0,
    "large": lambda rng, n: rng.integers(1, 2**53, n) * 2.0**20,
    "of many sizes": lambda rng, n: rng.standard_normal(n) * 10.0 ** rng.integers(-40, 40, n),
    "nothing": lambda rng, n: 0.0 * rng.random(n),
}


def exact(matrix, codes, classes):
    sums = [[Fraction(0)] * matrix.shape[1] for _ in range(classes)]
    for code, row in zip(codes, matrix.toarray().tolist(), strict=True):
        sums[code] = [one + Fraction(cell) for one, cell in zip(sums[code], row, strict=True)]
    return [one for own in sums for one in own]


def found(matrix, codes, classes):
    design = as_design(matrix, intercept=False)
    return SumClasses(classes)(Block(design, np.asarray(codes, float)[:, None])).sums


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("types", [(np.float64, np.int32), (np.float64, np.int64), (np.float32, np.int32)])
def test_sums_are_those_of_fractions(kind, types):
    rng = np.random.default_rng(7)
    n, p, each = 200, 12, 5
    columns = np.sort(np.array([rng.choice(p, each, replace=False) for _ in range(n)]), axis=1)
    values = KINDS[kind](rng, n * each)
    if kind == "of many sizes" and types[0] is np.float32:
        values = values.clip(-1e30, 1e30)
    parts = values.astype(types[0]), columns.ravel().astype(types[1]), np.arange(0, n * each + 1, each, dtype=types[1])
    matrix = csr_array(parts, shape=(n, p))
    codes = rng.integers(0, 3, n)
    whole = found(matrix, codes, 4)
    assert whole.fractions() == exact(matrix, codes, 4)
    first = found(matrix[:71], codes[:71], 4) + found(matrix[71:], codes[71:], 4)
    assert first.fractions() == whole.fractions()
    design = as_design(matrix, intercept=False).slice(71, n)  # begins in the middle of its arrays
    late = SumClasses(4)(Block(design, codes[71:, None].astype(float))).sums
    assert late.fractions() == exact(matrix[71:], codes[71:], 4)


@pytest.mark.parametrize("cell", [np.nan, np.inf, -np.inf, 1e95, 1e-95, 5e-324])
def test_cells_that_cannot_be_added_are_refused_wherever_they_stand(cell):
    for at in (0, 4095, 4096, 8999):
        values = np.ones(9000)
        values[at] = cell
        matrix = csr_array((values, np.arange(9000) % 9000, np.arange(0, 9001, 3)), shape=(3000, 9000))
        with pytest.raises(InputError, match=r"NaN or infinity|numbers up to"):
            found(matrix, np.zeros(3000, int), 1)


def test_tiny_cells_beside_others_of_a_column_are_added():
    matrix = csr_array(np.array([[1e-95], [1.0], [0.5]]))
    assert found(matrix, [0, 0, 0], 1).fractions() == exact(matrix, [0, 0, 0], 1)


def test_the_core_refuses_what_it_would_read_beyond():
    part = _core.Sparse(np.array([0, 1, 2], np.int32), np.array([0, 1], np.int32), np.ones(2), 2)
    with pytest.raises(ValueError, match="code for every row"):
        _core.class_totals(part, np.zeros(3, np.int64), 1)
    for codes in ([0, 2], [-1, 0]):
        with pytest.raises(ValueError, match="those of the classes"):
            _core.class_totals(part, np.array(codes, np.int64), 2)
    with pytest.raises(ValueError, match="a class"):
        _core.class_totals(part, np.zeros(2, np.int64), 0)
    with pytest.raises(ValueError, match="levels"):
        _core.class_parts(part, np.zeros(2, np.int64), 1, 0, 0)
    fraction = _core.Sparse(np.array([0, 1], np.int32), np.array([0], np.int32), np.array([0.1]), 1)
    with pytest.raises(ValueError, match="below the last level"):
        _core.class_parts(fraction, np.zeros(1, np.int64), 1, 0, 1)
