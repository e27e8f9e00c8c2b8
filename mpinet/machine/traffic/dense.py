"""The dense step: all nodes of a tile side by side, the lanes of a node as bits of a word.

The step of `mpinet.machine.traffic.step` visits occupied lanes one by one. Its branches depend on
the flits, so a processor mispredicts them. This step has the same results, but most of its
instructions treat all lanes of 4 to 16 nodes at once, whether the lanes hold flits or not. It is
therefore faster wherever many flits move, and slower where few flits move.

*Rows.* A row is one word for each of the `W` nodes of a tile. Bit l of a word belongs to lane l of
its node. A number of each lane (credits, a place in its buffer, the output of its flit) is a group
of rows: bit b of the number of lane l is bit l of row b. The rows of a tile are adjacent in
`Dense.words`. Rows that live for one step are in `Dense.work`, which all tiles share. All rows are
at constant distances, so LLVM knows that they do not overlap and vectorises the loops over nodes.

*Lanes.* A port has `WIDTH` lanes, a power of two, and each class of channels has `STRIDE` of them.
Numbers without a channel belong to lanes that are always empty. The slots of the source follow the
lanes of the last port.

*Flits.* A lane is a queue of codes: the output and the class of each waiting flit, decided once
when the flit arrives, and a bit for a tail. The messages of the flits are in rings. The sender
writes into the ring of the next node. The written place is free and is not read in this step, so
the order of nodes makes no difference.

*Ports.* Number ``(tile * (PORTS + 1) + p) * W + u`` is port p of a node. `Dense.ends` contains the
number of the port at the other end of the link, `Dense.rings` the first place of its rings.

All capitals except `W` are constants of a variant (`constants`), compiled into the kernel.
"""

from functools import cache
from typing import Annotated, Any, NamedTuple

import numpy as np

from mpinet.base.arrays import Array, Bytes, Counts, Halves, Ints, Shorts, Words
from mpinet.base.records import Record, Short, Word32
from mpinet.compiled import kernel, part, sweep
from mpinet.machine.traffic.counting import enter, finish
from mpinet.machine.traffic.injection import book_drawn, draw_message
from mpinet.machine.traffic.layout import (
    NONE,
    UNDECIDED,
    Books,
    RoutingRules,
    Sources,
    TrafficConstants,
    TrafficLedger,
    TrafficState,
)
from mpinet.machine.traffic.places import give_back, taken_from
from mpinet.machine.traffic.plain import plain_rules
from mpinet.machine.traffic.route_computation import called
from mpinet.machine.traffic.step import closes, is_over, note_begin, note_end
from mpinet.networks.arithmetic import lowest_one
from mpinet.networks.routing import ARRIVED

W_BITS = 6
W = 1 << W_BITS
"""Nodes of a tile: the nodes with an event are the bits of one number."""

ARRIVED_BIT = 30
"""Entry of `Dense.fields` for a message at its target; lower entries are bits of a packed place."""

WITH_BIT = tuple(np.uint64(sum(1 << k for k in range(64) if k >> b & 1)) for b in range(6))
"""The lanes whose numbers have bit b."""


class Shape(NamedTuple):
    """The properties of a run that are compiled into a variant of the kernels."""

    ports: int
    vcs: int
    classes: int
    buffer: int
    long: bool
    """True if messages have more than one flit."""
    straight: bool
    """True if a message keeps its class while it leaves by the port with the same number."""
    by_pair: bool
    """True if `Dense.ways` has an entry for each pair of nodes."""

    @property
    def word_bits(self) -> int:
        """Bits of a word, for all lanes of a node; 0: a node has too many lanes."""
        return constants(self)["WORD"]


def constants(shape: Shape) -> dict[str, int]:
    """Return the constants of a variant: numbers, then the offsets of rows in words."""
    of_class = shape.vcs // shape.classes
    stride = 1 << (of_class - 1).bit_length()
    width = stride << (shape.classes - 1).bit_length()
    place, credits = (shape.buffer - 1).bit_length(), shape.buffer.bit_length()
    outs, groups = shape.ports.bit_length(), (shape.classes - 1).bit_length()
    codes, holds = outs + groups + shape.long, (of_class - 1).bit_length()
    lanes = (shape.ports + 1) * width
    found = {
        "PORTS": shape.ports, "VCS": shape.vcs, "CLASSES": shape.classes, "OF_CLASS": of_class,
        "STRIDE": stride, "WIDTH": width, "WIDTH_BITS": (width - 1).bit_length(),
        "STRIDE_BITS": (stride - 1).bit_length(), "LANE_BITS": (lanes - 1).bit_length(),
        "BUFFER": shape.buffer, "PLACE_BITS": place, "CREDIT_BITS": credits, "OUT_BITS": outs,
        "CLASS_BITS": groups, "CODES": codes, "HOLD_BITS": holds, "LONG": int(shape.long),
        "STRAIGHT": int(shape.straight), "BY_PAIR": int(shape.by_pair),
        "PORT": (1 << width) - 1, "NETWORK": (1 << shape.ports * width) - 1,
        "SOURCE": (1 << shape.vcs) - 1 << shape.ports * width, "FIELD": (1 << of_class) - 1,
        "IS_TAIL": 1 << 2 * width, "IS_HEAD": 2 << 2 * width,
        "FIRST": sum(1 << p * width + c * stride
                     for p in range(shape.ports) for c in range(shape.classes)),
    }  # fmt: skip
    many = shape.ports + 1
    widest = max(lanes, 2 * width + 2)
    found["WORD"] = next((bits for bits in (16, 32, 64) if widest <= bits), 0)
    found |= _offsets(
        FILLED=shape.buffer + 1, CODE=(shape.buffer + 1) * codes, CREDIT=credits, HEAD=place,
        END=place, TURN=many, BEGUN=1, HELD=1, HOLD=holds, LAST=(outs + groups) * shape.long,
        SENT=shape.vcs * shape.long, WAITS=1, HOST=1, LOAD=shape.ports, MOVES=1, FLITS=1,
        MOST=1, TILE=0,
    )  # fmt: skip
    return found | _offsets(
        LINK=shape.ports, CAME=1, NEW=codes, BORN=1, BEST=1, CAN=1, GROUP=shape.classes,
        HOLDS=shape.vcs * shape.long, WANT=many, TAKEN=1, LEFT=1, USED=1, FROM=many,
        TO=shape.ports, HEADS=1, ENDS=1, WORK=0,
    )  # fmt: skip


