"""Open-loop traffic on a grid of busses once more, in plain Python: docs/reference/traffic.md.

Written from the page, without mpinet's traffic: lists and dictionaries, a function a phase. Rows
and columns of processors are busses; a message goes along its row first, then along the column.
"""

from collections import defaultdict, deque
from dataclasses import dataclass, field

from serial.machine.busgrid import bus_grid_wiring, bus_of

from mpinet.draws import draw32


@dataclass(eq=False)
class Message:
    number: int
    born: int
    source: int
    target: int
    length: int
    entered: int = -1
    done: int = -1
    hops: int = 0
    came: int = 0


@dataclass
class Lane:
    """A queue of (message, flit); when the heads in it came; the VC of the message in front."""

    flits: deque = field(default_factory=deque)
    came: deque = field(default_factory=deque)
    vc: int = -1


class Grid:
    """The wiring, and who goes where."""

    def __init__(self, rows, columns):
        self.shape, self.wiring = (rows, columns), bus_grid_wiring(rows, columns)
        self.size, self.ports = rows * columns, rows + columns - 2
        self.busses = rows + columns

    def behind(self, node, port):
        """The node and the port at the other end."""
        there = self.wiring[node][port]
        return there, self.wiring[there].index(node)

    def bus(self, node, port):
        return bus_of((node, port, self.wiring[node][port]), *self.shape)

    def decide(self, node, target):
        """The port; None: it has arrived."""
        columns = self.shape[1]
        if node == target:
            return None
        corner = node // columns * columns + target % columns
        return self.wiring[node].index(target if corner == node else corner)


