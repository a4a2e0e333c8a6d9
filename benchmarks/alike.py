"""Kernels of texts and trees in plain Python, pair by pair: what entries of a Gram matrix have to be.

``ssk``: the sum over common subsequences of LENGTH symbols of DECAY^(both spans), by the recursion of Lodhi and others.
``tree``: the sum over pairs of nodes of C(n, m), by the recursion of Collins and Duffy.
"""

from __future__ import annotations

import numpy as np

LENGTH = 4
DECAY = 0.5
PAIRS = 30
"""Entries that are checked."""
TASKS = {"sequences": f"string:ssk,{LENGTH},{DECAY}", "trees": f"tree:{DECAY}"}
"""The kernel of each task, as it is typed."""

Tree = tuple[str, tuple["Tree", ...]]


def reference(task: str, texts: list[str]) -> dict[str, list[float]]:
    """Return some pairs of texts and their entries."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, len(texts), (PAIRS, 2))
    pairs[0] = 0  # one on the diagonal
    if task == "sequences":
        values = [ssk(texts[i], texts[j]) for i, j in pairs]
    else:
        values = [common(parsed(texts[i]), parsed(texts[j])) for i, j in pairs]
    return {"pairs": pairs.ravel().tolist(), "entries": values}


def strayed(facts: dict[str, list[float]], gram: np.ndarray) -> float:
    """Return how far entries are from the reference, the worst of them, as a share of it."""
    if gram.shape != (facts["rows"], facts["rows"]):
        return 1.0
    i, j = np.array(facts["pairs"], dtype=int).reshape(-1, 2).T
    right = np.array(facts["entries"])
    off = np.maximum(np.abs(gram[i, j] - right), np.abs(gram[j, i] - right))
    return float(np.max(off / np.maximum(right, 1e-300)))


def ssk(s: str, t: str) -> float:
    """Return the kernel of two texts."""
    before = [[1.0] * (len(t) + 1) for _ in range(len(s) + 1)]  # K'_0 of every pair of prefixes
    for _ in range(LENGTH - 1):
        here = [[0.0] * (len(t) + 1) for _ in range(len(s) + 1)]
        for a in range(1, len(s) + 1):
            across = 0.0
            for b in range(1, len(t) + 1):
                across = DECAY * across + (DECAY**2 * before[a - 1][b - 1] if s[a - 1] == t[b - 1] else 0.0)
                here[a][b] = DECAY * here[a - 1][b] + across
        before = here
    return DECAY**2 * sum(before[a][b] for a, left in enumerate(s) for b, right in enumerate(t) if left == right)


def parsed(text: str) -> Tree:
    """Return a tree in brackets as labels and children."""
    stack: list[tuple[str, list[Tree]]] = [("", [])]
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            stack.append(("", []))
        elif word == ")":
            label, children = stack.pop()
            stack[-1][1].append((label, tuple(children)))
        elif not stack[-1][0]:
            stack[-1] = (word, stack[-1][1])
        else:
            stack[-1][1].append((word, ()))
    return stack[0][1][0]


def nodes(tree: Tree) -> list[Tree]:
    """Return the nodes that have children, those below before those above."""
    below = [node for child in tree[1] for node in nodes(child)]
    return [*below, tree] if tree[1] else below


def production(node: Tree) -> tuple[str, ...]:
    """Return the label of a node and those of its children."""
    return (node[0], *(child[0] for child in node[1]))


def common(one: Tree, other: Tree) -> float:
    """Return the kernel of two trees."""
    return float(sum(_from(a, b) for a in nodes(one) for b in nodes(other)))


def _from(a: Tree, b: Tree) -> float:
    if not a[1] or not b[1] or production(a) != production(b):
        return 0.0
    product = DECAY
    for left, right in zip(a[1], b[1], strict=True):
        product *= 1.0 + _from(left, right)
    return product
