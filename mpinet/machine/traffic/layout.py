"""Records of a machine under open-loop traffic: its whole state, for kernels and Python.

A node has *lanes*, in the order of their numbers: V for each input port (V: the virtual channels of
a link), then the V slots of its processor. The virtual channels of its outputs have the same
numbers. A single table of links therefore leads from a channel to the lane behind it, and back.
With unlimited queues V is 1, and lane p is the queue of output port p. Node s of this rank (its
*slot* s) has the rows s * lanes .. (s + 1) * lanes - 1 of `TrafficState.lanes`,
`TrafficState.queues` and `TrafficState.channels`.

A field's annotation determines its treatment in a checkpoint: ``Same`` on all ranks, ``Total`` or
``Largest`` over the ranks, or `KEPT` at its processor. Fields without annotation are computed
again.
"""

from typing import Annotated, NamedTuple, get_args

from mpinet.base.arguments import (
    CandidatesRule,
    ChooseRule,
    ClassRule,
    DecideRule,
    PortRule,
    StartRule,
    TargetRule,
)
from mpinet.base.arrays import Array, Bytes, Counts, Ints, ShortRows, Shorts, Table
from mpinet.base.choices import Policy, Switching
from mpinet.base.records import Record, Short, Word32
from mpinet.compiled import Switch
from mpinet.machine.heaps import NONE as NONE
from mpinet.machine.state import Largest, Same, Total

UNDECIDED = -2

FIXED = -2
"""`Lane.vc` of a head with a single way, for which the routing is not called again."""

SWITCHINGS = get_args(Switching)
SAF, VCT, WORMHOLE = range(3)

POLICIES = get_args(Policy)
OLDEST, FIFO, ROTATING, INPUT_FIRST, OUTPUT_FIRST, ISLIP, WAVEFRONT = range(7)

UNWIRED_PORT, ENDLESS, NO_CLASS, ELSEWHERE, NOT_OFFERED = range(1, 6)
"""Errors of a rule, stored in `TrafficLedger.wrong`; 0 means no error."""

DRAINED = -3
"""Class of a message that cannot reach its target and is removed by its node as lost."""

HEAD, BODY, CREDIT = range(3)
KIND_BITS, PLACE_BITS = 2, 32
"""Kinds of words for other ranks, and the number of low bits for the kind. The next bits contain
the lane or channel, the highest bits the steps in flight. The message follows the word of its head.
"""

GENERATE_STREAM, TARGET_STREAM, FLITS_STREAM, SPOT_STREAM, BURST_STREAM = range(16, 21)
"""Streams of the random draws."""

MIX_STREAM = 23
"""Stream of the draws that choose the pattern of a mix."""

MESSAGE_WORDS = 7
"""Words of a message after its head's word; `switch_traversal.send_flit` writes these words, then
the header.
"""

ROUND = 2
"""Row of `Books.latencies` for round trips: from a request's birth to the end of its reply."""

SENT, CAME = range(2)
"""Events of a program's message: its tail has left its source; its target has taken its tail."""

# Two bits fewer than a word: a mask shifted by a lane's number never reaches the sign bit, which
# integers of plain Python do not have.
LANES_PER_WORD = 62

# The lanes, channels and bids of one tile stay in the second-level cache from bidding to leaving.
TILE = 64
"""Number of nodes processed together in bidding, granting and leaving, with all their records in
the cache. With busses, grants depend on other ranks, and all nodes form one tile.
"""

KEPT = "kept"

ADAPTIVE = Switch(False)
"""True in `advance_adaptive`: nodes choose among candidates."""

UNLIMITED = Switch(False)
"""True in `advance_unlimited`: queues have no limit."""

DETAILED = Switch(False)
"""True in `advance_detailed`: ports of nodes have the fields of `Side`."""

AHEAD = Switch(False)
"""True in `advance_ahead`: records needed soon are prefetched."""


