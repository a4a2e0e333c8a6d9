"""Quotes in text files, case by case: what they are taken for, what is said, and what is refused with which line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import lineal.tables.file
from lineal.errors import InputError
from lineal.tables.table import as_table
from lineal.verify.reading.tables import kept
from lineal.verify.reading.tables import read as checker

PLAIN = "do not enclose whole cells; they are read as plain text"


def written(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def rows(path: Path, **told):
    """Return all rows, which the checker has to read, too."""
    table = as_table(path, **told)
    found = [
        row
        for batch in table.select(texts=table.names).batches()
        for row in zip(*batch.to_pydict().values(), strict=True)
    ]
    names = table.names
    told = {name: value for name, value in told.items() if name != "header"}
    told = {"delimiter": table.dialect.delimiter, **told}
    checked = kept(checker(path, names, header=table.dialect.header, **told), names)
    assert list(zip(*(checked.columns[name] for name in names), strict=True)) == found
    return found, table.notes


@pytest.mark.parametrize("distance", [1, 2, 19, 20, 21, 1604, 20_000])
@pytest.mark.parametrize("name", ["t.tsv", "t.txt", "t.tsv.gz"])
def test_a_tagged_corpus_keeps_the_rows_between_two_lone_quotes(tmp_path, distance, name):
    tokens = [f"w{k % 97}\tNN\t{k % 5}" for k in range(distance + 300)]
    tokens[100] = tokens[100 + distance] = '"\tPUNCT\t0'
    found, notes = rows(written(tmp_path / name, "token\ttag\tplace\n" + "\n".join(tokens) + "\n"))
    assert found == [tuple(token.split("\t")) for token in tokens]
    assert [note for note in notes if PLAIN in note and "line 102;" in note] == list(notes) != []


@pytest.mark.slow
def test_a_lone_quote_beyond_the_first_megabyte_changes_nothing_before_it(tmp_path, monkeypatch):
    monkeypatch.setattr(lineal.tables.file, "LONG_FILE_BYTES", 1)
    lines = ["word\tNN"] * 300_000
    lines[280_000] = lines[290_000] = '"\tPUNCT'
    found, notes = rows(written(tmp_path / "t.tsv", "token\ttag\n" + "\n".join(lines)))
    assert len(found) == 300_000
    assert "line 280,002" in " ".join(notes)


def test_a_lemma_that_is_a_quote_beside_its_token(tmp_path):
    """In one line, two lone quotes enclose a tab: then the row has a cell less than the others."""
    text = "id\tform\tlemma\tpos\n" + '1\tHe\the\tP\n2\t"\t"\tX\n3\tran\trun\tV\n' * 5
    found, _ = rows(written(tmp_path / "t.tsv", text))
    assert len(found) == 15
    assert found[1] == ("2", '"', '"', "X")


TEXT = {
    "inside cells": (
        'size,y\n5" pipe,1\n6",2\n',
        [('5" pipe', "1"), ('6"', "2")],
        "2 quotes of t.csv stand inside cells",
    ),
    "after a blank": ('a,b\nx, "u"\ny,v\n', [("x", ' "u"'), ("y", "v")], "2 quotes of t.csv stand inside cells"),
    "text behind": ('a,b\n"x" y,1\nz,2\n', [('"x" y', "1"), ("z", "2")], PLAIN),
    "never closed": ('a,b\nx,1\n"y,2\nz,3\n', [("x", "1"), ('"y', "2"), ("z", "3")], PLAIN),
    "the last character": ('a,b\nx,1\ny,"', [("x", "1"), ("y", '"')], PLAIN),
    "in the header": ('a,"b\n1,2\n3,4\n', [("1", "2"), ("3", "4")], PLAIN),
    "a mark before": ('\ufeff"a",b\n",1\n",2\n', [('"', "1"), ('"', "2")], PLAIN),
    "windows": ('a,b\r\n",1\r\n",2\r\n', [('"', "1"), ('"', "2")], PLAIN),
    "old ends": ('a,b\r",1\r",2\r', [('"', "1"), ('"', "2")], PLAIN),
    "blank lines between": ('a,b\n",1\n\n\n",2\n', [('"', "1"), ('"', "2")], PLAIN),
}


@pytest.mark.parametrize("case", TEXT)
def test_quotes_that_are_text(tmp_path, case):
    text, expected, said = TEXT[case]
    found, notes = rows(written(tmp_path / "t.csv", text), header=True)
    assert found == expected
    assert said in " ".join(notes)


QUOTED = {
    "doubled": ('a,b\n"x ""y""",1\n', [('x "y"', "1")], None),
    "with a delimiter": ('a,b\n"x, y",1\nz,2\n', [("x, y", "1"), ("z", "2")], None),
    "with a mark": ('\ufeff"a, or",b\n"x",1\n', [("x", "1")], None),
    "two lines": (
        'a,b\n"x\ny",1\nz,2\n',
        [("x\ny", "1"), ("z", "2")],
        "1 quoted cell of t.csv spans several lines, up to 2",
    ),
    "windows": ('a,b\r\n"x\r\ny",1\r\nz,2\r\n', [("x\r\ny", "1"), ("z", "2")], "1 quoted cell of t.csv spans"),
    "blank lines inside": ('a,b\n"x\n\n\ny",1\nz,2\n', [("x\n\n\ny", "1"), ("z", "2")], "up to 4 (from line 2 on)"),
    "and others inside": ('a,b\n"x, y",5" pipe\n', [("x, y", '5" pipe')], "1 quote of t.csv stands inside cells"),
    "twenty lines": ('a,b\n"' + "x\n" * 19 + 'x",1\ny,2\n', [("x\n" * 19 + "x", "1"), ("y", "2")], "up to 20 "),
    "lines like rows, others not": (
        'a,b\n"x, y",1\nu,"v\nw,w"\n',
        [("x, y", "1"), ("u", "v\nw,w")],
        "1 quoted cell of t.csv spans",
    ),
}


