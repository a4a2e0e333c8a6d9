"""What an attack tried and how it ended: counted, printed, and published in docs/verdicts.md."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from .doors import Case
from .judge import Violation
from .outcome import Outcome

PAGE = Path(__file__).parents[2] / "docs" / "verdicts.md"
MARKS = {
    False: ("<!-- attack:begin -->", "<!-- attack:end -->"),
    True: ("<!-- plain:begin -->", "<!-- plain:end -->"),
}
"""Where the figures stand in the page: those of nasty data, and those of plain data."""
BESIDE = ("choice", "encoding", "path", "committee", "separability", "honest file")
"""What is judged beside the fits, and has no share in the rate of ``budget``."""
Counts = Counter[tuple[str, str]]


@dataclass
class Tally:
    """What was tried, by loss, by door, by kind of data and by kind of verdict, and how it ended."""

    plain: bool = False
    judged: bool = True
    kinds: Counts = field(default_factory=Counter)
    doors: Counts = field(default_factory=Counter)
    data: Counts = field(default_factory=Counter)
    refuted: Counter[str] = field(default_factory=Counter)
    slow: list[tuple[float, int, str]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    found: list[tuple[Violation, int, Case]] = field(default_factory=list)
    unsure: list[int] = field(default_factory=list)
    open: list[tuple[int, str, str]] = field(default_factory=list)
    files: Counter[str] = field(default_factory=Counter)

    def count(self, outcome: Outcome, index: int, case: Case) -> None:
        """Count a verdict."""
        self.kinds[outcome.row, outcome.kind] += 1
        self.doors[case.door, outcome.kind] += 1
        for tag in case.tags or ["plain"]:
            self.data[tag, outcome.kind] += 1
        if outcome.kind == "budget" and not outcome.row.endswith("(SGD)"):
            self.open.append((index, f"{case.door} {', '.join(case.tags)}", outcome.sentence))

    def note(self, violations: list[Violation], index: int, case: Case, row: str) -> None:
        """Write down what is false about one verdict."""
        self.refuted[row] += bool(violations)
        self.found += [(violation, index, case) for violation in violations]

    def false(self, counts: Counts, name: str) -> int:
        """Return how many cases of a name have a false verdict."""
        if counts is self.kinds:
            return self.refuted[name]
        return len({i for _, i, case in self.found if name in (case.door, *case.tags)})

    @property
    def families(self) -> Counter[str]:
        """How many violations there are of each family."""
        return Counter(violation.family for violation, _, _ in self.found)


def budget(counts: Counts, name: str | None = None) -> tuple[int, float]:
    """Return how many verdicts there are, of one name or of all fits, and the percentage of ``budget``.

    Those of SGD do not count among all: its epochs end before the optimum, by design.
    """
    names = (
        {first for first, _ in counts if not first.endswith("(SGD)") and first not in BESIDE}
        if name is None
        else {name}
    )
    chosen = {key: count for key, count in counts.items() if key[0] in names}
    total = sum(chosen.values())
    return total, 100 * sum(count for (_, kind), count in chosen.items() if kind == "budget") / max(total, 1)


def table(tally: Tally) -> str:
    """Return what was tried and how it ended, as text."""
    total, rate = budget(tally.kinds)
    lines = [
        f"tried {sum(tally.kinds.values())} verdicts ({total} of fits without SGD), budget {rate:.2f} %",
        f"inputs refused {sum(tally.refused.values())}, oracle unsure {len(tally.unsure)}: {tally.unsure[:20]}",
        "violated: " + (", ".join(f"{family} {count}" for family, count in tally.families.most_common()) or "nothing"),
    ]
    if tally.files:
        lines.append("files: " + ", ".join(f"{count} {name}" for name, count in tally.files.items()))
    kinds = sorted({kind for _, kind in tally.kinds})
    for title, counts in (("loss", tally.kinds), ("door", tally.doors), ("data", tally.data)):
        lines.append(
            f"{title:28}" + "".join(f"{kind[:12]:>13}" for kind in kinds) + f"{'violated':>10}{'budget %':>10}"
        )
        for name in sorted({name for name, _ in counts}):
            row = "".join(f"{counts[name, kind]:13d}" for kind in kinds)
            lines.append(f"{name[:27]:28}{row}{tally.false(counts, name):10d}{budget(counts, name)[1]:10.1f}")
    lines.append("slowest fits:")
    lines += [
        f"  {seconds:8.2f} s  case {index}  {words[:160]}"
        for seconds, index, words in sorted(tally.slow, reverse=True)[:8]
    ]
    lines += [f"refused {count} times: {words}" for words, count in tally.refused.most_common(5)]
    lines += [f"budget, case {index}, {words}: {sentence}" for index, words, sentence in tally.open[:60]]
    return "\n".join(lines)


def report(tally: Tally) -> str:
    """Return every violation as a line that reproduces it, the worst family first."""
    families: dict[str, list[tuple[Violation, int, Case]]] = defaultdict(list)
    for entry in tally.found:
        families[entry[0].family].append(entry)
    lines = []
    for family, entries in sorted(families.items(), key=lambda item: -max(e[0].size for e in item[1])):
        lines.append(f"# ---- {family}: {len(entries)}")
        for violation, index, case in sorted(entries, key=lambda e: (-e[0].size, len(e[2].code))):
            lines.append(f"# case {index}, {case.door}, {', '.join(case.tags)}: {violation.words}")
            lines.append(case.code)
    return "\n".join(lines) + "\n"


def _rows(tally: Tally, title: str, counts: Counts, names: list[str]) -> list[str]:
    lines = ["", f"| {title} | tried | violated | `budget` |", "|---|---|---|---|"]
    for name in names:
        tried, share = budget(counts, name)
        false = str(tally.false(counts, name)) if tally.judged else "not judged"
        lines.append(f"| {name} | {tried} | {false} | {share:.1f} % |")
    return lines


def page(tally: Tally, seed: int) -> str:
    """Return the figures as Markdown."""
    total, rate = budget(tally.kinds)
    wrong = sum(tally.refuted.values())
    judged = f"{wrong} violated" if tally.judged else "endings counted"
    every = sum(tally.kinds.values())
    lines = [
        f"Seed {seed}: {every} verdicts tried, {judged}; of {total} fits (SGD left aside) {rate:.2f} % end in `budget`."
    ]
    if tally.files:
        lies, honest = tally.files["lies"], tally.files["honest"]
        lines.append(
            f"Forged files: {lies} consistent lies, {lies - tally.files['lies confirmed']} refused; "
            f"{honest} honest files, {honest - tally.files['honest refused']} confirmed."
        )
    kinds = Counter({kind: sum(v for (_, k), v in tally.kinds.items() if k == kind) for _, kind in tally.kinds})
    counted = "By verdict: " + ", ".join(f"{count} `{kind}`" for kind, count in kinds.most_common()) + "."
    lines += textwrap.wrap(counted, 115, break_on_hyphens=False)
    lines += _rows(
        tally,
        "loss",
        tally.kinds,
        sorted({name for name, _ in tally.kinds} | {n for n, v in tally.refuted.items() if v}),
    )
    if not tally.plain:
        common = [name for name, _ in Counter({n: budget(tally.data, n)[0] for n, _ in tally.data}).most_common(24)]
        lines += _rows(tally, "kind of data", tally.data, sorted(common))
    return "\n".join(lines)


def publish(tally: Tally, seed: int) -> None:
    """Write the figures into docs/verdicts.md, between the two marks."""
    begin, end = MARKS[tally.plain]
    before, _, rest = PAGE.read_text().partition(begin)
    _, mark, after = rest.partition(end)
    if not mark:
        raise SystemExit(f"docs/verdicts.md lacks the marks {begin} and {end}.")
    PAGE.write_text(f"{before}{begin}\n{page(tally, seed)}\n{end}{after}")
