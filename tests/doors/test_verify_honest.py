"""Honest files are confirmed: every loss and penalty on columns of any unit, some of them far from zero."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import lineal
from lineal.verify import verify

MODELS = ("svm3", "svm2", "quantile:0.5", "huber", "sparsemax", "poisson", "logistic3", "logistic", "ls")
PENALTIES = ("auto", "none", "l1:0.05", "ridge:0.01", "elastic:0.05,0.5")
REFUSED_ONCE = (91, 133, 161, 222, 313, 1222, 1232, 1323)
"""Drawn at random, and refused: covariances known to too few digits, dual points on a border, scores that classes share."""


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, str, str]:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(12, 60)), int(rng.integers(1, 4))
    x = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 3, p) + 10.0 ** rng.integers(0, 6) * (rng.random() < 0.3)
    score = (x - x.mean(axis=0)) / x.std(axis=0) @ rng.normal(size=p) + rng.normal(size=n)
    kind, penalty = str(rng.choice(MODELS)), str(rng.choice(PENALTIES))
    if kind in ("svm3", "sparsemax", "logistic3"):
        y = np.digitize(score, [-0.7, 0.7]).astype(str)
    elif kind in ("svm2", "logistic"):
        y = (score > 0).astype(int).astype(str)
    else:
        y = rng.poisson(np.exp(np.clip(score, -3, 2))) if kind == "poisson" else score
    return (
        x,
        y,
        {"svm3": "svm", "svm2": "svm", "logistic3": "auto", "logistic": "auto", "ls": "auto"}.get(kind, kind),
        penalty,
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(40), *REFUSED_ONCE])
def test_an_honest_file_is_confirmed(tmp_path, seed):
    x, y, model, penalty = drawn(seed)
    with (tmp_path / "t.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"x{j}" for j in range(x.shape[1])), "y"])
        for row, cell in zip(x.tolist(), y.tolist(), strict=True):
            writer.writerow([*map(repr, row), f"c{cell}" if isinstance(cell, str) else repr(float(cell))])
    found = lineal.fit(tmp_path / "t.csv", target="y", model=model, penalty=penalty)
    found.save(tmp_path / "m.lineal")
    assert verify(tmp_path / "m.lineal", tmp_path / "t.csv").passed
    assert found.verdict.kind in ("optimal", "at_infinity")
