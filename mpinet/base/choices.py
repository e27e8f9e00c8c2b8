"""Words that options and engines share: each set of values is written here alone."""

from __future__ import annotations

from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["cut", "store", "ideal"]
"""Crossing of several links by a timed message."""

Switching: TypeAlias = Literal["saf", "vct", "wormhole"]
"""Switching of flits."""

Policy: TypeAlias = Literal[
    "oldest", "fifo", "rotating", "inputfirst", "outputfirst", "islip", "wavefront"
]
"""Allocation of a router's outputs."""

PAIRS = (
    "all|permutation|randperm|random:K|transpose|bitreversal|complement|hotspot:NODE|U-V,..|"
    "FILE.csv"
)
"""Pairs of messages that are routed once."""

PATTERNS = (
    "uniform|permutation|transpose|bitreversal|complement|shuffle|tornado|neighbour|"
    "hotspot:NODE,PERCENT|diagonal|alltoall|nearby|adversarial|mix:P@SHARE+Q|groups:P@SIZE+Q|targets:V-V-..|"
    "FILE.csv"
)
"""Patterns of targets of generated messages."""

Label: TypeAlias = Literal["none", "number", "address"]
"""Texts at the nodes of a picture."""
