"""Certificates of bisection widths: every bisection cuts more than W channels.

A bisection puts half of the processors on either side (one more on one side if their number is odd)
and each switch on any side. It cuts a link with ends on different sides; several links between the
same two nodes count once. It cuts a bus with members on both sides. Four kinds of evidence give a
lower bound:

* The second eigenvalue of the Laplacian: halves of a and b of N nodes cut at least a b/N times the
  eigenvalue (Fiedler 1973). Integer arithmetic decides whether the eigenvalue is p/q or more.
* A flow: every node sends one unit to every other node, along shortest paths for the link lengths
  in the certificate. All pairs on different sides must use the cut links.
* A front: nodes are placed one after the other, in the certificate's order. Only the sides of
  placed nodes with unplaced neighbours matter, and the number of processors inside.
* A proof that a formula (`mpinet.certify.halfclauses`) has no solution.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from mpinet.certify.integers import are_integers
from mpinet.certify.network import Network
from mpinet.errors import CertificateError

MOST_NODES = 4096
"""Largest number of nodes of a network for checks of eigenvalues or flows."""

MOST_CELLS = 2**26
"""Largest number of cells in the table of a front."""

# The lengths come from an untrusted file. The limit keeps their sums, and each comparison in the
# heap, cheap.
MOST_LENGTH = 2**20
"""Largest length of a link in a round of a flow."""

MOST_ROUNDS = 64
"""Most rounds of a flow."""

# Flow is split among shortest paths, which gives fractions. A large whole unit keeps the rounding
# loss far below one channel.
UNIT = 2**60
"""One unit of flow, as an integer that can be split with little rounding loss."""

SCALE_BITS = 20
"""Number of bits by which a matrix's root is scaled before rounding."""

# Impossible states keep counting cut links until they are reduced to this number. The count must
# stay within 16 bits.
UNREACHED = 2**14
"""Number of cut links that marks an impossible state; a network with a front has fewer links."""


def require_links(network: Network, kind: str) -> None:
    """Raise `CertificateError` unless all channels are links and all nodes are processors."""
    # With switches, the sizes of both sides are unknown. The eigenvalue and the flow bound need
    # these sizes.
    if not network.links or network.hosts < network.size:
        raise CertificateError(f"{kind} gives no bound with busses or switches.")
    if network.size > MOST_NODES:
        raise CertificateError(f"{kind} is for networks of up to {MOST_NODES} nodes.")


def halves(network: Network) -> tuple[int, int]:
    """Return the number of processors in each half, the smaller first."""
    return network.hosts // 2, (network.hosts + 1) // 2


def require_eigenvalue(network: Network, more_than: int, at_least: object) -> None:
    """Raise `CertificateError` unless the second eigenvalue is p/q or more and proves the claim."""
    require_links(network, "an eigenvalue")
    if not are_integers(at_least, 1, 2**30) or len(at_least) != 2:
        raise CertificateError("the eigenvalue is not given as two numbers p, q above 0.")
    p, q = at_least
    a, b = halves(network)
    # The width is at least a*b*lambda/N (Fiedler). The comparison is in integers: no rounding
    # affects the proof.
    if p * a * b <= more_than * q * network.size:
        raise CertificateError(
            f"an eigenvalue of {p}/{q} does not prove more than {more_than} cut links."
        )
    if not _positive(_shifted(network, p, q)):
        raise CertificateError(f"the second eigenvalue is not proved to be {p}/{q} or more.")


