"""Collectives whose chunks are all injected at once and routed to the processors that need them."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine, Spent
from mpinet.networks.routing import Routing
from mpinet.programs.holdings import ChunksCame, ChunkSends, RoutedEnds, all_came, first_rows
from mpinet.programs.kinds import Purpose
from mpinet.programs.playing import StepProgram, play

ROUTED = "routed"
"""Name of the algorithm that only uses the router."""


def route_chunks(
    machine: Machine, purpose: Purpose, seed: int, routing: Routing | None = None
) -> tuple[Spent, bool]:
    """Route every chunk to the processors that need it (collective).

    Returns
    -------
    spent : Spent
        Steps and messages.
    correct : bool
        True if every processor has received each needed chunk once.
    """
    came: list[ChunksCame] = []

    def program() -> StepProgram:
        sources, targets, numbers, chunks = message_ends(machine, purpose)
        total = (purpose.processors - 1) * (1 if purpose.kind.rooted else purpose.processors)
        route = RoutedEnds(targets, numbers, total, routing)
        rows, slots = first_rows(purpose, seed, sources, chunks), machine.slots(sources)
        came.append((yield ChunkSends(slots, slots[:0], chunks, payload=rows, route=route)))

    spent = play(machine, program())
    return spent, all_came(machine, purpose, seed, came[0].nodes, came[0].payload)


def message_ends(machine: Machine, purpose: Purpose) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the sends of this rank's processors: sources, targets, message numbers and chunks.

    Without a root, messages are numbered by round, then by source: message (k - 1) N + s goes from
    s to s + k.
    """
    hosts, root = purpose.processors, purpose.root
    nodes = np.sort(machine.nodes)
    nodes = nodes[nodes < hosts]
    if root is None:
        rounds = np.repeat(np.arange(1, hosts), len(nodes))
        sources = np.tile(nodes, hosts - 1)
        targets = (sources + rounds) % hosts
        chunks = sources * hosts + targets if purpose.kind.pairs else sources
        return sources, targets, (rounds - 1) * hosts + sources, chunks
    others = nodes[nodes != root]
    if purpose.kind.starts == "root":
        others = np.delete(np.arange(hosts), root)[: hosts * int((nodes == root).any())]
    at_root = np.full_like(others, root)
    ends = (at_root, others) if purpose.kind.starts == "root" else (others, at_root)
    return *ends, others - (others > root), others
