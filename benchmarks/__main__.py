"""``python -m benchmarks``: what scripts/bench calls once its environment stands."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import machine, schedule, table
from benchmarks.peers import OURS, PEERS
from benchmarks.problems import chosen

QUICK_SECONDS = 165.0


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    options = argparse.ArgumentParser(
        prog="scripts/bench",
        description="lineal against its peers: same objective, same suboptimality, fresh processes.",
    )
    options.add_argument("--quick", action="store_true", help="small sizes; ends within three minutes")
    options.add_argument("--only", metavar="ROW,...", help="only these rows")
    options.add_argument("--peers", metavar="NAME,...", help=f"only these competitors: {', '.join(PEERS)}")
    options.add_argument(
        "--repeat", type=int, metavar="N", help="fresh processes per row and competitor (3; with --quick 1)"
    )
    options.add_argument(
        "--markdown",
        nargs="?",
        const="README.md",
        metavar="FILE",
        help="also write the table between the markers of FILE (README.md)",
    )
    options.add_argument(
        "--from", dest="source", metavar="RESULTS", help="make the table from an earlier run's JSON lines; runs nothing"
    )
    return options


def main() -> int:
    """Run what was asked for and print the table."""
    given = parser().parse_args()
    if given.source:
        header, *records = [json.loads(line) for line in Path(given.source).read_text().splitlines()]
    else:
        header, records = _run(given)
    found = table.entries(records)
    print(table.text(found))
    for record in records:
        if record["kind"] == "absent":
            print(f"absent: {record['peer']} ({record['reason']})")
    print(table.conclusion(found))
    if given.markdown:
        table.write_block(Path(given.markdown), table.markdown(found, header))
    return 0


def _run(given: argparse.Namespace) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run the schedule; keep every record in a file as it comes."""
    peers = [name.strip() for name in given.peers.split(",")] if given.peers else list(PEERS)
    for name in peers:
        if name not in PEERS:
            raise SystemExit(f"no competitor called {name!r}; they are {', '.join(PEERS)}.")
    size = "quick" if given.quick else "full"
    repeats = given.repeat if given.repeat is not None else (1 if given.quick else 3)
    if repeats < 1:
        raise SystemExit(f"--repeat {repeats}: give a whole number of at least 1.")
    deadline = time.monotonic() + QUICK_SECONDS if given.quick else float("inf")
    plan = schedule.Plan(
        chosen(given.only),
        [OURS, *(p for p in peers if p != OURS)] if OURS in peers else peers,
        size,
        repeats,
        deadline,
        named=bool(given.peers),
    )
    now = dt.datetime.now(dt.UTC)
    header = {
        "kind": "header",
        "date": now.strftime("%Y-%m-%d"),
        "size": size,
        "repeats": repeats,
        "revision": _revision(),
        "versions": machine.versions({name: PEERS[name].version() for name in peers}),
        "machine": machine.description(),
    }
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    path = results / f"{now.strftime('%Y%m%d-%H%M%S')}-{size}.jsonl"
    records: list[dict[str, Any]] = []
    with path.open("w") as out:
        out.write(json.dumps(header) + "\n")
        for record in schedule.run(plan):
            records.append(record)
            out.write(json.dumps(record) + "\n")
            out.flush()
            if record["kind"] == "run" and sys.stderr.isatty():
                print(f"\r{record['row']} {record['peer']}".ljust(60), end="", file=sys.stderr, flush=True)
    print(f"records: {path.relative_to(Path(__file__).parent.parent)}", file=sys.stderr)
    return header, records


def _revision() -> str | None:
    """Return the commit that was measured, where git knows it."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
