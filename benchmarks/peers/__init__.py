"""The competitors, one adapter file each; ours is one of them."""

from __future__ import annotations

from benchmarks.peer import Peer
from benchmarks.peers.adelie import Adelie
from benchmarks.peers.by_hand import ByHand
from benchmarks.peers.celer import Celer
from benchmarks.peers.glmnet import Glmnet
from benchmarks.peers.glum import Glum
from benchmarks.peers.intelex import Intelex
from benchmarks.peers.linprog import Linprog
from benchmarks.peers.numba_loop import NumbaLoop
from benchmarks.peers.onnx import Onnx
from benchmarks.peers.ours import Before, LinealFit, Ours
from benchmarks.peers.polars import Polars
from benchmarks.peers.quantreg import Quantreg
from benchmarks.peers.scikit_learn import ScikitLearn
from benchmarks.peers.scipy_tree import ScipyTree
from benchmarks.peers.skglm import Skglm
from benchmarks.peers.snapml import Snapml
from benchmarks.peers.statsmodels import Statsmodels
from benchmarks.peers.vowpal_wabbit import VowpalWabbit

_ALL = (
    Ours,
    ScikitLearn,
    Intelex,
    Glum,
    Snapml,
    Celer,
    Adelie,
    Glmnet,
    Skglm,
    Statsmodels,
    Quantreg,
    Linprog,
    ScipyTree,
    Polars,
    VowpalWabbit,
    Onnx,
    NumbaLoop,
    ByHand,
    LinealFit,
    Before,
)

PEERS: dict[str, Peer] = {peer.name: peer() for peer in _ALL}
"""Every competitor by name, ours first."""

OURS = Ours.name
"""The name of our own adapter."""

YARDSTICK = ScikitLearn.name
"""The peer no row may be slower than."""
