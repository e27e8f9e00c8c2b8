"""Execution plans of MSCCL++ (JSON): thread blocks that put, get, copy, reduce, signal and wait."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from mpinet.base.numerals import quoted
from mpinet.errors import UsageError
from mpinet.programs.kinds import Purpose
from mpinet.programs.schedules.files.buffers import (
    BUFFERS,
    MOST_COUNT,
    Act,
    BufferPlace,
    TaskProgram,
    collective_named,
    followed,
    name_of,
    sizes_of,
)
from mpinet.programs.schedules.files.schedulefile import (
    Contents,
    ReadingOptions,
    parse_json,
    require_purpose,
    rows_of,
)
from mpinet.programs.schedules.timetable import Timetable

PUTS = ("put", "pws", "pwsf", "ppkt", "rppkt")
COPIES = ("copy", "cpkt", "upkt")
REDUCES = ("re", "repkt", "recpkt", "res", "respkt", "recspkt", "rre", "rres")
SIGNALS, WAITS = ("signal", "rlxsignal", "pws", "pwsf"), ("wait", "rlxwait")
PACKETS_READ = ("upkt", "rppkt", "repkt", "recpkt", "respkt", "recspkt")
PACKETS_SENT = ("ppkt", "rppkt", "cpkt", "respkt", "recspkt")
NOTHING = ("nop", "flush")
"""Operations without effect; the constants above name the other kinds of operations."""

KNOWN = (*PUTS, "get", *COPIES, *REDUCES, *SIGNALS[:2], *WAITS, "barrier", *NOTHING)
"""Names of all known operations."""

SIZES = {"i": "input_chunks", "o": "output_chunks", "s": "scratch_chunks"}
"""Keys of the buffers' sizes."""


