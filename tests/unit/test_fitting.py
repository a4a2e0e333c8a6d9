"""BLAS keeps to one thread while rows are looked at, and gets its threads back."""

from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import lineal
from lineal.designs import as_design
from lineal.estimators.intake import numbers
from lineal.fitting import fit
from lineal.losses import Huber, Squared
from lineal.paths import path
from lineal.penalties import L1, NoPenalty
from lineal.scale import scaled_huber
from lineal.sources.memory import Memory


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


class Watched(Memory):
    """Notes how many threads BLAS would use whenever the rows are summed over."""

    seen: list[int]

    def sum(self, task: Any) -> Any:
        self.seen += blas_threads()
        return super().sum(task)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((6_000, 3))
    y = x[:, 0] + rng.standard_t(2, 6_000)
    source = Watched(as_design(x, intercept=True), y[:, None], columns=("(intercept)", "a", "b", "c"))
    source.seen = []
    return source


CHARGES = np.array([0.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    "work",
    [
        lambda rows: fit(rows, Huber(1.0), NoPenalty(4)),
        lambda rows: path(rows, Squared(1), L1(1.0, CHARGES), 5),
        lambda rows: scaled_huber(rows, 1.35, 1e-4, CHARGES),
    ],
    ids=["fit", "path", "scale"],
)
def test_blas_has_one_thread_in_every_pass(rows, work):
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        work(rows)
        assert rows.seen
        assert set(rows.seen) == {1}
        assert blas_threads() == before


def test_a_long_target_with_a_hole_is_still_refused():
    y = np.zeros(6_000)
    for hole in (np.nan, np.inf, -np.inf):
        y[4_321] = hole
        with pytest.raises(ValueError, match="NaN or infinity"):
            lineal.Ridge().fit(np.ones((6_000, 1)), y)
    huge = np.full(6_000, 1e306)  # their sum overflows, none of them does
    assert numbers(huge).shape == (6_000, 1)
