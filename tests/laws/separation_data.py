"""Rows whose separability is known, and where the data beside the project is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import flint
import numpy as np
import pytest

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(
    not all((DATA / name).exists() for name in ("endometrial.csv", "lizards.csv")),
    reason="endometrial and lizards (GPL, from the R package brglm2: tests/references/data/README.md) are absent",
)
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def differences(X, y, intercept):
    """Return every z as (row, against, fractions), written down anew from the definition."""
    rows = [[Fraction(1)] * intercept + [Fraction(float(v)) for v in row] for row in np.asarray(X, dtype=float)]
    classes = sorted(set(y))
    place = {label: k for k, label in enumerate(classes)}
    found = {}
    for i, (row, label) in enumerate(zip(rows, y, strict=True)):
        own = place[label]
        if len(classes) <= 2:
            found[i, None] = [v if own == 1 else -v for v in row]
            continue
        for k in range(len(classes)):
            if k != own:
                z = [Fraction(0)] * (len(classes) * len(row))
                for j, v in enumerate(row):
                    z[own * len(row) + j] += v
                    z[k * len(row) + j] -= v
                found[i, k] = z
    return found


def rank(rows):
    scaled = [[int(v * (1 << 1100)) for v in row] for row in rows]  # 2^-1074 is the smallest double
    return flint.fmpz_mat(scaled).rank() if scaled else 0


def confirm(answer, X, y, intercept=True):
    """Confirm an answer by its witness alone."""
    z = differences(X, y, intercept)
    witness = answer.witness
    if witness.direction is not None:
        d = [Fraction(int(v)) for v in witness.direction.T.reshape(-1)]
        margins = {key: sum(a * b for a, b in zip(row, d, strict=True)) for key, row in z.items()}
        assert min(margins.values()) >= 0
        strict = {key[0] for key, value in margins.items() if value > 0}
        assert len(strict) == answer.strict > 0
    if witness.weights is not None:
        against = witness.against or (None,) * len(witness.rows)
        used = [z[key] for key in zip(witness.rows, against, strict=True)]
        assert all(isinstance(weight, int) and weight > 0 for weight in witness.weights)
        assert not any(
            sum(w * row[j] for w, row in zip(witness.weights, used, strict=True)) for j in range(len(used[0]))
        )
        assert len(used) <= max(2 * rank(list(z.values())), 1)
    if answer.kind == "complete":
        assert min(margins.values()) > 0
    elif answer.kind == "quasi":
        assert witness.direction is not None
        assert witness.weights is not None
        # Maximal: what the direction leaves at zero is spanned by rows that no direction can move.
        assert rank([row for key, row in z.items() if margins[key] == 0]) == rank(used)
    else:
        assert answer.kind == "overlap"
        assert rank(used) == rank(list(z.values()))
