"""Adaptive routing: among the channels that a routing allows, a node chooses by what has room.

Two local rules make a routing adaptive. ``candidates`` writes down the pairs of a port and a class
of channels that a message may take, ``choose`` picks one of them by the node's own credits. Both
are asked in every step in which the message's head waits, so that it is never bound to a channel
that stays full: what Duato's theorem on escape channels demands (Duato 1993).
"""

from __future__ import annotations

from mpinet.compiled import rule

PORT, CLASS = 0, 1
"""Columns of the candidates: the port, and the class of its channel."""

CREDITS, QUEUES, ALL_QUEUES = range(3)
"""Values that ``choose`` is told before the candidates' credits: nothing, the queue of every port
of the node, or that of every port of every node (place ``node * ports + port``). The queue of a
port is the credits that its channel lacks, of all virtual channels together: flits that stand in
the buffers behind it, or that are on their way there, or whose credits are on their way back. A
node's own port also counts the flits that bid for it in the step before the head that asks.
"""


def words_seen(sees: int, size: int, ports: int) -> int:
    """Return how many queues come before the candidates' credits."""
    # Engines allocate exactly these words per decision. Queues of all nodes are global knowledge,
    # which only UGAL-G pays for.
    return {CREDITS: 0, QUEUES: ports, ALL_QUEUES: size * ports}[sees]


@rule
def most_room(node, header, candidates, credits, params):
    """The candidate with the most credits in the highest class that has any; the first of equals.

    The classes of an escape are the lowest: it is taken where nothing else can be.
    """
    best, group, most = -1, -1, 0
    for i in range(credits.size):
        own, count = candidates[i, CLASS], credits[i]
        # Higher classes are the free ones, lower ones the escape. Preferring the free ones keeps
        # the escape empty for messages that need it (Duato 1993).
        if count > 0 and (own > group or (own == group and count > most)):
            best, group, most = i, own, count
    return best


@rule
def no_candidates(node, in_port, in_class, header, candidates, params):
    """Stand-in where a routing is not adaptive; it is never asked."""
    return -1
