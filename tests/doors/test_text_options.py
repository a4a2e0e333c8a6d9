"""Options of texts: those of scikit-learn's vectorizers, from Python and from files, in the model file and its check."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lineal
from lineal import container
from lineal.api.model_file import load
from lineal.errors import ModelFileError, VerificationError
from lineal.verify import verify
from tests.doors.test_text_tables import notes, write

STOP = ["the", "a", "was"]


def spelled_by_hand(table: dict[str, list[object]], name: str, **settings: object) -> np.ndarray:
    """Return the columns that scikit-learn makes of a text, missing cells empty."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    cells = ["" if cell in (None, "NA") else str(cell) for cell in table[name]]
    words = r"(?u)\b\w+\b"
    return TfidfVectorizer(**{"token_pattern": words, **settings}).fit_transform(cells).toarray()


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (None, {"sublinear_tf": True, "min_df": 2}),
        ("tfidf,min=3", {"min_df": 3}),
        ("tfidf,binary,norm=l1", {"binary": True, "norm": "l1", "min_df": 2}),
        ("counts,sublinear,norm=none", {"use_idf": False, "sublinear_tf": True, "norm": None, "min_df": 2}),
        (
            {"ngrams": 2, "stop": ["the", "a", "was"]},
            {"ngram_range": (1, 2), "stop_words": ["the", "a", "was"], "sublinear_tf": True, "min_df": 2},
        ),
        ({"vocabulary": ["rain", "sunny", "zebra"], "tfidf": True}, {"vocabulary": ["rain", "sunny", "zebra"]}),
    ],
)
def test_text_options_are_those_of_scikit_learn_and_are_checked(
    tmp_path: Path, options: object, settings: dict[str, object]
) -> None:
    table = {name: cells for name, cells in notes().items() if name in ("note", "mood")}
    model = lineal.fit(table, "mood", text={"note": options}, penalty="ridge:0.001")
    np.testing.assert_allclose(
        model.encoder.encode(table).dense()[:, 1:], spelled_by_hand(table, "note", **settings), rtol=4e-15
    )
    model.save(tmp_path / "m.lineal")
    again = load(tmp_path / "m.lineal")
    assert again.encoder.terms == model.encoder.terms
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    data = tmp_path / "notes.csv"
    write(data, table)
    verify(tmp_path / "m.lineal", data)
    meta, arrays = container.read(tmp_path / "m.lineal")
    term = meta["encoder"]["terms"][0]
    for name in ("once", "sublinear", "norm", "stop", "given"):
        if name in term:  # a file that says otherwise is refused
            wrong = {key: value for key, value in term.items() if key != name}
            container.write(tmp_path / "w.lineal", {**meta, "encoder": {**meta["encoder"], "terms": [wrong]}}, arrays)
            with pytest.raises((VerificationError, ModelFileError)):
                verify(tmp_path / "w.lineal", data)


def test_words_come_from_files_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lineal.cli import run

    table = {name: cells for name, cells in notes().items() if name in ("note", "mood")}
    data = tmp_path / "notes.csv"
    write(data, table)
    (tmp_path / "stop.txt").write_text("the\n\n a \nwas\n")
    (tmp_path / "known.txt").write_text("sunny\nrain\n")
    made = []
    for options in (f"stop={tmp_path / 'stop.txt'}", f"vocabulary={tmp_path / 'known.txt'},counts"):
        out = tmp_path / "m.lineal"
        assert run(["fit", str(data), "--target", "mood", "--text", f"note:{options}", "-o", str(out)]) == 0
        made.append({column.removeprefix("note: ") for column in load(out).columns} - {"(intercept)"})
        capsys.readouterr()
    assert made[0]
    assert made[0].isdisjoint(STOP)
    assert made[1] == {"sunny", "rain"}
