"""Certificates of bisection widths: every cut into halves parts more than so many channels.

A cut puts half of the processors on either side (where their number is odd, one more on one side)
and each switch on any. It parts a link whose ends are on different sides, several links between
the same two nodes counting once, and a bus with members on both. Four things show that no cut parts
few:

* the second eigenvalue of the Laplacian: halves of a and b of N nodes part at least a b/N of it
  (Fiedler 1973); that it is p/q or more is decided by integers;
* a flow: where every node sends a unit to every other one, and the lengths of the links, which the
  certificate gives, say along which ways, the parted pairs have to go over the parted links;
* a front: nodes are placed one after the other, in the certificate's order; of all that have been
  placed, only the sides of those with neighbours to come matter, and how many are inside;
* a proof that a formula (`mpinet.certify.halfclauses`) has no solution.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from mpinet.certify.integers import are_integers
from mpinet.certify.network import Network
from mpinet.errors import CertificateError

MOST_NODES = 4096
"""Most nodes of a network whose eigenvalues or flows are checked."""

MOST_CELLS = 2**26
"""Most cells of the table over a front."""

# The lengths come from a stranger's file. The limit keeps their sums, and so each comparison in the
# heap, cheap.
MOST_LENGTH = 2**20
"""Largest length of a link in a round of a flow."""

MOST_ROUNDS = 64
"""Most rounds of a flow."""

# Flow is split among shortest paths, which gives fractions. A large whole unit keeps the rounding
# loss far below one channel.
UNIT = 2**60
"""One unit of flow, in the integers that flows are split in."""

SCALE_BITS = 20
"""Bits by which a matrix's root is scaled before it is rounded."""

# Impossible states go on counting parted links until they are cut back to this number. The count
# must stay within 16 bits.
UNREACHED = 2**14
"""Number of parted links that stands for an impossible state; a network with a front has fewer."""


def require_links(network: Network, kind: str) -> None:
    """Raise `CertificateError` unless a network is one of links between processors alone."""
    # With switches, the sizes of both sides are unknown. The eigenvalue and the flow bound need
    # them.
    if not network.links or network.hosts < network.size:
        raise CertificateError(f"{kind} says nothing of busses or switches.")
    if network.size > MOST_NODES:
        raise CertificateError(f"{kind} is for networks of up to {MOST_NODES} nodes.")


def halves(network: Network) -> tuple[int, int]:
    """Number of processors in each half, the smaller one first."""
    return network.hosts // 2, (network.hosts + 1) // 2


def require_eigenvalue(network: Network, more_than: int, at_least: object) -> None:
    """Raise `CertificateError` unless the second eigenvalue is p/q or more, and that is enough."""
    require_links(network, "an eigenvalue")
    if not are_integers(at_least, 1, 2**30) or len(at_least) != 2:
        raise CertificateError("its eigenvalue is not said to be p/q, of two numbers above 0.")
    p, q = at_least
    a, b = halves(network)
    # The width is at least a*b*lambda/N (Fiedler). The comparison is in integers, so no rounding
    # decides the proof.
    if p * a * b <= more_than * q * network.size:
        raise CertificateError(
            f"an eigenvalue of {p}/{q} does not show that more than {more_than} links are parted."
        )
    if not _positive(_shifted(network, p, q)):
        raise CertificateError(f"the second eigenvalue is not shown to be {p}/{q} or more.")


