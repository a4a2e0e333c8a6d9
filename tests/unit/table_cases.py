"""Files written by hand, and the cells of a table."""

from __future__ import annotations

from pathlib import Path


def written(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path
