"""The fingerprint of rows: the same for arrays and tables, any order in memory, any number of threads."""

import hashlib

import numpy as np
import pytest

import lineal
from lineal import _core
from lineal.features.fingerprint import Fingerprint


def by_definition(columns):
    """Return the hash as docs/model-file.md says, from columns of numbers."""
    whole = hashlib.sha256()
    for name in sorted(columns, key=str.encode):
        cells = np.asarray(columns[name], dtype="<f8").copy()
        cells[np.isnan(cells)] = np.nan
        whole.update(name.encode() + b"\0" + b"n" + hashlib.sha256(cells.tobytes()).digest())
    return f"sha256:{whole.hexdigest()}"


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("shape", [(3, 1), (700, 4), (200_003, 6), (40, 30_000)])
def test_a_matrix_is_its_columns(shape, threads):
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(shape[1])]
    matrix = rng.normal(size=shape)
    matrix[0, 0] = np.nan
    matrix[1, 0] = -np.frombuffer(np.array([0x7FF8000000000001]).tobytes())[0]
    matrix[2, 0] = np.inf
    before = _core.threads()
    _core.set_threads(threads)
    try:
        for form in (matrix, np.asfortranarray(matrix), matrix[::-1][::-1]):
            found = Fingerprint(names, ())
            found.add_matrix(names, form)
            assert found.hex() == by_definition(dict(zip(names, matrix.T, strict=True)))
    finally:
        _core.set_threads(before)
    assert np.isnan(matrix[1, 0])


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_arrays_and_tables_have_one_fingerprint(kind):
    rng = np.random.default_rng(1)
    X = (10 * rng.normal(size=(60, 3))).astype(kind)
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=60)
    model = lineal.fit(X, y, model="linear")
    columns = {f"x{j}": X[:, j].astype(float) for j in range(3)} | {"y": y}
    assert model.training["fingerprint"] == by_definition(columns)
    assert model.training["fingerprint"] == lineal.fit(columns, target="y", model="linear").training["fingerprint"]


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 2.0], ["a", "b"], [True, False]])
def test_classes_too(labels):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    y = np.array(labels)[rng.integers(0, 2, 60)]
    array = lineal.fit(X, y, penalty=0.1).training["fingerprint"]
    table = lineal.fit({"x0": X[:, 0], "x1": X[:, 1], "y": y}, target="y", penalty=0.1).training["fingerprint"]
    assert array == table
