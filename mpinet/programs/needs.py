"""The memory that programs need, told before a machine is made.

Each function counts the arrays that its program holds at the moment when it holds most, in bytes of
the rank that hosts most processors: those that grow with its processors, with their ports, with the
messages, and those of the whole network, which every rank has. What NumPy and the kernels hold for
a moment is in the numbers as it was measured; Python, MPI and compiled code are not. Where how many
processors act at once decides, it is taken from the length of the schedule or from the diameter.
Programs are imported where they are asked for: a run imports its own alone.

`tests/serial/programs/test_needs.py` holds them to what runs take.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.networks.routing import ARRIVED

if TYPE_CHECKING:
    from mpinet.machine.model import PortModel
    from mpinet.networks.schedule import Schedule
    from mpinet.networks.topology import Topology
    from mpinet.programs.operators.operator import Operator
    from mpinet.programs.schedules.schedule import PassSchedule


WORD = 8
"""Bytes of a number, and of a word of a message."""

HALF = 0.5
"""The largest share of processors that send at once where each has one to tell."""

SAMPLE = 1024
"""Nodes that are asked where their ports lead."""

SAMPLED_PORTS = 1 << 12
"""Ports of each of them that are followed, where there are more."""


@dataclass(frozen=True)
class Share:
    """The largest part of a network that a rank has."""

    network: Topology
    """The network."""
    ranks: int
    """Number of ranks."""
    hosted: int
    """Processors and switches on the rank that has most."""
    scattered: bool = False
    """True if neighbours are on one rank only by chance."""

    @classmethod
    def even(cls, network: Topology, ranks: int) -> Share:
        """Return the share of a rank where ranks have as many as each other."""
        return cls(network, ranks, -(-network.size // ranks))

    @property
    def ports(self) -> float:
        """Wired ports of a node, on average."""
        return self.network.most_wired / max(1, self.network.size)

    @property
    def crossing(self) -> float:
        """Ports of a node that lead to other ranks, on average; by a sample of the nodes."""
        if self.ranks == 1:
            return 0.0
        if self.scattered:
            return self.ports * (1 - 1 / self.ranks)
        nodes, others = _sample(self.network)
        away = (others // self.hosted != nodes[:, np.newaxis] // self.hosted) & (others >= 0)
        share_of_ports = away.shape[1] / max(1, self.network.ports) or 1
        return float(away.sum() / len(nodes) / share_of_ports)

    @property
    def crossed(self) -> float:
        """The share of nodes that send to other ranks where all send on ports chosen alike."""
        return min(1.0, self.crossing)

    def part(self, total: int) -> int:
        """Return, of what the processors have alike, the part on the rank that hosts most."""
        return -(-total * self.hosted // max(1, self.network.size))


def diameter_of(network: Topology) -> float:
    """Return the stated diameter; else the least that the degree allows, about."""
    stated = network.stated.get("diameter")
    if isinstance(stated, int | float) and stated > 0:
        return float(stated)
    degree = network.most_wired / max(1, network.size)
    return max(1.0, math.log(max(2, network.size), max(2.0, degree - 1)))


@lru_cache(maxsize=4)
def _sample(network: Topology) -> tuple[Ints, Ints]:
    """Nodes from all parts of a network, and the neighbours of each, on some of many ports."""
    nodes = np.unique(np.linspace(0, network.size - 1, min(SAMPLE, network.size)).astype(np.int64))
    if network.ports > SAMPLED_PORTS:
        ports = np.linspace(0, network.ports - 1, SAMPLED_PORTS).astype(np.int64)
    else:
        ports = np.arange(network.ports)
    return nodes, network.neighbor(nodes[:, np.newaxis], ports)


def flood(share: Share) -> int:
    """Numbers and two marks of every processor; nodes and receivers of the largest wave.

    Receivers on other ranks are listed, with their ranks, and sorted by these.
    """
    wave = min(0.45, 3.2 / diameter_of(share.network))
    return round(share.hosted * (WORD + 2 + wave * (100 + 48 * share.crossing)))


def broadcast(share: Share, algorithm: str, schedule: Schedule | None) -> int:
    """Processors' numbers, what they hold and since when; the largest step's sends."""
    from mpinet.programs.broadcast import BEST, FLOODING, PASSES
    from mpinet.programs.passes import sees_whole

    if schedule is not None:
        each = 84 + 24 * share.crossed  # records on their way to other ranks, and from there
        return round(share.hosted * (29 + each * _sending(share, schedule)))
    if algorithm == PASSES or (algorithm == BEST and sees_whole(share.network)):
        return _timetable(share)
    if algorithm == FLOODING:
        return round(share.hosted * (40 + 60 * share.ports))
    return round(share.hosted * ALONG_TREE) + _table(share.network)


def reduce(share: Share, algorithm: str, schedule: Schedule | None) -> int:
    """The broadcast, with step and port of every processor; then the items, and sends and turns.

    In the end the root's rank makes some items anew, to check the result.
    """
    from mpinet.programs.broadcast import PASSES

    if schedule is None:
        before = _timetable(share) if algorithm == PASSES else _table(share.network)
        return max(before, share.hosted * 185)
    checking = share.hosted * 66 + min(share.network.hosts, CHECKED) * 3 * WORD
    return max(checking, round(share.hosted * (100 + 88 * _sending(share, schedule))))


def _sending(share: Share, schedule: Schedule) -> float:
    """The share of a rank's processors that send in the busiest step: in the last phase, alike.

    Where their receivers are on other ranks, all of the senders are on some of the ranks.
    """
    if schedule.phases:
        lengths = [length for _, length in schedule.phases if length > 0]
        sending = min(HALF, len(lengths) / max(1, schedule.steps))
    else:
        sending = min(HALF, 3.2 / diameter_of(share.network))
    return sending * (1 + share.crossed)


def _timetable(share: Share) -> int:
    """Return the bytes of the whole network on each rank: neighbours and a pass, or its rows.

    Then a rank puts its processors' rows in order.
    """
    size = share.network.size
    passes = size * (98 + 4 * share.ports)
    return round(max(passes, 32 * size + 114 * share.hosted)) + _table(share.network)


def _table(network: Topology) -> int:
    """The table of shortest paths, on every rank, that a network without routings asks for."""
    from mpinet.networks.shortest import MAX_ENTRIES

    entries = network.size**2
    return 0 if _has_routings(network) or entries > MAX_ENTRIES else 4 * entries


def _has_routings(network: Topology) -> bool:
    """Tell if the network's family has routings of its own, which need no table."""
    from mpinet.networks.topology import Topology

    return type(network).routings is not Topology.routings


