"""Point-to-point routing of a traffic pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine
from mpinet.machine.busprotocol import BusProtocol
from mpinet.machine.faults import Faults
from mpinet.machine.meters import ChannelLoad
from mpinet.machine.router import Router
from mpinet.networks.routing import Routing
from mpinet.programs.traffic import Traffic


@dataclass(frozen=True)
class LatencySummary:
    """Latencies of delivered messages, from injection to delivery; None if there are none."""

    mean: float | None
    """Mean latency, in steps."""
    p50: int | None
    """Median latency, in steps."""
    p99: int | None
    """99th percentile of the latencies, in steps."""
    max: int | None
    """Largest latency, in steps."""

    @classmethod
    def of(cls, histogram: Ints) -> LatencySummary:
        """Return the summary of a histogram of messages by latency, from 0 steps on."""
        messages = int(histogram.sum())
        if messages == 0:
            return cls(None, None, None, None)
        steps = np.arange(len(histogram))
        below = np.cumsum(histogram)
        quantile = [int(np.searchsorted(below, np.ceil(q * messages))) for q in (0.5, 0.99)]
        return cls(
            mean=float(steps @ histogram / messages),
            p50=quantile[0],
            p99=quantile[1],
            max=int(np.flatnonzero(histogram)[-1]),
        )


@dataclass(frozen=True)
class RoutingOutcome:
    """Result of routing a traffic pattern."""

    messages: int
    """Number of injected messages."""
    delivered: int
    """Number of delivered messages."""
    undeliverable: int
    """Number of messages that could not be delivered."""
    steps: int
    """Number of steps until the last delivery (makespan; in ideal mode the longest path)."""
    hops_total: int
    """Number of hops of all messages together."""
    hops_max: int
    """Largest number of hops of a delivered message."""
    latency: LatencySummary
    """Latencies of the delivered messages, in steps."""
    queue_max: int
    """Largest number of messages waiting at one processor in one step."""
    link_load: ChannelLoad | None
    """Messages over the channels; None if the machine does not meter them."""


def route(
    machine: Machine,
    traffic: Traffic,
    routing: Routing | None = None,
    mode: str = "queued",
    policy: str = "oldest",
    faults: Faults | None = None,
    protocol: BusProtocol | None = None,
) -> RoutingOutcome:
    """Route all messages of a traffic pattern, injected in step 0 (collective).

    Parameters
    ----------
    machine : Machine
        Runs the steps, enforces the port model and counts.
    traffic : Traffic
        Sources and targets of the messages.
    routing : Routing, optional
        Default: the network's first.
    mode, policy, faults, protocol
        As in `Router`.

    Returns
    -------
    RoutingOutcome
        Equal on all ranks.

    Examples
    --------
    >>> from mpinet.programs.traffic import traffic
    >>> machine = Machine("hypercube:4")
    >>> found = route(machine, traffic(machine.topology, "complement"), mode="ideal")
    >>> found.messages, found.delivered, found.steps, found.hops_total
    (16, 16, 4, 64)
    """
    before = machine.steps
    chosen = routing or machine.topology.routing()
    router = Router(machine, chosen, mode, policy, faults, protocol=protocol)
    router.require_room(traffic.total)
    router.inject_drawn(traffic.sent_by(machine), traffic.ends, traffic.total)
    router.run()
    totals: dict[str, Any] = router.totals
    return RoutingOutcome(
        messages=traffic.total,
        steps=machine.steps - before,
        latency=LatencySummary.of(router.latencies),
        link_load=machine.channel_load() if machine.metered else None,
        **totals,
    )
