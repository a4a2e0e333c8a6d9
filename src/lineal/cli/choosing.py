"""What can be typed to choose a model: `lineal compare`, `lineal sweep`. The work is imported when a command runs."""

from __future__ import annotations

import click

from lineal.cli.options import (
    Command,
    File,
    alternatives,
    asking,
    beside,
    declared_types,
    folding,
    intercept,
    json_option,
    limit,
    parting,
    penalizing,
    positive,
    reading,
    roles,
    seed,
    shaping,
    splitting,
    table_output,
)
from lineal.cli.statistics import lineal

__all__ = ["compare", "lineal", "sweep"]


@lineal.command(cls=Command)
@click.argument("data", type=File)
@click.option("--target", metavar="COL", help="The column to predict.")
@click.option(
    "--model",
    "models",
    metavar="NAME",
    multiple=True,
    help="A model to compare, perhaps with its penalty: 'logistic l1:auto'. May be repeated; without it a sensible handful.",
)
@penalizing
@roles
@positive
@declared_types
@alternatives
@folding("Put models in order by K folds of the training rows (or the values of a column) instead of validation rows.")
@parting
@click.option(
    "--validation-size",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="SHARE",
    help="Share of rows that put models in order; 0.2 unless folds do.",
)
@click.option(
    "--test-size",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="SHARE",
    default=0.2,
    show_default=True,
    help="Share of rows held out for the last figure, which put nothing in order.",
)
@click.option("--test-file", type=File, help="Take the last figure on this file instead of held-out rows.")
@seed("Which rows are held out.")
@limit("For all models together, which share it; those without time end in budget.")
@table_output("every model with its figures")
@beside
@reading
@json_option
def compare() -> None:
    """Fit several models to the same rows and show them in one table, best first, beside the baseline.

    Validation rows put them in order, never the test rows.
    """


@lineal.command(cls=Command)
@click.argument("data", type=File)
@click.option(
    "--over",
    metavar="SETTING",
    required=True,
    help="degree=0:15 (of the one column, of all products, or the word degree in a --formula), strength or "
    "strength=0.001:10, columns or columns=1:40 (the first so many of the table).",
)
@asking
@roles
@positive
@declared_types
@shaping
@intercept("As for fit.")
@folding(
    "How many folds validate in turn, or a column whose every value is a fold; 5 unless there are validation rows."
)
@splitting
@seed("Which rows are left alone, and which validate.")
@limit("For all fits together, which share it.")
@click.option("-o", "--output", type=File, metavar="FILE", help="Write the table, with every fold, as CSV or Parquet.")
@beside
@reading
@json_option
def sweep() -> None:
    """Fit a table at every degree, strength or number of columns: training and validation loss side by side.

    Rows that fit would hold out to test (--test-size) are left alone. Degrees and columns have no penalty unless --penalty
    is given; with more columns than rows the smallest coefficients are taken: the second descent.
    """
