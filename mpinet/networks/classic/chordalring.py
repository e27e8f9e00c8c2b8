"""The chordal ring of degree three."""

from __future__ import annotations

from mpinet.compiled import rule
from mpinet.networks.cycle import Cycle, ring_cycle
from mpinet.networks.parameters import EVEN, ODD, Limit, whole_number
from mpinet.networks.routing import made_routings
from mpinet.networks.shortest import entry, table_routing
from mpinet.networks.topology import Topology
from mpinet.networks.waysback import other_way_round

CHORD = 2
"""Place in the rules' parameters: the chord's length w."""


@rule
def decide(node, header, params):
    """Return the table's port after an even translation that moves the node to 0 or 1."""
    parity = node & 1
    # Translations by even numbers keep all links. Nodes 0 and 1 represent all others, and two
    # rows of the table suffice.
    offset = header[0] - node + parity
    return entry(params, parity * params[0] + offset % params[0])


class ChordalRing(Topology):
    """Chordal ring of N processors (Arden, Lee 1981).

    Ports: u+1, u-1, and the chord u+w (u odd) or u-w (u even).
    """

    parameters = (
        whole_number("N", 6, kind=EVEN),
        whole_number("w", 3, Limit("N/2", lambda given: given["N"] // 2), kind=ODD),
    )
    example = "chordalring:16,5"
    paper = "Arden, Lee 1981"
    specification = "papers/gmn 9"

    def __init__(self, N: int, w: int):
        super().__init__(f"{N},{w}", size=N, ports=3, params=[w], stated={"degree": 3})

    @rule
    def neighbor(node, port, params):
        """Return the next processor along the ring, or the one across the chord."""
        if port != 2:
            return (node + 1 - 2 * port) % params[0]
        # An odd chord joins odd to even nodes. Each node therefore has one chord, and the opposite
        # sign leads back by the same link.
        chord = params[CHORD] if node & 1 else -params[CHORD]
        return (node + chord) % params[0]

    reverse_port = other_way_round

    routings = made_routings(shortest=lambda self: table_routing(self, decide, 2))
    """Shortest paths by two tables: all even processors are equivalent, as are all odd
    processors.
    """

    def cycle(self) -> Cycle:
        """Hamiltonian cycle: port 0 all the way round."""
        return ring_cycle(self.params)
