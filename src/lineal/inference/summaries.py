"""Statistics above a fit: summaries with robust standard errors, and tests between models."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.api.dataset import memory_limit
from lineal.designs import as_design
from lineal.designs.center import less
from lineal.designs.sound import is_sparse
from lineal.errors import InputError, near
from lineal.features.cells.cells import texts
from lineal.features.encoded import Encoded
from lineal.features.encoder import Encoder, column
from lineal.features.learning import Learned
from lineal.features.retold import as_fitted
from lineal.features.splitting import TRAIN, Split, Within, parted
from lineal.features.types.target_type import responses
from lineal.fitting import covariance
from lineal.fitting.evidence import Evidence, evidence
from lineal.fitting.firth import firth, profile
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.inputs import class_labels, real
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.model.model import Model
from lineal.model.summary import Likelihood, Summary
from lineal.model.target import Target
from lineal.penalties import NoPenalty
from lineal.problem.problem import Problem
from lineal.sources.memory import Memory
from lineal.sources.source import Block, Source
from lineal.tables.derived import derived
from lineal.tables.marked import marked
from lineal.tables.table import Table, as_table, uniform

__all__ = ["Evidence", "Ratio", "evidence", "firth", "likelihood_ratio", "profile", "summarise", "training_rows"]

Codes = Index


def summarise(
    model: Model,
    data: Any,
    y: Any = None,
    *,
    weight: Any = None,
    offset: Any = None,
    errors: str = "classical",
    cluster: Any = None,
    level: float = 0.95,
    against: str | None = None,
) -> Summary:
    """Return the summary of a fit from another look at the rows it was fitted on, with the standard errors asked for.

    ``errors`` is "classical", "HC0", "HC1", "HC2" or "HC3"; ``cluster`` names a column of the table (or is an array, one
    value per row) whose rows depend on each other; a fit with Firth's penalty has profile intervals instead. ``data`` is
    the table the model was fitted on, whole; a model fitted on arrays takes those, with ``y``, ``weight``, ``offset``.

    >>> import lineal
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.5], "effect": [0.1, 1.1, 1.9, 3.6]}
    >>> model = lineal.fit(table, target="effect", model="linear")
    >>> round(summarise(model, table, errors="HC1").rows[1].error, 4)
    0.0328
    """
    if model.solver == "firth":
        if errors != "classical" or cluster is not None or against is not None:
            raise InputError(
                "a fit with Firth's penalty has profile intervals only; leave errors, cluster and against out."
            )
        source = _about(_rows(model, data, y, weight, offset, None)[0], model.center)
        return _profiled(model, source, level)
    if model.variances is not None:
        raise InputError("the posterior of model bayes is in the model itself, without data: use its summary.")
    model.refuse_summary()
    if cluster is not None and errors != "classical":
        raise InputError(f"errors={errors!r} and cluster exclude each other: clustered errors are robust already.")
    if errors != "classical" and errors not in covariance.ROBUST:
        accepted = ("classical", *covariance.ROBUST)
        raise InputError(
            f"the standard errors are {errors!r}; known are {', '.join(accepted)}.{near(errors, accepted)}"
        )
    source, codes = _rows(model, data, y, weight, offset, cluster)
    source = _about(source, model.center)
    problem = Problem.of(source, model.loss, NoPenalty(len(model.columns)))
    _same_rows(model, problem)
    likelihood = model.likelihood(_base(source, model.loss) if model.loss.has_base else None)
    words, freedom = errors, None
    if codes is not None:
        spread, count = covariance.clustered(problem, model.coef, codes)
        name = f" by {cluster}" if isinstance(cluster, str) else ""
        words, freedom = f"clustered{name} ({count} clusters)", float(count - 1)
    elif errors == "classical":
        classical = covariance.covariance(problem, model.coef)
        if classical is None:
            raise InputError("there are too many coefficients, or too few rows, for standard errors.")
        spread = classical
    else:
        spread = covariance.robust(problem, model.coef, errors)
    freedom = freedom if likelihood.freedom is not None else None
    return model.summarised(likelihood, spread, words, level=level, against=against, freedom=freedom)


def training_rows(model: Model, data: Any, y: Any = None, *, weight: Any = None, offset: Any = None) -> Source:
    """Return the rows a model was fitted on as a source, for ``firth`` and ``evidence``; arguments as in ``summarise``.

    >>> import lineal
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.0], "ill": ["no", "no", "yes", "yes"]}
    >>> model = lineal.fit(table, target="ill", model="logistic", penalty="none")
    >>> model.verdict.kind, firth(training_rows(model, table)).verdict.kind
    ('at_infinity', 'stationary')
    """
    return _rows(model, data, y, weight, offset, None)[0]


@dataclass(frozen=True)
class Ratio:
    """A likelihood-ratio test between nested models: ``statistic = 2 (log L_large - log L_small)``, chi-squared.

    For least squares ``f`` is the exact test for normal noise, with ``more`` and ``left`` degrees of freedom.
    """

    statistic: float
    more: int
    p: float
    f: float | None = None
    left: float | None = None
    f_p: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    def __str__(self) -> str:
        words = f"likelihood ratio {self.statistic:.5g} on {self.more} degrees of freedom, p = {self.p:.4g}"
        exact = "" if self.f is None else f"; F = {self.f:.5g} on {self.more} and {self.left:g}, p = {self.f_p:.4g}"
        return words + exact


def likelihood_ratio(small: Model, large: Model) -> Ratio:
    """Test whether the columns that ``large`` has and ``small`` lacks are worth having.

    Both are fits without a penalty to the same rows; the columns of ``small`` are among those of ``large``.

    >>> import lineal
    >>> table = {"a": [0.0, 1.0, 2.0, 3.5], "b": [1.0, 0.5, 1.0, 0.0], "y": [0.1, 1.1, 1.9, 3.6]}
    >>> large = lineal.fit(table, target="y", model="linear")
    >>> likelihood_ratio(lineal.fit(table, target="y", model="linear", drop=["b"]), large).more
    1
    """
    from scipy import special  # slow to load: only for tests and likelihoods

    few, many = _likelihood(small), _likelihood(large)
    _comparable(small, large, few, many)
    factor = large.loss.free_outputs
    more = factor * (many.columns - few.columns)
    if not many.loss.estimates_noise:
        statistic = 2.0 * many.observations * (few.objective - many.objective)
        return Ratio(statistic, more, float(special.chdtrc(more, max(statistic, 0.0))))
    if factor > 1:
        raise InputError("models of several targets cannot be compared by one test; fit the targets one by one.")
    ratio = few.objective / many.objective if many.objective > 0.0 else math.inf
    statistic, left = many.observations * math.log(ratio), many.observations - many.columns
    f = (ratio - 1.0) * left / more
    exact = float(special.fdtrc(more, left, max(f, 0.0))) if left > 0.0 else math.nan
    return Ratio(statistic, more, float(special.chdtrc(more, max(statistic, 0.0))), f, left, exact)


def _likelihood(model: Model) -> Likelihood:
    """Return the likelihood of a fit at its optimum, where that need not be unique."""
    if model.verdict.kind != "not_unique":
        model.refuse_summary()
        return model.likelihood()
    evidence: Any = model.verdict.evidence.get("dependencies")
    if model.penalty.penalized.any() or evidence is None:
        raise InputError("a model with a penalty has no likelihood-ratio test; fit without one.")
    likelihood = model.likelihood()
    return replace(likelihood, columns=likelihood.columns - len(evidence))


def _comparable(small: Model, large: Model, few: Likelihood, many: Likelihood) -> None:
    if small.loss != large.loss or small.target != large.target:
        raise InputError("the models have different losses or targets; a ratio test compares fits of the same target.")
    strangers = [name for name in small.columns if name not in large.columns]
    if strangers:
        raise InputError(f"the models are not nested: {strangers[0]!r} is a column of the first and not of the second.")
    if many.columns <= few.columns:
        raise InputError("the second model has no column that the first lacks; give the smaller model first.")
    same = small.training.get("rows") == large.training.get("rows") and few.observations == many.observations
    # The best constant depends on targets, weights and offsets: it differs where the rows do.
    near_enough = math.isclose(few.baseline_objective, many.baseline_objective, rel_tol=1e-9, abs_tol=1e-300)
    if not same or (small.has_intercept == large.has_intercept and not near_enough):
        raise InputError(
            "the models were not fitted on the same rows; fit both on the same table, without missing targets."
        )


def _same_rows(model: Model, problem: Problem) -> None:
    """Refuse data that are not those of the fit: the objective tells."""
    stated: Any = model.verdict.evidence["objective"]
    here = problem.evaluate(model.coef).value
    rows, weight = problem.moments.rows, problem.moments.weight_sum
    if rows != model.training.get("rows") or not math.isclose(weight, model.training["weight_sum"], rel_tol=1e-9):
        raise InputError(
            f"these are not the rows the model was fitted on: {rows} rows of weight {weight:g}, "
            f"where the model has {model.training.get('rows')} of weight {model.training['weight_sum']:g}."
        )
    scale = abs(float(model.verdict.evidence["null_objective"]))  # type: ignore[arg-type]
    if abs(here - stated) > 1e-9 * scale:
        raise InputError(
            f"these are not the rows the model was fitted on: the mean loss is {here:.9g}, the model says {stated:.9g}."
        )


def _profiled(model: Model, source: Source, level: float) -> Summary:
    """Return the profile of a model with Firth's penalty, refusing rows on which it is not where it says it is."""
    refit = firth(source, start=model.coef)
    error = np.sqrt(np.diagonal(refit.arrays["covariance"]))
    if not np.all(np.abs(refit.coef - model.coef)[:, 0] <= 1e-3 * error):
        raise InputError("these are not the rows the model was fitted on: Firth's penalty has another optimum on them.")
    summary = profile(refit, level=level)
    return replace(summary, title=f"{summary.title} of {model.target.name}")


