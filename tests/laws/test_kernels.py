"""Laws of every kernel of the catalogue: as scikit-learn has it, rounding bounded, read back from text and file."""

from __future__ import annotations

import json

import mpmath
import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, polynomial_kernel, rbf_kernel, sigmoid_kernel

from lineal import _core, kernels
from lineal.errors import InputError, ModelFileError
from lineal.kernels import composed

EVERY = [kernel for kind in kernels.ALL for kernel in kind.examples()]
ROWS = [kernel for kernel in EVERY if kernel.takes == "rows"]
TEXTS = ["", "a", "abab", "the cat sat on the mat", ["the", "cat"], "ünïcödé 😀 " * 3, "the mat"]
TREES = ["(leaf)", "(S (N Mary) (V runs))", "(S (N (D the) (A cat)) (V runs))", "(V runs)", "(S (N Mary) (V runs))"]


def drawn(n, p, *, seed=0, scale=1.0):
    random = np.random.default_rng(seed)
    X = scale * random.standard_normal((n, p))
    X[:, ::2] *= random.random((n, 1)) < 0.6
    return X


def points_for(kernel):
    """Eight points or fewer of the kind that a kernel takes."""
    if kernel.takes == "entries":
        return drawn(6, 4) @ drawn(6, 4).T
    return {"rows": drawn(8, 3), "sequences": TEXTS, "trees": TREES}[kernel.takes]


def theirs(kernel, X, Z):
    if kernel.name == "sum":
        return sum(theirs(part, X, Z) for part in kernel.parts)
    if kernel.name == "product":
        return np.prod([theirs(part, X, Z) for part in kernel.parts], axis=0)
    if kernel.name == "normalized":
        one, other = (np.sqrt(np.diagonal(theirs(kernel.base, A, A))) for A in (X, Z))
        return theirs(kernel.base, X, Z) / np.outer(one, other)
    if kernel.name == "linear":
        return linear_kernel(X, Z)
    if kernel.name == "poly":
        return polynomial_kernel(X, Z, degree=kernel.degree, gamma=kernel.gamma, coef0=kernel.coef0)
    if kernel.name == "sigmoid":
        return sigmoid_kernel(X, Z, gamma=kernel.gamma, coef0=kernel.coef0)
    return {"rbf": rbf_kernel, "laplacian": laplacian_kernel}[kernel.name](X, Z, gamma=kernel.gamma)


def exactly(kernel, x, z):
    """The kernel of two rows of doubles in 60 digits."""
    with mpmath.workdps(60):
        if kernel.name == "sum":
            return mpmath.fsum(exactly(part, x, z) for part in kernel.parts)
        if kernel.name == "product":
            return mpmath.fprod(exactly(part, x, z) for part in kernel.parts)
        if kernel.name == "normalized":
            own = exactly(kernel.base, x, x) * exactly(kernel.base, z, z)
            return exactly(kernel.base, x, z) / mpmath.sqrt(own)
        x, z = [mpmath.mpf(float(v)) for v in x], [mpmath.mpf(float(v)) for v in z]
        product = mpmath.fsum(a * b for a, b in zip(x, z, strict=True))
        if kernel.name == "linear":
            return product
        if kernel.name == "poly":
            return (mpmath.mpf(kernel.gamma) * product + mpmath.mpf(kernel.coef0)) ** kernel.degree
        if kernel.name == "sigmoid":
            return mpmath.tanh(mpmath.mpf(kernel.gamma) * product + mpmath.mpf(kernel.coef0))
        power = 2 if kernel.name == "rbf" else 1
        return mpmath.exp(
            -mpmath.mpf(kernel.gamma) * mpmath.fsum(abs(a - b) ** power for a, b in zip(x, z, strict=True))
        )


