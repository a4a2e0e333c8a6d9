"""Losses of several classes: what all scores share is free where the penalty has no say, and is kept at zero there."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from lineal.designs import as_design
from lineal.estimators.fitted import model_of
from lineal.fitting.fitting import fit
from lineal.losses import CrammerSinger, Softmax, Sparsemax
from lineal.model.target import Target
from lineal.penalties import L1, Bounds, ElasticNet, Ridge
from lineal.sources.memory import Memory
from lineal.verify import verify

CHARGES = np.array([0.0, 1.0, 1.0, 1.0])
INFINITE = np.full(4, np.inf)
PENALTIES = {
    "l1": L1(0.02, CHARGES),
    "elastic": ElasticNet(0.02, 0.5, CHARGES),
    "bounds": Bounds(-INFINITE, np.array([np.inf, 1.0, 0.3, np.inf]), Ridge(0.05, CHARGES)),
}


@pytest.mark.parametrize("loss", [Softmax(3), Sparsemax(3), CrammerSinger(3)], ids=lambda loss: loss.name)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("level", [1e4, 1e6])
def test_intercepts_sum_to_zero_beside_columns_far_from_zero(loss, penalty, level, tmp_path):
    """l1 and bounds keep a sum of slopes over classes; in columns far from zero it moves the intercepts by as much."""
    rng = np.random.default_rng(5)
    x, y = rng.integers(-8, 9, size=(30, 3)) + level, rng.integers(0, 3, size=(30, 1)).astype(float)
    columns = ("(intercept)", "x0", "x1", "x2")
    found = fit(Memory(as_design(x), y, columns=columns), loss, PENALTIES[penalty], keep=True)
    assert found.verdict.kind == "optimal", found.verdict.sentence
    assert abs(np.sum(found.coef[0])) <= 1e-12 * np.max(np.abs(found.coef[0])) + 1e-15
    model_of(found, Target("y", "classes", classes=(0, 1, 2)), 1e-6).save(tmp_path / "m.lineal")
    with (tmp_path / "d.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["y", *columns[1:]])
        writer.writerows([int(label[0]), *row] for label, row in zip(y, x.tolist(), strict=True))
    assert verify(tmp_path / "m.lineal", tmp_path / "d.csv").passed
