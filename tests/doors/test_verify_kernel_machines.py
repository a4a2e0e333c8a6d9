"""Kernel machines that the checker proves again, from tables and arrays, and files that lie about them."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import lineal
from lineal import container
from lineal.cli import run
from lineal.errors import InputError, LinealError, ModelFileError
from lineal.verify import verify

RNG = np.random.default_rng(5)
N = 60
A, B = RNG.normal(size=N) * 100.0, RNG.normal(size=N) * 0.01
NUMBER = np.sin(A / 50.0) + 100.0 * B + 0.05 * RNG.normal(size=N)
COLOR = RNG.choice(["blue", "green", "red"], N)
NOTE = [" ".join(RNG.choice(["sun", "moon", "sea", "sand", "salt"], 4)) for _ in range(N)]
TWO = np.where(NUMBER + (COLOR == "red") > 0.5, "yes", "no")
THREE = np.where(NUMBER > 0.5, "high", np.where(NUMBER > -0.5, "middle", "low"))
TARGETS = {"number": NUMBER, "two": TWO, "three": THREE}
WEIGHT = RNG.integers(0, 4, N) * 0.7
KERNELS = [
    "rbf:2",
    "laplacian:0.1",
    "linear",
    "poly:3,0.5,0.2",
    "normalized(poly:2)",
    "linear + poly:2 * rbf:1",
    "normalized(linear + laplacian:1)",
]


def written(path, target, **more):
    """Write a table of a number, a tiny number, a color and one target."""
    named = {"a": A.tolist(), "b": B.tolist(), "color": COLOR, target: TARGETS[target].tolist()} | more
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([list(named), *zip(*named.values(), strict=True)])
    return path


def confirmed(model, folder, data):
    """Return whether a file of a model is confirmed by its data."""
    model.save(folder / "m.lineal")
    return verify(folder / "m.lineal", data).passed


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("name", "target"),
    [("kernel-ridge", "number"), ("svm-rbf", "two"), ("kernel-logistic", "two"), ("kernel-logistic", "three")],
)
def test_fits_of_every_kernel_are_confirmed(tmp_path, name, target, kernel):
    data = written(tmp_path / "d.csv", target)
    for strength in (1.0, 1e-4):
        model = lineal.fit(data, target, model=f"{name}:{kernel};strength={strength}")
        assert model.verdict.kind == "optimal"
        assert confirmed(model, tmp_path, data)


@pytest.mark.parametrize("target", ["two", "three"])
@pytest.mark.parametrize("kernel", ["rbf:0.5", "linear"])
def test_perceptrons_are_confirmed_whatever_their_end(tmp_path, target, kernel):
    data = written(tmp_path / "d.csv", target)
    model = lineal.fit(data, target, model=f"kernel-perceptron:{kernel}")
    assert model.verdict.kind == ("separated" if kernel == "rbf:0.5" else "budget")
    assert confirmed(model, tmp_path, data)


def test_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "d.csv", "two", note=NOTE)
    asked = ["fit", "d.csv", "--target", "two", "--model", "svm-rbf", "--text", "note:ngrams=1-2", "-o", "m.lineal"]
    assert run(asked) == 0
    assert run(["verify", "m.lineal", "d.csv"]) == 0
    out = capsys.readouterr().out
    assert "the rows in the file are those of the data" in out
    assert "the stated gap is not below the proven one" in out


@pytest.mark.parametrize("name", ["svm-rbf", "kernel-logistic", "kernel-perceptron"])
def test_fits_to_texts_are_confirmed(tmp_path, name):
    data = written(tmp_path / "d.csv", "two", note=NOTE)
    assert confirmed(lineal.fit(data, "two", model=name, text={"note": ""}), tmp_path, data)


@pytest.mark.parametrize(
    ("name", "target"),
    [("kernel-ridge", "number"), ("svm-rbf", "two"), ("kernel-logistic", "three"), ("kernel-perceptron", "three")],
)
def test_rows_of_weight_zero_take_no_part(tmp_path, name, target):
    data = written(tmp_path / "d.csv", target, w=WEIGHT.tolist())
    spelled = f"{name}:rbf:1" + ("" if name == "kernel-perceptron" else ";strength=0.01")
    model = lineal.fit(data, target, model=spelled, weight="w", test_size=0.2)
    assert confirmed(model, tmp_path, data)
    used = np.flatnonzero(WEIGHT > 0.0)
    columns = {"a": A, "b": B, "color": COLOR, "w": WEIGHT, target: TARGETS[target]}
    without = lineal.fit(
        {key: column[used].tolist() for key, column in columns.items()}, target, model=spelled, weight="w"
    )
    every = lineal.fit(data, target, model=spelled, weight="w")
    scores = every.scores(data)
    np.testing.assert_allclose(without.scores(data), scores, rtol=1e-9, atol=1e-9 * np.abs(scores).max())


def test_offsets_are_refused(tmp_path):
    data = written(tmp_path / "d.csv", "number")
    with pytest.raises(InputError, match="kernel ridge regression has no offset"):
        lineal.fit(data, "number", model="kernel-ridge:rbf:1;strength=1", offset="b")


ESTIMATORS = [
    (lineal.SVC(kernel="poly", C=10.0), TWO),
    (lineal.SVC(max_iter=3), TWO),
    (lineal.SVR(kernel="laplacian", epsilon=0.2), NUMBER),
    (lineal.SVR(epsilon=100.0), NUMBER),
    (lineal.SVR(max_iter=5), NUMBER),
    (lineal.KernelRidge(alpha=0.1, kernel="rbf", gamma=0.3), NUMBER),
    (lineal.KernelRidge(alpha=0.1, kernel="rbf", gamma=0.3), np.zeros(len(NUMBER))),
    (lineal.KernelRidge(alpha=0.1, kernel="rbf", gamma=0.3), 1e-20 * NUMBER),
    (lineal.KernelLogisticRegression(C=100.0), THREE),
    (lineal.KernelLogisticRegression(C=1e3, max_iter=2), THREE),
    (lineal.KernelLogisticRegression(C=1e3, max_iter=2), TWO),
    (lineal.KernelLogisticRegression(kernel="linear", fit_intercept=False), THREE),
    (lineal.KernelPerceptron(kernel="laplacian", gamma=2.0), TWO),
    (lineal.KernelPerceptron(kernel="linear", max_iter=4), THREE),
    (lineal.KernelPerceptron(fit_intercept=False), TWO),
]


@pytest.mark.filterwarnings("ignore:.*Increase max_iter:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS, ids=lambda each: type(each).__name__)
def test_models_of_estimators_are_confirmed(tmp_path, estimator, y):
    rows = np.column_stack([A / 100.0, 100.0 * B])
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["x0", "x1", "y"], *zip(*rows.T.tolist(), y.tolist(), strict=True)])
    assert confirmed(estimator.fit(rows, y).model_, tmp_path, tmp_path / "a.csv")


def test_a_kernel_that_is_none_is_refused_in_a_sentence(tmp_path):
    rows = np.column_stack([A / 100.0, 100.0 * B])
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["x0", "x1", "y"], *zip(*rows.T.tolist(), TWO.tolist(), strict=True)])
    for kernel, words in (
        (lineal.SVC(kernel="sigmoid"), "sigmoid is not"),
        (lineal.SVC(kernel="poly", coef0=-1.0), ""),
    ):
        kernel.fit(rows, TWO).model_.save(tmp_path / "m.lineal")
        with pytest.raises(LinealError, match=words or "the kernel is positive semi-definite"):
            verify(tmp_path / "m.lineal", tmp_path / "a.csv")


# --- lies: every file is signed again ---


def changed(arrays, name, change):
    arrays[name] = np.ascontiguousarray(change(arrays[name].copy()))


def figures(meta, **new):
    """Set figures of the evidence, and make the others and the sentence follow from them."""
    verdict = meta["verdict"]
    evidence = verdict["evidence"] | {name: value for name, value in new.items() if name != "gap"}
    gap = new.get("gap", verdict["gap"])
    evidence["lower_bound"] = evidence["objective"] - gap
    relative = gap / (evidence["null_objective"] - evidence["lower_bound"])
    evidence["radius"] = (2.0 * gap / meta["feature_map"]["strength"]) ** 0.5
    sentence = f"Optimal: the loss cannot be improved by more than {100.0 * relative:.2g} % (gap {gap:.2g}, proven)."
    verdict |= {"gap": gap, "relative_gap": relative, "evidence": evidence, "sentence": sentence}


def coefficient_altered(meta, arrays):
    arrays["coef"] = arrays["coef"].copy()
    arrays["coef"][5, 0] *= 1.001


def coefficients_scaled(meta, arrays):
    """False coefficients with their true objective, and everything else as if they were the best."""
    arrays["coef"] = 0.9 * arrays["coef"]
    figures(meta, objective=objective_of(meta, arrays))


def gap_of_false_coefficients(meta, arrays):
    """False coefficients, every figure true of them, and a tolerance that allows it."""
    arrays["coef"] = 0.5 * arrays["coef"]
    meta["tol"] = 0.9
    figures(meta, objective=objective_of(meta, arrays), gap=0.3, tol=0.9)


def objective_of(meta, arrays):
    """Return F at the coefficients of a file, by its definition."""
    z, spread = (np.column_stack([A, B, *(each == COLOR for each in ("green", "red"))]), arrays["map.spread"])
    names = meta["feature_map"]["inputs"]
    hot = {"a": A, "b": B} | {f"color={each}": (each == COLOR).astype(float) for each in ("blue", "green", "red")}
    z = (np.column_stack([hot[name] for name in names]) - arrays["map.center"]) / spread
    rows = z[meta["feature_map"]["numbers"]]
    gamma = meta["feature_map"]["kernel"]["gamma"]
    entries = np.exp(-gamma * np.sum((z[:, None, :] - rows[None, :, :]) ** 2, axis=2))
    a = arrays["coef"][1:, 0]
    eta = entries @ a + arrays["coef"][0, 0]
    side = np.where(TWO == "yes", 1.0, -1.0)
    norm = a @ entries[meta["feature_map"]["numbers"]] @ a
    return float(np.mean(np.logaddexp(0.0, -side * eta)) + 0.5 * meta["feature_map"]["strength"] * norm)


def intercept_moved(meta, arrays):
    changed(arrays, "coef", lambda coef: coef + 1e-4 * (np.arange(len(coef)) == 0)[:, None])


def row_moved(meta, arrays):
    changed(arrays, "map.rows", lambda rows: rows + 1e-9 * (np.arange(len(rows)) == 3)[:, None])


def rows_swapped(meta, arrays):
    changed(arrays, "map.rows", lambda rows: rows[::-1])


def row_left_out(meta, arrays):
    """A coefficient, its row and its column are gone."""
    for name in ("coef", "map.rows"):
        changed(arrays, name, lambda array: array[:-1])
    meta["feature_map"]["numbers"].pop()
    meta["columns"].pop()


def row_without_coefficient(meta, arrays):
    changed(arrays, "coef", lambda coef: np.where(np.arange(len(coef)) == 7, 0.0, coef[:, 0])[:, None])


def other_strength(meta, arrays):
    meta["feature_map"]["strength"] *= 2.0
    figures(meta)


def other_gamma(meta, arrays):
    meta["feature_map"]["kernel"]["gamma"] *= 1.001


def other_kernel(meta, arrays):
    meta["feature_map"]["kernel"] = {"kernel": "laplacian", "gamma": 0.125}


def center_moved(meta, arrays):
    changed(arrays, "map.center", lambda center: center + 1e-6 * arrays["map.spread"])


def spread_changed(meta, arrays):
    changed(arrays, "map.spread", lambda spread: 1.001 * spread)


def not_standardized(meta, arrays):
    del arrays["map.center"], arrays["map.spread"]


def smaller_gap(meta, arrays):
    figures(meta, gap=meta["verdict"]["gap"] / 2.0)


def larger_gap(meta, arrays):
    figures(meta, gap=meta["verdict"]["evidence"]["objective"] * 1e-5)
    meta["tol"] = meta["verdict"]["evidence"]["tol"] = 0.1


def smaller_objective(meta, arrays):
    figures(meta, objective=meta["verdict"]["evidence"]["objective"] * (1.0 - 1e-6))


def other_null_objective(meta, arrays):
    figures(meta, null_objective=meta["verdict"]["evidence"]["null_objective"] * 1.01)


def lower_bound_raised(meta, arrays):
    meta["verdict"]["evidence"]["lower_bound"] += 1e-6


def radius_halved(meta, arrays):
    meta["verdict"]["evidence"]["radius"] /= 2.0


def relative_gap_smaller(meta, arrays):
    meta["verdict"]["relative_gap"] /= 3.0


def other_tolerance(meta, arrays):
    meta["verdict"]["evidence"]["tol"] = 1e-12


def sentence_changed(meta, arrays):
    meta["verdict"]["sentence"] = meta["verdict"]["sentence"].replace("cannot be improved", "cannot ever be improved")


def kind_changed(meta, arrays):
    meta["verdict"] |= {"kind": "budget", "reason": "the time limit was reached"}


def kind_exact(meta, arrays):
    meta["verdict"]["kind"] = "exact"


def reason_added(meta, arrays):
    meta["verdict"]["reason"] = "it is the best"


def evidence_added(meta, arrays):
    meta["verdict"]["evidence"]["accuracy"] = 1.0


def claim_added(meta, arrays):
    meta["verdict"]["grade"] = "A"


def array_added(meta, arrays):
    arrays["covariance"] = np.eye(2)


def penalty_stated(meta, arrays):
    meta["penalty"] = {"name": "ridge", "strength": 1.0}


def classes_swapped(meta, arrays):
    meta["target"]["classes"] = meta["target"]["classes"][::-1]


def inputs_renamed(meta, arrays):
    meta["feature_map"]["inputs"][0] = "age"


def other_loss(meta, arrays):
    meta["loss"]["name"] = "hinge"


def weight_sum_changed(meta, arrays):
    meta["training"]["weight_sum"] += 1.0


def kernel_of_none(meta, arrays):
    meta["feature_map"]["kernel"] = {"kernel": "sigmoid", "gamma": 1.0, "coef0": 0.0}


def parameter_added(meta, arrays):
    meta["feature_map"]["bias"] = 1.0


def numbers_shifted(meta, arrays):
    meta["feature_map"]["numbers"][-1] += 1
    meta["columns"][-1] = f"k(x, row {meta['feature_map']['numbers'][-1]})"


BELOW = "the stated gap is not below the proven one"
OBJECTIVE = "the objective at the coefficients is as stated"
ROWS = "the rows in the file are those of the data"
MEAN = "less their mean, in units of their standard deviation"
LIES = [
    (coefficient_altered, OBJECTIVE),
    (coefficients_scaled, BELOW),
    (gap_of_false_coefficients, "tolerance is one by which"),
    (intercept_moved, OBJECTIVE),
    (row_moved, ROWS),
    (rows_swapped, ROWS),
    (row_left_out, f"{OBJECTIVE}|{BELOW}"),
    (row_without_coefficient, "every row that is kept has a coefficient"),
    (numbers_shifted, "training rows of positive weight"),
    (other_strength, OBJECTIVE),
    (other_gamma, OBJECTIVE),
    (other_kernel, OBJECTIVE),
    (center_moved, MEAN),
    (spread_changed, MEAN),
    (not_standardized, ROWS),
    (smaller_gap, BELOW),
    (larger_gap, "not far above the proven one"),
    (smaller_objective, OBJECTIVE),
    (other_null_objective, "the objective of the null fit"),
    (lower_bound_raised, "the lower bound is the objective less the gap"),
    (radius_halved, "the radius"),
    (relative_gap_smaller, "the relative gap is the gap over"),
    (other_tolerance, "the tolerance in the evidence"),
    (sentence_changed, "the sentence is the one"),
    (kind_changed, "the relative gap is above the tolerance"),
    (kind_exact, "the verdict is one of a minimum"),
    (reason_added, "the reason is that of its kind"),
    (evidence_added, "the evidence holds nothing that is not checked"),
    (claim_added, "nothing else is claimed"),
    (array_added, "nothing else is claimed"),
    (penalty_stated, "no penalty but that of the kernel"),
    (classes_swapped, OBJECTIVE),
    (inputs_renamed, "the inputs of the kernel"),
    (other_loss, OBJECTIVE),
    (weight_sum_changed, "the sum of the weights"),
    (kernel_of_none, "the sigmoid is not positive semi-definite"),
    (parameter_added, "must have inputs, kernel, numbers, strength, and no other"),
]


def refused(folder, lie, words, target_folder):
    """Write a file with a lie, signed again, and expect the line that fails."""
    meta, arrays = container.read(folder / "m.lineal")
    arrays = dict(arrays)
    lie(meta, arrays)
    meta = {name: value for name, value in meta.items() if name != "encoding"}
    container.write(target_folder / "lie.lineal", {**meta, "encoding": container.encoding(meta)}, arrays)
    with pytest.raises(LinealError, match=words) as refusal:
        verify(target_folder / "lie.lineal", folder / "d.csv")
    assert "not confirmed" in str(refusal.value) or isinstance(refusal.value, ModelFileError)


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A logistic fit whose coefficients are a little off, so that its gap is above rounding, and stated as it is."""
    folder = tmp_path_factory.mktemp("kernel")
    data = written(folder / "d.csv", "two")
    lineal.fit(data, "two", model="kernel-logistic:rbf:2;strength=1e-3").save(folder / "m.lineal")
    meta, arrays = container.read(folder / "m.lineal")
    arrays = dict(arrays)
    changed(arrays, "coef", lambda coef: coef * (1.0 + 3e-5 * (np.arange(len(coef)) > 0)[:, None]))
    figures(meta, objective=objective_of(meta, arrays))
    container.write(folder / "m.lineal", meta, arrays)
    figures(meta, gap=proven(folder))
    container.write(folder / "m.lineal", meta, arrays)
    assert verify(folder / "m.lineal", data).passed
    return folder


