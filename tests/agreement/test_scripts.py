"""Scripts of the kind people have, run with scikit-learn's import and with ours: predictions agree, nothing else is changed."""

import functools
import multiprocessing
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model
import sklearn.svm
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, StackingClassifier, StackingRegressor, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    train_test_split,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

import lineal

THEIRS = SimpleNamespace(
    **vars(sklearn.linear_model), **{name: getattr(sklearn.svm, name) for name in sklearn.svm.__all__}
)
N = 160


@functools.cache
def frame():
    rng = np.random.default_rng(7)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, N).astype(float),
            "fare": rng.lognormal(3.0, 1.0, N),
            "port": rng.choice(["S", "C", "Q"], N, p=[0.6, 0.3, 0.1]),
            "class": rng.choice(["first", "second", "third"], N),
        }
    )
    score = 0.04 * table["age"] - 0.8 * np.log(table["fare"]) + (table["port"] == "C") + rng.logistic(size=N)
    table.loc[rng.choice(N, 12, replace=False), "age"] = np.nan
    return table, (score > score.median()).astype(int).to_numpy(), score.to_numpy()


@functools.cache
def numbers():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(N, 6))
    X[:, 5] = X[:, 0] + 0.3 * rng.normal(size=N)
    return X, X @ [2.0, -1.0, 0.5, 0.0, 0.0, 0.3] + rng.normal(size=N), rng


def competition(m):
    X, y, _ = frame()
    seen, held, y_seen, _ = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    prepared = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["age", "fare"]),
            ("words", OneHotEncoder(handle_unknown="ignore"), ["port", "class"]),
        ]
    )
    line = Pipeline([("prepared", prepared), ("model", m.LogisticRegression(max_iter=1000, random_state=0))])
    search = GridSearchCV(line, {"model__C": [0.1, 1.0, 10.0], "model__solver": ["lbfgs"]}, cv=5, scoring="roc_auc")
    return search.fit(seen, y_seen).predict_proba(held)


def texts(m):
    words = ["good", "fine", "great", "bad", "poor", "awful", "film", "plot", "actor", "scene"]
    rng = np.random.default_rng(3)
    kinds = rng.integers(0, 2, 80)
    share = np.array([[3.0, 3, 3, 1, 1, 1, 2, 2, 2, 2], [1.0, 1, 1, 3, 3, 3, 2, 2, 2, 2]])
    documents = [" ".join(rng.choice(words, 12, p=share[k] / share[k].sum())) for k in kinds]
    line = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2)), m.LogisticRegression(solver="liblinear", fit_intercept=False)
    )
    grid = {"logisticregression__C": [0.1, 1.0, 10.0], "tfidfvectorizer__sublinear_tf": [True, False]}
    return GridSearchCV(line, grid, cv=3, n_jobs=-1).fit(documents[:60], kinds[:60]).decision_function(documents[60:])


def nested(m):
    X, y, _ = numbers()
    search = GridSearchCV(m.Ridge(), {"alpha": np.logspace(-2, 3, 6)}, cv=KFold(4))
    return cross_val_score(search, X, y, cv=KFold(5), scoring="neg_mean_squared_error")


def calibration(m):
    X, y, _ = numbers()
    base = m.SVC(kernel="linear", C=0.5)
    return CalibratedClassifierCV(base, method="sigmoid", cv=3).fit(X, y > 0.0).predict_proba(X)


def stacking(m):
    X, y, _ = numbers()
    base = [("ridge", m.Ridge(10.0)), ("lasso", m.Lasso(0.1, max_iter=10000)), ("net", m.ElasticNet(0.1, l1_ratio=0.7))]
    first = StackingRegressor(base, final_estimator=m.LinearRegression(), cv=4).fit(X, y).predict(X)
    pair = [("a", m.LogisticRegression()), ("b", m.RidgeClassifier())]
    second = StackingClassifier(pair, final_estimator=m.LogisticRegression(), cv=3).fit(X, y > 0.0).predict_proba(X)
    return np.column_stack([first, second])


def selection(m):
    X, y, _ = numbers()
    chosen = SelectFromModel(m.LogisticRegression(l1_ratio=1.0, C=0.1, solver="liblinear", fit_intercept=False)).fit(
        X, y > 0.0
    )
    lasso = SelectFromModel(m.Lasso(0.2)).fit(X, y)
    ranked = RFE(m.LinearRegression(), n_features_to_select=2).fit(X, y)
    return np.concatenate([chosen.get_support(), lasso.get_support(), ranked.ranking_]).astype(float)


def curves(m):
    X, y, _ = numbers()
    line = make_pipeline(StandardScaler(), m.LogisticRegression(C=0.5))
    sizes, seen, held = learning_curve(
        line, X, y > 0.0, train_sizes=[0.3, 0.6, 1.0], cv=4, shuffle=True, random_state=1
    )
    return np.concatenate([sizes, seen.ravel(), held.ravel()])


def routed(m):
    X, y, _ = numbers()
    weight = np.where(y > 0.0, 3.0, 1.0)
    with config_context(enable_metadata_routing=True):
        model = m.Ridge().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        line = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), model)
        search = GridSearchCV(line, {"ridge__alpha": [0.1, 10.0, 100.0]}, cv=KFold(3)).fit(X, y, sample_weight=weight)
        return search.predict(X)


