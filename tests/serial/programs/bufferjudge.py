"""A second judge of GPU programs, which shares no code with mpinet: numbers in flat memories.

It executes MSCCL-XML and plans of MSCCL++ operation by operation, in a random order of thread
blocks. A number is drawn for each input; sums are taken modulo a prime; and in the end each output
is compared with the sum that the collective defines. Input and output of a program in place begin
at addresses of the same memory. Each operation keeps the set of operations that happen before it:
two operations that use an address, one of them writing, race unless one set holds the other.
"""

import json
import random
from collections import Counter, defaultdict, deque
from itertools import chain
from xml.etree import ElementTree

PRIME = 2**61 - 1
FAR = 10**6


class Rejected(Exception):
    """The program is no program: it hangs, its messages do not fit, or its places do not exist."""


def require(condition, reason):
    if not condition:
        raise Rejected(reason)


class Memory:
    """The memories of all GPUs, who used them, and which operations happen before which."""

    def __init__(self, sizes, collective, per, in_place, root, seed):
        self.gpus, self.sizes, self.collective = len(sizes), sizes, collective
        self.per, self.in_place, self.root = per, in_place, root
        self.values, self.uses, self.before = {}, defaultdict(list), []
        self.raced = self.empty = False
        self.draw = random.Random(seed)
        self.given = [[self.draw.randrange(PRIME) for _ in range(self._inputs(gpu))]
                      for gpu in range(self.gpus)]  # fmt: skip
        for gpu, values in enumerate(self.given):
            for at, value in enumerate(values):
                self.values[gpu, self._begin(gpu, "i") + at] = value

    def _inputs(self, gpu):
        if self.collective in ("broadcast", "scatter") and gpu != self.root:
            return 0
        many = self.collective in ("scatter", "alltoall", "reducescatter")
        return self.per * (self.gpus if many else 1)

    def _begin(self, gpu, buffer):
        """The address at which a buffer begins."""
        if not self.in_place or buffer == "s":
            return "ios".index(buffer) * FAR
        if self.collective in ("allgather", "gather") and buffer == "i":
            return gpu * self.per
        if self.collective in ("scatter", "reducescatter") and buffer == "o":
            return gpu * self.per
        return 0

    def address(self, gpu, buffer, offset):
        require(buffer in ("i", "o", "s"), "buffer")
        require(0 <= offset < self.sizes[gpu][buffer], "outside")
        return gpu, self._begin(gpu, buffer) + offset

    def operation(self, *after):
        """A new operation, which happens after others."""
        known = 0
        for other in after:
            known |= self.before[other] | 1 << other
        self.before.append(known)
        return len(self.before) - 1

    def use(self, operation, address, writes):
        for other, wrote in self.uses[address]:
            ordered = other == operation or self.before[operation] >> other & 1
            self.raced |= (writes or wrote) and not ordered
        self.uses[address].append((operation, writes))

    def read(self, operation, address):
        self.use(operation, address, False)
        self.empty |= address not in self.values
        return self.values.get(address, 0)

    def write(self, operation, address, value):
        self.use(operation, address, True)
        self.values[address] = value % PRIME

    def move(self, operation, pairs):
        """Copy from addresses to others; whatever is read for one and written for another races."""
        taken = {source for source, _ in pairs}
        self.raced |= any(target in taken and target != source for source, target in pairs)

    def wrong(self):
        """Whether some output is not what the collective defines."""
        everything = [value for values in self.given for value in values]
        for gpu in range(self.gpus):
            for at, value in enumerate(self._wanted(gpu, everything)):
                if self.values.get((gpu, self._begin(gpu, "o") + at)) != value:
                    return True
        return False

    def _wanted(self, gpu, everything):
        mine = slice(gpu * self.per, (gpu + 1) * self.per)
        if self.collective in ("reduce", "gather") and gpu != self.root:
            return []
        if self.collective in ("allgather", "gather"):
            return everything
        if self.collective == "broadcast":
            return self.given[self.root]
        if self.collective == "scatter":
            return self.given[self.root][mine]
        if self.collective == "alltoall":
            return [value for values in self.given for value in values[mine]]
        sums = [sum(each) % PRIME for each in zip(*self.given, strict=True)]
        return sums[mine] if self.collective == "reducescatter" else sums

    def verdict(self):
        if self.raced:
            return "race"
        return "empty" if self.empty else "wrong" if self.wrong() else "right"


