"""How a model looks in a notebook: the verdict, then what was measured, then the coefficients."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np

from lineal.ground.arrays import Array
from lineal.metrics.metric import titled

MAX_COEFFICIENTS_SHOWN = 30
"""Coefficients that are listed; `lineal show` lists all."""


def page(
    kind: str,
    sentence: str,
    heading: str,
    coef: Array,
    columns: Sequence[str],
    outputs: Sequence[str],
    sd: Array | None,
    metrics: Mapping[str, Mapping[str, float | None]],
) -> str:
    """Return HTML whose first words are the verdict; effects ``|b_j| sd_j`` order the coefficients, largest first.

    >>> page("optimal", "Optimal.", "least squares", np.ones((1, 1)), ["a<b"], ["y"], None, {})[26:86]
    '<p class="lineal-verdict lineal-optimal"><b>Optimal.</b></p>'
    """
    parts = [f'<p class="lineal-verdict lineal-{kind}"><b>{html.escape(sentence)}</b></p><p>{html.escape(heading)}</p>']
    names = list(dict.fromkeys(name for figures in metrics.values() for name in figures))
    if names:
        values = [[titled(name), *(_number(figures.get(name)) for figures in metrics.values())] for name in names]
        parts.append(_table(["", *(_WHERE.get(part, part) for part in metrics)], values))
    size = np.abs(coef).max(axis=1) * (1.0 if sd is None else sd)
    order = sorted(range(len(columns)), key=lambda j: (columns[j] == "(intercept)", -size[j]))
    lines = [[columns[j], *map(_number, coef[j])] for j in order[:MAX_COEFFICIENTS_SHOWN]]
    parts.append(_table(["coefficient", *outputs], lines))
    if len(order) > MAX_COEFFICIENTS_SHOWN:
        parts.append(f"<p>{len(order) - MAX_COEFFICIENTS_SHOWN} smaller coefficients are not shown.</p>")
    return f'<div class="lineal-model">{"".join(parts)}</div>'


_WHERE = {"train": "training rows", "test": "held out", "baseline": "baseline"}


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    rows = "".join(
        f"<tr><th>{html.escape(first)}</th>{''.join(f'<td>{html.escape(cell)}</td>' for cell in rest)}</tr>"
        for first, *rest in lines
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"
