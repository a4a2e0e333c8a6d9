"""The eleven linear sets of NIST's Statistical Reference Datasets, certified to 15 digits."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

import lineal
from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.losses import Squared
from lineal.penalties import NoPenalty
from lineal.sources.memory import Memory
from tests.references.data.make_nist import NAMES

FOLDER = Path(__file__).resolve().parent / "data" / "nist"


def digits(found: float, certified: str) -> float:
    """Return LRE = -log10(|found - certified| / |certified|), at most 15."""
    exact = float(certified)
    if found == exact:
        return 15.0
    error = abs(found - exact) / abs(exact) if exact else abs(found)
    return min(15.0, -math.log10(error))


def load(name):
    certified = json.loads((FOLDER / "certified.json").read_text())[name]
    with (FOLDER / f"{name}.csv").open() as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    y = np.array([[row["y"]] for row in rows])
    predictors = [column for column in rows[0] if column != "y"]
    x = np.array([[row[column] for column in predictors] for row in rows])
    degree = len(certified["parameters"]) - (1 if certified["intercept"] else 0)
    if x.shape[1] == 1 and degree > 1:
        # correctly rounded powers: what a careful user would put into the columns
        x = np.array([[float(_power(value, d)) for d in range(1, degree + 1)] for value in x[:, 0]])
    return certified, x, y


def _power(value, exponent):
    from fractions import Fraction

    return Fraction(value) ** exponent


@pytest.fixture(scope="module", params=NAMES)
def solved(request):
    certified, x, y = load(request.param)
    design = as_design(x, intercept=certified["intercept"])
    names = (("(intercept)",) if certified["intercept"] else ()) + tuple(f"x^{j + 1}" for j in range(x.shape[1]))
    result = fit(Memory(design, y, columns=names), Squared(1), NoPenalty(design.shape[1]))
    return request.param, certified, result


def test_verdict(solved):
    name, _, result = solved
    assert result.verdict.kind == "optimal", result.verdict.sentence
    assert result.verdict.relative_gap <= 1e-6, name


def test_coefficients(solved):
    name, certified, result = solved
    expected = [parameter["estimate"] for parameter in certified["parameters"].values()]
    found = [digits(value, exact) for value, exact in zip(result.coef[:, 0], expected, strict=True)]
    # Filip: the rounding of the columns themselves is the limit; exact arithmetic on the same doubles gives 7.6
    assert min(found) >= (7.5 if name == "Filip" else 13.0), found


def test_standard_deviations(solved):
    name, certified, result = solved
    expected = [parameter["sd"] for parameter in certified["parameters"].values()]
    found = np.sqrt(np.diagonal(result.arrays["covariance"]))
    if float(certified["residual_sd"]) == 0.0:
        # Wampler1 and Wampler2 lie exactly on a polynomial: compare absolutely, to the scale of y
        assert np.all(found <= 1e-9)
        return
    reached = [digits(value, exact) for value, exact in zip(found, expected, strict=True)]
    assert min(reached) >= (7.5 if name == "Filip" else 13.0), reached


def test_residual_standard_deviation(solved):
    name, certified, result = solved
    normal = result.problem.normal
    rows, columns = result.problem.moments.rows, result.problem.shape[0]
    found = math.sqrt(max(float(normal.residual_squares()[0]), 0.0) / (rows - columns))
    if float(certified["residual_sd"]) == 0.0:
        assert found <= 1e-9
        return
    assert digits(found, certified["residual_sd"]) >= (7.5 if name == "Filip" else 13.0)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_digits_come_out_of_the_front_door(name):
    certified, x, y = load(name)
    table = {**{f"x{j}": x[:, j] for j in range(x.shape[1])}, "y": y[:, 0]}
    model = lineal.fit(table, target="y", model="linear", penalty="none", intercept=certified["intercept"])
    parameters, least = certified["parameters"].values(), 7.5 if name == "Filip" else 13.0
    assert min(digits(b, p["estimate"]) for b, p in zip(model.coef[:, 0], parameters, strict=True)) >= least
    found = np.sqrt(np.diagonal(model.covariance()))
    if float(certified["residual_sd"]) == 0.0:
        assert np.all(found <= 1e-9)
        return
    assert min(digits(sd, p["sd"]) for sd, p in zip(found, parameters, strict=True)) >= least
