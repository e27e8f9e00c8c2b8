"""Records of the timed machine: all that a rank holds of a run, as kernels and Python read it.

A rank has *operations*, those of a processor side by side, and *messages*, which are anywhere on
their way. Both are rows of arrays, and stand in heaps and lists by the numbers of their rows. A
*server* is what messages pass one after the other: a direction of a link, a half-duplex link, a
bus. Time is in whole units; what they are only people know.
"""

from typing import Annotated, NamedTuple, get_args

from mpinet.base.arguments import DecideRule, PortRule, StartRule
from mpinet.base.arrays import Array, Ints, Shorts, Table
from mpinet.base.choices import Mode
from mpinet.base.records import Record, Short, Word32
from mpinet.machine.heaps import NONE as NONE
from mpinet.machine.state import Largest, Same, Total

# One below 2^62: the sum of two times, and the negated time that a maximum over ranks takes, still
# fit into 64 bits.
NEVER = (1 << 62) - 1
"""A time that does not come."""

LATEST = 1 << 60
"""Times from which on a run is refused: what is added to one in an event stays below 2^62."""

CALC, SEND, RECV = range(3)
KINDS = ("calc", "send", "recv")

# A statement is read at each release of its operation: one word with all flags keeps it within half
# a line of the cache.
KIND_BITS, HAS_STARTERS, CPU_SHIFT = 3, 4, 3
"""Layout of `Statement.what`: the kind, whether others wait for its begin, its CPU."""

# Far below any count that decrements of an operation released twice can reach, so that done never
# turns into ready again.
DONE_WITH = -(1 << 30)
"""Requirements that an operation lacks, or less, which is done."""

ANY = -1
"""Any source."""

ANY_TAG = (1 << 32) - 1
"""Any tag."""

ANY_SOURCES, ANY_TAGS = 2, 1
PATTERNS = 4
"""Kinds of receives, by what they leave open: a number below 4, made of these two bits."""

MODES = get_args(Mode)
CUT, STORE, IDEAL = range(3)

FULL, HALF, BUS = range(3)
"""Kinds of servers: a direction of a link, a link, a bus."""

# A bucket is a linked list, whose next element is known only after a load. The ring of recent
# entries gives addresses that can be prefetched.
RECENT = 8
"""Processors that a bucket remembers of those that it got last."""

AHEAD = 16
"""Processors or servers whose rows are asked for before they are read."""

# A radix heap with base 256: eight levels cover 63-bit window numbers, and an item moves down at
# most eight times.
DIGIT_BITS, DIGITS = 8, 256
"""Bits of a digit of a window's number in a calendar, and how many digits there are."""

BUCKETS = 64 // DIGIT_BITS * DIGITS
"""Buckets of a calendar, for each place and digit."""

# Sixteen words are two lines of the cache: a block is read as one stream, and the pointer to the
# block before costs 1/16 of the memory.
CELLS = 16
"""Words of a block of requests in a calendar: where the block before begins, then the requests."""

# Message and server share one word, so that the stream of requests is sorted to servers without a
# look at any message.
REQUEST_BITS = 32
"""Bits of a request's word for its message; above them is its server."""

# A bit per server instead of a byte: the marks of a million servers fit into the second-level
# cache.
MARK_BITS, MARKS = 6, 64
"""Bits of a server's number for its place in a word of marks, and how many marks a word has."""

PROCESSORS, REQUESTS = range(2)
"""The two calendars: of processors by their alarms, of messages by when they ask for a server."""

ARRIVAL, REQUEST, ANSWER = range(3)
"""Kinds of rows for other ranks: a message for a processor, for a server; a receiver's answer."""

# Rows between ranks have one fixed width, whatever their kind: one exchange carries all three kinds
# in their order.
ROW_WORDS = 12
"""Words of a row for another rank, before the header's."""

BEGAN, TAKEN, POSTED, MATCHED, CROSSED = range(5)
"""Kinds of notes: a calc or send began, a message was taken in, a receive was posted, and matched,
a message crossed a link."""

