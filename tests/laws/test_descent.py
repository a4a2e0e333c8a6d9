"""Descent as textbooks write it: every iterate is that of a few lines of numpy, from zero, in the columns as they are."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import lineal
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.losses import Huber, Logistic, Poisson, Softmax, Squared, SquaredHinge
from lineal.model import trace
from lineal.penalties import NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.solvers import ConjugateGradient, GradientDescent
from lineal.solvers.stable_step import curvature_above, curvature_above_by_row
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block

ROWS = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0], [5.0, 7.0], [7.0, 5.0]])
CLASSES = np.array([0.0, 1.0, 0.0, 0.0, 1.0, 1.0])
STRENGTH = 0.5
ROUNDING = 1e-14
"""A few units in the last place of numbers around one, as sums of six terms in another order have."""


def by_hand(steps, rows=None, start=(0.0, 0.0, 0.0)):
    """The iteration of the notes: mean logistic loss plus lambda/2 |w|^2, the intercept a column of ones, not charged."""
    x, w, visited = np.column_stack([np.ones(6), ROWS]), np.array(start), []
    for k in range(len(steps) + 1):
        z, shrunk = x @ w, STRENGTH * np.r_[0.0, w[1:]]
        residual = 1.0 / (1.0 + np.exp(-z)) - CLASSES
        gradient = x.T @ residual / 6.0 + shrunk
        objective = np.mean(np.log1p(np.exp(z)) - CLASSES * z) + STRENGTH / 2.0 * w[1:] @ w[1:]
        visited.append((w, objective, np.linalg.norm(gradient)))
        if k < len(steps):
            picked = None if rows is None else [row - 1 for row in rows[k]]
            w = w - steps[k] * (gradient if rows is None else x[picked].T @ residual[picked] / len(picked) + shrunk)
    return visited


def six(solver, steps, **options):
    source = Memory(as_design(ROWS), CLASSES[:, None])
    return fit(source, Logistic(), Ridge(STRENGTH, np.array([0.0, 1.0, 1.0])), solver=solver, max_iter=steps, **options)


def same(result, visited):
    assert len(result.trace) == len(result.trace.iterates) == len(visited)
    for record, coef, (w, objective, norm) in zip(result.trace, result.trace.iterates, visited, strict=True):
        np.testing.assert_allclose(coef[:, 0], w, rtol=ROUNDING, atol=ROUNDING)
        assert record.objective == pytest.approx(objective, rel=ROUNDING)
        assert record.gradient == pytest.approx(norm, rel=1e-12)
    np.testing.assert_array_equal(result.coef, result.trace.iterates[-1])
    assert result.objective == pytest.approx(visited[-1][1], rel=ROUNDING)


def test_the_first_step_is_that_of_pen_and_paper():
    """At zero every probability is a half: w1 = 0.1 mean (y - 1/2) (1, x), in fractions."""
    by_column = zip(*[(1, *map(int, row)) for row in ROWS], strict=True)
    signs = [Fraction(int(2 * y - 1), 2) for y in CLASSES]
    exact = [Fraction(1, 10) * sum(s * x for s, x in zip(signs, column, strict=True)) / 6 for column in by_column]
    assert exact == [Fraction(0), Fraction(1, 20), Fraction(1, 30)]
    result = six(GradientDescent(step=0.1), 1)
    np.testing.assert_allclose(result.coef[:, 0], [float(value) for value in exact], rtol=1e-15, atol=1e-17)
    assert result.trace.records[0].objective == pytest.approx(np.log(2.0), rel=1e-15)


@pytest.mark.parametrize(
    ("solver", "sizes"),
    [
        (GradientDescent(step=0.1), [0.1] * 75),
        (GradientDescent(step=2.0), [2.0] * 10),
        (GradientDescent(step=0.5, decay=1.0), [0.5 / (1 + k) for k in range(20)]),
        (GradientDescent(step=0.5, decay=0.25, power=0.5), [0.5 / np.sqrt(1 + 0.25 * k) for k in range(20)]),
        (GradientDescent(step=(0.4, 0.2, 0.1)), [0.4, 0.2] + [0.1] * 8),
    ],
    ids=["fixed", "too long", "decaying", "by a root", "listed"],
)
def test_every_iterate_is_that_of_the_notes(solver, sizes):
    result = six(solver, len(sizes))
    if solver.step == 2.0:  # errors grow with the iterates, which jump about
        far = by_hand(sizes)
        np.testing.assert_allclose(result.coef[:, 0], far[-1][0], rtol=1e-11)
    else:
        same(result, by_hand(sizes))
        assert result.verdict.kind == "budget"
        assert f"limit of {len(sizes)} iterations" in result.verdict.sentence
        assert result.verdict.gap >= result.objective - six("newton", None).objective


@pytest.mark.parametrize("batch", [1, 2, 4])
@pytest.mark.parametrize("order", ["drawn", "shuffled", "given"])
def test_every_pick_of_stochastic_descent_is_recorded_and_followed(batch, order):
    result = six(GradientDescent(step=0.05, decay=0.1, batch=batch, order=order), 30)
    rows = [record.rows for record in result.trace][1:]
    assert all(1 <= row <= 6 for picked in rows for row in picked)
    epoch = rows[: -(-6 // batch)]
    if order == "drawn":
        assert {len(picked) for picked in rows} == {batch}
        assert len({row for picked in rows for row in picked}) == 6
        counts = np.bincount(np.concatenate(list(rows)))[1:]
        assert len(set(counts.tolist())) > 1, "with replacement some rows come more often"
    else:
        assert sorted(row for picked in epoch for row in picked) == [1, 2, 3, 4, 5, 6]
        assert ([row for picked in epoch for row in picked] == [1, 2, 3, 4, 5, 6]) == (order == "given")
    same(result, by_hand([0.05 / (1 + 0.1 * k) for k in range(30)], rows))


def test_seeds_pick_other_rows_and_the_same_seed_the_same():
    one, again, other = (six(GradientDescent(step=0.1, batch=1, seed=seed), 12) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.coef, again.coef)
    assert [record.rows for record in one.trace] != [record.rows for record in other.trace]


def test_a_start_is_where_steps_begin():
    start = (0.5, -1.0, 2.0)
    result = six(GradientDescent(step=0.1), 5, start=np.array(start)[:, None])
    same(result, by_hand([0.1] * 5, start=start))


def test_weights_offsets_and_classes_take_part():
    """F = (1/S) sum s_i loss; one softmax step of numpy after another, rows picked or all of them."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(20, 2)) + 1.0, rng.integers(0, 3, size=20)
    weight, offset = rng.integers(0, 4, size=20).astype(float), rng.normal(size=(20, 3))
    design = np.column_stack([np.ones(20), x])
    source = Memory(as_design(x), y[:, None].astype(float), weight, offset)
    penalty = Ridge(0.3, np.array([0.0, 1.0, 1.0]))
    for solver in (GradientDescent(step=0.2), GradientDescent(step=0.2, batch=3)):
        result = fit(source, Softmax(3), penalty, solver=solver, max_iter=15)
        w = np.zeros((3, 3))
        for record in result.trace.records[1:]:
            scores = np.exp(design @ w + offset)
            slope = weight[:, None] * (scores / scores.sum(axis=1, keepdims=True) - np.eye(3)[y])
            picked = [row - 1 for row in record.rows] or list(range(20))
            assert not record.rows or all(weight[picked] > 0.0)
            share = np.count_nonzero(weight) / weight.sum() / len(picked) if record.rows else 1.0 / weight.sum()
            w = w - 0.2 * (share * design[picked].T @ slope[picked] + 0.3 * np.array([[0.0], [1.0], [1.0]]) * w)
        np.testing.assert_allclose(result.coef, w, rtol=1e-12, atol=1e-13)


