"""The checks of a run: the open communication, memory and handles of this rank's processors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from mpinet.mpi.checks.areas import Area
from mpinet.mpi.checks.bodies import CheckedBody, checksum, described
from mpinet.mpi.checks.findings import PLAIN, Findings, Words
from mpinet.mpi.checks.pending import Beginning, Finishing, Pending
from mpinet.mpi.checks.signatures import Signature, signature_of
from mpinet.mpi.checks.terms import typed_terms
from mpinet.mpi.checks.windows import WatchedWindow
from mpinet.mpi.collectives.collective import KINDS, Terms
from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.messages.persistent import Prequest
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.real import REAL
from mpinet.mpi.windows.exposure import Exposure
from mpinet.mpi.windows.origin import Origin
from mpinet.mpi.world.accounts import Account
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import PAIRS, PARTS
from mpinet.mpi.world.events import HAPPENED, Awaited
from mpinet.mpi.world.failure import last_line
from mpinet.mpi.world.message import BODY, Message
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.world import World

ONE_SIDED = frozenset("Put Get Accumulate Get_accumulate Fetch_and_op Compare_and_swap".split())
"""One-sided accesses that a later call completes."""

WINDOWS = "mpinet.mpi.windows."
"""Modules of calls on windows."""

LIBRARY = os.path.dirname(REAL.__file__)
"""Folder of mpi4py, whose own handles are not reported."""


class Call:
    """Actions of a processor's current call so far."""

    __slots__ = ("areas", "content", "is_inside", "opened", "origin", "serials")

    def __init__(self) -> None:
        self.areas: list[Area] = []
        """Memory of the call's buffers."""
        self.serials: list[tuple[int, int]] = []
        """Sent bodies, by sender and number."""
        self.is_inside = False
        """True while the blocks of a buffer are created."""
        self.opened = False
        """True if the call has opened a context."""
        self.origin: tuple[Origin, int] | None = None
        """Window and target of a one-sided access."""
        self.content = 0
        """Checksum of the sent bodies, if calls are logged."""


