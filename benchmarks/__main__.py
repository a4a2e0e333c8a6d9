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

from benchmarks import limits, machine, pages, scaling, schedule, table
from benchmarks.peers import OURS, PEERS
from benchmarks.rows import chosen

MINUTES = {"full": float("inf"), "table": 25.0, "quick": 2.75}
REPEATS = {"full": 3, "table": 5, "quick": 1}
RESULTS = Path(__file__).parent / "results"


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    options = argparse.ArgumentParser(
        prog="scripts/bench",
        description="lineal against its peers: same objective, same suboptimality, fresh processes, two data sets a row.",
    )
    size = options.add_mutually_exclusive_group()
    for name, words in (
        ("table", "the sizes of the published table, within 25 minutes (the default)"),
        ("quick", "small sizes, within three minutes"),
        ("full", "the sizes of the goals; takes hours"),
    ):
        size.add_argument(f"--{name}", dest="size", action="store_const", const=name, default="table", help=words)
    size.add_argument("--scaling", action="store_true", help="how the time grows, on one core and on two")
    options.add_argument("--only", metavar="ROW,...", help="only these rows, or row/data")
    options.add_argument("--peers", metavar="NAME,...", help=f"only these competitors: {', '.join(PEERS)}")
    options.add_argument("--repeat", type=int, metavar="N", help="at most N processes per problem and competitor")
    options.add_argument("--minutes", type=float, metavar="M", help="end by then; repeats are what is left out first")
    options.add_argument(
        "--results", type=Path, metavar="FILE", help="where the records go; what it holds is not run again"
    )
    options.add_argument(
        "--from", dest="source", metavar="FILE,...", help="run nothing; show the records of earlier runs"
    )
    options.add_argument("--write", action="store_true", help="write the tables of README.md and docs/performance.md")
    return options


def main() -> int:
    """Run what was asked for, print the table, write the pages."""
    given = parser().parse_args()
    given.size = "scaling" if given.scaling else given.size
    header, records = _read(given.source.split(",")) if given.source else _run(given)
    if header["size"] == "scaling":
        print(pages.scaling_block(header, records))
    else:
        found = table.entries(records)
        print(table.text(found))
        for peer, reason in {r["peer"]: r["reason"] for r in records if r["kind"] == "absent"}.items():
            print(f"absent: {peer} ({reason})")
        print(table.conclusion(found))
    if given.write:
        pages.write(header, records)
    return 0


def _run(given: argparse.Namespace) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run the schedule; every record is in the file before the next run begins, and what is done there is left out."""
    peers = [name.strip() for name in given.peers.split(",")] if given.peers else list(PEERS)
    for name in peers:
        if name not in PEERS:
            raise SystemExit(f"no competitor called {name!r}; they are {', '.join(PEERS)}.")
    repeats = given.repeat if given.repeat is not None else REPEATS.get(given.size, 3)
    if repeats < 1:
        raise SystemExit(f"--repeat {repeats}: give a whole number of at least 1.")
    plans = list(_plans(given, peers, repeats))
    path = given.results or RESULTS / f"{given.size}-{_revision()}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(json.dumps(_header(given.size, peers, repeats)) + "\n")
    whole, _, _ = path.read_text().rpartition("\n")  # a killed run may have left half a line
    path.write_text(whole + "\n")
    done = {(r["problem"], r["cores"]) for r in _read([path])[1] if r["kind"] == "done"}
    with path.open("a") as out:
        for plan in plans:
            plan.problems = [problem for problem in plan.problems if (problem.name, plan.cores) not in done]
            for record in schedule.run(plan):
                out.write(json.dumps(record | {"cores": plan.cores}) + "\n")
                out.flush()
                if record["kind"] == "run" and sys.stderr.isatty():
                    print(f"\r{record['problem']} {record['peer']}".ljust(60), end="", file=sys.stderr, flush=True)
    print(f"records: {path}", file=sys.stderr)
    return _read([path])


def _plans(given: argparse.Namespace, peers: list[str], repeats: int) -> Iterator[schedule.Plan]:
    """Yield the plan of a table, or one for each axis and number of cores."""
    if given.size != "scaling":
        minutes = given.minutes or MINUTES[given.size]
        deadline = time.monotonic() + 60.0 * minutes
        yield schedule.Plan(chosen(given.only), peers, given.size, repeats, deadline, named=bool(given.peers))
        return
    for axis, problems in scaling.chosen(given.only):
        some = [peer for peer in (OURS, *axis.peers) if peer in peers]
        for cores in scaling.CORES:
            yield schedule.Plan(problems, some, "full", repeats, named=True, cores=cores)


def _header(size: str, peers: list[str], repeats: int) -> dict[str, Any]:
    """Return what was measured, when, on what machine."""
    return {
        "kind": "header",
        "date": dt.datetime.now(dt.UTC).strftime("%Y-%m-%d"),
        "size": size,
        "repeats": repeats,
        "revision": _revision(),
        "versions": machine.versions({name: PEERS[name].version() for name in peers}),
        "machine": machine.description(),
        "roof": None if size == "quick" else limits.roof(),
    }


def _read(names: list[Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the records of some files, and the header of the first with the versions, repeats and best roof of all."""
    files = [[json.loads(line) for line in Path(name).read_text().splitlines()] for name in names]
    headers = [file[0] for file in files]
    versions = {name: version for header in headers for name, version in header["versions"].items()}
    roofs = [header["roof"] for header in headers if header.get("roof")]
    best = {t: {of: max(roof[t][of] for roof in roofs) for of in roofs[0][t]} for t in roofs[0]} if roofs else None
    merged = {"versions": versions, "repeats": max(header["repeats"] for header in headers), "roof": best}
    return headers[0] | merged, [record for file in files for record in file[1:]]


def _revision() -> str:
    """Return the commit that is measured, and whether something was changed since; where git knows it."""
    asked = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=Path(__file__).parent)
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
