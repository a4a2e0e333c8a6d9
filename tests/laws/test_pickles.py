"""What a cluster sends around survives pickling, before and after use: designs, blocks, sources, tasks, models.

A model file is another thing: it holds data only, and loading it never runs code.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csc_array

import lineal
from lineal import designs, losses, penalties, solvers
from lineal.designs import Dense, Sparse, as_design
from lineal.features.encoded import Encoded
from lineal.features.learning import learn
from lineal.features.splitting import ByNumber, ByShare, Split, Within
from lineal.fitting import fitting
from lineal.problem.moments import Survey
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Access, Block
from lineal.sources.spilled import Spilled
from lineal.tables.table import as_table, split
from tests.laws.catalogue import targets

ROWS = 12
TABLE = {
    "x": [1.5, 2.0, None, 4.0, 5.5, 6.0] * 5,
    "kind": ["u", "v", "w"] * 10,
    "note": ["a rose is a rose", "is it", "a word here", "so it is"] * 7 + ["is it", "a rose"],
    "y": ["no", "yes", "no", "yes", "yes"] * 6,
}


def again(thing):
    return pickle.loads(pickle.dumps(thing))  # noqa: S301


def verbs(design):
    """Return what every verb of a design gives, to the last bit."""
    rng = np.random.default_rng(3)
    coef, values = rng.normal(size=(design.shape[1], 2)), rng.normal(size=(design.shape[0], 2))
    found = [design.times(coef), design.transpose_times(values), design.gram(np.abs(values[:, 0]))]
    found += [design.slice(2, 9).dense(), np.concatenate([np.ravel(part) for part in design.moments(None)])]
    return [part.tolist() for part in found]


MADE = [kind.example(ROWS) for kind in designs.ALL] + [
    Dense(np.asfortranarray(Dense.example(ROWS).array)),
    Sparse(csc_array(Dense.example(ROWS).array)),
    Sparse.example(ROWS).slice(3, 10),
]


@pytest.mark.parametrize("design", MADE, ids=lambda design: f"{type(design).__name__}-{design.shape[0]}")
def test_designs(design):
    fresh = again(design)
    assert type(fresh) is type(design)
    rows = design.shape[0]
    if rows < 9:
        rng = np.random.default_rng(1)
        values = rng.normal(size=(rows, 1))
        assert fresh.transpose_times(values).tolist() == design.transpose_times(values).tolist()
        return
    expected = verbs(design)
    assert verbs(fresh) == expected
    assert verbs(again(design)) == expected


@pytest.mark.parametrize("loss", [one for kind in losses.ALL for one in kind.examples()], ids=repr)
def test_losses(loss):
    assert again(loss) == loss
    assert again(loss).name == loss.name


@pytest.mark.parametrize("kind", penalties.ALL, ids=lambda kind: kind.__name__)
def test_penalties(kind):
    penalty = kind.example(np.array([0.0, 1.0, 1.0, 2.0]))
    coef = np.array([[0.5], [-1.0], [0.0], [2.0]])
    before = again(penalty).value(coef)
    assert before == penalty.value(coef) == again(penalty).value(coef)


@pytest.mark.parametrize("name", solvers.BY_NAME)
def test_solvers(name):
    solver = solvers.BY_NAME[name]()
    assert type(again(solver)) is type(solver)
    assert again(solver).name == solver.name


def sources():
    """Return rows in every kind of source that keeps its own."""
    rng = np.random.default_rng(8)
    design = as_design(rng.normal(size=(60, 3)))
    y = (rng.random(60) < 0.5).astype(float)[:, None]
    weight, offset = rng.random(60), rng.normal(size=(60, 1))
    memory = Memory(design, y, weight, offset)
    cut = Blocks([Block(design.slice(a, b), y[a:b], weight[a:b], offset[a:b]) for a, b in ((0, 25), (25, 60))])
    table = as_table(TABLE)
    learned = learn(table, target="y", text="note")
    train, _ = split(table, 1, 0.3)
    drawn = table.where(Within(ByShare(Split(4, 0.2, 0.2)), 0))
    listed = table.where(Within(ByNumber(np.arange(30) % 3), 1, inside=False))
    return {
        "memory": memory,
        "blocks": cut,
        "spilled": Spilled(cut.blocks(), cut.columns),
        "mapped": cut.map(_Halved()),
        "encoded": Encoded(table, learned),
        "split": Encoded(train, learned),
        "drawn": Encoded(drawn, learned),
        "listed": Encoded(listed, learned),
    }


class _Halved:
    """Half of every weight."""

    def __call__(self, block):
        weight = None if block.weight is None else block.weight / 2
        return Block(block.design, block.y, weight, block.offset, block.start)


@pytest.mark.parametrize("name", sources())
def test_sources_and_blocks(name):
    source = sources()[name]
    fresh = again(source)
    task = Survey(losses.Logistic())
    expected = source.sum(task)
    used = again(source)
    assert fresh.columns == used.columns == source.columns
    for other in (fresh, used):
        found = other.sum(again(task))
        assert found.mean.tolist() == expected.mean.tolist()
        assert found.scatter.tolist() == expected.scatter.tolist()
    for block in source.blocks():
        assert again(block).design.dense().tolist() == block.design.dense().tolist()
        assert again(block).y.tolist() == block.y.tolist()


class Distant(Blocks):
    """Rows that only sums are had of; every task goes there, and every result comes back, as bytes."""

    @property
    def offers(self):
        return Access.SUMS

    @property
    def whole(self):
        return None

    def sum(self, task):
        parts = [again(again(task)(again(block))) for block in super().blocks()]
        return sum(parts[1:], start=parts[0])

    def blocks(self):
        raise AssertionError("the rows stay where they are")


class Near(Distant):
    """The same without the bytes."""

    def sum(self, task):
        parts = [task(block) for block in Blocks.blocks(self)]
        return sum(parts[1:], start=parts[0])


SMOOTH = [one for kind in losses.ALL for one in kind.examples() if one.smooth]


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_tasks_of_a_fit_and_its_proof(loss):
    rng = np.random.default_rng(2)
    design = as_design(rng.normal(size=(80, 4)))
    y = targets(loss, rng.normal(size=(80, loss.outputs)), rng)
    blocks = [Block(design.slice(a, b), y[a:b]) for a, b in ((0, 30), (30, 80))]
    penalty = penalties.Ridge(0.1, np.array([0.0, 1.0, 1.0, 1.0, 1.0]))
    near, distant = (fitting.fit(kind(blocks), loss, penalty) for kind in (Near, Distant))
    assert distant.verdict.to_dict() == near.verdict.to_dict()
    assert distant.coef.tolist() == near.coef.tolist()


@pytest.mark.parametrize(
    "options", [{"text": "note"}, {"model": "perceptron"}, {"formula": "y ~ poly(x, 2)*kind"}], ids=repr
)
def test_models(options, tmp_path):
    model = lineal.fit(TABLE, **({} if "formula" in options else {"target": "y"}), **options)
    fresh = again(model)
    expected = np.asarray(model.predict(TABLE)).tolist()
    used = again(model)
    for other in (fresh, used):
        assert np.asarray(other.predict(TABLE)).tolist() == expected
        assert other.verdict == model.verdict
    model.save(tmp_path / "a.lineal")
    used.save(tmp_path / "b.lineal")
    assert (tmp_path / "a.lineal").read_bytes() == (tmp_path / "b.lineal").read_bytes()


def test_committees():
    table = {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.5] * 5, "y": list("abcabd") * 5}
    committee = lineal.fit(table, "y", multiclass="ovo")
    assert np.asarray(again(committee).predict(table)).tolist() == np.asarray(committee.predict(table)).tolist()
