"""Nearest neighbors on mixed tables, from the command line and Python, and files that lie about them."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
import sklearn.neighbors

import lineal
from lineal import container
from lineal.cli import run
from lineal.errors import InputError, LinealError, ModelFileError
from lineal.verify import verify

RNG = np.random.default_rng(7)
N = 150
COLORS = ["blue", "green", "red"]
AGE = RNG.normal(40.0, 10.0, N).round(3)
SIZE = RNG.normal(1e6, 1e3, N).round(1)
COLOR = RNG.choice(COLORS, N)
BOUGHT = np.where(AGE + 6.0 * (COLOR == "red") + RNG.normal(0.0, 3.0, N) > 43.0, "yes", "no")
PRICE = (AGE + SIZE / 1e3 + RNG.normal(size=N)).round(3)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "size", "color", "bought"])
        writer.writerows(zip(AGE, SIZE, COLOR, BOUGHT, strict=True))
    return path


def compared(metric="euclidean"):
    """The rows as the page says that they are compared: numbers in standard deviations, a column for every level."""
    hot = (COLOR[:, None] == COLORS).astype(float)
    return np.column_stack([AGE / AGE.std(), SIZE / SIZE.std(), hot])


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])  # (of the largest difference many are equal)
def test_a_mixed_table_is_compared_as_the_page_says(table, metric, weights):
    model = lineal.fit(table, "bought", model=f"knn:7,metric={metric},weights={weights}")
    theirs = sklearn.neighbors.KNeighborsClassifier(7, metric=metric, weights=weights).fit(compared(), BOUGHT)
    np.testing.assert_allclose(model.predict_proba(table), theirs.predict_proba(compared()), atol=1e-9)
    assert model.verdict.kind == "exact"
    new = {"age": [43.0, 60.0], "size": [1e6, 1.002e6], "color": ["red", "blue"]}
    rows = np.array([[43.0, 1e6, 0, 0, 1], [60.0, 1.002e6, 1, 0, 0]])
    rows[:, :2] /= [AGE.std(), SIZE.std()]
    np.testing.assert_allclose(model.predict_proba(new), theirs.predict_proba(rows), atol=1e-9)


def test_numbers_are_predicted_by_means(table):
    data = {"age": AGE, "size": SIZE, "price": PRICE}
    model = lineal.fit(data, "price", model="knn:4,columns=raw")
    rows = np.column_stack([AGE, SIZE])
    theirs = sklearn.neighbors.KNeighborsRegressor(4).fit(rows, PRICE)
    np.testing.assert_allclose(model.predict(data), theirs.predict(rows), rtol=1e-12)


def test_texts_are_compared_by_their_angle():
    notes = [" ".join(RNG.choice(["sun", "moon", "sea", "sand", "salt", "sky"], 4)) for _ in range(60)]
    y = np.where(["sun" in note for note in notes], "day", "night")
    model = lineal.fit({"note": notes, "y": y}, "y", model="knn:3", text={"note": ""})
    rows = model.feature_map.rows
    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    theirs = sklearn.neighbors.KNeighborsClassifier(3, metric="cosine").fit(dense, y)
    found = model.feature_map.nearest(model.feature_map.rows)
    np.testing.assert_allclose(found.distances**2 / 2.0, theirs.kneighbors(dense)[0], atol=1e-6)


def test_from_the_command_line_to_the_checker(table, tmp_path, capsys):
    model = tmp_path / "m.lineal"
    assert run(["fit", str(table), "--target", "bought", "--model", "knn:auto", "-o", str(model)]) == 0
    assert "Exact: looked up" in capsys.readouterr().out
    assert run(["show", str(model)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert re.search(r"all \d+ training rows, encoded, with their targets", shown)
    assert "in units of their standard deviation" in shown
    assert run(["predict", str(model), str(table), "--proba"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == N + 1
    assert run(["evaluate", str(model), str(table), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["metrics"]
    assert run(["verify", str(model), str(table)]) == 0
    asked = ["compare", str(table), "--target", "bought", "--model", "knn:5", "--model", "logistic ridge:0.1"]
    assert run([*asked, "--folds", "3"]) == 0
    assert "knn:5" in capsys.readouterr().out


@pytest.mark.parametrize(
    "spelled", ["knn", "knn:3", "knn:auto,weights=distance", "knn:5,metric=cosine", "knn:5,metric=hamming"]
)
def test_files_are_read_again_and_verified(table, tmp_path, spelled):
    for data, target in ((table, "bought"), ({"age": AGE, "color": COLOR, "price": PRICE}, "price")):
        model = lineal.fit(data, target, model=spelled)
        model.save(tmp_path / "m.lineal")
        again = lineal.load(tmp_path / "m.lineal")
        assert np.array_equal(again.predict(data), model.predict(data))
        if data is table:
            assert verify(tmp_path / "m.lineal", table).passed


def test_models_of_estimators_are_kept(tmp_path):
    x = np.column_stack([AGE, SIZE])
    for estimator, y in (
        (lineal.KNeighborsClassifier("auto", weights="distance"), BOUGHT),
        (lineal.KNeighborsRegressor(3, metric="manhattan"), PRICE),
        (lineal.KNeighborsRegressor(3), np.column_stack([PRICE, AGE])),
    ):
        fitted = estimator.fit(x, y)
        fitted.model_.save(tmp_path / "m.lineal")
        np.testing.assert_array_equal(lineal.load(tmp_path / "m.lineal").predict(x), fitted.predict(x))
        assert fitted.model_.verdict.sentence == fitted.verdict_.sentence
    with pytest.raises(InputError, match="cannot be kept"):
        lineal.KNeighborsClassifier(metric="canberra").fit(x, BOUGHT).model_.save(tmp_path / "n.lineal")


def test_a_model_of_an_estimator_is_verified(tmp_path):
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["x0", "x1", "y"], *zip(AGE, SIZE, BOUGHT, strict=True)])
    fitted = lineal.KNeighborsClassifier("auto").fit(np.column_stack([AGE, SIZE]), BOUGHT)
    fitted.model_.save(tmp_path / "m.lineal")
    assert verify(tmp_path / "m.lineal", tmp_path / "a.csv").passed


@pytest.mark.parametrize(
    ("spelled", "words"),
    [
        ("knn:0", "number of neighbors is '0'"),
        ("knn:many", "number of neighbors is 'many'"),
        ("knn:3,weight=distance", "it is spelled knn:K"),
        ("knn:3,metric=euclid", "Did you mean 'euclidean'"),
        ("knn:3,metric=cosine,metric=cosine", "it is spelled"),
        ("knn:151", "there are 150 training rows"),
    ],
)
def test_what_cannot_be_is_refused(table, spelled, words):
    with pytest.raises(InputError, match=words):
        lineal.fit(table, "bought", model=spelled)


def test_weights_and_offsets_are_refused(table):
    for role in ("weight", "offset"):
        with pytest.raises(InputError, match=f"neighbors have no {role}"):
            lineal.fit(table, "bought", model="knn:3", **{role: "age"})


# --- lies: every file is signed again ---


def rows_swapped(meta, arrays):
    arrays["map.rows"] = arrays["map.rows"][::-1].copy()


def row_moved(meta, arrays):
    arrays["map.rows"] = arrays["map.rows"].copy()
    arrays["map.rows"][3, 0] += 1e-3


def target_changed(meta, arrays):
    arrays["map.targets"] = arrays["map.targets"].copy()
    arrays["map.targets"][5, 0] = 1.0 - arrays["map.targets"][5, 0]


def scale_changed(meta, arrays):
    arrays["map.scale"] = arrays["map.scale"].copy()
    arrays["map.scale"][0] *= 1.01


def category_scaled(meta, arrays):
    arrays["map.scale"] = arrays["map.scale"].copy()
    arrays["map.scale"][-1] = 2.0


def coefficients_changed(meta, arrays):
    arrays["coef"] = arrays["coef"] * 1.5


def other_k(meta, arrays):
    k = meta["feature_map"]["neighbors"] + 1
    meta["feature_map"]["neighbors"] = meta["verdict"]["evidence"]["neighbors"] = k


def other_metric(meta, arrays):
    meta["feature_map"]["metric"] = "manhattan"
    meta["verdict"]["sentence"] = meta["verdict"]["sentence"].replace("euclidean", "manhattan")


def other_weights(meta, arrays):
    meta["feature_map"]["weights"] = "distance"


def reference_forgotten(meta, arrays):
    meta["feature_map"]["references"] = []


def distance_changed(meta, arrays):
    meta["verdict"]["evidence"]["distances"][17] *= 1.0 + 1e-9


def distances_left_out(meta, arrays):
    meta["verdict"]["evidence"]["distances"] = []


def fewer_mistakes(meta, arrays):
    losses = meta["verdict"]["evidence"]["leave_one_out"]
    best = min(losses)
    losses[losses.index(best)] = best - 1.0
    meta["verdict"]["sentence"] = meta["verdict"]["sentence"].replace(
        f"left out, {best:.0f}", f"left out, {best - 1:.0f}"
    )


def k_not_the_best(meta, arrays):
    """Another k, with everything that follows from it: only that it is not the best is left."""
    losses, old = meta["verdict"]["evidence"]["leave_one_out"], meta["feature_map"]["neighbors"]
    k = old + 1 if old < len(losses) else old - 1
    meta["feature_map"]["neighbors"] = meta["verdict"]["evidence"]["neighbors"] = k
    honest = lineal.fit({"age": AGE, "size": SIZE, "color": COLOR, "bought": BOUGHT}, "bought", model=f"knn:{k}")
    meta["verdict"]["evidence"]["distances"] = honest.verdict.to_dict()["evidence"]["distances"]
    meta["verdict"]["sentence"] = (
        meta["verdict"]["sentence"]
        .replace(f"the {old} nearest", f"the {k} nearest")
        .replace(f"k = {old} of", f"k = {k} of")
        .replace(f"left out, {losses[old - 1]:.0f}", f"left out, {losses[k - 1]:.0f}")
    )


def chosen_unsaid(meta, arrays):
    meta["verdict"]["evidence"]["leave_one_out"] = None


def sentence_changed(meta, arrays):
    meta["verdict"]["sentence"] = meta["verdict"]["sentence"].replace("150 training", "151 training")


def kind_changed(meta, arrays):
    meta["verdict"] |= {"kind": "optimal", "gap": 0.0, "relative_gap": 0.0}


def classes_renamed(meta, arrays):
    meta["feature_map"]["classes"] = ["yes", "no"]


def row_repeated(meta, arrays):
    for name in ("map.rows", "map.targets"):
        arrays[name] = np.vstack([arrays[name], arrays[name][:1]])


LIES = [
    rows_swapped, row_moved, target_changed, scale_changed, category_scaled, coefficients_changed, other_k, other_metric,
    other_weights, reference_forgotten, distance_changed, distances_left_out, fewer_mistakes, k_not_the_best, chosen_unsaid,
    sentence_changed, kind_changed, classes_renamed, row_repeated,
]  # fmt: skip


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    folder = tmp_path_factory.mktemp("knn")
    with (folder / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["age", "size", "color", "bought"], *zip(AGE, SIZE, COLOR, BOUGHT, strict=True)])
    lineal.fit(folder / "t.csv", "bought", model="knn:auto").save(folder / "m.lineal")
    assert verify(folder / "m.lineal", folder / "t.csv").passed
    return folder


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_lies_are_refused(honest, lie, tmp_path):
    meta, arrays = container.read(honest / "m.lineal")
    arrays = dict(arrays)
    lie(meta, arrays)
    meta = {name: value for name, value in meta.items() if name != "encoding"}
    container.write(tmp_path / "lie.lineal", {**meta, "encoding": container.encoding(meta)}, arrays)
    with pytest.raises(LinealError) as refusal:
        verify(tmp_path / "lie.lineal", honest / "t.csv")
    assert "not confirmed" in str(refusal.value) or isinstance(refusal.value, ModelFileError)


DAMAGE = [
    ("parameters", {"neighbors": 0}, "neighbors is 0"),
    ("parameters", {"neighbors": True}, "neighbors is True"),
    ("parameters", {"metric": "taxi"}, "metric is 'taxi'"),
    ("parameters", {"weights": "near"}, "weights must be"),
    ("parameters", {"references": [[0, 99]]}, "references must be pairs"),
    ("parameters", {"color": 1}, "feature_map must hold"),
    ("parameters", {"power": 3.0}, "power is 3.0"),
    ("map.rows", lambda rows: rows.astype(np.float32), "map.rows"),
    ("map.rows", lambda rows: rows[:-1], "map.rows"),
    ("map.rows", lambda rows: np.where(rows > 1e5, np.nan, rows), "finite"),
    ("map.targets", lambda targets: targets + 7.0, "no class"),
    ("map.scale", lambda scale: -scale, "negative"),
    ("map.more", lambda _: np.zeros(3), "arrays of neighbors"),
]


@pytest.mark.parametrize(("where", "change", "words"), DAMAGE)
def test_damaged_maps_are_refused_by_name(honest, tmp_path, where, change, words):
    meta, arrays = container.read(honest / "m.lineal")
    arrays = dict(arrays)
    if where == "parameters":
        meta["feature_map"].update(change)
    else:
        arrays[where] = np.ascontiguousarray(change(arrays.get(where)))
    meta = {name: value for name, value in meta.items() if name != "encoding"}
    container.write(tmp_path / "bad.lineal", {**meta, "encoding": container.encoding(meta)}, arrays)
    with pytest.raises(ModelFileError, match=words):
        lineal.load(tmp_path / "bad.lineal")


@pytest.mark.parametrize("model", ["knn:3", "naive-bayes", "qda", "kernel-ridge:rbf:1;strength=0.1"])
def test_polynomials_have_no_coefficients_of_powers_where_columns_are_made_of_rows(model, tmp_path, capsys):
    random = np.random.default_rng(0)
    x = random.gamma(2.0, 1.0, size=60) + 0.1
    y = np.where(x > 1.5, "far", "near") if "ridge" not in model else np.log(x)
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{a!r},{b}\n" for a, b in zip(x.tolist(), y, strict=True)))
    data, path = str(tmp_path / "d.csv"), str(tmp_path / "m.lineal")
    assert run(["fit", data, "--formula", "y ~ log(x) + poly(x, 3)", "--model", model, "-o", path]) == 0
    assert run(["show", path]) == 0
    assert run(["verify", path, data]) == 0
    assert "x^2" not in capsys.readouterr().out
    assert lineal.load(path)._repr_html_()
