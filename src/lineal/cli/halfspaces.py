"""What can be typed about halfspaces: `lineal separable`, `lineal trace`. The work is imported when a command runs."""

from __future__ import annotations

import click

from lineal.cli.choosing import lineal
from lineal.cli.options import Command, File, beside, declared_types, intercept, json_option, reading, shaping

__all__ = ["lineal", "separable", "trace"]


@lineal.command(cls=Command)
@click.argument("data", type=File)
@click.option("--target", metavar="COL", help="The column that holds the classes (SVMlight files: the label).")
@click.option("--weight", metavar="COL", help="A column of row weights; rows of weight 0 are absent.")
@click.option("--drop", metavar="COL", multiple=True, help="A column to leave out; may be repeated.")
@declared_types
@shaping
@intercept("Whether the boundary may miss the origin.")
@click.option("--bound", is_flag=True, help="Add the maximum margin and the perceptron's bound R^2/gamma^2 = (RB)^2.")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    default=60.0,
    show_default=True,
    help="Give up after this time, without an answer (exit code 3).",
)
@click.option("-o", "--output", type=File, metavar="FILE", help="Write the answer with its proof, for lineal verify.")
@beside
@reading
@json_option
def separable() -> None:
    """Decide exactly whether a linear boundary separates the classes, and show the proof.

    Complete: some boundary makes no mistake. Quasi: some boundary has no row on the wrong side but rows of both classes on
    it. Overlap: neither. Every answer comes with integers that anyone can check: lineal verify FILE DATA does.
    """


@lineal.command(cls=Command)
@click.argument("data", type=File)
@click.option("--target", metavar="COL", help="The column that holds the classes.")
@click.option(
    "--classes", metavar="A,B,...", help="All classes in order, of two the positive one last; found if not given."
)
@click.option("--weight", metavar="COL", help="A column of whole numbers: how often a row is presented.")
@click.option("--drop", metavar="COL", multiple=True, help="A column to leave out; may be repeated.")
@declared_types
@shaping
@intercept("Whether to add a first feature that is always 1.")
@click.option(
    "--columns",
    type=click.Choice(["raw", "standardized"]),
    default="raw",
    show_default=True,
    help="Columns of numbers as they are, or less their mean in units of their standard deviation.",
)
@click.option(
    "--start", metavar="W,W,...", help="Weights to begin with, the intercept first; classes are separated by ';'."
)
@click.option(
    "--tie",
    type=click.Choice(["mistake", "positive", "negative"]),
    default="mistake",
    show_default=True,
    help="What a score of 0 is: always a mistake, the later class, or the earlier one.",
)
@click.option(
    "--epochs", type=click.IntRange(min=1), metavar="N", default=10, show_default=True, help="At most this many."
)
@click.option(
    "--order",
    type=click.Choice(["given", "drawn"]),
    default="given",
    show_default=True,
    help="Rows as they come, or in an order drawn for every epoch.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", default=0, show_default=True, help="For --order drawn."
)
@click.option("--oracle", is_flag=True, help="Ask the exact oracle where no epoch is without a mistake.")
@click.option(
    "--bound", is_flag=True, help="Add the maximum margin and the bound R^2/gamma^2 = (RB)^2 on the mistakes."
)
@click.option(
    "-o", "--output", type=File, metavar="FILE", help="Write all steps to this file (.csv, .parquet, .xlsx, ...)."
)
@beside
@reading
@json_option
def trace() -> None:
    """Run a perceptron and show every step: weights, score, angle, right or wrong, update, score after it.

    It ends with the first epoch without a mistake, or where the weights of an earlier epoch come back.
    """
