"""Terminals: c processors at each router of a direct network.

Concentrated meshes, HyperX, Slim Flies and random regular graphs are built so: the nodes of the
network are routers, which only forward, and each has c processors of its own. Processors are
numbered first, processor r c + i at router r; router r is node c N + r. A processor's only port
leads to its router; a router has the network's ports first, then one for each of its processors.

As in a product, the rules are made of the network's own once for a family: all numbers are
parameters. A header holds the target in front of the network's own header, whose ends are routers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mpinet.base.arrays import Ints
from mpinet.compiled import Mapped, Rule, inlined, open_part, rule
from mpinet.errors import TopologyError
from mpinet.networks.classes import ChannelClasses, Choices, common_classes, order_of
from mpinet.networks.parameters import require_integer
from mpinet.networks.product import Wiring, rules_of, with_head
from mpinet.networks.routing import ARRIVED, Routing
from mpinet.networks.topology import Topology, link_number

EACH, FIRST_ROUTER, NETWORK_PORTS, LINK_CLASSES, NETWORK_AT = 2, 3, 4, 5, 6
"""Places in a rule's parameters: processors per router, the first router's number, the network's
ports, how many classes of links it has, and its parameters of the same rule.
"""

UP_AND_DOWN = 2
"""Hops of a path between a processor and its router, which wait for no other link."""

LAST = 2**62
"""The place of a router's channels to its processors in the order: behind all others."""