def _shifted(network: Network, p: int, q: int) -> NDArray[np.int64]:
    """Return q L - p I + c J: without negative eigenvalues only if the second of L is at least p/q.

    All numbers of J are 1, so that it adds to the eigenvalue of the constant vectors alone, which
    is 0 in L; c makes that positive.
    """
    size = network.size
    # The constant vector has eigenvalue 0 in L, which p would make negative. The matrix of ones
    # lifts that eigenvalue alone.
    matrix = np.full((size, size), p // size + 1, np.int64)
    for node, others in enumerate(network.neighbors):
        matrix[node, node] += q * len(others) - p
        matrix[node, others] -= q
    return matrix


def _positive(matrix: NDArray[np.int64]) -> bool:
    """Tell if an integer matrix is proved to have no negative eigenvalue.

    Floating point makes an approximate root R of it; R'R has no negative eigenvalue, whatever R is,
    and what is left, in whole numbers, has none where its diagonal outweighs each row.
    """
    # The scaled matrix must fit into 64 bits: an overflow would wrap silently and could prove
    # anything.
    if int(np.abs(matrix).max()) >= 2 ** (61 - 2 * SCALE_BITS):
        return False
    try:
        # Floating point only suggests the root. Half a unit is taken off the diagonal, which leaves
        # room for the rounding of the root.
        root = np.linalg.cholesky(matrix - 0.5 * np.eye(len(matrix))).T
    except np.linalg.LinAlgError:
        return False
    rounded = np.round(root * 2**SCALE_BITS).astype(np.int64)
    # Gershgorin: a symmetric matrix whose diagonal outweighs each row has no negative eigenvalue.
    # All numbers here are integers.
    left = (matrix << (2 * SCALE_BITS)) - rounded.T @ rounded
    diagonal = np.diagonal(left)
    # Python's integers: a row's sum may exceed 64 bits.
    others = np.abs(left).astype(object).sum(axis=1) - np.abs(diagonal)
    return bool((diagonal >= others).all())


def require_flow(network: Network, more_than: int, lengths: object) -> None:
    """Raise `CertificateError` unless the flow over ways of these lengths needs more links."""
    require_links(network, "a flow")
    links = [(u, v) for u, others in enumerate(network.neighbors) for v in others if u < v]
    if not isinstance(lengths, list) or not 1 <= len(lengths) <= MOST_ROUNDS:
        raise CertificateError(f"its flow has no lengths, or more than {MOST_ROUNDS} rounds.")
    # Both directions of a link add up: a cut counts a link once, whichever way the flow crosses it.
    carried = dict.fromkeys(links, 0)
    for round_ in lengths:
        if not are_integers(round_, 1, MOST_LENGTH) or len(round_) != len(links):
            raise CertificateError(
                f"a round of its flow is not one length 1..{MOST_LENGTH} for each link."
            )
        of: list[dict[int, int]] = [{} for _ in range(network.size)]
        for (u, v), length in zip(links, round_, strict=True):
            of[u][v] = of[v][u] = length
        for source in range(network.size):
            _send_from(of, source, carried)
    a, b = halves(network)
    # Of two nodes on different sides each sends its units to the other over the parted links.
    if 2 * UNIT * len(lengths) * a * b <= more_than * max(carried.values(), default=0):
        raise CertificateError(f"its flow fits through {more_than} links: it proves no more.")


def _send_from(of: list[dict[int, int]], source: int, carried: dict[tuple[int, int], int]) -> None:
    """Send one unit to every other node, split evenly over shortest paths but for rounding."""
    reached: list[int] = []
    distance, ways = {source: 0}, [0] * len(of)
    ways[source] = 1
    waiting, done = [(0, source)], [False] * len(of)
    # Dijkstra's search also counts shortest paths (Brandes 2001). The flow is split by these
    # counts, as the prover splits it.
    while waiting:
        far, node = heappop(waiting)
        if done[node]:
            continue
        done[node] = True
        reached.append(node)
        for other, length in of[node].items():
            known = distance.get(other)
            if known is None or far + length < known:
                distance[other], ways[other] = far + length, ways[node]
                heappush(waiting, (far + length, other))
            elif far + length == known:
                ways[other] += ways[node]
    if len(reached) < len(of):
        raise CertificateError("the network is not connected: nothing can be said of it.")
    through = [UNIT] * len(of)
    # Nodes are emptied from far to near, so each has all of its flow before it passes the flow on.
    for node in reversed(reached[1:]):
        before = [v for v, length in of[node].items() if distance[v] + length == distance[node]]
        left = through[node]
        for v in before:
            # The last way takes what rounding has left, so that no unit is lost.
            part = left if v == before[-1] else through[node] * ways[v] // ways[node]
            carried[min(v, node), max(v, node)] += part
            through[v] += part
            left -= part


def require_front(network: Network, more_than: int, order: object) -> None:
    """Raise `CertificateError` unless a front in this order finds no cut as narrow as that."""
    nodes = require_order(network, order)
    if not network.links:
        raise CertificateError("a front says nothing of busses.")
    if sum(map(len, network.neighbors)) // 2 >= UNREACHED:
        raise CertificateError(f"a front is for networks of fewer than {UNREACHED} links.")
    front_cells(network, nodes)  # refuses one that is too wide
    width = _narrowest(network, nodes)
    if width <= more_than:
        raise CertificateError(f"there is a cut into halves that parts {width} links.")


def front_cells(network: Network, order: object) -> int:
    """Number of cells of all tables over a front, from node to node, computed without making them.

    Raises
    ------
    CertificateError
        The order is none, or a table is too large.
    """
    cells, front = 0, set[int]()
    waiting = [len(others) for others in network.neighbors]
    for node in require_order(network, order):
        # The table has one axis of two sides for each front node and one for the count. It doubles
        # when a node is placed.
        size = (halves(network)[0] + 1) << (len(front) + 1)
        if size > MOST_CELLS:
            raise CertificateError(f"its front takes more than {MOST_CELLS} cells.")
        cells += size
        front.add(node)
        for other in network.neighbors[node]:
            waiting[other] -= 1
        # A node whose neighbours are all placed parts no further link. Its side is decided by the
        # minimum, and its axis goes.
        front -= {v for v in (node, *network.neighbors[node]) if waiting[v] == 0}
    return cells


def _narrowest(network: Network, order: list[int]) -> int:
    """Return the fewest links that a cut into halves parts, by a table over the front.

    It has an axis for each node of the front (0: outside, 1: inside), and one for how many
    processors are inside, up to the smaller half.
    """
    most = halves(network)[0]
    table = np.full(most + 1, UNREACHED, np.uint16)
    table[0] = 0
    front: list[int] = []
    waiting = [len(others) for others in network.neighbors]
    for node in order:
        inside = table
        if node < network.hosts:
            # A processor inside shifts the count by one. The lowest count is impossible for it, and
            # must not be reached by chance.
            inside = np.full_like(table, UNREACHED)
            inside[..., 1:] = table[..., :-1]
        table = np.stack([table, inside])
        front.insert(0, node)
        for other in network.neighbors[node]:
            waiting[other] -= 1
            if other in front:
                axis = front.index(other)
                for mine in (0, 1):
                    parted = (mine, *[slice(None)] * (axis - 1), 1 - mine)
                    table[parted] += 1
        for leaving in (node, *network.neighbors[node]):
            if waiting[leaving] == 0 and leaving in front:
                table = table.min(axis=front.index(leaving))
                front.remove(leaving)
        # Impossible states grow with each parted link. Without the limit they would wrap at 2**16
        # and look like the narrowest cut.
        np.minimum(table, UNREACHED, out=table)
    return int(table[most])


def require_order(network: Network, order: object) -> list[int]:
    """Return the order of the nodes that a certificate gives.

    Raises
    ------
    CertificateError
        It is not one of all nodes, each once.
    """
    if not are_integers(order, 0, network.size - 1) or sorted(order) != list(range(network.size)):
        raise CertificateError("its order is not one of all nodes, each once.")
    return order


def width_of(network: Network, side: object) -> int:
    """Number of channels that the cut shown by a certificate parts.

    Raises
    ------
    CertificateError
        It is none into halves.
    """
    if not are_integers(side, 0, network.size - 1) or len(set(side)) != len(side):
        raise CertificateError("its side is no list of nodes, each once.")
    inside = set(side)
    # With an odd number of processors either side may be the larger one.
    if sum(node < network.hosts for node in inside) not in halves(network):
        raise CertificateError("its side has not half of the processors.")
    if network.links:
        return sum(
            (u in inside) != (v in inside)
            for u, others in enumerate(network.neighbors)
            for v in others
            if u < v
        )
    return sum(0 < sum(node in inside for node in bus) < len(bus) for bus in network.busses)