def _about(source: Source, center: Array | None) -> Source:
    """Return rows less the center that a model keeps."""
    return source if center is None else source.map(Less(center))


@dataclass(frozen=True)
class Less:
    """The change of a block whose columns are less a center."""

    center: Array

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        return replace(block, design=less(block.design, self.center))


def _rows(model: Model, data: Any, y: Any, weight: Any, offset: Any, cluster: Any) -> tuple[Source, Codes | None]:
    """Return the training rows and the number of the cluster of each."""
    if model.encoder is None:
        return _from_arrays(model, data, y, weight, offset, cluster)
    if y is not None or weight is not None or offset is not None:
        raise InputError(
            "the model was fitted on a table: target, weight and offset are columns of it; leave them out."
        )
    return _from_table(model, data, cluster)


def _from_table(model: Model, data: Any, cluster: Any) -> tuple[Source, Codes | None]:
    assert isinstance(model.encoder, Encoder)
    table = derived(marked(as_table(data), model.encoder.marks), model.target.name)
    rule, roles, train = model.training.get("split"), model.roles, table
    if rule is not None:
        train = table.where(Within(parted(table, Split.of(rule), model.target.name), TRAIN))
    train, weight = as_fitted(train, model.target, model.training, roles.get("weight"))
    learned = Learned(model.encoder, model.target, {}, weight, roles.get("offset"))
    source = Encoded(train, learned).in_memory(memory_limit())
    if cluster is None:
        return source, None
    if not isinstance(cluster, str):
        raise InputError("the data is a table, so the clusters must be a column of it: give its name.")
    table.require(cluster, "cluster column")
    return source, _clusters(train, model.target, cluster)


