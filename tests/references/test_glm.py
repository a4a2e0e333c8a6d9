"""Two more fits of R: lizards' counts as weights, and penguins' body mass (examples/penguins.csv).

The lizards are under the GPL and so not in this repository: they are in the R package brglm2 (Debian: r-cran-brglm2),
from which data/r/outside.R writes them where this test looks.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import lineal

ROOT = Path(__file__).resolve().parents[2]
LIZARDS = ROOT.parent / "shared" / "data" / "lizards.csv"
ABSENT = "../shared/data/lizards.csv (GPL, from the R package brglm2 by references/data/r/outside.R) is absent"


@pytest.mark.skipif(not LIZARDS.exists(), reason=ABSENT)
def test_lizards():
    """`cbind(grahami, opalinus) ~ .`: every line is two rows whose weights are the counts (some are zero)."""
    expected = {
        "(intercept)": 1.097413,
        "height": 1.129991,
        "diameter": -0.762634,
        "light": 0.847276,
        "late": -0.736812,
        "midday": 0.227111,
    }
    columns: dict[str, list] = {
        name: [] for name in ("height", "diameter", "light", "late", "midday", "species", "count")
    }
    with LIZARDS.open() as stream:
        for line in csv.DictReader(stream):
            for species in ("opalinus", "grahami"):
                columns["height"].append(float(line["height"] != "<5ft"))
                columns["diameter"].append(float(line["diameter"] != "<=2in"))
                columns["light"].append(float(line["light"] != "shady"))
                columns["late"].append(float(line["time"] == "late"))
                columns["midday"].append(float(line["time"] == "midday"))
                columns["species"].append(species)
                columns["count"].append(float(line[species]))
    model = lineal.fit(columns, target="species", weight="count", model="logistic", penalty="none", tol=1e-12)
    flip = 1.0 if model.target.classes == ("opalinus", "grahami") else -1.0  # R models grahami
    found = {row.column.split("=")[0]: flip * row.estimate for row in model.summary().rows}
    assert found == pytest.approx(expected, abs=1e-6)
    assert model.summary().figures["observations"] == sum(columns["count"])


def test_penguins():
    path = ROOT / "examples" / "penguins.csv"
    with path.open() as stream:
        others = [name for name in next(csv.reader(stream)) if name not in ("body_mass_g", "flipper_length_mm")]
    intercept, slope = lineal.fit(path, target="body_mass_g", model="linear", drop=others).summary().rows
    assert (intercept.estimate, intercept.error) == (
        pytest.approx(-5780.83135808, abs=1e-8),
        pytest.approx(305.814504, abs=1e-6),
    )
    assert (slope.estimate, slope.error) == (pytest.approx(49.68556641, abs=1e-8), pytest.approx(1.518404, abs=1e-6))
