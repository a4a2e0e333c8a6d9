"""The law of verdicts for losses with corners: the gap is never below the truth, against optima in rational numbers."""

from __future__ import annotations

import itertools
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, sparse

sys.path.insert(0, str(Path(__file__).parent))

from exact import Exact
from exact import number as ball

from lineal.certify import prove
from lineal.certify.baseline import null
from lineal.certify.rows import bound
from lineal.designs import Categorical, Dense, Ones, Stack, as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.losses import (
    Absolute,
    CrammerSinger,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Poisson,
    Quantile,
    Sparsemax,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from lineal.penalties import L1, NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.solvers import DualAscent, row_screening
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block

CORNERED = [Absolute(), Quantile(0.25), EpsilonInsensitive(0.5), Hinge()]


def solve(matrix, right):
    """Return the solution of a square system of fractions, or None."""
    size = len(matrix)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(size):
        pivot = next((j for j in range(i, size) if rows[j][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(size):
            if j != i and rows[j][i] != 0:
                factor = rows[j][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


class Case:
    """A small problem with corners, and its optimum in fractions; the number decides its shape and its traps."""

    def __init__(self, number):
        rng = self.rng = np.random.default_rng(number)
        self.loss = CORNERED[number % 4]
        p = int(rng.integers(1, 3))
        n = int(rng.integers(3, 7))
        self.intercept = bool(rng.random() < 0.7)
        x = rng.normal(size=(n, p)) * rng.choice([1.0, 1e-3, 1e3], size=p) + rng.choice([0.0, 0.0, 10.0], size=p)
        if rng.random() < 0.3:
            x = np.round(x)  # ties and degenerate corners
        y = rng.normal(size=(n, 1)) + (1e6 if number % 5 == 0 else 0.0)
        self.y = np.round(y) if rng.random() < 0.3 else y
        if self.loss.name == "hinge":
            self.y = rng.integers(0, 2, size=(n, 1)).astype(float)
        self.weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n) if rng.random() < 0.5 else None
        if self.weight is not None:
            self.weight[0] = 1.0
        self.offset = rng.normal(size=(n, 1)) if rng.random() < 0.3 else None
        self.design = as_design(x, intercept=self.intercept)
        self.x = self.design.dense()
        columns = self.x.shape[1]
        charges = np.ones(columns)
        charges[: int(self.intercept)] = 0.0
        kind = ["none", "ridge", "l1"][number // 4 % 3]
        strength = float(rng.choice([1e-6, 1e-2, 1.0]))
        self.penalty = {
            "none": NoPenalty(columns),
            "ridge": Ridge(strength, charges),
            "l1": L1(strength, charges),
        }[kind]
        self.exact()

    def exact(self):
        """Write the problem in fractions: weights, rows and corners (x, at, low, high, weight), quadratic charges."""
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        offset = np.zeros((len(self.y), 1)) if self.offset is None else self.offset
        total = sum(map(Fraction, weight))
        self.corners = []
        for i in np.flatnonzero(weight > 0):
            row = [Fraction(v) for v in self.x[i]]
            y = Fraction(self.y[i, 0])
            if self.loss.name == "absolute":
                found = [(y, Fraction(-1), Fraction(1))]
            elif self.loss.name == "quantile":
                found = [(y, -Fraction(self.loss.q), 1 - Fraction(self.loss.q))]
            elif self.loss.name == "hinge":
                found = [
                    (Fraction(1), Fraction(-1), Fraction(0)) if y == 1 else (Fraction(-1), Fraction(0), Fraction(1))
                ]
            else:
                e = Fraction(self.loss.epsilon)
                found = [(y + e, Fraction(0), Fraction(1)), (y - e, Fraction(-1), Fraction(0))]
            for at, low, high in found:
                self.corners.append((row, at - Fraction(offset[i, 0]), low, high, Fraction(weight[i]) / total))
        p = self.x.shape[1]
        self.quadratic = [Fraction(0)] * p
        if self.penalty.name == "ridge":
            self.quadratic = [Fraction(self.penalty.strength) * Fraction(c) for c in self.penalty.charges]
        if self.penalty.name == "l1":
            for j, charge in enumerate(self.penalty.charges):
                size = Fraction(self.penalty.strength) * Fraction(charge)
                row = [Fraction(int(i == j)) for i in range(p)]
                if size:
                    self.corners.append((row, Fraction(0), -size, size, Fraction(1)))

    def value(self, coef):
        """Return F in fractions."""
        result = sum(c * b * b for c, b in zip(self.quadratic, coef, strict=True)) / 2
        for row, at, low, high, weight in self.corners:
            r = sum(a * b for a, b in zip(row, coef, strict=True)) - at
            result += weight * max(low * r, high * r)
        return result

    def optimum(self, start):
        """Return F* in fractions, or None where neither vertices nor the corners near the start tell it."""
        if not any(self.quadratic):
            return self.best_vertex()
        return self.stationary(start)

    def best_vertex(self):
        """Without a quadratic some vertex is optimal, if the rows span all columns."""
        p = self.x.shape[1]
        best = None
        for chosen in itertools.combinations(self.corners, p):
            coef = solve([list(corner[0]) for corner in chosen], [corner[1] for corner in chosen])
            if coef is not None:
                value = self.value(coef)
                best = value if best is None or value < best else best
        return best

    def stationary(self, start):
        """Solve the conditions of optimality exactly, with the corners that are active near the start; check them."""
        p = self.x.shape[1]
        active, slopes = [], []
        for corner in self.corners:
            r = float(sum(a * Fraction(b) for a, b in zip(corner[0], start, strict=True)) - corner[1])
            if abs(r) < 1e-5:
                active.append(corner)
            else:
                slopes.append((corner, corner[3] if r > 0 else corner[2]))
        size = p + len(active)
        matrix = [[Fraction(0)] * size for _ in range(size)]
        right = [Fraction(0)] * size
        for j in range(p):
            matrix[j][j] = self.quadratic[j]
            right[j] = -sum(corner[4] * slope * corner[0][j] for corner, slope in slopes)
            for m, corner in enumerate(active):
                matrix[j][p + m] = matrix[p + m][j] = corner[0][j]
        for m, corner in enumerate(active):
            right[p + m] = corner[1]
        found = solve(matrix, right)
        if found is None:
            return None
        coef = found[:p]
        for theta, corner in zip(found[p:], active, strict=True):
            if not corner[4] * corner[2] <= theta <= corner[4] * corner[3]:
                return None
        for corner, slope in slopes:
            r = sum(a * b for a, b in zip(corner[0], coef, strict=True)) - corner[1]
            if max(corner[2] * r, corner[3] * r) != slope * r:
                return None
        return self.value(coef)

    def source(self, parts):
        if parts == 1:
            return Memory(self.design, self.y, self.weight, self.offset)
        edges = np.linspace(0, len(self.y), parts + 1).astype(int)
        blocks = [
            Block(
                self.design.slice(int(a), int(b)),
                self.y[a:b],
                None if self.weight is None else self.weight[a:b],
                None if self.offset is None else self.offset[a:b],
            )
            for a, b in itertools.pairwise(edges)
        ]
        return Blocks(blocks)

    def away(self, coef, best):
        """Return F(coef) - F*."""
        return self.value([Fraction(float(v)) for v in coef[:, 0]]) - best


def sabotaged(rng, theta):
    """Yield dual points that no honest solver would hand over."""
    yield None
    yield np.zeros_like(theta)
    yield theta + 1e-6 * rng.normal(size=theta.shape)
    yield rng.normal(size=theta.shape) * 3
    yield np.full_like(theta, np.nan)
    yield theta[:-1]
    yield -theta


@pytest.mark.parametrize("number", range(120))
def test_gap_bounds_the_true_suboptimality(number):
    case = Case(number)
    result = fit(case.source(1 if number % 2 else 3), case.loss, case.penalty)
    assert result.verdict.kind in {"optimal", "budget"}, result.verdict.sentence
    best = case.optimum([float(v) for v in result.coef[:, 0]])
    if best is None:
        return  # counted below
    if result.verdict.gap is not None:
        assert 0 <= case.away(result.coef, best) <= Fraction(result.verdict.gap)
    theta = result.arrays.get("theta", np.zeros((len(case.y), 1)))
    problem = Problem.of(case.source(3), case.loss, case.penalty)
    for size in (0.0, 1e-9, 1e-3, 1.0):
        coef = result.coef + size * case.rng.normal(size=result.coef.shape) * (1.0 + np.abs(result.coef))
        away = case.away(coef, best)
        for bad in (theta, *sabotaged(case.rng, theta)):
            proof = prove(problem, coef, theta=bad)
            assert proof.gap is None or away <= Fraction(proof.gap), (size, proof)


def test_most_cases_have_an_exact_optimum_and_a_proof():
    """A certificate that always declined, or a reference that never answers, would obey the law above."""
    known = proven = zero = 0
    for number in range(120):
        case = Case(number)
        result = fit(case.source(1), case.loss, case.penalty)
        known += case.optimum([float(v) for v in result.coef[:, 0]]) is not None
        proven += result.verdict.kind == "optimal"
        problem = Problem.of(case.source(1), case.loss, case.penalty)
        zero += prove(problem, np.zeros_like(result.coef), theta=result.arrays.get("theta")).gap is not None
    assert known >= 100
    assert proven >= 117
    assert zero >= 110


@pytest.mark.parametrize("loss", CORNERED, ids=lambda loss: loss.name)
def test_interior_point_agrees_with_a_linear_program(loss):
    rng = np.random.default_rng(3)
    n, p = 60, 4
    design = as_design(rng.normal(size=(n, p)) * [1.0, 100.0, 0.01, 1.0])
    x = design.dense()
    y = x[:, 1:2] * 0.01 + rng.standard_t(2, size=(n, 1))
    y = (y > 0).astype(float) if loss.name == "hinge" else y
    weight = rng.uniform(0.5, 2.0, size=n)
    result = fit(Memory(design, y, weight), loss, NoPenalty(p + 1), tol=1e-8)
    assert result.verdict.kind == "optimal"
    assert result.solver == "interior-point"
    # eta - at = u - v, cost high u - low v
    blocks, costs, rights = [], [], []
    for at, low, high in loss.kinks(y):
        blocks.append(x)
        costs.append((weight * high[:, 0], -weight * low[:, 0]))
        rights.append(at[:, 0])
    rows = np.vstack(blocks)
    m = len(rows)
    found = optimize.linprog(
        np.concatenate([np.zeros(p + 1), *[c[0] for c in costs], *[c[1] for c in costs]]) / weight.sum(),
        A_eq=np.hstack([rows, -np.eye(m), np.eye(m)]),
        b_eq=np.concatenate(rights),
        bounds=[(None, None)] * (p + 1) + [(0, None)] * (2 * m),
    )
    assert result.objective == pytest.approx(found.fun, rel=1e-7)


@pytest.mark.parametrize("loss", [*CORNERED, Huber(0.5)], ids=lambda loss: loss.name)
@pytest.mark.parametrize("offset", [False, True])
def test_null_fit_is_the_best_constant(loss, offset):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, size=(21, 1)).astype(float) if loss.name == "hinge" else rng.standard_t(1, size=(21, 1)) * 9
    shift = rng.normal(size=(21, 1)) if offset else None
    weight = rng.choice([0.0, 1.0, 2.0], size=21)
    problem = Problem.of(Memory(as_design(rng.normal(size=(21, 2))), y, weight, shift), loss, NoPenalty(3))
    best = null(problem)

    def total(constant):
        return (
            float(weight @ loss.value(y, constant + (0.0 if shift is None else shift) + np.zeros((21, 1))))
            / weight.sum()
        )

    assert best.value == pytest.approx(total(best.coef[0, 0]))
    grid = np.linspace(-60, 60, 20001)
    assert best.value <= min(total(c) for c in grid[:: 1 + 20 * (loss.name == "huber")]) + 1e-9


@pytest.mark.parametrize(
    "loss",
    [Huber(0.3), SquaredHinge(), SquaredEpsilonInsensitive(0.3), Sparsemax(3), CrammerSinger(3), Hinge(), Absolute()],
    ids=lambda loss: loss.name,
)
@pytest.mark.parametrize("seed", range(6))
def test_rowwise_bound_holds_for_every_loss_with_a_border(loss, seed):
    """Against the best of many starts of scipy: not exact, but from outside."""
    rng = np.random.default_rng(seed)
    n, p = 14, 2
    x = rng.normal(size=(n, p))
    design = as_design(x)
    dense = design.dense()
    k = loss.outputs
    y = rng.normal(size=(n, 1)) if loss.name in {"huber", "absolute", "squared-epsilon-insensitive"} else None
    y = rng.integers(0, max(k, 2), size=(n, 1)).astype(float) if y is None else y
    weight = rng.choice([0.0, 1.0, 2.0], size=n)
    penalty = Ridge(0.1, np.array([0.0, 1.0, 1.0]))
    problem = Problem.of(Memory(design, y, weight), loss, penalty)

    def objective(flat):
        coef = flat.reshape(p + 1, k)
        return float(weight @ loss.value(y, dense @ coef)) / weight.sum() + penalty.value(coef)

    reference = min(
        optimize.minimize(objective, rng.normal(size=(p + 1) * k), method=method, options={"maxiter": 4000}).fun
        for method in ("BFGS", "Nelder-Mead", "Powell")
    )
    given = 0
    for size in (0.0, 0.1, 1.0):
        coef = size * rng.normal(size=(p + 1, k))
        for theta in (None, rng.normal(size=(n, k)), np.zeros((n, k))):
            found = bound(problem, coef, theta)
            given += found.gap is not None
            assert found.gap is None or found.gap >= objective(coef.ravel()) - reference
    assert given >= 3


def test_solvers_that_follow_slopes_decline_corners():
    case = Case(0)
    with pytest.raises(InputError, match=r"corners|kinks"):
        fit(case.source(1), case.loss, case.penalty, solver="newton")
    with pytest.raises(InputError, match="sum of corners"):
        fit(case.source(1), Huber(1.0), case.penalty, solver="interior-point")


def falls_for_ever(x, y):
    """Ask scipy's linear program for d with x'd <= 0 where y = 0, x'd = 0 where y > 0, not all zero."""
    zero = x[y[:, 0] == 0]
    found = optimize.linprog(
        zero.sum(axis=0),
        A_ub=zero,
        b_ub=np.zeros(len(zero)),
        A_eq=x[y[:, 0] > 0],
        b_eq=np.zeros(int(np.sum(y > 0))),
        bounds=(-1, 1),
    )
    return -found.fun > 1e-6


@pytest.mark.parametrize("seed", range(60))
def test_counts_without_a_finite_optimum_are_never_called_optimal(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 14)), int(rng.integers(1, 4))
    x = np.round(rng.normal(size=(n, p)))
    y = rng.poisson(0.4, size=(n, 1)).astype(float)
    design = as_design(x)
    result = fit(Memory(design, y), Poisson(), NoPenalty(p + 1))
    if falls_for_ever(design.dense(), y):
        assert result.verdict.kind == "at_infinity", result.verdict.sentence
        scores = design.dense() @ result.arrays["direction"]
        assert np.all(scores[y == 0] <= 0.0)
        assert np.all(scores[y > 0] == 0.0)
        assert np.any(scores < 0.0)
    else:
        assert result.verdict.kind in {"optimal", "not_unique"}, result.verdict.sentence


@pytest.mark.parametrize("loss", [SquaredHinge(), Hinge()], ids=lambda loss: loss.name)
def test_hinges_reach_zero_on_separable_rows(loss):
    """Unlike a likelihood they attain their infimum: beyond the margin nothing is left to gain."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(40, 3))
    y = (x @ [1.0, -2.0, 0.5] > 0).astype(float)[:, None]
    result = fit(Memory(as_design(x), y), loss, NoPenalty(4))
    assert result.verdict.kind == "optimal"
    assert result.objective <= 1e-6


@pytest.mark.parametrize("seed", range(90))
def test_gap_of_smooth_losses_bounds_the_true_suboptimality(seed):
    """Against fifty digits, like the law of the likelihoods: also for sabotaged coefficients, from three blocks."""
    rng = np.random.default_rng(seed)
    loss = [Poisson(), Huber(0.6), SquaredHinge()][seed % 3]
    n, p = int(rng.integers(4, 14)), int(rng.integers(1, 4))
    intercept = bool(rng.random() < 0.7)
    x = rng.normal(size=(n, p)) * rng.choice([1.0, 1e-3, 1e3], size=p)
    y = {
        "poisson": lambda: rng.poisson(1.0, size=(n, 1)).astype(float),
        "huber": lambda: rng.standard_t(2, size=(n, 1)) + (1e6 if seed % 4 == 0 else 0.0),
        "squared-hinge": lambda: rng.integers(0, 2, size=(n, 1)).astype(float),
    }[loss.name]()
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n) if rng.random() < 0.5 else None
    if weight is not None:
        weight[0] = 1.0
    offset = rng.normal(size=(n, 1)) if rng.random() < 0.3 else None
    design = as_design(x, intercept=intercept)
    charges = np.ones(design.shape[1])
    charges[: int(intercept)] = 0.0
    strength = float(rng.choice([0.0, 1e-6, 1e-2, 1.0]))
    penalty = Ridge(strength, charges) if strength else NoPenalty(len(charges))
    edges = np.linspace(0, n, 4).astype(int)
    source = Blocks(
        [
            Block(
                design.slice(int(a), int(b)),
                y[a:b],
                None if weight is None else weight[a:b],
                None if offset is None else offset[a:b],
            )
            for a, b in itertools.pairwise(edges)
        ]
    )
    result = fit(source, loss, penalty)
    assert result.verdict.kind in {"optimal", "at_infinity", "not_unique"}, result.verdict.sentence
    if result.verdict.kind == "at_infinity":
        assert loss.name == "poisson"
        return
    exact = Exact(loss, design.dense(), y, weight, offset, strength, charges)
    best = exact.optimum(result.coef)
    if best is None:
        assert loss.name != "poisson"  # a singular second derivative: flat in some direction
        return

    def away(coef):
        return float((exact.value([[ball(v) for v in row] for row in coef]) - best).mid())

    assert away(result.coef) <= result.verdict.gap
    problem = Problem.of(source, loss, penalty)
    for size in (1e-9, 1e-3, 1.0):
        coef = result.coef + size * rng.normal(size=result.coef.shape) * (1.0 + np.abs(result.coef))
        for polish in (0, 20):
            proof = prove(problem, coef, polish=polish)
            assert proof.gap is None or away(coef) <= proof.gap, (size, proof)


@pytest.mark.parametrize(
    ("loss", "heavy"),
    # hinge loss on columns with tails as heavy as Cauchy's can end in `budget`: README, limits
    [(loss, heavy) for loss in CORNERED for heavy in (False, True) if not (heavy and loss.name == "hinge")],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_long_tables_are_solved_by_the_rows_near_their_corners(loss, heavy):
    """The same optimum as by all rows at once; also where a few rows are far out, or weigh nothing."""
    rng = np.random.default_rng(8)
    n, p = 9000, 3
    x = rng.standard_cauchy(size=(n, p)) if heavy else rng.normal(size=(n, p))
    y = x[:, :1] + rng.standard_t(1 if heavy else 3, size=(n, 1))
    y = (y > 0.5).astype(float) if loss.name == "hinge" else y
    weight = rng.choice([0.0, 1.0, 2.0], size=n)
    design = as_design(x)
    blocks = [Block(design.slice(a, b), y[a:b], weight[a:b]) for a, b in ((0, 10), (10, 5000), (5000, n))]
    for penalty in (NoPenalty(p + 1), Ridge(0.01, np.array([0.0, 1.0, 1.0, 1.0]))):
        problem = Problem.of(Memory(design, y, weight), loss, penalty)
        assert row_screening.worthwhile(problem)
        short = fit(Blocks(blocks), loss, penalty, tol=1e-8)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(row_screening, "worthwhile", lambda _: False)
            whole = fit(Memory(design, y, weight), loss, penalty, tol=1e-8)
        assert short.verdict.kind == whole.verdict.kind == "optimal", (short.verdict.sentence, whole.verdict.sentence)
        assert any("near" in record.note for record in short.trace)
        assert abs(short.objective - whole.objective) <= short.verdict.gap + whole.verdict.gap + 1e-14


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), CrammerSinger(2), Sparsemax(2)], ids=lambda loss: loss.name)
def test_dual_ascent_takes_every_storage_and_hard_rows(loss):
    rng = np.random.default_rng(4)
    x = np.round(rng.normal(size=(50, 3)) * 2)
    x[0] = 0.0  # a row that says nothing
    y = (x[:, :1] + rng.normal(size=(50, 1)) > 0).astype(float)
    weight = rng.choice([0.0, 1.0, 3.0], size=50)
    bad = x.copy()
    bad[weight == 0.0] = 1e10
    codes = rng.integers(-1, 2, size=50).astype(np.int32)
    wide = np.hstack([x, (codes[:, None] == np.arange(2)).astype(float)])
    penalty = Ridge(0.1, np.array([0.0, 1.0, 2.0, 1.0, 1.0, 0.5]))
    reference = fit(Memory(as_design(wide), y, weight), loss, penalty, solver="dual-ascent", tol=1e-9)
    assert reference.verdict.kind == "optimal", reference.verdict.sentence
    readonly = bad.astype(np.float32)
    readonly.flags.writeable = False
    designs = [
        Stack([Ones(50), Dense(readonly), Categorical(codes, 2)]),
        Stack([Ones(50), Dense(np.asfortranarray(bad)), Categorical(codes, 2)]),
        as_design(sparse.csr_matrix(wide)),
        as_design(sparse.csc_matrix(wide.astype(np.float32))),
    ]
    for design in designs:
        other = fit(Memory(design, y, weight), loss, penalty, solver="dual-ascent", tol=1e-9)
        assert other.verdict.kind == "optimal"
        assert abs(other.objective - reference.objective) <= other.verdict.gap + reference.verdict.gap + 1e-14


def test_dual_ascent_declines_in_words():
    case = Case(3)
    for penalty, match in (
        (NoPenalty(case.x.shape[1]), "ridge"),
        (Ridge(1.0, np.zeros(case.x.shape[1])), "every column"),
    ):
        with pytest.raises(InputError, match=match):
            fit(case.source(1), Hinge(), penalty, solver="dual-ascent")
    with pytest.raises(InputError, match="closed step"):
        fit(case.source(1), Poisson(), Ridge(1.0, np.ones(case.x.shape[1])), solver="dual-ascent")


@pytest.mark.parametrize("loss", [Hinge(), CrammerSinger(3)])
def test_columns_far_from_zero_are_no_harder(loss):
    """A year is 2000 standard deviations from zero; where the intercept is free, that changes nothing but the intercept."""
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=(150, 4)), rng.integers(0, max(2, loss.outputs), 150).astype(float)
    x[:, 0] += y
    far = x + np.array([2e3, -5e2, 0.0, 1e4])
    charges = np.r_[0.0, np.ones(4)]
    found = [
        fit(Memory(as_design(part), y), loss, Ridge(0.01, charges), solver=DualAscent(), tol=1e-6) for part in (x, far)
    ]
    assert [result.verdict.kind for result in found] == ["optimal", "optimal"]
    np.testing.assert_allclose(found[1].objective, found[0].objective, rtol=1e-5)
