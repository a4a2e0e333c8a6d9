"""Kernel machines on tables, with any kernel of rows, texts or trees: ridge, support vectors, logistic, the perceptron.

Columns are standardized before the kernel compares rows; kernels of texts and trees read one column as it is, and are
normalized, since they grow with the length. What is left out, or ``auto``, is chosen on a fifth of the training rows that a
first fit does not see: the width of the Gaussian kernel among multiples of the median distance, and the strength.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from lineal import kernels
from lineal.api.methods.method import MapFit, Method, Wanted
from lineal.certify.span import prove
from lineal.certify.span_words import judge
from lineal.errors import InputError
from lineal.features.terms import Verbatim
from lineal.ground.deadline import LATE, in_time
from lineal.ground.records import dataclass
from lineal.kernels import Gaussian, Kernel, Points
from lineal.losses import Hinge, Logistic, Softmax, Squared
from lineal.losses import Perceptron as Criterion
from lineal.losses.loss import Loss
from lineal.machines import perceptron, ridge, support_fit
from lineal.machines.gram import KeptGram, KernelGram
from lineal.machines.kernel_map import KernelMap
from lineal.machines.logistic import Newton
from lineal.machines.text_map import TextKernelMap, points_of
from lineal.model.feature_map import inputs, texts
from lineal.model.verdict import Verdict
from lineal.penalties import NoPenalty
from lineal.problem.span import SpanProblem

if TYPE_CHECKING:
    from lineal.api.dataset import Dataset
    from lineal.api.request import Run

Array = npt.NDArray[np.float64]

STRENGTHS: Final = tuple(10.0**-power for power in range(7))
"""Strengths that are tried; of equally good ones the first, the strongest, is taken."""

WIDTHS: Final = (0.25, 0.5, 1.0, 2.0)
"""Widths that are tried, as multiples of the median distance of two rows."""

TRIED_MAX_ROWS: Final = 1500
"""Of more rows, a sample is enough to choose a width and a strength: a try is a fit."""

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


class Machine(NamedTuple):
    """What a fit to some rows found."""

    coef: Array
    intercept: Array
    verdict: Verdict
    solver: str


@dataclass(frozen=True)
class KernelMethod(Method):
    """A kernel machine, with the kernel and the strength that were typed; None is one to be chosen."""

    kernel: Kernel | None = None
    strength: float | None = None
    title: ClassVar[str]
    strong: ClassVar[bool] = True
    """Whether it has a strength."""

    @classmethod
    def read(cls, text: str, rest: str | None) -> Self:
        """Return the method with its kernel, and after semicolons its strength, and whether the kernel is normalized."""
        spelled, *tail = (rest or "").split(";")
        kernel = None if spelled in ("", "rbf", "rbf:auto") else kernels.read(spelled)
        if kernel is not None and (kernel.takes not in ("rows", "sequences", "trees") or not kernel.saved):
            raise InputError(f"the model is {text!r}, but {kernel.name} does not compare rows, texts or trees.")
        if kernel is not None and not kernel.mercer:
            raise InputError(
                f"the model is {text!r}, but the {kernel.label} is not positive semi-definite, so that nothing could be proven "
                "of the fit; use another kernel."
            )
        options = _options(text, tail, ("strength", "normalized") if cls.strong else ("normalized",), cls.spellings)
        kernel = _scaled(text, kernel, options.get("normalized"))
        number = options.get("strength", "auto")
        if number == "auto":
            return cls(kernel)
        try:
            strength = float(number)
        except ValueError:
            strength = -1.0
        if not (0.0 < strength < np.inf):
            raise InputError(f"the model is {text!r}; its strength must be a number above 0, or auto.")
        return cls(kernel, strength)

    @property
    def verbatim(self) -> bool:
        """Whether the kernel compares texts or trees."""
        return self.kernel is not None and self.kernel.takes != "rows"

    def fit(self, dataset: Dataset, run: Run) -> tuple[MapFit, Loss, Mapping[str, Any]]:
        """Choose what is to be chosen, fit all rows of positive weight, and keep those whose coefficient is not zero."""
        source = dataset.train
        if dataset.roles["offset"] is not None:
            raise InputError(f"{self.title} has no offset; leave offset out.")
        column = _text_column(dataset) if self.verbatim else ""
        read = texts if self.verbatim else _plain
        parts = source.collect(lambda block: (read(inputs(block.design)), block.y, block.weights))
        y, weight = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
        used = np.flatnonzero(weight > 0.0)
        loss = self.loss(dataset)
        ones = source.columns[:1] == ("(intercept)",)
        names = tuple(source.columns[1:] if ones else source.columns)
        made: KernelMap | TextKernelMap
        if self.verbatim:
            assert self.kernel is not None
            points = points_of(self.kernel, [cell for part in parts for cell in part[0]], f"{column} of training row")
            points = points.take(used)
        else:
            x = np.concatenate([part[0] for part in parts])[used]
            center, spread = x.mean(axis=0), x.std(axis=0)
            spread = np.where(spread > 0.0, spread, 1.0)
            points = kernels.Linear().points((x - center) / spread)
        rows = Rows(points, y[used], weight[used])
        kernel, strength, chosen = self._chosen(rows, loss, run, ones)
        gram = _kept(kernel, points) if self.verbatim else KernelGram(kernel, kernel.points(points))
        machine = self.machine(gram, rows, loss, strength, run, ones)
        kept = np.flatnonzero(np.any(machine.coef != 0.0, axis=1))
        numbers = tuple(used[kept].tolist())
        if self.verbatim:
            made = TextKernelMap(kernel, points.take(kept), numbers, column, len(names), strength)
        else:
            made = KernelMap(kernel, points.values[kept], numbers, names, strength, center, spread)
        coef = np.vstack([machine.intercept, machine.coef[kept]]) if ones else machine.coef[kept]
        report = {"model": self.title, **({"kernel_chosen": chosen} if chosen else {})}
        reason = chosen or "asked for"
        return MapFit(made, coef, machine.verdict, machine.solver, reason, NoPenalty(len(coef))), loss, report

    def _chosen(self, rows: Rows, loss: Loss, run: Run, ones: bool) -> tuple[Kernel, float, str]:
        """Return the kernel and the strength, tried on rows that the fit of a try does not see, and words on that."""
        rng = np.random.default_rng(run.seed)
        order = rng.permutation(len(rows.y))[:TRIED_MAX_ROWS]
        candidates: list[Kernel] = [self.kernel] if self.kernel is not None else _widths(rows.points.values[order])
        strengths = [self.strength] if self.strength is not None else (list(STRENGTHS) if self.strong else [0.0])
        if len(candidates) * len(strengths) == 1:
            return candidates[0], strengths[0], ""
        fifth = max(1, len(order) // 5)
        seen, held = rows.some(np.sort(order[fifth:])), rows.some(np.sort(order[:fifth]))
        if not len(seen.y) or (loss.of_classes() and len(np.unique(seen.y)) < len(np.unique(rows.y))):
            return candidates[len(candidates) // 2], strengths[len(strengths) // 2], "too few rows to choose on"
        best = (np.inf, candidates[0], strengths[0])
        for kernel in candidates:
            grams: Grams | None = in_time(run.deadline, partial(_grams, kernel, seen, held), _late)
            for strength in strengths if grams is not None else ():
                assert grams is not None
                trial = partial(self._tried, grams, seen, held, loss, strength, run, ones)
                made: float | None = in_time(run.deadline, trial, _late)
                if made is not None and made < best[0]:
                    best = (made, kernel, strength)
        words = f"kernel {best[1].spelled()}" + (f", strength {best[2]:g}" if self.strong else "")
        return best[1], best[2], f"{words}: the best on {len(held.y)} rows held out"

    def _tried(self, grams: Grams, seen: Rows, held: Rows, loss: Loss, strength: float, run: Run, ones: bool) -> float:
        """Return the mean loss on held-out rows of a fit to the others."""
        machine = self.machine(grams.seen, seen, loss, strength, run, ones)
        eta = grams.held @ machine.coef + machine.intercept
        if loss.decides:
            return float(held.weight @ (loss.decide(eta) != held.y[:, 0]) / held.weight.sum())
        return float(held.weight @ loss.value(held.y, eta) / held.weight.sum())

    @abstractmethod
    def loss(self, dataset: Dataset) -> Loss:
        """Return the loss of the target."""

    @abstractmethod
    def machine(self, gram: KernelGram, rows: Rows, loss: Loss, strength: float, run: Run, ones: bool) -> Machine:
        """Fit some rows."""


@dataclass(frozen=True)
class KernelRidgeMethod(KernelMethod):
    """Kernel ridge regression with an intercept that is not penalized."""

    name: ClassVar[str] = "kernel-ridge"
    spellings: ClassVar[tuple[str, ...]] = ("kernel-ridge", "kernel-ridge:KERNEL;strength=V")
    wanted: ClassVar[Wanted] = "number"
    title: ClassVar[str] = "kernel ridge regression"

    def loss(self, dataset: Dataset) -> Loss:
        """Return squared loss."""
        return Squared(1)

    def machine(self, gram: KernelGram, rows: Rows, loss: Loss, strength: float, run: Run, ones: bool) -> Machine:
        """Solve the system of equations."""
        problem = SpanProblem(gram, loss, rows.y, rows.weight, strength, ones)
        solution = ridge.solve(problem, gram.whole())
        proof = prove(problem, solution.coef, solution.intercept)
        return Machine(solution.coef, solution.intercept, judge(problem, proof, run.tol, "", 0.0), solution.how)


@dataclass(frozen=True)
class SvmRbf(KernelMethod):
    """A support vector machine for two classes."""

    name: ClassVar[str] = "svm-rbf"
    spellings: ClassVar[tuple[str, ...]] = ("svm-rbf", "svm-rbf:KERNEL;strength=V")
    wanted: ClassVar[Wanted] = "classes"
    title: ClassVar[str] = "support vector machine with a kernel"

    def loss(self, dataset: Dataset) -> Loss:
        """Return hinge loss, for two classes."""
        other = "kernel-logistic" if self.verbatim else "kernel-logistic, or svm"
        _two(dataset, f"{self.name} decides between two classes, and the target has {{}}; use {other}.")
        return Hinge()

    def machine(self, gram: KernelGram, rows: Rows, loss: Loss, strength: float, run: Run, ones: bool) -> Machine:
        """Move pairs of coefficients."""
        if not ones:
            raise InputError(f"{self.name} needs an intercept; leave it in the formula.")
        plan = support_fit.Plan(run.tol, 200.0, None, run.deadline)
        solution = support_fit.fit(
            gram, loss, rows.y[:, 0], rows.weight, 1.0 / (strength * float(rows.weight.sum())), plan
        )
        return Machine(solution.coef, solution.intercept, solution.verdict, "pairs")


@dataclass(frozen=True)
class KernelSvm(SvmRbf):
    """The same by a name that fits every kernel."""

    name: ClassVar[str] = "kernel-svm"
    spellings: ClassVar[tuple[str, ...]] = ("kernel-svm", "kernel-svm:KERNEL;strength=V")


@dataclass(frozen=True)
class KernelLogistic(KernelMethod):
    """Kernel logistic regression for two classes or several."""

    name: ClassVar[str] = "kernel-logistic"
    spellings: ClassVar[tuple[str, ...]] = ("kernel-logistic", "kernel-logistic:KERNEL;strength=V")
    wanted: ClassVar[Wanted] = "classes"
    title: ClassVar[str] = "kernel logistic regression"

    def loss(self, dataset: Dataset) -> Loss:
        """Return logistic loss, or softmax."""
        classes = len(dataset.target.classes or ())
        return Logistic() if classes == 2 else Softmax(classes)

    def machine(self, gram: KernelGram, rows: Rows, loss: Loss, strength: float, run: Run, ones: bool) -> Machine:
        """Take Newton steps."""
        problem = SpanProblem(gram, loss, rows.y, rows.weight, strength, ones)
        newton = Newton(problem, gram.whole())
        moved: bool | None = True
        while moved:
            moved = in_time(run.deadline, newton.step, lambda: None)
        proof = prove(problem, newton.at.coef, newton.at.intercept)
        stopped = LATE if moved is None else ""
        return Machine(newton.at.coef, newton.at.intercept, judge(problem, proof, run.tol, stopped, 0.0), "newton")


@dataclass(frozen=True)
class KernelPerceptronMethod(KernelMethod):
    """The kernel perceptron, for two classes or several."""

    name: ClassVar[str] = "kernel-perceptron"
    spellings: ClassVar[tuple[str, ...]] = ("kernel-perceptron", "kernel-perceptron:KERNEL")
    wanted: ClassVar[Wanted] = "classes"
    title: ClassVar[str] = "kernel perceptron"
    strong: ClassVar[bool] = False

    def loss(self, dataset: Dataset) -> Loss:
        """Return the perceptron's criterion."""
        classes = len(dataset.target.classes or ())
        return Criterion(1 if classes == 2 else classes, 0.0)

    def machine(self, gram: KernelGram, rows: Rows, loss: Loss, strength: float, run: Run, ones: bool) -> Machine:
        """Present the rows."""
        codes = rows.y[:, 0].astype(np.intp)
        solution = perceptron.present(gram, codes, loss.outputs, 100, run.seed)
        return Machine(solution.coef, np.zeros(loss.outputs), perceptron.judge(gram, codes, solution), "perceptron")


