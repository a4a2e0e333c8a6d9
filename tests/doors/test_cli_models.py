"""Every model with every penalty from the command line: the stated objective, other programs, the independent checker."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
import scipy.optimize
from sklearn import linear_model as peer
from sklearn.svm import SVC

import lineal as library
from lineal import penalties

Lineal = Callable[..., tuple[int, str, str]]
PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"
SHARED = Path(__file__).parents[3] / "shared" / "data"
ALL = ("--test-size", "0", "--json")

NUMBERS = ("linear", "huber:200", "quantile:0.3", "poisson")
TWO = ("logistic", "svm", "squared-hinge", "sparsemax")
MANY = ("logistic", "sparsemax")
PENALTIES = [
    kind.spelling().replace("STRENGTH", "0.02").replace("RATIO", "0.4") for kind in penalties.by_name().values()
]


def penguins(folder: Path) -> dict[str, np.ndarray]:
    """Write the penguins without missing cells, numbers only beside the targets, and return the columns."""
    with PENGUINS.open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if "NA" not in row.values() and "" not in row.values()]
    names = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    columns = {name: np.array([float(row[name]) for row in rows]) for name in names}
    columns |= {name: np.array([row[name] for row in rows]) for name in ("species", "sex")}
    with (folder / "p.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return columns


def told(answer: tuple[int, str, str], code: int = 0) -> dict[str, Any]:
    assert (answer[0], answer[2]) == (code, "")
    data = json.loads(answer[1])
    assert isinstance(data, dict)
    return data


def design(columns: dict[str, np.ndarray], *names: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the standardised columns, and their standard deviations."""
    x = np.column_stack([columns[name] for name in names])
    return (x - x.mean(axis=0)) / x.std(axis=0), x.std(axis=0)


MEASURES = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm")
WITHOUT = {
    "body_mass_g": ("--drop", "species", "--drop", "sex"),
    "sex": ("--drop", "species", "--drop", "body_mass_g"),
    "species": ("--drop", "sex", "--drop", "body_mass_g"),
}
CASES = [
    *(("body_mass_g", model, penalty) for model in NUMBERS for penalty in PENALTIES),
    *(("sex", model, penalty) for model in TWO for penalty in PENALTIES),
    *(("species", model, penalty) for model in MANY for penalty in PENALTIES[1:]),
]


