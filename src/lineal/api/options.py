"""What a person may type for a model, a penalty, a solver and bounds, read into plain records."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np

from lineal import losses, penalties
from lineal.api import methods
from lineal.api.methods.method import Method, Wanted
from lineal.errors import InputError, near
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.perceptron.perceptron import TIES, VARIANTS
from lineal.solvers import BY_NAME, unknown
from lineal.solvers.solver import Solver

Limits = Mapping[str, tuple[float | None, float | None]] | Iterable[str]

FAMILIAR: Final = ("auto", "linear", "ridge", "logistic", "huber")
"""Models that are named first."""

OWN_METHOD: Final = ("bayes", "zero-one", "perceptron")
"""Models with a method of their own, named last: solvers, bounds and penalties are not for them."""

WORDS: Final = ("firth", "auto")
"""What may be asked for in the place of a penalty by name."""


@dataclass(frozen=True)
class ModelRequest:
    """A model by name: ``parameter`` is the threshold of huber (None: found from the data) or the quantile.

    ``options`` are those of a perceptron, or the variances given to bayes, by name. ``method`` is one that makes columns of
    training rows.
    """

    name: str
    parameter: float | None = None
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    method: Method | None = field(default=None, repr=False)

    @property
    def drawn(self) -> bool:
        """Whether the fit itself draws by the seed."""
        if self.method is not None:
            return self.method.drawn
        return self.name == "perceptron" and dict(self.options).get("order") != "given"

    @property
    def own_method(self) -> bool:
        """Whether it is fitted by a method of its own, so that solvers, bounds and penalties are not for it."""
        return self.method is not None or self.name in OWN_METHOD

    @property
    def wanted(self) -> Wanted:
        """What the target has to be."""
        if self.name == "auto":
            return "auto"
        if self.method is not None:
            return self.method.wanted
        return "classes" if losses.by_model(self.name)[0].of_classes() else "number"


@dataclass(frozen=True)
class PenaltyRequest:
    """A penalty by name: ``strength`` None is one that is to be picked."""

    name: str
    strength: float | None = None
    l1_ratio: float | None = None

    @property
    def picked(self) -> bool:
        """Whether the strength is to be picked from the data."""
        return self.strength is None and self.name in [kind.name for kind in penalties.ALL if kind.parameters]


def models() -> list[str]:
    """Return every model as it may be typed: those of the catalogue of losses, the familiar ones first."""
    order = (*FAMILIAR, "", *OWN_METHOD, *(method.name for method in methods.ALL))

    def rank(text: str) -> int:
        word = text.partition(":")[0]
        return order.index(word if word in order else "")

    of_losses = (text for loss in losses.ALL for text in (*loss.models, *loss.aliases))
    of_methods = (text for method in methods.ALL for text in method.spellings)
    return sorted(dict.fromkeys(["auto", *of_losses, *of_methods]), key=rank)


def read_model(text: str) -> ModelRequest:
    """Read the name of a model and its parameter.

    >>> read_model("quantile:0.9"), read_model("median")
    (ModelRequest(name='quantile', parameter=0.9), ModelRequest(name='quantile', parameter=0.5))
    """
    name, colon, rest = str(text).partition(":")
    if alias := next((loss.aliases[text] for loss in losses.ALL if text in loss.aliases), None):
        return read_model(alias)
    accepted = models()
    words = list(dict.fromkeys(word.partition(":")[0] for word in accepted))
    if name not in words:
        raise InputError(f"the model is {text!r}; known are {', '.join(accepted)}.{near(name, words)}")
    if (method := methods.by_name().get(name)) is not None:
        return ModelRequest(name, method=method.read(text, rest if colon else None))
    if name == "perceptron":
        return ModelRequest(name, options=_options(text, rest) if colon else ())
    if name == "bayes":
        return ModelRequest(name, options=_variances(text, rest) if colon else ())
    if not colon and name in accepted:
        return ModelRequest(name)
    kind = next(iter(losses.by_model(name)), None)
    if kind is None or not kind.argument:
        raise InputError(f"the model is {text!r}, but {name} takes nothing after a colon; ask for {name}.")
    value = _number(rest)
    try:
        kind.make(1, **{kind.parameter_names()[0]: math.nan if value is None else value})
    except InputError:
        raise InputError(f"the model is {text!r}; {kind.argument}") from None
    return ModelRequest(name, value)


PERCEPTRON: Final = {
    "variant": tuple(VARIANTS),
    "tie": tuple(TIES),
    "epochs": (),
    "order": ("drawn", "given"),
    "bound": ("yes", "no"),
    "columns": ("standardized", "raw"),
}
"""The options of a perceptron and their values; epochs are a whole number."""


def _options(text: str, rest: str) -> tuple[tuple[str, str], ...]:
    """Read what follows ``perceptron:``, a variant and options.

    >>> _options("", "averaged,tie=positive")
    (('variant', 'averaged'), ('tie', 'positive'))
    """
    options: dict[str, str] = {}
    for place, word in enumerate(rest.split(",")):
        key, equals, value = word.partition("=")
        key, value = (key, value) if equals or place else ("variant", word)
        if key not in PERCEPTRON or key in options:
            raise InputError(
                f"the model is {text!r}; after the colon of perceptron stand a variant ({', '.join(VARIANTS)}) and, each "
                f"once, tie=..., epochs=N, order=given, bound=yes, columns=raw, with commas between.{near(key, PERCEPTRON)}"
            )
        accepted = PERCEPTRON[key]
        if accepted and value not in accepted:
            raise InputError(f"the model is {text!r}; its {key} is {' or '.join(accepted)}.{near(value, accepted)}")
        if not accepted and not (value.isascii() and value.isdigit() and int(value) > 0):
            raise InputError(f"the model is {text!r}; epochs is a whole number of at least 1.")
        options[key] = value
    return tuple(options.items())


def _variances(text: str, rest: str) -> tuple[tuple[str, str], ...]:
    """Read what follows ``bayes:``, the variances that are given.

    >>> _variances("", "noise=0.5,prior=0.1")
    (('noise', '0.5'), ('prior', '0.1'))
    """
    options: dict[str, str] = {}
    for word in rest.split(","):
        key, _, value = word.partition("=")
        number = _number(value)
        if key not in ("noise", "prior") or key in options or number is None or not number > 0.0:
            raise InputError(
                f"the model is {text!r}; after the colon of bayes stand the variances that are known, numbers above 0: "
                f"noise=0.5,prior=0.1, or one of them.{'' if key in ('noise', 'prior') else near(key, ('noise', 'prior'))}"
            )
        options[key] = value
    return tuple(options.items())


def read_penalty(penalty: str | float, model: ModelRequest) -> PenaltyRequest:
    """Read a penalty; "auto" is what suits the model: a ridge to be picked, and none for linear.

    >>> read_penalty("elastic:0.1,0.5", ModelRequest("linear"))
    PenaltyRequest(name='elastic', strength=0.1, l1_ratio=0.5)
    """
    if penalty == "auto":
        return PenaltyRequest("none" if model.name == "linear" or model.own_method else "ridge")
    request = _penalty(penalty)
    if model.method is not None and request.name != "none":
        raise InputError(f"the penalty has no effect on model {model.name}, which has none; leave it out.")
    if model.name == "bayes":
        raise InputError(
            "the penalty has no effect on model bayes, which finds the strength of its ridge from the data; leave it out."
        )
    if model.name in ("zero-one", "perceptron") and request.name != "none":
        raise InputError(
            f"model {model.name} counts mistakes, which no penalty can be weighed against; leave the penalty out."
        )
    if model.name == "ridge" and request.name != "ridge":
        instead = "linear" if request.name == "none" else f"linear with --penalty {penalty}"
        raise InputError(
            f"model ridge with the penalty {penalty!r} is model {instead}; ask for that, or for ridge:STRENGTH."
        )
    if request.name == "firth" and model.name not in ("auto", "logistic"):
        raise InputError(
            f"Firth's penalty is one of logistic regression, not of model {model.name}; ask for model logistic."
        )
    return request


def _penalty(penalty: str | float) -> PenaltyRequest:
    kinds = penalties.by_name()
    refused = (
        f"the penalty is {penalty!r}; accepted are {', '.join(kind.spelling() for kind in kinds.values())} (a strength is a "
        "number above 0, such as ridge:0.01, or the word auto), firth, and auto."
    )
    if not isinstance(penalty, str):
        strength = _number(penalty)
        if strength is None or not strength > 0.0:
            raise InputError(refused)
        return PenaltyRequest("ridge", strength)
    name, colon, rest = penalty.partition(":")
    if name not in kinds and name not in WORDS:
        raise InputError(f"{refused}{near(name, (*kinds, *WORDS))}")
    parameters = kinds[name].parameters if name in kinds else ()
    words = rest.split(",") if colon else []
    if name == "auto" or len(words) != len(parameters):
        raise InputError(refused)
    if not parameters:
        return PenaltyRequest(name)
    strength = None if words[0] == "auto" else _number(words[0])
    if words[0] != "auto" and (strength is None or not strength > 0.0):
        raise InputError(f"{refused} The strength {words[0]!r} is not such a number.")
    return PenaltyRequest(name, strength, read_ratio(words[1]) if "l1_ratio" in parameters else None)


def read_ratio(text: str) -> float:
    """Read the share of l1 in an elastic net.

    >>> read_ratio("0.25")
    0.25
    """
    ratio = _number(text)
    if ratio is None or not 0.0 <= ratio <= 1.0:
        raise InputError(f"the ratio {text!r} of the elastic net must be a number from 0 (ridge) to 1 (l1).")
    return ratio


def read_solver(text: str | Solver) -> str | Solver:
    """Read the name of a solver and its options.

    >>> read_solver("gradient-descent:step=0.1").step
    0.1
    >>> read_solver("mini-batch:batch=8,schedule=constant").name
    'mini-batch'
    """
    if isinstance(text, Solver) or text == "auto":
        return text
    name, colon, rest = text.partition(":")
    if name not in BY_NAME:
        raise InputError(unknown(name))
    make: Any = BY_NAME[name]
    kind = getattr(make, "func", make)
    types = {item.name: str(item.type) for item in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else {}
    types.pop("method", None)  # that is the name
    options: dict[str, Any] = {}
    for word in rest.split(",") if colon else ():
        key, equals, value = word.partition("=")
        if not equals:
            raise InputError(f"the solver is {text!r}; options are written NAME:OPTION=VALUE,OPTION=VALUE.")
        if key not in types:
            has = f"its options are {', '.join(types)}" if types else "it has no options"
            raise InputError(f"the solver {name} has no option {key!r}; {has}.{near(key, types)}")
        if key in options:
            raise InputError(f"the solver is {text!r}, which gives {key} twice.")
        options[key] = _value(name, key, value, types[key])
    solver: Solver = make(**options)
    return solver


_ACCEPTED: Final = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "tuple[float, ...]": "numbers with colons between them (2:1:0.5)",
    "None": "the word none",
}
"""What the types of a solver's options are called in a sentence."""


