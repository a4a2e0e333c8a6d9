"""`lineal test`: whether a model is better than a smaller one, and hypotheses about coefficients."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lineal.api.model_file import load
from lineal.cli.opening import DataFile
from lineal.cli.output import apart, table_file, write_table
from lineal.cli.page import Screen
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch
from lineal.cli.summary import unread
from lineal.errors import InputError
from lineal.inference.hypotheses import Tests
from lineal.inference.linear_hypothesis import hypothesis_test
from lineal.inference.nested import nested_tests


def run(
    *,
    model: Path,
    larger: Path | None,
    data: DataFile | None,
    hypothesis: str | None,
    of_class: str | None,
    output: Path | None,
    as_json: bool,
    **reading: Any,
) -> int:
    """Test and print."""
    if data is None:
        unread(reading)
    if output is not None:
        table_file(output, "-o")
        apart(output, "-o", model, larger, *(() if data is None else data.files))
    tests = _nested(model, larger, data) if hypothesis is None else _hypothesis(model, larger, hypothesis, of_class)
    if hypothesis is None and of_class is not None:
        raise InputError("--class is for --hypothesis; leave it out.")
    if output is not None:
        write_table(output, tests.columns(), "tests")
    if as_json:
        named = {"model": str(model), "larger": None if larger is None else str(larger)}
        click.echo(text({**named, "data": None if data is None else str(data), **tests.to_dict()}))
    else:
        Screen().print(tests)
    return 0


def _nested(model: Path, larger: Path | None, data: DataFile | None) -> Tests:
    """Compare two models."""
    if larger is None:
        raise InputError(
            "there is nothing to test: give a larger model beside the smaller one, or a hypothesis about coefficients, "
            "such as --hypothesis 'age = 0'."
        )
    small, large = load(model), load(larger)
    if len(small.columns) > len(large.columns):
        small, large = large, small
    if data is None:
        return nested_tests(small, large)
    with Watch(f"reading {data}"):
        return nested_tests(small, large, data.open())


def _hypothesis(model: Path, larger: Path | None, hypothesis: str, of_class: str | None) -> Tests:
    """Test hypotheses about one model."""
    if larger is not None:
        raise InputError(f"--hypothesis is about one model, and {larger} is a second; leave one of them out.")
    return hypothesis_test(load(model), hypothesis, output=of_class)
