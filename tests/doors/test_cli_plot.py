"""`lineal plot`: lists kinds, draws one, draws all, and refuses in sentences."""

from __future__ import annotations

import json

import pytest

from lineal.plots.kinds import NAMES
from tests.doors.penguins import PENGUINS


@pytest.fixture
def fitted(folder, lineal):
    code, _, err = lineal("fit", PENGUINS, "--target", "species", "--penalty", "ridge:0.01", "-o", "model.lineal")
    assert code == 0, err
    return "model.lineal"


def test_alone_it_lists_the_kinds(lineal):
    code, out, _ = lineal("plot")
    assert code == 0
    assert all(name in out for name in NAMES)
    code, out, _ = lineal("plot", "--json")
    assert [kind["kind"] for kind in json.loads(out)["kinds"]] == list(NAMES)


def test_a_picture_is_written_and_its_caption_printed(fitted, folder, lineal):
    code, out, err = lineal("plot", "boundary", fitted, PENGUINS, "--at", "sex=female")
    assert code == 0, err
    assert out.startswith("Optimal: ")
    assert out.endswith("Written to model-boundary.svg.\n")
    assert (folder / "model-boundary.svg").read_bytes().startswith(b"<?xml")
    assert "sex female" in out


def test_the_record_says_the_command_that_draws_it_again(fitted, folder, lineal):
    code, _, err = lineal("plot", "boundary", fitted, PENGUINS, "--x", "year", "-o", "one.json")
    assert code == 0, err
    record = json.loads((folder / "one.json").read_text())
    assert record["source"]["command"].startswith("lineal plot boundary model.lineal ")
    assert record["source"]["command"].endswith(" --x year")
    _, shown, _ = lineal("show", fitted)
    assert record["source"]["model"][:40] in shown.replace("\n", "").replace(" ", "")


def test_all_draws_what_applies_and_says_why_others_do_not(fitted, folder, lineal):
    code, out, err = lineal("plot", "all", fitted, PENGUINS, "-o", "pictures", "--json")
    assert code == 0, err
    answer = json.loads(out)
    assert "boundary" in answer["drawn"]
    assert "it predicts classes" in answer["left_out"]["fit"]
    assert (folder / "pictures" / "model-boundary.svg").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("boundary",), "the picture boundary is drawn from lineal plot boundary MODEL DATA"),
        (("bondary", "x"), "there is no picture 'bondary'"),
        (("boundary", "model.lineal", PENGUINS, "--turn", "3"), "has no option --turn"),
        (("boundary", "model.lineal", PENGUINS, "-o", "x.gif"), "a picture cannot be written as .gif"),
        (("boundary", "model.lineal", PENGUINS, "--at", "sex"), "write a name and a value"),
        (("boundary", "model.lineal", PENGUINS, "--at", "sx=1"), "the model reads no column 'sx'"),
        (("boundary", "model.lineal", PENGUINS, "--x", "bill"), "the model reads no column 'bill'"),
        (("fit", "model.lineal", PENGUINS), "it predicts classes"),
        (("all", "model.lineal", PENGUINS), "name the folder with -o"),
        (("boundary", "model.lineal", "nowhere.csv"), "there is no file nowhere.csv"),
        (("loss", "hnge"), "there is no loss 'hnge' to draw"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(fitted, lineal, words, sentence):
    code, _, err = lineal("plot", *words)
    assert code == 2
    assert sentence in err
