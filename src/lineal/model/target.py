"""What y is: numbers, classes with names, or labels of which a row has any number."""

from __future__ import annotations

from typing import Literal

from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Target:
    """The quantity a model predicts.

    For ``kind == "classes"`` the labels are ``classes``, in the order of the model's outputs; a two-class model
    has one output, the score of ``classes[1]``. For ``kind == "number"`` there is one output per name, and for
    ``kind == "labels"`` one for each label, all called in ``names``.

    >>> Target("species", "classes", classes=("Adelie", "Gentoo")).classes[1]
    'Gentoo'
    """

    name: str
    kind: Literal["number", "classes", "labels"]
    classes: tuple[str | int | float | bool, ...] | None = None
    names: tuple[str, ...] | None = None

    @property
    def kinds(self) -> tuple[str | int | float | bool, ...] | None:
        """What predictions are told apart by: classes, or labels; None for numbers."""
        return self.names if self.kind == "labels" else self.classes

    @property
    def spelled(self) -> list[str] | None:
        """What sentences call the classes; None for numbers.

        >>> Target("cultivar", "classes", classes=(1, 2, 3)).spelled
        ['1', '2', '3']
        """
        return None if self.classes is None else [str(label) for label in self.classes]

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        return {
            "name": self.name,
            "kind": self.kind,
            "classes": None if self.classes is None else list(self.classes),
            "names": None if self.names is None else list(self.names),
        }
