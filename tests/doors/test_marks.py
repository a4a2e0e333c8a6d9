"""Which cells are missing, as a person says it: held against pandas and scikit-learn, in every format, through the checker."""

import csv
import io
import json
import re
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

import lineal
from lineal import container
from lineal.cli import run
from lineal.errors import InputError
from lineal.tables.table import as_table

ROWS = 300
FORMATS = ("csv", "tsv", "parquet", "jsonl", "typed.jsonl")
SAID = {"word": [], "age": ["default", "-999"], "size": ["NA", "n/a"], "y": ["."]}
TYPED = ["--na", "word=", "--na", "age=default,-999", "--na", "size=NA,n/a", "--na", "y=."]


def cells(seed=5):
    rng = np.random.default_rng(seed)
    word = rng.choice(["rain", "sun", "None", "null", "NA", "?", ""], size=ROWS)
    age = rng.choice(["-999", "-999.0", "NA", "31", "47", "52", " 60", "28.5"], size=ROWS)
    size = rng.choice(["S", "M", "None", "n/a", "NA"], size=ROWS)
    y = [f"{value:.3f}" for value in rng.normal(size=ROWS) + (word == "None") - (word == "?") + (size == "M")]
    y[7] = y[19] = "."
    return {"word": word.tolist(), "age": age.tolist(), "size": size.tolist(), "y": y}


