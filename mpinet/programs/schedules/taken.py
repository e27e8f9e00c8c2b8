"""Schedules recorded from runs of collectives: each message carries the number of its chunk."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mpinet.errors import UsageError
from mpinet.machine import Machine, PortModel
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.programs.broadcast import broadcast
from mpinet.programs.collective import CollectiveOutcome, require_few
from mpinet.programs.exchange import exchange
from mpinet.programs.gather import gather
from mpinet.programs.gossip import gossip
from mpinet.programs.kinds import KINDS
from mpinet.programs.playing import ChunkTrace
from mpinet.programs.reduce import reduce
from mpinet.programs.routed import ROUTED
from mpinet.programs.scatter import scatter
from mpinet.programs.schedules.timetable import Timetable

MOST_PROCESSORS = {"gossip": 2**10, "exchange": 2**9}
"""Maximum number of processors in all-to-all collectives; others are limited by a single rank."""


def taken(
    topology: Topology, collective: str, root: int, algorithm: str | None, model: PortModel
) -> tuple[str, Timetable]:
    """Run a collective on one rank; return its algorithm and its schedule.

    Raises
    ------
    UsageError
        The algorithm is not available, or the network has too many processors.
    ModelViolation
        The algorithm exceeds the port model.
    """
    if collective in MOST_PROCESSORS:
        require_few(topology, f"A schedule of {collective}", MOST_PROCESSORS[collective])
    trace, kind, hosts = ChunkTrace(), KINDS[collective], topology.hosts
    machine = Machine(topology, model, Local(), trace=trace)
    runs: dict[str, Callable[[], CollectiveOutcome]] = {
        "broadcast": lambda: broadcast(machine, root, algorithm),
        "reduce": lambda: reduce(machine, root, "sum", algorithm),
        "gossip": lambda: gossip(machine, algorithm),
        "scatter": lambda: scatter(machine, root, algorithm),
        "gather": lambda: gather(machine, root, algorithm),
        "exchange": lambda: exchange(machine, algorithm=algorithm),
    }
    name, moves = runs[collective]().algorithm, trace.records
    step, sender, port, receiver, chunk = (
        np.ascontiguousarray(moves[name])
        for name in ("step", "sender", "port", "receiver", "message")
    )
    if name == ROUTED:
        if not kind.pairs:
            raise UsageError(
                f"The schedule of {collective} by {name} uses the router, which records no chunks: "
                "give another --algorithm."
            )
        rounds, sources = np.divmod(chunk, hosts)
        chunk = sources * hosts + (sources + rounds + 1) % hosts
    return name, Timetable(
        collective,
        hosts,
        step,
        sender,
        receiver,
        chunk,
        root=root if kind.rooted else None,
        bus=None if topology.links else topology.channel(sender, port),
        add=np.ones(len(step), bool) if kind.adds else None,
    )
