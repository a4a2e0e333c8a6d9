"""An optimum at infinity is found wherever there is one, also along bounds, and nowhere else: against linear programs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import lineal
from lineal import container
from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.losses import Logistic, Poisson, Softmax
from lineal.penalties import L1, Bounds, ElasticNet, Group, NoPenalty, Ridge
from lineal.sources.memory import Memory
from lineal.verify import Refused, verify

INF = np.inf


def gain(loss, x, y, weight, lower, upper):
    """Return how many rows (times classes) some direction within ``lower`` and ``upper`` moves to their side, none back.

    Maximise ``sum min(z'd, 1)`` over z'd >= 0: zero iff there is no such direction.
    """
    rows, still, k = [], [], loss.outputs
    for line, own, counts in zip(x / np.max(np.abs(x), axis=0, initial=1e-300), y[:, 0], weight, strict=True):
        if counts == 0.0:
            continue
        if loss.coupled:
            hot = np.eye(k)
            rows += [np.outer(line, hot[int(own)] - hot[other]).ravel() for other in range(k) if other != own]
        elif loss.name == "poisson":
            (still if own > 0.0 else rows).append(-line)
        else:
            rows.append(line if own > 0.5 else -line)
    z, held = (np.reshape(part, (len(part), x.shape[1] * k)) for part in (rows, still))
    if not len(z):
        return 0.0
    ends = [(low, high) for low, high in zip(lower, upper, strict=True) for _ in range(k)]
    found = optimize.linprog(
        np.concatenate([np.zeros(z.shape[1]), -np.ones(len(z))]),
        A_ub=np.hstack([-z, np.eye(len(z))]),
        b_ub=np.zeros(len(z)),
        A_eq=np.hstack([held, np.zeros((len(held), len(z)))]) if len(held) else None,
        b_eq=np.zeros(len(held)) if len(held) else None,
        bounds=[*ends, *[(0.0, 1.0)] * len(z)],
    )
    assert found.status == 0
    return -found.fun


def posed(seed):
    """Return a small problem: a loss without end, few rows, penalties on some columns, bounds on others, empty classes."""
    rng = np.random.default_rng([5, seed])
    loss = (Logistic(), Softmax(3), Poisson())[seed % 3]
    n, p, intercept = int(rng.integers(1, 16)), int(rng.integers(1, 4)), bool(rng.random() < 0.5)
    x = (rng.normal(size=(n, p)), rng.integers(-1, 2, size=(n, p)) * 1.0, np.abs(rng.normal(size=(n, p))))[
        seed // 3 % 3
    ]
    y = np.digitize(x[:, :1] + rng.choice([0.0, 1.0]) * rng.normal(size=(n, 1)), [-0.3, 0.3][: loss.outputs]) * 1.0
    y = np.minimum(y, loss.outputs - 1.0) if loss.coupled else np.minimum(y, 1.0)
    weight = np.where(y[:, 0] == rng.choice([-1.0, 0.0, 1.0]), 0.0, 1.0) if seed % 2 else np.ones(n)
    weight[0] = 1.0
    m = p + intercept
    some, strength = (rng.random(m) < 0.5) * 1.0, 10.0 ** rng.uniform(-5.0, 0.0)
    lower, upper = np.where(rng.random(m) < 0.5, -INF, 0.0), np.where(rng.random(m) < 0.7, INF, 1.0)
    some[: int(intercept)], lower[: int(intercept)], upper[: int(intercept)] = 0.0, -INF, INF
    within = Bounds(lower, upper, NoPenalty(m)), Bounds(lower, upper, Ridge(strength, some))
    kinds = NoPenalty(m), Ridge(strength, some), L1(strength, some), ElasticNet(strength, 0.5, some), *within
    return loss, as_design(x, intercept=intercept), y, weight, (*kinds, Group(strength, some))[seed % 7]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 420, 60))
def test_verdicts_agree_with_linear_programs(first):
    for seed in range(first, first + 60):
        loss, design, y, weight, penalty = posed(seed)
        result = fit(Memory(design, y, weight), loss, penalty)
        inner = getattr(penalty, "inner", penalty)
        free = (inner.curvature() == 0.0) & (getattr(inner, "linear", np.zeros(design.shape[1])) == 0.0)
        lower, upper = (
            getattr(penalty, side, end * np.ones(len(free))) for side, end in (("lower", -INF), ("upper", INF))
        )
        ways = np.where(free & np.isinf(lower), -1e3, 0.0), np.where(free & np.isinf(upper), 1e3, 0.0)
        best = gain(loss, np.asarray(design.dense()), y, weight, *ways)
        assert (result.verdict.kind == "at_infinity") == (best > 1e-6), (seed, best, result.verdict.sentence)
        if result.verdict.kind == "at_infinity":
            direction = result.arrays["direction"]
            assert np.all(direction >= np.where(ways[0] < 0.0, -INF, 0.0)[:, None])
            assert np.all(direction <= np.where(ways[1] > 0.0, INF, 0.0)[:, None])


def test_a_class_without_weight_has_no_optimum():
    """Its probabilities are 1e-22 where the gap is proven to 1e-9: only exact sums tell them from a class that is rare."""
    x = np.array([0.731, 1.03, -0.718, -0.972, 0.579, 0.12, -0.136, 0.435])[:, None]
    y = np.array([2.0, 2.0, 0.0, 0.0, 2.0, 1.0, 1.0, 2.0])[:, None]
    weight = np.where(y[:, 0] == 1.0, 0.0, 1.0)
    for strength in (1e-6, 1.06e-5, 1e-4, 1e-3):
        for penalty in (L1(strength, np.array([0.0, 1.0])), Ridge(strength, np.array([0.0, 1.0]))):
            verdict = fit(Memory(as_design(x), y, weight), Softmax(3), penalty).verdict
            assert verdict.kind == "at_infinity", verdict.sentence


def test_second_derivatives_of_rare_classes_keep_their_digits():
    """p (1 - p) of a probability near one is that of the others: summed, not subtracted from one."""
    loss, eta = Softmax(3), np.array([[0.0, -30.0, -34.0]])
    source = Memory(as_design(np.ones((1, 1)), intercept=False), np.array([[0.0]]))
    problem = fit(source, loss, Ridge(1.0, np.ones(1)), max_iter=1).problem.at(NoPenalty(1))
    found = problem.evaluate(eta, hessian=1).hessian[0]
    other = np.exp(-30.0) + np.exp(-34.0)
    assert found[0, 0] == pytest.approx(other / (1.0 + other) ** 2, rel=1e-14)


def test_the_checker_confirms_infinity_within_bounds_and_refuses_to_leave_them(tmp_path):
    x = np.random.default_rng(0).normal(size=(30, 2))
    lines = [f"{a!r},{b!r},{'yes' if a > 0 else 'no'}" for a, b in x.tolist()]
    data, file = tmp_path / "t.csv", tmp_path / "m.lineal"
    data.write_text("\n".join(["a,b,y", *lines]))
    model = lineal.fit(data, target="y", penalty="none", bounds={"a": (0.0, None), "b": (-1.0, 1.0)})
    assert model.verdict.kind == "at_infinity"
    assert set(model.verdict.evidence["direction"]) <= {"(intercept)", "a"}
    model.save(file)
    assert verify(file, data)
    meta, arrays = container.read(file)
    upper = arrays["upper"].copy()
    upper[1] = 1e6
    container.write(file, meta, {**arrays, "upper": upper})
    with pytest.raises(Refused, match="leaves no bound"):
        verify(file, data)
