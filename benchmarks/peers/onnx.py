"""onnxruntime: a fitted model's probabilities as a graph of two nodes, in single precision."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting
from benchmarks.problems import Problem


class Onnx(Peer):
    """Gemm and Sigmoid; the rows are given to it as float32, that copy is not timed."""

    name = "onnxruntime"
    distribution = "onnxruntime"
    tasks: ClassVar[tuple[str, ...]] = ("predict",)

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return the one way."""
        return [[{}]]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Return scikit-learn's fit, whose coefficients the graph holds."""
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression().fit(data.X, data.y)

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return scikit-learn's coefficients."""
        return fitted.coef_.T, fitted.intercept_

    def given(self, rows: Any) -> Any:
        """Return the rows as float32."""
        return rows.astype(np.float32)

    def predictor(self, problem: Problem, fitted: Any) -> Any:
        """Return a session's run."""
        import onnxruntime
        from onnx import TensorProto, helper, numpy_helper

        kind = TensorProto.FLOAT
        nodes = [helper.make_node("Gemm", ["X", "w", "b"], ["z"]), helper.make_node("Sigmoid", ["z"], ["p"])]
        graph = helper.make_graph(
            nodes,
            "logistic",
            [helper.make_tensor_value_info("X", kind, [None, fitted.coef_.size])],
            [helper.make_tensor_value_info("p", kind, [None, 1])],
            [
                numpy_helper.from_array(fitted.coef_.T.astype(np.float32), "w"),
                numpy_helper.from_array(fitted.intercept_.astype(np.float32), "b"),
            ],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
        session = onnxruntime.InferenceSession(model.SerializeToString())
        return lambda rows: session.run(None, {"X": rows})[0]
