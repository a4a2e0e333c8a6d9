"""The picture `stack`: which models' scores are columns of which other, from the table to the prediction."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.api.stacking import Stack
from lineal.errors import InputError
from lineal.features.encoder import Encoder
from lineal.model.model import Model
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel, Word
from lineal.plots.subject import sha256
from lineal.plots.wording import clean, listed


def stack(model: Any) -> Figure:
    """Return the graph of a stack: the table, its base models with their targets, the final model that reads their scores.

    What a base model says of a training row comes from a fit that did not see the row.

    >>> import lineal
    >>> table = {"x": [float(k) for k in range(60)], "y": [2.0 * k for k in range(60)]}
    >>> figure = stack(lineal.stack(table, "y", {"line": {"model": "linear"}}, final={"model": "ridge"}))
    >>> figure.data["model"], figure.data["predicts"]
    (['line', 'final'], ['y', 'y'])
    """
    if isinstance(model, str) or hasattr(model, "__fspath__"):
        model = Stack.load(model)
    if not isinstance(model, Stack):
        raise InputError(f"a stack is what lineal.stack returns, and this is a {type(model).__name__}; ask for layer.")
    every = model.models
    places = {name: (1.0, float(len(model.bases) - 1 - k)) for k, name in enumerate(model.bases)}
    middle = (len(model.bases) - 1) / 2.0
    final = list(every)[-1]
    places[final] = (2.0, middle)
    target = model.final.target.name
    nodes = [(0.0, middle, "the table"), (3.0, middle, clean(target, 16))]
    nodes += [(*places[name], clean(name, 16)) for name in every]
    edges = [((0.0, middle), places[name]) for name in every if name != final]
    edges += [(places[name], places[final]) for name in model.bases]
    edges.append((places[final], (3.0, middle)))
    starts, ends = (np.array([edge[k] for edge in edges]) for k in (0, 1))
    apart = ends - starts
    starts, ends = starts + 0.24 * apart, ends - 0.24 * apart
    marks = [
        Mark("arrow", starts[:, 0], starts[:, 1], ends[:, 0], ends[:, 1], role="plain"),
        Mark("text", [n[0] for n in nodes], [n[1] for n in nodes], text=tuple(n[2] for n in nodes), side="center", role="strong"),
        Mark("text", [1.0] * len(model.bases), [places[name][1] - 0.22 for name in model.bases], side="center", role="guide",
             text=tuple(_words(one) for one in model.bases.values())),
        Mark("text", [2.0], [middle - 0.22], text=(_words(model.final),), side="center", role="guide"),
    ]  # fmt: skip
    own = [name for name in _inputs(model.final) if name not in set(model.scores.column_names)]
    direct = f"The final model also reads {listed(own)} of the table." if own else "The final model reads scores alone."
    verdict = model.verdict
    steps = ("table", "base models", "final model", "prediction")
    return Figure(
        kind="stack", title=f"The stack that predicts {target}",
        caption=f"Arrows are columns; scores of training rows are out of fold. {direct}",
        panels=(Panel(Axis.of_levels("", steps), Axis("", -0.7, max(len(model.bases) - 1, 0) + 0.7), tuple(marks), bare=True),),
        verdict=Word(verdict.kind, verdict.sentence, verdict.proven),
        source={"model": sha256(model.final), "members": {name: sha256(one) for name, one in model.bases.items()}},
        table={"model": list(every), "predicts": [one.target.name for one in every.values()],
               "kind": [_words(one) for one in every.values()], "verdict": [one.verdict.kind for one in every.values()],
               "reads": [listed(list(_inputs(one)), 12) for one in every.values()]},
    )  # fmt: skip


def _words(model: Model) -> str:
    return f"{model.loss.name}, {clean(model.target.name, 16)}"


def _inputs(model: Model) -> tuple[str, ...]:
    """Return the columns that a model reads."""
    if not isinstance(model.encoder, Encoder):
        return model.columns
    return tuple(dict.fromkeys(name for term in model.encoder.terms for name in term.inputs))


KIND = Kind(
    name="stack",
    question="Which models' outputs are columns of which other?",
    inputs=("MODEL",),
    notes=(4,),
    draw=stack,
)
