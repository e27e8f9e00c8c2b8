"""Records of the timed machine: the whole state of a run on a rank, for kernels and Python.

A rank has *operations*, grouped by processor, and *messages*, anywhere on their way. Both are rows
of arrays. Heaps and lists contain the numbers of these rows. A *server* is passed by one message
after the other: a direction of a link, a half-duplex link, or a bus. Time is an integer number of
ticks.
"""

from typing import Annotated, NamedTuple, get_args

from mpinet.base.arguments import DecideRule, PortRule, StartRule
from mpinet.base.arrays import Array, Ints, Shorts, Table
from mpinet.base.choices import Mode
from mpinet.base.records import Record, Short, Word32
from mpinet.machine.heaps import NONE as NONE
from mpinet.machine.state import Largest, Same, Total

# Below 2^62: the sum of two times, and the negated time in a maximum over ranks, still fit into 64
# bits.
NEVER = (1 << 62) - 1
"""Time of an event that never happens."""

LATEST = 1 << 60
"""Time from which on a run is rejected; additions within an event stay below 2^62."""

CALC, SEND, RECV = range(3)
KINDS = ("calc", "send", "recv")

# A statement is read at each release of its operation: one word with all flags keeps the statement
# within half a cache line.
KIND_BITS, HAS_STARTERS, CPU_SHIFT = 3, 4, 3
"""Layout of `Statement.what`: the kind, a flag for followers of its begin, its CPU."""

DONE_WITH = -1
"""Value of `Operation.missing` for a finished operation."""

ANY = -1
"""Any source."""

ANY_TAG = (1 << 32) - 1
"""Any tag."""

ANY_SOURCES, ANY_TAGS = 2, 1
PATTERNS = 4
"""Number of kinds of receives; the bits `ANY_SOURCES` and `ANY_TAGS` stand for their wildcards."""

MODES = get_args(Mode)
CUT, STORE, IDEAL = range(3)

FULL, HALF, BUS = range(3)
"""Kinds of servers: a direction of a link, a link, a bus."""

# A bucket is a linked list, whose next element is known only after a load. The ring of recent
# entries gives addresses for prefetching.
RECENT = 8
"""Number of recently entered processors remembered per bucket."""

AHEAD = 16
"""Number of processors or servers by which prefetches run ahead."""

# A radix heap with base 256: eight levels cover 63-bit window numbers, and an item moves down at
# most eight times.
DIGIT_BITS, DIGITS = 8, 256
"""Bits of a digit of a window's number in a calendar, and number of different digits."""

BUCKETS = 64 // DIGIT_BITS * DIGITS
"""Number of buckets of a calendar, one per place and digit."""

# Sixteen words are two cache lines: a block is read as one stream, and the pointer to the previous
# block costs 1/16 of the memory.
CELLS = 16
"""Words of a block of requests in a calendar: the index of the previous block, then the
requests.
"""

# Message and server share one word: requests are sorted to servers without access to messages.
REQUEST_BITS = 32
"""Number of low bits of a request's word for its message; the bits above are its server."""

# A bit per server instead of a byte: the marks of a million servers fit into the second-level
# cache.
MARK_BITS, MARKS = 6, 64
"""Bits of a server's number for its place in a word of marks, and number of marks per word."""

PROCESSORS, REQUESTS = range(2)
"""The two calendars: processors by alarm, messages by the time of their request for a server."""

ARRIVAL, REQUEST = range(2)
"""Kinds of rows for other ranks: a message or an answer for a processor; a message for a server."""

# Rows between ranks of both kinds have one fixed width: one exchange carries them in their order.
ROW_WORDS = 14
"""Words of a row for another rank, before the header's words."""

BEGAN, TAKEN, POSTED, MATCHED, CROSSED, RECEIVED = range(6)
"""Kinds of notes: a calc or send began; a CPU took a message in; a receive was posted or matched; a
message crossed a link; a NIC of a network's processor received a message.
"""

NOTE_KINDS, NOTE_BITS = 7, 3
"""Mask and number of bits of a note's first word for its kind; the bits above are the CPU, or for a
crossing the number of the hop.
"""

NOTE = (WHAT, NODE, PLACE, SOURCE, INDEX, READY, BEGIN, END) = tuple(range(8))
"""Words of a note.

They are: the note's kind; the processor or node; the operation's number, or the port; the message's
source; the number of its send. Three times follow: when the message was ready, the begin, and the
end. The end is when the CPU or link became free, or the receive ended.
"""

