"""Estimates of the memory that programs need, before a machine is made.

Each function counts the arrays held by its program at the moment of largest use, on the rank with
the most processors. Tables name the arrays (`columns`), so shapes and dtypes give the bytes.
Temporary arrays of NumPy are included. Python, MPI and compiled code are not counted. The number of
simultaneous senders follows from the length of the schedule, or from the diameter. A function
imports its program when called, so a run imports only its own program.

`tests/serial/programs/test_needs.py` compares the estimates with real runs.
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
    """Return the bytes of one row of arrays with these names."""
    return len(names.split()) * np.dtype(dtype).itemsize


BITS = 8
"""Number of bits per byte."""

WORD = columns("number")
"""Bytes of a number, and of a word of a message."""

SENT = columns("slot node port position target arrival")
"""Bytes of a message on its sender's rank: the send, and values looked up by the step."""

RECEIVED = columns("by_port order receiver port")
"""Bytes of a message on its receiver's rank, in order."""

MESSAGE = SENT + RECEIVED
"""Bytes of a message of a step, without its content."""

AWAY = record_type(np.dtype(np.int64), ()).itemsize
"""Bytes of the record of a message to or from another rank."""

ROWS = columns("step sender receiver chunk")
"""Bytes of a timetable's row."""

TREE_NODE = columns("node surveyed up own waiting held ready")
"""Bytes per node of a tree made on a machine of its own."""

TREE_CHILD = columns("slot port depth key by_key")
"""Bytes per child while the tree is made."""

HALF = 0.5
"""Largest share of processors that send at once if each has one receiver."""

SAMPLE = 1024
"""Number of nodes sampled for the neighbours at their ports."""

SAMPLED_PORTS = 1 << 12
"""Maximum number of ports sampled per node."""


