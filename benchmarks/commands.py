"""Commands that are timed from the start of a process to its end, as a person at a prompt waits for them."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.data import Data

SCIKIT_LEARN = """
import sys, pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
frame = pd.read_csv(sys.argv[1])
label = frame.pop("label")
numbers = make_pipeline(SimpleImputer(), StandardScaler())
columns = make_column_transformer((numbers, make_column_selector(dtype_include="number")),
                                  (OneHotEncoder(), make_column_selector(dtype_exclude="number")))
print(make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(frame, label).score(frame, label))
"""
FIRST_FIT = """
import sys, numpy as np
from {package} import LogisticRegression
LogisticRegression(max_iter=1000).fit(np.load(sys.argv[1] + "/X.npy"), np.load(sys.argv[1] + "/y.npy")){verdict}
"""


def run(*words: object) -> int:
    """Run Python with these arguments; return how it ended."""
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, check=False).returncode


def fit(data: Data) -> int:
    """Run ``lineal fit`` on a file; the model is written beside it."""
    assert data.path is not None
    return run("-m", "lineal", "fit", data.path, "--target", "label", "-o", data.path.with_suffix(".lineal"))


def verify(data: Data) -> int:
    """Run ``lineal verify`` of the model that ``fit`` wrote."""
    assert data.path is not None
    return run("-m", "lineal", "verify", data.path.with_suffix(".lineal"), data.path)


def first_fit(package: str, data: Data) -> int:
    """Run a program that imports LogisticRegression and fits it; ours reads its verdict."""
    assert data.path is not None
    verdict = ".verdict_" if package == "lineal" else ""
    return run("-c", FIRST_FIT.format(package=package, verdict=verdict), data.path)