class Terminals(Topology):
    """A direct network whose nodes are routers with `each` processors.

    Parameters
    ----------
    network : Topology
        A network of links without switches: its nodes become routers.
    each : int
        Processors per router, 1 or more.

    Raises
    ------
    TopologyError
        The network has busses, or switches of its own.
    """

    def __init__(self, network: Topology, each: int):
        require_direct(network)
        require_integer(network.name, "hosts", each, 1)
        self.network, self.each = network, each
        hosts = network.size * each
        ports = network.ports + each
        params = self._own(network.params)
        super().__init__("", hosts + network.size, ports, params, hosts=hosts)
        self.name = f"{network.name}{',' if ':' in network.name else ':'}hosts={each}"
        self.default_classes = network.default_classes
        self.most_classes = network.most_classes
        # The network's rules are bound into those of the terminals. They see router numbers, as if
        # there were no processors.
        made = terminal_rules(rules_of(network), order_of(network))
        for name, terminal_rule in zip(WIRING, made, strict=True):
            setattr(self, name, Mapped(terminal_rule, self.params))

    def _identity(self) -> tuple[Any, ...]:
        """Return the routers' network and the processors at each of them."""
        return Terminals, self.network, self.each

    def _own(self, params: Ints) -> list[int]:
        """A rule's parameters behind size and ports, in front of the network's for that rule."""
        network = self.network
        classes = len(network.link_classes)
        return [self.each, network.size * self.each, network.ports, classes, *params]

    @property
    def waypoints(self) -> range:
        """The routers: a way by a drawn node need not go down to a processor."""
        return range(self.hosts, self.size)

    @property
    def stated(self) -> dict[str, int]:
        """The network's diameter and the two hops between processors and routers."""
        stated = self.network.stated
        return {"diameter": stated["diameter"] + 2} if "diameter" in stated else {}

    def _address(self, node: int) -> str:
        """A router's address in the network behind an ``r``; a processor's with its number there.

        Examples
        --------
        >>> import mpinet
        >>> mesh = mpinet.open("mesh:3x3,hosts=2")
        >>> mesh.address(9), mesh.address(18 + 4), mesh.node(mesh.address(9))
        ('r1,1.1', 'r1,1', 9)
        """
        if node >= self.hosts:
            return f"r{self.network.address(node - self.hosts)}"
        router, place = divmod(node, self.each)
        return f"r{self.network.address(router)}.{place}"

    def read_address(self, address: str) -> int:
        """Read a router's address, or a processor's."""
        text = address.removeprefix("r")
        router, dot, place = text.rpartition(".")
        if dot and place.isdecimal() and int(place) < self.each:
            return self.network.node(router) * self.each + int(place)
        return self.hosts + self.network.node(text)

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """The network's routings, between processors."""
        return {name: partial(self._routing, make) for name, make in self.network.routings.items()}

    @property
    def random_routings(self) -> dict[str, Callable[[int], Routing]]:
        """The network's routings that draw, between processors."""
        own = self.network.random_routings
        return {name: partial(self._routing, make) for name, make in own.items()}

    @property
    def load_routings(self) -> dict[str, Callable[[int], Routing]]:
        """Those of any network, and the network's own for open-loop traffic."""
        common = super().load_routings
        own = {
            name: partial(self._routing, make)
            for name, make in self.network.load_routings.items()
            if name not in common
        }
        return common | own

    def _routing(self, make: Callable[..., Routing], *seed: int) -> Routing:
        return self._between(make(*seed))

    def _between(self, own: Routing) -> Routing:
        """The network's routing between processors."""
        params = with_head(self, self._own(own.params))
        bits = max(1, (self.size - 1).bit_length())

        def header_bits(source: int, target: int) -> int:
            """The target's number, and what the network's routing needs beside it."""
            if own.stateless:
                return bits
            return bits + own.header_bits(self.router_of(source), self.router_of(target))

        def around(dead: tuple[int, ...], cut: tuple[tuple[int, int], ...]) -> Routing:
            """The routing that goes around dead routers and links between routers."""
            # A dead processor blocks no way of others. Only dead routers and links between routers
            # change routes.
            routers = [node - self.hosts for node in dead if node >= self.hosts]
            links = [(u - self.hosts, v - self.hosts) for u, v in cut if min(u, v) >= self.hosts]
            return self._between(own.around(routers, links))

        # Links to processors need no classes: a processor forwards nothing, so that no circle
        # passes one.
        made: dict[str, Any] = {
            "channel_class": own.channel_class and terminal_class(own.channel_class)
        }
        if own.candidates is not None:
            made["candidates"] = candidates.bind(
                "Terminals.candidates", own_candidates=own.candidates
            )
            made["choose"] = choose.bind("Terminals.choose", own_choose=own.choose)
        return replace(
            own,
            decide=decide.bind("Terminals.decide", own_decide=own.decide),
            start=start.bind("Terminals.start", own_start=own.start),
            params=params,
            header_bits=header_bits,
            words=own.words + 1,
            repaired=around if own.repaired is not None else None,
            dead=tuple(self.hosts + node for node in own.dead),
            eager=own.is_eager,
            # Outcomes of a draw are numbered by routers here. Measures that sum over outcomes would
            # ask for processors.
            outcomes=0,
            **made,
        )

    def router_of(self, node: int) -> int:
        """The number in the network of a processor's router, or of a router itself."""
        return node - self.hosts if node >= self.hosts else node // self.each

    @property
    def link_classes(self) -> tuple[str, ...]:
        """The network's classes, and the links of its processors."""
        return (*self.network.link_classes, "processors")

    @property
    def channel_classes(self) -> Choices:
        """The network's class rules for the links between routers; other links have one class."""
        common = common_classes(self)
        names = self.network.channel_classes.keys() - common.keys() | {"hops"}
        return common | {name: partial(self._classes, name) for name in sorted(names)}

    def _classes(self, name: str) -> ChannelClasses:
        own = self.network.channel_classes[name]()
        params = with_head(self, self._own(own.params))
        return ChannelClasses(name, terminal_class(own.rule), params, own.count, UP_AND_DOWN)


def require_direct(network: Topology) -> None:
    """Raise `TopologyError` unless the network's nodes can be routers."""
    if not network.links:
        raise TopologyError(
            f"{network.name} has busses: hosts=.. puts processors at the routers of a network of "
            "links."
        )
    if network.hosts != network.size:
        raise TopologyError(
            f"{network.name} has switches, with processors of its own: hosts=.. is for networks "
            "whose nodes are all processors, such as torus:8x8."
        )


WIRING = ("neighbor", "reverse_port", "channel", "link_class", "channel_order")


def terminal_rules(own: Wiring, own_order: Rule) -> tuple[Rule, Rule, Rule, Rule, Rule]:
    """The rules of the wiring, and of the order of channels, for a family."""
    wiring = neighbor.bind("Terminals.neighbor", own_rule=own[0])
    way_back = reverse_port.bind("Terminals.reverse_port", own_rule=own[1])
    parts = {"wiring": wiring, "way_back": way_back}
    channel = link_number.bind("Terminals.link_number", **parts)
    classes = link_class.bind("Terminals.link_class", own_rule=own[3])
    order = channel_order.bind("Terminals.order", own_rule=own_order)
    return wiring, way_back, channel, classes, order


