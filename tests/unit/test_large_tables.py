"""Large tables: rows in memory as they fit, in single precision where that is exact, a strength from a sample of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lineal
from lineal.api import dataset, picking
from lineal.designs import as_design
from lineal.features import encoded
from lineal.features.encoded import single_where_exact
from lineal.ground import memory
from lineal.paths import selection
from lineal.sources.memory import Memory

GIB = 2**30


@pytest.mark.parametrize(
    ("available", "group", "left"),
    [
        ("MemTotal: 9 kB\nMemAvailable:    1048576 kB\n", None, GIB),
        ("MemAvailable: 4194304 kB\n", (str(3 * GIB), str(GIB)), 2 * GIB),
        ("MemAvailable: 1048576 kB\n", ("max", "17"), GIB),
        ("MemAvailable: 1048576 kB\n", ("5", "17"), 0),
    ],
)
def test_the_free_memory_is_what_the_system_and_the_group_leave(
    tmp_path: Path, available: str, group: tuple[str, str] | None, left: int
) -> None:
    (tmp_path / "meminfo").write_text(available)
    for name, text in zip(("memory.max", "memory.current"), group or (), strict=False):
        (tmp_path / name).write_text(text + "\n")
    assert memory.free_memory(tmp_path / "meminfo", tmp_path) == left


def test_a_quarter_of_the_free_memory_is_room_for_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "free_memory", lambda: 100 * GIB)
    assert dataset.memory_limit() == GIB
    monkeypatch.setattr(dataset, "free_memory", lambda: GIB)
    assert dataset.memory_limit() == GIB // 4


@pytest.mark.parametrize(
    ("odd", "kind"),
    [(255.0, "float32"), (2.0**24, "float32"), (2.0**24 + 1, "float64"), (0.1, "float64"), (1e300, "float64")],
)
def test_single_precision_only_where_it_is_the_same_matrix(odd: float, kind: str) -> None:
    numbers = np.zeros((2, encoded.SINGLE_MIN_CELLS))
    numbers[1, -1] = odd
    kept = single_where_exact(numbers)
    assert kept.dtype == kind
    assert np.array_equal(kept, numbers)


def pixels(rows: int, seed: int = 0) -> dict[str, object]:
    """Return a table of small whole numbers in three classes."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 256, (rows, 12)) * (rng.random((rows, 12)) < 0.5)
    score = x @ rng.normal(size=(12, 3)) / 120 + rng.gumbel(size=(rows, 3))
    return {"label": np.array(["a", "b", "c"])[np.argmax(score, axis=1)], **{f"p{j}": x[:, j] for j in range(12)}}


