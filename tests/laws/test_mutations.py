"""Named mutations of model files and data: the checker must refuse each, and name the line that failed.

The files are built here, from docs/model-file.md alone: own encoder, own split, own fingerprint, own Newton fit. Every
mutation of a model file is tried twice: with the old signature (the hash must catch it) and signed again (the proof must).
"""

from __future__ import annotations

import copy
import csv
import hashlib
import json
import math
import random
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from lineal import container
from lineal.errors import LinealError, ModelFileError, VerificationError
from lineal.verify import Refused, verify

HEADER = ["age", "height", "smoker", "island", "w", "off", "y", "y2", "outcome", "species", "half"]
SEED, TEST_SIZE = 7, 0.25
M64 = 2**64 - 1


def make_rows(n: int = 240) -> list[list[str]]:
    draw = random.Random(11)
    rows = []
    for i in range(n):
        age, height = round(draw.gauss(40, 12), 1), round(draw.gauss(1.7, 0.1), 3)
        smoker, island = draw.choice(["yes", "no"]), draw.choice(["Biscoe", "Dream", "Torgersen", "Dream"])
        score = 0.04 * (age - 40) + 5 * (height - 1.7) + (smoker == "yes") - 0.8 * (island == "Dream")
        y = 3 + score + draw.gauss(0, 0.7)
        outcome = "yes" if score + draw.gauss(0, 1.3) > 0 else "no"
        species = "Adelie" if score + draw.gauss(0, 1.2) > 0.6 else draw.choice(["Gentoo", "Chinstrap"])
        cells = [str(age), str(height), smoker, island, str(draw.choice([1, 2, 0.5, 0])), str(round(draw.gauss(0, 0.2), 3))]
        cells += [f"{y:.4f}", f"{2 * y + draw.gauss(0, 1):.4f}", outcome, species, repr(height / 2)]
        if i % 9 == 4:
            cells[0] = "NA"
        if i % 7 == 2:
            cells[3] = ""
        if i % 8 == 5:
            cells[2] = " "
        if i % 40 == 7:
            cells[6] = cells[7] = cells[8] = cells[9] = "?"
        rows.append(cells)
    return rows


# ---------------------------------------------------------------- the document, once more, in plain Python


def mix(z: int) -> int:
    z = (z + 0x9E3779B97F4A7C15) & M64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
    return z ^ (z >> 31)


def is_test(seed: int, row: int, size: float) -> bool:
    return (mix(mix(seed) ^ row) >> 11) * 2.0**-53 < size


def gone(cell: str) -> bool:
    return cell.strip() in ("", "NA", "?")


def fingerprint(columns: dict[str, tuple[str, list[str]]]) -> str:
    whole = b""
    for name in sorted(columns):
        kind, cells = columns[name]
        data = b""
        for cell in cells:
            if kind == "n":
                data += bytes.fromhex("000000000000f87f") if gone(cell) else struct.pack("<d", float(cell))
            else:
                text = cell.strip().encode()
                data += b"\xff\xff\xff\xff" if gone(cell) else struct.pack("<I", len(text)) + text
        whole += name.encode() + b"\0" + kind.encode() + hashlib.sha256(data).digest()
    return "sha256:" + hashlib.sha256(whole).hexdigest()


@dataclass
class Case:
    """A data file and an honest model of it."""

    header: list[str]
    rows: list[list[str]]
    meta: dict = field(default_factory=dict)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)

    def column(self, name: str, keep: list[int]) -> list[str]:
        position = self.header.index(name)
        return [self.rows[i][position] for i in keep]

    def write(self, folder: Path) -> tuple[Path, Path]:
        data = folder / "d.csv"
        with data.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([self.header, *self.rows])
        container.write(folder / "m.lineal", self.meta, self.arrays)
        return folder / "m.lineal", data


