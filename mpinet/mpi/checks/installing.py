"""Installs the checks of a run: functions around the emulator's own, for the time of the run.

An unchecked run has none of these functions, and therefore no cost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

from mpinet.mpi.checks.areas import area_of, area_of_blocks
from mpinet.mpi.checks.findings import Findings
from mpinet.mpi.checks.run_checks import Checks
from mpinet.mpi.checks.terms import FROM_ROOT, NEEDS_BARRIER
from mpinet.mpi.collectives import objects as collective_objects
from mpinet.mpi.collectives import plans
from mpinet.mpi.collectives.algorithms import CollectiveCalls
from mpinet.mpi.collectives.collective import NOTHING_ALIKE, Terms
from mpinet.mpi.communicators import neighbors
from mpinet.mpi.communicators.groups import Group
from mpinet.mpi.messages import objects
from mpinet.mpi.messages.buffers import Blocks, Buffer, TypedBlocks, VectorBlocks
from mpinet.mpi.messages.matched_probes import Message as MatchedMessage
from mpinet.mpi.messages.persistent import Prequest
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.real import REAL
from mpinet.mpi.windows.exposure import Exposure
from mpinet.mpi.windows.origin import Origin
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.exits import Exits
from mpinet.mpi.world.message import Message
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.replacing import replaced
from mpinet.mpi.world.world import World

LARGE = 64 * 1024
"""Size in bytes above which a standard send waits for its receive in a checked run."""


def _checked_datatype(checks: Checks) -> type[Any]:
    """Return a class of datatypes that records each datatype created by a script."""

    class CheckedDatatype(REAL.Datatype):  # type: ignore[misc]
        """A datatype of a checked run, as `mpi4py.MPI.Datatype`."""

        def __new__(cls, datatype: Any = None) -> Any:
            """Create another object for a datatype; mpi4py creates new ones without argument."""
            made = REAL.Datatype.__new__(cls, datatype)
            module = sys._getframe(1).f_globals.get("__name__") or ""
            if datatype is None and module.partition(".")[0] not in ("mpinet", "mpi4py"):
                checks.created("datatype", made)
            return made

        def __reduce__(self) -> Any:
            # pickle finds classes and constants by name, and the names stand for this class.
            constant = vars(self).get("constant")
            return constant or _of_kind(CheckedDatatype, REAL.Datatype.__reduce__(self))

    CheckedDatatype.__name__ = CheckedDatatype.__qualname__ = "Datatype"
    CheckedDatatype.__module__ = REAL.__name__
    return CheckedDatatype


def _of_kind(kind: type[Any], reduced: Any) -> Any:
    """Return what a datatype is reduced to, with the checked class in place of mpi4py's."""
    if isinstance(reduced, REAL.Datatype):
        name = REAL.Datatype.__reduce__(reduced)
        if type(name) is str:
            return getattr(sys.modules[REAL.__name__], name)
        made = kind(reduced)
        made.source = reduced  # frees the datatype at its own end
        return made
    if isinstance(reduced, dict):
        return {key: _of_kind(kind, value) for key, value in reduced.items()}
    if isinstance(reduced, tuple | list):
        return type(reduced)(_of_kind(kind, part) for part in reduced)
    return kind if reduced is REAL.Datatype else reduced


def _datatypes(checks: Checks) -> Iterator[tuple[Any, str, Any]]:
    """Yield replacements of the class and the constants of datatypes in scripts' ``MPI``."""
    module, kind = sys.modules[REAL.__name__], _checked_datatype(checks)
    yield module, "Datatype", kind
    for name, value in list(vars(module).items()):
        if isinstance(value, REAL.Datatype):
            made = kind(value)
            made.constant = name
            yield module, name, made


