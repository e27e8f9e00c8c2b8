"""A second program for replies and phases under traffic: plain Python, no arrays, no ranks.

Written from docs/reference/traffic.md: wormhole on a mesh in dimension order, links of one step,
uniform traffic. Messages are dictionaries, lanes are lists of flits.
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
        self.ways = {}  # (node, lane): (output, virtual channel) of the front message
        self.credits = defaultdict(lambda: s["buffers"])
        self.holder, self.pointer = {}, defaultdict(int)
        self.unanswered, self.made = [0] * mesh.size, [0] * mesh.size
        self.messages, self.begun, self.moves = [], [], 0
        self.coming = self.queue_max = 0
        while self.step():
            pass

    def measured(self, message):
        begin, end = self.s["warmup"], self.s["warmup"] + self.s["steps"]
        return bool(self.s["batch"]) or begin <= message["asked"] < end

    def open(self):
        """Messages that are measured and not done, and those of a phase still to come."""
        return self.coming + sum(
            self.measured(m) and m["done"] is None for m in self.messages if not m["withdrawn"]
        )

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
            if credit is not None:
                self.credits[credit] += 1
        self.now += 1
        inside = any(self.buffers.values())
        return bool(granted) or (self.closed < 0 and not inside)

    def begin(self, t, late):
        s, over = self.s, t >= self.s["warmup"] + self.s["steps"]
        if self.closed >= 0:
            return
        idle = self.open() == 0
        if s["batch"]:
            over = self.phase == s["phases"]
            if not over and idle and not late:
                self.phase += 1
                self.begun.append(t)
                self.made = [0] * self.mesh.size
                self.coming, idle = s["batch"] * self.mesh.size, False
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
            out = self.mesh.port(node, message["target"])
            vc = None
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
        if not self.s["reply"]:
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
        done = [m for m in self.messages if m["done"] is not None]
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
        whole = not self.coming and len(mine) == len(born)
        ends = [*self.begun[1:], *([self.closed] if whole else [])]
        return {
            "steps": self.now, "closed": self.closed, "moves": self.moves,
            "generated": len(born), "generated_flits": sum(m["flits"] for m in born),
            "delivered": len(mine), "seal": seal % 2**61, "latencies": latency,
            "hops_sum": sum(m["hops"] for m in mine), "source_queue_max": self.queue_max,
            "phase_steps": [b - a for a, b in zip(self.begun, ends, strict=False)],
        }  # fmt: skip
