"""The kernel of trees against enumeration of all fragments, in fractions."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from lineal import kernels
from lineal.errors import InputError


def drawn_tree(random, depth):
    """A tree as nested tuples: (label, children)."""
    label = "ABC"[random.integers(3)]
    if depth == 0 or random.random() < 0.25:
        return (label, ())
    return (label, tuple(drawn_tree(random, depth - 1) for _ in range(random.integers(1, 3))))


def brackets(tree):
    label, children = tree
    return f"({label}{' '.join(map(brackets, children))})"


def rooted(tree):
    """Every fragment that begins at the root: the node with all its children, each expanded or not."""
    label, children = tree
    if not children:
        return []
    ways = [[(child[0], None), *rooted(child)] for child in children]
    return [(label, parts) for parts in itertools.product(*ways)]


def fragments(tree):
    return Counter(rooted(tree)) + sum((fragments(child) for child in tree[1]), Counter())


def productions(fragment):
    return 0 if fragment[1] is None else 1 + sum(map(productions, fragment[1]))


def enumerated(x, z, decay):
    one, other = fragments(x), fragments(z)
    return sum((decay ** productions(f) * one[f] * other[f] for f in one.keys() & other.keys()), Fraction())


@pytest.mark.parametrize("decay", [0.4, 1.0, 0.01])
def test_fragments_are_those_that_enumeration_finds(decay):
    random = np.random.default_rng(1)
    trees = [("A", ()), *(drawn_tree(random, 3) for _ in range(25))]
    texts = [brackets(tree) for tree in trees]
    kernel = kernels.SubsetTree(decay)
    gram, error, cross = kernel.gram(texts), kernel.entry_error(texts), kernel.gram(texts[20:], texts[:20])
    assert np.array_equal(np.diagonal(gram), kernel.diagonal(texts))
    for i, j in itertools.product(range(len(texts)), repeat=2):
        exact = enumerated(trees[i], trees[j], Fraction(decay))
        assert abs(Fraction(gram[i, j]) - exact) <= Fraction(error[i]) * Fraction(error[j])
        assert abs(gram[i, j] - float(exact)) <= 1e-13 * float(exact)
        if i >= 20 > j:
            assert cross[i - 20, j] == pytest.approx(float(exact), rel=1e-13)


def test_the_example_of_collins_and_duffy():
    """A noun phrase "the apple" has six fragments."""
    assert kernels.SubsetTree(1.0).gram(["(NP (D the) (N apple))"])[0, 0] == 6.0


def test_words_are_leaves_and_blanks_do_not_count():
    texts = ["(S (N Mary) (V runs))", "( S\n(N(Mary))  (V\truns) )", "(S(N Mary)(V runs))"]
    assert len(np.unique(kernels.SubsetTree(0.5).gram(texts))) == 1


def test_deep_and_wide_trees_are_read():
    deep = "(a" * 20_000 + ")" * 20_000
    wide = "(a " + "b " * 20_000 + ")"
    assert kernels.Trees([deep, wide]).sizes.tolist() == [19_999, 1]
    assert kernels.SubsetTree(0.5).gram([wide])[0, 0] == 0.5


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ("", "there is no tree, at character 1"),
        ("  ", "there is no tree"),
        ("word", "outside of brackets, or a bracket that closes nothing, at character 1 of"),
        ("(S (N Mary)", "never closed, at character 12"),
        ("(S (N Mary)))", "behind the end of the tree, at character 13"),
        ("(S) (S)", "behind the end of the tree, at character 5"),
        ("(S ())", "no label, at character 4"),
        ("(", "never closed"),
        (")", "closes nothing"),
        ("(ü (é", "never closed, at character 6"),
        (None, "a missing value"),
        (3, "is 3"),
    ],
)
def test_malformed_trees_are_refused_with_the_place(tree, words):
    with pytest.raises(InputError, match=rf"X\[1\] .*{words}"):
        kernels.SubsetTree(0.5).gram(["(A b)", tree])
