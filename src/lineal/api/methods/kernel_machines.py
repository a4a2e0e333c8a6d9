"""Kernel machines on tables: ridge, support vectors, logistic regression, the perceptron; Gaussian processes beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from lineal.api.methods.gaussian_process import GaussianProcess
from lineal.api.methods.kernel_method import KernelMethod, Machine, Rows
from lineal.api.methods.method import Wanted
from lineal.certify.span import prove
from lineal.certify.span_words import judge
from lineal.errors import InputError
from lineal.ground.deadline import LATE, in_time
from lineal.ground.records import dataclass
from lineal.losses import Hinge, Logistic, Softmax, Squared
from lineal.losses import Perceptron as Criterion
from lineal.losses.loss import Loss
from lineal.machines import perceptron, ridge, support_fit
from lineal.machines.gram import KernelGram
from lineal.machines.logistic import Newton
from lineal.problem.span import SpanProblem

if TYPE_CHECKING:
    from lineal.api.dataset import Dataset
    from lineal.api.request import Run


@dataclass(frozen=True)
class KernelRidgeMethod(KernelMethod):
    """Kernel ridge regression with an intercept that is not penalized."""

    name: ClassVar[str] = "kernel-ridge"
    spellings: ClassVar[tuple[str, ...]] = ("kernel-ridge", "kernel-ridge:KERNEL;strength=V")
    wanted: ClassVar[Wanted] = "number"
    title: ClassVar[str] = "kernel ridge regression"

    def loss(self, dataset: Dataset) -> Loss:
        """Return squared loss."""
        return Squared(len(dataset.target.names or ("",)))

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

    def without_code(self, multiclass: str) -> str:
        """Return what several classes are for."""
        return (
            f"model {self.name} decides between two classes, and multiclass {multiclass} is for models of columns as they are; "
            "use kernel-logistic or kernel-perceptron, which take several classes at once, or lineal.SVC in Python."
        )

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
    drawn: ClassVar[bool] = True  # the order of the rows
    numbers: ClassVar[tuple[str, ...]] = ()

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
    GaussianProcess,
)
"""The kernel machines."""

NAMES: Final = tuple(kind.name for kind in ALL)
"""Their words."""


def _two(dataset: Dataset, words: str) -> None:
    classes = len(dataset.target.classes or ())
    if classes != 2:
        raise InputError(words.format(f"{classes} classes"))
