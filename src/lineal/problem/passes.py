"""What one pass over the rows can learn: addable records, and the pure tasks that make them from a block."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from lineal import _core
from lineal.algebra.doubled import Doubled
from lineal.designs import Affine
from lineal.designs.design import Design, columns_of
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.sources.rowwise import Scored
from lineal.sources.source import Block

Kept = dict[tuple[int, int], Array]
"""Curvatures of rows, ``(outputs, rows)``, by the first row of their block and its length."""

LEADING_SHARE = 50
"""From this many columns for every leading one, the gram of the leading ones is made from them alone."""


@dataclass(frozen=True)
class Sums:
    """Sums of losses and derivatives: value = high + low; hessian of the first columns, or None.

    ``gradient_error`` bounds what rounding may have done to the gradient and ``value_error`` to the value, where they
    did not come from rows. ``kept`` are the curvatures of all rows, where a task was asked to keep them.
    """

    high: float
    low: float
    weight_sum: float
    slope_sum: Array
    gradient: Array
    hessian: Array | None
    gradient_error: Array | None = None
    value_error: float = 0.0
    kept: Kept | None = None

    def __add__(self, other: Sums) -> Sums:
        high, low = _compensated(self, other)
        hessian = self.hessian
        if hessian is not None and other.hessian is not None:
            hessian = hessian + other.hessian
        return Sums(
            high=high,
            low=low,
            weight_sum=self.weight_sum + other.weight_sum,
            slope_sum=self.slope_sum + other.slope_sum,
            gradient=self.gradient + other.gradient,
            hessian=hessian,
            kept=_merged(self.kept, other.kept),
        )


@dataclass(frozen=True)
class Evaluate:
    """The task that sums losses, slopes and, for the first ``hessian`` columns, curvatures at ``coef``.

    ``sample = g > 1`` takes one row of every g: a cheap look at a large table. ``keep`` returns the curvatures too, as ``Curve``
    takes them: only for blocks that stay in memory.
    """

    loss: Loss
    coef: Array
    hessian: int = 0
    sample: int = 1
    keep: bool = False

    def __call__(self, block: Block) -> Sums:
        """Sum over one block."""
        design = block.design
        if isinstance(design, Affine):
            # Centering touches every column through the intercept, so a partial hessian needs the full one inside.
            width = design.shape[1] if self.hessian else 0
            inner = Evaluate(self.loss, design.inner_coef(self.coef), width, self.sample)
            sums = inner(replace(block, design=design.inner))
            hessian = sums.hessian
            if hessian is not None:
                hessian = design.outer_hessian(hessian, self.loss.outputs, self.hessian)
            return replace(sums, gradient=design.outer_gradient(sums.gradient), hessian=hessian)
        if design.rows is not None and self.loss.native is not None:
            curvatures = np.empty((self.loss.outputs, block.n_rows)) if self.keep else None
            arguments = (self.loss.native, block.y, block.weight, block.offset, self.coef, self.hessian, self.sample)
            kept = None if curvatures is None else {(block.start, block.n_rows): curvatures}
            return Sums(*design.rows.evaluate(*arguments, self.loss.parameter, curvatures), kept=kept)
        return self._plain(block)

    def _plain(self, block: Block) -> Sums:
        """Do the same through the verbs of the design, for a loss or a design without kernels."""
        design, loss = block.design, self.loss
        y, eta, weight = Scored(self.coef)(block)
        slope = weight[:, None] * loss.slope(y, eta)
        value = float(np.sum(weight * loss.value(y, eta)))
        hessian = self._hessian(design, weight, y, eta) if self.hessian else None
        return Sums(value, 0.0, float(weight.sum()), np.abs(slope).sum(axis=0), design.transpose_times(slope), hessian)

    def _hessian(self, design: Design, weight: Array, y: Array, eta: Array) -> Array:
        h, k = self.hessian, self.loss.outputs
        curvature = self.loss.curvature(y, eta)
        gram = partial(_leading_gram, design, h)
        if self.loss.quadratic:
            return gram(weight)[None]
        if not self.loss.coupled:
            return np.stack([gram(weight * curvature[:, a]) for a in range(k)])
        full = np.empty((k, h, k, h))
        for a in range(k):
            for b in range(k):
                # gram takes weights of any sign; off-diagonal curvatures are negative
                full[a, :, b, :] = gram(weight * curvature[:, a, b])
        return full.reshape(1, k * h, k * h)


def _leading_gram(design: Design, columns: int, weight: Array) -> Array:
    """Return the gram of the first columns; of a few among many from those alone, since that of all may not fit in memory."""
    if columns * LEADING_SHARE > design.shape[1]:
        return design.gram(weight)[:columns, :columns]
    present = np.flatnonzero(weight)
    cells = columns_of(design, np.arange(columns))[present]
    return np.asarray(cells.T @ (weight[present, None] * cells))


@dataclass(frozen=True)
class Dual:
    """What a dual point built from slopes shows: summed mismatch, X'(s theta), largest |X shift|."""

    high: float
    low: float
    gradient: Array
    largest_shift: float
    slope_sum: Array

    def __add__(self, other: Dual) -> Dual:
        high, low = _compensated(self, other)
        return Dual(
            high=high,
            low=low,
            gradient=self.gradient + other.gradient,
            largest_shift=max(self.largest_shift, other.largest_shift),
            slope_sum=self.slope_sum + other.slope_sum,
        )