def losses(name: str, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """Return the loss of every row by its textbook formula."""
    r = y - eta[:, 0] if eta.shape[1] == 1 else np.zeros(len(eta))
    z = np.where(y == 1, 1, -1) * eta[:, 0]
    if name == "linear":
        return r**2 / 2
    if name == "huber:200":
        return np.where(np.abs(r) <= 200, r**2 / 2, 200 * np.abs(r) - 200**2 / 2)
    if name == "quantile:0.3":
        return np.where(r > 0, 0.3 * r, -0.7 * r)
    if name == "poisson":
        return np.exp(eta[:, 0]) - y * eta[:, 0]
    if name == "svm":
        return np.maximum(1 - z, 0)
    if name == "squared-hinge":
        return np.maximum(1 - z, 0) ** 2 / 2
    own = eta[np.arange(len(y)), y.astype(int)] if eta.shape[1] > 1 else y * eta[:, 0]
    if name == "logistic":
        top = np.logaddexp(0, eta[:, 0]) if eta.shape[1] == 1 else np.logaddexp.reduce(eta, axis=1)
        return top - own
    two = np.column_stack([np.zeros(len(eta)), eta[:, 0]]) if eta.shape[1] == 1 else eta
    low, high = two.min(axis=1) - 1.0, two.max(axis=1)
    for _ in range(100):  # sparsemax: the projection on the simplex, by bisection
        middle = (low + high) / 2
        over = np.maximum(two - middle[:, None], 0).sum(axis=1) > 1
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    p = np.maximum(two - low[:, None], 0)
    return np.sum(p * two, axis=1) - np.sum(p * p, axis=1) / 2 + 0.5 - own


def penalty_of(words: str, b: np.ndarray) -> float:
    """Return a penalty of standardised coefficients by its formula."""
    name, _, rest = words.partition(":")
    if name == "none":
        return 0.0
    strength, ratio = [*map(float, rest.split(",")), 1.0][:2]
    if name == "ridge":
        return float(strength / 2 * np.sum(b**2))
    if name == "group":
        return float(strength * np.sum(np.sqrt(np.sum(b**2, axis=1))))
    return float(strength * np.sum(ratio * np.abs(b) + (1 - ratio) / 2 * b**2))


@pytest.mark.slow
@pytest.mark.parametrize(("target", "model", "penalty"), CASES)
def test_the_stated_objective_is_reached_verified_and_kept(
    target: str, model: str, penalty: str, folder: Path, lineal: Lineal
) -> None:
    columns = penguins(folder)
    words = ("fit", "p.csv", "--target", target, "--model", model, "--penalty", penalty, *WITHOUT[target], *ALL)
    data = told(lineal(*words))
    assert data["verdict"]["kind"] == "optimal"
    names = [entry for entry in data["coefficients"] if entry["column"] != "(intercept)"]
    outputs = list(dict.fromkeys(entry["output"] for entry in data["coefficients"]))
    value = {(entry["column"], entry["output"]): entry["value"] for entry in data["coefficients"]}
    assert {entry["column"] for entry in names} == set(MEASURES)
    z, sd = design(columns, *MEASURES)
    x = np.column_stack([columns[name] for name in MEASURES])
    b = np.array([[value[name, output] for output in outputs] for name in MEASURES])
    intercept = np.array([value["(intercept)", output] for output in outputs])
    kinds = sorted(set(columns[target].tolist()))
    y = columns[target] if target == "body_mass_g" else np.array([kinds.index(k) for k in columns[target]], float)

    def objective(slopes: np.ndarray, constant: np.ndarray) -> float:
        return float(np.mean(losses(model, y, z @ slopes + constant))) + penalty_of(penalty, slopes)

    slopes, constant = b * sd[:, None], intercept + x.mean(axis=0) @ b
    reached = objective(slopes, constant)
    assert reached == pytest.approx(data["model"]["objective_value"], rel=1e-9)
    assert "F(b) = mean " in data["model"]["objective"]
    allowed = reached + 1e-9 * abs(reached)
    gap = data["verdict"]["gap"]
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1, 0.5):
        for _ in range(25):
            rival = objective(
                slopes + size * rng.normal(size=slopes.shape) * np.abs(slopes).max(),
                constant + size * rng.normal(size=constant.shape) * np.abs(constant).max(),
            )
            assert rival >= allowed - gap - 2e-9 * abs(reached)
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0
    fitted = library.fit("p.csv", target, model=model, penalty=penalty, drop=WITHOUT[target][1::2])
    kept = library.load("p.lineal")
    assert kept.coef.tobytes() == fitted.coef.tobytes()
    assert kept.predict("p.csv").tolist() == fitted.predict("p.csv").tolist()
    assert kept.loss == fitted.loss
    assert kept.penalty.name == fitted.penalty.name


def standardised(data: dict[str, Any], columns: dict[str, np.ndarray]) -> np.ndarray:
    value = {entry["column"]: entry["value"] for entry in data["coefficients"]}
    return np.array([value[name] * columns[name].std() for name in MEASURES])


def test_other_programs_find_the_same(folder: Path, lineal: Lineal) -> None:
    columns = penguins(folder)
    z, _ = design(columns, *MEASURES)
    mass, male = columns["body_mass_g"], (columns["sex"] == "male").astype(float)

    def fitted(target: str, *words: str) -> np.ndarray:
        return standardised(told(lineal("fit", "p.csv", "--target", target, *words, *WITHOUT[target], *ALL)), columns)

    lasso = peer.Lasso(alpha=20.0, tol=1e-12, max_iter=100000).fit(z, mass)
    assert fitted("body_mass_g", "--penalty", "l1:20") == pytest.approx(lasso.coef_, rel=1e-3, abs=1e-3)
    net = peer.ElasticNet(alpha=2.0, l1_ratio=0.3, tol=1e-12, max_iter=100000).fit(z, mass)
    assert fitted("body_mass_g", "--penalty", "elastic:2,0.3") == pytest.approx(net.coef_, rel=1e-3)
    counts = peer.PoissonRegressor(alpha=0.1, tol=1e-10, max_iter=10000).fit(z, mass)
    assert fitted("body_mass_g", "--model", "poisson", "--penalty", "ridge:0.1") == pytest.approx(
        counts.coef_, rel=1e-3
    )
    bayes = peer.BayesianRidge(tol=1e-10, max_iter=10000).fit(z, mass)
    assert fitted("body_mass_g", "--model", "bayes") == pytest.approx(bayes.coef_, rel=1e-3)
    machine = SVC(kernel="linear", C=1 / (len(z) * 0.05), tol=1e-9).fit(z, male)
    assert fitted("sex", "--model", "svm", "--penalty", "ridge:0.05") == pytest.approx(machine.coef_[0], rel=1e-2)
    quantile = scipy.optimize.linprog(
        np.r_[np.zeros(4), 0.8 * np.ones(len(z)), 0.2 * np.ones(len(z))] / len(z),
        A_eq=np.column_stack([z, np.ones(len(z)), np.eye(len(z)), -np.eye(len(z))]),
        b_eq=mass,
        bounds=[(None, None)] * 4 + [(0, None)] * (2 * len(z)),
    )
    words = ("--target", "body_mass_g", "--model", "quantile:0.8", "--penalty", "none", *WITHOUT["body_mass_g"])
    told_of = told(lineal("fit", "p.csv", *words, *ALL))
    assert told_of["model"]["objective_value"] == pytest.approx(quantile.fun, rel=1e-6)


