"""Tables whose numbers are far from zero: the model keeps an exact center, and every door goes through it."""

import json
from fractions import Fraction

import numpy as np
import pytest

import lineal
from lineal.api.path_of_table import table_path
from lineal.cli import run
from lineal.inference import summarise
from lineal.verify import verify

ROWS = 40
FAR = 4e15


def _table(kind, start=FAR, seed=0):
    """Return a table with a column of whole numbers from ``start`` on; less ``start`` they are the same doubles."""
    rng = np.random.default_rng(seed)
    step, other = np.arange(float(ROWS)), rng.normal(size=ROWS)
    eta = 0.1 * (step - 20.0) + 0.5 * other + rng.normal(size=ROWS)
    targets = {
        "number": eta.tolist(),
        "two": np.where(eta > 0.0, "b", "a").tolist(),
        "three": np.where(eta > 0.7, "c", np.where(eta > -0.7, "b", "a")).tolist(),
        "count": rng.poisson(np.exp(0.3 * eta)).astype(float).tolist(),
    }
    x = start + step
    assert np.array_equal(x - start, step)
    return {"x": x.tolist(), "z": other.tolist(), "y": targets[kind]}


def _solved(matrix, right):
    """Solve a system of fractions by elimination."""
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(len(rows)):
            if i != k:
                share = rows[i][k] / rows[k][k]
                rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


def _least_squares(table):
    """Return the exact predictions of least squares on the numbers as given."""
    x = [[Fraction(1), Fraction(a), Fraction(b)] for a, b in zip(table["x"], table["z"], strict=True)]
    y = [Fraction(value) for value in table["y"]]
    gram = [[sum(row[i] * row[j] for row in x) for j in range(3)] for i in range(3)]
    best = _solved(gram, [sum(row[i] * value for row, value in zip(x, y, strict=True)) for i in range(3)])
    return [float(sum(b * v for b, v in zip(best, row, strict=True))) for row in x]


def _csv(table, path):
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("seed", range(3))
def test_predictions_are_those_of_exact_least_squares(seed, tmp_path):
    table = _table("number", seed=seed)
    model = lineal.fit(table, "y", model="linear")
    assert model.verdict.kind == "optimal", model.verdict.sentence
    exact = _least_squares(table)
    np.testing.assert_allclose(model.predict(table), exact, rtol=0.0, atol=1e-12)
    rmse = float(np.sqrt(np.mean((np.array(exact) - table["y"]) ** 2)))
    assert model.report["metrics"]["train"]["rmse"] == pytest.approx(rmse, rel=1e-12)
    assert lineal.evaluate(model, table)["metrics"]["test"]["rmse"] == pytest.approx(rmse, rel=1e-12)
    np.testing.assert_allclose(model.scorer()(np.column_stack([table["x"], table["z"]]))[:, 0], exact, atol=1e-12)


MODELS = [
    ("linear", "number", "none"), ("linear", "number", "l1:0.05"), ("logistic", "two", "none"),
    ("logistic", "two", "auto"), ("logistic", "three", "ridge:0.1"), ("huber:1", "number", "none"),
    ("huber", "number", "ridge:0.1"), ("quantile:0.5", "number", "none"), ("quantile:0.3", "number", "l1:0.05"),
    ("poisson", "count", "elastic:0.05,0.5"), ("svm", "two", "none"), ("svm", "three", "ridge:0.1"),
    ("squared-hinge", "two", "group:0.05"), ("sparsemax", "three", "none"), ("bayes", "number", "auto"),
    ("logistic", "two", "firth"), ("zero-one", "two", "none"),
]  # fmt: skip


def _objective(model):
    evidence = model.verdict.evidence
    return float(evidence["log_evidence" if "log_evidence" in evidence else "objective"])


@pytest.mark.slow
@pytest.mark.parametrize(("model", "kind", "penalty"), MODELS)
def test_a_table_far_from_zero_is_the_one_near_it(model, kind, penalty, tmp_path):
    """Moving a column by an exact constant changes the intercept and nothing else: verdict, objective, predictions."""
    table, near = _table(kind), _table(kind, 0.0)
    far, here = (lineal.fit(one, "y", model=model, penalty=penalty) for one in (table, near))
    assert far.verdict.kind == here.verdict.kind != "budget", far.verdict.sentence
    value, beside = (_objective(one) for one in (far, here))
    room = (far.verdict.gap or 0.0) + (here.verdict.gap or 0.0)
    room += 1e-4 * abs(beside) if penalty == "auto" else 0.0  # strengths on a grid that begins at a gradient
    assert value == pytest.approx(beside, rel=1e-9, abs=room)
    # both are within 1e-6 of the gain, and scores within the root of that, of each other
    size = float(np.max(np.abs(here.scores(near)))) + 1.0
    np.testing.assert_allclose(far.scores(table), here.scores(near), atol=2e-3 * size)
    far.save(tmp_path / "far.lineal")
    np.testing.assert_array_equal(lineal.load(tmp_path / "far.lineal").scores(table), far.scores(table))
    verify(tmp_path / "far.lineal", _csv(table, tmp_path / "far.csv"))


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_every_member_of_a_committee_has_its_own_center(multiclass, tmp_path):
    table, near = _table("three"), _table("three", 0.0)
    far, here = (lineal.fit(one, "y", penalty="ridge:0.1", multiclass=multiclass) for one in (table, near))
    np.testing.assert_allclose(far.scores(table), here.scores(near), atol=1e-6)
    assert far.predict(table).tolist() == here.predict(near).tolist()
    assert far.report["metrics"] == here.report["metrics"]
    assert lineal.evaluate(far, table)["metrics"] == lineal.evaluate(here, near)["metrics"]
    far.save(tmp_path / "far.lineal")
    np.testing.assert_array_equal(lineal.load(tmp_path / "far.lineal").scores(table), far.scores(table))
    verify(tmp_path / "far.lineal", _csv(table, tmp_path / "far.csv"))


