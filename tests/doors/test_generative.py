"""Naive Bayes and discriminant analysis of tables: by hand, beside scikit-learn, from the command line, and for the checker."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB

import lineal
from lineal import container
from lineal.cli import run
from lineal.errors import InputError, LinealError
from lineal.verify import verify

MAILS = {
    "links": [3.0, 5.0, None, 4.0, 0.0, 1.0, 0.0, None, 2.0, 1.0],
    "from": ["shop", "shop", "bank", "shop", "friend", "friend", "bank", "friend", None, "friend"],
    "known": ["no", "no", "no", "no", "yes", "yes", "no", "yes", "yes", "no"],
    "text": [
        "free money now", "free offer and money", "money money free", "offer free today", "lunch at noon",
        "notes of the meeting", "meeting at noon today", "free for lunch", "notes of today", "the offer of the bank",
    ],
    "y": ["spam"] * 4 + ["ham"] * 6,
}  # fmt: skip
TYPES = {"from": "category", "known": "boolean", "links": "number"}
TEXT = {"text": "counts,min=1"}


def mails(model="naive-bayes", **options):
    return lineal.fit(MAILS, "y", model=model, types=TYPES, text=TEXT, **options)


def by_hand(row, alpha=1.0, share=1e-9):
    """Return the probability of spam: priors, a density, shares of levels and words, one factor after the other."""
    joint = {}
    everyone = [value for value in MAILS["links"] if value is not None]
    level = sum(everyone) / len(everyone)
    spread = sum((value - level) ** 2 for value in everyone) / len(everyone)
    words = sorted({word for text in MAILS["text"] for word in text.split()})
    for label in ("ham", "spam"):
        own = [i for i, y in enumerate(MAILS["y"]) if y == label]
        log = math.log(len(own) / len(MAILS["y"]))
        links = [MAILS["links"][i] for i in own if MAILS["links"][i] is not None]
        gone = len(own) - len(links)
        if row["links"] is None:
            log += math.log((gone + alpha) / (len(own) + 2 * alpha))
        else:
            log += math.log((len(links) + alpha) / (len(own) + 2 * alpha))
            mean = sum(links) / len(links)
            variance = sum((value - mean) ** 2 for value in links) / len(links) + share * spread
            log += -0.5 * (math.log(2 * math.pi * variance) + (row["links"] - mean) ** 2 / variance)
        for name, levels in (("from", ["shop", "bank", "friend", None]), ("known", ["no", "yes"])):
            seen = sum(MAILS[name][i] == row[name] for i in own)
            log += math.log((seen + alpha) / (len(own) + alpha * len(levels)))
        said = [word for i in own for word in MAILS["text"][i].split()]
        for word in row["text"].split():
            if word in words:
                log += math.log((said.count(word) + alpha) / (len(said) + alpha * len(words)))
        joint[label] = log
    return 1.0 / (1.0 + math.exp(joint["ham"] - joint["spam"]))


NEW = [
    {"links": 4.0, "from": "shop", "known": "no", "text": "free money"},
    {"links": None, "from": None, "known": "yes", "text": "lunch offer unheard"},
    {"links": 0.0, "from": "friend", "known": "no", "text": ""},
    {"links": 1e6, "from": "bank", "known": "yes", "text": "noon noon noon"},
]


@pytest.mark.parametrize(("words", "alpha", "share"), [("", 1.0, 1e-9), (":alpha=0.25,variance=0.01", 0.25, 0.01)])
def test_a_mixed_table_is_the_product_of_its_factors(words, alpha, share):
    model = mails(f"naive-bayes{words}")
    rows = {name: [row[name] for row in NEW] for name in NEW[0]}
    expected = [by_hand(row, alpha, share) for row in NEW]
    found = model.predict_proba(rows)
    assert model.target.classes == ("ham", "spam")
    np.testing.assert_allclose(found[:, 1], expected, rtol=1e-9, atol=1e-12)
    assert model.verdict.sentence == "Exact: counted from 10 rows of 2 classes; nothing was optimized."


def test_numbers_alone_are_gaussian_naive_bayes():
    x, y = load_iris(return_X_y=True)
    other = GaussianNB(var_smoothing=0.0).fit(x, y)
    for options in ({}, {"weight": np.random.default_rng(0).integers(0, 3, len(y)).astype(float)}):
        found = lineal.fit(x, y, model="naive-bayes:variance=0", **options)
        if options:
            other = GaussianNB(var_smoothing=0.0).fit(x, y, options["weight"])
        np.testing.assert_allclose(found.predict_proba(x), other.predict_proba(x), rtol=1e-8, atol=1e-12)


def test_levels_alone_are_categorical_naive_bayes():
    rng = np.random.default_rng(1)
    codes, y = rng.integers(0, 4, size=(60, 3)), np.array(["u", "v", "w"])[rng.integers(0, 3, 60)]
    table = {f"c{j}": [f"l{code}" for code in codes[:, j]] for j in range(3)} | {"y": y.tolist()}
    found = lineal.fit(table, "y", model="naive-bayes:alpha=0.5")
    np.testing.assert_allclose(found.predict_proba(table), CategoricalNB(alpha=0.5).fit(codes, y).predict_proba(codes))


def test_words_alone_are_multinomial_naive_bayes():
    table = {"text": MAILS["text"] * 3, "y": MAILS["y"] * 3}
    counts = CountVectorizer(token_pattern=r"\w+").fit_transform(table["text"])  # noqa: S106
    found = lineal.fit(table, "y", model="naive-bayes", text=TEXT)
    expected = MultinomialNB().fit(counts, table["y"]).predict_proba(counts)
    np.testing.assert_allclose(found.predict_proba(table), expected, rtol=1e-10)


@pytest.mark.parametrize("classes", [2, 3])
def test_discriminants_are_those_of_scikit_learn(classes):
    x, y = load_iris(return_X_y=True)
    x, y = x[y < classes], y[y < classes]
    linear, quadratic = lineal.fit(x, y, model="lda"), lineal.fit(x, y, model="qda")
    theirs = LinearDiscriminantAnalysis().fit(x, y), QuadraticDiscriminantAnalysis(tol=0.0).fit(x, y)
    for ours, other in zip((linear, quadratic), theirs, strict=True):
        np.testing.assert_allclose(ours.predict_proba(x), other.predict_proba(x), rtol=1e-6, atol=1e-10)
    shrunk = lineal.fit(x, y, model="lda:shrinkage=auto").predict_proba(x)
    other = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(x, y)
    np.testing.assert_allclose(shrunk, other.predict_proba(x), rtol=1e-6, atol=1e-10)


def test_columns_far_from_zero_lose_nothing():
    x, y = load_iris(return_X_y=True)
    whole = np.round(x * 10)
    for model in ("naive-bayes", "lda", "qda"):
        near, far = lineal.fit(whole, y, model=model), lineal.fit(whole + 1e14, y, model=model)
        np.testing.assert_allclose(far.predict_proba(whole + 1e14), near.predict_proba(whole), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("naive-bays", "naive-bayes"),
        ("naive-bayes:alpha=-1", "alpha=NUMBER"),
        ("naive-bayes:beta=1", "alpha=NUMBER"),
        ("naive-bayes:alpha=0", "alpha is 0"),
        ("lda:shrinkage=2", "share from 0 to 1"),
        ("qda", "covariance of class 'ham' has no inverse"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(model, words):
    with pytest.raises(InputError, match=words):
        mails(model)
    with pytest.raises(InputError, match="intercept"):
        mails("naive-bayes", intercept=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a table, and a model file of every method."""
    folder = tmp_path_factory.mktemp("generative")
    with (folder / "d.csv").open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(MAILS)
        writer.writerows(["" if cell is None else cell for cell in row] for row in zip(*MAILS.values(), strict=True))
    for model in ("naive-bayes", "lda", "qda"):
        words = f"{model}:shrinkage=auto" if model == "qda" else model
        found = lineal.fit(folder / "d.csv", "y", model=words, types=TYPES, text=TEXT)
        found.save(folder / f"{model}.lineal")
    return folder


