"""The common part of the collectives: the items that they move, and what they report."""

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
    """Result of a collective; the fields behind `correct` are for some collectives alone."""

    algorithm: str
    """Name of the algorithm."""
    steps: int
    """Steps of the machine until the last item has arrived; of a broadcast until the last
    processor is informed, of those that are informed at all."""
    messages: int
    """Messages sent, including those of a broadcast after `steps`: a processor of a schedule does
    not know that all others are informed."""
    phases: tuple[tuple[str, int], ...]
    """Name and length of each phase, in steps, up to `steps`."""
    lower_bound: Bound
    """Lower bound of the steps under the machine's port model with one item per message."""
    correct: bool
    """True if every processor ended with exactly the items that are meant for it."""
    preparation: Preparation = NONE
    """Cost of preparing a tree on a separate machine."""
    skipped: tuple[str, ...] = ()
    """Candidates that were not compared, because they would exceed the budget of work."""
    informed: int = 0
    """Processors that ended with all items that are meant for them, of a broadcast or of many
    items. A broadcast is incomplete if these are not all processors."""
    value: int | None = None
    """Combined value of item 0 in a reduction."""
    items: int = 1
    """Items of the root or of each processor, or items to combine."""
    rate: Fraction | None = None
    """Upper bound of the items per step in the long run, of many items; None on networks that are
    too large for its search."""
    by_orbit: bool | None = None
    """True if the messages of one processor stood for those of all, in a gossip by translations;
    the others were not moved."""

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
        """Make the result of one phase: all that was spent; `more` are further fields."""
        phases = ((algorithm, spent.steps),)
        both = (lower_bound, correct, preparation)
        return cls(algorithm, spent.steps, spent.messages, phases, *both, **more)

    @property
    def lower_by(self) -> str:
        """Name of what shows the lower bound, as in `Bound`."""
        return self.lower_bound.by


def items(seed: int, sources: Ints, targets: Ints) -> Ints:
    """The items' contents: 62 random bits for the source and the target of each.

    Parameters
    ----------
    seed : int
        Chooses the contents.
    sources, targets : ndarray of int64, shape (k,)
        Whose item it is, and for whom (for all: the source once more).
    """
    contents = np.empty(len(sources), np.int64)
    draw_items(seed, np.ascontiguousarray(sources), np.ascontiguousarray(targets), contents)
    return contents


@kernel
def draw_items(seed: int, sources: Ints, targets: Ints, contents: Ints) -> None:
    """Write the items' contents."""
    for i in range(sources.size):
        contents[i] = draw(seed, int(sources[i]), int(targets[i]))


def require_processor(topology: Topology, root: int) -> None:
    """Raise an error unless `root` is a processor of the network.

    Raises
    ------
    NodeError, UsageError
        There is no such node, or it is a switch.
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
    """The algorithm that is wanted, or the first that is offered.

    Raises
    ------
    UsageError
        It is not offered.
    """
    if wanted is not None and wanted not in offered:
        raise UsageError(
            f"{topology.name} has no {what} {wanted!r} on such a machine; it has: "
            f"{', '.join(offered)}."
        )
    return wanted or offered[0]


def require_few(topology: Topology, what: str, most: int, instead: str = "") -> None:
    """Raise `UsageError` if there are more than `most` processors, with what to do instead."""
    if topology.hosts > most:
        raise UsageError(
            f"{what} goes with at most {most:,} processors, and {topology.name} has "
            f"{topology.hosts:,}{instead}."
        )
