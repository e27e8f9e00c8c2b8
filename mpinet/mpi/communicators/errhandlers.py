"""Error handlers: reactions of a communicator to failed calls."""

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
"""Predefined error handlers by number; user-defined handlers have higher numbers."""

RETURN = 1

MOST_OWN = 32
"""Maximum number of user-defined error handlers of a processor at a time, as in mpi4py."""

CREATED = "error handlers"
"""Storage key for the functions of a processor's user-defined error handlers, by number."""


class Errhandler(NamedNumber, REAL.Errhandler):  # type: ignore[misc]
    """An error handler, as `mpi4py.MPI.Errhandler`.

    The underlying real error handler is always the null one.
    """

    _null = NAMES[0]

    _number: int
    _constant = False
    _functions: dict[int, Function] | None = None

    def __new__(cls, errhandler: Errhandler | None = None) -> Errhandler:
        """Create the null error handler, or another object for an error handler."""
        self: Errhandler = REAL.Errhandler.__new__(cls)
        self._number = 0 if errhandler is None else instance_of(Errhandler, errhandler)._number
        return self

    @classmethod
    def fromhandle(cls, handle: int) -> Errhandler:
        """Return the error handler with a number."""
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
        """Free a user-defined error handler: the object becomes null."""
        if not self:
            raise REAL.Exception(REAL.ERR_ARG)
        if not self._constant:
            functions = _own() if self._functions is None else self._functions
            functions.pop(self._number, None)
            self._number = 0

    def free(self) -> None:
        """Free the error handler unless it is null."""
        if self:
            self.Free()

    @property
    def handle(self) -> int:
        """Number of the error handler on this processor; 0 for the null one."""
        return self._number


PREDEFINED: dict[str, Errhandler] = {}
"""Predefined error handlers by name."""

for _number, _name in enumerate(NAMES):
    PREDEFINED[_name] = Errhandler()
    PREDEFINED[_name]._number = _number
    PREDEFINED[_name]._constant = True


def _own() -> dict[int, Function]:
    """Return the functions of the running processor's user-defined error handlers, by number."""
    own: dict[int, Function] = running.turns.current.storage().setdefault(CREATED, {})
    return own


def _first() -> tuple[int, None]:
    """Return the default error handler of communicators, as set by `mpi4py.rc`."""
    return NAMES.index(CHOICES["errors"][settled()["errors"]]), None


class ErrorHandling(Endpoint):
    """An object with an error handler, which failed calls and scripts call."""

    __slots__ = ()

    def _handle(self, error: Any) -> None:
        """Call the error handler for a failed call; afterwards the call raises the exception."""
        if self and self._state.errhandler is not None:
            self.Call_errhandler(error.Get_error_code())

    @classmethod
    def Create_errhandler(cls, errhandler_fn: Function) -> Errhandler:
        """Create a user-defined error handler.

        Parameters
        ----------
        errhandler_fn : callable
            Called with the communicator and the error code.

        Raises
        ------
        RuntimeError
            The processor has too many error handlers.
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
        """Return the error handler; by default the one named by `mpi4py.rc.errors`."""
        errhandler = Errhandler()
        errhandler._number = (self._state.errhandler or _first())[0]
        return errhandler

    def Set_errhandler(self, errhandler: Errhandler) -> None:
        """Set the error handler."""
        if not errhandler:
            raise REAL.Exception(REAL.ERR_ARG)
        number = errhandler._number
        self._state.errhandler = number, _own().get(number)

    def Call_errhandler(self, errorcode: int) -> None:
        """Call the error handler; fatal handlers end the run."""
        number, function = self._state.errhandler or _first()
        if function is not None:
            function(self, errorcode)
        elif number != RETURN and errorcode != REAL.SUCCESS:
            running.turns.stop(Aborted(errorcode))
