"""Plain Python until native code is ready.

A thread watches the job. Once plain kernels have taken `PATIENCE` seconds, it starts the compile
process and asks for all kernels and rules that the job has called. A kernel whose object is kept
is native from its next call on. A plain call that runs is given up: its arrays, which were copied
before, are put back, and native code begins the call again. Kernels write into their arguments
and nowhere else, so no result depends on the moment of the change.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any, Protocol

import numpy as np

from mpinet.base.launched import launched_rank
from mpinet.base.native import tiers
from mpinet.base.native.calls import RuleForm
from mpinet.base.native.compiler import Busy, Code, Compiler
from mpinet.base.native.kept import BEAT, has_loader, kept
from mpinet.base.native.library import library
from mpinet.base.native.tiers import tier

PATIENCE = 0.8
"""CPU seconds of plain kernels, after which the compile process is started."""

CALLBACKS = 200_000
"""Calls of plain rules that take about as long."""

ENOUGH = 3.0
"""Seconds of plain kernels, after which the job sleeps while its kernel is being compiled."""

NOTICE = 5.0
"""Seconds of plain kernels, after which the job says how to make it faster."""

COPIED = 1 << 28
"""Most bytes of a call's arguments that are copied, so that the call can be given up."""

SHORT = 0.005
"""Mean seconds of a kernel's calls below which none needs to be given up."""

RETRY = 1.0
"""Seconds between two attempts to start the compile process."""

TOLD = 1.0, 5.0
"""Seconds of waiting before the first line about it, and between two lines."""


class Kernel(Code, Protocol):
    """A kernel, as this module sees it."""

    @property
    def run(self) -> Callable[..., Any]:
        """The loop, in the form that is ready."""


class Plain(Code, Protocol):
    """A rule, as this module sees it."""

    @property
    def played(self) -> int:
        """How often it was called as plain Python."""

    @property
    def is_users(self) -> bool:
        """True if it is not mpinet's own."""


@contextmanager
def waiting_by(context: Callable[[], Any], told: Callable[[str], object]) -> Iterator[None]:
    """Enter a context around each wait for the compiler; print lines about it by a function."""
    token = _waiting.set((context, told))
    try:
        yield
    finally:
        _waiting.reset(token)


def _print(text: str) -> None:
    if launched_rank() == 0:
        print(f"mpinet: {text}", file=sys.stderr, flush=True)


_waiting: ContextVar[tuple[Callable[[], Any], Callable[[str], object]]] = ContextVar(
    "waiting", default=(nullcontext, _print)
)


class GivenUp(BaseException):
    """A plain call is to begin again, as native code."""


class Call:
    """One call of a plain kernel."""

    __slots__ = ("began", "copies", "kernel", "over", "sent", "thread", "wanted")

    def __init__(self, kernel: Kernel, copies: list[Any] | None):
        self.kernel, self.copies = kernel, copies
        self.thread = threading.get_ident()
        self.over = self.wanted = self.sent = False
        self.began = time.process_time()


