"""Kernel machines of texts and trees that the checker proves again with kernels of its own, and files that lie about them."""

from __future__ import annotations

import csv
from itertools import combinations

import numpy as np
import pytest

import lineal
from lineal import container
from lineal.errors import LinealError, ModelFileError
from lineal.verify import verify
from lineal.verify.maps import text_kernels

RNG = np.random.default_rng(1)
N = 40
LETTERS = ["".join(RNG.choice(list("acgt"), RNG.integers(3, 14))) for _ in range(N - 1)] + [""]
WORDS = [" ".join(RNG.choice(["sun", "sea", "sand"], RNG.integers(1, 8))) for _ in range(N)]


def tree(depth):
    """Return a random tree in brackets."""
    if not depth or RNG.random() < 0.2:
        return f"(N{RNG.integers(3)} {RNG.choice(['x', 'y'])})"
    return f"(N{RNG.integers(3)} {' '.join(tree(depth - 1) for _ in range(RNG.integers(1, 3)))})"


TREES = ["(leaf)", "((A b) (C (D e) (D e)))", *(tree(3) for _ in range(N - 2))]
POINTS = {"letters": LETTERS, "words": WORDS, "trees": TREES}


def spectrum(x, z, length):
    """Return the spectrum kernel by its definition."""
    pieces = [[tuple(one[i : i + length]) for i in range(len(one) - length + 1)] for one in (x, z)]
    return float(sum(a == b for a in pieces[0] for b in pieces[1]))


def subsequences(x, z, length, decay):
    """Return the gap-weighted kernel by its definition: all places of all subsequences."""
    weights = []
    for one in (x, z):
        found: dict[tuple[str, ...], float] = {}
        for places in combinations(range(len(one)), length):
            key = tuple(one[i] for i in places)
            found[key] = found.get(key, 0.0) + decay ** (places[-1] - places[0] + 1)
        weights.append(found)
    return sum(weight * weights[1].get(key, 0.0) for key, weight in weights[0].items())


def parsed(text):
    """Return a tree as a label and its children, a leaf as a label alone."""
    at = 0

    def node():
        nonlocal at
        at += 1
        label, children = "", []
        if text[at] not in " (":
            start = at
            while text[at] not in " ()":
                at += 1
            label = text[start:at]
        while text[at] != ")":
            if text[at] == "(":
                children.append(node())
            elif text[at] == " ":
                at += 1
            else:
                start = at
                while text[at] not in " ()":
                    at += 1
                children.append((text[start:at], []))
        at += 1
        return label, children

    return node()


def nodes(one):
    """Return all nodes with children."""
    return ([one] if one[1] else []) + [inner for child in one[1] for inner in nodes(child)]


def fragments(x, z, decay):
    """Return the tree kernel by the recursion of Collins and Duffy."""

    def both(n, m):
        if not n[1] or not m[1] or n[0] != m[0] or [c[0] for c in n[1]] != [c[0] for c in m[1]]:
            return 0.0
        return decay * float(np.prod([1.0 + both(a, b) for a, b in zip(n[1], m[1], strict=True)]))

    return sum(both(n, m) for n in nodes(parsed(x)) for m in nodes(parsed(z)))


CASES = [
    ({"kernel": "spectrum", "length": 2, "unit": "characters"}, LETTERS, lambda x, z: spectrum(x, z, 2)),
    ({"kernel": "spectrum", "length": 2, "unit": "words"}, WORDS, lambda x, z: spectrum(x.split(), z.split(), 2)),
    (
        {"kernel": "ssk", "length": 3, "decay": 0.7, "unit": "characters"},
        LETTERS,
        lambda x, z: subsequences(x, z, 3, 0.7),
    ),
    (
        {"kernel": "ssk", "length": 1, "decay": 0.5, "unit": "words"},
        WORDS,
        lambda x, z: subsequences(x.split(), z.split(), 1, 0.5),
    ),
    ({"kernel": "tree", "decay": 0.4}, TREES, lambda x, z: fragments(x, z, 0.4)),
    ({"kernel": "tree", "decay": 1.0}, TREES, lambda x, z: fragments(x, z, 1.0)),
]


@pytest.mark.parametrize(("kernel", "points", "definition"), CASES, ids=[str(case[0]) for case in CASES])
def test_entries_are_those_of_the_definition(kernel, points, definition):
    some = np.array(points[:8] + points[-2:], dtype=object)
    expected = np.array([[definition(x, z) for z in some] for x in some])
    ours = text_kernels.take(kernel)
    value, error = ours.between(some, some[::-1])
    np.testing.assert_allclose(value, expected[:, ::-1], rtol=1e-12)
    assert np.all(np.abs(value - expected[:, ::-1]) <= error + 1e-13 * expected[:, ::-1])
    np.testing.assert_allclose(ours.own(some)[0], np.diag(expected), rtol=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kernel": "rbf", "gamma": 1.0},
        {"kernel": "spectrum", "length": 2},
        {"kernel": "spectrum", "length": 2, "unit": "lines"},
        {"kernel": "ssk", "length": 0, "decay": 0.5, "unit": "words"},
        {"kernel": "ssk", "length": 2, "decay": 1.5, "unit": "words"},
        {"kernel": "tree", "decay": 0.0},
        {"kernel": "sum", "parts": [CASES[0][0], CASES[4][0]]},
    ],
)
def test_what_is_no_kernel_of_texts_is_refused(wrong):
    with pytest.raises(ModelFileError):
        text_kernels.take(wrong)