def seasons(m):
    X, y, _ = numbers()
    lagged = np.column_stack([X[1:], y[:-1]])
    errors = -cross_val_score(
        m.Ridge(alpha=2.0), lagged, y[1:], cv=TimeSeriesSplit(5), scoring="neg_mean_absolute_error"
    )
    return np.concatenate([errors, m.RidgeCV(np.logspace(-3, 3, 7), cv=TimeSeriesSplit(4)).fit(lagged, y[1:]).coef_])


def targets(m):
    X, y, _ = numbers()
    Y = np.column_stack([y, y**2 / 5.0, X[:, 1] - y])
    whole = m.Ridge(alpha=[0.1, 1.0, 10.0]).fit(X, Y).predict(X)
    apart = MultiOutputRegressor(m.HuberRegressor(max_iter=2000, tol=1e-9)).fit(X, Y).predict(X)
    logs = (
        TransformedTargetRegressor(m.LinearRegression(), func=np.log, inverse_func=np.exp).fit(X, np.exp(y)).predict(X)
    )
    return np.column_stack([whole, apart, np.log(logs)])


def one_hot(m):
    X, y, _ = frame()
    sparse = OneHotEncoder().fit_transform(X[["port", "class"]])
    model = m.LogisticRegressionCV(
        Cs=5, cv=4, l1_ratios=(0.0,), scoring="neg_log_loss", use_legacy_attributes=False, fit_intercept=False, tol=1e-8,
        max_iter=1000,
    )  # fmt: skip
    return model.fit(sparse, y).predict_proba(sparse)


def labels(m):
    X, y, _ = numbers()
    Y = np.column_stack([y > 0.0, X[:, 1] > 0.0, y + X[:, 2] > 1.0]).astype(int)
    rest = OneVsRestClassifier(m.LogisticRegression()).fit(X, Y).predict_proba(X)
    chain = ClassifierChain(m.LogisticRegression(), order=[2, 0, 1]).fit(X, Y).predict_proba(X)
    return np.hstack([rest, chain])


def ensembles(m):
    X, y, _ = numbers()
    kinds = np.digitize(y, [-1.0, 1.0])
    vote = VotingClassifier([("a", m.LogisticRegression()), ("b", m.LogisticRegression(C=0.01))], voting="soft")
    bag = BaggingRegressor(m.Ridge(), n_estimators=5, random_state=0).fit(X, y)
    return np.column_stack([vote.fit(X, kinds).predict_proba(X), bag.predict(X)])


def explained(m):
    X, y, _ = numbers()
    line = make_pipeline(PolynomialFeatures(2, include_bias=False), StandardScaler(), m.RidgeCV())
    found = permutation_importance(line.fit(X, y), X, y, n_repeats=3, random_state=0).importances_mean
    return np.concatenate([found, cross_val_predict(line, X, y, cv=4)])


def counted(m):
    X, _, _ = numbers()
    counts = np.random.default_rng(1).poisson(np.exp(0.3 * X[:, 0]))
    line = make_pipeline(StandardScaler(), m.PoissonRegressor(alpha=0.01, max_iter=1000, tol=1e-9))
    middle = m.QuantileRegressor(quantile=0.8, alpha=0.01, solver="highs").fit(X, counts)
    return np.concatenate([line.fit(X, counts).predict(X), middle.predict(X)])


SCRIPTS = (
    competition, texts, nested, calibration, stacking, selection, curves, routed, seasons, targets, one_hot, labels, ensembles,
    explained, counted,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_scripts_say_the_same(script):
    ours = script(lineal)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = script(THEIRS)
    assert np.isfinite(theirs).all()
    np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-3)


def served(model, X):
    return model.predict(X)


@pytest.mark.parametrize("keep", [pickle, joblib, cloudpickle], ids=lambda keep: keep.__name__)
def test_fitted_models_are_kept_and_served(keep, tmp_path):
    X, y, _ = numbers()
    line = make_pipeline(StandardScaler(), lineal.LogisticRegression()).fit(X, y > 0.0)
    if keep is joblib:
        keep.dump(line, tmp_path / "model")
        again = keep.load(tmp_path / "model")
    else:
        again = keep.loads(keep.dumps(line))
    np.testing.assert_array_equal(again.predict_proba(X), line.predict_proba(X))
    assert again[-1].verdict_.kind == "optimal"
    assert clone(again[-1]).get_params() == line[-1].get_params()


def test_threads_and_forks_serve_one_model():
    X, y, _ = numbers()
    model = lineal.Ridge().fit(X, y)
    with ThreadPoolExecutor(4) as pool:
        for part in pool.map(functools.partial(served, model), [X] * 8):
            np.testing.assert_array_equal(part, model.predict(X))
    with multiprocessing.get_context("fork").Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply(served, (model, X)), model.predict(X))
        again = pool.apply(lineal.LogisticRegression().fit, (X, y > 0.0))
    np.testing.assert_array_equal(again.coef_, lineal.LogisticRegression().fit(X, y > 0.0).coef_)
