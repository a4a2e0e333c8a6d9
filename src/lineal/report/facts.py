"""What a report is written from: the model, its rows, what the checker said, and how much of the rows may be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from lineal.model.model import Model
from lineal.plots.diagnosed import Diagnosed, diagnosed
from lineal.plots.measured import Measured, measured
from lineal.plots.subject import Subject, subject_of
from lineal.verify.report import Line


class Facts:
    """Everything that a report says something about.

    ``about`` is what `lineal show --json` prints; ``checked`` are the lines of `lineal verify` and ``refused`` its last
    sentence, "" if all holds; ``rows`` is how many rows of the data are shown at most of every class.
    """

    def __init__(
        self, model: Model, data: Any, about: Mapping[str, Any], *, files: tuple[str, str], sha256: str,
        checked: Sequence[Line], refused: str = "", rows: int = 200, trace: Path | None = None, path: Path | None = None,
        dated: str = "",
    ) -> None:  # fmt: skip
        self.model, self.data, self.about = model, data, about
        self.files, self.sha256 = files, sha256
        self.checked, self.refused = checked, refused
        self.rows, self.trace, self.path, self.dated = rows, trace, path, dated

    @cached_property
    def subject(self) -> Subject:
        """The rows that pictures show."""
        return subject_of(self.model, self.data, most=max(self.rows, 1) if self.rows else 300)

    @cached_property
    def measured(self) -> Measured:
        """The rows that the model is measured on."""
        return measured(self.model, self.data)

    @cached_property
    def diagnosed(self) -> Diagnosed:
        """The rows of the fit with their residuals and influence."""
        return diagnosed(self.model, self.data, most=max(self.rows, 300))

    @property
    def proven(self) -> bool:
        """Whether the verdict is proven and the checker agrees."""
        return self.model.verdict.proven and not self.refused

    @property
    def of_classes(self) -> bool:
        """Whether classes are predicted."""
        return self.model.target.kind == "classes"
