"""Multiple loops with any number of processors (docs/papers/gmn, 6).

The network is the next larger G(m,N') without e = N'-N of its nodes of degree 2. These are spread
evenly over its S sectors: sector j loses its positions 2, 4, ..., 2c. The two ring neighbours of a
removed node are linked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import inlined, rule
from mpinet.errors import TopologyError
from mpinet.networks.cycle import Cycle, ring_cycle
from mpinet.networks.gmn.online import decide_online, met, no_detour
from mpinet.networks.gmn.parameters import (
    BACKWARD,
    DIAGONAL,
    LOOPS,
    MOST,
    NO_TOKEN,
    SECTOR,
    TYPES,
    behind,
    loop_params,
    loop_sector,
    require_loops,
)
from mpinet.networks.gmn.routing import drop_token, listed_routing, next_token, port_of, write_list
from mpinet.networks.gmn.substitutions import token_at_port
from mpinet.networks.gmn.walk import ROWS, TOKENS, find_path
from mpinet.networks.gmn.wiring import MultipleLoops, along_ring, jump, jump_back
from mpinet.networks.parameters import Parameter, integer
from mpinet.networks.routing import ARRIVED, Routing
from mpinet.networks.shortest import table_routing
from mpinet.networks.topology import Topology


class SmoothedLoops(Topology):
    """Multiple loops G(m,N') without N'-N nodes, renumbered in ring order; ports as in G(m,N')."""

    parameters = (Parameter("N", ">= 8, not 17", integer, least=8),)
    example = "gmnany:100"
    paper = "Sen Gupta, Das, Mukhopadhyaya, Sinha 1996"
    specification = "papers/gmn 6"

    def __init__(self, N: int):
        m = loop_sector(N)
        whole = -(-N // (2 * m)) * 2 * m
        require_loops("gmnany", m, whole)
        # Only nodes with ring links alone may be removed. Removing other nodes would take a hop or
        # a diagonal from their partners.
        if whole - N > whole // m * ((m - 1) // 2):
            raise TopologyError(
                f"gmnany: N must be >= 8 and not 17, not {N}: G({m},{whole}) has too few nodes of "
                f"degree 2 to leave {whole - N} out."
            )
        self.sector = m
        params = loop_params(m, whole)
        super().__init__(f"{N}", size=N, ports=4, params=params, stated={"degree": 4})

    @rule
    def neighbor(node, port, params):
        """Return the next node along the ring, or the node behind a hop or diagonal."""
        if port <= BACKWARD:
            return along_ring(node, port, params[0])
        other = jump(whole_number(node, params), port, params)
        return other if other < 0 else left_number(other, params)

    @rule
    def reverse_port(node, port, params):
        """Return the reverse port, along the ring or as in G(m,N')."""
        if port <= BACKWARD:
            return 1 - port
        return jump_back(whole_number(node, params), port, params)

    def _address(self, node: int) -> str:
        """Return the sector and the position in G(m,N'): ``j,p``."""
        number = whole_number(node, self.params)
        return f"{number // self.sector},{number % self.sector}"

    def read_address(self, address: str) -> int:
        """Return the node with this sector and position, or the next node if it was removed."""
        j, p = map(int, address.split(","))
        number = j * self.sector + p
        return int(left_number(number, self.params)) if 0 <= number < self.params[LOOPS] else -1

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """Source routing by the path in G(m,N'), shortest paths by a full table, and detours."""
        return {
            "source": lambda: listed_routing("source", self, self.params, start, decide),
            "shortest": lambda: table_routing(self),
            "online": lambda: met("online", self, (start, decide), (start, decide_searched)),
        }

    detour, one_port_broadcast = "online", "floodtree"

    @property
    def guest(self) -> MultipleLoops | None:  # type: ignore[override]
        """G(m,N'), emulated where its sizes are powers of two (section 7.5)."""
        whole = int(self.params[LOOPS])
        exact = whole & (whole - 1) == 0 and self.sector & (self.sector - 1) == 0
        return MultipleLoops(self.sector, whole) if exact else None

    def homes(self) -> Ints:
        """Return the processor of each node of G(m,N'): of a removed node the one before it."""
        whole, m = int(self.params[LOOPS]), self.sector
        sector, index = np.divmod(np.arange(whole), m)
        missing, sectors = whole - self.size, whole // m
        lost = (sector + 1) * missing // sectors - sector * missing // sectors
        removed = (index > 0) & (index % 2 == 0) & (index <= 2 * lost)
        return np.cumsum(~removed) - 1

    @property
    def ascend_schedules(self) -> Mapping[str, str | type[Any]]:
        """Schedule of G(m,N'), emulated (section 7.5)."""
        return self.guest.ascend_schedules if self.guest else {}

    def cycle(self) -> Cycle:
        """Hamiltonian cycle: port 0 all the way round."""
        return ring_cycle(self.params)


@inlined
def sector_start(sector, params):
    """Return the number of the first node of a sector: j m - (j e // S)."""
    # Rounding down spreads the missing nodes evenly, as Bresenham's line does. No table of sectors
    # is needed.
    m, missing = params[SECTOR], params[LOOPS] - params[0]
    return sector * m - sector * missing // (params[LOOPS] // m)


@inlined
def sector_of(node, params):
    """Return the sector of a node; the same number in G(m,N') is at most two sectors lower."""
    sector = node // params[SECTOR]
    # Fewer than 2m nodes are missing in all. Sector starts have therefore moved by at most two
    # sectors.
    while sector_start(sector + 1, params) <= node:
        sector += 1
    return sector


@inlined
def left_out(sector, params):
    """Return the number of nodes removed from a sector."""
    return params[SECTOR] - sector_start(sector + 1, params) + sector_start(sector, params)


@inlined
def whole_number(node, params):
    """Return the node's number in G(m,N')."""
    sector = sector_of(node, params)
    index, lost = node - sector_start(sector, params), left_out(sector, params)
    if index > 1:
        # The sector has lost positions 2, 4, and so on. The remaining nodes begin with the odd
        # positions.
        index = 2 * index - 1 if index <= lost + 1 else index + lost
    return sector * params[SECTOR] + index


@inlined
def left_number(number, params):
    """Return the node with a number of G(m,N'), or the next node if that one was removed."""
    sector = number // params[SECTOR]
    index, lost = number - sector * params[SECTOR], left_out(sector, params)
    if index > 1:
        index = (index + 2) // 2 if index <= 2 * lost + 1 else index - lost
    return sector_start(sector, params) + index


@inlined
def is_left_out(number, params):
    """Return whether this node of G(m,N') has been removed."""
    sector = number // params[SECTOR]
    index = number - sector * params[SECTOR]
    return index > 0 and index & 1 == 0 and index <= 2 * left_out(sector, params)


@rule
def start(source, target, header, params):
    """Write the tokens of the path in G(m,N'), except tokens to removed nodes.

    A removed node has ring links only. A path therefore leaves the node by the same token by which
    it entered.
    """
    scratch = np.empty((ROWS, params[MOST] + 1), np.int64)
    hops = np.empty(params[TYPES] + 2, np.int64)
    node = whole_number(source, params)
    count = find_path(node, whole_number(target, params), scratch, hops, params)
    tokens, kept = scratch[TOKENS], 0
    for i in range(count):
        node = behind(node, tokens[i], params)
        # A removed node has ring links only, and the path enters and leaves it by the
        # same token. Dropping one of both skips the node.
        if not is_left_out(node, params):
            tokens[kept] = tokens[i]
            kept += 1
    write_list(tokens, kept, header, params)


@rule
def decide(node, header, params):
    """Return the port of the header's first token, and remove the token."""
    token = next_token(header, params)
    if token == NO_TOKEN:
        return ARRIVED
    drop_token(header, params)
    return token if token < DIAGONAL else port_of(whole_number(node, params), token, params)


@inlined
def node_behind(node, token, params):
    """Return the node behind a token, which must be a token of the given node."""
    if token < DIAGONAL:
        return along_ring(node, token, params[0])
    return left_number(behind(whole_number(node, params), token, params), params)


@inlined
def token_of_port(node, port, params):
    """Return the token of a port of a node, `NO_TOKEN` if the port is not wired."""
    return token_at_port(whole_number(node, params), port, params)


decide_searched = decide_online.bind(
    "gmnany.online",
    node_behind=node_behind,
    token_at_port=token_of_port,
    listed_decide=decide,
    listed_detour=no_detour,
)
