"""Records of a machine under open-loop traffic: its whole state, as kernels and Python read it.

A node has *lanes*, in the order of their numbers: V for each input port (V: the virtual channels of
a link), then the V slots of its processor. The same numbers count the virtual channels of its
outputs, so that one table of links leads from a channel to the lane behind it, and back. With
unlimited queues V is 1, and lane p is the queue of output port p. Node s of this rank (its *slot*
s) has the rows s * lanes .. (s + 1) * lanes - 1 of `TrafficState.lanes`, `TrafficState.queues` and
`TrafficState.channels`.

A field's annotation says whether a checkpoint keeps it, and how: ``Same`` on all ranks, ``Total``
or ``Largest`` over the ranks, or `KEPT` at its processor. Fields without one are computed again.
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
"""`Lane.vc` of a head that has one way on, and is not asked about it again."""

SWITCHINGS = get_args(Switching)
SAF, VCT, WORMHOLE = range(3)

POLICIES = get_args(Policy)
OLDEST, FIFO, ROTATING, INPUT_FIRST, OUTPUT_FIRST, ISLIP, WAVEFRONT = range(7)

UNWIRED_PORT, ENDLESS, NO_CLASS, ELSEWHERE, NOT_OFFERED = range(1, 6)
"""Errors of a rule, as `TrafficLedger.wrong` holds them; 0 is none."""

DRAINED = -3
"""Class of a message that cannot reach its target: its node takes it out, as lost."""

HEAD, BODY, CREDIT = range(3)
KIND_BITS, PLACE_BITS = 2, 32
"""Kinds of words for another rank, and the lowest bits that hold them; those above have the lane or
channel, and the highest the steps under way. Behind a head's word follows its message."""

GENERATE_STREAM, TARGET_STREAM, FLITS_STREAM, SPOT_STREAM, BURST_STREAM = range(16, 21)
"""Streams of the random draws."""

MIX_STREAM = 23
"""Stream of the draws by which a mix takes the first of its patterns."""

MESSAGE_WORDS = 7
"""Words of a message behind its head's word: `switch_traversal.send_flit` writes them, then the
header."""

ROUND = 2
"""Row of `Books.latencies` for round trips: from a request's birth to the end of its reply."""

SENT, CAME = range(2)
"""Fates of a program's message: its tail has left its source, or its target has taken it."""

# Two bits short of a word: a mask shifted by a lane's number never reaches the sign bit, which
# plain Python does not have.
LANES_PER_WORD = 62

# One tile's lanes, channels and bids stay in the second-level cache from bidding to leaving.
TILE = 64
"""Nodes that go through bids, grants and leaving together, so that their records stay in the cache
from one to the next. On busses, where grants depend on other ranks, all nodes do."""

KEPT = "kept"

ADAPTIVE = Switch(False)
"""Replaced by true in `advance_adaptive`: nodes choose among candidates."""

UNLIMITED = Switch(False)
"""Replaced by true in `advance_unlimited`: queues have no limit."""

DETAILED = Switch(False)
"""Replaced by true in `advance_detailed`: nodes have what `Side` says of their ports."""

AHEAD = Switch(False)
"""Replaced by true in `advance_ahead`: records that are needed soon are prefetched."""


