"""The attack on the checker: honest files, which it has to confirm, and consistent lies, which it has to refuse."""

from __future__ import annotations

import itertools
import tempfile
import time
from pathlib import Path

from . import forger, kinds
from .doors import Case
from .judge import Violation
from .tally import Tally

NAMES = (*kinds.LIES, *forger.HONEST)


class Forged(Case):
    """A file that the checker answered wrongly."""

    @property
    def code(self) -> str:
        """The line that forges it again."""
        call = f"forger.replay({self.X!r}, {self.y!r}, {self.params['lie']!r}, Path('.'))"
        return f"from pathlib import Path; from tests.oracle import forger; print({call})"


def attack(tally: Tally, seed: int, until: float, only: str | None) -> None:
    """Forge files until it is time; note what the checker answered wrongly."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for round_ in itertools.count(seed):
            for name in [only] if only in NAMES else NAMES:
                if time.monotonic() > until:
                    return
                _one(tally, name, round_, folder)


def _one(tally: Tally, name: str, seed: int, folder: Path) -> None:
    file = forger.honest(name, folder, seed)
    tally.files["honest"] += 1
    if (refusal := forger.accepted(file, folder)) is not None:
        tally.files["honest refused"] += 1
        _note(tally, name, seed, "honest", "the honest file is refused: " + refusal)
        return
    for words, forged, false in forger.all_lies(name, file):
        if false is None:
            continue
        tally.files["lies"] += 1
        if forger.accepted(forged, folder) is None:
            tally.files["lies confirmed"] += 1
            _note(tally, name, seed, words, f"{words}: confirmed, but {false}")


def _note(tally: Tally, name: str, seed: int, lie: str, words: str) -> None:
    case = Forged("forgery", {"lie": lie}, name, seed)
    tally.note([Violation("forgery", float("inf"), words)], seed, case, "forgery")