@pytest.mark.skipif(
    not (SHARED / "endometrial.csv").is_file(),
    reason="endometrial (GPL, from the R package brglm2: tests/references/data/README.md) is absent",
)
def test_firth_answers_an_infinite_estimate(folder: Path, lineal: Lineal) -> None:
    words = ("fit", SHARED / "endometrial.csv", "--target", "HG", "--test-size", "0", "--json")
    assert told(lineal(*words, "--penalty", "none"), 3)["verdict"]["kind"] == "at_infinity"
    data = told(lineal(*words, "--penalty", "firth"))
    assert data["verdict"]["kind"] == "stationary"
    assert data["model"]["penalty"] == {"name": "firth"}
    assert "log det" in data["model"]["objective"]
    found = {entry["column"]: entry["value"] for entry in data["coefficients"]}
    # R's brglm2: tests/references/data/r/outside.R
    assert found["NV"] == pytest.approx(2.92927, abs=1e-4)
    assert found["EH"] == pytest.approx(-2.60416, abs=1e-4)
    assert lineal("verify", "endometrial.lineal", SHARED / "endometrial.csv")[0] == 0


@pytest.mark.skipif(
    not (SHARED / "prostate.csv").is_file(),
    reason="prostate (GPL, from the R package ElemStatLearn: tests/references/data/README.md) is absent",
)
@pytest.mark.parametrize("model", ["huber", "quantile:0.5", "bayes", "linear"])
def test_real_tables_with_everything_picked(model: str, folder: Path, lineal: Lineal) -> None:
    path = SHARED / "prostate.csv"
    data = told(lineal("fit", path, "--target", "lpsa", "--drop", "train", "--model", model, "--json"))
    assert data["verdict"]["kind"] in ("optimal", "stationary")
    assert data["metrics"]["test"]["mae"] < data["metrics"]["baseline"]["mae"]
    if model == "huber":
        told_of = data["model"]["threshold"]
        assert told_of["value"] == pytest.approx(1.35 * told_of["scale"]) == data["model"]["parameters"]["threshold"]
    assert lineal("verify", "prostate.lineal", path)[0] == 0
    for words in (["show", "prostate.lineal"], ["predict", "prostate.lineal", path]):
        assert lineal(*words)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "words", "kind"),
    [
        ("body_mass_g", ("--model", "bayes"), "stationary"),
        ("body_mass_g", ("--model", "huber"), "optimal"),
        ("body_mass_g", ("--model", "huber:150", "--penalty", "l1:auto"), "optimal"),
        ("body_mass_g", ("--model", "quantile:0.9", "--penalty", "ridge:auto"), "optimal"),
        ("body_mass_g", ("--model", "poisson", "--penalty", "elastic:auto,0.5"), "optimal"),
        ("body_mass_g", ("--model", "ridge"), "optimal"),
        ("sex", ("--penalty", "firth"), "stationary"),
        ("sex", ("--model", "svm"), "optimal"),
        ("sex", ("--model", "squared-hinge"), "optimal"),
        ("sex", ("--penalty", "group:auto"), "optimal"),
        ("species", ("--model", "sparsemax"), "optimal"),
        ("species", ("--penalty", "elastic:auto,0.3"), "optimal"),
    ],
)
def test_what_is_picked_from_the_data_is_verified(
    target: str, words: tuple[str, ...], kind: str, folder: Path, lineal: Lineal
) -> None:
    penguins(folder)
    data = told(lineal("fit", "p.csv", "--target", target, *WITHOUT[target], *words, "--json"))
    assert data["verdict"]["kind"] == kind
    test, baseline = data["metrics"]["test"], data["metrics"]["baseline"]
    assert test["mae"] < baseline["mae"] if target == "body_mass_g" else test["accuracy"] > baseline["accuracy"]
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0
    assert lineal("show", "p.lineal")[0] == 0


