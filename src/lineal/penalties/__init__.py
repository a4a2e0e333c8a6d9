"""The penalties lineal knows, one file each."""

from __future__ import annotations

from lineal.penalties.ridge import NoPenalty, Ridge

__all__ = ["NoPenalty", "Ridge"]
