"""Common part of the collectives: contents of items, and results."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import kernel
from mpinet.draws import draw
from mpinet.errors import Disconnected, UsageError
from mpinet.machine import Spent
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound
from mpinet.programs.preparation import NONE, Preparation


@dataclass(frozen=True)
class CollectiveOutcome:
    """Result of a collective; fields below `correct` are set by some collectives only."""

    algorithm: str
    """Name of the algorithm."""
    steps: int
    """Number of steps until the last item has arrived. For a broadcast: until the last processor
    that can be informed is informed.
    """
    messages: int
    """Number of messages sent. A broadcast also counts messages after `steps`, because a processor
    of a schedule cannot know that all others are informed.
    """
    phases: tuple[tuple[str, int], ...]
    """Name and length of each phase, in steps, up to `steps`."""
    lower_bound: Bound
    """Lower bound of the steps under the machine's port model with one item per message."""
    correct: bool
    """True if every processor ended with exactly its expected items."""
    preparation: Preparation = NONE
    """Cost of preparing a tree on a separate machine."""
    skipped: tuple[str, ...] = ()
    """Candidates that were not compared, because they would exceed the budget of work."""
    informed: int = 0
    """Number of processors that ended with all their expected items, in a broadcast or with many
    items. A broadcast is incomplete if this number is smaller than the number of processors.
    """
    value: int | None = None
    """Combined value of item 0 in a reduction."""
    items: int = 1
    """Number of items of the root or of each processor, or number of items to combine."""
    rate: Fraction | None = None
    """Upper bound of the long-run throughput of many items, in items per step; None on networks too
    large for its search.
    """
    by_orbit: bool | None = None
    """True if a gossip by translations computed the messages of one processor only, as
    representatives of all messages.
    """

    @classmethod
    def of(
        cls,
        algorithm: str,
        spent: Spent,
        lower_bound: Bound,
        correct: bool,
        preparation: Preparation = NONE,
        **more: Any,
    ) -> CollectiveOutcome:
        """Return the result of a single phase with the given cost; `more` sets further fields."""
        phases = ((algorithm, spent.steps),)
        both = (lower_bound, correct, preparation)
        return cls(algorithm, spent.steps, spent.messages, phases, *both, **more)

    @property
    def lower_by(self) -> str:
        """Reason for the lower bound, as in `Bound`."""
        return self.lower_bound.by


def items(seed: int, sources: Ints, targets: Ints) -> Ints:
    """Return the contents of items: 62 random bits for each pair of source and target.

    Parameters
    ----------
    seed : int
        Seed of the contents.
    sources, targets : ndarray of int64, shape (k,)
        Source and target processor of each item; an item for all has its source as its target.
    """
    contents = np.empty(len(sources), np.int64)
    draw_items(seed, np.ascontiguousarray(sources), np.ascontiguousarray(targets), contents)
    return contents


@kernel
def draw_items(seed: int, sources: Ints, targets: Ints, contents: Ints) -> None:
    """Write the contents of items: 62 random bits per pair of source and target."""
    for i in range(sources.size):
        contents[i] = draw(seed, int(sources[i]), int(targets[i]))


def require_processor(topology: Topology, root: int) -> None:
    """Raise an error unless `root` is a processor of the network.

    Raises
    ------
    NodeError, UsageError
        The node does not exist, or is a switch.
    """
    topology.require_node(root)
    if root >= topology.hosts:
        raise UsageError(
            f"Node {root} of {topology.name} is a switch; processors are 0..{topology.hosts - 1}."
        )


def require_connected(topology: Topology, root: int, reached: int) -> None:
    """Raise `Disconnected` unless all nodes have been reached from a root."""
    if reached < topology.size:
        raise Disconnected(
            f"{topology.name} is not connected: from node {root}, {reached} of its "
            f"{topology.size} nodes are reached."
        )


def choose(topology: Topology, what: str, wanted: str | None, offered: list[str]) -> str:
    """Return the requested algorithm, or the first offered one by default.

    Raises
    ------
    UsageError
        The requested algorithm is not offered.
    """
    if wanted is not None and wanted not in offered:
        raise UsageError(
            f"{topology.name} has no {what} {wanted!r} on such a machine; it has: "
            f"{', '.join(offered)}."
        )
    return wanted or offered[0]


def require_few(topology: Topology, what: str, most: int, instead: str = "") -> None:
    """Raise `UsageError` with a suggestion if the network has more than `most` processors."""
    if topology.hosts > most:
        raise UsageError(
            f"{what} goes with at most {most:,} processors, and {topology.name} has "
            f"{topology.hosts:,}{instead}."
        )
