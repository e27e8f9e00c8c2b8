"""The multiple loops G(m,N): ring, diagonals and hops (docs/papers/gmn, 1 and 2)."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType

from mpinet.compiled import inlined, rule
from mpinet.errors import TopologyError
from mpinet.networks.cycle import Cycle, ring_cycle
from mpinet.networks.gmn.online import met
from mpinet.networks.gmn.parameters import (
    BACKWARD,
    DOWN,
    FORWARD,
    JUMPS,
    LEAST_SIZE,
    LOOPS,
    SECTOR,
    UP,
    loop_params,
    loop_sector,
    require_loops,
)
from mpinet.networks.gmn.repairs import plan_path, substitute_path
from mpinet.networks.gmn.routing import decide, decide_by_position, listed_routing, start
from mpinet.networks.gmn.substitutions import (
    decide_discovered,
    decide_searched,
    substitutions,
)
from mpinet.networks.parameters import Parameter, integer, require_integer
from mpinet.networks.routing import made_routings
from mpinet.networks.shortest import table_routing
from mpinet.networks.topology import Topology

PLAIN = start, decide
"""Rules of the paper's routing without faults."""


def most_hops(m: int) -> int:
    """Return B2(m): the most hops and diagonals on a path (section 3.2 of the paper)."""
    if m % 8 in (2, 3):
        return 3 * ((m - 2) // 4) // 2 + 1
    return 3 * (m // 4 - 1) // 2 + 2


class MultipleLoops(Topology):
    """Multiple loops G(m,N); ports +c, -c, then a diagonal (sector starts) or +h, -h (hop nodes).

    If the largest hop jumps N/2 in both directions, its port -h is not wired.
    """

    parameters = (
        Parameter("m", "3..108", integer, default=None),
        Parameter("N", "a multiple of 2m in the range of m", integer, default=None),
    )
    example = "gmn:8,256"
    paper = "Sen Gupta, Das, Mukhopadhyaya, Sinha 1996"
    specification = "papers/gmn 1, 2, 4, 5"

    def __init__(self, m: int | None = None, N: int | None = None):
        # One argument alone is N, although m comes first. The string `gmn:256` then chooses m by
        # the paper's ranges.
        if N is None:
            m, N = None, m
        if N is None:
            raise TopologyError("gmn: N is missing; give N, or m and N, as in gmn:8,256.")
        if m is None:
            m = loop_sector(require_integer("gmn", "N", N, LEAST_SIZE))
        require_loops("gmn", m, N)
        self.sector = m
        self.radices, self.cluster_lengths = (N // m, m), [m]
        stated = {
            "degree": 4,
            "links": N + N // m * (m // 2) + N // m // 2,
            "diameter_bound": m + most_hops(m),
        }
        super().__init__(f"{m},{N}", size=N, ports=4, params=loop_params(m, N), stated=stated)

    @rule
    def neighbor(node, port, params):
        """Return the next node along the ring, or by the jump of the position in the sector."""
        if port <= BACKWARD:
            return along_ring(node, port, params[0])
        return jump(node, port, params)

    @rule
    def reverse_port(node, port, params):
        """Return the opposite direction; the diagonal is its own reverse port."""
        if port <= BACKWARD:
            return 1 - port
        return jump_back(node, port, params)

    ascend_schedules = MappingProxyType({"loops": "mpinet.programs.schedules.gmn:Loops"})

    routings = made_routings(
        source=lambda self: listed_routing("source", self, self.params, start, decide),
        # A translation by whole sectors keeps port numbers.
        shortest=lambda self: table_routing(self, decide_by_position, self.sector),
        online=lambda self: met("online", self, PLAIN, (start, decide_searched)),
        discovered=lambda self: met(
            "discovered", self, PLAIN, (start, decide_discovered), partial(substitutions, self)
        ),
        substituted=lambda self: met(
            "substituted",
            self,
            PLAIN,
            (substitute_path, decide_discovered),
            partial(substitutions, self),
        ),
        planned=lambda self: met("planned", self, PLAIN, (plan_path, decide_searched)),
    )
    """The paper's source routing, shortest paths, and routings around dead processors and links.

    ``source``: the source writes the list of ports (4.2). ``shortest``: stateless, by one table
    for all sectors (4.4). ``online``: as ``source``, and the processor before a fault repairs the
    list (5.1). ``discovered``: the same by the paper's substitutions, as far as these exist (5.3).
    ``substituted``: the source knows the faults and substitutes (5.3). ``planned``: the source
    knows the faults and compares variants of the path (5.2).
    """

    detour, one_port_broadcast = "online", "floodtree"

    def cycle(self) -> Cycle:
        """Hamiltonian cycle: port 0 all the way round."""
        return ring_cycle(self.params)


@inlined
def along_ring(node, port, size):
    """Return the next or previous node of a ring."""
    if port == FORWARD:
        return node + 1 if node < size - 1 else 0
    return node - 1 if node > 0 else size - 1


@inlined
def jump(node, port, params):
    """Return the node of the loops behind the port `UP` or `DOWN`, or -1."""
    size = params[LOOPS]
    distance = params[JUMPS + node % params[SECTOR]]
    if distance == 0 or port > DOWN:
        return -1
    if port == UP:
        other = node - size + distance
        return other if other >= 0 else other + size
    # Both directions of such a hop end at the same node. A second link would be parallel, which the
    # paper does not have.
    if 2 * distance == size:
        return -1
    return node - distance if node >= distance else node - distance + size


@inlined
def jump_back(node, port, params):
    """Return the port at the other end of a diagonal or hop, or -1."""
    distance = params[JUMPS + node % params[SECTOR]]
    if distance == 0:
        return -1
    if 2 * distance == params[LOOPS]:
        return UP if port == UP else -1
    return UP + DOWN - port
