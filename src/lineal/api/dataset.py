"""A table as a fit needs it: training and test sources, and what a model file says about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from typing import Any, Final

import numpy as np

from lineal.api.known_classes import known_classes, rows_were
from lineal.api.methods.method import Method, Wanted
from lineal.errors import InputError
from lineal.features.complete import complete, used
from lineal.features.computed import computed, parts
from lineal.features.counts import Counts, look_like_counts
from lineal.features.encoded import Encoded
from lineal.features.encoder import Encoder
from lineal.features.formula import Formula
from lineal.features.labels import Labels, labels_of, named, strangers
from lineal.features.learning import Learned, learn
from lineal.features.splitting import TEST, TRAIN, VALIDATION, Split, Within, parted
from lineal.features.terms import Verbatim
from lineal.features.text_options import TextOptions
from lineal.features.types.choices import AS_FOUND, Choices
from lineal.features.types.declared_types import VerbatimType
from lineal.features.types.target_type import Model as Told
from lineal.ground.memory import free_memory
from lineal.ground.records import dataclass
from lineal.model.target import Target
from lineal.sources.source import Block, Source
from lineal.tables.derived import derived
from lineal.tables.joined import attached
from lineal.tables.joined import beside as put_beside
from lineal.tables.marked import Said, marked, marks_of
from lineal.tables.remembered import remembered
from lineal.tables.renamed import called, renamed
from lineal.tables.table import Table, as_table

MAX_MEMORY_BYTES: Final = 2**30
"""Bytes of encoded rows kept in memory, and one and a half times the bytes of parsed ones, where there is room for them."""

MEMORY_SHARE: Final = 0.25
"""The share of the free memory that is room for encoded rows; more go to a temporary file."""


def memory_limit() -> int:
    """Return how many bytes of encoded rows are kept in memory."""
    return min(MAX_MEMORY_BYTES, int(MEMORY_SHARE * free_memory()))


@dataclass(frozen=True)
class Dataset:
    """Training rows, test rows or None, and the parts of a model that follow from the data alone."""

    train: Source
    test: Source | None
    target: Target
    validation: Source | None = field(default=None, kw_only=True)
    encoder: Encoder | None
    roles: Mapping[str, str | None]
    training: Mapping[str, Any]
    about: Mapping[str, Any]


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are for, and which terms they make; of an array, what lies beside its rows."""

    target: Any
    weight: Any = None
    offset: Any = None
    drop: Sequence[str] = ()
    intercept: bool = True
    formula: Formula | None = None
    poly: int = 1
    types: Mapping[str, str] | None = None
    text: TextOptions = ()
    choices: Choices = AS_FOUND
    verbatim: bool = False
    labels_by: str | None = None

    @classmethod
    def of(
        cls,
        target: Any,
        formula: str | None = None,
        poly: int = 1,
        *,
        intercept: bool = True,
        max_levels: int | None = None,
        missing: str = "mark",
        positive: str | None = None,
        na: Said = None,
        **others: Any,
    ) -> Roles:
        """Return the roles with the formula read; it may name the target.

        >>> Roles.of(None, "height ~ age").target
        'height'
        """
        if not isinstance(poly, int) or not 1 <= poly <= 10:
            raise InputError(f"poly is {poly!r}; it is the degree of the products, a whole number from 1 to 10.")
        others["choices"] = Choices(max_levels, missing, positive, na)
        if formula is None:
            return cls(target, poly=poly, intercept=intercept, **others)
        if poly > 1 or not intercept:
            raise InputError("a formula says itself which products there are and whether there is an intercept (- 1).")
        read = Formula.read(formula)
        if not read.targets and target is None:
            raise InputError("no target was given: write it before the formula's '~', or name it.")
        if read.targets:
            named = read.targets[0] if len(read.targets) == 1 else list(read.targets)
            if target is not None and not (isinstance(target, str | list | tuple) and target == named):
                shown = repr(target) if isinstance(target, str) else "given"
                raise InputError(
                    f"the target is {shown}, but the formula says {' + '.join(read.targets)}; give one of them."
                )
            target = named
        if read.offset is not None:
            if others.get("offset") is not None:
                raise InputError(
                    f"the formula has an offset, {read.offset}, and another is given; leave one of them out."
                )
            others["offset"] = read.offset
        return cls(target, formula=read, **others)

    @property
    def made(self) -> list[object]:
        """Targets and offsets whose own column is no column to predict from: `log(y)`, and `log(n)` unless n is a term."""
        named = () if self.formula is None else self.formula.columns
        offset = [] if isinstance(self.offset, str) and parts(self.offset)[0] in named else [self.offset]
        return [one for one in (self.target, *offset) if isinstance(one, str)]

    def read_by(self, method: Method | None) -> Roles:
        """Return the roles of a fit by a method, which may want its texts as they are."""
        return self if method is None or not method.verbatim else replace(self, verbatim=True)

    def learn(self, table: Table, wanted: Told) -> Learned:
        """Learn how a table is read."""
        types = self._as_they_are(table) if self.verbatim else self.types
        learned = learn(
            table,
            target=self.target, weight=self.weight, offset=self.offset, drop=self.drop, model=wanted,
            formula=self.formula, poly=self.poly, types=types, text=self.text,
            choices=self.choices,
        )  # fmt: skip
        check_verbatim(learned.encoder, wanted=self.verbatim)
        return learned if self.intercept else replace(learned, encoder=replace(learned.encoder, intercept=False))

    def _as_they_are(self, table: Table) -> Mapping[str, str]:
        """Return the types, the only column to predict from kept verbatim unless they name one that is."""
        if self.formula is not None:
            raise InputError(
                "a formula makes columns of numbers, and the kernel compares texts; name the target instead, and the column of "
                f"texts by --types COLUMN={VerbatimType.name}."
            )
        types = dict(self.types or {})
        targets = [self.target] if isinstance(self.target, str) else list(self.target or ())
        apart = {*targets, self.weight, self.offset, *self.drop}
        left = [name for name in table.names if name not in apart]
        kept = [name for name, kind in types.items() if kind == VerbatimType.name]
        if not kept and len(left) == 1 and left[0] not in types:
            return {left[0]: VerbatimType.name}
        if len(kept) != 1:
            raise InputError(
                f"the kernel compares the texts of one column, and {table.origin} has {', '.join(map(repr, left[:8]))}; name "
                f"it with --types COLUMN={VerbatimType.name}."
            )
        return {**{name: "drop" for name in left if name not in types}, **types}


