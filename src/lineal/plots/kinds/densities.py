"""The picture `densities`: the density of every class over two columns, and the classes that Bayes' theorem makes of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.api.training import fit
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.plots.catalogue import Kind
from lineal.plots.pairs import Pair, pair_of
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import GRID, source_of, word_of
from lineal.plots.wording import listed

MODELS: Final = ("lda", "qda", "naive-bayes")
LEVELS: Final = (0.1353352832366127, 0.6065306597126334)
"""Heights of the lines of a density, as shares of its peak: ``exp(-r^2 / 2)`` at distances of 2 and 1 standard deviations."""


def densities(
    data: Any, *, target: str | None = None, x: str | None = None, y: str | None = None, model: str = "qda"
) -> Figure:
    """Return normal densities ``p(x|k)`` of every class over two columns, and where ``p(k|x)`` is largest.

    ``p(k|x) = p(x|k) p(k) / sum_j p(x|j) p(j)``. ``lda`` gives all classes one covariance, so that boundaries are straight;
    ``qda`` one each; ``naive-bayes`` independent columns. Lines of a density are one and two standard deviations from its mean.

    >>> table = {"u": [0.0, 1.0, 0.0, 1.0, 4.0, 5.0, 4.0, 6.0], "v": [0.0, 1.0, 1.0, 0.0, 4.0, 5.0, 5.0, 4.0]}
    >>> table["k"] = list("aaaabbbb")
    >>> figure = densities(table, target="k", model="lda")
    >>> figure.data["mean of u"], figure.data["prior"]
    ([0.5, 4.75], [0.5, 0.5])
    """
    if model not in MODELS:
        raise InputError(f"the model of a picture of densities is {model!r}; it is one of {', '.join(MODELS)}.")
    pair = pair_of(data, target, x, y)
    types = dict.fromkeys(pair.names, "number")
    fitted = fit(pair.table, pair.target, model=model, types=types, test_size=0.0)
    classes = tuple(str(label) for label in fitted.target.classes or ())
    group = np.array([classes.index(label) for label in pair.labels])
    prior, mean, covariance = _moments(pair, group, len(classes), model)
    axes = Axis.around(pair.names[0], pair.x, pad=0.12), Axis.around(pair.names[1], pair.y, pad=0.12)
    gx, gy = (np.linspace(axis.low, axis.high, GRID) for axis in axes)
    grid = {pair.names[0]: np.tile(gx, GRID), pair.names[1]: np.repeat(gy, GRID)}
    said = [str(one) for one in fitted.predict(grid)]
    regions = np.array([classes.index(one) for one in said], float).reshape(GRID, GRID)
    marks = [Mark("heat", gx, gy, z=regions, role="classes")]
    points = np.column_stack(list(grid.values()))
    for k, label in enumerate(classes):
        shares = np.exp(-0.5 * _distance(points, mean[k], covariance[k])).reshape(GRID, GRID)
        marks.append(Mark("contour", gx, gy, z=shares, levels=LEVELS, group=k, label=f"density of {label}"))
    marks += [
        Mark("points", pair.x, pair.y, group=group, rows=pair.rows, role="faint"),
        Mark("points", mean[:, 0], mean[:, 1], group=np.arange(len(classes)), role="strong"),
    ]
    shape = {"lda": "one covariance for all", "qda": "a covariance each", "naive-bayes": "independent columns"}[model]
    words = [
        f"Normal densities of the classes, {shape}; regions are where Bayes' theorem makes a class most probable.",
        f"Fitted here to {listed(list(pair.names))} alone.",
    ]
    table: dict[str, Any] = {"class": classes, "prior": prior}
    for j, name in enumerate(pair.names):
        table |= {f"mean of {name}": mean[:, j], f"sd of {name}": np.sqrt(covariance[:, j, j])}
    deviations = np.sqrt(covariance[:, 0, 0] * covariance[:, 1, 1])
    table["correlation"] = covariance[:, 0, 1] / np.where(deviations > 0.0, deviations, 1.0)
    return Figure(
        kind="densities", title=f"What {pair.target} looks like in each class",
        caption=" ".join(filter(None, [*words, pair.sampled])),
        panels=(Panel(*axes, tuple(marks)),), classes=classes, verdict=word_of(fitted), table=table,
        source=source_of(fitted, len(pair.rows)),
    )  # fmt: skip


def _moments(pair: Pair, group: Any, classes: int, model: str) -> tuple[Array, Array, Array]:
    """Return prior, mean and covariance of every class: those of greatest likelihood, as the models of the name have them."""
    rows = np.column_stack([pair.x, pair.y])
    count = np.bincount(group, minlength=classes)
    mean = np.array([rows[group == k].mean(axis=0) for k in range(classes)])
    apart = rows - mean[group]
    covariance = np.array([apart[group == k].T @ apart[group == k] / max(count[k], 1) for k in range(classes)])
    if model == "lda":
        covariance = np.broadcast_to(apart.T @ apart / len(rows), covariance.shape)
    if model == "naive-bayes":
        covariance = covariance * np.eye(2)
    return count / len(rows), mean, covariance


def _distance(points: Array, mean: Array, covariance: Array) -> Array:
    """Return the squared distance in standard deviations, ``(x - m)' C^+ (x - m)``."""
    apart = points - mean
    return np.asarray(np.einsum("ij,jk,ik->i", apart, np.linalg.pinv(covariance, hermitian=True), apart))


KIND = Kind(
    name="densities",
    question="Where do the rows of each class lie, and what does Bayes' theorem make of that?",
    inputs=("DATA",),
    notes=(42,),
    draw=densities,
)