@dataclass(frozen=True)
class LargestShare:
    """The largest part of a network on one rank."""

    network: Topology
    """The network."""
    ranks: int
    """Number of ranks."""
    hosted: int
    """Number of processors and switches on the rank with most of them."""
    scattered: bool = False
    """True if neighbours are on the same rank only by chance."""

    @classmethod
    def even(cls, network: Topology, ranks: int) -> LargestShare:
        """Return the share of a rank for an even distribution over all ranks."""
        return cls(network, ranks, -(-network.size // ranks))

    @property
    def ports(self) -> float:
        """Average number of wired ports per node."""
        return self.network.most_wired / max(1, self.network.size)

    @property
    def crossing(self) -> float:
        """Average number of ports per node that lead to other ranks, by a sample of the nodes."""
        if self.ranks == 1:
            return 0.0
        if self.scattered:
            return self.ports * (1 - 1 / self.ranks)
        nodes, others = _sample(self.network)
        # Blocks are contiguous, so the quotient is the rank. The rules of a sample are evaluated
        # instead of all nodes, before any array is made.
        away = (others // self.hosted != nodes[:, np.newaxis] // self.hosted) & (others >= 0)
        share_of_ports = away.shape[1] / max(1, self.network.ports) or 1
        return float(away.sum() / len(nodes) / share_of_ports)

    @property
    def crossed(self) -> float:
        """Share of nodes that send to other ranks if all send on ports chosen by the same rule."""
        return min(1.0, self.crossing)

    @property
    def scratch(self) -> int:
        """Bytes per node for a machine's steps: marks of its ports, and its sends."""
        words = -(-self.network.ports // PORTS_PER_WORD)
        return (words + 1) * columns("count", np.uint32)

    def part(self, total: int) -> int:
        """Return the part of an evenly distributed total on the rank with most processors."""
        return -(-total * self.hosted // max(1, self.network.size))


def diameter_of(network: Topology) -> float:
    """Return the stated diameter, or an estimate of the smallest diameter for the degree."""
    stated = network.stated.get("diameter")
    if isinstance(stated, int | float) and stated > 0:
        return float(stated)
    degree = network.most_wired / max(1, network.size)
    return max(1.0, math.log(max(2, network.size), max(2.0, degree - 1)))


@lru_cache(maxsize=4)
def _sample(network: Topology) -> tuple[Ints, Ints]:
    """Return nodes from all parts of a network, and their neighbours on a sample of ports."""
    nodes = np.unique(np.linspace(0, network.size - 1, min(SAMPLE, network.size)).astype(np.int64))
    if network.ports > SAMPLED_PORTS:
        ports = np.linspace(0, network.ports - 1, SAMPLED_PORTS).astype(np.int64)
    else:
        ports = np.arange(network.ports)
    return nodes, network.neighbor(nodes[:, np.newaxis], ports)


def flood(share: LargestShare) -> int:
    """Return the memory of a flood on a rank, in bytes.

    Counted are a number and two marks per processor, and the largest wave. Receivers on other ranks
    are listed with their ranks, and sorted by rank.
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
    """Return the memory of a broadcast on a rank, in bytes.

    Counted are content and step per processor, and the sends of the busiest step.
    """
    from mpinet.programs.broadcast import BEST, FLOODING, PASSES
    from mpinet.programs.passes import sees_whole

    if schedule is not None:
        node = columns("number held") + columns("since", np.int32) + share.scratch
        # Content and port of the previous step are still held while the next step is made.
        sent = columns("slot port node target arrival content order")
        each = sent + columns("port content") + AWAY * share.crossed
        return round(share.hosted * (node + each * _sending(share, schedule)))
    if algorithm == PASSES or (algorithm == BEST and sees_whole(share.network)):
        return _timetable(share)
    if algorithm == FLOODING:
        node = columns("number held since fresh informed")
        return round(share.hosted * (node + columns("content", np.int32) * 3 + SENT * share.ports))
    return _along_tree(share) + _table(share.network)


def multicast(share: LargestShare) -> int:
    """Return the memory of a multicast on a rank, in bytes: the parts of the row, and messages."""
    return share.hosted * (columns("number held first last") + MESSAGE)


def _along_tree(share: LargestShare) -> int:
    """Return the memory of building a tree, in bytes: half of its nodes send first."""
    leaf = HALF * (MESSAGE + columns("depth"))
    return round(share.hosted * (TREE_NODE + TREE_CHILD + 2 * share.scratch + leaf))


def reduce(share: LargestShare, algorithm: str, schedule: Schedule | None) -> int:
    """Return the memory of a reduction on a rank, in bytes.

    The broadcast stores step and port of every processor. Then the items are held, with sends and
    turns. In the end the root's rank computes some items anew, to check the result.
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
    """Return the share of a rank's processors that send in the busiest step.

    Sends of the last phase are assumed to be evenly distributed over its steps. If the receivers
    are on other ranks, all senders are concentrated on some of the ranks.
    """
    if schedule.phases:
        lengths = [length for _, length in schedule.phases if length > 0]
        sending = min(HALF, len(lengths) / max(1, schedule.steps))
    else:
        sending = min(HALF, 3.2 / diameter_of(share.network))
    return sending * (1 + share.crossed)


def _timetable(share: LargestShare) -> int:
    """Return the memory of a timetable's search and rows on a rank, in bytes.

    Each rank holds the whole network: neighbours and a pass, or all rows. Afterwards a rank orders
    its processors' rows.
    """
    size = share.network.size
    found = columns("informed parent since order key place tried free")
    passes = size * (ROWS + found + columns("neighbor", np.int32) * share.ports)
    own = ROWS + columns("index slot port position key place number held") + 2 * share.scratch
    return round(max(passes, ROWS * size + own * share.hosted)) + _table(share.network)


def _table(network: Topology) -> int:
    """Return the bytes of the table of shortest paths, used on networks without routings."""
    from mpinet.networks.shortest import MAX_ENTRIES

    entries = network.size**2
    asked = not _has_routings(network) and entries <= MAX_ENTRIES
    return entries * columns("port", np.int32) if asked else 0


def _has_routings(network: Topology) -> bool:
    """Return whether the network's family has its own routings, which need no table."""
    from mpinet.networks.topology import Topology

    return type(network).routings is not Topology.routings


LABELS = columns("first branch depth")
"""Bytes of a message that numbers a subtree."""

SAMPLED_PARENTS = 128
"""Number of nodes sampled for their parent in a tree."""

ON_A_TREE = columns("node surveyed up label depth turn key port")
"""Bytes per processor while items travel along the tree."""

AT_ROOT = {
    "scatter": (0, 4 * columns("label content port")),
    "gather": (columns("start by_start") + columns("node item"), 3 * columns("node source item")),
}
"""Additional bytes on the root's rank, per processor and per item: the queue, its order and two
copies; or the received items and the expected ones.
"""


def from_or_to_one(share: LargestShare, algorithm: str, collective: str, root: int) -> int:
    """Return the memory of a scatter or gather on a rank, in bytes.

    Counted are the tree with labels and turns of its nodes, and all items at the root.
    """
    from mpinet.programs.routed import ROUTED

    if algorithm == ROUTED:
        return share.hosted * ON_A_TREE + share.network.hosts * ITEM
    more, item = AT_ROOT[collective]
    at_root = share.hosted * (ON_A_TREE + share.scratch + more) + share.network.hosts * item
    prepared = _prepared(share, _children_at_root(share, root))
    return max(prepared, at_root) + _table(share.network)


def _prepared(share: LargestShare, children: float) -> int:
    """Return the memory of a tree's preparation, in bytes, with `children` children per node.

    All nodes send to their parents when the tree is made. Then the largest level gets labels.
    """
    level = 1 - 1 / max(1.0, share.network.size ** (1 / diameter_of(share.network)))
    node = columns("node surveyed up children begin depth branch first") + 2 * share.scratch
    made = MESSAGE + columns("sender slot port key")
    labelled = MESSAGE + 3 * LABELS + columns("slot within place branch depth")
    child = max(made, columns("parent port first offset") + level * labelled)
    return round(share.hosted * node + children * child)


def _children_at_root(share: LargestShare, root: int) -> float:
    """Return the number of nodes with parents on the root's rank; at least one per hosted node.

    A sample of nodes gives the number. Parents are first hops towards the root. If first hops come
    from a table, all ranks count alike.
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


def at_root(share: LargestShare, algorithm: str, collective: str, root: int) -> int:
    """Return the part of `from_or_to_one` needed by the root's rank only, in bytes."""
    from mpinet.programs.routed import ROUTED

    routed = algorithm == ROUTED
    elsewhere = share.hosted * ON_A_TREE if routed else _prepared(share, share.hosted)
    whole = from_or_to_one(share, algorithm, collective, root)
    return max(0, whole - _table(share.network) - elsewhere)


ROW = columns("place number header content")
"""Bytes of a message's row in the router, for a routing with a header of one word."""

ITEM = 4 * ROW + columns("source target drawn number order step since rank place content")
"""Bytes of an item carried by the router: growing rows, and arrived rows in order."""

TAKEN_IN = columns("slot source place key order first")
"""Bytes of an item during its insertion into a set of items."""

CROSSED = 2 * ROW + columns("rank order")
"""Bytes of an item received from another rank."""


def exchange(share: LargestShare) -> int:
    """Return the memory of a total exchange, in bytes: an item for every pair."""
    return share.part(share.network.hosts * (share.network.hosts - 1)) * ITEM


def gossip(share: LargestShare, algorithm: str) -> int:
    """Return the memory of a gossip on a rank, in bytes.

    A bit per pair is held, twice during the final count; and all items of a tree's nodes, or of a
    timetable.
    """
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
    """Return the memory of a pipeline on a rank, in bytes: a row for every item and node.

    Then each rank orders its own rows. With few items the network's arcs and a search over them
    need most, or the messages of an exchange along dimensions.

    Parameters
    ----------
    share : LargestShare
        Part of a rank.
    items : int
        Number of different items on the whole machine.
    twice : bool
        True if items travel to the nodes and back, as in allreduce.
    along : PortModel, optional
        Port model of a search for an exchange along dimensions, if one is made.
    """
    size, here = share.network.size, share.hosted / share.network.size
    found = 3 * ROWS + columns("channel item order")
    # Rows of sums are kept whole, since they state which messages add.
    own = ROWS * twice + columns("index slot port chunk")
    searched = 3 * ROWS + columns("channel item order key place since")
    each = max(searched, found + own * here)
    arc = columns("tail head port channel reverse order key place load used since parent")
    node = 10 * ROWS
    spread = round(size * max(items * each * (1 + twice), node + arc * share.ports))
    return spread if along is None else max(spread, _along_dimensions(share, items, along))


def _along_dimensions(share: LargestShare, items: int, model: PortModel) -> int:
    """Return the memory of an exchange along dimensions, in bytes: the search, then rows to send.

    The search holds lines, messages and sets of contributors as Python objects: a set is an integer
    with one bit per node. With several items, a step is repeated for each item.
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
    """Return the memory of routing on a rank, in bytes.

    Counted are rows of messages in flight, used ports, waiting messages, and loads.

    Parameters
    ----------
    share : LargestShare
        Part of a rank.
    messages : int
        Number of messages on the whole machine.
    words : int
        Words of the routing's header.
    drawn : bool
        True if sources are random, so a rank has to store the numbers of its own messages.
    metered : bool
        True if loads are metered.
    """
    number = columns("number", np.uint32 if drawn and messages < 2**32 else np.int64)
    metering = columns("load", np.uint32) + columns("busiest", bool) / 2
    loads = metering * share.network.ports if metered else 0
    row = columns("place number") + words * WORD
    return round(share.hosted * (share.scratch + loads) + share.part(messages) * (row + number))


def ascend(share: LargestShare, operator: Operator, schedule: type[PassSchedule] | None) -> int:
    """Return the memory of ASCEND or DESCEND on a rank, in bytes.

    Counted are states, received states, results, and expected values. A reduction needs no expected
    values.
    """
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
"""Bytes of a state sent over several links, or routed: two messages at once."""


def _cut(share: LargestShare) -> int:
    """Return the memory per processor, in bytes, for pairs split over two ranks.

    Pairs are split if no rank has whole subcubes.
    """
    cut = share.scattered or share.network.size % share.ranks
    return MESSAGE + columns("rank order state partner") if cut and share.ranks > 1 else 0


def embed(share: LargestShare, guest: Topology, operator: Operator | None) -> int:
    """Return the memory of an embedding, in bytes: a message per guest link, or its states."""
    if operator is not None:
        return ascend(share, operator, None)
    compared = 2 * columns("node other") + columns("node port other order")
    return round(share.part(guest.most_wired) * (ITEM + compared + CROSSED * share.crossed))


def circulate(share: LargestShare, schedule: type[PassSchedule]) -> int:
    """Return the memory of data circulation, in bytes: items with labels, twice in an exchange."""
    from mpinet.programs.circulate import ITEM as CARRIED
    from mpinet.programs.schedules.exchange import DimensionExchange

    node = columns("number index partner") + CARRIED.itemsize
    labels = 2 * CARRIED.itemsize
    if schedule is DimensionExchange:
        return share.hosted * (node + max(labels, _cut(share)))
    return share.hosted * (node + labels + ON_THE_WAY)
