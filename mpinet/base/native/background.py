"""Plain Python until native code is ready.

A thread watches the job. After `PATIENCE` seconds in plain kernels, the thread starts the compile
process and requests native code for all kernels and rules called so far. A kernel with an object in
the cache is native from its next call on. A running plain call is given up: its arrays are restored
from copies, and native code repeats the call from the start. Kernels write only into their
arguments, so no result depends on the moment of the change.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import cache
from typing import Any, Protocol

import numpy as np

from mpinet.base.launched import launched_rank, notice
from mpinet.base.native import tiers
from mpinet.base.native.calls import RuleForm
from mpinet.base.native.compiler import OTHERS_TIME, Busy, Code, Compiler, start_new_thread
from mpinet.base.native.kept import BEAT, is_loading, kept
from mpinet.base.native.library import library
from mpinet.base.native.tiers import tier

EARLY = 0.1
"""CPU seconds of plain kernels before cached objects are loaded, which takes 50 ms and 50 MB."""

PATIENCE = 0.8
"""CPU seconds of plain kernels before the compile process is started."""

CALLBACKS = 200_000
"""Number of calls of plain rules that takes about as long as `PATIENCE`."""

LONG = 3.0
"""CPU seconds of a job with missing native code after which the code is compiled in any case."""

ENOUGH = 3.0
"""CPU seconds of plain kernels after which the job sleeps until its kernel is compiled."""

NOTICE = 5.0
"""CPU seconds of plain kernels after which the job suggests the installation of a compiler."""

COPIED = 1 << 28
"""Largest size in bytes of a call's arguments that are copied. Without copies a call cannot be
given
up.
"""

# A call this short ends by itself before an asynchronous exception would reach it.
SHORT = 0.005
"""Mean seconds per call of a kernel below which its calls are not given up."""

RETRY = 1.0
"""Seconds between two attempts to start the compile process."""

TOLD = 1.0, 5.0
"""Seconds of waiting before the first progress line, and between two lines."""


class WatchedKernel(Code, Protocol):
    """Interface of a kernel, as used in this module."""

    @property
    def run(self) -> Callable[..., Any]:
        """The kernel's function in its fastest available form."""


class Plain(Code, Protocol):
    """Interface of a rule, as used in this module."""

    @property
    def played(self) -> int:
        """Number of calls as plain Python."""

    @property
    def is_users(self) -> bool:
        """True if the rule is a user's, not mpinet's own."""


@contextmanager
def waiting_by(context: Callable[[], Any], told: Callable[[str], object]) -> Iterator[None]:
    """Set the context around each wait for the compiler, and the printer of progress lines."""
    token = _waiting.set((context, told))
    try:
        yield
    finally:
        _waiting.reset(token)


_waiting: ContextVar[tuple[Callable[[], Any], Callable[[str], object]]] = ContextVar(
    "waiting", default=(nullcontext, notice)
)


class GivenUp(BaseException):
    """Raised in a plain call to repeat the call as native code."""


class PlainCall:
    """One call of a plain kernel."""

    __slots__ = ("began", "copies", "kernel", "over", "sent", "thread", "wanted")

    def __init__(self, kernel: WatchedKernel, copies: list[Any] | None):
        self.kernel, self.copies = kernel, copies
        self.thread = threading.get_ident()
        self.over = self.wanted = self.sent = False
        self.began = time.process_time()


