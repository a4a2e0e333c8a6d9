"""Honest files of losses with corners, penalties with kinks and bounds, Firth's and the evidence's fits; and their forgeries."""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize

from lineal.designs import as_design
from lineal.fitting.evidence import evidence
from lineal.fitting.firth import firth
from lineal.losses import CrammerSinger, Logistic, Poisson, Squared
from lineal.penalties import Bounds, NoPenalty
from lineal.sources.memory import Memory

from . import engine
from .engine import INF, fitted
from .forging import MUTATIONS, claim_gap, mutation, raise_gap, verdict
from .honest import Case


def data_of(loss, seed: int = 3, n: int = 90) -> tuple[np.ndarray, np.ndarray, Memory]:
    x, y = engine.rows_of(loss, seed, n)
    return x, y, Memory(as_design(x, intercept=True), y)


def infeasible() -> Case:
    clash = Bounds(np.array([-INF, 1.0, 0.0, 2.0, -INF]), np.array([INF, 0.5, 1.0, -2.0, INF]), NoPenalty(5))
    engine.PENALTIES["clash"] = clash
    return fitted("squared", "clash")


def firth_fit() -> Case:
    x, y, source = data_of(Logistic())
    found = firth(source)
    return engine.case_of_fit(Logistic(), found, x, y, None, None, 1e-6)


def evidence_fit() -> Case:
    x, y, source = data_of(Squared(1))
    found = evidence(source)
    made = found.fit
    return engine.case_of_fit(Squared(1), engine.Fit(found.coef, found.verdict, made.objective, "evidence", "asked for",
                              found.trace, made.problem, {}), x, y, None, None, 1e-6)  # fmt: skip


def crammer_singer() -> Case:
    """Solve the linear program: min sum q_i t_i with t_i >= eta_k + [k != y] - eta_y; its multipliers are the dual point."""
    loss = CrammerSinger(3)
    x, y, _ = data_of(loss, n=60)
    case = fitted("sparsemax", "none", seed=3, n=60)
    plain, n = np.column_stack([np.ones(60), x]), 60
    assert np.array_equal(engine.table_of(case)[1], y)
    lines, right = [], []
    for i in range(n):
        for k in range(3):
            line = np.zeros((3, 5))
            line[k] += plain[i]
            line[int(y[i, 0])] -= plain[i]
            lines.append(np.concatenate([line.ravel(), -np.eye(n)[i]]))
            right.append(-float(k != y[i, 0]))
    goal = np.concatenate([np.zeros(15), np.full(n, 1 / n)])
    ends = [(None, None)] * 15 + [(0, None)] * n
    found = optimize.linprog(goal, A_ub=np.array(lines), b_ub=right, bounds=ends, method="highs-ds")
    coef = found.x[:15].reshape(3, 5).T
    coef -= coef.mean(axis=1, keepdims=True)
    share = -found.ineqlin.marginals.reshape(n, 3) * n
    share[np.arange(n), y[:, 0].astype(int)] = 1.0
    share[np.arange(n), y[:, 0].astype(int)] -= share.sum(axis=1) - 1.0
    case.meta["loss"] = loss.to_dict()
    case.arrays = {"coef": coef, "theta": share - np.eye(3)[y[:, 0].astype(int)]}
    heavy = np.eye(3)[np.argmax(np.bincount(y[:, 0].astype(int)))] * (np.max(np.bincount(y[:, 0].astype(int))) > n / 2)
    null = engine.objective_of(case, np.vstack([heavy, np.zeros((4, 3))]))
    state(case, engine.objective_of(case, coef), null, 1e-13)
    return case


def state(case: Case, value: float, null: float, gap: float) -> None:
    """Write an honest verdict of an optimum."""
    case.meta["verdict"] = {
        "kind": "optimal", "sentence": "", "gap": gap, "relative_gap": 0.0, "reason": None,
        "evidence": {"objective": value, "lower_bound": value - gap, "null_objective": null, "tol": 1e-6},
    }  # fmt: skip
    claim_gap(case, gap)


def poisson_at_infinity() -> Case:
    """No count above zero where x3 is above one: its coefficient falls for ever on the rows that have only that."""
    x, y, _ = data_of(Poisson())
    x[:, 3] = np.where(x[:, 3] > 1.0, 1.0, 0.0)
    y[x[:, 3] == 1.0] = 0.0
    case = fitted("poisson", "ridge", seed=3)
    for row, cells, count in zip(case.rows, x, y, strict=True):
        row[:4], row[4] = [repr(float(cell)) for cell in cells], repr(float(count[0]))
    case.meta["penalty"] = {"name": "none"}
    coef = np.array([[0.1], [0.0], [0.2], [0.0], [-5.0]])
    direction = np.array([[0.0], [0.0], [0.0], [0.0], [-1.0]])
    case.arrays = {"coef": coef, "direction": direction}
    strict = np.flatnonzero(x[:, 3] == 1.0)
    names = case.meta["columns"]
    case.meta["verdict"] = {
        "kind": "at_infinity", "gap": None, "relative_gap": None, "reason": "no finite optimum exists",
        "sentence": f"No finite optimum: x3 singles out {len(strict)} of {len(x)} rows, all with count zero, so the loss "
        "falls for ever as their coefficients grow. Remedies: the penalty ridge, or drop a column.",
        "evidence": {"objective": engine.objective_of(case, coef), "plus": [], "minus": ["x3"], "finite": names[:4],
                     "strict_rows": len(strict), "rows": strict[:5].tolist(), "remedies": ["ridge"]},
    }  # fmt: skip
    return case


