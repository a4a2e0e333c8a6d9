"""Naive Bayes of categories, with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.designs import Categorical, HStack
from lineal.errors import InputError
from lineal.estimators.discrete_bayes import Discrete
from lineal.estimators.labels import Codes
from lineal.generative.class_sums import ClassSums, class_sums
from lineal.generative.discrete import multinomial
from lineal.generative.exact_sums import ExactSums
from lineal.generative.posterior import Joint
from lineal.ground.arrays import Array
from lineal.ground.inputs import real
from lineal.sources.memory import Memory

Whole = npt.NDArray[np.int64]

MAX_CATEGORIES: Final = 10_000_000
"""A column with more categories is refused: each has a number in every class."""


@dataclass(eq=False, kw_only=True, repr=False)
class CategoricalNB(Discrete):
    """Naive Bayes of categories, numbered 0, 1, ... in every column: ``log p(k) + sum_j log p_j(x_j | k)``.

    ``p_j(c | k) = (N_kjc + alpha) / (N_k + alpha n_j)``, ``n_j`` the number of categories of column j: the largest that
    occurs plus one, at least ``min_categories``. scikit-learn's CategoricalNB with its parameters and attributes;
    ``coef_`` has a column for every category.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior : as in MultinomialNB.
    min_categories : the least number of categories, one for all columns or one for each.

    >>> import numpy as np
    >>> X, y = np.array([[0, 1], [1, 1], [2, 0]]), np.array(["a", "a", "b"])
    >>> CategoricalNB().fit(X, y).predict_proba([[2, 0]]).round(4).tolist()
    [[0.2308, 0.7692]]
    """

    alpha: Any = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None
    min_categories: Any = None

    def _least(self, columns: int) -> Whole:
        """Return the least number of categories of every column."""
        if self.min_categories is None:
            return np.zeros(columns, dtype=np.int64)
        given = np.asarray(self.min_categories)
        if not np.issubdtype(given.dtype, np.signedinteger):
            raise InputError(
                f"min_categories is {self.min_categories!r}; 'min_categories' should have integral type, one number or one "
                "for each column."
            )
        if given.shape not in ((), (columns,)):
            raise InputError(
                f"min_categories has shape {given.shape}; 'min_categories' should have shape ({columns},), one number for "
                "each column, or be one number."
            )
        return np.broadcast_to(given, (columns,)).astype(np.int64)

    def _categories(self, X: Any) -> Whole:
        """Return the numbers of the categories; fractions are cut off, as scikit-learn cuts them."""
        cells = np.asarray(real(X, "X"), dtype=np.float64)
        if cells.min() < 0.0:
            raise InputError(
                "Negative values in data passed to CategoricalNB (input X): categories are numbered 0, 1, ...; encode them "
                "first (OrdinalEncoder)."
            )
        if cells.max() >= MAX_CATEGORIES:
            raise InputError(
                f"X holds {cells.max():g}; categories are numbered from 0, below {MAX_CATEGORIES:,}: encode them first "
                "(OrdinalEncoder)."
            )
        return cells.astype(np.int64)

    def _count(self, X: Any, codes: Codes, weight: Array | None) -> ClassSums:
        cells = self._categories(X)
        if weight is not None:
            cells[weight == 0.0] = 0  # categories that no row with a weight has are none
        sizes = np.maximum(cells.max(axis=0) + 1, self._least(cells.shape[1]))
        self._sizes_now: Whole = sizes
        design = HStack([Categorical(cells[:, j], int(size)) for j, size in enumerate(sizes)])
        return class_sums(Memory(design, codes.astype(np.float64), weight), len(self.classes_))

    def _added(self, sums: ClassSums) -> ClassSums:
        before, now = np.array([count.shape[1] for count in self.category_count_], dtype=np.int64), self._sizes_now
        self._sizes_now = np.maximum(before, now)
        known = replace(self._sums, sums=_widened(self._sums.sums, before, self._sizes_now))
        return known + replace(sums, sums=_widened(sums.sums, now, self._sizes_now))

    def _conclude_columns(self) -> None:
        self.n_categories_ = self._sizes_now
        edges = np.cumsum(self._sizes_now)[:-1]
        self.category_count_ = np.split(self._sums.sums.values(), edges, axis=1)
        alpha = self._alpha(self.n_features_in_)
        each = np.broadcast_to(alpha, self.n_features_in_)
        self._shares = [multinomial(count, float(own)) for count, own in zip(self.category_count_, each, strict=True)]
        self.feature_log_prob_ = [shares.log for shares in self._shares]

    def _stated(self) -> dict[str, object]:
        return {**super()._stated(), "categories": self.n_categories_.tolist()}

    def _linear(self) -> tuple[Array, Array]:
        return np.hstack(self.feature_log_prob_), self.class_log_prior_

    def _columns(self) -> tuple[str, ...]:
        named = zip(self._names(), self._sizes_now.tolist(), strict=True)
        return tuple(f"{name}={category}" for name, size in named for category in range(size))

    def _joint(self, X: Any) -> Joint:
        cells = self._categories(X)
        unknown = cells >= self._sizes_now
        if unknown.any():
            row, column = np.argwhere(unknown)[0]
            raise InputError(
                f"column {self._names()[column]!r} holds category {cells[row, column]}, and the fit knows 0 to "
                f"{self._sizes_now[column] - 1}; fit with min_categories={cells[row, column] + 1} or more, so that smoothing "
                "gives it a probability."
            )
        score = np.tile(self.class_log_prior_, (len(cells), 1))
        misses, missed = np.zeros_like(score), False
        for j, shares in enumerate(self._shares):
            score += shares.limit[:, cells[:, j]].T
            if shares.zero is not None:
                misses += shares.zero[:, cells[:, j]].T
                missed = True
        return Joint(score, misses if missed else None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        return tags


def _widened(sums: ExactSums, before: Whole, after: Whole) -> ExactSums:
    """Return sums of columns side by side, each with room for more categories at its end."""
    starts = np.cumsum(after) - after
    places = np.concatenate([start + np.arange(size) for start, size in zip(starts, before, strict=True)])
    totals = {}
    for level, total in sums.totals.items():
        totals[level] = np.zeros((sums.shape[0], int(after.sum())))
        totals[level][:, places] = total
    return ExactSums(totals, (sums.shape[0], int(after.sum())), sums.terms)
