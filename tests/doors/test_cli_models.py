"""Every model with every penalty from the command line: the stated objective, other programs, the independent checker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from sklearn import linear_model as peer
from sklearn.svm import SVC

import lineal as library
from lineal import penalties
from tests.doors.penguins import ALL, MEASURES, WITHOUT, Lineal, design, penguins, told

SHARED = Path(__file__).parents[3] / "shared" / "data"


NUMBERS = ("linear", "huber:200", "quantile:0.3", "poisson")


TWO = ("logistic", "svm", "squared-hinge", "sparsemax")


MANY = ("logistic", "sparsemax")


PENALTIES = [
    kind.spelling().replace("STRENGTH", "0.02").replace("RATIO", "0.4") for kind in penalties.by_name().values()
]


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