SOLVERS = [
    ("body_mass_g", "direct", "linear", "ridge:0.1"),
    ("sex", "newton", "logistic", "ridge:0.1"),
    ("sex", "newton-cg", "logistic", "ridge:0.1"),
    ("species", "quasi-newton:memory=5", "logistic", "ridge:0.1"),
    ("sex", "gradient-descent", "logistic", "ridge:0.1"),
    ("sex", "prox-newton", "logistic", "l1:0.02"),
    ("sex", "prox-gradient", "logistic", "l1:0.02"),
    ("body_mass_g", "coordinate", "linear", "l1:20"),
    ("sex", "interior-point", "svm", "ridge:0.1"),
    ("sex", "dual-ascent", "svm", "ridge:0.1"),
    ("body_mass_g", "interior-point", "quantile:0.5", "none"),
    ("sex", "saga", "logistic", "ridge:0.1"),
    ("sex", "saga:seed=3,batch=4", "squared-hinge", "ridge:0.1"),
    ("body_mass_g", "saga", "linear", "l1:20"),
]


@pytest.mark.parametrize(("target", "solver", "model", "penalty"), SOLVERS)
def test_every_solver_by_name_finds_the_same(
    target: str, solver: str, model: str, penalty: str, folder: Path, lineal: Lineal
) -> None:
    penguins(folder)
    words = ("fit", "p.csv", "--target", target, "--model", model, "--penalty", penalty, *WITHOUT[target], *ALL)
    free, asked = told(lineal(*words)), told(lineal(*words, "--solver", solver))
    assert asked["model"]["solver"]["name"] == solver.partition(":")[0]
    assert asked["verdict"]["kind"] == "optimal"
    allowed = free["verdict"]["gap"] + asked["verdict"]["gap"]
    value = free["model"]["objective_value"]
    assert asked["model"]["objective_value"] == pytest.approx(value, rel=1e-12, abs=allowed)
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0


@pytest.mark.parametrize(
    ("target", "solver", "model", "penalty"),
    [
        ("sex", "sgd:epochs=30", "logistic", "ridge:0.1"),
        ("sex", "sgd:schedule=optimal,average=true,epochs=30,seed=5", "logistic", "ridge:0.1"),
        ("body_mass_g", "sgd:schedule=invscaling,power=0.25,epochs=20", "linear", "l1:20"),
        ("sex", "sgd:epochs=30", "svm", "ridge:0.1"),
        ("sex", "mini-batch:epochs=30", "logistic", "ridge:0.1"),
        ("species", "mini-batch:batch=8,epochs=30", "logistic", "ridge:0.1"),
    ],
)
def test_descent_by_few_rows_says_how_near_it_came(
    target: str, solver: str, model: str, penalty: str, folder: Path, lineal: Lineal
) -> None:
    penguins(folder)
    words = ("fit", "p.csv", "--target", target, "--model", model, "--penalty", penalty, *WITHOUT[target], *ALL)
    best = told(lineal(*words))
    code, out, err = lineal(*words, "--solver", solver, "--trace", "t.csv")
    found = json.loads(out)
    assert (code, err) == (0 if found["verdict"]["kind"] == "optimal" else 3, "")
    assert found["verdict"]["kind"] in ("optimal", "budget")
    assert found["model"]["solver"]["name"] == solver.partition(":")[0]
    above = found["model"]["objective_value"] - best["model"]["objective_value"]
    assert above <= found["verdict"]["gap"]
    assert above >= -best["verdict"]["gap"]
    assert found["verdict"]["relative_gap"] < 1.0, "nearer than the intercept alone"
    assert len((folder / "t.csv").read_text().splitlines()) >= 3
    assert lineal("verify", "p.lineal", "p.csv")[0] == 0


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
        (["--trace", "t.txt"], ".csv or .parquet"),
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
