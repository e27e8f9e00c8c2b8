"""Programs of messages as flits once more, in plain Python, from docs/reference/traffic.md."""

from mpi.machine.closedloop_reference import Play

NEVER = 10**18


class Programmed(Play):
    """The machine of `closedloop_reference`, whose messages are those of a program.

    `program` has a list of operations for each processor: kind, amount (flits or steps), peer and
    tag (None: any), CPU, and pairs (earlier operation, whether its begin is enough).
    """

    def __init__(self, mesh, program, **s):
        self.program = program
        self.total = sum(map(len, program))
        self.first = [sum(map(len, program[:node])) for node in range(mesh.size)]
        self.starts = [[None] * len(each) for each in program]  # when they begin; calcs ahead of it
        self.done = [[None] * len(each) for each in program]
        self.posted = [[] for _ in program]  # receives, in the order of posting
        self.arrived = [[] for _ in program]  # messages that no receive has got
        self.cpus = [{} for _ in program]
        self.came, self.told = [], 1
        super().__init__(mesh, **s)

    def ready(self, node, number, t):
        """Tell if an operation may begin: what it requires is done, or has begun."""
        return self.starts[node][number] is None and all(
            (self.starts if begun else self.done)[node][earlier] is not None
            and (self.starts if begun else self.done)[node][earlier] <= t
            for earlier, begun in self.program[node][number][5]
        )

    def fits(self, operation, message):
        _, _, peer, tag, _, _ = operation
        sent = self.program[message["source"]][message["operation"]]
        return peer in (None, message["source"]) and tag in (None, sent[3])

    def operate(self, node, t):
        own, done, begun = self.program[node], self.done[node], self.starts[node]
        for message in sorted(
            (m for m in self.came if m["target"] == node), key=lambda m: m["number"]
        ):
            for number in self.posted[node]:
                if self.fits(own[number], message):
                    self.posted[node].remove(number)
                    done[number] = t
                    break
            else:
                self.arrived[node].append(message)
        while True:
            number = next((n for n in range(len(own)) if self.ready(node, n, t)), None)
            if number is None:
                return
            kind, amount, peer, _, cpu, _ = own[number]
            if kind == "calc":
                begun[number] = max(t, self.cpus[node].get(cpu, 0))
                done[number] = self.cpus[node][cpu] = begun[number] + amount
                continue
            begun[number] = t
            if kind == "send":
                order = t * self.total + self.first[node] + number
                self.add(self.queue[node], order, node, peer, amount, t, t)
                self.messages[-1]["operation"] = number
                continue
            for message in self.arrived[node]:
                if self.fits(own[number], message):
                    self.arrived[node].remove(message)
                    done[number] = t
                    break
            else:
                self.posted[node].append(number)

    def begin(self, t, late):
        for node in range(self.mesh.size):
            self.operate(node, t)
        self.came = []
        self.fail(t)
        if self.closed < 0 and self.told == 0:
            self.closed = t

    def generate(self, node, t):
        for k in range(self.s["vcs"]):
            if self.slots[node][k] is None and self.queue[node]:
                self.slots[node][k] = [self.queue[node].pop(0), 0]

    def leave(self, node, lane, out, vc, t):
        message, index = self.front(node, lane)
        if lane >= self.lanes and index == message["flits"] - 1:
            self.done[node][message["operation"]] = t + 1
        return super().leave(node, lane, out, vc, t)

    def cut_at_source(self, node, message, t):
        self.done[node][message["operation"]] = t + 1

    def finish(self, node, message, t):
        message["done"] = t
        if not message["lost"]:
            self.came.append(message)

    def step(self):
        moves, t = self.moves, self.now
        super().step()
        left = [d is None or d > t for each in self.done for d in each]
        open_now = (m for m in self.messages if not m["cut"])
        self.told = sum(left) + sum(m["done"] is None for m in open_now)
        if self.moves > moves:
            return True
        if self.closed >= 0 or any(self.buffers.values()):
            return False
        times = [time for each in (*self.starts, *self.done) for time in each if time is not None]
        return self.told == 0 or max(times, default=0) > t

    def played(self):
        """What mpinet says of the program."""
        ends = [max([d for d in each if d is not None], default=0) for each in self.done]
        return {
            "time": max(ends), "ends": ends,
            "unmatched": sum(map(len, self.arrived)),
            "stuck": sum(d is None for each in self.done for d in each),
        }  # fmt: skip
