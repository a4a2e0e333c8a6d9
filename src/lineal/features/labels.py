"""Labels as a target: a row has any number of them, told by yes-or-no columns, or by one column whose cells list them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

import numpy as np
import pyarrow as pa

from lineal.errors import InputError
from lineal.features.cells.cells import kind, packed, text
from lineal.features.cells.finite import CellError, located
from lineal.features.encoder import column
from lineal.features.learning import Learned
from lineal.features.splitting import NO, YES
from lineal.features.types.target_type import Model as Wanted
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.tables.arrow import from_numpy
from lineal.tables.dialect import MISSING, number
from lineal.tables.marked import settled
from lineal.tables.tabular import Around, RowNumbers, Table

MAX_LABELS: Final = 1000
"""A target of more labels is refused."""

EXPECTED: Final = "yes or no: 1 or 0, true or false, yes or no, t or f, y or n; or nothing, where it is not known"
"""What a cell of a label may be."""


@dataclass(frozen=True)
class Labels:
    """Where labels stand: in the columns ``names``; or the cells of one ``column`` list them, as a text apart ``by`` this.

    ``everywhere`` are those that every training row has, of which there is nothing to predict.

    >>> Labels.listed("tags", ["b", "a"], ";").names
    ('tags=a', 'tags=b')
    """

    names: tuple[str, ...]
    column: str | None = None
    by: str | None = None
    everywhere: tuple[str, ...] = ()

    @classmethod
    def listed(cls, column: str, words: Collection[str], by: str | None) -> Labels:
        """Return the labels of a column that lists these words."""
        return cls(tuple(f"{column}={word}" for word in sorted(words)), column, by)

    wanted: ClassVar[Wanted | None] = "labels"
    weight: ClassVar[str | None] = None
    positive: ClassVar[str] = "of labels yes is what is modelled"

    @property
    def columns(self) -> list[str]:
        """The columns that are the target then."""
        return list(self.names)

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns of the table that tell them."""
        return self.names if self.column is None else (self.column,)

    @property
    def target(self) -> str:
        """What sentences call all of them."""
        return ", ".join(self.names) if self.column is None else self.column

    @property
    def words(self) -> dict[str, int]:
        """The place of every word that a cell may list."""
        lead = 0 if self.column is None else len(self.column) + 1
        return {name[lead:]: place for place, name in enumerate(self.names)}

    def values(self, batch: Any) -> list[Array]:
        """Return 1, 0 or NaN (not known) for every row of a batch, label by label."""
        if self.column is None:
            return [answers(name, column(batch, name)) for name in self.names]
        table = np.zeros((len(self.names), batch.num_rows))
        words = self.words
        for row, said in enumerate(listings(column(batch, self.column), self.by)):
            if said is None:
                table[:, row] = np.nan
            else:
                table[[words[word] for word in said if word in words], row] = 1.0
        return list(table)

    def around(self, table: Table, weight: str | None) -> Labeled:
        """Return a table with a column for every label."""
        for name in self.sources:
            table.require(name, "target column")
            if name == weight:
                raise InputError(f"the column {name!r} is the target and cannot be the weight as well.")
        return Labeled(table, self)

    def restated(self, learned: Learned) -> Learned:
        """Return what was learned with the target called as it was asked for, and how often a label is not known."""
        gaps = [f"{survey.name!r} in {survey.missing:,}" for survey in learned.surveys if survey.name in self.names]
        gaps = [gap for gap in gaps if not gap.endswith(" in 0")]
        shown = ", ".join(gaps[:10]) + (f" and {len(gaps) - 10} more" if len(gaps) > 10 else "")
        said = [f"Not known, and left out of that label's member only: {shown} of the rows."] if gaps else []
        report = {**learned.report, "suspicions": [*learned.report["suspicions"], *said]}
        return replace(learned, target=replace(learned.target, name=self.target), report=report)

    def to_dict(self) -> dict[str, Any]:
        """Return what a model file says of how they are read, beside their names: nothing where they are columns."""
        return {} if self.column is None else {"labels": {"column": self.column, "by": self.by}}


