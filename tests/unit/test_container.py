"""The container of model files: one model, one sequence of bytes, and nothing else is accepted."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import struct
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lineal import container
from lineal.errors import InputError, ModelFileError

META = {"format": "lineal-model", "version": 1, "columns": ["(intercept)", "âge"], "tol": 1e-6, "nothing": None}
ARRAYS = {"coef": np.array([[1.5], [-2.0]]), "charges": np.array([0.0, 1.0]), "codes": np.arange(3, dtype=np.int32)}


def sign(meta: dict, table: dict, body: bytes) -> bytes:
    """Build a file by hand, with a valid hash, from the text of docs/model-file.md alone."""
    plain = json.dumps(meta, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    entries = json.dumps(table, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    signed = {**meta, "sha256": hashlib.sha256(plain + entries + body).hexdigest()}
    return pack(json.dumps(signed, sort_keys=True, separators=(",", ":"), ensure_ascii=False), table, body)


def pack(text: str, table: dict, body: bytes) -> bytes:
    whole = {**table, "__metadata__": {"lineal": text}}
    header = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + body


def entry(begin: int, shape: list, dtype: str = "F64", size: int | None = None) -> dict:
    size = 8 * int(np.prod(shape)) if size is None else size
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, begin + size]}


GOOD_TABLE = {"coef": entry(0, [2, 1])}
GOOD_BODY = np.array([1.0, 2.0]).tobytes()
GOOD_META = {"format": "lineal-model", "version": 1}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "m.lineal"
    container.write(path, META, ARRAYS)
    return path


def test_round_trip_and_same_bytes(file, tmp_path):
    meta, arrays = container.read(file)
    assert meta == META
    assert list(arrays) == sorted(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
    again = tmp_path / "again.lineal"
    container.write(again, dict(reversed(meta.items())), dict(reversed(arrays.items())))
    assert again.read_bytes() == file.read_bytes()


def test_the_document_describes_the_bytes():
    meta, arrays = container.parse(sign(GOOD_META, GOOD_TABLE, GOOD_BODY))
    assert meta == GOOD_META
    np.testing.assert_array_equal(arrays["coef"], [[1.0], [2.0]])


def test_the_safetensors_package_opens_it(file):
    from safetensors import safe_open

    with safe_open(file, "numpy") as opened:
        assert set(opened.keys()) == set(ARRAYS)
        np.testing.assert_array_equal(opened.get_tensor("coef"), ARRAYS["coef"])
        assert json.loads(opened.metadata()["lineal"])["columns"] == META["columns"]


def test_header_is_aligned(file):
    data = file.read_bytes()
    assert struct.unpack("<Q", data[:8])[0] % 8 == 0


def test_fortran_and_strided_and_big_endian_arrays(tmp_path):
    values = np.arange(6.0).reshape(2, 3)
    paths = []
    for number, array in enumerate(
        [values, np.asfortranarray(values), np.repeat(values, 2, axis=1)[:, ::2], values.astype(">f8")]
    ):
        paths.append(tmp_path / f"{number}.lineal")
        container.write(paths[-1], GOOD_META, {"coef": array})
    assert len({path.read_bytes() for path in paths}) == 1


def test_empty_arrays_and_scalars(tmp_path):
    path = tmp_path / "m.lineal"
    container.write(path, GOOD_META, {"a": np.zeros((0, 3)), "b": np.float32(2.0), "c": np.zeros(2, np.uint8)})
    _, arrays = container.read(path)
    assert arrays["a"].shape == (0, 3)
    assert arrays["b"].shape == ()


def test_every_single_bit_flip_is_refused(file):
    data = file.read_bytes()
    for position in range(len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[position] ^= 1 << bit
            with pytest.raises(ModelFileError):
                container.parse(bytes(damaged))


def test_every_truncation_and_any_tail_is_refused(file):
    data = file.read_bytes()
    for length in range(len(data)):
        with pytest.raises(ModelFileError):
            container.parse(data[:length])
    with pytest.raises(ModelFileError, match="1 bytes after its last array"):
        container.parse(data + b"\0")


HOSTILE = {
    "not a model": (b"PK\x03\x04" * 10, "not a model file"),
    "empty": (b"", "too few"),
    "huge header": (struct.pack("<Q", 2**63) + b"{" + b" " * 100, "header claims"),
    "header beyond the end": (struct.pack("<Q", 4096) + b"{" + b" " * 100, "truncated"),
    "no metadata": (struct.pack("<Q", 8) + b"{}      ", "no metadata"),
    "not JSON": (struct.pack("<Q", 8) + b"{nope}  ", "not JSON"),
    "not UTF-8": (struct.pack("<Q", 8) + b'{"\xff":1} ', "UTF-8"),
    "header is nested": (struct.pack("<Q", 4008) + b'{"a":' + b"[" * 4003, "not JSON|nested"),
    "json is nested": (pack('{"a":' + "[" * 40 + "]" * 40 + "}", {}, b""), "nested more than 32"),
    "json is nested beyond Python": (pack('{"a":' + "[" * 200000 + "]" * 200000 + "}", {}, b""), "nested more than 32"),
    "duplicate key": (pack('{"format":"lineal-model","version":1,"version":1}', {}, b""), "'version' twice"),
    "NaN": (pack('{"format":"lineal-model","tol":NaN,"version":1}', {}, b""), "NaN"),
    "Infinity": (pack('{"format":"lineal-model","tol":-Infinity,"version":1}', {}, b""), "Infinity"),
    "overflowing float": (pack('{"format":"lineal-model","tol":1e999,"version":1}', {}, b""), "too large"),
    "overflowing integer": (
        pack('{"format":"lineal-model","tol":' + "9" * 5000 + ',"version":1}', {}, b""),
        "beyond 64 bits",
    ),
    "json is a list": (pack("[]", {}, b""), "JSON object"),
    "other format": (pack('{"format":"pickle","version":1}', {}, b""), "not a lineal model"),
    "lone surrogate": (pack('{"format":"lineal-model","version":1,"x":"\\ud800"}', {}, b""), "UTF-8"),
    "version 3": (sign({**GOOD_META, "version": 3}, GOOD_TABLE, GOOD_BODY), "version is 3"),
    "version true": (sign({**GOOD_META, "version": True}, GOOD_TABLE, GOOD_BODY), "version is True"),
    "version 1.0": (sign({**GOOD_META, "version": 1.0}, GOOD_TABLE, GOOD_BODY), "version is 1.0"),
    "dtype": (sign(GOOD_META, {"coef": entry(0, [2, 1], "BF16")}, GOOD_BODY), "type 'BF16'"),
    "dtype is a list": (sign(GOOD_META, {"coef": {**entry(0, [2, 1]), "dtype": ["F64"]}}, GOOD_BODY), "type"),
    "negative shape": (sign(GOOD_META, {"coef": entry(0, [-2, -1], size=16)}, GOOD_BODY), "list of sizes"),
    "float shape": (sign(GOOD_META, {"coef": entry(0, [2.0, 1], size=16)}, GOOD_BODY), "list of sizes"),
    "shape is a number": (sign(GOOD_META, {"coef": {**entry(0, [2, 1]), "shape": 2}}, GOOD_BODY), "list of sizes"),
    "shape too large": (sign(GOOD_META, {"coef": entry(0, [2**31, 2**31], size=16)}, GOOD_BODY), "impossible shape"),
    "zero times huge": (sign(GOOD_META, {"coef": entry(0, [0, 2**31, 2**31], size=0)}, b""), "impossible shape"),
    "shape beyond 64 bits": (sign(GOOD_META, {"coef": entry(0, [2**70, 0], size=0)}, b""), "beyond 64 bits"),
    "many dimensions": (sign(GOOD_META, {"coef": entry(0, [1] * 40, size=8)}, GOOD_BODY[:8]), "impossible shape"),
    "size and shape disagree": (sign(GOOD_META, {"coef": entry(0, [3, 1], size=16)}, GOOD_BODY), "another size"),
    "overlap": (sign(GOOD_META, {"a": entry(0, [2]), "b": entry(8, [1])}, GOOD_BODY), "overlap"),
    "gap": (sign(GOOD_META, {"a": entry(8, [1])}, GOOD_BODY), "gap"),
    "extra field": (sign(GOOD_META, {"a": {**entry(0, [2]), "pickle": 1}}, GOOD_BODY), "nothing else"),
    "array is null": (sign(GOOD_META, {"a": None}, GOOD_BODY), "JSON object"),
    "data missing": (sign(GOOD_META, {"a": entry(0, [4])}, GOOD_BODY), "truncated"),
    "wrong hash": (pack('{"format":"lineal-model","sha256":"00","version":1}', {}, b""), "SHA-256"),
    "no hash": (pack('{"format":"lineal-model","version":1}', {}, b""), "SHA-256"),
    "spaces in the JSON": (
        sign(GOOD_META, GOOD_TABLE, GOOD_BODY).replace(b'{\\"format', b'{ \\"format'),
        "truncated|JSON|bytes after|canonical",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_in_a_sentence(name):
    data, message = HOSTILE[name]
    with pytest.raises(ModelFileError, match=message):
        container.parse(data)


def test_a_renamed_or_reshaped_array_breaks_the_hash():
    good = sign(GOOD_META, GOOD_TABLE, GOOD_BODY)
    for old, new in [(b'"coef"', b'"coeg"'), (b"[2,1]", b"[1,2]")]:
        assert old in good
        with pytest.raises(ModelFileError, match="SHA-256"):
            container.parse(good.replace(old, new))


def test_a_second_spelling_of_the_same_model_is_refused():
    good = sign(GOOD_META, GOOD_TABLE, GOOD_BODY)
    length = struct.unpack("<Q", good[:8])[0]
    longer = struct.pack("<Q", length + 8) + good[8 : 8 + length] + b" " * 8 + good[8 + length :]
    with pytest.raises(ModelFileError, match="canonical"):
        container.parse(longer)


def test_oversized_files_are_refused_without_reading_them(tmp_path):
    path = tmp_path / "big.lineal"
    with path.open("wb") as file:
        file.truncate(container.MAX_FILE + 1)  # sparse: takes no space
    with pytest.raises(ModelFileError, match="larger than a model file may be"):
        container.read(path)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_random_damage_raises_nothing_but_model_file_errors(data):
    good = sign(META, {"charges": entry(0, [2]), "coef": entry(16, [2, 1])}, bytes(range(32)))
    damaged = bytearray(good)
    for _ in range(data.draw(st.integers(1, 6))):
        position = data.draw(st.integers(0, len(damaged) - 1))
        how = data.draw(st.sampled_from(["set", "delete", "insert", "copy"]))
        if how == "set":
            damaged[position] = data.draw(st.integers(0, 255))
        elif how == "delete" and len(damaged) > 1:
            del damaged[position : position + data.draw(st.integers(1, 20))]
        elif how == "insert":
            damaged[position:position] = data.draw(st.binary(min_size=1, max_size=12))
        elif how == "copy":
            damaged[position:position] = damaged[position : position + data.draw(st.integers(1, 40))]
        if not damaged:
            break
    assume(bytes(damaged) != good)
    with pytest.raises(ModelFileError):
        container.parse(bytes(damaged))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 300))
def test_random_bytes_raise_nothing_but_model_file_errors(tail, length):
    for data in (tail, struct.pack("<Q", length) + b"{" + tail, struct.pack("<Q", len(tail) + 2) + b"{" + tail + b"}"):
        with pytest.raises(ModelFileError):
            container.parse(data)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=20,
)
ARRAY = st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.uint8]).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda key: key != "sha256"), JSON),
    st.dictionaries(st.sampled_from("abcd"), ARRAY),
)
def test_any_plain_data_survives(tmp_path_factory, meta, arrays):
    path = tmp_path_factory.mktemp("c") / "m.lineal"
    meta = {**meta, **GOOD_META}
    container.write(path, meta, arrays)
    found, back = container.read(path)
    assert found == meta
    assert all(
        back[name].tobytes() == arrays[name].tobytes() and back[name].shape == arrays[name].shape for name in arrays
    )
    first = path.read_bytes()
    container.write(path, found, back)
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("meta", "arrays"),
    [
        ({**GOOD_META, "tol": float("nan")}, {}),
        ({**GOOD_META, "tol": object()}, {}),
        ({**GOOD_META, "sha256": "0"}, {}),
        (GOOD_META, {"coef": np.zeros(2, np.complex128)}),
        (GOOD_META, {"coef": np.array(["a"], dtype=object)}),
        (GOOD_META, {"__metadata__": np.zeros(2)}),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path, meta, arrays):
    with pytest.raises(InputError):
        container.write(tmp_path / "m.lineal", meta, arrays)
    assert list(tmp_path.iterdir()) == []


def test_nesting_too_deep_is_refused_when_writing(tmp_path):
    deep: list = []
    for _ in range(40):
        deep = [deep]
    with pytest.raises(InputError, match="nested"):
        container.write(tmp_path / "m.lineal", {**GOOD_META, "x": deep}, {})


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_no_other(file, monkeypatch, call):
    before = file.read_bytes()

    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(f"lineal.container.os.{call}" if call == "fsync" else "pathlib.Path.replace", full)
    with pytest.raises(InputError, match="no space left on device"):
        container.write(file, META, {"coef": np.zeros((3, 1))})
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_ctrl_c_while_writing_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(_descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr("lineal.container.os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        container.write(tmp_path / "m.lineal", META, ARRAYS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_device_is_written_to_and_never_replaced():
    with pytest.raises(InputError, match="no space left"):
        container.write("/dev/full", META, ARRAYS)
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_missing_folder_or_file_or_a_folder_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        container.write(tmp_path / "none" / "m.lineal", META, ARRAYS)
    with pytest.raises(InputError, match="there is no model file"):
        container.read(tmp_path / "none.lineal")
    with pytest.raises(InputError, match="directory"):
        container.read(tmp_path)
    with pytest.raises(InputError, match="directory"):
        container.write(tmp_path, META, ARRAYS)


def test_reading_claims_no_more_memory_than_the_file_needs(file):
    tracemalloc.start()
    container.read(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20 + 10 * file.stat().st_size


def test_a_pipe_is_read_to_its_end(file, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(file.read_bytes()))
    writer.start()
    assert container.read(pipe)[0] == META
    writer.join()