def _offsets(**rows: int) -> dict[str, int]:
    """Return the offset of each group of rows, given the numbers of rows."""
    found, offset = {}, 0
    for name, count in rows.items():
        found[name] = offset
        offset += count * W
    return found


EXAMPLE = Shape(4, 2, 2, 4, False, False, False)
"""Two dimensions with the defaults of ``mpinet load``."""

COMMON = [
    EXAMPLE._replace(ports=ports, classes=classes, long=long)
    for ports in (4, 6)
    for classes in (1, 2)
    for long in (False, True)
]
"""Shapes of meshes and tori of two and three dimensions, compiled into the package's library."""

(
    PORTS, VCS, CLASSES, OF_CLASS, STRIDE, WIDTH, WIDTH_BITS, STRIDE_BITS, LANE_BITS, BUFFER,
    PLACE_BITS, CREDIT_BITS, OUT_BITS, CLASS_BITS, CODES, HOLD_BITS, LONG, STRAIGHT, BY_PAIR, PORT,
    NETWORK, SOURCE, FIELD, IS_TAIL, IS_HEAD, FIRST, WORD, FILLED, CODE, CREDIT, HEAD, END, TURN,
    BEGUN, HELD, HOLD, LAST, SENT, WAITS, HOST, LOAD, MOVES, FLITS, MOST, TILE, LINK, CAME, NEW,
    BORN, BEST, CAN, GROUP, HOLDS, WANT, TAKEN, LEFT, USED, FROM, TO, HEADS, ENDS, WORK,
) = constants(EXAMPLE).values()  # fmt: skip


class Goal(Record):
    """The data of a message that its flits need at each hop."""

    place: Word32  # packed place of its target
    hops: Short


class Dense(NamedTuple):
    """The dense state of all nodes, with words of 16 bits.

    `words` contains the rows of all tiles, `work` the rows of a step. By number of a port, in two
    halves for even and odd steps: `links`, the channels of flits and of credits that a node has put
    on its link; `codes`, the code of the head that arrives. By number of a port: `ends` and
    `rings` (see above), and `there`, the packed place of the node at the other end. By node:
    `dice`. By node number: `spots`, its packed place. `ring` contains messages. By message:
    `goals`. `ways` and `fields` are the table of routes (see `way`).
    """

    words: Halves
    work: Halves
    links: Halves
    codes: Halves
    ends: Counts
    rings: Counts
    there: Counts
    dice: Counts
    spots: Counts
    ring: Shorts
    goals: Annotated[Array, Goal]
    ways: Bytes
    fields: Ints


def _wider(name: str, kind: Any) -> Any:
    """Return the group with words of another type."""
    hints = {field: kind for field in ("words", "work", "links", "codes")}
    make: Any = NamedTuple
    return make(name, list((Dense.__annotations__ | hints).items()))


Dense32, Dense64 = _wider("Dense32", Counts), _wider("Dense64", Words)


@part
def word(number):
    """Return a number as a word; each intermediate value is cast, or LLVM calculates in 64 bits."""
    return np.uint16(number)


@part
def word32(number):
    """Return a number as a word of 32 bits."""
    return np.uint32(number)


@part
def word64(number):
    """Return a number as a word of 64 bits."""
    return np.uint64(number)


@part
def pick(condition, one, other):
    """Return one of two values; both are known, so LLVM selects without a branch."""
    return one if condition else other


@part
def any_of(one, other):
    """Return True if two words have a lane in common."""
    return word(one & other) != word(0)


@part
def mixed(number):
    """Scramble 32 bits as `draws.mix32`, in 32-bit arithmetic for vectors."""
    number = np.uint32(number ^ (number >> np.uint32(16)))
    number = np.uint32(number * np.uint32(0x7FEB352D))
    number = np.uint32(number ^ (number >> np.uint32(15)))
    number = np.uint32(number * np.uint32(0x846CA68B))
    return np.uint32(number ^ (number >> np.uint32(16)))


@part
def nodes_with(work, row, lanes):
    """Return a number with a bit for each node that has one of these lanes in a row."""
    nodes = np.int64(0)
    for u in range(W):
        nodes |= pick(any_of(work[row + u], lanes), np.int64(1) << u, np.int64(0))
    return nodes


@part
def way(here, target, ways, fields):
    """Return the code of a message at a packed place: its output and its class."""
    if BY_PAIR:
        return np.int64(ways[here * fields[0] + target])
    # Dimension order: the lowest coordinate that differs decides. Its field is the field of the
    # lowest bit that differs, found without a loop over dimensions.
    field = fields[lowest_one((here ^ target) | 1 << ARRIVED_BIT)]
    shift, width, base = field & 63, field >> 8 & 63, field >> 16
    most = (1 << width) - 1
    return np.int64(ways[base + ((here >> shift & most) << width) + (target >> shift & most)])


