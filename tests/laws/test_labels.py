"""Labels of which a row has any number: members against scikit-learn's, sparsemax against its paper, and every refusal."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn import metrics as peers
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

import lineal
from lineal.errors import InputError
from lineal.multiclass.multilabel import MultiLabel, SharedLabels

NAMES = ("a", "b", "c")


@pytest.fixture
def drawn():
    """Return rows with columns of variance 1, and three labels of which some rows have none."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(160, 4))
    x /= x.std(axis=0)
    return x, (x @ rng.normal(size=(4, 3)) + rng.normal(size=(160, 3)) > 0.4).astype(int)


def as_table(x, y):
    return {f"x{j}": x[:, j] for j in range(x.shape[1])} | {name: y[:, k] for k, name in enumerate(NAMES)}


def listed(y):
    return [[name for name, one in zip(NAMES, row, strict=True) if one] for row in y.tolist()]


def test_members_are_those_of_scikit_learn(drawn):
    """With columns of variance 1, strength s of the mean loss is C = 1 / (n s)."""
    x, y = drawn
    found = lineal.fit(x, y, penalty=0.02, tol=1e-12)
    assert isinstance(found, MultiLabel)
    for peer in (MultiOutputClassifier, OneVsRestClassifier):
        theirs = peer(LogisticRegression(C=1 / (len(x) * 0.02), tol=1e-10, max_iter=10_000)).fit(x, y)
        for number, own in enumerate(theirs.estimators_):
            np.testing.assert_allclose(found.coef[1:, number], own.coef_[0], rtol=1e-5, atol=1e-7)
            np.testing.assert_allclose(found.coef[0, number], own.intercept_[0], rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(found.predict(x), theirs.predict(x))
    np.testing.assert_allclose(found.predict_proba(x), theirs.predict_proba(x), atol=1e-6)


@pytest.mark.parametrize(
    "cells",
    [
        lambda column: column,
        lambda column: column.astype(bool),
        lambda column: ["yes" if one else "No" for one in column],
        lambda column: ["T" if one else "f" for one in column],
        lambda column: ["1.0" if one else "0" for one in column],
    ],
)
def test_every_way_of_saying_yes_is_understood(drawn, cells):
    x, y = drawn
    table = as_table(x, y)
    expected = lineal.fit(x, y, penalty=0.1)
    told = table | {name: cells(table[name]) for name in NAMES}
    for target in ("a,b,c", list(NAMES)):
        found = lineal.fit(told, target, penalty=0.1)
        assert found.target.kind == "labels"
        np.testing.assert_array_equal(found.coef, expected.coef)


def test_lists_in_cells_are_the_same_labels(drawn, tmp_path):
    x, y = drawn
    expected = lineal.fit(x, y, penalty=0.1)
    numbers, tags = {f"x{j}": x[:, j] for j in range(4)}, listed(y)
    assert [] in tags
    pq.write_table(pa.table(numbers | {"tags": tags}), tmp_path / "t.parquet")
    rows = [{**{name: float(column[i]) for name, column in numbers.items()}, "tags": tags[i]} for i in range(len(x))]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    tables = [numbers | {"tags": tags}, rows, tmp_path / "t.parquet", tmp_path / "t.jsonl"]
    for table in tables:
        found = lineal.fit(table, "tags", penalty=0.1)
        assert found.target.names == ("tags=a", "tags=b", "tags=c")
        np.testing.assert_array_equal(found.coef, expected.coef)
    text = numbers | {"tags": [" | ".join([*row, *row[:1]]) for row in tags]}
    np.testing.assert_array_equal(lineal.fit(text, "tags", labels_by="|", penalty=0.1).coef, expected.coef)


def test_a_label_that_is_not_known_leaves_the_row_out_of_its_member(drawn):
    x, y = drawn
    known = np.ones(y.shape, dtype=bool)
    known[::5, 1] = known[3, :] = False
    marks = np.where(known, y, np.nan)
    table = as_table(x, marks)
    found = lineal.fit(table, list(NAMES), penalty=0.02, tol=1e-12)
    assert (found.training["rows"], found.training["without_target"]) == (159, 1)
    assert "'b' in 32 of the rows" in found.report["data"]["notes"][0]
    for number, member in enumerate(found.members):
        rows = known[:, number]
        assert member.training["rows"] == rows.sum()
        spread = x[rows].std(axis=0)
        theirs = LogisticRegression(C=1 / (rows.sum() * 0.02), tol=1e-10, max_iter=10_000)
        theirs.fit(x[rows] / spread, y[rows, number])
        np.testing.assert_allclose(member.coef[1:, 0] * spread, theirs.coef_[0], rtol=1e-5, atol=1e-7)
    alone = np.delete(np.arange(160), 3)
    arrays = lineal.fit(x[alone], marks[alone], penalty=0.02, tol=1e-12)
    np.testing.assert_allclose(arrays.coef, found.coef, rtol=1e-6, atol=1e-8)


def test_measured_as_scikit_learn_measures(drawn):
    x, y = drawn
    table = as_table(x, y)
    model = lineal.fit(table, "a,b,c", penalty=0.1, test_size=0.4)
    answer = lineal.evaluate(model, table)
    held = lineal.evaluate(model, table, rows="all", threshold=0.3)
    assert answer["rows"] < held["rows"] == 160
    guess, figures = (model.predict_proba(table) > 0.3).astype(int), held["metrics"]["test"]
    assert figures["hamming_loss"] == pytest.approx(peers.hamming_loss(y, guess))
    assert figures["subset_accuracy"] == pytest.approx(peers.accuracy_score(y, guess))
    assert figures["micro_f1"] == pytest.approx(peers.f1_score(y, guess, average="micro"))
    assert figures["macro_f1"] == pytest.approx(peers.f1_score(y, guess, average="macro"))
    assert figures["samples_f1"] == pytest.approx(peers.f1_score(y, guess, average="samples", zero_division=1.0))
    for number, line in enumerate(held["labels"][:3]):
        truth, own, chances = y[:, number], guess[:, number], model.predict_proba(table)[:, number]
        assert line["label"] == NAMES[number]
        assert line["with"] == truth.sum()
        for name, peer in (
            ("precision", peers.precision_score),
            ("recall", peers.recall_score),
            ("f1", peers.f1_score),
        ):
            assert line[name] == pytest.approx(peer(truth, own))
        assert line["auc"] == pytest.approx(peers.roc_auc_score(truth, chances))
        assert line["log_loss"] == pytest.approx(peers.log_loss(truth, chances))
        assert line["brier"] == pytest.approx(peers.brier_score_loss(truth, chances))
    assert [line["average"] for line in held["labels"][3:]] == ["macro", "micro"]
    reported = model.report["metrics"]["test"]
    assert answer["metrics"]["test"] == pytest.approx(reported)
    low, high = answer["intervals"]["micro_f1"]
    assert low < reported["micro_f1"] < high


def sparsemax_of_sets(coef, x, q, s):
    """Return the mean loss of Martins and Astudillo (2016), equation 27, and its gradient, tau found by sorting."""
    z = x @ coef.reshape(x.shape[1], -1)
    falling = -np.sort(-z, axis=1)
    size = np.arange(1, z.shape[1] + 1)
    support = (1 + size * falling > np.cumsum(falling, axis=1)).sum(axis=1)
    tau = (np.cumsum(falling, axis=1)[np.arange(len(z)), support - 1] - 1) / support
    p = np.maximum(z - tau[:, None], 0.0)
    inside = np.where(p > 0.0, z**2 - tau[:, None] ** 2, 0.0).sum(axis=1)
    loss = -(q * z).sum(axis=1) + inside / 2 + (q**2).sum(axis=1) / 2
    return s @ loss / s.sum(), (x.T @ (s[:, None] * (p - q)) / s.sum()).ravel()


@pytest.mark.parametrize("weighted", [False, True])
def test_sparsemax_of_label_sets_is_that_of_its_paper(drawn, weighted):
    x, y = drawn
    s = np.arange(160) % 3 + 1.0 if weighted else np.ones(160)
    found = lineal.fit(x, y, model="sparsemax", penalty=0.05, weight=s, tol=1e-10)
    assert isinstance(found, SharedLabels)
    some = y.sum(axis=1) > 0
    x, y, s = x[some], y[some], s[some]
    q, ones = y / y.sum(axis=1, keepdims=True), np.column_stack([np.ones(len(x)), x])
    mean = s @ x / s.sum()
    charge = 0.05 * np.concatenate([[0.0], s @ (x - mean) ** 2 / s.sum()])[:, None]

    def objective(coef):
        value, slope = sparsemax_of_sets(coef, ones, q, s)
        b = coef.reshape(5, 3)
        return value + np.sum(charge * b**2) / 2, slope + (charge * b).ravel()

    theirs = minimize(objective, np.zeros(15), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10})
    ours = objective(found.coef.ravel())[0]
    assert ours <= theirs.fun + found.verdict.gap + 1e-12
    np.testing.assert_allclose(found.coef - found.coef.mean(axis=1, keepdims=True), found.coef, atol=1e-9)
    shares = found.predict_proba(x)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.predict(x), shares > 0.0)
    assert (found.predict(x).sum(axis=1) > 1).any()
    assert (shares == 0.0).any()