def loss_parts(loss: str, y: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value (n,), slope (n, k), curvature (n, k, k)."""
    if loss == "squared":
        return 0.5 * ((eta - y) ** 2).sum(1), eta - y, np.tile(np.eye(y.shape[1]), (len(y), 1, 1))
    if loss == "logistic":
        p = 1 / (1 + np.exp(-eta))
        return (np.logaddexp(0, eta) - y * eta)[:, 0], p - y, (p * (1 - p))[:, :, None]
    top = eta.max(1, keepdims=True)
    p = np.exp(eta - top)
    value = np.log(p.sum(1)) + top[:, 0] - (y * eta).sum(1)
    p /= p.sum(1, keepdims=True)
    return value, p - y, p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None, :]


def fit(loss, x, y, q, offset, lam, steps=60):
    """Plain Newton with pseudo-inverse; returns coefficients, objective and second derivative."""
    p, k = x.shape[1], y.shape[1]
    b = np.zeros((p, k))

    def objective(b):
        return float(q @ loss_parts(loss, y, x @ b + offset)[0] + 0.5 * (lam[:, None] * b**2).sum())

    for _ in range(steps):
        _, slope, curvature = loss_parts(loss, y, x @ b + offset)
        gradient = x.T @ (q[:, None] * slope) + lam[:, None] * b
        h = np.einsum("n,nab,ni,nj->aibj", q, curvature, x, x).reshape(p * k, p * k) + np.diag(np.tile(lam, k))
        step = np.linalg.lstsq(h, gradient.T.ravel(), rcond=1e-13)[0].reshape(k, p).T
        length = 1.0
        while objective(b - length * step) > objective(b) and length > 1e-9:
            length /= 2
        b = b - length * step
    return b, objective(b), h


def terms_of(columns: list[str], case: Case, keep: list[int]) -> list[dict]:
    found = []
    for name in columns:
        cells = case.column(name, keep)
        present = [cell.strip() for cell in cells if not gone(cell)]
        if name == "smoker":
            values = [float(cell == "yes") for cell in present]
            found.append(
                {"kind": "boolean", "column": name, "true": ["yes"], "false": ["no"], "fill": sum(values) / len(values),
                 "indicator": len(present) < len(cells)}
            )  # fmt: skip
        elif name == "island":
            levels = sorted(set(present))
            found.append({"kind": "category", "column": name, "levels": levels, "reference": "Dream", "missing": True})
        else:
            mean = math.fsum(map(float, present)) / len(present)
            found.append({"kind": "number", "column": name, "fill": mean, "indicator": len(present) < len(cells)})
    return found


def encode(terms: list[dict], case: Case, keep: list[int]) -> tuple[list[str], np.ndarray]:
    names, parts = ["(intercept)"], [np.ones(len(keep))]
    for term in terms:
        name, cells = term["column"], [cell.strip() for cell in case.column(term["column"], keep)]
        if term["kind"] == "category":
            for level in term["levels"]:
                if level != term["reference"]:
                    names.append(f"{name}={level}")
                    parts.append(np.array([cell == level for cell in cells], float))
            if term["missing"]:
                names.append(f"{name} is missing")
                parts.append(np.array([gone(cell) for cell in cells], float))
            continue
        value = (lambda cell: float(cell == "yes")) if term["kind"] == "boolean" else float
        names.append(name)
        parts.append(np.array([term["fill"] if gone(cell) else value(cell) for cell in cells]))
        if term["indicator"]:
            names.append(f"{name} is missing")
            parts.append(np.array([gone(cell) for cell in cells], float))
    return names, np.column_stack(parts)


def build(
    target: str | list[str],
    loss: str,
    columns: list[str],
    *,
    strength: float = 0.0,
    weight: str | None = None,
    offset: str | None = None,
    split: bool = True,
    steps: int = 60,
    rows: list[list[str]] | None = None,
) -> Case:
    case = Case(list(HEADER), make_rows() if rows is None else rows)
    targets = [target] if isinstance(target, str) else target
    outside = [i for i in range(len(case.rows)) if not (split and is_test(SEED, i, TEST_SIZE))]
    keep = [i for i in outside if not any(gone(case.column(name, [i])[0]) for name in targets)]
    terms = terms_of(columns, case, keep)
    names, x = encode(terms, case, keep)
    s = np.array([float(cell) for cell in case.column(weight, keep)]) if weight else np.ones(len(keep))
    o = np.array([[float(cell)] for cell in case.column(offset, keep)]) if offset else np.zeros((len(keep), 1))
    classes = None
    if loss == "squared":
        y = np.column_stack([[float(cell) for cell in case.column(name, keep)] for name in targets])
    else:
        labels = case.column(targets[0], keep)
        classes = sorted(set(labels))
        y = np.array([[label == name for name in classes] for label in labels], float)
        y = y[:, 1:] if loss == "logistic" else y
    seen = s > 0
    total = float(s.sum())
    q = s / total
    variance = q @ (x - q @ x) ** 2
    variance[0] = 0.0
    lam = strength * variance
    coef, value, h = fit(loss, x[seen], y[seen], q[seen], o[seen], lam, steps)
    coef -= coef.mean(axis=1, keepdims=True) if loss == "softmax" else 0.0
    _, null, _ = fit(loss, x[seen][:, :1], y[seen], q[seen], o[seen], np.zeros(1))
    gap = 1e-13 * value if steps >= 60 else 0.0
    takes = {term["column"]: "n" if term["kind"] == "number" else "t" for term in terms}
    takes.update(dict.fromkeys(targets, "n" if classes is None else "t"))
    takes.update({name: "n" for name in (weight, offset) if name})
    gain = null - (value - gap)
    evidence = {"objective": value, "lower_bound": value - gap, "null_objective": null, "tol": 1e-6}
    if strength:
        evidence["radius"] = math.sqrt(2 * gap / strength)
    case.meta = {
        "format": "lineal-model",
        "version": 1,
        "made_by": "a test",
        "loss": {"name": loss, "outputs": y.shape[1]},
        "penalty": {"name": "ridge", "strength": strength} if strength else {"name": "none"},
        "columns": names,
        "target": {
            "name": targets[0],
            "kind": "number" if classes is None else "classes",
            "classes": classes,
            "names": targets if len(targets) > 1 else None,
        },
        "encoder": {"intercept": True, "terms": terms},
        "roles": {"weight": weight, "offset": offset},
        "training": {
            "rows": int(seen.sum()),
            "weight_sum": total,
            "without_target": len(outside) - len(keep),
            "split": {"seed": SEED, "test_size": TEST_SIZE} if split else None,
            "fingerprint": fingerprint({name: (kind, case.column(name, keep)) for name, kind in takes.items()}),
        },
        "tol": 1e-6,
        "verdict": {
            "kind": "optimal",
            "sentence": f"Optimal: not better than by {100 * gap / gain:.2g} % (gap {gap:.2g}).",
            "gap": gap,
            "relative_gap": gap / gain,
            "reason": None,
            "evidence": evidence,
        },
        "solver": {"name": "a test", "reason": "it is short"},
        "report": {"charges": "variance"} if strength else {},
    }
    case.arrays = {"coef": coef}
    if strength:
        case.arrays["charges"] = variance
    elif loss != "softmax" and len(targets) == 1 and np.linalg.matrix_rank(h) == len(h):
        sigma = float(s @ ((x @ coef + o - y) ** 2)[:, 0]) / (total - len(names)) if loss == "squared" else 1.0
        case.arrays["covariance"] = sigma * np.linalg.inv(h * total)
    return case


def not_unique() -> Case:
    case = build("y", "squared", ["height", "half", "age"])
    names = case.meta["columns"]
    d = np.zeros((len(names), 1))
    d[names.index("height")], d[names.index("half")] = -0.5, 1.0
    coef = case.arrays["coef"]
    coef[1:] -= d[1:] @ (d[1:].T @ coef[1:]) / float(np.sum(d[1:] ** 2))
    case.arrays = {"coef": coef, "null_space": d}
    case.meta["verdict"]["kind"] = "not_unique"
    case.meta["verdict"]["sentence"] = case.meta["verdict"]["sentence"].replace("Optimal:", "Optimal but not unique:")
    case.meta["verdict"]["evidence"]["dependencies"] = [{"height": -0.5, "half": 1.0}]
    return case


def at_infinity() -> Case:
    rows = make_rows()
    for row in rows:  # quasi-separation: everybody on Torgersen says yes
        if row[3] == "Torgersen":
            row[8] = "yes"
    case = build("outcome", "logistic", ["age", "island"], rows=rows, steps=12)
    names = case.meta["columns"]
    d = np.array([[float(name == "island=Torgersen")] for name in names])
    keep = case.meta["training"]["rows"]
    inside = [i for i in range(len(rows)) if not is_test(SEED, i, TEST_SIZE) and not gone(rows[i][8])]
    assert len(inside) == keep
    strict = [number for number, i in enumerate(inside) if rows[i][3] == "Torgersen"]
    case.arrays = {"coef": case.arrays["coef"], "direction": d}
    case.meta["verdict"] = {
        "kind": "at_infinity",
        "sentence": "No finite optimum: island=Torgersen goes to +infinity.",
        "gap": None,
        "relative_gap": None,
        "reason": "a direction",
        "evidence": {
            "plus": ["island=Torgersen"],
            "minus": [],
            "finite": [name for name in names if name != "island=Torgersen"],
            "strict_rows": len(strict),
            "rows": strict[:5],
            "objective": case.meta["verdict"]["evidence"]["objective"],
        },
    }
    return case


def budget() -> Case:
    """One Newton step only; the honest gap is the objective less the true optimum, known from sixty steps."""
    case = build("outcome", "logistic", ["age", "height", "smoker"], strength=0.01, steps=1)
    best = build("outcome", "logistic", ["age", "height", "smoker"], strength=0.01).meta["verdict"]["evidence"]
    evidence = case.meta["verdict"]["evidence"]
    gap = 1.3 * (evidence["objective"] - best["objective"])
    lower = evidence["objective"] - gap
    case.meta["verdict"].update(
        kind="budget", gap=gap, relative_gap=gap / (evidence["null_objective"] - lower), reason="the time limit",
        sentence=f"Not optimal yet: {100 * gap / (evidence['null_objective'] - lower):.2g} % (gap {gap:.2g}).",
    )  # fmt: skip
    evidence.update(lower_bound=lower)
    del evidence["radius"]
    return case


MIXED = ["age", "height", "smoker", "island"]
CASES = {
    "linear": lambda: build("y", "squared", MIXED),
    "linear weighted": lambda: build("y", "squared", MIXED, weight="w", offset="off"),
    "two outputs": lambda: build(["y", "y2"], "squared", MIXED),
    "ridge": lambda: build("y", "squared", MIXED, strength=0.03, weight="w"),
    "logistic": lambda: build("outcome", "logistic", MIXED),
    "logistic weighted": lambda: build("outcome", "logistic", MIXED, weight="w", offset="off"),
    "logistic ridge": lambda: build("outcome", "logistic", MIXED, strength=1e-4, offset="off"),
    "softmax": lambda: build("species", "softmax", MIXED),
    "softmax ridge": lambda: build("species", "softmax", MIXED, strength=0.01, weight="w"),
    "no split": lambda: build("y", "squared", MIXED, split=False),
    "not unique": not_unique,
    "at infinity": at_infinity,
    "budget": budget,
}
_made: dict[str, Case] = {}


def case_of(name: str) -> Case:
    if name not in _made:
        _made[name] = CASES[name]()
    return copy.deepcopy(_made[name])


@pytest.mark.parametrize("name", CASES)
def test_honest_files_are_confirmed(name, tmp_path):
    report = verify(*case_of(name).write(tmp_path))
    assert report.passed
    assert len(report) > 8


# ---------------------------------------------------------------- mutations of the model file

MUTATIONS: dict[str, tuple[str, str, object]] = {}
"""Name -> case, words of the line that must fail, function."""


def mutation(case: str, line: str):
    def register(function):
        MUTATIONS[function.__name__.replace("_", " ").strip()] = (case, line, function)
        return function

    return register


def verdict(case: Case) -> dict:
    return case.meta["verdict"]


def term(case: Case, column: str) -> dict:
    return next(term for term in case.meta["encoder"]["terms"] if term["column"] == column)


def reword(case: Case) -> None:
    """Make the sentence fit the figures again, as a careful forger would."""
    v, evidence = verdict(case), verdict(case)["evidence"]
    begin = {"optimal": "Optimal: ", "not_unique": "Optimal but not unique: ", "budget": "Not optimal yet: "}[v["kind"]]
    v["sentence"] = f"{begin}{100 * v['relative_gap']:.2g} % (gap {v['gap']:.2g})."
    if "radius" in evidence:
        evidence["radius"] = math.sqrt(2 * v["gap"] / case.meta["penalty"]["strength"])


def claim_gap(case: Case, gap: float) -> None:
    """State another gap, and everything that follows from it, consistently."""
    v, evidence = verdict(case), verdict(case)["evidence"]
    v["gap"], evidence["lower_bound"] = gap, evidence["objective"] - gap
    v["relative_gap"] = gap / (evidence["null_objective"] - evidence["lower_bound"])
    reword(case)


def move(case: Case, size: float) -> None:
    case.arrays["coef"][1] *= 1 + size


for _name in ("linear", "linear weighted", "ridge", "logistic", "logistic ridge", "softmax ridge", "two outputs"):

    def _altered(case):
        move(case, 0.01)
        if case.meta["loss"]["name"] == "softmax":
            case.arrays["coef"] -= case.arrays["coef"].mean(axis=1, keepdims=True)

    MUTATIONS[f"coefficient altered ({_name})"] = (_name, "the objective at the coefficients is as stated", _altered)

for _name in ("linear", "ridge", "logistic", "logistic ridge", "softmax"):

    def _moved(case):
        """Coefficients that are off, with their true objective stated: only the gap can tell."""
        move(case, 0.003)
        case.arrays["coef"] -= case.arrays["coef"].mean(axis=1, keepdims=True) if len(case.arrays["coef"][0]) > 1 else 0
        restate(case)

    MUTATIONS[f"coefficient altered and its objective stated ({_name})"] = (_name, "not below the proven", _moved)


def restate(case: Case) -> None:
    """Compute the objective at the coefficients by this file's own formulas, and state it."""
    meta = case.meta
    split = meta["training"]["split"]
    keep = [i for i in range(len(case.rows)) if split is None or not is_test(split["seed"], i, split["test_size"])]
    names = meta["target"]["names"] or [meta["target"]["name"]]
    keep = [i for i in keep if not any(gone(case.column(name, [i])[0]) for name in names)]
    _, x = encode(meta["encoder"]["terms"], case, keep)
    weight, offset = meta["roles"]["weight"], meta["roles"]["offset"]
    s = np.array([float(cell) for cell in case.column(weight, keep)]) if weight else np.ones(len(keep))
    o = np.array([[float(cell)] for cell in case.column(offset, keep)]) if offset else np.zeros((len(keep), 1))
    if meta["loss"]["name"] == "squared":
        y = np.column_stack([[float(cell) for cell in case.column(name, keep)] for name in names])
    else:
        labels, classes = case.column(names[0], keep), meta["target"]["classes"]
        y = np.array([[label == name for name in classes] for label in labels], float)
        y = y[:, 1:] if meta["loss"]["name"] == "logistic" else y
    coef = case.arrays["coef"]
    lam = meta["penalty"].get("strength", 0.0) * case.arrays.get("charges", np.zeros(len(coef)))
    value = s @ loss_parts(meta["loss"]["name"], y, x @ coef + o)[0] / s.sum() + 0.5 * (lam[:, None] * coef**2).sum()
    verdict(case)["evidence"]["objective"] = float(value)
    claim_gap(case, verdict(case)["gap"])


@mutation("logistic", "the lower bound is the objective less the gap")
def gap_halved_(case):
    verdict(case)["gap"] /= 2
    reword(case)


@mutation("budget", "the stated gap is not below the proven one")
def gap_understated_consistently(case):
    claim_gap(case, verdict(case)["gap"] / 2)


@mutation("budget", "the stated gap is not below the proven one")
def unfinished_fit_called_optimal(case):
    verdict(case)["kind"] = "optimal"
    claim_gap(case, 1e-12)


@mutation("budget", "the stated gap is not far above the proven one")
def gap_overstated_consistently(case):
    claim_gap(case, verdict(case)["gap"] * 1e5)


@mutation("logistic", "the stated gap is not far above the proven one")
def gap_raised_to_the_tolerance(case):
    claim_gap(case, 0.9e-6 * (verdict(case)["evidence"]["null_objective"] - verdict(case)["evidence"]["objective"]))


@mutation("linear", "the sentence says what the verdict is")
def gap_removed(case):
    verdict(case)["gap"] = None
    verdict(case)["sentence"] = "It is optimal."


@mutation("linear", "not below the proven one")
def gap_null(case):
    verdict(case)["gap"] = None
    verdict(case)["sentence"] = f"Optimal: {100 * verdict(case)['relative_gap']:.2g} %."


@mutation("linear", "the relative gap is the gap over")
def relative_gap_altered(case):
    verdict(case)["relative_gap"] /= 10
    reword(case)


@mutation("linear", "the relative gap is the gap over")
def relative_gap_zero(case):
    verdict(case)["relative_gap"] = 0.0
    reword(case)


@mutation("ridge", "the lower bound is the objective less the gap")
def lower_bound_altered(case):
    verdict(case)["evidence"]["lower_bound"] *= 1 - 1e-9


@mutation("ridge", "the objective of the null fit is as stated")
def null_objective_raised(case):
    verdict(case)["evidence"]["null_objective"] *= 100
    claim_gap(case, verdict(case)["gap"])


@mutation("ridge", "the objective at the coefficients is as stated")
def objective_altered(case):
    verdict(case)["evidence"]["objective"] *= 1 - 1e-9
    claim_gap(case, verdict(case)["gap"])


@mutation("ridge", "the radius")
def radius_halved(case):
    verdict(case)["evidence"]["radius"] /= 2


@mutation("logistic", "the tolerance in the evidence")
def tol_raised(case):
    case.meta["tol"] = 1e-2


@mutation("logistic", "the tolerance in the evidence")
def tol_in_the_evidence_raised(case):
    verdict(case)["evidence"]["tol"] = 1e-2


@mutation("logistic", "the relative gap is within the tolerance")
def tol_below_the_relative_gap(case):
    case.meta["tol"] = verdict(case)["evidence"]["tol"] = 1e-15


@mutation("logistic", "the sentence says what the verdict is")
def sentence_of_another_kind(case):
    verdict(case)["sentence"] = "Not optimal yet: the time limit was reached."


@mutation("logistic", "the sentence says what the verdict is")
def sentence_with_a_better_figure(case):
    verdict(case)["sentence"] = "Optimal: better by at most 1e-30 % (gap 1e-32)."


@mutation("ridge", "the objective at the coefficients is as stated")
def strength_altered(case):
    case.meta["penalty"]["strength"] *= 1.001
    reword(case)


@mutation("ridge", "the charge of every column is its variance")
def charge_altered(case):
    case.arrays["charges"][2] *= 1.001


@mutation("ridge", "the objective at the coefficients is as stated")
def charge_altered_and_no_longer_said_to_be_a_variance(case):
    case.arrays["charges"][2] *= 1.001
    case.meta["report"] = {}


@mutation("ridge", "no charge is below zero")
def intercept_charged(case):
    case.arrays["charges"][0] = 1.0


@mutation("ridge", "no charge is below zero")
def charge_below_zero(case):
    case.arrays["charges"][2] *= -1


@mutation("ridge", "the objective at the coefficients is as stated")
def penalty_forgotten(case):
    case.meta["penalty"] = {"name": "none"}
    del case.arrays["charges"], verdict(case)["evidence"]["radius"]


@mutation("linear", "the number of rows without a target|fingerprint")
def split_seed_altered(case):
    case.meta["training"]["split"]["seed"] += 1


@mutation("linear", "the number of rows without a target|fingerprint")
def share_altered(case):
    case.meta["training"]["split"]["test_size"] = 0.3


@mutation("linear", "the number of rows without a target|fingerprint")
def split_removed(case):
    case.meta["training"]["split"] = None


@mutation("no split", "the number of rows without a target|fingerprint")
def split_invented(case):
    case.meta["training"]["split"] = {"seed": 0, "test_size": 0.1}


@mutation("linear", "the number of training rows is as stated")
def row_count_altered(case):
    case.meta["training"]["rows"] += 1


@mutation("linear weighted", "the sum of the weights is as stated")
def weight_sum_altered(case):
    case.meta["training"]["weight_sum"] += 0.5


@mutation("linear", "the number of rows without a target")
def without_target_altered(case):
    case.meta["training"]["without_target"] = 0


@mutation("linear", "fingerprint")
def fingerprint_altered(case):
    case.meta["training"]["fingerprint"] = "sha256:" + "0" * 64


@mutation("logistic", "the columns are those the terms make")
def level_renamed_in_the_term(case):
    term(case, "island")["levels"][0] = "Bisco"


@mutation("logistic", "the category term of 'island'")
def level_renamed_everywhere(case):
    term(case, "island")["levels"][0] = "Bisco"
    case.meta["columns"] = [name.replace("Biscoe", "Bisco") for name in case.meta["columns"]]


@mutation("logistic", "the category term of 'island'")
def levels_reordered(case):
    term(case, "island")["levels"].reverse()
    names = case.meta["columns"]
    a, b = names.index("island=Biscoe"), names.index("island=Torgersen")
    names[a], names[b] = names[b], names[a]


@mutation("logistic", "the category term of 'island'")
def reference_level_renamed(case):
    """Unknown levels count as the reference: without a look at the levels nothing would change."""
    term(case, "island")["levels"][1] = term(case, "island")["reference"] = "Drear"


@mutation("logistic", "the category term of 'island'")
def level_invented(case):
    term(case, "island")["levels"].append("Zavodovski")
    case.meta["columns"].insert(-1, "island=Zavodovski")
    case.arrays["coef"] = np.insert(case.arrays["coef"], -1, 0.0, axis=0)
    del case.arrays["covariance"]


@mutation("logistic", "the objective at the coefficients is as stated")
def reference_changed(case):
    term(case, "island")["reference"] = "Biscoe"
    case.meta["columns"] = ["island=Dream" if name == "island=Biscoe" else name for name in case.meta["columns"]]


@mutation("linear", "the number term of 'age'")
def fill_altered(case):
    term(case, "age")["fill"] += 0.5


@mutation("linear", "the number term of 'height'")
def fill_of_a_full_column_altered(case):
    """Nothing in the training rows is missing: only the mean itself can tell."""
    term(case, "height")["fill"] += 0.01


@mutation("linear", "the boolean term of 'smoker'")
def boolean_fill_altered(case):
    term(case, "smoker")["fill"] = 0.0


@mutation("linear", "the boolean term of 'smoker'")
def boolean_swapped(case):
    term(case, "smoker")["true"], term(case, "smoker")["false"] = ["no"], ["yes"]


@mutation("linear", "the boolean term of 'smoker'")
def boolean_word_invented(case):
    term(case, "smoker")["true"].append("perhaps")


@mutation("linear", "the columns are those the terms make")
def indicator_dropped(case):
    term(case, "age")["indicator"] = False


@mutation("linear", "the objective at the coefficients is as stated")
def indicator_dropped_everywhere(case):
    term(case, "age")["indicator"] = False
    where = case.meta["columns"].index("age is missing")
    del case.meta["columns"][where], case.arrays["covariance"]
    case.arrays["coef"] = np.delete(case.arrays["coef"], where, axis=0)


@mutation("linear", "the objective at the coefficients is as stated")
def missing_level_dropped_everywhere(case):
    term(case, "island")["missing"] = False
    del case.meta["columns"][-1], case.arrays["covariance"]
    case.arrays["coef"] = case.arrays["coef"][:-1]


@mutation("linear", "fingerprint")
def term_dropped(case):
    case.meta["encoder"]["terms"] = case.meta["encoder"]["terms"][1:]
    del case.meta["columns"][1:3], case.arrays["covariance"]
    case.arrays["coef"] = np.delete(case.arrays["coef"], [1, 2], axis=0)


@mutation("linear", "the columns are those the terms make")
def intercept_dropped(case):
    case.meta["encoder"]["intercept"] = False


@mutation("linear", "the columns are those the terms make")
def columns_swapped(case):
    names = case.meta["columns"]
    names[1], names[3] = names[3], names[1]


@mutation("linear", "the objective at the coefficients is as stated")
def coefficients_swapped(case):
    case.arrays["coef"][[1, 3]] = case.arrays["coef"][[3, 1]]


@mutation("logistic", "the objective at the coefficients is as stated")
def class_order_swapped(case):
    case.meta["target"]["classes"].reverse()


@mutation("softmax", "the objective at the coefficients is as stated")
def softmax_classes_swapped(case):
    classes = case.meta["target"]["classes"]
    classes[0], classes[2] = classes[2], classes[0]


@mutation("logistic", "the classes are those of the training rows")
def class_renamed(case):
    case.meta["target"]["classes"][1] = "yess"


@mutation("softmax", "the coefficients of every column sum to zero")
def gauge_shifted(case):
    case.arrays["coef"][2] += 1.0


@mutation("linear", "fingerprint")
def target_replaced(case):
    case.meta["target"]["name"] = "y2"


@mutation("linear", "the data has every column")
def target_unknown(case):
    case.meta["target"]["name"] = "yy"


@mutation("linear weighted", "fingerprint")
def weight_role_removed(case):
    case.meta["roles"]["weight"] = None


@mutation("linear", "fingerprint")
def weight_role_invented(case):
    case.meta["roles"]["weight"] = "w"


@mutation("linear weighted", "fingerprint")
def offset_role_removed(case):
    case.meta["roles"]["offset"] = None


@mutation("linear weighted", "the objective at the coefficients|every weight")
def roles_swapped(case):
    roles = case.meta["roles"]
    roles["weight"], roles["offset"] = roles["offset"], roles["weight"]


@mutation("logistic", "the objective at the coefficients is as stated")
def loss_replaced(case):
    """The file of a linear model of classes cannot be; a fake of a two-output softmax can."""
    case.meta["loss"] = {"name": "softmax", "outputs": 2}
    half = case.arrays["coef"] / 2
    case.arrays = {"coef": np.hstack([half, -half])}


@mutation("at infinity", "the sentence says|a gap can be proven|not below the proven")
def at_infinity_called_optimal(case):
    v, evidence = verdict(case), verdict(case)["evidence"]
    null = build("outcome", "logistic", ["age", "island"], rows=case.rows).meta["verdict"]["evidence"]["null_objective"]
    value = evidence["objective"]
    v.update(kind="optimal", gap=1e-13, relative_gap=1e-13 / (null - value + 1e-13))
    v["evidence"] = {"objective": value, "lower_bound": value - 1e-13, "null_objective": null, "tol": 1e-6}
    del case.arrays["direction"]
    reword(case)


@mutation("at infinity", "a gap can be proven")
def at_infinity_called_optimal_far_out(case):
    case.arrays["coef"][case.meta["columns"].index("island=Torgersen")] = 40.0
    null = build("outcome", "logistic", ["age", "island"], rows=case.rows).meta["verdict"]["evidence"]["null_objective"]
    verdict(case).update(kind="optimal", gap=1e-13, relative_gap=1e-12)
    verdict(case)["evidence"] = {"objective": 0.4, "lower_bound": 0.4, "null_objective": null, "tol": 1e-6}
    del case.arrays["direction"]
    restate(case)


@mutation("logistic", "the loss of no training row grows")
def optimal_called_at_infinity(case):
    direction = np.zeros_like(case.arrays["coef"])
    direction[1] = 1.0
    case.arrays = {"coef": case.arrays["coef"], "direction": direction}
    names = case.meta["columns"]
    evidence = {"plus": names[1:2], "minus": [], "finite": names[:1] + names[2:], "strict_rows": 5, "rows": []}
    sentence = f"No finite optimum: {names[1]}."
    verdict(case).update(kind="at_infinity", sentence=sentence, gap=None, relative_gap=None, evidence=evidence)


@mutation("linear", "the loss can fall for ever")
def squared_called_at_infinity(case):
    direction = np.ones_like(case.arrays["coef"])
    case.arrays = {"coef": case.arrays["coef"], "direction": direction}
    evidence = {"plus": case.meta["columns"], "minus": [], "finite": [], "strict_rows": 5, "rows": []}
    sentence = f"No finite optimum: {case.meta['columns'][0]}."
    verdict(case).update(kind="at_infinity", sentence=sentence, gap=None, relative_gap=None, evidence=evidence)


@mutation("at infinity", "the loss of no training row grows")
def direction_reversed(case):
    case.arrays["direction"] *= -1


@mutation("at infinity", "the loss of no training row grows")
def direction_tilted_by_a_hair(case):
    case.arrays["direction"][0] = -5e-324


@mutation("at infinity", "the file holds a direction")
def direction_zero(case):
    case.arrays["direction"] *= 0


@mutation("at infinity", "the stated number of rows falls")
def strict_rows_altered(case):
    verdict(case)["evidence"]["strict_rows"] += 1


@mutation("at infinity", "said to be infinite")
def infinite_column_altered(case):
    evidence = verdict(case)["evidence"]
    evidence["finite"], evidence["plus"] = evidence["plus"] + evidence["finite"][1:], evidence["finite"][:1]
    verdict(case)["sentence"] = f"No finite optimum: {evidence['plus'][0]}."


@mutation("at infinity", "the rows named")
def strict_row_named_wrongly(case):
    verdict(case)["evidence"]["rows"][0] += 1


@mutation("at infinity", "the objective at the coefficients is as stated")
def coefficient_at_infinity_altered(case):
    case.arrays["coef"][1] += 0.01


@mutation("at infinity", "no gap is claimed")
def gap_claimed_at_infinity(case):
    verdict(case)["gap"] = 0.0
    verdict(case)["sentence"] += " (gap 0)"


@mutation("not unique", "every dependency is zero in every row")
def dependency_altered(case):
    case.arrays["null_space"][1] *= 1 + 1e-12
    verdict(case)["evidence"]["dependencies"] = [{"height": float(case.arrays["null_space"][1, 0]), "half": 1.0}]


@mutation("not unique", "the dependencies by name")
def dependency_in_the_text_altered(case):
    verdict(case)["evidence"]["dependencies"] = [{"height": -0.5, "age": 1.0}]


@mutation("not unique", "the file holds the null space")
def null_space_removed_but_dependencies_kept(case):
    del case.arrays["null_space"]


@mutation("not unique", "the dependencies are independent of each other")
def dependency_counted_twice(case):
    case.arrays["null_space"] = np.repeat(case.arrays["null_space"], 2, axis=1)
    verdict(case)["evidence"]["dependencies"] *= 2


@mutation("not unique", "a gap can be proven")
def not_unique_called_optimal(case):
    verdict(case)["kind"] = "optimal"
    del case.arrays["null_space"]
    reword(case)


@mutation("linear", "some columns are combinations of others")
def optimal_called_not_unique(case):
    verdict(case)["kind"] = "not_unique"
    reword(case)


@mutation("not unique", "the coefficients are the smallest of their flat")
def another_point_of_the_flat(case):
    case.arrays["coef"] += 0.01 * case.arrays["null_space"]


@mutation("linear", "the covariance of the coefficients is as stated")
def covariance_altered(case):
    case.arrays["covariance"][2, 2] *= 1 + 1e-5


@mutation("logistic weighted", "the covariance of the coefficients is as stated")
def covariance_halved(case):
    case.arrays["covariance"] /= 2


@mutation("ridge", "a covariance is given for a unique fit without a penalty only")
def covariance_invented(case):
    case.arrays["covariance"] = np.eye(len(case.arrays["coef"]))


@mutation("logistic", "the relative gap is above the tolerance")
def optimal_called_budget(case):
    verdict(case)["kind"] = "budget"
    reword(case)


@mutation("linear", "this checker does not know verdicts of kind 'separated'")
def kind_unknown_to_the_checker(case):
    verdict(case)["kind"] = "separated"


# ---------------------------------------------------------------- mutations of the data


@mutation("linear", "fingerprint")
def data_cell_changed(case):
    row = next(i for i in range(len(case.rows)) if not is_test(SEED, i, TEST_SIZE))
    case.rows[row][1] = repr(float(case.rows[row][1]) * (1 + 2e-16))


@mutation("linear", "fingerprint")
def data_level_changed(case):
    row = next(i for i in range(len(case.rows)) if not is_test(SEED, i, TEST_SIZE) and case.rows[i][3] == "Dream")
    case.rows[row][3] = "Biscoe"


@mutation("linear", "fingerprint")
def data_target_changed(case):
    row = next(i for i in range(len(case.rows)) if not is_test(SEED, i, TEST_SIZE) and not gone(case.rows[i][6]))
    case.rows[row][6] += "1"


@mutation("linear", "the number of rows without a target")
def data_target_removed(case):
    row = next(i for i in range(len(case.rows)) if not is_test(SEED, i, TEST_SIZE) and not gone(case.rows[i][6]))
    case.rows[row][6] = ""


@mutation("no split", "fingerprint")
def data_rows_reordered(case):
    case.rows.reverse()


@mutation("linear", "the number of rows without a target|fingerprint")
def data_row_deleted(case):
    del case.rows[3]


@mutation("no split", "fingerprint")
def data_row_added(case):
    case.rows.append(list(case.rows[0]))


@mutation("linear", "the data has every column")
def data_header_renamed(case):
    case.header[0] = "agee"


@mutation("linear", "fingerprint")
def data_headers_swapped(case):
    case.header[0], case.header[1] = case.header[1], case.header[0]


DATA_ONLY = {name for name in MUTATIONS if name.startswith("data ")}


def test_there_are_enough_mutations():
    assert len(MUTATIONS) >= 30


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutation_signed_again_is_refused_by_the_line(name, tmp_path):
    import re

    case_name, line, function = MUTATIONS[name]
    case = case_of(case_name)
    function(case)
    with pytest.raises(Refused) as caught:
        verify(*case.write(tmp_path))
    report = caught.value.report
    failed = [entry["check"] for entry in report if not entry["passed"]]
    assert failed == [report.lines[-1]["check"]]
    assert re.search(line, failed[0]), (failed[0], report.lines[-1]["detail"])
    assert failed[0] in str(caught.value)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("name", sorted(set(MUTATIONS) - DATA_ONLY))
def test_mutation_with_the_old_signature_is_refused_by_the_hash(name, tmp_path):
    case_name, _, function = MUTATIONS[name]
    case = case_of(case_name)
    model, data = case.write(tmp_path)
    signature = signature_of(model)
    function(case)
    container.write(model, case.meta, case.arrays)
    model.write_bytes(model.read_bytes().replace(signature_of(model), signature))
    with pytest.raises(ModelFileError, match="SHA-256"):
        verify(model, data)


def signature_of(path: Path) -> bytes:
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + struct.unpack("<Q", content[:8])[0]])
    return json.loads(header["__metadata__"]["lineal"])["sha256"].encode()


