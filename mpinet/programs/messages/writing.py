"""Programs of messages written as GOAL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from mpinet.machine.timed.layout import ANY, ANY_TAG, CALC, SEND
from mpinet.machine.timed.program import Program


def write_goal(program: Program, file: BinaryIO, comments: Sequence[str] = ()) -> None:
    """Write a program as GOAL: for each processor a block with operations, then requirements.

    Parameters
    ----------
    program : Program
        The program.
    file : file
        An open file.
    comments : sequence of str
        Comment after each operation; empty: no comments.
    """
    file.write(f"// {program.name}\nnum_ranks {program.processors}\n".encode())
    for processor in range(program.processors):
        lines = _block(program, processor, comments)
        file.write("\n".join([f"rank {processor} {{", *lines, "}", ""]).encode())


def _block(program: Program, processor: int, comments: Sequence[str]) -> Iterator[str]:
    first, end = (int(row) for row in program.first[processor : processor + 2])
    here = slice(first, end)
    columns = (program.kind, program.amount, program.peer, program.tag, program.cpu)
    rows = zip(*(column[here].tolist() for column in columns), strict=True)
    for number, (kind, amount, peer, tag, cpu) in enumerate(rows, 1):
        if kind == CALC:
            text = f"l{number}: calc {amount}"
        else:
            way = f"send {amount}b to" if kind == SEND else f"recv {amount}b from"
            text = f"l{number}: {way} {'any' if peer == ANY else peer}"
            text += f" tag {'any' if tag == ANY_TAG else tag}" if tag else ""
        text += f" cpu {cpu}" if cpu else ""
        said = comments[first + number - 1] if comments else ""
        yield f"{text} // {said}" if said else text
    begins = program.needs_first[first : end + 1]
    owners = np.repeat(np.arange(1, end - first + 1), np.diff(begins))
    needs = program.needs[begins[0] : begins[-1]]
    if program.turns is not None:
        order = np.argsort(program.turns[begins[0] : begins[-1]])
        owners, needs = owners[order], needs[order]
    for owner, need in zip(owners.tolist(), needs.tolist(), strict=True):
        yield f"l{owner} {'irequires' if need & 1 else 'requires'} l{(need >> 1) + 1}"
