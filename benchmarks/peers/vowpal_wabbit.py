"""Vowpal Wabbit: raw text to a linear classifier, words hashed while they are read."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting
from benchmarks.problems import Problem

BITS = 22


class VowpalWabbit(Peer):
    """Logistic loss by its own learner in several passes, or by its L-BFGS; a file in its format is part of the time.

    L-BFGS adds ``l2/2 |w|^2`` to the sum of the losses, the learner to every single one.
    """

    name = "vowpal wabbit"
    distribution = "vowpalwabbit"
    tasks: ClassVar[tuple[str, ...]] = ("text",)

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return the learner with more and more passes, and L-BFGS to smaller and smaller gains."""
        return [
            [{"method": "sgd", "passes": passes} for passes in (1, 2, 4, 8, 16, 32)],
            [{"method": "bfgs", "termination": gain} for gain in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)],
        ]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Return the learner and the texts."""
        from vowpalwabbit import Workspace

        assert data.texts is not None
        labels = np.where(data.y > 0, "1 |t ", "-1 |t ").tolist()
        words = "\n".join(data.texts).lower().replace(".", "").split("\n")
        options = f"--loss_function logistic -b {BITS} --quiet --holdout_off -k"
        if setting["method"] == "bfgs":
            total = data.y.size * data.strength
            options += (
                f" --bfgs --passes 500 --termination {setting['termination']} --l2 {total} --no_bias_regularization"
            )
        else:
            options += f" --passes {setting['passes']} --l2 {data.strength}"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows"
            path.write_text("".join(f"{a}{b}\n" for a, b in zip(labels, words, strict=True)))
            learner = Workspace(f"-d {path} --cache_file {path}.cache {options}")
        return learner, words

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return the weight of every word in the order of the alphabet."""
        learner, texts = fitted
        space = learner.hash_space("t")
        vocabulary = sorted({word for text in texts for word in text.split()})
        weights = [learner.get_weight(learner.hash_feature(word, space)) for word in vocabulary]
        return np.array(weights)[:, None], np.array([learner.get_weight(learner.hash_feature("Constant", 0))])
