"""Routing: how a message finds its way by decisions of the nodes that it passes.

A routing is two local rules. `start` writes the message's header at the source; `decide` looks at
the header in a node and returns the port to leave by, `ARRIVED` or `STUCK`. A stateless routing has
the target's number as its header and decides by node and target alone; others rewrite the header on
the way. A node knows its own number, the header and the parameters, never the whole network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.fielddocs import described
from mpinet.compiled import Rule, inlined, open_part, rule
from mpinet.errors import RoutingError, Stuck, TooLarge, UsageError
from mpinet.networks.adaptive import CREDITS, most_room
from mpinet.networks.classes import ChannelClasses
from mpinet.networks.wired import Wired

ARRIVED = -1
"""A deciding node's answer: the message is at its target."""

STUCK = -2
"""A deciding node's answer: there is no way on; the message is undeliverable."""


LONGEST_PATH = 2**19
"""Most hops of a path that is followed node by node: some seconds."""


@rule
def target_only(source, target, header, params):
    """The header of a stateless routing: the target's number and nothing else."""
    header[0] = target


# A family's rule `neighbor` and its distance in closed form, which `bind` gives.
wiring = distance = open_part


@rule
def lowest_closer_port(node, header, params):
    """Try the ports in order; absent ones lead nowhere."""
    target = header[0]
    if node == target:
        return ARRIVED
    # Distances are computed, never stored. So the rule works on networks of any size, at the cost
    # of one formula per port.
    here = distance(node, target, params)
    for port in range(params[1]):
        other = wiring(node, port, params)
        if other >= 0 and distance(other, target, params) < here:
            return port
    return STUCK


@described
@dataclass(frozen=True, eq=False)
class Routing:
    """A routing: two local rules and what they need.

    Examples
    --------
    Always up round a ring, whose port 0 leads to the next processor:

    >>> import mpinet
    >>> @mpinet.rule
    ... def upwards(node, header, params):
    ...     return -1 if node == header[0] else 0
    >>> ring = mpinet.open("ring:8")
    >>> up = Routing("up", upwards, ring.params, lambda source, target: 3, shortest=False)
    >>> path(ring, up, 6, 1)
    ([6, 7, 0, 1], [0, 0, 0])
    """

    name: str
    """Name of the routing for ``--routing``."""
    decide: Rule
    """``decide(node, header, params)``: the port to leave by, `ARRIVED` or `STUCK`; may rewrite the
    header. Asked once when a message comes to a node, not again while it waits there."""
    params: Ints
    """The rules' parameters (the topology's, or a table where the routing has one)."""
    header_bits: Callable[[int, int], int]
    """``header_bits(source, target)``: bits that the header of this message takes on the real
    machine."""
    start: Rule = target_only
    """``start(source, target, header, params)``: writes the header at the source."""
    words: int = 1
    """Length of the header in 64-bit words, as the emulator stores it."""
    shortest: bool = True
    """True if every path is a shortest one."""
    stateless: bool = True
    """True if the decision depends on the node and the target only."""
    repaired: Callable[[tuple[int, ...], tuple[tuple[int, int], ...]], Routing] | None = None
    """``repaired(dead, cut)``: this routing with rules that know of dead nodes and links and go
    around them. Default: it goes around nothing. See `around`."""
    dead: tuple[int, ...] = ()
    """Dead nodes that the rules know."""
    channel_class: Rule | None = None
    """The routing's own classes of channels (see `mpinet.networks.classes`), by its parameters."""
    classes: int = 1
    """Number of the routing's own classes."""
    candidates: Rule | None = None
    """Makes the routing adaptive (see `mpinet.networks.adaptive`):
    ``candidates(node, in_port, in_class, header, candidates, params)`` writes the ports that the
    message may leave by and the classes of their channels into rows of `candidates`, no pair twice,
    and returns how many there are, `ARRIVED` or `STUCK`. It may rewrite the header, to the same if
    it is asked again. `decide` is the way where nothing is chosen."""
    choose: Rule = most_room
    """``choose(node, header, candidates, credits, params)``: the row of the candidate to take, or
    -1 to wait. ``credits[i]`` are those of the virtual channel that candidate i would get, 0 where
    it can have none in this step; the last ones of what it is told (`sees`)."""
    sees: int = CREDITS
    """Numbers that `choose` gets: `CREDITS` (of the candidates), preceded by `QUEUES` (of the
    node's ports) or `ALL_QUEUES` (of the ports of all nodes). See `mpinet.networks.adaptive`."""
    eager: bool = False
    """True if `choose` takes a single candidate whenever that has room. A head that waits for such
    a candidate is not asked again. Always true for the default `choose`."""
    escape: int | None = None
    """The classes below it are those of the escape: from everywhere they lead to the target without
    a cycle of dependencies. Default: all."""
    bubble: bool = False
    """True if the escape is one class of rings and tori, and each ring keeps room for a message. A
    message enters a ring only if there is room for two (`mpinet.networks.bubble`)."""
    numbered: bool = False
    """True if `start` finds the message's number in the header's last word, for routings that draw.
    The number is 0 if there are no messages."""
    outcomes: int = 0
    """Number of outcomes of a draw, 0 if unknown. The number -1 - k stands for outcome k."""
    diameters: int = 0
    """Paths that are not all shortest have at most so many times the diameter in hops; 0:
    unknown."""
    base: Routing | None = None
    """Makes it a routing by a drawn processor (`mpinet.networks.valiant`): that of both ways."""
    settle: Callable[[ChannelClasses], Routing] | None = None
    """``settle(classes)``: this routing with the classes of its base, whose number has to be
    counted first (`mpinet.measure.deadlock.settled`)."""

    @property
    def adaptive(self) -> bool:
        """True if nodes choose among candidates."""
        return self.candidates is not None

    @property
    def is_eager(self) -> bool:
        """True if a head with an only candidate takes it whenever that has room."""
        return self.eager or self.choose is most_room

    @property
    def escape_classes(self) -> int:
        """Number of classes of the escape; all of them if none is declared."""
        return self.classes if self.escape is None else self.escape

    def around(self, dead: Iterable[int] = (), cut: Iterable[tuple[int, int]] = ()) -> Routing:
        """Return the routing that avoids dead nodes and links: itself if it avoids none.

        Parameters
        ----------
        dead : iterable of int
            Dead nodes.
        cut : iterable of (int, int)
            Dead links, each as a pair of neighbours.

        Raises
        ------
        UsageError
            It can go around faults, but not around so many or such ones.
        """
        # Sorted tuples give equal faults equal parameters. So results do not depend on the order in
        # which a user lists them.
        nodes = tuple(sorted({int(node) for node in dead}))
        links = tuple(sorted({(int(u), int(v)) for u, v in cut}))
        if self.repaired is None or not (nodes or links):
            return self
        return self.repaired(nodes, links)


