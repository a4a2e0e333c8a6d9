"""`lineal completion`: what a shell asks for commands, options and files."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class, shell_complete

from lineal.errors import InputError

ASKED_BY: Final = "_LINEAL_COMPLETE"
"""The variable with which the script of a shell asks for completions."""


def run(*, shell: str) -> int:
    """Print the script of a shell."""
    root = click.get_current_context().find_root().command
    kind = get_completion_class(shell)
    if kind is None:
        raise InputError(f"there is no completion for {shell}.")
    click.echo(kind(root, {}, "lineal", ASKED_BY).source())
    return 0


def answer(group: click.Command, asked: str) -> int:
    """Print the completions that a shell asks for."""
    return shell_complete(group, {}, "lineal", ASKED_BY, asked)
