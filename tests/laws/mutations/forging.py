"""The list of forgeries, and what a careful forger needs."""

from __future__ import annotations

import math

import numpy as np

from .honest import Case, encode, gone, is_test, loss_parts, said

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
    v["reason"] = (v["reason"] or "the time limit was reached") if v["kind"] == "budget" else None
    v["sentence"] = said(v)
    if "radius" in evidence:
        evidence["radius"] = math.sqrt(2 * v["gap"] / case.meta["penalty"]["strength"])


def claim_gap(case: Case, gap: float) -> None:
    """State another gap, and everything that follows from it, consistently."""
    v, evidence = verdict(case), verdict(case)["evidence"]
    v["gap"], evidence["lower_bound"] = gap, evidence["objective"] - gap
    v["relative_gap"] = gap / (evidence["null_objective"] - evidence["lower_bound"])
    reword(case)


def raise_gap(case: Case) -> None:
    """State a wide tolerance, and a gap just within it: true, but much weaker than what is proven."""
    evidence = verdict(case)["evidence"]
    case.meta["tol"] = evidence["tol"] = 1e-3
    claim_gap(case, 0.9e-3 * (evidence["null_objective"] - evidence["objective"]))


def move(case: Case, size: float) -> None:
    case.arrays["coef"][1] *= 1 + size


def restate(case: Case) -> None:
    """State the objective at the coefficients, and all that follows from it."""
    restate_objective(case)
    claim_gap(case, verdict(case)["gap"])


def restate_objective(case: Case) -> None:
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
