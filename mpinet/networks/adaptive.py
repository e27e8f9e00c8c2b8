"""Adaptive routing: a node chooses among the allowed output channels by available credits.

Two local rules make a routing adaptive. ``candidates`` lists the allowed pairs of an output port
and a class of channels; ``choose`` picks one of them by the node's own credits. Both rules are
called in every step in which the message's head waits. A head therefore never commits to a channel
that stays full, as Duato's theorem on escape channels demands (Duato 1993).
"""

from __future__ import annotations

from mpinet.compiled import rule

PORT, CLASS = 0, 1
"""Columns of the candidates: the output port, and the class of its channel."""

CREDITS, QUEUES, ALL_QUEUES = range(3)
"""Values that ``choose`` gets before the candidates' credits.

``CREDITS``: none. ``QUEUES``: the queue of every port of the node. ``ALL_QUEUES``: the queue of
every port of every node (at index ``node * ports + port``). The queue of a port is the number of
credits that its channel lacks, summed over all virtual channels. These credits belong to flits in
the buffers behind the channel, flits in flight to these buffers, and flits whose credits are on
their way back. The queues of the node's own ports also count the flits that request the port in
this step before the deciding head.
"""


def words_seen(sees: int, size: int, ports: int) -> int:
    """Return the number of queue values before the candidates' credits."""
    # Engines allocate exactly this number of words per decision. Queues of all nodes are global
    # knowledge, which only UGAL-G pays for.
    return {CREDITS: 0, QUEUES: ports, ALL_QUEUES: size * ports}[sees]


@rule
def most_room(node, header, candidates, credits, params):
    """Return the candidate with the most credits in the highest class with credits.

    The first candidate wins ties. The classes of an escape are the lowest. An escape is taken only
    if no other candidate has credits.
    """
    best, group, most = -1, -1, 0
    for i in range(credits.size):
        own, count = candidates[i, CLASS], credits[i]
        # Higher classes are free, lower classes are the escape. The preference for free classes
        # keeps the escape empty for messages that need it (Duato 1993).
        if count > 0 and (own > group or (own == group and count > most)):
            best, group, most = i, own, count
    return best


@rule
def no_candidates(node, in_port, in_class, header, candidates, params):
    """Placeholder for the candidates of a routing that is not adaptive; never called."""
    return -1
