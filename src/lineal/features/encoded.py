"""A table seen through what was learned: a source of encoded rows, streamed or held in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.features.encoder import Part, needed
from lineal.features.fingerprint import Fingerprint, Lanes
from lineal.features.learning import Learned
from lineal.features.terms import Number
from lineal.features.terms.rows import Rows
from lineal.features.types.target_type import responses
from lineal.ground.arrays import Array
from lineal.sources.memory import Memory
from lineal.sources.source import Block, Source
from lineal.sources.spilled import Spilled, room
from lineal.tables.file import ahead
from lineal.tables.marked import marked
from lineal.tables.svmlight import LABEL, SparseRows
from lineal.tables.tabular import RowNumbers, Table, filtered

SPARSE_MAX_CELLS = 10**8
"""A sparse table of more cells than this, zeros counted, has no fingerprint: it would take longer than the fit."""

SINGLE_MIN_CELLS = 2**18
"""From this many cells on, numbers that single precision holds exactly are kept in it; fewer are in the cache anyway."""


class Encoded(Source):
    """The rows of a table that have a target, encoded as they are read.

    ``unknown`` is, after a pass, how many cells of each column were levels never seen in training;
    ``without_target`` how many rows were left out.
    """

    def __init__(self, table: Table, learned: Learned) -> None:
        """See ``table`` through ``learned``."""
        self.learned = learned
        table = marked(table, learned.encoder.marks)
        learned.encoder.select(table)  # says which column is not there
        if not table.sparse:
            for role, name in self._named():
                table.require(name, f"{role} column")
        self.table = table.select(numbers=self._numbers, texts=self._texts)
        self.unknown: dict[str, int] = {}
        self.without_target = 0
        self._fingerprint: str | None = None

    def _named(self) -> Iterator[tuple[str, str]]:
        target = self.learned.target
        yield from (("target", name) for name in target.names or (target.name,))
        yield from (
            (r, n) for r, n in (("weight", self.learned.weight), ("offset", self.learned.offset)) if n is not None
        )

    @property
    def _numbers(self) -> set[str]:
        learned = self.learned
        target = learned.target.names or (learned.target.name,) if learned.target.kind != "classes" else ()
        return {
            *learned.encoder.number_columns,
            *target,
            *(name for name in (learned.weight, learned.offset) if name is not None),
        }

    @property
    def _texts(self) -> set[str]:
        learned = self.learned
        return {*learned.encoder.text_columns, *((learned.target.name,) if learned.target.kind == "classes" else ())}

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design's columns."""
        return self.learned.encoder.columns

    def blocks(self) -> Iterator[Block]:
        """Yield the encoded rows, a block for each batch of the table."""
        yield from self._encode(None)

    def _encode(self, fingerprint: Fingerprint | None) -> Iterator[Block]:
        """Yield the encoded rows; a fingerprint learns of them on the way."""
        encoder = self.learned.encoder
        start = 0
        unknown: dict[str, int] = {}
        for rows, batch, y in self._read():
            if isinstance(batch, SparseRows):
                design = encoder.sparse(batch)
            else:
                part = encoder.part(batch, self.table, rows)
                _merge(unknown, part)
                design = encoder.design(len(rows), part.numbers, part.codes, part.texts)
            if fingerprint is not None:
                fingerprint.add(batch)
            weight, offset = self._roles(rows, batch)
            yield Block(design, y, weight, offset, start)
            start += len(rows)
        if start == 0:
            yield self._none()
        self.unknown = unknown

    def in_memory(self, limit_bytes: int, *, fingerprinted: bool = True) -> Source:
        """Return the encoded rows as one block in memory if they take at most ``limit_bytes``, else as a temporary file.

        The same pass finds the fingerprint, where it is to be ``fingerprinted``. This source itself, where the disk has no room.
        """
        rows = self.learned.report.get("rows")
        if not self.table.sparse and rows is not None and rows * self._row_bytes() > limit_bytes:
            return self._spilled(rows * self._row_bytes())
        return (
            self._held_sparse(limit_bytes)
            if self.table.sparse
            else self._held(limit_bytes, rows or 1024, fingerprinted)
        )

    def fingerprint(self) -> str | None:
        """Return the fingerprint of the rows; None for a very large sparse table.

        A pass of its own, unless ``in_memory`` made it.
        """
        if self._fingerprint is None:
            if self.table.sparse:
                self._held_sparse(2**62)
            else:
                fingerprint = Fingerprint(self._numbers, self._texts)
                for _, batch, _ in self._read():
                    fingerprint.add(batch)
                self._fingerprint = fingerprint.hex()
        return self._fingerprint

    def _read(self) -> Iterator[tuple[RowNumbers, Any, Array]]:
        """Yield the rows that have a target."""
        without = 0
        for rows, batch in self.table.numbered():
            _core.heed()
            y, present = responses(self.learned.target, batch, self.table, rows)
            if present.all():
                yield rows, batch, y
            else:
                without += int((~present).sum())
                if present.any():
                    yield rows[present], filtered(batch, present), y[present]
        self.without_target = without

    def _roles(self, rows: RowNumbers, batch: Any) -> tuple[Array | None, Array | None]:
        weight, offset = self.learned.weight, self.learned.offset
        return (
            None if weight is None else needed(batch, weight, "weight", self.table, rows),
            None if offset is None else needed(batch, offset, "offset", self.table, rows).reshape(-1, 1),
        )

    def _row_bytes(self) -> int:
        encoder = self.learned.encoder
        plain = sum(len(term.columns) for term in encoder.plain)
        roles = (self.learned.weight is not None) + (self.learned.offset is not None)
        return 8 * (plain + len(self.learned.target.names or (1,)) + roles) + 4 * len(encoder.categories)

    def _none(self) -> Block:
        encoder = self.learned.encoder
        design = encoder.design(
            0,
            np.empty((0, sum(len(t.columns) for t in encoder.plain))),
            [np.empty(0, np.int32)] * len(encoder.categories),
            [Rows.none()] * len(encoder.texts),
        )
        return Block(design, np.empty((0, len(self.learned.target.names or (1,)))))

    def _held(self, limit_bytes: int, rows: int, fingerprinted: bool) -> Source:
        encoder = self.learned.encoder
        fingerprint = Fingerprint(self._numbers, self._texts) if fingerprinted else Fingerprint((), ())
        held = self._growing(rows)
        unknown: dict[str, int] = {}
        texts: list[tuple[Rows, ...]] = []
        count = sparse = 0
        with Lanes(fingerprint) as hashing:
            for batch, part in ahead(self._parts, self._placed(held)):
                _merge(unknown, part)
                hashing.add(batch)
                texts.append(part.texts)
                count += batch.num_rows
                sparse += sum(fingerprint.size for fingerprint in part.texts)
                if count * self._row_bytes() + sparse > limit_bytes:
                    held.clear()
                    texts.clear()
                    return self._spilled(2 * limit_bytes)
        if not count:
            return self
        self._fingerprint, self.unknown = fingerprint.hex() if fingerprinted else None, unknown
        arrays: list[npt.NDArray[Any]] = [growing.array() for growing in held]
        held.clear()
        arrays[0] = single_where_exact(arrays[0])
        categories = len(encoder.categories)
        beside = iter(arrays[2 + categories :])
        joined = [Rows.joined([rows[k] for rows in texts]) for k in range(len(encoder.texts))]
        design = encoder.design(count, arrays[0], arrays[1 : 1 + categories], joined)
        weight = next(beside) if self.learned.weight is not None else None
        offset = next(beside) if self.learned.offset is not None else None
        return Memory(design, arrays[1 + categories], weight, offset, self.columns)

    def _growing(self, rows: int) -> list[_Growing]:
        """Return room for about this many rows: numbers, codes of every category, targets, weights, offsets."""
        learned, encoder = self.learned, self.learned.encoder
        width = sum(len(term.columns) for term in encoder.plain)
        shapes: list[tuple[tuple[int, ...], type]] = [((width,), np.float64)]
        shapes += [((), np.int32)] * len(encoder.categories)
        shapes.append(((len(learned.target.names or (1,)),), np.float64))
        shapes += [((), np.float64)] if learned.weight is not None else []
        shapes += [((1,), np.float64)] if learned.offset is not None else []
        return [_Growing(rows, *shape) for shape in shapes]

    def _placed(self, held: list[_Growing]) -> Iterator[tuple[RowNumbers, Any, list[Any]]]:
        """Yield the rows that have a target and where each batch belongs; targets, weights and offsets are there already."""
        for rows, batch, y in self._read():
            into = [growing.room(len(rows)) for growing in held]
            beside = [values for values in (y, *self._roles(rows, batch)) if values is not None]
            for place, values in zip(into[-len(beside) :], beside, strict=True):
                place[:] = values
            yield rows, batch, into[: -len(beside)]

    def _parts(self, read: tuple[RowNumbers, Any, list[Any]]) -> tuple[Any, Part]:
        """Encode a batch into its place, while others are read and hashed."""
        rows, batch, into = read
        return batch, self.learned.encoder.part(batch, self.table, rows, into)

    def _spilled(self, size: int) -> Source:
        """Return the encoded rows as a temporary file, if there is room for about this many bytes."""
        if not room(size):
            return self
        fingerprint = Fingerprint(self._numbers, self._texts)
        try:
            source = Spilled(self._encode(fingerprint), self.columns)
        except OSError:  # the disk is full after all: every pass reads the table itself, which is slower and right
            return self
        self._fingerprint = fingerprint.hex()
        return source

    def _held_sparse(self, limit_bytes: int) -> Source:
        parts, ys, size = [], [], 0
        for _, batch, y in self._read():
            parts.append(batch)
            ys.append(y)
            size += 12 * len(batch.values) + 16 * batch.num_rows
            if size > limit_bytes:
                return self
        if not parts:
            return self
        whole = SparseRows.joined(parts)
        self._fingerprint = sparse_fingerprint(whole, self.learned)
        return Memory(self.learned.encoder.sparse(whole), np.concatenate(ys), columns=self.columns)