def test_rows_in_blocks_or_sparse_are_picked_alike():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(30, 3)), rng.normal(size=(30, 1))
    design, penalty = as_design(x), Ridge(0.1, np.array([0.0, 1.0, 1.0, 1.0]))
    parts = [Block(design.slice(a, b), y[a:b]) for a, b in ((0, 1), (1, 17), (17, 17), (17, 30))]
    for solver in (GradientDescent(step=0.1, batch=4), GradientDescent(step=0.1, batch=7, order="shuffled")):
        whole, blocks, sparse = (
            fit(source, Squared(1), penalty, solver=solver, max_iter=25)
            for source in (Memory(design, y), Blocks(parts), Memory(as_design(csr_matrix(x)), y))
        )
        assert [record.rows for record in whole.trace] == [record.rows for record in blocks.trace]
        np.testing.assert_allclose(blocks.coef, whole.coef, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(sparse.coef, whole.coef, rtol=1e-12, atol=1e-14)


def test_as_many_steps_as_asked_for_though_the_optimum_is_proven_or_at_infinity():
    done = six(GradientDescent(step=0.15), 2000)
    assert (done.verdict.kind, len(done.trace)) == ("optimal", 2001)
    separable = Memory(as_design(ROWS[:, :1]), (ROWS[:, :1] > 3.5).astype(float))
    away = fit(separable, Logistic(), NoPenalty(2), solver=GradientDescent(step=0.1), max_iter=200)
    assert (away.verdict.kind, len(away.trace)) == ("at_infinity", 201)


def test_without_a_limit_the_stop_rule_ends_it():
    result = six(GradientDescent(step=0.15), None)
    assert result.verdict.kind == "optimal"
    assert len(result.trace) < 2000


def test_a_table_with_nothing_to_learn_keeps_its_iterate():
    """The null fit is proven optimal here; who asked for two steps gets two steps."""
    x = np.array([[1.0], [1.0], [2.0], [2.0]])
    y = np.array([[0.0], [1.0], [0.0], [1.0]])
    result = fit(
        Memory(as_design(x), y),
        Squared(1),
        Ridge(1.0, np.array([0.0, 1.0])),
        solver=GradientDescent(step=0.1),
        max_iter=2,
    )
    w, design = np.zeros(2), np.column_stack([np.ones(4), x])
    for _ in range(2):
        w = w - 0.1 * (design.T @ (design @ w - y[:, 0]) / 4 + np.array([0.0, w[1]]))
    np.testing.assert_allclose(result.coef[:, 0], w, rtol=1e-14)
    assert result.verdict.kind == "budget"


def textbook_cg(matrix, right, steps):
    """Hestenes and Stiefel, from zero."""
    w = np.zeros(len(right))
    residual = right.copy()
    direction, visited = residual.copy(), [w]
    for _ in range(steps):
        length = residual @ residual / (direction @ matrix @ direction)
        w, before = w + length * direction, residual
        residual = residual - length * matrix @ direction
        direction = residual + residual @ residual / (before @ before) * direction
        visited.append(w)
    return visited


def test_conjugate_gradient_of_a_quadratic_is_the_linear_one():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(50, 5)) * [1.0, 2.0, 0.5, 1.0, 3.0] + 1.0, rng.normal(size=(50, 1))
    factors = np.r_[0.0, np.ones(5)]
    design = np.column_stack([np.ones(50), x])
    matrix, right = design.T @ design / 50 + 0.1 * np.diag(factors), design.T @ y[:, 0] / 50
    source = Memory(as_design(x), y)
    result = fit(source, Squared(1), Ridge(0.1, factors), solver=ConjugateGradient(scaled=False), max_iter=6)
    visited = textbook_cg(matrix, right, 6)
    for coef, w in zip(result.trace.iterates, visited, strict=True):
        np.testing.assert_allclose(coef[:, 0], w, rtol=1e-9, atol=1e-11)
    assert result.verdict.kind == "optimal", "six columns, six steps"
    np.testing.assert_allclose(result.coef[:, 0], np.linalg.solve(matrix, right), rtol=1e-8)
    short = fit(source, Squared(1), Ridge(0.1, factors), solver=ConjugateGradient(scaled=False), max_iter=4)
    assert short.verdict.kind == "budget"


