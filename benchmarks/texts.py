"""How well texts are classified by default, beside scikit-learn's vectorizers and classifiers put together by hand.

    python -m benchmarks.texts ../shared/data [--seeds 3] [news sources sms trec reuters]

Five folds, stratified and shuffled by each seed; ``sources`` leaves out whole sources of the news. By hand are
``TfidfVectorizer`` and ``CountVectorizer`` (words of any length) before ``RidgeClassifier`` and a logistic regression
whose C is cross-validated in the training rows. Printed: the mean share of right answers and its standard error over all
folds, of lineal, of each pair, and of lineal less the best pair, fold by fold.
"""

from __future__ import annotations

import argparse
import gzip
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline

import lineal

WORD = r"(?u)\b\w+\b"
SETS = {
    "news": (("fakenews_es_train.csv.gz", "fakenews_es_development.csv.gz"), "Category", "Text"),
    "sources": (("fakenews_es_train.csv.gz", "fakenews_es_development.csv.gz"), "Category", "Text"),
    "sms": (("sms_spam.tsv",), "label", "text"),
    "trec": (("trec_qc_trees_train.tsv.gz",), "label", "question"),
    "reuters": (("reuters40.tsv",), "label", "text"),
}


def table(folder: Path, files: tuple[str, ...], text: str) -> pa.Table:
    """Return the rows of some files; of a table of texts alone, the label and the text."""
    parts = []
    for name in files:
        tab = ".tsv" in name
        quotes = pa.csv.ParseOptions(
            delimiter="\t" if tab else ",", quote_char=False if tab else '"', newlines_in_values=not tab
        )
        data = gzip.decompress((folder / name).read_bytes()) if name.endswith(".gz") else (folder / name).read_bytes()
        kinds = pa.csv.ConvertOptions(strings_can_be_null=False)
        parts.append(pa.csv.read_csv(pa.BufferReader(data), parse_options=quotes, convert_options=kinds))
    whole = pa.concat_tables(parts)
    return whole.drop_columns(["grct"]) if text == "question" else whole


def by_hand() -> Iterator[tuple[str, Any]]:
    """Yield the pairs of a vectorizer and a classifier."""
    for vectorizer in (TfidfVectorizer(token_pattern=WORD), CountVectorizer(token_pattern=WORD)):
        name = type(vectorizer).__name__.removesuffix("Vectorizer").lower()
        yield f"{name}, ridge", make_pipeline(vectorizer, RidgeClassifier())
        search = GridSearchCV(LogisticRegression(max_iter=200), {"C": [0.1, 1.0, 10.0, 100.0, 1000.0]}, cv=3)
        yield f"{name}, logistic", make_pipeline(vectorizer, search)


def folds(name: str, rows: pa.Table, labels: np.ndarray, seeds: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield training and test rows."""
    if name == "sources":
        sources = np.array([source.strip().lower() for source in rows["Source"].to_pylist()])
        for seed in range(seeds):
            yield from GroupKFold(5, shuffle=True, random_state=seed).split(labels, labels, sources)
        return
    for seed in range(seeds):
        yield from StratifiedKFold(5, shuffle=True, random_state=seed).split(labels, labels)


def measure(folder: Path, name: str, seeds: int) -> None:
    """Print the figures of one data set."""
    files, target, column = SETS[name]
    rows = table(folder, files, column)
    labels = np.array(rows[target].to_pylist()).astype(str)
    texts = np.array(rows[column].to_pylist(), dtype=object)
    right: dict[str, list[float]] = {}
    for train, test in folds(name, rows, labels, seeds):
        model = lineal.fit(rows.take(train), target)
        right.setdefault("lineal", []).append(
            float(np.mean(model.predict(rows.take(test)).astype(str) == labels[test]))
        )
        for pair, pipeline in by_hand():
            fitted = pipeline.fit(texts[train], labels[train])
            right.setdefault(pair, []).append(float(np.mean(fitted.predict(texts[test]) == labels[test])))
    size = len(right["lineal"])
    for pair, shares in right.items():
        print(f"{name:8s} {pair:16s} {np.mean(shares):.4f} +- {np.std(shares, ddof=1) / size**0.5:.4f}", flush=True)
    best = max((pair for pair in right if pair != "lineal"), key=lambda pair: float(np.mean(right[pair])))
    less = np.array(right["lineal"]) - np.array(right[best])
    print(f"{name:8s} lineal - {best}: {np.mean(less):+.4f} +- {np.std(less, ddof=1) / size**0.5:.4f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=list(SETS))
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", module="sklearn")
    for one in asked.names:
        measure(asked.folder, one, asked.seeds)
