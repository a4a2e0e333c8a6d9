"""``python -m benchmarks``: what scripts/bench calls once its environment stands."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import limits, machine, scaling, schedule, table
from benchmarks.peers import OURS, PEERS
from benchmarks.problems import chosen

QUICK_SECONDS = 165.0
DOCS = Path(__file__).parent.parent / "docs"


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
        const="",
        metavar="FILE",
        help="also write the table between the markers of FILE; without FILE of README.md, and limits into docs/performance.md",
    )
    options.add_argument(
        "--scaling",
        action="store_true",
        help="how the time grows, on one core and on two; --markdown writes docs/performance.md",
    )
    options.add_argument(
        "--from",
        dest="source",
        metavar="RESULTS,...",
        help="make the table from the JSON lines of earlier runs; runs nothing",
    )
    return options


def main() -> int:
    """Run what was asked for and print the table."""
    given = parser().parse_args()
    if given.source:
        header, records = _read(given.source)
    else:
        header, records = _run(given)
    if header["size"] == "scaling":
        block = scaling.markdown(records, header)
        print(block)
        if given.markdown is not None:
            table.write_block(DOCS / "performance.md", block, scaling.BEGIN, scaling.END)
            scaling.plot(records, header, DOCS / "scaling.svg")
        return 0
    found = table.entries(records)
    print(table.text(found))
    for record in records:
        if record["kind"] == "absent":
            print(f"absent: {record['peer']} ({record['reason']})")
    print(table.conclusion(found))
    if given.markdown is not None:
        table.write_block(Path(given.markdown or DOCS.parent / "README.md"), table.markdown(found, header))
        if not given.markdown and header["size"] == "full" and header.get("roof"):
            facts = {
                record["row"]: record["facts"] for record in records if record["kind"] == "data" and "row" in record
            }
            block = limits.markdown(table.by_row(found), facts, header, OURS)
            table.write_block(DOCS / "performance.md", block, limits.BEGIN, limits.END)
    return 0


def _run(given: argparse.Namespace) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run the schedule; keep every record in a file as it comes."""
    peers = [name.strip() for name in given.peers.split(",")] if given.peers else list(PEERS)
    for name in peers:
        if name not in PEERS:
            raise SystemExit(f"no competitor called {name!r}; they are {', '.join(PEERS)}.")
    size = "quick" if given.quick else "full"
    if given.scaling and given.quick:
        raise SystemExit("--scaling has sizes of its own; leave out --quick.")
    repeats = given.repeat if given.repeat is not None else (1 if given.quick else 3)
    if repeats < 1:
        raise SystemExit(f"--repeat {repeats}: give a whole number of at least 1.")
    deadline = time.monotonic() + QUICK_SECONDS if given.quick else float("inf")
    ours_first = [OURS, *(p for p in peers if p != OURS)] if OURS in peers else peers
    if given.scaling:
        plans = list(_scaled(given.only, peers, repeats))
    else:
        plans = [schedule.Plan(chosen(given.only), ours_first, size, repeats, deadline, named=bool(given.peers))]
    now = dt.datetime.now(dt.UTC)
    header = {
        "kind": "header",
        "date": now.strftime("%Y-%m-%d"),
        "size": "scaling" if given.scaling else size,
        "repeats": repeats,
        "revision": _revision(),
        "versions": machine.versions({name: PEERS[name].version() for name in peers}),
        "machine": machine.description(),
        "roof": None if given.quick else limits.roof(),
    }
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    path = results / f"{now.strftime('%Y%m%d-%H%M%S')}-{header['size']}.jsonl"
    records: list[dict[str, Any]] = []
    with path.open("w") as out:
        out.write(json.dumps(header) + "\n")
        for plan in plans:
            for record in schedule.run(plan):
                records.append(record | {"cores": plan.cores})
                out.write(json.dumps(records[-1]) + "\n")
                out.flush()
                if record["kind"] == "run" and sys.stderr.isatty():
                    print(f"\r{record['row']} {record['peer']}".ljust(60), end="", file=sys.stderr, flush=True)
    print(f"records: {path.relative_to(Path(__file__).parent.parent)}", file=sys.stderr)
    return header, records


def _scaled(only: str | None, peers: list[str], repeats: int) -> Iterator[schedule.Plan]:
    """Yield a plan for each axis and number of cores."""
    known = [axis.name for axis in scaling.AXES]
    names = only.split(",") if only else known
    for name in names:
        if name not in known:
            raise SystemExit(f"no axis called {name!r}; the axes are {', '.join(known)}.")
    for axis in scaling.AXES:
        if axis.name in names:
            rows = [scaling.find(axis.problem(size)) for size in axis.sizes]
            chosen_peers = [peer for peer in (OURS, *axis.peers) if peer in peers]
            for cores in scaling.CORES:
                yield schedule.Plan(list(rows), chosen_peers, "full", repeats, named=True, cores=cores)


def _read(names: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the records of some files, and the header of the first with the versions and repeats of all."""
    files = [[json.loads(line) for line in Path(name).read_text().splitlines()] for name in names.split(",")]
    headers = [file[0] for file in files]
    versions = {name: version for header in headers for name, version in header["versions"].items()}
    repeats = sorted({header["repeats"] for header in headers})
    several = repeats[0] if len(repeats) == 1 else f"{repeats[0]} to {repeats[-1]}"
    roofs = [header["roof"] for header in headers if header.get("roof")]
    best = {t: {of: max(roof[t][of] for roof in roofs) for of in roofs[0][t]} for t in roofs[0]} if roofs else None
    merged = headers[0] | {"versions": versions, "repeats": several, "roof": best}
    return merged, [record for file in files for record in file[1:]]


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
