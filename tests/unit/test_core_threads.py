"""Threads, CPU levels and interrupts of the compiled core."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse

from lineal import _core

Array = npt.NDArray[np.float64]


@pytest.fixture(autouse=True)
def all_threads_afterwards() -> Iterator[None]:
    yield
    _core.set_threads(0)


def design(n: int) -> _core.Rows:
    rng = np.random.default_rng(1)
    m = sparse.random_array((n, 30), density=0.1, format="csr", rng=rng)
    return _core.Rows(
        [
            _core.Ones(n),
            _core.Dense(rng.normal(size=(n, 21))),
            _core.Sparse(m.indptr, m.indices, m.data, 30),
            _core.Codes(rng.integers(-1, 6, n).astype(np.int32), 6),
        ]
    )


def passes(rows: _core.Rows) -> dict[str, Callable[[], tuple[object, ...]]]:
    n, p = rows.n_rows, rows.n_columns
    rng = np.random.default_rng(2)
    weight, coef, shift = rng.random(n), rng.normal(size=(p, 3)), 0.01 * rng.normal(size=(p, 3))
    y, labels, offset = rng.random((n, 3)), rng.integers(0, 3, (n, 1)).astype(float), rng.normal(size=(n, 3))
    d, dense = rng.normal(size=p), _core.Rows([_core.Ones(n), _core.Dense(rng.normal(size=(n, 21)))])
    return {
        "times": lambda: (rows.times(coef),),
        "transpose_times": lambda: (rows.transpose_times(y),),
        "gram": lambda: (rows.gram(weight),),
        "squared": lambda: rows.evaluate(0, y, None, offset, coef, p),
        "logistic": lambda: rows.evaluate(1, y, weight, offset, coef, p),
        "softmax": lambda: rows.evaluate(2, labels, weight, offset, coef, 5),
        "sampled": lambda: rows.evaluate(2, labels, weight, offset, coef, 5, 3),
        "dual": lambda: rows.dual(2, labels, weight, offset, coef, shift),
        "curve": lambda: rows.curve(1, y, weight, offset, coef, shift),
        "means": lambda: (rows.means(2, coef, offset),),
        "chances": lambda: rows.chances(coef[:, :1], offset[:, :1]),
        "straight": lambda: (dense.times(d[:22, None]),),
        "moments": lambda: rows.moments(weight),
        "gram_dd": lambda: rows.gram_dd(weight, y),
        "dependence": lambda: (rows.dependence(d, np.zeros(p)),),
    }


NAMES = list(passes(design(1)))


@pytest.mark.parametrize("name", NAMES)
def test_any_number_of_threads_gives_the_same_bits(name: str) -> None:
    run = passes(design(40000))[name]
    _core.set_threads(1)
    alone = run()
    for count in (2, 3, 8):
        _core.set_threads(count)
        assert _core.threads() == count
        for one, many in zip(alone, run(), strict=True):
            np.testing.assert_array_equal(one, many)


def test_threads_is_a_count() -> None:
    with pytest.raises(ValueError, match="positive"):
        _core.set_threads(-1)
    _core.set_threads(0)
    assert _core.threads() >= 1


ROOT = pathlib.Path(__file__).parents[2]
LEVEL_PROGRAM = """
import sys
import numpy as np
from lineal import _core
from tests.unit.test_core_threads import design, passes
assert _core.cpu_level() == sys.argv[1]
out = {}
for name, run in passes(design(3000)).items():
    for i, value in enumerate(run()):
        out[f"{name} {i}"] = np.asarray(value, dtype=float)
np.savez(sys.argv[2], **out)
"""


def test_all_cpu_levels_agree(tmp_path: pathlib.Path) -> None:
    results = {}
    for level in _core.cpu_levels():
        file = tmp_path / f"{level}.npz"
        command = [sys.executable, "-c", LEVEL_PROGRAM, level, str(file)]
        subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "LINEAL_CPU": level})
        results[level] = dict(np.load(file))
    first = results[_core.cpu_levels()[0]]
    for level, result in results.items():
        assert result.keys() == first.keys()
        for name, wanted in first.items():
            if name in ("squared 1", "logistic 1", "softmax 1", "sampled 1", "dual 1", "gram_dd 1"):
                continue  # the low halves of sums are themselves rounding errors
            size = np.abs(wanted).max(initial=1e-300)
            np.testing.assert_allclose(result[name], wanted, rtol=1e-11, atol=1e-12 * size, err_msg=f"{level} {name}")


def test_an_unknown_level_is_refused_at_import() -> None:
    command = [sys.executable, "-c", "import lineal._core"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LINEAL_CPU": "v9"})
    assert done.returncode != 0
    assert "LINEAL_CPU is 'v9'" in done.stderr


INTERRUPTED = """
import sys, time
import numpy as np
from lineal import _core
_core.set_threads(int(sys.argv[1]))
x = np.lib.stride_tricks.as_strided(np.random.default_rng(0).normal(size=(1, 400)), (200_000_000, 400), (0, 8))
rows = _core.Rows([_core.Dense(x)])
try:
    print("ready", flush=True)
    rows.gram()