class RoutedTopology(Wired, Protocol):
    """A `Topology`, as far as routings that are made of its own routings use it."""

    @property
    def waypoint(self) -> Any:
        """The node by which a drawn one leads, an inlined function; None: the drawn one."""

    @property
    def waypoint_classes(self) -> int | None:
        """Number of the classes ``ordered`` that a way to a waypoint needs, if fewer."""

    @property
    def family(self) -> str:
        """The family's name."""

    @property
    def waypoints(self) -> range:
        """The nodes by one of which a routing may lead that draws one."""

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """The family's routings by name."""

    def routing(self, name: str | None = None, seed: int = 0) -> Routing:
        """Return one of the family's routings."""


def stateless(
    name: str,
    decide: Rule,
    topology: Wired,
    params: Ints | None = None,
    shortest: bool = True,
) -> Routing:
    """Make a routing whose header is the target's number.

    Parameters
    ----------
    name, decide, shortest
        As in `Routing`.
    topology : Topology
        Gives the header's size in bits, and `params` where none are given.
    params : ndarray of int64, optional
        The rule's parameters.
    """
    # A header is counted as on the real machine, in bits. The emulator stores it in whole words,
    # which would overstate small networks.
    bits = max(1, (topology.size - 1).bit_length())
    return Routing(
        name=name,
        decide=decide,
        params=topology.params if params is None else params,
        header_bits=lambda source, target: bits,
        shortest=shortest,
    )


def shortest_routings(**rules: Rule) -> Any:
    """Make a family's `routings` of stateless rules, given by name, all of whose ways are shortest.

    Examples
    --------
    >>> import mpinet
    >>> @mpinet.rule
    ... def upwards(node, header, params):
    ...     return -1 if node == header[0] else (header[0] - node) % params[0] - 1
    >>> class Full(mpinet.Topology):
    ...     def __init__(self, N):
    ...         super().__init__(f"{N}", size=N, ports=N - 1)
    ...
    ...     @mpinet.rule
    ...     def neighbor(node, port, params):
    ...         return (node + 1 + port) % params[0]
    ...
    ...     routings = shortest_routings(direct=upwards)
    >>> [*Full(4).routings]
    ['direct']
    """
    return _routings(rules, shortest=True)


