"""The base class of all networks: wiring and routings as local rules about one processor.

A topology is a description, never a stored graph. Its rules return the processor behind a port, the
port at the other end of the link, and the channel (link or bus) between both. Each rule needs only
the processor's own number. Each rank therefore computes the neighbours of the processors that it
hosts, and a network may have more processors than fit into memory. A family subclasses `Topology`,
states its numbers of processors and ports, and defines the rule `neighbor`. Everything else has a
default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, wraps
from inspect import unwrap
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.blame import blaming, is_own
from mpinet.base.fielddocs import described
from mpinet.base.meant import hint
from mpinet.base.notebook import shown
from mpinet.base.numerals import counted, looks_whole, quoted, whole
from mpinet.compiled import Rule, open_part, rule
from mpinet.errors import NodeError, TopologyError, UsageError
from mpinet.networks.classes import LONGEST, Choices, common_classes
from mpinet.networks.cycle import Cycle
from mpinet.networks.parameters import Parameter, require_integer, require_ranges
from mpinet.networks.routing import Routing
from mpinet.networks.routingtable import PREFIX, routing_by_file
from mpinet.networks.schedule import Schedule

if TYPE_CHECKING:
    import networkx

MAX_SIZE = 2**63 - 1
"""Largest number of processors: processor numbers are 64-bit integers."""

MOST_ADDRESSES = 2**20
"""Nodes of the largest network in which an address is found by a search of all addresses."""


@runtime_checkable
class NetworkxGraph(Protocol):
    """Protocol of a networkx graph, or of a backend's graph: the methods that identify a graph."""

    def is_directed(self) -> bool:
        """Return whether edges are directed."""

    def is_multigraph(self) -> bool:
        """Return whether the graph may have parallel edges."""

    def number_of_nodes(self) -> int:
        """Return the number of nodes."""