def proven(folder):
    """Return the gap that the checker says it proves of a file whose stated gap is too small."""
    with pytest.raises(LinealError, match="proven, stated") as refusal:
        verify(folder / "m.lineal", folder / "d.csv")
    return float(str(refusal.value).split("(")[-1].split(" proven")[0])


@pytest.mark.parametrize(("lie", "words"), LIES, ids=lambda each: getattr(each, "__name__", ""))
def test_lies_are_refused(honest, lie, words, tmp_path):
    refused(honest, lie, words, tmp_path)


def test_other_data_are_refused(honest, tmp_path):
    text = (honest / "d.csv").read_text().replace(repr(float(A[7])), repr(float(A[7] + 1e-3)))
    (tmp_path / "d.csv").write_text(text)
    with pytest.raises(LinealError, match="fingerprint"):
        verify(honest / "m.lineal", tmp_path / "d.csv")


def count_altered(meta, arrays):
    changed(arrays, "coef", lambda coef: coef + np.sign(coef) * (np.arange(len(coef)) == 2)[:, None])


def count_altered_consistently(meta, arrays):
    old = meta["verdict"]["evidence"]["mistakes"]
    count_altered(meta, arrays)
    meta["verdict"]["evidence"]["mistakes"] = old + 1
    meta["verdict"]["sentence"] = meta["verdict"]["sentence"].replace(f" {old} mistakes", f" {old + 1} mistakes")


