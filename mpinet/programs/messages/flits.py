"""Programs of messages as traffic of flits: bytes become flits, and calcs become steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from mpinet.errors import UsageError
from mpinet.machine.timed.layout import CALC
from mpinet.machine.timed.program import Program
from mpinet.machine.timed.scripted import stored
from mpinet.networks.topology import Topology
from mpinet.programs.messages.goal import read_goal
from mpinet.programs.messages.named import is_name, program_named
from mpinet.programs.schedules.files.formats import as_program, read_schedule
from mpinet.programs.schedules.files.schedulefile import ReadingOptions

SCHEDULES = (".csv", ".npz", ".xml")
"""File name endings of schedule files, which are converted into programs of messages."""

MOST_FLITS = 2**29 - 1
"""Maximum number of flits of a message, and of steps of a calc."""


def opened(given: str | Path | Program, topology: Topology, chunk: int) -> Program:
    """Return the program of a name or a file; for a schedule file, a program in the same order.

    Parameters
    ----------
    given : str, Path or Program
        A textbook collective by name, a GOAL file, or a schedule file. In a schedule file a
        processor sends a chunk after receiving the chunk and after its sends of earlier steps.
    topology : Topology
        Network with the program's processors.
    chunk : int
        Bytes per chunk of a schedule.

    Raises
    ------
    UsageError
        The program does not exist.
    FileError
        The file cannot be read, or is not a program.
    """
    if isinstance(given, Program):
        return given
    if is_name(str(given)):
        return stored(program_named(str(given), topology.hosts))
    path = Path(given)
    if path.suffix not in SCHEDULES:
        return read_goal(path)
    read = read_schedule(path, ReadingOptions(processors=topology.hosts))
    return as_program(read.timetable, chunk, read.name)


def in_flits(program: Program, flit_bytes: int, step_time: int) -> Program:
    """Return a program with messages in flits and calcs in steps, each rounded up.

    Raises
    ------
    UsageError
        A message or a calc is too long.
    """
    calc = program.kind == CALC
    amount = -(-program.amount // np.where(calc, step_time, flit_bytes))
    if amount.max(initial=0) > MOST_FLITS:
        raise UsageError(
            f"{program.name}: messages have up to 2^29 - 1 flits, and calcs as many steps: let "
            "flits have more bytes, and steps more of the program's units."
        )
    return replace(program, amount=amount)
