"""What a file with a feature map claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy.typing as npt

from lineal.verify.arithmetic import Array
from lineal.verify.claims.ground import Ground

PREFIX: Final = "map."
"""How the names of a map's arrays begin."""


@dataclass(frozen=True)
class MapClaims(Ground):
    """The claims of a model with a feature map.

    ``columns`` are those of its inputs, ``made`` those that the map makes, the intercept before both. ``parameters`` are what
    the file states of the map, ``arrays`` the map's own, ``kept`` the other arrays but ``coef``. A ``plain`` model was counted
    and has no map: its columns are those of its inputs.
    """

    name: str
    parameters: Mapping[str, Any]
    arrays: Mapping[str, npt.NDArray[Any]]
    kept: Mapping[str, npt.NDArray[Any]]
    made: list[str]
    coef: Array
    loss: Mapping[str, Any]
    penalty: Mapping[str, Any]
    verdict: Mapping[str, Any]
    tol: float
    plain: bool
