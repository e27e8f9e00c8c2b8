"""Comparison of networks: sizes, distances, cuts, costs, and the steps of collectives.

All values are measured. Measurements that would take too long are left out, with the reason. No
clock decides this: the work is counted in advance, so all machines and all numbers of ranks leave
out the same columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import Any

import numpy as np

from mpinet import measure
from mpinet.base.meant import hint
from mpinet.errors import MpinetError, TooLarge, UsageError
from mpinet.machine import Machine
from mpinet.measure.cuts import connectivity_work
from mpinet.measure.distance import disconnected
from mpinet.networks.catalogue import open_topology
from mpinet.networks.topology import NetworkLike, Topology
from mpinet.programs import ascend
from mpinet.programs.bounds import HostDistances, exchange_bound, host_distances
from mpinet.programs.broadcast import broadcast
from mpinet.programs.exchange import exchange
from mpinet.programs.gossip import gossip

EFFORT = 0.1
"""Default effort: seconds of search for an exact bisection, as in `measure.bisection_width`."""

MOST_EFFORT = 3600
"""Largest effort, in seconds."""

WORK = 30
"""Seconds of work, counted in advance, permitted for a column per second of effort."""

LOOKS = 50_000_000
"""Reads of waiting messages per second of work; measured: 30 (beyond caches) to 110 million."""

FLOW_STEPS = 10_000_000
"""Nodes and arcs per second of work in the flows of a connectivity; measured: 5 to 12 million."""

LINKS = 35_000
"""Links per second of work in a search for symmetries; measured: 20,000 if every permutation is a
symmetry, otherwise more.
"""

SPLITS = 40_000_000
"""Links per second of work, once per node, before the search for a bisection; measured: 24 to 60
million in complete graphs.
"""


AT_ONCE = 1 << 16
"""Number of routers whose ports are counted at a time."""


class Subject:
    """A compared network; values needed by several columns are measured once."""

    def __init__(self, network: Topology, effort: float):
        self.network = network
        self.effort = effort

    @property
    def one_port(self) -> Machine:
        """A new one-port machine with a step count of 0."""
        return Machine(self.network, "one")

    @cached_property
    def degrees(self) -> dict[int, int]:
        """Number of nodes by degree."""
        return measure.degrees(self.network)

    @property
    def degree(self) -> int:
        """Largest degree of any node."""
        return max(self.degrees)

    @property
    def links(self) -> int:
        """Number of pairs of neighbours."""
        return sum(degree * nodes for degree, nodes in self.degrees.items()) // 2

    @cached_property
    def cost(self) -> tuple[int, int, int]:
        """Numbers of routers, their wired ports, and cables between them (a bus is one cable).

        Routers are the switches. In a network without switches, all nodes are routers, because
        processors forward messages themselves.
        """
        network = self.network
        first = network.hosts if network.hosts < network.size else 0
        ports = between = 0
        for begin in range(first, network.size, AT_ONCE):
            routers = np.arange(begin, min(begin + AT_ONCE, network.size))[:, np.newaxis]
            others = network.neighbor(routers, np.arange(network.ports))
            ports += int((others >= 0).sum())
            # Each cable is counted at both ends; links to processors are not cables between
            # routers.
            between += int((others >= first).sum())
        cables = between // 2 if network.busses is None else network.busses
        return network.size - first, ports, cables

    @cached_property
    def distances(self) -> HostDistances:
        """Distances between processors in hops, measured by floods."""
        # One flood shows that the network is disconnected, before the cost of a flood from every
        # processor.
        if not measure.is_connected(self.network):
            raise disconnected(self.network)
        return host_distances(Machine(self.network, "all"))

    @property
    def average(self) -> float:
        """Mean distance between two processors, in hops."""
        hosts = self.network.hosts
        return self.distances.total / max(1, hosts * (hosts - 1))


@dataclass(frozen=True)
class Column:
    """A measured value in a comparison of networks: a column of the table."""

    label: str
    """Heading of the column in a table."""
    measured: Callable[[Subject], Any]
    """Function that measures the column's value (collective)."""
    most: int = 1 << 22
    """Largest number of nodes of a network for which the column is measured."""
    named: bool = False
    """True if the column is shown only on request, because it takes seconds or answers a special
    question.
    """
    work: Callable[[Subject], Fraction] | None = None
    """Function that estimates the duration in seconds (collective) from the network alone: rough,
    but the same on all machines. An effort of 1 allows `WORK` seconds. Default: the column is
    quick, or the effort limits its search directly.
    """


