"""Dataclasses that cost next to nothing to load: fields are read, and ``__init__`` compiled, when the first instance is made.

The standard decorator compiles half a dozen methods for each of two hundred classes: `lineal fit examples/penguins.csv`
would start 70 ms later (processor time, least of 20 interleaved runs).
"""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, FrozenInstanceError
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from threading import RLock
from typing import TYPE_CHECKING, Any, Self, cast

_LOCK = RLock()


class _Pending:
    """Stands for the fields of a class until they are first read."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def __get__(self, _instance: object, _owner: type) -> Any:
        with _LOCK:
            if vars(self.kind)["__dataclass_fields__"] is self:
                dataclasses.dataclass(init=False, repr=False, eq=False)(self.kind)
        return vars(self.kind)["__dataclass_fields__"]


def _compiled(kind: Any, *, frozen: bool) -> Any:
    """Return the ``__init__`` that the standard decorator would write."""
    namespace: dict[str, Any] = {"MISSING": MISSING, "assign": object.__setattr__}
    taken: list[str] = ["self"]
    named: list[str] = []
    body: list[str] = []
    for item in dataclasses.fields(kind):
        name, value, factory = item.name, item.name, item.default_factory is not MISSING
        namespace |= {f"{name}_default": item.default, f"{name}_factory": item.default_factory}
        if item.init:
            default = ""
            if factory:
                default = "=MISSING"
            elif item.default is not MISSING:
                default = f"={name}_default"
            (named if item.kw_only else taken).append(name + default)
        elif not factory:  # the class holds its value
            continue
        if factory:
            value = f"{name}_factory() if {name} is MISSING else {name}" if item.init else f"{name}_factory()"
        body.append(f"assign(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    body += ["self.__post_init__()"] if hasattr(kind, "__post_init__") else []
    heads = ", ".join([*taken, *(["*", *named] if named else [])])
    exec(f"def __init__({heads}):\n  " + "\n  ".join(body or ["pass"]), namespace)  # noqa: S102  (as the standard one does)
    made = namespace["__init__"]
    made.__annotations__ = {item.name: item.type for item in dataclasses.fields(kind) if item.init} | {"return": None}
    made.__qualname__, made.__module__ = f"{kind.__qualname__}.__init__", kind.__module__
    return made


def _methods(kind: Any, *, frozen: bool) -> dict[str, Any]:
    """Return what the standard decorator would write, by name."""

    @cache
    def key() -> Any:
        names = [item.name for item in dataclasses.fields(kind) if item.compare]
        return attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, name) for name in names)

    def __init__(self: Any, *values: Any, **named: Any) -> None:  # noqa: N807
        with _LOCK:
            if vars(kind)["__init__"] is methods["__init__"]:
                kind.__init__ = _compiled(kind, frozen=frozen)
        kind.__init__(self, *values, **named)

    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807
        shown = (f"{item.name}={getattr(self, item.name)!r}" for item in dataclasses.fields(kind) if item.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __eq__(self: Any, other: Any) -> Any:  # noqa: N807
        return key()(self) == key()(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(key()(self))

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        if type(self) is kind or name in kind.__dataclass_fields__:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(kind, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is kind or name in kind.__dataclass_fields__:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(kind, self).__delattr__(name)

    methods: dict[str, Any] = {"__init__": __init__, "__repr__": __repr__, "__eq__": __eq__}
    frozen_too = {"__hash__": __hash__, "__setattr__": __setattr__, "__delattr__": __delattr__}
    return methods | (frozen_too if frozen else {"__hash__": None})


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(kind: type | None = None, /, *, frozen: bool = False) -> Any:
        """Return a class as `dataclasses.dataclass` makes it, the work put off until it is used. Heirs are made here too.

        >>> @dataclass(frozen=True)
        ... class Point:
        ...     x: float
        ...     y: float = 0.0
        >>> Point(1.0)
        Point(x=1.0, y=0.0)
        """
        if kind is None:
            return lambda kind: dataclass(kind, frozen=frozen)
        own = set(vars(kind))
        kind.__dataclass_fields__ = _Pending(kind)
        for name, method in _methods(kind, frozen=frozen).items():
            if name not in own:
                setattr(kind, name, method)
        return kind


class Added:
    """A record of sums: its sum with another is made field by field, and None where either has none.

    >>> @dataclass(frozen=True)
    ... class Sums(Added):
    ...     rows: int
    ...     squares: float | None = None
    >>> Sums(2, 0.5) + Sums(3, 1.0), Sums(2) + Sums(3, 1.0)
    (Sums(rows=5, squares=1.5), Sums(rows=5, squares=None))
    """

    def __add__(self, other: Self, /) -> Self:
        pairs = (
            (getattr(self, item.name), getattr(other, item.name)) for item in dataclasses.fields(cast("Any", self))
        )
        return type(self)(*(None if mine is None or its is None else mine + its for mine, its in pairs))


__all__ = ["Added", "dataclass"]