class Traffic:
    """What both kinds of machine share: births, closing, results."""

    def __init__(self, grid, trace, s):
        self.grid, self.s, self.now, self.closed = grid, s, 0, -1
        rows = sorted(trace, key=lambda row: row[:2])
        self.messages = [Message(number, *row) for number, row in enumerate(rows)]
        self.queues = [deque() for _ in range(grid.size)]
        self.loads, self.moves, self.last_move = defaultdict(int), 0, -1
        self.queue_max = self.flits_max = 0
        self.backlogs = {}
        self.first, self.end = s["warmup"], s["warmup"] + s["measure"]

    def measured(self):
        return [each for each in self.messages if self.first <= each.born < self.end]

    def waiting(self):
        """What is born by now, has not entered and was not withdrawn."""
        born = self.now if self.closed < 0 else -1
        return [each for each in self.messages if each.born <= born and each.entered < 0]

    def begin(self):
        """Close the sources if it is time; the messages of this step."""
        waits = any(each.done < 0 for each in self.measured() if each.born < self.now)
        late = self.now >= self.end + self.s["drain"]
        if self.closed < 0 and (late or (self.now >= self.end and not waits)):
            self.closed = self.now
            self.withdraw()
        if self.now == self.first:
            flits = sum(each.length for each in self.waiting() if each.born < self.now)
            self.backlogs["before"] = flits
        if self.closed >= 0:
            return []
        return [each for each in self.messages if each.born == self.now]

    def finish(self):
        """The end of a step."""
        by_source = defaultdict(int)
        for each in self.waiting():
            by_source[each.source] += 1
        self.queue_max = max([self.queue_max, *by_source.values()])
        if self.now == self.end - 1:
            self.backlogs["after"] = sum(each.length for each in self.waiting())
        self.now += 1

    def results(self, stuck):
        measured = self.measured()
        done = [each for each in measured if each.done >= 0]
        ended = [each for each in self.messages if each.done >= 0]
        accepted = [each for each in ended if self.first <= each.done < self.end]
        latencies = sorted(each.done - each.born for each in done)
        words = (draw32(m.done, m.born, m.source, m.entered + m.hops) for m in ended)
        return {
            "steps": self.now,
            "closed": self.closed,
            "generated": sum(self.closed < 0 or each.born < self.closed for each in measured),
            "accepted": len(accepted),
            "accepted_flits": sum(each.length for each in accepted),
            "delivered": len(done),
            "latency_sum": sum(latencies),
            "latency_max": max(latencies, default=0),
            "latency_p50": latencies[(len(latencies) + 1) // 2 - 1] if latencies else 0,
            "network_latency_sum": sum(each.done - each.entered for each in done),
            "hops_sum": sum(each.hops for each in done),
            "loads_sum": sum(self.loads.values()),
            "loads_max": max(self.loads.values(), default=0),
            "moves": self.moves,
            "last_move": self.last_move,
            "backlog_before": self.backlogs["before"],
            "backlog_after": self.backlogs["after"],
            "source_queue_max": self.queue_max,
            "node_flits_max": self.flits_max,
            "stuck_flits": stuck,
            "seal": sum(words) % 2**61,
        }  # fmt: skip


class Limited(Traffic):
    """Finite buffers: lanes, credits, holders, and what is kept."""

    def __init__(self, grid, trace, s):
        super().__init__(grid, trace, s)
        self.vcs, self.network = s["vcs"], grid.ports * s["vcs"]
        self.per_class = self.vcs // (2 if s["classes"] == "hops" else 1)
        self.lanes = [[Lane() for _ in range(self.network + self.vcs)] for _ in range(grid.size)]
        self.credits = defaultdict(lambda: s["buffer"])
        self.holders, self.kept, self.keepers = {}, {}, {}
        self.pointers = defaultdict(int)
        self.wire = deque([[]] * (s["delay"] - 1))

    def withdraw(self):
        for node, lanes in enumerate(self.lanes):
            self.queues[node].clear()
            for lane in lanes[self.network :]:
                if lane.flits and lane.flits[0][1] == 0:
                    lane.flits.clear()
                    lane.came.clear()

    def run(self):
        while True:
            for message in self.begin():
                self.queues[message.source].append(message)
            for node, lanes in enumerate(self.lanes):
                for lane in lanes[self.network :]:
                    if self.queues[node] and not lane.flits:
                        message = self.queues[node].popleft()
                        lane.flits.extend((message, i) for i in range(message.length))
                        lane.came.append(self.now)
            granted = [g for node in range(self.grid.size) for g in self.grants(node)]
            leaving = self.by_busses(granted)
            batch = [self.leave(*each) for each in leaving]
            self.moves += len(leaving)
            if leaving:
                self.last_move = self.now
            self.wire.append(batch)
            quiet = not any(self.wire)
            for flit, credit in self.wire.popleft():
                self.arrive(flit, credit)
            inside = [sum(len(x.flits) for x in each[: self.network]) for each in self.lanes]
            self.flits_max = max(self.flits_max, *inside)
            self.finish()
            if quiet and (self.closed >= 0 or sum(inside)):
                return self.results(sum(inside))

    def bids(self, node):
        """Rows (lane, output, vc) of the front flits that can go."""
        found = []
        for number, lane in enumerate(self.lanes[node]):
            if not lane.flits:
                continue
            message, index = lane.flits[0]
            port = self.grid.decide(node, message.target)
            out, vc = self.grid.ports if port is None else port, -1
            if port is not None:
                keeper = self.keepers.get(self.grid.bus(node, port))
                if keeper is not None and keeper != (node, number):
                    continue
                vc = lane.vc if index else self.free_vc(node, port, number, message)
                if vc is None or (index and not self.credits[node, port, vc]):
                    continue
            found.append((number, out, vc))
        return found

    def free_vc(self, node, port, number, message):
        s = self.s
        need = 1 if s["switching"] == "wormhole" else message.length
        flits = self.lanes[node][number].flits
        if s["switching"] == "saf" and sum(m is message for m, _ in flits) < need:
            return None
        came_by = -1 if number >= self.network else number % self.vcs // self.per_class
        first = self.per_class * (came_by + 1 if s["classes"] == "hops" else 0)
        free = [
            v for v in range(first, first + self.per_class)
            if (node, port, v) not in self.holders and self.credits[node, port, v] >= need
        ]  # fmt: skip
        return max(free, key=lambda v: (self.credits[node, port, v], -v), default=None)

    def output(self, node, out):
        """A node's ports on one bus are one output."""
        return "me" if out == self.grid.ports else self.grid.bus(node, out)

    def key(self, node, number):
        lane = self.lanes[node][number]
        message = lane.flits[0][0]
        first = lane.came[0] if self.s["policy"] == "fifo" else 0
        return first, message.number

    def grants(self, node):
        """Rows (node, lane, output, vc, whether it had been begun)."""
        s, ports, count = self.s, self.grid.ports, self.network + self.vcs
        bids, used_in, used_out, chosen = self.bids(node), set(), set(), []

        def allowed(bid):
            many = bid[1] == ports and s["eject"] == "all"
            if not many and self.output(node, bid[1]) in used_out:
                return False
            return s["crossbar"] == "all" or bid[0] // self.vcs not in used_in

        def take(bid, begun=False):
            used_in.add(bid[0] // self.vcs)
            used_out.add(self.output(node, bid[1]))
            chosen.append((node, *bid, begun))
            bids.remove(bid)

        for out in range(ports + 1):
            if (node, out) in self.kept:
                used_in.add(self.kept[node, out] // self.vcs)
                used_out.add(self.output(node, out))
        for bid in list(bids):
            if self.kept.get((node, bid[1])) == bid[0]:
                take(bid, begun=True)
        if s["policy"] != "rotating":
            for bid in sorted(bids, key=lambda bid: self.key(node, bid[0])):
                if allowed(bid):
                    take(bid)
            return chosen
        for turn in range(ports + 1):
            out = (self.now + turn) % (ports + 1)
            pointer = self.pointers[node, out]
            while asked := [bid for bid in bids if bid[1] == out and allowed(bid)]:
                best = min(asked, key=lambda bid: (bid[0] - pointer) % count)
                take(best)
                if out == ports:
                    pointer = self.pointers[node, out] = (best[0] + 1) % count
        return chosen

    def by_busses(self, granted):
        """What leaves: all that is ejected, and of every bus's claims one."""
        ports, leaving, claims = self.grid.ports, [], defaultdict(list)
        for each in granted:
            node, _, out = each[:3]
            if out == ports:
                leaving.append(each)
            else:
                claims[self.grid.bus(node, out)].append(each)
        for bus, those in claims.items():
            if self.s["policy"] == "rotating":
                size, first = self.grid.size, self.pointers[bus]
                best = min(those, key=lambda each: (each[0] - first) % size)
            else:
                best = min(those, key=lambda each: self.key(*each[:2]))
            self.pointers[bus] = (best[0] + 1) % self.grid.size
            if self.s["policy"] == "rotating" and not best[4]:
                self.pointers[best[0], best[2]] = (best[1] + 1) % (self.network + self.vcs)
            leaving.append(best)
        return leaving

    def leave(self, node, number, out, vc, _):
        """Take a flit from its lane; what arrives elsewhere: a flit, and a credit."""
        ports, lane = self.grid.ports, self.lanes[node][number]
        message, index = lane.flits.popleft()
        tail, flit, credit = index == message.length - 1, None, None
        if number < self.network:
            before, port = self.grid.behind(node, number // self.vcs)
            credit = before, port, number % self.vcs
        elif index == 0:
            message.entered = self.now
        keeps = self.s["switching"] != "wormhole"
        if keeps and (out < ports or self.s["eject"] == "one"):
            self.kept[node, out] = number
        if out < ports:
            bus = self.grid.bus(node, out)
            self.credits[node, out, vc] -= 1
            self.holders[node, out, vc] = number
            if keeps:
                self.keepers[bus] = node, number
            if self.first <= self.now < self.end:
                self.loads[bus] += 1
            there, port = self.grid.behind(node, out)
            flit = there, port * self.vcs + vc, message, index
            message.hops += index == 0
            lane.vc = vc
            if tail:
                del self.holders[node, out, vc]
                self.keepers.pop(bus, None)
        elif tail:
            message.done = self.now
        if tail:
            self.kept.pop((node, out), None)
            lane.came.popleft()
        return flit, credit

    def arrive(self, flit, credit):
        if flit:
            node, number, message, index = flit
            self.lanes[node][number].flits.append((message, index))
            if index == 0:
                self.lanes[node][number].came.append(self.now + 1)
        if credit:
            self.credits[credit] += 1


class Unlimited(Traffic):
    """Queues without limit: what waits at (node, port), and until when busses are taken."""

    def __init__(self, grid, trace, s):
        super().__init__(grid, trace, s)
        self.queued, self.busy, self.due = [], defaultdict(int), defaultdict(list)

    def withdraw(self):
        self.queued = [each for each in self.queued if each[0].hops]

    def join(self, message, node):
        port = self.grid.decide(node, message.target)
        message.came = self.now
        if port is None:
            whole = self.s["switching"] == "saf" and message.hops
            message.entered = self.now if not message.hops else message.entered
            message.done = self.now if whole else self.now + message.length - 1
        else:
            self.queued.append((message, node, port))

    def run(self):
        saf = self.s["switching"] == "saf"
        while True:
            born = self.begin()
            for message, node in [*self.due.pop(self.now, []), *((m, m.source) for m in born)]:
                self.join(message, node)

            def key(each):
                return each[0].came if self.s["policy"] == "fifo" else 0, each[0].number

            for bus in range(self.grid.busses):
                mine = [each for each in self.queued if self.grid.bus(*each[1:]) == bus]
                if self.busy[bus] > self.now or not mine:
                    continue
                first = min(mine, key=key)
                self.queued.remove(first)
                message, node, port = first
                message.entered = self.now if not message.hops else message.entered
                message.hops += 1
                self.busy[bus] = self.now + message.length
                self.moves += message.length
                self.last_move = max(self.last_move, self.now + message.length - 1)
                steps = range(self.now, self.now + message.length)
                self.loads[bus] += sum(self.first <= step < self.end for step in steps)
                later = self.now + (message.length if saf else 1)
                self.due[later].append((message, self.grid.wiring[node][port]))
            moving = bool(self.due) or any(until > self.now for until in self.busy.values())
            self.finish()
            if self.closed >= 0 and not moving:
                return self.results(0)


def play(shape, trace, s):
    """The results of a run."""
    kind = Limited if s["buffer"] else Unlimited
    return kind(Grid(*shape), trace, s).run()
