"""Columns by hand, and what is learned of them."""

from __future__ import annotations

from lineal.features.learning import Learned, learn
from lineal.tables.table import as_table

Y = [0.5, 1.5, 2.5, 3.5]


def learned(columns: dict, **options) -> Learned:
    return learn(as_table({"y": Y, **columns}), target="y", **options)
