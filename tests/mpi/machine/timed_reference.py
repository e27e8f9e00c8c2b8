"""The timed machine as its specification has it: one process, integers, no speed in mind.

Only the messages' ways come from mpinet: what a network's routing gives is tested by itself.
"""

from __future__ import annotations

import heapq
import re
from collections import deque
from dataclasses import dataclass, field

from independent.links import kind_of

from mpinet.networks.routing import path as way

ANY = -1
CALC, SEND, RECV = "calc", "send", "recv"


# ------------------------------------------------------------------------ programs (section 1)


@dataclass
class Op:
    kind: str
    amount: int  # time of a calc, bytes of a send or recv
    peer: int = ANY
    tag: int = 0
    cpu: int = 0
    requires: list[int] = field(default_factory=list)
    irequires: list[int] = field(default_factory=list)
    released: int = 0  # when all that it requires had been done
    issued: int = 0  # when the last of it had been begun: its place in the line
    event: int = 0  # when it began; of a recv, when it was matched
    started: int | None = None
    done: int | None = None


LINE = re.compile(
    r"(?:(\w+)\s*:\s*)?(calc|send|recv)\s+(\d+)b?(?:\s+(?:to|from)\s+(\d+|any))?"
    r"(?:\s+tag\s+(\d+|any))?(?:\s+cpu\s+(\d+))?(?:\s+nic\s+\d+)?\s*$"
)
NEED = re.compile(r"(\w+)\s+(i?requires)\s+(\w+)\s*$")


def read_goal(text: str) -> list[list[Op]]:
    programs: list[list[Op]] = []
    labels: dict[str, int] = {}
    here: list[Op] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("//")[0].strip()
        if not line:
            continue
        if words := re.match(r"num_ranks\s+(\d+)$", line):
            programs = [[] for _ in range(int(words[1]))]
        elif words := re.match(r"rank\s+(\d+)\s*{$", line):
            here, labels = programs[int(words[1])], {}
        elif line == "}":
            here = None
        elif words := NEED.match(line):
            getattr(here[labels[words[1]]], words[2]).append(labels[words[3]])
        elif words := LINE.match(line):
            label, kind, amount, peer, tag, cpu = words.groups()

            def number_of(word, default):
                return ANY if word == "any" else int(word or default)

            if label:
                labels[label] = len(here)
            here.append(
                Op(kind, int(amount), number_of(peer, -1), number_of(tag, 0), int(cpu or 0))
            )
        else:
            raise ValueError(f"line {number}: {raw!r} is no line of GOAL")
    return programs


# ------------------------------------------------------------------------ networks (section 3)


class Flat:
    """Every pair is L apart, and nothing is ever busy."""

    def __init__(self, latency):
        self.latency = latency

    def path(self, source, target):
        return None

    def back(self, source, target):
        return self.latency


class Routed:
    """Links of classes: `hop` and `byte` by the addresses of their ends."""

    def __init__(self, topology, hop, byte, routing=None):
        self.topology, self.hop_of, self.byte_of = topology, hop, byte
        self.routing, self.kinds = topology.routing(routing), kind_of(topology)

    def kind(self, node, other):
        return self.kinds(self.topology.address(node), self.topology.address(other))

    def path(self, source, target):
        """The links of the way: (name, latency, time a byte)."""
        nodes, ports = way(self.topology, self.routing, source, target)
        links = []
        for node, port, other in zip(nodes, ports, nodes[1:], strict=False):
            kind = self.kind(node, other)
            pick = lambda costs, kind=kind: costs[min(kind, len(costs) - 1)]  # noqa: E731
            links.append((self.server(node, port), pick(self.hop_of), pick(self.byte_of)))
        return links

    def server(self, node, port):
        return node, port

    def back(self, source, target):
        return sum(hop for _, hop, _ in self.path(target, source))


class Shared(Routed):
    """Both directions of a link, and all members of a bus, share it."""

    def server(self, node, port):
        return int(self.topology.channel(node, port))


# --------------------------------------------------------------------------- the run (section 2)


@dataclass
class Message:
    source: int
    index: int  # of the send among the source's operations
    target: int
    size: int
    tag: int
    cpu: int
    path: list = field(default_factory=list)
    first: int = 0  # arrival of the first byte
    last: int = 0  # arrival of the last
    entered: int = 0  # when its last byte had left the link before
    before: int = 0  # that link's latency
    sent: int = 0  # when its send began
    end: int = 0  # when it has been taken in

    @property
    def key(self):
        return (self.sent, 0, self.source, self.index)


