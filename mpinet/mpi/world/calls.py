"""The `@call` decorator of every MPI method: whose call it is, and on which account.

It checks that the caller is the running processor itself, not a thread of its script, and charges
all messages that the call sends to the script's line that makes it.
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

from mpinet.mpi.world.accounts import Account
from mpinet.mpi.world.failure import script_line
from mpinet.mpi.world.mail import Mail
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.turns import Turns
from mpinet.mpi.world.world import World

F = TypeVar("F", bound=Callable[..., Any])


LAST: dict[str, dict[int, Account]] = {}
"""By kind of call: the account last asked for by a call that an instruction of this number makes,
in any code of the run's."""


class Running:
    """The run that this process's scripts belong to; there is one at a time."""

    world: World
    turns: Turns
    mail: Mail
    noted: bool

    def begin(self, world: World) -> None:
        """Make a run the one that calls belong to."""
        self.world, self.turns, self.mail = world, world.turns, world.mail
        self.noted = world.mail.logged or world.recorded is not None
        # Accounts belong to a run. The cache is kept across runs only because the wrappers hold its
        # dictionaries.
        for accounts in LAST.values():
            accounts.clear()

    def called(self, here: Processor) -> int:
        """Note that a processor calls, where calls are noted; return the step."""
        self.mail.calling(here)
        return self.turns.now

    def returned(self, here: Processor, begin: int, account: Account) -> None:
        """Note that a processor's call returns, where calls are noted."""
        self.mail.returned()
        if self.world.recorded is not None:
            self.world.recorded.note(here.id, begin, self.turns.now, account.site)

    @contextmanager
    def of(self, world: World) -> Iterator[None]:
        """Within it a run is the one that calls belong to; then the one before, if there was one.

        Objects of a run may be freed long after it: without one before, it stays.
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
    """The running processor, which asks something about itself.

    A thread of a script asks about its own processor, whichever runs just then. (A greenlet of the
    script's own runs within its processor.)
    """
    here = running.turns.current
    return here if getcurrent() is here.thread else running.world.threads.owner


@contextmanager
def on_behalf_of(processor: Processor | None) -> Iterator[None]:
    """Within it, another processor than the running one counts as running, if one is named.

    Python's collector calls ``__del__`` of whatever it finds, whoever runs: what is freed there is
    its owner's. Nothing may wait within it.
    """
    turns = running.turns
    here = turns.current
    turns.current = processor or here
    try:
        yield
    finally:
        turns.current = here


class Booked:
    """Within it, messages are on the account of the script's line.

    Parameters
    ----------
    kind : str
        What the line does.
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
    finally:
        here.account = None
        if running.noted:
            running.returned(here, begin, account)
"""
"""The wrapper of a method, written out with the method's own parameters and compiled.

It is on the path of every message, and a wrapper that takes ``*args, **kwargs`` packs and unpacks
them, which costs as much as all that it does itself. A call from within a call is on the account of
the outer one. The account is found by the number of the calling instruction, since neither the line
nor the file is at hand; another code's instruction may have the same number, hence the check."""

SIGNS: dict[Any, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}
"""Signs before parameters of a kind that take what is left."""


def call(method: F) -> F:
    """Make a method one of a script's calls: what it sends is booked on the line that calls it.

    Calls that it makes itself belong to it.
    """
    taken = signature(method).parameters.values()
    code = _written(tuple(SIGNS.get(each.kind, "") + each.name for each in taken))
    room = {
        "__name__": __name__,
        "caller": _getframe,
        "getcurrent": getcurrent,
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
    """Put a call that has been made of another function into a class.

    Parameters
    ----------
    owner : type
        The class.
    name : str
        The call's name.
    made : callable
        Does what the call is to do; gets all parameters by place.
    *taken
        The call's parameters (default: those of `made`).
    """
    made.__name__, made.__qualname__ = name, f"{owner.__qualname__}.{name}"
    if taken:
        gives = made.__annotations__["return"]
        made.__signature__ = Signature(taken, return_annotation=gives)  # type: ignore[attr-defined]
    setattr(owner, name, call(made))


class Renamed:
    """Call under another name, beside the first, which accounts then tell.

    Parameters
    ----------
    method : callable
        The first call.
    """

    def __init__(self, method: Any):
        self._method: FunctionType = method.__wrapped__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        one = self._method
        same = FunctionType(one.__code__, one.__globals__, name, one.__defaults__, one.__closure__)
        same.__annotations__ = one.__annotations__
        put_call(owner, name, same)


@cache
def _written(parameters: tuple[str, ...]) -> CodeType:
    """Return the code of the wrapper of all methods with these parameters.

    Compiling it for each method by itself would take a tenth of a second at every start.
    """
    words = ", ".join(parameters)
    module = compile(CALL.format(parameters=words, arguments=words), "<string>", "exec")
    return next(part for part in module.co_consts if isinstance(part, CodeType))
