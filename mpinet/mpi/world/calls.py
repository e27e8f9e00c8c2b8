"""The `@call` decorator of every MPI method: finds the calling processor and its account.

The decorator checks that the caller is the running processor itself and not a thread of its script.
All messages sent by the call are charged to the script's line that makes the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial, update_wrapper
from inspect import Parameter, Signature, signature
from sys import _getframe
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

from greenlet import getcurrent

from mpinet.mpi.real import REAL
from mpinet.mpi.world.accounts import Account
from mpinet.mpi.world.failure import script_line
from mpinet.mpi.world.mail import Mail
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.turns import Turns
from mpinet.mpi.world.world import World

F = TypeVar("F", bound=Callable[..., Any])

HANDLER = "_handle"
"""Name of the method of objects with an error handler that gets the error of a failed call."""


LAST: dict[str, dict[int, Account]] = {}
"""Cache of accounts: by kind of call, then by number of the calling instruction."""


class Running:
    """The run to which this process's scripts belong. Only one run is active at a time."""

    world: World
    turns: Turns
    mail: Mail
    noted: bool
    checks: Any = None
    """Checks of the calls; None in an unchecked run. Type: Checks."""
    ringing: Callable[[Processor], None] | None = None
    """Calls a processor's handler if its alarm is due; None while no alarm is due."""

    def begin(self, world: World) -> None:
        """Make a run the active one."""
        self.world, self.turns, self.mail = world, world.turns, world.mail
        self.noted = world.mail.logged or world.recorded is not None
        # Accounts belong to a run. The wrappers hold the cache's dictionaries, therefore the cache
        # is cleared instead of replaced.
        for accounts in LAST.values():
            accounts.clear()

    def called(self, here: Processor) -> int:
        """Record the begin of a processor's call, if calls are recorded; return the step."""
        self.mail.calling(here)
        if self.checks is not None:
            self.checks.calling(here)
        return self.turns.now

    def returned(self, here: Processor, begin: int, account: Account) -> None:
        """Record the return of a processor's call, if calls are recorded."""
        self.mail.returned()
        if self.checks is not None:
            self.checks.returned(here, account)
        if self.world.recorded is not None:
            self.world.recorded.note(here.id, begin, self.turns.now, account.site)
        if self.ringing is not None:
            self.ringing(here)

    @contextmanager
    def of(self, world: World) -> Iterator[None]:
        """Context manager: makes a run the active one, then restores the previous run.

        Without a previous run the run stays active, because its objects may be freed long
        afterwards.
        """
        before = vars(self).get("world")
        self.begin(world)
        try:
            yield
        finally:
            if before is not None:
                self.begin(before)


running = Running()


def asking(question: str) -> Processor:
    """Return the processor that asks something about itself.

    A thread of a script asks about its own processor, whichever processor is running. A greenlet of
    the script runs within its processor.
    """
    here = running.turns.current
    return here if getcurrent() is here.thread else running.world.threads.owner


@contextmanager
def on_behalf_of(processor: Processor | None) -> Iterator[None]:
    """Context manager: a given processor counts as the running one; None changes nothing.

    Python's garbage collector calls ``__del__`` of any object while any processor runs. The freed
    object belongs to its owner. No code within the context may block.
    """
    turns = running.turns
    here = turns.current
    turns.current = processor or here
    try:
        yield
    finally:
        turns.current = here


class Booked:
    """Context manager that charges messages to the script's current line.

    Parameters
    ----------
    kind : str
        Kind of call shown for the line.
    """

    def __init__(self, kind: str):
        self._kind = kind

    def __enter__(self) -> None:
        self._here = running.turns.current
        self._before = self._here.account
        line = script_line()
        if self._before is None and line is not None:
            self._here.account = running.world.accounts.at(self._kind, line.tb_frame)
            self._here.account.calls += 1

    def __exit__(self, *error: object) -> None:
        self._here.account = self._before


CALL = """
def wrapper({parameters}):
    here = running.turns.current
    if getcurrent() is not here.thread:
        return running.world.threads.serve(kind, caller(1), partial(method, {arguments}))
    if here.account is not None:
        return method({arguments})
    frame = caller(1)
    account = last.get(frame.f_lasti)
    if account is None or account.code is not frame.f_code:
        account = last[frame.f_lasti] = running.world.accounts.at(kind, frame)
    here.account = account
    account.calls += 1
    begin = running.called(here) if running.noted else 0
    try:
        return method({arguments})
    except failure as error:
        here.account = None
        handle({first}, error)
        raise
    finally:
        here.account = None
        if running.noted:
            running.returned(here, begin, account)
"""
"""Source of a method's wrapper, compiled with the method's own parameters.

The wrapper is on the path of every message. A wrapper with ``*args, **kwargs`` would pack and
unpack them, which costs as much as the rest of the wrapper. A nested call is charged to the account
of the outer call. The cache key is the number of the calling instruction, because line and file are
not at hand. Another code object may use the same instruction number, hence the check.
"""

SIGNS: dict[Any, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}
"""Prefixes of variadic parameters, by kind."""


def call(method: F) -> F:
    """Make a method an MPI call of scripts; its messages are charged to the calling line.

    Calls made within the method are part of the call.
    """
    taken = signature(method).parameters.values()
    code = _written(tuple(SIGNS.get(each.kind, "") + each.name for each in taken))
    room = {
        "__name__": __name__,
        "caller": _getframe,
        "failure": REAL.Exception,
        "getcurrent": getcurrent,
        "handle": _handle,
        "kind": method.__name__,
        "last": LAST.setdefault(method.__name__, {}),
        "method": method,
        "partial": partial,
        "running": running,
    }
    defaults = tuple(each.default for each in taken if each.default is not Parameter.empty)
    wrapper = FunctionType(code.replace(co_name=method.__name__), room, method.__name__, defaults)
    return cast(F, update_wrapper(cast(F, wrapper), method))


def put_call(owner: type[Any], name: str, made: Callable[..., Any], *taken: Parameter) -> None:
    """Add a call to a class, implemented by a function.

    Parameters
    ----------
    owner : type
        The class.
    name : str
        The call's name.
    made : callable
        Implements the call; receives all parameters by position.
    *taken
        The call's parameters (default: the parameters of `made`).
    """
    made.__name__, made.__qualname__ = name, f"{owner.__qualname__}.{name}"
    if taken:
        gives = made.__annotations__["return"]
        made.__signature__ = Signature(taken, return_annotation=gives)  # type: ignore[attr-defined]
    setattr(owner, name, call(made))


class Renamed:
    """A second name for a call; accounts report the call under the name that was used.

    Parameters
    ----------
    method : callable
        The call under its first name.
    """

    def __init__(self, method: Any):
        self._method: FunctionType = method.__wrapped__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        one = self._method
        same = FunctionType(one.__code__, one.__globals__, name, one.__defaults__, one.__closure__)
        same.__annotations__ = one.__annotations__
        put_call(owner, name, same)


def _handle(caller: Any, error: Any) -> None:
    """Call the error handler of the object whose call has failed, if it has one."""
    handle = getattr(caller, HANDLER, None)
    if handle is not None and not isinstance(caller, type):
        handle(error)


@cache
def _written(parameters: tuple[str, ...]) -> CodeType:
    """Return the wrapper's code for all methods with these parameters.

    The code is cached because compiling it per method would take a tenth of a second at every
    start.
    """
    words = ", ".join(parameters)
    text = CALL.format(parameters=words, arguments=words, first=(*parameters, "None")[0])
    module = compile(text, "<string>", "exec")
    return next(part for part in module.co_consts if isinstance(part, CodeType))
