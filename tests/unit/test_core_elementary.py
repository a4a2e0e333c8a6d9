"""exp, log1p and excess of every CPU level against mpmath."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import mpmath
import numpy as np
import numpy.typing as npt
import pytest

from lineal import _core

Array = npt.NDArray[np.float64]

PROGRAM = """
import json, sys
import numpy as np
from lineal import _core
x = json.load(sys.stdin)
out = {name: getattr(_core, name)(np.array([float.fromhex(v) for v in values])) for name, values in x.items()}
json.dump({name: [float(v).hex() for v in values] for name, values in out.items()}, sys.stdout)
"""


def points() -> dict[str, Array]:
    rng = np.random.default_rng(1)
    tiny = 10.0 ** rng.uniform(-320, 0, 400) * rng.choice([-1, 1], 400)
    exps = [rng.uniform(-745, 709.7, 600), rng.uniform(-1, 1, 300), tiny, [-745.1, -708.4, -700.0, 700.0, 709.78, 0.0]]
    logs = [10.0 ** rng.uniform(-320, 308, 600), rng.uniform(-1, 1, 300), -tiny[np.abs(tiny) < 1]]
    logs += [rng.uniform(-1, -0.999, 50), np.nextafter([-1.0, 0.0, 1.0, np.sqrt(2) - 1], 2)]
    logs += [[0.4142135623730950, 1.0, -0.5, -0.29289321881345254]]
    excesses = [rng.uniform(-1, 3, 400), rng.uniform(-0.07, 0.07, 300), tiny[np.abs(tiny) > 1e-150], [0.0625, -0.0625]]
    return {
        "exp": np.concatenate(exps),
        "log1p": np.concatenate(logs),
        "excess": np.concatenate([*excesses, 10.0 ** rng.uniform(0, 100, 100)]),
    }


TRUTH = {"exp": mpmath.exp, "log1p": mpmath.log1p, "excess": lambda t: (1 + t) * mpmath.log1p(t) - t}


def at_level(level: str, x: dict[str, Array]) -> dict[str, Array]:
    text = json.dumps({name: [float(v).hex() for v in values] for name, values in x.items()})
    environment = {**os.environ, "LINEAL_CPU": level}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=text, capture_output=True, text=True, check=True, env=environment
    )
    return {name: np.array([float.fromhex(v) for v in values]) for name, values in json.loads(done.stdout).items()}


@pytest.mark.slow
@pytest.mark.parametrize("level", _core.cpu_levels())
def test_a_few_ulp(level: str) -> None:
    x = points()
    got = at_level(level, x)
    worst = {}
    with mpmath.workdps(700):  # t^2/2 of t = 1e-150 needs them
        for name, values in x.items():
            errors = []
            for at, value in zip(values, got[name], strict=True):
                wanted = TRUTH[name](mpmath.mpf(float(at)))
                unit = float(np.spacing(abs(float(wanted)))) or 5e-324
                errors.append(float(abs(mpmath.mpf(float(value)) - wanted) / unit))
            worst[name] = max(errors)
    assert worst["exp"] < 2.0, worst
    assert worst["log1p"] < 2.0, worst
    assert worst["excess"] < 100.0, worst  # near the seam 1/16 the difference cancels five bits


@pytest.mark.parametrize("level", _core.cpu_levels())
def test_ends_of_the_range(level: str) -> None:
    inf, nan = np.inf, np.nan
    x = {
        "exp": np.array([-inf, -1e308, -746.0, 0.0, -0.0, 710.0, 1e308, inf, nan]),
        "log1p": np.array([-inf, -2.0, -1.0, 0.0, 5e-324, -5e-324, 1.7e308, inf, nan]),
        "excess": np.array([-inf, -1.5, -1.0, 0.0, 1e-160, -1e-160, nan]),
    }
    got = at_level(level, x)
    np.testing.assert_array_equal(got["exp"], [0, 0, 0, 1, 1, inf, inf, inf, nan])
    np.testing.assert_array_equal(got["log1p"], [nan, nan, -inf, 0, 5e-324, -5e-324, np.log1p(1.7e308), inf, nan])
    np.testing.assert_array_equal(got["excess"], [inf, inf, 1, 0, 5e-321, 5e-321, nan])


def test_lengths_that_fill_no_vector() -> None:
    for n in range(20):
        x = np.linspace(-3, 3, n)
        np.testing.assert_allclose(_core.exp(x), np.exp(x), rtol=1e-15)
        np.testing.assert_allclose(_core.exp(x[::2]), np.exp(x[::2]), rtol=1e-15)
