"""Bounds for switches that only forward: each message has a single sender and a single receiver.

A processor's message through such switches reaches exactly one processor, some hops later. The
number of messages sent by processors therefore equals the number accepted. Switches only add the
hops between the nearest two processors.
"""

from __future__ import annotations

import numpy as np

from mpinet.programs.bounds import Bound
from mpinet.programs.kinds import OF_EACH
from mpinet.programs.pipelines.arcs import Arcs


def forwarded_bound(arcs: Arcs, collective: str, items: int, one_port: bool, carried: int) -> Bound:
    """Return a lower bound of the steps of a collective through switches that only forward.

    Parameters
    ----------
    arcs : Arcs
        Arcs of a network of links.
    collective : str
        ``"broadcast"``, ``"gossip"``, or a collective that combines. Reversed, a combining
        collective is one of these. An allreduce takes 2N - 2 messages per item, like telephone
        calls (Harary and Schwenk 1974).
    items : int
        As in `mpinet.programs.pipelines.bounds.steps_and_rate`.
    one_port : bool
        If True, a processor sends at most one message per step.
    carried : int
        Maximum number of messages sent by all processors per step.

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
    # The holders of an item grow by their sends, one per link, after the hops of each message.
    fanout = 1 if one_port else int(arcs.out_degrees[:hosts].max())
    informed = [1]
    while informed[-1] < hosts:
        informed.append(informed[-1] + fanout * (informed[-hops] if len(informed) >= hops else 0))
    return max(sent, Bound(len(informed) - 1, "growth"))


def forwarded_messages(collective: str, hosts: int) -> int:
    """Return the messages of N processors for each item; for a broadcast N - 1."""
    return (hosts - 1) * (hosts if collective in OF_EACH else 1 + (collective == "allreduce"))


def fewest_hops(arcs: Arcs) -> int:
    """Return the hops between the nearest two processors; 0 if no processor reaches another."""
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
