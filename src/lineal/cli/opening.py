"""The data of a command: a file, how its text is written, and perhaps others beside it."""

from __future__ import annotations

import atexit
import shlex
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.tables.table import Table, as_table

if TYPE_CHECKING:
    from lineal.api.stacking import Stack


@dataclass(frozen=True)
class Other:
    """A file beside DATA: by the order of rows or a ``key``; ``name`` is what its only column is called, where it is said."""

    path: Path
    key: str | None = None
    name: str | None = None

    @classmethod
    def read(cls, text: str) -> Other:
        """Return the file of ``FILE``, ``FILE:KEY``, ``NAME=FILE`` or ``NAME=FILE:KEY``.

        >>> Other.read("emb=vectors.parquet:id").key, Other.read("vectors.npy").name, Other.read("emb=a.npy").name
        ('id', None, 'emb')
        """
        if Path(text).exists():
            return cls(Path(text))
        name, equals, file = text.partition("=")
        if equals and name.strip() and "/" not in name:
            return cls(*_keyed(file), name.strip())
        return cls(*_keyed(text))

    def beside(self, table: Table) -> Table:
        """Return a table with the columns of this file."""
        from lineal.tables.joined import beside  # joins are rare
        from lineal.tables.renamed import called

        own = as_table(self.path)
        return beside(table, own if self.name is None else called(own, self.name, self.key), self.key)


@dataclass(frozen=True)
class DataFile:
    """DATA as it was typed: a file with --delimiter, --quote, --header and --rename, and the files of --beside."""

    path: Path
    delimiter: str | None = None
    quote: str | None = None
    header: bool | None = None
    sheet: str | None = None
    beside: tuple[str, ...] = ()
    rename: tuple[str, ...] = ()

    def __str__(self) -> str:
        return str(self.path)

    @property
    def file(self) -> Path:
        """Where the table is: standard input is kept in a file that is removed at the end."""
        return standard_input() if str(self.path) == "-" and not self.path.exists() else self.path

    @property
    def others(self) -> tuple[Other, ...]:
        """The files beside it."""
        return tuple(map(Other.read, self.beside))

    @property
    def files(self) -> tuple[Path, ...]:
        """The file and those beside it."""
        return (self.path, *(other.path for other in self.others))

    @property
    def names(self) -> dict[str, str]:
        """New names of columns, by their old ones."""
        names: dict[str, str] = {}
        for text in self.rename:
            old, _, new = text.rpartition("=")
            if not old.strip() or not new.strip() or old.strip() in names:
                raise InputError(f"--rename {text}: write the old and the new name of a column, each once, as OLD=NEW.")
            names[old.strip()] = new.strip()
        return names

    def open(self, path: Path | None = None, beside: tuple[str, ...] = ()) -> Table:
        """Return the table with the columns of the files beside it; or that of another file written the same way."""
        options: dict[str, Any] = {"delimiter": self.delimiter, "quote": self.quote, "header": self.header}
        table = as_table(path or self.file, sheet=self.sheet, **options)
        for other in self.others if path is None else map(Other.read, beside):
            table = other.beside(table)
        if self.rename:
            from lineal.tables.renamed import renamed

            table = renamed(table, self.names)
        return table

    def check(self, model: Path, *more: str) -> str:
        """Return the command that checks a model against this data, and ``more`` files beside it.

        >>> DataFile(Path("my data.csv"), ";").check(Path("a.lineal"))
        "lineal verify a.lineal 'my data.csv' --delimiter ';'"
        """
        words = ["lineal", "verify", str(model), str(self.path)]
        words += [word for other in (*self.beside, *more) for word in ("--beside", other)]
        words += [word for names in self.rename for word in ("--rename", names)]
        words += [] if self.delimiter is None else ["--delimiter", self.delimiter]
        words += [] if self.quote is None else ["--quote", self.quote or "none"]
        words += [] if self.sheet is None else ["--sheet", self.sheet]
        words += [] if self.header is None else ["--header" if self.header else "--no-header"]
        return shlex.join(words)


@cache
def standard_input() -> Path:
    """Return a file that holds what came on standard input, which can be read only once; it goes when the process ends."""
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(
            "- stands for standard input, and nothing is piped into it; give a file, or: cat FILE | lineal ..."
        )
    folder = Path(tempfile.mkdtemp(prefix="lineal-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "standard input"
    with path.open("wb") as kept:
        shutil.copyfileobj(sys.stdin.buffer, kept, 1 << 20)
    return path


def _keyed(text: str) -> tuple[Path, str | None]:
    """Return the file and the key column of ``FILE`` or ``FILE:KEY``."""
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