def written(table, ending, path):
    """Write the table as text, as strings of Parquet, as strings of JSON, or with JSON numbers where cells are numbers."""
    names, rows = list(table), list(zip(*table.values(), strict=True))
    if ending == "parquet":
        pq.write_table(pa.table(table), path)
    elif ending.endswith("jsonl"):
        typed = (lambda cell: float(cell) if cell.strip("-").isdecimal() else cell) if ending[0] == "t" else str
        path.write_text("".join(json.dumps(dict(zip(names, map(typed, row), strict=True))) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            csv.writer(file, delimiter="\t" if ending == "tsv" else ",").writerows([names, *rows])
    return path


def as_pandas(table):
    """Return the table as pandas reads it with the marks of SAID: nothing of ours looks at a cell."""
    text = io.StringIO()
    csv.writer(text).writerows([list(table), *zip(*table.values(), strict=True)])
    usual = ["NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"]
    marks = {"word": [""], "age": ["", *usual, "-999"], "size": ["", "NA", "n/a"], "y": ["", "."]}
    text.seek(0)
    return pd.read_csv(text, na_values=marks, keep_default_na=False)


def design(frame, training):
    """Return the columns of a fit: numbers with a mark for gaps, and levels beside the most frequent one."""
    age = frame["age"]
    columns = [np.ones(len(frame)), age.fillna(training["age"].mean()), age.isna()]
    for name in ("word", "size"):
        counts = training[name].value_counts()
        reference = min(counts[counts == counts.max()].index)
        columns += [frame[name] == level for level in sorted(counts.index) if level != reference]
        columns += [frame[name].isna()]
    return np.column_stack(columns).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("ending", FORMATS)
def test_marks_are_those_that_were_said_in_every_format(ending, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = cells()
    path = written(table, ending, tmp_path / f"t.{ending}")
    frame = as_pandas(table).dropna(subset=["y"])
    x, y = design(frame, frame), frame["y"].to_numpy(float)
    best = np.linalg.lstsq(x, y, rcond=None)[0]
    model = lineal.fit(str(path), target="y", model="linear", na=SAID, tol=1e-13)
    assert model.training["rows"] == ROWS - 2
    np.testing.assert_allclose(model.coef[:, 0], best, rtol=1e-8, atol=1e-10)
    levels = {name for name in model.columns if name.startswith(("word=", "size="))}
    assert {"word=?", "word=NA", "word=null"} <= levels
    assert not {"size=NA", "size=n/a"} & levels

    assert run(["fit", str(path), "--target", "y", "--model", "linear", *TYPED, "--test-size", "0", "-o", "m"]) == 0
    assert run(["verify", "m", str(path)]) == 0
    assert "Confirmed" in capsys.readouterr().out
    kept = lineal.load("m")
    new = {name: column[:40] for name, column in cells(seed=6).items()}
    once = written(new, ending, tmp_path / f"new.{ending}")
    wanted = design(as_pandas(new), frame)
    np.testing.assert_allclose(kept.predict(str(once)), wanted @ kept.coef[:, 0], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(kept.predict(new), wanted @ kept.coef[:, 0], rtol=1e-8, atol=1e-10)
    assert lineal.evaluate(kept, new)["rows"] == 40 - new["y"].count(".")


def test_without_a_choice_the_usual_marks_are_missing_in_every_column():
    table = cells()
    model = lineal.fit({**table, "y": [k % 7 for k in range(ROWS)]}, target="y", model="linear")
    assert "word=None" not in model.columns
    assert {"word is missing", "size is missing", "size=n/a"} <= set(model.columns)
    assert model.encoder.to_dict().keys() == {"intercept", "terms"}


@pytest.mark.parametrize("ending", FORMATS[:4])
def test_a_mark_is_a_word_in_free_text(ending, tmp_path):
    rng = np.random.default_rng(2)
    notes = [f"{' '.join(rng.choice(['good', 'bad', 'late', 'none'], size=4))} {k}" for k in range(80)]
    notes[::4] = ["None", "NA", "?", "", "null"] * 4
    table = {"note": notes, "y": [f"{value:.3f}" for value in rng.normal(size=80)]}
    path = written(table, ending, tmp_path / f"t.{ending}")
    text = {"note": "counts,min=2"}
    model = lineal.fit(str(path), target="y", text=text, penalty="ridge:0.1")
    vectorizer = CountVectorizer(min_df=2, tokenizer=re.compile(r"\w+").findall, token_pattern=None).fit(notes)
    assert [name.removeprefix("note: ") for name in model.columns[1:]] == sorted(vectorizer.vocabulary_)
    assert {"note: none", "note: na", "note: null"} <= set(model.columns)
    scores = model.coef[0, 0] + vectorizer.transform(notes) @ model.coef[1:, 0]
    np.testing.assert_allclose(model.predict(str(path)), scores, rtol=1e-9)
    found = lineal.fit(str(path), target="y", penalty="ridge:0.1")  # found to be text, not said to be
    assert found.encoder.to_dict()["marks"] == {"note": []}
    assert "note: null" in found.columns
    usual = lineal.fit(str(path), target="y", text=text, penalty="ridge:0.1", na={"note": "NA,null"})
    assert "note: none" in usual.columns
    assert not {"note: na", "note: null"} & set(usual.columns)
    model.save(tmp_path / "m")
    assert run(["verify", str(tmp_path / "m"), str(path)]) == 0


@pytest.mark.slow
def test_a_mark_is_a_word_among_very_many(tmp_path):
    words = [f"w{k}" for k in range(1010)] + ["None", "?", "NA", ""]
    column = words * 2
    table = {"word": column, "y": [len(word) % 3 + k % 2 for k, word in enumerate(column)]}
    model = lineal.fit(table, target="y", model="linear", penalty="ridge:0.01")
    assert {"word=None", "word=?", "word=NA", "word is missing"} <= set(model.columns)
    assert "word=None" not in lineal.fit(table, target="y", model="linear", penalty=0.01, na="default").columns
    capped = lineal.fit(table, target="y", model="linear", penalty=0.01, na={"word": "None"})
    assert {"word=?", "word is missing"} <= set(capped.columns)
    assert "word=None" not in capped.columns
    path = written({name: list(map(str, column)) for name, column in table.items()}, "csv", tmp_path / "t.csv")
    model = lineal.fit(str(path), target="y", model="linear", penalty=0.01)
    model.save(tmp_path / "m")
    assert run(["verify", str(tmp_path / "m"), str(path)]) == 0


@pytest.mark.slow
def test_marks_hold_for_targets_questions_groups_and_gaps(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(9)
    size = rng.choice(["None", "S", "NA"], size=ROWS).tolist()
    num = rng.choice(["-1", "0", "1", "2"], size=ROWS).tolist()
    table = {"size": size, "num": num, "x": [f"{value:.4f}" for value in rng.normal(size=ROWS)]}
    written(table, "csv", tmp_path / "t.csv")
    model = lineal.fit("t.csv", target="size", na={"size": []}, penalty=0.1)
    assert model.target.classes == ("NA", "None", "S")
    for words, rows in (
        (["--target", "size", "--na", "size="], ROWS),
        (["--target", "size", "--na", "size=NA"], ROWS - size.count("NA")),
        (["--target", "num > 0", "--na", "num=-1"], ROWS - num.count("-1")),
        (["--target", "x", "--na", "num=-1", "--missing", "drop", "--drop", "size"], ROWS - num.count("-1")),
        (["--target", "x", "--na", "", "--split", "stratified", "--target", "size"], None),
        (["--target", "x", "--na", "size=", "--split", "group:size"], None),
    ):
        share = ["--test-size", "0.3"] if rows is None else ["--test-size", "0"]
        assert run(["fit", "t.csv", *words, *share, "--penalty", "ridge:0.1", "-o", "m", "--json"]) in (0, 3)
        answer = json.loads(capsys.readouterr().out)
        assert rows in (None, answer["data"]["rows"])
        assert run(["verify", "m", "t.csv"]) == 0
        assert run(["evaluate", "m", "t.csv", "--json"]) == 0
        capsys.readouterr()
    with pytest.raises(InputError, match="has no value in 'size'"):
        lineal.fit("t.csv", target="x", split="group:size", test_size=0.3)


@pytest.mark.parametrize("marks", [None, [], ["NA"]])
def test_marks_hold_for_cells_that_list_labels(marks, tmp_path):
    rng = np.random.default_rng(3)
    tags = rng.choice(["None", "NA", "None;red", "red;NA", "red", ""], size=150).tolist()
    path = written({"x": [f"{value:.3f}" for value in rng.normal(size=150)], "tags": tags}, "csv", tmp_path / "t.csv")
    model = lineal.fit(
        str(path), target="tags", labels_by=";", penalty=0.1, na=None if marks is None else {"tags": marks}
    )
    gone = ["None", "NA"] if marks is None else marks
    lists = [set(cell.split(";")) - {""} for cell in tags if cell not in gone]  # an empty cell lists none
    assert model.training["rows"] == len(lists)
    counts = {word: sum(word in one for one in lists) for word in ("NA", "None", "red")}
    said = " ".join(map(str, model.report["data"]["target"].values()))
    assert all(str(count) in said for count in counts.values())
    model.save(tmp_path / "m")
    assert run(["verify", str(tmp_path / "m"), str(path)]) == 0


def test_a_number_column_has_no_marks_but_those_that_were_said():
    table = {"x": ["1", "2", "-", "4", "5", "7"] * 20, "y": list(range(120))}
    assert "x is missing" in lineal.fit(table, target="y", model="linear").columns  # "-" is one among numbers
    with pytest.raises(InputError, match="holds '-'"):
        lineal.fit(table, target="y", model="linear", na={"x": "NA"}, types={"x": "number"})
    model = lineal.fit(table, target="y", model="linear", na={"x": "-"}, types={"x": "number"})
    assert "x is missing" in model.columns


def test_the_checker_refuses_other_marks(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(cells(), "csv", tmp_path / "t.csv")
    lineal.fit("t.csv", target="y", model="linear", na=SAID).save("m")
    meta, arrays = container.read("m")
    assert meta["encoder"]["marks"]["word"] == []
    for change in ({"word": ["None"]}, {"word": ["None"], "age": []}, {"zip": []}):
        forged = {name: value for name, value in meta.items() if name != "sha256"}
        forged["encoder"] = {**meta["encoder"], "marks": {**meta["encoder"]["marks"], **change}}
        container.write("f", forged, arrays)
        assert run(["verify", "f", "t.csv"]) == 1  # the hash of the encoding names the marks
        forged["encoding"] = container.encoding(forged)
        container.write("f", forged, arrays)
        kind = run(["verify", "f", "t.csv"])
        assert kind == (0 if "zip" in change else 1)  # a column that is not read proves nothing, and spoils nothing
        capsys.readouterr()


def test_inspect_counts_every_mark(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = cells()
    written(table, "csv", tmp_path / "t.csv")
    for words, marks in (([], {}), (TYPED, {"word": {""}, "size": {"", "NA", "n/a"}})):
        assert run(["inspect", "t.csv", *words, "--json"]) == 0
        columns = {entry["column"]: entry for entry in json.loads(capsys.readouterr().out)["columns"]}
        for name in ("word", "size"):
            counted = Counter(table[name])
            usual = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"}
            mine = marks.get(name, usual)
            assert columns[name].get("marks", {}) == {text: n for text, n in counted.items() if text in mine}
            others = {text: n for text, n in counted.items() if text in usual - mine}
            assert columns[name].get("words", {}) == others
            assert columns[name]["missing"] == sum(columns[name].get("marks", {}).values())
    counted = Counter(table["age"])
    assert columns["age"]["marks"] == {mark: counted[mark] for mark in ("-999", "-999.0", "NA")}
    assert run(["inspect", "t.csv", *TYPED, "--target", "y", "--recipe", "r.toml"]) == 0
    assert "'word' holds ? (" in " ".join(capsys.readouterr().out.split())
    assert run(["fit", "t.csv", "--recipe", "r.toml", "--model", "linear", "-o", "m", "--json"]) == 0
    assert run(["fit", "t.csv", "--target", "y", *TYPED, "--model", "linear", "-o", "n", "--json"]) == 0
    assert lineal.load("m").encoder == lineal.load("n").encoder
    (tmp_path / "short.toml").write_text('target = "y"\nna = ["."]\n')
    assert run(["fit", "t.csv", "--recipe", "short.toml", "--na", "age=NA,-999", "-o", "m", "--json"]) == 0
    own = lineal.load("m").encoder.marks
    assert (own["age"], own["word"]) == (("-999", "NA"), (".",))


@pytest.mark.slow
@pytest.mark.parametrize("command", ["compare", "path", "separable", "trace", "sweep"])
def test_every_command_that_fits_takes_marks(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = cells()
    table["y"] = ["None" if k % 3 else "S" for k in range(ROWS)]
    written(table, "csv", tmp_path / "t.csv")
    more = {"sweep": ["--over", "strength=0.1,1"], "trace": ["--epochs", "1"]}.get(command, [])
    assert (
        run([command, "t.csv", "--target", "y", *TYPED[:6], *more]) == 2
    )  # of one class, or none: the rest is missing
    capsys.readouterr()
    assert run([command, "t.csv", "--target", "y", *TYPED[:6], "--na", "y=", *more, "--json"]) in (0, 3)


def test_marks_that_say_nothing_are_refused(tmp_path):
    table = {"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.5]}
    for na, words in (
        ({"z": "NA"}, "no column 'z'"),
        ({"x": 3}, "give a list of texts"),
        ([None], "each must be a text or a number"),
    ):
        with pytest.raises(InputError, match=words):
            lineal.fit(table, target="y", na=na)
    with pytest.raises(InputError, match="an array holds numbers"):
        lineal.fit(sp.csr_array(np.eye(3)), [1.0, 2.0, 3.0], na="NA")
    path = tmp_path / "t.svm"
    path.write_text("1 1:2\n0 2:1\n")
    with pytest.raises(InputError, match="SVMlight"):
        lineal.fit(str(path), target="y", na="NA")
    assert as_table(table).marks == {}
