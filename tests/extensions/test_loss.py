"""A loss that lineal does not have, in one file: laws, fit, words, model file, prediction; the checker says no."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import lineal
from lineal import losses
from lineal.cli import run
from lineal.cli.objective import objective
from lineal.errors import InputError, ModelFileError
from lineal.verify import verify
from tests.extensions.laws import laws_for, obey
from tests.extensions.pseudo_huber import PseudoHuber
from tests.laws import test_losses

LAWS = [
    pytest.param(law, loss, id=f"{law.__name__}-{loss}")
    for loss in PseudoHuber.examples()
    for law in laws_for(test_losses, "loss", loss, {"sample"})
]
RNG = np.random.default_rng(4)
X = RNG.normal(size=60)
TABLE = {"x": X, "y": 1.0 + 2.0 * X + RNG.standard_t(2, size=60)}


@pytest.fixture
def extended(monkeypatch):
    monkeypatch.setattr(losses, "ALL", (*losses.ALL, PseudoHuber))


@pytest.fixture
def model(extended):
    return lineal.fit(TABLE, target="y", model="pseudo-huber:0.5", penalty="none")


@pytest.mark.parametrize(("law", "loss"), LAWS)
def test_the_laws_of_losses_hold_it(law, loss, extended):
    rng = np.random.default_rng(5)
    sample = test_losses.drawn(loss, 40, rng), 2.0 * rng.normal(size=(40, loss.outputs)), rng
    obey(law, {"loss": loss, "sample": sample})


def test_it_is_fitted_by_its_word_with_a_proof(model):
    assert model.verdict.kind == "optimal"
    assert model.loss == PseudoHuber(0.5)
    columns = np.column_stack([np.ones(60), TABLE["x"]])

    def mean(b):
        return float(np.mean(0.25 * (np.sqrt(1.0 + ((columns @ b - TABLE["y"]) / 0.5) ** 2) - 1.0)))

    best = optimize.minimize(mean, np.zeros(2), tol=1e-12)
    np.testing.assert_allclose(model.coef[:, 0], best.x, atol=1e-3)
    assert mean(model.coef[:, 0]) - model.verdict.gap <= best.fun + 1e-14


@pytest.mark.parametrize("penalty", ["ridge:0.1", "l1:0.1", "elastic:0.1,0.5", "auto"])
def test_penalties_are_its_own_as_well(penalty, extended):
    assert lineal.fit(TABLE, target="y", model="pseudo-huber:0.5", penalty=penalty).verdict.kind == "optimal"


def test_a_path_takes_it_as_it_is():
    found = lineal.path(X[:, None], TABLE["y"], loss=PseudoHuber(0.5), strengths=5)
    assert {verdict.kind for verdict in found.verdicts} == {"optimal"}


def test_a_wrong_number_is_refused_in_its_words(extended):
    for word in ("pseudo-huber", "pseudo-huber:", "pseudo-huber:-1"):
        with pytest.raises(InputError, match="give the threshold, a number above 0, such as pseudo-huber"):
            lineal.fit(TABLE, target="y", model=word)
    with pytest.raises(InputError, match="sparsemax, pseudo-huber:T, bayes"):
        lineal.fit(TABLE, target="y", model="pseudo")


def test_pages_have_its_words(model):
    assert objective(model) == ("F(b) = mean 0.25 (c - 1), no penalty; c = sqrt(1 + (residual / 0.5)^2)")
    assert model.report["model"] == "pseudo-Huber regression, threshold 0.5, no penalty"


def test_the_command_line_fits_it(extended, tmp_path, capsys):
    table, saved = tmp_path / "d.csv", tmp_path / "m.lineal"
    np.savetxt(table, np.column_stack([TABLE["x"], TABLE["y"]]), delimiter=",", header="x,y", comments="")
    assert run(["fit", str(table), "--target", "y", "--model", "pseudo-huber:0.5", "--output", str(saved)]) == 0
    assert "pseudo-Huber regression, threshold 0.5" in capsys.readouterr().out


def test_it_survives_its_model_file(model, tmp_path):
    model.save(tmp_path / "m.lineal")
    again = lineal.load(tmp_path / "m.lineal")
    assert again.loss == model.loss
    new = {"x": [-7.0, 0.0, 7.0]}
    assert again.predict(new).tolist() == model.predict(new).tolist()
    np.testing.assert_allclose(again.predict(new), model.coef[0] + model.coef[1] * np.array(new["x"]))


def test_whoever_does_not_have_it_says_so(model, tmp_path, monkeypatch):
    model.save(tmp_path / "m.lineal")
    monkeypatch.setattr(losses, "ALL", losses.ALL[:-1])
    with pytest.raises(ModelFileError, match="name is 'pseudo-huber'; known are squared, "):
        lineal.load(tmp_path / "m.lineal")
    with pytest.raises(InputError, match="the model is 'pseudo-huber:1'; known are auto"):
        lineal.fit(TABLE, target="y", model="pseudo-huber:1")


def test_the_checker_refuses_it_by_name(model, tmp_path):
    model.save(tmp_path / "m.lineal")
    np.savetxt(tmp_path / "d.csv", np.column_stack([TABLE["x"], TABLE["y"]]), delimiter=",", header="x,y", comments="")
    with pytest.raises(ModelFileError, match="this checker does not know the loss 'pseudo-huber'"):
        verify(tmp_path / "m.lineal", tmp_path / "d.csv")
