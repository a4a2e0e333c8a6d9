"""Columns as people write them, from the command line: fitted, said, predicted and verified."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

Lineal = Callable[..., tuple[int, str, str]]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shop's table: dates and amounts as a German spreadsheet writes them."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(3)
    lines = ["day;amount;discount;items;city;bought"]
    for k in range(200):
        day = (
            f"{draw.randint(1, 28):02d}.{draw.randint(1, 12):02d}.{draw.choice((2019, 2020))} {draw.randint(8, 19)}:15"
        )
        amount = f"{draw.uniform(0, 4000):,.2f}".replace(",", "x").replace(".", ",").replace("x", ".") + " €"
        items = draw.choice(["1", "2", "3", "-"])
        city = draw.choice(["Bonn", "Rome", "Oslo"])
        odds = 0.2 + 0.5 * (items in "23") + 0.1 * (city == "Rome")
        day = "" if k % 17 == 5 else day
        lines.append(f"{day};{amount};{draw.randint(0, 30)} %;{items};{city};{'yes' if draw.random() < odds else 'no'}")
    path = tmp_path / "shop.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_spreadsheet_is_fitted_and_verified(shop: Path, lineal: Lineal) -> None:
    code, out, err = lineal("fit", shop, "--target", "bought", "--json")
    assert code == 0, err
    data = json.loads(out)
    types = {column["column"]: column["type"] for column in data["data"]["columns"]}
    assert types == {"day": "date", "amount": "number", "discount": "number", "items": "number", "city": "category"}
    code, out, err = lineal("verify", "shop.lineal", shop)
    assert code == 0, out + err
    code, out, _ = lineal("predict", "shop.lineal", shop)
    assert code == 0
    assert out.count("\n") == 201


def test_new_rows_are_read_in_the_same_way_or_refused(shop: Path, lineal: Lineal) -> None:
    assert lineal("fit", shop, "--target", "bought", "--penalty", "ridge:0.1")[0] == 0
    head = "day;amount;discount;items;city\n"
    new = shop.with_name("new.csv")
    new.write_text(head + "1.2.2021;1,00 €;3 %;2;Bonn\n;1.000,50 €;;-;Paris\n", encoding="utf-8")
    assert lineal("predict", "shop.lineal", new)[0] == 0
    new.write_text(head + "2021-02-01;1,00 €;3 %;2;Bonn\n", encoding="utf-8")
    code, _, err = lineal("predict", "shop.lineal", new)
    assert code == 2
    assert (
        "row 1 (line 2) of new.csv holds '2021-02-01' in column 'day', which needs a date written like '31.12.1999'"
        in err
    )
    new.write_text(head + "1.2.2021;1.5 €;3 %;2;Bonn\n", encoding="utf-8")
    code, _, err = lineal("predict", "shop.lineal", new)
    assert code == 2
    assert "'1.5 €' in column 'amount', which needs a number written like '1.234,5 €'" in err


def test_a_forged_reading_is_refused(shop: Path, lineal: Lineal) -> None:
    """A file signed again with another notation or origin does not pass."""
    from lineal import container

    assert lineal("fit", shop, "--target", "bought", "--penalty", "ridge:0.1")[0] == 0
    meta, arrays = container.read(shop.with_name("shop.lineal"))
    for kind, field, value in (
        ("elapsed", "origin", 1.0),
        ("written", "markers", ["--"]),
        ("written", "fill", 0.0),
        ("cycle", "levels", ["Jan", "Feb"]),
    ):
        changed = json.loads(json.dumps(meta))
        term = next(term for term in changed["encoder"]["terms"] if term["kind"] == kind)
        term[field] = value
        container.write(shop.with_name("forged.lineal"), changed, arrays)
        code, _, _ = lineal("verify", "forged.lineal", shop)
        assert code in (1, 2), (kind, field)


def test_types_and_recipes(shop: Path, lineal: Lineal) -> None:
    given = ["--types", "city=ordinal:Bonn<Rome<Oslo", "--types", "day=drop"]
    code, out, err = lineal("fit", shop, "--target", "bought", "--penalty", "ridge:0.1", *given, "--json")
    assert code == 0, err
    told = json.loads(out)
    assert {column["column"] for column in told["coefficients"]} >= {"city", "amount"}
    assert not any("day" in column["column"] for column in told["coefficients"])
    assert lineal("verify", "shop.lineal", shop)[0] == 0
    recipe = shop.with_name("shop.toml")
    recipe.write_text(
        'target = "bought"\ndrop = ["day"]\n[types]\ncity = "ordinal:Bonn<Rome<Oslo"\namount = "category"\n'
    )
    more = ["--types", "amount=number", "--penalty", "ridge:0.1", "--json"]
    code, out, err = lineal("fit", shop, "--recipe", recipe, *more)
    assert code == 0, err
    assert json.loads(out)["coefficients"] == told["coefficients"]
    code, _, err = lineal("fit", shop, "--target", "bought", "--types", "city=nubmer")
    assert (code, "Did you mean 'number'" in err) == (2, True)
    code, _, err = lineal("fit", shop, "--recipe", "nowhere.toml")
    assert (code, "nowhere.toml" in err) == (2, True)


def test_inspect_shows_every_column_and_writes_a_recipe(shop: Path, lineal: Lineal) -> None:
    code, out, err = lineal("inspect", shop, "--target", "bought", "--recipe", "shop.toml")
    assert code == 0, err
    for name in ("day", "amount", "discount", "items", "city", "bought"):
        assert f"\n{name} " in out
    assert "written like '1.234,5 €'" in out
    assert "'-' read as missing" in out
    assert lineal("fit", shop, "--recipe", "shop.toml", "-o", "told.lineal")[0] == 0
    assert lineal("fit", shop, "--target", "bought", "-o", "found.lineal")[0] == 0
    told, found = (json.loads(lineal("show", name, "--json")[1]) for name in ("told.lineal", "found.lineal"))
    assert told["coefficients"] == found["coefficients"]
    code, _, err = lineal("inspect", shop, "--recipe", "shop.toml")
    assert (code, "exists already" in err) == (2, True)
    code, out, _ = lineal("inspect", shop, "--json")
    assert code == 0
    columns = {column["column"]: column for column in json.loads(out)["columns"]}
    assert columns["items"]["missing"] > 0
    assert sum(columns["amount"]["histogram"]) == 200
    code, _, err = lineal("inspect", shop, "--target", "boguht")
    assert (code, "Did you mean 'bought'" in err) == (2, True)


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_files_of_other_encodings_are_fitted_and_verified(shop: Path, lineal: Lineal, encoding: str) -> None:
    other = shop.with_name("other.csv")
    other.write_bytes(shop.read_text(encoding="utf-8").replace("Rome", "Köln").encode(encoding))
    code, out, err = lineal("fit", other, "--target", "bought", "--penalty", "ridge:0.1")
    assert code == 0, err
    assert "is not UTF-8; it is read as" in " ".join(out.split())
    assert "Köln" in lineal("show", "other.lineal", "--json")[1]
    assert lineal("verify", "other.lineal", other)[0] == 0


def test_columns_left_out_for_one_reason_share_a_line(folder: Path, lineal: Lineal) -> None:
    """A picture has hundreds of pixels that are always 0; the page named each on a line of its own."""
    rows = [f"{k % 7},{k % 5}," + "0," * 30 + f"{k % 11}" for k in range(60)]
    head = ["x", "z", *(f"pixel{k}" for k in range(30)), "y"]
    (folder / "pixels.csv").write_text("\n".join([",".join(head), *rows]) + "\n")
    code, out, err = lineal("fit", "pixels.csv", "--target", "y", "--model", "linear")
    assert code == 0, err
    assert out.count("Dropped") == 1
    assert "pixel0, pixel1, pixel2, pixel3, pixel4 and 25 more: it is 0 in every row" in " ".join(out.split())
