"""Several tests as one result that shows as a table."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from lineal.ground.records import dataclass
from lineal.inference.hypothesis import HypothesisTest
from lineal.model.tabled import Grid, Tabled, plain, short


@dataclass(frozen=True)
class Tests(Tabled):
    """Tests of hypotheses about a fit: plain data that displays as a table.

    >>> print(Tests("Two groups", (HypothesisTest("Wald", "b = 0", 4.0, "chi-squared", 0.0455, 1.0),), by="test"))
    Two groups
    <BLANKLINE>
    test  if it holds        statistic  degrees       p
    Wald  b = 0        chi2          4        1  0.0455
    """

    __test__ = False  # (pytest takes names that begin so for tests of its own)

    title: str
    tests: tuple[HypothesisTest, ...]
    by: str = "test"
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """What was tested."""
        return self.title

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data; a number that is not finite becomes None."""
        tests = [plain(asdict(test)) for test in self.tests]
        return {"title": self.title, "tests": tests, "notes": list(self.notes)}

    def columns(self) -> dict[str, list[Any]]:
        """Return what is known of the tests as columns of a table."""
        tests = self.to_dict()["tests"]
        return {one.name: [test[one.name] for test in tests] for one in fields(HypothesisTest)}

    def __getitem__(self, name: str) -> HypothesisTest:
        """Return the test of this name."""
        for test in self.tests:
            if test.name == name:
                return test
        raise KeyError(name)

    def grids(self) -> list[Grid]:
        """Return the table of the tests."""
        said = any(test.null for test in self.tests)
        head = (self.by, *(["if it holds"] if said else []), "", "statistic", "degrees", "p")
        lines = [head]
        for test in self.tests:
            degrees = "" if test.freedom is None else f"{test.freedom:g}"
            degrees += "" if test.left is None else f", {test.left:g}"
            kind = "chi2" if test.distribution == "chi-squared" else test.distribution
            words = (test.name, *([test.null] if said else []), kind)
            lines.append((*words, short(test.statistic), degrees, f"{test.p:.4g}"))
        return [Grid(lines, texts=2 + said)]