@part
def in_class(code, out, group):
    """Return the code of a message that left a node by port `out` in a class of channels."""
    if STRAIGHT and code & (1 << OUT_BITS) - 1 == out:
        return out | group << OUT_BITS
    return code


@part
def with_number(words, k, bits, number, lanes):
    """Return those of some lanes that have a number in the planes from word `k` on."""
    for b in range(bits):
        plane = words[k + b * W]
        lanes = word(lanes & (plane if number >> b & 1 else word(~plane)))
    return lanes


@part
def number_of(one, words, k):
    """Return a place in a node's rings: of the single lane in `one`, with its number in planes."""
    found = word(0)
    for b in range(LANE_BITS):
        lanes = word(WITH_BIT[b])
        found = word(found | pick(any_of(one, lanes), word(1 << PLACE_BITS + b), word(0)))
    for b in range(PLACE_BITS):
        found = word(found | pick(any_of(one, words[k + b * W]), word(1 << b), word(0)))
    return found


@part
def ports_with(rows, k, bit):
    """Return the lanes of all ports whose word has a bit; `k` is the word of the first port."""
    lanes = word(0)
    for p in range(PORTS):
        some = any_of(rows[k + p * W], bit)
        lanes = word(lanes | pick(some, word(PORT << p * WIDTH), word(0)))
    return lanes


@sweep
def receive(tile, before, links, ends, work):
    """Fetch from the other ends of links the flits and credits of the step before."""
    for p in range(PORTS):
        row = (tile * (PORTS + 1) + p) * W
        for u in range(W):
            work[LINK + p * W + u] = links[before + ends[row + u]]


@sweep
def accept(at, words, work):
    """Add the credits, and find the lanes with a new flit."""
    for u in range(W):
        came, carry, flits = word(0), word(0), words[at + FLITS + u]
        for p in range(PORTS):
            link = work[LINK + p * W + u]
            new = word(link & word(PORT))
            back = word(word(link >> word(WIDTH)) & word(PORT))
            came = word(came | word(new << word(p * WIDTH)))
            carry = word(carry | word(back << word(p * WIDTH)))
            flits = word(flits + pick(new != word(0), word(1), word(0)))
        work[CAME + u] = came
        words[at + FLITS + u] = flits
        most = words[at + MOST + u]
        words[at + MOST + u] = pick(flits > most, flits, most)
        for b in range(CREDIT_BITS):
            # A binary addition of one to the numbers of some lanes: the carry goes up the planes.
            old = words[at + CREDIT + b * W + u]
            words[at + CREDIT + b * W + u] = word(old ^ carry)
            carry = word(carry & old)


@sweep
def decide(at, first, codes, words, work):
    """Write the codes of new flits behind the flits in their lanes."""
    for u in range(W):
        came = work[CAME + u]
        heads = word(~word(0))
        if LONG:
            heads = ports_with(work, LINK + u, word(IS_HEAD))
            tails = ports_with(work, LINK + u, word(IS_TAIL))
            work[NEW + (CODES - 1) * W + u] = word(tails & came)
        for b in range(OUT_BITS + CLASS_BITS):
            plane = ports_with(codes, first + u, word(1 << b))
            if LONG:
                # The flits behind a head have its code, and come with none.
                last = at + LAST + b * W + u
                plane = word(word(plane & heads) | word(words[last] & ~heads))
                words[last] = word(word(plane & came) | word(words[last] & ~came))
            work[NEW + b * W + u] = word(plane & came)
    for i in range(BUFFER):
        rest = word(0)
        for u in range(W):
            came, old = work[CAME + u], words[at + FILLED + i * W + u]
            new = word(came & ~old)
            words[at + FILLED + i * W + u] = word(old | came)
            came = word(came & old)
            work[CAME + u] = came
            rest = word(rest | came)
            for b in range(CODES):
                k = at + CODE + (i * CODES + b) * W + u
                words[k] = word(word(words[k] & ~new) | word(work[NEW + b * W + u] & new))
        # Queues are much shorter than buffers in most tiles and steps.
        if rest == word(0):
            break


@sweep
def find_births(tile, at, t, most, dice, words, work):
    """Mark nodes with a birth (1), and nodes with a waiting message and a free slot (2)."""
    for u in range(W):
        thrown = mixed(mixed(np.uint32(dice[tile * W + u] + np.uint32(t))))
        work[BORN + u] = pick(thrown <= np.uint32(most), word(1), word(0))
    for u in range(W):
        born = word(work[BORN + u] & words[at + HOST + u])
        full = word(words[at + FILLED + u] & word(SOURCE)) == word(SOURCE)
        work[BORN + u] = word(born | pick(full, word(0), word(words[at + WAITS + u] << word(1))))


@sweep
def inject(tile, at, routes, rules, sources, state, books, dense, ledger):
    """Generate messages, and put waiting messages into free slots, node by node."""
    nodes, messages, headers, words, work, ring, goals, spots = (
        state.nodes, state.messages, state.headers, dense.words, dense.work, dense.ring,
        dense.goals, dense.spots,
    )  # fmt: skip
    t, trace, target_of, pattern = ledger.now, sources.trace, sources.target, sources.params
    first_ring = tile * (PORTS + 1) * WIDTH
    events = nodes_with(work, BORN, word(3))
    while events != 0:
        u = lowest_one(events)
        events &= events - 1
        slot, k = tile * W + u, at + u
        node = nodes[slot]
        if work[BORN + u] & word(1) != word(0):
            if node.queued == 0:
                node.first_born = t
            births = book_drawn(node, slot, t, rules, state, books, ledger)
            node.queued += births
            node.waiting += births
        for s in range(VCS):
            lane = PORTS * WIDTH + s
            one = word(word(1) << word(lane))
            if node.queued == 0 or any_of(words[k + FILLED], one):
                continue
            m = taken_from(state.free, ledger)
            message, goal = messages[m], goals[m]
            draw_message(node, (node, message, trace, target_of, pattern, 0, state.bounds, rules))
            headers[m, 0] = message.target
            goal.place, goal.hops = spots[message.target], 0
            code = way(np.int64(spots[node.number]), np.int64(goal.place), dense.ways, dense.fields)
            ring[((first_ring + lane) << PLACE_BITS) * W + u] = m
            words[k + FILLED] = word(words[k + FILLED] | one)
            put_code(words, k + CODE, CODES, one, code)
        words[k + WAITS] = pick(node.queued != 0, word(1), word(0))


