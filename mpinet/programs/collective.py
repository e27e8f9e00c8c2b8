"""The common part of the collectives: the items that they move, and what they report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import kernel
from mpinet.draws import draw
from mpinet.errors import UsageError
from mpinet.machine import Spent
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound
from mpinet.programs.preparation import NONE, Preparation

Result = TypeVar("Result", bound="CollectiveResult")


@dataclass(frozen=True)
class CollectiveResult:
    """Result of a collective."""

    algorithm: str
    """Name of the algorithm."""
    steps: int
    """Steps of the machine until the last item has arrived."""
    messages: int
    """Messages sent."""
    phases: tuple[tuple[str, int], ...]
    """Name and length of each phase, in steps."""
    lower_bound: Bound
    """Lower bound of the steps under the machine's port model with one item per message."""
    correct: bool
    """True if every processor ended with exactly the items that are meant for it."""
    preparation: Preparation = field(default=NONE, kw_only=True)
    """Cost of preparing a tree on a separate machine."""
    skipped: tuple[str, ...] = field(default=(), kw_only=True)
    """Candidates that were not compared, because they would exceed the budget of work."""

    @classmethod
    def of(
        cls: type[Result],
        algorithm: str,
        spent: Spent,
        lower_bound: Bound,
        correct: bool,
        preparation: Preparation = NONE,
        **more: Any,
    ) -> Result:
        """The result of a collective of one phase: all that was spent; `more` as in a subclass."""
        return cls(
            algorithm,
            spent.steps,
            spent.messages,
            ((algorithm, spent.steps),),
            lower_bound,
            correct,
            preparation=preparation,
            **more,
        )

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
