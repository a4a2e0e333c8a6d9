"""`lineal plot`: pictures of fits, by kind."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click
from rich.text import Text

from lineal.cli.opening import DataFile
from lineal.cli.options import READING, typed
from lineal.cli.output import apart
from lineal.cli.page import Screen, lined
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch
from lineal.errors import InputError, LinealError
from lineal.plots.catalogue import Kind
from lineal.plots.kinds import every_kind
from lineal.plots.kinds import kind as kind_of
from lineal.plots.record import Figure
from lineal.plots.saving import check
from lineal.plots.wording import clean

PLAIN_OPTIONS: Final = ("kind", "inputs", "output", "width", "height", "theme", "as_json", "settings", *READING)
ALL: Final = "all"


def run(
    *, kind: str | None, inputs: tuple[str, ...], output: Path | None, width: int | None, height: int | None,
    theme: str, as_json: bool, settings: tuple[str, ...], **options: Any,
) -> int:  # fmt: skip
    """Draw, print the caption, and return the exit code."""
    reading: dict[str, Any] = {name: options.pop(name) for name in READING if name in options}
    if kind is None:
        _list(as_json)
        return 0
    wanted = {("map" if name == "map_" else name): value for name, value in options.items() if typed(name)}
    wanted |= dict(_pair(one, "--set") for one in settings)
    if "at" in wanted:
        wanted["at"] = dict(_pair(one, "--at") for one in wanted["at"])
    look = {"width": width, "height": height, "theme": theme}
    if kind == ALL:
        return _all(inputs, output, reading, look, as_json)
    chosen = kind_of(kind)
    chosen.check(wanted)
    given = sort_inputs(chosen, inputs, reading)
    if "costs" in wanted:
        from lineal.cli.decisions import costs_of

        wanted["costs"] = costs_of(wanted["costs"], given["model"])
    target = output or Path(f"{_stem(inputs)}-{kind}.svg")
    check(target.suffix.lower(), theme)
    apart(target, "-o", *(Path(one) for one in inputs))
    with Watch(f"drawing {kind}"):
        figure = _drawn(chosen, given, wanted, inputs)
        written(figure, target, **look)
    if as_json:
        click.echo(text({**figure.to_dict(), "file": str(target)}))
    else:
        click.echo(f"{figure.caption}\n\nWritten to {target}.")
    return 0


def sort_inputs(kind: Kind, inputs: tuple[str, ...], reading: dict[str, Any]) -> dict[str, Any]:
    """Return what was typed by the names of a kind's parameters: model, other, answer, data, trace, names."""
    sorts = [_sort(one, kind) for one in inputs]
    pattern = " ".join(sorts)
    ways = [way.split() for way in kind.inputs]
    if not any(_fits(sorts, way) for way in ways):
        needs = ", or ".join(f"lineal plot {kind.name} {way}" for way in kind.inputs)
        raise InputError(f"the picture {kind.name} is drawn from {needs}; given is {pattern or 'nothing'}.")
    given: dict[str, Any] = {}
    for one, sort in zip(inputs, sorts, strict=True):
        if sort == "MODEL":
            given["other" if "model" in given else "model"] = _loaded(Path(one))
        elif sort == "ANSWER":
            given["answer"] = Path(one)
        elif sort == "NAMES":
            given.setdefault("names", []).append(one)
        elif sort == "TRACE":
            given.setdefault("trace", []).append(Path(one))
        else:
            given["data"] = DataFile(Path(one), **reading).open()
    return given


def _fits(sorts: list[str], way: list[str]) -> bool:
    """Whether inputs are those of a way to ask; NAMES and TRACE.. stand for any number of them."""
    several = {word.removesuffix("..") for word in way if word.endswith("..") or word == "NAMES"}
    wanted = [word.removesuffix("..") for word in way]
    short = [sort for k, sort in enumerate(sorts) if sort not in several or sort not in sorts[:k]]
    return sorted(short) == sorted(wanted)


def _sort(one: str, kind: Kind) -> str:
    """Return what an input is: a model file by its ending or first bytes, else a trace where one is wanted, else data."""
    path = Path(one)
    words = {word.removesuffix("..") for way in kind.inputs for word in way.split()}
    if not path.exists() and "NAMES" in words and one != "-":
        return "NAMES"
    if not path.exists() and one != "-":
        raise InputError(f"there is no file {one}; the picture {kind.name} is drawn from {' or '.join(kind.inputs)}.")
    if path.is_dir() or (path.is_file() and _is_model(path)):
        return "ANSWER" if "ANSWER" in words else "MODEL"  # (a folder is a stack)
    if "TRACE" in words and ("DATA" not in words or _is_trace(path)):
        return "TRACE"
    return "DATA"