@dataclass
class TaskPlan:
    """Tasks of an MSCCL++ plan, with their signals, waits, packets and barriers."""

    connected: list[dict[str, list[int]]]
    """Peers of each GPU's channels, by kind of channel."""
    program: TaskProgram = field(default_factory=TaskProgram)
    """The tasks and their effects on buffers."""
    owners: list[int] = field(default_factory=list)
    """Thread block of each task, numbered over all GPUs."""
    signals: dict[Any, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Signal tasks of each (from, to, kind of channel, number), in order."""
    waits: dict[Any, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Wait tasks of each (from, to, kind of channel, number), in order."""
    written: dict[BufferPlace, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Tasks that send packets to each place."""
    taken: dict[BufferPlace, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Tasks that take packets from each place."""
    barriers: dict[Any, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Tasks at each barrier, by (GPU, barrier, number of earlier visits)."""

    def add(self, block: Block, act: Act, ends: tuple[int, int] = (-1, -1)) -> int:
        """Add a task of a thread block; the task waits for the block's previous task."""
        task = self.program.add(block.where, act, ends)
        self.owners.append(block.number)
        if block.last >= 0:
            self.program.tasks.after(task, block.last)
        block.last = task
        return task


@dataclass
class Block:
    """A thread block during reading: its GPU, its tables, and its last task."""

    gpu: int
    number: int
    channels: dict[str, list[int]]
    remotes: dict[str, list[tuple[int, str]]]
    where: str = ""
    last: int = -1


def read_plan(data: bytes, reading: ReadingOptions) -> Contents:
    """Return the timetable of a plan; sends over links are timed in the order of GPUs and blocks.

    Raises
    ------
    UsageError
        The file is not a plan, or its operations wait for each other forever.
    """
    document = parse_json(data)
    gpus = document.get("gpus") if isinstance(document, dict) else None
    if not isinstance(gpus, list) or not gpus:
        raise UsageError("line 1: this JSON has no list of gpus, as a plan of MSCCL++ has.")
    purpose = _purpose(document, gpus, reading)
    plan = TaskPlan([_connected(gpu, len(gpus)) for gpu in gpus])
    number = 0
    for rank, gpu in enumerate(gpus):
        for buffer, key in SIZES.items():
            if key in gpu:
                plan.program.sizes[rank, buffer] = _whole(gpu, key, f"gpus[{rank}]")
    for rank, gpu in enumerate(gpus):
        for at, block in enumerate(_list(gpu, "threadblocks", f"gpus[{rank}]")):
            here = f"gpus[{rank}].threadblocks[{at}]"
            made = Block(rank, number, *_tables(gpu, block, here))
            for place, op in enumerate(_list(block, "ops", here)):
                made.where = f"{here}.ops[{place}]: GPU {rank}"
                _read(plan, made, op)
            number += 1
    _join(plan)
    return followed(plan.program, reading, purpose, [document.get("inplace") is True])


def _purpose(document: dict[str, Any], gpus: list[Any], reading: ReadingOptions) -> Purpose:
    """Return the collective of a plan, with its processors and chunks."""
    name = collective_named(document.get("collective"), reading)
    inputs = _whole(gpus[0], "input_chunks", "gpus[0]")
    many = name in ("reducescatter", "exchange", "scatter")
    per = inputs // len(gpus) if many else inputs
    return require_purpose(name, len(gpus), reading.chunks or max(per, 1), reading.root)


def _list(given: Any, key: str, where: str) -> list[Any]:
    found = given.get(key, []) if isinstance(given, dict) else None
    if not isinstance(found, list):
        raise UsageError(f"{where}: {key} is a list.")
    return found


def _whole(given: Any, key: str, where: str, most: int = MOST_COUNT) -> int:
    value = given.get(key) if isinstance(given, dict) else None
    if type(value) is not int or not 0 <= value <= most:
        raise UsageError(f"{where}: {key} is a whole number 0..{most}, not {quoted(str(value))}.")
    return value


def _connected(gpu: Any, gpus: int) -> dict[str, list[int]]:
    """Return the peers of a GPU's channels, by kind."""
    found: dict[str, list[int]] = defaultdict(list)
    for channel in _list(gpu, "channels", "gpus"):
        kind = channel.get("channel_type") if isinstance(channel, dict) else None
        if kind not in ("memory", "port"):
            raise UsageError(
                f"channels of type {quoted(str(kind))} are not supported: multicasts and sums of "
                "a switch (NVLS) are not messages between two GPUs."
            )
        for peer in _list(channel, "connected_to", "channels"):
            if type(peer) is not int or not 0 <= peer < gpus:
                raise UsageError(
                    f"channels: a peer is one of the GPUs 0..{gpus - 1}, not {quoted(str(peer))}."
                )
            found[kind].append(peer)
    return found


def _tables(
    gpu: Any, block: Any, where: str
) -> tuple[dict[str, list[int]], dict[str, list[tuple[int, str]]]]:
    """Return a thread block's numbers of channels and remote buffers, by kind of channel."""
    channels: dict[str, list[int]] = defaultdict(list)
    for each in _list(block, "channels", where):
        channels[str(each.get("channel_type"))] += _list(each, "channel_ids", where)
    buffers = _list(gpu, "remote_buffers", where)
    remotes: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for each in _list(block, "remote_buffer_refs", where):
        for number in _list(each, "remote_buffer_ids", where):
            if type(number) is not int or not 0 <= number < len(buffers):
                raise UsageError(f"{where}: there is no remote buffer {quoted(str(number))}.")
            there = buffers[number]
            pair = _whole(there, "rank", where), str(there.get("type"))
            remotes[str(each.get("access_channel_type"))].append(pair)
    return channels, remotes


def _places(block: Block, buffer: Any, kind: str) -> list[BufferPlace]:
    """Return the places of an operand, on this GPU or another one."""
    first, size = _whole(buffer, "index", block.where), _whole(buffer, "size", block.where)
    gpu, name = block.gpu, buffer.get("type")
    if "buffer_id" in buffer:
        number, known = _whole(buffer, "buffer_id", block.where), block.remotes.get(kind, [])
        if number >= len(known):
            raise UsageError(f"{block.where} names remote buffer {number}, and has {len(known)}.")
        gpu, name = known[number]
    if name not in BUFFERS:
        raise UsageError(f"{block.where} names no buffer i, o or s.")
    return [BufferPlace(gpu, name, first + turn) for turn in range(size)]


def _read(plan: TaskPlan, block: Block, op: Any) -> None:
    """Read an operation of a thread block and add its tasks to the plan."""
    name = op.get("name") if isinstance(op, dict) else None
    if isinstance(op, dict) and "tbg_info" in op:
        raise UsageError(
            f"{block.where}: thread blocks sharing a chunk (tbg_info) are not supported."
        )
    kind = str(op.get("channel_type")) if isinstance(op, dict) else ""
    sources = [_places(block, each, kind) for each in _list(op, "src_buff", block.where)]
    targets = [_places(block, each, kind) for each in _list(op, "dst_buff", block.where)]
    if len({len(each) for each in (*sources, *targets)}) > 1:
        raise UsageError(f"{block.where}: {name} has operands of different sizes.")
    for source, target in product(sources, targets):
        if source:
            plan.program.spans.append((block.where, source[0], target[0], len(source)))
    if name == "barrier":
        key = block.gpu, _whole(op, "barrier_id", block.where)
        _at_barrier(plan, block, key)
    elif name in (*PUTS, *COPIES, "get"):
        for source, target in zip(sources, targets, strict=False):
            for one, other in zip(source, target, strict=True):
                _moved(plan, block, one, other, str(name))
    elif name in REDUCES:
        for at in range(len(sources[0]) if sources else 0):
            operands = [source[at] for source in sources]
            _reduced(plan, block, operands, [target[at] for target in targets], str(name))
    elif name not in (*SIGNALS, *WAITS, *NOTHING):
        raise UsageError(
            f"{block.where}: the operation {quoted(str(name))} is unknown: give one of "
            f"{', '.join(KNOWN)}."
        )
    if name in (*SIGNALS, *WAITS):
        for turn in _list(op, "channel_ids", block.where):
            own = block.channels.get(kind, [])
            if type(turn) is not int or not 0 <= turn < len(own):
                raise UsageError(f"{block.where} names a channel outside its list.")
            peers = plan.connected[block.gpu][kind]
            number = own[turn]
            if type(number) is not int or not 0 <= number < len(peers):
                raise UsageError(f"{block.where} names channel {number} of {len(peers)}.")
            peer, alike = peers[number], peers[:number].count(peers[number])
            # Ends of channels count as places, so two unordered signals are reported as a race.
            way = "to" if name in SIGNALS else "from"
            end = BufferPlace(block.gpu, f"the {kind} channel {way} {peer} ", alike)
            task = plan.add(block, Act("wait", None, end))
            if name in SIGNALS:
                plan.signals[block.gpu, peer, kind, alike].append(task)
            else:
                plan.waits[peer, block.gpu, kind, alike].append(task)


def _at_barrier(plan: TaskPlan, block: Block, key: tuple[int, int]) -> None:
    """Add a visit to a barrier: k-th visits of all blocks wait for each other."""
    met = (tasks for (*other, _), tasks in plan.barriers.items() if tuple(other) == key)
    turn = sum(block.number in {plan.owners[task] for task in tasks} for tasks in met)
    plan.barriers[(*key, turn)].append(plan.add(block, Act("wait", None, None)))
    plan.add(block, Act("wait", None, None))


def _moved(
    plan: TaskPlan, block: Block, source: BufferPlace, target: BufferPlace, name: str
) -> int:
    """Add the copy of a chunk to another place; between two GPUs the copy is a send over a link."""
    if name in PACKETS_READ:
        wait = plan.add(block, Act("wait", None, None))
        plan.taken[source].append(wait)
    if source.gpu == target.gpu:
        done = plan.add(block, Act("copy", source, target))
    else:
        sent = plan.add(block, Act("send", source, None), (source.gpu, target.gpu))
        done = plan.add(block, Act("receive", None, target, partner=sent))
    if name in PACKETS_SENT:
        plan.written[target].append(done)
    return done


def _reduced(
    plan: TaskPlan, block: Block, sources: list[BufferPlace], targets: list[BufferPlace], name: str
) -> None:
    """Add the reduction of chunks: write the sum on this GPU, and send it on."""
    if len(sources) < 2 or not targets:
        raise UsageError(f"{block.where}: {name} needs at least two sources and one target.")
    for source in sources[1:] if name in PACKETS_READ else ():
        plan.taken[source].append(plan.add(block, Act("wait", None, None)))
    total = BufferPlace(block.gpu, "t", len(plan.owners))
    plan.add(block, Act("copy", sources[0], total))
    for source in sources[1:]:
        if source.gpu == block.gpu:
            plan.add(block, Act("reduce", source, total))
            continue
        sent = plan.add(block, Act("send", source, None), (source.gpu, block.gpu))
        plan.add(block, Act("receive", total, total, adds=True, partner=sent))
    for target in targets:
        packet = name in PACKETS_SENT and target.gpu != block.gpu
        _moved(plan, block, total, target, "ppkt" if packet else "put")


def _meet(plan: TaskPlan, waits: list[int], causes: list[int], said: str) -> None:
    """Make the k-th wait depend on the k-th cause; raise `UsageError` if causes are missing."""
    if len(waits) > len(causes):
        where = plan.program.tasks.where[waits[len(causes)]]
        raise UsageError(f"{where} waits for ever: {said}.")
    for wait, cause in zip(waits, causes, strict=False):
        plan.program.tasks.after(wait, cause)


def _require_all(plan: TaskPlan) -> None:
    """Raise `UsageError` if one thread block visits a barrier more often than another one."""
    for (gpu, barrier, turn), met in plan.barriers.items():
        expected = len(plan.barriers[gpu, barrier, 0])
        if len(met) != expected:
            raise UsageError(
                f"{plan.program.tasks.where[met[0]]} waits for ever: {len(met)} of {expected} "
                f"thread blocks come to barrier {barrier} for the {turn + 1}th time."
            )


def _join(plan: TaskPlan) -> None:
    """Match the k-th wait with the k-th signal, and the k-th read of packets with their sending."""
    for key, waits in plan.waits.items():
        signals = plan.signals.get(key, [])
        _meet(plan, waits, signals, f"GPU {key[0]} signals {len(signals)} times on its channel")
    for place, reads in plan.taken.items():
        sends = plan.written.get(place, [])
        said = f"{len(sends)} packets come to {place.buffer}[{place.offset}]"
        _meet(plan, reads, sends, said)
    _require_all(plan)
    for met in plan.barriers.values():
        for come in met:
            for other in met:
                if other != come:
                    plan.program.tasks.after(come + 1, other)


def as_plan(table: Timetable) -> bytes:
    """Return a plan as JSON, with one thread block per GPU.

    In a step each GPU signals to the receivers of its chunks, and gets incoming chunks into its
    scratch buffer. Then it signals the end of its reads, waits for the readers of its own chunks,
    and copies or adds the new chunks. No chunk changes while another GPU reads it.
    """
    steps: dict[int, list[tuple[int, int, int, bool]]] = defaultdict(list)
    for step, sender, receiver, chunk, adds in rows_of(table):
        steps[step].append((sender, receiver, chunk, adds))
    inputs, outputs = sizes_of(table)
    document = {
        "name": f"mpinet-{name_of(table.collective)}",
        "collective": name_of(table.collective),
        "protocol": "Simple",
        "inplace": True,
        "reuse_resources": False,
        "num_threads_per_block": 1024,
        "use_double_scratch_buffer": False,
        "buffer_alignment": 16,
        "min_message_size": 0,
        "max_message_size": 2**64 - 1,
        "gpus": [
            {"id": gpu, "input_chunks": inputs, "output_chunks": outputs}
            | _gpu(gpu, steps, "o" if table.collective == "gossip" else "i")
            for gpu in range(table.processors)
        ],
    }
    return (json.dumps(document, indent=1) + "\n").encode()


def _gpu(gpu: int, steps: dict[int, list[tuple[int, int, int, bool]]], main: str) -> dict[str, Any]:
    """Return a GPU's channels, buffers and thread block."""
    rows = [row for step in steps.values() for row in step if gpu in row[:2]]
    peers = sorted({end for row in rows for end in row[:2]} - {gpu})
    sources = sorted({sender for sender, receiver, *_ in rows if receiver == gpu})
    ops: list[dict[str, Any]] = []

    def meet(kind: str, ends: set[int]) -> None:
        turns = [peers.index(end) for end in sorted(ends)]
        if turns:
            ops.append({"name": kind, "channel_ids": turns, "channel_type": "memory"})

    def piece(kind: str, index: int) -> dict[str, Any]:
        return {"type": kind, "index": index, "size": 1}

    most = 0
    for step in sorted(steps):
        come = [row for row in steps[step] if row[1] == gpu]
        senders = {sender for sender, *_ in come}
        receivers = {receiver for sender, receiver, *_ in steps[step] if sender == gpu}
        most = max(most, len(come))
        meet("signal", receivers)
        meet("wait", senders)
        ops.append({"name": "nop"})
        for place, (sender, _, chunk, _) in enumerate(come):
            there = {"buffer_id": sources.index(sender), "index": chunk, "size": 1}
            own: dict[str, Any] = {
                "name": "get",
                "src_buff": [there],
                "dst_buff": [piece("s", place)],
            }
            own |= {"channel_ids": [peers.index(sender)], "channel_type": "memory"}
            ops.append(own)
        ops.append({"name": "nop"})
        meet("signal", senders)
        meet("wait", receivers)
        ops.append({"name": "nop"})
        for place, (*_, chunk, adds) in enumerate(come):
            got, home = piece("s", place), piece(main, chunk)
            name, sums = ("re", {"reduce_op": "sum"}) if adds else ("copy", {})
            both = {"src_buff": [home, got] if adds else [got], "dst_buff": [home]}
            ops.append({"name": name, **both, **sums})
        ops.append({"name": "nop"})
    remote = [
        {"rank": sender, "type": main, "access_channel_types": ["memory"]} for sender in sources
    ]
    refs = [{"access_channel_type": "memory", "remote_buffer_ids": [*range(len(sources))]}]
    return {
        "scratch_chunks": most,
        "threadblocks": [
            {
                "id": 0,
                "ops": ops,
                "channels": [{"channel_type": "memory", "channel_ids": [*range(len(peers))]}],
                "remote_buffer_refs": refs,
            }
        ],
        "channels": [{"channel_type": "memory", "connected_to": peers}],
        "remote_buffers": remote,
        "semaphores": [],
    }