def fingerprint(table: Table, learned: Learned) -> str | None:
    """Return the fingerprint of the training rows of a table (docs/model-file.md)."""
    return Encoded(table, learned).fingerprint()


def sparse_fingerprint(rows: SparseRows, learned: Learned) -> str | None:
    """Return the fingerprint of sparse rows, as if their zeros were written out."""
    terms = [term for term in learned.encoder.terms if isinstance(term, Number)]
    if rows.num_rows * len(terms) > SPARSE_MAX_CELLS:
        return None
    matrix = rows.matrix({int(term.column): k for k, term in enumerate(terms)}, len(terms)).tocsc()
    names = [term.column for term in terms]
    classes = learned.target.kind == "classes"
    fingerprint = Fingerprint(names if classes else [*names, LABEL], [LABEL] if classes else [])
    for k, name in enumerate(names):
        fingerprint.add_numbers(name, matrix[:, [k]].toarray()[:, 0])
    if classes:
        fingerprint.add_texts(LABEL, [label.decode() for label in rows.labels])
    else:
        fingerprint.add_numbers(LABEL, rows.y)
    return fingerprint.hex()


def single_where_exact(numbers: Array) -> npt.NDArray[Any]:
    """Return a large matrix in single precision where that is the same matrix: small whole numbers, cells of float32.

    Passes over half the bytes take half the time. The first rows say so of most matrices that are not.

    >>> single_where_exact(np.full((SINGLE_MIN_CELLS, 1), 255.0)).dtype, single_where_exact(np.ones((1, 1))).dtype
    (dtype('float32'), dtype('float64'))
    """
    if numbers.size < SINGLE_MIN_CELLS:
        return numbers
    step = max(1, SINGLE_MIN_CELLS // numbers.shape[1])
    out = np.empty(numbers.shape, np.float32)
    with np.errstate(over="ignore"):  # beyond single precision: infinite there, so not the same
        for start in range(0, len(numbers), step):
            out[start : start + step] = numbers[start : start + step]
            if not np.array_equal(out[start : start + step], numbers[start : start + step]):
                return numbers
    return out


class _Growing:
    """An array of rows that come in batches, each with its place before it is written; untouched memory costs nothing."""

    def __init__(self, rows: int, shape: tuple[int, ...], kind: type) -> None:
        self.parts: list[npt.NDArray[Any]] = [np.empty((rows, *shape), dtype=kind)]
        self.sizes = [0]

    def room(self, rows: int) -> npt.NDArray[Any]:
        """Return the place of the next rows."""
        if self.sizes[-1] + rows > len(self.parts[-1]):  # earlier places stay where they are: they may be written to
            more = max(rows, sum(self.sizes))
            self.parts.append(np.empty((more, *self.parts[0].shape[1:]), dtype=self.parts[0].dtype))
            self.sizes.append(0)
        start = self.sizes[-1]
        self.sizes[-1] += rows
        return self.parts[-1][start : start + rows]

    def array(self) -> npt.NDArray[Any]:
        """Return all rows."""
        parts = [part[:size] for part, size in zip(self.parts, self.sizes, strict=True)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _merge(unknown: dict[str, int], part: Part) -> None:
    for name, count in part.unknown.items():
        unknown[name] = unknown.get(name, 0) + count
