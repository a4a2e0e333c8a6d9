"""No line of a page is wider than a terminal or a diff shows."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 120
PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] + sorted(
    (ROOT / "docs").glob("*.md")
)
ATTACK = ("<!-- attack:", "<!-- plain:")
"""Marks of the blocks of docs/verdicts.md that `scripts/attack --publish` writes, a paragraph a line."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_line_is_wider_than_120_characters(page: Path) -> None:
    name = page.relative_to(ROOT).as_posix()
    published, wide = False, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith(ATTACK):
            published = ":begin" in line
        if len(line) > WIDTH and not published:
            wide.append(number)
    assert wide == [], f"{name} has lines of more than {WIDTH} characters"
