"""The Cartesian product of two topologies, or of any number of topologies joined by `*`.

The node of a in the first factor and b in the second has the number b * N1 + a; the first factor's
ports come first (docs/papers/sth, 2). The product's rules are made from the factors' rules, once
for a pair of families. All numbers are parameters, including the place of the factors' parameters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Mapped, Rule, inlined, open_part, rule
from mpinet.errors import TopologyError
from mpinet.networks.classes import ChannelClasses, Choices, common_classes
from mpinet.networks.cycle import Cycle
from mpinet.networks.routing import ARRIVED, Routing
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology, link_number

FIRST_SIZE, FIRST_PORTS, SECOND_AT, OWN, FIRST_CLASSES, FIRST_AT = 2, 3, 4, 5, 7, 8
"""Places in a rule's parameters.

In order: the first factor's size and ports, the place of the second factor's parameters, two
numbers of the rule's own, the number of the first factor's link classes, and the first factor's
parameters.
"""


class Product(Topology):
    """Cartesian product of two topologies: a link changes one coordinate.

    Parameters
    ----------
    first, second : Topology
        The factors; both of links or both of busses. Only the second may have switches.
    arguments : str, optional
        The arguments of a family that is a product under a name of its own.

    Raises
    ------
    TopologyError
        These factors have no product.
    """

    def __init__(self, first: Topology, second: Topology, arguments: str | None = None):
        require_factors(first, second)
        self.first, self.second = first, second
        busses = None
        if first.busses is not None and second.busses is not None:
            # Each copy of a factor has the factor's own busses. The number of copies is the size of
            # the other factor.
            busses = first.busses * second.size + second.busses * first.size
        size, ports = first.size * second.size, first.ports + second.ports
        own = (first.busses or 0, second.busses or 0)
        params = product_params(first, first.params, second.params, own)
        hosts = first.size * second.hosts
        super().__init__(arguments or "", size, ports, params, hosts=hosts, busses=busses)
        if arguments is None:
            self.name = f"{first.name}*{second.name}"
        # Dimension order between factors adds no dependency back to the first factor. Only
        # dependencies within a factor need classes.
        names = {first.default_classes, second.default_classes} - {"none"}
        self.default_classes = "ordered" if names - {"dateline"} else next(iter(names), "none")
        made = product_rules(rules_of(first), rules_of(second), busses is None)
        # The rules depend on a pair of families, and parameters are data. A product of two tori
        # of any size needs no compilation.
        for name, product_rule in zip(WIRING, made, strict=True):
            setattr(self, name, Mapped(product_rule, self.params))

    def _identity(self) -> tuple[Any, ...]:
        """Return the factors, unless the product has a name of its own."""
        return (Product, self.first, self.second) if type(self) is Product else super()._identity()

    @property
    def factors(self) -> tuple[Topology, ...]:
        """The factors that are not products themselves, or that have a name of their own."""
        return tuple(
            leaf
            for factor in (self.first, self.second)
            # Chains such as a*b*c are products of products. Users read such a chain as one product
            # of three factors.
            for leaf in (factor.factors if type(factor) is Product else (factor,))
        )

    @property
    def stated(self) -> dict[str, int]:
        """Sums of the degrees and diameters of the factors."""
        first, second = self.first.stated, self.second.stated
        return {
            what: first[what] + second[what]
            for what in ("degree", "diameter")
            if what in first and what in second
        }

    def _address(self, node: int) -> str:
        """Return the factors' addresses: ``(a|b|c)``."""
        parts = []
        for factor in self.factors:
            node, place = divmod(node, factor.size)
            # A factor's address may have a bar of its own.
            parts.append(re.sub(r"([\\|])", r"\\\1", factor.address(place)))
        return f"({'|'.join(parts)})"

    def read_address(self, address: str) -> int:
        """Return the node with the given addresses in the factors."""
        parts = re.findall(r"[(|]((?:[^\\|]|\\.)*)(?=[|)])", address, re.DOTALL)
        node, weight = 0, 1
        for factor, part in zip(self.factors, parts, strict=True):
            node += weight * factor.node(re.sub(r"\\(.)", r"\1", part))
            weight *= factor.size
        return node

    def clusters(self, position: int) -> list[range]:
        """Return the copies of the first factor, and the first factor's clusters in each copy."""
        place = position % self.first.size
        begin = position - place
        # A family with its own cluster order does not number positions as nodes. Its clusters are
        # no runs of the product's numbers.
        inside = self.first.clusters(place) if type(self.first).cluster_order is None else []
        own = [range(begin + block.start, begin + block.stop) for block in inside]
        return [range(begin, begin + self.first.size), *own]

    def incidences(self, nodes: Ints) -> Ints:
        """Return the busses of nodes: the first factor's by copies, then the second's."""
        busses, others = self.first.busses or 0, self.second.busses or 0
        b, a = np.divmod(np.unique(nodes), self.first.size)
        rows, own = _busses_of(self.first, a)
        columns, across = _busses_of(self.second, b)
        own += b[rows] * busses
        across += self.second.size * busses + a[columns] * others
        at = np.concatenate([rows, columns])
        pairs = np.stack([b[at] * self.first.size + a[at], np.concatenate([own, across])], axis=1)
        return np.unique(pairs, axis=0)

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """Every routing of the first factor, combined with every routing of the second."""
        return {
            product_name(name, other): partial(self._routing, name, other)
            for name in self.first.routings
            # Every combination is legal, because the second factor's routing begins after the first
            # one has arrived.
            for other in self.second.routings
        }

    def _routing(self, name: str, other: str) -> Routing:
        first, second = self.first.routing(name), self.second.routing(other)
        # The number of words is data of the rule, not a constant. All routings of a pair of
        # families therefore share one compiled rule.
        own = (first.words, 0)
        params = product_params(self.first, first.params, second.params, own)
        return Routing(
            name=product_name(name, other),
            decide=decide.bind(
                "Product.decide", first_decide=first.decide, second_decide=second.decide
            ),
            start=start.bind("Product.start", first_start=first.start, second_start=second.start),
            params=with_head(self, params),
            header_bits=self._header_bits(first, second),
            words=first.words + second.words,
            shortest=first.shortest and second.shortest,
            stateless=first.stateless and second.stateless,
        )

    @property
    def coordinates(self) -> tuple[tuple[int, int], ...]:
        """Dimensions of both factors, if both factors have dimensions."""
        first, second = self.first.coordinates, self.second.coordinates
        if not (first and second):
            return ()
        return (*first, *((stride * self.first.size, side) for stride, side in second))

    @property
    def link_classes(self) -> tuple[str, ...]:
        """Names of the factors' link classes; a factor with one class contributes its own name."""
        return tuple(
            name if len(factor.link_classes) > 1 else factor.name
            for factor in (self.first, self.second)
            for name in factor.link_classes
        )

    @property
    def channel_classes(self) -> Choices:
        """Combined class rules of the factors; a factor without the rule has one class.

        The classes of routes by any two routings of the factors are known if both headers are the
        target's number.
        """
        names = self.first.channel_classes.keys() | self.second.channel_classes.keys()
        common = common_classes(self)
        return common | {
            name: partial(self._classes, name) for name in sorted(names - common.keys())
        }

    def _classes(self, name: str) -> ChannelClasses:
        first, second = (
            # A factor without this class rule has acyclic dependencies by itself, as a mesh has.
            # One class is enough there.
            each.channel_classes.get(name, each.channel_classes["none"])()
            for each in (self.first, self.second)
        )
        words = self.first.routing().words
        params = product_params(self.first, first.params, second.params, (words, 0))
        return ChannelClasses(
            name,
            channel_class.bind(
                "Product.channel_class", first_class=first.rule, second_class=second.rule
            ),
            with_head(self, params),
            max(first.count, second.count),
        )

    def _header_bits(self, first: Routing, second: Routing) -> Callable[[int, int], int]:
        """Return the bits of both headers, or of the target's number if it suffices."""
        # Both headers are then parts of one target number. A real machine sends that number once.
        if first.stateless and second.stateless:
            bits = max(1, (self.size - 1).bit_length())
            return lambda source, target: bits

        def both(source: int, target: int) -> int:
            source_b, source_a = divmod(source, self.first.size)
            target_b, target_a = divmod(target, self.first.size)
            return first.header_bits(source_a, target_a) + second.header_bits(source_b, target_b)

        return both

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return the first factor's schedules, each followed by one of the second factor."""
        root_b, root_a = divmod(root, self.first.size)
        ones, others = self.first.schedules(root_a), self.second.schedules(root_b)
        return {
            product_name(name, other): partial(self._schedule, root, ones[name], others[other])
            for name in ones
            for other in others
            # The second schedule starts at a step that is known beforehand. A schedule of unknown
            # length, or with several ports, has no such step.
            if ones[name]().can_follow and others[other]().can_follow
        }

    def cycle(self) -> Cycle | None:
        """A Hamiltonian cycle composed of walks through both factors, or found by search."""
        return self._woven_cycle or super().cycle()

    @cached_property
    def _woven_cycle(self) -> Cycle | None:
        from mpinet.networks.lattice import product_cycle

        return product_cycle(self.first, self.second)

    def _schedule(
        self, root: int, make: Callable[[], Schedule], other: Callable[[], Schedule]
    ) -> Schedule:
        first, second = make(), other()
        params = product_params(self.first, first.params, second.params, (first.steps, 0))
        return Schedule(
            name=product_name(first.name, second.name),
            root=root,
            rule=send.bind("Product.send", first_send=first.rule, second_send=second.rule),
            params=with_head(self, params),
            phases=first.phases + second.phases,
        )


