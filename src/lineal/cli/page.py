"""The page a person reads: the verdict first, then the objective, the data, the metrics and the coefficients."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import click
from rich.console import Console, Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from lineal.cli.curve import selection
from lineal.cli.left_out import dropped
from lineal.metrics import metric
from lineal.model.verdict import KINDS

MAX_LINES_SHOWN: Final = 20
"""How many columns' coefficients `fit` prints; `show` prints all, but for models of text."""
MAX_COLUMNS_LISTED: Final = 2000
"""How many `show` prints at most."""


class Screen:
    """Stdout: colours on a terminal only (NO_COLOR respected), names never read as markup, no blanks at line ends.

    A pipe gets lines of up to 120 characters unless COLUMNS says otherwise, since a pipe has no width of its own.
    """

    def __init__(self) -> None:
        wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120
        self._console = Console(markup=False, highlight=False, emoji=False, width=wide)
        self.width = self._console.width
        self.unicode = "utf" in self._console.encoding.lower()

    def print(self, *parts: RenderableType) -> None:
        """Print parts one under the other, a blank line between them."""
        with self._console.capture() as captured:
            for number, part in enumerate(parts):
                self._console.print(*([""] if number else []), part, sep="\n")
        click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()), color=True)


def page(data: Mapping[str, Any], width: int, limit: int | None = MAX_LINES_SHOWN) -> list[RenderableType]:
    """Return the parts of the page of a summary; ``limit`` is how many lines of coefficients are shown (None: all)."""
    lines = _remedies(data["verdict"]) + _model(data) + _data(data)
    return [verdict(data["verdict"]), facts(lines), *_blocks(data, width), _coefficients(data, width, limit)]


def _blocks(data: Mapping[str, Any], width: int) -> list[RenderableType]:
    """Return what there is of the trials of a strength, the columns, the metrics and the words of texts."""
    chosen = data["model"]["selection"]
    picture = None if chosen is None else selection(chosen, width)
    blocks = (picture, _columns(data["data"]), _metrics(data), _words(data))
    return [block for block in blocks if block is not None]


CHECKED: Final = ("Remedies", "Objective", "Member", "Weight", "Offset")
"""Lines of the page that `lineal verify` checks, whatever the report of a file says."""


def apart(data: Mapping[str, Any], width: int, limit: int | None, heading: str) -> list[RenderableType]:
    """Return the parts of the page of a file, what `lineal verify` does not check apart from the rest, under that heading."""
    lines = _remedies(data["verdict"]) + _model(data) + _data(data)
    about = data["data"]
    rows = [
        ("Model", heading),
        ("Data", f"{about['training'].get('rows', 0):,} rows fitted"),
        ("Target", _named(about["target"], [])),
    ]
    shown = [line for line in lines if line[0] in CHECKED]
    return [
        verdict(data["verdict"]),
        facts(rows + shown),
        _coefficients(data, width, limit),
        Text("Not checked by lineal verify (nor are the effects above):", style="bold"),
        facts([line for line in lines if line[0] not in CHECKED]),
        *_blocks(data, width),
    ]


def _named(target: Mapping[str, Any], counts: Sequence[int]) -> str:
    """Return the target as the model itself has it, its classes with the number of rows where that is given."""
    if target["kind"] == "labels":
        words = [f" in {count:,} rows" for count in counts] or [""] * len(target["names"])
        names = [f"{name}{word}" for name, word in zip(target["names"], words, strict=True)]
        return f"{len(names)} labels, of which a row has any number: {listed(names, MAX_LINES_SHOWN, ', and')}"
    if target["kind"] != "classes":
        return f"{', '.join(target['names'] or [target['name']])}, a number"
    words = [f" {count:,}" for count in counts] or [""] * len(target["classes"])
    names = [f"{name}{word}" for name, word in zip(target["classes"], words, strict=True)]
    return f"{target['name']}, {len(names)} classes: {listed(names, MAX_LINES_SHOWN, ', and')}"


def listed(parts: Sequence[str], most: int, last: str = " and", by: str = ", ") -> str:
    """Return the first ``most`` parts, and how many more there are.

    >>> listed(["a", "b"], 2), listed(["a", "b", "c", "d"], 2)
    ('a, b', 'a, b and 2 more')
    """
    text = by.join(parts[:most])
    return text if len(parts) <= most else f"{text}{last} {len(parts) - most} more"


