"""A word that is in every row says what the intercept says: it breaks no fit, and has a coefficient of zero."""

import resource

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

import lineal
from lineal.certify.baseline import baseline_fit
from lineal.cli import lineal as command
from lineal.designs import as_design
from lineal.losses import Logistic
from lineal.penalties import Ridge
from lineal.problem import dependence
from lineal.problem.problem import Problem
from lineal.sources.memory import Memory


def notes(rows, words, common="zzz"):
    """Notes of which a word tells the class; ``common`` is in all, and the last word of the alphabet."""
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=rows)
    told = rng.random(rows) < 0.3 + 0.4 * y
    texts = [
        " ".join([*(f"w{k}" for k in rng.integers(words, size=12)), *(["good"] if t else []), common]).strip()
        for t in told
    ]
    return {"note": texts, "y": ["ab"[k] for k in y]}


@pytest.mark.parametrize("weighting", ["binary", "counts"])  # tfidf: it makes other words weigh less
@pytest.mark.parametrize("penalty", ["ridge:0.1", "l1:0.01"])
def test_a_word_in_every_row_changes_nothing(weighting, penalty):
    fits = [
        lineal.fit(
            notes(300, 40, common),
            target="y",
            text={"note": weighting},
            penalty=penalty,
            test_size=0.0,
            tol=1e-9,
            penalize="standardized",
        )
        for common in ("zzz", "")
    ]
    assert [fit.verdict.kind for fit in fits] == ["optimal"] * 2
    assert fits[0].columns == (*fits[1].columns, "note: zzz")
    np.testing.assert_allclose(fits[0].coef[:-1], fits[1].coef, rtol=0, atol=1e-5)
    assert abs(fits[0].coef[-1, 0]) < 1e-6


def test_such_a_word_leaves_a_proof_of_tf_idf():
    assert lineal.fit(notes(300, 40), target="y", text={"note": "tfidf"}, penalty="ridge:0.1").verdict.kind == "optimal"


@pytest.mark.slow
@pytest.mark.parametrize("model", ["logistic", "squared-hinge", "svm"])
def test_no_second_derivative_of_all_words_is_made(model):
    """With 30,000 words it would take 7 GB; the process is not given them."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (5 * 2**30, limits[1]))
    try:
        fit = lineal.fit(
            notes(3000, 40_000),
            target="y",
            text={"note": "binary,min=1"},
            model=model,
            penalty="ridge:0.1",
            penalize="standardized",
        )
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert len(fit.columns) > 20_000
    assert fit.verdict.kind == "optimal"


def test_such_a_model_is_verified(tmp_path):
    table = notes(200, 30)
    data, model = tmp_path / "t.csv", tmp_path / "m.lineal"
    data.write_text("note,y\n" + "".join(f"{note},{y}\n" for note, y in zip(table["note"], table["y"], strict=True)))
    run = CliRunner().invoke
    fitted = run(command, ["fit", str(data), "--target", "y", "--text", "note:counts", "--penalize", "standardized",
                           "-o", str(model)])  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    assert "c_j is 1 for note: zzz" in " ".join(fitted.output.split())
    checked = run(command, ["verify", str(model), str(data)])
    assert checked.exit_code == 0, checked.output


def test_constants_in_matrices_are_recognised_whether_sparse_or_dense():
    rng = np.random.default_rng(3)
    x = (rng.random((60, 9)) < 0.3).astype(float)
    x[:, 5] = 2.0
    y = x[:, 0] - x[:, 1] + rng.normal(size=60)
    fits = [
        lineal.fit(data, target=y, model="ridge", penalty="ridge:0.1", test_size=0.0) for data in (x, sp.csr_array(x))
    ]
    for fit in fits:
        assert fit.verdict.kind == "optimal"
        assert abs(fit.coef[6, 0]) < 1e-9
    np.testing.assert_allclose(fits[0].coef, fits[1].coef, rtol=0, atol=1e-9)


def test_unpenalized_columns_among_very_many_are_a_problem_of_their_own():
    """The null fit of a few columns far apart, and what depends on what among them, from these columns alone."""
    rng = np.random.default_rng(5)
    rows, columns = 400, 5000
    x = sp.lil_array((rows, columns))
    x[np.arange(rows), rng.integers(1, columns - 2, size=rows)] = 1.0
    free = rng.normal(size=rows)
    x[:, columns - 2] = free[:, None]
    x[:, columns - 1] = 2.0 * free[:, None]
    y = (rng.random(rows) < 1 / (1 + np.exp(-free - 0.3))).astype(float)
    factors = np.ones(columns + 1)
    factors[[0, columns - 1, columns]] = 0.0
    source = Memory(as_design(sp.csr_array(x), intercept=True), y[:, None])
    problem = Problem.of(source, Logistic(), Ridge(1.0, factors))
    alone = Problem.of(
        Memory(as_design(free[:, None], intercept=True), y[:, None]), Logistic(), Ridge(1.0, np.zeros(2))
    )
    best = lineal.fit(free[:, None], target=y, model="logistic", penalty="none", test_size=0.0, tol=1e-12)
    assert baseline_fit(problem).value == pytest.approx(alone.evaluate(best.coef).value, rel=1e-9)
    basis = dependence.basis(problem)
    assert basis is not None
    assert set(basis.independent) | set(basis.dependent) == {0, columns - 1, columns}
    assert len(basis.dependent) == 1
    (weights,) = basis.dependencies()
    assert sorted(map(abs, weights.values())) in ([0.5, 1.0], [1.0, 2.0])
