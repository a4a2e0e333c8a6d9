"""The law of verdicts for penalties with kinks and bounds: the gap is never below the true suboptimality."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from flint import arb, arb_mat

from lineal.certify import prove
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.losses import Logistic, Softmax, Squared
from lineal.penalties import L1, Bounds, ElasticNet, Group, NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block
from tests.laws.exact import Exact, number

INF = np.inf


class Face(Exact):
    """A problem whose optimum is found exactly on the face where given coefficients lie, and checked by its conditions."""

    def __init__(self, loss, x, y, weight, offset, penalty):
        super().__init__(loss, x, y, weight, offset, 0.0, np.zeros(x.shape[1]))
        self.penalty = penalty
        self.group = penalty.name == "group"
        columns = x.shape[1]
        inner = getattr(penalty, "inner", penalty)
        self.linear = [number(v) for v in getattr(inner, "linear", np.zeros(columns))]
        self.square = [number(v) for v in inner.curvature()]
        self.low = getattr(penalty, "lower", np.full(columns, -INF))
        self.high = getattr(penalty, "upper", np.full(columns, INF))

    def value(self, b):
        total = sum((s * value for s, _, value, _, _ in self.rows(b)), arb(0)) / self.total
        for j in range(self.p):
            total += sum((self.square[j] * v * v / 2 for v in b[j]), arb(0))
            size = self.norm(b[j]) if self.group else sum((abs(v) for v in b[j]), arb(0))
            total += self.linear[j] * size
        return total

    @staticmethod
    def norm(row):
        return sum((v * v for v in row), arb(0)).sqrt()

    def derivatives(self, b):
        """Return gradient and hessian of the loss with the squares, as lists by (column, output)."""
        size = self.p * self.k
        gradient = [self.square[j] * b[j][k] for j in range(self.p) for k in range(self.k)]
        hessian = [[arb(0)] * size for _ in range(size)]
        for s, x, _, slope, curve in self.rows(b):
            for j, a in itertools.product(range(self.p), range(self.k)):
                gradient[j * self.k + a] += s * x[j] * slope[a] / self.total
                for i, c in itertools.product(range(self.p), range(self.k)):
                    hessian[j * self.k + a][i * self.k + c] += s * x[j] * x[i] * curve[a][c] / self.total
        for j, a in itertools.product(range(self.p), range(self.k)):
            hessian[j * self.k + a][j * self.k + a] += self.square[j]
        return gradient, hessian

    def face(self, start):
        """Return which coefficients are free there, and their signs."""
        free = np.ones_like(start, dtype=bool)
        for j in range(self.p):
            if float(self.linear[j].mid()) > 0.0:
                free[j] = np.any(start[j] != 0.0) if self.group else start[j] != 0.0
            free[j] &= (start[j] > self.low[j]) & (start[j] < self.high[j])
        return free, np.sign(start)

    def optimum(self, start, rounds=80):
        free, sign = self.face(start)
        b = [[number(v) for v in row] for row in start]
        on = [(j, a) for j in range(self.p) for a in range(self.k) if free[j, a]]
        for _ in range(rounds if on else 0):
            gradient, hessian = self.derivatives(b)
            right, matrix = [], [[hessian[j * self.k + a][i * self.k + c] for i, c in on] for j, a in on]
            for row, (j, a) in enumerate(on):
                extra = self.linear[j] * int(sign[j, a])
                if self.group and float(self.linear[j].mid()) > 0.0:
                    extra = self.linear[j] * b[j][a] / self.norm(b[j])
                    for column, (i, c) in enumerate(on):
                        if i == j:
                            bend = int(a == c) / self.norm(b[j]) - b[j][a] * b[j][c] / self.norm(b[j]) ** 3
                            matrix[row][column] += self.linear[j] * bend
                elif self.loss.coupled and np.all(free[j]) and float((self.linear[j] + self.square[j]).mid()) == 0.0:
                    for column, (i, _) in enumerate(on):
                        matrix[row][column] += arb(1) / self.k * int(i == j)
                right.append([gradient[j * self.k + a] + extra])
            try:
                step = arb_mat(matrix).solve(arb_mat(right))
            except ZeroDivisionError:
                return None
            for row, (j, a) in enumerate(on):
                b[j][a] = (b[j][a] - step[row, 0]).mid()
            if max(abs(float(step[row, 0].mid())) for row in range(len(on))) < 1e-60:
                break
        else:
            if on:
                return None
        return self.value(b) if self.settled(b, free, sign) else None

    def settled(self, b, free, sign):
        """Check the conditions of optimality off the face, and that the face was kept."""
        gradient, _ = self.derivatives(b)
        slack = 1e-40
        for j in range(self.p):
            rate = float(self.linear[j].mid())
            g = [float(gradient[j * self.k + a].mid()) for a in range(self.k)]
            if self.group:
                if (
                    rate > 0.0
                    and not free[j].any()
                    and float(self.norm([arb(v) for v in g]).mid()) > rate * (1 + 1e-14)
                ):
                    return False
                continue
            for a in range(self.k):
                value = float(b[j][a].mid())
                if free[j, a]:
                    kept = rate == 0.0 or value * sign[j, a] > 0.0
                    if not (kept and self.low[j] < value < self.high[j]):
                        return False
                    continue
                least = rate if value > 0.0 else -rate
                most = -rate if value < 0.0 else rate
                least = -INF if value == self.low[j] else least
                most = INF if value == self.high[j] else most
                if not least * (1 + 1e-14) - slack <= -g[a] <= most * (1 + 1e-14) + slack:
                    return False
        return True


def penalty_of(kind, strength, penalty_factors):
    columns, least = len(penalty_factors), np.where(penalty_factors > 0.0, 0.0, -INF)
    box = np.where(penalty_factors > 0.0, -0.2, -INF), np.where(penalty_factors > 0.0, 0.3, INF)
    return {
        "l1": lambda: L1(strength, penalty_factors),
        "elastic": lambda: ElasticNet(strength, 0.4, penalty_factors),
        "group": lambda: Group(strength, penalty_factors),
        "non-negative": lambda: Bounds(least, np.full(columns, INF), NoPenalty(columns)),
        "non-negative l1": lambda: Bounds(least, np.full(columns, INF), L1(strength, penalty_factors)),
        "box": lambda: Bounds(*box, NoPenalty(columns)),
        "box ridge": lambda: Bounds(*box, Ridge(strength, penalty_factors)),
    }[kind]()


KINDS = ["l1", "elastic", "group", "non-negative", "non-negative l1", "box", "box ridge"]
LOSSES = [Squared(1), Logistic(), Squared(2), Softmax(3)]


class Case:
    """A random small problem; its number decides the penalty, the loss and the traps."""

    def __init__(self, number_of_case):
        rng = self.rng = np.random.default_rng(number_of_case)
        kind = KINDS[number_of_case % len(KINDS)]
        self.loss = LOSSES[number_of_case // len(KINDS) % len(LOSSES)]
        n, p, k = int(rng.integers(4, 14)), int(rng.integers(1, 5)), self.loss.outputs
        self.intercept = bool(rng.random() < 0.7)
        x = rng.normal(size=(n, p)) * rng.choice([1.0, 1e-2, 1e2, 1.0], size=p) + rng.choice([0.0, 0.0, 10.0], size=p)
        self.y = {
            "squared": lambda: rng.normal(size=(n, k)) + rng.choice([0.0, 1e4]),
            "logistic": lambda: np.r_[0.0, 1.0, rng.choice([0.0, 1.0], size=n - 2)][:, None],
            "softmax": lambda: np.r_[0.0, 1.0, 2.0, rng.integers(0, k, size=n - 3)][:, None].astype(float),
        }[self.loss.name]()
        self.weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n) if rng.random() < 0.5 else None
        if self.weight is not None:
            self.weight[:3] = 1.0
        self.offset = rng.normal(size=(n, k)) if rng.random() < 0.3 else None
        self.design = as_design(x, intercept=self.intercept)
        self.x = self.design.dense()
        penalty_factors = rng.choice([0.5, 1.0, 2.0], size=self.x.shape[1])
        penalty_factors[: int(self.intercept)] = 0.0
        self.kind = kind
        self.penalty = penalty_of(kind, float(rng.choice([1e-3, 1e-2, 0.1, 0.5])), penalty_factors)

    def source(self, parts):
        edges = np.linspace(0, len(self.y), parts + 1).astype(int)
        return Blocks(
            [
                Block(
                    self.design.slice(int(a), int(b)),
                    self.y[a:b],
                    None if self.weight is None else self.weight[a:b],
                    None if self.offset is None else self.offset[a:b],
                )
                for a, b in itertools.pairwise(edges)
            ]
        )

    def exact(self):
        return Face(self.loss, self.x, self.y, self.weight, self.offset, self.penalty)


def check(case, proof_gap, exact, coef, best):
    true = exact.value([[number(v) for v in row] for row in coef]) - best
    return float(true.mid()) <= proof_gap


def falls_for_ever(case, result):
    """Check a direction that the bounds allow, along which F falls farther the farther one goes, in fifty digits."""
    exact, start = case.exact(), case.penalty.prox(result.coef, np.zeros(len(result.coef)))
    d = np.zeros_like(start)
    names = [f"x{j}" for j in range(len(start) - case.intercept)]
    rows = ["(intercept)", *names] if case.intercept else names
    for name, size in result.verdict.evidence["direction"].items():
        column, _, output = name.partition(" / ")
        d[rows.index(column), int(output or 0)] = size
    assert np.any(d)
    assert np.all(d[case.penalty.lower == 0.0] >= 0.0)
    d /= np.max(np.abs(d))
    values = [exact.value([[number(v) for v in row] for row in start + t * d]) for t in (0.0, 1.0, 32.0, 1024.0)]
    assert all(float((a - b).mid()) >= 0.0 for a, b in itertools.pairwise(values))
    assert float((values[0] - values[-1]).mid()) > 0.0


COUNT = 168


@pytest.mark.slow
@pytest.mark.parametrize("number_of_case", range(COUNT))
def test_gap_bounds_the_true_suboptimality(number_of_case):
    case = Case(number_of_case)
    result = fit(case.source(1 + 2 * (number_of_case % 2)), case.loss, case.penalty, tol=1e-8)
    verdict = result.verdict
    if case.kind == "non-negative" and case.loss.unbounded:
        # Columns that only have a sign may separate the classes; then there is nothing to find.
        assert verdict.kind in {"optimal", "budget", "at_infinity"}
    else:
        assert verdict.kind == "optimal", verdict.sentence
    if verdict.kind == "at_infinity":
        falls_for_ever(case, result)
    if verdict.kind in {"budget", "at_infinity"}:
        return
    exact = case.exact()
    best = exact.optimum(result.coef)
    if best is None:
        return  # the face was not met exactly; test_most_faces_are_met counts these
    assert check(case, verdict.gap, exact, result.coef, best), verdict.sentence
    problem = Problem.of(case.source(3), case.loss, case.penalty)
    for size in (1e-9, 1e-4, 0.1, 3.0):
        noise = size * case.rng.normal(size=result.coef.shape) * case.rng.choice([0.0, 1.0], size=result.coef.shape)
        coef = case.penalty.prox(result.coef + noise * (1.0 + np.abs(result.coef)), np.zeros(len(result.coef)))
        proof = prove(problem, coef, polish=30)
        if proof.gap is not None:
            assert check(case, proof.gap, exact, coef, best), (size, proof)
        else:
            assert proof.reason


def test_most_faces_are_met():
    """The law above says nothing where the exact optimum was not found; that must be rare."""
    asked, met = range(0, COUNT, 5), []
    for number_of_case in asked:
        case = Case(number_of_case)
        result = fit(case.source(1), case.loss, case.penalty, tol=1e-8)
        if result.verdict.kind == "optimal":
            met.append(case.exact().optimum(result.coef) is not None)
    assert sum(met) >= 0.9 * len(met)
    assert sum(met) >= 0.6 * len(asked)


def test_most_sabotaged_coefficients_get_a_gap():
    """A certificate that always declined would obey the law; it must not."""
    asked = given = 0
    for seed in range(KINDS.index("non-negative"), 84):
        case = Case(seed)
        if case.kind == "non-negative":
            continue
        problem = Problem.of(case.source(1), case.loss, case.penalty)
        for size in (0.01, 1.0):
            asked += 1
            coef = case.penalty.prox(size * case.rng.normal(size=problem.shape), np.zeros(problem.shape[0]))
            given += prove(problem, coef, polish=30).gap is not None
    assert given >= 0.9 * asked


def test_outside_the_bounds_nothing_is_proven():
    case = Case(KINDS.index("box"))
    problem = Problem.of(case.source(1), case.loss, case.penalty)
    proof = prove(problem, np.full(problem.shape, 5.0))
    assert proof.gap is None
    assert "bounds" in proof.reason


def test_contradictory_bounds_are_infeasible_with_multipliers():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 2)), rng.normal(size=(20, 1))
    bounds = Bounds(np.array([-INF, 0.0, 2.0]), np.array([INF, 1.0, 1.0]), NoPenalty(3))
    result = fit(Memory(as_design(x), y, columns=("(intercept)", "age", "size")), Squared(1), bounds)
    assert result.verdict.kind == "infeasible"
    assert result.verdict.exit_code == 3
    assert "size" in result.verdict.sentence
    [clash] = result.verdict.evidence["clashes"]
    low, high = clash["multipliers"]
    # b >= lower times one, b <= upper times the other: 0 >= lower - upper, which is false
    assert low == high
    assert low * clash["lower"] - high * clash["upper"] > 0.0


def test_fixed_coefficients_are_an_offset():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 3))
    y = (x[:, :1] + rng.logistic(size=(60, 1)) > 0).astype(float)
    low, high = np.array([-INF, -INF, 0.7, -INF]), np.array([INF, INF, 0.7, INF])
    fixed = fit(Memory(as_design(x), y), Logistic(), Bounds(low, high, NoPenalty(4)), tol=1e-12)
    plain = fit(Memory(as_design(x[:, [0, 2]]), y, None, 0.7 * x[:, 1:2]), Logistic(), NoPenalty(3), tol=1e-12)
    assert fixed.verdict.kind == "optimal"
    assert fixed.coef[2, 0] == 0.7
    np.testing.assert_allclose(fixed.coef[[0, 1, 3]], plain.coef, atol=1e-6)


def test_a_lasso_with_twin_columns_claims_no_uniqueness():
    """The optimum of a lasso is a whole edge here; the verdict says optimal and nothing about other coefficients."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(40, 2))
    x = np.column_stack([x, x[:, 0]])
    y = x[:, :1] + 0.1 * rng.normal(size=(40, 1))
    result = fit(Memory(as_design(x), y), Squared(1), L1(0.1, np.r_[0.0, np.ones(3)]))
    assert result.verdict.kind == "optimal"
    assert "unique" not in result.verdict.sentence
    assert "radius" not in result.verdict.evidence


