"""Processes that join a run: spawned onto free processors, or met at a port or through a socket."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from mpinet.errors import FileError
from mpinet.mpi import source
from mpinet.mpi.communicators.attributes import NUMBER
from mpinet.mpi.communicators.context_ids import new_context_id, next_agreement, packed, unpacked
from mpinet.mpi.communicators.creation import new_comm
from mpinet.mpi.communicators.groups import fixed
from mpinet.mpi.communicators.intercommunicator import agreed_at_port, sides_of
from mpinet.mpi.communicators.ports import is_own, owner_of, place_of
from mpinet.mpi.real import REAL
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.contexts import ONE_SIDED, WORLD
from mpinet.mpi.world.desk import MEET, TAKE, WORD
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.ranks import RankTable, rank_table

LAUNCHES = ("launches", ONE_SIDED)
"""Name of the context for messages that start scripts."""

PARENT = "parent"
"""Storage key for the context shared by a spawned processor and its parents."""

PYTHON = re.compile(r"python[\d.]*$")


@dataclass(slots=True)
class SpawnedProgram:
    """Python program to run: a file, a module or code, as for `Source`, and its arguments."""

    kind: str
    text: str
    arguments: list[str]
    folder: str = ""

    def read(self) -> source.Source:
        """Read and compile the spawned program.

        Raises
        ------
        FileError
            The program cannot be read or is not Python.
        """
        if self.kind == "file":
            return source.file(Path(self.folder or ".") / self.text)
        return source.module(self.text) if self.kind == "module" else source.line(self.text)


@dataclass(slots=True)
class Launch:
    """A message that starts a script."""

    program: SpawnedProgram
    """Program to run."""
    number: int
    """Index of the command among the spawned commands."""
    name: tuple[int, int, int]
    """Name of the context between parents and children."""
    parents: Sequence[int]
    """Processors of the parents' group, by rank."""
    children: Sequence[int]
    """Processors of the children's group, by rank."""
    account: int
    """Number of the charged account."""

    def __len__(self) -> int:
        texts = self.program.text, self.program.folder, *self.program.arguments
        known = len(self.name) + 2 + len(self.parents) + len(self.children)
        return sum(len(text.encode(errors="surrogateescape")) for text in texts) + WORD * known


class Joining(Endpoint):
    """Calls that connect members with further processes, as in `mpi4py.MPI.Intracomm`."""

    __slots__ = ()

    _between: ClassVar[type[Any]]

    @call
    def Spawn(
        self,
        command: Any,
        args: Sequence[str] | None = None,
        maxprocs: int = 1,
        info: Any = REAL.INFO_NULL,
        root: int = 0,
        errcodes: list[int] | None = None,
    ) -> Any:
        """Run a script on free processors; return an intercommunicator with them."""
        if self.rank != root:
            made, counts = self._spawned(root, [], [])
        else:
            made, counts = self._spawned(root, [_program(command, args, info)], [maxprocs])
        if errcodes is not None:
            errcodes[:] = [REAL.SUCCESS] * counts[0]
        return made

    @call
    def Spawn_multiple(
        self,
        command: Sequence[Any],
        args: Sequence[Sequence[str]] | None = None,
        maxprocs: Any = None,
        info: Any = REAL.INFO_NULL,
        root: int = 0,
        errcodes: list[list[int]] | None = None,
    ) -> Any:
        """Run several scripts on free processors in one world; return an intercommunicator."""
        if self.rank != root:
            made, counts = self._spawned(root, [], [])
        else:
            if isinstance(command, (str, bytes, os.PathLike)):
                raise ValueError("expecting a sequence of strings")
            number = len(command)
            programs = [
                _program(*words)
                for words in zip(command, _each(args, number), _each(info, number), strict=True)
            ]
            most = [1 if most is None else most for most in _each(maxprocs, number)]
            made, counts = self._spawned(root, programs, most)
        if errcodes is not None:
            errcodes[:] = [[REAL.SUCCESS] * count for count in counts]
        return made

    def _spawned(
        self, root: int, programs: list[SpawnedProgram], counts: list[int]
    ) -> tuple[Any, list[int]]:
        """Spawn programs (collective); return an intercommunicator and the processor counts."""
        self._group.processor(root)
        part, told, parents = next_agreement(self), None, fixed(self._group)
        if part.rank == root:
            children = _taken(programs, counts)
            name = (*new_context_id(), 0)
            told = packed([*name[:2], len(counts), *counts, *children] if children else [])
            _launch(programs, counts, name, parents, children)
        giver, number, *rest = unpacked(part.broadcast(root, told)).tolist() or [0, 0]
        if not rest:
            raise REAL.Exception(REAL.ERR_SPAWN)
        counts, processors = rest[1 : 1 + rest[0]], rest[1 + rest[0] :]
        sides = parents, rank_table(processors)
        return new_comm(self._between, (giver, number, 0), lambda: sides), counts

    @call
    def Accept(self, port_name: str, info: Any = REAL.INFO_NULL, root: int = 0) -> Any:
        """Wait for a connection at a port of the root; return the intercommunicator."""
        self._group.processor(root)
        return self._met(root, self.rank != root or is_own(port_name), port_name, None)

    @call
    def Connect(self, port_name: str, info: Any = REAL.INFO_NULL, root: int = 0) -> Any:
        """Connect to a port; return the intercommunicator."""
        self._group.processor(root)
        server = owner_of(port_name) if self.rank == root else 0
        return self._met(root, server >= 0, port_name, server)

    def _met(self, root: int, known: bool, port: str, server: int | None) -> Any:
        place = place_of(port) if known and self.rank == root else 0
        agreed, sides = agreed_at_port(self, root, place, server, known)
        return new_comm(self._between, (*agreed, 0), lambda: sides_of(self._group, sides))


