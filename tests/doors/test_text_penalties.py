"""How words of a text are penalized: as they are, block by block, said and checked."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import lineal
from lineal import container
from lineal.cli import run
from lineal.errors import VerificationError
from lineal.verify import verify

SIGNAL = ["sunny", "warm", "walk", "garden"], ["rain", "cold", "storm", "late"]
PLAIN = ["the", "of", "and", "to", "we", "went", "was", "day", "there", "again"]
NOISE = [f"word{k}" for k in range(60)]


def letters(rows: int = 300, seed: int = 0) -> dict[str, list[Any]]:
    """Return a table whose body tells the mood, whose head is noise, and whose hours help."""
    rng = np.random.default_rng(seed)
    table: dict[str, list[Any]] = {"head": [], "body": [], "hours": [], "mood": []}
    for row in range(rows):
        good = int(rng.random() < 0.5)
        own = rng.choice(SIGNAL[good if rng.random() < 0.8 else 1 - good], 2)
        table["body"].append(" ".join(rng.permutation([*rng.choice(PLAIN, 12), *own])) + f" no{row}")
        table["head"].append(" ".join(rng.choice(NOISE, 4)) + f" at{row}")
        table["hours"].append(float(rng.normal(5 + good, 2)))
        table["mood"].append("good" if good else "bad")
    return table


def write(path: Path, table: dict[str, list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([list(table), *zip(*table.values(), strict=True)])
    return path


def minimum(x: np.ndarray, y: np.ndarray, factors: np.ndarray, strength: float) -> float:
    """Return the least mean log-loss plus ``strength / 2 sum factors b^2``, by another program."""

    def objective(b: np.ndarray) -> tuple[float, np.ndarray]:
        eta = x @ b
        slope = 1 / (1 + np.exp(-eta)) - y
        value = np.mean(np.logaddexp(0, eta) - y * eta) + strength / 2 * np.sum(factors * b**2)
        return value, x.T @ slope / len(y) + strength * factors * b

    found = minimize(
        objective,
        np.zeros(x.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9},
    )
    return float(found.fun)


def test_words_are_penalized_as_they_are_and_numbers_standardized(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = {name: cells for name, cells in letters().items() if name != "head"}
    model = lineal.fit(table, "mood", penalty="ridge:0.001")
    x = model.encoder.encode(table).dense()
    factors = np.array([0.0 if name == "(intercept)" else 1.0 for name in model.columns])
    hours = model.columns.index("hours")
    factors[hours] = np.var(x[:, hours])
    y = np.array([mood == "good" for mood in table["mood"]], float)
    np.testing.assert_allclose(model.penalty.penalty_factors, factors, rtol=1e-12)
    # both gaps: ours is proven, that of L-BFGS is what its last steps could still gain
    assert model.verdict.evidence["objective"] == pytest.approx(minimum(x, y, factors, 0.001), abs=1e-7)
    data = write(tmp_path / "letters.csv", table)
    assert (
        run(["fit", str(data), "--target", "mood", "--penalty", "ridge:0.001", "-o", str(tmp_path / "m.lineal")]) == 0
    )
    shown = " ".join(capsys.readouterr().out.split())
    assert "sum (c_j b_j)^2, c_j is 1 for words of body and sd_j for hours, intercept not charged" in shown
    assert run(["verify", str(tmp_path / "m.lineal"), str(data)]) == 0


def test_text_alone_is_a_plain_ridge_and_standardized_if_asked() -> None:
    table = {name: cells for name, cells in letters().items() if name in ("body", "mood")}
    alone = lineal.fit(table, "mood", penalty="ridge:0.001")
    assert alone.report["charges"] == "raw"
    assert set(alone.penalty.penalty_factors[1:]) == {1.0}
    asked = lineal.fit(table, "mood", penalty="ridge:0.001", penalize="standardized")
    assert asked.report["charges"] == "variance"
    variance = np.var(asked.encoder.encode(table).dense()[:, 1:], axis=0)
    np.testing.assert_allclose(asked.penalty.penalty_factors[1:], variance, rtol=1e-10)


def test_a_block_of_noise_is_kept_small_and_the_file_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write(tmp_path / "letters.csv", letters())
    path = tmp_path / "m.lineal"
    assert run(["fit", str(data), "--target", "mood", "-o", str(path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "c_j is" in shown
    assert "10 for words of head" in shown
    assert "words of 'head' pay 100 times as much, which lowers the log loss from" in shown
    model = lineal.load(path)
    heads = np.array([name.startswith("head: ") for name in model.columns])
    assert set(model.penalty.penalty_factors[heads]) == {100.0}
    verify(path, data)
    meta, arrays = container.read(path)
    place = int(np.flatnonzero(heads)[0])
    for change in ("factor", "word", "number"):
        charges, factors = list(meta["report"]["charges"]), arrays["charges"].copy()
        if change == "factor":
            factors[place] = 99.0
        elif change == "word":
            charges[place] = "raw"
        else:
            charges[place], factors[place] = 99.0, 99.0
        other = {**meta, "report": {**meta["report"], "charges": charges}}
        container.write(tmp_path / "w.lineal", other, {**arrays, "charges": factors})
        with pytest.raises(VerificationError, match="charge"):
            verify(tmp_path / "w.lineal", data)


def test_blocks_that_are_asked_for_are_left_as_they_are() -> None:
    model = lineal.fit(letters(), "mood", penalize="raw")
    assert set(model.penalty.penalty_factors[1:]) == {1.0}
    body_only = lineal.fit({**letters(), "head": letters(seed=1)["body"]}, "mood", text={"head": "min=500"})
    assert all(not name.startswith("head: ") for name in body_only.columns)


def test_where_a_text_comes_from_is_left_out_unless_it_is_declared() -> None:
    table = letters()
    rng = np.random.default_rng(5)
    table["paper"] = [f"{mood} paper {row % 20}" for row, mood in enumerate(table["mood"])]
    model = lineal.fit(table, "mood", penalty="ridge:0.01")
    assert not any(name.startswith("paper") for name in model.columns)
    (dropped,) = [one for one in model.report["data"]["dropped"] if one["column"] == "paper"]
    assert "nearly all rows of each of its 40 levels are of one class" in dropped["why"]
    kept = lineal.fit(table, "mood", penalty="ridge:0.01", types={"paper": "category"})
    assert any(name.startswith("paper=") for name in kept.columns)
    mixed = {**table, "paper": [f"paper {rng.integers(40)}" for _ in table["mood"]]}
    assert any(name.startswith("paper=") for name in lineal.fit(mixed, "mood", penalty="ridge:0.01").columns)
    textless = {name: table[name] for name in ("hours", "paper", "mood")}
    assert any(name.startswith("paper=") for name in lineal.fit(textless, "mood", penalty="ridge:0.01").columns)
