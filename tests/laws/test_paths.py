"""Laws of paths: every point is the fit one would get alone, has its own verdict, and the first uses nothing penalized."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lineal.designs import Categorical, Dense, HStack, Ones, as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.losses import Logistic, Softmax, Squared
from lineal.paths import lookahead
from lineal.paths.strengths import path
from lineal.penalties import L1, Bounds, ElasticNet, Group, NoPenalty, Ridge
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Access, Block

INF = np.inf


def data(loss, n, p, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    truth = np.zeros((p, loss.outputs))
    truth[:4] = rng.normal(size=(min(p, 4), loss.outputs))
    eta = x @ truth
    if loss.name == "squared":
        y = 3.0 + eta + 0.5 * rng.normal(size=eta.shape)
    elif loss.name == "logistic":
        y = (eta + rng.logistic(size=eta.shape) > 0).astype(float)
    else:
        y = np.argmax(eta + rng.gumbel(size=eta.shape), axis=1)[:, None].astype(float)
    return x, y, rng


def families(columns):
    penalty_factors = np.r_[0.0, np.ones(columns)]
    low = np.r_[-INF, np.zeros(columns)]
    return {
        "l1": L1(1.0, penalty_factors),
        "elastic": ElasticNet(1.0, 0.5, penalty_factors),
        "group": Group(1.0, penalty_factors),
        "non-negative l1": Bounds(low, np.full(columns + 1, INF), L1(1.0, penalty_factors)),
    }


LOSSES = [Squared(1), Logistic(), Softmax(3), Squared(2)]


@pytest.mark.slow
@pytest.mark.parametrize("wide", [False, True], ids=["few columns", "many columns"])
@pytest.mark.parametrize("kind", families(1))
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name}{loss.outputs}")
def test_every_point_is_the_fit_one_would_get_alone(loss, kind, wide):
    n, p = (40, 320) if wide else (60, 8)
    x, y, _ = data(loss, n, p)
    source, penalty = Memory(as_design(x), y), families(p)[kind]
    found = path(source, loss, penalty, 8, ratio=0.1)
    assert len(found.points) == 8
    np.testing.assert_allclose(found.strengths, np.geomspace(found.critical, 0.1 * found.critical, 8))
    for point in found.points:
        assert point.verdict.kind == "optimal", (point.strength, point.verdict.sentence)
    assert found.points[0].used == 1
    assert found.points[-1].used > 1
    for point in found.points[1::3]:
        alone = fit(source, loss, penalty.at(point.strength), solver="prox-newton", tol=1e-9)
        slack = point.verdict.gap + alone.verdict.gap + 1e-14 * abs(alone.objective)
        assert abs(alone.objective - point.objective) <= slack


def test_the_critical_strength_is_where_something_begins():
    x, y, _ = data(Squared(1), 50, 20)
    penalty = L1(1.0, np.r_[0.0, np.ones(20)])
    centred = np.abs((x - x.mean(axis=0)).T @ (y - y.mean()) / 50).max()
    found = path(Memory(as_design(x), y), Squared(1), penalty, [1.001 * centred, 0.999 * centred])
    assert found.critical == pytest.approx(centred)
    assert [point.used for point in found.points] == [1, 2]


def test_a_lasso_path_agrees_with_scikit_learn():
    from sklearn.linear_model import lasso_path

    x, y, _ = data(Squared(1), 60, 500)
    x, y = x - x.mean(axis=0), y - y.mean()
    found = path(Memory(as_design(x, intercept=False), y), Squared(1), L1(1.0, np.ones(500)), 20, ratio=0.05, tol=1e-10)
    _, theirs, _ = lasso_path(x, y[:, 0], alphas=found.strengths, tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(found.coef[:, :, 0], theirs.T, atol=1e-6)


def storages(x, rng):
    codes = rng.integers(-1, 3, size=len(x)).astype(np.int32)
    hot = (codes[:, None] == np.arange(3)).astype(float)
    whole = np.hstack([x, hot])
    return whole, {
        "csr": as_design(sparse.csr_matrix(whole)),
        "codes": HStack([Ones(len(x)), Dense(x), Categorical(codes, 3)]),
        "fortran": HStack([Ones(len(x)), Dense(np.asfortranarray(whole))]),
        "float32": as_design(whole.astype(np.float32)),
    }


@pytest.mark.parametrize("storage", ["csr", "codes", "fortran", "float32"])
def test_every_storage_and_partition_gives_the_same_path(storage):
    x, y, rng = data(Logistic(), 80, 350)
    x = np.where(np.abs(x) < 1.0, 0.0, np.round(4 * x) / 4)
    weight = rng.choice([0.0, 1.0, 2.0], size=80)
    offset = 0.1 * rng.normal(size=(80, 1))
    whole, designs = storages(x, rng)
    penalty = L1(1.0, np.r_[0.0, np.ones(353)])
    plain = path(Memory(as_design(whole), y, weight, offset), Logistic(), penalty, 6, ratio=0.2)
    design = designs[storage]
    blocks = [Block(design.slice(a, b), y[a:b], weight[a:b], offset[a:b]) for a, b in ((0, 30), (30, 31), (31, 80))]
    parts = path(Blocks(blocks), Logistic(), penalty, plain.strengths)
    for one, other in zip(plain.points, parts.points, strict=True):
        assert one.verdict.kind == other.verdict.kind == "optimal"
        assert abs(one.objective - other.objective) <= one.verdict.gap + other.verdict.gap + 1e-14


def test_columns_that_the_strong_rule_misses_are_taken_up(monkeypatch):
    """With a rule that watches almost nothing the answer stays the same."""
    x, y, _ = data(Logistic(), 50, 400)
    source, penalty = Memory(as_design(x), y), L1(1.0, np.r_[0.0, np.ones(400)])
    plain = path(source, Logistic(), penalty, 12, ratio=0.1)
    monkeypatch.setattr(lookahead.Lookahead, "_watched", lambda self, _g, _l: (self.work, self._restricted(self.work)))
    blind = path(source, Logistic(), penalty, 12, ratio=0.1)
    for one, other in zip(plain.points, blind.points, strict=True):
        assert other.verdict.kind == "optimal"
        assert abs(one.objective - other.objective) <= one.verdict.gap + other.verdict.gap + 1e-14


def test_a_stream_gives_a_path():
    x, y, _ = data(Squared(1), 50, 10)

    class Stream(Memory):
        @property
        def offers(self):
            return Access.ITERATE

    found = path(Stream(as_design(x), y), Squared(1), L1(1.0, np.r_[0.0, np.ones(10)]), 5)
    assert {verdict.kind for verdict in found.verdicts} == {"optimal"}


def test_ridge_has_a_path_of_given_strengths_only():
    x, y, _ = data(Squared(1), 50, 5)
    source, penalty = Memory(as_design(x), y), Ridge(1.0, np.r_[0.0, np.ones(5)])
    with pytest.raises(InputError, match="natural beginning"):
        path(source, Squared(1), penalty)
    found = path(source, Squared(1), penalty, [0.1, 10.0, 1.0])
    assert found.strengths.tolist() == [10.0, 1.0, 0.1]
    assert {verdict.kind for verdict in found.verdicts} == {"optimal"}


@pytest.mark.parametrize(
    ("strengths", "ratio"), [(0, 0.1), (5, 0.0), (5, 1.0), ([], 0.1), ([1.0, -1.0], 0.1), ([np.nan], 0.1)]
)
def test_grids_that_mean_nothing_are_refused(strengths, ratio):
    x, y, _ = data(Squared(1), 20, 3)
    with pytest.raises(InputError):
        path(Memory(as_design(x), y), Squared(1), L1(1.0, np.r_[0.0, np.ones(3)]), strengths, ratio=ratio)


def test_no_penalty_has_no_path():
    x, y, _ = data(Squared(1), 20, 3)
    with pytest.raises(InputError, match="strength"):
        path(Memory(as_design(x), y), Squared(1), NoPenalty(4))


@pytest.mark.parametrize("columns", [5, 400])
def test_a_time_limit_gives_budgets_not_silence(columns):
    x, y, _ = data(Logistic(), 50, columns)
    penalty = L1(1.0, np.r_[0.0, np.ones(columns)])
    found = path(Memory(as_design(x), y), Logistic(), penalty, 5, ratio=0.01, tol=1e-12, time_limit=1e-9)
    assert len(found.points) == 5
    assert "budget" in {verdict.kind for verdict in found.verdicts}
