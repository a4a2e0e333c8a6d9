"""A pair of texts in plain Python: n-grams, chances, quarters, translations and shares of docs/text.md once more."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms import statistics, text

FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "source": (str,), "target": (str,), "source_terms": (list,), "source_times": (list,), "source_words": (int,),
    "target_terms": (list,), "target_times": (list,), "target_words": (int,), "translations": (list,),
}  # fmt: skip
OPTIONAL: Final = {"given": (list,)}
"""What may be there: which parts were learned from files, and are taken as they are."""
TYPE: Final = "t"
OWN_LISTS: Final = ("source_times", "target_times", "translations")
SIDES: Final = ("source", "target")
NGRAM_MAX_WORDS: Final = {"source": 3, "target": 2}
STATISTIC_PLACES: Final = {
    "characters per word": 2, "different words per word": 3, "punctuation share": 4, "bracket share": 5, "number share": 6,
}  # fmt: skip


class Side:
    """What is known of one text of the pair."""

    def __init__(self, term: Mapping[str, Any], name: str) -> None:
        self.times: dict[str, int] = dict(zip(term[f"{name}_terms"], term[f"{name}_times"], strict=True))
        singles = [word for word in self.times if " " not in word]
        self.whole = term[f"{name}_words"] + len(singles) + 1
        self.empty = set(sorted(singles, key=lambda word: (-self.times[word], word))[:100])
        self.quarter: dict[str, int] = {}
        for n in (1, 2, 3):
            mine = [gram for gram in self.times if gram.count(" ") == n - 1]
            ordered = sorted(self.times[gram] for gram in mine)
            limits = [ordered[-(-k * len(ordered) // 4) - 1] for k in (1, 2, 3)] if ordered else []
            self.quarter |= {gram: 1 + sum(limit < self.times[gram] for limit in limits) for gram in mine}

    def chance(self, words: Sequence[str]) -> float:
        """Return the log-probability of a text: a bigram's share, else 0.4 times the word's."""
        logs = []
        for before, word in zip([None, *words], words, strict=False):
            both = self.times.get(f"{before} {word}")
            if both is not None and before is not None:
                logs.append(math.log(both / self.times[before]))
            else:
                logs.append(math.log(0.4 * (self.times.get(word, 0) + 1) / self.whole))
        return math.fsum(logs)


def _reading(name: str) -> dict[str, Any]:
    return {**statistics.WORDS, "high": NGRAM_MAX_WORDS[name]}


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of the term."""
    quarters = Side(term, "source").quarter
    used = {(gram.count(" ") + 1, quarter) for gram, quarter in quarters.items()}
    columns = ["source words", "target words", "target words per source word", "source log-probability"]
    columns += ["target log-probability", "log-probability difference per word"]
    columns += [f"source {n}-grams in quartile {q}" for n in (1, 2, 3) for q in (1, 2, 3, 4) if (n, q) in used]
    columns += ["translations per source word"]
    columns += [f"{side} {name}" for name in [*STATISTIC_PLACES, "content share"] for side in SIDES]
    return [f"{term['source']}, {term['target']}: {name}" for name in columns]


def values(term: Mapping[str, Any], columns: Mapping[str, cells.Column]) -> list[Array]:
    """Return the values of the design columns, row by row."""
    sides = [Side(term, name) for name in SIDES]
    used = sorted({(gram.count(" ") + 1, quarter) for gram, quarter in sides[0].quarter.items()})
    singles = [word for word in term["source_terms"] if " " not in word]
    many = dict(zip(singles, term["translations"], strict=True))
    rows = []
    for source, target in zip(*(cells.listed(columns[term[name]]) for name in SIDES), strict=True):
        both = (source, target)
        words = [list(text.terms_of(statistics.WORDS, cell)) for cell in both]
        w = [len(own) for own in words]
        chance = [side.chance(own) for side, own in zip(sides, words, strict=True)]
        row = [float(w[0]), float(w[1]), _per(w[1], w[0]), *chance, _per(chance[1], w[1]) - _per(chance[0], w[0])]
        grams = list(text.terms_of(_reading("source"), source))
        seen = Counter((gram.count(" ") + 1, sides[0].quarter[gram]) for gram in grams if gram in sides[0].quarter)
        row += [_per(seen[n, q], max(w[0] - n + 1, 0)) for n, q in used]
        row.append(_per(sum(many.get(word, 0) for word in words[0]), w[0]))
        plain = [[float(column[0]) for column in statistics.values({"spelling": None}, [cell])] for cell in both]
        row += [plain[side][place] for place in STATISTIC_PLACES.values() for side in (0, 1)]
        row += [_per(sum(word not in sides[k].empty for word in words[k]), w[k]) for k in (0, 1)]
        rows.append(row)
    return list(np.array(rows, dtype=np.float64).reshape(len(rows), len(names(term))).T)


