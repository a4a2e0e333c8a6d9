"""Targets that no single column of cells holds: counts of two things, labels of which a row has any number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lineal.features.counts import Counts
from lineal.features.labels import Labels
from lineal.model.target import Target
from lineal.tables.tabular import Table

Retold = Counts | Labels


def of_model(target: Target, training: Mapping[str, Any]) -> Retold | None:
    """Return how the target of a model is told by other columns, from its file; None where it is columns as they are."""
    if "counts" in training:
        return Counts(*training["counts"])
    if target.kind != "labels":
        return None
    stated = training.get("labels", {"column": None, "by": None})
    return Labels(target.names or (), stated["column"], stated["by"])


def sources(target: Target, training: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of a table that tell the target of a model."""
    retold = of_model(target, training)
    return (target.names or (target.name,)) if retold is None else retold.sources


def as_fitted(
    table: Table, target: Target, training: Mapping[str, Any], weight: str | None
) -> tuple[Table, str | None]:
    """Return a table as a model's training rows were read, and its column of weights."""
    retold = of_model(target, training)
    return (table, weight) if retold is None else (retold.around(table, weight), retold.weight or weight)