class TrafficConstants(Record):
    """Constants of a run."""

    # The network, and this rank's part of the network.
    nodes: int
    ports: int
    hosts: int
    hops_most: int
    rank: int
    ranks: int
    margin: int  # largest number of messages added in a step
    # Buffers and switches.
    vcs: int
    vcs_of_class: int
    classes: int
    classed: bool  # True if a rule assigns classes to channels; otherwise all have class 0
    lanes: int  # per node
    words: int  # per node in `TrafficState.occupied`
    buffer: int
    switching: int
    policy: int
    one_input: bool
    one_eject: bool
    keeps: bool  # True if messages in transit keep their outputs and inputs
    # If `DETAILED`: largest number of grants per input port and per output, capacity of an output's
    # queue in flits, rounds of the policy, True if rings keep a bubble.
    inputs: int
    at_once: int
    queue: int
    iterations: int
    bubble: bool
    delay: int  # longest flight of a flit in steps
    # The longest flight: after this number of steps without a move the wires are empty, and only a
    # deadlock can hold flits.
    quiet: int  # steps without a move after which no flit can be in flight
    router_delay: int
    # The window in steps; the generated messages; `.._below`: probabilities in units of 2^-32.
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
    numbered: bool  # True if the header's last word is the message's number
    # Information for `choose`: its kind, and the number of words before the candidates' credits.
    sees: int
    told: int
    eager: bool  # True if an only candidate is taken once it has room
    # The closed loop: replies to requests, largest number of unanswered requests per source (0: no
    # limit), and messages per source in a phase (0: no phases).
    replying: bool
    reply_flits: int
    service: int
    outstanding: int
    batch: int
    phases: int
    programmed: bool  # True for messages of a program (`operations.play`)
    priorities: int  # priority levels (0 is served first); 1 unless `DETAILED`


class TrafficLedger(Record):
    """Counts of a rank, and records of its last step."""

    now: Annotated[int, Same]  # number of steps so far
    closed: Annotated[int, Same]  # step in which sources closed; -1: still open
    ended: Annotated[int, Same]
    quiet: Annotated[int, Same]  # steps since the last move on any rank
    # Deliberately known one step late: the count is part of the step's exchange, and needs no
    # further collective.
    open_everywhere: Annotated[int, Same]  # `open` of all ranks, at the end of the last step
    phase: Annotated[int, Same]  # number of phases begun
    # Unfinished messages of the window (of a phase including messages not generated yet), flits in
    # lanes of links, flits waiting at sources.
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
    cut: Annotated[int, Total]  # by faults
    # Flits of these messages.
    born_flits: Annotated[int, Total]
    withdrawn_flits: Annotated[int, Total]
    done_flits: Annotated[int, Total]
    lost_flits: Annotated[int, Total]
    cut_flits: Annotated[int, Total]
    # Messages of the window, and their flits, steps in the network, hops.
    generated: Annotated[int, Total]
    generated_flits: Annotated[int, Total]
    accepted: Annotated[int, Total]
    accepted_flits: Annotated[int, Total]
    delivered: Annotated[int, Total]
    undeliverable: Annotated[int, Total]
    cut_measured: Annotated[int, Total]
    # Flits of messages drained or cut in the window.
    dropped_flits: Annotated[int, Total]
    inside_sum: Annotated[int, Total]
    hops_sum: Annotated[int, Total]
    moves: Annotated[int, Total]  # flits that left a lane
    seal: Annotated[int, Total]
    crossed: Annotated[int, Total]  # heads sent to other ranks
    last_move: Annotated[int, Largest]
    source_queue_max: Annotated[int, Largest]
    node_flits_max: Annotated[int, Largest]
    # Number of free rows for new messages, at the start of `TrafficState.free`; 1 if too few.
    free: int
    wants_room: int
    noted: int  # tails of a program's messages in the last step
    # The last step: 1 if anything moved, words for other ranks, `open` at its end.
    moving: int
    away: int
    open_told: int
    # The half of a step that ends with claims on busses: 1 if done, granted bids, claims.
    claimed: int
    granted: int
    claims: int
    # The error of a rule (0: none), and its place.
    wrong: int
    wrong_node: int
    wrong_port: int
    wrong_number: int


class MessageSource(Record):
    """A processor of this rank, and its source of messages.

    A message without a slot of the source is only counted, in `queued`. When the message takes a
    slot, its random draws are repeated.
    """

    number: int
    dice: Word32  # random word for the draws of births
    on: Annotated[Short, KEPT]  # 1 during a burst
    entered: Annotated[int, KEPT]  # flits of messages that entered in the window
    # Beyond saturation source queues grow without bound. A count, with repeatable draws, costs
    # constant memory.
    queued: Annotated[Short, KEPT]  # messages without a slot
    waiting: Annotated[Short, KEPT]  # messages not in the network: queued, or in a slot
    first_born: Annotated[Short, KEPT]  # birth step of the first queued message
    taken: Annotated[Short, KEPT]  # messages that have taken a slot
    flits: Short  # flits in its input lanes
    # Rows of the trace: first row, end, next row to be born, next row to take a slot.
    begin: Short
    end: Short
    next_born: Annotated[Short, KEPT]
    next_taken: Annotated[Short, KEPT]
    # The closed loop: messages generated in this phase, requests without a reply, and the first and
    # the last reply waiting for a slot. `FlitMessage.left` links these replies.
    made: Annotated[Short, KEPT]
    unanswered: Annotated[Short, KEPT]
    posted: Short
    posted_last: Short