HARMLESS = {
    "data columns reordered": lambda case: (
        case.header.reverse(),
        [row.reverse() for row in case.rows],
    ),
    "extra data column": lambda case: (case.header.append("extra"), [row.append("x") for row in case.rows]),
    "held-out cell changed": lambda case: case.rows[
        next(i for i in range(len(case.rows)) if is_test(SEED, i, TEST_SIZE))
    ].__setitem__(0, "1e9"),
    "blanks around cells": lambda case: [row.__setitem__(3, f"  {row[3]} ") for row in case.rows],
    "another spelling of missing": lambda case: [row.__setitem__(0, row[0].replace("NA", "None")) for row in case.rows],
    "another spelling of numbers": lambda case: [row.__setitem__(1, f"{float(row[1]):.9e}") for row in case.rows],
    "null space left out": lambda case: (
        case.arrays.pop("null_space", None),
        case.meta["verdict"]["evidence"].pop("dependencies", None),
    ),
    "report changed": lambda case: case.meta.update(report={**case.meta["report"], "note": "hello"}),
    "fingerprint left out": lambda case: case.meta["training"].update(fingerprint=None),
}


@pytest.mark.parametrize("name", HARMLESS)
@pytest.mark.parametrize("case_name", ["linear", "logistic ridge", "not unique"])
def test_harmless_changes_are_accepted(name, case_name, tmp_path):
    case = case_of(case_name)
    HARMLESS[name](case)
    assert verify(*case.write(tmp_path)).passed


@pytest.mark.parametrize("name", ["linear", "ridge", "softmax", "not unique", "at infinity"])
def test_files_with_fields_of_the_wrong_kind_are_refused_in_a_sentence(name, tmp_path):
    """Replace every field of the JSON, one at a time, by null, a text, a number, a list: never another error."""
    honest = case_of(name)
    _, data = honest.write(tmp_path)
    paths = [path for path in walk(honest.meta) if path[0] not in ("report", "solver", "made_by", "format", "version")]
    refused = 0
    for path in paths:
        for value in (None, "x", -1, [], {}, True, 1e300):
            case = copy.deepcopy(honest)
            inner = case.meta
            for key in path[:-1]:
                inner = inner[key]
            if inner[path[-1]] == value:
                continue
            inner[path[-1]] = value
            container.write(tmp_path / "m.lineal", case.meta, case.arrays)
            try:
                verify(tmp_path / "m.lineal", data)
            except LinealError:
                refused += 1
    assert refused > 5 * len(paths)


def walk(node, path=()):
    for key, inner in node.items() if isinstance(node, dict) else enumerate(node):
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from walk(inner, (*path, key))


def test_a_refusal_is_a_verification_error():
    assert issubclass(Refused, VerificationError)
