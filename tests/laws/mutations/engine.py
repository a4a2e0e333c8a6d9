"""Model files of every loss and penalty, fitted by the engine and saved, with the data beside them."""

from __future__ import annotations

import itertools
import math
import tempfile
from inspect import isabstract
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

from lineal import container, losses
from lineal.designs import as_design
from lineal.fitting.fitting import Fit, fit
from lineal.losses import Squared
from lineal.losses.loss import Loss
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.penalties import ALL, L1, Bounds, NoPenalty, Ridge
from lineal.penalties.penalty import Penalty
from lineal.sources.memory import Memory
from lineal.verify.losses import BY_NAME

from .honest import Case

INF = np.inf
LOSSES: dict[str, Loss] = {kind.name: kind.examples()[0] for kind in losses.ALL if not isabstract(BY_NAME[kind.name])}
"""An example of every loss that the checker has formulas for."""
LOSSES["squared 2"] = Squared(2)
CHARGES = np.array([0.0, 1.0, 0.5, 1.0, 2.0])
NONE, FREE = NoPenalty(5), np.array([0.0, 1.0, 0.0, 1.0, 0.0])
LOW, HIGH = np.array([-INF, 0.0, -0.1, -INF, -9.0]), np.array([INF, INF, 0.1, 0.2, 9.0])
PENALTIES: dict[str, Penalty] = {
    "none": NONE,
    **{kind.name: kind.example(CHARGES).at(0.05) for kind in ALL if kind.parameters},
    "strong l1": L1(0.6, CHARGES),
    "l1 with free columns": L1(0.05, FREE),
    "bounds": Bounds(LOW, HIGH, NONE),
    "bounds on ridge": Bounds(LOW, HIGH, Ridge(0.05, FREE)),
    "bounds on l1": Bounds(LOW, HIGH, L1(0.05, CHARGES)),
    "bounds that exclude zero": Bounds(
        np.array([-INF, 0.5, -1.0, 0.1, -INF]), np.array([INF, 2.0, -0.2, 0.1, INF]), NONE
    ),
    "no negative coefficient": Bounds(np.array([-INF, 0.0, 0.0, 0.0, 0.0]), np.full(5, INF), NONE),
}
NUMBERS = tuple(kind.name for kind in losses.ALL if not kind.of_classes())


def rows_of(loss: Loss, seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(n, 4)).round(3)
    score = x @ draw.normal(size=(4, 3)) * 0.6
    if loss.name == "poisson":
        return x, draw.poisson(np.exp(0.5 * score[:, :1])).astype(float)
    if loss.name in NUMBERS:
        return x, (score[:, : loss.outputs] + draw.standard_t(3, size=(n, loss.outputs))).round(4)
    if loss.outputs == 1:
        return x, (score[:, :1] + draw.logistic(size=(n, 1)) > 0).astype(float)
    return x, np.argmax(score + 1.5 * draw.gumbel(size=(n, 3)), axis=1)[:, None].astype(float)


def case_of_fit(
    loss: Loss,
    found: Fit,
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray | None,
    offset: np.ndarray | None,
    tol: float,
) -> Case:
    """Return the data as text, and the model as its file holds it."""
    classes = None if loss.name in NUMBERS else ("a", "b", "c")[: max(loss.outputs, 2)]
    names = ("y0", "y1") if loss.outputs == 2 and classes is None else None
    columns = found.problem.source.columns
    model = Model(
        coef=found.coef,
        columns=columns,
        loss=loss,
        penalty=found.problem.penalty,
        target=Target("y", "number" if classes is None else "classes", classes=classes, names=names),
        verdict=found.verdict,
        solver=found.solver,
        reason=found.reason,
        tol=tol,
        roles={"weight": None if weight is None else "w", "offset": None if offset is None else "o"},
        training={
            "rows": found.problem.moments.rows,
            "weight_sum": found.problem.moments.weight_sum,
            "without_target": 0,
            "split": None,
            "fingerprint": None,
        },
        arrays=found.arrays,
    )
    header = [*columns[1:], *(names or ["y"])]
    cells = [x, y]
    for name, column in (("w", weight), ("o", offset)):
        if column is not None:
            header.append(name)
            cells.append(np.reshape(column, (-1, 1)))
    rows = [[repr(float(cell)) for cell in row] for row in np.hstack(cells)]
    if classes is not None:
        for row in rows:
            row[4] = classes[int(float(row[4]))]
    return Case(header, rows, *_parts(model))


