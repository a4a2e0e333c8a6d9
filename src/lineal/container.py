"""Bytes to JSON and arrays, and back: the container of a model file (docs/model-file.md). Loading runs no code.

The layout is safetensors: ``length of the header (8 bytes) | header (JSON) | arrays``. The header has one metadata key,
``lineal``, whose canonical JSON carries the SHA-256 of everything else: one model has exactly one sequence of bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import secrets
import stat
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError, ModelFileError, near

FORMATS: Final = ("lineal-model", "lineal-separability")
"""What a file may hold: a fitted model, or the answer whether classes are separable."""
VERSION: Final = 2
"""The version that is written."""
VERSIONS: Final = (1, 2)
"""The versions that are read: lineal 0.1 wrote version 1, which has no ``encoding``."""
ENCODING: Final = ("columns", "encoder", "roles", "target")
"""The fields that say how rows become numbers, and numbers become answers."""
OPTIONAL: Final = {"feature_map"}
"""Those of them that not every model has."""
MAX_HEADER: Final = 64 * 2**20
MAX_FILE: Final = 4 * 2**30
PIECE: Final = 2**20
MAX_DEPTH: Final = 32
MAX_DIMENSIONS: Final = 8

DTYPES: Final[dict[str, np.dtype[Any]]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "U8": np.dtype("u1"),
}
"""The array types a model file may hold, by their safetensors names."""

Arrays = dict[str, npt.NDArray[Any]]


def canonical(value: object) -> str:
    """Return the one JSON text of plain data: keys sorted, no spaces, no NaN or infinity.

    >>> canonical({"b": 1.0, "a": [True, None, "é"]})
    '{"a":[true,null,"é"],"b":1.0}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: object) -> str:
    """Return the SHA-256 of the canonical JSON of plain data, as a model file states it.

    >>> digest({"b": 1.0, "a": None})[:19]
    'sha256:81ad5ecd9738'
    """
    return f"sha256:{hashlib.sha256(canonical(value).encode()).hexdigest()}"


def encoding(meta: Mapping[str, Any]) -> str:
    """Return the hash of everything that says how rows become numbers: the ``encoding`` of a file."""
    return digest({name: meta[name] for name in (*ENCODING, *(OPTIONAL & meta.keys()))})


