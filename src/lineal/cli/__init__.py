"""The command line: one small file for each command."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Sequence
from typing import Final

import click

from lineal.cli.first_steps import lineal
from lineal.errors import LinealError

INTERRUPTED_EXIT_CODE: Final = 130
CLOSED_PIPE_EXIT_CODE: Final = 141
BUG_EXIT_CODE: Final = 70
MAX_SENTENCE_LENGTH: Final = 1200
OUT_OF_MEMORY_PATTERN: Final = re.compile("failed to map segment|can't start new thread")
"""What the loader of shared objects and threads say where memory is short."""
OUT_OF_MEMORY_SENTENCE: Final = (
    "there is not enough memory for this; give the process more (ulimit -v, the limit of its container), or leave out "
    "columns (--drop) or rows."
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code.

    0 done, 1 `verify` refused, 2 bad input, 3 an unfinished verdict, 70 a bug in lineal, 130 interrupted.
    """
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; every error becomes one sentence on stderr.

    With --json it is also the one object on stdout, ``{"error": sentence, "exit_code": code}``.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if arguments is None and (asked := os.environ.get("_LINEAL_COMPLETE")):
        from lineal.cli.completion import answer

        return answer(lineal, asked)
    try:
        try:
            # not lineal.main(): that one prints a line of its own on Ctrl-C
            with lineal.make_context("lineal", list(words)) as context:
                code = lineal.invoke(context)
        except click.exceptions.Exit as done:
            code = done.exit_code
        if sys.stdout is not None:  # (it is None where the caller closed it)
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED_EXIT_CODE
    except BrokenPipeError:
        # Point stdout at nothing, so that Python's own flush at exit cannot complain about the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return CLOSED_PIPE_EXIT_CODE
    except Exception as error:  # (the last door: a person must not be shown a traceback)
        return _refused(error, as_json="--json" in words)


def _refused(error: Exception, *, as_json: bool) -> int:
    """Print the sentence for an error, and return the exit code."""
    sentence, code = _sentence_and_code(error)
    picture = getattr(error, "picture", "")  # lines below the sentence, such as a formula with a caret
    sentence = f"{_bounded(' '.join(sentence.removesuffix(picture).split()))}{picture}"
    if as_json and not getattr(error, "answered", False):  # (an answer may have said it already)
        with contextlib.suppress(OSError):  # (stdout may be what failed; stderr says it in any case)
            click.echo(json.dumps({"error": sentence, "exit_code": code}, ensure_ascii=False, indent=2))
    click.echo(f"lineal: {sentence}", err=True)
    return code


def _sentence_and_code(error: Exception) -> tuple[str, int]:
    """Return the sentence for an error and the exit code."""
    if isinstance(error, LinealError):
        return str(error), error.exit_code
    if isinstance(error, click.ClickException):
        return error.format_message(), 2
    if os.environ.get("LINEAL_DEBUG"):
        raise error
    if isinstance(error, MemoryError) or (
        isinstance(error, ImportError | RuntimeError) and OUT_OF_MEMORY_PATTERN.search(str(error))
    ):
        return OUT_OF_MEMORY_SENTENCE, 2
    if isinstance(error, OSError):
        where = f" {error.filename}" if error.filename else ""
        return f"the system refused to read or write{where}: {error.strerror or error}.", 2
    detail = f"{type(error).__name__}: {error}"
    return f"this is a bug in lineal ({detail}); set LINEAL_DEBUG=1 to see where, and please report it.", BUG_EXIT_CODE


def _bounded(sentence: str) -> str:
    """Return a sentence without the middle of what is too long to read: a cell or a name may have megabytes."""
    if len(sentence) <= MAX_SENTENCE_LENGTH:
        return sentence
    return f"{sentence[: MAX_SENTENCE_LENGTH // 2]} ... {sentence[-MAX_SENTENCE_LENGTH // 2 :]}"
