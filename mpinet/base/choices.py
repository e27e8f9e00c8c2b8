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

_BOTH = (
    "uniform|permutation|transpose|bitreversal|complement|shuffle|tornado|neighbour|"
    "diagonal|alltoall|nearby|adversarial|mix:P@SHARE+Q|groups:P@SIZE+Q|FILE.csv"
)
"""Patterns of pairs and of generated messages; ``all`` is another name of ``alltoall``."""

PAIRS = f"all|randperm|random:K|hotspot:NODE|U-V,..|{_BOTH}"
"""Pairs of messages that are routed once."""

PATTERNS = f"hotspot:NODE[,PERCENT]|targets:V-V-..|{_BOTH}"
"""Patterns of targets of generated messages."""

Label: TypeAlias = Literal["none", "number", "address"]
"""Texts at the nodes of a picture."""
