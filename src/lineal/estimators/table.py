"""``lineal.fit`` as estimators: a table as people have it goes in, texts, dates and gaps included."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, ClassVar, Self

import narwhals
import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from lineal.api.training import fit as fit_table
from lineal.designs.sound import is_sparse
from lineal.errors import InputError
from lineal.estimators.bases import ClassifierMixin, RegressorMixin
from lineal.estimators.displayed import Displayed
from lineal.estimators.labels import encode
from lineal.ground.arrays import Array
from lineal.ground.inputs import class_labels, names_of, real
from lineal.model.model import Model
from lineal.model.verdict import TOLERANCE


@dataclass(eq=False, repr=False)
class _Table(Displayed):
    """An estimator whose parameters are those of ``lineal.fit``."""

    _wants: ClassVar[str]

    model: str
    penalty: str | float = "auto"
    _: KW_ONLY
    penalize: Any = None
    bounds: Any = None
    drop: Any = ()
    intercept: bool = True
    formula: str | None = None
    poly: int = 1
    types: Any = None
    text: Any = ()
    max_levels: int | None = None
    missing: str = "mark"
    na: Any = None
    solver: Any = "auto"
    seed: int = 0
    tol: float = TOLERANCE
    time_limit: float | None = None

    def _learn(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> Model:
        """Fit ``lineal.fit`` to all rows; a model of another kind of target is refused."""
        if y is None:
            raise InputError("y is None; requires y to be passed, but the target y is None.")
        table = _columns(X)
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        fitted = fit_table(table, y, weight=sample_weight, offset=offset, **given)
        kind = fitted.target.kind
        if kind != self._wants:
            other = "TableClassifier" if kind == "classes" else "TableRegressor" if kind == "number" else "lineal.fit"
            raise InputError(f"model is {self.model!r}, and the target of its fit is {kind}; use {other} for that.")
        self.verdict_, self.model_ = fitted.verdict, fitted
        self._note_columns(X)
        return fitted

    def _note_columns(self, X: Any) -> None:
        names = names_of(X) if narwhals.dependencies.is_into_dataframe(X) else None
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.n_features_in_ = len(names)
            if all(isinstance(name, str) for name in names):
                self.feature_names_in_ = np.array(names, dtype=object)
        elif isinstance(X, dict):
            self.n_features_in_ = len(X)
        else:
            shape = np.shape(X) if not is_sparse(X) else X.shape
            self.n_features_in_ = shape[1] if len(shape) > 1 else 1

    def _fitted(self) -> Model:
        check_is_fitted(self)
        return self.model_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inputs = tags.input_tags
        inputs.sparse = inputs.allow_nan = inputs.string = inputs.categorical = True
        return tags


@dataclass(eq=False, repr=False)
class TableRegressor(RegressorMixin, _Table):
    """``lineal.fit`` on numbers, for pipelines and searches: minimise ``(1/S) sum_i s_i loss(y_i, eta_i) + penalty(b)``.

    X is a data frame, an Arrow table, a dict of columns or an array; texts, categories, dates and gaps become columns inside.
    All rows given are fitted, so that cross-validation holds out what it holds out. docs/estimators.md has the rest.

    Parameters
    ----------
    model, penalty, penalize, bounds, drop, intercept, formula, poly, types, text, max_levels, missing, na, solver, seed,
    tol, time_limit : as in ``lineal.fit``; ``model`` is "ridge" unless given, its strength picked by cross-validation.

    After ``fit``: ``verdict_`` (what is proven) and ``model_``, the ``lineal.Model``, to save and to verify.

    >>> table = {"dose": [0.0, 1.0, 2.0, 3.0], "drug": ["a", "b", "a", "b"]}
    >>> model = TableRegressor("linear").fit(table, [0.0, 2.0, 2.0, 4.0])
    >>> model.verdict_.kind, model.predict({"dose": [4.0], "drug": ["a"]}).round(6).tolist()
    ('optimal', [4.0])
    """

    _wants: ClassVar[str] = "number"

    model: str = "ridge"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to a table X and numbers y; ``offset`` is added to every score without a coefficient."""
        self._learn(X, y, sample_weight, offset)
        return self

    def predict(self, X: Any, *, offset: Any = None) -> Array:
        """Return the prediction for every row."""
        return np.asarray(self._fitted().predict(_columns(X), offset))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2, the share of y's variance that the predictions explain; where their squares overflow, -inf."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(super().score(X, y if y is None else real(y, "y"), sample_weight))