class TrafficConstants(Record):
    """Constants of a run."""

    # The network, and this rank's part of it.
    nodes: int
    ports: int
    hosts: int
    hops_most: int
    rank: int
    ranks: int
    margin: int  # most messages that a step can add
    # Buffers and switches.
    vcs: int
    vcs_of_class: int
    classes: int
    classed: bool  # whether a rule gives channels their classes; without one there is class 0
    lanes: int  # of a node
    words: int  # of its bits in `TrafficState.occupied`
    buffer: int
    switching: int
    policy: int
    one_input: bool
    one_eject: bool
    keeps: bool  # whether messages that have begun keep outputs and inputs
    # Where `DETAILED` is true: most grants of an input port and of an output, flits that an
    # output's queue holds, rounds of the policy, whether rings keep a bubble.
    inputs: int
    at_once: int
    queue: int
    iterations: int
    bubble: bool
    delay: int  # most steps that a flit is under way
    # The longest flight: after so many steps without a move the wires are empty, and only a
    # deadlock can hold flits.
    quiet: int  # steps without a move after which nothing can be under way
    router_delay: int
    # The window in steps; the messages generated; `.._below`: probabilities in units of 2^-32.
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
    numbered: bool  # whether the header's last word is the message's number
    # What `choose` is told, and how many words of it come before the candidates' credits.
    sees: int
    told: int
    eager: bool  # whether `choose` takes an only candidate as soon as that has room
    # The closed loop: requests that are answered, those of a source under way at most (0: any
    # number), and messages of a source in a phase (0: no phases).
    replying: bool
    reply_flits: int
    service: int
    outstanding: int
    batch: int
    phases: int
    programmed: bool  # whether messages are those of a program (`operations.play`)
    priorities: int  # ranks of messages, each of which goes before the next; 1 but where `DETAILED`


class TrafficLedger(Record):
    """Counts of a rank, and notes on its last step."""

    now: Annotated[int, Same]  # steps made
    closed: Annotated[int, Same]  # the step in which sources closed; -1: they have not
    ended: Annotated[int, Same]
    quiet: Annotated[int, Same]  # steps since something moved on any rank
    # Known one step late on purpose: it rides on the step's exchange instead of costing a
    # collective of its own.
    open_everywhere: Annotated[int, Same]  # `open` of all ranks, at the end of the last step
    phase: Annotated[int, Same]  # phases begun
    # Messages of the window that are not done (of a phase also those that are still to come), flits
    # in lanes of links, flits not entered.
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
    cut: Annotated[int, Total]  # by what died under them
    # Their flits.
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
    # Flits of messages that came to another end than their target, drained or cut, in the window.
    dropped_flits: Annotated[int, Total]
    inside_sum: Annotated[int, Total]
    hops_sum: Annotated[int, Total]
    moves: Annotated[int, Total]  # flits that left a lane
    seal: Annotated[int, Total]
    crossed: Annotated[int, Total]  # heads to other ranks
    last_move: Annotated[int, Largest]
    source_queue_max: Annotated[int, Largest]
    node_flits_max: Annotated[int, Largest]
    # Free rows for new messages, the first ones of `TrafficState.free`; 1 if they are too few.
    free: int
    wants_room: int
    noted: int  # tails of the last step, of a program's messages
    # The last step: whether anything moved, words for other ranks, `open` at its end.
    moving: int
    away: int
    open_told: int
    # The half of a step that ends with claims on busses: whether it is made, granted bids, claims.
    claimed: int
    granted: int
    claims: int
    # The error of a rule (0: none), and where it occurred.
    wrong: int
    wrong_node: int
    wrong_port: int
    wrong_number: int


class MessageSource(Record):
    """A processor of this rank, and its source of messages.

    A message that has no slot of the source yet is only counted in `queued`: the draws that make it
    are repeated when it takes a slot.
    """

    number: int
    dice: Word32  # the random word from which its births are drawn
    on: Annotated[Short, KEPT]  # whether a burst is on
    entered: Annotated[int, KEPT]  # flits of messages that have entered in the window
    # Beyond saturation source queues grow without bound. A count, and draws that can be repeated,
    # cost constant memory.
    queued: Annotated[Short, KEPT]  # messages not in a slot
    waiting: Annotated[Short, KEPT]  # messages that have not entered: queued, or in a slot
    first_born: Annotated[Short, KEPT]  # step in which the first of those queued was born
    taken: Annotated[Short, KEPT]  # messages that have been in a slot
    flits: Short  # flits in its input lanes
    # Rows of the trace: its first, the one behind its last, the next to be born, to take a slot.
    begin: Short
    end: Short
    next_born: Annotated[Short, KEPT]
    next_taken: Annotated[Short, KEPT]
    # The closed loop: messages generated in this phase, requests without a reply, and the first and
    # last reply that waits for a slot; `FlitMessage.left` leads from one to the next.
    made: Annotated[Short, KEPT]
    unanswered: Annotated[Short, KEPT]
    posted: Short
    posted_last: Short


