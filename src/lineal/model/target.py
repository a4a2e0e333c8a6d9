"""What y is: numbers, or classes with names."""

from __future__ import annotations

from typing import Literal

from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Target:
    """The quantity a model predicts.

    For ``kind == "classes"`` the labels are ``classes``, in the order of the model's outputs; a two-class model
    has one output, the score of ``classes[1]``. For ``kind == "number"`` there is one output per name.

    >>> Target("species", "classes", classes=("Adelie", "Gentoo")).classes[1]
    'Gentoo'
    """

    name: str
    kind: Literal["number", "classes"]
    classes: tuple[str | int | float | bool, ...] | None = None
    names: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            "name": self.name,
            "kind": self.kind,
            "classes": None if self.classes is None else list(self.classes),
            "names": None if self.names is None else list(self.names),
        }