def _per(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


class Learner:
    """What the training cells teach: n-grams of both texts, and the translations of words."""

    def __init__(self, term: Mapping[str, Any]) -> None:
        self._term = term
        self._documents = {name: Counter[str]() for name in SIDES}
        self._times = {name: Counter[str]() for name in SIDES}
        self._pairs, self._room = list[tuple[list[str], list[str]]](), 4_000_000  # pairs of words
        self._known = [{word for word in term[f"{name}_terms"] if " " not in word} for name in SIDES]

    def see(self, columns: Mapping[str, cells.Column]) -> None:
        """Take some more cells of both columns."""
        for name in SIDES:
            for cell in cells.listed(columns[self._term[name]]):
                grams = Counter(text.terms_of(_reading(name), cell))
                self._documents[name].update(grams.keys())
                self._times[name].update(grams)
        both = (cells.listed(columns[self._term[name]]) for name in SIDES)
        for pair in zip(*both, strict=True):
            if self._room < 0:
                break
            a, b = (
                sorted(set(text.terms_of(statistics.WORDS, cell)) & words)
                for cell, words in zip(pair, self._known, strict=True)
            )
            self._room -= len(a) * len(b)
            if self._room >= 0:
                self._pairs.append((a, b))

    def wrong(self) -> str | None:
        """Return what is wrong with the term, None if nothing is; what was learned from files is taken as it is."""
        term, given = self._term, self._term.get("given", [])
        if [part for part in (*SIDES, "lexicon") if part in given] != given:
            return "it names other things learned from files than source, target and lexicon"
        for name in SIDES:
            documents, times = self._documents[name], self._times[name]
            if name in given:
                continue
            kept = sorted(
                (gram for gram in documents if documents[gram] >= 2 and len(gram.encode()) <= text.TERM_MAX_BYTES),
                key=lambda gram: (-times[gram], gram),
            )
            kept = sorted(kept[:50_000])
            if kept != term[f"{name}_terms"] or [times[gram] for gram in kept] != term[f"{name}_times"]:
                return f"the n-grams of the {name} are not those of the training rows"
            if sum(count for gram, count in times.items() if " " not in gram) != term[f"{name}_words"]:
                return f"the number of words of the {name} is not that of the training rows"
        singles = [word for word in term["source_terms"] if " " not in word]
        if len(term["translations"]) != len(singles):
            return "not every word of the source has its number of translations"
        if "lexicon" in given:
            return None
        low, high = _translations(self._pairs)
        for word, number in zip(singles, term["translations"], strict=True):
            if not low[word] <= number <= high[word]:
                return f"{word!r} has {low[word]} translations, stated {number}"
        return None


def _translations(pairs: Sequence[tuple[list[str], list[str]]]) -> tuple[Counter[str], Counter[str]]:
    """Return how many translations every word has, at least and at most: chances are known to rounding only."""
    chance: dict[str, dict[str, float]] = defaultdict(dict)
    for a, b in pairs:
        for s in a:
            chance[s].update(dict.fromkeys(b, 1.0))
    chance = {s: dict.fromkeys(targets, 1.0 / len(targets)) for s, targets in chance.items() if targets}
    for _ in range(5):
        share: dict[str, dict[str, float]] = {s: dict.fromkeys(targets, 0.0) for s, targets in chance.items()}
        for a, b in pairs:
            for t in b:
                whole = sum(chance[s][t] for s in a)
                for s in a:
                    share[s][t] += chance[s][t] / whole
        for s, targets in share.items():
            total = sum(targets.values())
            chance[s] = {t: part / total for t, part in targets.items()}
    low = Counter({s: sum(p > 0.2 + 1e-9 for p in targets.values()) for s, targets in chance.items()})
    return low, Counter({s: sum(p > 0.2 - 1e-9 for p in targets.values()) for s, targets in chance.items()})
