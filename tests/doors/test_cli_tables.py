"""Tables people have: without names, with names twice, with empty rows, packed, as JSON, as sheets, on standard input."""

from __future__ import annotations

import bz2
import datetime as dt
import io
import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lineal.tables.table import as_table
from lineal.tables.tabular import uniform

pytestmark = pytest.mark.usefixtures("folder")

Lineal = Callable[..., tuple[int, str, str]]

NOISE = uniform(7, np.arange(120)).round(6)
ROWS = [
    (k, float(NOISE[k]), float(NOISE[k + 60]), "no" if NOISE[k] < NOISE[k + 60] + 0.2 * (k % 3) - 0.2 else "yes")
    for k in range(60)
]


def zstandard(data: bytes) -> bytes:
    stream = pa.BufferOutputStream()
    with pa.CompressedOutputStream(stream, "zstd") as packer:
        packer.write(data)
    return stream.getvalue().to_pybytes()


def saved(name: str, data: bytes | str) -> Path:
    path = Path(name)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def plain(header: str = "x,z,y", end: str = "") -> str:
    return f"{header}\n" + "".join(f"{x},{z},{y}\n" for _, x, z, y in ROWS) + end


def fitted(lineal: Lineal, path: Path, *more: str) -> dict[str, Any]:
    """Fit a file, let the checker confirm it, and return what --json says."""
    code, out, err = lineal("fit", path, "--target", "y", "-o", "m.lineal", "--json", *more)
    assert code == 0, err
    options = more[:2] if more[:1] == ("--sheet",) else ()
    assert lineal("verify", "m.lineal", path, *options)[0] == 0
    answer: dict[str, Any] = json.loads(out)
    return answer


def values(answer: dict[str, Any]) -> dict[str, float]:
    return {one["column"]: one["value"] for one in answer["coefficients"]}


def test_columns_without_names_and_with_names_twice_get_names(lineal: Lineal) -> None:
    odd = saved("odd.csv", ",x,x,y,\n" + "".join(f"{k + 1},{x},{z},{y},\n" for k, x, z, y in ROWS))
    answer = fitted(lineal, odd)
    assert values(answer) == values(fitted(lineal, saved("plain.csv", plain("x,x.2,y"))))
    notes = " ".join(answer["data"]["notes"])
    assert "2 columns of odd.csv have no name; they are called 'c1', 'c5'." in notes
    assert "the later column is called 'x.2'" in notes
    dropped = {one["column"]: one["why"] for one in answer["data"]["dropped"]}
    assert "an index" in dropped["c1"]
    assert "every cell is missing" in dropped["c5"]


def test_a_running_number_with_a_name_of_no_row_number_stays(lineal: Lineal) -> None:
    named = saved("t.csv", "week,x,y\n" + "".join(f"{k + 1},{x},{y}\n" for k, x, _, y in ROWS))
    assert "week" in values(fitted(lineal, named))


@pytest.mark.parametrize("end", [",,\n" * 3, ",,\r\n , ,\n\n,,"], ids=["three", "blanks between"])
def test_empty_rows_at_the_end_are_left_out(end: str, lineal: Lineal) -> None:
    answer = fitted(lineal, saved("t.csv", plain(end=end)))
    assert "3 empty rows at the end of t.csv are left out." in answer["data"]["notes"]
    assert values(answer) == values(fitted(lineal, saved("plain.csv", plain())))
    code, out, _ = lineal("predict", "m.lineal", "t.csv")
    assert (code, len(out.splitlines())) == (0, 61)


def test_an_empty_row_in_between_is_a_row(lineal: Lineal) -> None:
    text = plain().splitlines(keepends=True)
    path = saved("t.csv", "".join([*text[:9], ",,\n", *text[9:]]))
    code, out, _ = lineal("fit", path, "--target", "y", "--json")
    assert code == 0
    assert json.loads(out)["data"]["training"]["without_target"] + json.loads(out)["data"]["held_out"] >= 1
    assert sum(batch.num_rows for batch in as_table(path).batches()) == 61


def test_empty_rows_are_found_where_a_long_file_is_read_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 3_000_000 + b",\n" * 2_500_000 + b"3,4\n" + b",\n" * 7)
    table = as_table(path)
    assert sum(batch.num_rows for batch in table.batches()) == 5_500_001
    assert "7 empty rows at the end of long.csv are left out." in table.notes


PACKED = {"t.csv.bz2": bz2.compress, "t.csv.xz": lzma.compress, "t.csv.zst": zstandard, "no ending": lzma.compress}


