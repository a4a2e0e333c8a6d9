"""The perceptron keeps its promises through scikit-learn's door."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sklearn.linear_model
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris

import lineal
from lineal import Perceptron
from lineal.errors import InputError
from lineal.perceptron.perceptron import TIES, VARIANTS
from lineal.verify.evidence.separability import integers

IRIS, SPECIES = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"variant": "averagd"}, "Did you mean 'averaged'"),
        ({"tie": "zero"}, "accepted are 'positive', 'negative', 'mistake'"),
        ({"penalty": "l2"}, "only None"),
        ({"alpha": 0.1}, "only 0.0001"),
        ({"l1_ratio": 0.5}, "only 0.15"),
        ({"verbose": "yes"}, "whole number"),
        ({"n_jobs": "all"}, "whole number"),
        ({"early_stopping": True}, "only False"),
        ({"validation_fraction": 0.2}, "only 0.1"),
        ({"max_iter": 0}, "at least 1"),
        ({"max_iter": None}, "at least 1"),
        ({"tol": -1.0}, "at least 0"),
        ({"n_iter_no_change": 3}, "no effect"),
        ({"tol": 0.1, "n_iter_no_change": 0}, "at least 1"),
        ({"eta0": 0.0}, "above 0"),
        ({"shuffle": 1}, "True or False"),
        ({"oracle": None}, "True or False"),
        ({"bound": "yes"}, "True or False"),
        ({"record": 2}, "True or False"),
        ({"fit_intercept": 1}, "True or False"),
        ({"time_limit": 0}, "above 0"),
        ({"random_state": "seven"}, "whole number"),
    ],
)
def test_what_is_not_honoured_is_refused(parameters, match):
    with pytest.raises(InputError, match=match):
        Perceptron(**parameters).fit(IRIS, SPECIES)


def test_hard_inputs_are_refused_in_words():
    x, y = IRIS[:4], np.array([0, 1, 0, 1])
    with pytest.raises(InputError, match="whole"):
        Perceptron().fit(x, y, sample_weight=[0.5, 1, 1, 1])
    with pytest.raises(InputError, match="one class"):
        Perceptron().fit(x, np.zeros(4))
    with pytest.raises(InputError, match="coef_init"):
        Perceptron().fit(x, y, coef_init=[1.0])
    with pytest.raises(InputError, match="NaN"):
        Perceptron().fit(x, y, coef_init=[np.nan, 0, 0, 0])
    with pytest.raises(InputError, match="no effect"):
        Perceptron(fit_intercept=False).fit(x, y, intercept_init=[1.0])
    for bad in (np.nan, np.inf):
        broken = x.copy()
        broken[2, 1] = bad
        for given in (broken, sparse.csr_matrix(broken), broken.astype(np.float32)):
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                Perceptron(shuffle=False).fit(given, y)
    with pytest.raises(InputError, match="first call"):
        Perceptron().partial_fit(x, y)
    with pytest.raises(AttributeError) as caught:
        Perceptron(variant="voted").partial_fit(x, y, classes=[0, 1])
    assert "looks at all rows" in str(caught.value.__cause__)
    stream = Perceptron().partial_fit(x, y, classes=[0, 1])
    with pytest.raises(InputError, match="has begun"):
        stream.partial_fit(x, y, coef_init=[0, 0, 0, 0])
    with pytest.raises(InputError, match="do not exist in the initial classes"):
        stream.partial_fit(x, y + 1)
    with pytest.raises(InputError, match="expecting 4 features"):
        stream.partial_fit(x[:, :2], y)
    with pytest.raises(InputError, match="two classes"):
        Perceptron().partial_fit(x, np.zeros(4), classes=[0])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("tie", TIES)
def test_every_variant_with_every_tie_fits_predicts_and_is_saved(variant, tie, tmp_path):
    for x, y, kind in (
        (IRIS[:100], np.array(["a", "b"])[SPECIES[:100]], "separated"),
        (IRIS, SPECIES, "not_separable"),
        (sparse.csr_matrix(IRIS), SPECIES, "not_separable"),
    ):
        model = Perceptron(variant=variant, tie=tie, max_iter=30).fit(x, y)
        assert model.verdict_.kind == kind
        predicted = model.predict(x)
        assert set(predicted) <= set(y)
        wrong = model.verdict_.evidence["model_mistakes"]
        if variant == "voted":
            assert not hasattr(model, "model_")
            continue
        if tie != "mistake":
            assert np.count_nonzero(predicted != y) == wrong
        model.model_.save(tmp_path / "model.lineal")
        again = lineal.load(tmp_path / "model.lineal")
        assert np.array_equal(again.predict(x), predicted)
        assert again.verdict.to_dict() == model.verdict_.to_dict()


def test_defaults_separate_where_a_peer_gives_up():
    """Of 50 separable sets scikit-learn's default leaves mistakes on some; ours on none."""
    theirs = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(60, 4))
        y = (x @ rng.normal(size=4) + 0.1 * rng.normal() > 0).astype(int)
        theirs += sklearn.linear_model.Perceptron().fit(x, y).score(x, y) < 1.0
        model = Perceptron().fit(x, y)
        assert model.verdict_.kind == "separated"
        assert model.score(x, y) == 1.0
    assert theirs > 0