def finished(blocks, draw):
    """Run generators, each of which yields whether it has got on, in a random order."""
    idle = 0
    while blocks:
        block = draw.choice(blocks) if idle < 4 * len(blocks) else blocks[idle % len(blocks)]
        try:
            idle = 0 if next(block) else idle + 1
        except StopIteration:
            blocks.remove(block)
            idle = 0
        require(idle < 8 * len(blocks) + 8, "hangs")


def judged_xml(text, seed=0, **said):
    """The verdict on MSCCL-XML: of the worst way in which it may be used."""
    algorithm = ElementTree.fromstring(text)
    ways = [way == "inplace" for way in ("inplace", "outofplace") if algorithm.get(way) == "1"]
    found = [Blocks(algorithm, way, seed, said).verdict() for way in ways or [False]]
    return next((each for each in found if each != "right"), "right")


class Blocks:
    """Thread blocks of MSCCL-XML."""

    def __init__(self, algorithm, in_place, seed, said):
        gpus = {int(gpu.get("id")): gpu for gpu in algorithm.findall("gpu")}
        sizes = [{name: int(gpus[gpu].get(f"{name}_chunks")) for name in "ios"}
                 for gpu in range(int(algorithm.get("ngpus")))]  # fmt: skip
        collective = said.get("collective") or algorithm.get("coll").replace("_", "")
        loop = int(algorithm.get("nchunksperloop"))
        whole = collective in ("allreduce", "broadcast", "reduce")
        root = int(algorithm.get("root", said.get("root", 0)))
        per = loop if whole else loop // len(sizes)
        self.memory = Memory(sizes, collective, per, in_place, root, seed)
        self.lines, self.done, self.users = defaultdict(deque), {}, {}
        self.blocks = [
            self._block(gpu, block) for gpu, each in gpus.items() for block in each.findall("tb")
        ]
        self.steps = {
            (gpu, int(block.get("id")), int(step.get("s")))
            for gpu, each in gpus.items()
            for block in each.findall("tb")
            for step in block
        }

    def verdict(self):
        try:
            finished(self.blocks, self.memory.draw)
            require(not any(self.lines.values()), "left over")
        except Rejected:
            return "rejected"
        return self.memory.verdict()

    def _line(self, block, way, key):
        require(-1 not in key and key[0] != key[1], "no peer")
        require(self.users.setdefault((way, key), block) == block, "shared connection")
        return self.lines[key]

    def _block(self, gpu, block):
        number, channel, last = int(block.get("id")), block.get("chan"), ()
        out = gpu, int(block.get("send")), channel
        into = int(block.get("recv")), gpu, channel
        for step in block:
            kind, count = step.get("type"), int(step.get("cnt"))
            require(kind == "nop" or count > 0, "count")
            needed = gpu, int(step.get("depid")), int(step.get("deps"))
            after = last
            if min(needed) >= 0:
                require(needed in self.steps, "no such step")
                while needed not in self.done:
                    yield False
                after = (*last, self.done[needed])
            came = None
            if kind[0] == "r" and kind != "re":
                line = self._line(number, "into", into)
                while not line:
                    yield False
                came, sender = line.popleft()
                require(len(came) == count, "other count")
                after = (*after, sender)
            operation = self.memory.operation(*after)
            sent = self._step(operation, gpu, step, came)
            if kind in ("s", "rcs", "rrs", "rrcs"):
                self._line(number, "out", out).append((sent, operation))
            last = (operation,)
            self.done[gpu, number, int(step.get("s"))] = operation
            yield True

    def _step(self, operation, gpu, step, came):
        """Do a step; return what it sends."""
        memory, kind, count = self.memory, step.get("type"), int(step.get("cnt"))

        def places(end):
            first = int(step.get(f"{end}off"))
            return [memory.address(gpu, step.get(f"{end}buf"), first + j) for j in range(count)]

        values = came
        if kind in ("cpy", "re", "rrc", "rrcs"):
            memory.move(operation, list(zip(places("src"), places("dst"), strict=True)))
        if kind in ("cpy", "s", "re", "rrc", "rrs", "rrcs"):
            own = [memory.read(operation, place) for place in places("src")]
            values = own if came is None else [sum(pair) for pair in zip(own, came, strict=True)]
        if kind == "re":
            there = [memory.read(operation, place) for place in places("dst")]
            values = [sum(pair) for pair in zip(values, there, strict=True)]
        if kind not in ("nop", "s", "rrs"):
            for place, value in zip(places("dst"), values, strict=True):
                memory.write(operation, place, value)
        return values


def judged_plan(text, seed=0):
    """The verdict on a plan of MSCCL++."""
    return Operations(json.loads(text), seed).verdict()


