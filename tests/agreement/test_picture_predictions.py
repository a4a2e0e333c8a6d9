"""Numbers of the pictures of predictions against what is computed here from the raw data, or by another program."""

from __future__ import annotations

import collections
import csv

import numpy as np
import pytest

import lineal
from lineal.cli import run
from lineal.errors import InputError


def marks(figure, kind, panel=0):
    return [mark for mark in figure.panels[panel].marks if mark.kind == kind]


def clouds(rows=300, seed=1):
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, rows))
    k = np.array(["low", "mid", "top"])[random.integers(0, 3, rows)]
    eta = a - 0.5 * b + (k == "top") + 0.7 * random.normal(size=rows)
    return {
        "a": a.tolist(), "b": b.tolist(), "k": k.tolist(), "size": eta.tolist(),
        "kind": np.where(eta > 0.3, "up", "down").tolist(), "three": np.digitize(eta, [-0.5, 0.8]).astype(str).tolist(),
    }  # fmt: skip


def model(target, **options):
    others = [name for name in ("size", "kind", "three") if name != target]
    return lineal.fit(clouds(), target, drop=others, **({"penalty": 0.01, "test_size": 0} | options))


MOST = max(sorted(set(clouds()["k"])), key=clouds()["k"].count)
LEVELS = sorted({"low", "mid", "top"} - {MOST})


def columns(table):
    """Return the design as an engineer would write it: numbers, then the levels but the most frequent."""
    k = np.array(table["k"])
    return np.column_stack([table["a"], table["b"], *(k == level for level in LEVELS)]).astype(float)


def test_contributions_are_products_and_add_to_the_score():
    fitted, table = model("kind"), clouds()
    parts = lineal.contributions(fitted, table)
    assert parts.names == ("a", "b", "k")
    products = columns(table) * fitted.coef[1:, 0]
    expected = np.column_stack([products[:, 0], products[:, 1], products[:, 2] + products[:, 3]])
    np.testing.assert_allclose(parts.values[:, :, 0], expected, rtol=1e-12, atol=1e-14)
    total = parts.start[0] + parts.values[:, :, 0].sum(axis=1)
    np.testing.assert_allclose(total, fitted.scores(table)[:, 0], rtol=1e-12, atol=1e-13)
    figure = lineal.plots.contributions(fitted, table, row=7)
    assert figure.data["column"][0] == "(intercept)"
    assert sorted(np.abs(figure.data["adds"][1:])) == pytest.approx(sorted(np.abs(expected[6])))
    assert figure.data["score"][-1] == pytest.approx(total[6])


