"""Malformed tables: each works with the decision said, or is refused in one sentence that names row, column and remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lineal.cli import run

Lineal = Callable[..., tuple[int, str, str]]
ROWS = [f"{k % 7}.5,{'abc'[k % 3]},{'yes' if (k * k) % 5 < 2 else 'no'}" for k in range(200)]


@pytest.fixture
def lineal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lineal:
    """Run a command in an empty folder; return code, stdout with single blanks, stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*words: object) -> tuple[int, str, str]:
        code = run([str(word) for word in words])
        said = capsys.readouterr()
        return code, " ".join(said.out.split()), said.err

    return call


def table(*lines: str, end: str = "\n") -> str:
    return end.join(("x,k,y", *lines)) + end


REFUSED = {
    "ragged rows": (table(*ROWS[:50], "1,a", *ROWS[50:]), ["row 51 (line 52)", "has 2 cells where 3", "needs quotes"]),
    "an unclosed quote among others": (
        table(*ROWS[:9], '1,"a, b",no', *ROWS[9:50], '1,"a,yes', *ROWS[50:]),
        ["opens in line 53", "never closed", "close it"],
    ),
    "header repeated": (table(*ROWS[:100], "x,k,y", *ROWS[100:]), ["row 101 (line 102)", "delete that line"]),
    "header repeated among words": (
        "a,b,y\n" + "u,v,no\nw,v,yes\n" * 40 + "a,b,y\n" + "u,v,no\n",
        ["row 81 (line 82)", "names of the columns once more"],
    ),
    "two header rows": (table("mm,name,answer", *ROWS), ["'x'", "row 1 (line 2)", "'mm'", "second line of the header"]),
    "a title above": ("Sales of May\n" + table(*ROWS), ["line 1", "'Sales of May'", "delete what stands above"]),
    "a title with empty cells": (
        "Sales of May,,\n" + table(*ROWS),
        ["line 1", "'Sales of May'", "delete what stands above"],
    ),
    "a spreadsheet's separator": ("sep=,\n" + table(*ROWS), ["line 1", "'sep='", "delete what stands above"]),
    "comments above": ("# by me\n# 2020\n" + table(*ROWS), ["line 1", "'# by me'", "delete"]),
    "a spreadsheet": (b"PK\x03\x04\x14\0" + bytes(200), ["spreadsheet", "save its sheet as CSV"]),
    "NUL bytes": (table(*ROWS[:9], "1,\0,no", *ROWS[9:]), ["NUL byte in line 11"]),
    "damaged UTF-8": (table(*ROWS[:9], "1,é,no").encode() + b"1,\xe9,no\n", ["line 12", "UTF-8"]),
    "dates in three ways": (
        table(*(f"{('2020-01-02', '3.4.2020', '12/31/2020')[k % 3]},a,{'yes' if k % 4 else 'no'}" for k in range(90))),
        ["'x'", "'2020-01-02' in row 1 (line 2)", "'3.4.2020' in row 2", "'12/31/2020' in row 3", "--types x=category"],
    ),
    "a word among numbers": (
        table(*ROWS[:30], "oops,a,no", *ROWS[30:]),
        ["'x'", "row 31 (line 32)", "'oops'", "--drop x"],
    ),
    "a number beyond doubles": (table(*ROWS[:30], "1e999,a,no", *ROWS[30:]), ["'x'", "infinite in row 31 (line 32)"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_understood_is_refused(name: str, lineal: Lineal) -> None:
    text, said = REFUSED[name]
    Path("bad.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    code, out, err = lineal("fit", "bad.csv", "--target", "y", "--test-size", "0")
    assert (code, out) == (2, ""), err
    assert err.count("\n") == 1
    for words in said:
        assert words in err
    assert not Path("bad.lineal").exists()


UNDERSTOOD = {
    "mixed line ends": (table(*ROWS, end="\n").replace("a,yes\n", "a,yes\r\n"), ["200 rows fitted", "x number 0"]),
    "old line ends": (table(*ROWS, end="\r"), ["200 rows fitted", "x number 0"]),
    "blank lines": (table(*ROWS).replace("\n", "\n\n"), ["200 rows fitted"]),
    "an unclosed quote": (
        table(*ROWS[:50], '1,"a,yes', *ROWS[50:]),
        ["quotes that do not enclose whole cells; they are read as plain text", "4 levels"],
    ),
    "quotes around every cell": (
        "".join(f'"{line.replace(",", chr(34) + "," + chr(34))}"\n' for line in ("x,k,y", *ROWS)),
        ["200 rows fitted", "x number 0", "3 levels"],
    ),
    "quotes and a line end in a name": (
        table(*ROWS).replace("x,k,y", '"the ""x"" , or\nits like",k,y'),
        ["200 rows fitted", 'the "x" , or'],
    ),
    "an empty category": (
        table(*ROWS).replace(",a,", ",,").replace(",b,", ',"",'),
        ["k category 134", "c, or missing"],
    ),
    "a column missing at first": (
        table(*(f"{'' if k < 12_000 else k % 9},{'abc'[k % 3]},{'yes' if k % 7 < 3 else 'no'}" for k in range(13_000))),
        ["x number 12000", "a column says which"],
    ),
    "words after a long absence": (
        table(*(f"{'' if k < 12_000 else 'uvw'[k % 3]},a,{'yes' if k % 7 < 3 else 'no'}" for k in range(13_000))),
        ["x category 12000", "3 levels"],
    ),
    "numbers as 1.234,5": (
        "x;k;y\n" + "".join(f"{k}.234,5;{row[-3:].strip(',')};{row.split(',')[2]}\n" for k, row in enumerate(ROWS)),
        ["x number 0"],
    ),
    "Latin-1": (table(*ROWS).replace(",a,", ",é,").encode("latin-1"), ["read as Windows-1252", "k category 0"]),
    "classes that differ in capitals": (
        table(*ROWS).replace("1.5,b,no", "1.5,b,No "),
        ["3 classes", "'No' and 'no' of 'y' differ only in capitals"],
    ),
    "a sum below": (table(*ROWS, "Total,,"), ["200 rows fitted, 1 left out because the target is missing"]),
    "a cell of two megabytes": (
        table(*ROWS[:60], f"3,{'word ' * 400_000},no", *ROWS[60:]),
        ["k: it holds texts of up to 1,999,999 characters"],
    ),
}


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_what_can_be_understood_is_fitted_said_and_verified(name: str, lineal: Lineal) -> None:
    text, said = UNDERSTOOD[name]
    Path("odd.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    code, out, err = lineal("fit", "odd.csv", "--target", "y", "--test-size", "0", "--penalty", "ridge:0.1")
    assert code == 0, err
    for words in said:
        assert words in out
    code, out, err = lineal("verify", "odd.lineal", "odd.csv")
    assert code == 0, out + err


def test_every_row_without_a_target_is_counted(lineal: Lineal) -> None:
    Path("some.csv").write_text(table(*(row if k % 4 else f"{row[:-3].rstrip(',')}," for k, row in enumerate(ROWS))))
    code, out, err = lineal("fit", "some.csv", "--target", "y", "--penalty", "ridge:0.1")
    assert code == 0, err
    fitted, held, left = re.search(r"(\d+) rows fitted, (\d+) held out .*?, (\d+) left out", out).groups()
    unmeasured = re.search(r"(\d+) rows are not measured: held out, but the target is missing", out).group(1)
    assert (int(fitted) + int(held), int(left) + int(unmeasured)) == (150, 50)


@pytest.mark.slow
def test_ten_thousand_columns_are_fitted(lineal: Lineal) -> None:
    n = 10_000
    with Path("wide.csv").open("w") as file:
        file.write(",".join(f"c{j}" for j in range(n)) + ",y\n")
        for k in range(12):
            file.write(",".join(str((j * k * 7 + k) % 13) for j in range(n)) + f",{'yes' if k % 2 else 'no'}\n")
    code, out, err = lineal("fit", "wide.csv", "--target", "y", "--test-size", "0", "--penalty", "ridge:0.1")
    assert code == 0, err
    assert "columns number 0 c0, c1," in out
