"""Running a script on every processor of a machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import TextIO

from mpinet.errors import FileError
from mpinet.machine import Machine
from mpinet.process.mpi.calls import running
from mpinet.process.mpi.ends import printing
from mpinet.process.mpi.module import emulated
from mpinet.process.mpi.outcome import Outcome, outcome
from mpinet.process.mpi.processor import Processor
from mpinet.process.mpi.world import World
from mpinet.process.running import rare_collections


def run_script(
    machine: Machine,
    script: Path,
    arguments: Sequence[str] = (),
    routing: str | None = None,
    packet: int | None = None,
    synchronous: bool = False,
    watch: Callable[[int], None] = lambda step: None,
    out: TextIO | None = None,
) -> Outcome:
    """Run an mpi4py script on every processor (collective).

    Parameters
    ----------
    machine : Machine
        The machine; every processor that is no switch is a rank of the script's world.
    script : Path
        The script.
    arguments : sequence of str
        What it finds in ``sys.argv`` behind its name.
    routing : str, optional
        The routing that brings messages to their targets.
    packet : int, optional
        Bytes of a packet; default: every message of the script is one of the machine's.
    synchronous : bool
        Whether standard sends wait for their receives.
    watch : callable
        Called after every step with the number of steps so far.
    out : text file, optional
        Where rank 0 writes what processors print (default: the standard output).

    Raises
    ------
    FileError
        The script cannot be read.
    ProgramError
        A processor's script fails; has its traceback.
    Deadlock
        Processors wait for messages that nobody will send; names a cycle of them.
    """
    code = compiled(script)
    world = World(machine, routing, packet, synchronous, out or sys.stdout)
    running.world = world

    def program(processor: Processor) -> None:
        main = ModuleType("__main__")
        main.__file__ = str(script)
        main.__builtins__ = __builtins__  # type: ignore[attr-defined]
        processor.main = sys.modules["__main__"] = main
        exec(code, main.__dict__)

    with rare_collections(), _as_a_script(script, arguments), emulated(world), printing(world):
        world.run(program, watch)
    return outcome(world)


def compiled(script: Path) -> CodeType:
    """A script's code.

    Raises
    ------
    FileError
        It cannot be read, or is no Python.
    """
    try:
        return compile(script.read_bytes(), str(script), "exec", dont_inherit=True)
    except OSError as error:
        raise FileError(f"{script} cannot be read: {error.strerror}.") from None
    except (SyntaxError, ValueError) as error:
        raise FileError(f"{script} is no Python: {error}.") from None


@contextmanager
def _as_a_script(script: Path, arguments: Sequence[str]) -> Iterator[None]:
    """Within it, the interpreter is as a script finds it."""
    argv, path = sys.argv, list(sys.path)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        yield
    finally:
        sys.argv = argv
        sys.path[:] = path