def test_sparsemax_of_one_label_a_row_is_that_of_classes():
    rng = np.random.default_rng(3)
    x, kind = rng.normal(size=(90, 2)), rng.integers(0, 3, 90)
    sets = lineal.fit(x, np.eye(3)[kind], model="sparsemax", penalty=0.1, tol=1e-10)
    plain = lineal.fit(x, kind, model="sparsemax", penalty=0.1, tol=1e-10)
    np.testing.assert_allclose(sets.coef, plain.coef, atol=1e-6)
    assert sets.verdict.evidence["objective"] == pytest.approx(plain.verdict.evidence["objective"])


def test_the_worst_member_speaks_for_all(drawn):
    x, y = drawn
    y = y.copy()
    y[:, 1] = x[:, 0] > 0.5
    found = lineal.fit(x, y, penalty="none")
    assert [verdict.kind for verdict in found.verdicts] == ["optimal", "at_infinity", "optimal"]
    assert found.verdict.kind == "at_infinity"
    assert found.verdict.sentence.endswith("That is the worst of 3 labels (2 optimal, 1 at_infinity), that of y1.")
    assert found.verdict.evidence["worst"] == 1


def test_a_comma_in_a_name_a_pair_of_counts_and_numbers(drawn):
    x, y = drawn
    table = as_table(x, y)
    assert lineal.fit(table | {"a,b": y[:, 2]}, "a,b", penalty=0.1).target.kind == "classes"
    counts = lineal.fit(table | {"a": 2 * y[:, 0]}, "a,b", penalty=0.1, drop=["c"])
    assert counts.training["counts"] == ["a", "b"]
    assert lineal.fit(table, "a,b", penalty=0.1, drop=["c"]).target.kind == "labels"
    assert lineal.fit(table, "a,b,c", model="linear").target.kind == "number"
    assert lineal.fit(table | {"c": x[:, 0]}, "a,b,c").target.kind == "number"
    assert lineal.fit(table, ["a"], penalty=0.1, drop=["b", "c"]).target.kind == "classes"