def _clusters(table: Table, target: Target, name: str) -> Codes:
    """Return the number of the cluster of every row that has a target."""
    targets = set(target.names or (target.name,))
    words = {name} | (targets if target.kind == "classes" else set())
    places: dict[str, int] = {}
    parts: list[Index] = []
    chosen = table.select(numbers=targets - words, texts=words)
    for rows, batch in chosen.numbered():
        _, present = responses(target, batch, chosen, rows)
        codes, levels = texts(column(batch, name))
        if np.any(codes[present] < 0):
            row = int(rows[present][codes[present] < 0][0])
            place = f"{chosen.place(row)} of {chosen.origin}"
            raise InputError(f"the cluster column {name!r} is empty in {place}; every row needs a cluster.")
        numbers = np.array([places.setdefault(str(level), len(places)) for level in levels], dtype=np.intp)
        parts.append(numbers[codes[present]])
    return np.concatenate([*parts, np.empty(0, np.intp)])


def _from_arrays(
    model: Model, data: Any, y: Any, weight: Any, offset: Any, cluster: Any
) -> tuple[Source, Codes | None]:
    if y is None:
        raise InputError("the model was fitted on arrays: give y (and weight and offset where it had them) as well.")
    design = as_design(data, intercept=model.has_intercept)
    rows = design.shape[0]
    kept: slice | Mask = slice(None)
    rule = model.training.get("split")
    if rule is not None:
        kept = uniform(rule["seed"], np.arange(rows, dtype=np.int64)) >= rule["test_size"]
        matrix = data.tocsr() if is_sparse(data) else real(data, "X")
        design = as_design(matrix[kept], intercept=model.has_intercept)

    def pick(name: str, values: Any, read: Callable[[Any, str], npt.NDArray[Any]] = real) -> Any:
        array = read(values, name)
        if len(array) != rows:
            raise InputError(f"{name} has {len(array)} entries, the data has {rows} rows; give one value per row.")
        return array[kept]

    targets = pick("y", y, class_labels if model.target.kind == "classes" else real)
    if model.target.kind == "classes":
        places = {label: k for k, label in enumerate(model.target.classes or ())}
        try:
            targets = np.array([places[label] for label in targets.reshape(-1).tolist()], dtype=np.float64)
        except KeyError as error:
            raise InputError(f"y holds the class {error}, which the model does not know.") from None
    source = Memory(
        design,
        targets.astype(np.float64),
        None if weight is None else pick("weight", weight).astype(np.float64),
        None if offset is None else pick("offset", offset).astype(np.float64),
        model.columns,
    )
    if cluster is None:
        return source, None
    if isinstance(cluster, str):
        raise InputError("the data is an array, whose columns have no names: give the clusters as an array.")
    return source, np.unique(pick("cluster", cluster, class_labels), return_inverse=True)[1].astype(np.intp).reshape(-1)


def _base(source: Source, loss: Loss) -> float:
    """Return the part of the log-likelihood that depends on the targets alone."""
    return source.sum(OfTargets(loss))


@dataclass(frozen=True)
class OfTargets:
    """The task that sums the part of the log-likelihood that depends on the targets alone."""

    loss: Loss

    def __call__(self, block: Block) -> float:
        """Sum over one block."""
        present = block.weights > 0.0
        return self.loss.base(block.y[present], block.weights[present])
