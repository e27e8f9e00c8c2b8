"""Members: the participating part of a network, such as a group or the survivors of faults.

The members are processors, numbered first, in the order of a group's MPI ranks. All other live
nodes only forward, as switches do. Dead nodes, dead links and nodes cut off from the members are
left out. Every measurement, proof and run of a network therefore also works for a collective among
some processors, and for a network with faults.

Each node keeps its port numbers. Ports that lost their link are not wired.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.base.numerals import is_whole, quoted
from mpinet.compiled import Mapped, rule
from mpinet.errors import TopologyError
from mpinet.networks.shortest import levels
from mpinet.networks.topology import EXCHANGE, Topology

MOST_PORTS = 2**22
"""Most ports of a network from which a part is taken: the wiring is stored as tables."""

TABLES = 2
"""Place of the wiring in the rules' parameters: neighbours, reverse ports, channels, classes."""

PART = re.compile(r"(?P<network>.*?)(?P<said>(?:[:,]\s*(?:group|dead)\s*=[^,*=]*)+)")
"""The last arguments of a network's string: ``group=`` (members) and ``dead=`` (faults)."""

RUN = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?")
"""A number, or a run of numbers: first, last and stride."""


class Members(Topology):
    """A network in which only some processors participate in collectives, and nodes may be dead.

    Parameters
    ----------
    network : Topology
        The whole network.
    group : sequence of int, optional
        The members, in the order of their ranks; dead members are left out. Default: all live
        processors.
    nodes : iterable of int
        Dead nodes.
    links : iterable of (int, int)
        Dead links, each as a pair of neighbours. All parallel links of the pair are dead.

    Raises
    ------
    TopologyError
        No member is left, or dead nodes and links cut members off from each other.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> ring = Members(open("ring:6"), [3, 0], nodes=[5])
    >>> ring.name, ring.hosts, ring.size, ring.origin.tolist()
    ('ring:6,group=3+0,dead=5', 2, 5, [3, 0, 1, 2, 4])
    """

    def __init__(
        self,
        network: Topology,
        group: Sequence[int] | None = None,
        nodes: Iterable[int] = (),
        links: Iterable[tuple[int, int]] = (),
    ):
        self.network = network
        dead, cut = sorted(set(nodes)), sorted({(min(pair), max(pair)) for pair in links})
        name = network.name + _said(network, group, dead, cut)
        # The remaining network has no closed form. Every rank stores its wiring.
        if network.size * network.ports > MOST_PORTS:
            raise TopologyError(
                f"{name}: group= and dead= need a network of at most {MOST_PORTS:,} ports; "
                f"{network.name} has {network.size * network.ports:,}."
            )
        ends = _alive(network, name, dead, cut)
        wanted = np.arange(network.hosts) if group is None else np.array(group, np.int64)
        # The order of the group is kept. It determines the ranks of the members, as in
        # MPI_Group_incl.
        members = wanted[~np.isin(wanted, dead)]
        if not len(members):
            raise TopologyError(f"{name}: no processor of the group is alive.")
        reached = levels(ends, int(members[0])) < len(ends)
        if not reached[members].all():
            lost = int(members[~reached[members]][0])
            raise TopologyError(
                f"{name}: the faults cut processor {lost} off from {members[0]}; a "
                "collective needs paths between all members."
            )
        # Only nodes that members can reach are kept. A part that is cut off would make the network
        # disconnected.
        others = np.setdiff1d(np.flatnonzero(reached), members)
        self.origin: Ints = np.concatenate([members, others])
        """Number of each node in the whole network. Shape (N,)."""
        tables, busses = self._tables(ends)
        hosts, size = len(members), len(self.origin)
        super().__init__("", size, network.ports, np.concatenate(tables).tolist(), hosts, busses)
        self.name = name
        if busses is not None:
            self.channel = Mapped(stored_channel, self.params)  # type: ignore[misc]
        if len(network.link_classes) > 1:
            self.link_class = Mapped(stored_class, self.params)  # type: ignore[misc]

    def _identity(self) -> tuple[Any, ...]:
        """Return the whole network, and the part of the name that lists members and faults."""
        return Members, self.network, self.name.removeprefix(self.network.name)

    def _tables(self, ends: Table) -> tuple[list[Ints], int | None]:
        """Return the tables of all rules by node and port, and the number of remaining busses."""
        network, kept = self.network, ends[self.origin]
        # Index -1 reads the last entry. Unwired ports therefore need no separate case.
        numbers = np.full(network.size + 1, -1)  # and an entry for unwired ports
        numbers[self.origin] = np.arange(len(self.origin))
        wired = kept >= 0
        nodes, ports = self.origin[:, np.newaxis], np.arange(network.ports)
        tables, busses = [numbers[kept]], None
        # Ports keep their numbers, and dead ports are not wired. Reverse ports are therefore as in
        # the whole network.
        for each in (network.reverse_port, network.channel, network.link_class):
            tables.append(np.where(wired, Mapped(each.rule, network.params)(nodes, ports), -1))
        if network.busses is not None:
            # Busses with fewer than two remaining members would have numbers but no port.
            # Renumbering the remaining busses keeps counts right.
            left, channels = np.unique(tables[2][wired], return_inverse=True)
            tables[2][wired], busses = channels, len(left)
        return [table.ravel() for table in tables], busses

    @rule
    def neighbor(node, port, params):
        """Return the stored neighbour."""
        return params[TABLES + node * params[1] + port]

    @rule
    def reverse_port(node, port, params):
        """Return the stored reverse port."""
        return params[TABLES + (params[0] + node) * params[1] + port]

    @property
    def link_classes(self) -> tuple[str, ...]:
        """Names of the link classes of the whole network."""
        return self.network.link_classes

    @property
    def link_costs(self) -> Mapping[str, tuple[str, ...]]:
        """Latency and time per byte of the link classes of the whole network."""
        return self.network.link_costs

    @property
    def ascend_schedules(self) -> Mapping[str, str]:
        """Schedule `exchange` if the members form a subcube, whose partners are neighbours."""
        dimensions = self.hosts.bit_length() - 1
        if not self.links or self.hosts != 1 << dimensions:
            return {}
        members = np.arange(self.hosts)[:, np.newaxis]
        ends = self.neighbor(members, np.arange(self.ports))
        # Ranks, not addresses, decide: a group in another order may be a subcube whose
        # partners are not neighbours.
        joined = [(ends == members ^ (1 << j)).any(axis=1).all() for j in range(dimensions)]
        return EXCHANGE if dimensions and all(joined) else {}

    def _address(self, node: int) -> str:
        """Return a node's address in the whole network."""
        return self.network.address(int(self.origin[node]))

    def read_address(self, address: str) -> int:
        """Return the node with this address in the whole network."""
        found = np.flatnonzero(self.origin == self.network.node(address))
        return int(found[0]) if len(found) else -1


