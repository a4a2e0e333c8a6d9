"""Dataclasses written late are the standard ones, to whoever uses them."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import pytest

from lineal.ground import records


class Shape(ABC):
    @abstractmethod
    def area(self) -> float: ...


def made(decorate):
    """Return a handful of classes that one decorator made."""

    @decorate(frozen=True)
    class Point:
        x: float
        y: float = 0.0
        kinds: ClassVar[int] = 3

        def __post_init__(self):
            if self.x < 0:
                raise ValueError("left of the origin")

    @decorate(frozen=True)
    class Labelled(Point):
        label: str = dataclasses.field(default="none", repr=False)
        seen: list[int] = dataclasses.field(default_factory=list, compare=False)

    @decorate
    class Square(Shape):
        side: float

        def area(self) -> float:
            return self.side**2

    @decorate(frozen=True)
    class Own:
        x: float

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    @decorate(frozen=True)
    class Nothing:
        pass

    @decorate(frozen=True)
    class Named:
        a: float
        b: float = dataclasses.field(default=3.0, kw_only=True)
        found: list[int] = dataclasses.field(default_factory=list, init=False, hash=False)

    return {kind.__name__: kind for kind in (Nothing, Named, Point, Labelled, Square, Own)}


def outcome(use, kinds):
    try:
        return repr(use(kinds)).replace("made.<locals>.", "")
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def assigned(thing, value):
    thing.x = value
    return thing.x


USES = {
    "one": lambda c: c["Point"](1.0),
    "named": lambda c: c["Point"](y=2.0, x=1.0),
    "missing": lambda c: c["Point"](),
    "unknown": lambda c: c["Point"](1.0, z=3.0),
    "refused": lambda c: c["Point"](-1.0),
    "inherited": lambda c: c["Labelled"](1.0, 2.0, "a"),
    "compared": lambda c: (c["Labelled"](1.0, seen=[1]) == c["Labelled"](1.0), c["Point"](1.0) == c["Labelled"](1.0)),
    "own factory": lambda c: c["Labelled"](1.0).seen is c["Labelled"](1.0).seen,
    "hashed": lambda c: hash(c["Point"](1.0)) == hash(c["Point"](1.0)),
    "not hashed": lambda c: hash(c["Square"](1.0)),
    "frozen": lambda c: assigned(c["Point"](1.0), 2.0),
    "open": lambda c: assigned(c["Square"](1.0), 2.0),
    "replaced": lambda c: dataclasses.replace(c["Labelled"](1.0), y=4.0),
    "copied": lambda c: copy.deepcopy(c["Labelled"](1.0, seen=[2])).seen,
    "method": lambda c: c["Square"](3.0).area(),
    "own methods": lambda c: (c["Own"](1.0) == 7, hash(c["Own"](1.0))),
    "fields": lambda c: [(item.name, item.default) for item in dataclasses.fields(c["Labelled"])][:3],
    "known": lambda c: (dataclasses.is_dataclass(c["Point"]), dataclasses.is_dataclass(c["Point"](1.0))),
    "dict": lambda c: dataclasses.asdict(c["Labelled"](1.0)),
    "same hash": lambda c: hash(c["Labelled"](1.0, 2.0)),
    "deleted": lambda c: delattr(c["Point"](1.0), "x"),
    "nothing": lambda c: (c["Nothing"](), c["Nothing"]() == c["Nothing"](), c["Nothing"]() == c["Point"](1.0)),
    "only named": lambda c: (c["Named"](1.0, b=2.0), c["Named"](1.0).found),
    "by place": lambda c: c["Named"](1.0, 2.0),
    "same array": lambda c: same_array(c["Square"]),
    "other array": lambda c: c["Square"](np.ones(3)) == c["Square"](np.ones(3)),
    "itself": lambda c: within_itself(c["Square"](1.0)),
    "class variable": lambda c: c["Point"].kinds,
    "matched": lambda c: (c["Point"](1.0), c["Point"].__match_args__),
}


def same_array(kind):
    cells = np.ones(3)
    return kind(cells) == kind(cells)


def within_itself(square):
    square.side = square
    return repr(square)


@pytest.mark.parametrize("use", USES)
def test_as_the_standard_ones(use):
    late, standard = made(records.dataclass), made(dataclasses.dataclass)
    for _ in range(2):  # before and after __init__ is compiled
        assert outcome(USES[use], late) == outcome(USES[use], standard)


def test_signature_once_made():
    late, standard = (made(decorate)["Point"] for decorate in (records.dataclass, dataclasses.dataclass))
    late(1.0)
    assert inspect.signature(late) == inspect.signature(standard)


def test_first_use_in_many_threads():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            kind, wrong, ready = made(records.dataclass)["Labelled"], [], threading.Barrier(4)

            def work(kind=kind, wrong=wrong, ready=ready):
                ready.wait()
                try:
                    assert kind(1.0, label="b") == kind(1.0, 0.0, "b")
                except Exception as error:
                    wrong.append(error)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not wrong
    finally:
        sys.setswitchinterval(interval)


def test_unpickled_in_a_fresh_process():
    from lineal.tables.dialect import Dialect

    given = Dialect(",", None, True, ("a", "b"), 4, frozenset())
    sent = pickle.dumps(given)
    code = f"import pickle\nprint(pickle.loads({sent!r}), pickle.loads({sent!r}) == pickle.loads({sent!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{given!r} True\n"