ALONG_TREE = 160
"""Bytes a processor: numbers, parents, children, depths and their orders, and a step's sends."""

PREPARED, CHILD, LEAF = 78, 34, 171
"""Bytes where items go to or from the root: of a node with labels, depths, turns and branches, of
a child of it, and of a leaf, as all leaves send at once when the tree is prepared."""

LEAST_CHILD = 117
"""Bytes of a child while the tree is made, when all nodes send at once to their parents."""

SAMPLED_PARENTS = 128
"""Nodes that are asked for their parent in a tree."""

AT_ROOT = {"scatter": (77, 100), "gather": (97, 75)}
"""Bytes, on the root's rank, a processor while items go, and an item: their queue, or what came."""


def from_or_to_one(share: Share, algorithm: str, command: str, root: int) -> int:
    """The tree, labels and turns of its nodes; every item at the root."""
    from mpinet.programs.exchange import ROUTED

    if algorithm == ROUTED:
        return share.hosted * 60 + share.network.hosts * ITEM
    here, item = AT_ROOT[command]
    at_root = share.hosted * here + share.network.hosts * item
    prepared = _prepared(share, _children_at_root(share, root))
    return max(prepared, at_root) + _table(share.network)


def _prepared(share: Share, children: float) -> int:
    """Return the bytes of a tree's preparation on a rank whose nodes have so many children."""
    of_each = max(1.0, share.network.size ** (1 / diameter_of(share.network)))
    child = max(LEAST_CHILD, CHILD + LEAF * (1 - 1 / of_each))
    return round(share.hosted * PREPARED + children * child)