def joined(alone: Joining, descriptor: int) -> Any:
    """Return an intercommunicator with the processor at the other end of a socket.

    The socket's two addresses identify the pair, and no data passes through the socket. Returns
    None without such addresses, for example for a Unix socket.

    Raises
    ------
    Exception
        ``ERR_ARG``: the descriptor is not a connected socket.
    """
    try:
        with socket.socket(fileno=os.dup(descriptor)) as end:
            here, there = end.getsockname(), end.getpeername()
    except OSError:
        raise REAL.Exception(REAL.ERR_ARG) from None
    if not (isinstance(here, tuple) and isinstance(there, tuple)):
        return None
    ends = [":".join(map(str, address[:2])) for address in (here, there)]
    met = running.world.desk.ask(MEET, ends, "the other end of its socket")
    assert met is not None
    # The end with the lower address accepts, and the opposite end connects. Both ends derive the
    # same roles from the pair of addresses.
    return alone._met(0, True, "-".join(sorted(ends)), None if ends[0] < ends[1] else met[0])


def _taken(programs: list[SpawnedProgram], counts: list[int]) -> list[int]:
    """Allocate processors for programs; empty if too many are requested or a program is invalid."""
    try:
        for program in programs:
            # Read before any processor is allocated: a script with a syntax error fails in the
            # parent and starts nothing.
            program.read()
    except FileError:
        return []
    wanted = sum(counts)
    if min(counts, default=0) < 0 or not wanted:
        return []
    free = "1 free processor" if wanted == 1 else f"{wanted} free processors"
    return running.world.desk.ask(TAKE, (wanted,), free) or []


def _launch(
    programs: list[SpawnedProgram],
    counts: list[int],
    name: tuple[int, int, int],
    parents: RankTable,
    children: list[int],
) -> None:
    """Send each spawned processor its program."""
    here, mail = running.turns.current, running.mail
    account = here.account
    assert account is not None
    place = running.world.contexts.number(LAUNCHES)
    each = [number for number, count in enumerate(counts) for _ in range(count)]
    for number, child in zip(each, children, strict=False):
        launch = Launch(
            programs[number], number, name, tuple(parents.members), children, account.number
        )
        account.sent += len(launch)
        # An active message, because a free processor runs no program that could receive.
        mail.send_active(here.id, child, account.number, place, 0, launch)


def adopt(launch: Launch) -> None:
    """Set up world and parents of the running processor, a child."""
    here, contexts = running.turns.current, running.world.contexts
    children = rank_table(launch.children)
    contexts.settle(here.id, (WORLD, *launch.name), children)
    made = new_comm(Joining._between, launch.name, lambda: (rank_table(launch.parents), children))
    kept = here.storage()
    kept[PARENT], kept[NUMBER] = made._context, launch.number


def _program(command: Any, args: Sequence[str] | None, info: Any) -> SpawnedProgram:
    """Return the Python program that a command of `Spawn` runs.

    Raises
    ------
    NotImplementedError
        The command does not run Python.
    """
    folder = (info.Get("wdir") if info else None) or ""
    first, rest = os.fsdecode(command), [os.fsdecode(word) for word in args or ()]
    if first != sys.executable and not PYTHON.match(os.path.basename(first)):
        if not _is_python(os.path.join(folder, first)):
            raise NotImplementedError(
                f"Spawn of {first!r}: processors can run only Python programs."
            )
        return SpawnedProgram("file", first, rest, folder)
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        rest.pop(0)
    if not rest:
        raise NotImplementedError(f"Spawn of {first!r}: name a script, -m MODULE or -c CODE.")
    kinds = {"-m": "module", "-c": "code"}
    kind = kinds.get(rest[0], "file")
    text, *arguments = rest if kind == "file" else rest[1:] or [""]
    return SpawnedProgram(kind, text, arguments, folder)


def _is_python(path: str) -> bool:
    """Return whether a file is a Python script, by its name or first line; True if missing."""
    if path.endswith(".py") or not os.path.exists(path):
        return True
    with open(path, "rb") as file:
        return b"python" in file.readline(200)


def _each(given: Any, number: int) -> list[Any]:
    """Return one value per command: a common value, or separate values.

    Raises
    ------
    ValueError
        The number of values differs from the number of commands.
    """
    if isinstance(given, (str, bytes)):
        raise ValueError("expecting a sequence of sequences")
    if given is None or isinstance(given, (int, REAL.Info)):
        return [given] * number
    found = list(given)
    if len(found) != number:
        raise ValueError(f"expecting {number} items, got {len(found)}")
    return found
