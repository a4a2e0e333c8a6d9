"""Gram matrices in the core: every CPU level says the same, an interrupt ends them, odd arguments are refused."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from lineal import _core

LEVEL_PROGRAM = """
import sys
import numpy as np
from lineal import kernels
random = np.random.default_rng(0)
X, Z = random.standard_normal((43, 9)), random.standard_normal((20, 9))
texts = ["".join(random.choice(list("acgt"), size)) for size in random.integers(0, 70, 21)]
trees = ["(S (N a) (V b))", "(S (N a) (V c))", "(V b)"]
found = {}
for spelled in ("linear", "poly:3", "rbf:gamma=0.2", "laplacian:0.2"):
    kernel = kernels.read(spelled)
    found |= {spelled: kernel.gram(X), f"{spelled} cross": kernel.gram(X, Z)}
for length in (1, 2, 3, 4, 5, 6, 7, 12):
    found[f"ssk {length}"] = kernels.Subsequence(length, 0.6).gram(texts)
found["tree"] = kernels.SubsetTree(0.4).gram(trees)
np.savez(sys.argv[1], **found)
"""


@pytest.mark.slow
def test_all_cpu_levels_agree(tmp_path: pathlib.Path) -> None:
    results = {}
    for level in _core.cpu_levels():
        file = tmp_path / f"{level}.npz"
        command = [sys.executable, "-c", LEVEL_PROGRAM, str(file)]
        subprocess.run(command, check=True, env={**os.environ, "LINEAL_CPU": level})
        results[level] = dict(np.load(file))
    first = results[_core.cpu_levels()[0]]
    for level, result in results.items():
        for name, wanted in first.items():
            np.testing.assert_allclose(result[name], wanted, rtol=1e-12, atol=1e-13, err_msg=f"{level} {name}")


ENDLESS = {
    "texts": "kernels.Subsequence(4, 0.5).gram(['acgt' * 60_000] * 2)",
    "own": "kernels.Subsequence(4, 0.5).diagonal(['acgt' * 60_000])",
    "trees": "kernels.SubsetTree(0.5).gram(['(a' * 500 + f'(b {i})' + ')' * 500 for i in range(400)])",
    "rows": "kernels.Gaussian(1.0).gram(np.ones((30_000, 1200)))",
    "sparse": "kernels.Linear().gram(csr_array(np.ones((20_000, 400))))",
}
INTERRUPTED = """
import numpy as np
from scipy.sparse import csr_array
from lineal import kernels
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are sent the POSIX way")
@pytest.mark.parametrize("call", ENDLESS.values(), ids=list(ENDLESS))
def test_an_interrupt_ends_a_gram_matrix(call: str) -> None:
    program = [sys.executable, "-c", INTERRUPTED.format(call=call)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == "ready\n"
            time.sleep(1.0)
            assert child.poll() is None
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "interrupted\n"
        finally:
            child.kill()


WHOLE = np.array([0, 2], dtype=np.int64)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: _core.dense_gram(np.ones((2, 3)), np.ones((2, 2)), 0), "same number of columns"),
        (lambda: _core.dense_gram(np.ones((2, 3)), None, 3), "between and finish"),
        (lambda: _core.dense_gram(np.ones((2, 3)), None, 0, 2, degree=0), "degree"),
        (lambda: _core.sparse_gram(WHOLE, np.array([0, 5]), np.ones(2), 3), "columns must lie"),
        (lambda: _core.sparse_gram(WHOLE, np.array([0, 1]), np.ones(3), 3), "as many values"),
        (lambda: _core.sparse_gram(WHOLE, np.array([0, 1]), np.ones(2), 3, 2), "split"),
        (lambda: _core.sparse_gram(WHOLE + 1, np.array([0, 1, 2]), np.ones(3), 3), "begin with 0"),
        (lambda: _core.subsequence_gram(WHOLE, np.array([0, -1]), 2, 0.5), "negative"),
        (lambda: _core.subsequence_gram(WHOLE, np.array([0, 1]), 33, 0.5), "length"),
        (lambda: _core.subsequence_gram(WHOLE, np.array([0, 1]), 2, 1.5), "decay"),
        (lambda: _core.subsequence_gram(WHOLE[::-1].copy(), np.array([0, 1]), 2, 0.5), "begin with 0"),
        (lambda: _core.subsequence_diagonal(WHOLE, np.array([0]), 2, 0.5), "end where the data do"),
        (lambda: _core.Forest(WHOLE, np.frombuffer(b"((", dtype=np.uint8)).gram(0.5), "malformed"),
        (lambda: _core.Forest(WHOLE[:0], np.frombuffer(b"()", dtype=np.uint8)), "begin with 0"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(call, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
