"""What a metric is: a name, a formula, a direction, and what it needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar


class Metric(ABC):
    """One figure that says how good predictions are.

    ``name`` is its key in reports. ``of_classes``, ``of_numbers`` and ``of_labels`` say for which targets it has a meaning,
    ``needs`` which sum must be there for it, "" for none. ``ranks`` says that the score of every row is kept for it, so it is
    worked out last. ``compared`` says that tables of several models show it.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    larger_is_better: ClassVar[bool] = False
    of_classes: ClassVar[bool] = False
    of_numbers: ClassVar[bool] = False
    of_labels: ClassVar[bool] = False
    needs: ClassVar[str] = ""
    ranks: ClassVar[bool] = False
    compared: ClassVar[bool] = True

    @classmethod
    def available(cls, sums: Any) -> bool:
        """Whether the sums hold what it needs."""
        needed = getattr(sums, cls.needs) if cls.needs else True
        return needed is not None and not (isinstance(needed, tuple) and not needed)

    @classmethod
    @abstractmethod
    def value(cls, sums: Any) -> float:
        """Return the metric of rows with these sums, whose weight is above zero."""