class Watch:
    """Records the plain kernels and rules of the job, and controls the compile process."""

    def __init__(self) -> None:
        self.spent = 0.0
        """CPU seconds of finished plain kernel calls."""
        self.call: PlainCall | None = None
        """The running plain call, if any."""
        self.missing: dict[str, Code] = {}
        """Kernels and rules without native code, by fingerprint."""
        self.compiler: Compiler | None = None
        """The running compile process, if any."""
        self.broken = ""
        """Reason why the compile process cannot be started; empty if it can."""
        self._forms: list[tuple[Plain, RuleForm]] = []
        self._seconds: dict[str, tuple[int, float]] = {}
        self._failed: dict[str, str] = {}
        self._watches = False
        self._tried = -RETRY
        self._retry = RETRY
        self._busy_since: float | None = None
        self._stopped_at: set[str] = set()
        self._missed = 0.0
        self._noticed = False
        self._told: set[str] = set()
        self._waited, self._next_told = 0.0, TOLD[0]
        self._lock = threading.Lock()

    def address(self, code: Code, needed: bool = True) -> int:
        """Return the address of native code; 0 if none is available yet.

        Raises
        ------
        RuntimeError
            Tier ``wait``: a required kernel cannot be compiled.
        """
        # The reference tier never mixes forms: all results come from plain Python.
        if tier() == tiers.PLAIN:
            return 0
        found = _in_library(code.fingerprint) or self._kept(code)
        if not found and tier() == tiers.WAIT and tiers.can_compile():
            self.wait_for(code)
            found = self._kept(code)
            if not found and needed and not _is_rule(code):
                raise RuntimeError(self.wrong(code))
        # A kernel with native code may call rules whose native code is ready as well.
        if found:
            self.missing.pop(code.fingerprint, None)
            self._take_rules()
        else:
            self._miss(code)
        return found

    def has(self, code: Code) -> bool:
        """Return whether native code exists in the wheel's library or in the cache."""
        return bool(_in_library(code.fingerprint)) or kept().has(code.fingerprint)

    def _kept(self, code: Code) -> int:
        """Return the address of a cached object; 0 if none exists, or loading is too early."""
        return kept().address(code.fingerprint) if self._loads() else 0

    def _loads(self) -> bool:
        """Return whether cached objects may be loaded by now."""
        if not tiers.can_load():
            return False
        return is_loading() or tier() == tiers.WAIT or self._plain_seconds() >= EARLY

    def _plain_seconds(self) -> float:
        """Return the CPU seconds of plain kernels, including the running call."""
        call = self.call
        return self.spent + (time.process_time() - call.began if call else 0.0)

    def _miss(self, code: Code) -> None:
        # Recorded, not requested: a job shorter than `PATIENCE` never starts a compiler.
        self.missing.setdefault(code.fingerprint, code)
        if not self._watches and (self._compiles() or kept().has(code.fingerprint)):
            self._missed = time.process_time()
            self._watches = True
            start_new_thread(self._watch, ())

    @staticmethod
    def _compiles() -> bool:
        """Return whether this job compiles in the background."""
        return tier() == tiers.BACKGROUND and tiers.can_compile()

    def attach(self, rule: Plain, form: RuleForm) -> None:
        """Give a rule's record the address of native code, now or as soon as it is available."""
        form.address = self.address(rule)
        if not form.address:
            self._forms.append((rule, form))
            if rule.is_users and tier() != tiers.PLAIN and not tiers.can_compile():
                self._notice("own rules run as plain Python")

    def wrong(self, code: Code) -> str:
        """Return the error sentence for a function without native code."""
        wrong = self._failed.get(code.fingerprint)
        return code.refused(wrong) if wrong else f"{code.name} cannot be compiled: {self.broken}."

    def run(self, kernel: WatchedKernel, plainly: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run a kernel as plain Python; give the call up if native code becomes ready."""
        calls, seconds = self._seconds.get(kernel.fingerprint, (0, 0.0))
        # Copies cost time and are made only for kernels whose calls are long enough to be given up.
        gives_up = self._watches and seconds >= SHORT * (calls - 2)
        call = PlainCall(kernel, _copies(args) if gives_up else None)
        try:
            self.call = call
            try:
                result = plainly(*args)
            finally:
                self._end(call)
        except GivenUp:
            self._note(call)
            # Kernels write into their arguments alone. With these restored, the call can begin
            # again as if it never ran.
            _put_back(args, call.copies)
            self._await(kernel)
            return kernel.run(*args)
        self._note(call)
        return result

    def _end(self, call: PlainCall) -> None:
        """Mark a call as ended; receive here the exception of a call being given up."""
        call.over = True
        self.call = None
        # An exception already sent but not yet delivered would strike later code, so this loop
        # receives it.
        if call.wanted:
            while not call.sent:
                time.sleep(0.001)
            for _ in range(10):
                time.sleep(0)  # the exception arrives here at the latest

    def _note(self, call: PlainCall) -> None:
        """Add the time of a plain call to the statistics of its kernel."""
        seconds = time.process_time() - call.began
        self.spent += seconds
        calls, before = self._seconds.get(call.kernel.fingerprint, (0, 0.0))
        self._seconds[call.kernel.fingerprint] = calls + 1, before + seconds
        if self.spent > NOTICE and not tiers.can_compile():
            self._notice("kernels run as plain Python")

    def give_up(self, call: PlainCall) -> None:
        """Interrupt a call if it is still running; native code then repeats the call."""
        call.wanted = True
        if not call.over:
            # The only way to stop a plain loop from outside without a test in each iteration.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(call.thread), ctypes.py_object(GivenUp)
            )
        call.sent = True

    def _notice(self, what: str) -> None:
        """Print once: some code is slow without a compiler."""
        if not self._noticed:
            self._noticed = True
            notice(f"{what}, which is slow. Install mpinet[fast] to compile them.")

    def _tell(self, sentence: str) -> None:
        """Print a sentence once per function: a function may be compiled in several kernels."""
        function = sentence.partition(" cannot be compiled")[0]
        if function not in self._told:
            self._told.add(function)
            notice(sentence)

    def _watch(self) -> None:
        while True:
            time.sleep(BEAT)
            if self.missing:
                self._look()

    def _look(self) -> None:
        """Start or query the compiler, take over finished code, perhaps give up a plain call."""
        call, spent = self.call, self._plain_seconds()
        played = sum(rule.played for rule, _ in list(self._forms))
        is_long = time.process_time() - self._missed >= LONG
        if self._compiles() and (spent >= PATIENCE or played >= CALLBACKS or is_long):
            self._compile()
        if not self._loads():
            return
        self._take_rules()
        # Without copies the arguments are half written; the call must run to its end.
        if call is None or call.copies is None or call.wanted:
            return
        fingerprint = call.kernel.fingerprint
        sleeps = spent > ENOUGH and self._is_coming(fingerprint)
        if kept().has(fingerprint) or sleeps:
            self.give_up(call)

    def _compile(self) -> None:
        """Request native code for all missing functions from the compiler."""
        with self._lock:
            self._take_failures()
            wanted = [
                code
                for key, code in list(self.missing.items())
                if key not in self._failed and not kept().has(key)
            ]
            if wanted and self._started():
                assert self.compiler is not None
                # Rules first, because each takes only tenths of a second.
                self.compiler.ask(sorted(wanted, key=lambda code: -_is_rule(code)))

    def _started(self) -> bool:
        """Start the compile process if needed; return whether this job's process is running."""
        if self.compiler is not None:
            if self.compiler.runs:
                return True
            self._take_end(self.compiler)
        now = time.monotonic()
        # Another job may compile the same kernels at this moment; its objects appear in the common
        # cache.
        if now - self._tried < self._retry or kept().folder is None:
            return False
        self._tried = now
        waited = 0.0 if self._busy_since is None else now - self._busy_since
        try:
            self.compiler = Compiler(beside=waited > OTHERS_TIME)
        except Busy:
            self._busy_since = self._busy_since or now
            return False
        except OSError as error:
            self._busy_since, self.broken = None, f"the compiler cannot be started: {error}"
            return False
        kept().tell_refused()
        self._busy_since, self.broken = None, ""
        atexit.register(self.compiler.end)
        return True

    def _take_end(self, compiler: Compiler) -> None:
        """Record the early end of a compile process, and the request unanswered at this time."""
        self.compiler, key = None, compiler.unanswered
        # The process ended twice at the same function: the function is the cause and is not
        # requested again.
        if key in self._stopped_at:
            self._fail(key, "the compile process ended early")
        self._stopped_at.add(key)

    def _take_failures(self) -> None:
        """Record the functions that the compiler could not compile or store."""
        if self.compiler is None:
            return
        for key, wrong in list(self.compiler.answers.items()):
            if wrong:
                self._fail(key, wrong)
            elif key in self.missing and key not in self._failed:
                kept().look()
                if not kept().has(key):
                    self._fail(key, "its object is not in the cache")

    def _fail(self, key: str, wrong: str) -> None:
        """Record, and print once, that a rule or kernel cannot be compiled."""
        if not key or key in self._failed:
            return
        self._failed[key] = wrong
        code = self.missing.get(key)
        if code is not None and (_is_rule(code) or tier() != tiers.WAIT):
            self._tell(f"{code.refused(wrong)} It runs as plain Python, which is slow.")

    def _take_rules(self) -> None:
        """Write the addresses of newly available native code into the records of rules."""
        for each in list(self._forms):
            rule, form = each
            if address := self._kept(rule):
                form.address = address
                self.missing.pop(rule.fingerprint, None)
                with suppress(ValueError):  # another thread may have removed the entry
                    self._forms.remove(each)

    def _is_coming(self, fingerprint: str) -> bool:
        """Return whether native code is being compiled, by this or another job."""
        if fingerprint in self._failed or kept().folder is None:
            return False
        return self._busy_since is not None or (self.compiler is not None and self.compiler.runs)

    def _await(self, kernel: WatchedKernel) -> None:
        """Sleep until a kernel is compiled or has failed; the compiler gets the core meanwhile."""
        if not kept().has(kernel.fingerprint):
            self.missing.setdefault(kernel.fingerprint, kernel)
            self._sleep(lambda: not self._is_coming(kernel.fingerprint), kernel)

    def wait_for(self, code: Code) -> None:
        """Wait until a function is compiled, by any job, or cannot be compiled."""
        self.missing.setdefault(code.fingerprint, code)
        self._retry = BEAT
        self._compile()
        self._sleep(lambda: kept().folder is None or bool(self.broken), code)

    def _sleep(self, over: Callable[[], bool], code: Code) -> None:
        """Sleep until a function is compiled, cannot be compiled, or `over` returns True."""
        context, told = _waiting.get()
        before, began = self._waited, time.monotonic()
        with context():
            while not over():
                # Objects may come from the compiler of another job, which does not notify this job.
                kept().look()
                if kept().has(code.fingerprint) or code.fingerprint in self._failed:
                    return
                self._pause()
                self._compile()
                self._waited = before + time.monotonic() - began
                if self._waited > self._next_told and launched_rank() == 0:
                    self._next_told = self._waited + TOLD[1]
                    told(self._progress())

    def _pause(self) -> None:
        compiler = self.compiler
        if compiler is None:
            time.sleep(BEAT)
            return
        with compiler.changed:
            compiler.changed.wait(BEAT)

    def _progress(self) -> str:
        compiler = self.compiler
        done, asked = (compiler.done, len(compiler.asked)) if compiler else (0, len(self.missing))
        return f"compiling {min(done + 1, asked)} of {asked} kernels, {self._waited:.0f} s"

    def forget(self) -> None:
        """Reset the state in a forked process, without a thread and a compile process."""
        # A fork has neither the thread nor the pipe; with their state it would wait for both.
        self.__init__()  # type: ignore[misc]
        kept().lock = threading.Lock()


WATCH = Watch()
os.register_at_fork(after_in_child=WATCH.forget)


@cache
def _in_library(fingerprint: str) -> int:
    """Return the address of the wheel's native code; 0 if the wheel has none."""
    found = library()
    return 0 if found is None else found.address(fingerprint)


def _is_rule(code: Any) -> bool:
    return hasattr(code, "played")


def _arrays(args: Any) -> Iterator[Any]:
    """Yield the writable arrays and the records among a call's arguments."""
    for each in args:
        if isinstance(each, np.ndarray):
            # Read-only arrays need no copy: no kernel can change them.
            if each.flags.writeable:
                yield each
        elif isinstance(each, np.void):
            yield each
        elif isinstance(each, tuple):
            yield from _arrays(each)


def _copies(args: Any) -> list[Any] | None:
    """Copy all arguments that a call may write to; None if their size exceeds `COPIED` bytes."""
    arrays = list(_arrays(args))
    if sum(each.nbytes for each in arrays) > COPIED:
        return None
    return [each.copy() for each in arrays]


def _put_back(args: Any, copies: Any) -> None:
    for each, copy in zip(_arrays(args), copies, strict=True):
        np.copyto(np.asarray(each), np.asarray(copy))
