"""The perceptron in the span of the kernels at the rows: how often each row was mistaken is all that it learns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.ground.records import dataclass
from lineal.model.verdict import Verdict
from lineal.problem.span import Gram

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Run:
    """Coefficients (rows, outputs): the counts of mistakes with their signs; mistakes, epochs, and whether one was clean."""

    coef: Array
    mistakes: int
    epochs: int
    clean: bool


def present(gram: Gram, codes: Codes, outputs: int, epochs: int, seed: int | None) -> Run:
    """Present all rows in epochs until one has no mistake; ``seed`` draws the order of each, None keeps that of the rows.

    Two classes: y = -1, 1, a row is mistaken where ``y f(x) <= 0``, and ``f <- f + y k(x, .)``. Several: where another class
    scores as much as its own, ``f_y <- f_y + k(x, .)`` and ``f_other <- f_other - k(x, .)`` with the best of the others.
    """
    n = gram.size
    coef, scores = np.zeros((n, outputs)), np.zeros((n, outputs))
    sides = 2.0 * codes - 1.0
    rng = None if seed is None else np.random.default_rng(seed)
    made = 0
    for epoch in range(epochs):
        _core.heed()
        before = made
        for i in (np.arange(n) if rng is None else rng.permutation(n)).tolist():
            if outputs == 1:
                if sides[i] * scores[i, 0] > 0.0:
                    continue
                moves: tuple[tuple[int, float], ...] = ((0, float(sides[i])),)
            else:
                own = int(codes[i])
                others = scores[i].copy()
                others[own] = -np.inf
                best = int(np.argmax(others))
                if scores[i, own] > others[best]:
                    continue
                moves = ((own, 1.0), (best, -1.0))
            row = gram.rows(np.array([i]))[0]
            for output, sign in moves:
                coef[i, output] += sign
                scores[:, output] += sign * row
            made += 1
        if made == before:
            return Run(coef, made, epoch + 1, clean=True)
    return Run(coef, made, epochs, clean=False)


def judge(gram: Gram, codes: Codes, run: Run) -> Verdict:
    """Return whether the functions separate the rows, proven with the error of every score, beside the bound on mistakes.

    With ``|x|^2 = k(x, x) <= R^2`` and a margin gamma of functions of norm 1 there are at most ``R^2 / gamma^2`` mistakes (twice
    that for several classes); the margin of what was found is at most the largest one, so its bound is, too, one.
    """
    value, error = gram.product(run.coef)
    n, outputs = value.shape
    if outputs == 1:
        sides = 2.0 * codes - 1.0
        margins = sides * value[:, 0] - error[:, 0]
    else:
        own = value[np.arange(n), codes] - error[np.arange(n), codes]
        others = value + error
        others[np.arange(n), codes] = -np.inf
        margins = own - others.max(axis=1)
    norm = float(np.sqrt(max(np.sum(run.coef * value) + np.sum(np.abs(run.coef) * error), 0.0)))
    wrong = int(np.count_nonzero(margins <= 0.0))
    evidence: dict[str, object] = {"mistakes": run.mistakes, "epochs": run.epochs, "wrong_rows": wrong}
    if wrong or not gram.mercer:
        why = "no epoch was without a mistake" if gram.mercer else "the kernel is not positive semi-definite"
        sentence = (
            f"Stopped without a separation: {why} ({run.mistakes} mistakes in {run.epochs} epochs; {wrong} of {n} rows are on "
            "the wrong side of what was found). A narrower kernel, or more epochs, may separate the rows."
        )
        return Verdict("budget", sentence, None, None, evidence, why)
    radius = float(np.max(gram.roots))
    gamma = float(margins.min()) / norm
    factor = 1.0 if outputs == 1 else 2.0
    bound = factor * (radius / gamma) ** 2
    evidence |= {"radius": radius, "gamma": gamma, "bound": bound, "within_bound": run.mistakes <= bound}
    sentence = (
        f"Separated: every row is on the right side, proven (margin {gamma:.3g} of a function of norm 1). {run.mistakes} "
        f"mistakes, at most {bound:.3g} = {'' if outputs == 1 else '2 '}R^2/gamma^2 were possible."
    )
    return Verdict("separated", sentence, None, None, evidence)
