"""Routing: local rules by which each node chooses the next port of a message.

A routing is two local rules. `start` writes the message's header at the source. `decide` reads
the header in a node and returns the output port, `ARRIVED` or `STUCK`. The header of a stateless
routing is the target's number: the routing decides by node and target alone. Other routings rewrite
the header on the way. A node knows its own number, the header and the parameters, never the whole
network.
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
"""Result of `decide`: the message is at its target."""

STUCK = -2
"""Result of `decide`: no port leads on, and the message is undeliverable."""


LONGEST_PATH = 2**19
"""Most hops of a path that is followed node by node, which takes some seconds."""


@rule
def target_only(source, target, header, params):
    """Write the header of a stateless routing: the target's number and nothing else."""
    header[0] = target


# A family's rule `neighbor` and its distance in closed form; `bind` inserts both.
wiring = distance = open_part


@rule
def lowest_closer_port(node, header, params):
    """Return the lowest port whose neighbour is closer to the target."""
    target = header[0]
    if node == target:
        return ARRIVED
    # Distances are computed, never stored. The rule works on networks of any size, at the cost
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
    """A routing: two local rules and their parameters.

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
    """``decide(node, header, params)``: the output port, `ARRIVED` or `STUCK`; may rewrite the
    header. Called once when a message enters a node, and not again while the message waits there.
    """
    params: Ints
    """Parameters of the rules: the topology's parameters, or the routing's table."""
    header_bits: Callable[[int, int], int]
    """``header_bits(source, target)``: length in bits of this message's header on the real
    machine.
    """
    start: Rule = target_only
    """``start(source, target, header, params)``: writes the header at the source."""
    words: int = 1
    """Length of the header in 64-bit words, as the emulator stores it."""
    shortest: bool = True
    """True if every route is a shortest path."""
    stateless: bool = True
    """True if the decision depends on the node and the target only."""
    repaired: Callable[[tuple[int, ...], tuple[tuple[int, int], ...]], Routing] | None = None
    """``repaired(dead, cut)``: this routing with rules that avoid dead nodes and links. Default:
    the routing avoids no faults. See `around`.
    """
    dead: tuple[int, ...] = ()
    """Dead nodes that the rules avoid."""
    channel_class: Rule | None = None
    """Rule of the routing's own channel classes (see `mpinet.networks.classes`); it gets the
    routing's parameters.
    """
    classes: int = 1
    """Number of the routing's own classes."""
    candidates: Rule | None = None
    """Rule that makes the routing adaptive (see `mpinet.networks.adaptive`): ``candidates(node,
    in_port, in_class, header, candidates, params)`` writes the allowed output ports and the classes
    of their channels into rows of `candidates`, no pair twice. The rule returns the number of rows,
    `ARRIVED` or `STUCK`. The rule may rewrite the header, but repeated calls must write the same
    values. `decide` gives the route if nothing is chosen.
    """
    choose: Rule = most_room
    """``choose(node, header, candidates, credits, params)``: the row of the chosen candidate, or -1
    to wait. ``credits[i]`` are the credits of the virtual channel that candidate i would get, 0 if
    no virtual channel is free in this step. These credits are the last values of the array
    (`sees`).
    """
    sees: int = CREDITS
    """Values that `choose` gets: `CREDITS` (of the candidates), preceded by `QUEUES` (of the
    node's ports) or `ALL_QUEUES` (of the ports of all nodes). See `mpinet.networks.adaptive`.
    """
    eager: bool = False
    """True if `choose` takes a single candidate as soon as the candidate has room. `choose` is not
    called again for a head that waits for a single candidate. Always true for the default `choose`.
    """
    escape: int | None = None
    """Number of escape classes, the lowest ones: from every node these lead to the target without
    cyclic dependencies. Default: all classes.
    """
    bubble: bool = False
    """True if the escape is one class of rings and tori in which each ring keeps room for a
    message. A message enters a ring only if the ring has room for two (`mpinet.networks.bubble`).
    """
    numbered: bool = False
    """True if `start` finds the message's number in the header's last word, for randomized
    routings. The number is 0 if there are no messages.
    """
    outcomes: int = 0
    """Number of outcomes of a draw, 0 if unknown. The message number -1 - k stands for outcome
    k.
    """
    diameters: int = 0
    """Upper bound on the hops of a route as a multiple of the diameter, if routes are not all
    shortest; 0: unknown.
    """
    base: Routing | None = None
    """Routing of both parts of a route through a random processor (`mpinet.networks.valiant`); None
    for other routings.
    """
    settle: Callable[[ChannelClasses], Routing] | None = None
    """``settle(classes)``: this routing with the channel classes of its base. The number of these
    classes has to be counted first (`mpinet.measure.deadlock.settled`).
    """

    @property
    def adaptive(self) -> bool:
        """True if nodes choose among candidates."""
        return self.candidates is not None

    @property
    def is_eager(self) -> bool:
        """True if a head with a single candidate takes the candidate as soon as it has room."""
        return self.eager or self.choose is most_room

    @property
    def escape_classes(self) -> int:
        """Number of escape classes; all classes if the routing declares no escape."""
        return self.classes if self.escape is None else self.escape

    def around(self, dead: Iterable[int] = (), cut: Iterable[tuple[int, int]] = ()) -> Routing:
        """Return the routing that avoids dead nodes and links; without faults this routing.

        Parameters
        ----------
        dead : iterable of int
            Dead nodes.
        cut : iterable of (int, int)
            Dead links, each as a pair of neighbours, and ports of dead busses, each as a pair of a
            node and ``~port``.

        Raises
        ------
        UsageError
            The routing cannot avoid this number or kind of faults.
        """
        # Sorted tuples give equal faults equal parameters. Results do not depend on the order in
        # which a user lists faults.
        nodes = tuple(sorted({int(node) for node in dead}))
        links = tuple(sorted({(int(u), int(v)) for u, v in cut}))
        if self.repaired is None or not (nodes or links):
            return self
        return self.repaired(nodes, links)


