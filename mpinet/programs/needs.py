"""What programs need of memory, told before a machine is made.

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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpinet.networks.schedule import Schedule
    from mpinet.networks.topology import Topology
    from mpinet.programs.operators.operator import Operator
    from mpinet.programs.schedules.schedule import PassSchedule


WORD = 8
"""Bytes of a number, and of a word of a message."""

HALF = 0.5
"""The largest share of processors that send at once where each has one to tell."""


@dataclass(frozen=True)
class Share:
    """The largest part of a network that a rank has.

    Attributes
    ----------
    network : Topology
        The network.
    ranks : int
        How many ranks there are.
    hosted : int
        Processors and switches on the rank that has most.
    """

    network: Topology
    ranks: int
    hosted: int

    @classmethod
    def even(cls, network: Topology, ranks: int) -> Share:
        """Where ranks have as many as each other."""
        return cls(network, ranks, -(-network.size // ranks))

    @property
    def ports(self) -> float:
        """Wired ports of a node, on average."""
        return self.network.most_wired / max(1, self.network.size)

    def part(self, total: int) -> int:
        """Of what the processors have alike, what is on the rank that hosts most."""
        return -(-total * self.hosted // max(1, self.network.size))


def diameter_of(network: Topology) -> float:
    """Its stated diameter; else the least that its degree allows, about."""
    stated = network.stated.get("diameter")
    if isinstance(stated, int | float) and stated > 0:
        return float(stated)
    degree = network.most_wired / max(1, network.size)
    return max(1.0, math.log(max(2, network.size), max(2.0, degree - 1)))


def flood(share: Share) -> int:
    """Numbers and two marks of every processor; nodes and receivers of the largest wave."""
    wave = min(0.45, 3.2 / diameter_of(share.network))
    return round(share.hosted * (WORD + 2 + 100 * wave))


def broadcast(share: Share, algorithm: str, schedule: Schedule | None) -> int:
    """Processors' numbers, what they hold and since when; the largest step's sends."""
    from mpinet.programs.broadcast import BEST, FLOODING, PASSES
    from mpinet.programs.passes import sees_whole

    if schedule is not None:
        return round(share.hosted * (29 + 96 * _sending(share, schedule)))
    if algorithm == PASSES or (algorithm == BEST and sees_whole(share.network)):
        return _timetable(share)
    if algorithm == FLOODING:
        return round(share.hosted * (40 + 60 * share.ports))
    return round(share.hosted * ALONG_TREE)


def reduce(share: Share, algorithm: str, schedule: Schedule | None) -> int:
    """The broadcast, with step and port of every processor; then the items, and sends and turns."""
    from mpinet.programs.broadcast import PASSES

    if schedule is None:
        return max(_timetable(share) if algorithm == PASSES else 0, share.hosted * 185)
    return round(share.hosted * (100 + 88 * _sending(share, schedule)))


def _sending(share: Share, schedule: Schedule) -> float:
    """The share of processors that send in the busiest step: in the last phase, about alike."""
    if not schedule.phases:
        return min(HALF, 3.2 / diameter_of(share.network))
    lengths = [length for _, length in schedule.phases if length > 0]
    return min(HALF, len(lengths) / max(1, schedule.steps))


def _timetable(share: Share) -> int:
    """Of the whole network, on every rank: neighbours and a pass over them, or its rows, sorted."""
    return round(share.network.size * max(146, 120 + 4 * share.ports))


ALONG_TREE = 160
"""Bytes a processor: numbers, parents, children, depths and their orders, and a step's sends."""

FROM_OR_TO_ONE = {"scatter": 560, "gather": 385}
"""Likewise: the tree and the walk along it, the queue at the root, and what has come."""


def from_or_to_one(share: Share, algorithm: str, command: str) -> int:
    """The tree, labels and turns of its nodes, and every item where it starts and where it ends."""
    from mpinet.programs.exchange import ROUTED

    if algorithm == ROUTED:
        return share.hosted * 60 + share.network.hosts * ITEM
    return share.hosted * FROM_OR_TO_ONE[command]


ITEM = 210
"""Bytes of an item that the router carries: source, target, number, contents, row, arrival."""


def exchange(share: Share) -> int:
    """Every pair's item."""
    return share.part(share.network.hosts * (share.network.hosts - 1)) * ITEM


def gossip(share: Share, algorithm: str) -> int:
    """A bit a pair, twice when they are counted; all items of a tree's nodes, or of a timetable."""
    from mpinet.programs.exchange import ROUTED
    from mpinet.programs.gossip import CYCLE, TREE

    pairs = share.hosted * share.network.hosts
    bits = pairs // 4 + share.hosted * 120
    if algorithm == TREE:
        return bits + 20 * pairs
    if algorithm == ROUTED:
        return bits + share.part(share.network.hosts**2) * ITEM
    if algorithm == CYCLE:
        return bits
    return bits + WORD * pairs + share.network.size * share.network.hosts * 64


def pipeline(share: Share, items: int, twice: bool) -> int:
    """A row of the timetable for every item and node, on every rank, while rows are put in order.

    Parameters
    ----------
    share : Share
        What a rank has.
    items : int
        All different items, on the whole machine.
    twice : bool
        Whether they go to the nodes and come from them, as of allreduce.
    """
    return share.network.size * items * (480 if twice else 240)


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
    from mpinet.machine.step import PORTS_PER_WORD

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
    here = 2 * WORD + 2 * width + (0 if schedule is DimensionExchange else ON_THE_WAY)
    everywhere = 0 if isinstance(operator, Reduction) else 4 * width
    return share.hosted * here + share.network.hosts * everywhere


ON_THE_WAY = 240
"""Bytes a processor of states that a schedule sends over several links, or routes."""


def embed(share: Share, guest: Topology, operator: Operator | None) -> int:
    """A message over every link of the guest, or the states of its program."""
    if operator is None:
        return share.part(guest.most_wired) * (ITEM + 64)
    return ascend(share, operator, None)


def circulate(share: Share, schedule: type[PassSchedule]) -> int:
    """Items with the labels that they have gathered, twice when a pair changes places."""
    from mpinet.programs.schedules.exchange import DimensionExchange

    return share.hosted * (CIRCULATING + (0 if schedule is DimensionExchange else ON_THE_WAY))


CIRCULATING = 130
"""Bytes a processor: number, index, item, what comes, and labels while they are added."""
