"""What can be typed to begin with: `lineal help`, `lineal completion` and `lineal examples`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from lineal.cli.options import Command, File, json_option
from lineal.cli.pictures import lineal

COMPLETION: Final = """Print the script that lets a shell complete commands, options and files.

\b
eval "$(lineal completion bash)"         in ~/.bashrc
eval "$(lineal completion zsh)"          in ~/.zshrc
lineal completion fish | source          in ~/.config/fish/config.fish
"""

__all__ = ["completion", "examples", "help_", "lineal"]


@lineal.command("help", cls=Command)
@click.argument("command", required=False)
def help_() -> None:
    """Show the help of a command: lineal help fit is lineal fit --help."""


@lineal.command(cls=Command, help=COMPLETION)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion() -> None:
    """Print the script of a shell."""


@lineal.command(cls=Command)
@click.argument("folder", type=File, default=Path("lineal-examples"))
@json_option
def examples() -> None:
    """Write small tables to play with into a new FOLDER, and show what to type.

    The tables are made up: rents of flats, decisions on credit, and messages.
    """
