"""Laws of designs: each one equals its dense self under every verb, whatever it is stored as."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from lineal.designs import ALL, Affine, Categorical, ColumnMajor, Dense, HStack, Ones, Sparse, as_design
from lineal.designs.design import Design
from lineal.errors import InputError

Array = npt.NDArray[np.float64]
Maker = Callable[[int, int], tuple[Design, Array]]


def numbers(n: int, seed: int, p: int = 5) -> Array:
    return np.random.default_rng(seed).normal(size=(n, p))


def dense(change: Callable[[Array], npt.NDArray[np.floating]]) -> Maker:
    def make(n: int, seed: int) -> tuple[Design, Array]:
        array = change(numbers(n, seed, 11))
        return Dense(array), np.array(array, dtype=float)

    return make


def read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


def askew(array: Array) -> Array:
    """Return the same numbers at an odd address."""
    found = np.ndarray(array.shape, array.dtype, bytearray(array.nbytes + 8), 1)
    found[...] = array
    return found


def field(array: Array) -> Array:
    """Return the same numbers as a field of packed records, whose length is no multiple of theirs."""
    found = np.zeros(len(array), dtype=[("row", "f8", array.shape[1:]), ("mark", "u1")])
    found["row"] = array
    return found["row"]


def scattered(kind: str, dtype: type, wide: bool) -> Maker:
    def make(n: int, seed: int) -> tuple[Design, Array]:
        rng = np.random.default_rng(seed)
        array = rng.normal(size=(n, 9)) * (rng.random((n, 9)) < 0.3)
        matrix = sparse.csr_array(array.astype(dtype)).asformat(kind)
        if wide:
            matrix.indptr, matrix.indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        return Sparse(matrix), array.astype(dtype).astype(float)

    return make


def categorical(n: int, seed: int) -> tuple[Design, Array]:
    codes = np.random.default_rng(seed).integers(-1, 4, n).astype(np.int32)
    return Categorical(codes, 4), (codes[:, None] == np.arange(4)).astype(float)


def strided_categorical(n: int, seed: int) -> tuple[Design, Array]:
    codes = np.random.default_rng(seed).integers(-1, 3, (n, 2)).astype(np.int32)[:, 1]
    return Categorical(codes, 3), (codes[:, None] == np.arange(3)).astype(float)


def ones(n: int, seed: int) -> tuple[Design, Array]:
    return Ones(n), np.ones((n, 1))


def stack(*makers: Maker) -> Maker:
    def make(n: int, seed: int) -> tuple[Design, Array]:
        parts = [maker(n, seed + i) for i, maker in enumerate(makers)]
        return HStack([design for design, _ in parts]), np.hstack([array for _, array in parts])

    return make


def affine(maker: Maker) -> Maker:
    def make(n: int, seed: int) -> tuple[Design, Array]:
        inner, array = stack(ones, maker)(n, seed)
        rng = np.random.default_rng(seed + 77)
        shift, scale = rng.normal(size=array.shape[1]), rng.uniform(0.5, 2.0, array.shape[1])
        shift[0], scale[0] = 0.0, 1.0
        return Affine(inner, shift, scale), (array - shift) / scale

    return make


def scaled(n: int, seed: int) -> tuple[Design, Array]:
    array = numbers(n, seed)
    return Affine(Dense(array), np.zeros(5), np.arange(1.0, 6.0)), array / np.arange(1.0, 6.0)


def turned(maker: Maker) -> Maker:
    def make(n: int, seed: int) -> tuple[Design, Array]:
        design, array = maker(n, seed)
        return ColumnMajor.of(design), array

    return make


PLAIN = dense(lambda a: a)
SPARSE = scattered("csr", np.float64, wide=False)
MIXED = stack(ones, PLAIN, categorical, SPARSE, dense(lambda a: a[:, :3].astype(np.float32)), strided_categorical)

DESIGNS: dict[str, Maker] = {
    "ones": ones,
    "dense": PLAIN,
    "dense float32": dense(lambda a: a.astype(np.float32)),
    "dense Fortran": dense(np.asfortranarray),
    "dense Fortran float32": dense(lambda a: np.asfortranarray(a.astype(np.float32))),
    "dense strided": dense(lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=1)[::2, ::3]),
    "dense backwards": dense(lambda a: a[::-1, ::-1]),
    "dense columns of a wider one": dense(lambda a: a[:, 2:7]),
    "dense read-only": dense(read_only),
    "dense askew": dense(askew),
    "dense field of records": dense(field),
    "dense one column": dense(lambda a: a[:, :1]),
    "dense no column": dense(lambda a: a[:, :0]),
    "dense eight columns": dense(lambda a: a[:, :8]),
    "dense many columns": dense(lambda a: np.hstack([a * i for i in range(1, 9)])),
    "by columns": turned(dense(np.asfortranarray)),
    "by columns float32": turned(dense(lambda a: np.asfortranarray(a.astype(np.float32)))),
    "by columns sparse": turned(scattered("csc", np.float64, wide=False)),
    "by columns from rows": turned(scattered("csr", np.float32, wide=True)),
    "by columns beside others": turned(stack(ones, dense(np.asfortranarray), categorical, SPARSE)),
    "csr": SPARSE,
    "csr float32": scattered("csr", np.float32, wide=False),
    "csr 64-bit": scattered("csr", np.float64, wide=True),
    "csr 64-bit float32": scattered("csr", np.float32, wide=True),
    "csc": scattered("csc", np.float64, wide=False),
    "csc 64-bit": scattered("csc", np.float32, wide=True),
    "coo": scattered("coo", np.float64, wide=False),
    "categorical": categorical,
    "categorical strided": strided_categorical,
    "stack": MIXED,
    "nested stack": stack(stack(ones, SPARSE), stack(PLAIN, stack(categorical))),
    "ones in the middle": stack(PLAIN, ones, categorical),
    "affine dense": affine(PLAIN),
    "affine sparse": affine(SPARSE),
    "affine mixed": affine(stack(categorical, PLAIN)),
    "affine without shift": scaled,
}


def example(kind: type[Design]) -> Maker:
    def make(n: int, _seed: int) -> tuple[Design, Array]:
        design = kind.example(n)
        return design, np.array([design.times(np.eye(design.shape[1])[:, [j]])[:, 0] for j in range(design.shape[1])]).T

    return make


DESIGNS |= {f"{kind.__name__} of the catalogue": example(kind) for kind in ALL}
over_designs = pytest.mark.parametrize("make", DESIGNS.values(), ids=DESIGNS)
over_heights = pytest.mark.parametrize("n", [0, 1, 7, 300])


def close(got: Array, wanted: Array) -> None:
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(wanted).max(initial=0.0)))


@over_designs
@over_heights
def test_equals_its_dense_self(make: Maker, n: int) -> None:
    design, array = make(n, 1)
    p = array.shape[1]
    rng = np.random.default_rng(2)
    assert design.shape == (n, p)
    close(design.dense(), array)
    for k in (1, 2, 3, 4, 7, 11):
        coef, values = rng.normal(size=(p, k)), rng.normal(size=(n, k))
        close(design.times(coef), array @ coef)
        close(design.transpose_times(values), array.T @ values)
    weight = rng.normal(size=n)
    close(design.gram(), array.T @ array)
    close(design.gram(weight), array.T @ (weight[:, None] * array))


@over_designs
def test_adjoint(make: Maker) -> None:
    design, array = make(41, 3)
    rng = np.random.default_rng(4)
    coef, values = rng.normal(size=(array.shape[1], 2)), rng.normal(size=(41, 2))
    left, right = np.sum(values * design.times(coef)), np.sum(design.transpose_times(values) * coef)
    assert left == pytest.approx(right, rel=1e-12, abs=1e-12)


@over_designs
def test_taken_rows_are_those_rows(make: Maker) -> None:
    design, dense = make(30, 4)
    rows = np.array([29, 3, 3, 0])
    taken = design.take_rows(rows)
    np.testing.assert_allclose(taken.dense(), dense[rows], rtol=1e-15, atol=1e-15)  # an affine one rounds
    assert taken.shape == (4, design.shape[1])


@pytest.mark.slow
@over_designs
@given(start=st.integers(0, 30), stop=st.integers(0, 35))
def test_slices(make: Maker, start: int, stop: int) -> None:
    design, array = make(29, 5)
    part = design.slice(start, stop)
    assert part.shape == array[start:stop].shape
    close(part.dense(), array[start:stop])
    close(part.gram(), array[start:stop].T @ array[start:stop])


@over_designs
def test_rows_in_any_order(make: Maker) -> None:
    design, array = make(9000, 4)
    for rows in (np.array([8999, 3, 3, 8192, 0]), slice(5, 12), slice(None), np.array([], dtype=np.intp)):
        found = design.dense_rows(rows)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, array[rows], rtol=1e-15, atol=1e-15)
        if design.compact:
            np.testing.assert_array_equal(design.sparse_rows(rows).toarray(), found)


@over_designs
def test_columns_in_order(make: Maker) -> None:
    design, array = make(7, 5)
    if not design.compiled and design.designs == (design,) and not isinstance(design, ColumnMajor):
        with pytest.raises(InputError, match="single columns"):
            design.picker()
        return
    pick = design.picker()
    for _ in range(10):  # sparse columns are picked in two ways
        for columns in (np.arange(array.shape[1]), np.arange(array.shape[1])[-1:]):
            np.testing.assert_allclose(pick(columns).dense(), array[:, columns], rtol=1e-15, atol=1e-15)


@over_designs
def test_made_again_from_its_arrays(make: Maker) -> None:
    for part in make(7, 6)[0].slice(2, 6).designs:
        if part.compiled:
            assert type(part).of_arrays(part.arrays(), part.shape).dense().tolist() == part.dense().tolist()
        else:
            with pytest.raises(TypeError, match=type(part).__name__):
                part.arrays()


@over_designs
def test_what_is_said_of_a_design_is_true(make: Maker) -> None:
    design, array = make(50, 7)
    assert design.starts_with_ones <= bool(np.all(array[:, :1] == 1.0))
    assert np.count_nonzero(array) <= design.entries <= array.size
    assert 0 <= design.row_entries <= array.shape[1]
    assert not (design.plain and design.compact)
    assert design.compiled == bool(design.parts) == (design.rows is not None)


@over_designs
def test_gram_is_symmetric_to_the_bit_and_skips_rows_of_weight_zero(make: Maker) -> None:
    design, array = make(50, 6)
    weight = np.where(np.arange(50) % 3 == 0, 0.0, 1.5)
    gram = design.gram(weight)
    close(gram, array.T @ (weight[:, None] * array))
    if not isinstance(design, Affine):
        np.testing.assert_array_equal(gram, gram.T)


def test_rows_of_weight_zero_may_hold_anything() -> None:
    array = numbers(20, 7)
    weight = np.ones(20)
    broken = array.copy()
    broken[[3, 11]], weight[[3, 11]] = [[np.nan], [np.inf]], 0.0
    np.testing.assert_array_equal(Dense(broken).gram(weight), Dense(array).gram(weight))


def test_strided_coefficients_and_values() -> None:
    design, array = MIXED(33, 8)
    wide = np.random.default_rng(9).normal(size=(array.shape[1], 6))
    tall = np.asfortranarray(np.random.default_rng(9).normal(size=(66, 2)))
    close(design.times(wide[:, ::2]), array @ wide[:, ::2])
    close(design.transpose_times(tall[::2]), array.T @ tall[::2])


def test_affine_carries_results_over() -> None:
    inner, array = stack(ones, PLAIN)(40, 10)
    p, k = array.shape[1], 3
    rng = np.random.default_rng(11)
    shift, scale = rng.normal(size=p), rng.uniform(0.5, 2.0, p)
    shift[0], scale[0] = 0.0, 1.0
    view = Affine(inner, shift, scale)
    seen = (array - shift) / scale
    curvature = rng.random((40, k, k))
    curvature = curvature + curvature.transpose(0, 2, 1)

    def hessian(x: Array, h: int) -> Array:
        full = np.einsum("nab,ni,nj->aibj", curvature, x[:, :h], x[:, :h])
        return np.asarray(full.reshape(1, k * h, k * h))

    for h in (1, 4, p):
        close(view.outer_hessian(hessian(array, p), k, h), hessian(seen, h))
    stacked = np.stack([array.T @ (curvature[:, a, a, None] * array) for a in range(k)])
    wanted = np.stack([seen.T @ (curvature[:, a, a, None] * seen) for a in range(k)])
    close(view.outer_hessian(stacked, k, p), wanted)
    close(view.outer_hessian(stacked, k, 3), wanted[:, :3, :3])
    coef = rng.normal(size=(p, k))
    close(array @ view.inner_coef(coef), seen @ coef)
    values = rng.normal(size=(40, k))
    close(view.outer_gradient(array.T @ values), seen.T @ values)


def test_duplicates_and_unsorted_columns_of_a_sparse_matrix() -> None:
    data, columns, starts = np.array([1.0, 2.0, 4.0, 8.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])
    matrix = sparse.csr_array((data, columns, starts), shape=(2, 3))
    before = matrix.data.copy()
    np.testing.assert_array_equal(Sparse(matrix).dense(), [[2.0, 0.0, 5.0], [0.0, 8.0, 0.0]])
    np.testing.assert_array_equal(matrix.data, before)
    np.testing.assert_array_equal(Sparse(matrix).gram(), matrix.toarray().T @ matrix.toarray())


def test_as_design() -> None:
    array = np.array([[1, 2], [3, 4]])
    np.testing.assert_array_equal(as_design(array, intercept=False).dense(), array)
    np.testing.assert_array_equal(as_design(sparse.csr_array(array)).dense(), [[1, 1, 2], [1, 3, 4]])
    single = array.astype(np.float32)
    held = as_design(single, intercept=False)
    assert isinstance(held, Dense)
    assert held.array is single
    assert as_design(held, intercept=False) is held


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dense(np.zeros(3)), "2 dimensions"),
        (lambda: Dense(np.zeros((2, 2), dtype=int)), "float32 or float64"),
        (lambda: Sparse(np.zeros((2, 2))), "sparse matrix"),
        (lambda: Categorical(np.array([0.5]), 2), "whole numbers"),
        (lambda: Categorical(np.array([2]), 2), "between -1 and 1"),
        (lambda: Categorical(np.array([2], dtype=np.int32), 2), "outside -1 .. 1"),
        (lambda: HStack([]), "at least one"),
        (lambda: HStack([Ones(2), Ones(3)]), r"\[2, 3\]"),
        (lambda: HStack([Affine(Ones(2), np.zeros(1), np.ones(1))]), "Affine"),
        (lambda: Affine(Ones(2), np.zeros(2), np.ones(1)), "shape"),
        (lambda: Affine(Ones(2), np.zeros(1), np.zeros(1)), "zero"),
        (lambda: Affine(Ones(2), np.ones(1), np.ones(1)), "first column of ones"),
        (lambda: Affine(Ones(2), np.zeros(1), np.ones(1)).outer_hessian(np.ones((1, 3, 3)), 2, 1), "hessian"),
        (lambda: as_design([["a"]]), "numbers"),
        (lambda: as_design([1.0, 2.0]), "2 dimensions"),
    ],
)
def test_refusals_say_why(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("at", [0, 1023, 1024, 2999])
@pytest.mark.parametrize("code", [-2, 5, 6, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("step", [1, 2])
def test_a_code_out_of_range_is_seen_in_any_row(at: int, code: int, step: int) -> None:
    codes = np.resize(np.arange(-1, 5, dtype=np.int32), 3000 * step)[::step]
    assert Categorical(codes, 5).shape == (3000, 5)
    codes[at] = code
    with pytest.raises(ValueError, match=f"code {code} in row {at} is outside -1 .. 4"):
        Categorical(codes, 5)


def test_a_plain_array_is_made_without_a_product(monkeypatch):
    """Of 10,000 columns a product with the identity takes seconds, in which nobody looks at a deadline."""
    x = np.asfortranarray(np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32))
    monkeypatch.setattr(Dense, "times", None)
    found = HStack([Ones(7), Dense(x)]).slice(1, 6).dense()
    assert (found.dtype, found.flags.c_contiguous) == (np.float64, True)
    assert np.array_equal(found, np.column_stack([np.ones(5), x[1:6].astype(float)]))


def test_one_row_of_many_columns_is_written_out_without_their_square():
    """Three rows of 200,000 columns are 5 MB; a matrix of these columns would be 320 GB."""
    matrix = sparse.csr_array(([2.0, -3.0, 5.0], ([0, 1, 2], [7, 199_999, 0])), shape=(3, 200_000))
    np.testing.assert_array_equal(Sparse(matrix).dense(), matrix.toarray())
    wide = HStack([Ones(3), Sparse(matrix)]).slice(1, 2).dense()
    np.testing.assert_array_equal(wide, np.hstack([[[1.0]], matrix.toarray()[1:2]]))
