"""lineal: linear models whose every fit ends with a verdict that a stranger can check."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see of the names below
    from lineal.api.comparing import compare as compare
    from lineal.api.dataset import beside as beside
    from lineal.api.dataset import rename as rename
    from lineal.api.model_file import load as load
    from lineal.api.stacking import Stack as Stack
    from lineal.api.stacking import out_of_fold as out_of_fold
    from lineal.api.stacking import stack as stack
    from lineal.api.sweeping import sweep as sweep
    from lineal.api.training import evaluate as evaluate
    from lineal.api.training import fit as fit
    from lineal.api.validating import cross_validate as cross_validate
    from lineal.errors import InputError as InputError
    from lineal.errors import LinealError as LinealError
    from lineal.errors import ModelFileError as ModelFileError
    from lineal.errors import VerificationError as VerificationError
    from lineal.estimators import SVC as SVC
    from lineal.estimators import SVR as SVR
    from lineal.estimators import BayesianRidge as BayesianRidge
    from lineal.estimators import BernoulliNB as BernoulliNB
    from lineal.estimators import CategoricalNB as CategoricalNB
    from lineal.estimators import ComplementNB as ComplementNB
    from lineal.estimators import ElasticNet as ElasticNet
    from lineal.estimators import ElasticNetCV as ElasticNetCV
    from lineal.estimators import GaussianNB as GaussianNB
    from lineal.estimators import GaussianProcessRegressor as GaussianProcessRegressor
    from lineal.estimators import HuberRegressor as HuberRegressor
    from lineal.estimators import KernelLogisticRegression as KernelLogisticRegression
    from lineal.estimators import KernelPerceptron as KernelPerceptron
    from lineal.estimators import KernelRidge as KernelRidge
    from lineal.estimators import KNeighborsClassifier as KNeighborsClassifier
    from lineal.estimators import KNeighborsRegressor as KNeighborsRegressor
    from lineal.estimators import Lasso as Lasso
    from lineal.estimators import LassoCV as LassoCV
    from lineal.estimators import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
    from lineal.estimators import LinearRegression as LinearRegression
    from lineal.estimators import LinearSVC as LinearSVC
    from lineal.estimators import LinearSVR as LinearSVR
    from lineal.estimators import LogisticRegression as LogisticRegression
    from lineal.estimators import LogisticRegressionCV as LogisticRegressionCV
    from lineal.estimators import MultinomialNB as MultinomialNB
    from lineal.estimators import MultiTaskLasso as MultiTaskLasso
    from lineal.estimators import MultiTaskLassoCV as MultiTaskLassoCV
    from lineal.estimators import NearestNeighbors as NearestNeighbors
    from lineal.estimators import Nystroem as Nystroem
    from lineal.estimators import Perceptron as Perceptron
    from lineal.estimators import PoissonRegressor as PoissonRegressor
    from lineal.estimators import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
    from lineal.estimators import QuantileRegressor as QuantileRegressor
    from lineal.estimators import RBFSampler as RBFSampler
    from lineal.estimators import Ridge as Ridge
    from lineal.estimators import RidgeClassifier as RidgeClassifier
    from lineal.estimators import RidgeClassifierCV as RidgeClassifierCV
    from lineal.estimators import RidgeCV as RidgeCV
    from lineal.estimators import SGDClassifier as SGDClassifier
    from lineal.estimators import SGDRegressor as SGDRegressor
    from lineal.estimators import SparsemaxClassifier as SparsemaxClassifier
    from lineal.estimators import TableClassifier as TableClassifier
    from lineal.estimators import TableRegressor as TableRegressor
    from lineal.estimators.text import TextFeatures as TextFeatures
    from lineal.features.inspecting import inspect as inspect
    from lineal.inference.contributions import contributions as contributions
    from lineal.inference.diagnostics import diagnostics as diagnostics
    from lineal.inference.effects import marginal_effects as marginal_effects
    from lineal.inference.effects import predicted_means as predicted_means
    from lineal.inference.linear_hypothesis import hypothesis_test as hypothesis_test
    from lineal.inference.nested import nested_tests as nested_tests
    from lineal.inference.ratios import likelihood_ratio as likelihood_ratio
    from lineal.inference.summaries import summarise as summarise
    from lineal.inference.term_tests import term_tests as term_tests
    from lineal.metrics.curves import at_thresholds as at_thresholds
    from lineal.model.model import Model as Model
    from lineal.model.verdict import Verdict as Verdict
    from lineal.paths.path_from_arrays import path as path
    from lineal.perceptron.margins import maximum_margin as maximum_margin
    from lineal.perceptron.mistakes import zero_one as zero_one
    from lineal.plots.drawing import plot as plot
    from lineal.separation import separability as separability

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
    "at_thresholds": "lineal.metrics.curves",
    "contributions": "lineal.inference.contributions",
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
    "TableClassifier": "lineal.estimators",
    "TableRegressor": "lineal.estimators",
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
    "MultiTaskLasso": "lineal.estimators",
    "MultiTaskLassoCV": "lineal.estimators",
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

__all__ = ["__version__", *sorted(_HOMES)]  # noqa: PLE0604  (names resolved lazily below)


_MODULES = ("inference", "kernels", "losses", "penalties", "plots", "solvers")
"""Rooms that are public namespaces: ``lineal.solvers.NewtonCG()``, ``lineal.plots.fit(model, data)``."""

if not TYPE_CHECKING:  # or every misspelt name would be fine for a type checker

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            public = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
            return public
        if name in _MODULES:
            return importlib.import_module(f"lineal.{name}")
        # `from lineal import container` asks here first, and must load nothing else
        if not name.startswith("_") and importlib.util.find_spec(f"lineal.{name}") is None:
            absent = importlib.import_module("lineal.api.absent")
            if name in absent.ABSENT:
                raise absent.AbsentError(name)
        raise AttributeError(f"module 'lineal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