def moore_bound(processors: int, degree: int) -> int:
    """Return the least diameter, in hops, of any network with this number of nodes and degree.

    Examples
    --------
    >>> moore_bound(10, 3), moore_bound(256, 4), moore_bound(16, 2)
    (2, 5, 8)
    """
    reached, fresh, diameter = 1, degree, 0
    while reached < processors:
        if fresh == 0:
            raise UsageError(f"{processors} nodes of degree {degree} cannot be connected.")
        reached += fresh
        fresh *= degree - 1
        diameter += 1
    return diameter


def _bounds(found: Any) -> dict[str, int]:
    return {"lower": found.lower, "upper": found.upper}


def _exchange_work(subject: Subject) -> Fraction:
    """Return the seconds of work of a total exchange.

    A router reads each waiting message in each step. The number of steps is taken from the lower
    bound, and on average half of the messages wait.
    """
    hosts = subject.network.hosts
    steps = exchange_bound(subject.one_port, subject.distances)
    # Exact fractions: the decision to leave out a column must not depend on the rounding of a
    # machine.
    return Fraction(hosts * (hosts - 1) * steps, 2 * LOOKS)


def _saturation(subject: Subject) -> float:
    from mpinet.experiments.load import TrafficSetting
    from mpinet.machine.faults import Faults
    from mpinet.machine.traffic.parameters import Buffering, Generation, Window
    from mpinet.programs.patterns import pattern_of

    network, pattern = subject.network, pattern_of(subject.network, "uniform")
    # One run in overload gives the saturation throughput. A search over rates would take about ten
    # runs.
    setting = TrafficSetting(
        network,
        network.routing(None, 0),
        None,
        pattern,
        Generation(pattern.rule, pattern.params, rows=pattern.rows),
        Buffering(),
        Window(),
        (0,),
        Faults(network),
        vcs_named=False,
    )
    return float(setting.run(Machine(network), 0, 1.0)["throughput"])


COLUMNS = {
    "processors": Column("processors", lambda s: s.network.hosts, 2**63),
    "switches": Column("switches", lambda s: s.network.size - s.network.hosts, 2**63),
    "links": Column("links", lambda s: s.links),
    "degree": Column("degree", lambda s: s.degree),
    "diameter": Column("diameter", lambda s: s.distances.diameter, 1 << 15),
    "moore": Column("Moore bound on it", lambda s: moore_bound(s.network.hosts, s.degree)),
    "average_distance": Column("mean distance", lambda s: s.average, 1 << 15),
    # The first cuts and bounds of a bisection are flows from each node over all links.
    "bisection": Column(
        "bisection",
        lambda s: _bounds(measure.bisection_width(s.network, s.effort)),
        1024,
        work=lambda s: Fraction(s.network.size * s.links, SPLITS),
    ),
    "connectivity": Column(
        "connectivity",
        lambda s: measure.connectivity(s.network),
        2048,
        work=lambda s: Fraction(connectivity_work(s.network), FLOW_STEPS),
    ),
    "degree_diameter": Column(
        "degree * diameter", lambda s: s.degree * s.distances.diameter, 1 << 15
    ),
    "links_diameter": Column("links * diameter", lambda s: s.links * s.distances.diameter, 1 << 15),
    "traffic_density": Column(
        "mean distance * N / links",
        lambda s: s.average * s.network.hosts / max(1, s.links),
        1 << 15,
    ),
    "vertex_transitive": Column(
        "vertex-transitive",
        lambda s: measure.vertex_transitive(s.network),
        4096,
        work=lambda s: Fraction(s.links, LINKS),
    ),
    "broadcast": Column("broadcast, one-port", lambda s: broadcast(s.one_port, 0).steps, 1 << 20),
    "routers": Column("routers", lambda s: s.cost[0], 1 << 22, named=True),
    "ports": Column("router ports", lambda s: s.cost[1], 1 << 22, named=True),
    "cables": Column("cables between routers", lambda s: s.cost[2], 1 << 22, named=True),
    "optimum": Column(
        "broadcast, fewest steps",
        lambda s: _bounds(measure.broadcast_time(s.network, limit=s.effort)),
        2048,
        named=True,
    ),
    "gossip": Column("gossip, one-port", lambda s: gossip(s.one_port).steps, 2048),
    "exchange": Column(
        "exchange, one-port", lambda s: exchange(s.one_port).steps, 4096, work=_exchange_work
    ),
    "ascend": Column(
        "ASCEND, all ports",
        lambda s: ascend.run(Machine(s.network, "all"), "prefix").steps,
        1 << 16,
    ),
    "saturation": Column("saturation, uniform", _saturation, 1024, named=True),
}
"""All columns of a comparison, in the order of the table."""