class NamedProduct(Product):
    """Product with a name of its own; messages travel in the first factor, then in the second.

    Parameters
    ----------
    arguments : str
        The canonical text of the arguments.
    first, second : Topology
        The factors. The first routing of each is a shortest one, unless the family overrides
        `routings`.
    """

    def __init__(self, arguments: str, first: Topology, second: Topology):
        super().__init__(first, second, arguments)

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """Concatenation of the factors' shortest routings."""
        one, other = next(iter(self.first.routings)), next(iter(self.second.routings))
        return {"shortest": lambda: self.composed("shortest", one, other)}

    def composed(self, name: str, one: str, other: str) -> Routing:
        """Return a routing with the given name, composed of one routing of each factor."""
        return replace(self._routing(one, other), name=name)


def _busses_of(factor: Topology, places: Ints) -> tuple[Ints, Ints]:
    """Return the busses of a factor's nodes, as rows of the index into `places` and the bus."""
    pairs = factor.incidences(np.unique(places))
    begin, end = (np.searchsorted(pairs[:, 0], places, side) for side in ("left", "right"))
    # Place i has the rows begin[i]..end[i] of `pairs`, read one run after the other. A row's index
    # is the running number, less the lengths of the runs before, plus begin[i].
    rows = np.repeat(np.arange(places.size), end - begin)
    before = np.repeat(np.cumsum(end - begin) - end, end - begin)
    return rows, pairs[np.arange(rows.size) - before, 1]