@part
def put_code(words, k, bits, one, code):
    """Write the code of the single lane in `one` into planes from word `k` on."""
    for b in range(bits):
        other = word(words[k + b * W] & word(~one))
        words[k + b * W] = word(other | pick(code >> b & 1 != 0, one, word(0)))


@sweep
def ask(at, words, work):
    """Write the lanes that can send a flit to each output, and the channels for heads."""
    for u in range(W):
        k, has = at + u, word(0)
        for b in range(CREDIT_BITS):
            has = word(has | words[k + CREDIT + b * W])
        work[CAN + u] = has
        best = word(has & ~words[k + HELD]) if LONG else has
        if OF_CLASS > 1:
            # Of each class the channels with most credits, from the highest bit of credits down,
            # then the lowest of these channels: for all outputs and classes at once.
            for b in range(CREDIT_BITS):
                more = word(best & words[k + CREDIT + (CREDIT_BITS - 1 - b) * W])
                some = more
                for j in range(1, OF_CLASS):
                    some = word(some | word(more >> word(j)))
                some = word(word(some & word(FIRST)) * word(FIELD))
                best = word(more | word(best & ~some))
            lower = best
            for j in range(1, OF_CLASS):
                lower = word(lower | word(word(best << word(j)) & word(~(FIRST * ((1 << j) - 1)))))
            best = word(best & word(~word(word(lower << word(1)) & word(~FIRST))))
        work[BEST + u] = best
    for c in range(CLASSES):
        for u in range(W):
            k, begun = at + u, words[at + BEGUN + u]
            classes = k + CODE + OUT_BITS * W
            heads = with_number(words, classes, CLASS_BITS, c, word(~begun))
            work[GROUP + c * W + u] = heads
            if LONG:
                begun = with_number(words, classes, CLASS_BITS, c, begun)
                for j in range(OF_CLASS):
                    holds = with_number(words, k + HOLD, HOLD_BITS, j, begun)
                    work[HOLDS + (c * OF_CLASS + j) * W + u] = holds
    # A loop of its own for each output: of larger bodies LLVM makes no vectors.
    for o in range(PORTS + 1):
        for u in range(W):
            wants = with_number(words, at + CODE + u, OUT_BITS, o, words[at + FILLED + u])
            if o < PORTS:
                allowed = word(0)
                for c in range(CLASSES):
                    field = word(word(FIELD << c * STRIDE) << word(o * WIDTH))
                    is_free = any_of(work[BEST + u], field)
                    allowed = word(allowed | pick(is_free, work[GROUP + c * W + u], word(0)))
                    for j in range(OF_CLASS * LONG):
                        # Flits behind a head go through its channel, and need its credit alone.
                        holds = work[HOLDS + (c * OF_CLASS + j) * W + u]
                        one = word(word(1 << c * STRIDE + j) << word(o * WIDTH))
                        is_open = any_of(work[CAN + u], one)
                        allowed = word(allowed | pick(is_open, holds, word(0)))
                wants = word(wants & allowed)
            work[WANT + o * W + u] = wants
    for u in range(W):
        work[TAKEN + u] = word(0)


@sweep
def grant(at, turn, words, work):
    """Let each output grant the next lane in turn; a lane that sends blocks its port."""
    for i in range(PORTS + 1):
        o = (turn + i if turn + i <= PORTS else turn + i - PORTS - 1) * W
        for u in range(W):
            wants = word(work[WANT + o + u] & ~work[TAKEN + u])
            ahead = word(wants & words[at + TURN + o + u])
            among = pick(ahead != word(0), ahead, wants)
            one = word(among & word(word(0) - among))
            behind = word(word(0) - word(one << word(1)))
            words[at + TURN + o + u] = pick(one != word(0), behind, words[at + TURN + o + u])
            work[WANT + o + u] = one
            # The lane becomes all lanes of its port: a bit moves to its partner in pairs, fours, ..
            for b in range(WIDTH_BITS):
                up = word(word(one << word(1 << b)) & word(WITH_BIT[b]))
                down = word(word(one >> word(1 << b)) & word(~WITH_BIT[b]))
                one = word(one | word(up | down))
            work[TAKEN + u] = word(work[TAKEN + u] | one)