@dataclass(frozen=True)
class Labeled(Around):
    """A table with a column of 1, 0 or NaN for every label, in place of the columns that tell them."""

    labels: Labels
    read: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns; the labels come last."""
        rest = tuple(name for name in self.inner.names if name not in self.labels.sources)
        return (*rest, *self.labels.names) if self.read else rest

    def numbered(self) -> Iterator[tuple[RowNumbers, Any]]:
        """Yield the batches with their labels."""
        for rows, batch in self.inner.numbered():
            arrays = {name: column(batch, name) for name in batch.schema.names if name not in self.labels.sources}
            if self.read:
                try:
                    values = self.labels.values(batch)
                except CellError as bad:
                    raise located(bad, self.inner, rows) from None
                arrays |= {name: from_numpy(value) for name, value in zip(self.labels.names, values, strict=True)}
            yield rows, pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))

    def select(self, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Labeled:
        """Return the table with these columns only; one label asks for what tells them all."""
        own = set(self.labels.names)
        read = not own.isdisjoint([*numbers, *texts])
        wanted = {*(set(texts) - own), *(self.labels.sources if read else ())}
        return replace(self, inner=self.inner.select(numbers=set(numbers) - own, texts=wanted), read=read)

    def guess(self) -> frozenset[str]:
        """Return the columns that look like numbers."""
        return (self.inner.guess() - set(self.labels.sources)) | set(self.labels.names)

    def few(self) -> frozenset[str]:
        """Return the columns with few different cells."""
        return self.inner.few() - set(self.labels.sources)


def answers(name: str, array: Any) -> Array:
    """Return a column of yes or no as 1, 0 or NaN (missing); a CellError for any other cell.

    >>> answers("a", pa.array(["yes", "No", None, "1"])).tolist()
    [1.0, 0.0, nan, 1.0]
    """
    if kind(array) in ("other", "date"):
        raise CellError(name, 0, str(array[0].as_py()) if len(array) else "", EXPECTED)
    codes, levels = packed(array)
    table = np.array([*map(_answer, levels), np.nan])
    answers: Array = table[codes]
    if np.isinf(answers).any():
        position = int(np.flatnonzero(np.isinf(answers))[0])
        raise CellError(name, position, levels[codes[position]], EXPECTED)
    return answers


def _answer(level: str) -> float:
    """Return 1 for yes, 0 for no, infinity for anything else."""
    word = level.lower()
    if word in YES or word in NO:
        return float(word in YES)
    value = number(level)
    return value if value in (0.0, 1.0) else np.inf


def listings(array: Any, by: str | None) -> list[list[str] | None]:
    """Return the labels that every cell lists; a column with marks of its own has nulls for them."""
    marks = ("",) if settled(array) else MISSING
    return [listing(cell, by, marks) for cell in array.to_pylist()]


def listing(cell: Any, by: str | None, marks: Collection[str] = MISSING) -> list[str] | None:
    """Return the different labels that a cell lists; None where it is missing. An empty text or list has none.

    >>> listing("b; a;b", ";"), listing([], None), listing("", ";"), listing("NA", ";")
    (['b', 'a'], [], [], None)
    """
    if isinstance(cell, list):
        if any(isinstance(one, list | dict | bytes) for one in cell):
            raise InputError("a list of labels holds lists or records itself; labels are words.")
        words = [one if isinstance(one, str) else text(one) or "" for one in cell]
    elif cell is None or by is None:
        return None
    elif not str(cell).strip():
        words = []
    elif (plain := text(cell, marks)) is None:
        return None
    else:
        words = plain.split(by)
    return list(dict.fromkeys(word.strip() for word in words if word.strip()))


def named(table: Table, target: Any) -> Any:
    """Return the target with a text such as "a,b" taken for two columns, unless there is a column of that very name.

    >>> from lineal.tables.table import as_table
    >>> table = as_table({"a": [1], "b": [1], "c,d": [1]})
    >>> named(table, "a,b"), named(table, "c,d"), named(table, "e")
    (['a', 'b'], 'c,d', 'e')
    """
    if not isinstance(target, str) or "," not in target or table.sparse or target in table.names:
        return target
    parts = [part.strip() for part in target.split(",")]
    return parts if any(part in table.names for part in parts) else target


def lists_words(table: Table, name: str) -> bool:
    """Whether the cells of a column are lists, other than of numbers, by the first cells that say what they are."""
    for _, batch in table.select(texts=[name]).numbered():
        stored = column(batch, name).type
        if pa.types.is_list(stored) or pa.types.is_large_list(stored) or pa.types.is_fixed_size_list(stored):
            if not pa.types.is_null(stored.value_type):
                return not (pa.types.is_integer(stored.value_type) or pa.types.is_floating(stored.value_type))
        elif not pa.types.is_null(stored):
            return False
    return False


def _of_texts(table: Table, name: str) -> bool:
    """Whether a column is one of a text file, which has no lists: it need not be read to know."""
    while isinstance(table, Around) and name in table.inner.names:
        table = table.inner
    return table.plain and not isinstance(table, Around)


def all_answers(table: Table, names: Sequence[str], *, insist: bool = False) -> bool:
    """Whether every cell of some columns is yes, no or missing; those that are not are refused if one must ``insist``."""
    for rows, batch in table.select(texts=names).numbered():
        try:
            for name in names:
                answers(name, column(batch, name))
        except CellError as bad:
            if insist:
                raise located(bad, table, rows) from None
            return False
    return True


def learned(train: Table, name: str, by: str | None) -> tuple[Labels, list[str]]:
    """Return the labels that the training rows list in a column, and sentences about those that are left out."""
    counts, rows = Counter[str](), 0
    for _, batch in train.select(texts=[name]).numbered():
        for said in listings(column(batch, name), by):
            rows += said is not None
            counts.update(said or ())
    everywhere = sorted(word for word, count in counts.items() if count == rows)
    words = counts.keys() - set(everywhere)
    notes = [
        f"Every row has the label {word!r} of {name!r}, so there is nothing to predict; it is left out."
        for word in everywhere
    ]
    if not words:
        hint = "" if by is None else f" Labels are taken to stand apart by {by!r} (labels_by)."
        raise InputError(
            f"the target {name!r} of {train.origin} lists no label that some rows have and others have not.{hint}"
        )
    if len(words) > MAX_LABELS:
        raise InputError(
            f"the target {name!r} lists {len(words):,} labels, more than {MAX_LABELS}; leave rare ones out."
        )
    labels = replace(Labels.listed(name, words, by), everywhere=tuple(everywhere))
    for taken in set(labels.names) & set(train.names):
        raise InputError(f"a label of {name!r} would be called {taken!r}, as a column is; rename that column.")
    return labels, notes


def strangers(table: Table, use: str) -> list[str]:
    """Return a sentence about labels that a table lists and no member is for, if there are some."""
    if not isinstance(table, Labeled) or table.labels.column is None:
        return []
    name, by, known, counts = (
        table.labels.column,
        table.labels.by,
        {*table.labels.words, *table.labels.everywhere},
        Counter[str](),
    )
    for _, batch in table.inner.select(texts=[name]).numbered():
        for said in listings(column(batch, name), by):
            counts.update(word for word in said or () if word not in known)
    if not counts:
        return []
    first, cells = counts.most_common(1)[0][0], sum(counts.values())
    times = "once" if cells == 1 else f"{cells:,} times"
    return [f"{times} {name!r} lists a label that no member is for, such as {first!r}; it is not {use}."]


def labels_of(
    table: Table, train: Table, target: Any, by: str | None, *, numbers: bool, insist: bool
) -> tuple[Labels, list[str]] | None:
    """Return the labels that a target means and sentences about them; None where it means something else.

    Several columns do if every cell is yes, no or missing; one does if its cells are lists of words, or texts apart ``by``
    this. ``numbers`` says that numbers are to be predicted, ``insist`` that they are not.
    """
    several = isinstance(target, list | tuple) and len(target) > 1
    if isinstance(target, list | tuple) and len(target) == 1:
        target = target[0]
    if by is not None and (several or not isinstance(target, str) or not by.strip()):
        raise InputError(
            f"labels_by is {by!r}; it is what parts the labels in the cells of one target column, such as ';', and has no "
            "effect on several columns."
        )
    if by is not None and numbers:
        raise InputError("labels_by is for labels, and the model predicts a number; leave one of them out.")
    if table.sparse or numbers or target is None:
        return None
    if several:
        for name in target:
            table.require(name, "target column")
        if len(set(target)) < len(target):
            raise InputError("the targets must be one or several different columns.")
        if len(target) > MAX_LABELS:
            raise InputError(f"the target names {len(target):,} labels, more than {MAX_LABELS}.")
        labels = all_answers(table, target, insist=insist and len(target) > 2)
        return (Labels(tuple(target)), []) if labels else None
    if target not in table.names:
        return None  # (a question about a column, or an error that says so)
    lists = not _of_texts(table, target) and lists_words(table, target)
    if by is not None and lists:
        raise InputError(f"labels_by has no effect: the cells of {target!r} are lists; leave it out.")
    return learned(train, target, by) if lists or by is not None else None