def test_sparse_and_offset_and_single_precision(drawn):
    x, y = drawn
    dense = lineal.fit(x, y, penalty=0.1)
    np.testing.assert_allclose(lineal.fit(csr_matrix(x), y, penalty=0.1).coef, dense.coef, atol=1e-6)
    np.testing.assert_allclose(lineal.fit(x.astype(np.float32), y, penalty=0.1).coef, dense.coef, atol=1e-4)
    shifted = lineal.fit(x, y, penalty=0.1, offset=np.full(160, 2.0), tol=1e-12)
    np.testing.assert_allclose(shifted.coef[0] + 2.0, dense.coef[0], atol=1e-4)
    shared = lineal.fit(csr_matrix(x), y, model="sparsemax", penalty=0.1, tol=1e-10)
    np.testing.assert_allclose(shared.coef, lineal.fit(x, y, model="sparsemax", penalty=0.1, tol=1e-10).coef, atol=1e-6)


def test_labels_everywhere_are_left_out_and_unseen_ones_are_said(drawn):
    x, y = drawn
    numbers = {f"x{j}": x[:, j] for j in range(4)}
    tags = [["every", *row] for row in listed(y)]
    model = lineal.fit(numbers | {"tags": tags}, "tags", penalty=0.1)
    assert model.target.names == ("tags=a", "tags=b", "tags=c")
    assert "Every row has the label 'every' of 'tags'" in model.report["data"]["notes"][0]
    more = {name: column[:40] for name, column in numbers.items()} | {"tags": [[*row, "new"] for row in listed(y[:40])]}
    answer = lineal.evaluate(model, more)
    assert "40 times 'tags' lists a label that no member is for, such as 'new'; it is not measured." in answer["notes"]
    same = lineal.evaluate(model, more | {"tags": listed(y[:40])})
    assert answer["metrics"] == same["metrics"]


def test_members_of_every_kind(drawn):
    x, y = drawn
    for model in ("svm", "squared-hinge", "perceptron:pocket"):
        found = lineal.fit(x, y, model=model, penalty="none" if "perceptron" in model else 0.1)
        np.testing.assert_array_equal(found.predict(x), found.scores(x) > 0.0)
        with pytest.raises(InputError, match="gives no probabilities"):
            found.predict_proba(x)
        with pytest.raises(InputError, match="gives no probabilities"):
            found.decide(x, threshold=0.3)
    picked = lineal.fit(x, y)
    assert all(member.report["selection"]["strength"] > 0.0 for member in picked.members)


def test_costs_decide_every_label_alike(drawn):
    x, y = drawn
    model = lineal.fit(x, y, penalty=0.1)
    found = model.decide(x, costs=[[0.0, 1.0], [4.0, 0.0]])
    chances = model.predict_proba(x)
    np.testing.assert_array_equal(found.labels, chances > 0.2)
    np.testing.assert_allclose(found.expected, np.where(chances > 0.2, 1.0 - chances, 4.0 * chances).sum(axis=1))


