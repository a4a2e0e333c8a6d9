"""Laws of the solvers for kinks and bounds: one optimum, any partition and storage, weights as repeats, steps that may fail."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import optimize, sparse

from lineal import _core
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.losses import Logistic, Softmax, Sparsemax, Squared
from lineal.penalties import ALL, L1, Bounds, ElasticNet, Group, NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.solvers import Coordinate, GradientDescent, ProxGradient, ProxNewton, choose
from lineal.solvers import quadratic as quadratics
from lineal.solvers.quadratic import minimise
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Access, Block
from tests.laws.catalogue import minimised, targets

INF = np.inf
LOSSES = minimised(smooth=True)
SOLVERS = ["prox-newton", "prox-gradient", "coordinate", "quasi-newton"]


def data(loss, n=70, p=6, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) * np.linspace(0.5, 3.0, p) + np.linspace(0.0, 2.0, p)
    eta = (x - x.mean(axis=0)) @ rng.normal(size=(p, loss.outputs)) / 3.0
    y = targets(loss, eta, rng)
    return x, y, rng


def penalties(columns):
    penalty_factors = np.r_[0.0, np.ones(columns)]
    low, high = np.r_[-INF, np.zeros(columns)], np.full(columns + 1, INF)
    box = np.r_[-INF, np.full(columns, -0.1)], np.r_[INF, np.full(columns, 0.2)]
    return {
        **{kind.name: kind.example(penalty_factors).at(0.05) for kind in ALL if kind.parameters and not kind.smooth},
        "box": Bounds(*box, NoPenalty(columns + 1)),
        "non-negative l1": Bounds(low, high, L1(0.02, penalty_factors)),
        "box ridge": Bounds(*box, Ridge(0.1, penalty_factors)),
    }


def ids(value):
    return f"{value.name}{value.outputs}" if hasattr(value, "outputs") else str(value)


@pytest.mark.parametrize("kind", penalties(1))
@pytest.mark.parametrize("loss", LOSSES, ids=ids)
def test_all_solvers_reach_one_optimum(loss, kind):
    x, y, _ = data(loss)
    penalty = penalties(6)[kind]
    source = Memory(as_design(x), y)
    best = fit(source, loss, penalty, solver="prox-newton", tol=1e-9)
    assert best.verdict.kind == "optimal", best.verdict.sentence
    for solver in SOLVERS[1:]:
        if solver == "quasi-newton" and kind not in {"l1", "elastic"}:
            with pytest.raises(InputError, match="quasi-newton"):
                fit(source, loss, penalty, solver=solver)
            continue
        other = fit(source, loss, penalty, solver=solver)
        assert other.verdict.kind == "optimal", (solver, other.verdict.sentence)
        assert abs(other.objective - best.objective) <= other.verdict.gap + best.verdict.gap + 1e-14


@pytest.mark.parametrize("kind", ["l1", "box ridge"])
@pytest.mark.parametrize("loss", minimised(likelihood=True), ids=ids)
def test_the_optimum_is_the_one_scipy_finds(loss, kind):
    """L-BFGS-B on b = u - v, u, v >= 0 makes l1 smooth; bounds it has itself."""
    x, y, _ = data(loss)
    design, penalty = as_design(x), penalties(6)[kind]
    dense, shape = design.dense(), (7, loss.outputs)
    result = fit(Memory(design, y), loss, penalty, tol=1e-9)
    inner = getattr(penalty, "inner", penalty)
    linear = getattr(inner, "linear", np.zeros(7))[:, None]

    def objective(flat):
        up, down = flat[: flat.size // 2].reshape(shape), flat[flat.size // 2 :].reshape(shape)
        coef = up - down
        smooth = loss.slope(y, dense @ coef)
        gradient = dense.T @ smooth / len(y) + inner.curvature()[:, None] * coef
        square = 0.5 * float(np.sum(inner.curvature()[:, None] * coef**2))
        value = float(np.mean(loss.value(y, dense @ coef))) + float(np.sum(linear * (up + down))) + square
        return value, np.concatenate([(gradient + linear).ravel(), (linear - gradient).ravel()])

    high = np.repeat(getattr(penalty, "upper", np.full(7, INF)), loss.outputs)
    low = np.repeat(getattr(penalty, "lower", np.full(7, -INF)), loss.outputs)
    bounds = [(0.0, h if h < INF else None) for h in high] + [(0.0, -v if v > -INF else None) for v in low]
    found = optimize.minimize(
        objective,
        np.zeros(2 * 7 * loss.outputs),
        jac=True,
        bounds=bounds,
        options={"maxiter": 20000, "ftol": 1e-15, "gtol": 1e-10},
    )
    assert result.objective <= found.fun + 1e-9
    assert result.objective - result.verdict.gap <= found.fun + 1e-14  # both objectives are rounded doubles


@pytest.mark.parametrize("solver", ["prox-newton", "coordinate", "prox-gradient"])
@pytest.mark.parametrize("loss", minimised(likelihood=True), ids=ids)
def test_partitions_storages_and_weights(solver, loss):
    x, y, rng = data(loss)
    x = np.where(np.abs(x) < 0.7, 0.0, np.round(4 * x) / 4)
    weight = rng.choice([0.0, 1.0, 3.0], size=len(x))
    penalty = penalties(6)["l1"]
    plain = fit(Memory(as_design(x), y, weight), loss, penalty, tol=1e-8)
    times = weight.astype(int)
    repeated = Memory(as_design(np.repeat(x, times, axis=0)), np.repeat(y, times, axis=0))
    design = as_design(sparse.csr_matrix(x))
    parts = [Block(design.slice(a, b), y[a:b], weight[a:b]) for a, b in ((0, 1), (1, 30), (30, 30), (30, 70))]
    for source in (repeated, Blocks(parts), Memory(as_design(np.asfortranarray(x.astype(np.float32))), y, weight)):
        other = fit(source, loss, penalty, solver=solver)
        assert other.verdict.kind == "optimal", other.verdict.sentence
        assert abs(other.objective - plain.objective) <= other.verdict.gap + plain.verdict.gap + 1e-13


def test_n_below_p():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(12, 60)), rng.normal(size=(12, 1))
    penalty = L1(0.05, np.r_[0.0, np.ones(60)])
    results = [
        fit(Memory(as_design(x), y), Squared(1), penalty, solver=solver) for solver in ("prox-newton", "coordinate")
    ]
    assert all(result.verdict.kind == "optimal" for result in results)
    assert results[0].objective == pytest.approx(results[1].objective, rel=1e-6)
    assert np.count_nonzero(results[0].coef) <= 13


def test_one_row_and_a_column_of_zeros():
    x = np.array([[0.0, 2.0]])
    result = fit(Memory(as_design(x, intercept=False), np.array([[3.0]])), Squared(1), L1(0.5, np.ones(2)))
    assert result.verdict.kind == "optimal"
    np.testing.assert_allclose(result.coef[:, 0], [0.0, (3.0 - 0.25) / 2.0])


def test_one_class_has_no_finite_intercept():
    x = np.random.default_rng(0).normal(size=(20, 2))
    result = fit(Memory(as_design(x), np.ones((20, 1))), Logistic(), L1(0.1, np.r_[0.0, 1.0, 1.0]))
    assert result.verdict.kind == "at_infinity", result.verdict.sentence


@pytest.mark.parametrize("kind", [ProxGradient, GradientDescent])
def test_steps_too_small_just_right_too_large_and_decaying(kind):
    x, y, _ = data(Squared(1))
    penalty_factors = np.r_[0.0, np.ones(6)]
    penalty = L1(0.01, penalty_factors) if kind is ProxGradient else Ridge(0.01, penalty_factors)
    source = Memory(as_design(x), y)
    objectives = {}
    # the steps are those of scaled columns; a step of gradient descent is one of raw columns unless said
    kind = kind if kind is ProxGradient else functools.partial(GradientDescent, scaled=True)
    for word, solver in {"small": kind(1e-4), "right": kind(0.3), "decay": kind(0.6, decay=0.01)}.items():
        result = fit(source, Squared(1), penalty, solver=solver, max_iter=60)
        objectives[word] = result.objective
    best = fit(source, Squared(1), penalty, tol=1e-9).objective
    assert objectives["small"] - best > 100 * (objectives["right"] - best)
    assert objectives["decay"] - best < 0.1 * (objectives["small"] - best)
    large = fit(source, Squared(1), penalty, solver=kind(1e3), max_iter=2000)
    assert large.verdict.kind == "budget"
    assert len(large.trace) > 2
    first, *_, last = large.trace
    assert last.objective > first.objective


@pytest.mark.parametrize("kind", [ProxGradient, GradientDescent])
@pytest.mark.parametrize(
    "options", [{"step": 0.0}, {"step": -1.0}, {"step": np.nan}, {"decay": 0.1}, {"step": 1.0, "decay": -1.0}]
)
def test_steps_that_mean_nothing_are_refused(kind, options):
    with pytest.raises(InputError):
        kind(**options)


def test_choose_gives_reasons():
    rng = np.random.default_rng(0)

    def chosen(p, source=Memory, penalty=L1):
        x, y = rng.normal(size=(20, p)), rng.normal(size=(20, 1))
        problem = Problem.of(source(as_design(x), y), Squared(1), penalty(0.1, np.r_[0.0, np.ones(p)]))
        return choose(problem)

    class Stream(Memory):
        @property
        def offers(self):
            return Access.ITERATE

    assert isinstance(chosen(5)[0], ProxNewton)
    assert isinstance(chosen(500)[0], Coordinate)
    assert isinstance(chosen(500, Stream)[0], ProxNewton)
    assert isinstance(chosen(5000, Stream)[0], ProxGradient)
    assert "coefficients" in chosen(500)[1]
    assert "memory" in Coordinate().refuses(
        Problem.of(Stream(as_design(np.eye(3)), np.ones((3, 1))), Squared(1), L1(0.1, np.ones(4)))
    )


def quadratic(seed, size=8):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size + 2, size))
    return rng, root.T @ root / size, rng.normal(size=size)


@pytest.mark.parametrize("seed", range(10))
def test_sweeps_descend_to_the_conditions_of_optimality(seed):
    """The native sweeps, alone: gradient kept up to date, every coordinate at its own minimum."""
    rng, gram, right = quadratic(seed)
    penalty = Bounds(np.full(8, -0.3), np.full(8, 0.5), ElasticNet(0.2, 0.5, rng.uniform(0.0, 2.0, size=8)))
    coef = np.zeros(8)
    gradient = -right
    parts = (penalty.linear, penalty.curvature(), penalty.least, penalty.most)
    sweeps, fall = _core.sweep_gram(gram, coef, gradient, *parts, 1e-24, 100_000)
    assert sweeps < 100_000
    assert fall <= 1e-24
    np.testing.assert_allclose(gradient, gram @ coef - right, atol=1e-10)
    np.testing.assert_allclose(penalty.slack(coef[:, None], gradient[:, None]), 0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_points_of_a_path_reach_the_conditions_of_optimality(seed):
    rng, gram, right = quadratic(seed)
    penalty = Bounds(np.full(8, -0.3), np.full(8, 0.5), ElasticNet(1.0, 0.5, rng.uniform(0.1, 2.0, size=8)))
    strengths = np.geomspace(1.0, 0.01, 7)
    parts = (penalty.linear, penalty.curvature(), penalty.least, penalty.most)
    coef, gradient, found, done, calls = np.zeros(8), -right, np.zeros((7, 8)), 0, 0
    while done < 7:
        # a budget of a few sweeps only: it pauses and goes on
        done = _core.walk_gram(gram, -right, *parts, strengths, 10.0, 1e-12, 0.0, 40.0, coef, gradient, found, done)
        calls += 1
    assert calls > 1
    np.testing.assert_array_equal(coef, found[-1])
    for strength, point in zip(strengths, found, strict=True):
        slope = gram @ point - right
        np.testing.assert_allclose(penalty.at(strength).slack(point[:, None], slope[:, None]), 0.0, atol=1e-5)


@pytest.mark.parametrize("bound", [np.inf, 0.2])
@pytest.mark.parametrize("size", [1, 5, 40, 130])
@pytest.mark.parametrize("seed", range(4))
def test_walks_find_the_points_of_a_path(seed, size, bound):
    """Columns come and go, some twice, in two calls with different columns around those in use."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(size // 2 + 4, size)) + rng.normal(size=(size // 2 + 4, 1))
    if size > 4:
        x[:, 3] = x[:, 1]
    gram, right = x.T @ x / len(x), x.T @ rng.normal(size=len(x)) / len(x)
    penalty = Bounds(np.full(size, -bound), np.full(size, bound), L1(1.0, rng.uniform(0.5, 2.0, size=size)))
    strengths = np.geomspace(np.max(np.abs(right) / penalty.linear), 1e-3, 12)
    coef, points = np.zeros(size), []
    for part in (strengths[:7], strengths[7:]):
        some = np.flatnonzero((coef != 0.0) | (rng.random(size) < 0.9)) if part is strengths[:7] else np.arange(size)
        inner, few = np.ascontiguousarray(gram[np.ix_(some, some)]), penalty.take(some)
        parts = (few.linear, few.curvature(), few.least, few.most)
        z, gradient, found, done = coef[some], gram[some] @ coef - right[some], np.zeros((len(part), len(some))), 0
        for _ in range(10_000):
            done = _core.walk_gram(
                inner,
                -right[some],
                *parts,
                part,
                10.0,
                1e-13,
                0.0,
                1e4 * size**2,
                z,
                gradient,
                found,
                done,
            )
            if done == len(part):
                break
        assert done == len(part)
        for strength, point in zip(part, found, strict=True):
            slope = inner @ point - right[some]
            np.testing.assert_allclose(few.at(strength).slack(point[:, None], slope[:, None]), 0.0, atol=2e-6)
            points.append(point)
        coef = np.zeros(size)
        coef[some] = z
    assert np.count_nonzero(points[-1])


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_group_models_reach_the_conditions_of_optimality(seed, coupled):
    rng = np.random.default_rng(seed)
    p, k = 5, 3
    size = p * k if coupled else p
    root = rng.normal(size=(2 if coupled else k, size + 2, size))
    gram = np.einsum("bni,bnj->bij", root, root)[: 1 if coupled else k] / size
    penalty = Group(0.6, np.r_[0.0, rng.uniform(0.5, 2.0, size=p - 1)])
    coef, gradient = rng.normal(size=(p, k)), rng.normal(size=(p, k))
    found, fall = minimise(gram, penalty, coef, gradient, coupled=coupled, share=1e-16)
    move = (found - coef).T
    turn = (gram[0] @ move.ravel()).reshape(k, p) if coupled else np.einsum("aij,aj->ai", gram, move)
    np.testing.assert_allclose(penalty.slack(found, gradient + turn.T), 0.0, atol=1e-7)
    before, after = penalty.value(coef), penalty.value(found)
    assert fall == pytest.approx(
        before - after - float(np.sum(gradient.T * move) + 0.5 * np.sum(move * turn)), rel=1e-9
    )