def side_changed(meta, arrays):
    changed(arrays, "coef", lambda coef: np.where(np.arange(len(coef))[:, None] == 2, -coef, coef))


def count_of_no_whole(meta, arrays):
    changed(arrays, "coef", lambda coef: 0.5 * coef)


def mistakes_fewer(meta, arrays):
    meta["verdict"]["evidence"]["mistakes"] -= 1


def epochs_none(meta, arrays):
    meta["verdict"]["evidence"]["epochs"] = 1


def epochs_many(meta, arrays):
    meta["verdict"]["evidence"]["epochs"] = 10_000


def evidence_scaled(name):
    """Return a lie about one number of the evidence."""

    def lie(meta, arrays):
        meta["verdict"]["evidence"][name] *= 1.01

    lie.__name__ = f"{name}_scaled"
    return lie


def wrong_row_stated(meta, arrays):
    meta["verdict"]["evidence"]["wrong_rows"] = 1


def within_changed(meta, arrays):
    meta["verdict"]["evidence"]["within_bound"] = False


def perceptron_gap(meta, arrays):
    meta["verdict"]["gap"] = 0.0


def perceptron_intercept(meta, arrays):
    changed(arrays, "coef", lambda coef: coef + 1.0 * (np.arange(len(coef)) == 0)[:, None])


