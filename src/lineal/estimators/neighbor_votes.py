"""Classification and regression by the nearest training rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning

from lineal.api.methods.knn import verdict_of
from lineal.errors import InputError
from lineal.estimators.bases import ClassifierMixin, RegressorMixin
from lineal.estimators.classification import target_of
from lineal.estimators.fitted import columns_of
from lineal.estimators.intake import blame, features_and_target, numbers
from lineal.estimators.labels import encode
from lineal.estimators.nearest import NeighborsEstimator, neighbor_count, rows_in
from lineal.estimators.regression import target_of as number_target
from lineal.ground.arrays import Array
from lineal.ground.inputs import class_labels, real
from lineal.losses import Sparsemax, Squared
from lineal.model.model import Model
from lineal.neighbors.choosing import LeaveOneOut, choose
from lineal.neighbors.index import Index
from lineal.neighbors.neighbor_map import NeighborMap
from lineal.neighbors.votes import means, shares, weights_of
from lineal.penalties import NoPenalty

Rule = str | Callable[[Array], Any] | None


@dataclass(eq=False, repr=False)
class _Voting(NeighborsEstimator):
    """What votes of neighbors have in common; ``n_neighbors="auto"`` is chosen by exact leave-one-out."""

    n_neighbors: int | str = 5
    _: KW_ONLY
    weights: Rule = "uniform"
    algorithm: str = "auto"
    leaf_size: int = 30
    p: float = 2
    metric: Any = "minkowski"
    metric_params: dict[str, Any] | None = None
    n_jobs: int | None = None

    def _settle(self, X: Any, targets: Array, classes: list[int] | None) -> None:
        """Keep the rows, and settle how many neighbors vote."""
        if self.weights not in (None, "uniform", "distance") and not callable(self.weights):
            raise InputError(
                f"weights is {self.weights!r}; accepted are 'uniform', 'distance', and a function of distances."
            )
        auto = isinstance(self.n_neighbors, str) and self.n_neighbors == "auto"
        k = 1 if auto else neighbor_count(self.n_neighbors)
        blame(X)
        self._hold(X)
        for name in ("leave_one_out_", "_model"):
            self.__dict__.pop(name, None)
        if auto:
            self.leave_one_out_: LeaveOneOut = choose(self._held, targets, classes, self.weights)
            k = self.leave_one_out_.k
        self.n_neighbors_: int = k
        self._conclude(k, f"; {self.leave_one_out_.words()}" if auto else "")

    @property
    def model_(self) -> Model:  # type: ignore[override]
        """The same as a lineal Model, to save and to verify; made when it is first asked for."""
        self._ready()
        if "_model" not in self.__dict__:
            self._model = self._as_model()
        return self._model

    def _as_model(self) -> Model:
        held, labels = self._held, getattr(self, "classes_", None)
        if not isinstance(held, Index) or callable(self.weights) or getattr(self, "outputs_2d_", False):
            raise InputError(
                "a model file has neighbors by a metric of lineal's own, of one target of classes, with weights 'uniform' or "
                "'distance' (docs/neighbors.md); these cannot be kept in one."
            )
        words = None if labels is None else tuple(str(label) for label in labels.tolist())
        target = target_of(labels) if labels is not None else number_target(None if self._flat else self._y.shape[1])
        names = target.names if target.names is not None else (target.name,)
        mapped = NeighborMap(
            held.rows, self._y.astype(np.float64), np.ones(held.columns), self.n_neighbors_, held.metric,
            "uniform" if self.weights is None else str(self.weights), words, names, (), columns_of(self),
        )  # fmt: skip
        outputs = len(mapped.columns)
        return Model.of_rows(
            held.count, float(held.count),
            coef=np.eye(outputs), columns=mapped.columns, loss=Squared(outputs) if words is None else Sparsemax(outputs),
            penalty=NoPenalty(outputs), target=target, verdict=verdict_of(mapped, self.__dict__.get("leave_one_out_")),
            solver="look-up", reason=self.solver_, feature_map=mapped,
        )  # fmt: skip


class KNeighborsClassifier(ClassifierMixin, _Voting):
    """Classification by the k nearest training rows.

    ``P(c | q) = sum over the k nearest i of w_i [y_i = c] / sum w_i`` with ``w_i`` = 1 ("uniform"), 1 / distance, or a
    function of the distances; the class of the largest share is predicted, of equal ones the first.

    Parameters
    ----------
    n_neighbors : how many neighbors vote, or "auto": the k with the fewest mistakes when every training row is predicted from
        the others (``leave_one_out_`` has all that were tried).
    weights : "uniform", "distance" for 1 / distance, or a function of the distances.
    algorithm, leaf_size : hints about the cost of the search, as in ``NearestNeighbors``.
    p, metric, metric_params : how far rows are apart, as in ``NearestNeighbors``.
    n_jobs : accepted for compatibility; the cores that are given are used.

    >>> rows, labels = [[0.0], [1.0], [2.0], [8.0], [9.0]], ["low", "low", "low", "high", "high"]
    >>> model = KNeighborsClassifier(n_neighbors=3).fit(rows, labels)
    >>> model.predict([[1.5], [8.5]]).tolist(), model.predict_proba([[6.0]]).round(3).tolist()
    (['low', 'high'], [[0.667, 0.333]])
    """

    if TYPE_CHECKING:
        classes_: Any

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training rows with their classes, of one target or several in columns."""
        X, y = features_and_target(self, rows_in(X), y, numeric=False, several=True)
        y = class_labels(y)
        if y.ndim == 2 and y.shape[1] == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected; give y.ravel().",
                DataConversionWarning,
                stacklevel=2,
            )
        self.outputs_2d_ = y.ndim == 2 and y.shape[1] > 1
        known = [encode(column) for column in (y.T if y.ndim == 2 else [y])]
        self._y = np.column_stack([codes for _, codes in known]).astype(np.int64)
        labels = [labels for labels, _ in known]
        self.classes_ = labels if self.outputs_2d_ else labels[0]
        self._settle(X, self._y.astype(np.float64), [len(each) for each in labels])
        return self

    def _shares(self, X: Any) -> list[Array]:
        neighbors = self._neighbors(X)
        weights = weights_of(self.weights, neighbors.distances)
        lists = self.classes_ if self.outputs_2d_ else [self.classes_]
        return [shares(self._y[neighbors.rows, column], len(labels), weights) for column, labels in enumerate(lists)]

    def predict_proba(self, X: Any) -> Any:
        """Return the share of every class among the neighbors; a list of such arrays for several targets.

        With X None, of every training row among the others.
        """
        each = self._shares(X)
        return each if self.outputs_2d_ else each[0]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class with the largest share, of equal ones the first."""
        each = self._shares(X)
        if not self.outputs_2d_:
            return np.asarray(self.classes_[np.argmax(each[0], axis=1)])
        chosen = [labels[np.argmax(one, axis=1)] for labels, one in zip(self.classes_, each, strict=True)]
        return np.column_stack(chosen)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows whose class is predicted."""
        with np.errstate(invalid="ignore"):  # scikit-learn asks whether labels are whole numbers by making them so
            return float(super().score(X, y if y is None else class_labels(y), sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class KNeighborsRegressor(RegressorMixin, _Voting):
    """Regression by the k nearest training rows.

    ``y(q) = sum over the k nearest i of w_i y_i / sum w_i`` with ``w_i`` = 1 ("uniform"), 1 / distance, or a function of the
    distances.

    Parameters
    ----------
    n_neighbors : how many neighbors vote, or "auto": the k with the least squared error when every training row is predicted from
        the others (``leave_one_out_`` has all that were tried).
    weights : "uniform", "distance" for 1 / distance, or a function of the distances.
    algorithm, leaf_size : hints about the cost of the search, as in ``NearestNeighbors``.
    p, metric, metric_params : how far rows are apart, as in ``NearestNeighbors``.
    n_jobs : accepted for compatibility; the cores that are given are used.

    >>> model = KNeighborsRegressor(n_neighbors=2).fit([[0.0], [1.0], [2.0], [9.0]], [0.0, 2.0, 4.0, 20.0])
    >>> model.predict([[1.4], [8.0]]).tolist()
    [3.0, 12.0]
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training rows with their targets, one or several in columns."""
        X, y = features_and_target(self, rows_in(X), y, numeric=True)
        self._y = numbers(y)
        self._flat = y.ndim == 1
        self._settle(X, self._y, None)
        return self

    def predict(self, X: Any) -> Array:
        """Return the mean of the neighbors' targets; with X None, of every training row among the others."""
        neighbors = self._neighbors(X)
        predicted = means(self._y[neighbors.rows], weights_of(self.weights, neighbors.distances))
        return predicted[:, 0] if self._flat else predicted

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2, the share of y's variance that the predictions explain; where their squares overflow, -inf."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(super().score(X, y if y is None else real(y, "y"), sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
