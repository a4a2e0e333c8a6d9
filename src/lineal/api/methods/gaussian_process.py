"""Gaussian-process regression on tables: variances that are given, or the likeliest ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from lineal import kernels
from lineal.api.methods.kernel_families import FAMILIES
from lineal.api.methods.kernel_method import KernelMethod, Machine, Rows, Training
from lineal.api.methods.method import MapFit, Wanted
from lineal.certify.span import prove
from lineal.certify.span_words import chosen, judge
from lineal.errors import InputError
from lineal.ground.deadline import LATE, in_time
from lineal.ground.records import dataclass
from lineal.kernels import Kernel
from lineal.losses import Squared
from lineal.losses.loss import Loss
from lineal.machines import ridge
from lineal.machines.gram import KernelGram
from lineal.machines.likelihood import Found, Likelihood, likeliest, with_gamma
from lineal.machines.process_map import ProcessMap
from lineal.model.verdict import Verdict
from lineal.penalties import NoPenalty
from lineal.problem.span import SpanProblem

if TYPE_CHECKING:
    from lineal.api.dataset import Dataset
    from lineal.api.request import Run

EVIDENCE_MAX_ROWS: Final = 3000
"""Of more rows a sample says what is likeliest: a step of the search inverts a matrix of all."""

START_MAX_ROWS: Final = 400
"""Rows on which starts of the search are compared."""


class Known(NamedTuple):
    """A kernel and the variances, given or found."""

    kernel: Kernel
    noise: float
    prior: float


@dataclass(frozen=True)
class GaussianProcess(KernelMethod):
    """``y = m + f(x) + e``, f a Gaussian process of covariance ``prior k(x, z)``, e normal noise of variance ``noise / s``.

    Without a penalty on m. Variances that are not given, and the gamma of a Gaussian or Laplacian kernel that is not, are the
    likeliest.
    """

    noise: float | None = None
    prior: float | None = None
    name: ClassVar[str] = "gp"
    spellings: ClassVar[tuple[str, ...]] = ("gp", "gp:KERNEL;noise=V;prior=V")
    wanted: ClassVar[Wanted] = "number"
    title: ClassVar[str] = "Gaussian process"
    numbers: ClassVar[tuple[str, ...]] = ("noise", "prior")

    def fit(self, dataset: Dataset, run: Run) -> tuple[MapFit, Loss, Mapping[str, Any]]:
        """Find what was not given, and the posterior of all rows of positive weight given it."""
        loss, training = self.loss(dataset), self.gathered(dataset)
        rows, n = training.rows, len(training.rows.y)
        known, verdict, words = self._likeliest(training, run)
        kernel = known.kernel
        strength = known.noise / (known.prior * float(rows.weight.sum()))
        machine = self.machine(training.gram(kernel), rows, loss, strength, run, training.ones)
        made = ProcessMap(
            training.mapped(kernel, np.arange(n), strength), known.noise, known.prior, rows.weight, training.ones
        )
        coef = np.vstack([machine.intercept, machine.coef]) if training.ones else machine.coef
        judged = machine.verdict if verdict is None else verdict(machine.verdict)
        report = {"model": self.title, **({"kernel_chosen": words} if words else {})}
        reason = words or "given variances"
        return MapFit(made, coef, judged, machine.solver, reason, NoPenalty(len(coef))), loss, report

    def loss(self, dataset: Dataset) -> Loss:
        """Return squared loss, of one number."""
        names = dataset.target.names or ("",)
        if len(names) > 1:
            raise InputError(
                f"gp is for one number, each with a noise of its own, and the target has {len(names)}: {', '.join(names)}; fit "
                "one after the other, or use kernel-ridge."
            )
        return Squared(1)

    def machine(self, gram: KernelGram, rows: Rows, loss: Loss, strength: float, run: Run, ones: bool) -> Machine:
        """Solve the system of equations."""
        problem = SpanProblem(gram, loss, rows.y, rows.weight, strength, ones)
        solution = ridge.solve(problem, gram.whole())
        proof = prove(problem, solution.coef, solution.intercept)
        return Machine(solution.coef, solution.intercept, judge(problem, proof, run.tol, "", 0.0), solution.how)

    def _likeliest(self, training: Training, run: Run) -> tuple[Known, Callable[[Verdict], Verdict] | None, str]:
        """Return the kernel and the variances, what makes a verdict on them of that on the mean, and words on the choice."""
        fixed = {name: value for name, value in (("noise", self.noise), ("prior", self.prior)) if value is not None}
        if self.kernel is not None and len(fixed) == 2:
            return Known(self.kernel, fixed["noise"], fixed["prior"]), None, ""
        rng, rows = np.random.default_rng(run.seed), training.rows
        order = rng.permutation(len(rows.y))[:EVIDENCE_MAX_ROWS]
        seen = rows if len(order) == len(rows.y) else rows.some(np.sort(order))
        sample = np.sort(rng.permutation(len(seen.y))[:START_MAX_ROWS])
        best: tuple[Likelihood, Found] | None = None
        for kernel, gammas in self._started(seen):
            free = (*(["gamma"] if gammas else []), *(name for name in ("noise", "prior") if name not in fixed))
            problem = Likelihood(
                kernel, kernel.points(seen.points), seen.y[:, 0], 1.0 / seen.weight, training.ones, free, fixed
            )
            search: Callable[[], Found | None] = partial(likeliest, problem, sample, gammas)
            reached = in_time(run.deadline, search, _late)
            if reached is not None and (best is None or reached.value > best[1].value):
                best = problem, reached
        if best is None:
            variance = float(np.var(rows.y)) or 1.0
            known = Known(self._started(seen)[0][0], fixed.get("noise", 0.1 * variance), fixed.get("prior", variance))
            return known, None, f"kernel {known.kernel.spelled()}: {LATE} before anything likelier was found"
        problem, reached = best
        known = Known(problem.kernel_at(reached.known), reached.known["noise"], reached.known["prior"])
        words = f"kernel {known.kernel.spelled()}, noise {known.noise:.6g}, prior {known.prior:.6g}: the likeliest"
        if len(seen.y) < len(rows.y):
            return known, None, f"{words} of {len(seen.y):,} of the rows"
        return (
            known,
            partial(chosen, slope=reached.slope, likelihood=reached.value, free=problem.free, ends=reached.ends),
            words,
        )

    def _started(self, rows: Rows) -> list[tuple[Kernel, list[float]]]:
        """Return the kernels to look at, each with starts of its gamma, none where it has none to be found."""
        if self.kernel is not None:
            return [(self.kernel, [])]
        family = FAMILIES[self.family](rows.points.values)
        gammas = [kernel.gamma for kernel in family if isinstance(kernel, kernels.Gaussian | kernels.Laplacian)]
        return [(with_gamma(family[0], gammas[0]), gammas)] if gammas else [(kernel, []) for kernel in family]


def _late() -> None:
    """Return nothing: there was no time."""