@dataclass(frozen=True)
class Conjugate:
    """The task of the certificate: theta = scale (slope - W (X shift)) at ``coef``, and its Fenchel-Young mismatch.

    Its gradient is left out (no rows) where it is not ``wanted``.
    """

    loss: Loss
    coef: Array
    shift: Array
    scale: float = 1.0
    wanted: bool = True

    def __call__(self, block: Block) -> Dual:
        """Sum over one block."""
        design, loss = block.design, self.loss
        # squared and logistic: the losses whose dual points are scaled natively
        if design.rows is not None and loss.native is not None and (self.scale == 1.0 or loss.native in (0, 1)):
            arguments = (loss.native, block.y, block.weight, block.offset, self.coef, self.shift, loss.parameter)
            dual = Dual(*design.rows.dual(*arguments, self.scale, self.wanted))
            if self.scale == 1.0 or math.isfinite(dual.high):
                return dual
        y, eta, weight = Scored(self.coef)(block)
        present = weight > 0.0
        move = np.where(present[:, None], design.times(self.shift), 0.0) if self.shift.any() else np.zeros_like(eta)
        curvature = loss.curvature(y, eta)
        bent = np.einsum("nab,nb->na", curvature, move) if loss.coupled else curvature * move
        theta = self.scale * (loss.slope(y, eta) - bent)
        mismatch = loss.mismatch(y, eta, theta)
        if 0.0 < loss.dual_margin < 1e-3 and (box := loss.box(y)) is not None:
            near = (curvature > 0.0) & ((theta < box[0] + loss.dual_margin) | (theta > box[1] - loss.dual_margin))
            mismatch = np.where(near[:, 0], np.inf, mismatch)
        slope = weight[:, None] * theta
        return Dual(
            high=float(np.sum(weight[present] * mismatch[present])),
            low=0.0,
            gradient=design.transpose_times(slope) if self.wanted else np.zeros((0, loss.outputs)),
            largest_shift=float(np.max(np.abs(move), initial=0.0)),
            slope_sum=np.abs(slope).sum(axis=0),
        )


@dataclass(frozen=True)
class Product:
    """Summed rows, the weight of these rows, and curvatures that were not known before, if they are kept."""

    array: Array
    weight_sum: float
    kept: Kept | None = None

    def __add__(self, other: Product) -> Product:
        kept = _merged(self.kept, other.kept)
        return Product(self.array + other.array, self.weight_sum + other.weight_sum, kept)


@dataclass(frozen=True)
class Curve:
    """The task that multiplies a direction by the curvature at ``coef``: X' S W X direction.

    ``sample = g > 1`` takes one row of every g, others for another ``turn``. ``known`` are curvatures at
    ``coef`` by the rows of a block, so that products need no scores; ``keep`` returns them for further products. Both are
    for blocks that stay in memory, and for one ``coef``, sample and turn.
    """

    loss: Loss
    coef: Array
    direction: Array
    sample: int = 1
    turn: int = 0
    known: Kept | None = None
    keep: bool = False

    def __call__(self, block: Block) -> Product:
        """Multiply one block."""
        design, loss = block.design, self.loss
        if isinstance(design, Affine):
            no_scores = self.known is not None and (block.start, block.n_rows) in self.known
            coef = self.coef if no_scores else design.inner_coef(self.coef)
            inner = replace(self, coef=coef, direction=design.inner_coef(self.direction))
            product = inner(replace(block, design=design.inner))
            return replace(product, array=design.outer_gradient(product.array))
        if design.rows is not None and loss.native is not None:
            return self._native(design.rows, block)
        y, eta, weight = Scored(self.coef)(block)
        present, curvature = weight > 0.0, loss.curvature(y, eta)
        move = design.times(self.direction)
        bent = np.einsum("nab,nb->na", curvature, move) if loss.coupled else curvature * move
        slope = np.where(present[:, None], weight[:, None] * bent, 0.0)
        return Product(design.transpose_times(slope), float(weight[present].sum()))

    def _native(self, rows: _core.Rows, block: Block) -> Product:
        loss = self.loss
        assert loss.native is not None
        arguments = (loss.native, block.y, block.weight, block.offset, self.coef, self.direction, loss.parameter)
        place = (block.start, block.n_rows)
        if self.known is not None and (curvatures := self.known.get(place)) is not None:
            return Product(*rows.curve(*arguments, self.sample, self.turn, curvatures, known=True))
        if not self.keep:
            return Product(*rows.curve(*arguments, self.sample, self.turn))
        curvatures = np.empty((loss.outputs, block.n_rows))
        return Product(*rows.curve(*arguments, self.sample, self.turn, curvatures), kept={place: curvatures})


