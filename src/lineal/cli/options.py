"""What all commands are, and the options that several share, in groups. Only click is imported, so help is instant."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

Declared = TypeVar("Declared", bound=Callable[..., Any])
File = click.Path(path_type=Path)
READING: Final = ("delimiter", "quote", "header", "sheet", "beside", "rename")
"""The options that say how DATA is read."""


class Command(click.Command):
    """A command whose work, ``run`` of the module of its name, is imported once its options are read."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; those that say how DATA is read become one DataFile."""
        rest = super().parse_args(ctx, args)
        if ctx.resilient_parsing:  # the shell asks for completions
            return rest
        if ctx.params.get("exposure") is not None:
            if ctx.params["offset"] is not None:
                raise click.UsageError("--exposure is an offset, its logarithm; leave --offset out, or --exposure.")
            ctx.params["offset"] = f"log({ctx.params['exposure']})"
        ctx.params.pop("exposure", None)
        self.callback = importlib.import_module(f"lineal.cli.{self.name}").run
        if isinstance(ctx.params.get("data"), Path):
            from lineal.cli.opening import DataFile

            options = {name: ctx.params.pop(name) for name in READING if name in ctx.params}
            ctx.params["data"] = DataFile(ctx.params["data"], **options)
        return rest


def typed(name: str) -> bool:
    """Whether an option was typed, not left at its default."""
    return click.get_current_context().get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


def holds_out(split: str | None) -> bool:
    """Whether --test-size holds rows out: a --split by a column says so itself, unless both were typed."""
    return typed("test_size") or not (split or "").startswith("column:")


def reading(command: Declared) -> Declared:
    """Add the options that say how a file is read."""
    names = "A column of DATA under another name; may be repeated."
    command = click.option("--rename", metavar="OLD=NEW", multiple=True, help=names)(command)
    command = click.option("--delimiter", metavar="CHAR", help="What separates cells; found by itself if not given.")(
        command
    )
    command = click.option(
        "--quote",
        metavar="CHAR|none",
        callback=lambda _context, _option, value: "" if value == "none" else value,
        help="What encloses cells, \" or '; none: quotes are plain text. Found by itself if not given.",
    )(command)
    sheet = "Of a spreadsheet, the sheet to read; the first that holds anything if not given."
    command = click.option("--sheet", metavar="NAME", help=sheet)(command)
    header = "Whether the first line holds the column names; found by itself if not given."
    return click.option("--header/--no-header", default=None, help=header)(command)


def deciding(command: Declared) -> Declared:
    """Add the options that turn probabilities into decisions."""
    command = click.option(
        "--costs",
        metavar="COSTS",
        help="Decide the class of least expected cost: rows of true classes, such as 0,1;5,0, or a CSV file with names.",
    )(command)
    words = "Decide the second of two classes where its probability is above this."
    return click.option("--threshold", type=float, metavar="TAU", help=words)(command)


def beside(command: Declared) -> Declared:
    """Add --beside."""
    words = (
        "A file whose columns belong to DATA: rows by their order, or by a key column; NAME is that of its only column or "
        "its vectors. May be repeated."
    )
    return click.option("--beside", metavar="[NAME=]FILE[:KEY]", multiple=True, help=words)(command)


def shaping(command: Declared) -> Declared:
    """Add the options that say which terms the columns make."""
    command = click.option(
        "--poly",
        type=click.IntRange(1, 10),
        metavar="D",
        default=1,
        help="Add every product of up to D columns: 2 for squares and pairs.",
    )(command)
    command = click.option(
        "--text",
        metavar="COL:OPTIONS",
        multiple=True,
        help="A column of free text and how to read it, such as note:ngrams=2,max=5000 (docs/text.md). May be repeated.",
    )(command)
    formula = "The terms, as in 'y ~ age + C(job, ref=\"none\") + poly(dose, 3) + age:dose + log(x) - 1'."
    return click.option("--formula", metavar="TEXT", help=formula)(command)


def roles(command: Declared) -> Declared:
    """Add the options that give columns a role, or none."""
    drop = "A column to leave out; may be repeated."
    command = click.option("--drop", metavar="COL", multiple=True, help=drop)(command)
    exposure = "A column that counts are in proportion to, such as time or people: the offset log(COL)."
    command = click.option("--exposure", metavar="COL", help=exposure)(command)
    offset = "A numeric column added to the linear score, or a function of one: log(COL)."
    command = click.option("--offset", metavar="COL", help=offset)(command)
    return click.option("--weight", metavar="COL", help="A column of row weights (>= 0).")(command)


def alternatives(command: Declared) -> Declared:
    """Add --formula, --poly and --text where several formulas or degrees are compared."""
    command = click.option(
        "--text",
        metavar="COL:OPTIONS",
        multiple=True,
        help="A column of free text and how to read it. May be repeated.",
    )(command)
    poly = "Add every product of up to D columns; repeated, degrees are compared."
    command = click.option("--poly", type=click.IntRange(1, 10), metavar="D", multiple=True, help=poly)(command)
    formula = "The terms, as for fit; repeated, formulas are compared."
    return click.option("--formula", metavar="TEXT", multiple=True, help=formula)(command)


