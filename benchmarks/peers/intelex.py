"""scikit-learn-intelex: scikit-learn's estimators on oneDAL, for the dense rows it accelerates."""

from __future__ import annotations

from typing import ClassVar

from benchmarks.peer import Line, Peer, tolerances
from benchmarks.peers.scikit_learn import OTHER_ROWS, ScikitLearn
from benchmarks.problems import Problem


class Intelex(ScikitLearn):
    """The same dialect as scikit-learn; only what oneDAL runs itself is timed under this name."""

    name = "scikit-learn-intelex"
    distribution = "scikit-learn-intelex"
    package = "sklearnex.linear_model"
    tasks: ClassVar[tuple[str, ...]] = (*Peer.tasks, "neighbors", "svc")

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return L-BFGS only; newton-cg and sparse rows fall back to scikit-learn without a word."""
        if problem.row in OTHER_ROWS:
            return "has nothing of its own for this; it would be scikit-learn again"
        if problem.task == "neighbors":
            return super().lines(problem)
        if problem.task == "svc":
            return [tolerances("tol")]
        if problem.sparse or problem.task == "csv":
            return "falls back to scikit-learn on sparse rows"
        if problem.task == "predict" or problem.loss == "squared":
            return [[{}]]
        return [tolerances("tol", solver="lbfgs")]
