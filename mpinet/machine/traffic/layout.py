"""How the state of a machine under open-loop traffic lies in memory: records, for kernels and all.

A node has *lanes*, in the order of their numbers: V of each input port, then the V slots of its
processor. The same numbers count the virtual channels of its outputs, so that the lane behind a
channel, and the channel behind a lane, are found in one table of links. Where queues have no limit
V is 1, and lane p is the queue of output port p. Node s of this rank (its *slot* s) has the rows
s * lanes .. of `State.lanes`, `State.queues` and `State.channels`.

What a checkpoint keeps is said at the field: ``Same`` on all ranks, ``Total`` or ``Largest`` of
them, or `KEPT` with its processor.
"""

from typing import Annotated, NamedTuple

from mpinet.arguments import (
    CandidatesRule,
    ChooseRule,
    ClassRule,
    DecideRule,
    PortRule,
    StartRule,
    TargetRule,
)
from mpinet.arrays import Array, Counts, Ints, Rows, ShortRows, Shorts
from mpinet.machine.state import Largest, Same, Total
from mpinet.records import Record, Short, Word32

NONE, UNDECIDED = -1, -2

SAF, VCT, WORMHOLE = range(3)
SWITCHINGS = ("saf", "vct", "wormhole")

OLDEST, FIFO, ROTATING = range(3)
POLICIES = ("oldest", "fifo", "rotating")

UNWIRED_PORT, ENDLESS, NO_CLASS, ELSEWHERE, NOT_OFFERED = range(1, 6)
"""What `Ledger.wrong` says of a rule."""

DRAINED = -3
"""The class of a message that the routing knows no way for."""

HEAD, BODY, CREDIT = range(3)
KIND_BITS = 2
"""What a word to another rank brings, in its lowest bits; a head's message follows it."""

GENERATE_STREAM, TARGET_STREAM, FLITS_STREAM, SPOT_STREAM, BURST_STREAM = range(16, 21)
"""The streams of the draws."""

MESSAGE_WORDS = 7
"""Words of a message behind a head's: its fields up to `Message.hops`; then comes the header."""

TENTHS = 10
"""Parts of the window whose means give the confidence interval."""

LANES_PER_WORD = 62

KEPT = "kept"


class Rules(Record):
    """What does not change during a run."""

    # The network, and this rank's part of it.
    nodes: int
    ports: int
    hosts: int
    hops_most: int
    rank: int
    ranks: int
    margin: int  # messages that a step may need room for
    # Buffers and switches.
    vcs: int
    vcs_of_class: int
    classes: int
    lanes: int  # of a node
    words: int  # of its bits in `State.occupied`
    buffer: int
    switching: int
    policy: int
    one_input: bool
    one_eject: bool
    delay: int
    # The window, in steps, and who generates what; `.._below`: what 32 random bits must be below.
    warmup: int
    window_end: int
    limit: int
    seed: int
    generating: int
    flits: int
    long_flits: int
    long_below: int
    bursty: bool
    on_below: int
    off_below: int
    traced: bool
    numbered: bool  # whether the header's last word has the message's number


class Ledger(Record):
    """What a rank counts, and what its last step was."""

    now: Annotated[int, Same]  # steps made
    closed: Annotated[int, Same]  # the step in which sources closed; -1: they have not
    ended: Annotated[int, Same]
    quiet: Annotated[int, Same]  # steps since something moved on any rank
    open_everywhere: Annotated[int, Same]  # `open` of all ranks, at the end of the last step
    # Messages of the window that are not done, flits in lanes of links, flits not entered.
    open: Annotated[int, Total]
    inside: Annotated[int, Total]
    backlog: Annotated[int, Total]
    backlog_before: Annotated[int, Total]
    backlog_after: Annotated[int, Total]
    # Messages of the whole run.
    born: Annotated[int, Total]
    entered: Annotated[int, Total]
    withdrawn: Annotated[int, Total]
    done: Annotated[int, Total]
    lost: Annotated[int, Total]
    # Messages of the window, and their flits, steps in the network, hops.
    generated: Annotated[int, Total]
    generated_flits: Annotated[int, Total]
    accepted: Annotated[int, Total]
    accepted_flits: Annotated[int, Total]
    delivered: Annotated[int, Total]
    undeliverable: Annotated[int, Total]
    inside_sum: Annotated[int, Total]
    hops_sum: Annotated[int, Total]
    moves: Annotated[int, Total]  # flits that left a lane
    seal: Annotated[int, Total]
    crossed: Annotated[int, Total]  # heads to other ranks
    last_move: Annotated[int, Largest]
    source_queue_max: Annotated[int, Largest]
    node_flits_max: Annotated[int, Largest]
    # Places in `State.free` that hold rows for new messages; whether these are too few.
    free: int
    wants_room: int
    # Of the last step: whether anything is under way, words for other ranks, `open` at its end.
    moving: int
    away: int
    open_told: int
    # Of the half of a step that ends with claims on busses: bids granted, and the claims.
    claimed: int
    granted: int
    claims: int
    # What a rule has done wrong (0: nothing), and where.
    wrong: int
    wrong_node: int
    wrong_port: int
    wrong_number: int