@pytest.mark.parametrize("name", PACKED)
def test_packed_tables_are_read_by_fit_and_by_the_checker(name: str, lineal: Lineal) -> None:
    answer = fitted(lineal, saved(name, PACKED[name](plain().encode())))
    assert values(answer) == values(fitted(lineal, saved("plain.csv", plain())))


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "no ending"])
def test_a_list_of_objects_is_a_table(name: str, lineal: Lineal) -> None:
    rows = [{"x": x, "z": z, "y": y} for _, x, z, y in ROWS]
    answer = fitted(lineal, saved(name, json.dumps(rows, indent=1)))
    assert values(answer) == values(fitted(lineal, saved("plain.csv", plain())))


def test_a_table_comes_on_standard_input(lineal: Lineal, monkeypatch: pytest.MonkeyPatch) -> None:
    from lineal.cli import opening

    for words in (("fit", "-", "--target", "y"), ("verify", "stdin.lineal", "-"), ("predict", "stdin.lineal", "-")):
        opening.standard_input.cache_clear()  # as in a new process
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(plain().encode())))
        code, out, err = lineal(*words)
        assert code == 0, err
    assert len(out.splitlines()) == 61
    lineal("fit", saved("plain.csv", plain()), "--target", "y")
    assert lineal("predict", "plain.lineal", "plain.csv")[1] == out


def workbook(path: str) -> None:
    """Write a workbook: an empty sheet, one with the table beside its corner, one more."""
    writer = pytest.importorskip("xlsxwriter")
    pytest.importorskip("python_calamine")
    with writer.Workbook(path) as book:
        days = book.add_format({"num_format": "yyyy-mm-dd"})
        book.add_worksheet("empty")
        sheet = book.add_worksheet("rows")
        sheet.write_row(2, 1, ["", "x", "day", "ok", "y"])
        for k, x, _, y in ROWS:
            sheet.write_row(3 + k, 1, [k + 1, x])
            sheet.write_datetime(3 + k, 3, dt.datetime(2024, 1, 1, tzinfo=None) + dt.timedelta(days=3 * k), days)  # noqa: DTZ001
            sheet.write_boolean(3 + k, 4, k % 7 < 3)
            sheet.write_string(3 + k, 5, y)
        sheet.write_blank(90, 9, None, days)
        other = book.add_worksheet("other")
        other.write_column(0, 0, ["y", *(y for *_, y in ROWS)])
        other.write_column(0, 1, ["x", *(x for _, x, *_ in ROWS)])


def test_a_spreadsheet_is_read_like_the_text_of_its_cells(lineal: Lineal) -> None:
    workbook("t.xlsx")
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=3 * k) for k in range(60)]
    lines = [f"{k + 1},{x},{days[k]},{'true' if k % 7 < 3 else 'false'},{y}\n" for k, x, _, y in ROWS]
    answer, expected = fitted(lineal, Path("t.xlsx")), fitted(lineal, saved("t.csv", ",x,day,ok,y\n" + "".join(lines)))
    assert values(answer) == values(expected)
    assert "t.xlsx has 3 sheets; 'rows' is read." in answer["data"]["notes"]
    assert set(values(fitted(lineal, Path("t.xlsx"), "--sheet", "other"))) == {"(intercept)", "x"}
    code, _, err = lineal("fit", "t.xlsx", "--target", "y", "--sheet", "Rows")
    assert code == 2
    assert "no sheet 'Rows'. Did you mean 'rows'?" in err


def test_a_sheet_is_for_spreadsheets(lineal: Lineal) -> None:
    code, _, err = lineal("fit", saved("t.csv", plain()), "--target", "y", "--sheet", "a")
    assert code == 2
    assert "sheet can be given for a spreadsheet only" in err


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.jsonl", "p.parquet", "p.xlsx"])
def test_predictions_are_written_as_their_name_says(name: str, lineal: Lineal) -> None:
    if name.endswith(".xlsx"):
        pytest.importorskip("xlsxwriter")
        pytest.importorskip("python_calamine")
    lineal("fit", saved("t.csv", plain()), "--target", "y")
    stated = [line.split(",")[0] for line in lineal("predict", "t.lineal", "t.csv", "--proba")[1].splitlines()]
    assert lineal("predict", "t.lineal", "t.csv", "--proba", "-o", name)[0] == 0
    table = as_table(name)
    assert table.names == ("prediction", "probability=no", "probability=yes")
    assert [cell for batch in table.batches() for cell in batch.column(0).to_pylist()] == stated[1:]


def test_a_name_that_says_no_format_is_refused_before_any_work(lineal: Lineal) -> None:
    lineal("fit", saved("t.csv", plain()), "--target", "y")
    code, _, err = lineal("predict", "t.lineal", "t.csv", "-o", "p.docx")
    assert code == 2
    assert "must end in one of .csv, .jsonl, .parquet, .xlsx or .tsv" in err
    assert not Path("p.docx").exists()