def refused(drawn):
    x, y = drawn
    table = as_table(x, y)
    tags = {f"x{j}": x[:, j] for j in range(4)} | {"tags": listed(y)}
    text = tags | {"tags": [";".join(row) for row in listed(y)]}
    same = np.ones(len(x), dtype=int)
    yield table, {"target": "a,b,c", "multiclass": "ovr"}, "has a model of its own already"
    yield table, {"target": "a,b,c", "start": "zero"}, "every label has its own"
    yield table, {"target": "a,b,c", "positive": "yes"}, "leave positive out"
    yield table, {"target": "a,b,c", "model": "poisson"}, "predicts one number"
    yield table, {"target": "a,b,c", "weight": "c"}, "cannot be the weight"
    yield table, {"target": "a,b,d"}, "no target column 'd'"
    yield table, {"target": "a,a"}, "different columns"
    yield table, {"target": "a,b", "labels_by": ";"}, "no effect on several columns"
    yield table | {"c": same}, {"target": "a,b,c"}, "'c' is yes in every row"
    yield (
        table | {"c": ["maybe", *["no"] * 159]},
        {"target": "a,b,c"},
        "'c' is neither: row 1 of the table holds 'maybe'",
    )
    yield table | {"c": ["maybe", *["no"] * 159]}, {"target": "a,b,c", "model": "svm"}, "needs yes or no"
    yield tags, {"target": "tags", "split": "stratified", "test_size": 0.2}, "lists or records"
    yield tags, {"target": "tags", "labels_by": ";"}, "are lists; leave it out"
    yield tags, {"target": "tags", "model": "linear"}, "neither a number nor a class"
    yield tags | {"tags=a": same}, {"target": "tags"}, "rename that column"
    yield text, {"target": "tags", "labels_by": ";", "model": "linear"}, "labels_by is for labels"
    yield text, {"target": "tags", "labels_by": ""}, "labels_by is ''"
    yield text, {"target": "tags", "labels_by": ";", "split": "stratified", "test_size": 0.2}, "one class a row"
    yield text | {"tags": [""] * len(x)}, {"target": "tags", "labels_by": ";"}, "lists no label"
    yield text | {"tags": ["a", ""] * 80}, {"target": "tags", "labels_by": ";", "model": "sparsemax"}, "there is one"
    yield x, {"target": np.column_stack([y, same])}, "the label y3 is yes in every training row"
    yield x, {"target": y * 2, "model": "svm"}, "neither 0 nor 1"
    yield x, {"target": np.where(np.arange(160)[:, None] == 5, np.nan, y)}, "of row 6 no label is known"
    yield x, {"target": y, "labels_by": ";"}, "a column of 0 and 1 for each"


def test_what_cannot_be_is_refused_in_words(drawn):
    for data, options, words in refused(drawn):
        with pytest.raises(InputError) as error:
            lineal.fit(data, **options)
        assert words in str(error.value), str(error.value)


def test_what_needs_one_target_says_so(drawn):
    table = as_table(*drawn)
    for call in (
        lambda: lineal.compare(table, "a,b,c"),
        lambda: lineal.sweep(table, "a,b,c", over="strength"),
        lambda: lineal.fit(table, "a,b,c", penalty=0.1).summary(),
    ):
        with pytest.raises(InputError, match=r"labels|members"):
            call()


@pytest.mark.slow
def test_folds_and_stacks_take_labels(drawn):
    table = as_table(*drawn)
    found = lineal.cross_validate(table, "a,b,c", folds=4, penalty=0.1)
    assert sum(found.rows) == 160
    assert 0.5 < found.metrics["micro_f1"].mean <= 1.0
    stacked = lineal.stack(table, "a,b,c", {"one": {"penalty": 0.1}}, final={"penalty": 0.1}, folds=3)
    assert stacked.final.columns[-3:] == ("one: a", "one: b", "one: c")
    assert stacked.predict(table).shape == (160, 3)


@pytest.mark.slow
def test_saved_and_loaded_it_says_the_same(drawn, tmp_path):
    table = as_table(*drawn)
    for model in ("logistic", "svm", "sparsemax"):
        found = lineal.fit(table, "a,b,c", model=model, penalty=0.1, test_size=0.3)
        found.save(tmp_path / "m.lineal")
        again = lineal.load(tmp_path / "m.lineal")
        assert type(again) is type(found)
        np.testing.assert_array_equal(again.predict(table), found.predict(table))
        assert again.to_dict() == found.to_dict()
        assert lineal.evaluate(again, table)["metrics"]["test"] == pytest.approx(found.report["metrics"]["test"])
        assert "lineal Model" in repr(again)