class Node(Record):
    """A processor of this rank, and the source in it.

    A message that is not in a slot of its source yet is a number in `queued`: the draws that make
    it are repeated when it takes one.
    """

    number: int
    dice: Word32  # the random word that the draws of its births start from
    on: Annotated[Short, KEPT]  # whether a burst is on
    entered: Annotated[int, KEPT]  # flits of messages that have entered in the window
    queued: Annotated[Short, KEPT]  # messages not in a slot
    waiting: Annotated[Short, KEPT]  # messages that have not entered: queued, or in a slot
    first_born: Annotated[Short, KEPT]  # when the first of those queued was born
    taken: Annotated[Short, KEPT]  # messages that have been in a slot
    flits: Short  # in its lanes of links
    # Rows of the trace: where its own begin and end, which are next to be born and to take a slot.
    begin: Short
    end: Short
    next_born: Annotated[Short, KEPT]
    next_taken: Annotated[Short, KEPT]


class Lane(Record):
    """A lane: flits in a ring, one message's behind the other's."""

    first: Short  # the ring's place of its first flit
    filled: Short  # flits
    incoming: Short  # the message whose flits come in; of a slot: the one in it
    # Of the message at the front: the output, the class and the channel that it leaves by, when its
    # head came, and how many of its flits have left.
    out: Annotated[Short, KEPT]
    vc: Annotated[Short, KEPT]
    came: Annotated[Short, KEPT]
    sent: Annotated[Short, KEPT]
    group: Annotated[Short, KEPT]


class Queue(Record):
    """A queue without limit, which is the lane of the channel that it is for."""

    root: Short  # the message to be served first; `NONE`: there are none
    until: Annotated[Short, KEPT]  # the step in which the channel is free again


class Channel(Record):
    """A virtual channel of an output port."""

    credit: Annotated[Short, KEPT]
    holder: Annotated[Short, KEPT]  # the lane whose message holds it


class Output(Record):
    """An output port, or the processor that flits are ejected to."""

    keeper: Annotated[Short, KEPT]  # the lane whose message has begun to cross (not with wormhole)
    pointer: Annotated[Short, KEPT]  # the lane whose turn it is, with the policy ``rotating``


class Link(Record):
    """The other end of a port: the slot of its node, its first lane there, and the rank."""

    slot: Short
    lane: Short
    owner: Short


class Message(Record):
    """A message: what travels with its head, beside the header."""

    number: int
    length: int  # flits
    born: int
    source: int
    target: int
    entered: int
    hops: int
    came: Short  # when its head came to the node where it is
    # In queues without limit: the branches of the heap; or the next one that comes in the same step
    # as this one does to `slot`.
    left: Short
    right: Short
    slot: Short


class Flit(Record):
    """A flit on a link."""

    lane: Short  # the one that it goes to
    slot: Short
    message: Short  # twice its place, and 1 more in a head


class Wire(Record):
    """How many flits and credits have left in a step."""

    flits: int
    credits: int


class Bid(Record):
    """A front flit that can go: its lane, and the output and channel that it asks for."""

    slot: Short
    lane: Short
    out: Short
    vc: Short
    message: Short
    next: Short  # the next bid for the same output
    granted: Short


