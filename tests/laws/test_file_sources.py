"""The law of verdicts on files read in a stream: three blocks, every loss, weights and offset, sabotaged coefficients."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lineal.certify import prove
from lineal.features.encoded import Encoded
from lineal.features.learning import learn
from lineal.fitting.fitting import fit
from lineal.losses import Logistic, Softmax, Squared
from lineal.penalties import NoPenalty, Ridge
from lineal.problem.problem import Problem
from lineal.tables import columnar
from lineal.tables.table import as_table
from tests.laws.exact import Exact, number

LOSSES = {"squared": Squared(1), "logistic": Logistic(), "softmax": Softmax(3)}


def write(path, loss, seed, rows=18):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=rows) * 10
    size[3] = np.nan
    y = {
        "squared": lambda: list(rng.normal(size=rows) + 3.0),
        "logistic": lambda: [["no", "yes"][k] for k in np.r_[0, 1, rng.integers(0, 2, size=rows - 2)]],
        "softmax": lambda: [["a", "b", "c"][k] for k in np.r_[0, 1, 2, rng.integers(0, 3, size=rows - 3)]],
    }[loss]()
    table = pa.table(
        {
            "size": pa.array(size, from_pandas=True),
            "kind": [["u", "v", "w"][k] for k in rng.integers(0, 3, size=rows)],
            "weight": rng.choice([0.5, 1.0, 2.0], size=rows),
            "offset": rng.normal(size=rows),
            "y": y,
        }
    )
    pq.write_table(table, path)


@pytest.mark.parametrize("strength", [0.0, 0.05])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", LOSSES)
def test_a_streamed_file_gives_the_fit_and_the_gap_of_its_rows_in_memory(tmp_path, monkeypatch, name, seed, strength):
    monkeypatch.setattr(columnar, "BATCH_ROWS", 6)
    path = tmp_path / "rows.parquet"
    write(path, name, seed)
    learned = learn(as_table(path), target="y", weight="weight", offset=None if name == "softmax" else "offset")
    stream = Encoded(as_table(path), learned)
    blocks = list(stream.blocks())
    assert len(blocks) == 3
    loss, columns = LOSSES[name], len(stream.columns)
    penalty = Ridge(strength, np.r_[0.0, np.ones(columns - 1)]) if strength else NoPenalty(columns)
    streamed = fit(stream, loss, penalty, tol=1e-9)
    held = fit(stream.in_memory(2**30), loss, penalty, tol=1e-9)
    assert streamed.verdict.kind == held.verdict.kind
    if streamed.verdict.kind != "optimal":
        assert strength == 0.0  # so few rows may have no finite optimum
        return
    assert abs(streamed.objective - held.objective) <= streamed.verdict.gap + held.verdict.gap + 1e-14
    x = np.vstack([block.design.dense() for block in blocks])
    y, weight = np.vstack([block.y for block in blocks]), np.concatenate([block.weight for block in blocks])
    offset = None if blocks[0].offset is None else np.vstack([block.offset for block in blocks])
    exact = Exact(loss, x, y, weight, offset, strength, np.r_[0.0, np.ones(columns - 1)])
    best = exact.optimum(streamed.coef)
    rng = np.random.default_rng(seed)
    problem = Problem.of(stream, loss, penalty)
    for size in (0.0, 1e-6, 0.1):
        coef = streamed.coef + size * rng.normal(size=streamed.coef.shape)
        coef = coef - coef.mean(axis=1, keepdims=True) if loss.coupled else coef
        proof = prove(problem, coef, polish=30)
        assert proof.gap is not None
        true = exact.value([[number(v) for v in row] for row in coef]) - best
        assert float(true.mid()) <= proof.gap