@rule
def stored_channel(node, port, params):
    """Return the stored number of a bus."""
    return params[TABLES + (2 * params[0] + node) * params[1] + port]


@rule
def stored_class(node, port, params):
    """Return the stored class of a link or bus."""
    return params[TABLES + (3 * params[0] + node) * params[1] + port]


def _said(
    network: Topology, group: Sequence[int] | None, dead: list[int], cut: list[tuple[int, int]]
) -> str:
    """Return the arguments of the name that list members and faults."""
    words = [] if group is None else ["group=" + "+".join(runs(group))]
    what = [*map(str, dead), *(f"{u}-{v}" for u, v in cut)]
    words += ["dead=" + "+".join(what)] if what else []
    return "".join(f"{',' if at or ':' in network.name else ':'}{w}" for at, w in enumerate(words))


def runs(group: Sequence[int]) -> list[str]:
    """Return numbers in their order, abbreviated by the longest runs.

    Examples of runs are ``0-7`` and ``0-12:4``.

    Examples
    --------
    >>> runs([0, 1, 2, 3, 8, 12, 16, 5])
    ['0-3', '8-16:4', '5']
    """
    words, at = list[str](), 0
    while at < len(group):
        end, stride = at + 1, group[at + 1] - group[at] if at + 1 < len(group) else 0
        while stride > 0 and end < len(group) and group[end] - group[end - 1] == stride:
            end += 1
        # Two numbers are no run: `0+4` is shorter and clearer than `0-4:4`.
        end = end if end - at > 2 else at + 1
        last = f"-{group[end - 1]}" if end - at > 2 else ""
        words.append(f"{group[at]}{last}{f':{stride}' if last and stride > 1 else ''}")
        at = end
    return words