def _children_at_root(share: Share, root: int) -> float:
    """Return how many nodes have their parent on the root's rank, by a sample; one each at least.

    Parents are first hops towards the root. Where these come from a table all ranks count alike.
    """
    if share.ranks == 1 or share.scattered or not _has_routings(share.network):
        return share.hosted
    there = _some_parents(share.network, root) // share.hosted == root // share.hosted
    return max(share.hosted, share.network.size * float(there.mean()))


@lru_cache(maxsize=4)
def _some_parents(network: Topology, root: int) -> Ints:
    """Return the first hops towards the root from nodes in all parts of a network."""
    routing = network.routing()
    parents = []
    for node in np.linspace(0, network.size - 1, min(SAMPLED_PARENTS, network.size)).astype(int):
        header = np.zeros(routing.words, np.int64)
        routing.start(node, root, header, routing.params)
        port = routing.decide(node, header, routing.params)
        parents.append(root if port == ARRIVED else network.neighbor(node, port))
    return np.array(parents, np.int64)


def at_root(share: Share, algorithm: str, command: str, root: int) -> int:
    """Return the part of `from_or_to_one` that no rank needs but the root's."""
    from mpinet.programs.exchange import ROUTED

    elsewhere = share.hosted * 60 if algorithm == ROUTED else _prepared(share, share.hosted)
    whole = from_or_to_one(share, algorithm, command, root)
    return max(0, whole - _table(share.network) - elsewhere)


ITEM = 210
"""Bytes of an item that the router carries: source, target, number, contents, row, arrival."""

TAKEN_IN, CROSSED = 48, 76
"""Bytes more of an item that is taken into a set of items, and of one that other ranks sent."""


def exchange(share: Share) -> int:
    """Every pair's item."""
    return share.part(share.network.hosts * (share.network.hosts - 1)) * ITEM


def gossip(share: Share, algorithm: str) -> int:
    """A bit a pair, twice when they are counted; all items of a tree's nodes, or of a timetable."""
    from mpinet.programs.exchange import ROUTED
    from mpinet.programs.fewest import MOST_MOVED, TRANSLATIONS
    from mpinet.programs.gossip import CYCLE, TREE

    pairs = share.hosted * share.network.hosts
    if algorithm == TRANSLATIONS:
        images = 6 * WORD * share.network.size * share.network.ports
        return images + (share.network.size <= MOST_MOVED) * (3 * WORD * pairs)
    bits = pairs // 4 + share.hosted * 120
    if algorithm == TREE:
        return bits + 20 * pairs
    if algorithm == ROUTED:
        item = ITEM + TAKEN_IN + CROSSED * share.crossed
        return bits + round(share.part(share.network.hosts**2) * item)
    if algorithm == CYCLE:
        return bits
    return bits + WORD * pairs + share.network.size * share.network.hosts * 64


def pipeline(share: Share, items: int, twice: bool, along: PortModel | None) -> int:
    """A row of the timetable for every item and node, on every rank; then a rank orders its own.

    With few items it is the network's arcs, and a search over them, that take most; or the messages
    of an exchange along dimensions, as many as its search counts.

    Parameters
    ----------
    share : Share
        What a rank has.
    items : int
        All different items, on the whole machine.
    twice : bool
        Whether they go to the nodes and come from them, as of allreduce.
    along : PortModel, optional
        The machine's, where a search for an exchange along dimensions is made.
    """
    each = max(143.0, 110 + 75 * share.hosted / share.network.size)
    searched = 340 + 100 * share.ports
    spread = round(share.network.size * max(items * each * (1 + twice), searched))
    return spread if along is None else max(spread, _along_dimensions(share, items, along))


