"""`lineal help`: the help of the program, or of one command."""

from __future__ import annotations

import click

from lineal.errors import InputError, near


def run(*, command: str | None) -> int:
    """Print the help."""
    top = click.get_current_context().find_root()
    group = top.command
    if command is None or not isinstance(group, click.Group):
        click.echo(group.get_help(top))
        return 0
    known = group.list_commands(top)
    one = group.get_command(top, command)
    if one is None:
        raise InputError(f"there is no command {command!r}.{near(command, known)} The commands are {', '.join(known)}.")
    with click.Context(one, info_name=command, parent=top) as context:
        click.echo(one.get_help(context))
    return 0