@described
class Topology:
    """Wiring and routings of one network, computed from processor numbers.

    A family's class defines these rules in its body:

    * ``neighbor(node, port, params)`` (`rule`): the processor behind the port, -1 = not wired;
    * ``reverse_port(node, port, params)`` (`rule`, optional): the port at that link's other end;
      by default the ports of the other end are searched;
    * ``channel(node, port, params)`` (`rule`, bus networks only): the number of the bus;
    * ``link_class(node, port, params)`` (`rule`, optional): the class of the link or bus behind a
      port, from 0, for links that differ in latency and bandwidth; ``link_classes`` names the
      classes;
    * ``channel_order(node, port, params)`` (`rule`, optional): channel numbers that ascend along
      every
      route, except where a message enters the next class (`mpinet.networks.classes`).
      ``most_classes``
      is the largest number of classes that any route needs, if known for networks of any size.

    In the rules ``params[0]`` is the size and ``params[1]`` the number of ports; the family's own
    parameters follow. On an instance the rules are methods that are mapped over arrays:
    ``topology.neighbor(nodes, ports)``.

    Parameters
    ----------
    arguments : str
        The part behind the family's name in the canonical topology string ('' = no arguments). A
        class without a `family` is named by its module and class name.
    size : int
        Number N of nodes, numbered 0..N-1.
    ports : int
        Ports per node: the largest degree.
    params : sequence of int, optional
        The family's own parameters for the rules.
    hosts : int, optional
        Number of nodes that are processors, which compute and send (numbered first). The remaining
        nodes are switches, which only forward. Default: all nodes are processors.
    busses : int, optional
        Number of busses of a bus network. Default: the network has links.
    stated : mapping, optional
        Figures that the source states: `Topology.stated`.
    link_classes : sequence of str, optional
        Names of the classes of `link_class`. Default: one class.

    Raises
    ------
    TopologyError
        More processors or ports than 64-bit numbers can name.

    Examples
    --------
    >>> from mpinet import measure, rule
    >>> class Cube(Topology):
    ...     def __init__(self, n):
    ...         super().__init__(f"{n}", size=2**n, ports=n)
    ...
    ...     @rule
    ...     def neighbor(node, port, params):
    ...         return node ^ (1 << port)
    >>> cube = Cube(3)
    >>> cube.neighbor(5, 1), cube.reverse_port(5, 1), measure.diameter(cube)
    (7, 1, 3)
    """

    family: ClassVar[str] = ""
    """The family's name in a topology string. Default: the name at the start of `example`."""
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    example: ClassVar[str] = ""
    synonym: ClassVar[str] = ""
    """Example string of the same kind of network under the name of another family."""
    paper: ClassVar[str] = ""
    specification: ClassVar[str] = "networks 3"
    """Pages and sections of docs/ that define the family. Default: the section on families outside
    the five papers.
    """

    default_classes: str = "ordered"
    """Default class rule of open-loop traffic; ``none`` if the family's routings cannot deadlock
    without classes.
    """

    most_classes: int | None = None

    ignored: Sequence[str] = ()
    """Notes on entries of the network's file that mpinet ignores."""

    reopened: tuple[Callable[..., Any], tuple[str, ...]] | None = None
    """Function that opens the network in another process, and its arguments; None: a pickled copy
    works.
    """

    radices: Sequence[int] = ()
    """Number of values of each part of an address ``i,j,..``; the last part varies fastest. If
    empty, the address is the node's number.
    """

    lowest_first: ClassVar[bool] = False
    """True if the first part of an address varies fastest."""

    brackets: ClassVar[tuple[str, str]] = ("", "")
    """Opening and closing bracket of an address of `radices`."""

    cluster_lengths: Iterable[int] = ()
    """Lengths of the aligned runs of positions that are clusters, the longest first."""

    waypoint: Any = None
    """Inlined function ``waypoint(source, target, drawn, params)``: the intermediate node for a
    drawn node, if it differs from the drawn node. -1: the message goes straight to its target.
    """

    longest: int = LONGEST
    """Number of hops of the longest route, if known for networks of any size."""

    one_port_broadcast: str | None = None
    """Name of the default broadcast with one port, without a schedule of the family."""

    detour: str | None = None
    """Name of the family's routing around faults: the default of ``route --faults``."""

    waypoint_classes: int | None = None
    """Number of ``ordered`` classes that a route to a waypoint needs, if fewer than for other
    routes.
    """

    link_class: ClassVar[Rule]
    cluster_order: ClassVar[Rule | None] = None
    channel_order: ClassVar[Rule | None] = None
    neighbor: ClassVar[Rule]
    reverse_port: ClassVar[Rule]
    channel: ClassVar[Rule]

    def __init__(
        self,
        arguments: str,
        size: int,
        ports: int,
        params: Sequence[int] | Ints = (),
        hosts: int | None = None,
        busses: int | None = None,
        stated: Mapping[str, int] | None = None,
        link_classes: Sequence[str] = ("link",),
    ):
        what = f"{self.family}:{arguments} would have"
        # NumPy would wrap larger numbers silently. The check runs before any array is made: a
        # typing error in an exponent costs nothing.
        if size > MAX_SIZE:
            raise TopologyError(
                f"{what} {counted(size)} processors; at most 2^63 - 1 can be numbered."
            )
        if size * ports > MAX_SIZE:
            raise TopologyError(
                f"{what} {counted(size)} processors with {counted(ports)} ports each; at most "
                "2^63 - 1 ports can be numbered."
            )
        if busses is not None and busses > MAX_SIZE:
            raise TopologyError(
                f"{what} {counted(busses)} busses; at most 2^63 - 1 can be numbered."
            )
        # Two users' classes may have the same name. The module name keeps their results and caches
        # apart.
        family = self.family or f"{type(self).__module__}:{type(self).__qualname__}"
        self.name = f"{family}:{arguments}" if arguments else family
        self.size = size
        self.ports = ports
        self.hosts = size if hosts is None else hosts
        self.busses = busses
        self._stated, self._link_classes = dict(stated or {}), tuple(link_classes)
        # Rules see only these numbers. One compiled rule therefore serves all members of a family,
        # and each kernel is compiled once.
        self.params: Ints = np.concatenate([np.array([size, ports]), np.asarray(params, np.int64)])

    @classmethod
    def checked(cls, name: str, value: Any) -> int:
        """Return an argument after a check against the range in `parameters` (`whole_number`).

        Raises
        ------
        TopologyError
            The argument is out of range. The message names the family, the parameter and the
            allowed values.
        """
        declared = next(parameter for parameter in cls.parameters if parameter.name == name)
        if declared.least is None:
            raise TypeError(f"{cls.__qualname__}.parameters states no range for {name}")
        family = cls.family or cls.__qualname__
        return require_integer(family, name, value, declared.least, declared.most)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Add range checks and default rules to a subclass that defines its own wiring."""
        super().__init_subclass__(**kwargs)
        if "example" in vars(cls) and "family" not in vars(cls):
            cls.family = cls.example.partition(":")[0]
        require_parameters(cls)
        # A class with its own ranges or its own `__init__` needs its own check. A class that
        # inherits both is checked by the wrapper of its base.
        if cls.parameters and {"parameters", "__init__"} & vars(cls).keys():
            cls.__init__ = checking_ranges(cls.__init__, cls.parameters)  # type: ignore[method-assign]
        # Default rules are compiled with the wiring inside. A class with its own wiring must not
        # inherit them: inherited rules would search the ports of the base class.
        if "neighbor" in vars(cls):
            complete_rules(cls, cls.__qualname__)

    def __eq__(self, other: object) -> bool:
        """Compare topologies by name and parameters; graphs by their nodes and links."""
        if not isinstance(other, Topology):
            return NotImplemented
        if self is other:
            return True
        # The name is compared first because it is short. Parameters of graphs may have millions of
        # numbers.
        return self._identity() == other._identity() and np.array_equal(self.params, other.params)

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        """Return hashable values that identify the network together with the rules' parameters."""
        return type(self), self.name, self.hosts, self.busses

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes to copy or pickle, without cached values."""
        # Cached values, such as tables of addresses, may be larger than the network's description.
        # A copy computes them again on demand.
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(type(self), name, None), cached_property)
        }

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle an instance of a user's class by its file.

        Another process has not loaded the class.
        """
        return self.reopened or super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        switches = self.size - self.hosts
        within = f" ({self.hosts} processors, {switches} switches)" if switches else ""
        return f"<topology {self.name}: {self.size} nodes{within}, {self.ports} ports>"

    def _repr_html_(self) -> str | None:
        """Return the topology as HTML for a notebook."""
        return shown(self)

    def __len__(self) -> int:
        """Return the number of nodes."""
        return self.size

    def __iter__(self) -> Iterator[int]:
        """Iterate over the node numbers 0..N-1."""
        return iter(range(self.size))

    def __contains__(self, node: object) -> bool:
        """Return whether a value is the number or address of a node."""
        try:
            self.find(str(node))
        except NodeError:
            return False
        return True

    def neighbors(self, node: int | str) -> list[int]:
        """Return the distinct neighbours of a node, in the order of its ports.

        Parameters
        ----------
        node : int or str
            A number or an address.

        Raises
        ------
        NodeError
            The network has no node with this number or address.

        Examples
        --------
        >>> import mpinet
        >>> cube = mpinet.open("hypercube:3")
        >>> cube.neighbors(5), 5 in cube, 8 in cube, len(cube)
        ([4, 7, 1], True, False, 8)
        """
        others = self.neighbor(self.find(str(node)), np.arange(self.ports))
        # Parallel links lead to the same neighbour by several ports. Unlike a set, a dictionary
        # keeps the order of first occurrence.
        return [*dict.fromkeys(others[others >= 0].tolist())]

    def to_networkx(self) -> networkx.Graph:
        """Return the graph of this network: `mpinet.to_networkx`."""
        from mpinet.networks.networkxgraph import graph_of

        return graph_of(self, range(self.size))

    @property
    def links(self) -> bool:
        """True if nodes are joined by links, False if they are joined by busses."""
        return self.busses is None

    @property
    def most_wired(self) -> int:
        """Upper bound on the number of wired ports of all nodes together."""
        return self.size * self.ports

    def port_counts(self, nodes: Ints) -> Ints:
        """Return the number of ports that can be wired, per node; all higher ports are unwired.

        By default every port can be wired. A family with nodes of very different degrees overrides
        the method: walks over all links then skip unwired ports.

        Parameters
        ----------
        nodes : ndarray of int64, shape (k,)
            Processor numbers.
        """
        return np.full(len(nodes), self.ports)

    def incidences(self, nodes: Ints) -> Ints:
        """Return the busses of the given processors of a bus network.

        The default is the channels of the processors' ports. A family overrides the method if it
        has busses with a single member, because such a bus belongs to no port.

        Parameters
        ----------
        nodes : ndarray of int64, shape (k,)
            Processor numbers.

        Returns
        -------
        ndarray of int64, shape (m, 2)
            Rows (processor, bus), each once, sorted.
        """
        ports = np.arange(self.ports)
        there = self.neighbor(nodes[:, np.newaxis], ports) >= 0
        rows, columns = np.nonzero(there)
        busses = self.channel(nodes[rows], columns)
        # A processor has a port for each fellow member of a bus. Capacities count each bus once.
        return np.unique(np.stack([nodes[rows], busses], axis=1), axis=0)

    def bus_members(self, bus: int) -> list[int]:
        """Return the processors on a bus, in member order.

        By default the method searches the incidences of all processors and returns ascending
        numbers.
        """
        pairs = self.incidences(np.arange(self.size))
        return pairs[pairs[:, 1] == bus, 0].tolist()

    def clusters(self, position: int) -> list[range]:
        """Return the clusters that contain a position, largest first.

        The default is computed from `cluster_lengths`. A cluster is a run of positions whose nodes
        are joined more closely to one another than to the rest. A node's position is its number. A
        family whose clusters are not runs of node numbers has the rule ``cluster_order(number,
        direction, params)``, a bijection. Direction 0 returns a node's position, direction 1 the
        node at a position.

        Parameters
        ----------
        position : int
            0..size-1.
        """
        # Runs begin at multiples of their length, because families number clusters of equal size
        # consecutively.
        begins = [(position - position % length, length) for length in self.cluster_lengths]
        return [range(begin, begin + length) for begin, length in begins]

    def seats_of(self, nodes: Ints, busses: Ints) -> Ints:
        """Return numbers that sort processors by the member order of their bus.

        By default these are the processor numbers. A family with another member order overrides the
        method together with `bus_members`.

        Parameters
        ----------
        nodes, busses : ndarray of int64, shape (k,)
            Processors, and one bus of each processor.
        """
        return nodes

    @property
    def stated(self) -> dict[str, int]:
        """Figures that the paper or textbook states (such as ``degree``), not measured."""
        return self._stated

    def address(self, node: int) -> str:
        """Return the address of a node as the paper writes it. Default: the digits by `radices`."""
        self.require_node(node)
        return self._address(node)

    def _address(self, node: int) -> str:
        """Return the address of an existing node."""
        parts = []
        for radix in reversed(self.radices or [self.size]):
            node, part = divmod(node, radix)
            parts.append(str(part))
        # Division yields the fastest part first. Most papers write the slowest part first.
        text = ",".join(parts if self.lowest_first else reversed(parts))
        return text.join(self.brackets)

    def node(self, address: str) -> int:
        """Return the number of the node with this address: the inverse of `address`.

        Raises
        ------
        NodeError
            No node has this address.
        """
        try:
            number = self.read_address(address)
        except NodeError:
            raise
        except ValueError:
            number = -1
        # Readers may accept signs, spaces and leading zeros. Writing the address again rejects all
        # of these in one place.
        if not 0 <= number < self.size or self.address(number) != address:
            raise NodeError(
                f"{quoted(address)} is not an address in {self.name}: addresses are "
                f"{self.address(0)} .. {self.address(self.size - 1)}."
            )
        return number

    def read_address(self, address: str) -> int:
        """Return the number of the node with this address: the inverse of `address`, unchecked.

        If a family has its own `address`, the default searches the addresses of all nodes, in
        networks of up to `MOST_ADDRESSES` nodes. The family overrides this method for larger
        networks. The method need not check its result, because `node` does.

        Raises
        ------
        ValueError
            The text does not have the form of an address.
        NodeError
            The network has too many addresses to search.
        """
        if type(self).address is Topology.address:
            parts = address.removeprefix(self.brackets[0]).removesuffix(self.brackets[1]).split(",")
            number = 0
            for radix, part in zip(
                self.radices or [self.size],
                reversed(parts) if self.lowest_first else parts,
                strict=True,
            ):
                number = number * radix + int(part)
            return number
        # A search makes a dictionary of all addresses on every rank. Beyond a million nodes the
        # search would take minutes and gigabytes.
        if self.searches_addresses and self.size > MOST_ADDRESSES:
            raise NodeError(
                f"{self.name} has 'address', but no 'read_address' to read {address!r}: addresses "
                f"of up to {MOST_ADDRESSES} nodes are searched, these are {self.size}."
            )
        return self._addressed.get(address, -1)

    @property
    def searches_addresses(self) -> bool:
        """True if an address of the family can be read back only by a search of all addresses."""
        own, reader = type(self).address, type(self).read_address
        return own is not Topology.address and reader is Topology.read_address

    @cached_property
    def _addressed(self) -> dict[str, int]:
        """Lowest node of every address."""
        # Later entries win in a dictionary. Counting down therefore keeps the lowest node if a
        # user's class gives several nodes the same address.
        return {self.address(node): node for node in reversed(range(self.size))}

    def find(self, text: str) -> int:
        """Return the node that a user names by number or by address.

        A text of digits is a number. Digits that begin with 0 and are also another node's address
        (``0010`` of a hypercube) are ambiguous: the error shows both nodes. The digit ``0`` alone
        is node 0.

        Raises
        ------
        NodeError
            The network has no such node, or the text is ambiguous.
        """
        if not looks_whole(text):
            return self.node(text)
        try:
            number = whole(text)
        except ValueError as error:
            raise NodeError(f"{error}; {self.name} has nodes 0..{self.size - 1}.") from None
        fits = 0 <= number < self.size
        # A leading zero marks an address of bits. Without this rule `0010` would silently mean node
        # 10 on a hypercube.
        if fits and (text == "0" or not text.startswith("0")):
            return number
        try:
            addressed = self.node(text)
        except NodeError:
            addressed = number
        if addressed == number:
            self.require_node(number)
            return number
        other = f"{number} for the node of this number, or " if fits else ""
        raise NodeError(
            f"{text} is a number and an address on {self.name}: give {other}{addressed} for the "
            "node of this address."
        )

    def require_node(self, node: int) -> None:
        """Raise `NodeError` unless `node` is a node of this network."""
        if not 0 <= node < self.size:
            raise NodeError(f"Node {node} is not in {self.name}: nodes are 0..{self.size - 1}.")

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """The family's routings by name; the first is the default."""
        from mpinet.networks.shortest import table_routing

        return {"shortest": lambda: table_routing(self)}

    @property
    def random_routings(self) -> dict[str, Callable[[int], Routing]]:
        """The family's randomized routings by name, each as a function of a seed."""
        return {}

    @property
    def waypoints(self) -> range:
        """Nodes that a randomized routing draws from. Default: the processors.

        If the family has a `waypoint`, these are the values of its argument `drawn`.
        """
        return range(self.hosts)

    @property
    def load_routings(self) -> dict[str, Callable[[int], Routing]]:
        """Routings for open-loop traffic by name, each as a function of a seed.

        The default is `common_routings`, which apply to any network; families add their own.
        """
        return self.common_routings

    @property
    def common_routings(self) -> dict[str, Callable[[int], Routing]]:
        """Return the routings that every network has: Valiant's, up*/down*, UGAL, Polarized.

        UGAL and Polarized need links.
        """
        from mpinet.networks.polarized import polarized
        from mpinet.networks.ugal import ugal_global, ugal_local
        from mpinet.networks.updown import updown
        from mpinet.networks.valiant import valiant

        common: dict[str, Callable[[int], Routing]] = {
            "valiant": lambda seed: valiant(self, seed),
            "updown": lambda seed: updown(self),
        }
        if self.links:
            common["ugal-l"] = lambda seed: ugal_local(self, seed)
            common["ugal-g"] = lambda seed: ugal_global(self, seed)
            common["polarized"] = lambda seed: polarized(self)
        return common

    @property
    def routing_names(self) -> list[str]:
        """Names of all routings of the network, beginning with the names in `routings`."""
        return [*dict.fromkeys([*self.routings, *self.random_routings, *self.load_routings])]

    @property
    def fixed_routings(self) -> list[str]:
        """Names of the routings whose routes do not depend on traffic: ``route`` accepts these."""
        common = [name for name in ("valiant", "updown") if name in self.load_routings]
        return [*dict.fromkeys([*self.routings, *self.random_routings, *common])]

    @property
    def listed_routings(self) -> dict[str, list[str]]:
        """Names of all routings for display: the family's own, and those for ``load``."""
        own = [*self.routings, *self.random_routings]
        return {
            "routings": own,
            "load routings": [name for name in self.routing_names if name not in own],
        }

    def has_routing(self, name: str) -> bool:
        """Return whether the network has this routing, or the name is a table file."""
        return name in self.routing_names or name.startswith(PREFIX)

    def routing(self, name: str | None = None, seed: int = 0) -> Routing:
        """Return one of the network's routings.

        Parameters
        ----------
        name : str, optional
            As in `routings`, `random_routings` or `load_routings`, or ``table:FILE.csv``. Default:
            the first of `routings`.
        seed : int
            Seed of a routing that draws random numbers.

        Raises
        ------
        UsageError
            The network has no routing of that name, or the network is too large for the routing's
            table.
        RoutingError
            A routing of a user's own class violates its contract. Each such routing is tested once.
        """
        routing = self._made_routing(name, seed)
        if is_own(type(self)) and routing.name not in self._tried_routings:
            # The name is recorded before the trial, because the trial itself may request this
            # routing through another one.
            self._tried_routings.add(routing.name)
            try:
                self._try_routing(
                    routing, arrives=name is None or name == next(iter(self.routings))
                )
            except BaseException:
                self._tried_routings.discard(routing.name)
                raise
        return routing

    def _made_routing(self, name: str | None, seed: int) -> Routing:
        """Return a routing by name, without a trial."""
        known, drawing = self.routings, self.load_routings | self.random_routings
        if name is None:
            name = next(iter(known))
        # A family's own routing has priority, even if mpinet later adds a common routing of the
        # same name.
        if name in known:  # a family's own ``updown`` has priority over the common one
            return known[name]()
        if name.startswith(PREFIX):
            return routing_by_file(self, Path(name.removeprefix(PREFIX)))
        if name not in drawing:
            raise no_routing(self, name, self.routing_names)
        return drawing[name](seed)

    @cached_property
    def _tried_routings(self) -> set[str]:
        """Names of the routings that have been tested."""
        return set()

    def _try_routing(self, routing: Routing, arrives: bool) -> None:
        """Check a user's own routing against its contract."""
        from mpinet.networks.trial import Trial

        with blaming(type(self), self.name):
            Trial(self, np.random.default_rng(0)).hold(routing, arrives)

    @property
    def coordinates(self) -> tuple[tuple[int, int], ...]:
        """Stride and side of every dimension, if node numbers consist of coordinates."""
        return ()

    @property
    def link_classes(self) -> tuple[str, ...]:
        """Names of the classes of `link_class`, from 0."""
        return self._link_classes

    @property
    def link_costs(self) -> Mapping[str, tuple[str, ...]]:
        """Latency and time per byte of each class of links, if the network states them.

        The keys are ``latency`` and ``time_byte``; both are optional.
        """
        return {}

    @property
    def channel_classes(self) -> Choices:
        """The family's class rules by name (see `mpinet.networks.classes`)."""
        return common_classes(self, self.longest)

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """The family's own one-port broadcast schedules by name; the first is the default."""
        return {}

    @property
    def ascend_schedules(self) -> Mapping[str, str | type[Any]]:
        """The family's own schedules of ASCEND and DESCEND by name; the first is the default.

        Each value is a subclass of `mpinet.programs.schedules.schedule.PassSchedule`, or a text
        ``module:Class``. The text spares networks an import of programs.
        """
        return {}

    guest: Topology | None = None
    """Network whose schedules of ASCEND and DESCEND the processors emulate, if any."""

    def homes(self) -> Ints:
        """Return, for each node of the guest, the processor that acts for it."""
        raise NotImplementedError

    def cycle(self) -> Cycle | None:
        """A Hamiltonian cycle as a local rule; None if no cycle is known.

        By default, a cycle is searched for in networks of links without switches. The search is
        limited in network size and effort (see `mpinet.networks.hamiltonian`).
        """
        return self._searched_cycle

    @cached_property
    def _searched_cycle(self) -> Cycle | None:
        from mpinet.networks.hamiltonian import searched_cycle

        return searched_cycle(self)


