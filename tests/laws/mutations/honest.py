"""Honest model files, built from docs/model-file.md alone: own encoder, own split, own fingerprint, own Newton fit."""

from __future__ import annotations

import copy
import csv
import hashlib
import math
import random
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lineal import container

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
        cells = [
            str(age),
            str(height),
            smoker,
            island,
            str(draw.choice([1, 2, 0.5, 0])),
            str(round(draw.gauss(0, 0.2), 3)),
        ]
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
    sealed: bool = True
    """Whether whoever writes it states the hash of the encoding as it then is."""

    def column(self, name: str, keep: list[int]) -> list[str]:
        position = self.header.index(name)
        return [self.rows[i][position] for i in keep]

    def write(self, folder: Path) -> tuple[Path, Path]:
        data = folder / "d.csv"
        with data.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([self.header, *self.rows])
        if self.sealed and "encoding" in self.meta:
            self.meta["encoding"] = container.encoding(self.meta)
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


def said(v: dict) -> str:
    """Return the sentence of an optimum, or of a fit that ended before one (docs/model-file.md)."""
    share, gap = f"{100 * v['relative_gap']:.2g} %", f"{v['gap']:.2g}"
    if v["kind"] == "budget":
        return f"Not optimal yet: {v['reason']}. The loss could still fall by up to {share} (gap {gap})."
    bound = f"the loss cannot be improved by more than {share} (gap {gap}, proven)"
    if v["kind"] == "optimal":
        return f"Optimal: {bound}."
    return (
        f"Optimal but not unique: {bound}, and other coefficients reach the same. In every row half = 0.5 * height. "
        "The coefficients of least norm are given; drop a column or add a penalty for unique ones."
    )


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
            "sentence": "",
            "gap": gap,
            "relative_gap": gap / gain,
            "reason": None,
            "evidence": evidence,
        },
        "solver": {"name": "a test", "reason": "it is short"},
        "report": {"charges": "variance"} if strength else {},
    }
    case.meta["verdict"]["sentence"] = said(case.meta["verdict"])
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
    case.meta["verdict"]["sentence"] = said(case.meta["verdict"])
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
        "sentence": f"No finite optimum: island=Torgersen separates {len(strict)} of {keep} rows from the rest, so the loss "
        "falls for ever as their coefficients grow. Remedies: the penalty firth or ridge, or drop a column.",
        "gap": None,
        "relative_gap": None,
        "reason": "no finite optimum exists",
        "evidence": {
            "plus": ["island=Torgersen"],
            "minus": [],
            "finite": [name for name in names if name != "island=Torgersen"],
            "strict_rows": len(strict),
            "rows": strict[:5],
            "objective": case.meta["verdict"]["evidence"]["objective"],
            "remedies": ["firth", "ridge"],
        },
    }
    return case


def at_infinity_exactly() -> Case:
    """The same with its direction in integers, which doubles cannot hold."""
    case = at_infinity()
    case.meta["verdict"]["evidence"]["direction"] = {"island=Torgersen": str(10**40 + 1)}
    return case


def budget() -> Case:
    """One Newton step only; the honest gap is the objective less the true optimum, known from sixty steps."""
    case = build("outcome", "logistic", ["age", "height", "smoker"], strength=0.01, steps=1)
    best = build("outcome", "logistic", ["age", "height", "smoker"], strength=0.01).meta["verdict"]["evidence"]
    evidence = case.meta["verdict"]["evidence"]
    gap = 1.3 * (evidence["objective"] - best["objective"])
    lower = evidence["objective"] - gap
    case.meta["verdict"].update(
        kind="budget", gap=gap, relative_gap=gap / (evidence["null_objective"] - lower), reason="the time limit was reached",
    )  # fmt: skip
    case.meta["verdict"]["sentence"] = said(case.meta["verdict"])
    evidence.update(lower_bound=lower)
    del evidence["radius"]
    return case


def diverged() -> Case:
    """Steps so long that the penalty overflows: nothing is claimed but that."""
    case = build("outcome", "logistic", ["age", "height", "smoker"], strength=0.01)
    case.arrays["coef"][1] = 1e200
    case.meta["verdict"] = {
        "kind": "budget",
        "sentence": "Stopped without a proof: the coefficients are not finite.",
        "gap": None,
        "relative_gap": None,
        "reason": "the coefficients are not finite",
        "evidence": {"objective": None},
    }
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
    "at infinity exactly": at_infinity_exactly,
    "budget": budget,
    "diverged": diverged,
}
_made: dict[str, Case] = {}


def case_of(name: str) -> Case:
    if name not in _made:
        _made[name] = CASES[name]()
    return copy.deepcopy(_made[name])