@pytest.mark.parametrize("model", ["naive-bayes", "lda", "qda"])
def test_the_checker_counts_the_same(files, model):
    report = verify(files / f"{model}.lineal", files / "d.csv")
    assert any("exact" in line["check"] for line in report)
    again = lineal.load(files / f"{model}.lineal")
    rows = {name: [row[name] for row in NEW] for name in NEW[0]}
    assert np.isfinite(again.predict_proba(rows)).all()
    if model == "naive-bayes":
        np.testing.assert_allclose(
            again.predict_proba(rows)[:, 1], [by_hand(row) for row in NEW], rtol=1e-9, atol=1e-12
        )


def nudged(array, by=1e-7):
    other = array.copy()
    other.flat[0] += by * max(1.0, abs(other.flat[0]))
    return other


def evidence(meta, **changed):
    meta["verdict"] = {**meta["verdict"], "evidence": {**meta["verdict"]["evidence"], **changed}}


MUTATIONS = {
    "a coefficient": lambda _, arrays: arrays.update(coef=nudged(arrays["coef"], 1e-4)),
    "a weight of a class": lambda meta, _: evidence(meta, class_weight=[5.0, 5.0]),
    "the sentence": lambda meta, _: meta["verdict"].update(
        sentence="Exact: counted from 11 rows of 2 classes; nothing was optimized."
    ),
    "more evidence": lambda meta, _: evidence(meta, seen=1),
    "the kind": lambda meta, _: meta["verdict"].update(kind="optimal", gap=0.0, relative_gap=0.0),
    "a reason": lambda meta, _: meta["verdict"].update(reason="it was interrupted"),
    "the method": lambda meta, _: evidence(meta, method="perceptron"),
    "the priors, and the intercept with them": lambda meta, arrays: (
        evidence(meta, class_weight=[4.0, 6.0]),
        arrays.update(coef=np.vstack([arrays["coef"][:1] + 2 * math.log(1.5), arrays["coef"][1:]])),
    ),
}
OWN = {
    "naive-bayes": {
        "alpha": lambda meta, _: evidence(meta, alpha=2.0),
        "no alpha": lambda meta, _: meta["verdict"]["evidence"].pop("alpha"),
        "a variance": lambda _, arrays: arrays.update({"map.variance": nudged(arrays["map.variance"], 1e-15)}),
        "a mean": lambda _, arrays: arrays.update({"map.mean": nudged(arrays["map.mean"], 2.3e-16)}),
        "the rest of a mean": lambda _, arrays: arrays.update({"map.low": nudged(arrays["map.low"], 1e-17)}),
        "the classes of the map": lambda meta, _: meta["feature_map"].update(classes=["spam", "ham"]),
        "a marker": lambda meta, _: meta["feature_map"].update(markers=[-1]),
        "the share of the variance": lambda meta, _: evidence(meta, variance=1e-8),
    },
    "lda": {
        "the center": lambda _, arrays: arrays.update(
            center=arrays["center"] + np.r_[0.0, 1e3, 0.0 * arrays["center"][2:]]
        ),
        "a center of the intercept": lambda _, arrays: arrays.update(center=nudged(arrays["center"], 0.05)),
        "a center between the means": lambda _, arrays: arrays.update(
            center=np.r_[arrays["center"][:1], nudged(arrays["center"][1:], 0.05)]
        ),
        "no center": lambda _, arrays: arrays.pop("center"),
        "another method": lambda meta, _: evidence(meta, method="naive-bayes"),
        "how covariances are pooled": lambda meta, _: evidence(meta, pooled="neither"),
        "the rank": lambda meta, _: evidence(meta, rank=3),
        "the shrinkage": lambda meta, _: evidence(meta, shrinkage=0.5),
    },
    "qda": {
        "a whitening": lambda _, arrays: arrays.update({"map.whitening": nudged(arrays["map.whitening"], 1e-3)}),
        "a determinant": lambda _, arrays: arrays.update(
            {"map.log_determinant": nudged(arrays["map.log_determinant"], 1e-2)}
        ),
        "the shrinkage": lambda meta, _: evidence(meta, shrinkage=0.5),
        "a mean": lambda _, arrays: arrays.update({"map.mean": nudged(arrays["map.mean"], 2.3e-16)}),
    },
}
CASES = [(model, name) for model, own in OWN.items() for name in (*MUTATIONS, *own)]