def perceptron_strength(meta, arrays):
    meta["feature_map"]["strength"] = 1.0


COUNTS = "coefficients are counts of mistakes"
LIES_OF_PERCEPTRONS = [
    (count_altered, "as many mistakes as the coefficients count"),
    (count_altered_consistently, "the right side|the margin of a function|so many epochs"),
    (side_changed, COUNTS),
    (count_of_no_whole, f"{COUNTS}|as many mistakes"),
    (mistakes_fewer, "as many mistakes"),
    (epochs_none, "so many epochs"),
    (epochs_many, "so many epochs"),
    (evidence_scaled("gamma"), "the margin of a function of norm 1"),
    (evidence_scaled("radius"), "the radius is as stated"),
    (evidence_scaled("bound"), "the bound on mistakes"),
    (wrong_row_stated, "no row is stated to be on the wrong side"),
    (within_changed, "whether mistakes are within it"),
    (perceptron_gap, "no gap is claimed"),
    (perceptron_intercept, "the intercept is zero"),
    (perceptron_strength, "a perceptron has no strength"),
    (evidence_added, "nothing that is not checked"),
    (other_gamma, "the margin of a function|the right side"),
]


@pytest.fixture(scope="module")
def separated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("perceptron")
    data = written(folder / "d.csv", "two")
    lineal.fit(data, "two", model="kernel-perceptron:rbf:0.5").save(folder / "m.lineal")
    assert verify(folder / "m.lineal", data).passed
    return folder


@pytest.mark.parametrize(("lie", "words"), LIES_OF_PERCEPTRONS, ids=lambda each: getattr(each, "__name__", ""))
def test_lies_about_perceptrons_are_refused(separated, lie, words, tmp_path):
    refused(separated, lie, words, tmp_path)
