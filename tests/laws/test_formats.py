"""Laws of file formats, over the whole catalogue: recognized by name and by content, packed, written and read back."""

from __future__ import annotations

import bz2
import gzip
import lzma
import pickle
from importlib.util import find_spec
from itertools import combinations

import pyarrow as pa
import pytest

from lineal.errors import InputError
from lineal.tables import formats, packing
from lineal.tables.file import File
from lineal.tables.table import as_table


def there(kind):
    """Return a format as a case, skipped where what reads and writes it is not installed."""
    missing = [name for name in kind.needs if find_spec(name) is None]
    return pytest.param(kind, id=kind.__name__, marks=pytest.mark.skipif(bool(missing), reason=f"without {missing}"))


def zstandard(data):
    stream = pa.BufferOutputStream()
    with pa.CompressedOutputStream(stream, "zstd") as packer:
        packer.write(data)
    return stream.getvalue().to_pybytes()


EVERY = pytest.mark.parametrize("kind", [there(kind) for kind in formats.ALL])
PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard}


def test_every_packing_is_tried():
    assert set(PACKERS) == set(packing.ENDINGS)


def content(table):
    """Return names and cells of a table of two rows."""
    batches = list(table.batches())
    assert sum(batch.num_rows for batch in batches) == 2
    if table.sparse:
        return table.names, [row for batch in batches for row in (batch.y.tolist(), batch.values.tolist())]
    return table.names, [[str(cell) for cell in column.to_pylist()] for batch in batches for column in batch.columns]


def saved(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


def test_no_two_formats_share_an_ending():
    for one, other in combinations(formats.ALL, 2):
        assert not set(one.endings) & set(other.endings)
    assert all(set(one.written) <= set(one.endings) for one in formats.ALL)


@EVERY
def test_its_name_or_its_content_says_what_a_file_is(kind, tmp_path):
    expected = None
    for ending in (*kind.endings, kind.endings[0].upper(), ""):
        if ending == ".npz":
            continue  # several arrays in one file: the example is one
        path = saved(tmp_path, f"t{ending}", kind.example())
        assert formats.format_of(File(path)) is kind
        found = content(as_table(path))
        expected = expected or found
        assert found == expected
    assert len(expected[0]) == 2


@pytest.mark.parametrize("ending", PACKERS)
@EVERY
def test_it_is_unpacked_on_the_way_or_says_that_it_packs_itself(kind, ending, tmp_path):
    packed = saved(tmp_path, f"t{kind.endings[0]}{ending}", PACKERS[ending](kind.example()))
    if kind.compresses:
        with pytest.raises(InputError, match="is packed with"):
            as_table(packed)
    else:
        plain = saved(tmp_path, f"t{kind.endings[0]}", kind.example())
        assert content(as_table(packed)) == content(as_table(plain))


@pytest.mark.parametrize("kind", [kind for kind in formats.ALL if not kind.written], ids=lambda kind: kind.__name__)
def test_what_is_only_read_has_no_sink(kind, tmp_path):
    assert formats.written_as(tmp_path / f"t{kind.endings[0]}") is None
    with pytest.raises(NotImplementedError):
        kind.sink(None)


WRITTEN = [(kind, ending) for kind in formats.ALL for ending in kind.written]


@pytest.mark.parametrize(
    ("kind", "ending"),
    [pytest.param(*there(kind).values, end, marks=there(kind).marks, id=end) for kind, end in WRITTEN],
)
def test_what_it_writes_it_reads_again(kind, ending, tmp_path):
    path = tmp_path / f"t{ending}"
    assert formats.written_as(path) is kind
    with path.open("wb") as stream:
        sink = kind.sink(stream, ending)
        sink.write(pa.RecordBatch.from_pydict({"a, b": ["x", 'say "y"'], "n": ["1", "2"]}))
        sink.close()
    assert content(as_table(path)) == (("a, b", "n"), [["x", 'say "y"'], ["1", "2"]])


@EVERY
def test_options_of_delimited_text_are_refused_elsewhere(kind, tmp_path):
    path = saved(tmp_path, f"t{kind.endings[0]}", kind.example())
    if kind is formats.DelimitedText:
        assert len(as_table(path, delimiter=",", header=True).names) == 2
    else:
        with pytest.raises(InputError, match="can be given for delimited text only"):
            as_table(path, delimiter=",")


@EVERY
def test_its_tables_pickle_before_and_after_use(kind, tmp_path):
    table = as_table(saved(tmp_path, f"t{kind.endings[0]}", kind.example()))
    fresh = pickle.loads(pickle.dumps(table))  # noqa: S301
    expected = content(table)
    used = pickle.loads(pickle.dumps(table))  # noqa: S301
    assert content(fresh) == content(used) == expected
