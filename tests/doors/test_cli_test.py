"""`lineal test` and `lineal summary --terms`, end to end."""

from __future__ import annotations

import json

import pytest

import lineal
from tests.doors.test_cli_summary import call, table

__all__ = ["table"]


@pytest.fixture
def fitted(table, capsys):
    words = ("--target", "y", "--penalty", "none")
    assert call(capsys, "fit", table, *words, "--max-levels", "3", "-o", "large.lineal")[0] == 0
    assert call(capsys, "fit", table, *words, "--drop", "town", "-o", "small.lineal")[0] == 0
    return table


def test_nested_models(fitted, capsys):
    code, out, err = call(capsys, "test", "small.lineal", "large.lineal", fitted)
    assert (code, err) == (0, "")
    assert all(word in out for word in ("Likelihood ratio", "Wald", "Score"))
    code, out, err = call(capsys, "test", "large.lineal", "small.lineal", fitted, "--json")  # in either order
    said = json.loads(out)
    tests = lineal.nested_tests(lineal.load("small.lineal"), lineal.load("large.lineal"), fitted)
    assert [test["statistic"] for test in said["tests"]] == [test.statistic for test in tests.tests]
    assert call(capsys, "test", "small.lineal", "large.lineal")[1].count("needs the rows") == 1


def test_hypothesis_and_terms(fitted, capsys):
    code, out, err = call(capsys, "test", "small.lineal", "--hypothesis", "2 a = 1", "--json")
    assert (code, err) == (0, "")
    row = lineal.load("small.lineal").summary().rows[1]
    wanted = ((row.estimate - 0.5) / row.error) ** 2
    assert json.loads(out)["tests"][0]["statistic"] == pytest.approx(wanted, rel=1e-10)
    code, out, err = call(capsys, "summary", "large.lineal", "--terms", "II")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[2:5]] == ["term", "a", "town"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("test", "small.lineal"), "there is nothing to test"),
        (("test", "small.lineal", "large.lineal", "--hypothesis", "a = 0"), "is about one model"),
        (("test", "small.lineal", "large.lineal", "--class", "yes"), "--class is for --hypothesis"),
        (("test", "small.lineal", "small.lineal"), "no column that the first lacks"),
        (("test", "small.lineal", "--hypothesis", "b = 0"), "cannot be read at 'b'"),
        (("summary", "small.lineal", "--terms", "III", "--level", "0.9"), "leave --level out"),
    ],
)
def test_what_it_refuses(fitted, capsys, words, said):
    code, out, err = call(capsys, *words)
    assert (code, out) == (2, "")
    assert said in err


def test_effects(fitted, capsys):
    code, out, err = call(capsys, "effects", "large.lineal", fitted)
    assert (code, err) == (0, "")
    found = lineal.marginal_effects(lineal.load("large.lineal"), fitted)
    assert [line.split()[0].rstrip(":") for line in out.partition("\n\n")[2].splitlines()[1:]][:2] == ["a", "town"]
    code, out, err = call(capsys, "effects", "large.lineal", fitted, "--of", "a", "--json")
    assert json.loads(out)["rows"][0]["estimate"] == found.rows[0].estimate
    code, out, err = call(capsys, "effects", "large.lineal", fitted, "--at", "a=0,1", "--at", "town", "--json")
    town = next(term for term in lineal.load("large.lineal").encoder.terms if term.column == "town")
    assert len(json.loads(out)["rows"]) == 2 * len(town.levels)
    code, out, err = call(capsys, "effects", "large.lineal", fitted, "--at", "a=")
    assert code == 2
    assert "a value is missing" in err


def test_tables_are_written(fitted, capsys):
    commands = [
        ("effects", "large.lineal", fitted),
        ("effects", "large.lineal", fitted, "--at", "a=0,1"),
        ("test", "small.lineal", "large.lineal", fitted),
        ("summary", "large.lineal", "--terms", "III"),
    ]
    for words in commands:
        code, out, err = call(capsys, *words, "-o", "out.jsonl", "--json")
        assert (code, err) == (0, "")
        said = json.loads(out)
        with open("out.jsonl") as stream:  # noqa: PTH123
            written = [json.loads(line) for line in stream]
        assert written == said.get("rows", said.get("tests"))
        assert call(capsys, *words, "-o", "large.lineal")[0] == 2


def test_exposure(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [(x, t, k) for x, t, k in zip([0, 1, 2, 3, 4] * 4, [1.0, 2.5] * 10, [1, 4, 2, 7, 3] * 4, strict=True)]
    tmp_path.joinpath("c.csv").write_text("x,t,k\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    words = ("fit", "c.csv", "--target", "k", "--model", "poisson", "--penalty", "none", "--test-size", "0")
    assert call(capsys, *words, "--exposure", "t", "-o", "m.lineal")[0] == 0
    model = lineal.load("m.lineal")
    assert (model.columns, model.roles["offset"]) == (("(intercept)", "x"), "log(t)")
    assert call(capsys, "verify", "m.lineal", "c.csv")[0] == 0
    code, out, err = call(capsys, "predict", "m.lineal", "c.csv")
    assert [float(line) for line in out.split()[1:]] == pytest.approx(model.predict("c.csv").tolist(), rel=1e-12)
    code, out, err = call(capsys, *words, "--exposure", "t", "--offset", "x", "-o", "n.lineal")
    assert code == 2
    assert "--exposure is an offset" in err