def _along_dimensions(share: Share, items: int, model: PortModel) -> int:
    """Lines, messages and who is in each, as the search lists them; then as rows that are sent.

    Of several items a step is made for one after the other.
    """
    from mpinet.programs.pipelines.dimensions import extent

    network = share.network
    dimensions, messages = extent(network, model.send == 1, diameter_of(network))
    lines = 350 * network.size * dimensions + 200 * network.most_wired
    sets = network.size / 8  # bytes of a set of contributors; of numbers in Python a bit more
    listed = lines + messages * (240 + 1.07 * sets)
    sent = messages * items * (84 + (172 + 2 * sets) * share.hosted / network.size)
    return round(max(listed, sent))


def route(share: Share, messages: int, words: int, drawn: bool, metered: bool) -> int:
    """Rows of messages under way, with their numbers; ports used, who waits, and loads.

    Parameters
    ----------
    share : Share
        What a rank has.
    messages : int
        On the whole machine.
    words : int
        Of the routing's header.
    drawn : bool
        Whether sources are drawn, so that a rank has to remember which messages are its own.
    metered : bool
        Whether loads are metered.
    """
    from mpinet.machine.stepping import PORTS_PER_WORD

    here = share.part(messages)
    number = 4 if drawn and messages < 2**32 else WORD
    marks = 4 * -(-share.network.ports // PORTS_PER_WORD) + 4
    loads = 4.5 * share.network.ports if metered else 0
    return round(share.hosted * (marks + loads) + here * (WORD * (2 + words) + number))


def ascend(share: Share, operator: Operator, schedule: type[PassSchedule] | None) -> int:
    """States, with what comes and what is made of them; unless it reduces, all that is expected."""
    from mpinet.programs.operators.reduction import Reduction
    from mpinet.programs.schedules.exchange import DimensionExchange

    width = operator.dtype.itemsize
    on_the_way = _cut(share) if schedule is DimensionExchange else ON_THE_WAY
    if isinstance(operator, Reduction):
        running = share.hosted * (WORD + 2 * width + on_the_way)
        return max(running, share.hosted * WORD + min(share.hosted, CHECKED) * 3 * width)
    expected = round(share.network.hosts * 2.75 * width)
    here = share.hosted * (WORD + 3 * width)
    return here + max(expected, share.hosted * on_the_way)


CHECKED = 2**16
"""States that are reduced at a time to check the result."""


def _cut(share: Share) -> int:
    """Bytes a processor of pairs of which a part is on other ranks: no rank has whole subcubes."""
    cut = share.scattered or share.network.size % share.ranks
    return CUT if cut and share.ranks > 1 else 0


CUT = 112
"""Bytes a processor: who sends what to which rank, and the states that come."""


ON_THE_WAY = 240
"""Bytes a processor of states that a schedule sends over several links, or routes."""


def embed(share: Share, guest: Topology, operator: Operator | None) -> int:
    """A message over every link of the guest, with what comes from others; or its states."""
    if operator is None:
        return round(share.part(guest.most_wired) * (ITEM + 64 + 72 * share.crossed))
    return ascend(share, operator, None)


def circulate(share: Share, schedule: type[PassSchedule]) -> int:
    """Items with the labels that they have gathered, twice when a pair changes places."""
    from mpinet.programs.schedules.exchange import DimensionExchange

    if schedule is DimensionExchange:
        return share.hosted * (CIRCULATING + max(LABELLING, _cut(share)))
    return share.hosted * (CIRCULATING + LABELLING + ON_THE_WAY)


CIRCULATING = 42
"""Bytes per processor: number, index, item."""

LABELLING = 35
"""Bytes per processor of labels while they are added; by then no exchange is under way."""
