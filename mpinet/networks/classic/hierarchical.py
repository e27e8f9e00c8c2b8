"""The hierarchical hypercube: a small cube at every node of a large cube.

The small cube has 2^k processors, the large cube 2^k dimensions.
"""

from __future__ import annotations

from mpinet.compiled import rule
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import made_routings
from mpinet.networks.shortest import REPRESENTATIVES, entry, table_routing
from mpinet.networks.topology import Topology
from mpinet.networks.waysback import same_port


@rule
def decide(node, header, params):
    """Return the table's port after an automorphism that moves the node into small cube 0."""
    # XOR with the cube's number is an automorphism that keeps all port numbers. Tables of small
    # cube 0 therefore serve all others.
    place = node & (params[REPRESENTATIVES] - 1)
    return entry(params, place * params[0] + (header[0] ^ node ^ place))


class HierarchicalCube(Topology):
    """Hierarchical hypercube of 2^(2^k+k) processors X*2^k + Y (Malluhi, Bayoumi 1994).

    Ports 0..k-1 flip the bits of Y, port k bit Y of X.
    """

    parameters = (whole_number("k", 1, 5),)
    example = "hhc:2"
    paper = "Malluhi, Bayoumi 1994"
    specification = "papers/sth 8"
    brackets = ("(", ")")

    def __init__(self, k: int):
        self.bits = k
        self.radices, self.cluster_lengths = (1 << 2**k, 1 << k), [1 << k]
        stated = {"degree": k + 1, "diameter": 2 << k}
        super().__init__(f"{k}", size=1 << (2**k + k), ports=k + 1, stated=stated)

    @rule
    def neighbor(node, port, params):
        """Return the neighbour in the small cube, or in its place's dimension of the large one."""
        k = params[1] - 1
        if port < k:
            return node ^ (1 << port)
        return node ^ (1 << (k + (node & ((1 << k) - 1))))

    reverse_port = same_port

    routings = made_routings(shortest=lambda self: table_routing(self, decide, 1 << self.bits))
    """Shortest paths by 2^k tables: all small cubes are equivalent."""