def test_conjugate_gradient_of_other_losses_follows_polak_and_ribiere():
    result = six(ConjugateGradient(scaled=False), 6)
    x = np.column_stack([np.ones(6), ROWS])

    def gradient(w):
        return x.T @ (1.0 / (1.0 + np.exp(-x @ w)) - CLASSES) / 6.0 + STRENGTH * np.r_[0.0, w[1:]]

    visited = [coef[:, 0] for coef in result.trace.iterates]
    direction = -gradient(visited[0])
    for before, after in itertools.pairwise(visited):
        moved = after - before
        np.testing.assert_allclose(moved / np.linalg.norm(moved), direction / np.linalg.norm(direction), atol=1e-7)
        old, new = gradient(before), gradient(after)
        assert abs(new @ direction) <= 0.1 * abs(old @ direction)
        direction = -new + max(0.0, new @ (new - old) / (old @ old)) * direction
    assert result.objective < six(GradientDescent(step=0.1), 6).objective


LOSSES = [Squared(1), Logistic(), Huber(0.7), SquaredHinge(), Softmax(3)]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_bound_on_the_curvature_holds_everywhere(loss):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(40, 3)) * [1.0, 100.0, 0.01] + [0.0, 50.0, 1.0]
    y = rng.integers(0, 2 + int(loss.outputs > 2), size=(40, 1)).astype(float)
    weight = rng.uniform(0.0, 3.0, size=40)
    penalty = Ridge(0.2, np.array([0.0, 1.0, 1.0, 5.0]))
    problem = Problem.of(Memory(as_design(x), y, weight), loss, penalty)
    bound = curvature_above(problem)
    design, largest = np.column_stack([np.ones(40), x]), 0.0
    for scale in (0.0, 0.01, 1.0, 30.0):
        coef = scale * rng.normal(size=problem.shape) / np.array([[1.0], [1.0], [100.0], [0.01]])
        bend = loss.curvature(y, design @ coef)
        bend = bend if bend.ndim == 3 else bend[:, :, None]
        hessian = np.einsum("n,nab,ni,nj->aibj", weight / weight.sum(), bend, design, design)
        size = hessian.shape[0] * 4
        whole = hessian.reshape(size, size) + np.diag(np.tile(0.2 * np.array([0.0, 1.0, 1.0, 5.0]), hessian.shape[0]))
        largest = max(largest, float(np.linalg.eigvalsh(whole)[-1]))
    assert largest <= bound <= 2.5 * largest + 0.1, "a bound, and not a far one where curvatures come near theirs"
    by_row = curvature_above_by_row(problem)
    rows = loss.curvature_bound * 40 * weight / weight.sum() * np.sum(design**2, axis=1)
    assert by_row == pytest.approx(np.max(rows) + 1.0, rel=1e-9)