def verdict(data: Mapping[str, Any]) -> Text:
    """Return the sentence of the verdict, coloured by whether anything is left to worry about."""
    style = "bold green" if KINDS[data["kind"]].solved else "bold yellow"
    return Text(data["sentence"], style=style)


def facts(lines: Sequence[tuple[str, str]]) -> Table:
    """Return label and text side by side, the text wrapped."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    for label, words in lines:
        grid.add_row(Text(label), Text(words))
    return grid


def left_out(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the lines about rows that were left out and about how a table was read.

    >>> left_out({"without_target": 2, "notes": ["t.csv is not UTF-8; it is read as UTF-16."]})[0]
    ('Left out', '2 rows, because the target is missing')
    """
    gone = about.get("without_target", 0)
    lines = (
        [("Left out", f"{'1 row' if gone == 1 else f'{gone:,} rows'}, because the target is missing")] if gone else []
    )
    return lines + [("Note", sentence) for sentence in about.get("notes", [])]


def number(value: float | None) -> str:
    """Return a number with four significant digits, or a dash where there is none.

    >>> number(0.123456), number(None), number(1234567.0)
    ('0.1235', '-', '1.235e+06')
    """
    return "-" if value is None else f"{value:.4g}"


def _remedies(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return how the remedies that a verdict names are asked for here.

    >>> _remedies({"evidence": {"remedies": ["firth", "ridge"]}})
    [('Remedies', '--penalty firth, or --penalty ridge:0.001')]
    """
    named = data["evidence"].get("remedies", [])
    options = [f"--penalty {name}{':0.001' if name == 'ridge' else ''}" for name in named]
    return [("Remedies", ", or ".join(options))] if options else []


def _model(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    model = data["model"]
    value = model["objective_value"]
    lines = [
        ("Model", model["name"] if model["chosen"] is None else f"{model['name']} ({model['chosen']})"),
        ("Objective", model["objective"] + ("" if value is None else f"; F = {value:.6g}")),
    ]
    lines += _members("Multi-class", model["multiclass"]) + _members("Multi-label", model["labels"])
    if model["selection"] is not None:
        lines.append(("Penalty", f"strength {model['selection']['strength']:.4g}: {model['selection']['reason']}"))
    if model["threshold"] is not None:
        lines.append(("Threshold", model["threshold"]["reason"]))
    if model["bayes"] is not None:
        figures = {name: number(value) if isinstance(value, float) else value for name, value in model["bayes"].items()}
        noise, prior = (" (given)" if name in model["bayes"].get("given", ()) else "" for name in ("noise", "prior"))
        words = f"noise variance {{noise}}{noise}, prior variance {{prior}}{prior} of {{prior_of}}, "
        words += "{degrees} coefficients determined by the data"
        lines.append(("Evidence", f"{words}, log-evidence {{log_evidence}}".format(**figures)))
    return [*lines, ("Solver", f"{model['solver']['name']}: {model['solver']['reason']}")]


def _members(kind: str, committee: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Return what several members are together, and a line for each of them."""
    if committee is None:
        return []
    lines = [(kind, committee.get("sentence") or committee.get("scheme") or "a binary model for every label")]
    lines += [("Compared", committee["direct"]["sentence"])] if committee.get("direct") else []
    for member in committee["members"][:MAX_LINES_SHOWN]:
        strength = member["penalty"].get("strength")
        penalty = "" if strength is None else f", {member['penalty']['name']} {strength:.4g}"
        relative = member["verdict"]["relative_gap"]
        gap = "" if relative is None else f", relative gap {number(relative)}"
        lines.append(("Member", f"{member['asked']}: {member['verdict']['kind']}{gap}{penalty}"))
    if len(committee["members"]) > MAX_LINES_SHOWN:
        lines.append(("Member", f"and {len(committee['members']) - MAX_LINES_SHOWN} more (see --json)"))
    return lines


def _data(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    about, target = data["data"], data["data"]["target"]
    training = about["training"]
    rows = f"{training['rows']:,} rows fitted"
    if about.get("held_out"):
        rows += f", {about['held_out']:,} held out"
        rows += f" (seed {training['split']['seed']})" if training.get("split") else f" ({about['test_origin']})"
    if training.get("without_target"):
        rows += f", {training['without_target']:,} left out because the target is missing"
    lines = [("Data", f"{about['origin']}: {rows}" if about.get("origin") else rows)]
    lines.append(("Target", _named(target, target["counts"] or [])))
    roles = data["model"]["roles"]
    lines += [(role.capitalize(), roles[role]) for role in ("weight", "offset") if roles.get(role)]
    lines += [("Dropped", sentence) for sentence in dropped(about.get("dropped", []))]
    return lines + [("Note", sentence) for sentence in about.get("notes", [])]


def _columns(about: Mapping[str, Any]) -> Table | None:
    """Return the columns as understood, one a line; many plain numbers share a line."""
    columns = about.get("columns") or []
    numbers = [column["type"] == "number" and not column["missing"] for column in columns]
    plain = [column for column, bare in zip(columns, numbers, strict=True) if bare]
    many = len(columns) > MAX_LINES_SHOWN // 2
    single = [column for column, bare in zip(columns, numbers, strict=True) if not (many and bare)]
    rows = [[str(column[key]) for key in ("column", "type", "missing", "use")] for column in single]
    if len(single) < len(columns):
        names = ", ".join(column["column"] for column in plain[:MAX_LINES_SHOWN])
        names += ", ..." if len(plain) > MAX_LINES_SHOWN else ""
        rows.append([f"{len(plain)} columns", "number", "0", names])
    if not rows:
        return None
    if len(rows) > MAX_LINES_SHOWN:
        rows = [*rows[: MAX_LINES_SHOWN - 1], [f"... and {len(rows) - MAX_LINES_SHOWN + 1} more", "", "", ""]]
    table = lined("Column", "Type", "Missing", "Use")
    right(table.columns[2:3])
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _metrics(data: Mapping[str, Any]) -> Table | None:
    metrics = data["metrics"]
    where = next((key for key in metrics if key != "baseline"), None)
    if where is None:
        return None
    named = {"test": "Held out", "train": "Training rows"}.get(where, where)
    about = data["data"]
    if where == "test" and about.get("unknown_classes"):  # not of all that were held out
        named = f"{about['held_out']:,} of {about['held_out'] + sum(about['unknown_classes'].values()):,} held out"
    intervals = (data.get("evaluation") or {}).get("intervals", {})
    return compare(metrics[where], metrics.get("baseline"), named, intervals)


def _words(data: Mapping[str, Any]) -> Table | None:
    """Return the terms of text columns that speak most for each class."""
    entries = data.get("words") or []
    several = len({entry["column"] for entry in entries}) > 1
    lines = [
        (f"{entry['column']}: {entry['for']}" if several else f"Words for {entry['for']}", ", ".join(entry["words"]))
        for entry in entries
    ]
    return facts(lines) if lines else None


def compare(
    measured: Mapping[str, Any],
    baseline: Mapping[str, Any] | None,
    where: str,
    intervals: Mapping[str, Sequence[float | None]],
) -> Table:
    """Return the metrics, their intervals where there are some, and those of the baseline."""
    beside = [*(["95 % interval"] if intervals else []), *([] if baseline is None else ["Baseline"])]
    table = lined("Metric", where, *beside)
    right(table.columns[1:])
    for name in sorted(measured, key=metric.place):
        cells = [number(measured[name])]
        if intervals:
            low, high = intervals.get(name, (None, None))
            cells.append("" if low is None else f"{number(low)} to {number(high)}")
        cells += [] if baseline is None else [number(baseline.get(name))]
        table.add_row(Text(metric.titled(name)), *map(Text, cells))
    return table


def confusion(data: Mapping[str, Any]) -> Table | None:
    """Return how often each class was taken for each; None where there are too many to look at."""
    if len(data["classes"]) > MAX_LINES_SHOWN:
        return None
    table = lined("Happened / predicted", *data["classes"])
    right(table.columns[1:])
    for name, counts in zip(data["classes"], data["counts"], strict=True):
        table.add_row(Text(name), *(Text(f"{count:g}") for count in counts))
    return table


def per_class(lines: Sequence[Mapping[str, Any]]) -> Table | None:
    """Return precision, recall and F1 of every class and their means; None where there are too many to look at."""
    if len(lines) > MAX_LINES_SHOWN + 2:
        return None
    table = lined("Class", "Precision", "Recall", "F1", "Rows")
    right(table.columns[1:])
    for line in lines:
        name = line["class"] if line["class"] is not None else f"({line['average']} average)"
        cells = (*(number(line[figure]) for figure in ("precision", "recall", "f1")), f"{line['weight']:g}")
        table.add_row(Text(name), *map(Text, cells))
    return table


def per_label(lines: Sequence[Mapping[str, Any]]) -> Table | None:
    """Return the figures of every label and their averages; None where there are too many to look at."""
    if len(lines) > MAX_LINES_SHOWN + 2:
        return None
    shown = ("precision", "recall", "f1", "auc", "accuracy")
    table = lined("Label", "Precision", "Recall", "F1", "AUC", "Accuracy", "Rows", "With")
    right(table.columns[1:])
    for line in lines:
        name = line["label"] if line["label"] is not None else f"({line['average']} average)"
        figures = (number(line[figure]) if figure in line else "" for figure in shown)
        table.add_row(Text(name), *map(Text, (*figures, f"{line['rows']:g}", f"{line['with']:g}")))
    return table


def calibration(lines: Sequence[Mapping[str, float]]) -> Table:
    """Return what was predicted beside what happened, for tenths of the predicted probability."""
    table = lined("Probability", "Rows", "Predicted", "Happened")
    right(table.columns[1:])
    for line in lines:
        cells = (f"{line['weight']:g}", number(line["predicted"]), number(line["happened"]))
        table.add_row(Text(f"{line['from']:g} to {line['to']:g}"), *map(Text, cells))
    return table


def _coefficients(data: Mapping[str, Any], width: int, limit: int | None) -> RenderableType:
    """Return the coefficients: a line per column, or per column and class where the classes do not fit side by side.

    Those of columns that are made of training rows mean little to a reader: what makes the columns is said instead.
    """
    if data["model"]["feature_map"] is not None:
        return facts([(label, words) for label, words in data["model"]["feature_map"]["facts"]])
    entries = data["coefficients"]
    outputs = list(dict.fromkeys(entry["output"] for entry in entries))
    groups = [list(group) for _, group in groupby(entries, key=lambda entry: entry["column"])]
    beside = sum(max(len(name), 9) + 2 for name in outputs) + 30 <= width
    lines = groups if len(outputs) == 1 or beside else [[entry] for entry in entries]
    intercept = [line for line in lines if line[0]["column"] == "(intercept)"]
    others = [line for line in lines if line[0]["column"] != "(intercept)"]
    zeros = [line for line in others if all(entry["value"] == 0.0 for entry in line)] if limit is not None else []
    left = set(map(id, zeros))
    others = [line for line in others if id(line) not in left]
    if lines is not groups:
        others.sort(key=lambda line: -(line[0]["effect"] or 0.0))
    single = f"Score of {outputs[0]}" if data["data"]["target"]["kind"] == "classes" else "Value"
    names = outputs if lines is groups else ["Class", "Value"]
    if len(outputs) == 1:
        names = [single]
    table = lined("Coefficient", *names, "Effect")
    for column in table.columns[1:]:
        column.justify = "left" if column.header == Text("Class") else "right"
    for line in others[:limit] + intercept:
        effects = [entry["effect"] for entry in line if entry["effect"] is not None]
        shown = "" if line in intercept or not effects else number(max(effects))
        label = [Text(line[0]["output"])] if names[0] == "Class" and lines is not groups else []
        table.add_row(Text(line[0]["column"]), *label, *(Text(number(e["value"])) for e in line), Text(shown))
    legend = "Effect: how far the score moves when the column moves by one standard deviation."
    if limit is not None and len(others) > limit:
        where = (
            "lineal show" if limit < MAX_COLUMNS_LISTED and len(others) <= MAX_COLUMNS_LISTED else "lineal show --json"
        )
        legend = f"{len(others) - limit} smaller ones are not shown; {where} lists all. " + legend
    aside = [] if data["aside"] is None else [Text(data["aside"])]
    return Group(table, Text(legend, style="dim"), *_zeros(zeros), *aside)


def _zeros(lines: Sequence[Sequence[Mapping[str, Any]]]) -> list[Text]:
    """Return a sentence about the coefficients that are exactly zero."""
    columns = list(dict.fromkeys(line[0]["column"] for line in lines))
    if not columns:
        return []
    count = "1 coefficient is" if len(lines) == 1 else f"{len(lines)} coefficients are"
    return [Text(f"{count} exactly zero, and not shown: {listed(columns, MAX_LINES_SHOWN)}.")]


def lined(*headers: str) -> Table:
    """Return an empty table with these headers, cells folded where they do not fit."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for header in headers:
        table.add_column(Text(header), overflow="fold", no_wrap=header == "Verdict")  # one word, which code asks for
    return table


def right(columns: Sequence[Column]) -> None:
    """Align columns of a table to the right."""
    for column in columns:
        column.justify = "right"
