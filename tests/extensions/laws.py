"""The laws of a catalogue that concern an entry which is not in it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

Law = Callable[..., None]


def laws_for(module: ModuleType, name: str, entry: Any, given: set[str]) -> list[Law]:
    """Return the tests of a module that take an entry called ``name``, beside it at most what is ``given``, and concern it."""
    tests = [law for title, law in vars(module).items() if title.startswith("test_")]
    wanted = [law for law in tests if {name} <= set(inspect.signature(law).parameters) <= {name} | given]
    return [law for law in wanted if not hasattr(law, "concerns") or law.concerns(entry)]


def obey(law: Law, known: dict[str, Any]) -> None:
    """Run a law on what is known."""
    law(**{name: known[name] for name in inspect.signature(law).parameters})
