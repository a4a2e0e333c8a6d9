"""A model as one plain object: what --json prints, and all that the page is drawn from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lineal.cli.objective import is_firth, limits, objective, scales
from lineal.cli.words import top
from lineal.model.model import Model
from lineal.multiclass.committee import Committee, Members


def summary(model: Model) -> dict[str, Any]:
    """Return everything that is said about a model, as JSON data."""
    report = model.report
    fields = _one(model) if not isinstance(model, Members) else _several(model)
    return {
        "verdict": model.verdict.to_dict(),
        "model": {
            "name": report.get("model", model.loss.name),
            "chosen": report.get("chosen"),
            **fields,
            "objective_value": finite(model.verdict.evidence.get("objective")),
            "selection": report.get("selection"),
            "threshold": report.get("threshold"),
            "bayes": _bayes(model),
            "solver": {"name": model.solver, "reason": model.reason},
            "feature_map": _map(model),
            "tol": model.tol,
            "roles": dict(model.roles),
        },
        "data": _data(model),
        "metrics": report.get("metrics", {}),
        "evaluation": report.get("evaluation"),
        "coefficients": coefficients(model),
        "aside": model.aside,
        "words": top(model),
    }


def _bayes(model: Model) -> dict[str, Any] | None:
    """Return the variances of a posterior, and what the prior one is that of."""
    variances = model.report.get("bayes")
    scale = scales(model.report.get("charges"), model.columns)[0]
    return variances if variances is None else {**variances, "prior_of": f"{scale or ''}b_j"}


def _map(model: Model) -> dict[str, Any] | None:
    """Return what makes the columns of training rows, with the lines that a page has of it."""
    through = model.feature_map
    if through is None:
        return None
    weighed = through.weighed(model.coef[int(model.has_intercept) :], model.outputs)
    facts = [*_priors(model), *weighed, *through.facts(), *([("Holds", through.holds)] if through.holds else [])]
    return {**through.to_dict(), "facts": [list(fact) for fact in facts]}


def _priors(model: Model) -> list[tuple[str, str]]:
    """Return the shares of the classes, where they were counted."""
    weights, classes = model.verdict.evidence.get("class_weight"), model.target.classes
    if not isinstance(weights, list) or classes is None:
        return []
    shares = zip(classes, weights, strict=False)
    return [("Priors", ", ".join(f"{label} {weight / sum(weights):.4g}" for label, weight in shares))]


def _one(model: Model) -> dict[str, Any]:
    """Return what is minimised."""
    return {
        "loss": model.loss.name,
        "parameters": model.loss.parameters(),
        "penalty": {"name": "firth"} if is_firth(model) else model.to_dict()["penalty"],
        "charges": model.report.get("charges"),
        "bounds": limits(model.penalty, model.columns),
        "objective": objective(model),
        "multiclass": None,
        "labels": None,
    }


def _several(model: Members) -> dict[str, Any]:
    """Return what members minimise, each with its verdict, and the code of a committee."""
    place = model.verdict.evidence.get("worst")
    first = model.members[place if isinstance(place, int) and 0 <= place < len(model.members) else 0]
    members = [
        {
            "asked": member.target.name,
            "rows": member.training.get("rows"),
            "verdict": {name: member.verdict.to_dict()[name] for name in ("kind", "sentence", "gap", "relative_gap")},
            "penalty": {"name": "firth"} if is_firth(member) else member.to_dict()["penalty"],
            "solver": member.solver,
        }
        for member in model.members
    ]
    if not isinstance(model, Committee):
        labels = {**model.report.get("labels", {}), "members": members}
        return {**_one(first), "objective": f"of label {first.target.name}: {objective(first)}", "labels": labels}
    about = {**model.report.get("multiclass", {}), "scheme": model.scheme, "distance": model.distance}
    return {
        **_one(first),
        "objective": f"of the member asked whether {first.target.name}: {objective(first)}",
        "multiclass": {**about, "code": model.code.tolist(), "members": members},
    }


def _data(model: Model) -> dict[str, Any]:
    """Return the data as understood: what was said while fitting, and how each column is used."""
    record = dict(model.report.get("data", {}))
    uses = {} if model.encoder is None else model.encoder.uses()
    record["columns"] = [{**c, "use": uses.get(c["column"], "")} for c in record.get("columns", [])]
    record["target"] = {**model.target.to_dict(), "counts": record.get("target", {}).get("counts")}
    return {**record, "training": dict(model.training)}


def coefficients(model: Model) -> list[dict[str, Any]]:
    """Return every coefficient in the user's units, the column of largest effect first, the intercept last.

    ``effect = |b| sd``: how far the score moves when the column moves by one standard deviation. Powers of
    one column move together and have none.
    """
    spread = model.report.get("sd")
    sd = np.full(len(model.columns), np.nan) if spread is None else np.asarray(spread, float)
    effects = np.abs(model.coef) * sd[:, None]
    rank = np.max(np.nan_to_num(effects), axis=1)
    columns, coef = model.readable()
    spelled = model.powers
    if spelled is not None:  # a power has no effect of its own; it stands where its polynomial does
        rank = np.array([max(rank[k] for k in row) for row in spelled.rows])
        own = [next(iter(row)) if list(row.values()) == [1] else None for row in spelled.rows]
        effects = np.array([effects[0] * np.nan if k is None else effects[k] for k in own])
    if model.has_intercept:
        rank[0] = -1.0
    names = model.outputs
    # equal but for rounding: in the order of the table
    rank = np.array([float(f"{value:.9g}") for value in rank])
    return [
        {
            "column": columns[j],
            "output": names[k],
            "value": float(coef[j, k]),
            "effect": finite(effects[j, k]),
        }
        for j in np.argsort(-rank, kind="stable")
        for k in range(len(names))
    ]


def finite(value: Any) -> Any:
    """Return plain data in which a number that is not finite is None, as JSON demands.

    >>> finite({"r2": float("nan"), "rmse": 1.0})
    {'r2': None, 'rmse': 1.0}
    """
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def text(data: Mapping[str, Any]) -> str:
    """Return the one JSON object of --json."""
    return json.dumps(finite(data), ensure_ascii=False, indent=2, allow_nan=False)
