"""Stacking: the scores of some models are columns of another, made for each row by a fit that did not see it."""

from __future__ import annotations

import inspect
import shutil
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lineal.api.folding import dealt
from lineal.api.measured_rows import fitted_rows, said
from lineal.api.model_file import load
from lineal.api.training import evaluate, fit
from lineal.errors import InputError, ModelFileError, near
from lineal.features.splitting import ByNumber, Within
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline, Limit, shared
from lineal.ground.files import text_of
from lineal.ground.records import dataclass
from lineal.metrics.decision import Costs
from lineal.model.model import Model
from lineal.model.verdict import Verdict, worst
from lineal.tables.columnar import InMemory
from lineal.tables.joined import beside
from lineal.tables.table import Table, as_table

FINAL: Final = "final"
SCORES: Final = "scores.parquet"
_OWN: Final = frozenset(
    (
        "target",
        "model",
        "penalty",
        "penalize",
        "bounds",
        "drop",
        "intercept",
        "formula",
        "poly",
        "types",
        "text",
        "max_levels",
        "missing",
        "na",
        "solver",
        "multiclass",
        "tol",
    )
)
"""What may be said of each model; the rest belongs to all of them."""


@dataclass(frozen=True)
class Stack:
    """Base models, and a final one whose columns are those of the table and the scores of the base models.

    ``scores`` are the training rows' scores, each by a fit that did not see the row: with them beside the data,
    `lineal verify` proves the final model; the base models, fitted to all rows, are proven on the data alone.

    >>> table = {"x": [float(k) for k in range(60)], "y": [2.0 * k for k in range(60)]}
    >>> sorted(stack(table, "y", {"line": {"model": "linear"}}, final={"model": "ridge"}).bases)
    ['line']
    """

    bases: Mapping[str, Model]
    final: Model
    scores: Any = field(repr=False)

    @property
    def models(self) -> dict[str, Model]:
        """All models by name, the final one last."""
        return {**self.bases, FINAL: self.final}

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all models."""
        verdicts = [model.verdict for model in self.models.values()]
        return verdicts[worst(verdicts)]

    def evaluate(self, data: object, *, threshold: float | None = None, costs: Costs | None = None) -> dict[str, Any]:
        """Measure the whole on a table that holds the target, as ``lineal.evaluate`` does one model.

        A table that the stack was fitted to is recognized by its base models, and the notes say that its rows were fitted.
        """
        table = as_table(data)
        answer = evaluate(self.final, self.table(table), threshold=threshold, costs=costs)
        fits = [rows for model in self.bases.values() if (rows := fitted_rows(model, table)) is not None]
        if fits:
            seen = max(rows for rows, _ in fits)
            answer |= {"training_rows": seen, "notes": [*answer["notes"], said(seen)]}
        return answer

    def table(self, data: object) -> Table:
        """Return new data with the scores of the base models beside its columns."""
        table = as_table(data)
        scores: dict[str, Any] = {}
        for name, model in self.bases.items():
            scores |= _columns(name, model, model.scores(table))
        return beside(table, InMemory(pa.table(scores), "the scores"))

    def predict(self, data: object) -> npt.NDArray[Any]:
        """Return a number or a class label for every row."""
        return self.final.predict(self.table(data))

    def predict_proba(self, data: object) -> Array:
        """Return the probability of every class."""
        return self.final.predict_proba(self.table(data))

    def save(self, folder: str | Path) -> None:
        """Write the models and the scores into a new folder, all or nothing."""
        import pyarrow.parquet as pq  # slow to load, so only here

        target = Path(folder)
        check_place(target)
        with tempfile.TemporaryDirectory(dir=target.parent) as place:
            inner = Path(place) / "stack"
            inner.mkdir()
            for name, model in (*self.bases.items(), (FINAL, self.final)):
                model.save(inner / f"{name}.lineal")
            pq.write_table(self.scores, inner / SCORES)
            shutil.move(inner, target)

    @classmethod
    def load(cls, folder: str | Path) -> Stack:
        """Read a stack that was saved; nothing in it is run."""
        import pyarrow.parquet as pq

        place = Path(folder)
        if not (place / f"{FINAL}.lineal").is_file() or not (place / SCORES).is_file():
            raise ModelFileError(f"{place} is no stack: it needs {FINAL}.lineal and {SCORES}.")
        bases = {path.stem: load(path) for path in sorted(place.glob("*.lineal")) if path.stem != FINAL}
        return cls(bases, load(place / f"{FINAL}.lineal"), pq.read_table(place / SCORES))


def check_place(folder: Path) -> None:
    """Raise an InputError unless a stack can be written as this folder."""
    if folder.exists() or folder.is_symlink():
        raise InputError(f"{folder} exists already; choose another name for the stack.")
    if not folder.parent.is_dir():
        raise InputError(f"the folder {folder.parent} does not exist; make it first.")


def out_of_fold(
    data: object,
    target: str,
    *,
    name: str = "base",
    folds: int = 5,
    seed: int = 0,
    by: str | None = None,
    time_limit: Limit = None,
    **options: Any,
) -> tuple[Any, Model]:
    """Return the scores of every row by a fit to the other folds, as an Arrow table, and the model fitted to all rows.

    Row i is in fold ``floor(folds u(seed, i))``; with ``by``, a column, all rows of a group are in one fold. Encoders are
    learned within the folds, so nothing of a row leaks into its score. ``options`` are those of ``lineal.fit``; ``time_limit``
    is for all the fits together, which share it evenly.

    >>> table = {"x": [float(k) for k in range(60)], "y": [2.0 * k for k in range(60)]}
    >>> scores, model = out_of_fold(table, "y", model="linear")
    >>> scores.column_names, bool(abs(scores["base"][7].as_py() - 14.0) < 1e-9)
    (['base'], True)
    """
    table = as_table(data)
    fold, rows = dealt(table, folds, seed, by)
    _check_options(name, options)
    deadline = Deadline.of(time_limit)
    whole = fit(table, target, seed=seed, time_limit=shared(deadline, folds + 1), **options)
    scores: Array | None = None
    by_number = ByNumber(fold)
    for k in range(folds):
        held = table.where(Within(by_number, k))
        if not (fold[rows] == k).any():
            continue
        seen = table.where(Within(by_number, k, inside=False))
        model = fit(seen, target, seed=seed, time_limit=shared(deadline, folds - k), **options)
        if model.target.classes != whole.target.classes:
            raise InputError(f"fold {k + 1} of {folds} leaves no row of a class of {target!r} to fit; use fewer folds.")
        values = model.scores(held)
        scores = np.empty((len(rows), values.shape[1])) if scores is None else scores
        scores[fold[rows] == k] = values
    assert scores is not None
    return pa.table(_columns(name, whole, scores)), whole


def stack(
    data: object,
    target: str,
    bases: Mapping[str, Mapping[str, Any]],
    *,
    final: Mapping[str, Any] | None = None,
    folds: int = 5,
    seed: int = 0,
    by: str | None = None,
    time_limit: Limit = None,
) -> Stack:
    """Fit base models and a final model on the table and their out-of-fold scores.

    ``bases`` names the base models and says how each is fitted (options of ``lineal.fit``); ``final`` says it of the last.
    ``time_limit`` (seconds) is for all fits together: each has an equal share of what those before it left. A base model may
    have a ``target`` of its own (tag first, then classify); no model sees a target as a feature, its own or another's.

    >>> table = {"x": [float(k) for k in range(60)], "y": [2.0 * k for k in range(60)]}
    >>> stacked = stack(table, "y", {"line": {"model": "linear"}}, final={"model": "ridge", "drop": ["x"]})
    >>> stacked.final.columns
    ('(intercept)', 'line')
    """
    table = as_table(data)
    if not bases:
        raise InputError("a stack needs at least one base model.")
    deadline, left = Deadline.of(time_limit), len(bases) * (folds + 1) + 1
    wanted = dict(final or {})
    if "target" in wanted:
        raise InputError("the final model predicts the target of the stack; say it there, not of the final model.")
    _check_options(FINAL, wanted)
    targets = {name: _own_target(name, options, target, table) for name, options in bases.items()}
    named = [one for one in (target, *targets.values()) if isinstance(one, str)]  # values of a target are no column
    hidden = list(dict.fromkeys(named))
    models: dict[str, Model] = {}
    columns: dict[str, Any] = {}
    for name, options in bases.items():
        if name == FINAL or not name.replace("_", "").replace("-", "").isalnum():
            raise InputError(f"a base model is called {name!r}; use letters, digits, - and _, and not {FINAL!r}.")
        _check_options(name, options)
        share = None if deadline is None else deadline.part((folds + 1) / left)
        own = {key: value for key, value in options.items() if key != "target"}
        own["drop"] = _without(own.get("drop", ()), _others(hidden, targets[name]))
        scores, models[name] = out_of_fold(
            table, targets[name], name=name, folds=folds, seed=seed, by=by, time_limit=share, **own
        )
        left -= folds + 1
        columns |= {column: scores.column(column) for column in scores.column_names}
    held = pa.table(columns)
    drop = _without(
        wanted.pop("drop", ()), [*([] if by is None else [by]), *(other for other in hidden if other is not target)]
    )
    whole = beside(table, InMemory(held, "the scores"))
    last = fit(whole, target, seed=seed, drop=drop, time_limit=deadline, **wanted)
    return Stack(models, last, held)


def read_recipe(path: Path) -> dict[str, Any]:
    """Return the arguments of ``stack`` from a TOML recipe: target, folds, seed, by, [base.NAME] ..., [final]."""
    try:
        recipe = tomllib.loads(text_of(path, "the recipe"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the recipe {path} is not TOML: {error}; fix that line.") from None
    keys = ("target", "folds", "seed", "by", "base", "final")
    for key in recipe:
        if key not in keys:
            raise InputError(f"the recipe {path} says {key!r}, which means nothing here.{near(key, keys)}")
    if not isinstance(recipe.get("target"), str) or not isinstance(recipe.get("base"), dict):
        raise InputError(f"the recipe {path} needs a target and at least one [base.NAME].")
    return {**{key: value for key, value in recipe.items() if key != "base"}, "bases": recipe["base"]}


def _own_target(name: str, options: Mapping[str, Any], target: Any, table: Table) -> Any:
    """Return what a base model predicts: the target of the stack unless it has its own."""
    if "target" not in options:
        return target
    own = options["target"]
    if not isinstance(own, str):
        raise InputError(f"the target of the model {name!r} is {own!r}; name one column.")
    table.require(own, f"target column of {name!r},")
    return own


def _others(names: Sequence[str], own: object) -> list[str]:
    """Return the names but one's own, which may be values that have none."""
    return [name for name in names if not (isinstance(own, str) and name == own)]


def _without(drop: Sequence[str], more: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*drop, *more]))


def _columns(name: str, model: Model, scores: Array) -> dict[str, Any]:
    """Return the scores as columns: ``name`` for one, ``name: class`` for several."""
    if scores.shape[1] == 1:
        return {name: pa.array(scores[:, 0])}
    return {f"{name}: {output}": pa.array(scores[:, k]) for k, output in enumerate(model.outputs)}


def _check_options(name: str, options: Mapping[str, Any]) -> None:
    accepted = sorted(_OWN & set(inspect.signature(fit).parameters))
    for option in options:
        if option not in accepted:
            raise InputError(
                f"the model {name!r} is given {option!r}, which it cannot have of its own.{near(option, accepted)}"
            )
