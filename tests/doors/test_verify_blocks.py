"""The checker reads its rows in blocks: whatever their size, it says the same, and it holds no more than a few of them."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import lineal
from lineal import container
from lineal.cli import run
from lineal.verify import Refused, verify
from lineal.verify.claims import training
from lineal.verify.reading import cells, joining, split, store, tables

ROWS = 173


@pytest.fixture
def small(monkeypatch):
    """Read seven rows at a time, and keep none of them in memory."""
    for module in (cells, joining, split, tables, training):
        if hasattr(module, "BLOCK_ROWS"):
            monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    monkeypatch.setattr(store, "MEMORY_BYTES", 0)


def table(seed: int = 0) -> dict[str, list[object]]:
    draw = np.random.default_rng(seed)
    a, b = draw.normal(size=ROWS), draw.normal(size=ROWS)
    score = a - 0.5 * b + draw.logistic(size=ROWS)
    gaps = draw.random(ROWS) < 0.05
    return {
        "a": [None if gap else float(x) for x, gap in zip(a, gaps, strict=True)],
        "b": b.tolist(),
        "kind": draw.choice(["red", "green", "blue"], ROWS).tolist(),
        "note": [" ".join(draw.choice(["good", "bad", "dull", "odd"], 3)) for _ in range(ROWS)],
        "w": draw.choice([0.0, 1.0, 2.5], ROWS).tolist(),
        "two": np.where(score > 0.0, "yes", "no").tolist(),
        "three": np.digitize(score, [-1.0, 1.0]).astype(str).tolist(),
        "count": draw.poisson(np.exp(0.3 * a)).tolist(),
        "size": score.tolist(),
    }


def written(path: Path, columns: dict[str, list[object]]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path, row_group_size=50)
    elif path.suffix == ".feather":
        feather.write_feather(pa.table(columns), path, chunksize=40)
    elif path.suffix == ".jsonl":
        rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        path.write_text("\n".join(lines).replace("None", "NA"))
    return path


FITS = {
    "logistic": ("two", {}),
    "logistic, weights": ("two", {"weight": "w"}),
    "softmax": ("three", {}),
    "softmax, none": ("three", {"penalty": "none", "drop": ["note", "w"]}),
    "poisson": ("count", {"model": "poisson"}),
    "least squares": ("size", {"penalty": "none", "drop": ["note", "w"]}),
    "least squares, no intercept": ("size", {"intercept": False}),
    "lasso": ("size", {"penalty": "l1:0.05"}),
    "huber": ("size", {"model": "huber"}),
    "median": ("size", {"model": "quantile:0.5", "penalty": "none", "drop": ["note", "w", "kind"]}),
    "hinge": ("two", {"model": "svm"}),
    "one against the rest": ("three", {"model": "svm", "multiclass": "ovr"}),
    "perceptron": ("two", {"model": "perceptron", "drop": ["note"]}),
    "bounds": ("size", {"bounds": {"b": (0.0, None)}}),
    "a split by class": ("two", {"split": "stratified", "test_size": 0.2}),
    "a split by group": ("two", {"split": "group:kind", "test_size": 0.2}),
    "a split by time": ("two", {"split": "time:b", "test_size": 0.2}),
    "spline": ("size", {"formula": "size ~ spline(b, 4) + kind:a"}),
    "terms of R": ("size", {"formula": "size ~ bs(b, 4) + scale(I(a/2)):C(kind, sum) + cut(b, 3):a"}),
}


def told(report) -> list[tuple[str, bool]]:
    return [(line["check"], line["passed"]) for line in report]


def fitted(tmp_path: Path, name: str, suffix: str = ".parquet") -> tuple[Path, Path]:
    target, options = FITS[name]
    columns = table()
    others = {"two", "three", "count", "size"} - {target}
    data = written(tmp_path / f"t{suffix}", {key: column for key, column in columns.items() if key not in others})
    path = tmp_path / "m.lineal"
    lineal.fit(data, target=target, **options).save(path)
    return path, data


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
def test_blocks_of_any_size_are_judged_the_same(tmp_path, request, name):
    path, data = fitted(tmp_path, name)
    whole = told(verify(path, data))
    request.getfixturevalue("small")
    assert told(verify(path, data)) == whole


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".feather"])
def test_every_format_comes_in_blocks(tmp_path, request, suffix):
    path, data = fitted(tmp_path, "logistic", suffix)
    whole = told(verify(path, data))
    request.getfixturevalue("small")
    assert told(verify(path, data)) == whole


@pytest.mark.parametrize("name", ["logistic", "softmax", "poisson", "lasso", "huber", "median", "hinge"])
def test_what_is_false_is_refused_in_blocks_too(tmp_path, small, name):
    """Coefficients moved a little and a gap that says otherwise, in a file that is signed again."""
    path, data = fitted(tmp_path, name)
    meta, arrays = container.read(path)
    coef = arrays["coef"].copy()
    coef[1] += 1e-3 * (1.0 + np.abs(coef[1]))
    coef -= coef.mean(axis=1, keepdims=True) * (coef.shape[1] > 1)
    container.write(tmp_path / "f.lineal", meta, {**arrays, "coef": coef})
    with pytest.raises(Refused):
        verify(tmp_path / "f.lineal", data)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_answers_about_separability_come_from_blocks_too(tmp_path, request, apart, classes):
    draw = np.random.default_rng(classes)
    kind = draw.integers(0, classes, ROWS)
    x = draw.normal(size=(ROWS, 2)) + (9.0 if apart else 0.5) * np.column_stack([np.cos(kind), np.sin(kind)])
    columns = {"a": x[:, 0].tolist(), "b": x[:, 1].tolist(), "kind": [f"k{k}" for k in kind]}
    data, record = written(tmp_path / "t.csv", columns), tmp_path / "s.lineal"
    assert run(["separable", str(data), "--target", "kind", "-o", str(record)]) == 0
    whole = told(verify(record, data))
    request.getfixturevalue("small")
    assert told(verify(record, data)) == whole


def test_a_row_that_was_altered_far_down_is_noticed(tmp_path, small):
    path, data = fitted(tmp_path, "logistic")
    rows = pq.read_table(data).to_pydict()
    rows["b"][-1] = np.nextafter(rows["b"][-1], np.inf)
    with pytest.raises(Refused, match="fingerprint"):
        verify(path, written(tmp_path / "t.parquet", rows))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(tmp_path, monkeypatch):
    """Ten times the rows take hardly more memory, once they no longer fit into what is kept."""
    monkeypatch.setattr(store, "MEMORY_BYTES", 2**16)
    monkeypatch.setattr(training, "BLOCK_ROWS", 1024)
    peaks = []
    for n in (12_000, 120_000):
        draw = np.random.default_rng(n)
        x = draw.normal(size=(n, 12))
        columns = {f"x{j}": x[:, j] for j in range(12)} | {"y": x[:, 0] + draw.normal(size=n)}
        pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=5000)
        lineal.fit(tmp_path / "t.parquet", target="y", penalty=1e-3).save(tmp_path / "m.lineal")
        tracemalloc.start()
        verify(tmp_path / "m.lineal", tmp_path / "t.parquet")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 2**20, peaks


def test_progress_is_shown(tmp_path, small):
    path, data = fitted(tmp_path, "logistic")
    shares: dict[str, list[float]] = {}
    verify(path, data, watch=lambda words, share: shares.setdefault(words, []).append(share))
    assert "reading" in shares
    assert any(words.startswith("proving, pass 2") for words in shares)
    for found in shares.values():
        assert found == sorted(found)
        assert 0.0 <= found[0] <= found[-1] <= 1.0
