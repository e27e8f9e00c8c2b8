"""Rehearsal of routing: a sample of paths is walked, and arrivals at the rank are modelled."""

from __future__ import annotations

import time

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import kernel
from mpinet.draws import draw
from mpinet.errors import UsageError
from mpinet.machine import Machine, hop
from mpinet.machine.dry import Dry
from mpinet.machine.router import Router, hosting
from mpinet.networks.routing import Routing
from mpinet.programs.rehearsal.flood import SAMPLED
from mpinet.programs.rehearsal.rehearsal import Rehearsal, require_rehearsable
from mpinet.programs.rehearsal.walks import AT_ONCE, walk
from mpinet.programs.traffic import Traffic

SAMPLE = 2**20
"""Maximum number of messages whose paths are walked."""


def rehearse_route(
    machine: Machine,
    dry: Dry,
    traffic: Traffic,
    routing: Routing,
    mode: str = "queued",
    policy: str = "oldest",
) -> Rehearsal:
    """Run one rank's part of a traffic pattern, and walk a sample of all messages' paths.

    The number of crossing messages is exact if all paths are walked. The number of steps is the
    length of the longest path; real messages also wait. During the run as many messages arrive in
    every step as leave the rank, and arrivals are at their targets (`Mirror`).

    Parameters
    ----------
    machine : Machine
        Machine on `dry`.
    traffic, routing, mode, policy
        As in `mpinet.programs.route.route`.

    Raises
    ------
    UsageError
        Processors do not have all their ports, so ranks would have to agree on the order of
        messages.
    """
    require_rehearsable(machine, "routing")
    if machine.model.send is not None or machine.model.half_duplex:
        raise UsageError("predict supports routing with all ports and full-duplex links only.")
    row = (hop.WORDS + routing.words + (policy == "fifo")) * np.dtype(np.int64).itemsize
    router = Router(machine, routing, mode, policy)
    dry.arrivals = Mirror(machine, routing)
    numbers = traffic.sent_by(machine)
    router.reserve(len(numbers))
    began = time.process_time()
    router.inject_drawn(numbers, traffic.ends, traffic.total)
    while router.live and router.step():
        pass
    seconds = time.process_time() - began - dry.making
    count = min(traffic.total, SAMPLE)
    part = count / max(traffic.total, 1) or 1.0
    paths = walk(
        machine.topology,
        routing,
        machine.placement,
        count,
        lambda numbers: traffic.ends(_stratified(numbers, traffic.total, count)),
    )
    # Arrivals are modelled as already at their targets, so the rank makes fewer hops than in a real
    # run. Its time is scaled up by the quotient.
    hops = paths.hops.sum() / part / dry.size / max(machine.meters.messages, 1)
    messages = round(int(paths.crossing[dry.rank]) / part)
    every = round(int(paths.crossing.sum()) / part)
    sampled = () if count == traffic.total else SAMPLED
    return Rehearsal.played(
        machine,
        dry,
        began,
        steps=int(paths.hops.max(initial=0)),
        messages=messages,
        bytes=messages * row,
        all_messages=every,
        all_bytes=every * row,
        partners=int(paths.partners.sum()),
        computing=seconds * max(1.0, float(hops)),
        modelled=(*(sampled or ("steps",)), "computing", "memory"),
    )


def _stratified(numbers: Ints, total: int, count: int) -> Ints:
    """Return random numbers below `total`, one in each of `count` equal parts of the range."""
    if total == count:
        return numbers
    begins = numbers * (total // count)
    drawn = np.empty_like(numbers)
    draw_below(numbers, total // count, drawn)
    return begins + drawn


@kernel
def draw_below(numbers: Ints, limit: int, drawn: Ints) -> None:
    """Write a random number below `limit` for each given number."""
    for i in range(numbers.size):
        drawn[i] = draw(0, numbers[i], 7) % limit


class Mirror:
    """Modelled arrivals at a rank of a routed machine: as many as leave the rank, at their targets.

    Parameters
    ----------
    machine : Machine
        The rank's machine.
    routing : Routing
        Writes the arrivals' headers.
    """

    def __init__(self, machine: Machine, routing: Routing):
        self._machine = machine
        self._routing = routing

    def __call__(self, rows: Ints) -> Ints:
        """Return arrivals as rows of the router, at hosted processors, with their own headers."""
        arrivals = np.zeros_like(rows)
        for begin in range(0, len(rows), AT_ONCE):
            self._write(rows[begin : begin + AT_ONCE], arrivals[begin : begin + AT_ONCE])
        return arrivals

    def _write(self, rows: Ints, arrivals: Ints) -> None:
        """Write modelled arrivals in place of the rows sent to other ranks."""
        placement = self._machine.placement
        nodes = placement.first + np.arange(len(rows)) % placement.count
        arrivals[:] = rows
        hop.set_out(
            self._routing.start.native,
            self._routing.params,
            self._routing.words,
            # The nodes are slots of this rank, so the slot of each is its own number.
            hosting(self._machine)._replace(contiguous=1),
            nodes,
            nodes,
            hop.high(rows[:, hop.NUMBER]),
            0,
            arrivals,
        )