def signature(meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Return the SHA-256 by which the file of this JSON and these arrays is known."""
    return _signature(_encode(dict(meta), arrays)[0])


def _signature(header: bytes) -> str:
    return str(json.loads(json.loads(header)["__metadata__"]["lineal"])["sha256"])


def write(path: str | os.PathLike[str], meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write a model file, whole or not at all: a temporary file beside it, then one rename.

    The same ``meta`` and ``arrays`` always give the same bytes. ``meta`` must not hold ``sha256``: it is added here.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "m.lineal"
    ...     write(file, {"format": "lineal-model", "version": 1}, {"coef": np.zeros((2, 1))})
    ...     meta, arrays = read(file)
    >>> meta["version"], arrays["coef"].shape
    (1, (2, 1))
    """
    path = Path(path)
    header, payload = _encode(dict(meta), arrays)
    if len(header) > MAX_HEADER or 8 + len(header) + sum(map(len, payload)) > MAX_FILE:
        raise InputError(
            f"the model is too large for a model file (at most {MAX_HEADER} bytes of header, {MAX_FILE} in all)."
        )
    pieces = [struct.pack("<Q", len(header)), header, *payload]
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as device:  # a pipe or a device cannot be replaced by a rename, and must not be
                device.writelines(pieces)
        else:
            _replace(path, pieces)
    except OSError as error:
        raise InputError(f"the model could not be written to {path}: {_reason(error)}.") from error


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Return the JSON (its checked ``sha256`` taken off) and the arrays, or refuse the file in a sentence."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size > MAX_FILE:
                raise ModelFileError(f"{path} is refused: it is larger than a model file may be ({MAX_FILE} bytes).")
            data = _whole(file, status.st_size if stat.S_ISREG(status.st_mode) else None)
    except FileNotFoundError as error:
        folder = path.parent
        hint = near(path.name, sorted(entry.name for entry in folder.iterdir())) if folder.is_dir() else ""
        raise InputError(f"there is no model file {str(path)!r}; lineal fit writes one.{hint}") from error
    except OSError as error:
        raise InputError(f"the model file {path} cannot be read: {_reason(error)}.") from error
    try:
        return parse(data)
    except ModelFileError as error:
        raise ModelFileError(f"{path} is refused: {error}") from None


def _whole(file: BinaryIO, size: int | None) -> bytes:
    """Return what a file holds, up to a byte more than a model file may; a read claims all the memory it is asked for."""
    if size is not None:
        return file.read(size + 1)
    content = bytearray()
    while len(content) <= MAX_FILE and (piece := file.read(PIECE)):
        content += piece
        if content[8:9] not in (bytearray(), bytearray(b"{")):  # none of ours: a device may have no end
            break
    return bytes(content)


def parse(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """Return the JSON and the arrays held in the bytes of a model file.

    >>> parse(b"PK")
    Traceback (most recent call last):
    lineal.errors.ModelFileError: it is not a model file (2 bytes are too few); give one that lineal fit wrote, before the data.
    """
    if len(data) < 10:
        raise ModelFileError(
            f"it is not a model file ({len(data)} bytes are too few); give one that lineal fit wrote, before the data."
        )
    if len(data) > MAX_FILE:
        raise ModelFileError(f"it is larger than a model file may be ({MAX_FILE} bytes).")
    (length,) = struct.unpack("<Q", data[:8])
    if data[8:9] != b"{":
        raise ModelFileError(
            "it is not a model file (no header where one must be); give one that lineal fit wrote, before the data."
        )
    if length > MAX_HEADER:
        raise ModelFileError(f"its header claims {length} bytes, at most {MAX_HEADER} are allowed.")
    if 8 + length > len(data):
        raise ModelFileError(f"it is truncated: the header needs {8 + length} bytes, the file has {len(data)}.")
    table = _object(_decode(data[8 : 8 + length]), "the header")
    meta = _metadata(table)
    body = memoryview(data)[8 + length :]
    arrays = _arrays(table, body)
    claimed = meta.pop("sha256", None)
    try:
        header, payload = _encode(meta, arrays)
    except InputError:
        raise ModelFileError("its JSON holds text that is not valid UTF-8.") from None
    if _signature(header) != claimed:
        raise ModelFileError("its SHA-256 does not fit its content: the file was damaged or altered.")
    if header != data[8 : 8 + length] or b"".join(payload) != body:
        raise ModelFileError("its header is not in the canonical form: the file was altered or not written by lineal.")
    return meta, arrays


def _encode(meta: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> tuple[bytes, list[bytes]]:
    """Return the padded header and the bytes of each array, in the order of the names."""
    if "sha256" in meta:
        raise InputError("the sha256 of a model file is computed when it is written; do not give one.")
    names = {dtype: name for name, dtype in DTYPES.items()}
    table: dict[str, Any] = {}
    payload: list[bytes] = []
    begin = 0
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        dtype = array.dtype.newbyteorder("<")
        if dtype not in names or name == "__metadata__" or array.ndim > MAX_DIMENSIONS:
            raise InputError(
                f"array {name!r} of type {array.dtype} cannot be in a model file; accepted are {', '.join(DTYPES)}."
            )
        payload.append(array.astype(dtype, order="C").tobytes())
        table[name] = {
            "dtype": names[dtype],
            "shape": list(array.shape),
            "data_offsets": [begin, begin + len(payload[-1])],
        }
        begin += len(payload[-1])
    try:
        # The array table is part of what is hashed: otherwise an array could be renamed or reshaped unnoticed.
        digest = hashlib.sha256(canonical(meta).encode())
        digest.update(canonical(table).encode())
        for piece in payload:
            digest.update(piece)
        text = canonical({**meta, "sha256": digest.hexdigest()})
        _decode(text.encode())
        header = canonical({"__metadata__": {"lineal": text}, **table}).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"this is not data a model file can hold: {error}.") from error
    return header + b" " * (-len(header) % 8), payload


def _metadata(table: dict[str, Any]) -> dict[str, Any]:
    """Take the lineal JSON out of the header, and check its format and version."""
    metadata = table.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not isinstance(metadata.get("lineal"), str):
        raise ModelFileError("it is not a lineal model: its header has no metadata called 'lineal'.")
    if len(metadata) != 1:
        raise ModelFileError("its header has metadata besides 'lineal'; a model file has exactly one metadata key.")
    try:
        text = metadata["lineal"].encode()
    except UnicodeEncodeError:
        raise ModelFileError("its JSON is not valid UTF-8.") from None
    meta = _object(_decode(text), "its JSON")
    if meta.get("format") not in FORMATS:
        raise ModelFileError(
            f"it is not a lineal model: its format is {_short(meta.get('format'))}, not {FORMATS[0]!r}."
        )
    version = meta.get("version")
    if type(version) is not int or version not in VERSIONS:
        raise ModelFileError(
            f"its version is {_short(version)}, this lineal reads versions {VERSIONS[0]} and {VERSIONS[1]}; "
            "use the lineal that wrote it, or fit again."
        )
    return meta


def _arrays(table: dict[str, Any], body: memoryview) -> Arrays:
    """Return the arrays of the body; they must lie one after another in the order of their names, without gaps."""
    arrays: Arrays = {}
    position = 0
    for name in sorted(table):
        entry = _object(table[name], f"the entry of array {name!r}")
        if set(entry) != {"dtype", "shape", "data_offsets"}:
            raise ModelFileError(f"array {_short(name)} must have dtype, shape and data_offsets, and nothing else.")
        dtype = DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
        if dtype is None:
            raise ModelFileError(
                f"array {_short(name)} has type {_short(entry['dtype'])}; accepted are {', '.join(DTYPES)}."
            )
        shape, offsets = _sizes(entry["shape"], name, "shape"), _sizes(entry["data_offsets"], name, "data_offsets")
        if len(shape) > MAX_DIMENSIONS or math.prod(max(size, 1) for size in shape) * dtype.itemsize > MAX_FILE:
            raise ModelFileError(f"array {_short(name)} has an impossible shape.")
        size = math.prod(shape) * dtype.itemsize
        if len(offsets) != 2 or offsets[0] != position or offsets[1] != position + size:
            raise ModelFileError(
                f"array {_short(name)} of {size} bytes must lie at {position} to {position + size}, its offsets say "
                f"{_short(offsets)}: arrays overlap, leave a gap or have another size."
            )
        position += size
        if position > len(body):
            raise ModelFileError(
                f"it is truncated: array {_short(name)} ends at byte {position} of the arrays, "
                f"the file has {len(body)}."
            )
        values = np.frombuffer(body[offsets[0] : position], dtype=dtype).reshape(shape)
        arrays[name] = values.astype(dtype.newbyteorder("="), copy=True)
    if position != len(body):
        raise ModelFileError(f"it has {len(body) - position} bytes after its last array.")
    return arrays


def _sizes(value: object, name: str, what: str) -> list[int]:
    if not isinstance(value, list) or not all(type(item) is int and 0 <= item <= MAX_FILE for item in value):
        raise ModelFileError(
            f"the {what} of array {_short(name)} must be a list of sizes between 0 and {MAX_FILE}, "
            f"it is {_short(value)}."
        )
    return value


def _decode(text: bytes) -> object:
    """Parse JSON strictly: UTF-8, no duplicate keys, no NaN or infinity, no number beyond 64 bits, limited nesting."""
    try:
        value = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_integer,
        )
    except UnicodeDecodeError:
        raise ModelFileError("its JSON is not valid UTF-8.") from None
    except RecursionError:
        raise ModelFileError(f"its JSON is nested more than {MAX_DEPTH} deep.") from None
    except json.JSONDecodeError as error:
        raise ModelFileError(f"its header is not JSON ({error.msg} at character {error.pos}).") from None
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for node in level
            if isinstance(node, dict | list)
            for item in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return value
    raise ModelFileError(f"its JSON is nested more than {MAX_DEPTH} deep.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ModelFileError(
            f"its JSON names {_short(next(key for key in keys if keys.count(key) > 1))} twice in one object."
        )
    return fields


def _constant(text: str) -> NoReturn:
    raise ModelFileError(f"its JSON holds {text}, which is not a JSON number.")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ModelFileError(f"its JSON holds the number {_short(text)}, which is too large for a double.")
    return value


def _integer(text: str) -> int:
    if len(text) > 20 or not -(2**63) <= int(text) < 2**64:
        raise ModelFileError(f"its JSON holds the integer {_short(text)}, which is beyond 64 bits.")
    return int(text)


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ModelFileError(f"{what} must be a JSON object, it is {_short(value)}.")
    return value


def _replace(path: Path, pieces: list[bytes]) -> None:
    """Write the pieces to a new file in the same folder, flush it to disk and rename it over ``path``."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:  # also Ctrl-C must leave no partial file
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