ROWS, NOTES = 1, 2
"""Requests in `WindowLedger.wants_room`: for free rows and lists, and for rows for notes."""

TOO_LATE, UNWIRED, ASTRAY, ENDLESS, STALLED = range(1, 6)
"""Errors in `WindowLedger.wrong`; 0 means none."""


class TimedConstants(Record):
    """Constants of a run."""

    nodes: int  # of the network; 0: no network
    ports: int
    rank: int
    ranks: int
    first_position: int  # of this rank's processors, in the mapping's order
    cpus: int  # per processor
    # Times of processors: CPU per message and further byte, NIC per message and further byte. Then
    # the size of the largest eager message.
    overhead: int
    overhead_byte: int
    gap: int
    gap_byte: int
    eager: int
    at_once: bool  # True if a match ends a send by rendezvous at the same time
    # The network.
    mode: int
    apart: int  # latency between any two processors without a network
    window: int
    serving: int  # FULL, HALF or BUS
    first_bus: int  # of this rank
    busses_each: int  # per rank
    hops_most: int
    classes: int
    span: int  # largest number of a processor's operations with rows at a time
    patterns: int  # a bit for each kind of receive in the program
    lists: int  # number of these kinds
    sends_most: int  # per processor
    receives_most: int
    numbered: bool  # True if the header's last word is the message's number
    noted: bool  # True if notes of all events are written
    notes_most: int  # of a processor at a time, except for arriving messages
    # Guards against livelock: a scheduler error could otherwise loop in one window forever.
    idle_most: int  # largest number of consecutive turns of processors without event


class WindowLedger(Record):
    """Counts of a rank, and records of its last window."""

    begun: int  # processors with issued initial operations
    window: Annotated[int, Same]  # number of the current window
    ended: Annotated[int, Same]
    messages: Annotated[int, Total]
    hops: Annotated[int, Total]
    waits: Annotated[int, Total]
    events: Annotated[int, Total]
    unmatched: Annotated[int, Total]
    matched: int  # 1 after a match that ends a send of another processor at once
    matched_source: int  # this processor
    matched_index: int  # the send
    matched_done: int  # end of the send
    turns: Annotated[int, Largest]  # numbers given to posted receives and unexpected messages
    free: int  # free rows of messages, at the start of `TimedState.free`
    entries: int  # in the table of lists
    # The pool of blocks is a free list inside `TimedState.cells`: no allocation happens within a
    # window.
    blocks: int  # first free block of `TimedState.cells`, linked to the others
    away: int  # rows for other ranks
    served: int  # servers with requests in this window, at the start of `TimedState.active`
    notes: int  # notes since they were last fetched
    next: int  # first window with an event on this rank; `NEVER`: none
    wants_room: int
    idle: int  # turns of processors since the last event
    # A window has two halves. With shared servers the kernel returns between them, and this flag
    # shows where to continue.
    passed: int  # 1 after the processors' half of the window
    wrong: int
    wrong_node: int
    wrong_source: int
    wrong_target: int


class Statement(Record):
    """An operation of a program, shared by all processors with the same script.

    The statements of a script are consecutive, and there is one more after the last script.
    """

    amount: int  # time of a calc, bytes of a message
    tag: Word32
    peer: Short  # other processor, or its distance
    way: Short  # 0: `peer` is a processor; else its row of `TimedState.ways` plus 1
    what: Short
    needs: Short  # its first row of `TimedState.needs`
    followers: Short  # its first row of `TimedState.followers`


class Operation(Record):
    """An operation of a processor.

    `turn`, `before`, `issuer` and `order` are the key, which decides among operations and messages
    that could begin at the same time. `left` and `right` are the children in a heap of issued
    operations. `left` is also the next element in a list.
    """

    # The heap key comes first: comparisons of the priority queue read `turn` far more often than
    # other fields.
    turn: int  # time of the issuing step; for a posted receive: its place among these
    before: int  # time of the step that issued this step
    ready: int  # latest end of the requirements; once issued: least time of the begin
    number: Short  # index among the processor's operations
    missing: Short  # unfulfilled requirements; `DONE_WITH`: finished
    left: Short
    right: Short
    issuer: Short  # processor of the issuing step
    order: Word32  # place among all operations and messages that the issuer has issued