def test_rows_in_single_precision_give_the_same_model(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pixels(1500)
    plain = lineal.fit(table, "label", penalty="ridge:0.01", tol=1e-10)
    monkeypatch.setattr(encoded, "SINGLE_MIN_CELLS", 1)
    kinds = []
    whole = Memory.__init__
    monkeypatch.setattr(
        Memory, "__init__", lambda self, design, *a, **k: (kinds.append(design), whole(self, design, *a, **k))[1]
    )
    single = lineal.fit(table, "label", penalty="ridge:0.01", tol=1e-10)
    assert kinds[0].designs[1].array.dtype == np.float32
    assert single.verdict.kind == plain.verdict.kind == "optimal"
    # two points within a gap g of the optimum of a penalty (s/2) |sd b|^2 are at most 2 sqrt(2 g / s) apart
    far = 2 * np.sqrt(2 * max(plain.verdict.gap, single.verdict.gap) / 0.01)
    sd = np.array(plain.report["sd"])[1:, None]
    assert np.all(np.abs((single.coef - plain.coef)[1:] * sd) <= far)


def test_a_sample_keeps_every_part_of_its_rows() -> None:
    x = np.arange(40_000.0).reshape(-1, 2)
    y, weight, offset = x[:, 0] + 1, x[:, 0] + 2, x[:, 0] + 3
    drawn = selection.sample(Memory(as_design(x), y, weight, offset), 20_000, 5000, seed=3)
    block = drawn.whole
    assert block is not None
    first = block.design.dense()[:, 1]
    assert 4700 < block.n_rows < 5300  # four standard deviations of a binomial
    assert np.array_equal(block.design.dense()[:, 2], first + 1)
    for values, more in ((block.y[:, 0], 1), (block.weight, 2), (block.offset[:, 0], 3)):
        assert np.array_equal(values, first + more)


def test_a_strength_is_picked_on_a_sample_with_the_same_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """On T of S rows the strength times S / T: the penalty keeps its weight against the sum of the losses."""
    table = pixels(4000)
    monkeypatch.setattr(picking, "SEARCH_MAX_CELLS", 4000 * 13 * 3 // 4)
    monkeypatch.setattr(picking, "SAMPLE_MIN_ROWS", 100)
    tried = []
    trial = selection._Fold.trial
    monkeypatch.setattr(
        selection._Fold,
        "trial",
        lambda self, penalty, *more: (tried.append((self, penalty)), trial(self, penalty, *more))[1],
    )
    model = lineal.fit(table, "label")
    report = model.report["selection"]
    fold = tried[0][0]
    seen = fold.moments.rows + fold.rows
    assert 900 < seen < 1100
    assert report["trials"][0]["strength"] == 1.0
    assert tried[0][1].strength == pytest.approx(4000 / seen)
    assert report["reason"].endswith(f" folds, after fits of a sample of {fold.moments.rows} rows")
    assert model.training["rows"] == 4000


def test_trials_stop_early_and_the_final_fit_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coarse gap of the trials takes fewer steps, and the strength that it picks is as good on the rows left out."""
    monkeypatch.setattr(picking, "CROSS_VALIDATED_MAX_CELLS", 0)

    def picked(tol: float) -> tuple[dict[str, Any], int]:
        steps = []
        monkeypatch.setattr(selection, "COARSE_TRIAL_TOLERANCE", tol)
        model = lineal.fit(pixels(2000), "label", progress=steps.append)
        assert model.verdict.relative_gap is not None
        assert model.verdict.relative_gap <= 1e-6
        return model.report["selection"], len(steps)

    (coarse, few), (fine, many) = picked(1e-3), picked(1e-9)
    assert few < many
    losses = {trial["strength"]: trial["log_loss"] for trial in fine["trials"]}
    assert losses[coarse["strength"]] <= 1.001 * losses[fine["strength"]]  # a thousandth is the gap of the trials


@pytest.mark.slow
@pytest.mark.parametrize("sampled", [False, True])
def test_a_class_of_one_row_does_not_end_the_search(monkeypatch: pytest.MonkeyPatch, sampled: bool) -> None:
    """Of a large table one fold is left out: the next one, where the first has all rows of a class, or the sample none."""
    monkeypatch.setattr(picking, "CROSS_VALIDATED_MAX_CELLS", 0)
    if sampled:
        monkeypatch.setattr(picking, "SEARCH_MAX_CELLS", 1500 * 13)
        monkeypatch.setattr(picking, "SAMPLE_MIN_ROWS", 100)
    for row in range(12):  # in this many rows every fold occurs
        table = pixels(1500)
        labels = np.array(table["label"], dtype="<U4")
        labels[row] = "rare"
        selected = lineal.fit({**table, "label": labels}, "label").report["selection"]
        assert len(selected["trials"]) > 2, selected["reason"]
        assert "validation rows" in selected["reason"]


def test_trials_of_a_large_table_end_where_the_loss_has_clearly_risen(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(160, 100))
    table = {"y": np.where(x[:, 0] + rng.logistic(size=160) > 0, "a", "b"), **{f"v{j}": x[:, j] for j in range(100)}}

    def losses(limit: int) -> list[float]:
        monkeypatch.setattr(picking, "CROSS_VALIDATED_MAX_CELLS", limit)
        monkeypatch.setattr(selection, "COARSE_TRIAL_TOLERANCE", selection.TRIAL_TOLERANCE)
        return [
            trial["log_loss"] for trial in lineal.fit(table, "y", validation_size=0.25).report["selection"]["trials"]
        ]

    all_of_them, few = losses(10**9), losses(0)
    assert few == all_of_them[: len(few)]
    assert few[-1] > 1.1 * min(few)
    assert all(loss <= 1.1 * min(few[: place + 1]) for place, loss in enumerate(few[:-1]))
    assert len(few) < len(all_of_them)