class Operations:
    """Thread blocks of a plan of MSCCL++, with channels between memories alone."""

    def __init__(self, plan, seed):
        keys = {"i": "input_chunks", "o": "output_chunks", "s": "scratch_chunks"}
        self.plan, self.gpus = plan, plan["gpus"]
        sizes = [{name: gpu[key] for name, key in keys.items()} for gpu in self.gpus]
        collective = plan["collective"]
        many = collective in ("alltoall", "reducescatter", "scatter")
        per = sizes[0]["i"] // (len(sizes) if many else 1)
        self.memory = Memory(sizes, collective, per, plan["inplace"], 0, seed)
        self.signals, self.waits, self.met = defaultdict(list), Counter(), defaultdict(list)
        self.packets, self.taken = defaultdict(list), Counter()
        self.blocks = [
            self._block(gpu, number, block)
            for gpu, each in enumerate(self.gpus)
            for number, block in enumerate(each["threadblocks"])
        ]

    def verdict(self):
        try:
            finished(self.blocks, self.memory.draw)
        except Rejected:
            return "rejected"
        return self.memory.verdict()

    def _places(self, gpu, block, ref):
        there, name = gpu, ref.get("type")
        if "buffer_id" in ref:
            numbers = [
                each for refs in block["remote_buffer_refs"] for each in refs["remote_buffer_ids"]
            ]
            require(ref["buffer_id"] < len(numbers), "no such buffer")
            remote = self.gpus[gpu]["remote_buffers"][numbers[ref["buffer_id"]]]
            there, name = remote["rank"], remote["type"]
        return [self.memory.address(there, name, ref["index"] + j) for j in range(ref["size"])]

    def _ends(self, gpu, block, op):
        peers = self.gpus[gpu]["channels"][0]["connected_to"]
        numbers = block["channels"][0]["channel_ids"]
        require(all(turn < len(numbers) for turn in op.get("channel_ids", [])), "no such channel")
        own = [numbers[turn] for turn in op.get("channel_ids", [])]
        return [(peers[each], peers[:each].count(peers[each])) for each in own]

    def _block(self, gpu, number, block):
        last, turns, came = (), Counter(), Counter()
        for op in block["ops"]:
            name, after = op["name"], last
            ends = self._ends(gpu, block, op)
            if name == "barrier":
                key = gpu, op["barrier_id"], turns[op["barrier_id"]]
                turns[op["barrier_id"]] += 1
                self.met[key].append(self.memory.operation(*after))
                yield True
                while len(self.met[key]) < self._members(gpu, op["barrier_id"]):
                    yield False
                after = tuple(self.met[key])
            if name == "wait":
                for peer, alike in ends:
                    key = peer, gpu, alike
                    while len(self.signals[key]) <= self.waits[key]:
                        yield False
                    after = (*after, self.signals[key][self.waits[key]])
                    self.waits[key] += 1
            sources = [self._places(gpu, block, ref) for ref in op.get("src_buff", [])]
            targets = [self._places(gpu, block, ref) for ref in op.get("dst_buff", [])]
            require(len({len(each) for each in sources + targets}) < 2, "sizes")
            if name in ("upkt", "respkt"):
                for place in chain(*(sources if name == "upkt" else sources[1:])):
                    while len(self.packets[place]) <= came[place]:
                        yield False
                    after = (*after, self.packets[place][came[place]])
                    came[place] += 1
            operation = self.memory.operation(*after)
            self._do(operation, gpu, name, sources, targets)
            for end in ends if name in ("signal", "wait") else ():
                self.memory.use(operation, (name, gpu, *end), True)
                if name == "signal":
                    self.signals[(gpu, *end)].append(operation)
            last = (operation,)
            yield True

    def _members(self, gpu, barrier):
        """The thread blocks of a GPU that come to a barrier."""
        return sum(
            any(op.get("barrier_id") == barrier for op in block["ops"])
            for block in self.gpus[gpu]["threadblocks"]
        )

    def _do(self, operation, gpu, name, sources, targets):
        memory = self.memory
        for source in sources:
            for target in targets:
                memory.move(operation, list(zip(source, target, strict=True)))
        values = [
            sum(memory.read(operation, place) for place in places)
            for places in zip(*sources, strict=True)
        ]
        for target in targets:
            for place, value in zip(target, values, strict=True):
                memory.write(operation, place, value)
                if name == "ppkt" or (name == "respkt" and place[0] != gpu):
                    self.packets[place].append(operation)
