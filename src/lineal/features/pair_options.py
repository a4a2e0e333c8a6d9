"""What may be said of a pair of texts: `pair=COL`, corpora and a lexicon of one's own, and the words beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from lineal.errors import InputError
from lineal.features.text_options import Options, TextOptions
from lineal.ground.files import text_of
from lineal.ground.records import dataclass

FILES: Final = {"corpus": "source", "target-corpus": "target", "lexicon": "lexicon"}
"""Options that name a file, and what of a pair it teaches."""

WORDS: Final = "words"
"""The option that asks for the words of a column of a pair, read as usual."""


@dataclass(frozen=True)
class PairOptions(Options):
    """A column that is part of a pair: the source, with ``pair`` and ``files``, or the target, with ``partner``.

    ``files`` are (option, path) of what is learned from a file in place of the training rows; ``words`` says how the column
    is read as words beside the pair, None for not at all.

    >>> PairOptions.read("pair=mt,corpus=news.txt,ngrams=2").words.high
    2
    """

    files: tuple[tuple[str, str], ...] = ()
    words: Options | None = None

    @staticmethod
    def read(text: str) -> Options:
        """Return the options that a text spells, those of a pair if it names one."""
        options = [part.strip() for part in text.split(",")]
        named = [word.partition("=")[2] for word in options if word.startswith("pair=")]
        if len(named) != 1 or not named[0]:
            return Options.parse(text)
        files: dict[str, str] = {}
        rest = []
        for word in options:
            key, _, value = word.partition("=")
            if key in FILES and value and key not in files:
                files[key] = value
            elif key != "pair":
                rest.append(word)
        spelled = ",".join(word for word in rest if word != WORDS)
        words = Options.parse(spelled) if rest else None
        return PairOptions(pair=named[0], files=tuple(files.items()), words=words)

    @property
    def spelled(self) -> str:
        """The options as ``read`` reads them."""
        parts = [f"pair={self.pair}", *(f"{key}={path}" for key, path in self.files)]
        parts += [] if self.words is None else [self.words.spelled or WORDS]
        return ",".join(parts)

    def lines(self, option: str) -> list[str] | None:
        """Return the lines of the file of an option, None where there is none."""
        path = dict(self.files).get(option)
        if path is None:
            return None
        lines = [line for line in text_of(Path(path), f"the {option}").splitlines() if line.strip()]
        if not lines:
            raise InputError(f"the {option} {path} has no line; put one text, or one pair of words, on every line.")
        return lines


def without_pairs(text: TextOptions, names: tuple[str, ...]) -> tuple[Any, dict[str, Options]]:
    """Return what is asked of texts less the pairs, and the pairs.

    >>> without_pairs(["a:pair=b,words", "c:tfidf"], ("a", "b", "c"))[0]
    ['c:tfidf']
    """
    if isinstance(text, str):
        text = [text]
    pairs: dict[str, Options] = {}

    def taken(name: str, words: object) -> bool:
        asked = PairOptions.read(words) if isinstance(words, str) and "pair=" in words else None
        if asked is None or asked.pair is None:
            return False
        if name in pairs:
            raise InputError(f"the text column {name!r} is named twice; put its options together, with commas.")
        pairs[name] = asked
        return True

    if isinstance(text, Mapping):
        return {name: words for name, words in text.items() if not taken(str(name), words)}, pairs
    rest: Iterable[str] = [str(item) for item in text]
    return [
        item for item in rest if item in names or not taken(item.rpartition(":")[0], item.rpartition(":")[2])
    ], pairs


def translations(lines: Iterable[str], least: float) -> dict[str, int]:
    r"""Return how many translations above a probability each word has by the lines of a lexicon.

    A line is a word, its translation and perhaps a probability, with tabs between.

    >>> translations(["Haus\thouse\t0.7", "Haus\thome\t0.1", "rot\tred"], 0.2)
    {'haus': 1, 'rot': 1}
    """
    lexicon: dict[str, set[str]] = {}
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        try:
            chance = float(cells[2]) if len(cells) == 3 else 1.0
        except ValueError:
            chance = -1.0
        if len(cells) not in (2, 3) or not 0.0 <= chance <= 1.0:
            raise InputError(
                f"line {number} of the lexicon is {line!r}; write a word, its translation and perhaps a probability, with "
                "tabs between."
            )
        lexicon.setdefault(cells[0].strip().lower(), set()).update([cells[1].strip().lower()] if chance > least else [])
    return {word: len(others) for word, others in lexicon.items()}
