"""Plain twins of the encoder's terms, one file each: a term turns one column of cells into columns of numbers."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from lineal.verify.terms import boolean, category, number

BY_KIND: Final[dict[str, ModuleType]] = {"number": number, "boolean": boolean, "category": category}
"""Each module has FIELDS, TYPE ("n" or "t" in the fingerprint), names(term), values(term, cells), learned(term, cells)."""
