"""The words that speak most for each class, or that raise and lower a number."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.features.encoder import Encoder
from lineal.model.model import Model

MAX_WORDS: Final = 10
"""Words that are shown for each class."""


def top(model: Model) -> list[dict[str, Any]]:
    """Return, for every text column and class, its terms of largest effect ``b_j sd_j``, the largest first."""
    if model.feature_map is not None or not isinstance(model.encoder, Encoder) or not model.encoder.texts:
        return []
    spread = model.report.get("sd")
    sd = np.ones(len(model.columns)) if spread is None else np.asarray(spread, float)
    effect = model.coef * sd[:, None]
    place = {name: j for j, name in enumerate(model.columns)}
    entries: list[dict[str, Any]] = []
    for term in model.encoder.texts:
        first = place[term.columns[0]]
        mine = effect[first : first + len(term.columns)]
        for label, pull in _sides(model, mine):
            order = np.argsort(-pull, kind="stable")[:MAX_WORDS]
            words = [term.columns[j].removeprefix(f"{term.column}: ") for j in order if pull[j] > 0]
            entries.append({"column": term.column, "for": label, "words": words})
    return entries


def _sides(model: Model, effect: Any) -> list[tuple[str, Any]]:
    """Return what a term can speak for, with how much each does."""
    classes, names = model.target.classes, model.target.names
    if classes is None:
        targets = names or (model.target.name,)
        pairs = [(name, effect[:, k]) for k, name in enumerate(targets)]
        return [(f"{word} {name}", sign * pull) for name, pull in pairs for word, sign in (("more", 1), ("less", -1))]
    if effect.shape[1] == 1:
        return [(str(classes[1]), effect[:, 0]), (str(classes[0]), -effect[:, 0])]
    return [(str(label), effect[:, k]) for k, label in enumerate(classes)]