@pytest.mark.parametrize("kernel", ROWS, ids=repr)
@pytest.mark.parametrize(("n", "p"), [(30, 4), (3, 40), (1, 1), (0, 3), (2, 0)])
@pytest.mark.parametrize("sparse", [False, True, "left", "right"])
def test_entries_are_those_of_scikit_learn(kernel, n, p, sparse):
    X, Z = drawn(n, p), drawn(n + 2, p, seed=1)
    given = csr_array if sparse in (True, "left") else np.asarray
    other = csr_array if sparse in (True, "right") else np.asarray
    gram, cross = kernel.gram(given(X)), kernel.gram(given(X), other(Z))
    assert np.array_equal(gram, gram.T)
    assert np.array_equal(np.diagonal(gram), kernel.diagonal(given(X)))
    assert cross.shape == (n, n + 2)
    if n and p:
        np.testing.assert_allclose(gram, theirs(kernel, X, X), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(cross, theirs(kernel, X, Z), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kernel", ROWS, ids=repr)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_rounding_of_entries_is_bounded(kernel, scale, sparse):
    X, Z = drawn(6, 5, scale=scale) + scale, drawn(5, 5, seed=3, scale=scale) - scale
    given = csr_array if sparse else np.asarray
    for A, B, entries in ((X, Z, kernel.gram(given(X), given(Z))), (X, X, kernel.gram(given(X)))):
        bound = np.outer(kernel.entry_error(given(A)), kernel.entry_error(given(B)))
        for i, x in enumerate(A):
            for j, z in enumerate(B):
                with mpmath.workdps(60):
                    assert abs(mpmath.mpf(float(entries[i, j])) - exactly(kernel, x, z)) <= mpmath.mpf(
                        float(bound[i, j])
                    )


@pytest.mark.parametrize("kernel", [kernel for kernel in EVERY if kernel.mercer], ids=repr)
def test_gram_matrices_of_mercer_kernels_have_no_negative_eigenvalue_but_for_rounding(kernel):
    X = points_for(kernel)
    error = kernel.entry_error(X)
    values = np.linalg.eigvalsh(kernel.gram(X))
    assert values[0] >= -(error @ error) - 1e-13 * values[-1]


@pytest.mark.parametrize("kernel", EVERY, ids=repr)
def test_gram_matrices_are_symmetric_and_cross_ones_agree_with_them(kernel):
    X = points_for(kernel)
    gram, order = kernel.gram(X), [3, 1, 2]
    assert np.array_equal(gram, gram.T)
    assert np.array_equal(np.diagonal(gram), kernel.diagonal(X))
    assert np.isfinite(kernel.entry_error(X)).all()
    if kernel.takes != "entries":
        points = kernel.points(X)
        np.testing.assert_allclose(
            kernel.gram(points.take(np.array(order)), points), gram[order], rtol=1e-13, atol=1e-15
        )
        assert kernel.gram(points.take(np.arange(0)), points).shape == (0, len(points))
        assert kernel.gram(points.take(np.arange(0))).shape == (0, 0)


@pytest.mark.parametrize("kernel", [kernel for kernel in EVERY if kernel.takes != "entries"], ids=repr)
def test_any_number_of_threads_gives_the_same_bits(kernel):
    X = [*points_for(kernel)] * 7
    before = _core.threads()
    try:
        found = []
        for threads in (1, 2, 5):
            _core.set_threads(threads)
            found.append(kernel.gram(X))
    finally:
        _core.set_threads(before)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_sigmoid_has_a_gram_matrix_with_a_negative_eigenvalue():
    gram = kernels.Sigmoid(1.0, -1.0).gram([[0.1], [1.0]])
    assert np.linalg.eigvalsh(gram)[0] < -0.1


@pytest.mark.parametrize("kernel", EVERY, ids=repr)
def test_kernels_are_read_back_from_text_and_from_a_file(kernel):
    assert kernels.read(kernel.spelled()) == kernel
    assert kernels.from_dict(json.loads(json.dumps(kernel.to_dict()))) == kernel
    assert kernel.formula()


@pytest.mark.parametrize("kernel", [kernel for kernel in EVERY if len(kernel.to_dict()) > 1], ids=repr)
def test_files_with_damaged_members_are_refused(kernel):
    data = kernel.to_dict()
    for name in data.keys() - {"kernel"}:
        for value in (None, "?", True, float("nan"), float("inf"), [1.0], {"kernel": "none"}):
            with pytest.raises(ModelFileError):
                kernels.from_dict(data | {name: value})
        with pytest.raises(ModelFileError):
            kernels.from_dict({key: value for key, value in data.items() if key != name})
    with pytest.raises(ModelFileError):
        kernels.from_dict(data | {"more": 1})


@pytest.mark.parametrize("n", [1, 7, 8, 9, 130, 300])
@pytest.mark.parametrize("p", [1, 3, 700])
def test_blocks_of_many_points_fit_together(n, p):
    X, Z = drawn(n, p), drawn(n // 2 + 3, p, seed=5)
    for kernel in (kernels.Gaussian(0.3 / p), kernels.Laplacian(0.2 / p), kernels.Polynomial(3, 1.0, 1 / p)):
        gram = kernel.gram(X)
        assert np.array_equal(gram, gram.T)
        np.testing.assert_allclose(gram, theirs(kernel, X, X), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(kernel.gram(X, Z), theirs(kernel, X, Z), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "convert", [np.asfortranarray, lambda X: X.astype(np.float32), lambda X: X[::-1, ::-1], csc_array]
)
def test_any_layout_of_the_same_numbers_gives_the_same_entries(convert):
    X = np.round(drawn(9, 4), 2).astype(np.float32).astype(np.float64)
    given = convert(X)
    X = X if given.shape != X.shape or not isinstance(given, np.ndarray) else np.ascontiguousarray(given, dtype=float)
    if isinstance(given, np.ndarray):
        given.flags.writeable = False
    for kernel in ROWS:
        np.testing.assert_allclose(kernel.gram(given), kernel.gram(X), rtol=1e-13, atol=1e-14)


def test_differences_far_from_zero_do_not_cancel():
    X = np.array([[1e9], [1e9 + 1.0]])
    assert kernels.Gaussian(0.5).gram(X)[0, 1] == pytest.approx(np.exp(-0.5), rel=1e-15)


def test_width_is_that_of_the_notes():
    assert kernels.read("rbf:2").gram([[0.0]], [[3.0]])[0, 0] == pytest.approx(np.exp(-9 / 8), rel=1e-15)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rbg:1", "Did you mean 'rbf'"),
        ("rbf:1,gamma=2", "give one"),
        ("rbf:0", "above 0"),
        ("rbf:nan", "finite"),
        ("poly:2.5", "whole number"),
        ("poly:0", "from 1 to"),
        ("poly:2,,1", "empty parameter"),
        ("poly:2,degree=3", "given twice"),
        ("poly:gama=1", "Did you mean 'gamma'"),
        ("linear:1", "takes 0 parameters"),
        ("linear + ", "too early"),
        ("(linear", "never closed"),
        ("linear)", "expected"),
        ("linear rbf:1", "expected"),
        ("* linear", "lacks a kernel"),
        ("normalized linear", "no bracket"),
        ("normalized(sigmoid:1)", "not Mercer"),
        ("linear + spectrum:2", "same points"),
        ("spectrum:2 + tree:0.5", "same points"),
        ("string:ssk,3,1.5", "at most 1"),
        ("string:ssk,33,0.5", "from 1 to 32"),
        ("spectrum:3,unit=letters", "'characters' or 'words'"),
        ("tree:0", "above 0"),
        ("function", "no kernel 'function'"),
        ("", "spelled as a text"),
        pytest.param("(" * 5000 + "linear" + ")" * 5000, "5000 brackets", id="deep"),
    ],
)
def test_kernels_that_are_none_are_refused_in_words(text, words):
    with pytest.raises(InputError, match=words):
        kernels.read(text)


@pytest.mark.parametrize(
    ("X", "Z", "words"),
    [
        ([[np.nan]], None, "NaN"),
        ([1.0, 2.0], None, "two dimensions"),
        ([[1.0]], [[1.0, 2.0]], "X has 1 columns and Z has 2"),
        ([["a"]], None, "could not convert"),
        ([[1e200]], None, "beyond what a double holds"),
    ],
)
def test_points_that_are_none_are_refused_in_words(X, Z, words):
    with pytest.raises(InputError, match=words):
        kernels.Polynomial(2).gram(X, Z)


def test_precomputed_matrices_are_square_and_symmetric():
    K = np.array([[2.0, 1.0], [1.0, 2.0]])
    kernel = kernels.Precomputed()
    assert np.array_equal(kernel.gram(K), K)
    assert np.array_equal(kernel.gram(np.ones((3, 2)), K), np.ones((3, 2)))
    for wrong, words in (
        ([[1.0, 2.0]], "square"),
        ([[1.0, 2.0], [2.5, 1.0]], "not symmetric"),
        ([[np.inf]], "infinity"),
    ):
        with pytest.raises(InputError, match=words):
            kernel.gram(wrong)
    with pytest.raises(InputError, match="a column for each"):
        kernel.gram(np.ones((3, 3)), K)


def test_prepared_points_are_taken_as_they_are():
    X = drawn(5, 2)
    kernel = kernels.Gaussian(1.0)
    points = kernel.points(X)
    assert np.array_equal(kernel.gram(points.take(np.array([3, 1])), points), kernel.gram(X)[[3, 1]])


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (kernels.Linear(), [[1e200], [1e200]]),
        (kernels.Polynomial(100), [[1e5]]),
        (kernels.Gaussian(1.0), csr_array([[1e200], [1e200]])),
        (kernels.SubsetTree(1.0), ["(a" + "(b(c)(c)(c))" * 2000 + ")"]),
        (kernels.Sum((kernels.Linear(), kernels.Linear())), [[1.2e154]]),
    ],
    ids=repr,
)
def test_entries_beyond_doubles_are_refused(kernel, X):
    with pytest.raises(InputError, match="beyond what a double holds"):
        kernel.gram(X)
    if kernel.name != "rbf":
        with pytest.raises(InputError, match="beyond what a double holds"):
            kernel.diagonal(X)