@pytest.mark.parametrize("case", QUOTED)
def test_quotes_that_quote(tmp_path, case):
    text, expected, said = QUOTED[case]
    found, notes = rows(written(tmp_path / "t.csv", text), header=True)
    assert found == expected
    assert notes == () if said is None else said in " ".join(notes)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_cell_of_many_lines_is_refused_until_it_is_declared(tmp_path, quote):
    text = f"a,b\n{quote}" + "x\n" * 20 + f"x{quote},1\n" + "y,2\n" * 9
    path = written(tmp_path / "t.csv", text)
    if quote == '"':
        with pytest.raises(
            InputError, match=r"begins in line 2 of t.csv .* 20 lines: say --quote '\"' .* --quote none"
        ):
            as_table(path)
        with pytest.raises(InputError, match="line 2 "):
            kept(checker(path, ["a", "b"]), ["a", "b"])
    found, notes = rows(path, quote=quote)
    assert len(found) == 10
    assert "up to 21 " in " ".join(notes)


def test_long_texts_are_believed_where_they_are_the_habit(tmp_path):
    row = '"One line,\n' + "and another.\n" * 30 + 'The end",{}\n'
    found, notes = rows(written(tmp_path / "t.csv", "text,y\n" + "".join(row.format(k) for k in range(6))))
    assert len(found) == 6
    assert "6 quoted cells of t.csv span several lines, up to 32" in " ".join(notes)


def test_rows_swallowed_by_quotes_in_broken_lines_are_refused(tmp_path):
    """Two broken lines that quotes make a whole one, with all rows in between."""
    text = 'a,b,c\n1,"x\n' + "2,y,3\n" * 50 + 'z",4\n'
    path = written(tmp_path / "t.csv", text)
    with pytest.raises(InputError, match=r"line 2 of t\.csv"):
        as_table(path)
    with pytest.raises(InputError, match="line 2 "):
        kept(checker(path, ["a", "b", "c"]), ["a", "b", "c"])


NEITHER = {
    "text behind, in a quoted file": (
        'a,b\n"x","1"\n"y" z,"2"\n"u","3"\n"v","4"\n',
        "in line 3 .* most lines.*--quote none",
    ),
    "text behind, with delimiters": (
        'a,b\n"x, y",1\n"y" z,2\n',
        "in line 3 .* line 2 would have 3 cells, the first line has 2",
    ),
    "too few cells": ('a,b,c\n"x, y",1,2\n"x, y",1\n', "quoted cells of line 3 "),
}


@pytest.mark.parametrize("case", NEITHER)
def test_quotes_that_are_neither_are_refused_with_their_line(tmp_path, case):
    text, sentence = NEITHER[case]
    path = written(tmp_path / "t.csv", text)
    with pytest.raises(InputError, match=sentence):
        as_table(path)
    with pytest.raises(InputError, match="line 3 "):
        kept(checker(path, ["a", "b"]), ["a", "b"])


@pytest.mark.parametrize("size", range(1, 40))
def test_a_quoted_line_end_at_the_border_of_two_pieces(tmp_path, monkeypatch, size):
    monkeypatch.setattr(lineal.tables.file, "CHUNK_BYTES", 4 * size)
    text = 'a,b\n"one\ntwo",1\n5" pipe,2\n"three\n""\n",3\n' * 3
    found, _ = rows(written(tmp_path / "t.csv", "c,d\n" + text), header=True)
    assert found == [("a", "b"), ("one\ntwo", "1"), ('5" pipe', "2"), ('three\n"\n', "3")] * 3


def test_what_was_declared_is_still_read_with_care(tmp_path):
    path = written(tmp_path / "t.csv", 'a,b\n"x" y,1\n"z",2\n')
    with pytest.raises(InputError, match=r"in line 2 of t\.csv text follows"):
        as_table(path, quote='"')
    assert rows(path, quote="")[0] == [('"x" y', "1"), ('"z"', "2")]