def check_verbatim(encoder: Encoder, *, wanted: bool) -> None:
    """Refuse texts that are kept as they are where nothing compares texts."""
    kept = [term.column for term in encoder.terms if isinstance(term, Verbatim)]
    if kept and not wanted:
        raise InputError(
            f"the column {kept[0]!r} is kept {VerbatimType.name}, which only kernels of texts and trees read; leave its type "
            "out, or read it as words (text)."
        )


def from_table(data: Any, roles: Roles, wanted: Wanted, split: Split, test: Any = None) -> Dataset:
    """Return the dataset of a table; the encoder is learned from the training rows alone."""
    table, roles = attach(remembered(as_table(data), 2 * memory_limit() // 3), roles)
    target, own = named(table, roles.target), roles.weight
    table = computed(derived(table, target), target, roles.offset, hidden=roles.made)
    roles = replace(roles, target=target)
    train, held, checks = parts_of(table, split, target if isinstance(target, str) else None)
    if isinstance(test, tuple) and len(test) == 2 and isinstance(target, str):
        test = put_beside(as_table(test[0]), as_table({target: test[1]}))
    if test is not None:
        held = computed(derived(marked(as_table(test), table.marks), target), target, roles.offset)
    retold, notes = _retold(table, train, roles, wanted)
    if retold is not None:
        if isinstance(retold, Labels) and split.by == "stratified":
            raise InputError(
                "a stratified split needs one class a row, and a row has any number of labels; part by row."
            )
        if roles.choices.positive is not None:
            raise InputError(f"{retold.positive}; leave positive out.")
        table, train = (retold.around(one, own) for one in (table, train))
        held, checks = (None if one is None else retold.around(one, own) for one in (held, checks))
        roles = replace(roles, target=retold.columns, weight=retold.weight or own)
    if split.column is not None and split.by != "time":
        roles = replace(roles, drop=[*roles.drop, split.column])
    asked: Told = wanted if retold is None else retold.wanted or wanted
    learned, whole, gaps = _learned(train, table, split, roles, asked), list[str](), 0
    if roles.choices.missing == "drop":
        whole = used(learned.encoder)
        train, gaps = complete(train, whole, learned.encoder)
        learned = _learned(train, table, split, roles, asked) if gaps else learned
    learned = learned if retold is None else retold.restated(learned)
    about = {"origin": table.origin, **learned.report, "notes": [*notes, *_notes(table, learned)]}
    if gaps:
        about["notes"].append(f"{rows_were(gaps)} not fitted, since a cell is missing.")
    tests = None if held is None else _tested(held, learned, about, "measured", given=test is not None)
    if held is not None and test is not None:
        about["test_origin"] = held.origin
        about["notes"] += held.notes
    validates = None if checks is None else _tested(checks, learned, about, "used to pick a strength")
    encoded = Encoded(train.last(), learned)
    return Dataset(
        train=encoded.in_memory(memory_limit()),
        test=tests,
        validation=validates,
        target=learned.target,
        encoder=learned.encoder,
        roles={"weight": own, "offset": learned.offset},
        training={
            **({} if retold is None else retold.to_dict()),
            **({"complete": whole} if whole else {}),
            "without_target": learned.report["without_target"],
            "split": split.to_dict() if split.parts else None,
            "fingerprint": encoded.fingerprint(),
        },
        about=about,
    )


def attach(table: Table, roles: Roles) -> tuple[Table, Roles]:
    """Return the table with targets, weights and offsets that were given as arrays among its columns, and their names.

    The marks of missing cells that were given are its columns' own.
    """
    names: dict[str, Any] = {}
    for role in ("target", "weight", "offset"):
        table, names[role] = attached(table, getattr(roles, role), role)
    table = marked(table, marks_of(roles.choices.na, table.names, table.origin))
    return table, replace(roles, **names, drop=[str(name) for name in roles.drop])


def _tested(held: Table, learned: Learned, about: dict[str, Any], use: str, *, given: bool = False) -> Source:
    """Return the rows held out; those of a class that training lacks are noted, and those without a target."""
    usable, unknown = known_classes(held, learned.target)
    if unknown.none_known and use == "measured" and given:
        raise InputError(f"no row of {held.origin} can be measured: {unknown.sentences(use)[0]}")
    about["notes"] += unknown.sentences(use) + strangers(held, use)
    if unknown.counts and use == "measured":
        about["unknown_classes"] = dict(unknown.counts)
    source = Encoded(usable, learned)
    kept = source.in_memory(memory_limit(), fingerprinted=False)
    if source.without_target:
        about["notes"].append(f"{rows_were(source.without_target)} not {use}: held out, but the target is missing.")
    return kept


def _learned(train: Table, table: Table, split: Split, roles: Roles, wanted: Told) -> Learned:
    """Learn from the training rows; where that fails and all rows would do, say that the split is to blame."""
    try:
        return roles.learn(train, wanted)
    except InputError as error:
        if split.parts:
            roles.learn(table, wanted)  # raises the same where the split is not to blame
            words = "That is so in the rows that are not held out: hold out fewer, or others (another seed)."
            raise InputError(f"{error} {words}") from None
        raise


def _notes(table: Table, learned: Learned) -> list[str]:
    """Return what a person should see of how a table was understood."""
    sentences = (learned.report.get(part, ()) for part in ("texts", "lost", "suspicions"))
    return [*table.notes, *chain.from_iterable(sentences)]


def _retold(table: Table, train: Table, roles: Roles, wanted: Wanted) -> tuple[Counts | Labels | None, list[str]]:
    """Return how the target is told by columns that are not it, labels or counts, and sentences about it."""
    target = roles.target
    labels = labels_of(table, train, target, roles.labels_by, numbers=wanted == "number", insist=wanted == "classes")
    if labels is not None:
        return labels
    if not isinstance(target, list | tuple) or len(target) != 2 or wanted == "number":
        return None, []
    pair = str(target[0]), str(target[1])
    return (Counts(*pair) if wanted == "classes" or look_like_counts(table, pair) else None), []


def parts_of(table: Table, split: Split, target: str | None) -> tuple[Table, Table | None, Table | None]:
    """Return the rows that are fitted, those that test and those that validate; None where there are to be none."""
    if not split.parts:
        return table, None, None
    part = parted(table, split, target)
    tests, validates = (split.test_size > 0, split.validation_size > 0)
    if split.by == "column":
        present = {int(value) for rows, _ in table.numbered() for value in np.unique(part(rows))}
        tests, validates = TEST in present, VALIDATION in present
        if TRAIN not in present:
            raise InputError(f"no row of {table.origin} is a training row by column {split.column!r}.")
    return (
        table.where(Within(part, TRAIN)),
        table.where(Within(part, TEST)) if tests else None,
        table.where(Within(part, VALIDATION)) if validates else None,
    )


def beside(data: Any, *others: Any, key: str | None = None, name: str | None = None) -> Table:
    """Return a table with the columns of others beside its own, rows joined by their order or by a key column.

    ``name`` is what the only column of the other table, or its vectors, are called: a file's own name may differ from one
    set of rows to the next.

    >>> beside({"y": [1.0, 2.0]}, {"x": [3.0, 5.0]}).names
    ('y', 'x')
    """
    if name is not None and len(others) != 1:
        raise InputError(f"name is {name!r}, which is the name of one table's column; put tables beside one by one.")
    table = as_table(data)
    for other in map(as_table, others):
        table = put_beside(table, other if name is None else called(other, name, key), key)
    return table


def rename(data: Any, names: Mapping[str, str]) -> Table:
    """Return a table with other names for some of its columns, from old to new; that of a vector names its components.

    >>> rename({"Age": [1.0, 2.0]}, {"Age": "age"}).names
    ('age',)
    """
    return renamed(as_table(data), names)


@dataclass(frozen=True)
class WideOffset:
    """Give the one offset of a row to each of several outputs."""

    outputs: int

    def __call__(self, block: Block) -> Block:
        """Return the block with an offset for every output."""
        if block.offset is None or block.offset.shape[1] == self.outputs:
            return block
        return replace(block, offset=np.repeat(block.offset, self.outputs, axis=1))


def with_offsets(dataset: Dataset, outputs: int) -> Dataset:
    """Return the dataset with an offset for every output: one number per row is that of all of them."""
    wide = WideOffset(outputs)
    return replace(
        dataset,
        train=dataset.train.map(wide),
        validation=None if dataset.validation is None else dataset.validation.map(wide),
    )
