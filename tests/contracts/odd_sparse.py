"""Sparse matrices whose parts do not fit, and odd ones that are legal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from tests.contracts.odd import N, X


def damaged() -> Iterator[tuple[str, Any]]:
    """Yield sparse matrices whose parts do not fit, each with what is wrong."""
    far, big = 10**6, 2**40
    compressed: dict[str, Callable[[Any], None]] = {
        "index too large": lambda m: m.indices.__setitem__(4, far),
        "last index too large": lambda m: m.indices.__setitem__(-1, max(m.shape)),
        "index negative": lambda m: m.indices.__setitem__(4, -far),
        "index -1": lambda m: m.indices.__setitem__(0, -1),
        "index beyond int32": lambda m: _set(m, indices=np.append(m.indices[:-1].astype(np.int64), big)),
        "indptr decreases": lambda m: m.indptr.__setitem__(1, m.indptr[2] + 1),
        "indptr negative": lambda m: m.indptr.__setitem__(1, -far),
        "indptr ends beyond": lambda m: m.indptr.__setitem__(-1, far),
        "indptr in the middle beyond": lambda m: m.indptr.__setitem__(1, far),
        "indptr does not start at 0": lambda m: m.indptr.__setitem__(0, 1),
        "indptr starts below 0": lambda m: m.indptr.__setitem__(0, -far),
        "indptr beyond int32": lambda m: _set(m, indptr=np.append(m.indptr[:-1].astype(np.int64), big)),
        "indptr too short": lambda m: _set(m, indptr=m.indptr[:-1].copy()),
        "indptr too long": lambda m: _set(m, indptr=np.append(m.indptr, m.indptr[-1])),
        "indptr empty": lambda m: _set(m, indptr=m.indptr[:0].copy()),
        "data too short": lambda m: _set(m, data=m.data[:3].copy()),
        "indices too short": lambda m: _set(m, indices=m.indices[:3].copy()),
        "indices of floats": lambda m: _set(m, indices=m.indices.astype(float)),
        "indptr of floats": lambda m: _set(m, indptr=m.indptr.astype(float)),
        "indices in two dimensions": lambda m: _set(m, indices=m.indices.reshape(-1, 1).copy()),
        "indptr is None": lambda m: _set(m, indptr=None),
        "shape too wide": lambda m: setattr(m, "_shape", (far, far)),
        "shape too narrow": lambda m: setattr(m, "_shape", (N, 1) if m.format == "csr" else (1, 3)),
    }  # fmt: skip
    for name in ("csr", "csc", "bsr"):
        for kind in (sp.csr_array, sp.csr_matrix):
            for fault, spoil in compressed.items():
                matrix = kind(X).asformat(name).copy()
                spoil(matrix)
                yield f"{kind.__name__[4:]} {name}: {fault}", matrix
    for k in (0, 1):
        for value in (far, -far, -1, N):
            matrix = sp.coo_array(X)
            matrix.coords[k][3] = value
            yield f"coo: coordinate {k} is {value}", matrix
    yield "coo: data too short", _set(sp.coo_array(X), data=np.ones(2))
    yield "dia: offsets too short", _set(sp.dia_array(X), offsets=np.array([0]))
    yield "dia: data too short", _set(sp.dia_array(X), data=sp.dia_array(X).data[:1])
    yield "dia: one dimension", _set(sp.dia_array(X), data=np.ones(3))
    yield "dia: a diagonal twice", _set(sp.dia_array(X), offsets=np.zeros_like(sp.dia_array(X).offsets))
    for value in (far, -far, -1):
        matrix = sp.lil_array(X)
        matrix.rows[3][0] = value
        yield f"lil: column {value}", matrix
        other = sp.dok_array(X)
        other._dict[(0, value)] = 1.0
        yield f"dok: column {value}", other
    matrix = sp.lil_array(X)
    matrix.data[3].append(1.0)
    yield "lil: rows and data differ", matrix


def legal() -> Iterator[tuple[str, Any]]:
    """Yield matrices that are unusual and mean X."""
    back = sp.csr_array(X[:, ::-1])
    back.indices[:] = 2 - back.indices
    back.has_sorted_indices = False
    for name in ("csr", "csc"):
        matrix = sp.csr_array(X).asformat(name)
        twice = type(matrix)(
            (np.repeat(matrix.data / 2, 2), np.repeat(matrix.indices, 2), 2 * matrix.indptr), shape=X.shape
        )
        yield f"{name}: every entry twice", twice
        lying = twice.copy()
        lying.has_canonical_format = True
        yield f"{name}: every entry twice, called canonical", lying
        yield (
            f"{name}: 64-bit indices",
            _set(matrix.copy(), indices=matrix.indices.astype(np.int64), indptr=matrix.indptr.astype(np.int64)),
        )
        yield f"{name}: 64-bit indptr only", _set(matrix.copy(), indptr=matrix.indptr.astype(np.int64))
        yield f"{name}: unsigned indices", _set(matrix.copy(), indices=matrix.indices.astype(np.uint32))
        yield (
            f"{name}: more stored than used",
            _set(matrix.copy(), data=np.append(matrix.data, [7.0, 7.0]), indices=np.append(matrix.indices, [0, 0])),
        )
        yield f"{name}: data with gaps", _set(matrix.copy(), data=np.repeat(matrix.data, 2)[::2])
        yield f"{name}: swapped bytes", _set(matrix.copy(), data=matrix.data.astype(">f8"))
        mixed = sp.csr_array((back.data, back.indices, back.indptr), shape=X.shape).asformat(name)
        yield f"{name}: columns out of order", mixed
    yield (
        "coo: every entry twice",
        sp.coo_array(
            (np.repeat(sp.coo_array(X).data / 2, 2), [np.repeat(c, 2) for c in sp.coo_array(X).coords]), shape=X.shape
        ),
    )
    wide = sp.dia_array(X)
    yield (
        "dia: a diagonal outside",
        sp.dia_array(
            (np.vstack([wide.data, np.full_like(wide.data[:1], 9.0)]), np.append(wide.offsets, 1000)), shape=X.shape
        ),
    )


def _set(matrix: Any, **parts: Any) -> Any:
    for name, part in parts.items():
        setattr(matrix, name, part)
    return matrix