class Machine:
    def __init__(self, programs, network, mode="cut", o=0, g=0, G=0, O=0, S=None):  # noqa: E741
        self.programs, self.network, self.mode = programs, network, mode
        self.o, self.g, self.G, self.O, self.S = o, g, G, O, S
        count = len(programs)
        cpus = [1 + max((op.cpu for op in ops), default=0) for ops in programs]
        most = max(cpus, default=1)
        self.cpu_free = [[0] * most for _ in range(count)]
        self.out_free, self.in_free = [0] * count, [0] * count
        self.waiting: list[list] = [[] for _ in range(count)]  # ops and messages that want a CPU
        self.posted = [deque() for _ in range(count)]
        self.unexpected = [deque() for _ in range(count)]
        self.due: list[list] = [[] for _ in range(count)]  # completions to come: (time, op index)
        self.left = [[len(op.requires) + len(op.irequires) for op in ops] for ops in programs]
        self.after: list[list[list[int]]] = []
        self.at_start: list[list[list[int]]] = []
        for ops in programs:
            after, at_start = [[] for _ in ops], [[] for _ in ops]
            for i, op in enumerate(ops):
                for j in op.requires:
                    after[j].append(i)
                for j in op.irequires:
                    at_start[j].append(i)
            self.after.append(after)
            self.at_start.append(at_start)
        self.link_free: dict = {}
        self.link_busy: dict = {}
        self.link_bytes: dict = {}
        self.waits = 0
        self.messages = self.hops = 0
        self.events: list = []
        self.alarm: list[int | None] = [None] * count  # the next time at which a processor looks

    # -- events: (time, class, key.., what); processors come before links at the same time

    def wake(self, time, processor):
        if self.alarm[processor] is None or time < self.alarm[processor]:
            self.alarm[processor] = time
            heapq.heappush(self.events, (time, 0, processor, 0, 0, None))

    def run(self):
        for p, ops in enumerate(self.programs):
            for i in range(len(ops)):
                if self.left[p][i] == 0:
                    self.release(0, p, i)
            self.wake(0, p)
        while self.events:
            time, kind, a, _, c, message = heapq.heappop(self.events)
            if kind == 0:
                if time == self.alarm[a]:
                    self.alarm[a] = None
                    self.settle(time, a)
            else:
                self.cross(time, message, c)
        return self.result()

    def release(self, time, p, i):
        ops = self.programs[p]
        op = ops[i]
        op.released = time
        op.issued = max((ops[j].event for j in op.requires + op.irequires), default=0)
        if op.kind == RECV:
            self.start(time, p, i)
            self.post(time, p, i)
        else:
            self.waiting[p].append(((op.issued, 1, i, 0), i))

    def start(self, time, p, i):
        self.programs[p][i].started = self.programs[p][i].event = time
        for k in self.at_start[p][i]:
            self.met(time, p, k)

    def finish(self, time, p, i):
        """Operation i of p is done at `time`, which may lie ahead."""
        self.programs[p][i].done = time
        heapq.heappush(self.due[p], (time, i))
        self.wake(time, p)

    def met(self, time, p, i):
        self.left[p][i] -= 1
        if self.left[p][i] == 0:
            self.release(time, p, i)

    def settle(self, time, p):
        """All that processor p does at `time`."""
        while True:
            if self.due[p] and self.due[p][0][0] <= time:
                _, i = heapq.heappop(self.due[p])
                for k in self.after[p][i]:
                    self.met(time, p, k)
                continue
            best = None
            for key, item in self.waiting[p]:
                if self.possible(p, item) <= time and (best is None or key < best[0]):
                    best = (key, item)
            if best is None:
                break
            self.waiting[p].remove(best)
            self.begin(time, p, best[1])
        times = [self.possible(p, item) for _, item in self.waiting[p]]
        times += [time for time, _ in self.due[p][:1]]
        if times:
            self.wake(min(times), p)

    def possible(self, p, item):
        """The earliest time at which it could begin."""
        if isinstance(item, Message):
            return max(item.first, self.cpu_free[p][item.cpu], self.in_free[p])
        op = self.programs[p][item]
        return max(
            op.released, self.cpu_free[p][op.cpu], self.out_free[p] if op.kind == SEND else 0
        )

    def begin(self, time, p, item):
        if isinstance(item, Message):
            return self.take_in(time, p, item)
        op = self.programs[p][item]
        self.start(time, p, item)
        if op.kind == CALC:
            self.cpu_free[p][op.cpu] = time + op.amount
            return self.finish(time + op.amount, p, item)
        more = op.amount - 1
        self.cpu_free[p][op.cpu] = time + self.o + more * self.O
        self.out_free[p] = time + self.g + more * self.G
        self.messages += 1
        message = Message(p, item, op.peer, op.amount, op.tag, op.cpu, sent=time)
        if self.S is None or op.amount <= self.S:
            self.finish(self.cpu_free[p][op.cpu], p, item)
        self.inject(time + self.o, message)

    def inject(self, time, message):
        more = (message.size - 1) * self.G
        path = self.network.path(message.source, message.target)
        if not path:  # flat, or to itself
            flat = self.network.latency if path is None else 0
            message.first, message.last = time + flat, time + flat + more
            return self.arrive(message)
        message.path = path
        self.hops += len(path)
        message.entered = time + more
        ready = time + more if self.mode == "store" else time
        heapq.heappush(self.events, (ready, 1, message.source, message.index, 0, message))

    def cross(self, ready, message, i):
        """The message asks for link i of its way, ready at this time."""
        link, hop, byte = message.path[i]
        begin = ready if self.mode == "ideal" else max(ready, self.link_free.get(link, 0))
        self.waits += begin - ready
        through = begin + message.size * byte
        if self.mode != "store":
            through = max(through, message.entered + message.before)
        self.link_free[link] = through
        self.link_busy[link] = self.link_busy.get(link, 0) + message.size * byte
        self.link_bytes[link] = self.link_bytes.get(link, 0) + message.size
        message.entered, message.before = through, hop
        onward = (through if self.mode == "store" else begin) + hop
        if i + 1 < len(message.path):
            heapq.heappush(self.events, (onward, 1, message.source, message.index, i + 1, message))
        else:
            message.first, message.last = onward, through + hop
            self.arrive(message)

    def arrive(self, message):
        self.waiting[message.target].append((message.key, message))
        self.wake(message.first, message.target)

    def take_in(self, time, p, message):
        more = message.size - 1
        message.end = max(time + self.o + more * max(self.O, self.G), message.last + self.o)
        self.cpu_free[p][message.cpu] = message.end
        self.in_free[p] = time + self.g + more * self.G
        for i in self.posted[p]:
            if self.fits(self.programs[p][i], message):
                self.posted[p].remove(i)
                return self.matched(time, p, i, message)
        self.unexpected[p].append(message)

    def post(self, time, p, i):
        for message in self.unexpected[p]:
            if self.fits(self.programs[p][i], message):
                self.unexpected[p].remove(message)
                return self.matched(time, p, i, message)
        self.posted[p].append(i)

    def fits(self, op, message):
        return op.peer in (ANY, message.source) and op.tag in (ANY, message.tag)

    def matched(self, time, p, i, message):
        self.programs[p][i].event = time
        self.finish(max(time, message.end), p, i)
        if self.S is not None and message.size > self.S:
            source, send = message.source, message.index
            sent = self.programs[source][send].started + self.o + (message.size - 1) * self.O
            self.finish(max(sent, time + self.network.back(source, p)), source, send)

    def result(self):
        stuck = [
            (p, i)
            for p, ops in enumerate(self.programs)
            for i, op in enumerate(ops)
            if op.done is None
        ]
        ends = [
            max([max(free)] + [op.done or 0 for op in ops])
            for free, ops in zip(self.cpu_free, self.programs, strict=True)
        ]
        found = {
            "time": max(ends, default=0),
            "ends": ends,
            "messages": self.messages,
            "hops": self.hops,
            "waits": self.waits,
            "busiest": max(self.link_busy.values(), default=0),
            "busy": sum(self.link_busy.values()),
            "most_bytes": max(self.link_bytes.values(), default=0),
            "unmatched": sum(map(len, self.unexpected)),
        }
        if stuck:
            found["stuck"] = len(stuck)
            found["first_stuck"] = list(stuck[0])
        return found


def play(text, network, mode="cut", o=0, g=0, G=0, O=0, S=None):  # noqa: E741
    """The result of a program, given as text, on one of these networks."""
    return Machine(read_goal(text), network, mode, o, g, G, O, S).run()
