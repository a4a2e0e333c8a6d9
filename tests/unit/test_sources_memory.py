"""Rows in memory: names, shapes, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from lineal.designs import Dense, as_design
from lineal.errors import InputError
from lineal.sources.memory import Blocks, Memory
from lineal.sources.rowwise import Count
from lineal.sources.source import Block


def test_columns_have_names():
    x = np.ones((3, 2))
    assert Memory(as_design(x), np.zeros(3)).columns == ("(intercept)", "x0", "x1")
    assert Memory(Dense(x), np.zeros(3)).columns == ("x0", "x1")
    assert Memory(Dense(x), np.zeros(3), columns=["a", "b"]).columns == ("a", "b")
    assert Blocks([Block(Dense(x), np.zeros((3, 1)))]).columns == ("x0", "x1")


def test_shapes_are_made_two_dimensional():
    (block,) = Memory(Dense(np.ones((3, 2))), np.arange(3), weight=[1, 2, 3], offset=np.ones(3, np.float32)).blocks()
    assert block.y.shape == (3, 1)
    assert block.y.dtype == np.float64
    assert block.offset.shape == (3, 1)
    assert block.weight.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"y": np.ones(2)},
        {"y": np.ones((3, 1, 1))},
        {"weight": np.ones(2)},
        {"weight": np.ones((3, 1))},
        {"offset": np.ones(4)},
        {"columns": ["a"]},
    ],
)
def test_wrong_shapes_are_refused(wrong):
    with pytest.raises(InputError):
        Memory(Dense(np.ones((3, 2))), **{"y": np.zeros(3), **wrong})


def test_no_blocks_are_refused():
    with pytest.raises(InputError, match="at least one block"):
        Blocks([])


def test_what_shows_the_same_rows_counts_the_same_passes():
    """A pass is a pass over the rows, through whichever view of them it was asked for."""
    source = Memory(Dense(np.ones((3, 2))), np.zeros(3))
    views = [
        source,
        source.map(_same),
        source.map(_same, keep=True),
        source.map(_same, keep=True).map(_same, keep=True),
    ]
    for view in views:
        view.sum(Count())
    assert [view.pass_count.made for view in views] == [4, 4, 4, 4]
    assert Memory(Dense(np.ones((3, 2))), np.zeros(3)).pass_count.made == 0


def _same(block: Block) -> Block:
    return block


def test_reading_a_text_table_wakes_neither_pandas_nor_scikit_learn(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "y,a,k,b\n" + "".join(f"{i}.5,{i % 7 or 'NA'},{'uv'[i % 2]},{['yes', 'no'][i % 2]}\n" for i in range(50))
    )
    code = f"""
import sys
from lineal.tables.table import as_table, split
from lineal.features.learning import learn
from lineal.features.encoded import Encoded
train, test = split(as_table({str(path)!r}), 0, 0.3)
learned = learn(train, target="y")
Encoded(train, learned).in_memory(10**9)
print(sorted({{"pandas", "polars", "sklearn", "matplotlib", "scipy.optimize"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