def test_contributions_against_a_row_are_differences():
    fitted, table = model("three"), clouds()
    there = {"a": [1.0], "b": [-1.0], "k": ["mid"]}
    parts = lineal.contributions(fitted, table, against=there)
    change = columns(table) - columns(there)
    np.testing.assert_allclose(parts.values[:, 0], change[:, :1] * fitted.coef[1], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(parts.values[:, 2], change[:, 2:] @ fitted.coef[3:], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(parts.start, fitted.scores(there)[0], rtol=1e-12, atol=1e-13)
    total = parts.start + parts.values.sum(axis=1)
    np.testing.assert_allclose(total, fitted.scores(table), rtol=1e-11, atol=1e-12)


def test_contributions_of_a_text_are_those_of_its_words():
    table = {"text": ["cheap pills now", "see you now", "cheap cheap watches", "dinner at eight"] * 8,
             "spam": ["yes", "no", "yes", "no"] * 8}  # fmt: skip
    fitted = lineal.fit(table, "spam", penalty=0.01, test_size=0, text=["text"])
    first = {name: values[:1] for name, values in table.items()}
    parts = lineal.contributions(fitted, first, each=True)
    assert set(parts.names) == {"text: cheap", "text: pills", "text: now"}
    score = parts.start[0] + parts.values[0, :, 0].sum()
    assert score == pytest.approx(fitted.scores(first)[0, 0])


def test_a_row_that_is_not_there_is_refused():
    with pytest.raises(InputError, match=r"there is no row 301 with a target; .* 1 to 300"):
        lineal.plots.contributions(model("kind"), clouds(), row=301)
    with pytest.raises(InputError, match="no row 0; rows are numbered from 1"):
        lineal.plots.contributions(model("kind"), clouds(), row=0)


def test_coefficients_have_the_intervals_of_statsmodels():
    import statsmodels.api as sm

    table = clouds()
    fitted = model("kind", penalty="none", tol=1e-13)
    figure = lineal.plots.coefficients(fitted)
    other = sm.Logit(np.array(table["kind"]) == "up", sm.add_constant(columns(table))).fit(
        disp=0, tol=1e-14, maxiter=100
    )
    names = ["a", "b", *(f"k={level}" for level in LEVELS)]
    at = [names.index(name) for name in figure.data["column"]]
    np.testing.assert_allclose(figure.data["coefficient"], other.params[1:][at], rtol=1e-6)
    np.testing.assert_allclose(figure.data["lower"], other.conf_int()[1:][at, 0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(figure.data["effect"], (other.params[1:] * columns(table).std(axis=0))[at], rtol=1e-6)
    (points,) = marks(figure, "points")
    assert np.all(np.diff(np.abs(points.x)) <= 0.0)  # the largest first
    assert "No intervals: a ridge penalty" in lineal.plots.coefficients(model("kind")).caption


def test_an_effect_is_the_prediction_with_one_column_changed():
    fitted, table = model("kind", penalty="none"), clouds()
    figure = lineal.plots.effect(fitted, table, x="a")
    line, mean = marks(figure, "line")
    held = {"b": [np.mean(table["b"])] * len(line.x), "k": [MOST] * len(line.x)}
    assert f"k {MOST}" in figure.caption
    np.testing.assert_allclose(line.y, fitted.predict_proba({"a": line.x.tolist(), **held})[:, 1], rtol=1e-10)
    rows = np.unique(np.linspace(0, 299, 200).astype(int))
    some = {name: [table[name][row] for row in rows] for name in ("b", "k")}
    for x, y in zip(mean.x[::8], mean.y[::8], strict=True):
        told = fitted.predict_proba({"a": [float(x)] * len(rows), **some})[:, 1]
        assert y == pytest.approx(told.mean(), rel=1e-10)
    (points,) = marks(figure, "points")
    a, up = np.array(table["a"]), np.array(table["kind"]) == "up"
    edges = np.quantile(a, np.linspace(0, 1, 11))
    first = a < edges[1]
    assert (points.x[0], points.y[0]) == pytest.approx((a[first].mean(), up[first].mean()))


def test_the_band_of_an_effect_is_that_of_statsmodels():
    import statsmodels.api as sm

    table = clouds()
    fitted = model("size", model="linear", penalty="none")
    figure = lineal.plots.effect(fitted, table, x="a")
    (band,) = marks(figure, "area")
    other = sm.OLS(np.array(table["size"]), sm.add_constant(columns(table))).fit()
    rows = {"a": band.x, "b": [np.mean(table["b"])] * len(band.x), "k": [MOST] * len(band.x)}
    expected = other.get_prediction(np.column_stack([np.ones(len(band.x)), columns(rows)])).conf_int(alpha=0.05)
    np.testing.assert_allclose(np.column_stack([band.y, band.y2]), expected, rtol=1e-8)


def test_residuals_and_influence_are_those_of_statsmodels():
    import statsmodels.api as sm

    table = clouds()
    fitted = model("size", model="linear", penalty="none")
    other = sm.OLS(np.array(table["size"]), sm.add_constant(columns(table))).fit().get_influence()
    drawn = lineal.plots.residuals(fitted, table)
    np.testing.assert_allclose(drawn.data["residual"], other.resid_studentized_internal, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(drawn.data["leverage"], other.hat_matrix_diag, rtol=1e-9)
    (points,) = marks(drawn, "points", panel=1)
    order = np.argsort(points.y)
    assert np.all(np.diff(points.x[order]) > 0.0)
    distances = lineal.plots.influence(fitted, table)
    cook = other.cooks_distance[0]
    np.testing.assert_allclose(distances.data["Cook's distance"], np.sort(cook)[::-1], rtol=1e-7)
    named = [mark.text[0] for mark in marks(distances, "text")]
    assert named == [str(row + 1) for row in np.argsort(-cook)[:5]]


def test_quantile_residuals_are_normal_of_rows_that_were_fitted_because_of_their_hash():
    """The hash that holds rows out is not the one that draws: the residuals of the others have mean 0."""
    random = np.random.default_rng(3)
    a = random.normal(size=4000)
    table = {"a": a.tolist(), "y": np.where(random.random(4000) < 1 / (1 + np.exp(-a)), "yes", "no").tolist()}
    fitted = lineal.fit(table, "y", model="logistic", penalty="none", test_size=0.5, seed=0)
    values = lineal.diagnostics(fitted, table).arrays()["quantile"]
    assert abs(values.mean()) < 4.0 / np.sqrt(len(values))
    assert values.std() == pytest.approx(1.0, abs=0.06)


def held_out(table, target):
    """Return scores and truth of the rows that a fit with seed 0 holds out."""
    from lineal.tables.table import uniform

    rows = np.flatnonzero(uniform(0, np.arange(len(table[target]))) < 0.4)
    return {name: [values[row] for row in rows] for name, values in table.items()}


def test_calibration_and_confusion_count_the_rows_held_out():
    table = clouds()
    fitted = model("kind", test_size=0.4)
    held = held_out(table, "kind")
    p, up = fitted.predict_proba(held)[:, 1], np.array(held["kind"]) == "up"
    figure = lineal.plots.calibration(fitted, table)
    place = np.minimum((p * 10).astype(int), 9)
    used = np.unique(place)
    assert figure.data["rows"] == [float(np.sum(place == k)) for k in used]
    np.testing.assert_allclose(figure.data["predicted"], [p[place == k].mean() for k in used], rtol=1e-12)
    np.testing.assert_allclose(figure.data["happened"], [up[place == k].mean() for k in used], rtol=1e-12)
    assert all(low <= came <= high for low, came, high in zip(
        figure.data["lower"], figure.data["happened"], figure.data["upper"], strict=True))  # fmt: skip
    counts = lineal.plots.confusion(fitted, table, threshold=0.3).data["rows"]
    assert counts == [
        np.sum(~up & (p <= 0.3)),
        np.sum(~up & (p > 0.3)),
        np.sum(up & (p <= 0.3)),
        np.sum(up & (p > 0.3)),
    ]
    assert "the rows held out" in figure.caption


def test_curves_are_those_of_scikit_learn():
    from sklearn import metrics

    random = np.random.default_rng(5)
    y, score, weight = random.integers(0, 2, 200), random.integers(0, 40, 200) / 7.0, random.integers(1, 4, 200)
    points = lineal.at_thresholds(y, score, weight)
    false, hits, cuts = metrics.roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
    np.testing.assert_allclose(points.fallout, false, rtol=1e-12)
    np.testing.assert_allclose(points.recall, hits, rtol=1e-12)
    np.testing.assert_array_equal(points.thresholds, cuts)
    assert points.area == pytest.approx(metrics.roc_auc_score(y, score, sample_weight=weight), rel=1e-12)
    assert points.average_precision == pytest.approx(
        metrics.average_precision_score(y, score, sample_weight=weight), rel=1e-12
    )
    precise, found, _ = metrics.precision_recall_curve(y, score, sample_weight=weight)
    np.testing.assert_allclose(points.precision[::-1], precise, rtol=1e-12)
    np.testing.assert_allclose(points.recall[::-1], found, rtol=1e-12)


@pytest.mark.parametrize(
    ("y", "score", "words"),
    [([1, 1], [0.1, 0.2], "all of one"), ([0, 2], [0.1, 0.2], "one of them is neither"),
     ([0, 1], [0.1], "give one of each"), ([0, 1], [0.1, float("nan")], "one of them is neither"), ([], [], "all of one")],
)  # fmt: skip
def test_rows_without_two_classes_have_no_curve(y, score, words):
    with pytest.raises(InputError, match=words):
        lineal.at_thresholds(y, score)


def test_roc_and_precision_draw_the_curves_of_each_class():
    from sklearn import metrics

    table = clouds()
    fitted = model("three", test_size=0.4)
    held = held_out(table, "three")
    p = fitted.predict_proba(held)
    lines = [mark for mark in marks(lineal.plots.roc(fitted, table), "line") if mark.group[0] >= 0]
    for k, line in enumerate(lines):
        truth = np.array(held["three"]) == str(k)
        assert line.label == f"{k}: area {metrics.roc_auc_score(truth, p[:, k]):.3f}"
    precise = [mark for mark in marks(lineal.plots.precision(fitted, table), "line") if mark.group[0] >= 0]
    for k, line in enumerate(precise):
        truth = np.array(held["three"]) == str(k)
        assert line.label == f"{k}: mean precision {metrics.average_precision_score(truth, p[:, k]):.3f}"


def test_the_cost_of_a_threshold_is_what_its_decisions_cost():
    table = clouds()
    fitted = model("kind", test_size=0.4)
    held = held_out(table, "kind")
    p, up = fitted.predict_proba(held)[:, 1], np.array(held["kind"]) == "up"
    costs = np.array([[0.5, 1.0], [4.0, 0.0]])
    figure = lineal.plots.cost(fitted, table, costs=costs)
    for tau, paid in zip(figure.data["threshold"], figure.data["mean cost"], strict=True):
        expected = np.mean(costs[up.astype(int), (p > tau).astype(int)])
        assert paid == pytest.approx(expected, abs=1e-12)
    (rule,) = marks(figure, "rule")
    assert rule.x.tolist() == pytest.approx([0.5 / (0.5 + 4.0)])


@pytest.mark.parametrize("kind", ["calibration", "confusion", "roc", "precision", "cost"])
def test_pictures_of_decisions_are_refused_for_numbers(kind):
    with pytest.raises(InputError, match=f"the picture {kind} is not for this model"):
        lineal.plot(model("size", model="linear"), kind, clouds())


def test_an_estimator_is_measured_on_the_arrays_given():
    from sklearn import metrics

    table = clouds()
    X, y = columns(table), np.array(table["kind"])
    fitted = lineal.LogisticRegression().fit(X[:200], y[:200])
    figure = lineal.plots.roc(fitted, (X[200:], y[200:]))
    area = metrics.roc_auc_score(y[200:] == "up", fitted.decision_function(X[200:]))
    assert f"up: area {area:.3f}" in [mark.label for mark in figure.panels[0].marks]
    with pytest.raises(InputError, match="the class 'sideways'"):
        lineal.plots.roc(fitted, (X[:2], ["up", "sideways"]))


def test_a_selection_shows_what_was_tried_and_marks_the_least():
    fitted = model("kind", penalty="auto")
    trials = sorted(fitted.report["selection"]["trials"], key=lambda trial: trial["strength"])
    figure = lineal.plots.selection(fitted)
    assert figure.data["strength"] == [trial["strength"] for trial in trials]
    assert figure.data["log_loss"] == [trial["log_loss"] for trial in trials]
    (strong,) = [mark for mark in marks(figure, "points") if mark.role == "strong"]
    assert strong.x.tolist() == [fitted.penalty.strength]
    with pytest.raises(InputError, match="was given, not chosen"):
        lineal.plots.selection(model("kind"))


def test_columns_are_counted():
    table = {**clouds(), "gaps": [None, 1.0, 2.0] * 100}
    figure = lineal.plots.columns(table)
    assert [panel.title for panel in figure.panels] == list(table)
    (bars,) = marks(figure, "bars")
    counts, edges = np.histogram(table["a"], 20)
    np.testing.assert_allclose(bars.x, edges[:-1])
    assert bars.y2.tolist() == counts.tolist()
    rows = {level: table["k"].count(level) for level in set(table["k"])}
    place = [k for k, name in enumerate(figure.data["column"]) if name == "k"]
    assert {figure.data["from or level"][k]: figure.data["rows"][k] for k in place} == rows
    assert sum(figure.data["rows"][k] for k, name in enumerate(figure.data["column"]) if name == "gaps") == 200


def test_counts_that_are_no_whole_numbers_have_no_quantile_residuals():
    rows = {"x": [0.0, 1.0, 2.0, 3.0, 4.0], "n": [0.5, 1.2, 0.7, 2.5, 4.1]}
    fitted = lineal.fit(rows, "n", model="poisson", penalty="none")
    with pytest.raises(InputError, match="no row of n has a quantile residual"):
        lineal.plots.residuals(fitted, rows)


def test_an_inspection_draws_what_it_counted():
    random = np.random.default_rng(0)
    words = [f"w{k}" for k in random.geometric(0.1, 400)]
    table = {"x": random.normal(size=400).tolist(), "w": [None, *words[1:]], "one": [3.0] * 400}
    figure = lineal.plots.columns(lineal.inspect(table, types={"w": "category"}))
    own = {name: np.array(figure.data["column"]) == name for name in table}
    counts, edges = np.histogram(table["x"], bins=12)
    np.testing.assert_array_equal(np.array(figure.data["rows"])[own["x"]], counts)
    np.testing.assert_allclose(np.array(figure.data["to"], float)[own["x"]], edges[1:])
    assert sum(np.array(figure.data["rows"])[own["one"]]) == 400
    bars = dict(zip(*(np.array(figure.data[key], object)[own["w"]] for key in ("from or level", "rows")), strict=True))
    assert sum(bars.values()) == 400
    counted = collections.Counter(words[1:])
    most = [level for level in bars if level.startswith("w")]
    assert len(most) >= 5
    assert [bars[level] for level in most] == [n for _, n in counted.most_common(len(most))]
    assert all(bars[level] == counted[level] for level in most)


def test_a_path_ends_at_the_fit_of_its_least_strength():
    table = {name: clouds()[name] for name in ("a", "b", "k", "size")}
    figure = lineal.plots.path(table, target="size")
    least = int(np.argmin(figure.data["strength"]))
    fitted = lineal.fit(
        table,
        "size",
        model="linear",
        penalty=f"l1:{figure.data['strength'][least]!r}",
        tol=1e-10,
        test_size=0.2,
        seed=0,
    )
    sd = dict(zip(fitted.columns, fitted.report["sd"], strict=True))
    for name, b in zip(fitted.columns[1:], fitted.coef[1:, 0], strict=True):
        assert figure.data[name][least] == pytest.approx(b * sd[name], abs=1e-3)
    for name in ("a", "b"):
        assert figure.data[name][int(np.argmax(figure.data["strength"]))] == pytest.approx(0.0, abs=1e-9)
    held = held_out_share(table, 0.2)
    rmse = np.sqrt(np.mean((fitted.predict(held) - np.array(held["size"])) ** 2))
    assert figure.data["rmse"][least] == pytest.approx(rmse, rel=1e-3)
    with pytest.raises(InputError, match="--target COL"):
        lineal.plots.path(table)


def test_a_path_in_a_file_is_drawn_as_it_is(tmp_path, monkeypatch):
    """The file holds coefficients of the columns as they are: those of the table over the deviations of the training rows."""
    monkeypatch.chdir(tmp_path)
    table = {name: clouds()[name] for name in ("a", "b", "kind")}
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    (tmp_path / "clouds.csv").write_text("\n".join(lines))
    assert run(["path", "clouds.csv", "--target", "kind", "--test-size", "0.2", "-o", "path.csv"]) == 0
    drawn = lineal.plots.path("path.csv")
    walked = list(csv.DictReader((tmp_path / "path.csv").read_text().splitlines()))
    labels = [name for name in walked[0] if name.startswith("coefficient of ") and "(intercept)" not in name]
    assert len(labels) >= 2
    assert drawn.panels[0].y.name == "coefficient"
    assert drawn.verdict.proven == all(line["verdict"] == "optimal" for line in walked)
    assert set(drawn.data) == {"strength", "loss", *(name.removeprefix("coefficient of ") for name in labels)}
    for name in labels:
        assert drawn.data[name.removeprefix("coefficient of ")] == [float(line[name]) for line in walked]
    assert drawn.data["loss"] == [float(line["held_out"]) for line in walked]
    least = min(walked, key=lambda line: float(line["held_out"]))
    assert f"Rows held out lose least at {float(least['strength']):.4g}." in drawn.caption
    scaled = lineal.plots.path(table, target="kind")
    for name in ("a", "b"):
        ratios = [one / of for one, of in zip(scaled.data[name], drawn.data[name], strict=True) if of]
        np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)
    with pytest.raises(InputError, match="--target COL"):
        lineal.plots.path("clouds.csv")


def test_a_path_of_arrays_is_drawn_with_its_names():
    table = {name: clouds()[name] for name in ("a", "b")}
    frame = pytest.importorskip("pandas").DataFrame(table)
    walked = lineal.path(frame, clouds()["three"], loss="softmax", strengths=5)
    drawn = lineal.plots.path(walked)
    assert walked.columns == ("(intercept)", "a", "b")
    assert drawn.data["strength"] == list(walked.strengths)
    for j, name in enumerate(table, 1):
        for k in range(3):
            line = drawn.data.get(f"{name} for output {k + 1}", [0.0] * 5)  # (one that is zero throughout is not drawn)
            assert line == walked.coef[:, j, k].tolist()
    assert len(drawn.data) > 4
    assert lineal.path(np.ones((4, 1)) * [[1.0], [2.0], [3.0], [5.0]], [1.0, 2.0, 3.0, 9.0], fit_intercept=False,
                       strengths=2).columns == ("x0",)  # fmt: skip


def held_out_share(table, share):
    from lineal.tables.table import uniform

    rows = np.flatnonzero(uniform(0, np.arange(300)) < share)
    return {name: [values[row] for row in rows] for name, values in table.items()}


def test_words_are_those_of_largest_effect():
    lines = ["cheap pills now", "see you now", "cheap watches", "dinner at eight"] * 10
    fitted = lineal.fit({"text": lines, "spam": ["yes", "no"] * 20}, "spam", penalty=0.1, test_size=0, text=["text"])
    figure = lineal.plots.words(fitted)
    spread = fitted.report.get("sd", np.ones(len(fitted.columns)))
    effect = dict(
        zip((name.removeprefix("text: ") for name in fitted.columns), fitted.coef[:, 0] * spread, strict=True)
    )
    for side, word, size in zip(figure.data["speaks"], figure.data["word"], figure.data["effect"], strict=True):
        assert size == pytest.approx(effect[word] * {"for yes": 1.0, "for no": -1.0}[side])
    assert figure.data["word"][figure.data["speaks"].index("for yes")] == "cheap"
    with pytest.raises(InputError, match="reads no column of text"):
        lineal.plots.words(model("kind"))


def test_a_comparison_draws_means_and_their_errors():
    table = {name: clouds()[name] for name in ("a", "b", "size")}
    answer = lineal.compare(table, "size", models=["linear", "ridge ridge:1"], folds=4)
    figure = lineal.plots.compare(answer)
    assert figure.data["model"] == [*(entry.name for entry in answer.entries), "baseline"]
    folds = answer.entries[0].validation["rmse"].folds
    assert figure.data["rmse"][0] == pytest.approx(np.mean(folds))
    reach = 1.96 * np.std(folds, ddof=1) / 2.0
    assert figure.data["rmse from"][0] == pytest.approx(np.mean(folds) - reach)
    assert figure.data["rmse to"][0] == pytest.approx(np.mean(folds) + reach)