except KeyboardInterrupt:
    print("interrupted", flush=True)
    small = _core.Rows([_core.Dense(np.ones((100000, 3)))])
    assert small.gram()[0, 0] == 100000
    print("usable", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent the POSIX way")
@pytest.mark.parametrize("count", [1, 2, 8])
def test_an_interrupt_ends_a_long_pass(count: int) -> None:
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED, str(count)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.3)
            assert child.poll() is None
            child.send_signal(signal.SIGINT)
            # Read only if the pass has ended early: by itself it ends without these words, many minutes later.
            assert child.stdout.readline() == "interrupted\n"
            assert child.stdout.readline() == "usable\n"
            assert child.wait() == 0
        finally:
            child.kill()


FORKED = """
import os, sys, warnings
import numpy as np
from lineal import _core
warnings.simplefilter("ignore", DeprecationWarning)  # of forking where threads are: that is the question here
_core.set_threads(4)
rows = _core.Rows([_core.Dense(np.random.default_rng(0).normal(size=(40_000, 21)))])
before = rows.gram()
for generation in range(3):
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        assert np.array_equal(rows.gram(), before)
        sys.exit(0)
    for _ in range(20):
        assert np.array_equal(rows.gram(), before)
print("grandchild", len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 4, flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked the POSIX way")
def test_threads_that_wait_for_work_survive_a_fork() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "grandchild"
    assert int(done.stdout.split()[1]) >= 4  # it has started its own


TASKS = pathlib.Path("/proc/self/task")


@pytest.mark.skipif(not TASKS.is_dir(), reason="threads are counted the Linux way")
def test_passes_wake_the_same_threads() -> None:
    _core.set_threads(3)
    rows = design(40_000)
    rows.gram()
    before = set(TASKS.iterdir())
    for _ in range(20):
        rows.gram()
    assert set(TASKS.iterdir()) == before


@pytest.mark.skipif(os.name != "posix", reason="signals are sent the POSIX way")
def test_waiting_threads_leave_signals_to_the_program() -> None:
    program = """
import os, signal, time
import numpy as np
from lineal import _core
_core.set_threads(4)
_core.Rows([_core.Dense(np.ones((100_000, 9)))]).gram()
signal.signal(signal.SIGALRM, lambda *_: print("handled", flush=True))
signal.setitimer(signal.ITIMER_REAL, 0.05)
signal.pause()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "handled\n"


def test_the_interpreter_is_free_during_a_pass() -> None:
    x = np.lib.stride_tricks.as_strided(np.ones((1, 50)), (4_000_000, 50), (0, 8))
    rows = _core.Rows([_core.Dense(x)])
    done = threading.Event()

    def work() -> None:
        rows.gram()
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    ticks = 0
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 3  # with the lock held this thread would not have run at all