class SourceQueue(Record):
    """Queue of a source for one priority, except the last, which is in `MessageSource`."""

    queued: Annotated[Short, KEPT]
    first_born: Annotated[Short, KEPT]


class Lane(Record):
    """A lane: a ring buffer of flits, grouped by message."""

    # The fields for bidding and leaving share one record of 32 bytes: two lanes per cache line.
    first: Short  # index of its first flit in the ring
    filled: Short  # number of flits in the ring
    incoming: Short  # message with arriving flits; in a slot: its message
    # The message at the front: output, class and virtual channel of its way out (or `FIXED`), the
    # arrival step of its head, and the number of its flits that have left.
    out: Annotated[Short, KEPT]
    vc: Annotated[Short, KEPT]
    came: Annotated[Short, KEPT]
    sent: Annotated[Short, KEPT]
    group: Annotated[Short, KEPT]


class ChannelQueue(Record):
    """An unlimited queue: the lane of its output channel."""

    root: Short  # message to serve first; `NONE`: the queue is empty
    until: Annotated[Short, KEPT]  # step in which the channel is free again


class Channel(Record):
    """A virtual channel of an output port."""

    credit: Annotated[Short, KEPT]  # free places, in flits, of the buffer behind it
    holder: Annotated[Short, KEPT]  # lane of the message that holds the channel


class OutputPort(Record):
    """An output port, or the ejection port to the processor."""

    keeper: Annotated[Short, KEPT]  # lane of the message in transit (not with wormhole)
    pointer: Annotated[Short, KEPT]  # lane with the next turn, with the policy ``rotating``


class Side(Record):
    """A port, or the processor, of a node if `DETAILED` is true."""

    turn: Annotated[Short, KEPT]  # at the input: virtual channel or output with the next turn
    busy: Annotated[Short, KEPT]  # step in which the output's queue is empty
    flight: Short  # steps to the other end, with the delay of the router there
    back: Short  # steps of a credit to the other end
    onward: Short  # output port of the ring that enters here


class Link(Record):
    """The other end of a port: the slot of its node, its first lane there, and its rank."""

    slot: Short
    lane: Short
    owner: Short


class FlitMessage(Record):
    """A message: the data that travel with its head, except the header."""

    # The fields used by every hop come first, in one cache line; the whole record takes 64 bytes.
    number: int
    target: int
    length: Short  # in flits
    hops: Short
    came: Short  # arrival step of its head at the current node
    # In unlimited queues: the branches of the heap. On its way to `slot`, `left` is the next
    # message that arrives in the same step. For a waiting reply, `left` is the next waiting reply.
    # Links of the heap, of a step's arrivals and of waiting replies share one field, because a
    # message is in one list at a time.
    left: Short
    born: int
    source: int
    entered: int
    right: Short
    slot: Short


class Flit(Record):
    """A flit on a link."""

    lane: Short  # destination lane
    slot: Short
    # The head bit is part of the message's number, which saves a quarter of the wire's memory.
    message: Short  # twice its row, plus 1 for a head


class Wire(Record):
    """Number of flits and of credits that arrive in a step."""

    flits: int
    credits: int


class Bid(Record):
    """A bid of a front flit that can leave: its lane, and the requested output and channel."""

    slot: Short
    lane: Short
    out: Short
    vc: Short
    message: Short
    next: Short  # next bid for the same output
    granted: Short


class Bus(Record):
    """A bus with a member among this rank's nodes."""

    number: int
    claimant: Annotated[int, KEPT]  # `BusClaim.claimant` of the last winner
    until: Annotated[int, KEPT]  # step until which the bus is kept for this claimant
    pointer: Annotated[int, KEPT]  # member with the first turn, with the policy ``rotating``
    won: int  # claimant that has won the bus in this step


class BusClaim(Record):
    """A claim on a bus; the claim with the least keys wins."""

    node: int
    bus: int
    # Two keys instead of one packed number: ages and node numbers together do not fit into 64 bits.
    first_key: int
    second_key: int
    claimant: int  # node * lanes + lane
    until: int  # step until which the bus is kept for the winner


FOREVER = 1 << 62
"""`BusClaim.until` of a message that keeps the bus until its tail claims the bus."""

Nodes = Annotated[Array, MessageSource]
Lanes = Annotated[Array, Lane]
Lines = Annotated[Array, SourceQueue]
Queues = Annotated[Array, ChannelQueue]
Channels = Annotated[Array, Channel]
Outputs = Annotated[Array, OutputPort]
LinkEnds = Annotated[Array, Link]
Sides = Annotated[Array, Side]
Messages = Annotated[Array, FlitMessage]
FlitRows = Annotated[Array, Flit, 2]
WireRows = Annotated[Array, Wire]
Bids = Annotated[Array, Bid]
BusRows = Annotated[Array, Bus]
Claims = Annotated[Array, BusClaim]


