"""Kernel machines of texts and trees: beside linear models of what these kernels count, in files, on odd texts."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import normalize
from sklearn.svm import SVC

import lineal
from lineal import container
from lineal.cli import run
from lineal.errors import InputError, ModelFileError

RNG = np.random.default_rng(3)
TEXTS = ["".join(RNG.choice(list("abcd"), size=RNG.integers(3, 12), p=[0.4, 0.3, 0.2, 0.1])) for _ in range(40)]
CLASS = ["yes" if text.count("a") > len(text) / 3 else "no" for text in TEXTS]
THREE = [min(text.count("b"), 2) for text in TEXTS]
THREE = [("none", "one", "more")[k] for k in THREE]
NUMBER = [float(text.count("ab")) + 0.1 * k for k, text in enumerate(TEXTS)]
NEW = ["abab", "ddd", "", "x", "aa"]
GRAMS = CountVectorizer(analyzer="char", ngram_range=(2, 2)).fit(TEXTS)

NOUNS, VERBS = ["Mary", "John", "dogs"], ["runs", "sleeps", "barks"]
PAIRS = [*product(NOUNS, VERBS), *product(NOUNS[:2], VERBS[:2])]
TREES = [f"(S (N {noun}) (V {verb}))" for noun, verb in PAIRS]
LOUD = ["loud" if verb == "barks" or noun == "dogs" else "calm" for noun, verb in PAIRS]


def counts(texts, *, scaled=True):
    """Return how often each two consecutive characters stand in a text, rows of length 1 where they are to be scaled."""
    found = GRAMS.transform(texts).astype(float)
    return normalize(found) if scaled else found


def fragments(pairs, decay):
    """Return the six fragments of such a tree, counted by hand: those of k productions weigh ``decay^(k/2)``."""
    rows = [
        {
            f"N {noun}": 1,
            f"V {verb}": 1,
            "S": 1,
            f"S (N {noun})": 2,
            f"S (V {verb})": 2,
            f"S (N {noun}) (V {verb})": 3,
        }
        for noun, verb in pairs
    ]
    known = sorted({name for row in rows for name in row})
    return np.array([[decay ** (row[name] / 2) if name in row else 0.0 for name in known] for row in rows])


def fitted(texts, y, model, **options):
    return lineal.fit({"t": texts, "y": list(y)}, "y", model=model, **options)


@pytest.mark.parametrize("target", [CLASS, THREE])
def test_kernel_logistic_is_the_linear_model_of_what_the_kernel_counts(target):
    model = fitted(TEXTS, target, "kernel-logistic:spectrum:2;strength=0.05")
    assert model.verdict.kind == "optimal"
    other = LogisticRegression(C=1.0 / (0.05 * len(TEXTS)), tol=1e-12, max_iter=10_000).fit(counts(TEXTS), target)
    np.testing.assert_allclose(model.predict_proba({"t": NEW}), other.predict_proba(counts(NEW)), atol=2e-6)
    assert list(model.target.classes) == list(other.classes_)


def test_kernel_ridge_is_the_ridge_of_what_the_kernel_counts():
    for model, scaled in (("kernel-ridge:spectrum:2;strength=0.05", True),
                          ("kernel-ridge:spectrum:2;strength=0.05;normalized=no", False)):  # fmt: skip
        other = Ridge(alpha=0.05 * len(TEXTS)).fit(counts(TEXTS, scaled=scaled).toarray(), NUMBER)
        expected = other.predict(counts(NEW, scaled=scaled).toarray())
        np.testing.assert_allclose(fitted(TEXTS, NUMBER, model).predict({"t": NEW}), expected, rtol=1e-8)


def test_the_support_vector_machine_of_texts_is_that_of_scikit_learn():
    model = fitted(TEXTS, CLASS, "kernel-svm:spectrum:2;strength=0.05")
    other = SVC(kernel="linear", C=1.0 / (0.05 * len(TEXTS)), tol=1e-9).fit(counts(TEXTS), CLASS)
    assert model.verdict.kind == "optimal"
    np.testing.assert_allclose(model.scores({"t": NEW})[:, 0], other.decision_function(counts(NEW)), atol=1e-5)
    assert model.feature_map.numbers == tuple(sorted(other.support_))


def test_a_tree_kernel_is_that_of_its_fragments():
    model = fitted(TREES, LOUD, "kernel-logistic:tree:0.5;strength=0.02;normalized=no")
    rows = fragments(PAIRS, 0.5)
    other = LogisticRegression(C=1.0 / (0.02 * len(PAIRS)), tol=1e-12, max_iter=10_000).fit(rows, LOUD)
    np.testing.assert_allclose(model.predict_proba({"t": TREES}), other.predict_proba(rows), atol=2e-6)


@pytest.mark.parametrize(
    ("typed", "spelled"),
    [
        ("spectrum:2", "normalized(spectrum:2,unit=characters)"),
        ("spectrum:2;normalized=yes", "normalized(spectrum:2,unit=characters)"),
        ("spectrum:2;normalized=no", "spectrum:2,unit=characters"),
        ("normalized(spectrum:2)", "normalized(spectrum:2,unit=characters)"),
        ("spectrum:1 + spectrum:2", "normalized(spectrum:1,unit=characters + spectrum:2,unit=characters)"),
        (
            "normalized(spectrum:1) + normalized(spectrum:2)",
            "normalized(spectrum:1,unit=characters) + normalized(spectrum:2,unit=characters)",
        ),
    ],
)
def test_kernels_of_texts_are_normalized_once(typed, spelled):
    model = fitted(TEXTS, CLASS, f"kernel-logistic:{typed};strength=0.1")
    assert model.feature_map.kernel.spelled() == spelled


def test_the_strength_is_chosen_and_the_file_predicts_the_same(tmp_path):
    model = fitted(TEXTS, CLASS, "kernel-svm:string:ssk,2,0.5")
    assert "held out" in model.report["kernel_chosen"]
    assert model.report["metrics"]["train"]["accuracy"] > 0.8
    model.save(tmp_path / "m.lineal")
    again = lineal.load(tmp_path / "m.lineal")
    assert np.array_equal(again.scores({"t": NEW}), model.scores({"t": NEW}))
    measured = lineal.evaluate(again, {"t": TEXTS, "y": CLASS})["metrics"]["test"]
    assert measured["accuracy"] == model.report["metrics"]["train"]["accuracy"]


def test_a_text_that_shares_nothing_has_the_score_of_the_intercept():
    model = fitted(TEXTS, CLASS, "kernel-logistic:spectrum:2;strength=0.05")
    empty = model.scores({"t": ["", None, "x", "a", "zzzz"]})[:, 0]
    assert empty.tolist() == [model.intercept] * 5


def test_odd_texts_are_kept_to_the_letter(tmp_path):
    odd = ["", "é\x00\x01", "\N{GRINNING FACE}a", "NA", " ", "a\r\nb"]
    model = fitted([*odd, *odd], ["u", "u", "v", "v", "u", "v"] * 2, "kernel-perceptron:spectrum:1;normalized=no")
    model.save(tmp_path / "m.lineal")
    assert lineal.load(tmp_path / "m.lineal").feature_map.points.values == model.feature_map.points.values
    assert set(model.feature_map.points.values) <= set(odd)


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = ["t,n,y", *(f"{text},{k},{kind}" for k, (text, kind) in enumerate(zip(TEXTS, CLASS, strict=True)))]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    fit = ["fit", "d.csv", "--target", "y", "--test-size", "0", "-o", "m.lineal", "--model", "svm"]
    kernel = ["--kernel", "string:ssk,2,0.5;strength=0.01"]
    assert run([*fit, *kernel]) == 2
    assert "--types COLUMN=verbatim" in " ".join(capsys.readouterr().err.split())
    assert run([*fit, *kernel, "--types", "t=verbatim", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"]["kind"] == "optimal"
    assert run([*fit, *kernel, "--drop", "n"]) == 0
    assert "normalized kernel of t" in " ".join(capsys.readouterr().out.split())
    assert run(["show", "m.lineal"]) == 0
    assert "support vectors are rows of the data" in " ".join(capsys.readouterr().out.split())
    assert run(["evaluate", "m.lineal", "d.csv"]) == 0
    capsys.readouterr()
    assert run(["predict", "m.lineal", "d.csv"]) == 0
    labels = capsys.readouterr().out.split()[1:]
    assert labels == lineal.load(tmp_path / "m.lineal").predict({"t": TEXTS}).tolist()


def test_a_malformed_tree_is_named_with_its_row(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = ["t\ty", *(f"{tree}\t{kind}" for tree, kind in zip(TREES, LOUD, strict=True))]
    (tmp_path / "d.tsv").write_text("\n".join(lines) + "\n")
    fit = ["--target", "y", "--test-size", "0", "-o", "m.lineal", "--model", "kernel-logistic", "--kernel", "tree:0.5"]
    assert run(["fit", "d.tsv", *fit]) == 0
    (tmp_path / "new.tsv").write_text("t\n(S (N Mary) (V runs))\n(leaf)\n(S (N Mary (V runs))\n")
    capsys.readouterr()
    assert run(["predict", "m.lineal", "new.tsv"]) == 2
    words = " ".join(capsys.readouterr().err.split())
    assert "the text in row 3 (line 4) of new.tsv is no tree in brackets: a bracket is never closed" in words
    (tmp_path / "bad.tsv").write_text("\n".join([*lines[:5], "(\tcalm", *lines[6:]]) + "\n")
    assert run(["fit", "bad.tsv", *fit]) == 2
    assert "t of training row 5 is no tree in brackets" in " ".join(capsys.readouterr().err.split())
    model = lineal.load(tmp_path / "m.lineal")
    with pytest.raises(InputError, match="t of row 2 is no tree in brackets: there is no tree"):
        model.predict({"t": ["(S (N Mary) (V runs))", None]})
    assert model.scores({"t": ["(leaf)"]})[0, 0] == model.intercept


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("kernel-svm:spectrum:2", "kernel-svm decides between two classes.*3 classes; use kernel-logistic."),
        ("kernel-logistic:rbf:2;normalized=no", "normalized=no is for kernels of texts and trees"),
        ("kernel-logistic:spectrum:2;normalized=maybe", "normalized=no is for kernels of texts"),
        ("kernel-logistic:spectrum:2;strength=1;strength=2", "it is spelled kernel-logistic"),
        ("kernel-logistic:precomputed", "does not compare rows, texts or trees"),
    ],
)
def test_what_cannot_be_fitted_is_refused(model, words):
    with pytest.raises(InputError, match=words):
        fitted(TEXTS, THREE, model)


def test_kernels_of_texts_are_compared_with_each_other_and_measured_by_folds():
    table = {"t": TEXTS, "y": CLASS}
    names = ["kernel-svm:spectrum:1;strength=0.05", "kernel-logistic:spectrum:2;strength=0.05"]
    ranked = lineal.compare(table, "y", models=names)
    assert sorted(entry.name for entry in ranked.entries) == sorted(names)
    folds = lineal.cross_validate(table, "y", folds=4, model=names[0])
    assert folds


def test_a_formula_is_refused_with_a_way_out():
    with pytest.raises(InputError, match="name the target instead, and the column of texts by --types COLUMN=verbatim"):
        lineal.fit({"t": TEXTS, "y": CLASS}, formula="y ~ t", model="kernel-svm:spectrum:2")


def test_rows_that_are_no_texts_are_refused():
    with pytest.raises(InputError, match="one column of texts"):
        lineal.fit(np.eye(4), ["u", "v", "u", "v"], model="kernel-svm:spectrum:2")


@pytest.mark.parametrize(
    ("changed", "arrays", "words"),
    [
        ({"numbers": [3, 1]}, {}, "must increase"),
        ({"width": 0}, {}, "whole number above 0"),
        ({"width": 7}, {}, "not those its feature map takes"),
        ({"input": 3}, {}, "name of a column"),
        ({"strength": -1}, {}, "at least 0"),
        ({"kernel": {"kernel": "linear"}}, {}, "compares no texts"),
        ({"name": "kernel"}, {}, "must have the members"),
        ({}, {"map.texts": np.array([255], np.uint8)}, "from 0 to the length"),
        ({}, {"map.starts": np.zeros(2, np.int64)}, "whole numbers"),
        ({"kernel": {"kernel": "tree", "decay": 0.5}}, {}, "no tree in brackets"),
    ],
)
def test_files_that_contradict_themselves_are_refused(changed, arrays, words, tmp_path):
    path = tmp_path / "m.lineal"
    fitted(TEXTS, CLASS, "kernel-svm:spectrum:2;strength=0.05").save(path)
    meta, kept = container.read(path)
    meta["feature_map"] |= changed
    meta["encoding"] = container.encoding(meta)
    container.write(path, meta, {**kept, **arrays})
    with pytest.raises(ModelFileError, match=words):
        lineal.load(path)


def test_a_kernel_of_texts_is_no_kernel_of_rows_in_a_file(tmp_path):
    path = tmp_path / "m.lineal"
    lineal.fit({"a": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 2.0]}, "y", model="kernel-ridge:rbf:2;strength=1").save(path)
    meta, kept = container.read(path)
    meta["feature_map"]["kernel"] = {"kernel": "spectrum", "length": 2, "unit": "characters"}
    meta["encoding"] = container.encoding(meta)
    container.write(path, meta, kept)
    with pytest.raises(ModelFileError, match="compares no rows of numbers"):
        lineal.load(path)