@dataclass(frozen=True)
class Diagonal:
    """The task that sums the blocks on the diagonal of the second derivative, one for each output, ``(outputs, p, p)``.

    They are made from curvatures that were ``kept``, of one row in ``sample``; without those it is the gram, ``(1, p, p)``.
    """

    loss: Loss
    kept: Kept | None
    sample: int = 1

    def __call__(self, block: Block) -> Product:
        """Add up one block."""
        design = block.design
        shift, scale = (design.shift, design.scale) if isinstance(design, Affine) else (None, None)
        rows = design.inner.rows if isinstance(design, Affine) else design.rows
        if rows is None:
            gram = design.gram(block.weight)[None]
            return Product(gram, block.weight_sum)
        curvatures = None if self.kept is None else self.kept[block.start, block.n_rows]
        return Product(*rows.blocks(self.loss.native or 0, block.weight, curvatures, self.sample, 0, shift, scale))


@dataclass(frozen=True)
class Rounded:
    """The task that sums ``s z z'`` in single precision, z a row of X without ones and its targets, centred, scaled and rounded.

    Weights are divided by ``unit``.
    """

    centre: Array
    factor: Array
    unit: float

    def __call__(self, block: Block) -> Product:
        """Multiply one block, whose columns are one dense array and ones."""
        assert block.design.rows is not None
        gram = block.design.rows.float32_gram(block.weight, self.unit, block.y, self.centre, self.factor)
        return Product(gram, block.weight_sum)


@dataclass(frozen=True)
class NormalEquations:
    """The task that makes the gram of [X, y - offset] in double-double."""

    def __call__(self, block: Block) -> Doubled:
        """Add up one block."""
        if block.design.rows is None:
            raise TypeError("normal equations in double-double need a design with a compiled view")
        if block.offset is None:
            return Doubled(*block.design.rows.gram_dd(block.weight, block.y))
        # y - offset is not a double: keep both as columns and subtract where there are 32 digits
        both = np.ascontiguousarray(np.hstack([block.y, block.offset]))
        gram = Doubled(*block.design.rows.gram_dd(block.weight, both))
        m = block.y.shape[1]
        return _fold(_fold(gram, m), m)


@dataclass(frozen=True)
class Largest:
    """A number whose sum is the maximum."""

    value: float

    def __add__(self, other: Largest) -> Largest:
        return Largest(max(self.value, other.value))


@dataclass(frozen=True)
class Dependence:
    """The task that asks how far ``X d`` is from zero: max over rows of weight > 0 of |x.d| / sum_j |x_j d_j|.

    Each column of ``high + low`` is one d; the answer is the worst of them, or the first above ``enough`` that is found.
    """

    high: Array
    low: Array
    enough: float = math.inf

    def __call__(self, block: Block) -> Largest:
        """Look at one block."""
        if block.weight is None or block.weight.all():
            return Largest(self._worst(block.design))
        # Rows of weight zero are absent, and the kernel takes no weights: ask the runs of rows between them.
        edges = np.flatnonzero(np.diff(block.weight > 0.0, prepend=False, append=False))
        runs = [block.design.slice(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]
        return Largest(max(map(self._worst, runs), default=0.0))

    def _worst(self, design: Design) -> float:
        # The first rows refute most dependencies.
        head = 4096
        parts = (design.slice(0, head), design) if design.shape[0] > head and self.enough < math.inf else (design,)
        worst = 0.0
        for part in parts:
            if part.rows is None:
                raise TypeError("the dependence of columns needs a design with a compiled view")
            for high, low in zip(self.high.T, self.low.T, strict=True):
                worst = max(worst, part.rows.dependence(np.ascontiguousarray(high), np.ascontiguousarray(low)))
                if worst > self.enough:
                    return worst
        return worst


def _fold(gram: Doubled, m: int) -> Doubled:
    """Return the transpose of a gram whose last ``m`` rows were subtracted from the ``m`` before them."""
    kept = gram[:-m]
    end = kept[-m:] + -gram[-m:]
    return Doubled(np.vstack([kept.high[:-m], end.high]).T, np.vstack([kept.low[:-m], end.low]).T)


def _merged(one: Kept | None, other: Kept | None) -> Kept | None:
    """Return the curvatures of the rows of both."""
    if one is None or other is None:
        return one if other is None else other
    return one | other


def _compensated(a: Sums | Dual, b: Sums | Dual) -> tuple[float, float]:
    """Return the compensated sum of two values high + low; infinity stays infinity."""
    high = a.high + b.high
    if not math.isfinite(high):
        return high, 0.0
    c = high - a.high
    return high, a.low + b.low + ((a.high - (high - c)) + (b.high - c))
