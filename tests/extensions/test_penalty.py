"""A penalty that lineal does not have, in one file: laws, fit, path, words, model file; the checker says no."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import lineal
from lineal import penalties
from lineal.cli import run
from lineal.cli.objective import objective
from lineal.errors import InputError, ModelFileError
from lineal.verify import verify
from tests.extensions.laws import laws_for, obey
from tests.extensions.tilted import Tilted
from tests.laws import test_penalties

EXAMPLES = {
    "one free": Tilted.example(np.array([0.0, 1.0, 2.5])),
    "scaled": Tilted.example(np.array([8.0, 0.125, 1.0])),
}
LAWS = [
    pytest.param(law, penalty, id=f"{law.__name__}-{name}")
    for name, penalty in EXAMPLES.items()
    for law in laws_for(test_penalties, "penalty", penalty, {"rng"})
]
RNG = np.random.default_rng(4)
X = RNG.normal(size=(60, 3))
TABLE = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": 1.0 + X @ [2.0, -1.0, 0.05] + RNG.normal(size=60)}


@pytest.fixture
def extended(monkeypatch):
    monkeypatch.setattr(penalties, "ALL", (*penalties.ALL, Tilted))


@pytest.fixture
def model(extended):
    return lineal.fit(TABLE, target="y", model="linear", penalty="tilted:0.3")


@pytest.mark.parametrize(("law", "penalty"), LAWS)
def test_the_laws_of_penalties_hold_it(law, penalty):
    obey(law, {"penalty": penalty, "rng": np.random.default_rng(3)})


def cost(b):
    """Return F by its definition: penalties count standardized columns."""
    tilt = np.maximum(b[1:], -2.0 * b[1:]) @ X.std(axis=0)
    return 0.5 * float(np.mean((TABLE["y"] - b[0] - X @ b[1:]) ** 2)) + 0.3 * float(tilt)


def test_it_is_fitted_by_its_name_with_a_proof(model):
    assert model.verdict.kind == "optimal"
    assert model.penalty.name == "tilted"
    b = model.coef[:, 0]
    best = optimize.minimize(cost, b, method="Nelder-Mead", options={"xatol": 1e-12, "fatol": 1e-15, "maxiter": 9999})
    assert cost(b) - model.verdict.gap <= best.fun + 1e-14
    assert b[1] > 0.0 > b[2]
    assert b[3] == 0.0


@pytest.mark.parametrize("name", ["logistic", "huber:1.0", "poisson"])
def test_losses_are_its_own_as_well(name, extended):
    y = {"logistic": TABLE["y"] > 1.0, "huber:1.0": TABLE["y"], "poisson": np.round(np.exp(0.3 * TABLE["y"]))}[name]
    found = lineal.fit({**TABLE, "y": y}, target="y", model=name, penalty="tilted:0.05")
    assert found.verdict.kind == "optimal"


def test_its_strength_can_be_picked(extended):
    found = lineal.fit(TABLE, target="y", model="linear", penalty="tilted:auto")
    assert found.verdict.kind == "optimal"
    assert found.penalty.strength > 0.0


def test_a_path_begins_where_nothing_is_used(extended):
    found = lineal.path(X, TABLE["y"], penalty="tilted", strengths=4)
    assert {verdict.kind for verdict in found.verdicts} == {"optimal"}
    assert found.points[0].used == 1
    assert found.points[-1].used == 4


def test_pages_have_its_words(model):
    assert objective(model) == ("F(b) = mean (residual^2) / 2 + 0.3 * sum sd_j max(b_j, -2 b_j), intercept not charged")
    assert model.report["model"] == "linear regression, tilted penalty"
    with pytest.raises(InputError, match="the penalty 'tilted' chooses coefficients by looking at the data"):
        model.refuse_summary()


def test_a_wrong_spelling_is_answered_with_its_own(extended):
    for word in ("tilted", "tilted:-1", "tilted:1,2", "tilt:1"):
        with pytest.raises(InputError, match="group:STRENGTH, tilted:STRENGTH"):
            lineal.fit(TABLE, target="y", model="linear", penalty=word)
    with pytest.raises(InputError, match="bounds on top of the penalty 'tilted' have no joint prox"):
        lineal.fit(TABLE, target="y", model="linear", penalty="tilted:1", bounds={"a": (0.0, None)})


def test_the_command_line_fits_it(extended, tmp_path, capsys):
    table = tmp_path / "d.csv"
    np.savetxt(table, np.column_stack(list(TABLE.values())), delimiter=",", header=",".join(TABLE), comments="")
    words = ["--target", "y", "--model", "linear"]
    assert run(["fit", str(table), *words, "--penalty", "tilted:0.3", "-o", str(tmp_path / "m.lineal")]) == 0
    assert "tilted penalty" in capsys.readouterr().out
    assert run(["path", str(table), *words, "--penalty", "tilted", "--points", "3"]) == 0
    assert "strength * sum sd_j max(b_j, -2 b_j)" in " ".join(capsys.readouterr().out.split())


def test_it_survives_its_model_file(model, tmp_path):
    model.save(tmp_path / "m.lineal")
    again = lineal.load(tmp_path / "m.lineal")
    assert type(again.penalty) is Tilted
    np.testing.assert_equal(again.penalty.to_dict(), model.penalty.to_dict())
    again.save(tmp_path / "n.lineal")
    assert (tmp_path / "m.lineal").read_bytes() == (tmp_path / "n.lineal").read_bytes()


def test_whoever_does_not_have_it_says_so(model, tmp_path, monkeypatch):
    model.save(tmp_path / "m.lineal")
    monkeypatch.setattr(penalties, "ALL", penalties.ALL[:-1])
    with pytest.raises(ModelFileError, match="name is 'tilted'; known are none, ridge, l1, elastic, group, bounds"):
        lineal.load(tmp_path / "m.lineal")
    with pytest.raises(InputError, match="the penalty is 'tilted:1'; accepted are none, ridge:STRENGTH"):
        lineal.fit(TABLE, target="y", penalty="tilted:1")


def test_the_checker_refuses_it_by_name(model, tmp_path):
    model.save(tmp_path / "m.lineal")
    table = tmp_path / "d.csv"
    np.savetxt(table, np.column_stack(list(TABLE.values())), delimiter=",", header=",".join(TABLE), comments="")
    with pytest.raises(ModelFileError, match="this checker does not know the penalty 'tilted'"):
        verify(tmp_path / "m.lineal", table)
