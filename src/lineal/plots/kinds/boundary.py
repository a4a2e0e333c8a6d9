"""The picture `boundary`: which class is predicted where, and how probable it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.metrics.decision import Costs
from lineal.plots.catalogue import Kind, classes_only
from lineal.plots.planes import Plane, plane
from lineal.plots.record import Figure, Mark, Panel
from lineal.plots.subject import Subject, model_of, subject_of
from lineal.plots.wording import number

SURFACES: Final = ("proba", "score", "class")


def boundary(
    model: Any,
    data: Any,
    other: Any = None,
    *,
    x: str | None = None,
    y: str | None = None,
    at: Mapping[str, Any] | None = None,
    view: str | None = None,
    surface: str | None = None,
    threshold: float | None = None,
    costs: Costs | None = None,
) -> Figure:
    """Return where each class is predicted: regions, and lines where the decision changes.

    Two classes with scores eta: the boundary is ``eta = 0``; with ``threshold`` tau, or with ``costs``, the line
    ``p = tau`` stands beside it. ``view`` is ``slice`` (two columns ``x``, ``y``, others held), or ``score`` (the score of the
    whole model and the direction orthogonal to it). ``other`` is a second model, whose boundary is drawn dashed.

    >>> import lineal
    >>> table = {"x": [0.0, 0.0, 1.0, 1.0], "z": [0.0, 1.0, 0.0, 1.0], "both": ["no", "no", "no", "yes"]}
    >>> figure = boundary(lineal.fit(table, "both", penalty=0.1), table)
    >>> figure.classes, figure.panels[0].x.name
    (('no', 'yes'), 'x')
    """
    KIND.require(model_of(model))
    subject = subject_of(model, data)
    seen = plane(subject, view, x, y, at)
    subject = seen.subject
    chosen = _surface(subject, surface)
    marks = [*_ground(seen, chosen), *_lines(seen, threshold, costs)]
    if other is not None:
        marks += _second(seen, model_of(other))
    hollow = seen.hollow()
    size = () if subject.weight is None else subject.weight
    marks.append(Mark("points", seen.px, seen.py, group=subject.group, rows=subject.rows, hollow=hollow, size=size))
    predicted = subject.model.predict(subject.design, subject.offset)
    wrong = sum(str(label) != subject.classes[k] for label, k in zip(predicted, subject.group.tolist(), strict=True))
    words = f"{wrong:,} of the {len(hollow):,} rows drawn are predicted wrong."
    names = [seen.x.name, seen.y.name]
    title = f"Where {subject.model.target.name} is decided"
    table = {
        "row": subject.rows + 1, names[0]: seen.px, names[1]: seen.py, "prediction": list(map(str, predicted)),
        subject.model.target.name: [subject.classes[k] for k in subject.group.tolist()],
    }  # fmt: skip
    return Figure(
        kind="boundary", title=title, caption=" ".join([words, seen.words, subject.sampled]).strip(),
        panels=(Panel(seen.x, seen.y, tuple(marks)),), classes=subject.classes, verdict=subject.verdict,
        table=table, source=subject.source,
    )  # fmt: skip


def _surface(subject: Subject, wanted: str | None) -> str:
    if wanted is not None and wanted not in SURFACES:
        raise InputError(f"the surface is {wanted!r}; it is one of {', '.join(SURFACES)}.")
    binary = subject.scores.shape[1] == 1
    calm = binary and not subject.model.loss.decides
    if wanted == "proba" and not calm:
        raise InputError(
            "a surface of probabilities is for two classes and a loss that gives probabilities; ask for class."
        )
    if wanted == "score" and not binary:
        raise InputError("a surface of scores is for two classes; ask for class.")
    return wanted or ("proba" if calm else "class")


def _ground(seen: Plane, surface: str) -> list[Mark]:
    """Return the colors beneath: a probability, a score, or the class of every point."""
    classes = seen.subject.classes
    if surface == "proba":
        z = seen.means()[:, 0].reshape(seen.shape)
        return [Mark("heat", seen.gx, seen.gy, z=z, role="share", label=f"probability of {classes[1]}")]
    eta = seen.scores()
    if surface == "score":
        return [
            Mark(
                "heat", seen.gx, seen.gy, z=eta[:, 0].reshape(seen.shape), role="signed", label=f"score of {classes[1]}"
            )
        ]
    z = seen.subject.model.loss.decide(eta).astype(float).reshape(seen.shape)
    return [Mark("heat", seen.gx, seen.gy, z=z, role="classes")]


def _lines(seen: Plane, threshold: float | None, costs: Costs | None) -> list[Mark]:
    """Return where the decision changes."""
    eta, model = seen.scores(), seen.subject.model
    if eta.shape[1] > 1:
        if threshold is not None or costs is not None:
            raise InputError("a threshold and costs are drawn for two classes; this model has more.")
        return _edges(seen, model.loss, eta, "boundary")
    marks = [
        Mark("contour", seen.gx, seen.gy, z=eta.reshape(seen.shape), levels=[0.0], role="strong", label="boundary")
    ]
    if threshold is not None or costs is not None:
        tau = model.rule(threshold, costs).threshold
        z = seen.means()[:, 0].reshape(seen.shape)
        label = f"probability {number(float(tau or 0.5))}"
        marks.append(Mark("contour", seen.gx, seen.gy, z=z, levels=[tau], role="guide", label=label))
    return marks


def _edges(seen: Plane, loss: Any, eta: Array, label: str) -> list[Mark]:
    """Return the edges of regions: where the best score of the other classes is that of the class.

    Committees decide by code words, not by the largest score: of theirs, edges are between neighbours of the grid.
    """
    role = "plain" if label == "boundary" else "guide"
    if np.array_equal(loss.decide(eta), eta.argmax(axis=1)):
        best = np.sort(eta, axis=1)
        lead = eta - np.where(eta == best[:, -1:], best[:, -2:-1], best[:, -1:])
        heights = (lead[:, k].reshape(seen.shape) for k in range(eta.shape[1]))
        kept = [z for z in heights if z.min() < 0.0 < z.max()]
        return [Mark("contour", seen.gx, seen.gy, z=z, levels=[0.0], role=role, label=label) for z in kept]
    z = loss.decide(eta).reshape(seen.shape)
    gx, gy = seen.gx, seen.gy
    half_x, half_y = (gx[1] - gx[0]) / 2, (gy[1] - gy[0]) / 2
    i, j = np.nonzero(z[:, 1:] != z[:, :-1])
    k, m = np.nonzero(z[1:] != z[:-1])
    x = np.concatenate([gx[j] + half_x, gx[m] - half_x])
    x2 = np.concatenate([gx[j] + half_x, gx[m] + half_x])
    y = np.concatenate([gy[i] - half_y, gy[k] + half_y])
    y2 = np.concatenate([gy[i] + half_y, gy[k] + half_y])
    return [Mark("segments", x, y, x2, y2, role=role, label=label)]


def _second(seen: Plane, model: Any) -> list[Mark]:
    """Return the boundary of another model of the same columns in the same plane."""
    if seen.design is None:
        raise InputError("a second model is drawn in the view slice: the score of the first says nothing about it.")
    if model.columns != seen.subject.model.columns or model.encoder != seen.subject.model.encoder:
        cells = {name: seen.subject.typical[name] for name in seen.subject.names}
        grid = dict(zip(seen.columns, (np.tile(seen.gx, len(seen.gy)), np.repeat(seen.gy, len(seen.gx))), strict=True))
        n = len(seen.gx) * len(seen.gy)
        eta = model.scores({name: grid.get(name, [value] * n) for name, value in cells.items()})
    else:
        eta = model.scores(seen.design, seen.offset)
    if eta.shape[1] > 1:
        return _edges(seen, model.loss, eta, "boundary of the other")
    return [
        Mark(
            "contour",
            seen.gx,
            seen.gy,
            z=eta.reshape(seen.shape),
            levels=[0.0],
            role="guide",
            label="boundary of the other",
        )
    ]


KIND = Kind(
    name="boundary",
    question="Where is which class predicted, and how far are the rows from the boundary?",
    inputs=("MODEL DATA", "MODEL MODEL DATA"),
    notes=(11, 16, 28, 39),
    draw=boundary,
    refuses=classes_only,
)