NetworkLike: TypeAlias = Topology | str | NetworkxGraph
"""Type of arguments that name a network: a topology, its string, or a graph of networkx."""


def require_parameters(cls: type[Topology]) -> None:
    """Raise `TopologyError` unless a family's `parameters` are descriptions of parameters."""
    declared: Any = cls.parameters
    for parameter in declared if isinstance(declared, tuple | list) else [declared]:
        if not isinstance(parameter, Parameter):
            raise TopologyError(
                f"{cls.__qualname__}.parameters has {parameter!r}, which describes no parameter: "
                'write parameters = (whole_number("N", 1),) with whole_number or Parameter of '
                "mpinet.networks.parameters, or leave parameters out."
            )


def checking_ranges(
    init: Callable[..., None], parameters: tuple[Parameter, ...]
) -> Callable[..., None]:
    """Return a family's `__init__` with a preceding check of the ranges in `parameters`."""
    # Names come from the function itself. A subclass may have other arguments than its base
    # declares, and only equal names are checked.
    code = unwrap(init).__code__
    names = code.co_varnames[1 : code.co_argcount]

    @wraps(init)
    def checked(self: Topology, *args: Any, **kwargs: Any) -> None:
        require_ranges(
            self.family or type(self).__qualname__,
            parameters,
            dict(zip(names, args, strict=False)) | kwargs,
        )
        init(self, *args, **kwargs)

    return checked


