"""Kernel machines on tables: fitted by their names, chosen on held-out rows, kept in files, refused in sentences."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sklearn.kernel_ridge
import sklearn.svm

import lineal
from lineal import container, kernels
from lineal.cli import run
from lineal.errors import InputError, ModelFileError

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=60) * 100.0, RNG.normal(size=60) * 0.01
NUMBER = np.sin(A / 50.0) + 100.0 * B + 0.05 * RNG.normal(size=60)
TABLE = {"a": A.tolist(), "b": B.tolist()}
ROWS = np.column_stack([A, B])
SCALED = (ROWS - ROWS.mean(axis=0)) / ROWS.std(axis=0)
CLASS = np.where(NUMBER > 0.3, "yes", "no")
THREE = np.where(NUMBER > 0.5, "high", np.where(NUMBER > -0.5, "middle", "low"))


def test_kernel_ridge_is_that_of_scikit_learn_on_standardized_columns():
    model = lineal.fit({**TABLE, "y": NUMBER.tolist()}, "y", model="kernel-ridge:rbf:gamma=0.5;strength=0.01")
    assert model.verdict.kind == "optimal"
    eta, y = model.scores(TABLE)[:, 0], NUMBER
    assert np.sum(y - eta) == pytest.approx(0.0, abs=1e-10)  # the intercept is not penalized
    intercept = float(model.coef[0, 0])
    other = sklearn.kernel_ridge.KernelRidge(alpha=0.6, kernel="rbf", gamma=0.5).fit(SCALED, y - intercept)
    np.testing.assert_allclose(eta, other.predict(SCALED) + intercept, rtol=1e-9)


def test_svm_is_that_of_scikit_learn_on_standardized_columns():
    model = lineal.fit({**TABLE, "y": CLASS.tolist()}, "y", model="svm-rbf:rbf:gamma=0.5;strength=0.01")
    other = sklearn.svm.SVC(C=1.0 / 0.6, gamma=0.5, tol=1e-9).fit(SCALED, CLASS)
    assert model.verdict.kind == "optimal"
    np.testing.assert_allclose(model.scores(TABLE)[:, 0], other.decision_function(SCALED), atol=1e-5)
    assert len(model.feature_map.numbers) == len(other.support_)


@pytest.mark.parametrize(
    ("name", "target"),
    [("kernel-ridge", NUMBER), ("svm-rbf", CLASS), ("kernel-logistic", THREE), ("kernel-perceptron", THREE)],
)
def test_width_and_strength_are_chosen_and_the_file_predicts_the_same(name, target, tmp_path):
    model = lineal.fit({**TABLE, "y": target.tolist()}, "y", model=name)
    assert "held out" in model.report["kernel_chosen"]
    assert model.verdict.kind == ("separated" if name == "kernel-perceptron" else "optimal")
    figures = model.report["metrics"]["train"]
    assert figures["r2" if name == "kernel-ridge" else "accuracy"] > 0.8
    model.save(tmp_path / "m.lineal")
    again = lineal.load(tmp_path / "m.lineal")
    assert np.array_equal(again.scores(TABLE), model.scores(TABLE))


@pytest.mark.parametrize(
    ("kernel", "known"),
    [
        ("rbf:auto", [kernels.Gaussian.of_width(1.0)]),
        ("poly:auto", [kernels.Polynomial(degree, 1.0, 0.5) for degree in (1, 2, 3, 4)]),
        ("laplacian:auto", [kernels.Laplacian(1.0)]),
    ],
)
def test_a_width_or_a_degree_is_chosen_on_rows_held_out(kernel, known, tmp_path):
    table = {**TABLE, "y": NUMBER.tolist()}
    model = lineal.fit(table, "y", model=f"kernel-ridge:{kernel};strength=0.001")
    chosen = model.feature_map.kernel
    assert type(chosen) is type(known[0])
    assert len(known) == 1 or chosen in known
    # the chosen one is no worse on the same held-out rows than any other by its name
    assert f"kernel {chosen.spelled()}" in model.report["kernel_chosen"]
    assert "60 rows held out in 5 folds" in model.report["kernel_chosen"]
    order = np.random.default_rng(0).permutation(len(NUMBER))

    def lost(kind):
        other = sklearn.kernel_ridge.KernelRidge(alpha=0.001 * 48, kernel="precomputed")
        gram, far = kind.gram(SCALED) + 1e6, []  # a wide prior on a constant
        for held in np.split(order, 5):
            seen = np.setdiff1d(order, held)
            other.fit(gram[np.ix_(seen, seen)], NUMBER[seen])
            far.append(np.mean((other.predict(gram[np.ix_(held, seen)]) - NUMBER[held]) ** 2))
        return np.mean(far)

    if len(known) > 1:
        assert lost(chosen) == pytest.approx(min(map(lost, known)), rel=1e-4)


def test_several_targets_are_those_of_scikit_learn():
    table = {**TABLE, "y": NUMBER.tolist(), "z": (NUMBER**2).tolist()}
    model = lineal.fit(table, "y,z", model="kernel-ridge:rbf:gamma=0.5;strength=0.01")
    targets = np.column_stack([NUMBER, NUMBER**2])
    other = sklearn.kernel_ridge.KernelRidge(alpha=0.6, kernel="rbf", gamma=0.5).fit(SCALED, targets - model.coef[0])
    assert model.verdict.kind == "optimal"
    np.testing.assert_allclose(model.predict(table), other.predict(SCALED) + model.coef[0], rtol=1e-8)


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = ["a,b,y", *(f"{a!r},{b!r},{y}" for a, b, y in zip(A.tolist(), B.tolist(), CLASS, strict=True))]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    fit = ["fit", "d.csv", "--target", "y", "--test-size", "0", "-o", "m.lineal"]
    assert run([*fit, "--model", "svm-rbf", "--kernel", "rbf:1;strength=0.01", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"]["kind"] == "optimal"
    assert run(["show", "m.lineal"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Gaussian kernel" in out
    assert "support vectors are rows of the data" in out
    assert run(["predict", "m.lineal", "d.csv"]) == 0
    capsys.readouterr()
    assert run([*fit, "--model", "logistic", "--kernel", "rbf:1"]) == 2
    assert "--kernel has no effect on --model logistic" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("model", "target", "words"),
    [
        ("svm-rbf", THREE, "3 classes; use kernel-logistic"),
        ("kernel-ridge:sigmoid", NUMBER, "not positive semi-definite"),
        ("kernel-ridge:rbf:2;power=3", NUMBER, "strength=V"),
        ("kernel-ridge:rbf:2;strength=-1", NUMBER, "a number above 0"),
        ("kernel-perceptron:rbf:2;strength=1", CLASS, "it is spelled kernel-perceptron"),
        ("kernel-ridge:rfb", NUMBER, "no kernel 'rfb'"),
    ],
)
def test_what_cannot_be_fitted_is_refused(model, target, words):
    with pytest.raises(InputError, match=words):
        lineal.fit({**TABLE, "y": target.tolist()}, "y", model=model)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"numbers": [3, 1]}, "must increase"),
        ({"inputs": "ab"}, "list of names"),
        ({"strength": -1}, "at least 0"),
        ({"kernel": {"kernel": "magic"}}, "unknown kind"),
    ],
)
def test_files_that_contradict_themselves_are_refused(changed, words, tmp_path):
    path = tmp_path / "m.lineal"
    lineal.fit({**TABLE, "y": NUMBER.tolist()}, "y", model="kernel-ridge:rbf:2;strength=1").save(path)
    meta, arrays = container.read(path)
    meta["feature_map"] |= changed
    meta["encoding"] = container.encoding(meta)
    container.write(path, meta, arrays)
    with pytest.raises(ModelFileError, match=words):
        lineal.load(path)


def test_of_equally_few_mistakes_the_least_loss_is_taken():
    """Two tight heaps: every strength is right, but the strongest leaves every row within the margin."""
    x = np.concatenate([np.linspace(-1.1, -0.9, 20), np.linspace(0.9, 1.1, 20)])
    table = {"x": x.tolist(), "y": ["u"] * 20 + ["v"] * 20}
    model = lineal.fit(table, "y", model="svm-rbf:rbf:1")
    tried = {10.0**-power: lineal.fit(table, "y", model=f"svm-rbf:rbf:1;strength=1e-{power}") for power in range(7)}
    losses = {
        strength: float(one.loss.value(np.repeat([[0.0], [1.0]], 20, axis=0), one.scores(table)).mean())
        for strength, one in tried.items()
    }
    assert losses[1.0] > 0.5
    assert model.feature_map.strength == max(s for s in losses if losses[s] <= min(losses.values()) + 1e-9)


@pytest.mark.parametrize(
    ("model", "words"), [("svm-rbf", "decides between two"), ("knn:3", "takes several classes at once")]
)
def test_codes_of_classes_are_refused_for_the_right_reason(model, words):
    table = {"x": [float(k) for k in range(12)], "y": list("uvw") * 4}
    with pytest.raises(InputError, match=words):
        lineal.fit(table, "y", model=model, multiclass="ovr")
