"""Bounds where switches only forward: whatever comes to a processor has left one for it alone.

A message that a processor sends through such switches comes to one processor, some hops later. So
it is processors that send as many messages as are accepted, and of the switches only the hops count
that lie between the nearest two processors.
"""

from __future__ import annotations

import numpy as np

from mpinet.programs.bounds import Bound
from mpinet.programs.kinds import OF_EACH
from mpinet.programs.pipelines.arcs import Arcs


def forwarded_bound(arcs: Arcs, collective: str, items: int, one_port: bool, carried: int) -> Bound:
    """Steps that no collective through switches that only forward beats.

    Parameters
    ----------
    arcs : Arcs
        Of a network of links.
    collective : str
        ``"broadcast"``, ``"gossip"``, or one that combines: backwards it is one of these, and an
        allreduce takes 2N - 2 messages an item, as calls do (Harary and Schwenk 1974).
    items : int
        As of `mpinet.programs.pipelines.bounds.steps_and_rate`.
    one_port : bool
        Whether a processor sends one message a step.
    carried : int
        Messages that all processors can send in a step.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> forwarded_bound(Arcs.of(open("fattree:4,1")), "broadcast", 1, True, 4)
    4
    """
    hosts, hops = arcs.hosts, fewest_hops(arcs)
    if hosts == 1 or hops == 0:
        return Bound(0, "ends")
    messages = items * forwarded_messages(collective, hosts)
    sent = Bound(-(-messages // carried) + hops - 1, "hops")
    # An item is at more processors as these send it on, each over its links, and it has arrived.
    fanout = 1 if one_port else int(arcs.out_degrees[:hosts].max())
    informed = [1]
    while informed[-1] < hosts:
        informed.append(informed[-1] + fanout * (informed[-hops] if len(informed) >= hops else 0))
    return max(sent, Bound(len(informed) - 1, "growth"))


def forwarded_messages(collective: str, hosts: int) -> int:
    """Messages that N processors send for each item: of a broadcast N - 1."""
    return (hosts - 1) * (hosts if collective in OF_EACH else 1 + (collective == "allreduce"))


def fewest_hops(arcs: Arcs) -> int:
    """Hops between the nearest two processors; 0 where none reaches another."""
    tail, head = arcs.ends.tail, arcs.ends.head
    nearest, away = np.full(arcs.size, -1), np.zeros(arcs.size, np.int64)
    nearest[: arcs.hosts] = np.arange(arcs.hosts)
    while True:
        there = (nearest[tail] >= 0) & (nearest[head] >= 0)
        meet = there & (nearest[tail] != nearest[head])
        if meet.any():
            return int((away[tail[meet]] + away[head[meet]]).min()) + 1
        new = (nearest[tail] >= 0) & (nearest[head] < 0)
        if not new.any():
            return 0
        nearest[head[new]], away[head[new]] = nearest[tail[new]], away[tail[new]] + 1
