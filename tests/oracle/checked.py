"""Honest files of nasty data: fitted from a table of text, saved, and read by the checker, which has to confirm them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

import lineal
from lineal.errors import LinealError
from lineal.verify import verify

from . import doors
from .designs import TWISTS
from .doors import Case, claim_of
from .judge import Violation
from .outcome import Outcome, of_claims

DOORS = ("checked",)
NUMBERS = ("linear", "huber", "quantile", "poisson")


@dataclass
class CheckedCase(Case):
    """A call with a table of columns, by name, that is written to a file first."""

    @property
    def code(self) -> str:
        """The call as one line, and what the checker says of the file."""
        return f"from tests.oracle import checked; print(checked.replay({self.X!r}, {self.params!r}))"


def drawn(seed: int, index: int, only: str | None = None, *, plain: bool = False) -> CheckedCase:
    """Return case number ``index`` of a seed: a case of ``lineal.fit`` on arrays, as a table."""
    draw = np.random.default_rng([seed, index, 8])
    twist = only if only in TWISTS else None
    case = doors.drawn(seed, index, twist or str(draw.choice(doors.MODELS)), plain=plain)
    if case.door != "fit":
        case = doors.drawn(seed, index, str(draw.choice(doors.MODELS)), plain=plain)
    x = case.X.toarray() if scipy.sparse.issparse(case.X) else np.asarray(case.X)
    y, params = np.asarray(case.y), dict(case.params)
    table = {f"x{j}": x[:, j].tolist() for j in range(x.shape[1])}
    params["types"] = dict.fromkeys(table, "number")
    named = params["model"].partition(":")[0] not in NUMBERS
    table["y"] = [f"class {v}" for v in y] if named else [float(v) for v in y]
    if case.weight is not None:
        table["w"], params["weight"] = case.weight.tolist(), "w"
    if case.offset is not None and case.offset.ndim == 1:
        table["o"], params["offset"] = case.offset.tolist(), "o"
    return CheckedCase("checked", params, table, "y", tags=case.tags)


def saved(table: dict[str, list[Any]], params: dict[str, Any], folder: Path) -> tuple[Any, Path, Path]:
    """Write a table, fit it from the file, and return the model with the paths of its file and of the table."""
    data, path = folder / "table.csv", folder / "model.lineal"
    data.write_text(
        "\n".join([",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]) + "\n"
    )
    model = lineal.fit(data, "y", **params)
    model.save(path)
    return model, path, data


def refusal(path: Path, data: Path) -> str | None:
    """Return why the checker does not confirm a file; None where it does."""
    try:
        verify(path, data)
    except LinealError as error:
        return str(error)
    return None


def replay(table: dict[str, list[Any]], params: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Return a verdict, and why the checker does not confirm it."""
    with tempfile.TemporaryDirectory() as place:
        model, path, data = saved(table, params, Path(place))
        return model.verdict.to_dict(), refusal(path, data)


def ask(case: CheckedCase) -> list[Outcome]:
    """Make the call, and return its outcomes."""
    with tempfile.TemporaryDirectory() as place:
        model, path, data = saved(case.X, case.params, Path(place))
        files = path.read_bytes(), data.read_bytes()
    names = [name for name in model.columns if name != "(intercept)"]  # columns without a number but zero are left out
    x = np.column_stack([case.X[name] for name in names]) if names else np.zeros((len(case.X["y"]), 0))
    arrays = (np.asarray(case.X[name]) if name in case.X else None for name in ("w", "o"))
    part = Case("fit", case.params, x, np.array(case.X["y"]), *arrays, case.tags)
    claim = claim_of(model, part, model.verdict, None)
    honest = Outcome("honest file", "file", "", partial(_confirmed, *files))
    return [*of_claims(case, [claim]), honest]


def _confirmed(model: bytes, table: bytes) -> list[Violation]:
    with tempfile.TemporaryDirectory() as place:
        path, data = Path(place) / "model.lineal", Path(place) / "table.csv"
        path.write_bytes(model)
        data.write_bytes(table)
        refused = refusal(path, data)
    return [] if refused is None else [Violation("honest", float("inf"), "the honest file is refused: " + refused)]
