"""Execution plans of MSCCL++ (JSON), written: get what comes, wait until all have read, store."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import numpy as np

from mpinet.errors import UsageError
from mpinet.programs.schedules.chunks import count_chunks
from mpinet.programs.schedules.files.msccl import NAMES
from mpinet.programs.schedules.timetable import Timetable

EXPORTED = ("allgather", "allreduce", "reducescatter", "broadcast")
"""Collectives whose plans are written."""


def as_plan(table: Timetable) -> bytes:
    """Write a plan: in each step GPUs get what comes, wait until all have read, and put it down.

    Each GPU has one thread block. In a step it signals to those that it sends to that its chunks
    are ready, gets what comes into its scratch buffer, signals back, waits until its own have been
    read, and then copies or adds: so that no chunk changes while another GPU reads it.

    Raises
    ------
    UsageError
        The collective has no name there that this writes, or parts of sums are sent.
    """
    names = {ours: theirs for theirs, ours in NAMES.items() if theirs in EXPORTED}
    if table.collective not in names:
        raise UsageError(f"A plan of MSCCL++ is written for {', '.join(sorted(names))}.")
    if table.since is not None and (table.since >= 0).any():
        raise UsageError("A plan of MSCCL++ has no parts of sums: give another --algorithm.")
    if max(table.sender.max(initial=0), table.receiver.max(initial=0)) >= table.processors:
        raise UsageError("MSCCL++ knows no switches, and in this schedule some send or receive.")
    table = table.ordered()
    add = np.zeros(len(table), bool) if table.add is None else table.add
    columns = (table.step, table.sender, table.receiver, table.chunk, add)
    steps: dict[int, list[tuple[int, int, int, bool]]] = defaultdict(list)
    for step, *row in zip(*(column.tolist() for column in columns), strict=True):
        steps[step].append((row[0], row[1], row[2], row[3]))
    total = count_chunks(table.collective, table.processors, table.chunks)
    inputs = table.chunks if table.collective == "gossip" else total
    outputs = table.chunks if table.collective == "reducescatter" else total
    document = {
        "name": f"mpinet-{names[table.collective]}",
        "collective": names[table.collective],
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
