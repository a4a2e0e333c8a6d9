"""The data of a command: a file, how its text is written, and perhaps others beside it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from lineal.ground.records import dataclass
from lineal.tables.table import Table, as_table

if TYPE_CHECKING:
    from lineal.api.stacking import Stack


@dataclass(frozen=True)
class DataFile:
    """DATA as it was typed: a file with --delimiter, --quote and --header, and the files of --beside."""

    path: Path
    delimiter: str | None = None
    quote: str | None = None
    header: bool | None = None
    beside: tuple[str, ...] = ()

    def __str__(self) -> str:
        return str(self.path)

    def open(self, path: Path | None = None) -> Table:
        """Return the table with the columns of the files beside it; or that of another file written the same way."""
        table = as_table(path or self.path, delimiter=self.delimiter, quote=self.quote, header=self.header)
        if self.beside and path is None:
            from lineal.tables.joined import beside  # joins are rare

            for file, key in map(joined, self.beside):
                table = beside(table, as_table(file), key)
        return table

    def check(self, model: Path, *more: str) -> str:
        """Return the command that checks a model against this data, and ``more`` files beside it.

        >>> DataFile(Path("my data.csv"), ";").check(Path("a.lineal"))
        "lineal verify a.lineal 'my data.csv' --delimiter ';'"
        """
        words = ["lineal", "verify", str(model), str(self.path)]
        words += [word for other in (*self.beside, *more) for word in ("--beside", other)]
        words += [] if self.delimiter is None else ["--delimiter", self.delimiter]
        words += [] if self.quote is None else ["--quote", self.quote or "none"]
        words += [] if self.header is None else ["--header" if self.header else "--no-header"]
        return shlex.join(words)


def joined(text: str) -> tuple[Path, str | None]:
    """Return the file and the key column of ``FILE`` or ``FILE:KEY``.

    >>> joined("vectors.parquet:id")[1], joined("vectors.npy")[1]
    ('id', None)
    """
    if Path(text).exists() or ":" not in text:
        return Path(text), None
    name, _, key = text.rpartition(":")
    return Path(name), key


def stack_at(path: Path) -> Stack | None:
    """Return the stack in a folder, None for a file."""
    if not path.is_dir():
        return None
    from lineal.api.stacking import Stack  # here: it brings along all that fits a model

    return Stack.load(path)
