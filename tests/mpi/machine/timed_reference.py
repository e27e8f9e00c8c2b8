"""The timed machine as its specification has it: one process, integers, no speed in mind.

Only the messages' ways come from mpinet: what a network's routing gives is tested by itself.
"""

from __future__ import annotations

import heapq
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from independent.links import kind_of

from mpinet.networks.routing import path as way

ANY = -1
CALC, SEND, RECV = "calc", "send", "recv"
TYPES = [SEND, RECV, CALC]  # the order in which one step issues operations


# ------------------------------------------------------------------------ programs (section 1)


@dataclass
class Op:
    kind: str
    amount: int  # time of a calc, bytes of a send or recv
    peer: int = ANY
    tag: int = 0
    cpu: int = 0
    left: int = 0  # requirements that are not yet met
    released: int = 0  # the latest end of the required operations
    at_start: list[int] = field(default_factory=list)  # operations with an irequires on this one
    after: list[int] = field(default_factory=list)  # operations with a requires on this one
    done: int | None = None


LINE = re.compile(
    r"(?:(\w+)\s*:\s*)?(calc|send|recv)\s+(\d+)b?(?:\s+(?:to|from)\s+(\d+|any|-1))?"
    r"(?:\s+tag\s+(\d+|any|-1))?(?:\s+cpu\s+(\d+))?(?:\s+nic\s+\d+)?\s*$"
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
            needed = here[labels[words[3]]]
            followers = needed.after if words[2] == "requires" else needed.at_start
            followers.append(labels[words[1]])
            here[labels[words[1]]].left += 1
        elif words := LINE.match(line):
            label, kind, amount, peer, tag, cpu = words.groups()

            def number_of(word, default):
                return ANY if word in ("any", "-1") else int(word or default)

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
    key: tuple = ()
    sent: int = 0  # when the sender's CPU has finished
    path: list = field(default_factory=list)
    last: int = 0  # arrival of the last byte
    entered: int = 0  # when its last byte had left the link before
    before: int = 0  # that link's latency
    end: int = 0  # when it has been taken in


class Incoming(NamedTuple):
    """A message whose first byte reaches the NIC of its receiver."""

    message: Message


class Answer(NamedTuple):
    """The answer to a send by rendezvous."""

    index: int
    done: int


class Machine:
    """What waits stands in `line`; the least begins first. What begins is a step, and issues more.

    At equal times processors come before links. Things at processors have keys (times, name,
    place): the time of the step that issued it, the time of the step that issued that step;
    processor and number of the issuing step; the place in this step.
    """

    def __init__(self, programs, network, mode, *, rendezvous="round-trip", S=None, **costs):
        self.programs, self.network, self.mode = programs, network, mode
        self.o, self.g, self.G, self.O = (costs.get(name, 0) for name in "ogGO")
        self.S, self.rendezvous, self.is_flat = S, rendezvous, isinstance(network, Flat)
        count = len(programs)
        cpus = 1 + max((op.cpu for ops in programs for op in ops), default=0)
        self.cpu_free = [[0] * cpus for _ in range(count)]
        self.out_free, self.in_free, self.steps = ([0] * count for _ in range(3))
        self.posted: list[list] = [[] for _ in range(count)]
        self.unexpected: list[list] = [[] for _ in range(count)]
        self.link_free: dict = {}
        self.link_busy: dict = {}
        self.link_bytes: dict = {}
        self.waits = self.messages = self.hops = 0
        self.line: list = []

    def run(self):
        for p, ops in enumerate(self.programs):
            self.issue(((-1,), (p, 0)), [(p, i) for i, op in enumerate(ops) if not op.left])
        while self.line:
            time, kind, key, p, thing = heapq.heappop(self.line)
            if kind == 1:
                self.cross(time, thing, key[2])
                continue
            if isinstance(thing, Incoming):
                self.receive(time, key, p, thing.message)
                continue
            free = self.free(p, thing)
            if free > time:  # it tries again later, and keeps its place
                self.enter(free, key, p, thing)
            else:
                self.step(time, key, p, thing)
        return self.result()

    def enter(self, time, key, p, thing):
        heapq.heappush(self.line, (time, 0, key, p, thing))

    def free(self, p, thing):
        """The time at which the CPU and the NIC that it needs are free."""
        if isinstance(thing, Message):
            return max(self.cpu_free[p][thing.cpu], self.in_free[p] if self.is_flat else 0)
        if isinstance(thing, Answer) or self.programs[p][thing].kind == RECV:
            return 0
        op = self.programs[p][thing]
        return max(self.cpu_free[p][op.cpu], self.out_free[p] if op.kind == SEND else 0)

    def kind_on_cpu(self, p, thing):
        """What a step does on its CPU: it calculates, sends, or receives a message; else None."""
        if isinstance(thing, Message):
            return RECV
        kind = None if isinstance(thing, Answer) else self.programs[p][thing].kind
        return kind if kind in (CALC, SEND) else None

    def step(self, time, key, p, thing):
        self.steps[p] += 1
        step = ((time, key[0][0]), (p, self.steps[p]))
        freed: list[tuple[int, int]] = []  # (processor, operation) with all requirements met
        if isinstance(thing, Message):
            self.take_in(time, step, p, thing, freed)
        elif isinstance(thing, Answer):
            self.finish(thing.done, p, thing.index, freed)
        else:
            op = self.programs[p][thing]
            self.met(time, p, op.at_start, freed)
            {CALC: self.calc, SEND: self.send, RECV: self.post}[op.kind](
                time, step, p, thing, op, freed
            )
        self.issue(step, freed)

    def calc(self, time, step, p, i, op, freed):
        done = self.cpu_free[p][op.cpu] = time + op.amount
        self.finish(done, p, i, freed)

    def send(self, time, step, p, i, op, freed):
        more = op.amount - 1
        sent = self.cpu_free[p][op.cpu] = time + self.o + more * self.O
        self.out_free[p] = time + self.g + more * self.G
        self.messages += 1
        key = (*step, -1)
        message = Message(p, i, op.peer, op.amount, op.tag, op.cpu, key, sent)
        if self.S is None or op.amount <= self.S:
            self.finish(sent, p, i, freed)
        self.inject(time + self.o, message)

    def inject(self, time, message):
        more = (message.size - 1) * self.G
        path = self.network.path(message.source, message.target)
        if not path:  # flat, or to itself
            first = time + (self.network.latency if path is None else 0)
            message.last = first + more
            return self.arrive(first, message)
        message.path = path
        self.hops += len(path)
        message.entered = time + more
        self.ask(time + more if self.mode == "store" else time, message, 0)

    def ask(self, ready, message, hop):
        key = (message.source, message.index, hop)
        heapq.heappush(self.line, (ready, 1, key, message.target, message))

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
            self.ask(onward, message, i + 1)
        else:
            message.last = through + hop
            self.arrive(onward, message)

    def arrive(self, first, message):
        """The first byte is there at this time."""
        thing = message if self.is_flat else Incoming(message)
        self.enter(first, message.key, message.target, thing)

    def receive(self, time, key, p, message):
        """The NIC of a network's processor receives a message; then the message wants a CPU."""
        more = message.size - 1
        begin = max(time, self.in_free[p])
        self.in_free[p] = begin + self.g + more * self.G
        self.enter(max(message.last, begin + more * self.G), key, p, message)

    def take_in(self, time, step, p, message, freed):
        more = message.size - 1
        message.end = time + self.o + more * self.O
        if self.is_flat:
            message.end = max(time + self.o + more * max(self.O, self.G), message.last + self.o)
            self.in_free[p] = time + self.g + more * self.G
        self.cpu_free[p][message.cpu] = message.end
        for i in self.posted[p]:
            if self.fits(self.programs[p][i], message):
                self.posted[p].remove(i)
                return self.match(time, step, p, i, message, freed)
        self.unexpected[p].append(message)

    def post(self, time, step, p, i, op, freed):
        for message in self.unexpected[p]:
            if self.fits(op, message):
                self.unexpected[p].remove(message)
                return self.match(time, step, p, i, message, freed)
        self.posted[p].append(i)

    def fits(self, op, message):
        return op.peer in (ANY, message.source) and op.tag in (ANY, message.tag)

    def match(self, time, step, p, i, message, freed):
        if self.S is not None and message.size > self.S:
            if self.rendezvous == "loggopsim":
                self.finish(max(time, message.sent), message.source, message.index, freed)
            else:
                back = time + self.network.back(message.source, p)
                answer = Answer(message.index, max(back, message.sent))
                self.enter(back, (*step, -1), message.source, answer)
        self.finish(max(time, message.end), p, i, freed)

    def finish(self, done, p, i, freed):
        """Operation i of p is done at `done`, which may lie ahead."""
        self.programs[p][i].done = done
        self.met(done, p, self.programs[p][i].after, freed)

    def met(self, time, p, followers, freed):
        for i in followers:
            op = self.programs[p][i]
            op.released = max(op.released, time)
            op.left -= 1
            if op.left == 0:
                freed.append((p, i))

    def issue(self, step, freed):
        """A step issues operations: by type, then in their order."""
        freed.sort(key=lambda it: (it[0], TYPES.index(self.programs[it[0]][it[1]].kind)))
        for place, (p, i) in enumerate(freed):
            op = self.programs[p][i]
            # A receive waits for its CPU as it is now, not for what takes the CPU later.
            time = max(op.released, self.cpu_free[p][op.cpu])
            self.enter(time, (*step, place), p, i)

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


def play(text, network, mode="cut", **costs):
    """The result of a program, given as text, on one of these networks."""
    return Machine(read_goal(text), network, mode, **costs).run()
