"""BLAS keeps to one thread while rows are looked at, and gets its threads back."""

from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import lineal
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.estimators.intake import numbers
from lineal.fitting.evidence import evidence
from lineal.fitting.firth import firth
from lineal.fitting.fitting import fit
from lineal.fitting.scale import scaled_huber
from lineal.losses import Huber, Squared
from lineal.paths.strengths import path
from lineal.penalties import L1, NoPenalty
from lineal.problem.blas import one_thread
from lineal.problem.moments import survey
from lineal.sources.memory import Memory


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


class Watched(Memory):
    """Notes how many threads BLAS would use whenever the rows are summed over."""

    seen: list[int]

    @classmethod
    def of(cls, design, y, seen):
        found = cls(design, y.astype(float))
        found.seen = seen
        return found

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
        evidence,
        lambda rows: firth(Watched.of(rows.block.design, rows.block.y > 0.0, rows.seen)),
        lambda rows: survey(rows, Squared(1)),
    ],
    ids=["fit", "path", "scale", "evidence", "firth", "survey"],
)
def test_blas_has_one_thread_in_every_pass(rows, work):
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        work(rows)
        assert rows.seen
        assert set(rows.seen) == {1}
        assert blas_threads() == before


def test_fits_that_end_in_another_order_give_blas_its_threads_back(rows):
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = one_thread(rows, 1), one_thread(rows, 1)
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(blas_threads()) == {1}  # the second is still at work
        second.__exit__(None, None, None)
        assert blas_threads() == before


def test_a_failed_fit_gives_blas_its_threads_back(rows):
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(InputError):
            fit(rows, Squared(1), NoPenalty(7))
        assert blas_threads() == before


def test_the_evidence_has_the_same_bits_whatever_blas_may_use():
    rng = np.random.default_rng(71)
    x = rng.standard_normal((20_000, 3))
    y = x @ [1.0, 2.0, 3.0] + rng.standard_normal(20_000)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            found.append(lineal.BayesianRidge().fit(x, y).intercept_)
    assert found[0] == found[1]


def test_a_long_target_with_a_hole_is_still_refused():
    y = np.zeros(6_000)
    for hole in (np.nan, np.inf, -np.inf):
        y[4_321] = hole
        with pytest.raises(ValueError, match="NaN or infinity"):
            lineal.Ridge().fit(np.ones((6_000, 1)), y)
    huge = np.full(6_000, 1e306)  # their sum overflows, none of them does
    assert numbers(huge).shape == (6_000, 1)
