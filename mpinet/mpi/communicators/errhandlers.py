"""Error handlers: what a communicator does when one of its calls fails."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpinet.mpi.constants import NamedNumber, instance_of, serialized
from mpinet.mpi.real import REAL
from mpinet.mpi.settings import CHOICES, settled
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.failure import Aborted

Function = Callable[[Any, int], None]

NAMES = ("ERRHANDLER_NULL", "ERRORS_RETURN", "ERRORS_ABORT", "ERRORS_ARE_FATAL")
"""MPI's own error handlers by number; those of a script's own have higher ones."""

RETURN = 1

MOST_OWN = 32
"""Error handlers of a script's own that a processor may have at a time, as in mpi4py."""

CREATED = "error handlers"
"""Under this a processor keeps the functions of its own ones, by number."""


class Errhandler(NamedNumber, REAL.Errhandler):  # type: ignore[misc]
    """An error handler, as `mpi4py.MPI.Errhandler`.

    Nothing of it is known to the real one below it, which is always the null one.
    """

    _null = NAMES[0]

    _number: int
    _constant = False
    _functions: dict[int, Function] | None = None

    def __new__(cls, errhandler: Errhandler | None = None) -> Errhandler:
        """The null error handler, or another face of one."""
        self: Errhandler = REAL.Errhandler.__new__(cls)
        self._number = 0 if errhandler is None else instance_of(Errhandler, errhandler)._number
        return self

    @classmethod
    def fromhandle(cls, handle: int) -> Errhandler:
        """The error handler that a number stands for."""
        if handle < len(NAMES):
            return PREDEFINED[NAMES[handle]]
        handler = Errhandler()
        handler._number = handle
        return handler

    @property
    def _meaning(self) -> int | None:
        return self._number or None

    def __reduce__(self) -> Any:
        return serialized(self, NAMES[self._number] if self._number < len(NAMES) else "")

    def Free(self) -> None:
        """Let it be the null error handler, if it is no constant."""
        if not self:
            raise REAL.Exception(REAL.ERR_ARG)
        if not self._constant:
            functions = _own() if self._functions is None else self._functions
            functions.pop(self._number, None)
            self._number = 0

    def free(self) -> None:
        """Let it be the null error handler, if it is not."""
        if self:
            self.Free()

    @property
    def handle(self) -> int:
        """A number that stands for it on this processor; 0 for the null one."""
        return self._number


PREDEFINED: dict[str, Errhandler] = {}
"""MPI's own error handlers by name."""

for _number, _name in enumerate(NAMES):
    PREDEFINED[_name] = Errhandler()
    PREDEFINED[_name]._number = _number
    PREDEFINED[_name]._constant = True


def _own() -> dict[int, Function]:
    """The functions of the running processor's own error handlers, by number."""
    own: dict[int, Function] = running.turns.current.storage().setdefault(CREATED, {})
    return own


def _first() -> tuple[int, None]:
    """The error handler of communicators that have been given none, as `mpi4py.rc` wants it."""
    return NAMES.index(CHOICES["errors"][settled()["errors"]]), None


class ErrorHandling(Endpoint):
    """A communicator's error handler, which a script may call; errors of calls are raised."""

    __slots__ = ()

    @classmethod
    def Create_errhandler(cls, errhandler_fn: Function) -> Errhandler:
        """An error handler of the script's own.

        Parameters
        ----------
        errhandler_fn : callable
            Called with the communicator and the error's code.

        Raises
        ------
        RuntimeError
            The processor has too many.
        """
        own = _own()
        places = range(len(NAMES), len(NAMES) + MOST_OWN)
        number = next((place for place in places if place not in own), None)
        if number is None:
            raise RuntimeError("cannot create too many user-defined error handlers")
        own[number] = errhandler_fn
        handler = Errhandler.fromhandle(number)
        handler._functions = own
        return handler

    def Get_errhandler(self) -> Errhandler:
        """The error handler; at first the one that `mpi4py.rc.errors` names."""
        errhandler = Errhandler()
        errhandler._number = (self._state.errhandler or _first())[0]
        return errhandler

    def Set_errhandler(self, errhandler: Errhandler) -> None:
        """Give it an error handler."""
        if not errhandler:
            raise REAL.Exception(REAL.ERR_ARG)
        number = errhandler._number
        self._state.errhandler = number, _own().get(number)

    def Call_errhandler(self, errorcode: int) -> None:
        """Call the error handler; the fatal ones end the run."""
        number, function = self._state.errhandler or _first()
        if function is not None:
            function(self, errorcode)
        elif number != RETURN and errorcode != REAL.SUCCESS:
            running.turns.stop(Aborted(errorcode))