def test_divergence_is_called_so_with_a_step_that_is_stable():
    """A quadratic diverges above 2/L and falls in every step below: the sentence names that step."""
    y = CLASSES[:, None]
    penalty = Ridge(STRENGTH, np.array([0.0, 1.0, 1.0]))
    design = np.column_stack([np.ones(6), ROWS])
    top = np.linalg.eigvalsh(design.T @ design / 6 + STRENGTH * np.diag([0.0, 1.0, 1.0]))[-1]
    far = fit(Memory(as_design(ROWS), y), Squared(1), penalty, solver=GradientDescent(step=2.05 / top), max_iter=200)
    assert far.verdict.kind == "budget"
    assert far.verdict.gap >= far.objective - fit(Memory(as_design(ROWS), y), Squared(1), penalty).objective
    assert "the steps diverged: the objective rose from 0.25 to" in far.verdict.sentence
    stable = float(far.verdict.sentence.split("every step below ")[1].split(" ")[0])
    assert 0.999 * 2.0 / top <= stable <= 2.0 / top
    near = fit(
        Memory(as_design(ROWS), y), Squared(1), penalty, solver=GradientDescent(step=0.999 * stable), max_iter=200
    )
    values = near.trace.column("objective")
    assert all(after <= before for before, after in itertools.pairwise(values))
    assert "diverged" not in near.verdict.sentence