def _value(solver: str, key: str, text: str, kind: str) -> Any:
    """Read an option of a solver, whose type is written ``kind``."""
    types = {part.strip() for part in kind.split("|")}
    number = _number(text)
    several = [_number(word) for word in text.split(":")]
    if "tuple[float, ...]" in types and len(several) > 1 and None not in several:
        return tuple(several)
    if "None" in types and text.lower() == "none":
        return None
    if "bool" in types and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if "int" in types and number is not None and number == math.floor(number):
        return int(number)
    if "float" in types and number is not None:
        return number
    if types & {"str"} or any(part.startswith("Literal") for part in types):
        return text
    accepted = " or ".join(words for name, words in _ACCEPTED.items() if name in types)
    raise InputError(f"the option {key} of the solver {solver} is {text!r}; accepted is {accepted}.")


def read_start(start: object, columns: Sequence[str], outputs: int) -> Array | None:
    """Read where steps begin, ``(columns, outputs)``: the word zero, or a number for every design column of every output.

    In words commas separate columns and semicolons outputs; an array has a row for every column.

    >>> read_start("0.5,-1;0,1", ["(intercept)", "dose"], 2)
    array([[ 0.5,  0. ],
           [-1. ,  1. ]])
    """
    if start is None:
        return None
    if isinstance(start, str) and start.strip() == "zero":
        return np.zeros((len(columns), outputs))
    try:
        if isinstance(start, str):
            coef = np.array([[float(word) for word in part.split(",")] for part in start.split(";")]).T
        else:
            coef = np.array(start, dtype=np.float64)
            coef = coef[:, None] if coef.ndim == 1 else coef
    except (TypeError, ValueError):
        coef = np.array(np.nan)
    if coef.shape != (len(columns), outputs) or not np.all(np.isfinite(coef)):
        shape = f"{len(columns)} numbers" + ("" if outputs == 1 else f" for each of {outputs} outputs")
        named = ", ".join(columns[:8]) + (", ..." if len(columns) > 8 else "")
        raise InputError(
            f"the start is {start!r}; give the word zero, or {shape}, one for every design column ({named}), with commas "
            "between columns and semicolons between outputs."
        )
    return coef