def read_runs(network: Topology, text: str) -> list[int]:
    """Read processor numbers and runs ``A-B`` or ``A-B:STRIDE``, joined by ``,`` or ``+``.

    Raises
    ------
    TopologyError
        A number is not a processor of the network, or occurs twice.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> read_runs(open("ring:20"), "0-3,8-16:4,5")
    [0, 1, 2, 3, 8, 12, 16, 5]
    """
    found = list[int]()
    for word in re.split("[,+]", text):
        said = RUN.fullmatch(word.strip())
        first, last, stride = (int(part or -1) for part in said.groups()) if said else (0, 0, 0)
        last, stride = first if last < 0 else last, 1 if stride < 0 else stride
        if not said or stride < 1 or last < first:
            raise TopologyError(
                f"{network.name}: {quoted(word)} is not part of a group: give processor numbers, "
                "such as 0-3, 8 or 0-12:4, joined by commas."
            )
        if last >= network.hosts:
            raise TopologyError(
                f"{network.name} has no processor {last} for a group: processors are "
                f"0..{network.hosts - 1}."
            )
        found += range(first, last + 1, stride)
    if len(set(found)) < len(found):
        twice = next(each for each in found if found.count(each) > 1)
        raise TopologyError(f"{network.name}: processor {twice} is in the group twice.")
    return found


def open_part(network: Topology, said: str) -> Members:
    """Open the part of a network that the arguments ``group=`` and ``dead=`` describe.

    Raises
    ------
    TopologyError
        The arguments describe no part of this network.
    """
    group: list[int] | None = None
    nodes, links = list[int](), list[tuple[int, int]]()
    for word in filter(None, re.split(r"[:,]\s*(?=group|dead)", said)):
        name, _, value = word.partition("=")
        if name.strip() == "group":
            group = read_runs(network, value)
            continue
        for what in value.split("+"):
            ends = what.strip().split("-")
            if len(ends) > 2 or not all(map(is_whole, ends)):
                raise TopologyError(
                    f"{network.name}: {quoted(what)} cannot be dead: give numbers of nodes, and "
                    "links as U-V, joined by +."
                )
            numbers = tuple(map(int, ends))
            nodes += numbers if len(numbers) == 1 else ()
            links += [(numbers[0], numbers[1])] if len(numbers) == 2 else []
    return Members(network, group, nodes, links)


def _alive(network: Topology, name: str, dead: list[int], cut: list[tuple[int, int]]) -> Table:
    """Return the neighbours of all nodes by port, -1 for dead nodes and links, shape (N, ports)."""
    ends = network.neighbor(np.arange(network.size)[:, np.newaxis], np.arange(network.ports))
    if cut and not network.links:
        raise TopologyError(f"{name}: a network of busses has no links; only nodes can be dead.")
    for node in [*dead, *(node for pair in cut for node in pair)]:
        if node >= network.size:
            raise TopologyError(f"{name}: there is no node {node}, only 0..{network.size - 1}.")
    for u, v in cut:
        if v not in ends[u]:
            raise TopologyError(
                f"{network.name} has no link {u}-{v}; give the numbers of two neighbours."
            )
        # A dead link is dead in both directions, with all links parallel to it. Faults of one
        # direction are not modelled.
        ends[u, ends[u] == v] = ends[v, ends[v] == u] = -1
    ends[dead] = -1
    ends[np.isin(ends, dead)] = -1
    return ends


__all__ = ["Members", "open_part", "read_runs", "runs"]
