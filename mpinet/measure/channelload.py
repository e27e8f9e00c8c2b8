"""What the busiest channel carries if every processor sends one flit a step: a bound on throughput.

No network accepts more than one flit a step for its busiest channel. The load of a channel is the
sum, over the pairs whose route passes it, of the flits that the pattern sends between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from mpinet.arrays import Ints
from mpinet.compiled import kernel
from mpinet.machine.transport import world
from mpinet.measure.routes import own_share
from mpinet.networks.routing import Routing, hop_limit, onward, rules
from mpinet.networks.topology import Topology
from mpinet.programs.patterns import Pattern, shares

MOST_PAIRS = 2**24
"""Pairs whose routes are followed for a bound: seconds."""


def saturation_bound(
    topology: Topology,
    routing: Routing,
    pattern: Pattern,
    seed: int = 0,
    one_ejects: bool = True,
    most: int = MOST_PAIRS,
) -> float | None:
    """The most flits of a processor a step that the busiest channel allows (collective).

    Parameters
    ----------
    topology, routing
        The network, and how messages find their way.
    pattern : Pattern
        Who sends to whom.
    seed : int
        For patterns that are drawn.
    one_ejects : bool
        Whether a processor takes one flit a step: then what it takes is a channel, too.
    most : int
        Pairs that are followed.

    Returns
    -------
    float or None
        None for traces, and where there are more pairs than that.

    Examples
    --------
    >>> import mpinet
    >>> from mpinet.programs.patterns import pattern_of
    >>> torus = mpinet.open("torus:8x8")
    >>> saturation_bound(torus, torus.routing(), pattern_of(torus, "uniform"))
    0.8
    >>> saturation_bound(torus, torus.routing("parity"), pattern_of(torus, "uniform"))
    1.0
    """
    parts = shares(topology, pattern, seed)
    if parts is None or sum(part.pairs for part in parts) > most:
        return None
    # Loads are sums of whole numbers times a part's weight: fractions keep them exact.
    heights: dict[tuple[int, ...], Fraction] = {}
    carried = [_carried(topology, routing, part.blocks()) for part in parts]
    every = np.stack([loads for loads, _ in carried] or [np.zeros(1, np.int64)], axis=1)
    taken = np.stack([ends for _, ends in carried] or [np.zeros(1, np.int64)], axis=1)
    kinds = [every] + ([taken] if one_ejects else [])
    for row in np.unique(np.concatenate(kinds), axis=0).tolist():
        heights[tuple(row)] = sum(
            (n * part.weight for n, part in zip(row, parts, strict=True)), Fraction(0)
        )
    busiest = max(heights.values(), default=Fraction(0))
    return float(1 / busiest) if busiest else None


def _carried(
    topology: Topology, routing: Routing, blocks: Iterator[tuple[Ints, Ints]]
) -> tuple[Ints, Ints]:
    """Flits over every channel (node, port), and to every processor, if each pair sends one."""
    transport = world()
    loads = np.zeros(topology.size * topology.ports, np.int64)
    ends = np.zeros(topology.size, np.int64)
    for sources, targets in blocks:
        share = own_share(transport, len(sources))
        add_loads(*rules(topology, routing), sources[share].copy(), targets[share].copy(), loads)
        ends += np.bincount(targets[share], minlength=topology.size)
    return transport.sum(loads), transport.sum(ends)


@kernel(
    "void(port_rule, start_rule, decide_rule, int64[::1], int64[::1], int64, int64[::1], "
    "int64[::1], int64[::1])"
)
def add_loads(
    neighbor_rule, start_rule, decide_rule, wiring, wayfinding, words, sources, targets, loads
):
    """Add the channels on the ways of these messages."""
    neighbor, start, decide = neighbor_rule.call, start_rule.call, decide_rule.call
    header = np.empty(words, np.int64)
    for i in range(sources.size):
        header[:] = 0
        start(sources[i], targets[i], header, wayfinding)
        node = sources[i]
        for _ in range(hop_limit(wiring[0])):
            port, following = onward(node, header, neighbor, decide, wiring, wayfinding)
            if port < 0 or following < 0:
                break
            loads[node * wiring[1] + port] += 1
            node = following