@sweep
def send(at, words, work):
    """Choose the channels of granted flits, and change credits and holders."""
    for u in range(W):
        k, best, left, used = at + u, work[BEST + u], word(0), word(0)
        begun, held = words[k + BEGUN], words[k + HELD]
        tails = words[k + CODE + (CODES - 1) * W] if LONG else word(~word(0))
        for o in range(PORTS):
            one = work[WANT + o * W + u]
            of_class = pick(one != word(0), word(PORT), word(0))
            for b in range(CLASS_BITS):
                is_set = any_of(one, words[k + CODE + (OUT_BITS + b) * W])
                of_class = word(of_class & channels_with(is_set, word(WITH_BIT[STRIDE_BITS + b])))
            channel = word(word(best >> word(o * WIDTH)) & of_class)
            if LONG:
                follows = of_class
                for b in range(HOLD_BITS):
                    is_set = any_of(one, words[k + HOLD + b * W])
                    follows = word(follows & channels_with(is_set, word(WITH_BIT[b])))
                channel = pick(any_of(one, begun), follows, channel)
                is_tail, is_head = any_of(one, tails), any_of(one, word(~begun))
                lanes = word(channel << word(o * WIDTH))
                held = pick(is_tail, word(held & ~lanes), word(held | lanes))
            used = word(used | word(channel << word(o * WIDTH)))
            if LONG:
                channel = word(channel | pick(is_tail, word(IS_TAIL), word(0)))
                channel = word(channel | pick(is_head, word(IS_HEAD), word(0)))
            work[LINK + o * W + u] = channel
            left = word(left | one)
        last = work[WANT + PORTS * W + u]
        left = word(left | last)
        work[LEFT + u], work[USED + u] = left, used
        work[HEADS + u] = word(left & ~begun)
        work[ENDS + u] = word(last & tails)
        if LONG:
            words[k + HELD] = held
            words[k + BEGUN] = word(word(begun | left) & ~word(left & tails))


@sweep
def find_places(at, words, work):
    """Write the places of the flits that leave: in the rings of their node, and of the next one."""
    for o in range(PORTS + 1):
        for u in range(W):
            work[FROM + o * W + u] = number_of(work[WANT + o * W + u], words, at + HEAD + u)
    for o in range(PORTS):
        for u in range(W):
            channel = word(work[LINK + o * W + u] & word(PORT))
            lanes = word(channel << word(o * WIDTH))
            # In the rings of one port: the port at the other end has another number.
            place = number_of(lanes, words, at + END + u)
            work[TO + o * W + u] = word(place & word((WIDTH << PLACE_BITS) - 1))


@part
def channels_with(is_set, lanes):
    """Return the channels whose number has a bit, or has it not; `lanes` are those with the bit."""
    return pick(is_set, lanes, word(~lanes))


@sweep
def hold(at, words, work):
    """Note the channel that each lane's message holds, within its class."""
    for u in range(W):
        for o in range(PORTS):
            one, channel = work[WANT + o * W + u], work[LINK + o * W + u]
            for b in range(HOLD_BITS):
                k = at + HOLD + b * W + u
                is_set = any_of(word(channel & word(PORT)), word(WITH_BIT[b]))
                words[k] = word(word(words[k] & ~one) | pick(is_set, one, word(0)))


@sweep
def count(at, measuring, words, work):
    """Spend credits, move the ends of queues, and count flits of links, nodes and the step."""
    for u in range(W):
        k, moved, gone = at + u, word(0), word(0)
        for o in range(PORTS + 1):
            one = work[WANT + o * W + u]
            some = pick(one != word(0), word(1), word(0))
            moved = word(moved + some)
            gone = word(gone + pick(any_of(one, word(NETWORK)), word(1), word(0)))
            if o < PORTS:
                words[k + LOAD + o * W] = word(words[k + LOAD + o * W] + word(some & measuring))
        words[k + MOVES] = word(words[k + MOVES] + moved)
        words[k + FLITS] = word(words[k + FLITS] - gone)
        used, carry = work[USED + u], work[USED + u]
        for b in range(CREDIT_BITS):
            old = words[k + CREDIT + b * W]
            words[k + CREDIT + b * W] = word(old ^ used)
            used = word(used & ~old)
        for b in range(PLACE_BITS):
            old = words[k + END + b * W]
            words[k + END + b * W] = word(old ^ carry)
            carry = word(carry & old)
        carry = word(work[LEFT + u] & word(NETWORK))
        for b in range(PLACE_BITS):
            old = words[k + HEAD + b * W]
            words[k + HEAD + b * W] = word(old ^ carry)
            carry = word(carry & old)


@sweep
def put_on_links(first, links, work):
    """Put flits and credits on the links, for the nodes at the other ends."""
    for p in range(PORTS):
        for u in range(W):
            back = word(word(work[LEFT + u] >> word(p * WIDTH)) & word(PORT))
            link = work[LINK + p * W + u]
            links[first + p * W + u] = word(link | word(back << word(WIDTH)))


@sweep
def remove(at, flits, words, work):
    """Take the flits that left out of their lanes; return 1 if any flit left."""
    moved = word(0)
    if LONG:
        for u in range(W):
            # A message in a slot is one code until its tail has left.
            k, left, last = at + u, work[LEFT + u], word(0)
            tails = words[k + CODE + (CODES - 1) * W]
            for s in range(VCS):
                one = word(1 << PORTS * WIDTH + s)
                sent = words[k + SENT + s * W]
                sent = word(sent + pick(any_of(left, one), word(1), word(0)))
                last = word(last | pick(sent == word(flits - 1), one, word(0)))
                words[k + SENT + s * W] = pick(sent == word(flits), word(0), sent)
            words[k + CODE + (CODES - 1) * W] = word(word(tails & word(~SOURCE)) | last)
            work[LEFT + u] = word(left & ~word(left & word(word(SOURCE) & ~tails)))
            moved = word(moved | left)
    for u in range(W):
        moved = word(moved | work[LEFT + u])
    for i in range(BUFFER):
        rest = word(0)
        for u in range(W):
            left, behind = work[LEFT + u], words[at + FILLED + (i + 1) * W + u]
            k = at + FILLED + i * W + u
            words[k] = word(word(behind & left) | word(words[k] & ~left))
            # A lane that becomes empty keeps its code: it may be inside a message.
            moves = word(left & behind)
            rest = word(rest | behind)
            for b in range(CODES):
                k = at + CODE + (i * CODES + b) * W + u
                words[k] = word(word(words[k + CODES * W] & moves) | word(words[k] & ~moves))
        if rest == word(0):
            break
    return moved


