"""What kernel machines on tables share: the kernel that is typed, rows or texts to compare, and what is chosen on held-out rows.

Columns are standardized before the kernel compares rows; kernels of texts and trees read one column as it is, and are
normalized, since they grow with the length. What is left out, or ``auto``, is chosen on a fifth of the training rows that a
first fit does not see, of few rows on each fifth in turn: the kernel among those of its family, and the strength.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from lineal import kernels
from lineal.api.methods.kernel_families import FAMILIES, RBF
from lineal.api.methods.method import MapFit, Method
from lineal.errors import InputError
from lineal.features.terms import Verbatim
from lineal.ground.deadline import in_time
from lineal.ground.records import dataclass
from lineal.kernels import Kernel, Points
from lineal.losses.loss import Loss
from lineal.machines.gram import KeptGram, KernelGram
from lineal.machines.kernel_map import KernelMap
from lineal.machines.text_map import TextKernelMap, points_of
from lineal.model.feature_map import inputs, texts
from lineal.model.verdict import Verdict
from lineal.penalties import NoPenalty

if TYPE_CHECKING:
    from lineal.api.dataset import Dataset
    from lineal.api.request import Run

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

STRENGTHS: Final = tuple(10.0**-power for power in range(7))
"""Strengths that are tried; of those with the fewest mistakes the one of least loss, of equal ones the strongest is taken."""

FOLDS: Final = 5
"""A try does not see one row of so many."""

HELD_MIN_ROWS: Final = 20
"""Where a fifth has fewer rows, every fifth is held out in turn."""

TRIED_MAX_ROWS: Final = 1500
"""Of more rows, a sample is enough to choose a kernel and a strength: a try is a fit."""

KEPT_MAX_ROWS: Final = 10_000
"""Up to so many rows (800 MB) the matrix of texts or trees is made once and kept."""


class Rows(NamedTuple):
    """Standardized rows, texts or trees with their targets and weights."""

    points: Points
    y: Array
    weight: Array

    def some(self, index: npt.NDArray[np.intp]) -> Rows:
        """Return some of them."""
        return Rows(self.points.take(index), self.y[index], self.weight[index])


class Pair(NamedTuple):
    """Rows that a try sees, and those that it is judged by."""

    seen: Rows
    held: Rows


class Machine(NamedTuple):
    """What a fit to some rows found."""

    coef: Array
    intercept: Array
    verdict: Verdict
    solver: str


@dataclass(frozen=True)
class Training:
    """What a kernel compares, of rows of positive weight: ``used`` are their places among all training rows.

    ``names`` are the columns of inputs, ``column`` is that of texts, "" where rows of numbers are compared, which are those of
    the encoder less ``center`` by ``spread``. ``ones`` says that there is an intercept.
    """

    rows: Rows
    used: Index
    names: tuple[str, ...]
    ones: bool
    column: str
    center: Array
    spread: Array

    def gram(self, kernel: Kernel) -> KernelGram:
        """Return the matrix of a kernel: kept where entries take long."""
        points = self.rows.points
        return kept_gram(kernel, points) if self.column else KernelGram(kernel, kernel.points(points))

    def mapped(self, kernel: Kernel, kept: Index, strength: float) -> KernelMap | TextKernelMap:
        """Return the map whose columns are the kernel with some of the rows."""
        numbers, points = tuple(self.used[kept].tolist()), self.rows.points
        if self.column:
            return TextKernelMap(kernel, points.take(kept), numbers, self.column, len(self.names), strength)
        return KernelMap(kernel, points.values[kept], numbers, self.names, strength, self.center, self.spread)


@dataclass(frozen=True)
class KernelMethod(Method):
    """A kernel machine, with the kernel and the strength that were typed; None is one to be chosen.

    ``family`` is what the kernel is chosen from where it is.
    """

    kernel: Kernel | None = None
    strength: float | None = None
    family: str = RBF
    title: ClassVar[str]
    numbers: ClassVar[tuple[str, ...]] = ("strength",)
    """The numbers above 0 that may be typed behind the kernel."""

    @classmethod
    def read(cls, text: str, rest: str | None) -> Self:
        """Return the method with its kernel, and after semicolons its numbers, and whether the kernel is normalized."""
        spelled, *tail = (rest or "").split(";")
        spelled = spelled.strip() or RBF
        family = spelled.removesuffix(":auto")
        chosen = family in FAMILIES and (spelled.endswith(":auto") or family == RBF)
        kernel = None if chosen else kernels.read(spelled)
        if kernel is not None and (kernel.takes not in ("rows", "sequences", "trees") or not kernel.saved):
            raise InputError(f"the model is {text!r}, but {kernel.name} does not compare rows, texts or trees.")
        if kernel is not None and not kernel.mercer:
            raise InputError(
                f"the model is {text!r}, but the {kernel.label} is not positive semi-definite, so that nothing could be proven "
                "of the fit; use another kernel."
            )
        options = _options(text, tail, (*cls.numbers, "normalized"), cls.spellings)
        kernel = _scaled(text, kernel, options.pop("normalized", None))
        given = {name: _positive(text, name, value) for name, value in options.items() if value != "auto"}
        return cls(kernel, family=family if chosen else RBF, **given)

    @property
    def verbatim(self) -> bool:
        """Whether the kernel compares texts or trees."""
        return self.kernel is not None and self.kernel.takes != "rows"

    @property
    def drawn(self) -> bool:
        """Whether rows are drawn to choose on."""
        return self.kernel is None or any(getattr(self, name) is None for name in self.numbers)

    def fit(self, dataset: Dataset, run: Run) -> tuple[MapFit, Loss, Mapping[str, Any]]:
        """Choose what is to be chosen, fit all rows of positive weight, and keep those whose coefficient is not zero."""
        training, loss = self.gathered(dataset), self.loss(dataset)
        kernel, strength, chosen = self._chosen(training.rows, loss, run, training.ones)
        machine = self.machine(training.gram(kernel), training.rows, loss, strength, run, training.ones)
        kept = np.flatnonzero(np.any(machine.coef != 0.0, axis=1))
        made = training.mapped(kernel, kept, strength)
        coef = np.vstack([machine.intercept, machine.coef[kept]]) if training.ones else machine.coef[kept]
        report = {"model": self.title, **({"kernel_chosen": chosen} if chosen else {})}
        reason = chosen or "asked for"
        return MapFit(made, coef, machine.verdict, machine.solver, reason, NoPenalty(len(coef))), loss, report

    def gathered(self, dataset: Dataset) -> Training:
        """Return the training rows of positive weight, standardized, or their texts."""
        source = dataset.train
        if dataset.roles["offset"] is not None:
            raise InputError(f"{self.title} has no offset; leave offset out.")
        column = _text_column(dataset) if self.verbatim else ""
        read = texts if self.verbatim else _plain
        parts = source.collect(lambda block: (read(inputs(block.design)), block.y, block.weights))
        y, weight = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
        used = np.flatnonzero(weight > 0.0)
        ones = source.columns[:1] == ("(intercept)",)
        names = tuple(source.columns[1:] if ones else source.columns)
        center = spread = np.zeros(0)
        if self.verbatim:
            assert self.kernel is not None
            points = points_of(self.kernel, [cell for part in parts for cell in part[0]], f"{column} of training row")
            points = points.take(used)
        else:
            x = np.concatenate([part[0] for part in parts])[used]
            center, spread = x.mean(axis=0), x.std(axis=0)
            spread = np.where(spread > 0.0, spread, 1.0)
            points = kernels.Linear().points((x - center) / spread)
        return Training(Rows(points, y[used], weight[used]), used, names, ones, column, center, spread)

    def _chosen(self, rows: Rows, loss: Loss, run: Run, ones: bool) -> tuple[Kernel, float, str]:
        """Return the kernel and the strength, tried on rows that the fit of a try does not see, and words on that."""
        rng = np.random.default_rng(run.seed)
        order = rng.permutation(len(rows.y))[:TRIED_MAX_ROWS]
        strong = "strength" in self.numbers
        candidates = self.candidates(rows, order)
        strengths = [self.strength] if self.strength is not None else (list(STRENGTHS) if strong else [0.0])
        if len(candidates) * len(strengths) == 1:
            return candidates[0], strengths[0], ""
        pairs = _parted(rows, order, loss)
        if not pairs:
            return candidates[len(candidates) // 2], strengths[len(strengths) // 2], "too few rows to choose on"
        best = ((np.inf, np.inf), candidates[0], strengths[0])
        for kernel in candidates:
            grams: list[Grams] | None = in_time(run.deadline, partial(_grams, kernel, pairs), _late)
            for strength in strengths if grams is not None else ():
                assert grams is not None
                trial = partial(self._tried, grams, pairs, loss, strength, run, ones)
                made: tuple[float, float] | None = in_time(run.deadline, trial, _late)
                if made is not None and made < best[0]:
                    best = (made, kernel, strength)
        words = f"kernel {best[1].spelled()}" + (f", strength {best[2]:g}" if strong else "")
        held = sum(len(pair.held.y) for pair in pairs)
        return (
            best[1],
            best[2],
            f"{words}: the best on {held} rows held out" + f" in {len(pairs)} folds" * (len(pairs) > 1),
        )

    def candidates(self, rows: Rows, sample: Index) -> list[Kernel]:
        """Return the kernels to choose from, made for a sample of the rows."""
        return [self.kernel] if self.kernel is not None else FAMILIES[self.family](rows.points.values[sample])

    def _tried(
        self, grams: list[Grams], pairs: list[Pair], loss: Loss, strength: float, run: Run, ones: bool
    ) -> tuple[float, float]:
        """Return the weight of mistakes on held-out rows of fits to the others, 0 where none is made, and the sum of losses."""
        wrong = lost = 0.0
        for gram, (seen, held) in zip(grams, pairs, strict=True):
            machine = self.machine(gram.seen, seen, loss, strength, run, ones)
            eta = gram.held @ machine.coef + machine.intercept
            wrong += float(held.weight @ (loss.decide(eta) != held.y[:, 0])) if loss.decides else 0.0
            lost += float(held.weight @ loss.value(held.y, eta))
        return wrong, lost

    @abstractmethod
    def loss(self, dataset: Dataset) -> Loss:
        """Return the loss of the target."""

    @abstractmethod
    def machine(self, gram: KernelGram, rows: Rows, loss: Loss, strength: float, run: Run, ones: bool) -> Machine:
        """Fit some rows."""


class Grams(NamedTuple):
    """The matrix of the rows that a try sees, and that of those held out with them: the same for all strengths."""

    seen: KernelGram
    held: Array


def _grams(kernel: Kernel, pairs: list[Pair]) -> list[Grams]:
    return [Grams(kept_gram(kernel, seen.points), kernel.gram(held.points, seen.points)) for seen, held in pairs]


def _parted(rows: Rows, order: Index, loss: Loss) -> list[Pair]:
    """Return rows in an order as those that a try sees and those held out: a fifth, of few rows each fifth in turn.

    Left out are pairs of which no row, or not every class, is seen.
    """
    fifth = max(1, len(order) // FOLDS)
    folds = FOLDS if fifth < HELD_MIN_ROWS else 1
    pairs = []
    for fold in range(folds):
        first, last = fold * fifth, len(order) if fold == FOLDS - 1 else (fold + 1) * fifth
        held, seen = np.sort(order[first:last]), np.sort(np.concatenate([order[:first], order[last:]]))
        whole = not loss.of_classes() or len(np.unique(rows.y[seen])) == len(np.unique(rows.y))
        if len(held) and len(seen) and whole:
            pairs.append(Pair(rows.some(seen), rows.some(held)))
    return pairs


def kept_gram(kernel: Kernel, points: Points) -> KernelGram:
    """Return a matrix that is made once where there is room, since entries of texts and trees take long."""
    return (KeptGram if len(points) <= KEPT_MAX_ROWS else KernelGram)(kernel, kernel.points(points))


def _options(text: str, tail: list[str], known: tuple[str, ...], spellings: tuple[str, ...]) -> dict[str, str]:
    """Return what stands behind the semicolons, by name."""
    options: dict[str, str] = {}
    for word in tail:
        name, _, value = (part.strip() for part in word.partition("="))
        if name not in known or name in options:
            raise InputError(f"the model is {text!r}; it is spelled {' or '.join(spellings)}.")
        options[name] = value
    return options


def _positive(text: str, name: str, value: str) -> float:
    """Return a number above 0 that was typed."""
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not (0.0 < number < np.inf):
        raise InputError(f"the model is {text!r}; its {name} must be a number above 0, or auto.")
    return number


def _scaled(text: str, kernel: Kernel | None, normalized: str | None) -> Kernel | None:
    """Return a kernel of texts or trees normalized, unless it is so by itself or that is not wanted."""
    of_rows = kernel is None or kernel.takes == "rows"
    if normalized is not None and (of_rows or normalized not in ("yes", "no")):
        raise InputError(
            f"the model is {text!r}; normalized=no is for kernels of texts and trees, which are normalized without it; a kernel "
            "of rows is written normalized(KERNEL) where that is meant."
        )
    parts = kernel.parts if isinstance(kernel, kernels.Sum | kernels.Product) else (kernel,)
    alone = of_rows or normalized == "no" or all(isinstance(part, kernels.Normalized) for part in parts)
    return kernel if kernel is None or alone else kernels.Normalized(kernel)


def _text_column(dataset: Dataset) -> str:
    """Return the column that is kept as it is."""
    terms = () if dataset.encoder is None else dataset.encoder.terms
    if len(terms) != 1 or not isinstance(terms[0], Verbatim):
        raise InputError(
            "a kernel of texts or trees compares one column of texts as they are, and here columns are numbers; give it a table "
            "with such a column, by itself or beside models that read texts as they are, too."
        )
    return terms[0].column


def _plain(x: Any) -> Array:
    return x if isinstance(x, np.ndarray) else np.asarray(x.toarray())


def _late() -> None:
    """Return nothing: there was no time."""
