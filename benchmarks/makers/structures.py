"""Sequences and trees in brackets, a text each."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.makers.numbers import SEED

GRAMMAR: dict[str, list[list[str]]] = {
    "S": [["NP", "VP"], ["S", "CC", "S"], ["WP", "VP"]],
    "NP": [["DT", "NN"], ["NNP"], ["DT", "JJ", "NN"], ["NP", "PP"], ["PRP"]],
    "VP": [["VB", "NP"], ["VB"], ["VP", "PP"], ["VB", "NP", "NP"]],
    "PP": [["IN", "NP"]],
}
"""What a node may become; other labels have a word below them."""


def genes(rows: int, length: int, letters: str = "acgt") -> dict[str, Any]:
    """Return sequences of some letters, of nearly one length; half of them hold a motif, some letters of it changed."""
    rng = np.random.default_rng([SEED, 90])
    motif = rng.integers(0, len(letters), 12)
    y, texts = (np.arange(rows) % 2).astype(np.float64), []
    for own in y:
        codes = rng.integers(0, len(letters), max(14, int(length * rng.uniform(0.8, 1.2))))
        if own:
            at = rng.integers(0, len(codes) - 12)
            codes[at : at + 12] = np.where(rng.random(12) < 0.8, motif, codes[at : at + 12])
        texts.append("".join(letters[code] for code in codes))
    return {"X": np.array([[float(len(text))] for text in texts]), "y": y, "texts": texts}


def parses(rows: int, words: int, tail: float = 1.0) -> dict[str, Any]:
    """Return syntax trees of a small grammar, words by a power law."""
    rng = np.random.default_rng([SEED, 91])
    frequency = (np.arange(words) + 10.0) ** -tail
    edges = np.cumsum(frequency / frequency.sum())

    def tree(label: str, depth: int) -> str:
        if label not in GRAMMAR:
            return f"({label} {label.lower()}{int(np.searchsorted(edges, rng.random()))})"
        ways = GRAMMAR[label] if depth > 0 else GRAMMAR[label][:1]
        share = 1.0 / (np.arange(len(ways)) + 1.0)
        way = ways[rng.choice(len(ways), p=share / share.sum())]
        return f"({label} {' '.join(tree(child, depth - 1) for child in way)})"

    return _trees([tree("S", 5) for _ in range(rows)])


def shapes(rows: int, labels: int = 3) -> dict[str, Any]:
    """Return trees of few labels without words, one to three children a node."""
    rng = np.random.default_rng([SEED, 92])

    def tree(depth: int) -> str:
        label = "ABCDEFGH"[rng.integers(labels)]
        count = 0 if depth == 0 else int(rng.integers(0, 4))
        return f"({label}{''.join(tree(depth - 1) for _ in range(count))})"

    return _trees([f"(T{tree(4)}{tree(4)})" for _ in range(rows)])


def _trees(texts: list[str]) -> dict[str, Any]:
    sizes = np.array([[float(text.count("("))] for text in texts])
    return {"X": sizes, "y": (sizes[:, 0] > np.median(sizes)).astype(np.float64), "texts": texts}
