"""Terminals: `each` processors at every router of a direct network.

Concentrated meshes, HyperX, Slim Flies and random regular graphs have this form. The nodes of the
network are routers, which only forward, and each router has c processors. Processors are numbered
first: processor r c + i is at router r, and router r is node c N + r. A processor's only port leads
to its router. A router has the network's ports first, then one port for each of its processors.

As in a product, the rules are made from the rules of the network's family, once per family: all
numbers are parameters. A header holds the target, followed by the network's own header between
routers.
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
ports, the number of its link classes, and its parameters of the same rule.
"""

UP_AND_DOWN = 2
"""Hops of a path between processors and routers; these hops wait for no other link."""

LAST = 2**62
"""Place in the channel order of a router's channels to its processors: after all others."""


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
        # The network's rules are bound into the rules with terminals. They get router numbers, as
        # if the network had no processors.
        made = terminal_rules(rules_of(network), order_of(network))
        for name, terminal_rule in zip(WIRING, made, strict=True):
            setattr(self, name, Mapped(terminal_rule, self.params))

    def _identity(self) -> tuple[Any, ...]:
        """Return the routers' network and the number of processors per router."""
        return Terminals, self.network, self.each

    def _own(self, params: Ints) -> list[int]:
        """Return a rule's own parameters, between size and the network's parameters."""
        network = self.network
        classes = len(network.link_classes)
        return [self.each, network.size * self.each, network.ports, classes, *params]

    @property
    def waypoints(self) -> range:
        """Routers as intermediate nodes: a route need not go down to a processor."""
        return range(self.hosts, self.size)

    @property
    def stated(self) -> dict[str, int]:
        """Diameter of the network plus the two hops between processors and routers."""
        stated = self.network.stated
        return {"diameter": stated["diameter"] + 2} if "diameter" in stated else {}

    def _address(self, node: int) -> str:
        """Return the address: ``r`` and the router's address, then a processor's index.

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
        """Return the router or processor with this address."""
        text = address.removeprefix("r")
        router, dot, place = text.rpartition(".")
        if dot and place.isdecimal() and int(place) < self.each:
            return self.network.node(router) * self.each + int(place)
        return self.hosts + self.network.node(text)

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """The network's routings, applied between processors."""
        return {name: partial(self._routing, make) for name, make in self.network.routings.items()}

    @property
    def detour(self) -> str | None:  # type: ignore[override]
        """The network's routing around faults."""
        return self.network.detour

    @property
    def random_routings(self) -> dict[str, Callable[[int], Routing]]:
        """The network's randomized routings, applied between processors."""
        own = self.network.random_routings
        return {name: partial(self._routing, make) for name, make in own.items()}

    @property
    def load_routings(self) -> dict[str, Callable[[int], Routing]]:
        """Routings for open-loop traffic: the common ones and the network's own."""
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
        """Return a routing of the network, applied between processors."""
        params = with_head(self, self._own(own.params))
        bits = max(1, (self.size - 1).bit_length())

        def header_bits(source: int, target: int) -> int:
            """Return the bits of the target's number and of the network's header."""
            if own.stateless:
                return bits
            return bits + own.header_bits(self.router_of(source), self.router_of(target))

        def around(dead: tuple[int, ...], cut: tuple[tuple[int, int], ...]) -> Routing:
            """Return the routing that avoids dead routers and dead links between routers."""
            # A dead processor is on no other processor's route. Only dead routers and links between
            # routers change routes.
            routers = [node - self.hosts for node in dead if node >= self.hosts]
            links = [(u - self.hosts, v - self.hosts) for u, v in cut if min(u, v) >= self.hosts]
            return self._between(own.around(routers, links))

        # Links to processors need no classes: a processor forwards nothing, and no cycle of
        # dependencies contains such a link.
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
            # expect processors.
            outcomes=0,
            **made,
        )

    def router_of(self, node: int) -> int:
        """Return the number in the network of a processor's router, or of a router itself."""
        return node - self.hosts if node >= self.hosts else node // self.each

    @property
    def link_classes(self) -> tuple[str, ...]:
        """Names of the network's link classes, and of the class of links to processors."""
        return (*self.network.link_classes, "processors")

    @property
    def channel_classes(self) -> Choices:
        """The network's class rules between routers; other links have one class."""
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
    """Return the rules of wiring and channel order with terminals, from a family's rules."""
    wiring = neighbor.bind("Terminals.neighbor", own_rule=own[0])
    way_back = reverse_port.bind("Terminals.reverse_port", own_rule=own[1])
    parts = {"wiring": wiring, "way_back": way_back}
    channel = link_number.bind("Terminals.link_number", **parts)
    classes = link_class.bind("Terminals.link_class", own_rule=own[3])
    order = channel_order.bind("Terminals.order", own_rule=own_order)
    return wiring, way_back, channel, classes, order