def longer_routings(**rules: Rule) -> Any:
    """Make a family's `routings` of stateless rules, given by name; ways need not be shortest."""
    return _routings(rules, shortest=False)


def _routings(rules: dict[str, Rule], shortest: bool) -> Any:
    return made_routings(**{
        name: partial(stateless, name, decide, shortest=shortest) for name, decide in rules.items()
    })  # fmt: skip


def made_routings(**makers: Callable[[Any], Routing]) -> Any:
    """Make a family's `routings` of functions of the network, given by name."""
    # A property, because a routing takes its parameters from the network at hand. It is made when
    # it is asked for, as tables of others are.
    return property(lambda self: {name: partial(make, self) for name, make in makers.items()})


def above_escape(
    topology: RoutedTopology, name: str, candidates: Rule, classes: int, bubble: bool = False
) -> Callable[[int], Routing]:
    """Return what makes an adaptive routing, by seed, with the network's first one as its escape.

    Parameters
    ----------
    topology : Topology
        The network.
    name, candidates, classes, bubble
        As in `Routing`. The escape has all classes but the last one.
    """
    return lambda seed: replace(
        topology.routing(),
        name=name,
        candidates=candidates,
        classes=classes,
        escape=classes - 1,
        bubble=bubble,
    )


def path(
    topology: Wired, routing: Routing, source: int, target: int
) -> tuple[list[int], list[int]]:
    """The way of one message, by asking node after node.

    Returns
    -------
    nodes : list of int
        From the source to the target, both included.
    ports : list of int
        The port taken at each node but the last.

    Raises
    ------
    RoutingError
        The rules choose an unwired port, do not arrive, or stop somewhere else.
    TooLarge
        The way has more than `LONGEST_PATH` hops.
    UsageError
        The source or the target is a dead node.

    Examples
    --------
    >>> import mpinet
    >>> cube = mpinet.open("hypercube:4")
    >>> path(cube, cube.routing(), 0, 5)
    ([0, 1, 5], [0, 2])
    """
    # Rules that avoid dead nodes never lead into one. Without this check, such a message would look
    # like an error of the routing.
    for node in {source, target} & set(routing.dead):
        raise UsageError(f"Node {node} is dead: it neither sends nor receives.")
    header = np.zeros(routing.words, np.int64)
    routing.start(source, target, header, routing.params)
    nodes, ports = [source], []
    while True:
        node = nodes[-1]
        port = int(routing.decide(node, header, routing.params))
        if port < 0:
            break
        # A rule of a user may give any number. Asking the wiring for a port beyond the last would
        # read foreign parameters.
        following = topology.neighbor(node, port) if port < topology.ports else -1
        if following < 0:
            raise RoutingError(
                f"Routing {routing.name} on {topology.name} chose port {port} of node {node}, "
                f"which is not wired, for a message from {source} to {target}."
            )
        # A ring of 10^8 processors has legal ways of 5 * 10^7 hops. Listing them would fill the
        # memory, so that this is refused apart from endless ways.
        if LONGEST_PATH < len(nodes) <= hop_limit(topology.size):
            raise TooLarge(
                f"Routing {routing.name} on {topology.name} takes more than {LONGEST_PATH:,} hops "
                f"from {source} to {target}, and no longer path is listed."
            )
        if len(nodes) > hop_limit(topology.size):
            raise RoutingError(
                f"Routing {routing.name} on {topology.name} does not come to an end from "
                f"{source} to {target}: {len(nodes)} hops so far."
            )
        nodes.append(following)
        ports.append(port)
    if port == STUCK or node != target:
        raise (Stuck if port == STUCK else RoutingError)(
            f"Routing {routing.name} on {topology.name} stopped at node {node} with a message "
            f"from {source} to {target}."
        )
    return nodes, ports


@inlined
def hop_limit(size: int) -> int:
    """Hops after which a routing counts as endless, for a network of `size` nodes."""
    # A correct way may pass a node several times with different headers. Four visits of every node
    # leave room for two phases there and back.
    return 4 * size + 64