TIMED = "optimum"
"""Column whose bounds a longer search could tighten."""


def columns_of(only: str | None) -> list[str]:
    """Return the named columns, in the given order; None selects all quick columns.

    Raises
    ------
    UsageError
        A name is not a column.
    """
    if only is None:
        return [name for name, column in COLUMNS.items() if not column.named]
    names = [name.strip() for name in only.split(",") if name.strip()]
    for name in names:
        if name not in COLUMNS:
            meant = hint(name, COLUMNS, 1) or f"there are {', '.join(COLUMNS)}."
            raise UsageError(f"There is no column {name!r}: {meant}")
    if not names:
        raise UsageError(f"Name at least one column of {', '.join(COLUMNS)}.")
    return list(dict.fromkeys(names))


def row_of(
    topology: NetworkLike,
    columns: Iterable[str],
    effort: float,
    begins: Callable[[str], None] = lambda what: None,
) -> dict[str, Any]:
    """Measure one network: a row of the table (collective).

    Parameters
    ----------
    topology : Topology or str
        The network.
    columns : iterable of str
        Names in `COLUMNS`.
    effort : float
        As `EFFORT`; a column with an estimate may take `WORK` times as long.
    begins : callable
        Called before each column with a description such as ``"gossip of ring:8"``.

    Returns
    -------
    dict
        ``topology``, the columns, and ``left_out``: the reasons for columns without a value (None).
    """
    network = open_topology(topology)
    subject = Subject(network, effort)
    row: dict[str, Any] = {"topology": network.name}
    left_out = {}
    for name in columns:
        begins(f"{name} of {network.name}")
        try:
            # A left-out column appears in the row with its reason, so no table has a silent gap.
            _require_little(name, subject)
            row[name] = COLUMNS[name].measured(subject)
        except MpinetError as error:
            row[name], left_out[name] = None, str(error)
    return row | {"left_out": left_out}


def _require_little(name: str, subject: Subject) -> None:
    """Raise an error for a column that would take too long (collective).

    Raises
    ------
    TooLarge
        The network has too many nodes for the column, or the work exceeds the effort.
    """
    column, network = COLUMNS[name], subject.network
    if network.size > column.most:
        raise TooLarge(
            f"{name} is compared in networks of up to {column.most:,} nodes: "
            f"{network.name} has {network.size:,}."
        )
    if column.work is None:
        return
    work = column.work(subject)
    enough = floor(100 * work / WORK) / 100  # exactly the number printed below
    if enough > subject.effort:
        could = f"--effort {enough:g} is" if enough <= MOST_EFFORT else "no --effort would be"
        raise TooLarge(
            f"{name} takes about {ceil(work):,} s in {network.name}, counted in advance, and an "
            f"effort of {subject.effort:g} allows {WORK * subject.effort:g} s: {could} enough."
        )