@sweep
def push(tile, now, dense):
    """Write the flits that leave into the rings of the next nodes, one by one, with their codes."""
    work, ring, goals, ends, rings, there, codes, ways, fields = (
        dense.work, dense.ring, dense.goals, dense.ends, dense.rings, dense.there, dense.codes,
        dense.ways, dense.fields,
    )  # fmt: skip
    own = tile * (PORTS + 1) * (WIDTH << PLACE_BITS)
    for o in range(PORTS):
        row = (tile * (PORTS + 1) + o) * W
        heads = nodes = nodes_with(work, WANT + o * W, word(~word(0)))
        if LONG:
            heads = nodes_with(work, LINK + o * W, word(IS_HEAD))
            bodies = nodes & ~heads
            while bodies != 0:
                u = lowest_one(bodies)
                bodies &= bodies - 1
                taken, put = np.int64(work[FROM + o * W + u]), np.int64(work[TO + o * W + u])
                ring[rings[row + u] + (put << W_BITS)] = ring[(own + taken) * W + u]
        while heads != 0:
            u = lowest_one(heads)
            heads &= heads - 1
            taken, put = np.int64(work[FROM + o * W + u]), np.int64(work[TO + o * W + u])
            m = ring[(own + taken) * W + u]
            ring[rings[row + u] + (put << W_BITS)] = m
            goal = goals[m]
            goal.hops += 1
            code = way(np.int64(there[row + u]), np.int64(goal.place), ways, fields)
            codes[now + ends[row + u]] = word(in_class(code, o, put >> STRIDE_BITS + PLACE_BITS))


@sweep
def depart(tile, rules, state, dense, ledger):
    """Count the messages that leave their source."""
    nodes, messages, work, ring = state.nodes, state.messages, dense.work, dense.ring
    first_ring = (tile * (PORTS + 1) + PORTS) * WIDTH
    events = nodes_with(work, HEADS, word(SOURCE))
    while events != 0:
        u = lowest_one(events)
        events &= events - 1
        s = lowest_one(np.int64(work[HEADS + u] >> word(PORTS * WIDTH)))
        m = ring[((first_ring + s) << PLACE_BITS) * W + u]
        enter(nodes[tile * W + u], messages[m], rules, ledger)


@sweep
def eject(tile, rules, state, books, dense, ledger):
    """Count the messages whose tail has reached the target."""
    messages, work, ring, goals = state.messages, dense.work, dense.ring, dense.goals
    own = tile * (PORTS + 1) * (WIDTH << PLACE_BITS)
    events = nodes_with(work, ENDS, word(~word(0)))
    while events != 0:
        u = lowest_one(events)
        events &= events - 1
        m = np.int64(ring[(own + np.int64(work[FROM + PORTS * W + u])) * W + u])
        message = messages[m]
        message.hops = goals[m].hops
        finish(message, ledger.now, False, rules, state.bounds, books, ledger)
        give_back(m, state.free, ledger)


@sweep
def note_queues(tile, nodes, work, ledger):
    """Note the longest source queue; queues grow at nodes with a birth alone."""
    events = nodes_with(work, BORN, word(3))
    longest = ledger.source_queue_max
    while events != 0:
        u = lowest_one(events)
        events &= events - 1
        longest = max(longest, np.int64(nodes[tile * W + u].waiting))
    ledger.source_queue_max = longest


