"""The generalized Petersen graph."""

from __future__ import annotations

from collections.abc import Callable

from mpinet.compiled import rule
from mpinet.networks.classic.chordalring import decide
from mpinet.networks.parameters import Limit, whole_number
from mpinet.networks.routing import Routing
from mpinet.networks.shortest import table_routing
from mpinet.networks.topology import Topology
from mpinet.networks.waysback import other_way_round

JUMP = 2
"""Place in the rules' parameters: k."""

SPOKE = 2


class GeneralizedPetersen(Topology):
    """Generalized Petersen graph GP(n,k): a ring, spokes, and a star polygon (Watkins 1969).

    Ports: of the ring's node 2i those to 2(i+1), 2(i-1), 2i+1; of the polygon's node 2i+1 those to
    2(i+k)+1, 2(i-k)+1, 2i; sums modulo n.
    """

    family = "gpetersen"
    parameters = (
        whole_number("n", 3, 2**20),
        whole_number("k", 1, Limit("(n-1)/2", lambda given: (given["n"] - 1) // 2)),
    )
    example = "gpetersen:8,3"
    paper = "Watkins 1969"
    specification = "networks 3"

    def __init__(self, n: int, k: int):
        super().__init__(f"{n},{k}", size=2 * n, ports=3, params=[k], stated={"degree": 3})

    @rule
    def neighbor(node, port, params):
        """Return the next node of the ring or polygon, or the one at the spoke's other end."""
        if port == SPOKE:
            return node ^ 1
        # Even numbers are the ring, odd ones the polygon. So a spoke flips the last bit, and both
        # cycles use one formula.
        jump = 2 * params[JUMP] if node & 1 else 2
        return (node + jump - 2 * jump * port) % params[0]

    reverse_port = other_way_round

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """Shortest paths by two tables: all of the ring look alike, and all of the polygon."""
        return {"shortest": lambda: table_routing(self, decide, 2)}
