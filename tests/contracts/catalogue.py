"""Every door of lineal as calls on odd inputs: found in ``lineal.__all__``, called by the names of their parameters."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import lineal
from tests.contracts import odd

Call = Callable[..., Any]

VALUES = {"LinealError", "InputError", "ModelFileError", "VerificationError", "Verdict", "Model", "Stack"}
"""Names that take no data."""
NOT_DATA = {"load", "plot", "likelihood_ratio", "nested_tests", "term_tests", "hypothesis_test"}
"""Functions of files and of models."""
KERNEL_MACHINES = (
    "GaussianProcessRegressor", "KernelLogisticRegression", "KernelPerceptron", "KernelRidge", "SVC", "SVR",
)  # fmt: skip
"""Estimators whose contract is in test_kernel_machines.py."""
SCORES = ("predict", "decision_function", "predict_proba", "predict_log_proba", "score", "partial_fit", "transform")
FAST = {
    "LassoCV": {"alphas": 4, "cv": 3},
    "ElasticNetCV": {"alphas": 4, "cv": 3},
    "MultiTaskLassoCV": {"alphas": 4, "cv": 3},
    "LogisticRegressionCV": {"Cs": 3, "cv": 3},
}
"""Parameters of estimators whose folds are many small fits: few strengths are tried."""
OURS = Path(lineal.__file__).parent
THEIRS = Path(sklearn.__file__).parent


def estimators() -> dict[str, type]:
    """Return the estimators by name."""
    found = {name: getattr(lineal, name) for name in lineal.__all__}
    return {name: kind for name, kind in found.items() if inspect.isclass(kind) and hasattr(kind, "fit")}


def examples(*without: str) -> list[Any]:
    """Return one estimator of each kind that predicts, but for those named."""
    kinds = {name: kind for name, kind in estimators().items() if hasattr(kind, "predict") and name not in without}
    return [kind(**FAST.get(name, {})) for name, kind in kinds.items()]


def functions() -> dict[str, Call]:
    """Return the functions that take data, by name."""
    found = {name: getattr(lineal, name) for name in lineal.__all__ if name not in NOT_DATA}
    return {name: one for name, one in found.items() if inspect.isfunction(one)}


@functools.cache
def model(kind: str) -> Any:
    """Return a model that was fitted to a plain array, or to a table."""
    data: Any = odd.X if kind == "array" else {**{n: odd.X[:, k] for k, n in enumerate("abc")}, "y": odd.Y}
    return lineal.fit(data, odd.Y if kind == "array" else "y", penalty=0.1, model="logistic")


@functools.cache
def fitted(name: str) -> Any:
    """Return an estimator that was fitted to plain arrays."""
    texts = ["one two", "two three"] * (odd.N // 2)
    made = estimators()[name]()
    if name == "TextFeatures":
        return made.fit(texts)
    tags = made.__sklearn_tags__()
    return made.fit(np.abs(odd.X).round() if tags.input_tags.positive_only else odd.X, _suited(made, odd.Y))


def _suited(estimator: Any, y: Any) -> Any:
    """Return the plain target in the shape an estimator wants: twice for those of several targets."""
    single = (
        y is not odd.Y or not hasattr(estimator, "predict") or estimator.__sklearn_tags__().target_tags.single_output
    )
    return y if single else np.column_stack([y, y])


def doors() -> dict[str, Call]:
    """Return everything that takes rows, as functions of X, y and options."""
    found: dict[str, Call] = {}
    for name, kind in estimators().items():
        found[f"{name}.fit"] = lambda X, y, kind=kind, **options: kind().fit(X, _suited(kind(), y), **options)
        for method in SCORES:
            if hasattr(fitted(name), method):
                found[f"{name}.{method}"] = functools.partial(_scored, name, method)
    for name, function in functions().items():
        found[name] = functools.partial(_called, name, function)
    for kind in ("array", "table"):
        for method in ("predict", "predict_proba", "scores"):
            found[f"Model.{method} ({kind})"] = lambda X, _, kind=kind, method=method: getattr(model(kind), method)(X)
        found[f"summarise ({kind})"] = lambda X, y, kind=kind: lineal.summarise(
            model(kind), X, y if kind == "array" else None
        )
    return found


def _scored(name: str, method: str, X: Any, y: Any, **options: Any) -> Any:
    known = fitted(name)
    if method == "partial_fit":
        fresh = type(known)()
        return fresh.partial_fit(X, y, **({"classes": [0, 1]} if hasattr(known, "classes_") else {}), **options)
    y = _suited(known, y)
    return getattr(known, method)(X, y, **options) if method == "score" else getattr(known, method)(X)


def _called(name: str, function: Call, X: Any, y: Any, **options: Any) -> Any:
    """Call a function by the names of its parameters; one that is not known here is a gap in this catalogue."""
    known = inspect.signature(function).parameters
    values = {
        "X": X, "data": X, "y": y, "target": y, "model": model("table"), "others": (),
        "time_limit": 20.0, "final": {"model": "ridge"}, "bases": {"line": {"model": "ridge"}}, "models": ("ridge",),
        "names": {}, "over": "strength", "score": X,
        **options,
    }  # fmt: skip
    needed = [one.name for one in known.values() if one.default is one.empty and one.kind is not one.VAR_POSITIONAL]
    needed = [one for one in needed if known[one].kind is not known[one].VAR_KEYWORD]
    missing = [one for one in needed if one not in values]
    assert not missing, f"lineal.{name} needs {missing}: say in the catalogue what they are"
    if name in ("compare", "inspect"):
        needed += ["target"]
    if name == "fit":
        needed += ["target"]
        values["penalty"] = 0.1
        needed += ["penalty"]
    wanted = {*needed, *options, *({"time_limit"} & set(known)), *({"models"} & set(known))}
    return function(**{one: values[one] for one in wanted if one in known})


def fault(call: Callable[[], Any]) -> str | None:
    """Return what is wrong with how a call ended, or None: it works, or is refused by a sentence of ours."""
    try:
        found = call()
    except AssertionError:
        raise
    except Exception as error:
        return _complaint(error)
    verdict = getattr(found, "verdict_", getattr(found, "verdict", None))
    if hasattr(found, "fit") and not hasattr(found, "transform") and verdict is None:
        return "no verdict"
    return None


def _complaint(error: Exception) -> str | None:
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{type(error).__name__} in {Path(last.filename).name}:{last.lineno}: {str(error)[:300]}"
    words = str(error)
    if isinstance(error, lineal.LinealError):
        return None if len(words) > 25 and words[-1] in ".?)" and "\n" not in words else f"no sentence: {where}"
    deliberate = Path(last.filename).is_relative_to(THEIRS) and isinstance(
        error, ValueError | TypeError | AttributeError
    )
    return None if deliberate and " " in words else where


def attacks(made: dict[str, Callable[[], Any]], call: Callable[[Any], Any]) -> Iterator[str]:
    """Yield the faults of one door, each with the name of the odd input."""
    for name, make in made.items():
        value = make()
        found = fault(lambda value=value: call(value))
        if found is not None:
            yield f"{name}: {found}"
