"""What can be typed about halfspaces: `lineal separable`. The work is imported when a command runs."""

from __future__ import annotations

from typing import Any

import click

from lineal.cli.commands import File, json_option, lineal, reading, shaping

__all__ = ["lineal", "separable"]


@lineal.command()
@click.argument("data", type=File)
@click.option("--target", metavar="COL", help="The column that holds the classes (SVMlight files: the label).")
@click.option("--weight", metavar="COL", help="A column of row weights; rows of weight 0 are absent.")
@click.option("--drop", metavar="COL", multiple=True, help="A column to leave out; may be repeated.")
@shaping
@click.option("--intercept/--no-intercept", default=True, help="Whether the boundary may miss the origin.")
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
@reading
@json_option
def separable(**options: Any) -> int:
    """Decide exactly whether a linear boundary separates the classes, and show the proof.

    Complete: some boundary makes no mistake. Quasi: some boundary has no row on the wrong side but rows of both classes on
    it. Overlap: neither. Every answer comes with integers that anyone can check: lineal verify FILE DATA does.
    """
    from lineal.cli.separable import run

    return run(**options)
