"""How much memory the machine has left."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

UNKNOWN_BYTES: Final = 2**30
"""What is taken to be free where the system does not say."""


def free_memory(meminfo: Path = Path("/proc/meminfo"), group: Path = Path("/sys/fs/cgroup")) -> int:
    """Return how many bytes a program may still use: what the system calls available, less where its group has a limit.

    >>> free_memory() > 0
    True
    """
    sizes = [size for size in (_available(meminfo), _left_in(group)) if size is not None]
    return max(0, min(sizes)) if sizes else UNKNOWN_BYTES


def _available(meminfo: Path) -> int | None:
    """Return Linux' estimate of what is free without swapping; elsewhere half of the machine's memory, if it is known."""
    try:
        lines = meminfo.read_text(encoding="ascii").splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return None


def _left_in(group: Path) -> int | None:
    """Return what the limit of a control group leaves; None where there is none."""
    try:
        limit, used = ((group / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
        return int(limit) - int(used)
    except (OSError, ValueError):  # no such group, or its limit is the word "max"
        return None
