"""Laws of sources: any partition gives the in-memory sum; a delimited file is what the csv module reads."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

import lineal.tables.columnar
import lineal.tables.delimited
import lineal.tables.file
from lineal.designs import Categorical, Dense, HStack, Ones, Sparse
from lineal.features.encoded import Encoded
from lineal.features.learning import learn
from lineal.sources import rowwise
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Access, Block
from lineal.sources.spilled import Spilled
from lineal.tables.table import as_table, split

LAW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
HERE = Path(__file__).resolve().parents[1] / "references" / "data"
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True)
class Sums:
    """Everything a linear pass adds up."""

    parts: tuple

    def __add__(self, other):
        return Sums(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))


def task(block: Block) -> Sums:
    s = np.ones(block.n_rows) if block.weight is None else block.weight
    offset = np.zeros((block.n_rows, 1)) if block.offset is None else block.offset
    return Sums(
        (block.design.gram(s), block.design.transpose_times(s[:, None] * (block.y - offset)), block.n_rows, s.sum())
    )


def close(one: Sums, other: Sums) -> None:
    for a, b in zip(one.parts, other.parts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-9)


@pytest.fixture
def small(monkeypatch):
    """Read in pieces of a few bytes and batches of a few rows."""

    def to(size: int, rows: int) -> None:
        monkeypatch.setattr(lineal.tables.file, "CHUNK_BYTES", size)
        for module in (lineal.tables.delimited, lineal.tables.columnar):
            monkeypatch.setattr(module, "BATCH_ROWS", rows)

    return to


@LAW
@given(
    data=st.data(),
    size=st.integers(1, 60),
    rows=st.integers(1, 4),
    delimiter=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_a_delimited_file_is_what_the_csv_module_reads(small, data, size, rows, delimiter, end):
    """Cells with quotes, delimiters and line ends, cut into pieces anywhere; the last row is not empty (it would go)."""
    width = data.draw(st.integers(2, 4))
    cell = st.text(st.sampled_from(f'ab "\n1é{delimiter}'), max_size=5)
    table = data.draw(st.lists(st.lists(cell, min_size=width, max_size=width), max_size=12))
    table.append(["a", *data.draw(st.lists(cell, min_size=width - 1, max_size=width - 1))])
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows([[f"n{j}" for j in range(width)], *table])
    small(size, rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(out.getvalue().encode())
        found = as_table(path, delimiter=delimiter, quote='"', header=True)
        read = [list(row) for batch in found.batches() for row in zip(*batch.to_pydict().values(), strict=True)]
        numbers = np.concatenate([n for n, _ in found.numbered()])
        packed = Path(folder) / "t.csv.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        again = as_table(packed, delimiter=delimiter, quote='"', header=True).select(texts=found.names)
        read_again = [list(row) for batch in again.batches() for row in zip(*batch.to_pydict().values(), strict=True)]
    assert read == table
    assert read_again == table
    assert numbers.tolist() == list(range(len(table)))


@pytest.mark.parametrize(("size", "rows"), [(50, 3), (700, 10_000), (5000, 7)])
@pytest.mark.parametrize("role", [None, "weight", "offset"])
def test_streamed_sums_are_the_sums_in_memory(small, tmp_path, size, rows, role):
    rng = np.random.default_rng(1)
    lines = ["y,a,b,kind,member,role"]
    for i in range(120):
        gone = rng.random(5) < 0.1
        cells = [
            f"{rng.normal():.17g}",
            f"{rng.normal():.17g}",
            str(rng.integers(9)),
            "uvw"[rng.integers(3)],
            ["yes", "no"][i % 2],
        ]
        lines.append(",".join([*("NA" if lost else cell for cell, lost in zip(cells, gone, strict=True)), str(i % 4)]))
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    options = {} if role is None else {role: "role"}
    whole = as_table(path)
    learned = learn(whole, target="y", **options)
    held = Encoded(whole, learned)
    memory = held.in_memory(10**9)
    assert isinstance(memory, Memory)
    small(size, rows)
    table = as_table(path)
    again = learn(table, target="y", **options)
    assert again.encoder == learned.encoder
    assert again.report == learned.report
    stream = Encoded(table, again)
    blocks = list(stream.blocks())
    assert len(blocks) > 1
    assert [block.start for block in blocks] == np.cumsum([0, *(block.n_rows for block in blocks[:-1])]).tolist()
    close(stream.sum(task), memory.sum(task))
    assert stream.fingerprint() == held.fingerprint()
    disk = stream.in_memory(1)
    assert isinstance(disk, Spilled)
    assert stream.fingerprint() == held.fingerprint()
    close(disk.sum(task), memory.sum(task))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lineal.features.encoded.room", lambda _: False)
        assert stream.in_memory(1) is stream
    regrown = stream.in_memory(10**9)
    assert regrown.block.design.dense().tolist() == memory.block.design.dense().tolist()
    assert regrown.block.y.tolist() == memory.block.y.tolist()


@LAW
@given(st.data(), st.integers(1, 40), st.integers(0, 5))
def test_any_partition_gives_the_sum_in_memory(data, n, seed):
    rng = np.random.default_rng(seed)
    numbers, codes, y, weight = (
        rng.normal(size=(n, 2)),
        rng.integers(-1, 2, n).astype(np.int32),
        rng.normal(size=(n, 1)),
        rng.integers(0, 3, n) * 1.0,
    )
    design = HStack([Ones(n), Dense(numbers), Categorical(codes, 2)])
    memory = Memory(design, y, weight)
    cuts = sorted({0, n, *data.draw(st.lists(st.integers(0, n), max_size=5))})
    blocks = Blocks([Block(design.slice(a, b), y[a:b], weight[a:b]) for a, b in pairwise(cuts)])
    assert [block.start for block in blocks.blocks()] == cuts[:-1]
    close(blocks.sum(task), memory.sum(task))
    coef, values = rng.normal(size=(design.shape[1], 2)), rng.normal(size=(n, 2))
    dense = design.dense()
    for source in (blocks, blocks.map(Twice()).map(Halved()), blocks.map(Twice(), keep=True).map(Halved(), keep=True)):
        np.testing.assert_allclose(rowwise.times(source, coef), dense @ coef, atol=1e-12)
        np.testing.assert_allclose(rowwise.transpose_times(source, values), dense.T @ values, atol=1e-12)
        np.testing.assert_allclose(rowwise.gram(source, values[:, 0]), dense.T @ (values[:, :1] * dense), atol=1e-12)
        np.testing.assert_array_equal(rowwise.weights(source), weight)
        picked = np.unique(rng.integers(0, n, 3))
        np.testing.assert_array_equal(np.concatenate(source.collect(rowwise.Cells(picked))), dense[picked])
        close(source.sum(task), memory.sum(task))


@dataclass(frozen=True)
class Twice:
    """The change that doubles targets."""

    def __call__(self, block):
        return replace(block, y=2.0 * block.y)


@dataclass(frozen=True)
class Halved:
    """The change that takes that back."""

    def __call__(self, block):
        return replace(block, y=0.5 * block.y)


def test_only_rows_that_stay_in_memory_are_handed_out_at_once():
    memory = Memory(Dense(np.eye(2)), np.zeros(2))
    assert memory.offers == Access.ITERATE | Access.RESIDENT
    assert memory.map(Twice()).held()[0].n_rows == 2
    disk = Spilled(memory.blocks(), memory.columns)
    assert disk.offers == disk.map(Twice()).offers == Access.ITERATE
    with pytest.raises(TypeError, match="do not stay in memory"):
        disk.held()


@pytest.mark.parametrize("name", ["heart_scale.svm", "agaricus_test.svm"])
def test_a_sparse_file_is_its_dense_self(small, name):
    path = next((folder / name for folder in (HERE, DATA) if (folder / name).exists()), None)
    if path is None:
        pytest.skip(f"../shared/data/{name} is not there")
    datasets = pytest.importorskip("sklearn.datasets")
    matrix, labels = datasets.load_svmlight_file(str(path), zero_based=True)
    small(5000, 50)
    table = as_table(path)
    train, test = split(table, 1, 0.3)
    learned = learn(train)
    rows = np.concatenate([numbers for numbers, _ in train.numbered()])
    features = [int(term.column) for term in learned.encoder.terms]
    dense = np.column_stack([np.ones(len(rows)), matrix.toarray()[rows][:, features]])
    stream, memory = Encoded(train, learned), Encoded(train, learned).in_memory(10**9)
    assert memory.block.design.dense().tolist() == dense.tolist()
    assert [learned.target.classes[int(k)] for k in memory.block.y[:, 0]] == labels[rows].astype(int).tolist()
    assert len(list(stream.blocks())) > 1
    close(stream.sum(task), memory.sum(task))
    varying = [f for f in range(matrix.shape[1]) if np.ptp(matrix.toarray()[rows, f]) > 0]
    assert features == varying
    assert sum(block.n_rows for block in Encoded(test, learned).blocks()) + len(rows) == len(labels)
    as_columns = {str(f): matrix.toarray()[:, f] for f in features}
    assert learned.encoder.encode(table).dense().tolist() == learned.encoder.encode(as_columns).dense().tolist()


@pytest.mark.parametrize("kind", ["dense", "sparse", "mixed"])
def test_rows_on_disk_are_the_rows_that_were_written(kind):
    rng = np.random.default_rng(1)
    blocks = []
    for rows in (5, 1, 7):
        parts = [Ones(rows)]
        if kind != "sparse":
            parts.append(
                Dense(np.asfortranarray(rng.normal(size=(rows, 2))).astype(np.float32 if rows == 1 else np.float64))
            )
        if kind != "dense":
            matrix = sparse.random_array((rows + 2, 4), density=0.5, rng=rng, format="csr")
            parts += [Sparse(matrix).slice(1, rows + 1), Categorical(rng.integers(-1, 3, rows), 3)]
        weight = rng.random(rows) if kind == "mixed" else None
        blocks.append(
            Block(HStack(parts), rng.normal(size=(rows, 1)), weight, None if weight is None else weight[:, None])
        )
    memory = Blocks(blocks)
    disk = Spilled(memory.blocks(), memory.columns)
    for _ in range(2):
        for one, other in zip(memory.blocks(), disk.blocks(), strict=True):
            np.testing.assert_array_equal(one.design.dense(), other.design.dense())
            np.testing.assert_array_equal(one.y, other.y)
            assert one.start == other.start
            if kind == "mixed":
                np.testing.assert_array_equal(one.weight, other.weight)
                np.testing.assert_array_equal(one.offset, other.offset)