def _loaded(path: Path) -> Any:
    """Return the model of a file, the stack of a folder."""
    if path.is_dir():
        from lineal.api.stacking import Stack

        return Stack.load(path)
    from lineal.api.model_file import load

    return load(path)


def _is_model(path: Path) -> bool:
    """Whether a file begins as model files do: eight bytes of length, then JSON."""
    with path.open("rb") as stream:
        start = stream.read(9)
    return len(start) == 9 and start[8:] == b"{" and start[5:8] == b"\0\0\0"


def _is_trace(path: Path) -> bool:
    from lineal.plots.traces import is_trace

    return is_trace(path)


def written(figure: Figure, path: Path, **look: Any) -> None:
    """Write a picture; what the system refuses is a sentence."""
    try:
        figure.save(path, **look)
    except OSError as error:
        raise InputError(f"the picture cannot be written to {path}: {error.strerror or error}.") from None


def _drawn(kind: Kind, given: dict[str, Any], wanted: dict[str, Any], inputs: tuple[str, ...]) -> Figure:
    """Return the picture with the command that draws it again."""
    figure = kind.draw(**given, **wanted)
    words = ["lineal", "plot", kind.name, *inputs]
    for name, value in wanted.items():
        pairs = [f"{key}={one}" for key, one in value.items()] if isinstance(value, dict) else [str(value)]
        words += [word for pair in pairs for word in (f"--{name}", pair)]
    return replace(figure, source={**figure.source, "command": shlex.join(words)})


def _all(
    inputs: tuple[str, ...], output: Path | None, reading: dict[str, Any], look: dict[str, Any], as_json: bool
) -> int:
    """Draw every kind that applies into a folder; say why others do not."""
    if output is None:
        raise InputError("lineal plot all writes many files: name the folder with -o FOLDER.")
    output.mkdir(parents=True, exist_ok=True)
    drawn, left = list[tuple[str, str]](), list[tuple[str, str]]()
    for kind in every_kind():
        try:
            given = sort_inputs(kind, inputs, reading)
            with Watch(f"drawing {kind.name}"):
                figure = _drawn(kind, given, {}, inputs)
                written(figure, output / f"{_stem(inputs)}-{kind.name}.svg", **look)
        except LinealError as error:
            left.append((kind.name, str(error)))
        else:
            drawn.append((kind.name, figure.caption))
    if as_json:
        click.echo(text({"folder": str(output), "drawn": dict(drawn), "left_out": dict(left)}))
        return 0
    table = lined("Picture", "What it says")
    for name, words in (*drawn, *((name, f"not drawn: {reason}") for name, reason in left)):
        table.add_row(Text(name), Text(words))
    Screen().print(table)
    click.echo(f"\n{len(drawn)} pictures written to {output}.")
    return 0


def _list(as_json: bool) -> None:
    """Print the kinds."""
    kinds = every_kind()
    if as_json:
        click.echo(text({"kinds": [_about(kind) for kind in kinds]}))
        return
    table = lined("Kind", "Drawn from", "Question")
    for kind in kinds:
        table.add_row(Text(kind.name), Text(" | ".join(kind.inputs)), Text(kind.question))
    Screen().print(table)


def _about(kind: Kind) -> dict[str, Any]:
    return {"kind": kind.name, "question": kind.question, "inputs": list(kind.inputs), "notes": list(kind.notes),
            "options": list(kind.options)}  # fmt: skip


def _pair(words: str, option: str) -> tuple[str, str]:
    """Return the two sides of NAME=VALUE."""
    name, equals, value = words.partition("=")
    if not equals or not name.strip():
        raise InputError(f"{option} {clean(words)}: write a name and a value, as NAME=VALUE.")
    return name.strip(), value.strip()


def _stem(inputs: tuple[str, ...]) -> str:
    """Return how names of files begin: as the first input that is a file."""
    files = [Path(one) for one in inputs if Path(one).is_file()]
    return files[0].name.split(".")[0] if files else "lineal"