class SourceQueue(Record):
    """Messages of a priority without a slot of their source; `MessageSource` has the last one's."""

    queued: Annotated[Short, KEPT]
    first_born: Annotated[Short, KEPT]


class Lane(Record):
    """A lane: a ring buffer of flits, one message's behind the other's."""

    # The fields that bidding and leaving read stand in one record of 32 bytes, two lanes to a line
    # of the cache.
    first: Short  # place of its first flit in the ring
    filled: Short  # flits in it
    incoming: Short  # the message whose flits come in; in a slot: its message
    # The message at the front: output, class and virtual channel by which it leaves (or `FIXED`),
    # the step in which its head came, and its flits that have left.
    out: Annotated[Short, KEPT]
    vc: Annotated[Short, KEPT]
    came: Annotated[Short, KEPT]
    sent: Annotated[Short, KEPT]
    group: Annotated[Short, KEPT]


class ChannelQueue(Record):
    """An unlimited queue: the lane of the channel that it feeds."""

    root: Short  # the message to be served first; `NONE`: the queue is empty
    until: Annotated[Short, KEPT]  # the step in which the channel is free again


class Channel(Record):
    """A virtual channel of an output port."""

    credit: Annotated[Short, KEPT]  # free places, in flits, of the buffer behind it
    holder: Annotated[Short, KEPT]  # the lane whose message holds it


class OutputPort(Record):
    """An output port, or the processor that flits are ejected to."""

    keeper: Annotated[Short, KEPT]  # the lane whose message has begun to cross (not with wormhole)
    pointer: Annotated[Short, KEPT]  # the lane whose turn it is, with the policy ``rotating``


class Side(Record):
    """A port, or the processor, of a node where `DETAILED` is true."""

    turn: Annotated[Short, KEPT]  # at the input: the virtual channel or output whose turn it is
    busy: Annotated[Short, KEPT]  # the step in which the output's queue is empty
    flight: Short  # steps to the other end, with the delay of the router there
    back: Short  # steps of a credit to the other end
    onward: Short  # the port by which a ring goes on that comes in here


class Link(Record):
    """The other end of a port: the slot of its node, its first lane there, and the rank."""

    slot: Short
    lane: Short
    owner: Short


class FlitMessage(Record):
    """A message: the data that travel with its head, beside the header."""

    # What every hop asks for stands first, in one line of the cache; all of it takes 64 bytes.
    number: int
    target: int
    length: Short  # flits
    hops: Short
    came: Short  # step in which its head came to the node where it is
    # In unlimited queues: the branches of the heap. On its way to `slot`, `left` is the next
    # message that arrives in the same step; of a reply at its source the next one that waits.
    # Links of the heap, of a step's arrivals and of waiting replies share one field: a message is
    # in one list at a time.
    left: Short
    born: int
    source: int
    entered: int
    right: Short
    slot: Short


class Flit(Record):
    """A flit on a link."""

    lane: Short  # the lane that it goes to
    slot: Short
    # The head bit rides in the message's number, which saves a quarter of the wire's memory.
    message: Short  # twice its place, and 1 more in a head


class Wire(Record):
    """Number of flits and of credits that arrive in a step."""

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
    claimant: Annotated[int, KEPT]  # the last `BusClaim.claimant` to win it
    until: Annotated[int, KEPT]  # the step until which it is kept for that claimant
    pointer: Annotated[int, KEPT]  # the member that goes first, with the policy ``rotating``
    won: int  # the claimant that has won it in this step


