"""The pictures that need a table, or a model of members: capacity, lift, neighbours, gram, densities, code, stack."""

from __future__ import annotations

from functools import cache

import lineal
from tests.laws import picture_cases as given

FIRST, SECOND, THIRD, _ = given.HOSTILE


@cache
def table(target):
    return {name: given.table()[name] for name in (FIRST, SECOND, target)}


@cache
def stacked():
    bases = {"plain": {"model": "ridge", "penalty": 0.1}, FIRST[1:7]: {"model": "median", "penalty": "none"}}
    return lineal.stack(table("number"), "number", bases, final={"model": "ridge", "penalty": 0.1})


def committee():
    return lineal.fit(given.table(), "three", drop=["number", "two"], penalty=0.05, multiclass="ovo")


CASES = {
    "capacity": lambda: lineal.plot(
        {"x": given.table()[FIRST], "number": given.table()["number"]}, "capacity", target="number", sweep="degree=0:5"
    ),
    "lift": lambda: lineal.plot(table("two"), "lift", target="two"),
    "lift of a product": lambda: lineal.plot(table("two"), "lift", target="two", map=f"{FIRST}:{SECOND}"),
    "neighbours": lambda: lineal.plot(table("three"), "neighbours", target="three", row=3),
    "neighbours of two": lambda: lineal.plot(table("two"), "neighbours", target="two", neighbors=9),
    "gram": lambda: lineal.plot(table("three"), "gram", target="three"),
    "gram with a witness": lambda: lineal.plot(table("two"), "gram", target="two", kernel="sigmoid:1,0"),
    "densities": lambda: lineal.plot(table("three"), "densities", target="three"),
    "code": lambda: lineal.plot(committee(), "code"),
    "stack": lambda: lineal.plot(stacked(), "stack"),
}
