"""Complete trees: of any arity and height, and the star, which has one level (docs/networks, 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from mpinet.base.arrays import Ints
from mpinet.compiled import inlined, rule
from mpinet.networks.parameters import Parameter, whole_number
from mpinet.networks.routing import ARRIVED, shortest_routings
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology

ARITY = 2
"""Place of the number of children in the rules' parameters."""


@rule
def decide(node, header, params):
    """Return the port down to the target if the target is below the node, else up."""
    return ARRIVED if node == header[0] else port_towards(node, header[0], params)


@rule
def ary_neighbor(node, port, params):
    """Return the parent or child behind a port, -1 for none."""
    child = port - (node > 0)
    if child < 0:
        return (node - 1) // params[ARITY]
    first = params[ARITY] * node + 1
    return first + child if child < params[ARITY] and first < params[0] else -1


class Tree(Topology):
    """Complete k-ary tree of height h, numbered level by level from the root.

    Ports lead to the neighbours in ascending order: first to the parent (u-1)//k, then to the
    children ku+1..ku+k. The root has no parent, and leaves have no children.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = (whole_number("k", 2), whole_number("h", 1, 62))
    example = "tree:2,3"
    paper = "textbook"
    default_classes = "none"

    def __init__(self, k: int, h: int):
        self._grow(f"{k},{h}", k, h)

    def _grow(self, arguments: str, k: int, h: int) -> None:
        """Initialize a tree of h levels below the root."""
        self.height = h
        size, ports = sum(k**level for level in range(h + 1)), k + (h > 1)
        stated = {"degree": ports, "diameter": min(2 * h, size - 1)}
        super().__init__(arguments, size=size, ports=ports, params=[k], stated=stated)

    neighbor = ary_neighbor

    @rule
    def reverse_port(node, port, params):
        """Return the parent's port to this child, or the child's port to its parent."""
        if port >= (node > 0):
            return 0
        return child_port(node, params)

    @property
    def most_wired(self) -> int:
        """Number of ends of all links: two per node with a parent."""
        return 2 * (self.size - 1)

    def port_counts(self, nodes: Ints) -> Ints:
        """Return the number of ports per node; the root and leaves have fewer."""
        k = int(self.params[ARITY])
        return (nodes > 0) + k * (k * nodes + 1 < self.size)

    routings = shortest_routings(shortest=decide)

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return the broadcast in the order of ports, which has the fewest steps from any root."""
        phases = (("tree", broadcast_steps(root, int(self.params[ARITY]), self.height)),)
        return {"levels": lambda: Schedule("levels", root, send, self.params, phases)}


class Star(Tree):
    """Star of N processors: processor 0 is joined to all others.

    The same network as `Tree` of height 1 with N-1 children.
    """

    parameters = (whole_number("N", 2),)
    example = "star:8"

    def __init__(self, N: int):
        self._grow(f"{N}", N - 1, 1)


@inlined
def child_port(node, params):
    """Return the port of a node's parent that leads to the node."""
    return (node - 1) % params[ARITY] + (node > params[ARITY])


@inlined
def port_towards(node, target, params):
    """Return the port of a node towards a target.

    Ancestors have lower numbers. The target is below the node if the node is one of its ancestors.
    """
    below = target
    # Numbers grow with the levels: ancestors have smaller numbers. Climbing from the target meets
    # the node only if the node is an ancestor.
    while target > node:
        below = target
        target = (target - 1) // params[ARITY]
    return child_port(below, params) if target == node else 0


@rule
def send(node, root, since, step, params):
    """Return the port of the broadcast: all ports in order, except the port that leads to the root.

    The parent comes first because more levels lie behind it than behind a child.
    """
    port = step - since - 1
    # The port towards the root is skipped. All other ports follow in order, one step each.
    if node != root and port >= port_towards(node, root, params):
        port += 1
    return port if ary_neighbor(node, port, params) >= 0 else -1


def broadcast_steps(root: int, k: int, h: int) -> int:
    """Return the steps of the broadcast from a root.

    The message is at processor 0 after `depth` steps. From there the broadcast takes k steps a
    level, less one for the link on which the message arrived.
    """
    depth = 0
    while root > 0:
        depth, root = depth + 1, (root - 1) // k
    return k * h + max(0, depth - 1)
