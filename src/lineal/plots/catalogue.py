"""What a kind of picture is: its name, the question it answers, what it needs, which models it is for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.model.model import Model
from lineal.plots.record import Figure

INPUTS: Final = ("MODEL", "DATA", "TRACE", "NAMES", "ANSWER")
"""What a picture may be drawn from: the parameters of ``draw`` are the same words in small letters (other: a second model)."""


def every(_model: Model) -> str:
    """Say that a kind of picture is for all models.

    >>> every.__name__
    'every'
    """
    return ""


@dataclass(frozen=True)
class Kind:
    """One kind of picture: a function with the words about it.

    ``inputs`` are the ways to ask for it, such as ``("MODEL DATA", "NAMES")``; ``notes`` the figures of the lecture notes that
    it draws; ``refuses`` says in a sentence why it is not for a model, "" if it is. The options are the parameters of ``draw``
    that are keyword-only.
    """

    name: str
    question: str
    inputs: tuple[str, ...]
    notes: tuple[int, ...]
    draw: Callable[..., Figure]
    refuses: Callable[[Model], str] = every

    @property
    def options(self) -> tuple[str, ...]:
        """The names of its options."""
        parameters = inspect.signature(self.draw).parameters.values()
        return tuple(one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY)

    def check(self, options: dict[str, Any]) -> None:
        """Refuse an option that has no effect on this picture."""
        for name in options:
            if name not in self.options:
                known = ", ".join(f"--{one.replace('_', '-')}" for one in self.options) or "none"
                raise InputError(
                    f"the picture {self.name} has no option --{name.replace('_', '-')}; its options are: {known}."
                )

    def require(self, model: Model) -> None:
        """Refuse a model that it is not for."""
        if reason := self.refuses(model):
            raise InputError(f"the picture {self.name} is not for this model: {reason}")


def numbers_only(model: Model) -> str:
    """Say why a picture of one predicted number is not for a model, "" if it is."""
    if model.target.kind != "number":
        return "it predicts classes, and the picture needs a number; ask for boundary."
    return "" if model.coef.shape[1] == 1 else "it predicts several numbers; fit them one by one."


def classes_only(model: Model) -> str:
    """Say why a picture of classes is not for a model, "" if it is."""
    return "" if model.target.kind == "classes" else "it predicts no classes; ask for fit."


def probabilities_only(model: Model) -> str:
    """Say why a picture of probabilities is not for a model, "" if it is."""
    if model.target.kind != "classes":
        return "it predicts no classes, so it gives no probabilities of any."
    return f"{model.loss.name} loss gives scores and classes, no probabilities." if model.loss.decides else ""
