"""The memory that programs need, told before a machine is made.

Each function counts the arrays that its program holds at the moment when it holds most, on the rank
that hosts most processors. Tables name the arrays (`columns`), so that shapes and dtypes give the
bytes; temporary arrays of NumPy are among them. Python, MPI and compiled code are not counted. The
length of the schedule, or the diameter, gives how many processors send at once. A program is
imported where its need is asked for: a run imports its own program alone.

`tests/serial/programs/test_needs.py` holds them to what runs take.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from sys import getsizeof
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from mpinet.base.arrays import Ints
from mpinet.machine.step import record_type
from mpinet.machine.stepping import PORTS_PER_WORD
from mpinet.networks.routing import ARRIVED

if TYPE_CHECKING:
    from mpinet.machine.model import PortModel
    from mpinet.networks.schedule import Schedule
    from mpinet.networks.topology import Topology
    from mpinet.programs.operators.operator import Operator
    from mpinet.programs.schedules.schedule import PassSchedule


def columns(names: str, dtype: DTypeLike = np.int64) -> int:
    """Return the bytes of a row of arrays of these names."""
    return len(names.split()) * np.dtype(dtype).itemsize


BITS = 8
"""Bits of a byte."""

WORD = columns("number")
"""Bytes of a number, and of a word of a message."""

SENT = columns("slot node port position target arrival")
"""Arrays of a message on its sender's rank: the send, and what the step looks up."""

RECEIVED = columns("by_port order receiver port")
"""Arrays of a message on its receiver's rank, in order."""

MESSAGE = SENT + RECEIVED
"""Arrays of a message of a step, without its content."""

AWAY = record_type(np.dtype(np.int64), ()).itemsize
"""Record of a message on its way to another rank, and of one that comes from there."""

ROWS = columns("step sender receiver chunk")
"""Columns of a timetable."""

TREE_NODE = columns("node surveyed up own waiting held ready")
"""Arrays of a node of a tree that is made on a machine of its own."""

TREE_CHILD = columns("slot port depth key by_key")
"""Arrays of a child while the tree is made."""

HALF = 0.5
"""The largest share of processors that send at once where each has one to tell."""

SAMPLE = 1024
"""Nodes that are asked where their ports lead."""

SAMPLED_PORTS = 1 << 12
"""Ports of each of them that are followed, where there are more."""


