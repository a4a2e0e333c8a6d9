"""Formulas are read as the grammar says, and nothing in them is run."""

from __future__ import annotations

import pytest

from lineal.features.formula import Factor, Formula, FormulaError


def written(text: str) -> list[str]:
    return [":".join(factor.name for factor in product) for product in Formula.read(text).products]


@pytest.mark.parametrize(
    ("text", "terms", "intercept"),
    [
        ("y ~ a + b", ["a", "b"], True),
        ("y ~ a*b", ["a", "b", "a:b"], True),
        ("y ~ a*b*c", ["a", "b", "a:b", "c", "a:c", "b:c", "a:b:c"], True),
        ("y ~ (a + b + c)^2", ["a", "b", "c", "a:b", "a:c", "b:c"], True),
        ("y ~ (a + b)**2 - a", ["b", "a:b"], True),
        ("y ~ a:(b + c)", ["a:b", "a:c"], True),
        ("y ~ a + a + b:a + a:b", ["a", "b:a"], True),
        ("y ~ a - 1", ["a"], False),
        ("y ~ 0 + a", ["a"], False),
        ("y ~ -1 + a", ["a"], False),
        ("y ~ a - 1 + 1", ["a"], True),
        ("y ~ a - 0", ["a"], True),
        ("y ~ 1", [], True),
        ("y ~ a/b", ["a", "a:b"], True),
        ("y ~ (a + b)/c", ["a", "b", "a:b:c"], True),
        ("y ~ a/(b + c)", ["a", "a:b", "a:c"], True),
        ("y ~ a + b %in% a", ["a", "b:a"], True),
        ("y ~ I(x^2) + I(2*(x + 1)**2) + I(1/x)", ["I(x^2)", "I(((x + 1)^2)*2)", "I(1/x)"], True),
        ("y ~ I(-x + 3) + I(x - 1 + 3) + I(x/1e-3)", ["I((x*-1) + 3)", "I((x - 1) + 3)", "I(x/0.001)"], True),
        ("y ~ log(x + 1) + sqrt(I(x > 2 + 1))", ["log(x + 1)", "sqrt(x > 3)"], True),
        ("y ~ I(3 < x) + I(2 - 3*x) + I(x) + x", ["I(x > 3)", "I(2 - (x*3))", "x"], True),
        ("y ~ log(x) + sqrt(abs(x))", ["log(x)", "sqrt(abs(x))"], True),
        ("y ~ `a b` + über + x.1", ["a b", "über", "x.1"], True),
        ("y ~ .", ["."], True),
    ],
)
def test_terms_are_those_of_wilkinson_and_rogers(text, terms, intercept):
    assert written(text) == terms
    assert Formula.read(text).intercept is intercept


def test_every_part_of_a_call_is_kept():
    formula = Formula.read("y ~ C(job, ref='none') + poly(log1p(dose), 3) + spline(t, 5) + C(zip)")
    assert formula.products == (
        (Factor("job", (), "C", 0, "none"),),
        (Factor("dose", ("log1p",), "poly", 3),),
        (Factor("t", (), "spline", 5),),
        (Factor("zip", (), "C"),),
    )
    assert formula.columns == ("job", "dose", "t", "zip")


def test_names_of_r_mean_the_same():
    formula = Formula.read("cbind(won, lost) ~ factor(job) + ns(t, df=5) + poly(x, degree=3)")
    assert formula.targets == ("won", "lost")
    assert formula.products == (
        (Factor("job", (), "C"),),
        (Factor("t", (), "spline", 5),),
        (Factor("x", (), "poly", 3),),
    )


def test_targets_and_columns_left_out_of_the_dot():
    assert Formula.read("a + b ~ x").targets == ("a", "b")
    assert Formula.read("x").targets == Formula.read("~ x").targets == ()
    assert Formula.read("y ~ . - x - z").without == ("x", "z")


@pytest.mark.parametrize(
    ("text", "said", "at"),
    [
        ("y ~ foo(x)", "there is no function 'foo'", 4),
        ("y ~ lgo(x)", "did you mean log", 4),
        ("y ~ __import__('os')", "there is no function '__import__'", 4),
        ("y ~ a +", "a column or a function was expected", 7),
        ("y ~ a b", "'b' was not expected", 6),
        ("y ~ a | b", "'|' has no meaning", 6),
        ("y ~ (a", "a ')' is missing", 6),
        ("y ~ (1 | a)", "write C(group)", 7),
        ("y ~ s(x)", "a smooth curve is written spline", 4),
        ("y ~ relevel(x, ref='a')", "write C(x, ref='level')", 4),
        ("y ~ I(a + b)", "arithmetic is with one column", 8),
        ("y ~ I(2)", "this is a number", 6),
        ("y ~ I(x / (1/0))", "cannot be worked out", 12),
        ("y ~ I(2^x)", "is written exp", 7),
        ("y ~ I(poly(x, 2) + 1)", "makes several columns", 17),
        ("y ~ cut(x, c(1, 1))", "breaks have to increase", 16),
        ("y ~ cut(x, c(a))", "a number was expected", 13),
        ("y ~ C(a, summ)", "contrasts (treatment, sum, helmert, poly)", 9),
        ("y ~ C(a, sum, ref='b')", "only treatment contrasts", 4),
        ("y ~ C(a, levels='b,c')", "an order of the levels", 4),
        ("cbind(a, b ~ x", "two counts are written cbind", 11),
        ("y ~ poly(x)", "a number is missing", 10),
        ("y ~ poly(x, 99)", "a whole number from 1 to 20", 12),
        ("y ~ poly(spline(x, 3), 2)", "makes several columns", 9),
        ("y ~ x^2", "for powers of a column write I(column^2) or poly", 6),
        ("y ~ 3*a", "a number other than 0 and 1", 4),
        ("y ~ a*1", "cannot be multiplied", 6),
        ("y ~ a - b", "it was not there", 8),
        ("y ~ a ~ b", "a second '~'", 6),
        ("poly(y, 2) ~ a", "a target is a column or a function of one", 0),
        ("I(y^2) ~ a", "a target is a column or a function of one", 0),
        ("y ~ offset(a) + offset(b)", "there is an offset already", 16),
        ("y ~ a*offset(b)", "an offset can only be added", 6),
        ("y ~ a - offset(b)", "an offset can only be added", 8),
        ("y ~ offset(I(b/2))", "an offset is a column or a function", 11),
        ("1 ~ a", "the name of the target", 0),
        ("", "a column or a function was expected", 0),
    ],
)
def test_what_cannot_be_read_is_shown_with_a_caret(text, said, at):
    with pytest.raises(FormulaError) as caught:
        Formula.read(text)
    message, line, caret = str(caught.value).split("\n")
    assert said in message
    assert line == f"  {text}"
    assert caret == "  " + " " * at + "^"


def test_the_dot_stands_alone_and_a_formula_is_one_line():
    with pytest.raises(FormulaError, match="can only be added"):
        Formula.read("y ~ .:a")
    with pytest.raises(FormulaError, match="several lines"):
        Formula.read("y ~ a\n+ b")


def test_offsets_and_targets_that_are_functions():
    formula = Formula.read("log(sqrt(y)) ~ a + offset(log(n)) + b")
    assert (formula.targets, formula.offset, formula.columns) == (("log(sqrt(y))",), "log(n)", ("a", "b"))
    assert Formula.read("y ~ offset(n)").offset == "n"
