"""A report of a fit that can be filed: one HTML file, readable without JavaScript and without a network."""

from lineal.report.writing import Facts, written

__all__ = ["Facts", "written"]