class Bus(Record):
    """A bus that one of this rank's nodes is on."""

    number: int
    claimant: Annotated[int, KEPT]  # the last one to win it: see `Claim`
    until: Annotated[int, KEPT]  # the step until which it is kept for that one
    pointer: Annotated[int, KEPT]  # the member to be asked first
    won: int  # the one that has won it in this step


class Claim(Record):
    """A claim on a bus. Of several the one with the least keys goes first."""

    node: int
    bus: int
    first_key: int
    second_key: int
    claimant: int  # node and lane
    until: int  # the step until which the bus is kept for it


FOREVER = 1 << 62
"""`Claim.until` of one that keeps the bus until it says otherwise."""

Nodes = Annotated[Array, Node]
Lanes = Annotated[Array, Lane]
Queues = Annotated[Array, Queue]
Channels = Annotated[Array, Channel]
Outputs = Annotated[Array, Output]
LinkEnds = Annotated[Array, Link]
Messages = Annotated[Array, Message]
FlitRows = Annotated[Array, Flit, 2]
WireRows = Annotated[Array, Wire]
Bids = Annotated[Array, Bid]
BusRows = Annotated[Array, Bus]
Claims = Annotated[Array, Claim]


class Routes(NamedTuple):
    """How messages find their ways.

    The network with its parameters; the routing's rules with theirs; the rule that gives channels
    their classes; of an adaptive routing the rules by which nodes choose, and how many classes its
    escape has; what is dead.
    """

    neighbor: PortRule
    wired: Ints
    decide: DecideRule
    start: StartRule
    params: Ints
    header_words: int
    class_of: ClassRule
    class_params: Ints
    candidates: CandidatesRule
    choose: ChooseRule
    escape: int
    dead: Ints
    cut: Rows


class Sources(NamedTuple):
    """Who sends to whom: a pattern with its parameters, or a trace.

    The trace has rows (step, target, flits, number), the rows of one node behind each other.
    """

    target: TargetRule
    params: Ints
    trace: Rows


class State(NamedTuple):
    """The state of the hosted nodes.

    By node: `nodes`, and in `occupied` a bit for each of its lanes that something is in, so many
    words a node. By lane: `lanes`, and in `ring` the messages of as many flits as a buffer holds;
    `channels`; where queues have no limit instead of these `queues`. By (node, port), ejection
    behind the ports: `outputs`. By (node, port): `links`. By message: `messages`, `headers`; `free`
    has those that are none. By step: `due`, where queues have no limit the first message that will
    have come.
    """

    nodes: Nodes
    occupied: Ints
    lanes: Lanes
    ring: Shorts
    channels: Channels
    queues: Queues
    outputs: Outputs
    links: LinkEnds
    messages: Messages
    headers: Rows
    free: Shorts
    due: Shorts


class Wires(NamedTuple):
    """What is under way between hosted nodes: row t % D has what left in step t, `counts` of it.

    Credits are the places of their channels.
    """

    flits: FlitRows
    credits: ShortRows
    counts: WireRows


class Busses(NamedTuple):
    """The busses of the hosted nodes; all arrays are empty where nodes are joined by links.

    By (slot, port): the bus, as its place in `rows`, and the node's lowest port on the same bus.
    Claims, in the order written.
    """

    of_ports: Shorts
    leads: Shorts
    rows: BusRows
    claims: Claims


class Bidding(NamedTuple):
    """Who wants to leave in a step: the bids, those of a node behind each other; which go.

    Memory for a step, kept from one to the next where its first half ends with claims on busses.
    """

    bids: Bids
    chosen: Shorts


class Scratch(NamedTuple):
    """Memory for a step.

    A header; an adaptive node's candidates, and the room of each; by output the first bid, by
    output and input the node for which it was taken last.
    """

    header: Ints
    ways: Rows
    room: Ints
    asked: Ints
    used_out: Ints
    used_in: Ints


class Books(NamedTuple):
    """What is written down: flits over channels, latencies, and both by tenths of the window."""

    loads: Counts
    latencies: Ints
    edges: Ints
    batches: Rows


class Crossing(NamedTuple):
    """Words for other ranks, in the order written, and the rank that each is for."""

    words: Rows
    owners: Shorts
