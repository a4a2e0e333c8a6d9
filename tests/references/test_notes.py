"""The worked examples of the lecture notes, to the digit."""

from __future__ import annotations

import numpy as np

import lineal
from lineal import Perceptron

POINTS = np.array([[1.0, 1], [3, 2], [2, 4], [3, 4], [2, 3]])
SIGNS = np.array([-1, 1, 1, 1, -1])


def test_one_pass_of_the_binary_perceptron():
    """CS: start [-1, 0, 0] (bias first): scores -1, -1, 14, 17, 12, updates at steps 2 and 5, final weights [-1, 1, -1]."""
    model = Perceptron(max_iter=1, shuffle=False, record=True, oracle=False)
    model.fit(POINTS, SIGNS, coef_init=[0, 0], intercept_init=[-1])
    table = model.trace_.to_frame()
    assert table["score"].tolist() == [-1, -1, 14, 17, 12]
    assert table["correct"].tolist() == [True, False, True, True, False]
    assert table["update"].tolist() == ["none", "+ [1, 3, 2]", "none", "none", "- [1, 2, 3]"]
    assert table["weights"].tolist() == [[-1, 0, 0], [-1, 0, 0], [0, 3, 2], [0, 3, 2], [0, 3, 2]]
    assert table["step"].tolist() == [1, 2, 3, 4, 5]
    assert table["row_index"].tolist() == [0, 1, 2, 3, 4]
    assert model.intercept_.tolist() == [-1]
    assert model.coef_.tolist() == [[1, -1]]
    assert model.mistakes_ == 2
    assert model.verdict_.kind == "budget"


def test_one_step_of_the_multi_class_perceptron():
    """CS: x = [-2, 3, 1] of class 2 scores 11, 13, 8, is taken for class 1, and moves both."""
    model = Perceptron(fit_intercept=False, record=True)
    start = [[-2, 2, 1], [0, 3, 4], [1, 4, -2]]
    model.partial_fit(np.array([[-2.0, 3, 1]]), [2], classes=[0, 1, 2], coef_init=start)
    table = model.trace_.to_frame()
    assert table["score"].tolist() == [[11, 13, 8]]
    assert table["weights"].tolist() == [start]
    assert table["update"].tolist() == ["w1 - [-2, 3, 1], w2 + [-2, 3, 1]"]
    assert model.coef_.tolist() == [[-2, 2, 1], [2, 0, 3], [-1, 7, -1]]
    assert model.verdict_.kind == "progressive"
    assert model.verdict_.evidence == {"mistakes": 1, "rows": 1}


def test_the_notes_rules_for_ties_are_three_values():
    """LM1: sign(0) = +1. HS: y w.x <= 0 is a mistake. The remaining rule calls 0 negative."""
    zero = np.zeros((1, 1))
    for tie, label, mistakes in (
        ("positive", 1, 0), ("positive", 0, 1), ("negative", 1, 1), ("negative", 0, 0), ("mistake", 1, 1), ("mistake", 0, 1),
    ):  # fmt: skip
        model = Perceptron(tie=tie).partial_fit(zero, [label], classes=[0, 1])
        assert model.mistakes_ == mistakes
    assert Perceptron(tie="positive", max_iter=1, fit_intercept=False).fit([[0.0], [-1.0]], [1, 0]).predict(
        [[0.0]]
    ) == [1]


def test_and_or_are_separable_and_xor_is_not():
    """HS, CS: AND and OR have a halfspace within (RB)^2 mistakes; XOR has none, and has one with the product x1 x2."""
    corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    for y in ([0, 0, 0, 1], [0, 1, 1, 1]):
        model = Perceptron(bound=True).fit(corners, y)
        assert model.verdict_.kind == "separated"
        assert model.mistakes_ <= model.verdict_.evidence["maximum_margin"]["bound"]
        assert "(RB)^2" in model.verdict_.sentence
        assert model.predict(corners).tolist() == y
    xor = [0, 1, 1, 0]
    assert Perceptron().fit(corners, xor).verdict_.kind == "not_separable"
    product = np.column_stack([corners, corners[:, 0] * corners[:, 1]])
    assert Perceptron(max_iter=1000).fit(product, xor).verdict_.kind == "separated"


def test_of_plus_and_minus_plus_is_the_positive_class():
    """CS writes the classes + and -: a score above 0 is +, also in a fit (in the order of characters it would be -)."""
    table = {"x": [-2.0, -1.0, 0.5, 2.0, 3.0, -0.5], "class": ["-", "-", "+", "+", "+", "+"]}
    model = lineal.fit(table, target="class", penalty="ridge:0.1")
    assert model.target.classes == ("-", "+")
    assert model.coef[1, 0] > 0
    assert model.predict({"x": [5.0, -5.0]}).tolist() == ["+", "-"]