def test_files_of_kernels_in_many_layers_are_refused():
    data = {"kernel": "linear"}
    for _ in range(400):
        data = {"kernel": "normalized", "base": data}
    with pytest.raises(ModelFileError, match="layers"):
        kernels.from_dict(data)


def test_differences_of_huge_numbers_are_no_trouble():
    assert kernels.Gaussian(1.0).gram([[1e200], [-1e200]]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert kernels.Laplacian(1.0).gram([[1.7e308], [-1.7e308]]).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("spelled", ["normalized(spectrum:2) + spectrum:3", "spectrum:2 * spectrum:1,unit=words"])
def test_texts_are_compared_by_characters_and_by_words_at_once(spelled):
    texts = ["the cat sat", "a cat", "", "sat sat the"]
    kernel = kernels.read(spelled)
    first, second = (part.gram(texts) for part in kernel.parts)
    np.testing.assert_array_equal(kernel.gram(texts), first + second if "+" in spelled else first * second)


@pytest.mark.parametrize("spelled", ["rbf:2 + poly:2", "laplacian:0.1 * (linear + rbf:1)"])
def test_sums_and_products_of_many_rows_are_made_in_pieces(spelled, monkeypatch):
    random = np.random.default_rng(0)
    x, z, kernel = random.normal(size=(70, 3)), random.normal(size=(31, 3)), kernels.read(spelled)
    whole, beside = kernel.gram(x), kernel.gram(x, z)
    monkeypatch.setattr(composed, "PIECE_ENTRIES", 300)
    pieces = kernel.gram(x)
    np.testing.assert_array_equal(pieces, pieces.T)
    np.testing.assert_array_equal(np.diagonal(pieces), kernel.diagonal(x))
    for made, expected in ((pieces, whole), (kernel.gram(x, z), beside), (kernel.gram(csr_array(x)), whole)):
        np.testing.assert_allclose(made, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "spelled", ["linear", "poly:2", "rbf:1", "laplacian:1", "rbf:1 + linear", "normalized(poly:2)"]
)
@pytest.mark.parametrize("rows", [np.array, csr_array])
def test_no_points_have_no_entries(spelled, rows):
    kernel, x = kernels.read(spelled), rows(np.eye(3))
    assert (kernel.gram(x, x[:0]).shape, kernel.gram(x[:0], x).shape) == ((3, 0), (0, 3))
