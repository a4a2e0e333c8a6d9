"""The penalties lineal knows, one file each."""

from __future__ import annotations

from lineal.penalties.bounds import Bounds
from lineal.penalties.group import Group
from lineal.penalties.l1 import L1, ElasticNet
from lineal.penalties.ridge import NoPenalty, Ridge
from lineal.penalties.separable import Separable

__all__ = ["L1", "Bounds", "ElasticNet", "Group", "NoPenalty", "Ridge", "Separable"]