class RoutingRules(NamedTuple):
    """Rules for the ways of messages.

    The fields are the network's rule and the routing's rules, each with their parameters. Then come
    the rule for classes of channels, an adaptive routing's rules of choice, the number of its
    escape classes, and dead nodes and cut links. `known` is a table of decisions that depend on
    node and target alone, by (slot, target), filled during the run. Its entry 0 means unknown;
    other entries are a port plus 2, or `ARRIVED` plus 2.
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
    cut: Table
    known: Bytes


class Sources(NamedTuple):
    """Targets of messages: a pattern with its parameters, or a trace.

    The trace has rows (step, target, flits, number), grouped by node.
    """

    target: TargetRule
    params: Ints
    trace: Table


class TrafficState(NamedTuple):
    """The state of the hosted nodes.

    By node: `nodes`, and `occupied`, a bit for each nonempty lane (`TrafficConstants.words` words
    per node). By lane: `lanes`; `ring`, the message of each flit in the lane's buffer; `channels`;
    unlimited queues have `queues` instead. By (node, port), with ejection as the last port:
    `outputs`, and `sides` if `DETAILED` is true. By (node, port): `links`. By message: `messages`,
    `headers`; `free` lists the unused rows of both. By step, for unlimited queues: `due`, the first
    message that arrives in the step. By (node, priority): `lines`, the source queues except for the
    last priority. `bounds[i]` is the bound of priority i: a message has the lowest priority level
    whose bound is above its draw.
    """

    nodes: Nodes
    occupied: Ints
    lanes: Lanes
    ring: Shorts
    channels: Channels
    queues: Queues
    outputs: Outputs
    links: LinkEnds
    sides: Sides
    messages: Messages
    headers: Table
    free: Shorts
    due: Shorts
    lines: Lines
    bounds: Ints


class Wires(NamedTuple):
    """Flits and credits in flight to hosted nodes: row t % D contains those usable in step t.

    D is the longest flight, `TrafficConstants.delay`, in steps. `counts` is their number per row. A
    credit is the index of its channel in `TrafficState.channels`.
    """

    flits: FlitRows
    credits: ShortRows
    counts: WireRows


class HostedBusses(NamedTuple):
    """The busses of the hosted nodes; all arrays are empty in networks of links.

    By (slot, port): `of_ports`, the bus's index in `rows`, and `leads`, the node's lowest port on
    the same bus. `claims` are in the order of writing.
    """

    of_ports: Shorts
    leads: Shorts
    rows: BusRows
    claims: Claims


class Bidding(NamedTuple):
    """Bids of a step, grouped by node, and the indices of the granted bids.

    With busses the bids live from the first half of a step, which ends with claims, to the second
    half. `seen` is the information for an adaptive node: queues of ports, then the credits of its
    candidates.
    """

    bids: Bids
    chosen: Shorts
    seen: Ints


class Scratch(NamedTuple):
    """Scratch arrays of a step.

    A header; an adaptive node's candidates; the last node that used each output, and each input;
    the input port and class of each lane. For the policy ``rotating`` there are bit sets like
    `TrafficState.occupied`: the lanes that bid for each output, the lanes of used inputs, and the
    lanes of each input. `bid_of` is the bid of each lane. For `allocators`: the free capacity of a
    node's outputs and inputs, the last node that granted a flit on each virtual channel, and the
    picked channels.
    """

    header: Ints
    ways: Table
    used_out: Ints
    used_in: Ints
    port_of: Ints
    group_of: Ints
    asked: Ints
    barred: Ints
    whole: Ints
    bid_of: Ints
    room_out: Ints
    room_in: Ints
    used_vcs: Ints
    picked_vcs: Ints


class Books(NamedTuple):
    """Measurements of the window.

    `loads` is the number of flits by channel. `latencies` are histograms by steps, one for each
    kind of message (and for round trips). `begun` is the first step of each phase. `batches` has
    number and sum of the latencies of each part of the window, by birth (`Window.edges`). `noted`
    contains the tails of a program's messages in a step: the node's slot, `SENT` or `CAME`, and the
    message's number. `shares` has the generated and the accepted flits of messages of each
    priority.
    """

    loads: Counts
    latencies: Table
    begun: Ints
    batches: Table
    noted: Table
    shares: Table


class OutgoingWords(NamedTuple):
    """Words for other ranks, in the order of writing, and the rank of each word."""

    words: Table
    owners: Shorts