def complete_rules(owner: Any, name: str) -> None:
    """Add the missing default rules to `owner`, which has the rule `neighbor`.

    Parameters
    ----------
    owner : type or Topology
        Class or instance that gets the rules as attributes.
    name : str
        First part of the new rules' names; no two different wirings may share it.
    """
    neighbor = vars(owner)["neighbor"]
    # A search calls the wiring rule once per port. The search is the default because most users'
    # rules have no closed form.
    if "reverse_port" not in vars(owner):
        owner.reverse_port = searched_port.bind(f"{name}.reverse_port", wiring=neighbor)
    if "channel" not in vars(owner):
        parts = {"wiring": neighbor, "way_back": vars(owner)["reverse_port"]}
        owner.channel = link_number.bind(f"{name}.channel", **parts)


# A family's wiring, which `bind` inserts into the default rules.
wiring = way_back = open_part


@rule
def searched_port(node, port, params):
    """Return the lowest port of the neighbour that leads back; -1 if no port does."""
    other = wiring(node, port, params)
    if other < 0:
        return -1
    # With the lowest port, both ends of a link agree if no links are parallel. The contract's check
    # rejects parallel links here.
    for candidate in range(params[1]):
        if wiring(other, candidate, params) == node:
            return candidate
    return -1


@rule
def one_class(node, port, params):
    """Put all links into one class."""
    return 0


