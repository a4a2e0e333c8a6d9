"""South African heart disease: the logistic fits of Tables 4.2 and 4.3 of The Elements of Statistical Learning.

Figures from R's glm. glm's standard errors are those of the last step but one, so they hold to about 1e-4; statsmodels
gives the same table to more digits. The data is under the GPL and so not in this repository: it is `SAheart` of the R
package ElemStatLearn, from which data/r/outside.R writes it where these tests look, and makes the figures again.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import lineal

FILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "saheart.csv"

ABSENT = "../shared/data/saheart.csv (GPL, from the R package ElemStatLearn by references/data/r/outside.R) is absent"
pytestmark = pytest.mark.skipif(not FILE.exists(), reason=ABSENT)

FULL = {
    "(intercept)": (-4.129600, 0.964156, -4.2831),
    "sbp": (0.00576068, 0.0056326, 1.0227),
    "tobacco": (0.0795256, 0.0262150, 3.0336),
    "ldl": (0.184779, 0.0574115, 3.2185),
    "famhist=Present": (0.939185, 0.224869, 4.1766),
    "obesity": (-0.0345434, 0.0291053, -1.1868),
    "alcohol": (0.000606502, 0.0044550, 0.1361),
    "age": (0.0425412, 0.0101749, 4.1810),
}
REDUCED = {
    "(intercept)": -4.204275,
    "tobacco": 0.0807006,
    "ldl": 0.1675842,
    "famhist=Present": 0.9241167,
    "age": 0.0440425,
}
LEFT_OUT = ["adiposity", "typea"]


def fit(*drop, tol=1e-6):
    return lineal.fit(FILE, target="chd", model="logistic", penalty="none", drop=[*LEFT_OUT, *drop], tol=tol)


def test_table_4_2():
    summary = fit().summary()
    assert {row.column for row in summary.rows} == set(FULL)
    for row in summary.rows:
        coef, error, z = FULL[row.column]
        assert row.estimate == pytest.approx(coef, abs=1e-5 * error)  # at the default tolerance
        assert row.error == pytest.approx(error, rel=1e-4)
        assert row.statistic == pytest.approx(z, abs=5e-4)


def test_standard_errors_to_more_digits():
    statsmodels = pytest.importorskip("statsmodels.api")
    with FILE.open() as stream:
        rows = list(csv.DictReader(stream))
    names = [name.split("=")[0] for name in FULL][1:]
    X = np.array(
        [[float(row[name] == "Present") if name == "famhist" else float(row[name]) for name in names] for row in rows]
    )
    y = np.array([float(row["chd"]) for row in rows])
    theirs = statsmodels.Logit(y, statsmodels.add_constant(X)).fit(disp=False, method="newton", tol=1e-14)
    summary = fit(tol=1e-13).summary()
    ours = {row.column: row for row in summary.rows}
    for name, coef, error in zip(FULL, theirs.params, theirs.bse, strict=True):
        assert ours[name].estimate == pytest.approx(coef, rel=1e-6)
        assert ours[name].error == pytest.approx(error, rel=1e-6)
    assert summary.figures["log_likelihood"] == pytest.approx(theirs.llf, rel=1e-10)


def test_table_4_3_and_the_test_between_them():
    small, large = fit("sbp", "obesity", "alcohol"), fit()
    found = {row.column: row.estimate for row in small.summary().rows}
    assert found == pytest.approx(REDUCED, rel=2e-6)
    ratio = lineal.likelihood_ratio(small, large)
    assert ratio.more == 3
    gain = large.summary().figures["log_likelihood"] - small.summary().figures["log_likelihood"]
    assert ratio.statistic == pytest.approx(2 * gain, rel=1e-9)
    assert ratio.p > 0.1  # none of the three is missed
