"""The data of a command: a file, and perhaps others beside it."""

from __future__ import annotations

from pathlib import Path

from lineal.tables.table import Table, as_table


def opened(data: Path, delimiter: str | None, quote: str | None, header: bool | None, others: tuple[str, ...]) -> Table:
    """Return the table of a file with the columns of those beside it."""
    table = as_table(data, delimiter=delimiter, quote=quote, header=header)
    if others:
        from lineal.tables.joined import beside  # joins are rare

        for file, key in map(joined, others):
            table = beside(table, as_table(file), key)
    return table


def joined(text: str) -> tuple[Path, str | None]:
    """Return the file and the key column of ``FILE`` or ``FILE:KEY``.

    >>> joined("vectors.parquet:id")[1], joined("vectors.npy")[1]
    ('id', None)
    """
    if Path(text).exists() or ":" not in text:
        return Path(text), None
    name, _, key = text.rpartition(":")
    return Path(name), key
