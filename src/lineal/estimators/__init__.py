"""The scikit-learn door: its estimators by name and parameter, with a verdict on every fit."""

from __future__ import annotations

try:
    import sklearn  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "the estimators need scikit-learn, which the extra sklearn brings; run: pip install 'lineal[sklearn]'",
        name=error.name,
    ) from None

from lineal.estimators.bayes import BayesianRidge
from lineal.estimators.categorical_bayes import CategoricalNB
from lineal.estimators.counts import PoissonRegressor
from lineal.estimators.discrete_bayes import BernoulliNB, ComplementNB, MultinomialNB
from lineal.estimators.gaussian_bayes import GaussianNB
from lineal.estimators.gaussian_process import GaussianProcessRegressor
from lineal.estimators.huber import HuberRegressor
from lineal.estimators.kernel_logistic import KernelLogisticRegression
from lineal.estimators.kernel_maps import Nystroem, RBFSampler
from lineal.estimators.kernel_perceptron import KernelPerceptron
from lineal.estimators.kernel_ridge import KernelRidge
from lineal.estimators.lasso import ElasticNet, Lasso
from lineal.estimators.lasso_cv import ElasticNetCV, LassoCV
from lineal.estimators.linear import LinearRegression, Ridge
from lineal.estimators.linear_discriminant import LinearDiscriminantAnalysis
from lineal.estimators.logistic import LogisticRegression
from lineal.estimators.logistic_cv import LogisticRegressionCV
from lineal.estimators.multi_task import MultiTaskLasso, MultiTaskLassoCV
from lineal.estimators.nearest import NearestNeighbors
from lineal.estimators.neighbor_votes import KNeighborsClassifier, KNeighborsRegressor
from lineal.estimators.perceptron import Perceptron
from lineal.estimators.quadratic_discriminant import QuadraticDiscriminantAnalysis
from lineal.estimators.quantile import QuantileRegressor
from lineal.estimators.ridge_classifier import RidgeClassifier, RidgeClassifierCV
from lineal.estimators.ridge_cv import RidgeCV
from lineal.estimators.sparsemax import SparsemaxClassifier
from lineal.estimators.stochastic import SGDClassifier, SGDRegressor
from lineal.estimators.svm import LinearSVC, LinearSVR
from lineal.estimators.svm_kernel import SVC, SVR
from lineal.estimators.table import TableClassifier, TableRegressor

__all__ = [
    "SVC",
    "SVR",
    "BayesianRidge",
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "ElasticNet",
    "ElasticNetCV",
    "GaussianNB",
    "GaussianProcessRegressor",
    "HuberRegressor",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KernelLogisticRegression",
    "KernelPerceptron",
    "KernelRidge",
    "Lasso",
    "LassoCV",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MultiTaskLasso",
    "MultiTaskLassoCV",
    "MultinomialNB",
    "NearestNeighbors",
    "Nystroem",
    "Perceptron",
    "PoissonRegressor",
    "QuadraticDiscriminantAnalysis",
    "QuantileRegressor",
    "RBFSampler",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
    "SGDRegressor",
    "SparsemaxClassifier",
    "TableClassifier",
    "TableRegressor",
]
