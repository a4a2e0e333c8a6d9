"""No line of a page is wider than a terminal or a diff shows."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 120
PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] + sorted(
    (ROOT / "docs").glob("*.md")
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_line_is_wider_than_120_characters(page: Path) -> None:
    name = page.relative_to(ROOT).as_posix()
    lines = page.read_text(encoding="utf-8").splitlines()
    wide = [number for number, line in enumerate(lines, 1) if len(line) > WIDTH]
    assert wide == [], f"{name} has lines of more than {WIDTH} characters"