def test_standard_errors_of_slopes_are_those_near_zero():
    table, near = _table("number"), _table("number", 0.0)
    far, here = (lineal.fit(one, "y", model="linear") for one in (table, near))
    for errors in ("classical", "HC1"):
        told, wanted = (summarise(one, data, errors=errors) for one, data in ((far, table), (here, near)))
        for row, other in zip(told.rows[1:], wanted.rows[1:], strict=True):
            assert (row.estimate, row.error, row.p) == pytest.approx((other.estimate, other.error, other.p), rel=1e-9)
        assert told.figures == pytest.approx(wanted.figures, rel=1e-9)
    # the intercept is the score at the center: its error there, for least squares, is sigma / sqrt(n) with z at its mean
    assert far.columns == ("(intercept)", "x", "z")
    center = np.array(far.center)
    at = {"x": [center[1]], "z": [0.0]}
    assert far.summary().rows[0].estimate == pytest.approx(far.predict(at)[0], rel=1e-12)
    assert "x less 4000000000000019.5" in "\n".join(far.summary().notes)


def test_profile_intervals_go_through_the_center():
    table, near = _table("two"), _table("two", 0.0)
    told, wanted = (summarise(lineal.fit(one, "y", penalty="firth"), one) for one in (table, near))
    for row, other in zip(told.rows[1:], wanted.rows[1:], strict=True):
        assert (row.estimate, row.lower, row.upper) == pytest.approx(
            (other.estimate, other.lower, other.upper), rel=1e-5
        )


def test_arrays_and_sparse_rows_go_through_the_center():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    table = _table("number")
    x = np.column_stack([table["x"], table["z"]])
    model = lineal.fit(x, table["y"], model="linear")
    exact = _least_squares(table)
    assert model.center is not None
    np.testing.assert_allclose(model.predict(x), exact, atol=1e-12)
    np.testing.assert_allclose(model.predict(scipy_sparse.csr_array(x)), exact, atol=1e-12)


def test_the_command_line_predicts_through_the_center(lineal, tmp_path):
    table, (data, model) = _table("number"), (tmp_path / name for name in ("far.csv", "far.lineal"))
    _csv(table, data)
    code, out, _ = lineal("fit", data, "--target", "y", "--model", "linear", "--test-size", "0", "-o", model, "--json")
    assert code == 0
    assert "x less 4000000000000019.5" in json.loads(out)["aside"]
    assert lineal("predict", model, data, "-o", tmp_path / "out.csv")[0] == 0
    found = [float(line) for line in (tmp_path / "out.csv").read_text().split()[1:]]
    np.testing.assert_allclose(found, _least_squares(table), atol=1e-12)
    assert lineal("verify", model, data)[0] == 0
    code, out, _ = lineal("show", model)
    assert code == 0
    assert "x less 4000000000000019.5" in " ".join(out.split())


@pytest.mark.parametrize(("kind", "penalty"), [("number", "l1"), ("number", "ridge"), ("two", "l1")])
def test_a_path_far_from_zero_is_that_of_the_columns_less_their_start(kind, penalty):
    """Every point is proven, and predicts the rows held out as a path of the numbers from zero does."""
    given = {"penalty": penalty, "points": 6, "test_size": 0.3, "seed": 1}
    far, plain = (table_path(_table(kind, start), "y", **given) for start in (FAR, 0.0))
    assert plain.center is None
    assert far.center is not None
    assert far.center[1] > FAR
    for one, other in zip(far.points, plain.points, strict=True):
        assert one.verdict.kind == "optimal"
        assert one.coef[1:] == pytest.approx(other.coef[1:], abs=1e-6)
    assert far.losses == pytest.approx(plain.losses, rel=1e-6)


def test_the_page_of_a_path_says_what_coefficients_are_about(tmp_path, capsys):
    (tmp_path / "t.json").write_text("".join(json.dumps(row) + "\n" for row in _rows(_table("number"))))
    words = ["path", str(tmp_path / "t.json"), "--target", "y", "--points", "4"]
    assert run(words) == 0
    assert "Coefficients are for columns less a center: x less 40000000000000" in " ".join(
        capsys.readouterr().out.split()
    )
    assert run([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert 0.0 <= answer["center"]["x"] - FAR <= ROWS
    assert {point["verdict"] for point in answer["points"]} == {"optimal"}


def _rows(table):
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
