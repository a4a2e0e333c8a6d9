"""What a sweep goes through: degrees, strengths or numbers of columns, as they are typed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from lineal.api.dataset import Roles
from lineal.api.options import PenaltyRequest
from lineal.api.path_of_table import read_family
from lineal.errors import InputError, near
from lineal.features.formula import Formula
from lineal.ground.records import dataclass
from lineal.tables.table import Table

SETTINGS: Final = ("degree", "strength", "columns")
"""What a sweep may go over."""

MAX_PRODUCTS_DEGREE: Final = 10
"""The largest degree of products of several columns, as for ``poly``."""

DEFAULT_DEGREES: Final = "0:10"


@dataclass(frozen=True)
class Step:
    """One value of the setting, and the options of ``lineal.fit`` that mean it."""

    value: float
    settings: Mapping[str, Any]

    def shaped(self, roles: Roles) -> Roles:
        """Return the roles with the terms of this step."""
        if "formula" in self.settings:
            return replace(roles, formula=Formula.read(self.settings["formula"]), poly=1)
        if "drop" in self.settings:
            return replace(roles, drop=list(self.settings["drop"]))
        return replace(roles, poly=int(self.settings["poly"]))


def read_over(
    over: str, penalty: str | float | None, table: Table, roles: Roles, formula: str | None
) -> tuple[list[Step], PenaltyRequest | None]:
    """Return the steps, simplest first, and for strengths the penalty; no steps: strengths that suit the data."""
    setting, equals, rest = over.partition("=")
    if setting not in SETTINGS:
        accepted = "degree=0:15, strength, strength=0.001:10, columns or columns=1:40"
        raise InputError(f"a sweep goes over {over!r}; accepted are {accepted}.{near(setting, SETTINGS)}")
    if setting == "strength":
        family = read_family("ridge" if penalty is None else str(penalty))
        values = _strengths(over, rest) if equals else []
        return [Step(value, {"penalty": spelled(family, value)}) for value in values], family
    if table.sparse:
        raise InputError(f"{table.origin} is an SVMlight file, whose columns have no names; sweep its strength.")
    names = predictors(table, roles)
    if setting == "columns":
        if formula is not None:
            raise InputError(
                "a sweep over columns takes those of the table in order, and a formula names its own; leave it out."
            )
        counts = whole_numbers(over, rest if equals else f"1:{len(names)}")
        if counts[-1] > len(names):
            raise InputError(f"the sweep is {over!r}, but there are {len(names)} columns to predict from.")
        nothing = _formula(roles, "1")
        return [Step(k, {"drop": [*roles.drop, *names[k:]]} if k else {"formula": nothing}) for k in counts], None
    degrees = whole_numbers(over, rest if equals else DEFAULT_DEGREES)
    return [Step(degree, _degree(degree, names, roles, formula, over)) for degree in degrees], None


def predictors(table: Table, roles: Roles) -> list[str]:
    """Return the columns of a table that are left to predict from, in its order."""
    targets = roles.target if isinstance(roles.target, list | tuple) else [roles.target]
    used = {*map(str, targets), roles.weight, roles.offset, *roles.drop}
    return [name for name in table.names if name not in used]


def spelled(family: PenaltyRequest, strength: float) -> str:
    """Return a penalty with its strength, as it is typed.

    >>> spelled(PenaltyRequest("elastic", None, 0.5), 0.1)
    'elastic:0.1,0.5'
    """
    ratio = "" if family.l1_ratio is None else f",{family.l1_ratio!r}"
    return f"{family.name}:{strength!r}{ratio}"


def _degree(degree: int, names: Sequence[str], roles: Roles, formula: str | None, over: str) -> dict[str, Any]:
    """Return the options of one degree."""
    if formula is not None:
        if not re.search(r",\s*degree\s*\)", formula):
            raise InputError(
                f"the sweep is {over!r}, and the formula {formula!r} does not say whose: write the word degree in it, as in "
                "y ~ poly(x, degree) + z."
            )
        if degree == 0:
            return {"formula": re.sub(r"\w+\([^()]*(?:\([^()]*\))?[^()]*,\s*degree\s*\)", "1", formula)}
        return {"formula": re.sub(r",\s*degree\s*\)", f", {degree})", formula)}
    if degree == 0:
        return {"formula": _formula(roles, "1")}
    if len(names) == 1:
        return {"formula": _formula(roles, f"poly({_quoted(names[0])}, {degree})")}
    if degree > MAX_PRODUCTS_DEGREE:
        raise InputError(
            f"the sweep is {over!r}; products of {len(names)} columns go up to degree {MAX_PRODUCTS_DEGREE}. For powers of one "
            "column give a formula: y ~ poly(x, degree) + z."
        )
    return {"poly": degree}


def _formula(roles: Roles, terms: str) -> str:
    if not isinstance(roles.target, str):
        raise InputError("this sweep needs one target.")
    return f"{_quoted(roles.target)} ~ {terms}{'' if roles.intercept else ' - 1'}"


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[^\W\d][\w.]*", name) else f"`{name}`"


def whole_numbers(over: str, text: str) -> list[int]:
    """Return the whole numbers of ``0:15``, ``0:15:3`` or ``1,2,5``, the least first.

    >>> whole_numbers("", "0:6:3"), whole_numbers("", "4,2")
    ([0, 3, 6], [2, 4])
    """
    words = text.split(":") if ":" in text else text.split(",")
    if not all(word.strip().isascii() and word.strip().isdigit() for word in words) or (len(words) > 3 and ":" in text):
        raise InputError(f"the sweep is {over!r}; write whole numbers as 0:15, 0:15:3 or 1,2,5.")
    numbers = [int(word) for word in words]
    if ":" in text:
        step = numbers[2] if len(numbers) == 3 else 1
        numbers = list(range(numbers[0], numbers[1] + 1, step)) if step else []
    if not numbers:
        raise InputError(f"the sweep is {over!r}, which holds no number; write the smaller one first, as 0:15.")
    return sorted(set(numbers))


def _strengths(over: str, text: str) -> list[float]:
    """Return the strengths of ``0.001:10``, four to a factor of ten, or of a list, the strongest first."""
    words = text.split(":") if ":" in text else text.split(",")
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    if (
        not numbers
        or not all(math.isfinite(number) and number > 0.0 for number in numbers)
        or (len(numbers) > 2 and ":" in text)
    ):
        raise InputError(f"the sweep is {over!r}; write strengths above 0 as 0.001:10, or as a list 10,1,0.1.")
    if ":" in text:
        low, high = sorted(numbers)
        numbers = (
            np.geomspace(high, low, 1 + max(1, round(4 * math.log10(high / low)))).tolist() if high > low else [low]
        )
    return sorted(set(numbers), reverse=True)