def terminal_class(own: Rule) -> Any:
    """The rule that asks the network's between routers."""
    return channel_class.bind("Terminals.channel_class", own_class=own)


@inlined
def own_params(params: Sequence[int]) -> Any:
    """The network's parameters of the same rule."""
    return params[NETWORK_AT:]


# The rules below call the network's own by these names, which `bind` replaces (see `product`).
own_rule = own_start = own_decide = own_class = own_candidates = own_choose = open_part


@rule
def neighbor(node, port, params):
    """The router of a processor; behind a router's ports the network, then its processors."""
    each, first, ports = params[EACH], params[FIRST_ROUTER], params[NETWORK_PORTS]
    if node < first:
        return first + node // each if port == 0 else -1
    # The network's ports come first, so that routes of the network keep their port numbers with any
    # number of processors.
    if port >= ports:
        return (node - first) * each + port - ports
    other = own_rule(node - first, port, own_params(params))
    return other if other < 0 else first + other


@rule
def reverse_port(node, port, params):
    """The port of the router, or the only one of the processor."""
    each, first, ports = params[EACH], params[FIRST_ROUTER], params[NETWORK_PORTS]
    if node < first:
        return ports + node % each if port == 0 else -1
    if port >= ports:
        return 0
    return own_rule(node - first, port, own_params(params))


@rule
def link_class(node, port, params):
    """The network's class between routers; links to processors are a further one."""
    first = params[FIRST_ROUTER]
    if node < first or port >= params[NETWORK_PORTS]:
        return params[LINK_CLASSES]
    return own_rule(node - first, port, own_params(params))


@rule
def channel_order(node, port, params):
    """Up first, then the network's channels in its order, then down."""
    first = params[FIRST_ROUTER]
    # Links up come before all others and links down behind all others. So the ends of a way add no
    # class to the network's own.
    if node < first:
        return -1
    if port >= params[NETWORK_PORTS]:
        return LAST
    return own_rule(node - first, port, own_params(params))


@inlined
def router(node, params):
    """A processor's router, or a router itself, by its number in the network."""
    first = params[FIRST_ROUTER]
    return node - first if node >= first else node // params[EACH]


@rule
def start(source, target, header, params):
    """The target, then the network's header between the routers of both ends."""
    header[0] = target
    own_start(router(source, params), router(target, params), header[1:], own_params(params))


@inlined
def port_down(target, params):
    """The port of a router that leads to its processor."""
    return params[NETWORK_PORTS] + target % params[EACH]


@rule
def decide(node, header, params):
    """Up to the router, on as the network decides, and down at the target's router."""
    target, first = header[0], params[FIRST_ROUTER]
    if node == target:
        return ARRIVED
    if node < first:
        return 0
    # The base routes between routers. Arrived means the target's router, where one more hop leads
    # down.
    port = own_decide(node - first, header[1:], own_params(params))
    return port_down(target, params) if port == ARRIVED and target < first else port


@rule
def channel_class(node, port, in_port, in_class, header, params):
    """The network's class between routers, where a message from a processor is new; else 0."""
    first, ports = params[FIRST_ROUTER], params[NETWORK_PORTS]
    if node < first or port >= ports:
        return 0
    if in_port >= ports:
        in_port = in_class = -1
    return own_class(node - first, port, in_port, in_class, header[1:], own_params(params))


@rule
def candidates(node, in_port, in_class, header, candidates, params):
    """The network's candidates between routers; up and down there is one way."""
    target, first, ports = header[0], params[FIRST_ROUTER], params[NETWORK_PORTS]
    if node == target:
        return ARRIVED
    # There is one way up and one way down. Written first, it is right for processors before the
    # network is asked.
    candidates[0, 0], candidates[0, 1] = 0, 0
    if node < first:
        return 1
    if in_port >= ports:
        in_port = in_class = -1
    own = own_params(params)
    found = own_candidates(node - first, in_port, in_class, header[1:], candidates, own)
    if found == ARRIVED and target < first:
        candidates[0, 0], candidates[0, 1] = port_down(target, params), 0
        return 1
    return found


@rule
def choose(node, header, candidates, credits, params):
    """The network's choice between routers; the only way up or down where it has room."""
    first = params[FIRST_ROUTER]
    if node < first or candidates[0, 0] >= params[NETWORK_PORTS]:
        return 0 if credits[credits.size - 1] > 0 else -1
    return own_choose(node - first, header[1:], candidates, credits, own_params(params))


__all__ = ["Terminals", "require_direct"]