def test_dependent_unpenalized_columns_beside_a_lasso_are_named():
    rng = np.random.default_rng(3)
    x = np.round(2.0**20 * rng.normal(size=(50, 4))) / 2.0**20  # so that the sum is exact
    x[:, 1] = 2.0 * x[:, 0] + 1.0
    y = x[:, :1] + x[:, 2:3] + rng.normal(size=(50, 1))
    names = ("(intercept)", "a", "b", "c", "d")
    penalty = L1(0.1, np.array([0.0, 0.0, 0.0, 1.0, 1.0]))
    result = fit(Memory(as_design(x), y, columns=names), Squared(1), penalty)
    assert result.verdict.kind == "not_unique", result.verdict.sentence
    [dependency] = result.verdict.evidence["dependencies"]
    assert set(dependency) == {"(intercept)", "a", "b"}


@pytest.mark.parametrize("solver", ["direct", "newton", "newton-cg", "gradient-descent"])
def test_solvers_that_need_a_gradient_decline_in_words(solver):
    x, y = np.eye(3), np.arange(3.0)[:, None]
    with pytest.raises(InputError, match=r"l1 penalty|smooth"):
        fit(Memory(as_design(x), y), Squared(1), L1(0.1, np.r_[0.0, np.ones(3)]), solver=solver)
