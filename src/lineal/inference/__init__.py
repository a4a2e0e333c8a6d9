"""How sure coefficients are: standard errors, tests, intervals, Firth's estimates."""

from lineal.fitting.evidence import Evidence, evidence
from lineal.fitting.firth import firth, profile
from lineal.inference.ratios import Ratio, likelihood_ratio
from lineal.inference.record import Diagnostics
from lineal.inference.rows import training_rows
from lineal.inference.summaries import summarise

__all__ = [
    "Diagnostics",
    "Evidence",
    "Ratio",
    "evidence",
    "firth",
    "likelihood_ratio",
    "profile",
    "summarise",
    "training_rows",
]
