"""What the attack found and was repaired, each as small as it gets; the oracle says what is true."""

from __future__ import annotations

import numpy as np

import lineal


def test_a_path_whose_products_underflow_ends() -> None:
    """Both targets are within epsilon of a constant: the interior point met them exactly and divided by zero."""
    x = np.array([[-0.2976665794849396, 0.9301523566246033], [-1.195794701576233, 0.4903726279735565]])
    x = np.column_stack([x, [-1.4634597301483154, -0.1148022711277008], [-1.4634597301483154, -0.1148022711277008]])
    model = lineal.LinearSVR(C=31.284683632320466, epsilon=1.0).fit(x.astype(np.float32), np.array([3.0, 3.0]))
    assert model.verdict_.kind == "optimal"
    assert model.objective_ == 0.0