def asking(command: Declared) -> Declared:
    """Add the options that say what is fitted, for commands that fit the same rows several times."""
    command = click.option("--solver", metavar="NAME", default="auto", help="As for fit.")(command)
    command = click.option("--bounds", metavar="COL:LO:HI", multiple=True, help="As for fit.")(command)
    command = click.option("--penalize", metavar="HOW", multiple=True, help="As for fit.")(command)
    command = click.option("--penalty", metavar="NAME", help="As for fit.")(command)
    command = click.option("--model", metavar="NAME", default="auto", show_default=True, help="As for fit.")(command)
    return click.option("--target", metavar="COL", help="The column to predict.")(command)


def folding(words: str) -> Callable[[Declared], Declared]:
    """Return what adds --folds: a number, or a column whose every value is a fold."""

    def read(_context: click.Context, _option: click.Parameter, value: str | None) -> int | str | None:
        return int(value) if value is not None and value.isascii() and value.isdigit() else value

    return click.option("--folds", metavar="K|COL", callback=read, help=words)


def penalizing(command: Declared) -> Declared:
    """Add --penalize."""
    words = (
        "How the penalty sees columns: standardized (the default, but for words of a text) or raw, as scikit-learn and the "
        "lecture notes; for some columns raw,age=standardized. May be repeated."
    )
    return click.option("--penalize", metavar="HOW", multiple=True, help=words)(command)


def intercept(words: str) -> Callable[[Declared], Declared]:
    """Return what adds --no-intercept."""
    return click.option("--intercept/--no-intercept", default=True, help=words)


def seed(words: str) -> Callable[[Declared], Declared]:
    """Return what adds --seed."""
    numbers = click.IntRange(min=0, max=2**63 - 1)
    return click.option("--seed", type=numbers, metavar="N", default=0, show_default=True, help=words)


def limit(words: str) -> Callable[[Declared], Declared]:
    """Return what adds --time-limit."""
    return click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help=words)


def columns(command: Declared) -> Declared:
    """Add the options that say what columns are."""
    types = "What a column is: number, category, boolean, ordinal:LOW<HIGH, date:DMY, text, verbatim or drop. May be repeated."
    command = click.option(
        "--max-levels",
        type=click.IntRange(min=1),
        metavar="N",
        help="How many levels of a category have a column, the most frequent ones; others share one. All, if not given.",
    )(command)
    command = click.option(
        "--missing",
        type=click.Choice(["mark", "mean", "median", "drop"]),
        default="mark",
        show_default=True,
        help="Missing cells: marked in a column of their own (a level of a category), or no more than the mean or "
        "median; drop: a row that has one is not fitted.",
    )(command)
    command = click.option(
        "--na",
        metavar="[COL=]MARKS",
        multiple=True,
        help="Which cells are missing, beside empty ones: --na NA,? for all columns, --na age=default,-999 for one; "
        "--na word= for none (None is a word then). May be repeated.",
    )(command)
    return click.option("--types", metavar="COL=TYPE", multiple=True, help=types)(command)


def positive(command: Declared) -> Declared:
    """Add --positive."""
    return click.option("--positive", metavar="LABEL", help="Of two classes the one that is modelled.")(command)


def labels(command: Declared) -> Declared:
    """Add --labels-by."""
    words = (
        "The cells of the target list labels, of which a row has any number, and this stands between them, such as ';'. "
        "Columns of lists need no saying."
    )
    return click.option("--labels-by", metavar="TEXT", help=words)(command)


def declared_types(command: Declared) -> Declared:
    """Add the options that say what columns are, also by a recipe."""
    words = "Read target, roles and types from a TOML file."
    return columns(click.option("--recipe", type=File, metavar="FILE", help=words)(command))


def parting(command: Declared) -> Declared:
    """Add --split."""
    how = (
        "How rows are parted, other than at random: stratified, group:COL, time:COL (the last rows test), or "
        "column:COL, whose cells say train, validation or test."
    )
    return click.option("--split", metavar="HOW", help=how)(command)


def splitting(command: Declared) -> Declared:
    """Add the options that say which rows are held out."""
    command = parting(command)
    command = click.option(
        "--validation-size",
        type=click.FloatRange(0, 1, max_open=True),
        metavar="SHARE",
        default=0.0,
        help="Share of rows on which a strength is picked; without it by cross-validation.",
    )(command)
    return click.option(
        "--test-size",
        type=click.FloatRange(0, 1, max_open=True),
        metavar="SHARE",
        default=0.2,
        show_default=True,
        help="Share of rows held out to measure the model; 0 fits all rows, as fit does by itself where there are fewer than 30.",
    )(command)


def table_output(what: str) -> Callable[[Declared], Declared]:
    """Add -o for the table that a command prints."""
    words = f"Write {what} to a .csv, .tsv, .jsonl, .parquet or .xlsx file."
    return click.option("-o", "--output", type=File, metavar="FILE", help=words)


def json_option(command: Declared) -> Declared:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")(command)
