"""A text file is parsed once as long as it fits; what is served from memory is what the file holds."""

from __future__ import annotations

import os

import numpy as np
import pytest

import lineal
from lineal.errors import InputError
from lineal.features.cells.cells import numbers, texts
from lineal.tables.delimited import Delimited
from lineal.tables.remembered import remembered
from lineal.tables.table import as_table, split

ROWS = 3000


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(5)
    lines = [
        f"{a:.3f},{'' if k % 7 == 0 else k % 5},{'NA' if k % 11 == 0 else 'xyz'[k % 3]},{int(a > 0.1)}"
        for k, a in enumerate(rng.normal(size=ROWS))
    ]
    found = tmp_path / "t.csv"
    found.write_text("a,b,c,y\n" + "\n".join(lines) + "\n")
    return found


@pytest.fixture
def passes(monkeypatch):
    """Count how often the file is read."""
    count = [0]
    real = Delimited.numbered

    def numbered(self):
        count[0] += 1
        return real(self)

    monkeypatch.setattr(Delimited, "numbered", numbered)
    return count


def cells(table, *, numbers_of=(), texts_of=()):
    chosen = table.select(numbers=numbers_of, texts=texts_of)
    found = []
    for rows, batch in chosen.numbered():
        columns = [numbers(batch.column(name))[0] for name in numbers_of]
        for name in texts_of:
            codes, levels = texts(batch.column(name))
            columns.append(np.array([*levels, None], dtype=object)[codes])
        found += [(int(row), *map(str, cell)) for row, *cell in zip(rows, *columns, strict=True)]
    return found


def test_later_passes_are_served_from_memory(path, passes):
    table = remembered(as_table(path), 10**8)
    request = {"numbers_of": ["a", "b"], "texts_of": ["c", "y"]}
    whole = cells(table, **request)
    assert whole == cells(as_table(path), **request)
    before = passes[0]
    assert cells(table, **request) == whole
    assert cells(table, texts_of=["y"]) == cells(table, texts_of=["y"])
    assert cells(table, numbers_of=["y", "a"]) == [(row, str(float(y)), a) for row, a, _, _, y in whole]
    train, test = split(table, 3, 0.25)
    assert sorted(cells(train, **request) + cells(test, **request)) == whole
    assert passes[0] == before
    assert cells(table, texts_of=["a"]) == cells(as_table(path), texts_of=["a"])  # the text of a number: read again
    assert passes[0] == before + 2


def test_a_table_beyond_the_limit_is_read_again(path, passes):
    table = remembered(as_table(path), 1000)
    first = cells(table, numbers_of=["a"])
    assert cells(table, numbers_of=["a"]) == first
    assert passes[0] == 2
    assert not table.memory.batches


def test_the_last_pass_releases_the_rows(path, passes):
    table = remembered(as_table(path), 10**8)
    first = cells(table, numbers_of=["a"])
    assert cells(table.last(), numbers_of=["a"]) == first
    assert passes[0] == 1
    assert not table.memory.batches
    assert cells(table.last(), numbers_of=["a"]) == first
    assert passes[0] == 2
    assert not table.memory.batches


def test_a_pass_that_ends_early_is_not_remembered(path, passes):
    table = remembered(as_table(path), 10**8).select(numbers=["a"])
    next(iter(table.numbered()))
    assert len([rows for rows, _ in table.numbered()]) == 1
    assert passes[0] == 2


def test_rows_in_memory_still_notice_that_the_file_changed(path):
    table = remembered(as_table(path), 10**8)
    cells(table, numbers_of=["a"])
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match="changed while it was being read"):
        cells(table, numbers_of=["a"])


@pytest.mark.parametrize("test_size", [0.0, 0.3])
def test_a_fit_parses_its_file_once(path, passes, test_size):
    lineal.fit(path, target="y", penalty="ridge:0.01", test_size=test_size)
    assert passes[0] == 1


def test_memory_changes_nothing(path, monkeypatch):
    kept = lineal.fit(path, target="y", penalty="ridge:0.01", test_size=0.2)
    monkeypatch.setattr("lineal.api.dataset.MAX_MEMORY_BYTES", 0)
    streamed = lineal.fit(path, target="y", penalty="ridge:0.01", test_size=0.2)
    assert kept.training == streamed.training
    np.testing.assert_allclose(kept.coef, streamed.coef, rtol=1e-6)


@pytest.mark.parametrize("key", [None, "id"])
def test_a_file_with_another_beside_it_is_parsed_once(tmp_path, passes, key):
    rng = np.random.default_rng(7)
    a, z = rng.normal(size=(2, 200))
    first, other = tmp_path / "first.csv", tmp_path / "other.csv"
    first.write_text("id,a,y\n" + "".join(f"k{i},{a[i]:.4f},{a[i] + 2 * z[i]:.4f}\n" for i in range(200)))
    head = "id,z\n" if key else "z\n"
    other.write_text(head + "".join(f"{f'k{i},' if key else ''}{z[i]:.4f}\n" for i in range(200)))
    table = lineal.beside(first, other, key=key)
    passes[0] = 0
    model = lineal.fit(table, target="y", drop=["id"], penalty="none", test_size=0.25)
    assert passes[0] == 1
    assert dict(zip(model.columns, model.coef[:, 0], strict=True)) == pytest.approx(
        {"(intercept)": 0.0, "a": 1.0, "z": 2.0}, abs=1e-3
    )