def _buffers(checks: Checks) -> Iterator[tuple[Any, str, Any]]:
    """Yield replacements of the methods of buffers."""
    begin, read, write = Buffer.__init__, Buffer.read, Buffer.write

    def checked_begin(buffer: Buffer, spec: Any, writable: bool = False, blocks: int = 1) -> None:
        begin(buffer, spec, writable, blocks)
        made = checks.current
        if made is not None and not made.is_inside:
            checks.add(area_of(buffer, writable))

    def checked_read(buffer: Buffer) -> bytes:
        return checks.signed(read(buffer), buffer)

    def checked_write(buffer: Buffer, data: bytes) -> None:
        checks.received(buffer, data)
        write(buffer, data)

    yield Buffer, "__init__", checked_begin
    yield Buffer, "read", checked_read
    yield Buffer, "write", checked_write
    for kind in (Blocks, VectorBlocks, TypedBlocks):
        yield kind, "__init__", _checked_blocks(checks, vars(kind)["__init__"])


def _checked_blocks(checks: Checks, begin: Callable[..., None]) -> Callable[..., None]:
    """Return the initialiser of a class of blocks, with the check of their memory."""

    def checked(blocks: Blocks, spec: Any, size: int, writable: bool = False) -> None:
        made = checks.current
        if made is None:
            begin(blocks, spec, size, writable)
            return
        made.is_inside = True
        try:
            begin(blocks, spec, size, writable)
        finally:
            made.is_inside = False
        checks.add(area_of_blocks(blocks, size, writable))

    return checked


def _messages(checks: Checks) -> Iterator[tuple[Any, str, Any]]:
    """Yield replacements for the sends and receives of messages."""
    loads, part = objects.loads, plans.BufferReduction.part
    end, count = Exits.end, Exits.count_unreceived

    def checked_loads(body: Any, *others: Any) -> Any:
        checks.loading(body)
        return loads(body, *others)

    def plain_part(reduction: Any, made: Any, body: bytes) -> Any:
        # Reductions combine plain bytes. The datatypes are already part of the call's terms.
        return part(reduction, made, bytes(body))

    def checked_end(exits: Exits, processor: Processor) -> None:
        end(exits, processor)
        checks.ended(processor)

    def checked_count(exits: Exits, slot: int, message: Message) -> None:
        count(exits, slot, message)
        number = running.turns.numbers[slot]
        if number is not None:
            checks.left(number, message)

    def logged_dumps(thing: Any) -> bytes:
        data: bytes = objects.dumps(thing)
        checks.log(data, True)
        return data

    yield collective_objects, "dumps", logged_dumps
    yield neighbors, "dumps", logged_dumps
    yield objects, "loads", checked_loads
    yield plans.BufferReduction, "part", plain_part
    yield Exits, "end", checked_end
    yield Exits, "count_unreceived", checked_count


def _requests(checks: Checks) -> Iterator[tuple[Any, str, Any]]:
    """Yield replacements of the methods of requests."""
    of, repeating = vars(Request)["_of"].__func__, vars(Prequest)["_repeating"].__func__
    complete, forget, cancel = Request._complete, Request._forget, Request._cancel
    start = vars(Prequest)["Start"].__wrapped__
    matching = vars(MatchedMessage)["_of"].__func__

    def checked_match(cls: type[Any], received: Any) -> Any:
        made = matching(cls, received)
        checks.matched(made)
        return made

    def checked_of(cls: type[Any], *given: Any) -> Any:
        made = of(cls, *given)
        checks.began(made)
        return made

    def checked_repeating(cls: type[Any], *given: Any) -> Any:
        made = repeating(cls, *given)
        checks.prepared(made)
        return made

    def checked_complete(request: Request, status: Any) -> Any:
        place = None if request._event is None else checks.completing(request)
        if place is None:
            return complete(request, status)
        here = running.turns.current
        checks.settled[here] = place
        try:
            return complete(request, status)
        finally:
            checks.settled.pop(here, None)

    def checked_forget(request: Request) -> None:
        checks.freeing(request)
        forget(request)

    def checked_cancel(request: Request, event: Any) -> None:
        checks.cancelling(request)
        cancel(request, event)

    @call
    def Start(request: Prequest) -> None:  # noqa: N802
        """Start the communication of the persistent request."""
        checks.starting(request)
        start(request)

    yield Request, "_of", classmethod(checked_of)
    yield Prequest, "_repeating", classmethod(checked_repeating)
    yield Request, "_complete", checked_complete
    yield Request, "_forget", checked_forget
    yield Request, "_cancel", checked_cancel
    yield Prequest, "Start", Start
    yield MatchedMessage, "_of", classmethod(checked_match)