def terminal_class(own: Rule) -> Any:
    """Return the channel-class rule with terminals, made from the network's own rule."""
    return channel_class.bind("Terminals.channel_class", own_class=own)


@inlined
def own_params(params: Sequence[int]) -> Any:
    """Return the network's parameters of the same rule."""
    return params[NETWORK_AT:]


# The rules below call the network's own rules by these names, which `bind` replaces (see
# `product`).
own_rule = own_start = own_decide = own_class = own_candidates = own_choose = open_part


@rule
def neighbor(node, port, params):
    """Return the router of a processor, or the router or processor behind a router's port."""
    each, first, ports = params[EACH], params[FIRST_ROUTER], params[NETWORK_PORTS]
    if node < first:
        return first + node // each if port == 0 else -1
    # The network's ports come first. Routes of the network keep their port numbers for any number
    # of processors.
    if port >= ports:
        return (node - first) * each + port - ports
    other = own_rule(node - first, port, own_params(params))
    return other if other < 0 else first + other


@rule
def reverse_port(node, port, params):
    """Return the port at the other end; a processor's only port is 0."""
    each, first, ports = params[EACH], params[FIRST_ROUTER], params[NETWORK_PORTS]
    if node < first:
        return ports + node % each if port == 0 else -1
    if port >= ports:
        return 0
    return own_rule(node - first, port, own_params(params))


@rule
def link_class(node, port, params):
    """Return the network's class between routers; links to processors are one further class."""
    first = params[FIRST_ROUTER]
    if node < first or port >= params[NETWORK_PORTS]:
        return params[LINK_CLASSES]
    return own_rule(node - first, port, own_params(params))


@rule
def channel_order(node, port, params):
    """Return the place in the channel order: up, the network's channels, down."""
    first = params[FIRST_ROUTER]
    # Links up come before and links down after all others. The ends of a route therefore add no
    # class to the network's own.
    if node < first:
        return -1
    if port >= params[NETWORK_PORTS]:
        return LAST
    return own_rule(node - first, port, own_params(params))


@inlined
def router(node, params):
    """Return the network's number of a processor's router, or of a router itself."""
    first = params[FIRST_ROUTER]
    return node - first if node >= first else node // params[EACH]


@rule
def start(source, target, header, params):
    """Write the target, then the network's header between the routers of both ends."""
    header[0] = target
    own_start(router(source, params), router(target, params), header[1:], own_params(params))


@inlined
def port_down(target, params):
    """Return the port of a router that leads to its processor."""
    return params[NETWORK_PORTS] + target % params[EACH]


@rule
def decide(node, header, params):
    """Return the port: up, by the network's routing, then down at the target's router."""
    target, first = header[0], params[FIRST_ROUTER]
    if node == target:
        return ARRIVED
    if node < first:
        return 0
    # The base routes between routers. `ARRIVED` means the target's router, where one more hop leads
    # down.
    port = own_decide(node - first, header[1:], own_params(params))
    return port_down(target, params) if port == ARRIVED and target < first else port


@rule
def channel_class(node, port, in_port, in_class, header, params):
    """Return the network's class between routers, 0 on links to processors.

    A message from a processor counts as new.
    """
    first, ports = params[FIRST_ROUTER], params[NETWORK_PORTS]
    if node < first or port >= ports:
        return 0
    if in_port >= ports:
        in_port = in_class = -1
    return own_class(node - first, port, in_port, in_class, header[1:], own_params(params))


@rule
def candidates(node, in_port, in_class, header, candidates, params):
    """List the network's candidates between routers; up and down the only port is the candidate."""
    target, first, ports = header[0], params[FIRST_ROUTER], params[NETWORK_PORTS]
    if node == target:
        return ARRIVED
    # Up and down a message has one candidate. Written first, the row is right for processors
    # without a call of the network's rule.
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
    """Return the network's choice between routers; up or down the only candidate if it has room."""
    first = params[FIRST_ROUTER]
    if node < first or candidates[0, 0] >= params[NETWORK_PORTS]:
        return 0 if credits[credits.size - 1] > 0 else -1
    return own_choose(node - first, header[1:], candidates, credits, own_params(params))


__all__ = ["Terminals", "require_direct"]
