"""Names for the columns of any header: all different, none taken from a column that has it, in time as the columns."""

from hypothesis import given
from hypothesis import strategies as st

from lineal.tables.naming import Naming, _free
from lineal.verify.reading import naming as checker


class Counted(set[str]):
    """A set that counts how often it is asked for a member."""

    asked = 0

    def __contains__(self, name: object) -> bool:
        self.asked += 1
        return super().__contains__(name)


@given(st.lists(st.sampled_from(["", "a", "a.2", "a.3", "b", "c1", "c2", " a "]), max_size=12))
def test_names_are_different_and_first_bearers_keep_theirs(header):
    names = Naming.of(header, "t.csv").names
    assert len(set(names)) == len(header)
    assert checker.named(header) == list(names)
    written = [name.strip() for name in header]
    for place, name in enumerate(written):
        if name and name not in written[:place]:
            assert names[place] == name


def test_a_header_of_equal_names_asks_for_each_number_once():
    """Trying every number for every column took minutes for 16,000 columns of one name."""
    taken, last = Counted({"a", "a.3"}), {}
    given = []
    for _ in range(2000):
        given.append(_free("a", taken, last, first=2))
        taken.add(given[-1])
    assert given[:3] == ["a.2", "a.4", "a.5"]
    assert len(set(given)) == 2000
    assert taken.asked == 2001  # one for each column, and one for "a.3"


def test_the_checker_asks_for_each_number_once(monkeypatch):
    """It names columns by its own code: a line of two million equal words took minutes."""
    tries, unused = [], checker.unused

    def counted(stem, number, used):
        name, last = unused(stem, number, used)
        tries.append(last - number + 1)
        return name, last

    monkeypatch.setattr(checker, "unused", counted)
    header = ["a", "a.3", *["a"] * 2000, *[""] * 2000]
    assert checker.named(header) == list(Naming.of(header, "t.csv").names)
    assert sum(tries) == 4001  # one for each column, and one for "a.3"
