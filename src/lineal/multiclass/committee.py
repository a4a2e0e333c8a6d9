"""A model made of several binary ones, and the one whose answers are read as a class by a code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal import container
from lineal.errors import InputError
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass
from lineal.metrics.decision import Costs, Rule
from lineal.model.model import Model
from lineal.model.verdict import Verdict

SHARED_FIELDS: Final = ("format", "version", "made_by", "columns", "encoder", "encoding", "roles", "tol")
"""Fields of a model file that all members have in common."""


@dataclass(frozen=True)
class Decoding:
    """The class of every row, and which of them were ties: classes that the answers supported equally."""

    labels: npt.NDArray[Any]
    ties: Mask


@dataclass(frozen=True)
class Members(Model):
    """A model made of several binary ones of the same columns: ``coef`` holds one column per member.

    ``verdict`` is that of the worst member, ``verdicts`` are all.
    """

    members: tuple[Model, ...] = ()

    __repr__ = Model.__repr__

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict of every member."""
        return tuple(member.verdict for member in self.members)

    @property
    def outputs(self) -> list[str]:
        """What each member was asked."""
        return [member.target.name for member in self.members]

    @property
    def center(self) -> Array | None:
        """What each member takes off its columns, one column per member; None where no member does."""
        own = [member.center for member in self.members]
        if all(center is None for center in own):
            return None
        return np.column_stack([np.zeros(len(self.columns)) if center is None else center for center in own])

    def means(self, data: object, offset: Array | None = None) -> Array:
        """Return what the members' scores say of every row."""
        return self.loss.mean(self.scores(data, offset))

    def refuse_summary(self) -> None:
        """Refuse: every member has a summary of its own."""
        raise InputError(
            "a model of several members has no standard errors of its own; summarise one of them: "
            "model.members[0].summary()."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the whole as plain data (docs/model-file.md): what is shared once, and the rest of every member."""
        plain = super().to_dict()
        own = ("loss", "penalty", "solver")
        return {
            **{name: value for name, value in plain.items() if name not in own},
            "members": [
                {name: value for name, value in member.to_dict().items() if name not in SHARED_FIELDS}
                for member in self.members
            ],
        }

    def save(self, path: str | Path) -> None:
        """Write the whole to a file: all or nothing; arrays are numbered by member."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        for number, member in enumerate(self.members):
            arrays.update({f"{number}.{name}": array for name, array in member.stored().items()})
        container.write(path, self.to_dict(), arrays)


@dataclass(frozen=True)
class Committee(Members):
    """One-vs-rest, one-vs-one or an output code over binary models.

    ``scheme`` is ovr, ovo or ecoc, ``distance`` the least number of places in which two code words differ.
    """

    scheme: str = ""
    distance: int = 0

    __repr__ = Model.__repr__

    @property
    def code(self) -> npt.NDArray[np.int64]:
        """The code: one row per class, one column per member, entries -1, 0 (not asked) and 1."""
        return np.asarray(self.loss.words)  # type: ignore[attr-defined]

    def decode(self, data: object, offset: Array | None = None) -> Decoding:
        """Return the class of every row, and which rows were ties between code words."""
        eta = self.scores(data, offset)
        labels: npt.NDArray[Any] = np.asarray(self.target.classes)[self.loss.decide(eta)]
        return Decoding(labels, self.loss.ties(eta))  # type: ignore[attr-defined]

    def rule(self, threshold: float | None = None, costs: Costs | None = None) -> Rule:
        """Refuse: the members' probabilities are answers to different questions, and do not add up to one."""
        raise InputError(
            "the members of a committee answer different questions, so the classes have no probabilities to put a threshold "
            "or costs on; fit with multiclass direct."
        )

    def predict_proba(self, data: object, offset: Array | None = None) -> Array:
        """Refuse: the members' probabilities are answers to different questions, and do not add up to one."""
        raise InputError(
            "the members of a committee answer different questions, so the classes have no probabilities; use predict, fit "
            "with multiclass direct, or ask a member: model.members[0].predict_proba."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the committee as plain data (docs/model-file.md): its code, and what its members are."""
        code = {
            "scheme": self.scheme,
            "code": self.code.tolist(),
            "distance": self.distance,
            "decode": self.loss.by,  # type: ignore[attr-defined]
        }
        return {**super().to_dict(), "multiclass": code}


def score(member: Model) -> Array:
    """Return the coefficients of a binary model's one score: that of its second class, less that of the first."""
    coef = member.coef
    return coef if coef.shape[1] == 1 else coef[:, 1:] - coef[:, :1]


def spelled(column: Mapping[Any, int], target: str, number: int) -> str:
    """Return what a member is asked, in words; ``column`` maps classes to the entries of the code.

    The ``number`` distinguishes questions about many classes.

    >>> spelled({"a": -1, "b": 1, "c": 0}, "kind", 0), spelled({"a": 1, "b": -1, "c": 1}, "kind", 1)
    ('kind is b rather than a', 'kind is a or c')
    """
    yes = [str(label) for label, entry in column.items() if entry > 0]
    no = [str(label) for label, entry in column.items() if entry < 0]
    shown = " or ".join(yes[:6]) + (f" or {len(yes) - 6} more (question {number})" if len(yes) > 6 else "")
    others = " or ".join(no[:6]) + (f" or {len(no) - 6} more" if len(no) > 6 else "")
    return f"{target} is {shown}" + (f" rather than {others}" if 0 in column.values() else "")