NOTE_KINDS, NOTE_BITS = 7, 3
"""Bits of a note's first word for its kind; above them the CPU, of a crossing the hop's number."""

NOTE = (WHAT, NODE, PLACE, SOURCE, INDEX, READY, BEGIN, END) = tuple(range(8))
"""Words of a note.

Its kind; the processor or node; the operation's number, or the port; the message, by its source and
the number of its send; when the message was there, when it or the operation began, and when it was
through: when the CPU was free again, the receive done, the link free.
"""

ROWS, NOTES = 1, 2
"""Requests in `WindowLedger.wants_room`: for free rows and lists, and for rows for notes."""

TOO_LATE, UNWIRED, ASTRAY, ENDLESS, STALLED = range(1, 6)
"""Errors, as `WindowLedger.wrong` holds them; 0 is none."""


class TimedConstants(Record):
    """Constants of a run."""

    nodes: int  # of the network; 0: there is none
    ports: int
    rank: int
    ranks: int
    first_position: int  # of the processors of this rank, in the mapping's order
    cpus: int  # of a processor
    # Times of processors: CPU per message and further byte, NIC per message and further byte; the
    # largest eager message.
    overhead: int
    overhead_byte: int
    gap: int
    gap_byte: int
    eager: int
    # The network.
    mode: int
    apart: int  # latency between any two processors, where there is no network
    window: int
    serving: int  # FULL, HALF or BUS
    first_bus: int  # of this rank's
    busses_each: int  # of a rank
    hops_most: int
    classes: int
    span: int  # operations of a processor that have rows at one time
    patterns: int  # a bit for each kind of receive that the program has
    lists: int  # how many kinds that are
    sends_most: int  # of a processor
    receives_most: int
    numbered: bool  # whether the header's last word is the message's number
    noted: bool  # whether notes are taken of all that happens
    notes_most: int  # that a processor takes at once, but for the messages that come
    # Guards against livelock: a scheduler error would otherwise spin in one window for ever.
    idle_most: int  # turns of processors, one after another, in which nothing happens


class WindowLedger(Record):
    """Counts of a rank, and notes on its last window."""

    begun: int  # processors whose operations without requirements have been released
    window: Annotated[int, Same]  # the number of the window at hand
    ended: Annotated[int, Same]
    messages: Annotated[int, Total]
    hops: Annotated[int, Total]
    waits: Annotated[int, Total]
    events: Annotated[int, Total]
    unmatched: Annotated[int, Total]
    done: Annotated[int, Total]  # operations
    turns: Annotated[int, Largest]  # numbers given to posted receives and unexpected messages
    free: int  # rows of messages, the first so many in `TimedState.free`
    entries: int  # of the table of lists
    answers: int  # the first of the messages that are answers of this rank for itself
    # The pool of blocks is a free list inside `TimedState.cells`: no allocation happens within a
    # window.
    blocks: int  # the first free block of `TimedState.cells`; the others follow
    away: int  # rows for other ranks
    served: (
        int  # servers with requests in the window at hand, the first so many in `TimedState.active`
    )
    notes: int  # taken since they were last fetched
    clones: int  # rows of operations that are released twice, given away
    next: int  # the least window in which this rank has something to do; `NEVER`: none
    wants_room: int
    idle: int  # turns of processors since something happened
    # A window has two halves. On shared servers the kernel returns between them, and this flag says
    # where to go on.
    passed: int  # whether the processors' part of the window is done
    wrong: int
    wrong_node: int
    wrong_source: int
    wrong_target: int


class Statement(Record):
    """An operation as its program says it, for all processors that follow one script.

    Those of a script stand side by side, and one is behind the last.
    """

    amount: int  # time of a calc, bytes of a message
    tag: Word32
    peer: Short  # the other processor, or how far off it is
    way: Short  # 0: `peer` is a processor; else 1 more than its row of `TimedState.ways`
    what: Short
    needs: Short  # its first row of `TimedState.needs`
    followers: Short  # its first row of `TimedState.followers`


