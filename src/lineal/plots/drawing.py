"""`lineal.plot`: a picture by its name."""

from __future__ import annotations

from typing import Any

from lineal.plots.kinds import kind as kind_of
from lineal.plots.record import Figure


def plot(what: Any, kind: str, *more: Any, **options: Any) -> Figure:
    """Return the picture of a kind: ``lineal.plot(model, "fit", data)`` is ``lineal.plots.fit(model, data)``.

    ``what`` is a model, an estimator, a table or a trace, as the kind needs; `lineal plot` lists the kinds, and
    docs/pictures.md shows them. The answer is a ``Figure``: plain data, with ``save``, ``draw``, ``to_json`` and ``to_frame``.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 4.0], "y": [1.0, 3.0, 5.0, 9.0]}
    >>> figure = lineal.plot(lineal.fit(table, "y", model="linear", penalty="none"), "fit", table)
    >>> figure.data["prediction"]
    [1.0, 3.0, 5.0, 9.0]
    """
    chosen = kind_of(kind)
    chosen.check(options)
    return chosen.draw(what, *more, **options)