@kernel
def advance_dense(
    routes: RoutingRules,
    rules: TrafficConstants,
    sources: Sources,
    state: TrafficState,
    books: Books,
    dense: Dense,
    ledger: TrafficLedger,
    steps: int,
) -> None:
    """Make up to `steps` steps, fewer before the sources close; no flit is then on a link.

    A tile's phases follow each other while its rows are in the cache. The arrivals of a step are
    therefore the first phase of the next step, and the last pass of a call has arrivals alone.
    """
    rules = plain_rules(rules)
    calls, targets = called(routes), Sources(sources.target.call, sources.params, sources.trace)
    words, work, half = dense.words, dense.work, dense.links.size // 2
    made, going = 0, True
    while going:
        going = made < steps and ledger.free >= rules.margin and not closes(rules, ledger)
        going = going and (made == 0 or ledger.moving != 0)
        t = ledger.now
        now, before, moved = t % 2 * half, (t + 1) % 2 * half, word(0)
        generating = ledger.closed < 0 and rules.generating > 0
        if going:
            note_begin(rules, ledger)
        for tile in range(dense.dice.size // W):
            at, first = tile * TILE, tile * (PORTS + 1) * W
            if made > 0:
                receive(tile, before, dense.links, dense.ends, work)
                accept(at, words, work)
                decide(at, before + first, dense.codes, words, work)
            if not going:
                continue
            if generating:
                find_births(tile, at, t, rules.generating - 1, dense.dice, words, work)
                inject(tile, at, calls, rules, targets, state, books, dense, ledger)
            ask(at, words, work)
            grant(at, t % (PORTS + 1), words, work)
            send(at, words, work)
            if LONG and HOLD_BITS > 0:
                hold(at, words, work)
            find_places(at, words, work)
            push(tile, now, dense)
            depart(tile, rules, state, dense, ledger)
            eject(tile, rules, state, books, dense, ledger)
            count(at, pick(rules.warmup <= t < rules.window_end, word(1), word(0)), words, work)
            put_on_links(now + first, dense.links, work)
            moved = word(moved | remove(at, rules.flits, words, work))
            if generating:
                note_queues(tile, state.nodes, work, ledger)
        if going:
            if moved != word(0):
                ledger.last_move = t
            note_end(rules, ledger)
            made += 1
            if ledger.moving != 0:
                is_over(rules, ledger)
    book_counts(state.nodes, words, books.loads, ledger)
    # Only now does the ledger know whether flits wait in lanes, which makes an idle step a
    # deadlock.
    if made > 0 and ledger.moving == 0:
        is_over(rules, ledger)


@sweep
def book_counts(nodes, words, loads, ledger):
    """Add the counts of all nodes since the last call to the ledger, and clear them."""
    moves = inside = most = np.int64(0)
    for slot in range(nodes.size):
        k = slot // W * TILE + slot % W
        moves += np.int64(words[k + MOVES])
        inside += np.int64(words[k + FLITS])
        most = max(most, np.int64(words[k + MOST]))
        words[k + MOVES] = word(0)
        for o in range(PORTS):
            loads[slot * PORTS + o] += np.uint32(words[k + LOAD + o * W])
            words[k + LOAD + o * W] = word(0)
    ledger.moves += moves
    ledger.inside = inside
    ledger.node_flits_max = max(ledger.node_flits_max, most)


@part
def lane_of(at):
    """Return the number of a lane here, from its number in `TrafficState.lanes`."""
    port = at // VCS
    v = at - port * VCS
    if port == PORTS:
        return port * WIDTH + v
    return port * WIDTH + v // OF_CLASS * STRIDE + v % OF_CLASS


@part
def number_in(words, k, bits, lane):
    """Return the number of a lane in planes."""
    number = np.int64(0)
    for b in range(bits):
        number |= np.int64(word(words[k + b * W] >> word(lane)) & word(1)) << b
    return number


@kernel
def take_over(rules: TrafficConstants, state: TrafficState, dense: Dense) -> None:
    """Write the state of all nodes in the dense form; all words are zero before."""
    words, ring, goals, spots, messages, nodes = (
        dense.words, dense.ring, dense.goals, dense.spots, state.messages, state.nodes
    )  # fmt: skip
    for i in range(messages.size):
        goals[i].place, goals[i].hops = spots[messages[i].target], messages[i].hops
    for slot in range(nodes.size):
        node, tile, u = nodes[slot], slot // W, slot % W
        k = tile * TILE + u
        dense.dice[slot] = np.uint32(node.dice)
        words[k + WAITS] = pick(node.queued != 0, word(1), word(0))
        words[k + HOST] = pick(node.number < rules.hosts, word(1), word(0))
        words[k + FLITS] = word(node.flits)
        here = np.int64(spots[node.number])
        for o in range(PORTS + 1):
            turn = lane_of(np.int64(state.outputs[slot * (PORTS + 1) + o].pointer))
            words[k + TURN + o * W] = word(word(~word(0)) << word(turn))
        for at in range(rules.lanes):
            lane, number, row = state.lanes[slot * rules.lanes + at], lane_of(at), at // VCS
            one = word(word(1) << word(number))
            own = (tile * (PORTS + 1) * WIDTH + number) << PLACE_BITS
            sent, out = np.int64(lane.sent), np.int64(0)
            if sent > 0:
                words[k + BEGUN] |= one
                put_code(words, k + HOLD, HOLD_BITS, one, lane.vc % OF_CLASS)
                out = np.int64(lane.out | max(0, lane.group) << OUT_BITS)
                put_code(words, k + CODE, CODES, one, out)
            if row == PORTS:
                if word(state.occupied[slot] >> at & 1) == word(0):
                    continue
                m = np.int64(lane.incoming)
                ring[own * W + u] = m
                words[k + FILLED] |= one
                code = way(here, np.int64(goals[m].place), dense.ways, dense.fields)
                if LONG:
                    words[k + SENT + (number - PORTS * WIDTH) * W] = word(sent)
                    code |= np.int64(sent == rules.flits - 1) << CODES - 1
                put_code(words, k + CODE, CODES, one, code)
                continue
            channel = state.channels[slot * rules.lanes + at]
            put_code(words, k + CREDIT, CREDIT_BITS, one, channel.credit)
            if channel.holder != NONE:
                words[k + HELD] |= one
            end = np.int64(dense.ends[(tile * (PORTS + 1) + row) * W + u])
            back = end // W % (PORTS + 1)
            group = (at - row * VCS) // OF_CLASS
            if LONG and sent > 0:
                put_code(words, k + LAST, OUT_BITS + CLASS_BITS, one, out)
            for i in range(lane.filled):
                seat = (lane.first + i) % BUFFER
                m = np.int64(state.ring[(slot * rules.lanes + at) * BUFFER + seat])
                ring[(own + i) * W + u] = m
                words[k + FILLED + i * W] |= one
                code = way(here, np.int64(goals[m].place), dense.ways, dense.fields)
                code = in_class(code, back, group)
                if LONG and sent == 0:
                    put_code(words, k + LAST, OUT_BITS + CLASS_BITS, one, code)
                sent = sent + 1 if sent + 1 < rules.flits else np.int64(0)
                if LONG:
                    code |= np.int64(sent == 0) << CODES - 1
                put_code(words, k + CODE + i * CODES * W, CODES, one, code)
            # The end of the queue is known to the sender.
            if back < PORTS:
                there = end // W // (PORTS + 1) * TILE + end % W
                beyond = word(word(1) << word(number - row * WIDTH + back * WIDTH))
                put_code(words, there + END, PLACE_BITS, beyond, lane.filled)


@kernel
def hand_back(rules: TrafficConstants, state: TrafficState, dense: Dense) -> None:
    """Write the dense state of all nodes back into the state of the other kernels."""
    words, ring, messages, nodes = dense.words, dense.ring, state.messages, state.nodes
    for m in range(messages.size):
        messages[m].hops = dense.goals[m].hops
    for slot in range(nodes.size):
        tile, u = slot // W, slot % W
        k, occupied = tile * TILE + u, np.int64(0)
        nodes[slot].flits = np.int64(words[k + FLITS])
        for o in range(PORTS + 1):
            turn, pointer = words[k + TURN + o * W], np.int64(0)
            for at in range(rules.lanes):
                # The lowest lane of the mask has the turn; without such a lane, lane 0.
                is_in = word(turn >> word(lane_of(at))) & word(1) != word(0)
                if pointer == 0 and is_in:
                    pointer = np.int64(at)
                    break
            state.outputs[slot * (PORTS + 1) + o].pointer = pointer
        for at in range(rules.lanes):
            state.channels[slot * rules.lanes + at].holder = NONE
        for at in range(rules.lanes):
            lane, number, row = state.lanes[slot * rules.lanes + at], lane_of(at), at // VCS
            own = (tile * (PORTS + 1) * WIDTH + number) << PLACE_BITS
            filled = np.int64(0)
            for i in range(BUFFER):
                filled += np.int64(word(words[k + FILLED + i * W] >> word(number)) & word(1))
            lane.out, lane.sent, lane.came, lane.first = UNDECIDED, 0, 0, 0
            if filled > 0:
                occupied |= 1 << at
            if LONG and word(words[k + BEGUN] >> word(number)) & word(1) != word(0):
                code = number_in(words, k + CODE, OUT_BITS + CLASS_BITS, number)
                lane.out, lane.group = code & (1 << OUT_BITS) - 1, code >> OUT_BITS
                held = number_in(words, k + HOLD, HOLD_BITS, number)
                lane.vc = lane.group * OF_CLASS + held
                # Marked as begun until the second loop below counts its flits.
                lane.sent = rules.flits
                if lane.out < PORTS:
                    holder = slot * rules.lanes + lane.out * VCS + lane.vc
                    state.channels[holder].holder = at
                else:
                    lane.group = lane.vc = NONE
            if row == PORTS:
                lane.incoming, lane.filled = ring[own * W + u], 0
                continue
            lane.filled = filled
            state.channels[slot * rules.lanes + at].credit = number_in(
                words, k + CREDIT, CREDIT_BITS, number
            )
            head = number_in(words, k + HEAD, PLACE_BITS, number)
            for i in range(filled):
                m = ring[(own + ((head + i) & (1 << PLACE_BITS) - 1)) * W + u]
                state.ring[(slot * rules.lanes + at) * BUFFER + i] = m
                lane.incoming = m
        state.occupied[slot] = occupied
    if LONG:
        for row in range(state.lanes.size):
            if state.lanes[row].sent > 0:
                state.lanes[row].sent = rules.flits - flits_behind(row, rules, state, dense)


@part
def flits_behind(row, rules, state, dense):
    """Return the flits of a begun message that have not left a lane: here, or in lanes upstream."""
    words, rest = dense.words, np.int64(0)
    while True:
        slot = row // rules.lanes
        at, k = row - slot * rules.lanes, slot // W * TILE + slot % W
        number = lane_of(at)
        if at >= PORTS * VCS:
            sent = np.int64(words[k + SENT + (number - PORTS * WIDTH) * W])
            return rest + rules.flits - sent
        for i in range(state.lanes[row].filled):
            rest += 1
            plane = words[k + CODE + (i * CODES + CODES - 1) * W]
            if word(plane >> word(number)) & word(1) != word(0):
                return rest
        # The tail has not arrived: the lane upstream still holds the channel to this lane.
        link = state.links[slot * PORTS + at // VCS]
        holder = np.int64(state.channels[link.lane + at % VCS].holder)
        row = np.int64(link.slot) * rules.lanes + holder


@kernel
def find_ways(
    routes: RoutingRules, ports: int, classes: int, out_bits: int, nodes: Ints, targets: Ints,
    ways: Bytes,
) -> int:  # fmt: skip
    """Write the codes of these pairs of node and target; return the number of invalid decisions."""
    calls, header, wrong = called(routes), np.empty(1, np.int64), 0
    for i in range(nodes.size):
        node, header[0], group = nodes[i], targets[i], np.int64(0)
        out = calls.decide(node, header, calls.params)
        if out == ARRIVED:
            wrong += node != targets[i]
            out = np.int64(ports)
        elif out < 0 or out >= ports or calls.neighbor(node, out, calls.wired) < 0:
            wrong += 1
        else:
            group = calls.class_of(node, out, NONE, NONE, header, calls.class_params)
            wrong += group < 0 or group >= classes
        ways[i] = out | group << out_bits if wrong == 0 else 0
    return wrong


@cache
def bound(shape: Shape) -> list[Any]:
    """Return the kernels of a shape: `advance_dense`, `take_over` and `hand_back`."""
    parts: dict[str, Any] = {
        name: value for name, value in constants(shape).items() if name != "WORK"
    }
    if shape.word_bits > 16:
        wide = shape.word_bits == 32
        parts |= {"word": word32 if wide else word64, "dense": Dense32 if wide else Dense64}
    found = []
    for each in (advance_dense, take_over, hand_back):
        own = {name: value for name, value in parts.items()
               if name in each.open_names or name == "dense"}  # fmt: skip
        tail = "_".join(map(str, map(int, shape)))
        found.append(each.bind(f"{each.name}_{tail}", **own))
    return found
