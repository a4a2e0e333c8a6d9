"""Long files that begin with ASCII: their encoding is found while they are read, whatever comes later."""

from __future__ import annotations

import numpy as np
import pytest

import lineal
from lineal.tables import file
from lineal.tables.encoding import encoding_of
from lineal.tables.table import as_table

ROWS = 400


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Make a file of some kilobytes a long one of many pieces."""
    monkeypatch.setattr(file, "LONG_FILE_BYTES", 2000)
    monkeypatch.setattr(file, "SAMPLE_BYTES", 500)
    monkeypatch.setattr(file, "CHUNK_BYTES", 300)


def text(odd: str, at: tuple[int, ...]) -> str:
    return "a,b,c\n" + "".join(f"{i},{odd if i in at else 'plain'},{i % 7}\n" for i in range(ROWS))


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii"])
@pytest.mark.parametrize("at", [(399,), (100,), (100, 101, 250), (60, 399)])
@pytest.mark.parametrize("wanted", [None, ["b"], ["c"]])
def test_every_row_is_read_once_in_the_encoding_of_the_file(tmp_path, encoding, at, wanted):
    odd = "cafe" if encoding == "ascii" else "café"
    path = tmp_path / "t.csv"
    path.write_bytes(text(odd, at).encode(encoding))
    table = as_table(path)
    for _ in range(2):
        chosen = table if wanted is None else table.select(numbers=["a"], texts=wanted)
        rows, batches = zip(*chosen.numbered(), strict=True)
        assert np.concatenate(rows).tolist() == list(range(ROWS))
        found = [row for batch in batches for row in batch.to_pylist()]
        assert [float(row["a"]) for row in found] == list(range(ROWS))
        if wanted != ["c"]:
            assert [row["b"] for row in found] == [odd if i in at else "plain" for i in range(ROWS)]
    assert any("Windows-1252" in note for note in table.notes) == (encoding == "cp1252")


def test_notes_are_right_before_the_first_pass(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(text("café", (399,)).encode("latin-1"))
    assert "Windows-1252" in as_table(path).notes[0]


def test_a_plain_file_is_not_looked_at_beforehand(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(text("other", (3,)))
    looks = []
    monkeypatch.setattr(file, "encoding_of", lambda opened: looks.append(1) or encoding_of(opened))
    table = as_table(path)
    assert sum(batch.num_rows for batch in table.batches()) == ROWS
    assert table.notes == ()
    assert looks == []


def test_quoted_cells_of_another_encoding_are_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(text('"a, café"', (200, 390)).encode("latin-1"))
    found = [row["b"] for batch in as_table(path).batches() for row in batch.to_pylist()]
    assert found[200] == found[390] == "a, café"
    assert len(found) == ROWS


def test_bad_rows_are_named_in_either_encoding(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes((text("café", (300,)) + "1,2\n").encode("latin-1"))
    with pytest.raises(lineal.InputError, match=rf"row {ROWS + 1} \(line {ROWS + 2}\)"):
        list(as_table(path).batches())