def test_shuffle_seed_and_start_have_their_effect():
    x, y = IRIS[50:], SPECIES[50:]
    fits = [Perceptron(max_iter=3, oracle=False, random_state=seed).fit(x, y) for seed in (0, 0, 1)]
    assert np.array_equal(fits[0].coef_, fits[1].coef_)
    assert not np.array_equal(fits[0].coef_, fits[2].coef_)
    mixed = np.random.default_rng(0).permutation(100)
    assert np.array_equal(clone(fits[0]).fit(x[mixed], y[mixed]).coef_, fits[0].coef_)
    doubled = Perceptron(max_iter=3, oracle=False, eta0=2.0).fit(x, y)
    assert np.array_equal(doubled.coef_, 2.0 * fits[0].coef_)
    warm = Perceptron(max_iter=3, oracle=False, warm_start=True, shuffle=False).fit(x, y)
    first = warm.coef_.copy(), warm.intercept_.copy()
    warm.fit(x, y)
    cold = Perceptron(max_iter=3, oracle=False, shuffle=False).fit(x, y, coef_init=first[0], intercept_init=first[1])
    assert np.array_equal(warm.coef_, cold.coef_)
    assert cold.verdict_.evidence["start"] == "given"
    epochs = fits[0].trace_.to_frame()
    assert epochs["step"].tolist() == [1, 2, 3]
    assert round(float(epochs["objective"].sum() * 100)) == fits[0].mistakes_  # mistakes per row of each epoch
    early = Perceptron(max_iter=1000, tol=0.5, n_iter_no_change=2, oracle=False).fit(x, y)
    assert early.n_iter_ <= 3
    assert "saved hardly any" in early.verdict_.sentence


def test_a_stream_is_an_epoch_in_pieces():
    for variant in ("plain", "averaged"):
        whole = Perceptron(variant=variant, max_iter=1, shuffle=False, oracle=False).fit(IRIS, SPECIES)
        stream = Perceptron(variant=variant)
        for part in (slice(0, 40), slice(40, 41), slice(41, 150)):
            stream.partial_fit(IRIS[part], SPECIES[part], classes=[0, 1, 2])
        np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-12, atol=1e-12)
        assert stream.mistakes_ == whole.mistakes_
        assert stream.verdict_.kind == "progressive"
        assert stream.verdict_.evidence == {"mistakes": whole.mistakes_, "rows": 150}
        weighted = Perceptron(variant=variant).partial_fit(IRIS, SPECIES, [0, 1, 2], np.full(150, 2.0))
        twice = Perceptron(variant=variant).partial_fit(np.repeat(IRIS, 2, 0), np.repeat(SPECIES, 2), [0, 1, 2])
        assert np.array_equal(weighted.coef_, twice.coef_)


def test_agreement_with_scikit_learn_on_two_classes():
    """Same start, same order, same rule (y w.x <= 0 is a mistake): the same weights after every number of epochs."""
    x, y = np.round(IRIS[50:] * 8) / 8, SPECIES[50:]  # exact in doubles, so that sums do not depend on their order
    for epochs in (1, 2, 7, 30):
        theirs = sklearn.linear_model.SGDClassifier(
            loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0, shuffle=False, max_iter=epochs, tol=None
        ).fit(x, y)  # fmt: skip
        ours = Perceptron(max_iter=epochs, shuffle=False, oracle=False).fit(x, y)
        assert np.array_equal(ours.coef_, theirs.coef_)
        assert np.array_equal(ours.intercept_, theirs.intercept_)


def test_weights_of_thousands_of_digits_are_written_and_read_again():
    """Columns of 590 powers of ten make weights longer than Python writes at once (4300 digits)."""
    rng = np.random.default_rng(1)
    X = rng.choice([-1.0, 1.0], size=(30, 9)) * 10.0 ** rng.uniform(-295.0, 295.0, size=(30, 9))
    evidence = Perceptron(max_iter=3).fit(X, np.arange(30) % 2).verdict_.evidence
    assert max(len(str(weight)) for weight in evidence["weights"]) > 4300
    total = [Fraction(0)] * 10
    for row, weight in zip(evidence["rows"], integers(evidence["weights"], "weights"), strict=True):
        side = weight if row % 2 else -weight
        total = [one + side * Fraction(x) for one, x in zip(total, (1.0, *X[row]), strict=True)]
    assert total == [Fraction(0)] * 10
