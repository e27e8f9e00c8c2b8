"""The check of a topology's contract: tests of a family's rules and methods, node by node.

Neighbours are nodes and never the node itself. Reverse ports lead back. Both ends agree on the
channel. Members are on their bus, and addresses can be read back. Module `promises` then checks
that routings arrive, schedules obey their port model, and cycles close. Small networks are checked
completely, large ones at a seeded sample. `mpinet check` runs the check; tests of a user's own
network may run it as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from mpinet.base.arrays import Flags, Ints, Words
from mpinet.base.blame import blaming
from mpinet.base.effort import require_walk
from mpinet.errors import NodeError, WiringError
from mpinet.networks.promises import (
    check_cluster_order,
    check_cycle,
    check_routings,
    check_schedules,
)
from mpinet.networks.shortest import UNREACHABLE, fill_first_ports
from mpinet.networks.topology import MOST_ADDRESSES, NetworkLike, Topology, is_searched

WHOLE = 2**22
"""Most (node, port) pairs of a network that is checked completely."""

PORTS_SAMPLED = 256
"""Number of ports tested per node if not all pairs are tested."""

ADDRESSES = 1024
"""Most addresses that are tested."""

PLAYED = 4
"""Number of first and last nodes, and of ports, at which rules are called in plain Python."""


@dataclass(frozen=True)
class Report:
    """Counts of the items that `check` has examined without finding an error."""

    topology: str
    """Name of the topology."""
    nodes: int
    """Number of nodes."""
    ports: int
    """Number of wired (node, port) pairs."""
    exhaustive: bool
    """True if all nodes and ports were checked; then the network is also known to be connected."""
    addresses: int
    """Number of addresses that were checked."""
    routes: int
    """Number of routed pairs; 0 if the network is too large for its routing's table."""


def check(
    topology: NetworkLike,
    sample: int = 4096,
    seed: int = 0,
    schedules: bool = True,
    routings: bool = True,
) -> Report:
    """Check that a topology fulfils its contract.

    Small networks are checked completely, large networks at a sample.

    Parameters
    ----------
    topology : Topology, str or networkx.Graph
        The topology.
    sample : int
        Number of nodes that are checked in networks too large for a complete check.
    seed : int
        Seed of the sample.
    schedules : bool
        Whether to run the network's schedules. A machine also checks schedules as they run, by
        its own port model.
    routings : bool
        Whether to test all routings. `Topology.routing` also tests each one on first use.

    Raises
    ------
    WiringError
        The contract is violated; the message names the processor and the port.
    RoutingError
        A routing takes an unwired port, does not arrive or is not as short as it claims.
    RuleError
        A user's rule or method fails, or cannot be compiled.

    Examples
    --------
    >>> import mpinet
    >>> report = mpinet.check(mpinet.open("ring:8"))
    >>> report.nodes, report.ports, report.exhaustive
    (8, 16, True)
    """
    from mpinet.networks.catalogue import open_topology

    network = open_topology(topology)
    with blaming(type(network), network.name):
        return _check(network, sample, seed, schedules, routings)