@pytest.mark.parametrize(("model", "name"), CASES)
def test_consistent_lies_are_refused(files, tmp_path, model, name):
    meta, arrays = container.read(files / f"{model}.lineal")
    meta, arrays = json.loads(json.dumps(meta)), dict(arrays)
    ({**MUTATIONS, **OWN[model]}[name])(meta, arrays)
    container.write(tmp_path / "m.lineal", {**meta, "encoding": container.encoding(meta)}, arrays)
    with pytest.raises(LinealError):
        verify(tmp_path / "m.lineal", files / "d.csv")


@pytest.mark.parametrize("model", ["naive-bayes", "lda", "qda"])
def test_another_row_is_refused(files, tmp_path, model):
    meta, arrays = container.read(files / f"{model}.lineal")
    meta["training"]["fingerprint"] = None
    container.write(tmp_path / "m.lineal", {**meta, "encoding": container.encoding(meta)}, arrays)
    text = (files / "d.csv").read_text()
    (tmp_path / "d.csv").write_text(text.replace("3.0,shop", "3.0000000000000004,shop"))
    verify(tmp_path / "m.lineal", files / "d.csv")
    if model != "lda":
        with pytest.raises(LinealError):
            verify(tmp_path / "m.lineal", tmp_path / "d.csv")
    (tmp_path / "d.csv").write_text(text.replace("3.0,shop", "2.0,shop"))
    with pytest.raises(LinealError):
        verify(tmp_path / "m.lineal", tmp_path / "d.csv")