def _parts(model: Model) -> tuple[dict, dict]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.lineal"
        model.save(path)
        meta, arrays = container.read(path)
        return meta, {name: array.copy() for name, array in arrays.items()}


def fitted(
    loss: str,
    penalty: str,
    *,
    weighted: bool = False,
    seed: int = 0,
    n: int = 90,
    tol: float = 1e-6,
    **options: object,
) -> Case:
    """Fit one loss with one penalty, and return the case."""
    chosen = LOSSES[loss]
    x, y = rows_of(chosen, seed, n)
    draw = np.random.default_rng(seed + 100)
    weight = draw.choice([0.0, 0.5, 1.0, 2.0], size=n) if weighted else None
    offset = draw.normal(size=(n, 1)).round(3) if weighted else None
    wide = None if offset is None else np.repeat(offset, chosen.outputs, axis=1)
    source = Memory(as_design(x, intercept=True), y, weight, wide)
    found = fit(source, chosen, PENALTIES[penalty], tol=tol, **options)
    return case_of_fit(chosen, found, x, y, weight, offset, tol)


# ---------------------------------------------------------------- the tables of docs/model-file.md, in plain Python


def loss_of(spec: dict, y: object, eta: list, m: Any = math) -> Any:
    """Return the loss of one row; ``y`` is a number, or the number of the class; ``m`` computes: math, or mpmath."""
    name, k = spec["name"], len(eta)
    if name == "squared":
        return sum((a - b) ** 2 for a, b in zip(eta, y, strict=True)) / 2
    if name in ("softmax", "crammer-singer", "sparsemax"):
        y = int(y[0])
        if name == "softmax":
            top = max(eta)
            return top + m.log(sum(m.exp(e - top) for e in eta)) - eta[y]
        if name == "crammer-singer":
            return max(e + (j != y) for j, e in enumerate(eta)) - eta[y]
        best = -math.inf
        for size in range(1, k + 1):  # the best p has some support: try all
            for support in itertools.combinations(range(k), size):
                tau = (sum(eta[j] for j in support) - 1) / size
                p = [eta[j] - tau if j in support else 0.0 for j in range(k)]
                if min(p) >= 0:
                    best = max(best, sum(a * b for a, b in zip(p, eta, strict=True)) - sum(a * a for a in p) / 2)
        return best + 0.5 - eta[y]
    y, e = y[0], eta[0]
    r, z = e - y, e if y > 0.5 else -e
    if name == "huber":
        t = spec["threshold"]
        return r * r / 2 if abs(r) <= t else t * abs(r) - t * t / 2
    return {
        "absolute": lambda: abs(r),
        "quantile": lambda: max(-spec["q"] * r, (1 - spec["q"]) * r),
        "epsilon-insensitive": lambda: max(abs(r) - spec["epsilon"], 0),
        "squared-epsilon-insensitive": lambda: max(abs(r) - spec["epsilon"], 0) ** 2 / 2,
        "poisson": lambda: m.exp(e) - y * e,
        "logistic": lambda: m.log1p(m.exp(e)) - y * e,
        "hinge": lambda: max(1 - z, 0),
        "squared-hinge": lambda: max(1 - z, 0) ** 2 / 2,
    }[name]()