def _shifted(network: Network, p: int, q: int) -> NDArray[np.int64]:
    """Return q L - p I + c J, which has a negative eigenvalue if lambda_2(L) < p/q.

    All numbers of J are 1, so c J changes only the eigenvalue of the constant vectors, which is 0
    in L; c makes it positive.
    """
    size = network.size
    # The constant vector has eigenvalue 0 in L, and p would make it negative. The matrix of ones
    # raises only this eigenvalue.
    matrix = np.full((size, size), p // size + 1, np.int64)
    for node, others in enumerate(network.neighbors):
        matrix[node, node] += q * len(others) - p
        matrix[node, others] -= q
    return matrix


def _positive(matrix: NDArray[np.int64]) -> bool:
    """Return whether an integer matrix is proved to have no negative eigenvalue.

    Floating point gives an approximate root R. R'R has no negative eigenvalue, for any R. The
    remainder, in whole numbers, has none if each diagonal element outweighs its row.
    """
    # The scaled matrix must fit into 64 bits: an overflow would wrap silently and could prove
    # anything.
    if int(np.abs(matrix).max()) >= 2 ** (61 - 2 * SCALE_BITS):
        return False
    try:
        # Floating point only suggests the root. Half a unit is subtracted from the diagonal, which
        # leaves space for rounding the root.
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
    """Raise `CertificateError` unless the flow for these lengths needs more links than claimed."""
    require_links(network, "a flow")
    links = [(u, v) for u, others in enumerate(network.neighbors) for v in others if u < v]
    if not isinstance(lengths, list) or not 1 <= len(lengths) <= MOST_ROUNDS:
        raise CertificateError(f"the flow has no lengths, or more than {MOST_ROUNDS} rounds.")
    # Both directions of a link add up: a cut counts a link once, whichever way the flow crosses it.
    carried = dict.fromkeys(links, 0)
    for round_ in lengths:
        if not are_integers(round_, 1, MOST_LENGTH) or len(round_) != len(links):
            raise CertificateError(
                f"a round of the flow does not have one length 1..{MOST_LENGTH} for each link."
            )
        of: list[dict[int, int]] = [{} for _ in range(network.size)]
        for (u, v), length in zip(links, round_, strict=True):
            of[u][v] = of[v][u] = length
        for source in range(network.size):
            _send_from(of, source, carried)
    a, b = halves(network)
    # Of two nodes on different sides, each sends its units to the other over the cut links.
    if 2 * UNIT * len(lengths) * a * b <= more_than * max(carried.values(), default=0):
        raise CertificateError(f"the flow fits through {more_than} links and proves no more.")


def _send_from(of: list[dict[int, int]], source: int, carried: dict[tuple[int, int], int]) -> None:
    """Send one unit of flow to every other node, split over shortest paths with small rounding."""
    reached: list[int] = []
    distance, ways = {source: 0}, [0] * len(of)
    ways[source] = 1
    waiting, done = [(0, source)], [False] * len(of)
    # Dijkstra's search also counts shortest paths (Brandes 2001). The flow is split by these
    # counts, as in the prover.
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
        raise CertificateError("the network is not connected, so there is no bound.")
    through = [UNIT] * len(of)
    # Nodes are processed from far to near, and each has received all of its flow before passing it
    # on.
    for node in reversed(reached[1:]):
        before = [v for v, length in of[node].items() if distance[v] + length == distance[node]]
        left = through[node]
        for v in before:
            # The last path takes the rounding remainder, and no unit is lost.
            part = left if v == before[-1] else through[node] * ways[v] // ways[node]
            carried[min(v, node), max(v, node)] += part
            through[v] += part
            left -= part


def require_front(network: Network, more_than: int, order: object) -> None:
    """Raise `CertificateError` if a front in this order finds a bisection of at most this width."""
    nodes = require_order(network, order)
    if not network.links:
        raise CertificateError("a front gives no bound with busses.")
    if sum(map(len, network.neighbors)) // 2 >= UNREACHED:
        raise CertificateError(f"a front is for networks of fewer than {UNREACHED} links.")
    front_cells(network, nodes)  # refuses a front that is too wide
    width = _narrowest(network, nodes)
    if width <= more_than:
        raise CertificateError(f"there is a bisection of width {width}.")


def front_cells(network: Network, order: object) -> int:
    """Return the number of cells of all tables of a front, without building the tables.

    Raises
    ------
    CertificateError
        The order is invalid, or a table is too large.
    """
    cells, front = 0, set[int]()
    waiting = [len(others) for others in network.neighbors]
    for node in require_order(network, order):
        # The table has one axis of two sides for each front node and one for the count. It doubles
        # when a node is placed.
        size = (halves(network)[0] + 1) << (len(front) + 1)
        if size > MOST_CELLS:
            raise CertificateError(f"the front takes more than {MOST_CELLS} cells.")
        cells += size
        front.add(node)
        for other in network.neighbors[node]:
            waiting[other] -= 1
        # A node whose neighbours are all placed cuts no further link. The minimum decides its side
        # and removes its axis.
        front -= {v for v in (node, *network.neighbors[node]) if waiting[v] == 0}
    return cells


def _narrowest(network: Network, order: list[int]) -> int:
    """Return the fewest links cut by a bisection, with a table over the front.

    The table has an axis for each node of the front (0: outside, 1: inside), and an axis for the
    number of processors inside, up to the smaller half.
    """
    most = halves(network)[0]
    table = np.full(most + 1, UNREACHED, np.uint16)
    table[0] = 0
    front: list[int] = []
    waiting = [len(others) for others in network.neighbors]
    for node in order:
        inside = table
        if node < network.hosts:
            # A processor inside shifts the count by one. The lowest count is then impossible, and
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
        # Impossible states grow with each cut link. Without the limit they would wrap at 2**16 and
        # look like the narrowest cut.
        np.minimum(table, UNREACHED, out=table)
    return int(table[most])


def require_order(network: Network, order: object) -> list[int]:
    """Return the order of the nodes given in a certificate.

    Raises
    ------
    CertificateError
        The order does not contain every node exactly once.
    """
    if not are_integers(order, 0, network.size - 1) or sorted(order) != list(range(network.size)):
        raise CertificateError("the order does not contain every node exactly once.")
    return order


def width_of(network: Network, side: object) -> int:
    """Return the number of channels cut by the bisection in a certificate.

    Raises
    ------
    CertificateError
        The cut is not a bisection.
    """
    if not are_integers(side, 0, network.size - 1) or len(set(side)) != len(side):
        raise CertificateError("the side is not a list of different nodes.")
    inside = set(side)
    # With an odd number of processors either side may be the larger one.
    if sum(node < network.hosts for node in inside) not in halves(network):
        raise CertificateError("the side does not have half of the processors.")
    if network.links:
        return sum(
            (u in inside) != (v in inside)
            for u, others in enumerate(network.neighbors)
            for v in others
            if u < v
        )
    return sum(0 < sum(node in inside for node in bus) < len(bus) for bus in network.busses)
