"""Naive Bayes of mixed columns: ``log p(k) + sum of the logs of the factors``, all linear but the densities of numbers.

A category's factor is the smoothed share of its level in class k, a text's the product of the shares of its words, a number's
its normal density; that a number or a word of yes and no is missing is a level of its own.
"""

from __future__ import annotations

import numpy as np

from lineal.designs import Dense
from lineal.errors import InputError
from lineal.generative.class_densities import numbers_of, picked
from lineal.generative.class_sums import ClassSums, SumClasses
from lineal.generative.discrete import log_prior, multinomial
from lineal.generative.exact_sums import ExactSums
from lineal.generative.moments import ClassMoments, moments
from lineal.ground.arrays import Array
from lineal.ground.records import Added, dataclass
from lineal.sources.source import Block

SMALLEST_SHARE = 1e-12
"""What rounding may leave of a weight that is zero, as a share of the class's."""


@dataclass(frozen=True)
class Layout:
    """Which factors the columns make; places are those among the inputs, the intercept not counted.

    ``numbers`` and ``markers`` are as in ClassDensities; ``levels`` are ranges of columns of a category, with whether one more
    level, the reference, has none; ``switches`` a column of zeros and ones, its marker or -1, and what stands in the former
    where it is missing; ``words`` ranges of columns of a text.
    """

    numbers: tuple[int, ...] = ()
    markers: tuple[int, ...] = ()
    levels: tuple[tuple[int, int, bool], ...] = ()
    switches: tuple[tuple[int, int, float], ...] = ()
    words: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class MixedSums(Added):
    """Sums of all columns by class, and of numbers (with squares) and switches without their missing cells."""

    plain: ClassSums
    numbers: ClassSums | None
    switches: ClassSums | None


@dataclass(frozen=True)
class SumMixed:
    """The task that makes MixedSums."""

    classes: int
    layout: Layout

    def __call__(self, block: Block) -> MixedSums:
        """Add up one block."""
        first, layout = int(block.design.starts_with_ones), self.layout
        kept = np.array(sorted(set(range(block.design.shape[1] - first)) - set(layout.numbers)), dtype=np.intp)
        bare = picked(block.design, kept + first) if len(kept) else Dense(np.zeros((block.n_rows, 0)))
        plain = SumClasses(self.classes)(Block(bare, block.y, block.weight))
        numbers = self._masked(block, layout.numbers, layout.markers, first, squares=True)
        places, markers = tuple(one[0] for one in layout.switches), tuple(one[1] for one in layout.switches)
        return MixedSums(plain, numbers, self._masked(block, places, markers, first, squares=False))

    def _masked(
        self, block: Block, places: tuple[int, ...], markers: tuple[int, ...], first: int, *, squares: bool
    ) -> ClassSums | None:
        if not places:
            return None
        x, absent = numbers_of(block.design, places, markers, first)
        x = x if absent is None else np.where(absent, 0.0, x)
        return SumClasses(self.classes, squares)(Block(Dense(x), block.y, block.weight))


@dataclass(frozen=True)
class Factors:
    """Scores ``x' weights + base`` (inputs, K) and (K,), to which the densities of the numbers are added."""

    weights: Array
    base: Array
    moments: ClassMoments | None


def factors(sums: MixedSums, layout: Layout, inputs: int, alpha: float, smoothing: float) -> Factors:
    """Return the logs of the factors; ``smoothing`` is the share of a number's variance that every class gets in addition."""
    total = sums.plain.weight.values()
    kept = [place for place in range(inputs) if place not in set(layout.numbers)]
    counts = np.zeros((len(total), inputs))
    counts[:, kept] = sums.plain.sums.values()
    scores = _Scores(counts, total, alpha)
    missing = [(marker, marker + 1, True) for marker in sorted(set(layout.markers)) if marker >= 0]
    with np.errstate(invalid="ignore"):  # logarithms of zero are refused below
        for start, stop, referred in (*layout.levels, *missing):
            scores.add_levels(start, stop, referred)
        ones: list[Array] = [] if sums.switches is None else list(sums.switches.sums.values().T)
        for (place, marker, fill), seen in zip(layout.switches, ones, strict=True):
            scores.add_switch(place, marker, fill, seen)
    for start, stop in layout.words:
        scores.weights[start:stop] = multinomial(counts[:, start:stop], alpha).log.T
    if not (np.isfinite(scores.weights).all() and np.isfinite(scores.base).all()):
        raise InputError(
            f"alpha is {alpha:g}, and some level or word never occurs in some class: its probability would be zero, its "
            "logarithm no number. Give alpha above 0, such as naive-bayes:alpha=1."
        )
    densities = None if sums.numbers is None else _densities(sums, layout, smoothing)
    return Factors(scores.weights, scores.base, densities)


class _Scores:
    """Weights and base as factor by factor is added."""

    def __init__(self, counts: Array, total: Array, alpha: float) -> None:
        self.counts, self.total, self.alpha = counts, total, alpha
        self.weights, self.base = np.zeros(counts.shape[::-1]), log_prior(total)

    def add_levels(self, start: int, stop: int, referred: bool) -> None:
        """Add a category; its reference level is what no column counts."""
        count = self.counts[:, start:stop]
        if not referred:
            self.weights[start:stop] = multinomial(count, self.alpha).log.T
            return
        log = multinomial(np.column_stack([count, self._rest(count)]), self.alpha).log
        self.weights[start:stop] = (log[:, :-1] - log[:, -1:]).T
        self.base = self.base + log[:, -1]

    def add_switch(self, place: int, marker: int, fill: float, ones: Array) -> None:
        """Add a column of zeros and ones, in which ``fill`` stands where it is missing."""
        known = [ones[:, None]] if marker < 0 else [ones[:, None], self.counts[:, marker : marker + 1]]
        count = np.hstack(known)
        log = multinomial(np.column_stack([self._rest(count), count]), self.alpha).log
        self.weights[place] = log[:, 1] - log[:, 0]
        self.base = self.base + log[:, 0]
        if marker >= 0:
            self.weights[marker] = log[:, 2] - log[:, 0] - fill * self.weights[place]

    def _rest(self, count: Array) -> Array:
        rest = self.total - np.sum(count, axis=1)
        return np.where(rest > SMALLEST_SHARE * self.total, rest, 0.0)


def _densities(sums: MixedSums, layout: Layout, smoothing: float) -> ClassMoments:
    """Return the moments of the numbers, each variance with a share of that over all rows."""
    assert sums.numbers is not None
    kept = sorted(set(range(sums.plain.sums.shape[1] + len(layout.numbers))) - set(layout.numbers))
    place_of = {place: j for j, place in enumerate(kept)}
    lacking = None
    if max(layout.markers, default=-1) >= 0:
        totals = {}
        for level, held in sums.plain.sums.totals.items():
            totals[level] = np.column_stack(
                [held[:, place_of[m]] if m >= 0 else np.zeros(len(held)) for m in layout.markers]
            )
        lacking = ExactSums(totals, sums.numbers.sums.shape, sums.plain.sums.terms)
    classes = moments(sums.numbers, lacking)
    variance = classes.variance + smoothing * classes.spread
    unseen = (variance == 0.0) & (classes.spread > 0.0)
    if unseen.any():
        raise InputError(
            "a number has variance zero in a class, where its density would be infinite; give a share of its variance over "
            "all rows that is added, such as naive-bayes:variance=1e-9."
        )
    return ClassMoments(classes.weight, classes.mean, classes.low, variance, classes.spread)