def penalty_of(spec: dict, arrays: dict, coef: np.ndarray) -> Any:
    if spec["name"] == "bounds":
        inside = np.all(coef >= arrays["lower"][:, None]) and np.all(coef <= arrays["upper"][:, None])
        return penalty_of(spec["inner"], arrays, coef) if inside else math.inf
    if spec["name"] == "none":
        return 0.0
    strength, charges = spec["strength"], arrays["charges"][:, None]
    if spec["name"] == "group":
        return strength * np.sum(charges[:, 0] * np.sqrt(np.sum(coef**2, axis=1)))
    ratio = {"ridge": 0.0, "l1": 1.0}.get(spec["name"], spec.get("l1_ratio"))
    square = charges if spec["name"] == "ridge" else charges**2
    return strength * np.sum(ratio * charges * np.abs(coef) + (1 - ratio) / 2 * square * coef**2)


def table_of(case: Case, *, shares: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return design, targets, weights (over their sum) and offsets of a case of arrays."""
    every = list(range(len(case.rows)))

    def numbers(name: str) -> list[float]:
        return [float(cell) for cell in case.column(name, every)]

    columns = case.meta["columns"]
    x = np.column_stack([np.ones(len(every)) if name == "(intercept)" else numbers(name) for name in columns])
    target = case.meta["target"]
    if target["classes"] is not None:
        y = np.array([[float(target["classes"].index(cell))] for cell in case.column("y", every)])
    else:
        y = np.column_stack([numbers(name) for name in target["names"] or ["y"]])
    s = np.array(numbers("w")) if case.meta["roles"]["weight"] else np.ones(len(every))
    o = np.array(numbers("o")) if case.meta["roles"]["offset"] else np.zeros(len(every))
    return x, y, s / math.fsum(s) if shares else s, o


def objective_of(case: Case, coef: np.ndarray) -> float:
    """Return F at some coefficients, by the definitions."""
    x, y, q, o = table_of(case)
    rows = [
        weight * loss_of(case.meta["loss"], target, (row @ coef + offset).tolist())
        for row, target, weight, offset in zip(x, y, q, o, strict=True)
        if weight > 0
    ]
    return float(math.fsum(rows) + penalty_of(case.meta["penalty"], case.arrays, coef))


def precisely(case: Case, coef: np.ndarray) -> mpmath.mpf:
    """Return F at some coefficients in 40 digits, every double of the case taken as the number it is."""
    with mpmath.workdps(40):
        x, y, q, o = map(as_mpf, table_of(case, shares=False))
        coef = as_mpf(coef)
        rows = [
            weight * loss_of(case.meta["loss"], target, (row @ coef + offset).tolist(), mpmath)
            for row, target, weight, offset in zip(x, y, q, o, strict=True)
            if weight > 0
        ]
        return mpmath.fsum(rows) / mpmath.fsum(q) + penalty_of(case.meta["penalty"], case.arrays, coef)


def as_mpf(values: np.ndarray) -> np.ndarray:
    return np.vectorize(mpmath.mpf, otypes=[object])(values)


def spelled(penalty: Penalty) -> tuple[dict, dict]:
    """Return the JSON of a penalty and its arrays."""
    data = penalty.to_dict()
    inner = data.pop("inner", None)
    arrays = {name: data.pop(name) for name in ("charges", "lower", "upper") if name in data}
    if inner is not None:
        data["inner"], more = {name: value for name, value in inner.items() if name != "charges"}, inner
        arrays |= {"charges": more["charges"]} if "charges" in more else {}
    return data, arrays


def retarget(case: Case, draw: np.random.Generator) -> None:
    """Give the rows of a case targets of the kind its loss takes."""
    loss = case.meta["loss"]
    classes = ["a", "b", "c"][: max(loss["outputs"], 2)] if loss["name"] not in NUMBERS else None
    names = ["y", "y1"] if loss["outputs"] == 2 and classes is None else None
    if names and "y1" not in case.header:
        case.header.append("y1")
        case.rows = [[*row, repr(float(draw.normal()))] for row in case.rows]
    case.meta["target"] = {
        "name": "y",
        "kind": "number" if classes is None else "classes",
        "classes": classes,
        "names": names,
    }
    place = case.header.index("y")
    for row in case.rows:
        if classes is not None:
            row[place] = str(draw.choice(classes))
        elif loss["name"] == "poisson":
            row[place] = repr(float(draw.poisson(1.5)))
