"""Values shared by options and engines: each set of values is defined only here."""

from __future__ import annotations

from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["cut", "store", "ideal"]
"""Methods of transporting a timed message across several links."""

Rendezvous: TypeAlias = Literal["round-trip", "loggopsim"]
"""Ends of a timed send by rendezvous: after the way back, or at the match as in LogGOPSim."""

Switching: TypeAlias = Literal["saf", "vct", "wormhole"]
"""Switching methods of flits."""

Policy: TypeAlias = Literal[
    "oldest", "fifo", "rotating", "inputfirst", "outputfirst", "islip", "wavefront"
]
"""Allocation policies for a router's outputs."""

_BOTH = (
    "uniform|permutation|transpose|bitreversal|complement|shuffle|tornado|neighbour|"
    "diagonal|alltoall|nearby|adversarial|mix:P@SHARE+Q|groups:P@SIZE+Q|FILE.csv"
)
"""Patterns for both pairs and generated messages; ``all`` is a synonym of ``alltoall``."""

PAIRS = f"all|randperm|random:K|hotspot:NODE|U-V,..|{_BOTH}"
"""Pairs of messages that are routed once."""

PATTERNS = f"hotspot:NODE[,PERCENT]|targets:V-V-..|{_BOTH}"
"""Patterns of targets of generated messages."""

Label: TypeAlias = Literal["none", "number", "address"]
"""Texts at the nodes of a picture."""