Topology.link_class = one_class


def is_searched(rule: Rule) -> bool:
    """Return whether a rule `reverse_port` is the default, a search."""
    return rule.function.__code__ is searched_port.function.__code__


@rule
def link_number(node, port, params):
    """Return the number of a link as a channel: the lower number of its two ends (node, port)."""
    other = wiring(node, port, params)
    if other < 0:
        return -1
    # Both ends compute the same minimum without communication. The numbers have gaps, but no
    # table is needed.
    return min(node * params[1] + port, other * params[1] + way_back(node, port, params))


def numbered(word: str, count: int) -> tuple[str, ...]:
    """Return names of numbered link classes, such as ``dimension 0`` and ``dimension 1``."""
    # Options such as --latency name classes by these words. Families share one spelling.
    return tuple(f"{word} {number}" for number in range(count))


EXCHANGE = MappingProxyType({"exchange": "mpinet.programs.schedules.exchange:DimensionExchange"})
"""Value of `Topology.ascend_schedules` for networks whose partners in every dimension are
neighbours.
"""


ROUTINGS_ELSEWHERE = {
    **dict.fromkeys(("xy", "xyz", "dor", "dimension-order", "e-cube", "ecube"), "dimensions"),
    "min": "minimal",
    "ugal": "ugal-l",
    "val": "valiant",
}
"""Names of routings in other simulators, mapped to names in mpinet."""


def no_routing(topology: Topology, name: str, names: Sequence[str]) -> UsageError:
    """Return the error for an unknown routing of a network, with the names of known routings."""
    there = ROUTINGS_ELSEWHERE.get(name.lower(), name)
    meant = f"did you mean {there}?" if there in names else hint(name, names, 1)
    said = f"{topology.name} has no routing {name!r}; "
    return UsageError(f"{said}{meant}{' ' if meant else ''}it has: {', '.join(names)}.")


__all__ = [
    *("MAX_SIZE", "NetworkLike", "NetworkxGraph", "Topology", "complete_rules"),
    *("EXCHANGE", "is_searched", "numbered"),
]
