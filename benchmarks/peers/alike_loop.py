"""The kernels of texts and trees as loops over pairs, for numba to compile: what a person writes from the papers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from benchmarks.alike import DECAY, LENGTH, nodes, parsed, production


def gram(task: str, texts: list[str]) -> np.ndarray:
    """Return the Gram matrix of texts or trees."""
    of_texts, of_trees = _loops()
    if task == "sequences":
        codes = [np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.int64) for text in texts]
        starts = np.concatenate([[0], np.cumsum([len(own) for own in codes])])
        return of_texts(np.concatenate(codes), starts, LENGTH, DECAY)
    return of_trees(*_arrays(texts), DECAY)


def _arrays(texts: list[str]) -> tuple[np.ndarray, ...]:
    """Return the nodes of all trees, those below first: their productions, and places of their children, -1 for a leaf."""
    numbers: dict[tuple[str, ...], int] = {}
    kinds, children, first, starts = [], [], [0], [0]
    for text in texts:
        own = nodes(parsed(text))
        place = {id(node): k for k, node in enumerate(own)}
        for node in own:
            kinds.append(numbers.setdefault(production(node), len(numbers)))
            children += [place.get(id(child), -1) for child in node[1]]
            first.append(len(children))
        starts.append(len(kinds))
    return tuple(np.array(part, dtype=np.int64) for part in (kinds, children, first, starts))


def _of_texts(codes: Any, starts: Any, length: int, decay: float) -> Any:
    n = len(starts) - 1
    out = np.zeros((n, n))
    for i in range(n):
        s = codes[starts[i] : starts[i + 1]]
        for j in range(i, n):
            t = codes[starts[j] : starts[j + 1]]
            before = np.ones((len(s) + 1, len(t) + 1))
            for _ in range(length - 1):
                here = np.zeros((len(s) + 1, len(t) + 1))
                for a in range(1, len(s) + 1):
                    across = 0.0
                    for b in range(1, len(t) + 1):
                        across *= decay
                        if s[a - 1] == t[b - 1]:
                            across += decay * decay * before[a - 1, b - 1]
                        here[a, b] = decay * here[a - 1, b] + across
                before = here
            total = 0.0
            for a in range(len(s)):
                for b in range(len(t)):
                    if s[a] == t[b]:
                        total += before[a, b]
            out[i, j] = out[j, i] = decay * decay * total
    return out


def _of_trees(kinds: Any, children: Any, first: Any, starts: Any, decay: float) -> Any:
    n = len(starts) - 1
    out = np.zeros((n, n))
    most = 0
    for i in range(n):
        most = max(most, starts[i + 1] - starts[i])
    common = np.zeros((most, most))
    for i in range(n):
        for j in range(i, n):
            total = 0.0
            for a in range(starts[i + 1] - starts[i]):
                for b in range(starts[j + 1] - starts[j]):
                    one, other = starts[i] + a, starts[j] + b
                    common[a, b] = 0.0
                    if kinds[one] == kinds[other]:
                        product = decay
                        for c in range(first[one + 1] - first[one]):
                            left, right = children[first[one] + c], children[first[other] + c]
                            if left >= 0 and right >= 0:
                                product *= 1.0 + common[left, right]
                        common[a, b] = product
                        total += product
            out[i, j] = out[j, i] = total
    return out


@cache
def _loops() -> tuple[Any, Any]:
    import numba

    compiled = numba.njit(fastmath=True)
    return compiled(_of_texts), compiled(_of_trees)