def read_bounds(bounds: Limits | None, columns: Sequence[str]) -> tuple[Array, Array] | None:
    """Read bounds on the coefficients of design columns: ``COL:LO:HI``, either end left empty for none.

    >>> read_bounds(["dose:0:"], ["(intercept)", "dose"])
    (array([-inf,   0.]), array([inf, inf]))
    """
    if bounds is None:
        return None
    pairs = [_pair(word) for word in bounds] if not isinstance(bounds, Mapping) else list(bounds.items())
    lower, upper = np.full(len(columns), -np.inf), np.full(len(columns), np.inf)
    seen: set[str] = set()
    for name, (low, high) in pairs:
        if name not in columns:
            inside = [column for column in columns if column.startswith((f"{name}=", f"{name} "))]
            every = (
                f" The design columns are {', '.join(map(repr, columns[:12]))}{', ...' if len(columns) > 12 else ''}."
            )
            hint = f" Its columns are {', '.join(map(repr, inside[:5]))}." if inside else near(name, columns) + every
            raise InputError(f"there is no design column {name!r} to bound.{hint}")
        if name in seen:
            raise InputError(f"the bounds of {name!r} are given twice; give them once.")
        seen.add(name)
        j = list(columns).index(name)
        lower[j], upper[j] = -np.inf if low is None else float(low), np.inf if high is None else float(high)
        if not (lower[j] < np.inf and upper[j] > -np.inf):
            raise InputError(f"the bounds of {name!r} are {low} and {high}; give numbers, or nothing for no bound.")
        if np.isinf(lower[j]) and np.isinf(upper[j]):
            raise InputError(f"the bounds of {name!r} have no effect: both ends are open; leave them out.")
    return (lower, upper) if pairs else None


def _pair(text: str) -> tuple[str, tuple[float | None, float | None]]:
    words = text.rsplit(":", 2)
    if len(words) != 3:
        raise InputError(f"the bounds are {text!r}; write COL:LO:HI, such as dose:0:1, or dose:0: for no upper bound.")
    ends: list[float | None] = []
    for word in words[1:]:
        empty = not word.strip()
        value = None if empty else _number(word, infinite=True)
        if value is None and not empty:
            raise InputError(f"the bound {word!r} in {text!r} is not a number; write COL:LO:HI, such as dose:0:1.")
        ends.append(value)
    return words[0], (ends[0], ends[1])


def _number(value: object, *, infinite: bool = False) -> float | None:
    """Return a finite number, or None for anything else."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) or (infinite and not math.isnan(number)) else None
