"""What the classifiers share: labels, class weights, scores, the class of the best score."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse

from lineal.estimators.bases import ClassifierMixin
from lineal.estimators.fitted import Fitted, dense
from lineal.estimators.intake import features_and_target, weights
from lineal.estimators.labels import Codes, encode, present, weigh
from lineal.ground.arrays import Array
from lineal.ground.inputs import class_labels
from lineal.model.target import Target


class Classifier(ClassifierMixin, Fitted):
    """A classifier with one score for two classes, or one for each of several."""

    coef_: Any
    classes_: npt.NDArray[Any]

    def _labelled(
        self, X: Any, y: Any, sample_weight: Any, class_weight: object
    ) -> tuple[Any, npt.NDArray[Any], Codes, Array | None]:
        """Return X, the classes, the place of every row's class among them, and weights with those of classes."""
        X, y = features_and_target(self, X, y, numeric=False)
        labels, codes = encode(y)
        weight = weigh(class_weight, labels, codes, weights(sample_weight, X))
        labels, codes = present(labels, codes, weight)
        return X, labels, codes, weight

    def _spread(self, coef: Array, *, intercept: bool) -> None:
        """Note coefficients, (outputs, features), and intercepts, zero without one."""
        self.coef_ = self._rounded(coef[int(intercept) :].T.copy())
        self.intercept_ = self._rounded(coef[0].copy() if intercept else np.zeros(coef.shape[1]))

    def sparsify(self) -> Self:
        """Turn ``coef_`` into a sparse matrix, which holds many zeros in little room; predictions stay what they are."""
        self._ready()
        self.coef_ = scipy.sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Turn ``coef_`` into an array again."""
        self._ready()
        self.coef_ = dense(self.coef_)
        return self

    def decision_function(self, X: Any, *, offset: Any = None) -> Array:
        """Return the score of the second class, or of every class where there are several."""
        eta = self._scores(X, offset)
        return eta[:, 0] if eta.shape[1] == 1 else eta

    def predict(self, X: Any, *, offset: Any = None) -> npt.NDArray[Any]:
        """Return the class with the best score of every row."""
        eta = self._scores(X, offset)
        index = (eta[:, 0] > 0.0).astype(np.intp) if eta.shape[1] == 1 else np.argmax(eta, axis=1)
        return np.asarray(self.classes_[index])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows whose class is predicted."""
        with np.errstate(invalid="ignore"):  # scikit-learn asks whether labels are whole numbers by making them so
            return float(super().score(X, y if y is None else class_labels(y), sample_weight))


def target_of(labels: npt.NDArray[Any]) -> Target:
    """Return classes as the target."""
    return Target("y", "classes", classes=tuple(labels.tolist()))
