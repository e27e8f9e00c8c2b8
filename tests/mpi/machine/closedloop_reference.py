"""A second program for replies and phases under traffic: plain Python, no arrays, no ranks.

Written from docs/reference/traffic.md: wormhole on a mesh in dimension order, links of one step,
uniform traffic, nodes and links that die and come back. Messages are dictionaries, lanes are lists
of flits.
"""

from collections import defaultdict
from math import prod

from mpi.machine.adaptive_reference import draw


class Mesh:
    """A mesh by coordinates; ports of dimension j: 2j ahead, 2j + 1 back."""

    def __init__(self, *sides):
        self.sides, self.size, self.ports = sides, prod(sides), 2 * len(sides)
        self.strides = [prod(sides[j + 1 :]) for j in range(len(sides))]

    def port(self, node, target):
        for j, (side, stride) in enumerate(zip(self.sides, self.strides, strict=True)):
            here, there = node // stride % side, target // stride % side
            if here != there:
                return 2 * j + (there < here)
        return self.ports

    def behind(self, node, port):
        return node + (1 - 2 * (port % 2)) * self.strides[port // 2]


def below(probability):
    return int(probability * 2**32 + 0.5)


class Play:
    """A run to its end; `s` has the parameters by name."""

    def __init__(self, mesh, **s):
        self.mesh, self.s = mesh, s
        self.now, self.closed, self.phase = 0, -1, 0
        nodes, vcs, ports = range(mesh.size), s["vcs"], mesh.ports
        self.lanes = ports * vcs
        self.queue = [[] for _ in nodes]
        self.replies = [[] for _ in nodes]
        self.slots = [[None] * vcs for _ in nodes]
        self.buffers = defaultdict(list)  # (node, lane): flits (message, index)
        self.outs, self.ways = {}, {}  # (node, lane): output, virtual channel of the front message
        self.credits = defaultdict(lambda: s["buffers"])
        self.holder, self.pointer = {}, defaultdict(int)
        self.unanswered, self.made = [0] * mesh.size, [0] * mesh.size
        self.messages, self.begun, self.moves = [], [], 0
        self.coming = self.queue_max = 0
        self.inside = defaultdict(list)  # (node, lane): messages from their heads to their tails
        while self.step():
            pass

    def measured(self, message):
        begin, end = self.s["warmup"], self.s["warmup"] + self.s["steps"]
        return bool(self.s["batch"]) or begin <= message["asked"] < end

    def open(self):
        """Messages that are measured and not done, and those of a phase still to come."""
        return self.coming + sum(
            self.measured(m) and m["done"] is None
            for m in self.messages if not (m["withdrawn"] or m["cut"])
        )  # fmt: skip

    def dead(self, t):
        """The nodes, and the links as sets of two nodes, that are dead in a step."""
        found = [(what,) if isinstance(what, int) else what for what in self.s.get("dead", ())]
        found += [
            what for what, begin, end in self.s.get("passing", ())
            if begin <= t and (end is None or t < end)
        ]  # fmt: skip
        return {w[0] for w in found if len(w) == 1}, [set(w) for w in found if len(w) == 2]

    def is_dead(self, node, port, t):
        nodes, links = self.dead(t)
        ends = {node, self.mesh.behind(node, port)}
        return bool(ends & nodes) or ends in links

    def fail(self, t):
        """Take out what is cut at the begin of a step."""
        fresh = self.dead(t)[0] - self.dead(t - 1)[0]
        cut = []
        for node in fresh:
            cut += self.queue[node] + self.replies[node]
            cut += [slot[0] for slot in self.slots[node] if slot]
            cut += [m for place, each in self.inside.items() if place[0] == node for m in each]
            self.coming -= max(0, self.s["batch"] * (self.phase > 0) - self.made[node])
            self.made[node] = self.s["batch"]
        for (node, out, _), lane in self.holder.items():
            if lane is not None and self.is_dead(node, out, t) > self.is_dead(node, out, t - 1):
                cut.append(self.held_by(node, lane))
        for message in cut:
            message["cut"] = True
        self.take_out(t)

    def held_by(self, node, lane):
        """The message at the front of a lane, even where its flits are behind."""
        if lane >= self.lanes:
            return self.slots[node][lane - self.lanes][0]
        return self.inside[node, lane][0]

    def take_out(self, t):
        """Take out every flit of messages that are cut; what they held is free."""
        for (node, out, vc), lane in self.holder.items():
            if lane is not None and self.held_by(node, lane)["cut"]:
                self.holder[node, out, vc] = None
        for (node, lane), flits in self.buffers.items():
            kept = [flit for flit in flits if not flit[0]["cut"]]
            if len(kept) < len(flits):
                port, v = divmod(lane, self.s["vcs"])
                behind = self.mesh.behind(node, port)
                self.credits[behind, port ^ 1, v] += len(flits) - len(kept)
            self.buffers[node, lane] = kept
        for lists in (self.inside, self.queue, self.replies):
            for key in lists if isinstance(lists, dict) else range(len(lists)):
                lists[key] = [m for m in lists[key] if not m["cut"]]
        for node, slots in enumerate(self.slots):
            for k, slot in enumerate(slots):
                if slot and slot[0]["cut"]:
                    self.cut_at_source(node, slot[0], t)
                    slots[k] = None

    def cut_at_source(self, node, message, t):
        """A message is cut before its tail has left its source."""

    def step(self):
        t, s = self.now, self.s
        self.begin(t, t >= s["warmup"] + s["steps"] + s["limit"])
        if self.closed < 0:
            for node in range(self.mesh.size):
                self.generate(node, t)
        granted = [grant for node in range(self.mesh.size) for grant in self.grants(node, t)]
        arriving = [self.leave(*grant, t) for grant in granted]
        self.moves += len(granted)
        waiting = [
            len(self.queue[node]) + len(self.replies[node])
            + sum(slot is not None and slot[1] == 0 for slot in self.slots[node])
            for node in range(self.mesh.size)
        ]  # fmt: skip
        self.queue_max = max(self.queue_max, *waiting)
        for place, flit, credit in arriving:
            if place is not None:
                self.buffers[place].append(flit)
                if flit[1] == 0:
                    self.inside[place].append(flit[0])
            if credit is not None:
                self.credits[credit] += 1
        self.now += 1
        inside = any(self.buffers.values())
        return bool(granted) or (self.closed < 0 and not inside)

    def begin(self, t, late):
        s, over = self.s, t >= self.s["warmup"] + self.s["steps"]
        idle = self.open() == 0
        self.fail(t)
        if self.closed >= 0:
            return
        if s["batch"]:
            over = self.phase == s["phases"]
            if not over and idle and not late:
                self.phase += 1
                self.begun.append(t)
                gone = self.dead(t)[0]
                self.made = [s["batch"] * (n in gone) for n in range(self.mesh.size)]
                self.coming, idle = s["batch"] * (self.mesh.size - len(gone)), False
        if late or (over and idle):
            self.closed = t
            for node in range(self.mesh.size):
                gone = self.queue[node] + self.replies[node]
                gone += [slot[0] for slot in self.slots[node] if slot and slot[1] == 0]
                for message in gone:
                    message["withdrawn"] = True
                self.queue[node], self.replies[node] = [], []
                self.slots[node] = [
                    None if slot and slot[1] == 0 else slot for slot in self.slots[node]
                ]

    def generate(self, node, t):
        s = self.s
        if node in self.dead(t)[0]:
            return
        may = not s["batch"] or self.made[node] < s["batch"]
        if may and draw(s["seed"], node, t, 16) < below(s["rate"]):
            self.made[node] += 1
            self.coming -= bool(s["batch"])
            target = draw(s["seed"], node, t, 17) * self.mesh.size >> 32
            number = (t * self.mesh.size + node) * (2 if s["reply"] else 1)
            self.add(self.queue[node], number, node, target, s["flits"], t, t)
        for k in range(s["vcs"]):
            if self.slots[node][k] is not None:
                continue
            ready = self.replies[node] and self.replies[node][0]["born"] <= t
            free = not s["outstanding"] or self.unanswered[node] < s["outstanding"]
            if not ready and not (self.queue[node] and free):
                break
            line = self.replies[node] if ready else self.queue[node]
            self.unanswered[node] += bool(s["reply"]) and not ready
            self.slots[node][k] = [line.pop(0), 0]

    def add(self, line, number, source, target, flits, born, asked):
        message = {
            "number": number, "source": source, "target": target, "flits": flits, "born": born,
            "asked": asked, "hops": 0, "entered": None, "done": None, "withdrawn": False,
            "cut": False, "lost": False,
        }  # fmt: skip
        line.append(message)
        self.messages.append(message)

    def front(self, node, lane):
        """The front flit (message, index) of a lane, or None."""
        if lane >= self.lanes:
            slot = self.slots[node][lane - self.lanes]
            return tuple(slot) if slot else None
        return next(iter(self.buffers[node, lane]), None)

    def grants(self, node, t):
        bids, vcs, every = defaultdict(list), self.s["vcs"], self.lanes + self.s["vcs"]
        for lane in range(every):
            flit = self.front(node, lane)
            if flit is None:
                continue
            message, index = flit
            vc = None
            if not index:
                out = self.mesh.port(node, message["target"])
                if out < self.mesh.ports and self.is_dead(node, out, t):
                    message["lost"] = True
                self.outs[node, lane] = self.mesh.ports if message["lost"] else out
            out = self.outs[node, lane]
            if out < self.mesh.ports:
                if index:
                    free = [self.ways[node, lane]]
                else:
                    free = [v for v in range(vcs) if self.holder.get((node, out, v)) is None]
                free = [v for v in free if self.credits[node, out, v] > 0]
                if not free:
                    continue
                vc = max(free, key=lambda v: (self.credits[node, out, v], -v))
            bids[out].append((lane, out, vc, message["number"]))
        used, granted = set(), []
        one = self.s["eject"] == "one"

        def take(bid):
            used.add(bid[0] // vcs)
            granted.append((node, *bid[:3]))

        if self.s["policy"] == "oldest":
            taken = set()
            for bid in sorted((b for each in bids.values() for b in each), key=lambda b: b[3]):
                limited = bid[1] < self.mesh.ports or one
                if bid[0] // vcs not in used and not (limited and bid[1] in taken):
                    taken.add(bid[1])
                    take(bid)
            return granted
        for i in range(self.mesh.ports + 1):
            out = (t + i) % (self.mesh.ports + 1)
            while left := [b for b in bids[out] if b[0] // vcs not in used]:
                first = min(left, key=lambda b: (b[0] - self.pointer[node, out]) % every)
                self.pointer[node, out] = (first[0] + 1) % every
                take(first)
                if out < self.mesh.ports or one:
                    break
        return granted

    def leave(self, node, lane, out, vc, t):
        """Move a flit; return where it arrives, itself, and the channel that gets a credit."""
        message, index = self.front(node, lane)
        tail, credit = index == message["flits"] - 1, None
        if lane >= self.lanes:
            self.slots[node][lane - self.lanes] = None if tail else [message, index + 1]
            message["entered"] = t if index == 0 else message["entered"]
        else:
            self.buffers[node, lane].pop(0)
            port, v = divmod(lane, self.s["vcs"])
            credit = (self.mesh.behind(node, port), port ^ 1, v)
            if tail:
                self.inside[node, lane].pop(0)
        if out == self.mesh.ports:
            if tail:
                self.finish(node, message, t)
            return None, None, credit
        self.ways[node, lane] = vc
        self.credits[node, out, vc] -= 1
        self.holder[node, out, vc] = None if tail else lane
        message["hops"] += index == 0
        there = self.mesh.behind(node, out), (out ^ 1) * self.s["vcs"] + vc
        return there, (message, index), credit

    def finish(self, node, message, t):
        message["done"] = t
        if not self.s["reply"] or message["lost"]:
            return
        if message["number"] % 2:
            self.unanswered[node] -= 1
        elif self.closed < 0:
            number, source = message["number"] + 1, message["source"]
            born = t + self.s["service"]
            line, flits = self.replies[node], self.s["reply"]
            self.add(line, number, node, source, flits, born, message["asked"])
            line.sort(key=lambda m: (m["born"], m["number"]))

    def results(self):
        """What a run of mpinet gives, by the same names."""
        done = [m for m in self.messages if m["done"] is not None and not m["lost"]]
        mine = [m for m in done if self.measured(m)]
        kinds = {"": mine}
        if self.s["reply"]:
            kinds |= {
                "request": [m for m in mine if not m["number"] % 2],
                "reply": [m for m in mine if m["number"] % 2],
            }
        latency = {name: [m["done"] - m["born"] for m in each] for name, each in kinds.items()}
        if self.s["reply"]:
            latency["round_trip"] = [m["done"] - m["asked"] for m in kinds["reply"]]
        seal = sum(draw(m["done"], m["born"], m["source"], m["entered"] + m["hops"]) for m in done)
        born = [m for m in self.messages if self.measured(m)]
        whole = not self.coming and all(m["cut"] or m["done"] is not None for m in born)
        ends = [*self.begun[1:], *([self.closed] if whole else [])]
        return {
            "steps": self.now, "closed": self.closed, "moves": self.moves,
            "generated": len(born), "generated_flits": sum(m["flits"] for m in born),
            "delivered": len(mine), "seal": seal % 2**61, "latencies": latency,
            "hops_sum": sum(m["hops"] for m in mine), "source_queue_max": self.queue_max,
            "phase_steps": [b - a for a, b in zip(self.begun, ends, strict=False)],
            **self.fates(),
        }  # fmt: skip

    def fates(self):
        """What became of all messages and of their flits, where something died at a step."""
        if not self.s.get("passing"):
            return {}
        found = {name: [0, 0] for name in ("delivered", "undeliverable", *FATES)}
        for m in self.messages:
            name = next((name for name in FATES if m.get(name)), "left")
            if m["done"] is not None:
                name = "undeliverable" if m["lost"] else "delivered"
            for each in ("born", name):
                found[each] = [found[each][0] + 1, found[each][1] + m["flits"]]
        return {"account": found, "cut": sum(m["cut"] and self.measured(m) for m in self.messages)}


FATES = ("cut", "withdrawn", "left", "born")
"""Fates of what is not done, in the order in which they are looked for, and the number of all."""