def require_factors(first: Topology, second: Topology) -> None:
    """Raise `TopologyError` unless the two have a product."""
    if first.links != second.links:
        raise TopologyError(
            f"{first.name}*{second.name}: one factor has links and the other busses; "
            "a product needs links in both or busses in both."
        )
    # Processors are numbered first. Switches of the first factor would lie between the processors
    # of its copies.
    if first.hosts != first.size:
        raise TopologyError(
            f"{first.name}*{second.name}: {first.name} has switches, and only the last factor of "
            "a product may have them; put it last."
        )


def product_params(
    first: Topology,
    first_params: Ints,
    second_params: Ints,
    own: tuple[int, int],
) -> Sequence[int]:
    """Return a product rule's parameters without size and ports."""
    second_at = FIRST_AT + len(first_params)
    classes = len(first.link_classes)
    return [first.size, first.ports, second_at, *own, classes, *first_params, *second_params]


def with_head(topology: Topology, params: Sequence[int]) -> Ints:
    """Return parameters with size and ports in front."""
    return np.array([topology.size, topology.ports, *params], np.int64)


def product_name(one: str, other: str) -> str:
    """Return the name of the combination of two factors' routings."""
    return one if one == other else f"{one}+{other}"


WIRING = ("neighbor", "reverse_port", "channel", "link_class")
Wiring = tuple[Rule, Rule, Rule, Rule]
"""A topology's rules `neighbor`, `reverse_port`, `channel`, `link_class`, without parameters."""


def rules_of(topology: Topology) -> Wiring:
    """Return the wiring's rules without their parameters."""
    way_back, channel = topology.reverse_port.rule, topology.channel.rule
    return topology.neighbor.rule, way_back, channel, topology.link_class.rule


def product_rules(first: Wiring, second: Wiring, links: bool) -> Wiring:
    """Return the wiring rules of a product, for a pair of families."""
    made = [
        product_rule.bind(f"Product.{product_rule.name}", first_rule=one, second_rule=other)
        for product_rule, one, other in zip(
            (neighbor, reverse_port, bus_number, link_class), first, second, strict=True
        )
    ]
    if links:
        made[2] = link_number.bind("Product.link_number", wiring=made[0], way_back=made[1])
    return made[0], made[1], made[2], made[3]


