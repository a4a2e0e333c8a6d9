"""`lineal examples`: small made-up tables, and what to type to begin."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from lineal.errors import InputError

ROWS: Final = 300
GOOD: Final = ("thanks", "great", "quick", "friendly", "perfect", "again", "love", "helpful")
BAD: Final = ("broken", "late", "refund", "never", "slow", "wrong", "waiting", "angry")
ANY: Final = ("the", "order", "came", "with", "my", "parcel", "on", "monday", "shop", "service", "and", "it", "was")


def flats(draw: random.Random) -> list[str]:
    """Return rents: 8 a square meter, 90 more in the center and 60 less at the edge, 5 less a decade of age; some cells empty."""
    lines = ["size,rooms,district,built,balcony,rent"]
    for _ in range(ROWS):
        size, built = draw.uniform(25, 130), 1900 + int(draw.random() * 124)
        district, balcony = draw.choice(("center", "north", "edge")), draw.random() < 0.4
        rent = 120 + 8 * size + {"center": 90, "north": 0, "edge": -60}[district] - 0.5 * (2024 - built)
        rent += 25 * balcony + draw.gauss(0, 40)
        year = "" if draw.random() < 0.05 else str(built)
        lines.append(f"{size:.1f},{1 + int(size / 28)},{district},{year},{'yes' if balcony else 'no'},{rent:.0f}")
    return lines


def credit(draw: random.Random) -> list[str]:
    """Return decisions on credit: income and years in the job for it, debts against it."""
    lines = ["income,years_in_job,debts,purpose,approved"]
    for _ in range(ROWS):
        income, years, debts = draw.lognormvariate(10.4, 0.4), int(draw.expovariate(0.2)), draw.expovariate(1 / 6000)
        purpose = draw.choice(("car", "house", "school"))
        odds = (income - 33000) / 9000 + 0.15 * years - debts / 5000 + (purpose == "house")
        approved = draw.random() < 1 / (1 + math.exp(-odds))
        lines.append(f"{income:.0f},{years},{debts:.0f},{purpose},{'yes' if approved else 'no'}")
    return lines


def messages(draw: random.Random) -> list[str]:
    """Return messages that praise or complain: words of both kinds among those that say nothing."""
    lines = ["message,kind"]
    for _ in range(ROWS):
        praise = draw.random() < 0.5
        own, other = (GOOD, BAD) if praise else (BAD, GOOD)
        words = [draw.choice(ANY) for _ in range(4 + int(draw.random() * 6))]
        words += [draw.choice(own if draw.random() < 0.8 else other) for _ in range(2)]
        draw.shuffle(words)
        lines.append(f"{' '.join(words)},{'praise' if praise else 'complaint'}")
    return lines


TABLES: Final[dict[str, Callable[[random.Random], list[str]]]] = {
    "flats.csv": flats,
    "credit.csv": credit,
    "messages.csv": messages,
}
COMMANDS: Final = (
    "lineal inspect flats.csv --target rent",
    "lineal fit flats.csv --target rent",
    "lineal fit credit.csv --target approved",
    "lineal predict credit.lineal credit.csv --keep all --explain 2 -o decisions.csv",
    "lineal evaluate credit.lineal credit.csv",
    "lineal verify credit.lineal credit.csv",
    "lineal fit messages.csv --target kind",
    "lineal fit flats.csv --target rent --model linear -o least-squares.lineal",
    "lineal summary least-squares.lineal",
)


def run(*, folder: Path, as_json: bool) -> int:
    """Write the tables, and say what to type."""
    if folder.exists():
        raise InputError(f"{folder} is there already; name a new folder: lineal examples FOLDER.")
    try:
        folder.mkdir(parents=True)
        for name, make in TABLES.items():
            (folder / name).write_text("\n".join(make(random.Random(name))) + "\n", encoding="utf-8")  # noqa: S311
    except OSError as error:
        raise InputError(f"the examples cannot be written to {folder}: {error.strerror or error}.") from error
    if as_json:
        files = [str(folder / name) for name in TABLES]
        click.echo(json.dumps({"folder": str(folder), "files": files, "commands": list(COMMANDS)}, indent=2))
        return 0
    click.echo(f"Written to {folder}: {', '.join(TABLES)} ({ROWS} made-up rows each). To begin:\n\n  cd {folder}")
    for command in COMMANDS:
        click.echo(f"  {command}")
    return 0
