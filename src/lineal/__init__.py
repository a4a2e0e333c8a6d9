"""lineal: linear models whose every fit ends with a verdict that a stranger can check."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "fit": "lineal.api.training",
    "evaluate": "lineal.api.training",
    "beside": "lineal.api.dataset",
    "rename": "lineal.api.dataset",
    "compare": "lineal.api.comparing",
    "cross_validate": "lineal.api.validating",
    "stack": "lineal.api.stacking",
    "out_of_fold": "lineal.api.stacking",
    "Stack": "lineal.api.stacking",
    "inspect": "lineal.features.inspecting",
    "load": "lineal.api.model_file",
    "separability": "lineal.separation",
    "maximum_margin": "lineal.perceptron.margins",
    "zero_one": "lineal.perceptron.mistakes",
    "summarise": "lineal.inference.summaries",
    "diagnostics": "lineal.inference.diagnostics",
    "sweep": "lineal.api.sweeping",
    "likelihood_ratio": "lineal.inference.ratios",
    "nested_tests": "lineal.inference.nested",
    "term_tests": "lineal.inference.term_tests",
    "marginal_effects": "lineal.inference.effects",
    "predicted_means": "lineal.inference.effects",
    "hypothesis_test": "lineal.inference.linear_hypothesis",
    "Model": "lineal.model.model",
    "Verdict": "lineal.model.verdict",
    "InputError": "lineal.errors",
    "LinealError": "lineal.errors",
    "ModelFileError": "lineal.errors",
    "VerificationError": "lineal.errors",
    "LinearRegression": "lineal.estimators",
    "Ridge": "lineal.estimators",
    "LogisticRegression": "lineal.estimators",
    "KernelLogisticRegression": "lineal.estimators",
    "GaussianProcessRegressor": "lineal.estimators",
    "KernelPerceptron": "lineal.estimators",
    "KernelRidge": "lineal.estimators",
    "Lasso": "lineal.estimators",
    "ElasticNet": "lineal.estimators",
    "Perceptron": "lineal.estimators",
    "PoissonRegressor": "lineal.estimators",
    "BayesianRidge": "lineal.estimators",
    "QuantileRegressor": "lineal.estimators",
    "SparsemaxClassifier": "lineal.estimators",
    "LinearSVC": "lineal.estimators",
    "LinearSVR": "lineal.estimators",
    "SVC": "lineal.estimators",
    "SVR": "lineal.estimators",
    "SGDClassifier": "lineal.estimators",
    "SGDRegressor": "lineal.estimators",
    "HuberRegressor": "lineal.estimators",
    "RidgeCV": "lineal.estimators",
    "RidgeClassifier": "lineal.estimators",
    "RidgeClassifierCV": "lineal.estimators",
    "LassoCV": "lineal.estimators",
    "ElasticNetCV": "lineal.estimators",
    "LogisticRegressionCV": "lineal.estimators",
    "BernoulliNB": "lineal.estimators",
    "CategoricalNB": "lineal.estimators",
    "ComplementNB": "lineal.estimators",
    "GaussianNB": "lineal.estimators",
    "LinearDiscriminantAnalysis": "lineal.estimators",
    "MultinomialNB": "lineal.estimators",
    "QuadraticDiscriminantAnalysis": "lineal.estimators",
    "KNeighborsClassifier": "lineal.estimators",
    "KNeighborsRegressor": "lineal.estimators",
    "NearestNeighbors": "lineal.estimators",
    "Nystroem": "lineal.estimators",
    "RBFSampler": "lineal.estimators",
    "TextFeatures": "lineal.estimators.text",
    "path": "lineal.paths.path_from_arrays",
    "plot": "lineal.plots.drawing",
}
"""Where each public name lives; resolved on first use, so that `import lineal` loads nothing."""
_ROOMS = ("inference", "plots")
"""Rooms that are public namespaces: ``lineal.plots.fit``."""

__all__ = ["__version__", *sorted(_HOMES)]  # noqa: PLE0604  (names resolved lazily below)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        public = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
        return public
    if name in _ROOMS:
        return importlib.import_module(f"lineal.{name}")
    raise AttributeError(f"module 'lineal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})
