"""What can be typed to ask how sure a fit is: `summary`, `effects`, `test`, ... The work is imported when a command runs."""

from __future__ import annotations

import click

from lineal.cli.commands import lineal
from lineal.cli.options import Command, File, beside, json_option, reading, table_output

__all__ = ["diagnose", "effects", "lineal", "summary", "test"]


@lineal.command(cls=Command)
@click.argument("model", type=File)
@click.argument("data", type=File, required=False)
@click.option(
    "--errors",
    type=click.Choice(["classical", "HC0", "HC1", "HC2", "HC3", "profile"]),
    default="classical",
    show_default=True,
    help="Which standard errors, or profile: intervals by the likelihood; all but the first need DATA.",
)
@click.option("--cluster", metavar="COL", help="A column of DATA whose rows depend on each other.")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="The probability an interval covers.",
)
@click.option("--against", metavar="CLASS", help="The class others are compared with; if not given, the mean of all.")
@click.option(
    "--ratios", is_flag=True, help="Show odds ratios (logistic) or rate ratios (poisson): exp of coefficients."
)
@click.option(
    "--terms",
    type=click.Choice(["II", "III"]),
    help="Test every term instead, given all others (III), or those without products it is in (II).",
)
@table_output("the coefficients with their errors, tests and intervals")
@beside
@reading
@json_option
def summary() -> None:
    """Show standard errors, p-values, intervals and likelihood of a fit without a penalty, or the posterior of model bayes.

    DATA is the file the model was fitted on; without it the figures are those the model holds.
    """


@lineal.command(cls=Command)
@click.argument("model", type=File)
@click.argument("data", type=File)
@click.option(
    "--of", metavar="COL", multiple=True, help="A column whose effect is shown; may be repeated. All if not given."
)
@click.option(
    "--at",
    metavar="COL[=V,...]",
    multiple=True,
    help="Show mean predictions instead, this column set to each of the values (every level of a category). May be repeated.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="The probability an interval covers.",
)
@table_output("the effects or means with their errors and intervals")
@beside
@reading
@json_option
def effects() -> None:
    """Show how much predictions change with each column, averaged over the rows of DATA, or mean predictions (--at).

    Slopes of numbers, differences between levels of categories, in units of the target or of its probability, with
    standard errors by the delta method. For fits without a penalty; DATA may be any rows.
    """


@lineal.command(cls=Command)
@click.argument("model", type=File)
@click.argument("data", type=File)
@click.option(
    "--largest", type=click.IntRange(min=0), metavar="N", default=10, show_default=True, help="Rows shown of the table."
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Draws the randomized quantile residuals of classes and counts.",
)
@click.option(
    "-o", "--output", type=File, metavar="OUT", help="Write every row with its residuals and influence to a table."
)
@beside
@reading
@json_option
def diagnose() -> None:
    """Show how a fit disagrees with its rows: residuals, leverage, influence, collinearity, tests of what it assumes.

    DATA is the file the model was fitted on. A model of least squares, or of two classes or counts; penalized ones, too.
    """


@lineal.command(cls=Command)
@click.argument("model", type=File)
@click.argument("larger", type=File, required=False)
@click.argument("data", type=File, required=False)
@click.option(
    "--hypothesis",
    metavar="TEXT",
    help="Equations about the coefficients of MODEL, parted by commas, such as 'age = 0, 2*dose = weight'.",
)
@click.option("--class", "of_class", metavar="CLASS", help="Of several classes, the one whose coefficients are meant.")
@table_output("the tests")
@beside
@reading
@json_option
def test() -> None:
    """Test a model against a LARGER one (likelihood ratio, Wald, score), or a hypothesis about its coefficients (Wald).

    Both are fits without a penalty to the same rows, and the columns of one are among those of the other. DATA is the file
    they were fitted on: the score test needs it.
    """