def test_steps_that_overflow_a_loss_that_bends_and_picks_are_said_to_diverge():
    beyond = fit(Memory(as_design(ROWS), CLASSES[:, None]), Squared(1), NoPenalty(3), solver=GradientDescent(step=50.0))
    assert "the objective rose from 0.25 beyond all numbers; every step below 0.0" in beyond.verdict.sentence
    jumping = six(GradientDescent(step=(0.6, 0.6, 0.1)), 12)
    assert "the steps are too long: the objective rose in " in jumping.verdict.sentence
    picked = six(GradientDescent(step=5.0, batch=1), 11)
    assert "is proven to lower the loss of its rows" in picked.verdict.sentence
    counts = Memory(as_design(ROWS), np.arange(6.0)[:, None])
    poisson = fit(counts, Poisson(), NoPenalty(3), solver=GradientDescent(step=0.5), max_iter=3)
    assert "the poisson loss bends without limit, so no length is proven stable" in poisson.verdict.sentence


def test_estimators_take_the_same_steps():
    visited = by_hand([0.1] * 75)
    model = lineal.LogisticRegression(C=1.0 / (6 * STRENGTH), solver="gradient-descent:step=0.1", max_iter=75)
    model.fit(ROWS, CLASSES.astype(int))
    np.testing.assert_allclose(np.r_[model.intercept_, model.coef_[0]], visited[-1][0], rtol=1e-13)
    assert model.n_iter_ == [75]
    assert model.trace_.column("gradient")[-1] == pytest.approx(visited[-1][2], rel=1e-12)
    np.testing.assert_allclose(model.trace_.iterates[40][:, 0], visited[40][0], rtol=1e-13)
    ridge = lineal.Ridge(alpha=6 * STRENGTH, solver=ConjugateGradient(scaled=False), max_iter=3).fit(ROWS, CLASSES)
    assert ridge.verdict_.kind == "optimal"
    with pytest.raises(InputError, match="has no option 'stp'"):
        lineal.LogisticRegression(solver="gradient-descent:stp=1").fit(ROWS, CLASSES.astype(int))


def test_a_table_is_descended_from_python():
    table = {"a": ROWS[:, 0], "b": ROWS[:, 1], "y": CLASSES}
    options = {"model": "linear", "solver": "gradient-descent:step=0.01", "steps": 4}
    model = lineal.fit(table, target="y", start=[0.1, 0.2, 0.3], **options)
    w, design = np.array([0.1, 0.2, 0.3]), np.column_stack([np.ones(6), ROWS])
    for _ in range(4):
        w = w - 0.01 * design.T @ (design @ w - CLASSES) / 6.0
    np.testing.assert_allclose(model.coef[:, 0], w, rtol=1e-13)
    assert len(lineal.fit(table, target="y", model="ridge", iterates=True, penalty=0.1).trace.iterates) > 0
    with pytest.raises(InputError, match="3 numbers, one for every design column"):
        lineal.fit(table, target="y", start=[1.0], **options)
    with pytest.raises(InputError, match="steps has no effect"):
        lineal.fit(table, target="y", model="bayes", steps=3)


def test_a_trace_keeps_coefficients_while_there_is_room(monkeypatch):
    monkeypatch.setattr(trace, "MAX_NUMBERS", 10)
    result = six(GradientDescent(step=0.1), 5)
    assert (len(result.trace), len(result.trace.iterates)) == (6, 3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"step": 0.0}, "above zero"),
        ({"step": ()}, "above zero"),
        ({"step": (1.0, -1.0)}, "above zero"),
        ({"step": (1.0, 2.0), "decay": 1.0}, "one step"),
        ({"step": 1.0, "power": 2.0}, "without a decay"),
        ({"batch": 1}, "need a step"),
        ({"batch": 1, "step": 1.0, "scaled": True}, "as they are"),
        ({"batch": 0, "step": 1.0}, "at least 1"),
        ({"step": 1.0, "order": "drwan", "batch": 1}, "Did you mean 'drawn'"),
        ({"step": 1.0, "seed": 3}, "no effect"),
        ({"step": 1.0, "batch": 1, "order": "given", "seed": 3}, "no effect"),
    ],
)
def test_options_of_descent_are_refused_in_words(options, said):
    with pytest.raises(InputError, match=said):
        GradientDescent(**options)
