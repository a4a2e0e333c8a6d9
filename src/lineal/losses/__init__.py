"""The losses lineal knows, one file each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from lineal.loss import Loss
from lineal.losses.logistic import Logistic
from lineal.losses.softmax import Softmax
from lineal.losses.squared import Squared

BY_NAME: Final[Mapping[str, Callable[[int], Loss]]] = {
    "squared": Squared,
    "logistic": lambda _outputs: Logistic(),
    "softmax": Softmax,
}
"""Every loss by the name it has in a model file; called with the number of outputs."""

__all__ = ["BY_NAME", "Logistic", "Softmax", "Squared"]