class TimedProcessor(Record):
    """A processor of this rank."""

    # One alarm per processor, not one event per cause: the event list has at most one entry per
    # processor.
    alarm: int  # time of its next events
    out_free: int
    in_free: int
    end: int
    orders: int  # number of issued operations, messages and answers
    number: Short
    script: Short  # its first statement
    count: Short  # number of its statements
    first: Short  # row of its first operation
    coming: Short  # heap of messages whose first byte is still in flight, and of answers
    later: Short  # heap of issued operations that cannot begin yet, and of issued receives
    bucket: Short  # bucket of the calendar; `NONE`: no alarm
    next: Short
    before: Short
    further: Short  # processor further in its bucket's list, for prefetching; may be outdated


class Cpu(Record):
    """A CPU: the end of its busy time, and heaps of waiting items."""

    free: int
    calc: Short
    send: Short
    message: Short


class TimedMessage(Record):
    """A message in flight or received; also the answer to a send by rendezvous.

    `ready` is the time when its first byte is ready for its next stage, `tail` when its last byte
    is. For a received message `ready` is its place among the unexpected messages, and `tail` the
    end of its reception. `sent`, `before`, `source` and `order` are the key, as in `Operation`. An
    answer has length 0. Its `ready` is the time of its arrival, `tail` the end of the send,
    `source` the receiver of the message, `target` and `index` the send.
    """

    # The fields for links come first, in one cache line, because messages spend most of the time on
    # links.
    ready: int
    tail: int
    length: int  # in bytes
    left: Short
    right: Short
    node: Short  # current node, where the message requests the port
    port: Short
    hop: Short
    target: Short
    source: Short
    index: Short  # index of the send among the source's operations
    tag: Word32
    order: Word32
    sent: int
    before: int
    cpu: Short
    state: Short


TRAVELS, COMES, WAITS, UNEXPECTED = range(1, 5)
"""States of a message, for checkpoints; 0: the row is free."""


class Server(Record):
    """A server: the time when it is free, its total busy time, and the bytes it carried.

    `line` is a heap of the requests in this window, except the first one found. `beyond` is the
    node behind a unidirectional link, known after its first use.
    """

    free: int
    busy: int
    carried: int
    line: Short
    # The neighbour rule may take several divisions, and a unidirectional link always leads to the
    # same node.
    beyond: Short


class Entry(Record):
    """The list of a receiver for a source and a tag: posted receives, or unexpected messages."""

    # Keys and list ends in one record of 24 bytes: most look-ups of the hash table use one cache
    # line.
    tag: Word32
    source: Short
    slot: Short  # `NONE`: the entry is empty
    head: Short
    tail: Short
    posted: Short


Statements = Annotated[Array, Statement]
Operations = Annotated[Array, Operation]
Processors = Annotated[Array, TimedProcessor]
Cpus = Annotated[Array, Cpu]
Messages = Annotated[Array, TimedMessage]
Servers = Annotated[Array, Server]
Entries = Annotated[Array, Entry]


class PricedRoutes(NamedTuple):
    """Rules for the ways of messages, and the costs of links by class."""

    neighbor: PortRule
    channel: PortRule
    link_class: PortRule
    wired: Ints
    start: StartRule
    decide: DecideRule
    params: Ints
    header_words: int
    latencies: Ints
    byte_times: Ints


class BlockMapping(NamedTuple):
    """Mapping of processors to ranks: its rule, its parameters, the blocks."""

    place: PortRule
    params: Ints
    split: Ints
    in_order: int  # 1 if positions are the processors' numbers


class TimedState(NamedTuple):
    """The state of a rank.

    `followers` contains the operations that wait for each statement: twice the number of an
    operation of the same processor, plus 1 if it waits for the begin.
    `ways` contains the stride and radix of a digit, for peers given as a distance. `headers` has
    the headers of `messages`. `links` has, for unexpected messages, the previous and the next
    message in each of their lists. `numbers` is each processor's first operation in the whole
    program. `marks` has a bit for each server with a request in this window, separate from the
    servers because the order of access is random. `active` has the first request of each of these
    servers. `heads` has, for each bucket of the two calendars, the first processor, and the index
    in `cells` of the last request. `recent` has a count for each bucket, then the last processors
    entered, in turn. `freed` has, for each kind, the first and the last of the operations whose
    last requirement the current step has met.
    """

    statements: Statements
    ways: Table
    operations: Operations
    freed: Table
    followers: Shorts
    processors: Processors
    numbers: Ints
    cpus: Cpus
    messages: Messages
    headers: Table
    links: Table
    free: Shorts
    entries: Entries
    servers: Servers
    # Separate from `servers`: requests come in random order, and a bit set has a far smaller
    # footprint than records.
    marks: Ints
    active: Ints
    heads: Table
    least: Table
    recent: Table
    cells: Ints
    rows: Table
    owners: Shorts
    notes: Table
