"""A metric that lineal does not have, in one file: measured, printed, with an interval."""

from __future__ import annotations

import pytest

import lineal
from lineal.cli import run
from lineal.metrics import metric
from tests.extensions.error_rate import ErrorRate

TABLE = {"x": [float(k % 7) for k in range(60)], "y": ["ab"[k % 7 > 3 or k % 11 == 0] for k in range(60)]}


@pytest.fixture(autouse=True)
def extended(monkeypatch):
    monkeypatch.setattr(metric, "ALL", (*metric.ALL, ErrorRate))


def test_a_fit_reports_it():
    report = lineal.fit(TABLE, "y", test_size=0.4).report
    for figures in report["metrics"].values():
        assert figures["error_rate"] == pytest.approx(1.0 - figures["accuracy"])
    low, high = report["evaluation"]["intervals"]["error_rate"]
    assert 0.0 <= low <= high <= 1.0


def test_pages_print_it(tmp_path, capsys):
    lines = ["x,y", *(f"{x},{y}" for x, y in zip(*TABLE.values(), strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert run(["fit", str(tmp_path / "t.csv"), "--target", "y", "--output", str(tmp_path / "t.lineal")]) == 0
    assert "error rate" in capsys.readouterr().out
