"""What laws share as fixtures."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler


@pytest.fixture(scope="session")
def iris() -> tuple[np.ndarray, np.ndarray]:
    """Return the standardized columns of iris, and its species."""
    x, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(x), y
