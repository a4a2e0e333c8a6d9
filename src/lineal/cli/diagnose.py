"""`lineal diagnose`: how a fit disagrees with its rows, and which of them it hangs on."""

from __future__ import annotations

from pathlib import Path

import click
import pyarrow as pa

from lineal.api.model_file import load
from lineal.cli.opening import DataFile
from lineal.cli.output import apart, sink, table_file
from lineal.cli.page import Screen
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch
from lineal.inference.diagnostics import diagnostics, refuse
from lineal.tables.arrow import from_numpy


def run(*, model: Path, data: DataFile, output: Path | None, largest: int, seed: int, as_json: bool) -> int:
    """Diagnose and print; every row goes to a file where one is named."""
    fitted = load(model)
    refuse(fitted)
    apart(output, "-o", model, *data.files)
    if output is not None:
        table_file(output, "-o")
    with Watch(f"reading {data}"):
        found = diagnostics(fitted, data.open(), seed=seed, largest=largest)
        if output is not None:
            with sink(output, as_json=False, what="diagnostics") as target:
                for block in found.blocks():
                    arrays = {name: from_numpy(values) for name, values in block.items()}
                    target.write(pa.RecordBatch.from_pydict(arrays))
    if as_json:
        where = {} if output is None else {"output": str(output), "columns": list(found.columns)}
        click.echo(text({"model": str(model), "data": str(data), **where, **found.to_dict()}))
    else:
        Screen().print(found)
    return 0