def test_sweeps_refuse_what_does_not_fit():
    one, two = np.zeros(1), np.zeros(2)
    with pytest.raises(ValueError, match="gram"):
        _core.sweep_gram(np.eye(3), two, two.copy(), two, two, two, two, 0.0, 1)
    with pytest.raises(ValueError, match="linear"):
        _core.sweep_gram(np.eye(2), two, two.copy(), one, two, two, two, 0.0, 1)
    with pytest.raises(ValueError, match="gram"):
        _core.sweep_group(np.ones((2, 2, 2)), True, np.zeros((2, 2)), np.zeros((2, 2)), two, 0.0, 1)
    with pytest.raises(ValueError, match="found"):
        _core.walk_gram(np.eye(2), *[two] * 5, one, 1.0, 0.1, 0.0, 1.0, two.copy(), two.copy(), one, 0)
    with pytest.raises(ValueError, match="done"):
        _core.walk_gram(np.eye(2), *[two] * 5, one, 1.0, 0.1, 0.0, 1.0, two.copy(), two.copy(), two.copy(), 2)


@pytest.mark.parametrize("strength", [1e-8, 1e-5, 1e-2])
@pytest.mark.parametrize("loss", [Softmax(3), Sparsemax(3), Softmax(4)], ids=lambda loss: f"{loss.name}{loss.outputs}")
def test_what_classes_share_is_settled_at_once(loss, strength):
    """A weak l1 is all that holds the sum over classes; one coefficient at a time, it took thousands of passes."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(60, 4)) * [1e4, 1e-4, 1.0, 1.0]
    y = rng.integers(0, loss.outputs, size=(60, 1)).astype(float)
    result = fit(Memory(as_design(x), y), loss, L1(strength, np.r_[0.0, np.ones(4)]), solver="prox-newton")
    assert result.verdict.kind == "optimal", result.verdict.sentence
    assert len(result.trace) <= 60
    # shifting a column changes no difference between classes; the sum of sizes is least where a middle one is zero
    for row in result.coef[1:]:
        assert np.sum(np.abs(row)) <= min(np.sum(np.abs(row - value)) for value in row) * (1.0 + 1e-12)


def test_groups_of_columns_far_from_zero_take_few_newton_steps(monkeypatch):
    """A step that one column's way through zero cuts short was followed by thousands as short, of thirty halvings each."""
    faces = [0]

    def counted(*given, face=quadratics._face):
        faces[0] += 1
        return face(*given)

    monkeypatch.setattr(quadratics, "_face", counted)
    for seed in (6, 8, 11):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(12, 5)) + 1e4, rng.integers(0, 4, size=12).astype(float)
        y[:4] = range(4)
        found = fit(Memory(as_design(x, intercept=False), y), Sparsemax(4), Group(0.2, np.ones(5)))
        assert found.verdict.kind == "optimal"
        assert len(found.trace) <= 60
    assert faces[0] <= 1000
