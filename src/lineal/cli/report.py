"""`lineal report`: one HTML file about a model, with everything checked again."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from lineal import container
from lineal.api.model_file import load
from lineal.cli.opening import DataFile
from lineal.cli.output import apart
from lineal.cli.plain_model import summary, text
from lineal.cli.progress import Watch
from lineal.cli.verify import confirmed
from lineal.errors import InputError
from lineal.report import Facts, written
from lineal.verify.report import Refused


def run(
    *,
    model: Path,
    data: DataFile,
    output: Path | None,
    trace: Path | None,
    path: Path | None,
    rows: int,
    theme: str,
    dated: bool,
    as_json: bool,
) -> int:
    """Check, draw, write, and return the exit code of the check."""
    target = output or Path(f"{model.name.split('.')[0]}-report.html")
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"a report is a page: the name must end in .html, not {target.suffix or target.name}.")
    if model.is_dir():
        raise InputError(f"{model} is a stack; report its members and its final.lineal one by one.")
    apart(target, "-o", model, *data.files, *(one for one in (trace, path) if one is not None))
    fitted = load(model)
    refused: Refused | None = None
    try:
        checked = confirmed(model, data)
    except Refused as error:
        checked, refused = error.report, error
    facts = Facts(
        fitted,
        data.open(),
        summary(fitted),
        files=(model.name, data.path.name),
        sha256=container.signature(*container.read(model)),
        checked=list(checked),
        refused="" if refused is None else str(refused),
        rows=rows,
        trace=trace,
        path=path,
        dated=date.today().isoformat() if dated else "",  # noqa: DTZ011  (the reader's day)
    )
    with Watch(f"writing {target}"):
        page = written(facts, theme)
    try:
        target.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(f"the report cannot be written to {target}: {error.strerror or error}.") from None
    if as_json:
        claims = {"passed": refused is None, "claims": len(facts.checked)}
        click.echo(
            text({"report": str(target), "bytes": len(page.encode()), "verdict": fitted.verdict.to_dict(), **claims})
        )
    else:
        click.echo(f"{fitted.verdict.sentence}\n\nWritten to {target} ({len(page.encode()) / 1000:,.0f} kB).")
    if refused is not None:
        refused.answered = as_json
        raise refused
    return 0
