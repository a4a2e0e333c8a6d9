"""Paths, bounds, traces and summaries by the command line, against other programs; what it refuses."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
import scipy.optimize
from sklearn import linear_model as peer

import lineal as library
from tests.doors.penguins import ALL, MEASURES, WITHOUT, Lineal, design, penguins, told


@pytest.mark.parametrize(
    ("target", "model", "kind"),
    [
        ("sex", "perceptron", "not_separable"),
        ("sex", "perceptron:averaged", "not_separable"),
        ("sex", "perceptron:pocket", "not_separable"),
        ("species", "perceptron", "separated"),
        ("species", "perceptron:averaged", "separated"),
    ],
)
def test_perceptrons_agree_with_the_exact_answer_and_are_verified(
    target: str, model: str, kind: str, folder: Path, lineal: Lineal
) -> None:
    penguins(folder)
    words = ("p.csv", "--target", target, "--drop", "species" if target == "sex" else "sex")
    assert told(lineal("fit", *words, "--model", model, *ALL))["verdict"]["kind"] == kind
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0
    exact = told(lineal("separable", *words, "--json", "-o", "p.proof"))
    assert (exact["kind"] == "complete") == (kind == "separated")
    assert lineal("verify", "p.proof", "p.csv")[0] == 0


def test_an_infinite_estimate_is_said_as_the_exact_answer_says_it(folder: Path, lineal: Lineal) -> None:
    penguins(folder)
    words = ("p.csv", "--target", "species", *WITHOUT["species"])
    data = told(lineal("fit", *words, "--penalty", "none", *ALL), 3)["verdict"]
    exact = told(lineal("separable", *words, "--json"))
    assert data["kind"] == "at_infinity"
    assert data["evidence"]["strict_rows"] == exact["strict_rows"]
    assert set(data["evidence"]["direction"]) == {*data["evidence"]["plus"], *data["evidence"]["minus"]}
    assert "ridge" in data["evidence"]["remedies"]
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0


def test_a_path_is_that_of_scikit_learn(folder: Path, lineal: Lineal) -> None:
    columns = penguins(folder)
    words = ("path", "p.csv", "--target", "body_mass_g", *WITHOUT["body_mass_g"], "--test-size", "0", "--points", "6")
    data = told(lineal(*words, "--json", "-o", "t.csv"))
    z, sd = design(columns, *MEASURES)
    mass = columns["body_mass_g"]
    critical = float(np.max(np.abs(z.T @ (mass - mass.mean()))) / len(z))
    assert data["critical"] == pytest.approx(critical, rel=1e-9)
    strengths = [point["strength"] for point in data["points"]]
    assert strengths == pytest.approx(np.geomspace(critical, critical / 1000, 6).tolist(), rel=1e-9)
    _, truth, _ = peer.lasso_path(z, mass - mass.mean(), alphas=strengths, tol=1e-12, max_iter=100000)
    with (folder / "t.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["verdict"] for row in rows] == ["optimal"] * 6
    for k, row in enumerate(rows):
        slopes = [float(row[f"coefficient of {name}"]) for name in MEASURES] * sd
        assert slopes == pytest.approx(truth[:, k], rel=1e-3, abs=1e-3)
        assert data["points"][k]["nonzero"] == np.count_nonzero(slopes)
        assert float(row["objective"]) == pytest.approx(data["points"][k]["objective"], rel=1e-12)
    told(lineal(*words, "--json", "-o", "t.parquet"))
    table = pyarrow.parquet.read_table("t.parquet")
    assert table.column("strength").to_pylist() == pytest.approx(strengths)
    code, out, err = lineal(*words)
    assert (code, err) == (0, "")
    assert out.startswith("6 of 6 points are proven")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("body_mass_g", ("--model", "huber:200")),
        ("body_mass_g", ("--model", "poisson", "--penalty", "elastic:0.5")),
        ("body_mass_g", ("--bounds", "bill_depth_mm:0:")),
        ("sex", ("--penalty", "group")),
        ("sex", ("--model", "squared-hinge")),
        ("species", ("--penalty", "group")),
        ("species", ("--model", "sparsemax", "--points", "4")),
    ],
)
def test_paths_of_other_models_are_proven_point_by_point(
    target: str, words: tuple[str, ...], folder: Path, lineal: Lineal
) -> None:
    penguins(folder)
    base = ("path", "p.csv", "--target", target, *WITHOUT[target], "--points", "5", "--json")
    data = told(lineal(*base, *words))
    points = data["points"]
    assert all(point["verdict"] == "optimal" for point in points)
    assert points[0]["nonzero"] == 0
    objectives = [point["objective"] for point in points]
    assert objectives == sorted(objectives, reverse=True), "a smaller strength cannot cost more"
    assert data["best"] == int(np.argmin([point["held_out"] for point in points]))


def test_a_fit_is_summarised_as_statsmodels_does(folder: Path, lineal: Lineal) -> None:
    api = pytest.importorskip("statsmodels.api")
    columns = penguins(folder)
    words = ("fit", "p.csv", "--target", "sex", "--model", "logistic", "--penalty", "none", *WITHOUT["sex"], *ALL)
    assert told(lineal(*words))["verdict"]["kind"] == "optimal"
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0
    x = np.column_stack([np.ones(len(columns["sex"])), *(columns[name] for name in MEASURES)])
    truth = api.Logit((columns["sex"] == "male").astype(float), x).fit(disp=0, tol=1e-12)
    rows = told(lineal("summary", "p.lineal", "p.csv", "--json"))["rows"]
    found = {row["column"]: row for row in rows}
    ordered = [found[name] for name in ("(intercept)", *MEASURES)]
    assert [row["estimate"] for row in ordered] == pytest.approx(truth.params.tolist(), rel=1e-5)
    assert [row["error"] for row in ordered] == pytest.approx(truth.bse.tolist(), rel=1e-4)


def test_the_trials_are_drawn_and_the_zeros_named(folder: Path, lineal: Lineal) -> None:
    penguins(folder)
    code, out, err = lineal("fit", "p.csv", "--target", "body_mass_g", "--penalty", "l1:auto", "--drop", "species")
    assert (code, err) == (0, "")
    assert "* chosen" in out
    assert "folds" in out
    data = told(lineal("fit", "p.csv", "--target", "body_mass_g", "--penalty", "l1:auto", "--json"))
    chosen = data["model"]["selection"]
    figures = {trial["strength"]: trial["rmse"] for trial in chosen["trials"]}
    assert chosen["strength"] == min(figures, key=lambda strength: figures[strength])
    assert data["model"]["penalty"] == {"name": "l1", "strength": chosen["strength"]}
    assert all(trial["error"] > 0 for trial in chosen["trials"])
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0
    code, out, _ = lineal("fit", "p.csv", "--target", "body_mass_g", "--penalty", "l1:500", "--drop", "species")
    assert code == 0
    assert "exactly zero, and not shown" in out


def test_bounds_are_kept_and_contradictions_are_a_verdict(folder: Path, lineal: Lineal) -> None:
    columns = penguins(folder)
    words = ("fit", "p.csv", "--target", "body_mass_g", "--model", "linear", *WITHOUT["body_mass_g"], *ALL)
    bounds = ("--bounds", "bill_length_mm:0:", "--bounds", "bill_depth_mm:-5:5", "--bounds", "flipper_length_mm::40")
    data = told(lineal(*words, *bounds))
    x = np.column_stack([np.ones(len(columns["sex"])), *(columns[name] for name in MEASURES)])
    truth = scipy.optimize.lsq_linear(
        x, columns["body_mass_g"], ([-np.inf, 0, -5, -np.inf], [np.inf, np.inf, 5, 40]), tol=1e-14, method="bvls"
    )
    found = {entry["column"]: entry["value"] for entry in data["coefficients"]}
    assert [found["(intercept)"], *(found[name] for name in MEASURES)] == pytest.approx(truth.x, rel=1e-5)
    assert data["model"]["bounds"]["bill_depth_mm"] == [-5, 5]
    assert "subject to 0 <= b[bill_length_mm], -5 <= b[bill_depth_mm] <= 5" in data["model"]["objective"]
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0
    none = told(lineal(*words, "--bounds", "bill_depth_mm:2:1"), 3)
    assert none["verdict"]["kind"] == "infeasible"
    assert lineal(*words, "--bounds", "bill_depth_mm:2:1", "--accept")[0] == 0
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0
    mapped = library.fit(
        "p.csv", "body_mass_g", model="linear", drop=["species", "sex"], bounds={"bill_depth_mm": (None, 0.0)}
    )
    assert mapped.coef[mapped.columns.index("bill_depth_mm"), 0] <= 0.0


def test_a_trace_is_written_as_csv_and_parquet(folder: Path, lineal: Lineal) -> None:
    penguins(folder)
    words = (
        "fit",
        "p.csv",
        "--target",
        "sex",
        "--penalty",
        "ridge:0.1",
        "--solver",
        "gradient-descent:step=0.5,scaled=true",
        "--json",
    )
    first = told(lineal(*words, "--trace", "t.csv"))
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0
    assert first["trace"] == "t.csv"
    assert first["model"]["solver"]["name"] == "gradient-descent"
    with (folder / "t.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    names = ("(intercept)", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    weights = [f"weight:{name}" for name in (*names, "species=Chinstrap", "species=Gentoo")]
    records = ["step", "objective", "estimate", "passes", "seconds", "note", "gradient", "rows"]
    assert list(rows[0]) == [*records, *weights]
    assert [int(row["step"]) for row in rows] == list(range(len(rows)))
    objectives = [float(row["objective"]) for row in rows]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] == pytest.approx(first["model"]["objective_value"], rel=1e-12)
    told(lineal(*words, "--trace", "t.parquet"))
    assert pyarrow.parquet.read_table("t.parquet").column("objective").to_pylist() == objectives
    diverged = told(lineal(*words[:-2], "gradient-descent:step=100", "--json", "--trace", "far.csv"), 3)
    assert diverged["verdict"]["kind"] == "budget", "a step too large is an outcome, not a crash"
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0


def test_probabilities_of_a_margin_are_refused(folder: Path, lineal: Lineal) -> None:
    penguins(folder)
    told(lineal("fit", "p.csv", "--target", "sex", "--model", "svm", "--json"))
    code, out, err = lineal("predict", "p.lineal", "p.csv", "--proba")
    assert (code, out) == (2, "")
    assert "no probabilities" in err
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0
    assert lineal("predict", "p.lineal", "p.csv")[0] == 0
    told(lineal("fit", "p.csv", "--target", "species", "--model", "sparsemax", "--json"))
    code, out, err = lineal("predict", "p.lineal", "p.csv", "--proba")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(out.splitlines()))
    chances = np.array([[float(row[key]) for key in row if key != "prediction"] for row in rows])
    assert chances.sum(axis=1) == pytest.approx(1)
    assert np.any(chances == 0.0)
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0


GOOD = "x,z,y\n" + "".join(f"{i % 7},{(i * 5) % 11},{i % 2}\n" for i in range(60))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "quantle:0.5"], "Did you mean 'quantile'"),
        (["--model", "quantile"], "such as quantile:0.5"),
        (["--model", "quantile:1"], "between 0 and 1"),
        (["--model", "huber:0"], "above 0"),
        (["--model", "linear:2"], "nothing after a colon"),
        (["--penalty", "elastic:0.1"], "elastic:STRENGTH,RATIO"),
        (["--penalty", "elastic:0.1,2"], "from 0 (ridge) to 1 (l1)"),
        (["--penalty", "rigde:0.1"], "Did you mean 'ridge'"),
        (["--penalty", "groop:0.1"], "Did you mean 'group'"),
        (["--penalty", "none:1"], "accepted are none"),
        (["--penalty", "firth", "--model", "linear"], "logistic"),
        (["--penalty", "firth", "--solver", "newton"], "no effect"),
        (["--penalty", "firth", "--bounds", "x:0:1"], "bounds cannot be put"),
        (["--model", "bayes", "--penalty", "ridge:1"], "no effect"),
        (["--model", "bayes", "--solver", "direct"], "no effect"),
        (["--model", "ridge", "--penalty", "l1:1"], "model linear with --penalty l1:1"),
        (["--solver", "newtn"], "Did you mean 'newton'"),
        (["--solver", "gradient-descent:stp=1"], "Did you mean 'step'"),
        (["--solver", "gradient-descent:step"], "OPTION=VALUE"),
        (["--solver", "gradient-descent:step=big"], "'big'"),
        (["--solver", "gradient-descent:step=-1"], "above zero"),
        (["--solver", "gradient-descent:step=1,step=2"], "twice"),
        (["--solver", "gradient-descent:step=1:big"], "'1:big'"),
        (["--solver", "gradient-descent:batch=4"], "need a step"),
        (["--start", "1,2"], "(intercept), x, z"),
        (["--start", "zero", "--model", "bayes"], "start has no effect"),
        (["--steps", "3", "--penalty", "firth"], "steps has no effect"),
        (["--start", "zero", "--multiclass", "ovo"], "start is for one fit"),
        (["--solver", "direct:fast=1"], "'fast'"),
        (["--solver", "sdg"], "Did you mean 'sgd'"),
        (["--solver", "sgd:method=saga"], "'method'"),
        (["--solver", "sgd:batch=0"], "at least 1"),
        (["--solver", "sgd:schedule=optmal"], "Did you mean 'optimal'"),
        (["--solver", "saga:average=true"], "neither a schedule nor averaging"),
        (["--penalty", "l1:0.1", "--solver", "newton"], "kinks"),
        (["--penalty", "group:0.1", "--bounds", "x:0:1"], "no joint prox"),
        (["--bounds", "xx:0:1"], "Did you mean 'x'"),
        (["--bounds", "x:0"], "COL:LO:HI"),
        (["--bounds", "x:low:1"], "'low'"),
        (["--bounds", "x::"], "no effect"),
        (["--bounds", "x:0:1", "--bounds", "x:0:2"], "twice"),
        (["--trace", "t.txt"], "must end in one of .csv, "),
        (["--trace", "nowhere/t.csv"], "nowhere"),
        (["--trace", "good.csv"], "choose another"),
        (["--seed", "1", "--test-size", "0", "--penalty", "l1:1"], "no effect"),
    ],
)
def test_words_that_cannot_be_honoured_are_refused(words: list[str], said: str, folder: Path, lineal: Lineal) -> None:
    (folder / "good.csv").write_text(GOOD)
    code, out, err = lineal("fit", "good.csv", "--target", "y", *words)
    assert (code, out) == (2, ""), err
    assert err.startswith("lineal: ")
    assert err.count("\n") == 1
    assert said in err
    assert [path.name for path in folder.iterdir()] == ["good.csv"]


def test_targets_that_a_model_cannot_have(folder: Path, lineal: Lineal) -> None:
    penguins(folder)
    (folder / "n.csv").write_text("x,y\n" + "".join(f"{i % 9},{i * 0.37 - 3}\n" for i in range(50)))
    for words, said in (
        (["p.csv", "--target", "species", "--model", "squared-hinge"], "two classes"),
        (["p.csv", "--target", "species", "--penalty", "firth"], "two classes"),
        (["p.csv", "--target", "species", "--model", "poisson"], "not a number"),
        (["n.csv", "--target", "y", "--model", "poisson"], ">= 0"),
    ):
        code, _, err = lineal("fit", *words)
        assert code == 2
        assert said in err