ALL: Final[tuple[type[KernelMethod], ...]] = (
    KernelRidgeMethod,
    SvmRbf,
    KernelSvm,
    KernelLogistic,
    KernelPerceptronMethod,
)
"""The kernel machines."""

NAMES: Final = tuple(kind.name for kind in ALL)
"""Their words."""


class Grams(NamedTuple):
    """The matrix of the rows that a try sees, and that of those held out with them: the same for all strengths."""

    seen: KernelGram
    held: Array


def _grams(kernel: Kernel, seen: Rows, held: Rows) -> Grams:
    return Grams(_kept(kernel, seen.points), kernel.gram(held.points, seen.points))


def _kept(kernel: Kernel, points: Points) -> KernelGram:
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


def _widths(x: Array) -> list[Kernel]:
    """Return Gaussian kernels of several widths around the median distance of two rows."""
    half = len(x) // 2
    apart = np.sqrt(np.sum((x[:half] - x[half : 2 * half]) ** 2, axis=1))
    median = float(np.median(apart[apart > 0.0])) if np.any(apart > 0.0) else 1.0
    return [Gaussian.of_width(float(f"{share * median:.3g}")) for share in WIDTHS]


def _late() -> None:
    """Return nothing: there was no time."""


def _two(dataset: Dataset, words: str) -> None:
    classes = len(dataset.target.classes or ())
    if classes != 2:
        raise InputError(words.format(f"{classes} classes"))
