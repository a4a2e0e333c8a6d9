"""Stochastic solvers as they are asked for by name end near the optimum, on raw columns of any unit; epochs are counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets

import lineal

PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"
RAW = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
}
NEAR = {"saga": 1e-6, "sgd": 1e-3, "mini-batch": 1e-2}
"""The relative gap to prove: saga converges, the others keep the noise of their last steps; mini-batch takes fewer of them."""


@pytest.mark.slow
@pytest.mark.parametrize("solver", NEAR)
@pytest.mark.parametrize("name", ["penguins", *RAW])
def test_defaults_end_near_the_optimum(name, solver):
    data, target = (PENGUINS, "species") if name == "penguins" else RAW[name](return_X_y=True)
    if name not in ("penguins", "diabetes"):
        target = target.astype(str)
    model = lineal.fit(data, target, penalty="ridge:0.001", solver=solver, steps=6000)
    best = lineal.fit(data, target, penalty="ridge:0.001").verdict.evidence
    gain = best["null_objective"] - best["objective"]
    assert model.verdict.relative_gap <= NEAR[solver], model.verdict.sentence
    assert model.trace.records[-1].objective - best["objective"] <= 1e-3 * gain
    assert len(model.trace) <= (6000 if solver == "saga" else 1001)
    if name != "diabetes":
        accuracy = model.report["metrics"]["train"]["accuracy"]
        assert (
            accuracy >= lineal.fit(data, target, penalty="ridge:0.001").report["metrics"]["train"]["accuracy"] - 0.003
        )


def test_a_column_far_from_zero_is_centred_though_others_are_categories():
    """Years around 2008 beside a category: scaled and not centred, the level of all years would hide their differences."""
    rng = np.random.default_rng(0)
    year, kind = rng.integers(2000, 2017, size=200), rng.integers(0, 3, size=200)
    table = {
        "year": year,
        "kind": [f"k{k}" for k in kind],
        "y": 0.5 * (year - 2008) + kind + 0.1 * rng.normal(size=200),
    }
    for solver in ("saga", "sgd"):
        model = lineal.fit(table, target="y", penalty="ridge:0.001", solver=f"{solver}:epochs=200")
        assert model.verdict.relative_gap <= 1e-5, model.verdict.sentence


def test_a_batch_takes_the_longer_steps_that_its_mean_allows():
    """Of 100 rows alike, a batch bends like one row; of rows in different directions, a batch of all like their mean."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, 20))
    y = x @ rng.normal(size=20) + rng.normal(size=400)

    def first(solver):
        note = lineal.fit(x, y, model="ridge", penalty=0.01, solver=solver, steps=1).trace.records[0].note
        return float(note.removeprefix("step size "))

    one, few, all_rows = (first(f"sgd:batch={batch}") for batch in (1, 32, 400))
    z = np.column_stack([np.ones(400), (x - x.mean(axis=0)) / x.std(axis=0)])
    top = np.linalg.eigvalsh(z.T @ z / 400 + 0.01 * np.diag(np.r_[0.0, np.ones(20)]))[-1]
    rows = np.max(np.sum(z**2, axis=1)) + 0.01
    share = (400 - 32) / (32 * 399)
    assert one == pytest.approx(1 / rows, rel=0.01)
    assert all_rows == pytest.approx(1 / top, rel=0.02)
    assert few == pytest.approx(1 / ((1 - share) * top + share * rows), rel=0.02)
