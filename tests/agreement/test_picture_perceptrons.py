"""Numbers of the pictures separable, perceptron and bound against what is computed here from the raw data."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

import lineal
from lineal import container
from lineal.cli import run
from lineal.errors import InputError, ModelFileError

NOTES = {"x1": [1, 3, 2, 3, 2], "x2": [1, 2, 4, 4, 3], "class": ["-", "+", "+", "+", "-"]}
X = np.column_stack([np.ones(5), NOTES["x1"], NOTES["x2"]])
SIGNS = np.array([-1.0, 1.0, 1.0, 1.0, -1.0])


def by_hand(w, epochs):
    """Return weights before each step, scores, and the mistakes of these weights on all rows."""
    lines = []
    for _ in range(epochs):
        clean = True
        for x, y in zip(X, SIGNS, strict=True):
            wrong = y * (w @ x) <= 0.0
            lines.append((w.copy(), w @ x, wrong, int(np.sum(SIGNS * (X @ w) <= 0.0))))
            if wrong:
                w, clean = w + y * x, False
        if clean:
            break
    return lines


def labelled(figure, label, panel=0):
    return next(mark for mark in figure.panels[panel].marks if mark.label == label)


def test_the_pass_of_the_notes():
    figure = lineal.plots.perceptron(NOTES, target="class", start="-1,0,0", epochs=1)
    assert figure.data["score"] == [-1.0, -1.0, 14.0, 17.0, 12.0]  # CS
    assert [k + 1 for k, right in enumerate(figure.data["correct"]) if not right] == [2, 5]
    last = labelled(figure, "new weights", 1)
    assert (last.x2.tolist(), last.y2.tolist()) == ([1.0], [-1.0])  # w = [-1, 1, -1]
    line = labelled(figure, "new boundary", 1)
    np.testing.assert_allclose(-1.0 + line.x - line.y, 0.0, atol=1e-9)
    assert "-1*1 + 0*3 + 0*2 = -1, wrong; w + x = [0, 3, 2] gives it -1 + |x|^2 = -1 + 14 = 13." in figure.caption


def test_mistakes_and_the_pocket_are_counted():
    figure = lineal.plots.perceptron(NOTES, target="class", epochs=20, view="mistakes")
    expected = by_hand(np.zeros(3), 20)
    assert figure.data["mistakes"] == [float(wrong) for *_, wrong in expected]
    assert figure.data["pocket mistakes"] == np.minimum.accumulate([float(wrong) for *_, wrong in expected]).tolist()
    assert figure.data["score"] == [score for _, score, _, _ in expected]


def test_a_step_can_be_asked_for_and_every_step_is_a_frame():
    figure = lineal.plots.perceptron(NOTES, target="class", start="-1,0,0", epochs=1, step=5)
    assert [frame.step for frame in figure.frames] == [1, 2, 3, 4, 5]
    assert figure.at(5).panels[0].title == figure.panels[0].title
    with pytest.raises(InputError, match="the run has no step 6; it has steps 1 to 5"):
        lineal.plots.perceptron(NOTES, target="class", epochs=1, step=6)


def test_a_trace_file_is_drawn_as_the_table_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["x1,x2,class", *(f"{a},{b},{c}" for a, b, c in zip(*NOTES.values(), strict=True))]
    (tmp_path / "points.csv").write_text("\n".join(lines))
    assert run(["trace", "points.csv", "--target", "class", "-o", "steps.csv"]) == 0
    there = lineal.plots.perceptron(trace="steps.csv")
    here = lineal.plots.perceptron(NOTES, target="class")
    for name in ("step", "row", "score", "correct", "mistakes", "pocket mistakes"):
        assert there.data[name] == here.data[name]
    assert run(["plot", "perceptron", "steps.csv", "-o", "steps.json"]) == 0
    assert run(["plot", "perceptron", "points.csv", "--target", "class", "-o", "points.json"]) == 0


def test_in_many_columns_the_plane_keeps_every_score():
    random = np.random.default_rng(3)
    cells = random.normal(size=(30, 5))
    table = {f"x{k}": cells[:, k].tolist() for k in range(5)} | {
        "k": (cells[:, 0] > 0.2 * cells[:, 1]).astype(int).tolist()
    }
    figure = lineal.plots.perceptron(table, target="k", epochs=1)
    design = np.column_stack([np.ones(30), cells])
    w, n = np.zeros(6), 0
    for x, y in zip(design, 2 * np.array(table["k"]) - 1, strict=True):
        if y * (w @ x) <= 0.0 and n < 6:
            points = figure.panels[n].marks[0]
            if w.any():
                np.testing.assert_allclose(points.x * np.linalg.norm(w), design @ w, atol=1e-9)
            new = w + y * x
            arrow = labelled(figure, "new weights", n)
            np.testing.assert_allclose(points.x * arrow.x2 + points.y * arrow.y2, design @ new, atol=1e-9)
            w, n = new, n + 1


def test_the_bound_holds_and_ends_where_line_and_root_meet():
    table = {"x": [-2.0, -1.0, 1.0, 3.0], "z": [0.0, 1.0, 0.5, 2.0], "side": ["left", "left", "right", "right"]}
    figure = lineal.plots.bound(table, target="side")
    design = np.column_stack([np.ones(4), table["x"], table["z"]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    angles = np.linspace(0, 2 * np.pi, 2001)
    ball = np.array(
        [[np.cos(t), np.sin(t) * np.cos(s), np.sin(t) * np.sin(s)] for t in angles[:1001:10] for s in angles[::10]]
    )
    gamma = (y * (ball @ design.T)).min(axis=1).max()  # by brute force, a little below
    rule = next(mark for mark in figure.panels[0].marks if mark.kind == "rule")
    radius = np.linalg.norm(design, axis=1).max()
    assert (radius / gamma) ** 2 == pytest.approx(rule.x[0], rel=0.01)
    k = np.array(figure.data["mistakes"])
    along, lengths = np.array(figure.data["u'w"]), np.array(figure.data["|w|"])
    assert np.all(along >= k * gamma * 0.999)
    assert np.all(along <= lengths + 1e-12)
    assert np.all(lengths <= np.sqrt(k) * radius + 1e-12)
    assert k[-1] <= rule.x[0]


def test_gordans_rows_share_a_point():
    random = np.random.default_rng(4)
    table = {"a": random.integers(0, 9, 40), "b": random.integers(0, 9, 40), "k": random.integers(0, 2, 40)}
    figure = lineal.plots.separable(table, target="k")
    assert figure.verdict.kind == "overlap"
    place = {row: k for k, row in enumerate(figure.data["row"])}
    weight = [Fraction(figure.data["weight"][place[k + 1]]) for k in range(40)]
    assert min(weight) >= 0 < max(weight)
    for cells in (np.ones(40, int), table["a"], table["b"]):
        assert sum(w * int(x) * (2 * int(k) - 1) for w, x, k in zip(weight, cells, table["k"], strict=True)) == 0
    first = [k for k in range(40) if weight[k] and table["k"][k] == 0]
    shared = sum(float(weight[k]) * np.array([table["a"][k], table["b"][k]]) for k in first) / sum(
        float(weight[k]) for k in first
    )
    point = labelled(figure, "a point of both hulls")
    np.testing.assert_allclose([point.x[0], point.y[0]], shared, rtol=1e-12)


def test_a_separator_has_every_row_on_its_side():
    gates = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "or": [0, 1, 1, 1], "xor": [0, 1, 1, 0]}
    figure = lineal.plots.separable(gates, formula="or ~ a + b")
    line = labelled(figure, "separator")
    (p, q) = np.column_stack([line.x, line.y])
    sides = [
        np.sign((q[0] - p[0]) * (b - p[1]) - (q[1] - p[1]) * (a - p[0]))
        for a, b in zip(gates["a"], gates["b"], strict=True)
    ]
    assert len({side * (2 * k - 1) for side, k in zip(sides, gates["or"], strict=True)}) == 1
    scored = lineal.plots.separable(gates, formula="xor ~ a + b + a:b")
    assert [score > 0 for score in scored.data["score"]] == [False, True, True, False]


@pytest.mark.parametrize("formula", ["and ~ a + b", "xor ~ a + b", "xor ~ a + b + a:b"])
def test_an_answer_in_a_file_is_drawn_as_it_was_proved(tmp_path, monkeypatch, formula):
    """The picture of the file is that of the table: its witness is in the file, its rows are those of the table."""
    monkeypatch.chdir(tmp_path)
    gates = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "and": [0, 0, 0, 1], "xor": [0, 1, 1, 0]}
    lines = [",".join(gates), *(",".join(map(str, row)) for row in zip(*gates.values(), strict=True))]
    (tmp_path / "gates.csv").write_text("\n".join(lines))
    assert run(["separable", "gates.csv", "--formula", formula, "-o", "answer.lineal"]) == 0
    assert run(["plot", "separable", "answer.lineal", "gates.csv", "-o", "one.json"]) == 0
    figure = lineal.plots.separable(gates, "answer.lineal")
    assert figure.to_json() == lineal.plots.separable(gates, formula=formula).to_json()
    assert json.loads((tmp_path / "one.json").read_text())["panels"] == figure.to_dict()["panels"]


def test_an_answer_about_other_rows_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    gates = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "k": [0, 0, 0, 1]}
    (tmp_path / "gates.csv").write_text("a,b,k\n0,0,0\n0,1,0\n1,0,0\n1,1,1\n")
    assert run(["separable", "gates.csv", "--target", "k", "-o", "answer.lineal"]) == 0
    with pytest.raises(InputError, match="these are not the rows of the answer"):
        lineal.plots.separable({**gates, "a": [0, 0, 1, 2]}, "answer.lineal")
    with pytest.raises(InputError, match="leave target, formula and drop out"):
        lineal.plots.separable(gates, "answer.lineal", target="k")
    lineal.fit(gates, "k", penalty=0.1).save("model.lineal")
    with pytest.raises(InputError, match="holds no answer about separability"):
        lineal.plots.separable(gates, "model.lineal")
    assert run(["plot", "boundary", "answer.lineal", "gates.csv"]) == 2
    assert "separab" in capsys.readouterr().err
    container.write("empty.lineal", {"format": "lineal-separability", "version": 2}, {})
    with pytest.raises(ModelFileError, match=r"it lacks what docs/separability\.md says"):
        lineal.plots.separable(gates, "empty.lineal")