def standardised() -> Case:
    """Return a lasso whose charges are standard deviations, said so."""
    x, _ = engine.rows_of(engine.LOSSES["squared"], 0, 90)
    engine.PENALTIES["sd"] = engine.L1(0.05, np.concatenate([[0.0], x.std(axis=0)]))
    case = fitted("squared", "sd")
    case.meta["report"] = {"charges": "sd"}
    return case


CASES = {
    "lasso": lambda: fitted("squared", "l1"),
    "sparse lasso": lambda: fitted("squared", "strong l1"),
    "lasso on standardised columns": standardised,
    "lasso with free columns": lambda: fitted("logistic", "l1 with free columns", weighted=True),
    "elastic": lambda: fitted("squared", "elastic"),
    "group": lambda: fitted("squared 2", "group"),
    "bounds": lambda: fitted("squared", "bounds"),
    "logistic bounds": lambda: fitted("logistic", "no negative coefficient"),
    "huber": lambda: fitted("huber", "ridge"),
    "quantile": lambda: fitted("quantile", "none"),
    "absolute lasso": lambda: fitted("absolute", "l1", weighted=True),
    "tube": lambda: fitted("epsilon-insensitive", "ridge"),
    "squared tube": lambda: fitted("squared-epsilon-insensitive", "ridge"),
    "hinge": lambda: fitted("hinge", "ridge", weighted=True),
    "squared hinge": lambda: fitted("squared-hinge", "ridge"),
    "sparsemax": lambda: fitted("sparsemax", "elastic"),
    "poisson": lambda: fitted("poisson", "none", weighted=True),
    "crammer-singer": crammer_singer,
    "poisson at infinity": poisson_at_infinity,
    "infeasible": infeasible,
    "firth": firth_fit,
    "evidence": evidence_fit,
}


def restate(case: Case) -> None:
    """State the true objective at the coefficients, with the gap as it was."""
    verdict(case)["evidence"]["objective"] = engine.objective_of(case, case.arrays["coef"])
    claim_gap(case, verdict(case)["gap"])


def parameter(case_name: str, path: str, factor: float) -> None:
    """Register a forged parameter: the objective tells; and with the objective stated as it then is: the gap tells."""
    *inner, last = path.split(".")

    def alter(case):
        place = case.meta
        for key in inner:
            place = place[key]
        place[last] *= factor

    def alter_and_state(case):
        alter(case)
        restate(case)

    MUTATIONS[f"{last} altered ({case_name})"] = (case_name, "the objective at the coefficients is as stated", alter)
    line = "not below the proven|null fit is as stated"
    MUTATIONS[f"{last} altered and its objective stated ({case_name})"] = (case_name, line, alter_and_state)


parameter("elastic", "penalty.l1_ratio", 0.98)
parameter("elastic", "penalty.strength", 0.98)
parameter("lasso", "penalty.strength", 0.98)
parameter("group", "penalty.strength", 0.98)
parameter("quantile", "loss.q", 1.01)
parameter("huber", "loss.threshold", 1.01)
parameter("tube", "loss.epsilon", 1.05)
parameter("squared tube", "loss.epsilon", 1.05)

for _case, _other in (("hinge", "squared-hinge"), ("squared hinge", "hinge"), ("poisson", "absolute"),
                      ("tube", "squared-epsilon-insensitive"), ("sparsemax", "softmax"), ("group", "l1")):  # fmt: skip

    def _renamed(case, other=_other):
        case.meta["penalty" if other == "l1" else "loss"]["name"] = other
        case.arrays.pop("theta", None)
        case.arrays.pop("covariance", None)

    MUTATIONS[f"{_case} called {_other}"] = (_case, "the objective at the coefficients is as stated", _renamed)

for _case in ("lasso", "elastic", "group", "bounds", "huber", "quantile", "hinge", "squared hinge", "sparsemax", "poisson",
              "absolute lasso", "crammer-singer", "logistic bounds"):  # fmt: skip

    def _altered(case):
        """Move the largest coefficient that nothing holds, and state the objective there."""
        case.arrays["coef"][2] = case.arrays["coef"][2] * 0.9
        row = case.arrays["coef"][4]
        row *= 1.02
        if len(row) == 3 and case.meta["penalty"]["name"] == "none":
            row -= row.mean()
        restate(case)

    MUTATIONS[f"coefficients altered and their objective stated ({_case})"] = (_case, "not below the proven", _altered)


@mutation("lasso", "not below the proven one")
def coefficient_dropped_by_hand(case):
    place = np.flatnonzero(case.arrays["coef"][1:, 0])[-1] + 1
    case.arrays["coef"][place] = 0.0
    restate(case)


