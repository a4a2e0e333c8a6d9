"""What can be typed: every command with its options; ``Command`` imports the work when it runs, so help is instant."""

from __future__ import annotations

from typing import Final

import click

from lineal import __version__
from lineal.cli.options import (
    Command,
    File,
    asking,
    beside,
    columns,
    deciding,
    declared_types,
    folding,
    intercept,
    json_option,
    labels,
    limit,
    parting,
    penalizing,
    positive,
    reading,
    roles,
    seed,
    shaping,
    splitting,
)

HELP: Final = """Fit linear models whose every fit ends with a verdict that a stranger can check.

\b
lineal fit penguins.csv --target species       fit, and write penguins.lineal
lineal verify penguins.lineal penguins.csv     let an independent program check it

Exit codes: 0 done, 1 verify refused, 2 bad input, 3 the fit has no proven optimum (--accept makes it 0).
"""
# (the backspace tells click to keep the lines as they are)


@click.group(
    invoke_without_command=True,
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="lineal", message="%(prog)s %(version)s")
@click.pass_context
def lineal(context: click.Context) -> None:
    """Show the help where no command is named."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@lineal.command(cls=Command)
@click.argument("data", type=File)
@click.option(
    "--target",
    metavar="COL",
    help="The column to predict (SVMlight files: the label); SUCCESSES,FAILURES for counts; A,B,C for several numbers, or for "
    "labels, of which a row has any number: columns of yes and no.",
)
@labels
@click.option(
    "--model",
    metavar="NAME",
    default="auto",
    show_default=True,
    help="auto (looks at the target), linear, ridge, logistic, huber[:T], absolute, median, quantile:Q, poisson, svm, "
    "squared-hinge, sparsemax, bayes[:noise=V,prior=V], zero-one, knn:K, knn:auto or perceptron[:VARIANT] (plain, averaged, "
    "pocket), naive-bayes, lda or qda. linear has no penalty unless --penalty is given. kernel-ridge, kernel-svm (svm-rbf), "
    "kernel-logistic, kernel-perceptron and gp compare rows, texts or trees by a --kernel; with one, svm is kernel-svm.",
)
@click.option(
    "--kernel",
    metavar="NAME",
    help="Of a kernel machine: rbf:WIDTH (rbf:auto unless given), poly:DEGREE, laplacian:GAMMA or linear of standardized "
    "columns (all but linear also :auto); string:ssk,LENGTH,DECAY, spectrum:LENGTH or tree:DECAY, normalized, of the only "
    "column or the one with --types COL=verbatim. After a semicolon strength=V, "
    "else it is chosen on held-out rows; of gp noise=V and prior=V.",
)
@click.option(
    "--penalty",
    metavar="NAME",
    help="none, ridge:S, l1:S, elastic:S,R, group:S, firth or auto; S is a strength, or the word auto. If not given, a "
    "ridge strength is picked on rows the fit does not see.",
)
@penalizing
@click.option(
    "--bounds",
    metavar="COL:LO:HI",
    multiple=True,
    help="Bounds on a coefficient; either may be empty. May be repeated.",
)
@click.option(
    "--multiclass",
    metavar="SCHEME",
    default="direct",
    show_default=True,
    help="Three or more classes: direct (one model), or binary models by ovr (one against the rest), ovo (one against one), "
    "ecoc or ecoc:BITS,sparse,distance (output codes; dense or sparse, read by loss or distance).",
)
@click.option(
    "--solver",
    metavar="NAME",
    default="auto",
    show_default=True,
    help="How to minimise, with options: gradient-descent:step=0.1. The answer does not depend on it, unless it is stopped.",
)
@click.option(
    "--steps", type=click.IntRange(min=1), metavar="N", help="Take N steps (epochs of sgd, mini-batch, saga) at most."
)
@click.option(
    "--start",
    metavar="NUMBERS",
    help="Where steps begin: zero, or a number for each design column, commas between them, semicolons between outputs.",
)
@click.option(
    "--trace",
    type=File,
    help="Write the steps of the solver, with their coefficients, to this file (.csv, .parquet, .xlsx, ...).",
)
@click.option(
    "--tol",
    metavar="GAP",
    type=click.FloatRange(min=0, min_open=True),
    default=1e-6,
    show_default=True,
    help="The proven relative gap at which the fit is called optimal; 1e-3 is faster on large tables.",
)
@roles
@positive
@declared_types
@shaping
@intercept("Whether the score has a constant; without, 0 is its level.")
@splitting
@click.option("--test-file", type=File, help="Measure on this file instead of held-out rows.")
@click.option("--test-beside", metavar="[NAME=]FILE[:KEY]", multiple=True, help="As --beside, for --test-file.")
@seed("Which rows are held out and used for validation.")
@limit("Stop after this time, with what is proven so far.")
@click.option("--accept", is_flag=True, help="Exit with 0 even if the verdict is at_infinity, infeasible or budget.")
@click.option(
    "-o", "--output", type=File, metavar="MODEL", help="The model file to write.  [default: DATA's name with .lineal]"
)
@beside
@reading
@json_option
def fit() -> None:
    """Fit a linear model to a table and write it to a file.

    DATA is a CSV, TSV, Parquet, Feather, JSON, SVMlight or Excel file, the text ones perhaps packed (.gz, .bz2, .xz,
    .zst); - is standard input.
    """


@lineal.command(cls=Command)
@click.argument("recipe", type=File)
@click.argument("data", type=File)
@click.option("-o", "--output", type=File, required=True, metavar="FOLDER", help="The new folder to write.")
@limit("For all fits together, which share it; a model that is cut short has the verdict budget.")
@beside
@reading
@json_option
def stack() -> None:
    """Fit models whose out-of-fold scores are columns of a last one, as a TOML recipe says (docs/stacking.md).

    predict, evaluate, show and verify take the folder in place of a model.
    """


@lineal.command(cls=Command)
@click.argument("data", type=File)
@click.option("--target", metavar="COL", help="The column to predict (SVMlight files: the label).")
@click.option("--model", metavar="NAME", default="auto", show_default=True, help="As for fit; it names the loss.")
@click.option("--penalty", metavar="NAME", default="l1", show_default=True, help="l1, elastic:RATIO, group or ridge.")
@penalizing
@click.option("--bounds", metavar="COL:LO:HI", multiple=True, help="As for fit.")
@click.option("--solver", metavar="NAME", default="auto", show_default=True, help="As for fit.")
@click.option("--points", type=click.IntRange(min=1), default=30, show_default=True, help="How many strengths.")
@click.option(
    "--ratio",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="The last strength, as a share of the first; 0.001 unless given, of a ridge 0.000001.",
)
@roles
@positive
@declared_types
@shaping
@intercept("As for fit.")
@parting
@click.option(
    "--test-size",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="SHARE",
    default=0.2,
    show_default=True,
    help="Share of rows held out to measure every point.",
)
@seed("Which rows are held out.")
@limit("Stop after this time; the points that are left have the verdict budget.")
@click.option("--accept", is_flag=True, help="Exit with 0 even if a point is not proven.")
@click.option(
    "-o", "--output", type=File, metavar="FILE", help="Write the table, with coefficients, as CSV or Parquet."
)
@beside
@reading
@json_option
def path() -> None:
    """Fit a table at many strengths of a penalty: which columns enter, how well each point predicts, every verdict."""


@lineal.command(cls=Command)
@click.argument("model", type=File)
@click.argument("data", type=File)
@click.option(
    "-o",
    "--output",
    type=File,
    metavar="OUT",
    help="A .csv, .tsv, .jsonl, .parquet or .xlsx file; stdout (CSV) if not given.",
)
@click.option("--proba", is_flag=True, help="Add one column per class or label with its probability.")
@click.option(
    "--score", is_flag=True, help="Add the score X b: of two classes that of the second, of several one column each."
)
@click.option(
    "--interval",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="LEVEL",
    help="Add the standard deviation of the prediction and an interval that covers the target with this probability, such "
    "as 0.95: model bayes, or least squares without a penalty.",
)
@click.option("--keep", metavar="COL,...|all", help="Put these columns of DATA before the predictions, or all of them.")
@click.option(
    "--explain",
    type=click.IntRange(min=1),
    metavar="N",
    help="Add the N columns that move the score of the row most, against the mean of the training rows, and by how much.",
)
@click.option(
    "--on-error",
    type=click.Choice(["stop", "blank", "skip"]),
    default="stop",
    show_default=True,
    help="A row with a cell that cannot be read: an error, a row of blanks, or no row.",
)
@deciding
@beside
@reading
@json_option
def predict() -> None:
    """Predict every row of a table, batch by batch, in constant memory."""


@lineal.command(cls=Command)
@click.argument("fitted", metavar="MODEL", type=File)
@click.argument("data", type=File, required=False)
@deciding
@click.option(
    "--rows",
    type=click.Choice(["held-out", "all"]),
    default="held-out",
    show_default=True,
    help="Which rows are measured of the table that the model was fitted to; of another table always all.",
)
@click.option(
    "--thresholds",
    is_flag=True,
    help="Add precision, recall, lift and (with --costs) the mean cost at thresholds from 0.05 to 0.95; the best is marked.",
)
@folding(
    "Measure a way of fitting instead: leave out each of K folds (or values of a column), fit the rest, predict it."
)
@asking
@click.option("--multiclass", metavar="SCHEME", default="direct", help="As for fit.")
@click.option("--labels-by", metavar="TEXT", help="As for fit.")
@roles
@positive
@declared_types
@shaping
@intercept("As for fit.")
@click.option("--split", metavar="HOW", help="How rows are dealt into folds: stratified, or group:COL.")
@seed("Which rows are in which fold.")
@limit("For all fits together, which share it.")
@beside
@reading
@json_option
def evaluate() -> None:
    """Measure a model on rows it was not fitted to; or with --folds DATA, a way of fitting on rows it has not seen.

    lineal evaluate --folds 10 DATA --target COL takes the options of fit and no MODEL.
    """


@lineal.command(cls=Command)
@click.argument("data", type=File)
@click.option("--target", metavar="COL", help="The column that would be predicted.")
@roles
@columns
@click.option("--recipe", type=File, metavar="FILE", help="Write the decisions to this TOML file, for fit to read.")
@beside
@reading
@json_option
def inspect() -> None:
    """Look at a table: what every column holds, and what a fit would make of it."""


@lineal.command(cls=Command)
@click.argument("data", type=File)
@click.option(
    "--kernel",
    metavar="K",
    required=True,
    help="linear, rbf:WIDTH, poly:DEGREE[,COEF0[,GAMMA]], laplacian:GAMMA, sigmoid:GAMMA[,COEF0], precomputed; of texts "
    "string:ssk,LENGTH,DECAY or spectrum:LENGTH (unit=words); of trees tree:DECAY; also KERNEL + KERNEL, KERNEL * KERNEL "
    "and normalized(KERNEL).",
)
@click.option("--column", metavar="COL", help="The column of texts, or of trees in brackets.")
@click.option("--drop", metavar="COL", multiple=True, help="A column to leave out; may be repeated.")
@columns
@click.option(
    "--raw", is_flag=True, help="Numbers as they are; otherwise columns have mean 0 and standard deviation 1."
)
@click.option(
    "--check", is_flag=True, help="Mercer's test: whether the matrix is positive semi-definite, with a witness."
)
@click.option("-o", "--output", type=File, metavar="FILE.npy", help="Write the Gram matrix.")
@beside
@reading
@json_option
def kernel() -> None:
    """Compare all rows of a table by a kernel: the Gram matrix, and Mercer's test of it.

    Exit code 3 means that the test is undecided.
    """


@lineal.command(cls=Command)
@click.argument("model", type=File)
@json_option
def show() -> None:
    """Show everything a model file holds."""


@lineal.command(cls=Command)
@click.argument("model", type=File)
@click.argument("data", type=File)
@beside
@reading
@json_option
def verify() -> None:
    """Check a model's verdict against its data, without trusting the solver.

    DATA is the file the model was fitted on. Exit code 1 means that a claim was refused.
    """


@lineal.command(cls=Command)
@click.argument("value", type=float)
@click.option("--from", "source", metavar="DIALECT", default="strength", show_default=True, help="What VALUE is.")
@click.option("--n", type=click.FloatRange(min=0, min_open=True), required=True, help="The number of rows.")
@click.option("--weight-sum", type=click.FloatRange(min=0, min_open=True), help="The sum of the weights, if not N.")
@click.option("--spread", type=click.FloatRange(min=0, min_open=True), help="What a few dialects also depend on.")
@json_option
def dialect() -> None:
    """Translate the strength of a penalty: scikit-learn's C and alpha, glmnet's lambda, sigma^2/tau^2 and others."""