class BusClaim(Record):
    """A claim on a bus; the claim with the least keys wins."""

    node: int
    bus: int
    # Two keys instead of one packed number: ages and node numbers together do not fit into 64 bits.
    first_key: int
    second_key: int
    claimant: int  # node * lanes + lane
    until: int  # the step until which the bus is kept for it


FOREVER = 1 << 62
"""`BusClaim.until` of a message that keeps the bus until its tail claims it."""

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
    """Rules by which messages find their ways.

    The network's rule with its parameters; the routing's rules with theirs; the rule that gives
    channels their classes; an adaptive routing's rules of choice, with the number of its escape
    classes; dead nodes and cut links. `known` are decisions that depend on node and target alone,
    by (slot, target) and as they are met: 0 is none, others are a port and 2, or `ARRIVED` and 2.
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

    The trace has rows (step, target, flits, number), those of one node side by side.
    """

    target: TargetRule
    params: Ints
    trace: Table


class TrafficState(NamedTuple):
    """The state of the hosted nodes.

    By node: `nodes`, and `occupied`, a bit for each lane that holds something
    (`TrafficConstants.words` words per node). By lane: `lanes`; `ring`, the message of each flit in
    the lane's buffer; `channels`; unlimited queues have `queues` in their place. By (node, port),
    with ejection as the last port: `outputs`, and `sides` where `DETAILED` is true. By (node,
    port): `links`. By message: `messages`, `headers`; `free` lists the unused rows of both. By
    step, for unlimited queues: `due`, the first message that arrives in it. By (node, priority),
    but for the last priority: `lines`; `bounds` are those of the draws by which a message is of an
    earlier one.
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
    """Flits and credits under way to hosted nodes: row t % D has those that can be used in step t.

    D is the longest way, `TrafficConstants.delay`, in steps. `counts` says how many there are. A
    credit is the place of its channel in `TrafficState.channels`.
    """

    flits: FlitRows
    credits: ShortRows
    counts: WireRows


class HostedBusses(NamedTuple):
    """The busses of the hosted nodes; all arrays are empty where nodes are joined by links.

    By (slot, port): `of_ports`, the bus's place in `rows`, and `leads`, the node's lowest port on
    the same bus. `claims` are in the order written.
    """

    of_ports: Shorts
    leads: Shorts
    rows: BusRows
    claims: Claims


class Bidding(NamedTuple):
    """Bids of a step, those of a node side by side, and the places of those that are granted.

    On busses they live from the first half of a step, which ends with claims, to the second. `seen`
    is what an adaptive node is told: queues of ports, then the credits of its candidates.
    """

    bids: Bids
    chosen: Shorts
    seen: Ints


class Scratch(NamedTuple):
    """Scratch arrays of a step.

    A header; an adaptive node's candidates; the node in which each output, and each input, was last
    taken; the input port and class of each lane. For the policy ``rotating``, in words as of
    `TrafficState.occupied`: the lanes that bid for each output, those of inputs that are taken,
    those of each input; and the bid of each lane. For `allocators`: the room of a node's outputs
    and inputs, the node in which a flit was last granted each virtual channel, and the picked ones.
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

    `loads` has flits by channel; `latencies` are histograms by steps, one for each kind of message
    (and of round trips); `begun` has the step in which each phase began; `batches` holds number and
    sum of the latencies of each part of the window, by birth (`Window.edges`); `noted` has, of a
    program, the tails of a step: the node's slot, `SENT` or `CAME`, and the message's number;
    `shares` has, of messages of each priority, the flits generated and accepted.
    """

    loads: Counts
    latencies: Table
    begun: Ints
    batches: Table
    noted: Table
    shares: Table


class OutgoingWords(NamedTuple):
    """Words for other ranks, in the order written, and the rank that each is for."""

    words: Table
    owners: Shorts