class Operation(Record):
    """An operation of a processor; the rows behind all of them are for those released twice.

    Its children are those of a heap of operations that are ready; `left` is also the next of a
    list of posted receives.
    """

    # The heap key first: comparisons of the priority queue read `turn` far more often than any
    # other field.
    turn: int  # when it was issued; of a receive: its place among those posted
    event: int  # when it began; of a receive: when it was matched
    number: Short  # among the processor's
    missing: Short  # requirements that are not met; `DONE_WITH` or less: it is done
    left: Short
    right: Short


class TimedProcessor(Record):
    """A processor of this rank."""

    # One alarm per processor, not one event per cause: the event list has at most one entry a
    # processor.
    alarm: int  # when it looks at what it has to do
    out_free: int
    in_free: int
    end: int
    number: Short
    script: Short  # its first statement
    count: Short  # of its statements
    first: Short  # row of its first operation
    coming: Short  # heap of messages whose first byte is still to come
    ended: Short  # heap of operations' ends to come: messages that stand for them
    bucket: Short  # of the calendar; `NONE`: it has no alarm
    next: Short
    before: Short
    further: Short  # one further on in its bucket's list, as it was: to be asked for early


class Cpu(Record):
    """A CPU: until when it is busy, with which operation; what waits for it, a heap for each."""

    free: int
    running: Short
    calc: Short
    send: Short
    message: Short


class TimedMessage(Record):
    """A message on its way or taken in; also the end of an operation that is still to come.

    `ready` is when its first byte is there for what comes next, `tail` when its last one is. Of
    one taken in these are its place among the unexpected, and the time at which it is in. Of an
    end `ready` is its time, `target` the processor, and `index` the operation's number.
    """

    # What links need stands first, in one line of the cache: in most of their lives messages pass
    # links. `left` is also the next of a list of answers.
    ready: int
    tail: int
    length: int  # bytes
    left: Short
    right: Short
    node: Short  # where it asks for the port, or is
    port: Short
    hop: Short
    target: Short
    source: Short
    index: Short  # of the send among the source's operations
    tag: Word32
    sent: int
    cpu: Short
    state: Short


TRAVELS, COMES, WAITS, UNEXPECTED, ENDS = range(1, 6)
"""States of a message, for checkpoints; 0: the row is free."""


class Server(Record):
    """A server: until when it is busy, and what it carried.

    `line` is a heap of the requests in this window but for the first that was found, and `beyond`
    the node behind a link of one direction, once somebody has gone there.
    """

    free: int
    busy: int
    carried: int
    line: Short
    # The neighbour rule may take several divisions; a link of one direction leads to one node for
    # ever.
    beyond: Short


class Entry(Record):
    """The list of a receiver for a source and a tag: posted receives, or unexpected messages."""

    # Keys and list ends in one record of 24 bytes: most look-ups of the hash table touch one line
    # of the cache.
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
    """Rules by which messages find their ways, and what links cost, by their class."""

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
    in_order: int  # whether positions are the processors' numbers


class TimedState(NamedTuple):
    """The state of a rank.

    `needs` has the statements' requirements, `followers` those that wait for them: numbers of
    operations of the same processor, twice, and 1 more where it is the begin that matters. `ways`
    says how processors are counted for peers that are so far off: stride and radix of a digit.
    `headers` belongs to `messages`; `links` to unexpected ones: of each of their lists the message
    before and the one behind. `numbers` has each processor's first operation in the whole program.
    `marks` has a bit for each server, whether a request in this window was found: apart from the
    servers, for it is looked for in no order. `active` has the first request of each. `heads` has
    for each bucket of the two calendars the first processor, and where in `cells` the last request
    stands; `recent` the processors that each bucket got last, in turn, behind their count.
    """

    statements: Statements
    ways: Table
    operations: Operations
    needs: Shorts
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
    # Kept apart from `servers`: requests come in no order, and a bit set has a far smaller
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