@dataclass(eq=False, repr=False)
class TableClassifier(ClassifierMixin, _Table):
    """``lineal.fit`` on classes, for pipelines and searches: minimise ``(1/S) sum_i s_i loss(y_i, eta_i) + penalty(b)``.

    X is a data frame, an Arrow table, a dict of columns or an array; texts, categories, dates and gaps become columns inside.
    All rows given are fitted, so that cross-validation holds out what it holds out. docs/estimators.md has the rest.

    Parameters
    ----------
    model, penalty, penalize, bounds, drop, intercept, formula, poly, types, text, max_levels, missing, na, solver, seed,
    tol, time_limit : as in ``lineal.fit``; ``model`` is "logistic" unless given, the strength picked by cross-validation.

    After ``fit``: ``classes_``, ``verdict_`` (what is proven) and ``model_``, the ``lineal.Model``, to save and to verify.

    >>> table = {"income": [20.0, 35.0, 50.0, 65.0], "job": ["cook", "cook", "clerk", "clerk"]}
    >>> model = TableClassifier(penalty="ridge:0.1").fit(table, ["no", "no", "yes", "yes"])
    >>> model.verdict_.kind, model.predict({"income": [70.0], "job": ["clerk"]}).tolist()
    ('optimal', ['yes'])
    """

    _wants: ClassVar[str] = "classes"

    model: str = "logistic"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to a table X and classes y; ``offset`` is added to every score without a coefficient."""
        fitted = self._learn(X, y, sample_weight, offset)
        classes = encode(class_labels(y).reshape(-1))[0]
        labels = classes.tolist()
        # the classes of a table are what its cells say: of the labels "10" and "2" the numbers 10 and 2
        self._places = np.array([_place(one, labels) for one in fitted.target.classes or ()], dtype=np.intp)
        self.classes_ = classes[np.sort(self._places)]
        return self

    def predict(self, X: Any, *, offset: Any = None) -> npt.NDArray[Any]:
        """Return the class of every row."""
        model = self._fitted()
        said = model.predict(_columns(X), offset)
        place = {one: k for k, one in enumerate(model.target.classes or ())}
        return np.asarray(self.classes_[self._rank()[[place[one] for one in said.tolist()]]])

    def predict_proba(self, X: Any, *, offset: Any = None) -> Array:
        """Return the probability of every class, in the order of ``classes_``."""
        return np.asarray(self._fitted().predict_proba(_columns(X), offset)[:, np.argsort(self._places)])

    def decision_function(self, X: Any, *, offset: Any = None) -> Array:
        """Return the score of the second class, or of every class where there are several."""
        eta = self._fitted().scores(_columns(X), offset)
        if eta.shape[1] > 1:
            return np.asarray(eta[:, np.argsort(self._places)])
        return np.asarray(eta[:, 0] if self._places[0] < self._places[-1] else -eta[:, 0])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows whose class is predicted."""
        with np.errstate(invalid="ignore"):  # scikit-learn asks whether labels are whole numbers by making them so
            return float(super().score(X, y if y is None else class_labels(y), sample_weight))

    def _rank(self) -> npt.NDArray[np.intp]:
        """Return the place in ``classes_`` of every class of the model."""
        return np.argsort(np.argsort(self._places))


def _columns(X: Any) -> Any:
    """Return rows of texts and numbers as a table; anything else is what ``lineal.fit`` takes already."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS":
        return {f"x{j}": X[:, j].tolist() for j in range(X.shape[1])}
    return X


def _place(name: Any, labels: list[Any]) -> int:
    """Return the place of the label that a class of the model stands for."""
    exact = [place for place, label in enumerate(labels) if label == name]
    return exact[0] if exact else [str(label) for label in labels].index(str(name))