SOURCES = ROOT / "cpp" / "lineal"
COMPILER = shutil.which("c++") or shutil.which("g++")
LEVEL_FILES = sorted(
    str(file.relative_to(SOURCES)) for file in SOURCES.rglob("*.cpp") if "LINEAL_LEVEL {" in file.read_text()
)


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None or not SOURCES.exists(), reason="needs a compiler and the source tree")
@pytest.mark.parametrize("file", [file for file in LEVEL_FILES if file.startswith(("passes", "grams", "linalg"))])
def test_no_instructions_of_another_level_leak_out(file: str) -> None:
    """Kernels compiled for one CPU must not offer the linker functions that others could pick up."""
    flags = ["-std=c++20", "-I", str(SOURCES), "-O2", "-fPIC", "-fvisibility=hidden", "-DLINEAL_LEVEL=check", "-o", "-"]
    done = subprocess.run([COMPILER, *flags, "-S", str(SOURCES / file)], capture_output=True, text=True, check=True)
    weak = [line for line in done.stdout.splitlines() if ".weak" in line and "DW.ref" not in line]
    assert weak == []
    named = [line.split()[-1] for line in done.stdout.splitlines() if line.strip().startswith(".globl")]
    public = [name for name in named if "DW.ref" not in name and name != "__gxx_personality_v0"]
    assert public
    assert [name for name in public if "5check" not in name] == []  # as C++ writes the namespace check


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse", "stacked"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_thread_that_runs_ahead_of_a_perceptron_changes_no_bit(kind: str, classes: int) -> None:
    rng = np.random.default_rng(4)
    n, p = 30_000, 60
    x = rng.normal(size=(n, p))
    y = np.argmax(x[:, :classes] + 0.5 * rng.normal(size=(n, classes)), axis=1).astype(float)[:, None]
    parts: list[_core.Part] = [_core.Dense(x)]
    if kind == "float32":
        parts = [_core.Dense(x.astype(np.float32))]
    elif kind == "sparse":
        m = sparse.csr_array(np.where(rng.random(x.shape) < 0.3, x, 0.0))
        parts = [_core.Sparse(m.indptr, m.indices, m.data, p)]
    elif kind == "stacked":
        parts = [_core.Ones(n), _core.Dense(x), _core.Codes(rng.integers(-1, 6, n).astype(np.int32), 6)]
    columns, outputs = sum(part.shape[1] for part in parts), 1 if classes == 2 else classes
    across = outputs == 1 or kind in ("dense", "float32")
    view = _core.Presenter([(parts, y, None, None)], columns, outputs, across)
    for order in (None, rng.permutation(n)):
        found = []
        for count in (1, 2):
            _core.set_threads(count)
            coef, state = np.zeros((outputs, columns) if across else (columns, outputs)), np.zeros(5, dtype=np.int64)
            for _ in range(2):
                state[0] = 0
                view.run(order, n, coef, None, state, 0, 1.0, 2**62, None, True)
            found.append((coef.tobytes(), state.tolist()))
        assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["plain", "float32", "whole", "huge", "tiny"])
@pytest.mark.parametrize("tie", [-1, 0, 1])
def test_two_threads_with_half_of_the_columns_present_as_one_does(kind: str, tie: int) -> None:
    """Rows whose scores differ, tie (whole numbers), or cannot be told in single precision (huge, tiny)."""
    rng = np.random.default_rng(5)
    n, p, k = 400, 301, 7
    x = rng.normal(size=(n, p)) * {"huge": 1e25, "tiny": 1e-30}.get(kind, 1.0)
    x = (
        np.rint(x / 2.0)
        if kind == "whole"
        else x.astype(np.float32)
        if kind == "float32"
        else np.rint(x * 2.0**110) / 2.0**110
    )
    y = rng.integers(0, k, size=(n, 1)).astype(float)
    x[np.arange(n), y[:, 0].astype(int)] += 2.0 * np.abs(x).max()
    view = _core.Presenter([([_core.Ones(n), _core.Dense(x)], y, None, None)], p + 1, k, True)
    found = []
    for count in (1, 2):
        _core.set_threads(count)
        coef, state = np.zeros((k, p + 1)), np.zeros(5, dtype=np.int64)
        largest = []
        for _ in range(3):
            state[0] = 0
            largest.append(view.run(None, n, coef, None, state, tie, 0.5, 2**62, None, True))
        found.append((coef.tobytes(), state.tolist(), largest))
    assert found[0] == found[1]
    if kind == "whole":  # all sums are exact: a plain loop
        w = np.zeros((k, p + 1))
        for row, own in 3 * list(zip(np.column_stack([np.ones(n), x]), y[:, 0].astype(int), strict=True)):
            scores = w @ row
            others = np.where(np.arange(k) == own, -np.inf, scores)
            rival = int(k - 1 - np.argmax(others[::-1]) if tie > 0 else np.argmax(others))
            wins = tie != 0 and (tie > 0) == (own > rival)
            if not (scores[own] >= scores[rival] if wins else scores[own] > scores[rival]):
                w[own] += 0.5 * row
                w[rival] -= 0.5 * row
        np.testing.assert_array_equal(coef, w)
