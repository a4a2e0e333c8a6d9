"""glum: generalised linear models by IRLS; its objective is lineal's, word for word."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting, tolerances
from benchmarks.problems import Problem


class Glum(Peer):
    """GeneralizedLinearRegressor(alpha = strength): half the mean deviance plus (alpha/2) |b|^2."""

    name = "glum"
    distribution = "glum"

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return one line of gradient tolerances; several classes are not offered."""
        if problem.loss == "softmax":
            return "has no softmax"
        if problem.loss not in ("squared", "logistic"):
            return "has no loss with corners or thresholds"
        if problem.penalty == "l1":
            return "its Hessian is dense in the columns: 20,000 columns need 3 GB"
        if problem.sparse:
            return "its Hessian is dense in the columns: 50,000 columns need 20 GB"
        if problem.task == "predict":
            return [[{}]]
        return [tolerances("gradient_tol")]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit; a table is read by pyarrow with categories as codes, which glum keeps as codes."""
        from glum import GeneralizedLinearRegressor

        family = "normal" if problem.loss == "squared" else "binomial"
        table = problem.task == "csv"
        model = GeneralizedLinearRegressor(
            family=family, alpha=data.strength, max_iter=1000, scale_predictors=table, drop_first=table, **setting
        )
        if table:
            X, y = _read(data)
            return model.fit(X, y)
        return model.fit(data.X, data.y)

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return glum's coefficients in our shape."""
        if problem.task == "csv":
            names = [str(name).replace("[", "=").replace("]", "") for name in fitted.feature_names_]
            return dict(zip(names, fitted.coef_, strict=True)), fitted.intercept_
        return np.asarray(fitted.coef_)[:, None], np.atleast_1d(fitted.intercept_)

    def predictor(self, problem: Problem, fitted: Any) -> Any:
        """Return glum's mean: the probability of class 1."""
        return fitted.predict


def _read(data: Data) -> tuple[Any, Any]:
    """Read the file by pyarrow; categories sorted, so that the first level is the reference."""
    import pyarrow as pa
    import pyarrow.csv as reader

    categories = {f"c{j}": pa.dictionary(pa.int32(), pa.string()) for j in range(7)}
    frame = reader.read_csv(data.path, convert_options=reader.ConvertOptions(column_types=categories)).to_pandas()
    y = (frame.pop("label") == "yes").to_numpy(dtype=np.float64)
    for name in categories:
        frame[name] = frame[name].cat.reorder_categories(sorted(frame[name].cat.categories))
    return frame, y