class Checks:
    """The checks of a run on this rank.

    Parameters
    ----------
    world : World
        The run.
    findings : Findings
        Receives the findings.
    """

    def __init__(self, world: World, findings: Findings):
        self.world: World = world
        """The run."""
        self._findings = findings
        self._read: Callable[[Buffer], bytes] = Buffer.read
        self._calls: dict[Processor, Call] = {}
        self._live: dict[int, dict[Pending, None]] = {}
        self.settled: dict[Processor, int] = {}
        """First line of the request that a processor completes at the moment, by account number."""
        self._sent: dict[int, int] = {}
        self._contexts: dict[int, list[tuple[str, int, int]]] = {}
        self._objects: dict[int, list[tuple[str, Any, int]]] = {}
        self._windows: dict[int, dict[Exposure, WatchedWindow]] = {}
        self._accesses: dict[tuple[Origin, int], list[Pending]] = {}
        self._last: dict[int, int] = {}
        self._matched: dict[int, list[tuple[Any, int, int]]] = {}

    def note(self, rule: str, *places: int, words: Words = PLAIN, at: int | None = None) -> None:
        """Record a violation by the running processor, or by processor `at`."""
        processor = running.turns.current.id if at is None else at
        self._findings.note(rule, processor, places, words)

    # ---- calls

    def calling(self, here: Processor) -> None:
        """Record the begin of a processor's call."""
        self._calls[here] = Call()

    def returned(self, here: Processor, account: Account) -> None:
        """Check a processor's call when it returns."""
        made = self._calls.pop(here, None)
        if made is None:
            return
        areas = made.areas
        if self._findings.log is not None:
            calls = self._findings.log.setdefault(here.id, [])
            calls.append((account.number, made.content))
        self._require_apart(areas, account)
        if made.origin is not None and account.kind in ONE_SIDED:
            access = Pending(account.number, areas)
            access.note_contents(self._read)
            self._live.setdefault(here.id, {})[access] = None
            self._accesses.setdefault(made.origin, []).append(access)
        self._last[here.id] = account.number
        windows = self._windows.get(here.id, {})
        for exposure, window in list(windows.items()):
            for earlier in window.returned(account.kind):
                self.note("local-store-conflicts", earlier, account.number)
            # The memory of a freed window may be used for other data, or belong to nobody.
            if (exposure._context, here.id) not in self.world.one_sided.locks:
                del windows[exposure]

    def _require_apart(self, areas: list[Area], account: Account) -> None:
        """Check that the buffers of a call do not overlap."""
        if any(a.conflicts(b) for place, a in enumerate(areas) for b in areas[:place]):
            self.note("aliased-buffers", account.number)

    @property
    def current(self) -> Call | None:
        """The running processor's call; None outside of calls and in fibers."""
        return self._calls.get(running.turns.current)

    @property
    def _account(self) -> Account | None:
        """The account of the running processor's call."""
        return running.turns.current.account

    # ---- buffers

    def add(self, area: Area | None) -> None:
        """Record memory used by the running processor's call, and check it."""
        made, here = self.current, running.turns.current
        if made is None or area is None or here.account is None:
            return
        if area.overlaps_itself:
            self.note("aliased-buffers", here.account.number)
        for pending in self._live.get(here.id, ()):
            if any(area.conflicts(other) for other in pending.areas):
                self.note("buffers-overlap", pending.account, here.account.number)
        made.areas.append(area)

    def signed(self, data: bytes, buffer: Buffer) -> bytes:
        """Return the packed contents of a buffer as a body of the running processor's call."""
        account = self._account
        return data if account is None else self._body(data, signature_of(buffer), account)

    def _body(self, data: bytes, signature: Signature | None, account: Account) -> CheckedBody:
        here = running.turns.current
        number = self._sent[here.id] = self._sent.get(here.id, 0) + 1
        serial = here.id, number
        made = self.current
        if made is not None:
            made.serials.append(serial)
            self.log(data, signature is None)
        return CheckedBody.of(data, signature, account.number, serial)

    def log(self, data: bytes, is_object: bool) -> None:
        """Record the contents of a message of the running processor's call, if calls are logged."""
        made = self.current
        if made is not None and self._findings.log is not None:
            made.content = checksum(data, is_object, made.content)

    def sending(self, context: int, data: Any) -> Any:
        """Return the body of a message; a body without a signature is a pickled object."""
        account = self._account
        if type(data) is bytes and context % PARTS == PAIRS and account is not None:
            return self._body(data, None, account)
        return data

    def received(self, buffer: Buffer, data: bytes) -> None:
        """Check a body before it is unpacked into a buffer."""
        here = running.turns.current
        if type(data) is not CheckedBody or here.account is None:
            return
        # The line of the receive, not of the wait that completes it.
        place = self.settled.get(here, here.account.number)
        expected = signature_of(buffer)
        rules = []
        if data.signature is None:
            # A pickled object is a message of bytes, which a script may unpickle itself.
            if not expected.is_bytes:
                rules.append("object-in-buffer")
        elif data.signature.runs != expected.runs and not data.signature.fits(expected):
            rules.append("type-mismatch")
        elif len(data) < buffer.nbytes and here.account.kind in KINDS:
            rules.append("count-mismatch")
        if len(data) > buffer.nbytes:
            rules.append("truncation")
        for rule in rules:
            words = {"sent": described(data), "expected": expected.said}
            self.note(rule, data.account, place, words=words)

    def loading(self, body: Any) -> None:
        """Check a body before an object is unpickled from it."""
        if type(body) is not CheckedBody or body.signature is None or self._account is None:
            return
        if not body.signature.is_bytes:
            place = self.settled.get(running.turns.current, self._account.number)
            self.note("buffer-as-object", body.account, place, words={"sent": described(body)})

    # ---- requests

    def began(self, request: Request) -> None:
        """Record a request of the running processor's call."""
        here, event = running.turns.current, request._event
        if here.account is None or event is None:
            return
        finish = request._finish
        if type(finish) is Finishing:
            finish.pending.event = event  # a request for a send and a receive, of both events
            return
        made = self.current
        areas, serials = ([], []) if made is None else (made.areas, made.serials)
        self._require_apart(areas, here.account)
        # Without an event a request of mpi4py itself is not reported at the end.
        known = None if is_of_library(here.account) else event
        pending = Pending(here.account.number, areas, known, serials)
        pending.note_contents(self._read)
        if made is not None:
            made.areas, made.serials = [], []
        self._live.setdefault(here.id, {})[pending] = None
        request._finish = Finishing(pending, finish)

    def prepared(self, request: Prequest) -> None:
        """Record the memory of a persistent request."""
        made = self.current
        if made is not None and request._begin is not None:
            request._begin = Beginning(request._begin, made.areas, self._restarting)
            made.areas = []

    def _restarting(self, areas: list[Area]) -> None:
        """Record that the running processor starts a persistent request."""
        for area in areas:
            self.add(area)

    def completing(self, request: Request) -> int | None:
        """Check a request that the running processor completes; return its first line."""
        finish, account = request._finish, self._account
        if type(finish) is not Finishing:
            return None
        request._finish = finish.finish
        pending, here = finish.pending, running.turns.current
        self._live.get(here.id, {}).pop(pending, None)
        area = pending.changed(self._read)
        if area is not None:
            which = "receive" if area.writable else "send"
            place = pending.account if account is None else account.number
            self.note(f"{which}-buffer-changed", pending.account, place)
        return pending.account

    def freeing(self, request: Request) -> None:
        """Check a request that the running processor frees."""
        finish, account = request._finish, self._account
        if type(finish) is not Finishing:
            return
        request._finish = finish.finish
        pending = finish.pending
        self._live.get(running.turns.current.id, {}).pop(pending, None)
        # A script may know by another message that a send is complete, but not a receive or a
        # collective.
        sends = request._event is HAPPENED or isinstance(request._event, Awaited)
        sends = sends and not any(area.writable for area in pending.areas)
        if account is not None and request._event is not None and not sends:
            self.note("request-freed-active", pending.account, account.number)

    def starting(self, request: Prequest) -> None:
        """Check a persistent request that the running processor starts."""
        finish, account = request._finish, self._account
        if request._event is not None and type(finish) is Finishing and account is not None:
            self.note("request-started-twice", finish.pending.account, account.number)

    def cancelling(self, request: Request) -> None:
        """Record that the messages of a request may stay unreceived."""
        finish = request._finish
        if type(finish) is Finishing:
            self._findings.withdrawn.update(finish.pending.serials)

    def matched(self, message: Any) -> None:
        """Record a message reserved by a matched probe."""
        account, received = self._account, message._received
        found = getattr(received, "message", None)  # none from `PROC_NULL`
        body = None if found is None else found[BODY]
        if account is not None and type(body) is CheckedBody:
            here = running.turns.current.id
            self._matched.setdefault(here, []).append((message, body.account, account.number))

    # ---- handles

    def opened(self, name: Any, context: int) -> None:
        """Record a communicator, window or file of the running processor's call."""
        account, made = self._account, self.current
        if account is None or is_of_library(account) or (made is not None and made.opened):
            return
        if made is not None:
            made.opened = True  # an intercommunicator also opens a local communicator
        is_window = isinstance(name, tuple) and name[-1:] == ("window",)
        kind = "file" if account.kind == "Open" else "window" if is_window else "communicator"
        row = kind, context, account.number
        self._contexts.setdefault(running.turns.current.id, []).append(row)

    def created(self, kind: str, thing: Any) -> None:
        """Record a datatype or group created by the running processor's script."""
        frame, creator = creating(sys._getframe(2))
        if frame is None:
            return
        creator = creator if kind == "group" else "Datatype"
        account = self._account or self.world.accounts.at(creator, frame)
        made = self._objects.setdefault(running.turns.current.id, [])
        if len(made) % 256 == 255:
            made[:] = [row for row in made if row[1]]
        made.append((kind, thing, account.number))

    # ---- collectives

    def terms(self, kind: str, terms: Terms) -> Terms:
        """Return a collective's terms, with the datatypes of its buffers."""
        made = self.current
        areas = [] if made is None else made.areas
        buffers = [area.buffer for area in areas if area.buffer is not None]
        return typed_terms(kind, terms, buffers)

    # ---- windows

    def accessing(self, origin: Origin, target: int) -> None:
        """Record the window and the target of a one-sided access."""
        made = self.current
        if made is not None:
            made.origin = origin, target

    def finished(self, origin: Origin, targets: list[int]) -> None:
        """Check the accesses that a synchronization completes."""
        account, here = self._account, running.turns.current
        for target in targets:
            for access in self._accesses.pop((origin, target), ()):
                self._live.get(here.id, {}).pop(access, None)
                if access.changed(self._read) is not None and account is not None:
                    self.note("send-buffer-changed", access.account, account.number)

    def window_of(self, exposure: Exposure) -> WatchedWindow | None:
        """Return the watched memory of an exposure; None for memory attached later."""
        if exposure.memory.memory is None:
            return None
        windows = self._windows.setdefault(exposure._processor, {})
        if exposure not in windows:
            windows[exposure] = WatchedWindow(exposure)
        return windows[exposure]

    def stored(self, owner: int, account: int) -> None:
        """Record an access to memory that its owner has stored to since the owner's last call."""
        here = self._last.get(owner)
        if here is not None:
            self.note("local-store-conflicts", account, here, at=owner)

    # ---- ends

    def ended(self, processor: Processor) -> None:
        """Record what a processor leaves behind at its end."""
        self.paused(processor)
        here = processor.id
        contexts = self.world.contexts
        for kind, context, account in self._contexts.pop(here, ()):
            if contexts.held(context, here):
                self.note(f"{kind}-alive", account, at=here)
        for kind, thing, account in self._objects.pop(here, ()):
            if thing:
                self.note(f"{kind}-alive", account, at=here)

    def paused(self, processor: Processor) -> None:
        """Record the open communication of a processor, at its end or at the end of a test."""
        here = processor.id
        for pending in self._live.pop(here, ()):
            if pending.event is not None:
                self.note("request-not-completed", pending.account, at=here)
        for message, sender, account in self._matched.pop(here, ()):
            if message:
                self.note("matched-not-received", sender, account, at=here)
        for message in processor.unexpected or ():
            self.left(here, message)

    def left(self, processor: int, message: Message) -> None:
        """Record a message that a processor has not received."""
        body = message[BODY]
        if message[0] % PARTS == PAIRS and type(body) is CheckedBody:
            self._findings.left.append((body.serial, processor, body.account))

    def failed(self, processor: Processor, error: BaseException) -> None:
        """Record an MPI error that ends a processor's script."""
        if not isinstance(error, REAL.Exception | ValueError):
            return
        found = last_line(error.__traceback__)
        if found is None:
            return
        call = "" if found.tb_next is None else found.tb_next.tb_frame.f_code.co_name
        account = self.world.accounts.on_line(call, found.tb_frame, found.tb_lineno)
        if isinstance(error, REAL.Exception):
            rule = rule_of(error, raising_module(found))
            if rule != "truncated":  # recorded with both lines at the receive
                self.note(rule, account.number, words={"why": str(error)}, at=processor.id)
        elif "exceed the buffer" in str(error):
            why = str(error).removeprefix("message: ")
            self.note("count-exceeds-buffer", account.number, words={"why": why}, at=processor.id)