def test_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    table = str(Path(__file__).parents[2] / "examples" / "penguins.csv")
    path = str(tmp_path / "m.lineal")
    assert run(["fit", table, "--target", "species", "--model", "naive-bayes:alpha=1", "-o", path]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Exact: counted from ")
    assert "naive Bayes, alpha 1" in out
    assert run(["verify", path, table]) == 0
    assert run(["show", path]) == 0
    out = capsys.readouterr().out
    assert "normal in every class: mean (standard deviation)" in out
    assert "Strongest for Gentoo" in out
    assert "Priors" in out
    assert run(["evaluate", path, table]) == 0
    assert run(["predict", path, table, "-o", str(tmp_path / "p.csv")]) == 0
    assert (tmp_path / "p.csv").read_text().count("\n") == 345
    capsys.readouterr()
    assert (
        run(
            ["compare", table, "--target", "species", "--model", "naive-bayes", "--model", "lda", "--model", "logistic"]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "naive-bayes" in out
    assert "logistic" in out


def test_an_unseen_level_counts_as_the_reference_or_where_there_is_none_for_nothing(tmp_path):
    """Of c: 3 of 5 u's are p, 2 of 3 v's are q; with Laplace p(p | u) = 4/8, p(p | v) = 1/6; priors 5/8 and 3/8."""
    table = {"c": ["p", "q", "p", "r", "q", "p", "q", "r"], "y": list("uvuvuuvu")}
    with (tmp_path / "d.csv").open("w", newline="") as out:
        csv.writer(out).writerows([["c", "y"], *zip(table["c"], table["y"], strict=True)])
    new = {"c": ["p", "never"]}
    level = 5 / 8 * 4 / 8 / (5 / 8 * 4 / 8 + 3 / 8 * 1 / 6)
    for kind, unseen in (("category", level), ("category:max=1000,hash=2^12", 5 / 8)):
        model = lineal.fit(tmp_path / "d.csv", "y", model="naive-bayes", types={"c": kind})
        np.testing.assert_allclose(model.predict_proba(new)[:, 0], [level, unseen], rtol=1e-12)
        model.save(tmp_path / "m.lineal")
        assert any("coefficients" in line["check"] for line in verify(tmp_path / "m.lineal", tmp_path / "d.csv"))


@pytest.mark.parametrize("model", ["qda:shrinkage=auto", "lda"])
def test_the_moments_of_words_by_tf_idf_are_confirmed_up_to_rounding(tmp_path, model):
    rng = np.random.default_rng(0)
    words = np.array(["bid", "cash", "crude", "drill", "loan", "oil", "rig", "share", "ship", "stock"])
    rows = [[" ".join(rng.choice(words, size=9)), label] for label in "uv" * 20]
    with (tmp_path / "d.csv").open("w", newline="") as out:
        csv.writer(out).writerows([["text", "y"], *rows])
    found = lineal.fit(tmp_path / "d.csv", "y", model=model, types={"text": "text"})
    found.save(tmp_path / "m.lineal")
    assert verify(tmp_path / "m.lineal", tmp_path / "d.csv")
    meta, arrays = container.read(tmp_path / "m.lineal")
    name = "center" if model == "lda" else "map.mean"
    arrays[name] = arrays[name] * (1.0 + 1e-9 if name == "map.mean" else 2.0)
    container.write(tmp_path / "m.lineal", {**meta, "encoding": container.encoding(meta)}, arrays)
    with pytest.raises(LinealError, match=r"every mean|the center is between"):
        verify(tmp_path / "m.lineal", tmp_path / "d.csv")
