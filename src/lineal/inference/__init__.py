"""How sure coefficients are: standard errors, tests, intervals, Firth's estimates."""

from lineal.fitting.firth import firth, profile
from lineal.inference.summaries import likelihood_ratio, summarise, training_rows

__all__ = ["firth", "likelihood_ratio", "profile", "summarise", "training_rows"]