@inlined
def first_params(params):
    """Return the first factor's parameters."""
    return params[FIRST_AT : params[SECOND_AT]]


@inlined
def second_params(params):
    """Return the second factor's parameters."""
    return params[params[SECOND_AT] :]


# The rules below call the factors' rules by these names. `bind` replaces the placeholders by a
# factor's own rules. The placeholders are globals for `bind` to find, and are never called.
first_rule = second_rule = first_start = second_start = first_decide = open_part
second_decide = first_class = second_class = first_send = second_send = open_part


@rule
def neighbor(node, port, params):
    """Return the node with the changed coordinate of the port's factor."""
    b = node // params[FIRST_SIZE]
    if port >= params[FIRST_PORTS]:
        other = second_rule(b, port - params[FIRST_PORTS], second_params(params))
        return other if other < 0 else node + (other - b) * params[FIRST_SIZE]
    a = node - b * params[FIRST_SIZE]
    other = first_rule(a, port, first_params(params))
    return other if other < 0 else node - a + other


@rule
def reverse_port(node, port, params):
    """Return the reverse port in the port's factor."""
    b = node // params[FIRST_SIZE]
    if port >= params[FIRST_PORTS]:
        back = second_rule(b, port - params[FIRST_PORTS], second_params(params))
        return back if back < 0 else back + params[FIRST_PORTS]
    return first_rule(node - b * params[FIRST_SIZE], port, first_params(params))


@rule
def bus_number(node, port, params):
    """Return the bus number: the first factor's busses copy by copy, then the second's."""
    first_size, first_busses, second_busses = params[FIRST_SIZE], params[OWN], params[OWN + 1]
    b = node // first_size
    a = node - b * first_size
    if port < params[FIRST_PORTS]:
        bus = first_rule(a, port, first_params(params))
        return bus if bus < 0 else b * first_busses + bus
    bus = second_rule(b, port - params[FIRST_PORTS], second_params(params))
    if bus < 0:
        return bus
    return params[0] // first_size * first_busses + a * second_busses + bus


@rule
def link_class(node, port, params):
    """Return the link class; the second factor's classes are numbered after the first's."""
    b, ports = node // params[FIRST_SIZE], params[FIRST_PORTS]
    if port < ports:
        return first_rule(node - b * params[FIRST_SIZE], port, first_params(params))
    return params[FIRST_CLASSES] + second_rule(b, port - ports, second_params(params))


@rule
def start(source, target, header, params):
    """Write the first factor's header, then the second's."""
    size, words = params[FIRST_SIZE], params[OWN]
    first_start(source % size, target % size, header[:words], first_params(params))
    second_start(source // size, target // size, header[words:], second_params(params))


@rule
def decide(node, header, params):
    """Return the first factor's port until the message has arrived there, then the second's.

    The first factor's rule is called again after arrival, and must again return `ARRIVED`.
    """
    words = params[OWN]
    b = node // params[FIRST_SIZE]
    a = node - b * params[FIRST_SIZE]
    # The first factor's rule is called at every node, even after arrival. The header needs no bit
    # for the current factor.
    port = first_decide(a, header[:words], first_params(params))
    if port != ARRIVED:
        return port
    port = second_decide(b, header[words:], second_params(params))
    return port if port < 0 else port + params[FIRST_PORTS]


@rule
def channel_class(node, port, in_port, in_class, header, params):
    """Return the class in the port's factor; a message from the other factor counts as new."""
    words, ports = params[OWN], params[FIRST_PORTS]
    b = node // params[FIRST_SIZE]
    a = node - b * params[FIRST_SIZE]
    if port < ports:
        # A message from the other factor holds a channel that no message of this factor waits for.
        # The message starts anew here.
        if in_port >= ports:
            in_port = in_class = -1
        return first_class(a, port, in_port, in_class, header[:words], first_params(params))
    if in_port < ports:
        in_port, in_class = -1, -1
    else:
        in_port -= ports
    return second_class(b, port - ports, in_port, in_class, header[words:], second_params(params))


@rule
def send(node, root, since, step, params):
    """Return the port of the first factor's schedule, then of the second's in each copy."""
    steps, size = params[OWN], params[FIRST_SIZE]
    if step <= steps:
        return first_send(node % size, root % size, since, step, first_params(params))
    # A node informed in the first phase is a root of its copy. For the second schedule that node is
    # informed in step 0.
    since = max(since - steps, 0)
    port = second_send(node // size, root // size, since, step - steps, second_params(params))
    return port if port < 0 else port + params[FIRST_PORTS]
