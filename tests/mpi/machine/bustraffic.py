"""Open-loop traffic once more, in plain Python: docs/reference/traffic.md.

Written from the page, without mpinet's traffic: lists and dictionaries, a function a phase. The
grid here is one of busses: rows and columns of processors; a message goes along its row first,
then along the column. `adaptive_reference` and `queue_reference` have networks of links.
"""

from collections import Counter, defaultdict, deque
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
    lost: bool = False
    cut: bool = False
    rank: int = 0

    def __getitem__(self, name):
        return getattr(self, name)


@dataclass
class Lane:
    """A queue of (message, flit); when heads in it came; output and VC of the front message.

    `messages` are those whose heads have come and whose tails have not left; `asked` is the port
    that a routing which is asked once has given the head in front.
    """

    flits: deque = field(default_factory=deque)
    came: deque = field(default_factory=deque)
    messages: deque = field(default_factory=deque)
    way: tuple = ()
    asked: int = -1


class Grid:
    """The wiring, and who goes where."""

    shares = True
    asked_once = True

    def __init__(self, rows, columns, classes="none"):
        self.by_hops, self.classes = classes == "hops", 1 + (classes == "hops")
        self.escape = self.classes
        self.shape, self.wiring = (rows, columns), bus_grid_wiring(rows, columns)
        self.size, self.ports = rows * columns, rows + columns - 2
        self.busses = rows + columns

    def behind(self, node, port):
        """The node and the port at the other end."""
        there = self.wiring[node][port]
        return there, self.wiring[there].index(node)

    def bus(self, node, port):
        return bus_of((node, port, self.wiring[node][port]), *self.shape)

    def link_class(self, node, port):
        return 0

    def best(self, able):
        return able[0]

    def ways(self, node, came_by, message, queued):
        """The only port, with its class."""
        return [(self.decide(node, message.target), came_by[1] + 1 if self.by_hops else 0)]

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
        rows = enumerate(sorted(trace, key=lambda row: row[:2]))
        self.messages = [
            Message(number, *row) for number, row in rows if row[1] not in self.dead(row[0])[0]
        ]
        for each in self.messages:
            each.rank = s.get("rank_of", {}).get((each.born, each.source), 0)
        self.queues = [deque() for _ in range(grid.size)]
        self.loads, self.moves, self.last_move = defaultdict(int), 0, -1
        self.queue_max = self.flits_max = 0
        self.backlogs = {}
        self.first, self.end = s["warmup"], s["warmup"] + s["measure"]

    def dead(self, step):
        """The nodes, and the links as sets of two nodes, that are dead in a step."""
        nodes, links = set(self.s.get("dead", ())), [set(link) for link in self.s.get("cut", ())]
        for what, begin, end in self.s.get("passing", ()):
            if begin <= step and (end is None or step < end):
                nodes |= set(what) if len(what) == 1 else set()
                links += [set(what)] if len(what) == 2 else []
        return nodes, links

    def fail(self):
        """Take out what is cut at the begin of this step."""

    def measured(self):
        return [each for each in self.messages if self.first <= each.born < self.end]

    def waiting(self):
        """What is born by now, has not entered and was not withdrawn."""
        born = self.now if self.closed < 0 else -1
        return [
            each for each in self.messages
            if each.born <= born and each.entered < 0 and not each.cut
        ]  # fmt: skip

    def begin(self):
        """Close the sources if it is time; the messages of this step."""
        waits = any(each.done < 0 for each in self.measured() if each.born < self.now)
        self.fail()
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
        ended = [e for e in self.messages if e.done >= 0 and not (e.lost or e.cut)]
        done = [each for each in ended if self.first <= each.born < self.end]
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
            "undeliverable": sum(m.done >= 0 and m.lost and not m.cut for m in measured),
            **self.fates(),
            **self.by_rank(measured, done, accepted),
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

    def by_rank(self, measured, done, accepted):
        """Number, sum and 99th percentile of latencies, and accepted flits, of each rank."""
        found = {}
        for rank, name in enumerate(self.s.get("ranks", ())):
            took = sorted(m.done - m.born for m in done if m.rank == rank)
            flits = [sum(m.length for m in each if m.rank == rank) for each in (
                [m for m in measured if self.closed < 0 or m.born < self.closed], accepted
            )]  # fmt: skip
            found[name] = len(took), sum(took), took[-(-99 * len(took) // 100) - 1], *flits
        return found

    def fates(self):
        """What became of all messages and of their flits, where something died at a step."""
        if not self.s.get("passing"):
            return {}
        fates = {name: [0, 0] for name in (*ENDS, "withdrawn", "left")}
        for each in self.messages:
            if 0 <= self.closed <= each.born:
                continue
            withdrawn = self.closed >= 0 and each.entered < 0
            fate = "cut" if each.cut else "undeliverable" if each.lost else "delivered"
            fate = fate if each.done >= 0 else "withdrawn" if withdrawn else "left"
            for name in ("born", fate):
                fates[name] = [fates[name][0] + 1, fates[name][1] + each.length]
        return {"account": fates, "cut": sum(each.cut for each in self.measured())}


ENDS = ("born", "delivered", "undeliverable", "cut")


class Limited(Traffic):
    """Finite buffers: lanes, credits, holders, and what is kept.

    A grid says who is `behind` a port, and names the `ways` of a message in front of a lane: pairs
    of port and class, of which it takes the `best` that has room.
    """

    def __init__(self, grid, trace, s):
        super().__init__(grid, trace, MORE | s)
        s, self.vcs, self.network = self.s, s["vcs"], grid.ports * s["vcs"]
        self.ranks = len(s.get("ranks", "-"))
        self.per_class = self.vcs // grid.classes // self.ranks
        self.lanes = [[Lane() for _ in range(self.network + self.vcs)] for _ in range(grid.size)]
        self.credits = defaultdict(lambda: s["buffer"])
        self.holders, self.kept, self.keepers = {}, {}, {}
        self.pointers, self.turns, self.busy = (defaultdict(int) for _ in range(3))
        self.coming = defaultdict(list)
        self.inputs = {"one": 1, "all": self.vcs}.get(s["crossbar"], s["crossbar"])
        self.keeps = s["switching"] != "wormhole" and not s["queue"]
        self.delays = [s["delay"]] if isinstance(s["delay"], int) else s["delay"]
        self.longest = max(self.delays) + s["router_delay"] + s["queue"]
        self.quiet = self.longest

    def withdraw(self):
        for node, lanes in enumerate(self.lanes):
            self.queues[node].clear()
            for lane in lanes[self.network :]:
                if lane.flits and lane.flits[0][1] == 0:
                    lane.flits.clear()
                    lane.came.clear()
                    lane.messages.clear()

    def run(self):
        while True:
            for message in self.begin():
                self.queues[message.source].append(message)
            for node, lanes in enumerate(self.lanes):
                for number, lane in enumerate(lanes[self.network :]):
                    rank = number // (self.vcs // self.ranks)
                    message = next((m for m in self.queues[node] if m.rank == rank), None)
                    if message and not lane.flits:
                        self.queues[node].remove(message)
                        lane.flits.extend((message, i) for i in range(message.length))
                        lane.came.append(self.now + self.s["router_delay"])
                        lane.messages.append(message)
            granted = [g for node in range(self.grid.size) for g in self.grants(node)]
            leaving = self.by_busses(granted)
            for each in sorted(leaving, key=lambda each: each[:2]):
                self.leave(*each)
            self.moves += len(leaving)
            self.quiet += 1
            if leaving:
                self.last_move, self.quiet = self.now, 0
            for place, flit in self.coming.pop(self.now + 1, []):
                self.arrive(place, flit)
            inside = [sum(len(x.flits) for x in each[: self.network]) for each in self.lanes]
            self.flits_max = max(self.flits_max, *inside)
            self.finish()
            if self.quiet >= self.longest and (self.closed >= 0 or sum(inside)):
                return self.results(sum(inside))

    def bid(self, node):
        """Write rows (lane, output, vc) of the front flits that can go into `asked`."""
        self.node, self.asked = node, []
        for number, lane in enumerate(self.lanes[node]):
            if not lane.flits or lane.came[0] > self.now:
                continue
            message, index = lane.flits[0]
            way = self.way(node, number, message) if index == 0 else lane.way
            if way is None:
                continue
            out, vc = way
            if out < self.grid.ports:
                keeper = self.keepers.get(self.grid.bus(node, out))
                if keeper is not None and keeper != (node, number):
                    continue
                if index and not self.credits[node, out, vc]:
                    continue
            self.asked.append((number, out, vc))

    def way(self, node, number, message):
        """The output and virtual channel that a head can take."""
        s, vcs, each = self.s, self.vcs, self.per_class
        if message.target == node:
            return self.grid.ports, -1
        slot = number >= self.network
        behind = message.rank * self.grid.classes
        came_by = (-1, -1) if slot else (number // vcs, number % vcs // each - behind)
        ways = self.grid.ways(node, came_by, message, self.queued)
        once = self.grid.asked_once
        message.lost = once and message.lost
        self.lanes[node][number].asked = ways[0][0] if once else -1
        ways = [way for way in ways if not self.is_dead(node, way[0])]
        if message.lost or not ways:
            message.lost = True
            return self.grid.ports, -1
        flits = self.lanes[node][number].flits
        if s["switching"] == "saf" and sum(m is message for m, _ in flits) < message.length:
            return None
        able = []
        for port, group in ways:
            need = message.length
            if s["switching"] == "wormhole":
                need = 1 if group < self.grid.escape else min(need, s["buffer"])
            if s["bubble"] and not self.grid.goes_on(came_by, port, group):
                need *= 2
            free = [
                v for v in range((behind + group) * each, (behind + group + 1) * each)
                if (node, port, v) not in self.holders and self.credits[node, port, v] >= need
            ]  # fmt: skip
            if free:
                vc = max(free, key=lambda v: (self.credits[node, port, v], -v))
                able.append((port, group, self.credits[node, port, vc], vc))
        if not able:
            return None
        port, _, _, vc = self.grid.best(able)
        return port, vc

    def queued(self, node, port):
        """The credits that a node's channels lack, and the bids of its lanes so far."""
        if self.grid.behind(node, port) is None:
            return 0
        lacking = sum(self.s["buffer"] - self.credits[node, port, vc] for vc in range(self.vcs))
        return lacking + sum(node == self.node and bid[1] == port for bid in self.asked)

    def is_dead(self, node, port, step=None):
        nodes, links = self.dead(self.now if step is None else step)
        there = self.grid.behind(node, port)[0]
        return bool({node, there} & nodes) or {node, there} in links

    def fail(self):
        if not self.s["passing"]:
            return
        fresh = {
            (node, port)
            for node in range(self.grid.size)
            for port in range(self.grid.ports)
            if self.grid.behind(node, port) is not None
            and self.is_dead(node, port)
            and not self.is_dead(node, port, self.now - 1)
        }
        cut = []
        for node in self.dead(self.now)[0] - self.dead(self.now - 1)[0]:
            cut += [*self.queues[node], *(m for lane in self.lanes[node] for m in lane.messages)]
            self.queues[node].clear()
        for (node, port, _), number in self.holders.items():
            if (node, port) in fresh:
                cut.append(self.lanes[node][number].messages[0])
        for each in self.coming.values():
            for (node, number), flit in ((e[0], e[1]) for e in each if e[1] is not None):
                if self.grid.behind(node, number // self.vcs) in fresh:
                    cut.append(flit[0])
        for message in cut:
            message.cut, message.done = True, self.now
        for node, lanes in enumerate(self.lanes):
            for lane in lanes:
                if lane.flits and lane.flits[0][1] == 0 and (node, lane.asked) in fresh:
                    lane.flits[0][0].lost = True
        self.take_out()

    def take_out(self):
        """Take out every flit of messages that are cut; what it held is free."""
        for held in (self.holders, self.kept):
            for place, number in list(held.items()):
                if self.lanes[place[0]][number].messages[0].cut:
                    del held[place]
        for bus, (node, number) in list(self.keepers.items()):
            if self.lanes[node][number].messages[0].cut:
                del self.keepers[bus]
        for node, lanes in enumerate(self.lanes):
            for number, lane in enumerate(lanes):
                gone = sum(message.cut for message, _ in lane.flits)
                if number < self.network and gone:
                    behind = self.grid.behind(node, number // self.vcs)
                    self.credits[(*behind, number % self.vcs)] += gone
                both = list(zip(lane.came, lane.messages, strict=True))
                lane.came = deque(came for came, message in both if not message.cut)
                lane.messages = deque(message for _, message in both if not message.cut)
                lane.flits = deque(flit for flit in lane.flits if not flit[0].cut)
                if both and both[0][1].cut:
                    lane.asked = -1
        for step, each in self.coming.items():
            kept = []
            for place, flit in each:
                if flit is not None and flit[0].cut:
                    node, number = place
                    behind = self.grid.behind(node, number // self.vcs)
                    self.credits[(*behind, number % self.vcs)] += 1
                else:
                    kept.append((place, flit))
            self.coming[step] = kept

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
        self.bid(node)
        self.used_in, self.used_out, self.used_vcs = Counter(), Counter(), set()
        self.chosen = []
        for out in range(self.grid.ports + 1):
            if (node, out) in self.kept:
                self.used_in[self.kept[node, out] // self.vcs] += 1
                self.used_out[self.output(node, out)] += 1
        begun = [bid for bid in self.asked if self.kept.get((node, bid[1])) == bid[0]]
        self.asked = [bid for bid in self.asked if bid not in begun]
        every = self.asked
        for rank in range(self.ranks):
            self.earlier = list(self.chosen)
            self.asked = [bid for bid in every if self.lanes[node][bid[0]].flits[0][0].rank == rank]
            self.by_policy()
        new = [(node, *bid, False) for bid in self.chosen]
        return [(node, *bid, True) for bid in begun] + new

    def by_policy(self):
        policy = self.s["policy"]
        by_rounds = {"inputfirst": self.inputs_first}
        by_rounds |= dict.fromkeys(("outputfirst", "islip"), self.outputs_first)
        if policy in by_rounds:
            self.rounds(by_rounds[policy])
        else:
            {"rotating": self.in_turn, "wavefront": self.in_waves}.get(policy, self.in_order)()

    def room(self, out):
        """How many more bids an output may grant."""
        if out == self.grid.ports:
            most = len(self.lanes) * self.vcs if self.s["eject"] == "all" else 1
        else:
            waiting = max(0, self.busy[self.node, out] - self.now)
            most = min(self.s["at_once"] or self.network, self.s["queue"] + 1 - waiting)
            most = most if self.s["queue"] else 1
        return most - self.used_out[self.output(self.node, out)]

    def allowed(self, bid):
        number, out, vc = bid
        taken = bid in self.chosen or (vc >= 0 and (out, vc) in self.used_vcs)
        return not taken and self.room(out) > 0 and self.used_in[number // self.vcs] < self.inputs

    def take(self, bid):
        self.used_in[bid[0] // self.vcs] += 1
        self.used_out[self.output(self.node, bid[1])] += 1
        self.used_vcs.add(bid[1:])
        self.chosen.append(bid)

    def in_order(self):
        for bid in sorted(self.asked, key=lambda bid: self.key(self.node, bid[0])):
            if self.allowed(bid):
                self.take(bid)

    def in_turn(self):
        ports, count = self.grid.ports, self.network + self.vcs
        for turn in range(ports + 1):
            out = (self.now + turn) % (ports + 1)
            pointer = self.pointers[self.node, out]
            while able := [bid for bid in self.asked if bid[1] == out and self.allowed(bid)]:
                best = min(able, key=lambda bid: (bid[0] - pointer) % count)
                self.take(best)
                if out == ports or not self.grid.shares:
                    pointer = self.pointers[self.node, out] = (best[0] + 1) % count

    def in_waves(self):
        many = self.grid.ports + 1
        for wave in range(many):
            for i in range(many):
                cell = i, (self.now + wave - i) % many
                of = [bid for bid in self.asked if (bid[0] // self.vcs, bid[1]) == cell]
                for bid in sorted(of, key=self.by_channel):
                    if self.allowed(bid):
                        self.take(bid)
        new = self.chosen[len(self.earlier) :]
        self.move(self.turns, new, self.input, self.by_channel, lambda b: b[0] % self.vcs)

    def input(self, bid):
        return bid[0] // self.vcs

    def by_channel(self, bid):
        """How far a bid is behind the channel whose turn it is at its input."""
        return (bid[0] - self.turns[self.node, self.input(bid)]) % self.vcs

    def by_input(self, bid):
        """How far its input is behind the one whose turn it is at its output."""
        return (self.input(bid) - self.pointers[self.node, bid[1]]) % (self.grid.ports + 1)

    def by_lane(self, bid):
        pointer = self.pointers[self.node, bid[1]]
        return (bid[0] - pointer) % (self.network + self.vcs)

    def by_output(self, bid):
        return (bid[1] - self.turns[self.node, self.input(bid)]) % (self.grid.ports + 1)

    def move(self, pointers, bids, place, distance, number):
        """Let pointers name what is behind the last of these bids."""
        last = {}
        for bid in sorted(bids, key=distance):
            last[place(bid)] = number(bid) + 1
        for where, pointer in last.items():
            pointers[self.node, where] = pointer

    def rounds(self, one):
        counted = 0
        for turn in range(self.s["iterations"]):
            moves = one()
            if turn == 0 or self.s["policy"] != "islip":
                counted = len(self.chosen)
        for each in moves:
            self.move(each[0], self.chosen[len(self.earlier) : counted], *each[1:])

    def inputs_first(self):
        many, picked = self.grid.ports + 1, []
        for i in range(many):
            mine = [bid for bid in self.asked if self.input(bid) == i and self.allowed(bid)]
            mine.sort(key=self.by_channel)
            picked += mine[: self.inputs - self.used_in[i]]
        for bid in sorted(picked, key=lambda bid: (self.by_input(bid), self.by_channel(bid))):
            if self.allowed(bid):
                self.take(bid)
        at_input = self.turns, self.input, self.by_channel, lambda bid: bid[0] % self.vcs
        return at_input, (self.pointers, lambda bid: bid[1], self.by_input, self.input)

    def outputs_first(self):
        many, picked = self.grid.ports + 1, []
        for out in range(many):
            mine, vcs = [], set()
            able = [bid for bid in self.asked if bid[1] == out and self.allowed(bid)]
            for bid in sorted(able, key=self.by_lane):
                if len(mine) < self.room(out) and (out == many - 1 or bid[2] not in vcs):
                    mine.append(bid)
                    vcs.add(bid[2])
            picked += mine
        for bid in sorted(picked, key=lambda bid: (self.by_output(bid), bid[0])):
            if self.used_in[self.input(bid)] < self.inputs:
                self.take(bid)
        at_output = self.pointers, lambda bid: bid[1], self.by_lane, lambda bid: bid[0]
        return at_output, (self.turns, self.input, self.by_output, lambda bid: bid[1])

    def by_busses(self, granted):
        """What leaves: all that is ejected, and of every bus's claims one."""
        if not self.grid.shares:
            return granted
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

    def delay(self, node, port):
        last = len(self.delays) - 1
        return self.delays[min(self.grid.link_class(node, port), last) if last else 0]

    def leave(self, node, number, out, vc, _):
        """Take a flit from its lane; flit and credit are under way."""
        ports, lane = self.grid.ports, self.lanes[node][number]
        message, index = lane.flits.popleft()
        tail = index == message.length - 1
        if number < self.network:
            before, port = self.grid.behind(node, number // self.vcs)
            place = before, port, number % self.vcs
            self.coming[self.now + self.delay(before, port)].append((place, None))
        elif index == 0:
            message.entered = self.now
        if self.keeps and (out < ports or self.s["eject"] == "one"):
            self.kept[node, out] = number
        if out < ports:
            bus = self.grid.bus(node, out)
            self.credits[node, out, vc] -= 1
            self.holders[node, out, vc] = number
            if self.keeps and self.grid.shares:
                self.keepers[bus] = node, number
            goes = max(self.now, self.busy[node, out])
            self.busy[node, out] = goes + 1
            if self.first <= goes < self.end:
                self.loads[bus] += 1
            there, port = self.grid.behind(node, out)
            usable = goes + self.delay(node, out) + self.s["router_delay"]
            self.coming[usable].append(((there, port * self.vcs + vc), (message, index)))
            message.hops += index == 0
            if tail:
                del self.holders[node, out, vc]
                self.keepers.pop(bus, None)
        elif tail:
            message.done = self.now
        lane.way = out, vc
        if tail:
            self.kept.pop((node, out), None)
            lane.came.popleft()
            lane.messages.popleft()
        if index == 0:
            lane.asked = -1

    def arrive(self, place, flit):
        if flit is None:
            self.credits[place] += 1
            return
        node, number = place
        self.lanes[node][number].flits.append(flit)
        if flit[1] == 0:
            self.lanes[node][number].came.append(self.now + 1)
            self.lanes[node][number].messages.append(flit[0])


MORE = {
    "router_delay": 0,
    "queue": 0,
    "at_once": 0,
    "iterations": 1,
    "bubble": False,
    "dead": (),
    "cut": (),
    "passing": (),
}
"""What settings may leave out: no queues at outputs, in a step as many flits into one as fit,
rounds, whether a ring keeps a bubble, dead nodes, cut links, and what is dead in some steps:
(node,) or (node, node), when it dies, and when it is back or None."""


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
    return kind(Grid(*shape, s["classes"]), trace, s).run()
