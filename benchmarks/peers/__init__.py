"""The competitors, one adapter file each; ours is one of them."""

from __future__ import annotations

from benchmarks.peer import Peer
from benchmarks.peers.by_hand import ByHand
from benchmarks.peers.glum import Glum
from benchmarks.peers.intelex import Intelex
from benchmarks.peers.ours import Ours
from benchmarks.peers.scikit_learn import ScikitLearn
from benchmarks.peers.snapml import Snapml

PEERS: dict[str, Peer] = {peer.name: peer for peer in (Ours(), ScikitLearn(), Intelex(), Glum(), Snapml(), ByHand())}
"""Every competitor by name, ours first."""

OURS = Ours.name
"""The name of our own adapter."""

YARDSTICK = ScikitLearn.name
"""The peer no row may be slower than."""