def _check(topology: Topology, sample: int, seed: int, schedules: bool, routings: bool) -> Report:
    """Run every check; the first failure raises an exception."""
    random = np.random.default_rng(seed)
    _check_numbers(topology)
    _play_rules(topology)
    # Networks of 10^8 processors have to be checked as well. A seeded sample finds the usual
    # mistakes reproducibly.
    whole = topology.size * topology.ports <= WHOLE
    nodes = _sample(topology.size, topology.size if whole else sample, random)
    ports = _sample(topology.ports, topology.ports if whole else PORTS_SAMPLED, random)
    wired = _check_links(topology, nodes, ports)
    if not topology.links:
        # Each member of a bus lists all other members. The work grows with the square of the ports.
        some = nodes if whole else random.permutation(nodes)[: 1 + WHOLE // topology.ports**2]
        _check_busses(topology, some)
    if whole:
        _check_connected(topology)
    if topology.searches_addresses and topology.size > MOST_ADDRESSES:
        nodes = nodes[:0]  # no command reads addresses of this network
    addressed = nodes if nodes.size <= ADDRESSES else random.permutation(nodes)[:ADDRESSES]
    _check_addresses(topology, addressed)
    check_cluster_order(topology, nodes)
    if whole:
        check_cycle(topology)
        if schedules:
            check_schedules(topology)
    routes = check_routings(topology, random) if routings else 0
    return Report(topology.name, nodes.size, wired, whole, addressed.size, routes)


def _check_numbers(topology: Topology) -> None:
    """Check that size, ports, hosts and parameters agree."""
    name, params = topology.name, topology.params
    if topology.size < 1 or topology.ports < (1 if topology.size > 1 else 0):
        raise WiringError(f"{name}: {topology.size} nodes with {topology.ports} ports each.")
    if not 1 <= topology.hosts <= topology.size:
        raise WiringError(f"{name}: {topology.hosts} hosts among {topology.size} nodes.")
    if params.dtype != np.int64 or params.ndim != 1 or not params.flags.c_contiguous:
        raise WiringError(f"{name}: params must be one contiguous row of int64.")
    if (params[0], params[1]) != (topology.size, topology.ports):
        raise WiringError(
            f"{name}: params must start with size and ports, {topology.size} and "
            f"{topology.ports}, not {params[0]} and {params[1]}."
        )


def _play_rules(topology: Topology) -> None:
    """Call the wiring's rules in plain Python, which finds errors that compiled code misses."""
    for node, port in product(_ends(topology.size), _ends(topology.ports)):
        # Native code reads beyond an array without an error. Plain Python raises at the line in the
        # user's file.
        wired = topology.neighbor(node, port) in range(topology.size)
        if wired and (topology.ports <= PORTS_SAMPLED or not _searches(topology)):
            topology.reverse_port(node, port)
            topology.channel(node, port)
            topology.link_class(node, port)


def _ends(count: int) -> list[int]:
    """Return the first and the last of the numbers 0..count-1."""
    return sorted({*range(count)[:PLAYED], *range(count)[-PLAYED:]})


def _searches(topology: Topology) -> bool:
    """Return whether reverse ports are searched port by port because the family has no rule."""
    return is_searched(topology.reverse_port.rule)


def _sample(count: int, wanted: int, random: np.random.Generator) -> Ints:
    """Return a sample of the numbers 0..count-1 with both ends, or all numbers if they are few."""
    if count <= wanted:
        return np.arange(count)
    return np.unique(np.append(random.integers(0, count, wanted), [0, count - 1]))


def _check_links(topology: Topology, nodes: Ints, ports: Ints) -> int:
    """Check that both ends of links agree; return the number of wired ports."""
    name, size = topology.name, topology.size
    nodes, ports = np.repeat(nodes, ports.size), np.tile(ports, nodes.size)
    others = topology.neighbor(nodes, ports)
    for u, p, v in _broken((others < -1) | (others >= size), nodes, ports, others):
        raise WiringError(
            f"{name}: neighbor({u}, {p}) = {v} is no node: nodes are 0..{size - 1}, and -1 stands "
            "for a port that is not wired."
        )
    nodes, ports, others = (array[others >= 0] for array in (nodes, ports, others))
    for u, p in _broken(others == nodes, nodes, ports):
        raise WiringError(f"{name}: neighbor({u}, {p}) = {u} is the processor itself.")
    # A rule that always returns -1 passes all other checks, since these have nothing to compare.
    if size > 1 and nodes.size == 0:
        raise WiringError(f"{name}: no port is wired.")
    # A searched reverse port is right by construction if it exists. A failed search means missing
    # or parallel links, and the message names these.
    if _searches(topology):
        require_walk(
            nodes.size * topology.ports,
            f"The search for reverse ports in {name}, which has no rule 'reverse_port',",
        )
    back = topology.reverse_port(nodes, ports)
    for u, p, q, v in _broken((back < 0) | (back >= topology.ports), nodes, ports, back, others):
        if _searches(topology):
            raise WiringError(
                f"{name}: neighbor({u}, {p}) = {v}, but no port of {v} leads to {u}: links go "
                "both ways in mpinet."
            )
        raise WiringError(
            f"{name}: reverse_port({u}, {p}) = {q} is no port: ports are 0..{topology.ports - 1}. "
            f"(neighbor({u}, {p}) = {v}.)"
        )
    ends = topology.neighbor(others, back)
    for u, p, q, v, end in _broken(ends != nodes, nodes, ports, back, others, ends):
        raise WiringError(
            f"{name}: reverse_port({u}, {p}) = {q}, but neighbor({v}, {q}) = {end}, not {u}."
        )
    again = topology.reverse_port(others, back)
    for u, p, q, v, r in _broken(again != ports, nodes, ports, back, others, again):
        if _searches(topology):
            raise WiringError(
                f"{name}: ports {min(p, r)} and {max(p, r)} of node {u} both lead to node {v}: "
                "with parallel links define the rule 'reverse_port'."
            )
        raise WiringError(
            f"{name}: reverse_port({u}, {p}) = {q}, but reverse_port({v}, {q}) = {r}, not {p}."
        )
    _check_channels(topology, nodes, ports, others, back)
    return nodes.size


def _check_channels(
    topology: Topology,
    nodes: Ints,
    ports: Ints,
    others: Ints,
    back: Ints,
) -> None:
    """Check that both ends of a link or bus return the same number and class for it."""
    # Capacity is counted by channel. A link whose ends disagree would carry two messages a step.
    channels = topology.channel(nodes, ports)
    there = topology.channel(others, back)
    for u, p, c, v, q, d in _broken(channels != there, nodes, ports, channels, others, back, there):
        raise WiringError(
            f"{topology.name}: channel({u}, {p}) = {c}, but at the other end channel({v}, {q}) = "
            f"{d}."
        )
    kinds, opposite = topology.link_class(nodes, ports), topology.link_class(others, back)
    for u, p, c, v, q, d in _broken(kinds != opposite, nodes, ports, kinds, others, back, opposite):
        raise WiringError(
            f"{topology.name}: link_class({u}, {p}) = {c}, but at the other end link_class({v}, "
            f"{q}) = {d}."
        )
    classes = len(topology.link_classes)
    for u, p, c in _broken((kinds < 0) | (kinds >= classes), nodes, ports, kinds):
        raise WiringError(
            f"{topology.name}: link_class({u}, {p}) = {c} is not in the range 0..{classes - 1} of "
            "the names in link_classes."
        )
    if topology.links:
        _check_links_channels(topology, nodes, ports, others, back, channels)
    count = topology.size * topology.ports if topology.busses is None else topology.busses
    for u, p, c in _broken((channels < 0) | (channels >= count), nodes, ports, channels):
        raise WiringError(
            f"{topology.name}: channel({u}, {p}) = {c} is not in the range 0..{count - 1}."
        )


def _check_links_channels(
    topology: Topology,
    nodes: Ints,
    ports: Ints,
    others: Ints,
    back: Ints,
    channels: Ints,
) -> None:
    """Check that no two links have the same number."""
    links = np.minimum(nodes * topology.ports + ports, others * topology.ports + back)
    order = np.lexsort((links, channels))
    shared = (np.diff(channels[order]) == 0) & (np.diff(links[order]) != 0)
    one, other = order[:-1], order[1:]
    found = (nodes[one], ports[one], channels[one], nodes[other], ports[other])
    for u, p, c, v, q in _broken(shared, *found):
        raise WiringError(
            f"{topology.name}: channel({u}, {p}) = channel({v}, {q}) = {c}, but these are two "
            "links, and each needs its own number."
        )


def _check_busses(topology: Topology, nodes: Ints) -> None:
    """Check that every member of a bus lists all its other members, for the busses of some nodes.

    The check compares two views of a bus by their number of members and the sum of scrambled member
    numbers.
    """
    ports = np.arange(topology.ports)
    others = topology.neighbor(nodes[:, np.newaxis], ports)
    nodes = np.union1d(nodes, others[others >= 0])
    others = topology.neighbor(nodes[:, np.newaxis], ports)
    rows, columns = np.nonzero(others >= 0)
    seen, by = others[rows, columns], nodes[rows]
    bus = topology.channel(by, ports[columns])
    order = np.lexsort((by, bus))
    bus, by, seen, columns = bus[order], by[order], seen[order], columns[order]
    starts = np.flatnonzero((np.diff(bus, prepend=-1) != 0) | (np.diff(by, prepend=-1) != 0))
    # Sums of scrambled numbers compare sets without sorting them. A plain sum would confuse 1+4
    # with 2+3.
    views = np.add.reduceat(_scramble(seen), starts) + _scramble(by[starts])
    members = np.diff(np.append(starts, bus.size))
    first = np.searchsorted(bus[starts], bus[starts])
    wrong = (views != views[first]) | (members != members[first])
    for at, by_first in _broken(wrong, starts, starts[first]):
        raise WiringError(
            f"{topology.name}: processors {by[by_first]} and {by[at]} (port {columns[at]}) see "
            f"different members on bus {bus[at]}."
        )


def _scramble(numbers: Ints) -> Words:
    """Return numbers spread over 64 bits (splitmix64)."""
    word = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


def _check_connected(topology: Topology) -> None:
    """Check that node 0 reaches all nodes."""
    from mpinet.networks.shortest import neighbor_table

    if topology.size == 1:
        return
    entries = np.full(topology.size, UNREACHABLE, np.uint16)
    fill_first_ports(neighbor_table(topology), 1, entries)
    for (node,) in _broken(entries == UNREACHABLE, np.arange(topology.size)):
        raise WiringError(f"{topology.name} is not connected: no path from 0 to {node}.")


def _check_addresses(topology: Topology, nodes: Ints) -> None:
    """Check that different nodes have different addresses, and that these can be read back."""
    for node in nodes.tolist():
        address = topology.address(node)
        try:
            # Reading an address back also finds two nodes with the same address. A set of all
            # addresses would need memory for the sample.
            back = topology.node(address)
        except NodeError as error:
            raise WiringError(
                f"{topology.name}: address({node}) = {address!r} cannot be read back: {error}"
            ) from None
        if back != node:
            raise WiringError(
                f"{topology.name}: address({node}) = {address!r}, but node({address!r}) = {back}."
            )


def _broken(wrong: Flags, *columns: Ints) -> Iterator[tuple[int, ...]]:
    """Yield the values of the first wrong case, if any."""
    if wrong.any():
        at = int(wrong.argmax())
        yield tuple(int(column[at]) for column in columns)
