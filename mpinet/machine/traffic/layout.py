"""How the state of a machine under open-loop traffic lies in memory, for its kernels.

A node's rows (`State.lanes`) are its lanes in the order of their numbers: V of each input port,
then the V slots of its processor. The same numbers count the virtual channels of its outputs, so
that the lane behind a channel, and the channel behind a lane, are found in one table of links.
"""

from typing import NamedTuple

from mpinet.arguments import CandidatesRule, ChooseRule, ClassRule, TargetRule
from mpinet.arrays import Counts, Flags, Ints, Rows, ShortRows, Shorts

NONE, UNDECIDED = -1, -2

SAF, VCT, WORMHOLE = range(3)
SWITCHINGS = ("saf", "vct", "wormhole")

OLDEST, FIFO, ROTATING = range(3)
POLICIES = ("oldest", "fifo", "rotating")

(
    VCS,
    VCS_OF_CLASS,
    CLASSES,
    BUFFER,
    SWITCHING,
    POLICY,
    ONE_INPUT,
    ONE_EJECT,
    DELAY,
    WARMUP,
    WINDOW_END,
    LIMIT,
    SEED,
    GENERATING,
    FLITS,
    LONG_FLITS,
    LONG_BELOW,
    BURSTY,
    ON_BELOW,
    OFF_BELOW,
    TRACED,
    HOSTS,
    RANK,
    RANKS,
    MARGIN,
    NUMBERED,
    RULES,
) = range(27)
"""Places of what does not change during a run."""

(
    NOW,
    CLOSED,
    ENDED,
    WANTS_ROOM,
    FREE,
    MOVED,
    QUIET,
    OPEN,
    OPEN_EVERYWHERE,
    INSIDE,
    BACKLOG,
    BACKLOG_BEFORE,
    BACKLOG_AFTER,
    BORN,
    ENTERED_ALL,
    WITHDRAWN,
    DONE,
    LOST,
    GENERATED,
    GENERATED_FLITS,
    ACCEPTED,
    ACCEPTED_FLITS,
    DELIVERED,
    UNDELIVERABLE,
    INSIDE_SUM,
    HOPS_SUM,
    MOVES,
    LAST_MOVE,
    SOURCE_QUEUE_MAX,
    NODE_FLITS_MAX,
    SEAL,
    AWAY,
    CROSSED,
    WRONG,
    WRONG_NODE,
    WRONG_PORT,
    WRONG_NUMBER,
    PENDING,
    CLAIMED,
    CLAIMS,
    LEDGER,
) = range(41)
"""Places of what a rank counts."""

UNWIRED_PORT, ENDLESS, NO_CLASS, ELSEWHERE, NOT_OFFERED = range(1, 6)
"""What `WRONG` says of a rule."""

FIRST, FILLED, OUT, VC, CAME_HERE, SENT, INCOMING, CLASS, LANE_WORDS = range(9)
"""Columns of a lane: where its first flit lies in its ring, how many there are, the output of the
message at the front and the VC that it holds, when its head came, how many of its flits have left,
the message whose flits come in (of a slot: the one in it), and the class that its head asks for."""

DRAINED = -3
"""The class of a message that the routing knows no way for."""

(
    NUMBER,
    LENGTH,
    BORN_IN,
    SOURCE,
    TARGET,
    ENTERED_IN,
    HOPS,
    CAME,
    SLOT,
    HEADER,
) = range(10)
"""Columns of a message: its record, which travels with the head. `SLOT` is that of the node to
which it is under way, where queues have no limit."""

HEAD, BODY, CREDIT = range(3)
KIND_BITS = 2
"""What a word to another rank brings, in its lowest bits; a head's record follows it."""

GENERATE_STREAM, TARGET_STREAM, FLITS_STREAM, SPOT_STREAM, BURST_STREAM = range(16, 21)
"""The streams of the draws."""

TENTHS = 10
"""Parts of the window whose means give the confidence interval."""

LANES_PER_WORD = 62


class Links(NamedTuple):
    """The hosted nodes, and for every (slot, port) the other end: its slot there, port and rank."""

    nodes: Ints
    far_slots: Shorts
    far_ports: Shorts
    owners: Shorts


class Classing(NamedTuple):
    """The rule that gives channels their classes, with its parameters."""

    rule: ClassRule
    params: Ints


class Adapting(NamedTuple):
    """The rules of an adaptive routing, and how many classes its escape has."""

    candidates: CandidatesRule
    choose: ChooseRule
    escape: int


class Sources(NamedTuple):
    """Who generates what.

    The pattern with its parameters; of every hosted node the random word that its draws start from,
    whether a burst is on, how many messages are not yet in a slot, when the first of them was born,
    how many have been taken. Of a trace: rows (step, target, flits, number) by slot, and where the
    next one to be born, the next one to be taken, and the end are.
    """

    target: TargetRule
    params: Ints
    dice: Counts
    on: Flags
    queued: Ints
    first_born: Ints
    taken: Ints
    trace: Rows
    next_born: Ints
    next_taken: Ints
    ends: Ints


class State(NamedTuple):
    """The state of the hosted nodes."""

    lanes: ShortRows
    ring: Shorts
    occupied: Ints
    credit: Shorts
    holder: Shorts
    held: Shorts
    pointer: Shorts
    waiting: Ints
    flits: Ints
    messages: Rows
    free: Shorts


class Wires(NamedTuple):
    """What is under way on links between hosted nodes: row t % D has what left in step t."""

    slots: ShortRows
    lanes: ShortRows
    messages: ShortRows
    credits: ShortRows
    counts: Rows


CLAIM_WORDS = 6
"""Columns of a claim on a bus: the member, the bus, two keys (the least goes first), who claims
(node and lane, or node and port where queues have no limit), and how long it keeps the bus: whether
beyond this step, or how many."""


class Busses(NamedTuple):
    """The busses of the hosted nodes; all arrays are empty where nodes are joined by links.

    By (slot, port): the bus, by its place here, and the node's lowest port on the same bus. By bus:
    who keeps it (until when, where queues have no limit), whose claim it took, the member to be
    asked first, its number. What each slot has been granted (lane, output, VC, message), and how
    much. Claims, in the order written.
    """

    of_ports: Shorts
    leads: Shorts
    kept: Ints
    won: Ints
    pointer: Ints
    numbers: Ints
    granted: Rows
    grants_of: Ints
    claims: Rows


class Books(NamedTuple):
    """What is written down: flits over channels, entered flits, latencies, and tenths of it all."""

    loads: Counts
    entered: Ints
    latencies: Ints
    edges: Ints
    batches: Rows


class Crossing(NamedTuple):
    """Words for other ranks, in the order written, and the rank that each is for."""

    words: Rows
    owners: Shorts
