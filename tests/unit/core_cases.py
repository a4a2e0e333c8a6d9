"""Designs of every kind of part, with losses and weights, for the tests of the core's passes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse, special

from lineal import _core

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A small problem: a compiled design, its dense self, targets, weights, offsets and coefficients."""

    rows: _core.Rows
    x: Array
    loss: int
    y: Array
    weight: Array | None
    offset: Array | None
    coef: Array

    @property
    def s(self) -> Array:
        return np.ones(len(self.x)) if self.weight is None else self.weight

    @property
    def eta(self) -> Array:
        eta = self.x @ self.coef
        return eta if self.offset is None else eta + self.offset

    def truth(self, eta: Array) -> tuple[Array, Array, Array]:
        """Value [n], slope [n, k] and curvature [n, k, k] by the textbook."""
        if self.loss == 0:
            r = eta - self.y
            return np.sum(r**2, axis=1) / 2, r, np.broadcast_to(np.eye(eta.shape[1]), (*eta.shape, eta.shape[1]))
        if self.loss == 1:
            p = special.expit(eta)
            value = np.sum(np.logaddexp(0, eta) - self.y * eta, axis=1)
            return value, p - self.y, (p * (1 - p))[:, :, None] * np.eye(eta.shape[1])
        hot = np.eye(eta.shape[1])[self.y[:, 0].astype(int)]
        p = special.softmax(eta, axis=1)
        bent = p[:, :, None] * np.eye(eta.shape[1]) - p[:, :, None] * p[:, None, :]
        return special.logsumexp(eta, axis=1) - np.sum(hot * eta, axis=1), p - hot, bent


def parts(kind: str, n: int, rng: np.random.Generator) -> tuple[_core.Rows, Array]:
    x = rng.normal(size=(n, 12))
    matrix = sparse.csr_array(x[:, :7] * (rng.random((n, 7)) < 0.4))
    codes = rng.integers(-1, 3, n).astype(np.int32)
    other = rng.integers(0, 5, n).astype(np.int32)
    ones = np.ones((n, 1))
    if kind == "dense":
        return _core.Rows([_core.Ones(n), _core.Dense(x)]), np.hstack([ones, x])
    if kind == "float32":
        single = x.astype(np.float32)
        return _core.Rows([_core.Dense(single)]), single.astype(float)
    held = _core.Sparse(matrix.indptr, matrix.indices, matrix.data, 7)
    if kind == "sparse":
        return _core.Rows([_core.Ones(n), held]), np.hstack([ones, matrix.toarray()])
    hot = [(c[:, None] == np.arange(m)).astype(float) for c, m in ((codes, 3), (other, 5))]
    if kind == "codes":
        return _core.Rows([_core.Ones(n), _core.Codes(codes, 3), _core.Codes(other, 5)]), np.hstack([ones, *hot])
    design = [_core.Ones(n), _core.Codes(codes, 3), _core.Dense(x[:, :10]), held, _core.Codes(other, 5)]
    return _core.Rows(design), np.hstack([ones, hot[0], x[:, :10], matrix.toarray(), hot[1]])


def case(kind: str, loss: int, k: int, n: int = 300, weighted: bool = True, size: float = 0.5) -> Case:
    rng = np.random.default_rng(n + k)
    rows, x = parts(kind, n, rng)
    y = (rng.normal(size=(n, k)), rng.random((n, k)), rng.integers(0, k, (n, 1)).astype(float))[loss]
    weight = np.where(np.arange(n) % 5 == 3, 0.0, rng.random(n)) if weighted else None
    offset = rng.normal(size=(n, k)) if weighted else None
    return Case(rows, x, loss, y, weight, offset, size * rng.normal(size=(x.shape[1], k)))


def close(got: npt.ArrayLike, wanted: npt.ArrayLike, tol: float = 1e-12) -> None:
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=tol, atol=tol * max(1.0, np.abs(wanted).max(initial=0.0)))


KINDS = ["dense", "float32", "sparse", "codes", "mixed"]


LOSSES = [(0, 1), (0, 3), (1, 1), (1, 2), (2, 2), (2, 3), (2, 10)]


over_cases = pytest.mark.parametrize(("kind", "loss", "k"), [(kind, *loss) for kind in KINDS for loss in LOSSES])
