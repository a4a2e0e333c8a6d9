"""Checks of an estimator's parameters: what we honour passes, so do hints, everything else is refused in a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.ground.deadline import Deadline


def flag(name: str, value: object) -> bool:
    """Return a parameter that must be True or False.

    >>> flag("fit_intercept", True)
    True
    """
    if value is True or value is False:
        return value
    if not isinstance(value, np.bool_):
        raise InputError(f"{name} is {value!r}; it must be True or False.")
    return bool(value)


def number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float = 0.0,
    most: float = math.inf,
    infinite: bool = False,
) -> float:
    """Return a parameter that must be a number, at least ``least`` or strictly above ``above``, at most ``most``.

    >>> number("tol", 1e-3)
    0.001
    """
    plain = type(value) is float or (isinstance(value, Real) and value is not True and value is not False)
    real = float(value) if plain else math.nan
    if least <= real <= most and (above is None or real > above) and (infinite or math.isfinite(real)):
        return real
    bound = f"of at least {least:g}" if above is None else f"above {above:g}"
    bound += f" and at most {most:g}" if math.isfinite(most) else ""
    raise InputError(f"{name} is {value!r}; it must be one {'' if infinite else 'finite '}number {bound}.")


def numerals(
    name: str, value: Any, *, above: float | None = None, most: float = math.inf, infinite: bool = False
) -> list[float]:
    """Return a parameter that must be a number, or several, each at least 0 or strictly above ``above``.

    >>> numerals("alphas", (0.1, 1.0)), numerals("alphas", 2)
    ([0.1, 1.0], [2.0])
    """
    if isinstance(value, Real):
        return [number(name, value, above=above, most=most, infinite=infinite)]
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; it must be a list of numbers.") from None
    if values.ndim != 1 or not len(values):
        raise InputError(f"{name} is {value!r}; it must be a list of numbers, at least one.")
    return [
        number(f"{name}[{place}]", one, above=above, most=most, infinite=infinite)
        for place, one in enumerate(values.tolist())
    ]


def count(name: str, value: Any) -> int | None:
    """Return a parameter that must be a whole number of at least 0, or None for no limit.

    >>> count("max_iter", 100)
    100
    """
    if value is None:
        return None
    if _whole(value) and int(value) >= 0:
        return int(value)
    raise InputError(f"{name} is {value!r}; it must be a whole number of at least 0, or None for no limit.")


def until(name: str, value: Any) -> Deadline | None:
    """Return the deadline of a parameter that must be a number of seconds above 0, or None for no limit.

    >>> until("time_limit", None) is None
    True
    """
    if value is None or isinstance(value, Deadline):
        return value
    return Deadline.after(number(name, value, above=0.0, infinite=True))


def only(accepted: object, why: str, /, **parameter: object) -> None:
    """Refuse every value of a parameter but one, and say why there is no other.

    >>> only(0, "read trace_ after the fit", verbose=0)
    """
    [(name, value)] = parameter.items()
    if value is not accepted and not (isinstance(value, Real) and value == accepted):
        raise InputError(f"{name} is {value!r}; only {accepted!r} is accepted: {why}.")


def hints(**given: object) -> None:
    """Check parameters of scikit-learn's that cannot change the answer: whatever it takes is taken, and none has an effect.

    >>> hints(n_jobs=4, verbose=2, selection="random", random_state=0)
    """
    for name, value in given.items():
        words, accepted = HINTS[name]
        if not accepted(value):
            raise InputError(f"{name} is {value!r}; it must be {words}.")


def _whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and value is not True and value is not False


def _logical(value: object) -> bool:
    return isinstance(value, bool | np.bool_)


def _seeds(value: object) -> bool:
    return value is None or _whole(value) or isinstance(value, np.random.RandomState | np.random.Generator)


def _words(*accepted: str | None) -> Callable[[object], bool]:
    return lambda value: (value is None or isinstance(value, str)) and value in accepted


def _precomputed(value: object) -> bool:
    return value == "auto" if isinstance(value, str) else _logical(value) or np.ndim(value) == 2  # type: ignore[arg-type]


HINTS: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "copy_X": ("True or False", _logical),
    "dual": ("True, False or 'auto'", lambda value: _logical(value) or (isinstance(value, str) and value == "auto")),
    "gcv_mode": ("None, 'auto', 'svd' or 'eigen'", _words(None, "auto", "svd", "eigen")),
    "intercept_scaling": ("a number above 0", lambda value: isinstance(value, Real) and 0.0 < float(value) < math.inf),
    "n_jobs": ("None or a whole number", lambda value: value is None or _whole(value)),
    "precompute": ("True, False, 'auto' or the gram matrix of the columns", _precomputed),
    "random_state": ("None, a whole number or a numpy random generator", _seeds),
    "selection": ("'cyclic' or 'random'", _words("cyclic", "random")),
    "solver_options": ("None or a dict", lambda value: value is None or isinstance(value, dict)),
    "verbose": ("True, False or a whole number", lambda value: _logical(value) or _whole(value)),
}
"""Parameters of scikit-learn's that say how to compute, not what: what each may be, in words and as a question."""
