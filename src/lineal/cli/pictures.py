"""What can be typed about pictures: `lineal plot` and `lineal report`. The work is imported when it runs."""

from __future__ import annotations

import click

from lineal.cli.halfspaces import lineal
from lineal.cli.options import Command, File, beside, json_option, reading

__all__ = ["lineal", "plot", "report"]


@lineal.command(cls=Command)
@click.argument("kind", required=False)
@click.argument("inputs", nargs=-1)
@click.option("--x", metavar="COL", help="The column across; that of largest effect if not given.")
@click.option("--y", metavar="COL", help="The column upwards, where both axes are columns.")
@click.option(
    "--at", metavar="COL=V", multiple=True, help="Hold a column at another value than that of the typical row."
)
@click.option(
    "--view",
    metavar="HOW",
    help="slice: two columns, others at the typical row; score: the score of the whole model and the direction orthogonal "
    "to it; pair: a fit of these two columns alone.",
)
@click.option("--row", type=click.IntRange(min=1), metavar="N", help="Of a picture of one row: its number, from 1.")
@click.option("--surface", metavar="WHAT", help="Colors beneath a boundary: proba, score or class.")
@click.option("--threshold", type=float, metavar="TAU", help="Where the second of two classes is decided.")
@click.option("--costs", metavar="COSTS", help="As for predict.")
@click.option("--turn", type=float, metavar="DEGREES", help="From where a picture of space is seen.")
@click.option("--target", metavar="COL", help="The column to predict, where the picture needs no model.")
@click.option("--drop", metavar="COL", multiple=True, help="Of a table without a model, a column to leave out.")
@click.option("--formula", metavar="TEXT", help="Of a table without a model, its terms, as for fit.")
@click.option("--start", metavar="W,W,..", help="Of a perceptron, as for trace; of a descent, as for fit.")
@click.option("--tie", metavar="HOW", help="Of a perceptron, as for trace: mistake, positive or negative.")
@click.option("--epochs", type=click.IntRange(min=1), metavar="N", help="Of a perceptron, as for trace.")
@click.option("--order", metavar="HOW", help="Of a perceptron, as for trace: given or drawn.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Whatever is drawn.")
@click.option("--step", type=click.IntRange(min=0), metavar="K", help="One step of a film.")
@click.option("--eta", metavar="STEP,..", help="Step sizes of a descent, commas between; auto is a line search.")
@click.option("--sweep", metavar="WHAT", help="degree=0:15, columns or strength.")
@click.option("--map", "map_", metavar="MAP", help="quadratic, or a product such as x1:x2.")
@click.option("-k", "--neighbors", type=click.IntRange(min=1), metavar="K", help="How many neighbors.")
@click.option("--kernel", metavar="K", help="As for lineal kernel.")
@click.option(
    "--set", "settings", metavar="NAME=VALUE", multiple=True, help="Another option of the kind; may be repeated."
)
@click.option(
    "-o",
    "--output",
    type=File,
    metavar="FILE",
    help="A .svg, .html, .png, .pdf, .json or .csv file (a folder for all).  [default: STEM-KIND.svg]",
)
@click.option("--width", type=click.IntRange(200, 10000), metavar="PIXELS", help="How wide the picture is.")
@click.option("--height", type=click.IntRange(150, 10000), metavar="PIXELS", help="How high the picture is.")
@click.option(
    "--theme", type=click.Choice(["light", "dark", "print"]), default="light", show_default=True, help="The colors."
)
@beside
@reading
@json_option
def plot() -> None:
    r"""Draw a picture of a fit: KIND is what to draw, INPUTS what it is drawn from (MODEL, DATA, TRACE, ANSWER).

    \b
    lineal plot                                          list the kinds
    lineal plot boundary penguins.lineal penguins.csv    write penguins-boundary.svg
    lineal plot all penguins.lineal penguins.csv -o DIR  draw all that apply, say why others do not
    """


@lineal.command(cls=Command)
@click.argument("model", type=File)
@click.argument("data", type=File)
@click.option("-o", "--output", type=File, metavar="FILE", help="The .html file.  [default: MODEL-report.html]")
@click.option("--trace", type=File, metavar="FILE", help="The steps of the fit, as lineal fit --trace wrote them.")
@click.option("--path", type=File, metavar="FILE", help="The fits at other strengths, as lineal path -o wrote them.")
@click.option(
    "--rows",
    type=click.IntRange(0, 5000),
    default=200,
    show_default=True,
    help="Rows of the data that may be shown of every class; 0 shows none.",
)
@click.option(
    "--theme", type=click.Choice(["light", "dark", "print"]), default="light", show_default=True, help="The colors."
)
@click.option("--dated", is_flag=True, help="Write the day on it; without, the same input gives the same bytes.")
@beside
@reading
@json_option
def report() -> None:
    r"""Write one page about a MODEL that can be filed: verdict, check, data, pictures, figures, what is not known.

    The page needs no network and no script. Every claim of the model is checked again on DATA: the exit code is that of
    lineal verify.

    \b
    lineal report penguins.lineal penguins.csv -o penguins.html
    """