class RoutedTopology(Wired, Protocol):
    """Protocol of the parts of `Topology` that composed routings need."""

    @property
    def waypoint(self) -> Any:
        """Inlined function from a drawn node to the intermediate node, or None.

        None stands for the drawn node itself.
        """

    @property
    def waypoint_classes(self) -> int | None:
        """Number of ``ordered`` classes of a route to a waypoint, if fewer than usual."""

    @property
    def family(self) -> str:
        """Name of the family."""

    @property
    def waypoints(self) -> range:
        """Nodes that a routing through a random intermediate node draws from."""

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
        Network that determines the header's size in bits, and the default of `params`.
    params : ndarray of int64, optional
        The rule's parameters.
    """
    # A header is counted in bits, as on the real machine. The emulator stores whole words, which
    # would overstate small networks.
    bits = max(1, (topology.size - 1).bit_length())
    return Routing(
        name=name,
        decide=decide,
        params=topology.params if params is None else params,
        header_bits=lambda source, target: bits,
        shortest=shortest,
    )


def shortest_routings(**rules: Rule) -> Any:
    """Make a family's `routings` from stateless rules by name; all routes are shortest.

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
    """Make a family's `routings` from stateless rules by name; routes need not be shortest."""
    return _routings(rules, shortest=False)


def _routings(rules: dict[str, Rule], shortest: bool) -> Any:
    return made_routings(**{
        name: partial(stateless, name, decide, shortest=shortest) for name, decide in rules.items()
    })  # fmt: skip


def made_routings(**makers: Callable[[Any], Routing]) -> Any:
    """Make a family's `routings` from functions of the network by name."""
    # A property, because a routing takes its parameters from the instance. Each routing is made on
    # request.
    return property(lambda self: {name: partial(make, self) for name, make in makers.items()})


def above_escape(
    topology: RoutedTopology, name: str, candidates: Rule, classes: int, bubble: bool = False
) -> Callable[[int], Routing]:
    """Return a function from a seed to an adaptive routing whose escape is the first routing.

    Parameters
    ----------
    topology : Topology
        The network.
    name, candidates, classes, bubble
        As in `Routing`. The escape has all classes except the last one.
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
    """Return the route of one message, decided node by node.

    Returns
    -------
    nodes : list of int
        From the source to the target, both included.
    ports : list of int
        The output port at each node except the last.

    Raises
    ------
    RoutingError
        The rules choose an unwired port, do not arrive, or stop at a wrong node.
    TooLarge
        The route has more than `LONGEST_PATH` hops.
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
        # A user's rule may return any number. Calling the wiring with a port beyond the last would
        # read foreign parameters.
        following = topology.neighbor(node, port) if port < topology.ports else -1
        if following < 0:
            raise RoutingError(
                f"Routing {routing.name} on {topology.name} chose port {port} of node {node}, "
                f"which is not wired, for a message from {source} to {target}."
            )
        # A ring of 10^8 processors has legal routes of 5 * 10^7 hops. Listing such a route would
        # fill the memory. This error differs from the error of endless routes.
        if LONGEST_PATH < len(nodes) <= hop_limit(topology.size):
            raise TooLarge(
                f"Routing {routing.name} on {topology.name} takes more than {LONGEST_PATH:,} hops "
                f"from {source} to {target}; longer paths are not listed."
            )
        if len(nodes) > hop_limit(topology.size):
            raise RoutingError(
                f"Routing {routing.name} on {topology.name} does not come to an end from "
                f"{source} to {target}: {len(nodes)} hops so far."
            )
        nodes.append(following)
        ports.append(port)
    if port == STUCK:
        raise Stuck(
            f"{routing.name} cannot reach {target} from {source} in {topology.name}: the message "
            f"stopped at node {node}."
        )
    if node != target:
        raise RoutingError(
            f"Routing {routing.name} on {topology.name} stopped at node {node} with a message "
            f"from {source} to {target}."
        )
    return nodes, ports


@inlined
def hop_limit(size: int) -> int:
    """Return the number of hops after which a route counts as endless, for `size` nodes."""
    # A correct route may pass a node several times with different headers. Four visits of every
    # node leave room for two phases there and back.
    return 4 * size + 64