class Watch:
    """What the job knows of its plain kernels and rules, and of the process that compiles them."""

    def __init__(self) -> None:
        self.spent = 0.0
        """CPU seconds of plain kernels."""
        self.call: Call | None = None
        """The plain call that runs."""
        self.missing: dict[str, Code] = {}
        """Kernels and rules without native code, by fingerprint."""
        self.compiler: Compiler | None = None
        """The compile process, while it runs."""
        self._forms: dict[str, tuple[Plain, RuleForm]] = {}
        self._seconds: dict[str, tuple[int, float]] = {}
        self._failed: dict[str, str] = {}
        self._thread: threading.Thread | None = None
        self._tried = -RETRY
        self._retry = RETRY
        self._is_busy = False
        self._noticed = False
        self._waited, self._next_told = 0.0, TOLD[0]
        self._lock = threading.Lock()

    # ---- where native code comes from -------------------------------------------------------

    def address(self, code: Code) -> int:
        """Return the address of native code, if there is some by now; else 0."""
        if tier() == tiers.PLAIN:
            return 0
        found = _in_library(code.fingerprint) or self._kept(code)
        if not found and tier() == tiers.WAIT and tiers.can_compile():
            self.wait_for(code)
            found = self._kept(code)
        if found:
            self.missing.pop(code.fingerprint, None)
        else:
            self._miss(code)
        return found

    def has(self, code: Code) -> bool:
        """Tell if there is native code."""
        return bool(_in_library(code.fingerprint)) or kept().has(code.fingerprint)

    def _kept(self, code: Code) -> int:
        return kept().address(code.fingerprint) if has_loader() else 0

    def _miss(self, code: Code) -> None:
        self.missing.setdefault(code.fingerprint, code)
        if self._thread is None and tier() == tiers.BACKGROUND and tiers.can_compile():
            self._thread = threading.Thread(target=self._watch, name="mpinet-tiers", daemon=True)
            self._thread.start()

    def attach(self, rule: Plain, form: RuleForm) -> None:
        """Give a rule's record the address of native code, now or when there is some."""
        form.address = self.address(rule)
        if not form.address:
            self._forms[rule.fingerprint] = rule, form
            if rule.is_users and tier() != tiers.PLAIN and not tiers.can_compile():
                self._notice("own rules run as plain Python")

    def wrong(self, code: Code) -> str:
        """Return what is wrong with a function that could not be compiled; else an empty text."""
        return self._failed.get(code.fingerprint, "")

    # ---- plain calls ------------------------------------------------------------------------

    def run(self, kernel: Kernel, plainly: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run a kernel as plain Python, or give it up for native code."""
        calls, seconds = self._seconds.get(kernel.fingerprint, (0, 0.0))
        gives_up = self._thread is not None and seconds >= SHORT * (calls - 2)
        call = Call(kernel, _copies(args) if gives_up else None)
        try:
            self.call = call
            result = plainly(*args)
            call.over = True
            self.call = None
            if call.wanted:
                while not call.sent:
                    time.sleep(0.001)
                for _ in range(10):
                    time.sleep(0)  # the exception comes here at the latest
        except GivenUp:
            self._note(call)
            _put_back(args, call.copies)
            self._await(kernel)
            return kernel.run(*args)
        except BaseException:
            call.over = True
            self.call = None
            raise
        self._note(call)
        return result

    def _note(self, call: Call) -> None:
        self.call = None
        seconds = time.process_time() - call.began
        self.spent += seconds
        calls, before = self._seconds.get(call.kernel.fingerprint, (0, 0.0))
        self._seconds[call.kernel.fingerprint] = calls + 1, before + seconds
        if self.spent > NOTICE and not tiers.can_compile():
            self._notice("kernels run as plain Python")

    def give_up(self, call: Call) -> None:
        """Let a call begin again, if it still runs."""
        call.wanted = True
        if not call.over:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(call.thread), ctypes.py_object(GivenUp)
            )
        call.sent = True

    def _notice(self, what: str) -> None:
        """Say once that something is slow without a compiler."""
        if not self._noticed:
            self._noticed = True
            _print(f"{what}, which is slow. Install mpinet[fast] to compile them.")

    # ---- the thread that watches ------------------------------------------------------------

    def _watch(self) -> None:
        while True:
            time.sleep(BEAT)
            if self.missing:
                self._look()

    def _look(self) -> None:
        """Start or ask the compiler, take over what it has made, give up a plain call."""
        call = self.call
        spent = self.spent + (time.process_time() - call.began if call else 0.0)
        played = sum(rule.played for rule, _ in self._forms.values())
        if spent < PATIENCE and played < CALLBACKS:
            return
        self._compile()
        self._take_rules()
        if call is None or call.copies is None or call.wanted:
            return
        fingerprint = call.kernel.fingerprint
        sleeps = spent > ENOUGH and self._is_coming(fingerprint)
        if kept().has(fingerprint) or sleeps:
            self.give_up(call)

    def _compile(self) -> None:
        """Ask the compiler for all that is missing."""
        with self._lock:
            wanted = [
                code
                for key, code in self.missing.items()
                if key not in self._failed and not kept().has(key)
            ]
            if wanted and self._started():
                assert self.compiler is not None
                # Rules first: they take tenths of a second.
                self.compiler.ask(sorted(wanted, key=lambda code: -_is_rule(code)))
            self._take_failures()

    def _started(self) -> bool:
        """Start the compile process, unless it runs, or another job's does."""
        if self.compiler is not None and self.compiler.runs:
            return True
        now = time.monotonic()
        if now - self._tried < self._retry or kept().folder is None:
            return False
        self._tried = now
        try:
            self.compiler = Compiler()
        except (Busy, OSError) as error:
            self.compiler, self._is_busy = None, isinstance(error, Busy)
            return False
        kept().tell_refused()
        self._is_busy = False
        atexit.register(self.compiler.end)
        return True

    def _take_failures(self) -> None:
        """Say which rules and kernels cannot be compiled."""
        if self.compiler is None:
            return
        for key, wrong in list(self.compiler.failed.items()):
            if key not in self._failed:
                self._failed[key] = wrong
                code = self.missing.get(key)
                if code is not None and (_is_rule(code) or tier() != tiers.WAIT):
                    _print(code.refused(wrong))

    def _take_rules(self) -> None:
        """Give the records of rules the addresses of their native code."""
        for key, (rule, form) in list(self._forms.items()):
            if kept().has(key):
                form.address = self._kept(rule)
                self.missing.pop(key, None)
                del self._forms[key]

    def _is_coming(self, fingerprint: str) -> bool:
        """Tell if native code is being made, here or by another job."""
        if fingerprint in self._failed or kept().folder is None:
            return False
        return self._is_busy or (self.compiler is not None and self.compiler.runs)

    def _await(self, kernel: Kernel) -> None:
        """Sleep until a kernel is compiled, or cannot be, so that the compiler has the core."""
        if not kept().has(kernel.fingerprint):
            self._sleep(lambda: not self._is_coming(kernel.fingerprint), kernel)

    # ---- waiting ----------------------------------------------------------------------------

    def wait_for(self, code: Code) -> None:
        """Wait until a function is compiled, by this job's process or another's.

        Raises
        ------
        RuntimeError
            A kernel cannot be compiled.
        """
        self.missing.setdefault(code.fingerprint, code)
        self._retry = BEAT
        self._compile()
        self._sleep(lambda: kept().folder is None, code)
        if not _is_rule(code) and (wrong := self.wrong(code)):
            raise RuntimeError(code.refused(wrong))

    def _sleep(self, over: Callable[[], bool], code: Code) -> None:
        """Sleep until a function is compiled, cannot be compiled, or there is no hope."""
        context, told = _waiting.get()
        before, began = self._waited, time.monotonic()
        with context():
            while not over():
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
        """Begin anew in a forked process, which has no thread and no compile process."""
        self.__init__()  # type: ignore[misc]


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
    """List the arrays and records that a call may write."""
    for each in args:
        if isinstance(each, np.ndarray):
            if each.flags.writeable:
                yield each
        elif isinstance(each, np.void):
            yield each
        elif isinstance(each, tuple):
            yield from _arrays(each)


def _copies(args: Any) -> list[Any] | None:
    """Copy what a call may write; None if that is too much."""
    arrays = list(_arrays(args))
    if sum(each.nbytes for each in arrays) > COPIED:
        return None
    return [each.copy() for each in arrays]


def _put_back(args: Any, copies: Any) -> None:
    for each, copy in zip(_arrays(args), copies, strict=True):
        np.copyto(np.asarray(each), np.asarray(copy))