@pytest.mark.parametrize("text", ["", "word", "(S", "(S a))", "()", "(S a) (S b)"])
def test_what_is_no_tree_is_refused(text):
    with pytest.raises(ModelFileError, match="no tree"):
        text_kernels.take({"kernel": "tree", "decay": 0.5}).own([text])


def written(folder, points):
    """Write a table of one column of points and classes."""
    y = np.where(RNG.permutation(N) < N // 2, "p", "q")
    with (folder / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["point", "y", "size"], *zip(points, y, range(N), strict=True)])
    return folder / "t.csv"


def fitted(data, target, model):
    return lineal.fit(data, target, model=model, types={"point": "verbatim"}, drop=[{"y": "size", "size": "y"}[target]])


@pytest.mark.parametrize(
    ("points", "kernel"),
    [
        ("letters", "string:ssk,3,0.7"),
        ("letters", "spectrum:2 + string:ssk,2,0.5"),
        ("letters", "spectrum:2;normalized=no"),
        ("words", "spectrum:1,unit=words"),
        ("words", "normalized(spectrum:1,unit=words) + spectrum:2"),
        ("trees", "tree:0.4"),
    ],
)
@pytest.mark.parametrize("name", ["kernel-logistic", "kernel-svm", "kernel-perceptron", "kernel-ridge"])
def test_fits_to_texts_and_trees_are_confirmed(tmp_path, points, kernel, name):
    data = written(tmp_path, POINTS[points])
    strength = "" if name == "kernel-perceptron" else ";strength=0.01"
    model = fitted(data, "size" if name == "kernel-ridge" else "y", f"{name}:{kernel}{strength}")
    model.save(tmp_path / "m.lineal")
    assert model.verdict.kind in ("optimal", "separated", "budget")
    assert model.feature_map.name == "text-kernel"
    assert verify(tmp_path / "m.lineal", data).passed


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    fitted(written(folder, LETTERS), "y", "kernel-logistic:string:ssk,2,0.7;strength=0.01").save(folder / "m.lineal")
    assert verify(folder / "m.lineal", folder / "t.csv").passed
    return folder


def letter_changed(meta, arrays):
    arrays["map.texts"] = arrays["map.texts"].copy()
    arrays["map.texts"][4] = ord("t") if arrays["map.texts"][4] != ord("t") else ord("a")


def ends_moved(meta, arrays):
    arrays["map.starts"] = arrays["map.starts"].copy()
    arrays["map.starts"][3] += 1


def starts_cut(meta, arrays):
    arrays["map.starts"] = arrays["map.starts"][:-1].copy()


def decay_changed(meta, arrays):
    meta["feature_map"]["kernel"]["base"]["decay"] = 0.701


def length_changed(meta, arrays):
    meta["feature_map"]["kernel"]["base"]["length"] = 3


def unit_changed(meta, arrays):
    meta["feature_map"]["kernel"]["base"]["unit"] = "words"


def as_it_is(meta, arrays):
    meta["feature_map"]["kernel"] = meta["feature_map"]["kernel"]["base"]


def kernel_of_rows(meta, arrays):
    meta["feature_map"]["kernel"] = {"kernel": "linear"}


def other_column(meta, arrays):
    meta["feature_map"]["input"] = "y"


def other_width(meta, arrays):
    meta["feature_map"]["width"] += 1


def coefficient_altered(meta, arrays):
    arrays["coef"] = arrays["coef"] * 1.001


def strength_changed(meta, arrays):
    meta["feature_map"]["strength"] *= 1.1


def sentence_changed(meta, arrays):
    meta["verdict"]["sentence"] += " It is the best."


OBJECTIVE = "the objective at the coefficients"
LIES = [
    (letter_changed, "the texts in the file are those of the data"),
    (ends_moved, "the texts in the file are those of the data"),
    (starts_cut, "map.starts must increase"),
    (decay_changed, OBJECTIVE),
    (length_changed, OBJECTIVE),
    (unit_changed, OBJECTIVE),
    (as_it_is, OBJECTIVE),
    (kernel_of_rows, "does not know kernels of texts"),
    (other_column, "one column of texts as they are"),
    (other_width, "one column of texts as they are"),
    (coefficient_altered, OBJECTIVE),
    (strength_changed, OBJECTIVE),
    (sentence_changed, "the sentence is the one"),
]


@pytest.mark.parametrize(("lie", "words"), LIES, ids=lambda each: getattr(each, "__name__", ""))
def test_lies_are_refused(honest, lie, words, tmp_path):
    meta, arrays = container.read(honest / "m.lineal")
    arrays = dict(arrays)
    lie(meta, arrays)
    meta = {name: value for name, value in meta.items() if name != "encoding"}
    container.write(tmp_path / "lie.lineal", {**meta, "encoding": container.encoding(meta)}, arrays)
    with pytest.raises(LinealError, match=words):
        verify(tmp_path / "lie.lineal", honest / "t.csv")
