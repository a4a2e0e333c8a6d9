"""A Gram matrix needs its own memory, and hardly more."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import resource
import numpy as np
from lineal import kernels
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
X = np.random.default_rng(0).standard_normal(({n}, 20))
kernel = kernels.read({kernel!r})
kernel.gram(X[:50])
before = peak()
kernel.gram(X)
print((peak() - before) / (8 * {n} ** 2))
"""


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["rbf:2", "poly:3", "laplacian:0.1", "linear", "rbf:2 + poly:2"])
def test_no_more_than_a_tenth_above_the_entries(kernel):
    run = subprocess.run(
        [sys.executable, "-c", CODE.format(n=5000, kernel=kernel)], capture_output=True, text=True, check=True
    )
    assert float(run.stdout) < 1.1