def _first(one: bytes, other: bytes) -> bytes:
    """Return the first of two bodies of a barrier."""
    return one


def _collectives(checks: Checks) -> Iterator[tuple[Any, str, Any]]:
    """Yield replacements for the calls of collectives."""
    part = CollectiveCalls._part

    def checked_part(comm: Any, kind: str, terms: Terms = NOTHING_ALIKE) -> Any:
        made = part(comm, kind, checks.terms(kind, terms))
        # Data of the root reach the members only after all have called: this needs no barrier.
        if kind in FROM_ROOT:
            made.converge(terms.root, b"", _first)
        elif kind in NEEDS_BARRIER:
            made.everywhere(b"", _first)
        return made

    # Intercommunicators have a method of their own: not all members of a group take part there.
    yield CollectiveCalls, "_part", checked_part


def _windows(checks: Checks) -> Iterator[tuple[Any, str, Any]]:
    """Yield replacements for the accesses to windows."""
    access, finish = Origin.access, Origin.finish
    begin, apply = Exposure.__init__, Exposure._access

    def checked_access(origin: Origin, target: int, *given: Any, **what: Any) -> Any:
        checks.accessing(origin, target)
        return access(origin, target, *given, **what)

    def checked_finish(origin: Origin, targets: Any, local: bool = False) -> bool:
        listed = list(targets)
        waited = finish(origin, listed, local)
        checks.finished(origin, listed)
        return waited

    def checked_begin(exposure: Exposure, *given: Any) -> None:
        begin(exposure, *given)
        checks.window_of(exposure)

    def checked_apply(exposure: Exposure, origin: int, line: Any, access: Any) -> None:
        window = checks.window_of(exposure)
        if window is not None and window.access(access):
            checks.stored(exposure._processor, access.account)
        apply(exposure, origin, line, access)
        if window is not None:
            window.accessed(access)

    yield Origin, "access", checked_access
    yield Origin, "finish", checked_finish
    yield Exposure, "__init__", checked_begin
    yield Exposure, "_access", checked_apply


def _handles(checks: Checks) -> Iterator[tuple[Any, str, Any]]:
    """Yield replacements for the creation of handles."""
    of_table, contexts = vars(Group)["_of_table"].__func__, checks.world.contexts
    opening = contexts.open

    def checked_of_table(cls: type[Any], members: Any) -> Any:
        made = of_table(cls, members)
        checks.created("group", made)
        return made

    def checked_open(name: Any, groups: Any, holder: int) -> int:
        context = opening(name, groups, holder)
        checks.opened(name, context)
        return context

    yield Group, "_of_table", classmethod(checked_of_table)
    yield contexts, "open", checked_open
    yield from _datatypes(checks)


@contextmanager
def checking(world: World, findings: Findings) -> Iterator[None]:
    """Context manager: the processors' MPI calls are checked.

    Parameters
    ----------
    world : World
        The run; its scripts import the emulated MPI already.
    findings : Findings
        Receives the findings.
    """
    checks, mail = Checks(world, findings), world.mail
    sending, fail = mail.send, Exits.fail

    def checked_send(scope: Any, target: int, tag: int, data: Any, *ack: Any) -> Any:
        return sending(scope, target, tag, checks.sending(scope.context, data), *ack)

    def checked_fail(exits: Exits, processor: Processor, error: BaseException, step: int) -> None:
        checks.failed(processor, error)
        fail(exits, processor, error, step)

    places = [
        *_buffers(checks),
        *_messages(checks),
        *_requests(checks),
        *_windows(checks),
        *_handles(checks),
        (mail, "send", checked_send),
        (mail, "send_standard", mail.send_by_size),
        (mail, "eager", min(mail.eager, LARGE if "sends" in findings.checks else inf)),
        (Exits, "fail", checked_fail),
        (running, "checks", checks),
    ]
    if "collectives" in findings.checks:
        places += _collectives(checks)
    noted, running.noted = running.noted, True
    try:
        with replaced(*places):
            yield
    finally:
        running.noted = noted