def raising_module(traceback: TracebackType) -> str:
    """Return the name of the module that has raised an error."""
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return str(traceback.tb_frame.f_globals.get("__name__"))


def rule_of(error: Any, module: str) -> str:
    """Return the rule that an MPI error belongs to, by its class and the module that raised it."""
    found = error.Get_error_class()
    if found == REAL.ERR_TRUNCATE:
        # An access of a window has no receive that records its sizes.
        return "invalid-access" if module.startswith(WINDOWS) else "truncated"
    if found in (REAL.ERR_REQUEST, REAL.ERR_PENDING):
        return "invalid-request"
    names = [name for name, value in vars(REAL).items() if value == found and name[:4] == "ERR_"]
    return "invalid-access" if any("RMA" in name for name in names) else "invalid-argument"


def is_of_library(account: Account) -> bool:
    """Return whether mpi4py itself makes the calls of an account."""
    if account.kind == "bootup":  # a pool of mpi4py.futures, which the emulator starts itself
        return True
    return account.code is not None and account.code.co_filename.startswith(LIBRARY)


def creating(frame: FrameType | None) -> tuple[FrameType | None, str]:
    """Return the script's frame that creates a handle, and the name of its call.

    The frame is None if mpi4py or the emulator itself creates the handle.
    """
    name = ""
    while frame is not None:
        module = (frame.f_globals.get("__name__") or "").partition(".")[0]
        if module == "mpi4py":
            return None, name
        if module != "mpinet":
            return frame, name
        name, frame = frame.f_code.co_name, frame.f_back
    return None, name
