"""What the machine was and what it was doing: versions, processor, memory, the share others took."""

from __future__ import annotations

import os
import platform
import resource
import time
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

LIBRARIES = ("numpy", "scipy", "pyarrow", "pandas")


def versions(peers: Mapping[str, str | None]) -> dict[str, str]:
    """Return the versions of everything that could matter: python, the peers that are there, what they stand on."""
    found = {"python": platform.python_version()}
    found |= {name: version for name, version in peers.items() if version}
    return found | {name: metadata.version(name) for name in LIBRARIES}


def description() -> dict[str, Any]:
    """Return the processor, its number of cores and the memory."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].split(":", 1)[1].strip() if lines else model
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "memory_gb": round(pages / 2**30, 1),
        "system": platform.system(),
    }


def reset_peak() -> float | None:
    """Forget the peak memory so far; return the memory in use in MB, or None where Linux' /proc is absent."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return _status("VmRSS")


def peak() -> float | None:
    """Return the peak memory in MB since it was reset."""
    return _status("VmHWM")


def _status(key: str) -> float | None:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith(key + ":")]
    return int(found[0]) / 1024.0 if found else None


class Load:
    """The processor time that others took while something ran: other processes, and what the host stole."""

    def __init__(self) -> None:
        self.wall, self.own, self.stat = time.perf_counter(), _own(), _stat()

    def shares(self) -> dict[str, float | None]:
        """Return ``others`` and ``steal`` as shares of all cores since the beginning."""
        now, wall = _stat(), time.perf_counter() - self.wall
        if self.stat is None or now is None or wall < 0.1:
            return {"others": None, "steal": None}
        room = wall * (os.cpu_count() or 1)
        tick = os.sysconf("SC_CLK_TCK")
        busy = (now[0] - self.stat[0]) / tick - (_own() - self.own)
        return {"others": round(max(busy, 0.0) / room, 3), "steal": round((now[1] - self.stat[1]) / tick / room, 3)}


def _own() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _stat() -> tuple[int, int] | None:
    """Return busy and stolen ticks of all cores."""
    try:
        fields = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    except (OSError, ValueError):
        return None
    user, nice, system, _idle, _wait, irq, soft, steal = fields[:8]
    return user + nice + system + irq + soft, steal
