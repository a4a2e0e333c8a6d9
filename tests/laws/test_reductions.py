"""Several classes by binary models: members against scikit-learn's, decoding, files, the checker, and every refusal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier

import lineal
from lineal.cli import run
from lineal.errors import InputError
from lineal.model.verdict import worst
from lineal.multiclass.codes import SCHEMES


@pytest.mark.parametrize(("scheme", "peer"), [("ovr", OneVsRestClassifier), ("ovo", OneVsOneClassifier)])
def test_members_are_those_of_scikit_learn(iris, scheme, peer):
    """With columns of variance 1 in the rows of every member, strength s of the mean loss is C = 1 / (n s)."""
    x, y = iris
    found = lineal.fit(x, y, model="logistic", penalty=0.01, multiclass=scheme, tol=1e-12)
    assert found.verdict.kind == "optimal"
    for number, member in enumerate(found.members):
        entry = found.code[y, number]
        rows = entry != 0
        spread = x[rows].std(axis=0)
        theirs = LogisticRegression(C=1 / (rows.sum() * 0.01), tol=1e-10, max_iter=10_000)
        theirs.fit(x[rows] / spread, entry[rows] > 0)
        np.testing.assert_allclose(member.coef[1:, 0] * spread, theirs.coef_[0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(member.coef[0, 0], theirs.intercept_[0], rtol=1e-4, atol=1e-5)
    ours = peer(lineal.LogisticRegression(C=1.0)).fit(x, y)
    assert np.mean(ours.predict(x) == found.predict(x)) > 0.95


@pytest.mark.parametrize("scheme", [*SCHEMES, "ecoc:2"])
@pytest.mark.parametrize("model", ["logistic", "svm", "squared-hinge", "sparsemax"])
def test_every_binary_model_can_be_a_member(iris, scheme, model):
    x, y = iris
    found = lineal.fit(x, y, model=model, penalty=0.01, multiclass=scheme)
    assert found.verdict.kind == "optimal"
    assert len(found.verdicts) == len(found.members) == found.code.shape[1]
    assert found.verdict.kind == found.verdicts[worst(found.verdicts)].kind
    right = np.mean(found.predict(x) == y)
    assert right > (0.6 if scheme == "ecoc:2" else 0.8)
    scores = np.column_stack(
        [m.scores(x)[:, 0] if m.coef.shape[1] == 1 else m.scores(x)[:, 1] - m.scores(x)[:, 0] for m in found.members]
    )
    np.testing.assert_allclose(found.scores(x), scores, atol=1e-12)
    for number, member in enumerate(found.members):
        entry = found.code[y, number]
        plain = lineal.fit(x[entry != 0], (entry > 0)[entry != 0], model=model, penalty=0.01)
        assert member.verdict.evidence["objective"] == pytest.approx(plain.verdict.evidence["objective"], rel=1e-6)


def test_fewest_mistakes_of_each_class_against_the_rest(iris):
    x, y = iris
    found = lineal.fit(x, y, model="zero-one", multiclass="ovo")
    assert found.verdict.kind == "optimal"
    assert [member.verdict.evidence["mistakes"] for member in found.members] == [
        lineal.zero_one(x[(y == a) | (y == b)], y[(y == a) | (y == b)]).mistakes for a, b in ((0, 1), (0, 2), (1, 2))
    ]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_weights_are_repeats_and_sparse_is_dense(iris, scheme):
    x, y = iris
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, len(y)).astype(float)
    once = lineal.fit(x, y, weight=weight, penalty=0.1, multiclass=scheme)
    again = lineal.fit(
        np.repeat(x, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)), penalty=0.1, multiclass=scheme
    )
    np.testing.assert_allclose(once.coef, again.coef, atol=1e-5)
    sparse = lineal.fit(scipy.sparse.csr_matrix(x), y, weight=weight, penalty=0.1, multiclass=scheme)
    np.testing.assert_allclose(once.coef, sparse.coef, atol=1e-5)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_separable_member_speaks_for_all(iris, scheme):
    x, y = iris
    found = lineal.fit(x, y, penalty="none", multiclass=scheme)
    assert found.verdict.kind == "at_infinity"
    assert {verdict.kind for verdict in found.verdicts} == {"at_infinity", "optimal"}
    assert "worst of" in found.verdict.sentence


@pytest.mark.parametrize("scheme", SCHEMES)
def test_files_keep_everything(iris, scheme, tmp_path):
    x, y = iris
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    found = lineal.fit(x, labels, model="svm", penalty=0.01, multiclass=scheme)
    found.save(tmp_path / "m.lineal")
    again = lineal.load(tmp_path / "m.lineal")
    assert type(again) is type(found)
    assert np.array_equal(again.predict(x), found.predict(x))
    assert np.array_equal(again.code, found.code)
    assert again.distance == found.distance
    assert [v.to_dict() for v in again.verdicts] == [v.to_dict() for v in found.verdicts]
    assert again.verdict.to_dict() == found.verdict.to_dict()
    again.save(tmp_path / "n.lineal")
    assert (tmp_path / "n.lineal").read_bytes() == (tmp_path / "m.lineal").read_bytes()


@pytest.mark.parametrize("options", [{}, {"validation_size": 0.3}, {"test_size": 0.2, "seed": 3}])
def test_strengths_are_picked_as_for_two_classes(iris, options):
    """A member of one-vs-rest is the fit of a table whose target says whether it is this class."""
    x, y = iris
    table = {name: x[:, j] for j, name in enumerate("pqrs")}
    found = lineal.fit({**table, "kind": np.array(["a", "b", "c"])[y]}, target="kind", multiclass="ovr", **options)
    for k, member in enumerate(found.members):
        alone = lineal.fit({**table, "kind": y == k}, target="kind", **options)
        picked, own = member.report["selection"], alone.report["selection"]
        assert {key: picked[key] for key in picked if key != "trials"} == {
            key: own[key] for key in own if key != "trials"
        }
        for one, other in zip(picked["trials"], own["trials"], strict=True):
            # a member's rows are read through its class: other steps than those of a table in memory, the same optimum
            assert one["strength"] == other["strength"]
            assert one["log_loss"] == pytest.approx(other["log_loss"], rel=1e-8)
        np.testing.assert_allclose(member.coef, alone.coef, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("model", "scheme"),
    [*((model, scheme) for model in ("logistic", "svm", "perceptron") for scheme in SCHEMES), ("zero-one", "ovo")],
)
def test_files_too_large_for_memory(iris, tmp_path, monkeypatch, model, scheme):
    """Rows that are read again in every pass give the same members as rows in memory."""
    x, y = iris
    lines = [",".join([*map(repr, row.tolist()), "abc"[k]]) for row, k in zip(x, y, strict=True)]
    (tmp_path / "iris.csv").write_text("\n".join(["p,q,r,s,kind", *lines]) + "\n")
    options = {} if model in ("zero-one", "perceptron") else {"penalty": 0.01}
    held = lineal.fit(tmp_path / "iris.csv", target="kind", model=model, multiclass=scheme, **options)
    monkeypatch.setattr("lineal.api.dataset.MAX_MEMORY_BYTES", 0)
    streamed = lineal.fit(tmp_path / "iris.csv", target="kind", model=model, multiclass=scheme, **options)
    assert [v.kind for v in held.verdicts] == [v.kind for v in streamed.verdicts]
    assert np.array_equal(held.predict(tmp_path / "iris.csv"), streamed.predict(tmp_path / "iris.csv"))


def test_questions_about_many_classes_have_different_names(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(16), 6)
    x = rng.normal(size=(16, 3))[y] + 0.3 * rng.normal(size=(96, 3))
    monkeypatch.chdir(tmp_path)
    lines = [",".join([*map(repr, row.tolist()), f"class {k}"]) for row, k in zip(x, y, strict=True)]
    Path("t.csv").write_text("\n".join(["p,q,r,kind", *lines]) + "\n")
    for scheme, bits in (("ecoc:dense", 40), ("ecoc", 60)):  # 10 and 15 log2 16
        words = [
            "fit",
            "t.csv",
            "--target",
            "kind",
            "--multiclass",
            scheme,
            "--penalty",
            "ridge:0.01",
            "--test-size",
            "0",
        ]
        assert run(words) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert f"{bits} binary models for 16 classes" in said
        assert "direct softmax, its strength picked, has" in said
        assert len(set(lineal.load("t.lineal").outputs)) == bits
        assert run(["show", "t.lineal"]) == 0
        assert run(["verify", "t.lineal", "t.csv"]) == 0


def test_ties_are_reported():
    x = np.array([[np.cos(a), np.sin(a)] for a in np.arange(12) * np.pi / 6])
    y = np.repeat([0, 1, 2], 4)
    found = lineal.fit(x, y, penalty=0.1, multiclass="ovo")
    eta = found.scores(x * 0.0)
    votes = [sum(e == (1 if s > 0 else -1) for e, s in zip(word, eta[0], strict=True)) for word in found.code.tolist()]
    decoded = found.decode(np.zeros((1, 2)))
    assert decoded.ties[0] == (votes.count(max(votes)) > 1)
    # three questions in a circle: each class wins once
    loss = found.loss
    assert loss.ties(np.array([[1.0, -2.0, 3.5]]))[0]
    assert loss.decide(np.array([[1.0, -2.0, 3.5]]))[0] == 2, "the sums of the scores are 1, -2.5 and 1.5"


def test_what_has_no_meaning_is_refused(iris):
    x, y = iris
    cases = [
        ({"multiclass": "ovx"}, "accepted are"),
        ({"multiclass": "ecoc:9"}, "does not exist"),
        ({"multiclass": "ovr", "model": "linear"}, "is a number"),
    ]
    for options, words in cases:
        with pytest.raises(InputError, match=words):
            lineal.fit(x, y, **options)
    with pytest.raises(InputError, match="two classes"):
        lineal.fit(x, y > 0, multiclass="ovr")
    found = lineal.fit(x, y, penalty=0.1, multiclass="ovr")
    for call in (
        lambda: found.predict_proba(x),
        lambda: found.decide(x, threshold=0.5),
        lambda: found.decide(x, costs=np.eye(3)),
        found.summary,
    ):
        with pytest.raises(InputError, match="members"):
            call()
    assert found.members[0].predict_proba(x).shape == (150, 2)


def test_a_time_limit_is_shared_out(iris):
    x, y = iris
    found = lineal.fit(x, y, penalty=1e-6, multiclass="ovo", solver="gradient-descent", time_limit=1e-6)
    assert {verdict.kind for verdict in found.verdicts} == {"budget"}


def test_one_interrupt_ends_the_whole_fit(iris):
    x, y = iris
    calls = []

    def pressed(record):
        calls.append(record)
        if len(calls) == 2:
            raise KeyboardInterrupt

    options = {"penalty": 1e-6, "multiclass": "ovo", "solver": "gradient-descent", "progress": pressed}
    found = lineal.fit(x, y, interrupt="budget", **options)
    assert [verdict.kind for verdict in found.verdicts] == ["budget"] * 3
    assert found.verdicts[0].reason == "interrupted"
    assert len(calls) < 20, "the other members stop as soon as they have begun"
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        lineal.fit(x, y, **options)


@pytest.mark.parametrize(
    "binary",
    [
        lineal.LogisticRegression(),
        lineal.LinearSVC(),
        lineal.SparsemaxClassifier(),
        lineal.SGDClassifier(random_state=0),
        lineal.Perceptron(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("meta", [OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier])
def test_estimators_work_inside_the_meta_estimators(iris, binary, meta):
    x, y = iris
    options = {"code_size": 2.0, "random_state": 0} if meta is OutputCodeClassifier else {}
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    found = meta(binary, **options).fit(x, labels)
    assert np.mean(found.predict(x) == labels) > 0.65
    assert {member.verdict_.kind for member in found.estimators_ if hasattr(member, "verdict_")} <= {
        "optimal",
        "budget",
        "progressive",
        "separated",
        "not_separable",
    }


def test_a_model_of_two_classes_names_the_scheme_that_makes_it_one_of_several():
    penguins = Path(__file__).resolve().parents[2] / "examples" / "penguins.csv"
    with pytest.raises(InputError, match="--multiclass ovr"):
        lineal.fit(penguins, "species", model="squared-hinge")
    model = lineal.fit(penguins, "species", model="squared-hinge", penalty=0.01, multiclass="ovr")
    assert model.report["metrics"]["train"]["accuracy"] > 0.95