@dataclass(frozen=True)
class LargestShare:
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
    def even(cls, network: Topology, ranks: int) -> LargestShare:
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
        # Blocks are contiguous, so the quotient is the rank. This asks rules of a sample instead of
        # all nodes, before any array is made.
        away = (others // self.hosted != nodes[:, np.newaxis] // self.hosted) & (others >= 0)
        share_of_ports = away.shape[1] / max(1, self.network.ports) or 1
        return float(away.sum() / len(nodes) / share_of_ports)

    @property
    def crossed(self) -> float:
        """The share of nodes that send to other ranks where all send on ports chosen alike."""
        return min(1.0, self.crossing)

    @property
    def scratch(self) -> int:
        """Bytes of a node that a machine's steps hold: marks of its ports, and its sends."""
        words = -(-self.network.ports // PORTS_PER_WORD)
        return (words + 1) * columns("count", np.uint32)

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


def flood(share: LargestShare) -> int:
    """Numbers and two marks of every processor; nodes and receivers of the largest wave.

    Receivers on other ranks are listed, with their ranks, and sorted by these.
    """
    node = columns("number") + columns("informed received", bool)
    wave = min(0.45, 3.2 / diameter_of(share.network))
    # Room for receivers is bounded by the rank's processors: a beep that reaches a node twice is
    # written once.
    near = min(1.0, wave * share.ports) * columns("near")
    fresh = columns("sent came before slot position place new ordered")
    away = columns("receiver rank order record arrived slot") * share.crossing
    return round(share.hosted * (node + near + wave * (fresh + away)))


def broadcast(share: LargestShare, algorithm: str, schedule: Schedule | None) -> int:
    """Processors' numbers, what they hold and since when; the largest step's sends."""
    from mpinet.programs.broadcast import BEST, FLOODING, PASSES
    from mpinet.programs.passes import sees_whole

    if schedule is not None:
        node = columns("number held") + columns("since", np.int32) + share.scratch
        # Content and port of the step before are still held while the next step is made.
        sent = columns("slot port node target arrival content order")
        each = sent + columns("port content") + AWAY * share.crossed
        return round(share.hosted * (node + each * _sending(share, schedule)))
    if algorithm == PASSES or (algorithm == BEST and sees_whole(share.network)):
        return _timetable(share)
    if algorithm == FLOODING:
        node = columns("number held since fresh informed")
        return round(share.hosted * (node + columns("content", np.int32) * 3 + SENT * share.ports))
    return _along_tree(share) + _table(share.network)


def _along_tree(share: LargestShare) -> int:
    """Return the bytes of a tree in the making: half of its nodes are leaves, which send first."""
    leaf = HALF * (MESSAGE + columns("depth"))
    return round(share.hosted * (TREE_NODE + TREE_CHILD + 2 * share.scratch + leaf))


def reduce(share: LargestShare, algorithm: str, schedule: Schedule | None) -> int:
    """The broadcast, with step and port of every processor; then the items, and sends and turns.

    In the end the root's rank makes some items anew, to check the result.
    """
    from mpinet.programs.broadcast import PASSES
    from mpinet.programs.reduce import CHUNK

    turns = columns("since port item")
    if schedule is None:
        before = _timetable(share) if algorithm == PASSES else _table(share.network)
        return max(before, _along_tree(share) + share.hosted * turns)
    node = columns("number beside held item sum") + turns + 2 * share.scratch
    checking = share.hosted * node + min(share.network.hosts, CHUNK) * columns("node item sum")
    each = MESSAGE + columns("sum")
    order = columns("slot first")
    return max(checking, round(share.hosted * (node + order + each * _sending(share, schedule))))


def _sending(share: LargestShare, schedule: Schedule) -> float:
    """The share of a rank's processors that send in the busiest step: in the last phase, alike.

    Where their receivers are on other ranks, all of the senders are on some of the ranks.
    """
    if schedule.phases:
        lengths = [length for _, length in schedule.phases if length > 0]
        sending = min(HALF, len(lengths) / max(1, schedule.steps))
    else:
        sending = min(HALF, 3.2 / diameter_of(share.network))
    return sending * (1 + share.crossed)


def _timetable(share: LargestShare) -> int:
    """Return the bytes of the whole network on each rank: neighbours and a pass, or its rows.

    Then a rank puts its processors' rows in order.
    """
    size = share.network.size
    found = columns("informed parent since order key place tried free")
    passes = size * (ROWS + found + columns("neighbor", np.int32) * share.ports)
    own = ROWS + columns("index slot port position key place number held") + 2 * share.scratch
    return round(max(passes, ROWS * size + own * share.hosted)) + _table(share.network)


def _table(network: Topology) -> int:
    """The table of shortest paths, on every rank, that a network without routings asks for."""
    from mpinet.networks.shortest import MAX_ENTRIES

    entries = network.size**2
    asked = not _has_routings(network) and entries <= MAX_ENTRIES
    return entries * columns("port", np.int32) if asked else 0


def _has_routings(network: Topology) -> bool:
    """Tell if the network's family has routings of its own, which need no table."""
    from mpinet.networks.topology import Topology

    return type(network).routings is not Topology.routings


LABELS = columns("first branch depth")
"""A message that numbers a subtree."""

SAMPLED_PARENTS = 128
"""Nodes that are asked for their parent in a tree."""

ON_A_TREE = columns("node surveyed up label depth turn key port")
"""Arrays of a processor while items go along the tree."""

AT_ROOT = {
    "scatter": (0, 4 * columns("label content port")),
    "gather": (columns("start by_start") + columns("node item"), 3 * columns("node source item")),
}
"""On the root's rank, bytes more of a processor, and of an item: the queue, its order and two
copies; or what came, with what is compared."""


def from_or_to_one(share: LargestShare, algorithm: str, command: str, root: int) -> int:
    """The tree, labels and turns of its nodes; every item at the root."""
    from mpinet.programs.routed import ROUTED

    if algorithm == ROUTED:
        return share.hosted * ON_A_TREE + share.network.hosts * ITEM
    more, item = AT_ROOT[command]
    at_root = share.hosted * (ON_A_TREE + share.scratch + more) + share.network.hosts * item
    prepared = _prepared(share, _children_at_root(share, root))
    return max(prepared, at_root) + _table(share.network)


def _prepared(share: LargestShare, children: float) -> int:
    """Return the bytes of a tree's preparation on a rank whose nodes have so many children.

    All nodes send to their parents when the tree is made. Then the largest level gets labels.
    """
    level = 1 - 1 / max(1.0, share.network.size ** (1 / diameter_of(share.network)))
    node = columns("node surveyed up children begin depth branch first") + 2 * share.scratch
    made = MESSAGE + columns("sender slot port key")
    labelled = MESSAGE + 3 * LABELS + columns("slot within place branch depth")
    child = max(made, columns("parent port first offset") + level * labelled)
    return round(share.hosted * node + children * child)


def _children_at_root(share: LargestShare, root: int) -> float:
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


def at_root(share: LargestShare, algorithm: str, command: str, root: int) -> int:
    """Return the part of `from_or_to_one` that no rank needs but the root's."""
    from mpinet.programs.routed import ROUTED

    routed = algorithm == ROUTED
    elsewhere = share.hosted * ON_A_TREE if routed else _prepared(share, share.hosted)
    whole = from_or_to_one(share, algorithm, command, root)
    return max(0, whole - _table(share.network) - elsewhere)


ROW = columns("place number header content")
"""Row of a message in the router, whose routing has a header of one word."""

ITEM = 4 * ROW + columns("source target drawn number order step since rank place content")
"""Arrays of an item that the router carries: rows that grow, then those that arrived, in order."""

TAKEN_IN = columns("slot source place key order first")
"""Arrays of an item that is taken into a set of items."""

CROSSED = 2 * ROW + columns("rank order")
"""Arrays of an item that other ranks sent."""


def exchange(share: LargestShare) -> int:
    """Every pair's item."""
    return share.part(share.network.hosts * (share.network.hosts - 1)) * ITEM


def gossip(share: LargestShare, algorithm: str) -> int:
    """A bit a pair, twice when they are counted; all items of a tree's nodes, or of a timetable."""
    from mpinet.programs.fewest import MOST_MOVED, TRANSLATIONS
    from mpinet.programs.gossip import CYCLE, TREE
    from mpinet.programs.routed import ROUTED

    size, pairs = share.network.size, share.hosted * share.network.hosts
    if algorithm == TRANSLATIONS:
        images = columns("node port image step source order") * size * share.network.ports
        return images + (size <= MOST_MOVED) * columns("chunk") * pairs
    bits = 2 * pairs // BITS + share.hosted * (MESSAGE + columns("chunk content sent place held"))
    if algorithm == TREE:
        return bits + columns("chunk came_by", np.int32) * pairs
    if algorithm == ROUTED:
        item = ITEM + TAKEN_IN + CROSSED * share.crossed
        return bits + round(share.part(share.network.hosts**2) * item)
    if algorithm == CYCLE:
        return bits
    own = columns("index slot port chunk")
    return bits + own * pairs + size * share.network.hosts * 2 * ROWS


def pipeline(share: LargestShare, items: int, twice: bool, along: PortModel | None) -> int:
    """A row of the timetable for every item and node, on every rank; then a rank orders its own.

    With few items it is the network's arcs, and a search over them, that take most; or the messages
    of an exchange along dimensions, as many as its search counts.

    Parameters
    ----------
    share : LargestShare
        What a rank has.
    items : int
        All different items, on the whole machine.
    twice : bool
        Whether they go to the nodes and come from them, as of allreduce.
    along : PortModel, optional
        The machine's, where a search for an exchange along dimensions is made.
    """
    size, here = share.network.size, share.hosted / share.network.size
    found = 3 * ROWS + columns("channel item order")
    # Rows of sums are kept whole, since they tell which messages add.
    own = ROWS * twice + columns("index slot port chunk")
    searched = 3 * ROWS + columns("channel item order key place since")
    each = max(searched, found + own * here)
    arc = columns("tail head port channel reverse order key place load used since parent")
    node = 10 * ROWS
    spread = round(size * max(items * each * (1 + twice), node + arc * share.ports))
    return spread if along is None else max(spread, _along_dimensions(share, items, along))


def _along_dimensions(share: LargestShare, items: int, model: PortModel) -> int:
    """Lines, messages and who is in each, as the search lists them; then as rows that are sent.

    The search holds Python's objects: a set of contributors is an integer of a bit a node. Of
    several items a step is made for one after the other.
    """
    from mpinet.programs.pipelines.dimensions import extent

    network = share.network
    dimensions, messages = extent(network, model.send == 1, diameter_of(network))
    number, contributors = getsizeof(network.size), getsizeof(1 << network.size)
    arc = getsizeof((0,) * 3) + 3 * number
    line = getsizeof({0: 0}) + getsizeof([0]) + getsizeof((0,) * 3) + number
    # A dictionary keeps about half of its places free.
    entry = arc + 2 * columns("hash key value") + columns("place")
    lines = line * network.size * dimensions + entry * network.most_wired
    listed = getsizeof((0,) * 5) + getsizeof((0,) * 3) + 2 * (number + columns("place"))
    sets = network.size / BITS
    own = 4 * ROWS + columns("index slot port key place") + 2 * sets
    sent = 2 * ROWS + columns("since add channel") + own * share.hosted / network.size
    return round(max(lines + messages * (listed + contributors), messages * items * sent))


def route(share: LargestShare, messages: int, words: int, drawn: bool, metered: bool) -> int:
    """Rows of messages under way, with their numbers; ports used, who waits, and loads.

    Parameters
    ----------
    share : LargestShare
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
    number = columns("number", np.uint32 if drawn and messages < 2**32 else np.int64)
    metering = columns("load", np.uint32) + columns("busiest", bool) / 2
    loads = metering * share.network.ports if metered else 0
    row = columns("place number") + words * WORD
    return round(share.hosted * (share.scratch + loads) + share.part(messages) * (row + number))


def ascend(share: LargestShare, operator: Operator, schedule: type[PassSchedule] | None) -> int:
    """States, with what comes and what is made of them; unless it reduces, all that is expected."""
    from mpinet.programs.ascend import CHUNK
    from mpinet.programs.operators.reduction import Reduction
    from mpinet.programs.schedules.exchange import DimensionExchange

    width = operator.dtype.itemsize
    on_the_way = _cut(share) if schedule is DimensionExchange else ON_THE_WAY
    if isinstance(operator, Reduction):
        running = share.hosted * (WORD + 2 * width + on_the_way)
        return max(running, share.hosted * WORD + min(share.hosted, CHUNK) * 3 * width)
    # `Operator.expected` takes the inputs of the whole machine. So each rank needs memory for all
    # inputs and all expected values.
    expected = share.network.hosts * 2 * width
    compared = share.hosted * (WORD + 3 * width + width // 2)
    return max(expected + compared, share.hosted * (WORD + 3 * width + on_the_way))


ON_THE_WAY = 2 * (MESSAGE + columns("slot target"))
"""Arrays of a state that a schedule sends over several links, or routes: two messages at once."""


def _cut(share: LargestShare) -> int:
    """Bytes a processor of pairs of which a part is on other ranks: no rank has whole subcubes."""
    cut = share.scattered or share.network.size % share.ranks
    return MESSAGE + columns("rank order state partner") if cut and share.ranks > 1 else 0


def embed(share: LargestShare, guest: Topology, operator: Operator | None) -> int:
    """A message over every link of the guest, with what comes from others; or its states."""
    if operator is not None:
        return ascend(share, operator, None)
    compared = 2 * columns("node other") + columns("node port other order")
    return round(share.part(guest.most_wired) * (ITEM + compared + CROSSED * share.crossed))


def circulate(share: LargestShare, schedule: type[PassSchedule]) -> int:
    """Items with the labels that they have gathered, twice when a pair changes places."""
    from mpinet.programs.circulate import ITEM as CARRIED
    from mpinet.programs.schedules.exchange import DimensionExchange

    node = columns("number index partner") + CARRIED.itemsize
    labels = 2 * CARRIED.itemsize
    if schedule is DimensionExchange:
        return share.hosted * (node + max(labels, _cut(share)))
    return share.hosted * (node + labels + ON_THE_WAY)