@mutation("lasso", "the objective at the coefficients is as stated")
def charge_of_a_kept_column_lowered(case):
    place = int(np.flatnonzero(case.arrays["coef"][1:, 0])[0]) + 1
    case.arrays["charges"][place] *= 0.9


@mutation("lasso with free columns", "not below the proven one")
def charged_column_freed(case):
    case.arrays["charges"][1] = 0.0
    restate(case)


@mutation("lasso on standardised columns", "its standard deviation in the training rows")
def standard_deviation_altered(case):
    case.arrays["charges"][2] *= 1.001


@mutation("lasso", "the radius")
def radius_invented_for_a_lasso(case):
    verdict(case)["evidence"]["radius"] = math.sqrt(2 * verdict(case)["gap"] / case.meta["penalty"]["strength"])


@mutation("bounds", "every coefficient is within its bounds")
def bound_moved_past_its_coefficient(case):
    case.arrays["lower"][1] = case.arrays["coef"][1, 0] + 0.01


@mutation("bounds", "not below the proven one|null fit is as stated")
def bound_loosened(case):
    held = np.flatnonzero(case.arrays["coef"][:, 0] == case.arrays["upper"])
    case.arrays["upper"][held] += 0.05
    held = np.flatnonzero(case.arrays["coef"][:, 0] == case.arrays["lower"])
    case.arrays["lower"][held] -= 0.05


@mutation("bounds", "not below the proven one")
def bounds_forgotten(case):
    case.meta["penalty"] = {"name": "none"}
    del case.arrays["lower"], case.arrays["upper"]


@mutation("logistic bounds", "not below the proven one")
def bound_dropped_on_the_side_that_holds(case):
    held = np.flatnonzero(case.arrays["coef"][:, 0] == 0.0)
    case.arrays["lower"][held[:1]] = -INF


for _case in ("quantile", "absolute lasso", "tube", "hinge", "crammer-singer"):

    def _row(case):
        """Halve the dual point of one row."""
        theta = case.arrays["theta"]
        theta[np.argmax(np.abs(theta[:, 0]))] *= 0.5

    def _swapped(case):
        theta = case.arrays["theta"]
        first, last = int(np.argmax(theta[:, 0])), int(np.argmin(theta[:, 0]))
        theta[[first, last]] = theta[[last, first]]

    def _zero(case):
        case.arrays["theta"] *= 0.0

    def _turned(case):
        case.arrays["theta"] *= -1.0

    for _name, _function in (
        ("zero", _zero),
        ("of another sign", _turned),
        ("rows swapped", _swapped),
        ("row altered", _row),
    ):
        MUTATIONS[f"theta {_name} ({_case})"] = (_case, "not below the proven one", _function)

    def _gone(case):
        del case.arrays["theta"]

    def _short(case):
        case.arrays["theta"] = case.arrays["theta"][:-1]

    MUTATIONS[f"theta removed ({_case})"] = (_case, "the file holds a dual point", _gone)
    MUTATIONS[f"theta cut short ({_case})"] = (_case, "the dual point has a row for every training row", _short)


for _case in ("lasso", "group", "bounds", "huber", "hinge", "poisson"):

    def _less(case):
        """Claim coefficients of a worse fit to be as good as the best."""
        case.arrays["coef"][0] += 0.01
        restate(case)

    MUTATIONS[f"intercept altered and its objective stated ({_case})"] = (_case, "not below the proven", _less)

    def _more(case):
        raise_gap(case)

    MUTATIONS[f"gap raised to a wide tolerance ({_case})"] = (_case, "not far above the proven", _more)


@mutation("sparsemax", "the objective at the coefficients is as stated")
def probabilities_shifted(case):
    case.arrays["coef"][1, 0] += 1e-3


@mutation("poisson", "every target is a number of at least 0")
def data_count_below_zero(case):
    case.rows[0][case.header.index("y")] = "-1"


@mutation("poisson", "every score of a training row is a finite number")
def rate_beyond_doubles(case):
    case.arrays["coef"][0] = 1e4


@mutation("poisson at infinity", "the loss of no training row grows")
def count_above_zero_where_the_rate_falls(case):
    row = next(row for row in case.rows if row[3] == "1.0")
    row[case.header.index("y")] = "1.0"
    verdict(case)["evidence"]["objective"] = engine.objective_of(case, case.arrays["coef"])


@mutation("poisson at infinity", "the loss of no training row grows")
def falling_rate_reversed(case):
    case.arrays["direction"] *= -1


@mutation("huber", "the loss can fall for ever")
def huber_called_at_infinity(case):
    names = case.meta["columns"]
    case.arrays["direction"] = np.ones_like(case.arrays["coef"])
    evidence = {"plus": names, "minus": [], "finite": [], "strict_rows": 5, "rows": []}
    sentence = f"No finite optimum: {names[0]}."
    verdict(case).update(kind="at_infinity", sentence=sentence, gap=None, relative_gap=None, evidence=evidence)
