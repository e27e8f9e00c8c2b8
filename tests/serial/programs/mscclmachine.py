"""An executor of MSCCL-XML, by what the format's executors do: thread blocks, flags and FIFOs.

A thread block runs its steps in order. Before a step it waits until the flags of the blocks that
the step depends on have come so far; after a step it sets its own flag, but only where the step
says that others depend on it. A connection (sender, receiver, channel) holds a few chunks that have
not been received; a send waits for a free slot, a receive for a chunk. Blocks run in any order.
"""

import random
from collections import defaultdict, deque
from xml.etree import ElementTree

SLOTS = 8
MOST_STEPS, MOST_COUNT, MOST_PEERS, MOST_BLOCKS = 256, 72, 32, 216
NEEDED = {
    "algo": "nchunksperloop nchannels ngpus proto coll minBytes maxBytes inplace outofplace",
    "gpu": "id i_chunks o_chunks s_chunks",
    "tb": "id recv send chan",
    "step": "s srcoff srcbuf dstoff dstbuf cnt type depid deps hasdep",
}


class Refused(Exception):
    """The parser does not take the file."""


class Hung(Exception):
    """Thread blocks wait for one another for ever."""


def require(condition, sentence):
    if not condition:
        raise Refused(sentence)


class Machine:
    """GPUs with buffers of numbers; `run` executes all thread blocks in a random order.

    `own` says where the input of a GPU begins in its output (allgather) or the other way round
    (scatter) where both are one buffer.
    """

    def __init__(self, text):
        self.algo = ElementTree.fromstring(text)
        self._take(self.algo)
        self.in_place = self.algo.get("inplace") == "1"
        require(self.in_place != (self.algo.get("outofplace") == "1"), "one of both")
        self.gpus = {int(gpu.get("id")): gpu for gpu in self.algo.findall("gpu")}
        require(sorted(self.gpus) == list(range(int(self.algo.get("ngpus")))), "GPUs")
        self.memory = defaultdict(dict)
        self.flags = defaultdict(lambda: -1)
        self.fifos = defaultdict(deque)
        for gpu in self.gpus.values():
            self._check(gpu)

    def _take(self, element):
        missing = set(NEEDED[element.tag].split()) - set(element.attrib)
        require(not missing, f"{element.tag} lacks {sorted(missing)}")
        for child in element:
            self._take(child)

    def _check(self, gpu):
        peers = defaultdict(int)
        numbers = [int(block.get("id")) for block in gpu]
        require(sorted(numbers) == list(range(len(numbers))), "blocks are numbered without gaps")
        require(len(numbers) <= MOST_BLOCKS, "blocks")
        sizes = {name: int(gpu.get(f"{name}_chunks")) for name in "ios"}
        for block in gpu:
            for way in ("send", "recv"):
                peers[way, block.get("chan")] += int(block.get(way)) >= 0
            require(len(block) <= MOST_STEPS, "steps")
            waits = 0
            for at, step in enumerate(block):
                require(int(step.get("s")) == at, "steps are numbered in order")
                require(0 <= int(step.get("cnt")) < MOST_COUNT, "count")
                if step.get("type") == "nop":
                    waits += 1
                    continue
                require(not waits or int(step.get("depid")) >= 0, "a chain of waits has an end")
                waits = 0
                if step.get("type") != "r":
                    require(int(step.get("srcoff")) < sizes[step.get("srcbuf")], "source")
                if step.get("type") != "s":
                    require(int(step.get("dstoff")) < sizes[step.get("dstbuf")], "target")
        require(max(peers.values(), default=0) <= MOST_PEERS, "peers of a channel")

    def place(self, gpu, buffer, offset):
        """The same place for input and output where they are one buffer."""
        if not self.in_place or buffer == "s":
            return buffer, offset
        own = {"allgather": ("i", "i_chunks"), "gather": ("i", "i_chunks"),
               "scatter": ("o", "o_chunks")}.get(self.algo.get("coll"))  # fmt: skip
        if own and buffer == own[0]:
            return "io", offset + gpu * int(self.gpus[gpu].get(own[1]))
        return "io", offset

    def read(self, gpu, buffer, offset):
        return self.memory[gpu][self.place(gpu, buffer, offset)]

    def write(self, gpu, buffer, offset, value):
        self.memory[gpu][self.place(gpu, buffer, offset)] = value

    def run(self, seed, slots=SLOTS):
        """Run all blocks; raise `Hung` where none can go on."""
        draw, running = random.Random(seed), []
        for number, gpu in self.gpus.items():
            running += [self._block(number, block, slots) for block in gpu]
        stuck = 0
        while running:
            block = draw.choice(running) if stuck < len(running) else None
            if block is None:
                moved = [each for each in list(running) if self._moves(each, running)]
                if not moved:
                    raise Hung(f"{len(running)} thread blocks wait")
                stuck = 0
                continue
            stuck = 0 if self._moves(block, running) else stuck + 1

    @staticmethod
    def _moves(block, running):
        try:
            return next(block)
        except StopIteration:
            running.remove(block)
            return True

    def _block(self, gpu, block, slots):
        """The steps of a block; yields whether it has got on."""
        number, channel = int(block.get("id")), block.get("chan")
        into = self.fifos[gpu, int(block.get("send")), channel]
        out_of = self.fifos[int(block.get("recv")), gpu, channel]
        waits = []
        for step in block:
            if int(step.get("depid")) >= 0:
                waits.append((int(step.get("depid")), int(step.get("deps"))))
            kind = step.get("type")
            if kind == "nop":
                continue
            for other, deps in waits:
                while self.flags[gpu, other] < deps:
                    yield False
            waits = []
            source = step.get("srcbuf"), int(step.get("srcoff"))
            target = step.get("dstbuf"), int(step.get("dstoff"))
            if kind == "cpy":
                self.write(gpu, *target, self.read(gpu, *source))
            elif kind == "s":
                while len(into) >= slots:
                    yield False
                into.append(self.read(gpu, *source))
            else:
                while not out_of:
                    yield False
                came = out_of.popleft()
                added = came + self.read(gpu, *source) if kind == "rrc" else came
                self.write(gpu, *target, added)
            if step.get("hasdep") == "1":
                self.flags[gpu, number] = int(step.get("s"))
            yield True
