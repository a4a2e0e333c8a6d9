"""The penalties lineal knows, one file each; ``ALL`` is the catalogue that everybody else asks."""

from __future__ import annotations

from lineal.penalties.bounds import Bounds
from lineal.penalties.group import Group
from lineal.penalties.l1 import L1, ElasticNet
from lineal.penalties.penalty import Penalty
from lineal.penalties.ridge import NoPenalty, Ridge

ALL: tuple[type[Penalty], ...] = (NoPenalty, Ridge, L1, ElasticNet, Group, Bounds)
"""Every penalty that a model file may name."""

__all__ = ["ALL", "L1", "Bounds", "ElasticNet", "Group", "NoPenalty", "Ridge", "by_name"]


def by_name() -> dict[str, type[Penalty]]:
    """Return the penalties that are asked for by name: all but bounds, which are put on top of one.

    >>> list(by_name())
    ['none', 'ridge', 'l1', 'elastic', 'group']
    """
    return {kind.name: kind for kind in ALL if kind is not Bounds}
